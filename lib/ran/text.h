/* ran/text.h - vocabularies, tokenisation, word vectors. Conventions: ran.h. */
#ifndef RAN_RAN_TEXT_H
#define RAN_RAN_TEXT_H

#include "ran/base.h"

/* ---- vocabularies and tokenisation (text/) -------------------------------------------------- */

/* Reserved tokens: the first ids of every vocabulary that ran_counter_learn makes. Text never
 * becomes one of them, except [UNK]: "[MASK]" in a document is bracket, word, bracket, or unknown.
 */
enum { RAN_UNK = 0, RAN_MASK, RAN_SEP, RAN_START, RAN_END, RAN_RESERVED };
#define RAN_NO_ID UINT32_MAX /* no token */

/* The tokens of one document, in order. Offsets [start, end) count code points of the original
 * text; for pre-split words they count within the word. Zero-initialise; the arrays (n) grow as
 * needed and are reused. */
struct ran_encoding {
        uint32_t *ids;
        size_t *start, *end;
        size_t *word; /* the word (pre-token, or member of "tokens") of each token */
        size_t n, cap;
        size_t words;       /* number of words */
        uint32_t *spelling; /* (n, RAN_SPELLING), after ran_encoding_spell */
        size_t spelling_cap;
        bool ids_only; /* set before the first text: start, end and word stay NULL */
        void *scratch; /* the tokeniser's; freed by _release */
};
void ran_encoding_release(struct ran_encoding *e);
/* Converts the offsets of tokens [first, e->n), which count code points of `text` (n bytes of
 * UTF-8), to another unit. */
enum ran_unit { RAN_UNIT_CODEPOINT, RAN_UNIT_BYTE, RAN_UNIT_UTF16 };
extern const char *const ran_unit_names[]; /* "codepoint" ..., NULL at the end */
void ran_encoding_convert(struct ran_encoding *e, size_t first, const char *text, size_t n,
                          enum ran_unit unit);

/* Takes the space before them off tokens of a text of n bytes whose offsets count code points; of
 * tokens for the same characters, the last one has them. */
void ran_encoding_trim_spaces(struct ran_encoding *e, const char *text, size_t n);

/* Appends the member "encoding" of a record: {"vocab", "pieces", "ids", "offsets"}, and "words" if
 * `words` is set (text/hf/encoding-json.c). */
struct ran_tokenizer;
void ran_encoding_json(const struct ran_encoding *e, const struct ran_tokenizer *t, bool words,
                       struct ran_buf *out);

/* Features of the spelling of a word, known to the vocabulary or not: case, shape, prefixes and
 * suffixes of up to four characters, each hashed to one of `buckets` >= 1 (text/spelling.c). */
enum { RAN_SPELLING = 10 };
void ran_spelling(const char *word, size_t n, size_t buckets, uint32_t feature[RAN_SPELLING]);
/* Fills e->spelling for tokens [first, e->n), those of `text` (n bytes; NULL if n is 0): each gets
 * the features of its word as written there, before normalisation. Call it before
 * ran_encoding_convert. */
int ran_encoding_spell(struct ran_encoding *e, size_t first, const char *text, size_t n,
                       size_t buckets, struct ran_error *err);

/* How text is split into words and a vocabulary is learned: one table of options for `ran-tokenize
 * learn` and ran-train. */
enum { RAN_VOCAB_WORD, RAN_VOCAB_WORDPIECE, RAN_VOCAB_BPE };
enum { RAN_NORMALIZE_NONE, RAN_NORMALIZE_NFC, RAN_NORMALIZE_NFKC };
enum { RAN_CLEAN_NONE, RAN_CLEAN_ALL };
enum { RAN_SPLIT_PUNCTUATION, RAN_SPLIT_SPACES, RAN_SPLIT_GPT2 };
struct ran_vocab_settings {
        int vocab_type;        /* RAN_VOCAB_... */
        size_t vocab_size;     /* tokens at most, reserved ones included */
        size_t min_count;      /* rarer words, or merges, are left out */
        size_t limit_alphabet; /* wordpiece: at most so many single characters */
        size_t max_word;       /* wordpiece: a word of more characters is [UNK] */
        size_t max_distinct;   /* distinct words kept while counting; the rarest are pruned */
        int normalize;         /* RAN_NORMALIZE_... */
        bool lowercase, strip_accents;
        int clean;       /* RAN_CLEAN_...: which control characters are removed */
        bool cjk;        /* each CJK ideograph is a word */
        int split_at;    /* RAN_SPLIT_... */
        char *eol_token; /* the word for a line feed; NULL: it is white space */
};
extern const struct ran_field ran_vocab_fields[];

/* Loads a Hugging Face tokenizer.json or, if the first character is not '{', a BERT vocab.txt: one
 * token on each line, read as BERT reads it (lower case without accents, unless a token has a
 * capital letter). NULL: RAN_EFORMAT. A tokeniser is immutable; threads may share it.
 */
struct ran_tokenizer;
struct ran_tokenizer *ran_tokenizer_load(const char *data, size_t n, struct ran_error *err);
/* A sentence about the file for its user (a setting that is ignored, as truncation), or NULL. */
const char *ran_tokenizer_notice(const struct ran_tokenizer *t);
/* The tokeniser as a tokenizer.json (*n bytes), which ran_tokenizer_load reads back: equal
 * tokenisers have equal bytes. Its SHA-256 in hex. Made when first asked for. */
const char *ran_tokenizer_json(const struct ran_tokenizer *t, size_t *n);
const char *ran_tokenizer_digest(const struct ran_tokenizer *t);
void ran_tokenizer_free(struct ran_tokenizer *t);
size_t ran_tokenizer_size(const struct ran_tokenizer *t); /* V: the largest id + 1 */
/* The text of an id as in the vocabulary ("##ing"), *n bytes, which may include NUL; NULL for an id
 * without one. */
const char *ran_tokenizer_token(const struct ran_tokenizer *t, uint32_t id, size_t *n);
/* Finds the id of a token, special and reserved ones too; false if there is none. */
bool ran_tokenizer_find(const struct ran_tokenizer *t, const char *token, size_t n, uint32_t *id);
/* Whether all tokens of another, of the same kind, are those of t with the same ids. */
bool ran_tokenizer_begins_with(const struct ran_tokenizer *t, const struct ran_tokenizer *of);
/* The id for text outside the vocabulary; RAN_NO_ID if there is none, as with byte pairs. */
uint32_t ran_tokenizer_unknown(const struct ran_tokenizer *t);
/* Loads the tokeniser of an encoder, exactly as the library of Hugging Face does, from a folder:
 * its tokenizer.json, else BERT's vocab.txt or vocab.json and merges.txt, which
 * tokenizer_config.json says how to read. RAN_EFORMAT, RAN_EIO. */
struct ran_tokenizer *ran_tokenizer_open_folder(const char *folder, struct ran_error *err);
/* The ids that go in front of and behind each text, or window of it: those of [CLS] and [SEP]. None
 * for a vocabulary that was not loaded for an encoder. */
struct ran_surround {
        const uint32_t *before, *after; /* the tokeniser's */
        size_t before_n, after_n;
};
struct ran_surround ran_tokenizer_surround(const struct ran_tokenizer *t);
/* Encodes n bytes of text into e, replacing its contents. RAN_EFORMAT for invalid UTF-8. */
int ran_tokenizer_encode(const struct ran_tokenizer *t, const char *text, size_t n,
                         struct ran_encoding *e, struct ran_error *err);
/* Appends the tokens of one pre-split word; a word that normalisation removes becomes [UNK]. Call
 * it for word 0, 1, ... after setting e->n = e->words = 0. On failure nothing is appended. */
int ran_tokenizer_encode_word(const struct ran_tokenizer *t, const char *word, size_t n,
                              struct ran_encoding *e, struct ran_error *err);
/* Appends the text of n ids to out: a space between words, but none before "." and the like if the
 * vocabulary splits text at punctuation; a line feed for the end-of-line token. RAN_EFORMAT for an
 * id without text; then nothing is appended. */
int ran_tokenizer_decode(const struct ran_tokenizer *t, const uint32_t *ids, size_t n,
                         struct ran_buf *out, struct ran_error *err);

/* Initial values for rows of an embedding matrix. */
struct ran_embedding {
        size_t V, D;
        float *rows;     /* (V, D) */
        bool *given;     /* (V): whether the row is given; others are drawn at random */
        char digest[65]; /* SHA-256 of their file */
};
int ran_embedding_init(struct ran_embedding *e, size_t V, size_t D,
                       struct ran_error *err); /* none given */
void ran_embedding_release(struct ran_embedding *e);

/* A file of word vectors (text/learn/vectors.c): text of GloVe, word2vec or fastText, or word2vec's
 * binary format. Opening it checks format and width (`dim` numbers; 0: any) before there is a
 * vocabulary. It is mapped; a pipe is read into memory. `path` must outlive it. */
struct ran_vectors;
struct ran_vectors *ran_vectors_open(const char *path, size_t dim, struct ran_error *err);
void ran_vectors_free(struct ran_vectors *v);
size_t ran_vectors_width(const struct ran_vectors *v);
struct ran_vectors_report {
        size_t rows, promised; /* in the file; according to its header */
        bool header;
        bool cut;        /* the last line lacks its newline */
        size_t found;    /* tokens with a vector */
        size_t repeated; /* further rows of a word; the first one counts */
        size_t not_utf8; /* words that are not UTF-8, which no text contains */
};
/* Fills the rows of tokens that are a whole word of the file: an exact match or, without one, a
 * match after the vocabulary's normalisation ("Paris" for the token "paris"); the first row of each
 * kind counts. The row "<unk>" goes to [UNK]. RAN_EFORMAT, RAN_EIO. */
int ran_vectors_read(struct ran_vectors *v, const struct ran_tokenizer *t, struct ran_embedding *to,
                     struct ran_vectors_report *report, struct ran_error *err);

/* Counts words and learns a vocabulary. ran_counter_words appends the words of a text to `words`,
 * in a format for ran_counter_add; several threads may call it at once, each with its own encoding
 * (for scratch memory) and buffer. ran_counter_add changes the counter: call it from one thread,
 * and in the same order for the same vocabulary. */
struct ran_counter;
struct ran_counter *ran_counter_new(const struct ran_vocab_settings *settings,
                                    struct ran_error *err);
/* The same for words as t normalises and splits them, of which settings say nothing. */
struct ran_counter *ran_counter_new_like(const struct ran_vocab_settings *settings,
                                         const struct ran_tokenizer *t);
void ran_counter_free(struct ran_counter *c);
int ran_counter_words(const struct ran_counter *c, const char *text, size_t n,
                      struct ran_encoding *e, struct ran_buf *words, struct ran_error *err);
int ran_counter_add(struct ran_counter *c, const char *words, size_t n, struct ran_error *err);
/* The next one of such words, from *at, below n, which moves behind it. RAN_EINVAL: these are other
 * bytes. */
int ran_counter_word(const char *words, size_t n, size_t *at, const char **word, size_t *length,
                     struct ran_error *err);
/* Another settings.vocab_size, before a vocabulary is learned. */
void ran_counter_limit(struct ran_counter *c, size_t vocab_size);
/* Learns a vocabulary from the counts; RAN_EINVAL without a word to learn from. */
struct ran_tokenizer *ran_counter_learn(const struct ran_counter *c, struct ran_error *err);
struct ran_counter_report {
        uint64_t words;   /* occurrences counted */
        size_t distinct;  /* distinct words kept */
        size_t pruned;    /* times a word was dropped, to keep to max_distinct */
        uint64_t dropped; /* their occurrences */
};
void ran_counter_report(const struct ran_counter *c, struct ran_counter_report *report);
/* The share of the counted words, each as often as it was counted, that are tokens of a vocabulary
 * of words or WordPiece, whole: whether it is of their language. 0 if nothing was counted. */
double ran_counter_share(const struct ran_counter *c, const struct ran_tokenizer *t);

/* A vocabulary that begins with the tokens of another and goes on with the words counted that it
 * lacks: those that occur `least` times, the most frequent first, settings.vocab_size at most. *to
 * is NULL if there are none, if it is one of byte pairs, or if it reads texts otherwise than c;
 * else the caller frees it. */
int ran_counter_extend(const struct ran_counter *c, const struct ran_tokenizer *of, size_t least,
                       struct ran_tokenizer **to, struct ran_error *err);

/* Adds the words of the next n rows to a vocabulary of words, in addition to the vocab_size most
 * frequent, except words that a text would split;
 * *wanted: how many. ran_vectors_read reads them, too. */
int ran_vectors_want(struct ran_vectors *v, size_t n, struct ran_counter *c, size_t *wanted,
                     struct ran_error *err);

/* ---- words and sentences of raw text (text/raw/segment.c) ---------------------------------------
 */

/* Conventions by which corpora with words already split have split them:
 * spaces: at white space only; punctuation: each mark is a word; conll: as the data of CoNLL-2003;
 * ptb: as the Penn Treebank; ud: as the English data of Universal Dependencies. */
enum {
        RAN_SEGMENT_SPACES,
        RAN_SEGMENT_PUNCTUATION,
        RAN_SEGMENT_CONLL,
        RAN_SEGMENT_PTB,
        RAN_SEGMENT_UD,
        RAN_SEGMENT_COUNT
};
extern const char *const ran_segment_names[]; /* "spaces" ..., NULL at the end */

/* An iterator over the words of a text, which must be UTF-8 and outlive it. */
struct ran_segments {
        const char *text;
        size_t n;
        int convention; /* RAN_SEGMENT_... */
        /* Its own: bytes of the text. */
        size_t pos, chunk, chunk_end, next, core, split, core_end, period;
        bool first, sentence_ends, address;
};
void ran_segments_begin(struct ran_segments *s, int convention, const char *text, size_t n);
/* The bytes [*begin, *end) of the next word; *first: it begins a sentence. false: there is none. */
bool ran_segments_next(struct ran_segments *s, size_t *begin, size_t *end, bool *first);

/* ---- marks as a corpus writes them (text/raw/marks.c) -------------------------------------------
 */

/* The words " “ ” `` '' ' ‘ ’ ` 's ’s -- — ... … ( ) [ ] { } and -LRB- to -RCB-: several stand for
 * each other, and a corpus has one of them. 's means any word with an apostrophe in it. */
enum { RAN_MARK_COUNT = 27 };

/* Counts a word of a corpus, if it is one of them. */
void ran_mark_count(size_t count[RAN_MARK_COUNT], const char *word, size_t n);
/* What people type for a mark of the Penn Treebank, " for ``; NULL for other words. */
const char *ran_mark_typed(const char *word, size_t n);
/* Whether the corpus writes marks as the Penn Treebank does. */
bool ran_mark_treebank(const size_t count[RAN_MARK_COUNT]);
/* The marks that the corpus has, the most frequent first; returns their number. */
size_t ran_marks_list(const size_t count[RAN_MARK_COUNT], const char *list[RAN_MARK_COUNT]);

/* The marks of a corpus, to write the words of a text with. Zero-initialise; for each text, set
 * both `open` to false. */
struct ran_marks {
        unsigned char own[RAN_MARK_COUNT];
        size_t n;
        bool open, single_open; /* quotes */
        struct ran_buf word;    /* scratch */
};
void ran_marks_release(struct ran_marks *m);
/* Adds a mark of ran_marks_list, the most frequent first; other words are left out. */
void ran_marks_know(struct ran_marks *m, const char *mark, size_t n);
/* The word [begin, end) of a text of n bytes of UTF-8, as the corpus would write it: a mark that it
 * lacks becomes the most frequent one that stands for it. The words of a text come in order.
 * *word points into the text or into m, until the next call; false: the word stays as it is. */
bool ran_marks_write(struct ran_marks *m, const char *text, size_t n, size_t begin, size_t end,
                     const char **word, size_t *length);

/* How many words of a tokenised text each convention finds again once they are joined. Counts of
 * parts of a text add up (text/raw/segment-fit.c). */
struct ran_segment_count {
        size_t words;                                              /* of the text */
        size_t found[RAN_SEGMENT_COUNT], right[RAN_SEGMENT_COUNT]; /* by a convention; of these */
        size_t marks[RAN_MARK_COUNT];                              /* of the text */
};
void ran_segment_count_add(struct ran_segment_count *to, const struct ran_segment_count *from);
/* The convention that fits best, RAN_SEGMENT_...: punctuation where none is better; ptb, if
 * none is better, for the marks of the Penn Treebank. */
int ran_segment_count_best(const struct ran_segment_count *count);

/* A sentence, joined word by word. Zero-initialise, and reuse. */
struct ran_segment_fit {
        struct ran_buf text, spans; /* spans: begin and end of each word */
        bool glued, quoted, hyphen; /* hyphen: the last word is one, with a space before it */
        size_t marks[RAN_MARK_COUNT];
};
void ran_segment_fit_release(struct ran_segment_fit *f);
void ran_segment_fit_begin(struct ran_segment_fit *f);
void ran_segment_fit_word(struct ran_segment_fit *f, const char *word, size_t n);
/* Adds to the counts. */
void ran_segment_fit_end(struct ran_segment_fit *f, struct ran_segment_count *count);

/* ---- names that look alike (text/raw/fold.c)
 * ----------------------------------------------------- */

/* Appends what two names that look alike have in common: letters in lower case, in composed and
 * compatible form (NFKC), without white space, underscores and characters that cannot be seen; a
 * whole number without leading zeros and decimals. RAN_EFORMAT for invalid UTF-8. */
int ran_text_fold(const char *s, size_t n, struct ran_buf *out, struct ran_error *err);

/* ---- near-duplicates (text/raw/shingles.c, near-duplicates.c) ----------------------------------
 */

/* Two texts are near-duplicates if they share most of their shingles: pairs of words that follow
 * each other, begin and end of the text included (Broder, On the resemblance and containment of
 * documents, 1997). Their similarity is the share of common ones among all that occur in either.
 * Appends the shingles of words, as ran_counter_words writes them, to a set: ascending 64-bit
 * hashes, each once. None for no words. RAN_EINVAL: these are other bytes. */
struct ran_shingles {
        uint64_t *hash; /* (n) */
        size_t n, cap;
};
int ran_shingles_of(struct ran_shingles *to, const char *words, size_t n, struct ran_error *err);
/* The same of ids, each of which is a word. */
void ran_shingles_of_ids(struct ran_shingles *to, const uint32_t *ids, size_t L);
void ran_shingles_release(struct ran_shingles *s);
/* 0 if it is below `least`, which takes less time for sets that differ. */
double ran_shingles_similarity(const uint64_t *a, size_t n, const uint64_t *b, size_t m,
                               double least);

/* Texts that can be found by similar ones, in time and memory that grow with their number, not with
 * its square: those that are at least `least` similar, 0 < least <= 1, meet in a bucket of
 * signatures (MinHash) with a probability above 0.999, and each that meets is compared exactly, at
 * most RAN_NEAR_COMPARED of them. The same texts in the same order give the same answers. */
enum { RAN_NEAR_COMPARED = 1000 };
#define RAN_NO_TEXT SIZE_MAX
struct ran_near_duplicates;
struct ran_near_duplicates *ran_near_duplicates_new(double least);
void ran_near_duplicates_free(struct ran_near_duplicates *t);
/* The number of the most similar text that was added, the first of equals, and its similarity; or
 * RAN_NO_TEXT. */
size_t ran_near_duplicates_find(struct ran_near_duplicates *t, const struct ran_shingles *s,
                                double *similarity);
/* Tells each text that was added and is similar enough, among those that meet; `tell` returns how
 * similar further ones must be: `least` or more, above 1 for no more of them. */
void ran_near_duplicates_each(struct ran_near_duplicates *t, const struct ran_shingles *s,
                              double (*tell)(void *arg, size_t text, double similarity), void *arg);
/* Adds a text; they are numbered from 0. One without shingles is like no other. */
int ran_near_duplicates_add(struct ran_near_duplicates *t, const struct ran_shingles *s,
                            struct ran_error *err);

#endif
