#!/usr/bin/env python3
"""check-published.py - the package rannet that is installed here, against the numbers in tests/published.

It computes in single precision here, the numbers are of double precision: the worst distance is what the package's own
rounding costs. The unit test `published` compares ours with the same numbers.
"""
import os
import sys

try:
    import tensorflow  # noqa: F401
    from published import FOLDERS, LENGTHS, Judge
except ImportError as error:
    sys.exit(f"{sys.argv[0]}: the Python package {error.name} is missing: pip install rannet==0.3.1 "
             "tensorflow-cpu==2.15.1 'keras<3'")

import json
import math

BOUND = 1e-5


def distance(a, b):
    """The largest difference of numbers in two records; all else is equal or infinitely different."""
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b)
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return max((distance(a[key], b[key]) for key in a), default=0.0)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return max((distance(x, y) for x, y in zip(a, b)), default=0.0)
    return 0.0 if a == b else math.inf


def main(target):
    failed = 0
    for name in FOLDERS:
        folder = os.path.join(target, name)
        with open(os.path.join(folder, "expected.jsonl"), encoding="utf-8") as source:
            expected = [json.loads(line) for line in source]
        value = distance(expected, list(Judge(folder, name, "float32").records(LENGTHS[name])))
        failed += value > BOUND
        print(f"{'ok' if value <= BOUND else 'FAR'}  {name}: {value:.1e}")
    print(f"{len(FOLDERS) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "published")))
