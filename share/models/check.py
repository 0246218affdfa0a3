#!/usr/bin/env python3
"""check.py MODEL: whether ran-classify makes the same vectors of documents as ran.py.

RAN_BIN is the folder of the programs. Texts are invented, of one word to 5,000 tokens."""
import json
import os
import random
import subprocess
import sys

try:
    import torch

    import ran
except ImportError as e:
    sys.exit(f"check.py: {e}: make check needs a Python with PyTorch and numpy: make check PYTHON=python3")

WORDS = "the a good bad film book rain of and was not very city we it they , . ! unhappily 42 Zürich".split()
LENGTHS = 1, 2, 3, 16, 127, 128, 129, 143, 144, 145, 256, 270, 272, 510, 1020, 2040, 3000, 5000
MOST = 1e-5


def program(name, *words, given):
    command = [os.path.join(os.environ.get("RAN_BIN", ""), name), *words]
    lines = "".join(json.dumps({"text": t}) + "\n" for t in given)
    done = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    path, draw = sys.argv[1], random.Random(1)
    given = [" ".join(draw.choices(WORDS, k=n)) for n in LENGTHS]
    given += ["I liked this camera; its battery lasts for days.", "Who wrote the first novel?", "It rains.\n\nIt pours."]
    model, _ = ran.load(path)
    worst = 0.0
    ids = [r["encoding"]["ids"] for r in program("ran-tokenize", "encode", "-q", "--only", "-m", path, given=given)]
    ours = [r["prediction"]["embedding"] for r in program("ran-classify", "-q", "--embed", "--only", "-m", path, given=given)]
    for n, v in zip(ids, ours):
        with torch.no_grad():
            theirs = model(torch.tensor([n]))[0][0]
        v = torch.tensor(v)
        off = (v / v.norm() - theirs).abs().max().item()
        worst = max(worst, off)
        if not off <= MOST:
            print(f"check.py: a text of {len(n)} tokens: the vectors differ by {off:.2g}", file=sys.stderr)
    print(f"{path}: {len(given)} texts of {min(map(len, ids))} to {max(map(len, ids))} tokens, vectors differ by {worst:.2g} at most")
    sys.exit(worst > MOST)


try:
    main()
except (OSError, subprocess.CalledProcessError) as e:
    sys.exit(f"check.py: {e}")
