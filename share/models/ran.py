"""A RAN of prenorm cells (ran-model(5)) that makes vectors of documents, in PyTorch; its files, read and written."""
import hashlib
import json
import struct

import torch
import torch.nn.functional as F
from torch import nn

MIN_WINDOW = 16  # fewer tokens at the end join the window before


class Layer(nn.Module):
    """The tensors have the names that they have in the file."""

    def __init__(self, dim, heads, head_dim, review_window):
        super().__init__()
        self.heads, self.head_dim, self.reach = heads, head_dim, review_window // 2
        inner, hidden = heads * head_dim, 3 * dim // 2
        self.gpc = nn.Linear(dim, dim, bias=False)
        for name in ("gpc", "input", "cell", "update", "review", "ffn"):
            setattr(self, name + "_norm", nn.LayerNorm(dim))
        self.attn = nn.ModuleDict({name: nn.Linear(dim, inner) for name in "qkv"})
        self.attn.update({"out": nn.Linear(inner, dim), "cell": nn.Linear(inner, dim)})
        self.update_gate = nn.Linear(2 * dim, dim)
        self.review = nn.ModuleDict({name: nn.Linear(dim, dim) for name in ("q", "k", "v", "out")})
        self.ffn = nn.ModuleDict({"value": nn.Linear(dim, hidden), "gate": nn.Linear(dim, hidden),
                                  "down": nn.Linear(hidden, dim)})

    def project(self, x):
        """Queries, keys and values: 3, batch, heads, tokens, head_dim."""
        w = torch.cat([self.attn[n].weight for n in "qkv"])
        b = torch.cat([self.attn[n].bias for n in "qkv"])
        return F.linear(x, w, b).unflatten(-1, (3, self.heads, self.head_dim)).permute(2, 0, 3, 1, 4)

    def window(self, x, cell, mask, turn):
        """What the tokens of a window see, and the cell after it."""
        own = self.cell_norm(cell)
        q, k, v = torch.cat([self.project(own[:, None]).to(x.dtype), x], 3)
        if mask is not None:  # the cell sees and is seen
            mask = F.pad(mask, (1, 0), value=True)[:, None, None, :]
        seen = F.scaled_dot_product_attention(turn(q), turn(k), v, attn_mask=mask)
        seen = seen.transpose(1, 2).flatten(2)
        new = self.attn["cell"](seen[:, 0])
        gate = torch.sigmoid(self.update_gate(torch.cat([new, own.to(new.dtype)], -1))).float()
        return seen[:, 1:], (1 - gate) * cell + gate * self.update_norm(new).float()

    def look_back(self, y, states, window, alive):
        """Each token attends to the states of the windows that it sees."""
        distance = (window[:, None] - torch.arange(states.shape[1], device=y.device)).abs()
        sees = (distance <= self.reach)[None]
        if alive is not None:
            sees = sees & alive[:, None]
        q = self.review["q"](self.review_norm(y))
        k, v = self.review["k"](states), self.review["v"](states)
        return F.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None], attn_mask=sees[:, None])[:, 0]

    def forward(self, x, below, mask, windows, turn):
        """x: batch, tokens, dim. below: the last cell of the layer below. mask: which tokens are no padding; None: all.
        windows: where they begin and end, and that of each token."""
        cell = self.gpc_norm(self.gpc(below)).float()
        ends, window = windows
        projected = self.project(self.input_norm(x))
        outputs, states, alive = [], [], []
        for start, end in ends:
            part = None if mask is None else mask[:, start:end]
            out, new = self.window(projected[:, :, :, start:end], cell, part, turn)
            alive.append(None if mask is None else part.any(1))
            cell = new if mask is None else torch.where(alive[-1][:, None], new, cell)
            outputs.append(out)
            states.append(self.cell_norm(cell))
        y = x + self.attn["out"](torch.cat(outputs, 1)).float()
        y = y + self.review["out"](self.look_back(y, torch.stack(states, 1), window,
                                                  None if mask is None else torch.stack(alive, 1))).float()
        f = self.ffn_norm(y)
        return y + self.ffn["down"](self.ffn["value"](f) * F.silu(self.ffn["gate"](f))).float(), states[-1].float()


class Ran(nn.Module):
    """config: as in the file. The vector of a document is the mean of its rows of the embedding, and what `vector` adds."""

    def __init__(self, config, tokens):
        super().__init__()
        dim, heads, head_dim, self.size = (config[k] for k in ("dim", "heads", "head_dim", "window"))
        self.config, self.layers = config, config["layers"]
        self.embed = nn.Embedding(tokens, dim)
        self.ran = nn.ModuleDict({str(l): Layer(dim, heads, head_dim, config["review_window"]) for l in range(self.layers)})
        self.ran.update({"embed_norm": nn.LayerNorm(dim), "norm": nn.LayerNorm(dim),
                         "vector": nn.Linear(dim, dim, bias=False)})
        pairs = torch.arange(0, head_dim, 2).double()
        angle = torch.arange(self.size + MIN_WINDOW).double()[:, None] * 10000.0 ** (-pairs / head_dim)
        self.register_buffer("cos", torch.cos(angle).float(), persistent=False)
        self.register_buffer("sin", torch.sin(angle).float(), persistent=False)

    def turn(self, u):
        """Rotary positions: 0 is the cell."""
        cos, sin = (t[:u.shape[-2]].to(u.dtype) for t in (self.cos, self.sin))
        a, b = u[..., 0::2], u[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)

    def windows(self, n):
        """Where they begin and end, and that of each token."""
        first = list(range(0, n, self.size))
        if len(first) > 1 and n - first[-1] < MIN_WINDOW:
            first.pop()
        window = (torch.arange(n, device=self.cos.device) // self.size).clamp_max(len(first) - 1)
        return list(zip(first, first[1:] + [n])), window

    def encode(self, ids, mask=None):
        """ids: batch, tokens. mask: which of them are no padding. Returns the rows of the embedding and the outputs."""
        rows = self.embed(ids)
        x, cell = self.ran["embed_norm"](rows), rows.new_zeros(len(ids), rows.shape[-1])
        windows = self.windows(ids.shape[1])
        for l in range(self.layers):
            x, cell = self.ran[str(l)](x, cell, mask, windows, self.turn)
        return rows, self.ran["norm"](x)

    def forward(self, ids, mask=None):
        """Vectors of documents, vectors of the embedding alone, and outputs of tokens."""
        rows, y = self.encode(ids, mask)
        alone = mean(rows.float(), mask)
        return F.normalize(alone + self.ran["vector"](mean(y.float(), mask)).float(), dim=-1), F.normalize(alone, dim=-1), y


def mean(x, mask):
    if mask is None:
        return x.mean(1)
    w = mask[..., None].to(x.dtype)
    return (x * w).sum(1) / w.sum(1)


# ---- files --------------------------------------------------------------------------------------

TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I8": torch.int8, "U8": torch.uint8,
         "I64": torch.int64}


def read(path):
    """Metadata, and tensors by name in F32, of a file in the safetensors format; tokenizer.json as bytes."""
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = bytearray(f.read())
    metadata, stored = header.pop("__metadata__", {}), {}
    for name, t in header.items():
        begin, end = t["data_offsets"]
        stored[name] = torch.frombuffer(data[begin:end], dtype=TYPES[t["dtype"]]).reshape(t["shape"])
    tensors = {}
    for name, t in stored.items():
        if name == "tokenizer.json":
            tensors[name] = bytes(t.numpy())
        elif name + ".scale" in stored:
            tensors[name] = t.float() * stored[name + ".scale"].float()[:, None]
        elif not name.endswith(".scale"):
            tensors[name] = t.float()
    return metadata, tensors


def load(path):
    """The model of a file, and its tokenizer.json."""
    metadata, tensors = read(path)
    tokenizer = tensors.pop("tokenizer.json")
    model = Ran(json.loads(metadata["config"]), len(tensors["embed.weight"]))
    model.load_state_dict(tensors)
    return model.eval(), tokenizer


def write(path, model, tokenizer, training):
    """training: an object, the record of the training. Weights are stored in F32."""
    tensors = [(name, t.detach().float().cpu()) for name, t in sorted(model.state_dict().items())]
    stored = [(name, "F32", list(t.shape), t.numpy().tobytes()) for name, t in tensors]
    stored.append(("tokenizer.json", "U8", [len(tokenizer)], tokenizer))
    data = b"".join(t[3] for t in stored)
    text = lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    header, end = {"__metadata__": {"config": text(model.config), "digest": hashlib.sha256(data).hexdigest(), "format": "ran",
                                    "format_version": "1", "training": text(training)}}, 0
    for name, kind, shape, content in stored:
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + len(content)]}
        end += len(content)
    header = text(header).encode()
    header += b" " * (-(len(header) + 8) % 64)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(header)) + header + data)
