"""Small encoders with random weights, written as the libraries save them. FOLDERS has all of them."""
import json
import os
import zlib

import torch
import transformers
from transformers import PreTrainedTokenizerFast

import vocabularies
from judge import SHIFTED, read_json

LARGE = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
SMALL = {"hidden_size": 16, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4}
DISTIL = {"hidden_size": "dim", "intermediate_size": "hidden_dim", "num_hidden_layers": "n_layers",
          "num_attention_heads": "n_heads", "hidden_act": "activation"}

# Prefix of the library's classes, tokenizer, and what its configuration needs.
KINDS = {
    "bert": ("Bert", vocabularies.bert, {"max_position_embeddings": 64}),
    "distilbert": ("DistilBert", vocabularies.bert, {"max_position_embeddings": 64}),
    "roberta": ("Roberta", vocabularies.roberta, {"max_position_embeddings": 66, "type_vocab_size": 1,
                                                  "layer_norm_eps": 1e-5}),
    "camembert": ("Camembert", vocabularies.camembert, {"max_position_embeddings": 66, "type_vocab_size": 1,
                                                        "layer_norm_eps": 1e-5}),
    "xlm-roberta": ("XLMRoberta", vocabularies.xlm_roberta, {"max_position_embeddings": 66, "type_vocab_size": 1,
                                                             "layer_norm_eps": 1e-5}),
    # Longer, so that distances fall into the wide buckets, too.
    "mpnet": ("MPNet", vocabularies.mpnet, {"max_position_embeddings": 112, "layer_norm_eps": 1e-5}),
    "modernbert": ("ModernBert", vocabularies.modernbert,
                   {"max_position_embeddings": 64, "num_hidden_layers": 4, "local_attention": 16,
                    "global_attn_every_n_layers": 3}),
}

LABELS = ["sport", "trade", "weather"]
NAMES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def randomise(model, name):
    """Weights that leave nothing as libraries initialise it: norms are not 1, biases and padding rows not 0."""
    torch.manual_seed(zlib.crc32(name.encode()))
    for key, parameter in model.named_parameters():
        values = torch.randn(parameter.shape, dtype=torch.float32)
        if parameter.dim() == 1:
            values = 1 + 0.3 * values if "norm" in key.lower() and key.endswith("weight") else 0.2 * values
        elif "embed" in key or "relative_attention_bias" in key:
            values = 0.8 * values
        else:
            values = 1.3 * values / parameter.shape[1] ** 0.5
        parameter.data.copy_(values)


def special_ids(tokenizer, names):
    found = {key.replace("_token", "_token_id"): tokenizer.token_to_id(token) for key, token in names.items()}
    return {key: value for key, value in found.items() if key in
            ("pad_token_id", "bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id")}


def save_tokenizer(tokenizer, names, folder, limit, kind):
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=limit, **names)
    fast.save_pretrained(folder)
    # Downloaded folders were saved after a call that truncated and padded. That must not count.
    if kind in ("bert", "xlm-roberta"):
        path = os.path.join(folder, "tokenizer.json")
        content = read_json(path)
        content["truncation"] = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
        content["padding"] = {"strategy": {"Fixed": 16}, "direction": "Right", "pad_to_multiple_of": None,
                              "pad_id": tokenizer.token_to_id(names["pad_token"]), "pad_type_id": 0,
                              "pad_token": names["pad_token"]}
        write_json(path, content)


def write_json(path, content):
    with open(path, "w", encoding="utf-8") as out:
        json.dump(content, out, ensure_ascii=False, indent=2)
        out.write("\n")


def change_json(folder, name, change):
    content = read_json(folder, name)
    change(content)
    write_json(os.path.join(folder, name), content)


def window(kind, needs):
    """Usable positions: those of some begin behind the padding token's number, 1."""
    return needs["max_position_embeddings"] - (2 if kind in SHIFTED else 0)


def make(folder, name, kind="bert", head="Model", size=SMALL, dtype=torch.float32, shard="5GB", **config):
    """A folder as save_pretrained writes it."""
    prefix, vocabulary, needs = KINDS[kind]
    tokenizer, names = vocabulary()
    settings = {**size, **needs, **config, **special_ids(tokenizer, names), "vocab_size": tokenizer.get_vocab_size()}
    if kind == "distilbert":
        settings = {DISTIL.get(key, key): value for key, value in settings.items()}
    configuration = getattr(transformers, prefix + "Config")(**settings)
    model = getattr(transformers, prefix + head)(configuration)
    randomise(model, name)
    model.to(dtype).save_pretrained(folder, max_shard_size=shard)
    save_tokenizer(tokenizer, names, folder, window(kind, needs), kind)


def labels(names):
    return {"id2label": dict(enumerate(names)), "label2id": {name: i for i, name in enumerate(names)}}



# Kinds of heads, activations, types of numbers and shards are spread over few folders.
CLASSIFIER = {"head": "ForSequenceClassification", **labels(LABELS)}
TAGGER = {"head": "ForTokenClassification", "num_hidden_layers": 1, **labels(NAMES)}
FOLDERS = {
    "bert": {"size": LARGE},
    "bert-masked": {"head": "ForMaskedLM", "hidden_act": "gelu_new"},
    "bert-classifier": {"hidden_act": "relu", **CLASSIFIER},
    "bert-tagger": {"hidden_act": "silu", "shard": "8KB", **TAGGER},
    "distilbert-classifier": {"kind": "distilbert", "num_hidden_layers": 1, "dtype": torch.bfloat16, **CLASSIFIER},
    "roberta-masked": {"kind": "roberta", "head": "ForMaskedLM", "num_hidden_layers": 1, "dtype": torch.float16},
    "roberta-classifier": {"kind": "roberta", "num_hidden_layers": 1, **CLASSIFIER},
    "mpnet": {"kind": "mpnet", "size": LARGE},
    # Nothing as where the configuration says nothing.
    "modernbert": {"kind": "modernbert", "size": dict(LARGE, hidden_size=24, intermediate_size=36),
                   "global_attn_every_n_layers": 2, "rope_parameters": {
                       "full_attention": {"rope_theta": 80000.0, "rope_type": "default"},
                       "sliding_attention": {"rope_theta": 5000.0, "rope_type": "default"}}},
    "modernbert-masked": {"kind": "modernbert", "head": "ForMaskedLM", "num_hidden_layers": 2},
    "modernbert-classifier": {"kind": "modernbert", "num_hidden_layers": 1, "classifier_pooling": "mean", **CLASSIFIER},
    "modernbert-tagger": {"kind": "modernbert", **TAGGER},
}
