"""Small tokenizers of every kind that the encoders come with, in the form of tokenizer.json.

Each function returns a Tokenizer and the names of its special tokens, as transformers calls them.
"""
import collections
import io
import os
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers,
                        processors)

from texts import SENTENCES

BERT = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]",
        "mask_token": "[MASK]"}
ROBERTA = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>",
           "cls_token": "<s>", "sep_token": "</s>", "mask_token": "<mask>"}


def surround(tokenizer, first, last, types=(0, 1)):
    """The post-processor of most tokenizers: first $A last, and a second text of another type."""
    return processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first} $A {last} $B:{types[1]} {last}:{types[1]}",
        special_tokens=[(first, tokenizer.token_to_id(first)), (last, tokenizer.token_to_id(last))])


def most_frequent(items, count):
    """In the order of their frequency, then of the alphabet: trainers of the library draw lots."""
    counts = collections.Counter(items)
    return sorted(counts, key=lambda item: (-counts[item], item))[:count]


def learn_wordpiece(special, unknown, lowercase, size):
    """Letters, with and without ##; frequent words and ends of words."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=unknown))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    words = [word for sentence in SENTENCES
             for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(sentence))]
    vocabulary = [str(getattr(token, "content", token)) for token in special] + sorted({word[0] for word in words}) + \
        sorted({"##" + letter for word in words for letter in word[1:]})
    longer = [word for word in words if len(word) > 1] + \
        ["##" + word[-n:] for word in words for n in (2, 3) if len(word) > n + 1]
    vocabulary += most_frequent(longer, size - len(vocabulary))
    tokenizer.model = models.WordPiece({token: i for i, token in enumerate(vocabulary)}, unk_token=unknown)
    tokenizer.add_special_tokens(special)
    return tokenizer


def bert(lowercase=True, size=140):
    special = list(BERT.values())
    tokenizer = learn_wordpiece(special, "[UNK]", lowercase, size)
    tokenizer.post_processor = surround(tokenizer, "[CLS]", "[SEP]")
    return tokenizer, BERT


def mpnet(size=140):
    """BERT's subwords between RoBERTa's special tokens. <unk> is found in lower case only, after the normalizer; what
    is unknown becomes [UNK]."""
    tokenizer = learn_wordpiece(["<s>", "<pad>", "</s>", AddedToken("<unk>", normalized=True, special=True), "[UNK]"],
                                "[UNK]", True, size - 1)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True,
                                                            add_prefix_space=False)
    return tokenizer, dict(ROBERTA, unk_token="[UNK]")


def join(word, pair):
    joined = []
    for piece in word:
        if joined and (joined[-1], piece) == pair:
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def learn_bytes(special, size):
    """Byte pairs as in GPT-2."""
    pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words = [list(word) for sentence in SENTENCES for word, _ in pre_tokenizer.pre_tokenize_str(sentence)]
    vocabulary = special + sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = []
    while len(vocabulary) < size:
        merges += most_frequent((pair for word in words for pair in zip(word, word[1:])), 1)
        vocabulary.append("".join(merges[-1]))
        words = [join(word, merges[-1]) for word in words]
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(vocabulary)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    return tokenizer


def roberta(size=300):
    tokenizer = learn_bytes(["<s>", "<pad>", "</s>", "<unk>"], size - 1)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    return tokenizer, ROBERTA


def modernbert(size=300):
    """Byte pairs with runs of spaces as tokens of their own, and BERT's special tokens at the end."""
    tokenizer = learn_bytes(["|||IP_ADDRESS|||", "<|padding|>"], size - 8)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens([AddedToken(" " * n, normalized=True) for n in (4, 3, 2)])
    tokenizer.add_special_tokens(
        [AddedToken(name, lstrip=name == "[MASK]", special=True)
         for name in ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]")])
    tokenizer.post_processor = surround(tokenizer, "[CLS]", "[SEP]", types=(0, 0))
    return tokenizer, dict(BERT, bos_token="[CLS]", eos_token="[SEP]")


# A character map in SentencePiece's form: what becomes what, and what goes. The map of real models has
# some 300 kB and the same form.
MAP = {
    "\t": " ", "\n": " ", "\r": " ", "\u00a0": " ", "\u2003": " ", "\u3000": " ", "\u200b": " ",
    "\u00ad": "", "\u200e": "", "\ufeff": "", "\u0007": "",
    "½": "1⁄2", "¼": "1⁄4", "²": "2", "…": "...", "№": "No", "™": "TM", "ℌ": "H", "\u212b": "\u00c5",
    "ﬁ": "fi", "ﬂ": "fl", "ﬀ": "ff", "ﬃ": "ffi", "ﬄ": "ffl", "㎏": "kg", "㌔": "キロ", "Ａ": "A", "Ｂ": "B",
    "ａ": "a", "ｂ": "b", "０": "0", "１": "1", "！": "!", "：": ":", "ｶ": "カ", "ｶﾞ": "ガ",
    "e\u0301": "é", "a\u0308": "ä", "u\u030a": "ů", "u\u0308": "ü", "u\u0308\u0301": "ǘ", "Z\u030c": "Ž",
    "s\u0323\u0307": "ṩ", "ﷺ": "صلى الله عليه وسلم",
}


def learn_unigram(size):
    """Pieces with scores, and the compiled character map."""
    def code(text):
        return " ".join(f"{ord(character):X}" for character in text)
    with tempfile.TemporaryDirectory() as folder:
        rules = os.path.join(folder, "rules.tsv")
        with open(rules, "w", encoding="utf-8") as out:
            out.writelines(f"{code(a)}\t{code(b)}\n" for a, b in sorted(MAP.items()))
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(SENTENCES), model_writer=model, vocab_size=size,
            model_type="unigram", normalization_rule_tsv=rules, character_coverage=1.0,
            num_threads=1, minloglevel=2, hard_vocab_limit=False)
    proto = sentencepiece_model_pb2.ModelProto.FromString(model.getvalue())
    pieces = [(piece.piece, piece.score) for piece in proto.pieces]
    return pieces, proto.normalizer_spec.precompiled_charsmap


def unigram(vocabulary, unknown, normalizer, pre_tokenizer):
    tokenizer = Tokenizer(models.Unigram(vocabulary, unknown, byte_fallback=False))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    return tokenizer


def xlm_roberta(size=120):
    """As in the files of XLM-RoBERTa and multilingual-e5: words apart, then ▁ before each."""
    pieces, charsmap = learn_unigram(size - 2)
    vocabulary = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)] + pieces[3:] + [("<mask>", 0.0)]
    tokenizer = unigram(vocabulary, 3, normalizers.Precompiled(charsmap), pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace("▁", prepend_scheme="always")]))
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = surround(tokenizer, "<s>", "</s>", types=(0, 0))
    return tokenizer, ROBERTA


def camembert(size=120):
    """As newer converters write it: ▁ for spaces; <s> and </s> have the numbers 5 and 6."""
    pieces, charsmap = learn_unigram(size - 4)
    vocabulary = [("<s>NOTUSED", 0.0), ("<pad>", 0.0), ("</s>NOTUSED", 0.0), ("<unk>", 0.0), ("<unk>NOTUSED", -100.0),
                  ("<s>", 0.0), ("</s>", 0.0)] + pieces[3:] + [("<mask>", 0.0)]
    tokenizer = unigram(vocabulary, 3, normalizers.Sequence(
        [normalizers.Precompiled(charsmap), normalizers.Strip(left=False, right=True),
         normalizers.Replace(Regex(" {2,}"), "▁")]),
        pre_tokenizers.Metaspace("▁", prepend_scheme="always"))
    tokenizer.add_special_tokens(["<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED", "<s>", "</s>",
                                  AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = surround(tokenizer, "<s>", "</s>", types=(0, 0))
    return tokenizer, ROBERTA
