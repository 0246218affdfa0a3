#!/usr/bin/env python3
"""The texts of parts.jsonl as segments for train.py: of many lengths, as ids of the teacher's vocabulary.

    segments.py cut <parts.jsonl >segments.jsonl
    ran-tokenize encode --only --vocab TEACHER/tokenizer.json segments.jsonl | segments.py pack OUT

pack writes OUT.ids and OUT.lengths: numbers of two bytes, of all tokens and of all segments."""
import array
import json
import random
import re
import sys

WINDOW, MIN_WINDOW = 128, 16
WHOLE = 1020, 2040  # tokens of a long text, two and four windows of the teacher
MOST = 510          # tokens of another segment: one window of the teacher
SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+")


def words_wanted(draw):
    u = draw.random()
    for share, few, many in ((0.38, 4, 28), (0.72, 28, 95), (0.9, 95, 190)):
        if u < share:
            return draw.randint(few, many)
    return draw.randint(190, 380)


def segments(text, draw):
    segment, words, wanted = [], 0, words_wanted(draw)
    for sentence in filter(str.strip, SENTENCE.split(text)):
        n = sentence.count(" ") + 1
        if words and words + n > 1.15 * wanted:
            yield " ".join(segment)
            segment, words, wanted = [], 0, words_wanted(draw)
        segment.append(sentence.strip())
        words += n
    if segment:
        yield " ".join(segment)


def cut():
    draw = random.Random(20261127)
    for line in sys.stdin:
        text = json.loads(line)["text"]
        whole = [text] if len(text) > 4300 and draw.random() < 0.25 else []
        for segment in [s[:4000] for s in segments(text, draw)] + whole:
            print(json.dumps({"text": segment}, ensure_ascii=False))


def length(n):
    """How many of n tokens are kept: no short window may end a segment that is padded to others."""
    for whole in reversed(WHOLE):
        if n >= whole:
            return whole
    n = min(n, MOST)
    return n - n % WINDOW if n > WINDOW + MIN_WINDOW and n % WINDOW < MIN_WINDOW else n


def pack(name):
    with open(name + ".ids", "wb") as ids, open(name + ".lengths", "wb") as lengths:
        for line in sys.stdin:
            segment = json.loads("[" + line.split('"ids":[', 1)[1].split("]", 1)[0] + "]")
            n = length(len(segment))
            if n >= 3:
                array.array("H", segment[:n]).tofile(ids)
                array.array("H", [n]).tofile(lengths)


if sys.argv[1:] == ["cut"]:
    cut()
elif len(sys.argv) == 3 and sys.argv[1] == "pack":
    pack(sys.argv[2])
else:
    sys.exit("segments.py: usage: segments.py cut | pack OUT")
