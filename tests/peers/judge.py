"""What the libraries compute from an encoder's folder, as records of expected.jsonl.

All is computed in double from the weights of the file, so that the numbers are the model's own and not one
library's rounding; compare() says how far the library is from them in single precision.
"""
import contextlib
import json
import math
import os
import shutil
import tempfile

import numpy
import torch
import transformers
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, normalizers

from texts import GAP, QUESTION, SENTENCE, TEXTS

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


@contextlib.contextmanager
def readable(folder):
    """The folder, or one with the names that the library reads, where it no longer reads those of the folder."""
    weights = os.path.join(folder, "model.safetensors")
    tensors = load_file(weights) if os.path.exists(weights) else {}
    renamed = {name.removeprefix("0.auto_model.").replace("LayerNorm.gamma", "LayerNorm.weight")
               .replace("LayerNorm.beta", "LayerNorm.bias"): tensor for name, tensor in tensors.items()}
    if list(renamed) == list(tensors):
        yield folder
        return
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        save_file(renamed, os.path.join(copy, "model.safetensors"), metadata={"format": "pt"})
        yield copy


class Judge:
    """A folder, loaded by the libraries."""

    def __init__(self, folder, dtype=torch.float64):
        self.sentence = None
        if is_sentence_model(folder):
            self.sentence = SentenceTransformer(folder, device="cpu", model_kwargs={"attn_implementation": "eager"})
            self.sentence.to(dtype).eval()
            self.model = self.sentence[0].auto_model
        else:
            with readable(folder) as copy:
                name = read_json(copy, "config.json")["architectures"][0]
                self.model, said = getattr(transformers, name).from_pretrained(
                    copy, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
                wrong = set(said["missing_keys"]) | set(said["unexpected_keys"]) | set(said["mismatched_keys"])
                if {name for name in wrong if not name.endswith("position_ids")}:
                    raise SystemExit(f"{folder}: the library did not find its tensors: {said}")
                self.model.to(dtype).eval()
        self.config = self.model.config
        self.tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        if self.sentence is not None and read_json(folder, "sentence_bert_config.json").get("do_lower_case"):
            rest = [self.tokenizer.normalizer] if self.tokenizer.normalizer else []
            self.tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *rest])
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
        positions = sorted({0, len(ids) // 2, len(ids) - 1})
        record["positions"] = positions
        record["hidden"] = [shortest(state[0, positions]) for state in out.hidden_states]
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

    def gradients(self):
        """Of the sum over tokens i and dimensions j of hidden[i][j] * sin(0.37 i + 0.11 j), after the last layer."""
        ids = self.ids(SENTENCE)
        batch = torch.tensor([ids])
        hidden = self.model(input_ids=batch, attention_mask=torch.ones_like(batch)).last_hidden_state[0]
        i = torch.arange(hidden.shape[0], dtype=hidden.dtype)[:, None]
        j = torch.arange(hidden.shape[1], dtype=hidden.dtype)[None, :]
        loss = (hidden * torch.sin(0.37 * i + 0.11 * j)).sum()
        self.model.zero_grad()
        loss.backward()
        yield {"name": "loss", "text": SENTENCE, "ids": ids, "loss": loss.item(),
               "formula": "sum over i, j of hidden[i][j] * sin(0.37 * i + 0.11 * j)"}
        for name, parameter in self.model.named_parameters():
            if parameter.grad is None:
                continue
            flat = parameter.grad.reshape(-1)
            if flat.norm() < 1e-5:  # of the keys' biases, which softmax takes out: nothing but rounding
                flat = torch.zeros_like(flat)
            largest = int(flat.abs().argmax())
            yield {"name": name, "shape": list(parameter.shape), "norm": shortest(flat.norm()),
                   "first": shortest(flat[:4]), "largest": {"index": largest, "value": shortest(flat[largest])}}


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
