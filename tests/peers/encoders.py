#!/usr/bin/env python3
"""encoders.py FOLDER [NAME...] - makes small encoders with random weights in FOLDER, as the libraries save them.

Beside each stands what the libraries compute from it, expected.jsonl. The seeds are fixed: the same versions of the
libraries make the same bytes. FOLDER is tests/encoders in the repository.
"""
import os
import shutil
import sys

import torch
import transformers

from folders import FOLDERS, make
from judge import Judge, write_lines
from sentences import SENTENCES, make_sentence


def build(folder, name):
    shutil.rmtree(folder, ignore_errors=True)
    if name in FOLDERS:
        make(folder, name, **{"kind": "bert", **FOLDERS[name]})
    else:
        make_sentence(folder, name)
    write_lines(os.path.join(folder, "expected.jsonl"), Judge(folder).records())
    for path, _, files in os.walk(folder):
        for file in files:
            os.chmod(os.path.join(path, file), 0o644)


def main(target, *names):
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    known = [*FOLDERS, *SENTENCES]
    for name in names or known:
        if name not in known:
            sys.exit(f"encoders.py: no encoder {name}: there are {' '.join(known)}")
        build(os.path.join(target, name), name)
        print(name, file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
