#!/usr/bin/env python3
"""A RAN learns the vectors that a BERT encoder makes of documents ([CLS]) and of tokens, on one GPU.

    train.py --teacher FOLDER --data NAME --seconds N -o english-f32.ran

NAME.ids and NAME.lengths are of segments.py, FOLDER is in Hugging Face's form. The log goes to stderr."""
import argparse
import json
import os
import re
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import ran

PADS = 16, 32, 48, 64, 96, 143, 256, 510, 1020, 2040  # a batch has segments of one length, padded
RATE, WARMUP, DECAY = 2e-3, 0.03, 0.01
OF_EMBEDDING, OF_COSINES, OF_TOKENS, OF_MASKED = 0.3, 10, 0.5, 0.08  # weights of losses; that of documents is 1
WITH_TOKENS, MASKED, MASKED_TOKENS = 0.4, 0.5, 0.15  # shares: of steps, of those, of the tokens of those
SAMPLE = 60000  # vectors for the principal components
SEED = 1
START = time.time()


def say(*words):
    print("%7.1f" % (time.time() - START), *words, file=sys.stderr, flush=True)


class Teacher:
    """A BERT whose vector of a document is that of [CLS]."""

    def __init__(self, folder, device):
        _, weights = ran.read(os.path.join(folder, "model.safetensors"))
        kind = torch.bfloat16 if device.type == "cuda" else torch.float32
        self.weights = {k.removeprefix("bert."): w.to(device, kind) for k, w in weights.items()}
        config = json.load(open(os.path.join(folder, "config.json")))
        self.layers, self.heads = config["num_hidden_layers"], config["num_attention_heads"]
        self.eps, self.window = config["layer_norm_eps"], config["max_position_embeddings"] - 2
        self.embedding = self.weights["embeddings.word_embeddings.weight"]
        self.dim = self.embedding.shape[1]
        self.tokenizer = json.load(open(os.path.join(folder, "tokenizer.json")))
        self.cls, self.sep, self.mask = (self.tokenizer["model"]["vocab"][t] for t in ("[CLS]", "[SEP]", "[MASK]"))
        card = os.path.join(folder, "README.md")
        licence = re.search(r"(?m)^license: *(\S+)", open(card).read()) if os.path.exists(card) else None
        self.about = {"model_type": "bert", "name": os.path.basename(os.path.abspath(folder)),
                      **({"license": licence[1]} if licence else {}), "tokens": self.window + 2, "pooling": "cls"}

    def norm(self, x, name):
        return F.layer_norm(x, (self.dim,), self.weights[name + ".weight"], self.weights[name + ".bias"], self.eps)

    def linear(self, x, name):
        return F.linear(x, self.weights[name + ".weight"], self.weights[name + ".bias"])

    def window_vectors(self, ids, mask):
        """ids: batch, tokens, at most a window, without marks. Vectors of documents and of tokens."""
        batch, tokens = ids.shape
        n, place = mask.sum(1), torch.arange(tokens + 2, device=ids.device)
        marked = F.pad(ids * mask, (1, 1))
        marked[:, 0] = self.cls
        marked[torch.arange(batch, device=ids.device), n + 1] = self.sep
        seen = (place < n[:, None] + 2)[:, None, None, :]
        w = self.weights
        x = self.norm(self.embedding[marked] + w["embeddings.position_embeddings.weight"][:tokens + 2] +
                      w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for l in range(self.layers):
            p = f"encoder.layer.{l}."
            q, k, v = (self.linear(x, p + "attention.self." + t).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                       for t in ("query", "key", "value"))
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=seen).transpose(1, 2).flatten(2)
            x = self.norm(x + self.linear(y, p + "attention.output.dense"), p + "attention.output.LayerNorm")
            y = self.linear(F.gelu(self.linear(x, p + "intermediate.dense")), p + "output.dense")
            x = self.norm(x + y, p + "output.LayerNorm")
        return F.normalize(x[:, 0].float(), dim=-1), x[:, 1:-1]

    @torch.no_grad()
    def vectors(self, ids, mask):
        """Of a long document: the mean over its windows."""
        batch, tokens = ids.shape
        if tokens <= self.window:
            return self.window_vectors(ids, mask)
        documents, x = self.window_vectors(ids.view(-1, self.window), mask.view(-1, self.window))
        return F.normalize(documents.view(batch, -1, documents.shape[-1]).mean(1), dim=-1), x.reshape(batch, tokens, -1)


class Data:
    def __init__(self, name, batch_tokens, device):
        self.lengths = np.fromfile(name + ".lengths", np.uint16).astype(np.int64)
        self.ids = torch.from_numpy(np.fromfile(name + ".ids", np.uint16).astype(np.int32)).to(device)
        self.n, self.tokens, self.batch_tokens = len(self.lengths), len(self.ids), batch_tokens
        assert self.lengths.sum() == self.tokens, name + ": ids and lengths do not belong together"
        self.first = torch.from_numpy(np.cumsum(self.lengths) - self.lengths).to(device)
        self.length = torch.from_numpy(self.lengths).to(device)
        self.draw = np.random.default_rng(SEED)
        self.held = np.zeros(self.n, bool)
        one_window = np.where(self.lengths <= 510)[0]
        self.held[self.draw.choice(one_window, min(2000, self.n // 20), replace=False)] = True

    def batch(self, which, pad):
        which, place = torch.as_tensor(which, device=self.ids.device), torch.arange(pad, device=self.ids.device)[None]
        length = self.length[which][:, None]
        mask = place < length
        return self.ids[self.first[which][:, None] + torch.minimum(place, length - 1)].long() * mask, mask

    def batches(self, of):
        """(segments, padded length) in random order."""
        found, size = [], np.searchsorted(PADS, self.lengths)
        for i, pad in enumerate(PADS):
            which = np.where((size == i) & of)[0]
            self.draw.shuffle(which)
            n = max(1, self.batch_tokens // pad)
            found += [(which[k:k + n], pad) for k in range(0, len(which), n)]
        return [found[i] for i in self.draw.permutation(len(found))]


class Target:
    """The first principal components of the teacher's vectors, and its tokens standardised."""

    def __init__(self, teacher, data, dim):
        device = data.ids.device
        zeros = lambda *shape: torch.zeros(*shape, device=device, dtype=torch.double)
        products, total, n = zeros(teacher.dim, teacher.dim), zeros(teacher.dim), 0
        tokens, squares, seen = zeros(teacher.dim), zeros(teacher.dim), 0
        for which, pad in data.batches(~data.held):
            if n >= SAMPLE:
                break
            if pad <= teacher.window:
                ids, mask = data.batch(which, pad)
                v, x = (t.double() for t in teacher.vectors(ids, mask))
                n, total, products = n + len(v), total + v.sum(0), products + v.T @ v
                x = x[mask]
                seen, tokens, squares = seen + len(x), tokens + x.sum(0), squares + (x * x).sum(0)
        centre = total / n
        values, vectors = torch.linalg.eigh((products / n - torch.outer(centre, centre)).cpu())
        self.centre, self.components = centre.float(), vectors.flip(1)[:, :dim].to(device).float()
        self.explained = (values.flip(0)[:dim].sum() / values.sum()).item()
        self.token_mean = (tokens / seen).float()
        self.token_deviation = (squares / seen - (tokens / seen) ** 2).clamp_min(1e-8).sqrt().float()

    def document(self, v):
        return F.normalize((v - self.centre) @ self.components, dim=-1)

    def token(self, x):
        return (x.float() - self.token_mean) / self.token_deviation


def student(teacher, dim, layers, heads):
    """Its embedding begins as the teacher's."""
    config = {"encoder": "ran", "task": "embed", "dim": dim, "layers": layers, "heads": heads, "head_dim": dim // heads,
              "window": 128, "min_window": ran.MIN_WINDOW, "cell": "prenorm", "review": "window", "review_window": 30,
              "vector": True, "spelling": 0, "wide": 0, "affixes": False}
    model = ran.Ran(config, len(teacher.embedding))
    rows = teacher.embedding.float().cpu()
    rows = rows - rows.mean(0)
    main, _, _ = torch.linalg.svd(rows.T @ rows)
    with torch.no_grad():
        model.embed.weight.copy_(F.normalize(rows @ main[:, :dim], dim=-1) * 0.5)
        for m in model.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, 0, (2 / (m.in_features + m.out_features)) ** 0.5)
                if m.bias is not None:
                    nn.init.zeros_(m.bias)
        for l in range(layers):
            layer = model.ran[str(l)]
            for m in (layer.attn["out"], layer.review["out"], layer.ffn["down"]):
                m.weight.mul_((2 * layers) ** -0.5)
            nn.init.normal_(layer.gpc_norm.bias, 0, 1)
        model.ran["vector"].weight.mul_(0.3)
    return model


class Training:
    def __init__(self, options):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.manual_seed(SEED)
        self.teacher = Teacher(options.teacher, self.device)
        self.data = Data(options.data, options.batch_tokens, self.device)
        say(self.data.n, "segments of", self.data.tokens, "tokens")
        self.target = Target(self.teacher, self.data, options.dim)
        say("explained %.4f" % self.target.explained)
        self.model = student(self.teacher, options.dim, options.layers, options.heads).to(self.device)
        self.of_tokens = nn.Linear(options.dim, self.teacher.dim).to(self.device)  # thrown away in the end
        self.of_words = nn.Parameter(torch.zeros(len(self.teacher.embedding), device=self.device))  # this, too
        self.parameters = [*self.model.parameters(), *self.of_tokens.parameters(), self.of_words]
        self.optimizer = torch.optim.AdamW(
            [{"params": [p for p in self.parameters if p.dim() > 1], "weight_decay": DECAY},
             {"params": [p for p in self.parameters if p.dim() <= 1], "weight_decay": 0.0}],
            lr=RATE, betas=(0.9, 0.98), fused=self.device.type == "cuda")
        self.kept = torch.zeros(self.data.n, options.dim, dtype=torch.bfloat16, device=self.device)
        self.sums = {}

    def cast(self):
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda")

    def losses(self, which, pad, first_pass):
        """In the first pass the teacher's vectors of documents are kept."""
        draw = self.data.draw
        ids, mask = self.data.batch(which, pad)
        of_tokens = draw.random() < (max(WITH_TOKENS, 0.5) if first_pass else WITH_TOKENS)
        masked = of_tokens and draw.random() < MASKED
        place = torch.as_tensor(which, device=self.device)
        if first_pass or of_tokens:
            v, x = self.teacher.vectors(ids, mask)
            wanted = self.target.document(v)
            if first_pass:
                self.kept[place] = wanted.to(self.kept.dtype)
        else:
            wanted = F.normalize(self.kept[place].float(), dim=-1)
        chosen = (torch.rand(ids.shape, device=self.device) < (MASKED_TOKENS if masked else 0.5)) & mask
        with self.cast():
            v, alone, y = self.model(torch.where(chosen, self.teacher.mask, ids) if masked else ids, mask)
            found = {"document": (1 - (v.float() * wanted).sum(1)).mean()}
            loss = found["document"] * (0.5 if masked else 1)
            if not masked:
                found["embedding"] = (1 - (alone.float() * wanted).sum(1)).mean()
                loss = loss + OF_EMBEDDING * found["embedding"]
                a, b = v[:1024].float(), wanted[:1024]
                if len(a) > 8:
                    found["cosines"] = ((a @ a.T - b @ b.T) ** 2).mean()
                    loss = loss + OF_COSINES * found["cosines"]
            if of_tokens and chosen.any():
                outputs = y[chosen]
                found["masked" if masked else "tokens"] = off = (
                    (self.of_tokens(outputs).float() - self.target.token(x[chosen])) ** 2).mean()
                loss = loss + OF_TOKENS * off
                if masked:
                    words = F.linear(outputs, self.model.embed.weight, self.of_words).float()
                    found["words"] = F.cross_entropy(words, ids[chosen])
                    loss = loss + OF_MASKED * found["words"]
        return loss, found

    def step(self, which, pad, first_pass, rate):
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        loss, found = self.losses(which, pad, first_pass)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()
        for name, value in found.items():
            total, n = self.sums.get(name, (0.0, 0))
            self.sums[name] = total + value.detach(), n + 1

    @torch.no_grad()
    def evaluate(self):
        """On the segments that were held out."""
        vectors, embeddings, wanted = [], [], []
        for which, pad in self.data.batches(self.data.held):
            ids, mask = self.data.batch(which, pad)
            with self.cast():
                v, alone, _ = self.model(ids, mask)
            vectors.append(v.float())
            embeddings.append(alone.float())
            wanted.append(self.target.document(self.teacher.vectors(ids, mask)[0]))
        v, alone, wanted = torch.cat(vectors), torch.cat(embeddings), torch.cat(wanted)
        i, k = torch.triu_indices(len(v), len(v), 1, device=self.device)[:, ::37]
        ranks = torch.stack([((u @ u.T)[i, k]).argsort().argsort().double() for u in (v, wanted)])
        return {"held_out": len(v), "explained": round(self.target.explained, 4),
                "cosine_static": round((alone * wanted).sum(1).mean().item(), 4),
                "cosine": round((v * wanted).sum(1).mean().item(), 4),
                "pairs": len(i), "rank_correlation": round(torch.corrcoef(ranks)[0, 1].item(), 4)}

    def run(self, seconds):
        """The learning rate ends at 0 when the time does. Returns steps and tokens."""
        steps = tokens = epoch = 0
        begin = last = time.time()
        while True:
            for which, pad in self.data.batches(~self.data.held):
                now = time.time()
                done = (now - begin) / seconds
                if done >= 1:
                    return steps, tokens
                self.step(which, pad, epoch == 0, RATE * min(done / WARMUP, (1 - done) / (1 - WARMUP)))
                steps, tokens = steps + 1, tokens + int(self.data.lengths[which].sum())
                if now - last > 15:
                    say("pass", epoch + 1, "step", steps, "tokens", tokens,
                        {name: round(float(total) / n, 4) for name, (total, n) in self.sums.items()})
                    self.sums, last = {}, now
            epoch += 1


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--teacher", required=True, metavar="FOLDER")
    p.add_argument("--data", required=True, metavar="NAME", help="NAME.ids and NAME.lengths, of segments.py")
    p.add_argument("--sources", nargs="*", default=[], metavar="NAME", help="what the texts are called in the record")
    p.add_argument("--seconds", type=float, default=565)
    p.add_argument("--batch-tokens", type=int, default=98304, help="padding included")
    for name, default in ("dim", 256), ("layers", 4), ("heads", 4):
        p.add_argument("--" + name, type=int, default=default)
    p.add_argument("-o", "--output", required=True, metavar="FILE")
    options = p.parse_args()
    t = Training(options)
    steps, tokens = t.run(options.seconds)
    figures = t.evaluate()
    say(steps, "steps", figures)
    tokenizer = dict(t.teacher.tokenizer, truncation=None, padding=None, post_processor=None)
    training = {"learning_rate": RATE, "seed": SEED, "seconds": options.seconds, "steps": steps, "tokens": tokens,
                "distilled": {"texts": t.data.n, **figures}, "teacher": {"pretrained": t.teacher.about},
                "train": {"documents": t.data.n, "tokens": t.data.tokens, "sources": options.sources}}
    ran.write(options.output, t.model, json.dumps(tokenizer, ensure_ascii=False).encode(), training)


main()
