#!/usr/bin/env python3
"""published.py FOLDER - makes two small models of the package rannet with random weights in FOLDER.

Each is a folder as its authors publish theirs: config.json, vocab.txt and TensorFlow's checkpoint. Beside them stands
what the package computes, in double: expected.jsonl. The seeds are fixed. FOLDER is tests/published in the repository.
"""
import json
import os
import sys
import zlib

os.environ.update(TF_KERAS="1", TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")

import numpy
import rannet
import tensorflow
from rannet.ran import SelfAttention
from tensorflow.keras import backend

from texts import SENTENCES

# The package raises 10000, which becomes a single, to powers: in double the two do not go together.
backend.pow = lambda base, power: tensorflow.pow(tensorflow.cast(base, power.dtype), power)

# The sizes of a model; one has the head of a masked language model.
FOLDERS = {
    "masked": {"embedding_size": 12, "ran_layers": 2, "head_num": 2, "head_size": 8, "window_size": 8,
               "min_window_size": 3, "cell_pooling": "last"},
    "pooled": {"embedding_size": 10, "ran_layers": 3, "head_num": 3, "head_size": 4, "window_size": 6,
               "min_window_size": 2, "cell_pooling": "mean"},
}
# Tokens: one, a window, a rest that joins it and one that does not, whole windows, and so on up to five.
LENGTHS = {"masked": (1, 5, 8, 10, 11, 16, 18, 19, 29, 37), "pooled": (2, 6, 7, 8, 30)}
SPECIAL = ["[PAD]", "[UNK]", "[MASK]", "[SEP]", "[START]", "[END]", "[unused0]", "[unused1]"]
GAP = "The [MASK] began at noon, and [MASK] of them went home."


def vocabulary():
    """Letters, with and without ##, and frequent words."""
    words = sorted({word.strip(".,;:!?").lower() for sentence in SENTENCES for word in sentence.split()})
    words = [word for word in words if word.isalpha() and word.isascii()]
    letters = sorted({letter for word in words for letter in word})
    return SPECIAL + letters + ["##" + letter for letter in letters] + [".", ",", "!"] + \
        [word for word in words if 1 < len(word) < 8][:60]


def variables(model, names):
    """The weights of a model by the names that the package has for them in a checkpoint."""
    for layer in names:
        for weight in model.get_layer(name=layer).weights:
            name = weight.name.split(":")[0].lower()
            if layer.lower() != name.split("/")[0]:
                name = f"{layer.lower()}/{name}"
            yield "rannet/" + name.replace("/cell-initializer-group", "").replace("/window-loop", ""), weight


def randomise(name, shape):
    """Weights that leave nothing as the library initialises it."""
    values = numpy.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape)
    if name.endswith("gamma"):
        values = 1 + 0.3 * values
    elif len(shape) == 1:
        values = 0.3 * values
    elif name.endswith("embeddings"):
        values = 0.8 * values
    else:
        values = 1.3 * values / shape[0] ** 0.5
    return values.astype(numpy.float32)


def save(folder, name):
    config, mlm = dict(FOLDERS[name], vocab_size=len(vocabulary())), name == "masked"
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as out:
        out.write(json.dumps(config, indent=2) + "\n")
    with open(os.path.join(folder, "vocab.txt"), "w", encoding="utf-8") as out:
        out.write("".join(token + "\n" for token in vocabulary()))
    model = rannet.RanNet(rannet.RanNetParams(config), return_cell=False)(with_mlm=mlm)
    layers = [layer for layer in rannet.RanNet.variable_mapping(ran_layers=config["ran_layers"])
              if mlm or "MLM" not in layer]
    named = dict(variables(model, layers))
    tensors = {key: randomise(f"{name} {key}", weight.shape) for key, weight in sorted(named.items())}
    tensorflow.raw_ops.SaveV2(prefix=os.path.join(folder, "model.ckpt"), tensor_names=list(tensors),
                              shape_and_slices=[""] * len(tensors), tensors=list(tensors.values()))


class Judge:
    """A folder, loaded by the package; what it computes of a document."""

    def __init__(self, folder, name, floatx="float64"):
        backend.set_floatx(floatx)
        paths = {"config_path": os.path.join(folder, "config.json"),
                 "checkpoint_path": os.path.join(folder, "model.ckpt")}
        pooling = FOLDERS[name]["cell_pooling"]
        self.kind = floatx
        self.tokenizer = rannet.RanNetWordPieceTokenizer.from_file(os.path.join(folder, "vocab.txt"))
        _, self.model = rannet.RanNet.load_rannet(**paths, apply_cell_transform=False, return_history=True,
                                                  cell_pooling=pooling)
        self.masked = None
        if name == "masked":
            _, self.masked = rannet.RanNet.load_rannet(**paths, with_mlm=True, return_cell=False)

    def run(self, model, ids):
        return model(tensorflow.constant([ids], dtype=self.kind), training=False)

    def cells(self, ids):
        """Those of all windows, layer by layer: the keys of the review."""
        seen, call = [], SelfAttention.call

        def watch(layer, inputs, *args, **options):
            seen.append(inputs[1].numpy()[0])
            return call(layer, inputs, *args, **options)
        SelfAttention.call = watch
        out = self.run(self.model, ids)
        SelfAttention.call = call
        return out, seen

    def document(self, ids):
        (hidden, vector, last), cells = self.cells(ids)
        return {"name": "document", "ids": ids, "hidden": shortest(hidden[0]), "cells": [shortest(c) for c in cells],
                "vector": shortest(vector[0]), "last": shortest(last[0])}

    def text(self, text):
        return {"name": "text", "text": text, "ids": self.tokenizer.encode(text).ids}

    def fill(self):
        """The five best tokens for each mask."""
        ids, masks = self.tokenizer.encode(GAP).ids, []
        scores = tensorflow.nn.log_softmax(self.run(self.masked, ids)[0]).numpy()
        for position in (i for i, token in enumerate(ids) if token == SPECIAL.index("[MASK]")):
            best = numpy.argsort(-scores[position])[:5]
            masks.append({"position": position, "top": [
                {"token": self.tokenizer.id_to_token(int(i)), "log_probability": shortest(scores[position][i])}
                for i in best]})
        return {"name": "fill", "text": GAP, "masks": masks}

    def records(self, lengths):
        size = self.tokenizer.get_vocab_size()
        for length in lengths:
            yield self.document([int(i) for i in numpy.random.default_rng(length).integers(1, size, length)])
        for text in (GAP, SENTENCES[0], "Caf\u00e9 [unused1]xyz [MASK]!", "[START] zq\u4e2d\u56fd [END]"):
            yield self.text(text)
        if self.masked is not None:
            yield self.fill()


def shortest(values):
    """Numbers as the shortest decimals of their single precision."""
    return json.loads(json.dumps(numpy.asarray(values, dtype=numpy.float64).astype(numpy.float32).tolist()),
                      parse_float=lambda text: float(str(numpy.float32(text))))


def main(target):
    for name, lengths in LENGTHS.items():
        folder = os.path.join(target, name)
        os.makedirs(folder, exist_ok=True)
        backend.set_floatx("float32")
        save(folder, name)
        with open(os.path.join(folder, "expected.jsonl"), "w", encoding="utf-8") as out:
            for record in Judge(folder, name).records(lengths):
                out.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
