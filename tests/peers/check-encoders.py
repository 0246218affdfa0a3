#!/usr/bin/env python3
"""check-encoders.py [FOLDER...] - the libraries that are installed here, against the numbers in tests/encoders.

They compute in single precision here, the numbers are of double precision: the worst distance is what a library's own
rounding costs.
"""
import glob
import os
import sys

try:
    import torch
    import transformers

    from judge import Judge, distance, read_lines
except ImportError as error:
    sys.exit(f"{sys.argv[0]}: the Python package {error.name} is missing: pip install torch transformers "
             "sentence-transformers sentencepiece")

BOUND = 1e-5


def worst(folder):
    judge = Judge(folder, torch.float32)
    path = os.path.join(folder, "expected.jsonl")
    expected, found = read_lines(path), list(judge.records())
    if [record["name"] for record in expected] != [record["name"] for record in found]:
        sys.exit(f"{path}: other records than the library's")
    return max((distance(a, b), a["name"]) for a, b in zip(expected, found))


def main(folders):
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    passed = 0
    for folder in folders:
        value, name = worst(folder)
        good = value <= BOUND
        passed += good
        print(f"{'ok' if good else 'FAR'}  {os.path.basename(folder)}: {value:.1e} ({name})")
    print(f"{passed} passed, {len(folders) - passed} failed")
    return passed < len(folders)


if __name__ == "__main__":
    encoders = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "encoders")
    sys.exit(main(sys.argv[1:] or sorted(map(os.path.dirname, glob.glob(os.path.join(encoders, "*", "config.json"))))))
