"""Small sentence models: an encoder, pooling, and what comes after it, in folders of sentence-transformers."""
import os
import shutil
import tempfile
import zlib

import torch
from sentence_transformers import SentenceTransformer, models

from folders import LARGE, change_json, make, write_json

PROMPTS = {"query": "query: ", "passage": "passage: "}

# Encoder; then pooling, vectors after a dense layer, and whether these are normalised. `old`: written as by version 2
# of the library, as most folders that people have are.
SENTENCES = {
    "sentence-mean": {"pooling": "mean", "normalise": True, "old": True, "max_seq_length": 40},
    "sentence-max": {"kind": "distilbert", "size": LARGE, "pooling": "max", "max_seq_length": 31},
    "sentence-last": {"kind": "camembert", "size": dict(LARGE, hidden_size=28), "pooling": "lasttoken",
                      "dense": (20, torch.nn.Identity(), False)},
    "sentence-tanh": {"pooling": "cls", "dense": (12, torch.nn.Tanh(), True), "normalise": True, "old": True},
    "sentence-prompts": {"kind": "xlm-roberta", "pooling": "mean", "normalise": True, "prompts": PROMPTS},
    "sentence-without-prompt": {"pooling": "mean", "prompts": PROMPTS, "include_prompt": False,
                                "num_hidden_layers": 1},
}

OLD_KEYS = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens")


def old_pooling(config):
    """A flag for each mode, and the name of its time for the size."""
    mode, size = config["pooling_mode"], config["embedding_dimension"]
    config.clear()
    config["word_embedding_dimension"] = size
    for key in OLD_KEYS:
        config["pooling_mode_" + key] = key.startswith(mode + "_token")


def make_old(folder, recipe, window):
    """The names of version 2; no folder for what has no configuration; the length in sentence_bert_config.json."""
    def modules(entries):
        for entry in entries:
            entry["type"] = "sentence_transformers.models." + entry["type"].rpartition(".")[2]
    change_json(folder, "modules.json", modules)
    change_json(folder, "1_Pooling/config.json", old_pooling)
    change_json(folder, "tokenizer_config.json", lambda config: config.update(model_max_length=window))
    write_json(os.path.join(folder, "sentence_bert_config.json"),
               {"max_seq_length": recipe.get("max_seq_length", window), "do_lower_case": False})
    write_json(os.path.join(folder, "config_sentence_transformers.json"),
               {"__version__": {"sentence_transformers": "2.0.0", "transformers": "4.6.1", "pytorch": "1.8.1"}})
    for name in os.listdir(folder):
        if name.endswith("_Normalize"):
            shutil.rmtree(os.path.join(folder, name))


def make_sentence(folder, name):
    recipe = dict(SENTENCES[name])
    own = {key: recipe.pop(key, None) for key in ("pooling", "dense", "normalise", "old", "prompts", "include_prompt",
                                                  "max_seq_length")}
    with tempfile.TemporaryDirectory() as encoder:
        make(encoder, name, **{"kind": "bert", **recipe})
        first = models.Transformer(encoder, max_seq_length=own["max_seq_length"])
        window = models.Transformer(encoder).max_seq_length
        size = first.get_embedding_dimension()
        parts = [first, models.Pooling(size, own["pooling"], include_prompt=own["include_prompt"] is not False)]
        if own["dense"]:
            out, activation, bias = own["dense"]
            torch.manual_seed(zlib.crc32(name.encode()) + 1)
            parts.append(models.Dense(size, out, bias=bias, activation_function=activation))
        if own["normalise"]:
            parts.append(models.Normalize())
        model = SentenceTransformer(modules=parts, device="cpu", prompts=own["prompts"])
        model.save(folder, create_model_card=False)
        shutil.copy(os.path.join(encoder, "tokenizer.json"), folder)
    if own["old"]:
        make_old(folder, {key: value for key, value in own.items() if value is not None}, window)
