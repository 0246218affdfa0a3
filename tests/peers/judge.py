"""What the libraries compute from an encoder's folder, as records of expected.jsonl.

All is computed in double from the weights of the file, so that the numbers are the model's own and not one
library's rounding; check-encoders.py says how far the library is from them in single precision.
"""
import json
import math
import os

import numpy
import torch
import transformers
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer

from texts import GAP, QUESTION, TEXTS

# Positions of these begin behind the padding token's number.
SHIFTED = ("roberta", "camembert", "xlm-roberta", "mpnet")


def shortest(values):
    """Numbers as the shortest decimals of their single precision."""
    return json.loads(json.dumps(numpy.asarray(values, dtype=numpy.float64).astype(numpy.float32).tolist()),
                      parse_float=lambda text: float(str(numpy.float32(text))))


def read_json(*path):
    with open(os.path.join(*path), encoding="utf-8") as source:
        return json.load(source)


def is_sentence_model(folder):
    return os.path.exists(os.path.join(folder, "modules.json"))


class Judge:
    """A folder, loaded by the libraries."""

    def __init__(self, folder, dtype=torch.float64):
        self.sentence = None
        if is_sentence_model(folder):
            self.sentence = SentenceTransformer(folder, device="cpu", model_kwargs={"attn_implementation": "eager"})
            self.sentence.to(dtype).eval()
            self.model = self.sentence[0].auto_model
        else:
            name = read_json(folder, "config.json")["architectures"][0]
            self.model, said = getattr(transformers, name).from_pretrained(
                folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
            if said["missing_keys"] or said["unexpected_keys"] or said["mismatched_keys"]:
                raise SystemExit(f"{folder}: the library did not find its tensors: {said}")
            self.model.to(dtype).eval()
        self.config = self.model.config
        self.tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        fast = self.sentence.tokenizer if self.sentence else transformers.AutoTokenizer.from_pretrained(folder)
        self.mask = fast.mask_token_id
        for name, text in TEXTS:
            if fast(text, truncation=False, verbose=False)["input_ids"] != self.ids(text):
                raise SystemExit(f"{folder}: transformers and tokenizers disagree on '{name}': "
                                 f"{fast(text)['input_ids']} and {self.ids(text)}")

    def ids(self, text):
        return self.tokenizer.encode(text).ids

    def limit(self):
        """The most tokens of a window."""
        most = self.config.max_position_embeddings
        if self.config.model_type in SHIFTED:
            most -= self.config.pad_token_id + 1
        if self.sentence is not None:
            most = min(most, self.sentence.max_seq_length)
        return most

    def run(self, ids):
        batch = torch.tensor([ids])
        with torch.no_grad():
            return self.model(input_ids=batch, attention_mask=torch.ones_like(batch), output_hidden_states=True)

    def vector(self, text, **options):
        return self.sentence.encode(text, convert_to_tensor=True, show_progress_bar=False, **options)

    def record(self, name, text):
        ids = self.ids(text)
        record = {"name": name, "text": text, "ids": ids}
        if len(ids) > self.limit():
            return record
        out = self.run(ids)
        if self.sentence is not None:
            record["vector"] = shortest(self.vector(text))
        else:
            record["vector"] = shortest(out.hidden_states[-1][0].mean(dim=0))
        if type(self.model).__name__.endswith("Classification"):
            record["logits"] = shortest(out.logits[0])
        return record

    def fill(self):
        """The five best tokens for each mask."""
        text = GAP.replace("MASK", self.tokenizer.id_to_token(self.mask))
        ids = self.ids(text)
        scores = torch.log_softmax(self.run(ids).logits[0], dim=-1)
        gaps = []
        for position in (i for i, token in enumerate(ids) if token == self.mask):
            best = torch.topk(scores[position], 5)
            gaps.append({"position": position, "top": [
                {"id": int(i), "token": self.tokenizer.id_to_token(int(i)), "log_probability": shortest(p)}
                for p, i in zip(best.values, best.indices)]})
        return {"name": "fill", "text": text, "ids": ids, "masks": gaps}

    def records(self):
        yield {"name": "model", "model_type": self.config.model_type, "window": self.limit(),
               "parameters": sum(p.numel() for p in self.model.parameters())}
        for name, text in TEXTS:
            yield self.record(name, text)
        if self.sentence is not None:
            for prompt, before in sorted(self.sentence.prompts.items()):
                if before:
                    yield {"name": "prompt", "prompt": prompt, "text": QUESTION, "ids": self.ids(before + QUESTION),
                           "vector": shortest(self.vector(QUESTION, prompt_name=prompt))}
        if type(self.model).__name__.endswith("MaskedLM"):
            yield self.fill()


def write_lines(path, records):
    with open(path, "w", encoding="utf-8") as out:
        for record in records:
            out.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")


def read_lines(path):
    with open(path, encoding="utf-8") as source:
        return [json.loads(line) for line in source]


def distance(a, b, where=""):
    """The largest difference of two records: of lists of numbers, relative to the largest in them; all else is equal
    or infinitely different."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return max((distance(a[key], b[key], key) for key in a), default=0.0)
    if isinstance(a, float) or isinstance(b, float):
        return abs(a - b) / max(abs(a), abs(b), 1e-3)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        if a and all(isinstance(x, float) for x in a + b):
            return float(numpy.abs(numpy.subtract(a, b)).max() / max(numpy.abs(a).max(), 1e-3))
        return max((distance(x, y, where) for x, y in zip(a, b)), default=0.0)
    return 0.0 if a == b else math.inf
