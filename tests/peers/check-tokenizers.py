#!/usr/bin/env python3
"""Compares ran-tokenize with the Python library `tokenizers`: ids and offsets.

    RAN_BIN=build tests/peers/check-tokenizers.py [--texts FILE.jsonl]... [--folder FOLDER]...

It trains a tokenizer of every kind on a few sentences, adds those of the folders (of tests/encoders,
if none is given), and encodes the awkward texts below, texts drawn at random, and the "text" of each
line of the files, with both. Prints a line for each tokenizer and each of the first differences; exit
status 1 if there is one. `make check-peers` runs it. It needs tokenizers 0.21 or newer; with sentencepiece it also uses its maps of characters.
--write-cases makes tests/tokens.
"""

import argparse
import glob
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time

try:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
    from tokenizers import pre_tokenizers as pre
    from tokenizers import processors, trainers
except ImportError:
    print("tokenizers is not installed: its tokenizers are not compared")
    sys.exit(0)

SENTENCES = [
    "The quick brown fox jumps over the lazy dog, and it's 12:30 o'clock.",
    "They'll say we've won; I'd rather you're right -- 'tis 3.14159, isn't it?",
    "Ünïcödé naïve café, straße, Ærøskøbing, Łódź, İstanbul, ΑΓΓΛΙΑ σοφός.",
    "Москва слезам не верит: 1987 год, ещё раз.",
    "日本語の文章と中国語の句子。東京タワーは333mです。",
    "한국어 문장은 띄어쓰기가 있다. 각나다라",
    "ภาษาไทยไม่มีช่องว่าง เด็กๆ กินข้าว",
    "שלום עולם, مرحبا بالعالم، सभी मनुष्य जन्म से स्वतंत्र हैं",
    "ﬁnal ﬂight ①②③ ｆｕｌｌ　ｗｉｄｔｈ ﾊﾝｶｸ ½ ™ ㎏ ㍿ ﷺ",
    "emoji 👍🏽 👨‍👩‍👧‍👦 🇩🇪🇫🇷 ☃️ x₂ = y² … “quotes” ‘single’ — dash",
]

AWKWARD = SENTENCES + [
    " ", "  ", "\n", "\t", "a", "A", "é", "e\u0301", "e\u0301\u0323", "e\u0323\u0301", "\u0301", "\u0301\u0323a",
    "\u0344\u0323x", "q\u0307\u0323 q\u0323\u0307", "\u1e9b\u0323", "\u00c5 \u212b A\u030a", "o\u0302\u0301", "\u1ed1",
    " leading", "trailing ", "  two  spaces  ", "\r\nCRLF\r\nlines\r\n", "tabs\t\tand\x0bfeeds\x0c", "a\u00a0b\u2003c\u3000d",
    "nul\x00inside", "\x00", "\x01\x02\x7f\x80\x85\x9f", "bell\x07 \x1b[0m", "\x08start", "\x1b\x1bstart two",
    "zero\u200bwidth\u200cnon\u200djoiner\u2060\ufeff", "\ufeffmark", "soft\u00adhyphen", "\u202ertl\u202c \u2066x\u2069",
    "private \ue000\uf8ff\U000f0000", "repl \ufffd\ufffd", "\ufffe\uffff unassigned \u0378", "\U0010ffff",
    "[CLS]", "[CLS] in [SEP] text [MASK].", "x[MASK]y", "[mask]", "[ MASK ]", "<s>hello</s>", "a<mask>b", " <mask> ",
    "a  <mask>  b", "<mask><mask> <mask>", "<unk> <pad>", "<s", "<0x41>", "[UNK]", "\u2581", "\u2581a", "a\u2581b \u2581c", "\u2581\u2581",
    "new_token", "xnew_token", "new_tokenx", "new_token new_token.", "NEW_TOKEN new_Token", "solo", "solos", " solo ", "absolo", "solo.", "(solo)",
    "  lefty", "x   lefty y", "righty   x", "righty righty", "  both  ", "both\nboth", "Straße solo straße", "CAFÉ café cafe\u0301", "  |||IP|||x",
    "x" * 1000, "a b " * 500, "é" * 700, "e\u0301" * 300, "👍" * 300, "中" * 500, "ก" * 400, " " * 300, "\n" * 100 + "x", "." * 200, "1234567890" * 30,
    "don't DON'T we'Ve ſ's 'ſ x'ſ K's '", "'s 't 're 've 'm 'll 'd 'S 'T", "''''", "a'b'c", "can't've",
    "1,234.56 ١٢٣ ४५६ Ⅷ ½ 一二三", "x1y2z3", "3rd 4x4", "٣a٣", "_under_score_ __x__", "a-b-c--d", "$5.00 €5 £5 `tick` ^caret ~tilde |bar",
    "http://example.com/?q=1&r=2#x", "user@example.com", "C++ C# .NET", "#hashtag @mention", "\\n \\t \\\\", "{\"json\": [1,2]}", "<html>&amp;</html>",
    "ÀÉÎÕÜ àéîõü", "ẞ ß ŉ ǰ ΐ", "İ I ı i", "ǅ ǆ Ǆ", "Σ ς σ ΣΑΣ", "ﬀ ﬁ ﬂ ﬃ ﬄ ﬅ ﬆ", "ĳ Ĳ ŀ", "㈱ ㊙ ℡ № ℃ Å K Ω",
    "각", "\u1100\u1161\u11a8", "\u1100\u1161", "가\u11a8", "힣", "ㄱㄴㄷ", "ﾡﾢ",
    "กำ น้ำ ำ", "\u0e33", "\u0eb3", "क्षत्रिय", "க்ஷ", "ক্ষ", "ທັງ", "བོད་སྐད་", "\u0f71\u0f72\u0f74\u0f80", "ខ្មែរ", "မြန်မာ",
    "👩🏿‍🚀", "🏳️‍🌈", "1️⃣2️⃣", "🇩🇪🇫🇷🇬", "☺️☺︎", "🤷🏽‍♀️!", "e\u20dd", "𝒜𝓑 𝟙𝟚 𝔘𝔫𝔦", "𠀀𪛖𫜴", "\U0002b820\U0002b91f\U0002b920", "\U0001f130 Ⓐ",
    "\u0915\u094d\u200d\u0937", "\u0627\u0644\u0644\u0647 \u064b\u064e", "لا ﻻ ﷲ", "שׁ שּׁ \ufb2c", "ｱｲｳ ｶﾞ ﾊﾟ", "カ\u3099", "は\u309a",
    "\u2028line\u2029para", "\u1680ogham\u180e", "a\u200e\u200fb", "\u00b4 \u00a8 \u00af", "\u037e \u0387 \u1fef", "\u2126\u212a\u212b", "\u0340\u0341\u0343",
    "x\u0338 =\u0338 <\u0338 >\u0338", "\u302e\u302f\u3099", "a\u0315\u0300\u05ae\u0062", "\U0001d15e\U0001d165", "\u0dd9\u0dcf\u0dca", "\u115f\u1160",
    "mixed日本語andEnglish한국어", "ラーメン屋さん", "“Hello,” he said—‘yes’…", "¿Qué? ¡Sí! «oui»", "a…b‥c", "100％ ＋－×÷", "！＂＃＄", "～｡｢｣",
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore.",
    "\n\n  indented\n    code = x[1]\n\treturn\n", "a\r\rb\n\rc", " \n \n ", "x \n", "x\n ", "...!!!???", "?!", "—–-‐‑", "\x1c\x1d\x1e\x1f x", "a\x1cb",
]

# Spaces before a token that takes them, where runs of spaces are tokens, too; tokens that are found before and after
# the normalizer.
MORE = [
    "a   [MASK] b", "a\t   [MASK]", "a  \t[MASK]  ", "  [CLS]  <mask>   <mask>", "a\u2003  <mask>",
    "<UNK><unk> <Unk>", "<S><s>[UNK][unk]", "[MASK][MASK] [MASK", " ", "\u200b", "\u0301a",
    "a" * 150, "漢" * 120, "1234567890" * 20,
]

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
     "<UNK>", "<S>", "<s>NOTUSED", "|||IP_ADDRESS|||", "##a", "▁", "Ġ", "Ċ"],
]


def draw(number):
    chance = random.Random(1)
    for _ in range(number):
        # A few alphabets meet in a text, so that they meet often.
        some = chance.sample(ALPHABETS, chance.randint(1, 4))
        yield "".join(chance.choice(chance.choice(some)) for _ in range(chance.randint(1, 40)))


VOCAB = 3000  # tokens of the tokenizers made here


def added(t):
    """Tokens that are added later, with every flag. The library fails if a normalizer makes one empty."""
    t.add_tokens([
        AddedToken("new_token"), AddedToken("solo", single_word=True), AddedToken("lefty", lstrip=True, normalized=False),
        AddedToken("righty", rstrip=True), AddedToken("both", lstrip=True, rstrip=True, normalized=False, special=True),
        AddedToken("|||IP|||", normalized=True), AddedToken("straße", single_word=True, normalized=True),
    ])
    if not t.normalizer or t.normalizer.normalize_str("   "):
        t.add_tokens([AddedToken("   ")])
    return t


def bert(texts, lower=True, strip=None, template=False, with_added=False):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    t.normalizer = normalizers.BertNormalizer(lowercase=lower, strip_accents=strip)
    t.pre_tokenizer = pre.BertPreTokenizer()
    t.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=VOCAB, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    if template:
        t.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", [("[CLS]", 2), ("[SEP]", 3)])
    else:
        t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    t.decoder = decoders.WordPiece()
    t.enable_truncation(128)
    return added(t) if with_added else t


def mpnet(texts):
    t = bert(texts)
    d = json.loads(t.to_str())
    t.post_processor = processors.RobertaProcessing(("[SEP]", 3), ("[CLS]", 2), trim_offsets=True, add_prefix_space=False)
    del d
    t.add_special_tokens([AddedToken("[MASK]", lstrip=True, normalized=False, special=True)])
    return t


def wordpiece_steps(texts, normalizer, pre_tokenizer):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20))
    t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizer
    t.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=VOCAB, special_tokens=["[UNK]"], show_progress=False))
    return added(t)


SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
GPT4 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def roberta(texts, prefix=False, trim=True, normalizer=None, pre_tokenizer=None, with_added=False, post="roberta"):
    t = Tokenizer(models.BPE())
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizer or pre.ByteLevel(add_prefix_space=prefix)
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=VOCAB, special_tokens=SPECIALS, initial_alphabet=pre.ByteLevel.alphabet(), show_progress=False))
    if post == "roberta":
        t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=trim, add_prefix_space=prefix)
    elif post == "bytes":
        t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=trim, add_prefix_space=prefix), processors.TemplateProcessing("<s> $A </s>", None, [("<s>", 0), ("</s>", 2)])])
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False, special=True)])
    return added(t) if with_added else t


def modernbert(texts):
    t = roberta(texts, normalizer=normalizers.NFC(), post=None)
    t.post_processor = processors.TemplateProcessing("<s> $A </s>", "<s> $A </s> $B </s>", [("<s>", 0), ("</s>", 2)])
    t.add_tokens([AddedToken(" " * n) for n in range(2, 25)] + [AddedToken("|||IP_ADDRESS|||"), AddedToken("\t\t", normalized=False)])
    return t


def bpe_chars(texts, **options):
    t = Tokenizer(models.BPE(unk_token="<unk>", **options))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    alphabet = [f"<0x{i:02X}>" for i in range(256)] if options.get("byte_fallback") else []
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=VOCAB, limit_alphabet=150, special_tokens=SPECIALS + alphabet, show_progress=False))
    d = json.loads(t.to_str())
    d["added_tokens"] = [a for a in d["added_tokens"] if not a["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(d))


def bpe_bare(texts):
    """A few bytes are no tokens: left out, or unknown."""
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    t.pre_tokenizer = pre.ByteLevel(add_prefix_space=True)
    t.train_from_iterator(SENTENCES[:2], trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIALS, show_progress=False))
    return t


def unigram(texts, normalizer=None, pre_tokenizer=None, byte_fallback=False, with_added=True):
    t = Tokenizer(models.Unigram())
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizer or pre.Metaspace()
    t.train_from_iterator(texts, trainers.UnigramTrainer(vocab_size=VOCAB, special_tokens=SPECIALS, unk_token="<unk>", show_progress=False))
    d = json.loads(t.to_str())
    if byte_fallback:
        d["model"]["byte_fallback"] = True
        d["model"]["vocab"] = [e for e in d["model"]["vocab"] if len(e[0]) > 1 or ord(e[0]) < 0x3000]
        d["model"]["vocab"] += [[f"<0x{i:02X}>", -20.0] for i in range(256)]
    t = Tokenizer.from_str(json.dumps(d))
    t.post_processor = processors.TemplateProcessing("<s> $A </s>", "<s> $A </s> </s> $B </s>", [("<s>", 0), ("</s>", 2)])
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False, special=True)])
    return added(t) if with_added else t


def charsmaps(texts, folder):
    """SentencePiece's maps of characters, from models that it trains."""
    try:
        import sentencepiece
        from sentencepiece import sentencepiece_model_pb2 as pb
    except ImportError:
        return {}
    path = os.path.join(folder, "spm.txt")
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(t.replace("\n", " ").replace("\x00", "") + "\n" for t in (SENTENCES * 5 + texts)[:3000])
    found = {}
    for rule in ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"]:
        prefix = os.path.join(folder, rule)
        sentencepiece.SentencePieceTrainer.train(input=path, model_prefix=prefix, vocab_size=1000, hard_vocab_limit=False,
                                                 normalization_rule_name=rule, character_coverage=0.98, minloglevel=2)
        m = pb.ModelProto()
        with open(prefix + ".model", "rb") as f:
            m.ParseFromString(f.read())
        found[rule] = bytes(m.normalizer_spec.precompiled_charsmap)
    return found


def all_tokenizers(texts, maps):
    n, seq = normalizers, pre.Sequence
    everything = n.Sequence([n.Nmt(), n.NFKC(), n.Replace(Regex(" {2,}"), " "), n.Strip(), n.Lowercase()])
    yield "bert-uncased", lambda: bert(texts)
    yield "bert-cased", lambda: bert(texts, lower=False, template=True)
    yield "bert-accents", lambda: bert(texts, lower=True, strip=False)
    yield "bert-added", lambda: bert(texts, with_added=True)
    yield "mpnet", lambda: mpnet(texts)
    yield "wordpiece-nfkd", lambda: wordpiece_steps(texts, n.Sequence([n.NFKD(), n.StripAccents(), n.Lowercase()]), pre.Whitespace())
    yield "wordpiece-nfc", lambda: wordpiece_steps(texts, n.NFC(), seq([pre.WhitespaceSplit(), pre.Punctuation("contiguous"), pre.Digits(True)]))
    yield "wordpiece-odd", lambda: wordpiece_steps(texts, n.Sequence([n.NFD(), n.Replace("e", "ee"), n.Replace(Regex(r"\p{P}+"), "")]), seq([pre.CharDelimiterSplit("a"), pre.Split(" ", "merged_with_previous")]))
    for behavior in ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]:
        yield f"split-{behavior}", lambda behavior=behavior: wordpiece_steps(texts, n.Lowercase(), seq([pre.Split(Regex(r"[aeiou]+|\s"), behavior), pre.Split(Regex(r"\d{2,3}|[x-z]"), behavior, invert=True)]))
        yield f"punctuation-{behavior}", lambda behavior=behavior: wordpiece_steps(texts, n.NFKC(), seq([pre.Punctuation(behavior), pre.Digits(False)]))
    yield "roberta", lambda: roberta(texts)
    yield "roberta-prefix", lambda: roberta(texts, prefix=True, with_added=True)
    yield "roberta-untrimmed", lambda: roberta(texts, prefix=True, trim=False)
    yield "modernbert", lambda: modernbert(texts)
    yield "bytes-gpt4", lambda: roberta(texts, pre_tokenizer=seq([pre.Split(Regex(GPT4), "isolated"), pre.ByteLevel(add_prefix_space=False, use_regex=False)]), post="bytes")
    yield "bytes-split", lambda: roberta(texts, pre_tokenizer=seq([pre.Split(Regex(r" ?[\p{L}\p{M}]+| ?\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"), "isolated"), pre.ByteLevel(add_prefix_space=True, use_regex=False)]), post="bytes", prefix=True)
    yield "bytes-digits", lambda: roberta(texts, pre_tokenizer=seq([pre.Digits(True), pre.ByteLevel(add_prefix_space=True)]), normalizer=n.NFKC())
    yield "bytes-whole", lambda: roberta(texts, pre_tokenizer=pre.ByteLevel(add_prefix_space=False, use_regex=False))
    yield "bytes-bare", lambda: bpe_bare(texts)
    yield "bpe-fallback", lambda: bpe_chars(texts, byte_fallback=True, fuse_unk=True)
    yield "bpe-fused", lambda: bpe_chars(texts, fuse_unk=True)
    yield "bpe-unfused", lambda: bpe_chars(texts)
    yield "unigram", lambda: unigram(texts)
    yield "unigram-first", lambda: unigram(texts, n.NFKC(), pre.Metaspace(prepend_scheme="first"))
    yield "unigram-never", lambda: unigram(texts, everything, pre.Metaspace(prepend_scheme="never"), byte_fallback=True)
    yield "unigram-whole", lambda: unigram(texts, n.Sequence([n.NFKC(), n.Prepend("▁"), n.Replace(" ", "▁")]), pre.Metaspace(split=False), byte_fallback=True)
    yield "unigram-words", lambda: unigram(texts, n.Nmt(), seq([pre.WhitespaceSplit(), pre.Metaspace()]), with_added=False)
    for rule, charsmap in maps.items():
        squeezed = n.Sequence([n.Precompiled(charsmap), n.Replace(Regex(" {2,}"), " ")])
        yield f"precompiled-{rule}", lambda squeezed=squeezed, rule=rule: unigram(texts, squeezed, with_added=rule == "nfkc")
        if rule == "nmt_nfkc":
            alone, words = n.Precompiled(charsmap), seq([pre.WhitespaceSplit(), pre.Metaspace()])
            yield "xlm-roberta", lambda alone=alone, words=words: unigram(texts, alone, words, with_added=False)


RULES = [("ﬁ", "fi"), ("\u212b", "\u00c5"), ("①", "1"), ("\u3000", " "), ("\t", " "), ("\n", " "), ("\r", " "), ("\u200b", ""), ("\x01", ""),
         ("e\u0301", "\u00e9"), ("ｱ", "ア"), ("ﾞ", "\u3099"), ("½", "1\u20442"), ("…", "..."), ("\u00ad", "")]


def small(folder):
    """Tokenizers for tests/tokens, of our own sentences."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2 as pb
    rules, model = os.path.join(folder, "rules.tsv"), os.path.join(folder, "own")
    with open(rules, "w", encoding="utf-8") as f:
        f.writelines(" ".join(f"{ord(c):X}" for c in a) + "\t" + " ".join(f"{ord(c):X}" for c in b) + "\n" for a, b in RULES)
    with open(model + ".txt", "w", encoding="utf-8") as f:
        f.writelines(t + "\n" for t in SENTENCES * 5)
    sentencepiece.SentencePieceTrainer.train(input=model + ".txt", model_prefix=model, vocab_size=400, hard_vocab_limit=False, normalization_rule_tsv=rules, minloglevel=2)
    m = pb.ModelProto()
    with open(model + ".model", "rb") as f:
        m.ParseFromString(f.read())
    charsmap = bytes(m.normalizer_spec.precompiled_charsmap)
    n, seq = normalizers, pre.Sequence
    yield "bert", bert(SENTENCES, with_added=True)
    yield "mpnet", mpnet(SENTENCES)
    yield "roberta", roberta(SENTENCES, prefix=True)
    yield "modernbert", modernbert(SENTENCES)
    yield "unfused", bpe_chars(SENTENCES)
    yield "fallback", bpe_chars(SENTENCES[:3], byte_fallback=True, fuse_unk=True)
    yield "xlm-roberta", unigram(SENTENCES, n.Precompiled(charsmap), seq([pre.WhitespaceSplit(), pre.Metaspace()]), with_added=False)
    yield "unigram", unigram(SENTENCES[:4], n.Sequence([n.Nmt(), n.NFKC(), n.Replace(Regex(" {2,}"), " "), n.Strip(), n.Lowercase()]), pre.Metaspace(prepend_scheme="first"), byte_fallback=True)
    yield "odd", wordpiece_steps(SENTENCES, n.Sequence([n.NFD(), n.Replace("e", "ee"), n.Replace(Regex(r"\p{Pd}+"), ""), n.Prepend("x")]),
                                 seq([pre.CharDelimiterSplit("a"), pre.Split(Regex(r"\s|[aeiou]+"), "merged_with_next"), pre.Digits(False), pre.Punctuation("merged_with_previous")]))


def write_cases(folder):
    texts = [t for t in AWKWARD if len(t) <= 60]
    with open(os.path.join(folder, "texts.jsonl"), "w", encoding="utf-8") as f:
        f.writelines(json.dumps({"text": t}) + "\n" for t in texts)
    with tempfile.TemporaryDirectory() as scratch:
        for name, t in small(scratch):
            t.no_truncation()
            with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as f:
                f.write(json.dumps(json.loads(t.to_str()), ensure_ascii=False, separators=(",", ":")).replace('],["', '],\n["') + "\n")
            with open(os.path.join(folder, name + ".expected"), "w", encoding="utf-8") as f:
                for text in texts:
                    e = t.encode(text, add_special_tokens=False)
                    f.write(json.dumps([e.ids, [x for o in e.offsets for x in o]], separators=(",", ":")) + "\n")
                e = t.encode("a")
                print(name, t.get_vocab_size(), e.ids)


def ours(program, folder, texts):
    lines = "".join(json.dumps({"text": t}) + "\n" for t in texts)
    start = time.monotonic()
    run = subprocess.run([program, "encode", "-q", "--jobs", "1", "--vocab", folder], input=lines.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    seconds = time.monotonic() - start
    results = []
    for line in run.stdout.decode().splitlines():
        e = json.loads(line).get("encoding")
        results.append(None if e is None else (e["ids"], [tuple(o) for o in e["offsets"]]))
    if len(results) != len(texts):
        raise SystemExit(f"{folder}: {len(results)} results for {len(texts)} texts\n{run.stderr.decode()[-2000:]}")
    return results, seconds


def compare(name, t, folder, program, texts):
    t.no_truncation()
    t.no_padding()
    got, our_seconds = ours(program, folder, texts)
    wrong, shown, seconds = 0, 0, 0.0
    for text, our in zip(texts, got):
        start = time.monotonic()
        try:
            e = t.encode(text, add_special_tokens=False)
            expected = (e.ids, e.offsets)
        except BaseException as error:  # the library panics on some texts
            expected = None
            print(f"{name}: the library fails: {text[:40]!r} {str(error)[:60]}")
        seconds += time.monotonic() - start
        if expected is None or (our is None and not expected[0]):
            continue
        if our is None or our[0] != expected[0] or our[1] != expected[1]:
            wrong += 1
            if shown < 3:
                shown += 1
                what = "ids" if our is None or our[0] != expected[0] else "offsets"
                i = next((i for i, (a, b) in enumerate(zip(list(zip(*our)) if our else [], zip(*expected))) if a != b), 0)
                print(f"{name}: {what} differ at token {i}: {text[:80]!r}\n  ours   {list(zip(*our))[i:i + 6] if our else None}\n  theirs {list(zip(*expected))[i:i + 6]}")
    print(f"{name}: {len(texts)} texts, {wrong} differ; {our_seconds:.2f} s, the library {seconds:.2f} s", flush=True)
    return wrong


def distinct(folder):
    """The folders of encoders with a tokenizer.json, those of the same bytes once."""
    seen = {}
    for path in sorted(glob.glob(os.path.join(folder, "*", "tokenizer.json"))):
        with open(path, "rb") as source:
            seen.setdefault(hashlib.sha256(source.read()).digest(), os.path.dirname(path))
    return list(seen.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", action="append", default=[])
    parser.add_argument("--random", type=int, default=300, help="so many texts drawn at random")
    parser.add_argument("--folder", action="append", default=[])
    parser.add_argument("--keep", help="keep the tokenizers here")
    parser.add_argument("--only", help="of those that are made, these: parts of names, with commas between")
    parser.add_argument("--write-cases", help="instead, write the tokenizers of tests/tokens, and what the library says, here")
    a = parser.parse_args()
    if a.write_cases:
        global VOCAB
        VOCAB = 450
        return write_cases(a.write_cases)
    program = os.path.join(os.environ.get("RAN_BIN", "build"), "ran-tokenize")
    texts = []
    if not a.folder and not a.only:
        a.folder = distinct(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "encoders"))
    for path in a.texts:
        with open(path, encoding="utf-8") as f:
            texts += [t for t in (json.loads(line).get("text") for line in f) if isinstance(t, str) and t]
    with tempfile.TemporaryDirectory() as scratch:
        return compare_all(a, program, texts, a.keep or scratch)


def compare_all(a, program, texts, keep):
    tried = AWKWARD + MORE + list(draw(a.random)) + texts
    wrong = 0
    for folder in a.folder:
        wrong += compare(folder, Tokenizer.from_file(os.path.join(folder, "tokenizer.json")), folder, program, tried)
    os.makedirs(keep, exist_ok=True)
    learn = SENTENCES * 20 + texts[:500]
    for name, make in all_tokenizers(learn, charsmaps(learn, keep)):
        if a.only and not any(part in name for part in a.only.split(",")):
            continue
        t = make()
        folder = os.path.join(keep, name)
        os.makedirs(folder, exist_ok=True)
        t.save(os.path.join(folder, "tokenizer.json"))
        wrong += compare(name, t, folder, program, tried)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
