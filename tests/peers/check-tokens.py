#!/usr/bin/env python3
"""check-tokens.py [--texts N] [TOKENIZER.json...] - the ids of ran-tokenize against those of the tokenizers library.

The texts are awkward ones and N drawn at random (2,000); without files, the vocabularies of tests/encoders are tried.
Programs are in the folder RAN_BIN, or in build.
"""
import argparse
import glob
import hashlib
import json
import os
import random
import subprocess
import sys

try:
    from tokenizers import Tokenizer

    from texts import SENTENCES, TEXTS
except ImportError as error:
    sys.exit(f"{sys.argv[0]}: the Python package {error.name} is missing: pip install tokenizers")

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.path.join(os.environ.get("RAN_BIN", os.path.join(ROOT, "build")), "ran-tokenize")

# Of these, ten or so in a row make a text; the rarer an alphabet is in real texts, the more often it has to be here.
ALPHABETS = [
    [word + " " for sentence in SENTENCES for word in sentence.split()],
    list("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"), list("0123456789"),
    list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"), ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'LL", "’s"],
    [" ", "  ", "   ", "\t", "\n", "\r\n", "\u00a0", "\u2003", "\u2028", "\u3000", "\u0085", "\u1680", "\v", "\f"],
    ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u200e", "\u202e", "\ufe0f", "\u0000", "\u0001",
     "\u007f", "\u009f", "\ufffd", "\ue000", "\U000e0001", "\U0010fffd", "\ufffe"],
    ["\u0301", "\u0308", "\u030a", "\u0327", "\u0323", "\u0307", "\u0345", "\u20dd", "\u3099"],
    list("äöüßÄÖÜẞéèñçøåÅœæŁłžŽčğışİıſŉǆǅﬁﬂﬀﬃ"), list("ΑαΩωςσΐάЖжЇїЁёҐґ"), list("אבגשׁלاَبتﷺﻼ"),
    list("漢字仮名かなカナｶﾞ㌔㍻龍龘𠀀豈丽"), list("한국어각가각"), list("नमस्तेक्षिไทยกำ"),
    list("½¼²³①Ⅷ№™℃℡ℌÅＡａ０！：～￥"), ["🙂", "👩‍👩‍👧", "🇩🇪", "❤️", "👍🏽", "\U0001f3f4\U000e0067\U000e007f"],
    ["[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]", "<s>", "</s>", "<mask>", "<unk>", " <mask>", "<mask> ", "[mask]",
     "<UNK>", "<S>",      "<s>NOTUSED", "|||IP_ADDRESS|||", "##a", "▁", "Ġ", "Ċ"],
]

# Spaces before a token that takes them, where runs of spaces are tokens, too; tokens that are found before and after
# the normalizer.
AWKWARD = ["a   [MASK] b", "a\t   [MASK]", "a  \t[MASK]  ", "  [CLS]  <mask>   <mask>", "a\u2003  <mask>",
           "<UNK><unk> <Unk>", "<S><s>[UNK][unk]", "[MASK][MASK] [MASK", " ", "\u200b", "\u0301a",
           "a" * 150, "漢" * 120, "1234567890" * 20]


def draw(number):
    chance = random.Random(1)
    for _ in range(number):
        # A few alphabets meet in a text, so that they meet often.
        some = chance.sample(ALPHABETS, chance.randint(1, 4))
        yield "".join(chance.choice(chance.choice(some)) for _ in range(chance.randint(1, 40)))


def ours(vocabulary, texts):
    """The ids for each text, or why there are none."""
    lines = "".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(texts))
    done = subprocess.run([PROGRAM, "encode", "-q", "--only", "--vocab", vocabulary], input=lines.encode(),
                          capture_output=True, check=False)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    if len(records) != len(texts):
        return None, done.stderr.decode().strip()
    return [record.get("encoding", {}).get("ids", []) for record in records], ""


def compare(vocabulary, texts):
    library = Tokenizer.from_file(vocabulary)
    library.no_truncation()
    library.no_padding()
    found, error = ours(vocabulary, texts)
    if found is None:
        print(f"FAR {vocabulary}: {error}")
        return False
    expected = [library.encode(text, add_special_tokens=False).ids for text in texts]
    wrong = [i for i in range(len(texts)) if found[i] != expected[i]]
    print(f"{'FAR' if wrong else 'ok '} {vocabulary}: {len(wrong)} of {len(texts)} texts differ")
    for i in wrong[:5]:
        print(f"     {json.dumps(texts[i])}: {found[i]}, not {expected[i]}")
    return not wrong


def distinct(folder):
    """The tokenizer.json of a folder of encoders, each once."""
    seen = {}
    for path in sorted(glob.glob(os.path.join(folder, "*", "tokenizer.json"))):
        with open(path, "rb") as source:
            seen.setdefault(hashlib.sha256(source.read()).digest(), path)
    return list(seen.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    texts = [text for _, text in TEXTS] + AWKWARD + list(draw(options.texts))
    files = options.files or distinct(os.path.join(ROOT, "tests", "encoders"))
    passed = sum(compare(file, texts) for file in files)
    print(f"{passed} passed, {len(files) - passed} failed")
    return passed < len(files)


if __name__ == "__main__":
    sys.exit(main())
