/* ran/text.h - vocabularies, tokenisation, word vectors. Conventions: ran.h. */
#ifndef RAN_RAN_TEXT_H
#define RAN_RAN_TEXT_H

#include "ran/base.h"

/* ---- vocabularies and tokenisation (text/) -------------------------------------------------- */

/* Reserved tokens, always the first ids of a vocabulary learned here. User text never becomes one
 * of them, except [UNK]: "[MASK]" in a document is a bracket, a word and a bracket, or unknown. */
enum { RAN_UNK = 0, RAN_MASK, RAN_SEP, RAN_START, RAN_END, RAN_RESERVED };
#define RAN_NO_ID UINT32_MAX /* no token at all */

/* Pieces of one document, in order. Offsets count code points of the original text, end exclusive;
 * for pre-split words they count inside the word, and word[] says which one. Zero-initialise;
 * arrays grow as needed and are reused. */
struct ran_encoding {
        uint32_t *ids;
        size_t *start, *end;
        size_t *word; /* which word (pre-token, or member of "tokens") the piece belongs to */
        size_t n, cap;
        size_t words;       /* words in all */
        uint32_t *spelling; /* (n, RAN_SPELLING) once ran_encoding_spell was asked for it */
        size_t spelling_cap;
        void *scratch; /* owned by the tokeniser between calls; freed by _release */
};
void ran_encoding_release(struct ran_encoding *e);
/* Turns the offsets of pieces [first, e->n), which count code points of `text`, into other units.
 */
enum ran_unit { RAN_UNIT_CODEPOINT, RAN_UNIT_BYTE, RAN_UNIT_UTF16 };
extern const char *const ran_unit_names[]; /* "codepoint" ..., NULL at the end */
int ran_encoding_convert(struct ran_encoding *e, size_t first, const char *text, size_t n,
                         enum ran_unit unit, struct ran_error *err);

/* The member "encoding" of a record: {"vocab", "pieces", "ids", "offsets"}, with `words` "words",
 * too (text/encoding-json.c). */
struct ran_tokenizer;
void ran_encoding_json(const struct ran_encoding *e, const struct ran_tokenizer *t, bool words,
                       struct ran_buf *out);

/* What the spelling of a word says, whatever the vocabulary knows of it: case, shape, prefixes and
 * suffixes of up to four characters, each hashed to one of so many buckets, at least 1
 * (text/spelling.c). */
enum { RAN_SPELLING = 10 };
void ran_spelling(const char *word, size_t n, size_t buckets, uint32_t feature[RAN_SPELLING]);
/* Fills e->spelling for the pieces [first, e->n), which are those of `text`: each has that of its
 * word, as it is written there, before any normalisation; text may be NULL where n is 0. Before
 * ran_encoding_convert. */
int ran_encoding_spell(struct ran_encoding *e, size_t first, const char *text, size_t n,
                       size_t buckets, struct ran_error *err);

/* How text is cut into words and a vocabulary learned: `ran-tokenize learn` and ran-train offer the
 * same table. */
enum { RAN_VOCAB_WORD, RAN_VOCAB_WORDPIECE, RAN_VOCAB_BPE };
enum { RAN_NORMALIZE_NONE, RAN_NORMALIZE_NFC, RAN_NORMALIZE_NFKC };
enum { RAN_CLEAN_NONE, RAN_CLEAN_ALL, RAN_CLEAN_CC_CF };
enum { RAN_SPLIT_PUNCTUATION, RAN_SPLIT_SPACES, RAN_SPLIT_GPT2 };
struct ran_vocab_settings {
        int vocab_type;        /* RAN_VOCAB_... */
        size_t vocab_size;     /* pieces at most, the reserved ones among them */
        size_t min_count;      /* words, or pairs to be joined, that are rarer stay out */
        size_t limit_alphabet; /* wordpiece: single characters at most */
        size_t max_word;       /* wordpiece: a longer word (in characters) is [UNK] */
        size_t max_distinct;   /* different words kept while counting; the rarest go */
        int normalize;         /* RAN_NORMALIZE_... */
        bool lowercase, strip_accents;
        int clean;       /* RAN_CLEAN_...: control characters that are removed */
        bool cjk;        /* a CJK ideograph is a word of its own */
        int split_at;    /* RAN_SPLIT_... */
        char *eol_token; /* the word that a line feed becomes; NULL: white space */
};
extern const struct ran_field ran_vocab_fields[];
extern const char *const ran_vocab_clean_names[]; /* "none" ..., NULL at the end */

/* A tokeniser is immutable once loaded and may be shared by threads. Loads a Hugging Face
 * tokenizer.json or, when the first character is no '{', a BERT vocab.txt: a piece a line, taken as
 * BERT reads it (lower case and no accents unless a piece holds a capital letter). */
struct ran_tokenizer;
struct ran_tokenizer *ran_tokenizer_load(const char *data, size_t n, struct ran_error *err);
/* A vocab.txt read as `settings` say (the fields from max_word on); special: pieces like "[CLS]"
 * are special tokens wherever they stand in a text, as in the library of Hugging Face. */
struct ran_tokenizer *ran_tokenizer_import(const char *vocab_txt, size_t n,
                                           const struct ran_vocab_settings *settings, bool special,
                                           struct ran_error *err);
/* Whether a vocab.txt tells capitals apart: a piece that is no name in brackets holds one. */
bool ran_vocab_txt_is_cased(const char *vocab_txt, size_t n);
/* What a person should know about the file it was loaded from (a truncation that is ignored), as a
 * sentence; NULL: nothing. */
const char *ran_tokenizer_notice(const struct ran_tokenizer *t);
/* The tokenizer.json that ran_tokenizer_load reads back, always the same for the same tokeniser,
 * and its SHA-256 in hex. */
const char *ran_tokenizer_json(const struct ran_tokenizer *t, size_t *n);
const char *ran_tokenizer_digest(const struct ran_tokenizer *t);
void ran_tokenizer_free(struct ran_tokenizer *t);
size_t ran_tokenizer_size(const struct ran_tokenizer *t); /* V: one more than the largest id */
/* The piece of an id, as in the vocabulary ("##ing"); NULL when out of range or an id without a
 * piece. Not NUL-free: *n. */
const char *ran_tokenizer_piece(const struct ran_tokenizer *t, uint32_t id, size_t *n);
/* The id of a piece, special and reserved ones too; false when there is none. */
bool ran_tokenizer_find(const struct ran_tokenizer *t, const char *piece, size_t n, uint32_t *id);
/* The id that stands for what is not in the vocabulary; RAN_NO_ID: none, as with byte pairs. */
uint32_t ran_tokenizer_unknown(const struct ran_tokenizer *t);
/* Encodes UTF-8 text, replacing what e held. RAN_EFORMAT for what is not UTF-8. */
int ran_tokenizer_encode(const struct ran_tokenizer *t, const char *text, size_t n,
                         struct ran_encoding *e, struct ran_error *err);
/* Appends one word that is split already (it is normalised, and cut into pieces; a word that
 * vanishes in normalisation becomes [UNK]): call with word 0, 1, ...; e->n = e->words = 0 starts
 * anew. Nothing is appended on failure. */
int ran_tokenizer_encode_word(const struct ran_tokenizer *t, const char *word, size_t n,
                              struct ran_encoding *e, struct ran_error *err);
/* Text for ids, appended to out: a space between words, and none before "." and the like if the
 * vocabulary was made for text split at punctuation; the end-of-line token is a line feed.
 * RAN_EFORMAT for an id without a piece: then nothing is appended. */
int ran_tokenizer_decode(const struct ran_tokenizer *t, const uint32_t *ids, size_t n,
                         struct ran_buf *out, struct ran_error *err);

/* Rows of an embedding to begin training with. */
struct ran_embedding {
        size_t V, D;
        float *rows;     /* (V, D) */
        bool *given;     /* (V): the others begin by chance */
        char digest[65]; /* SHA-256 of the file that they are from */
};
int ran_embedding_init(struct ran_embedding *e, size_t V, size_t D,
                       struct ran_error *err); /* none */
void ran_embedding_release(struct ran_embedding *e);

/* A file of word vectors (text/vectors.c): those of GloVe, word2vec and fastText as text, and the
 * binary ones of word2vec. It is opened before the vocabulary is known, so that a file of another
 * kind or width is found out early, and then read once, so that it may be a pipe. dim: how many
 * numbers a vector should have; 0: any. path must live on. */
struct ran_vectors;
struct ran_vectors *ran_vectors_open(const char *path, size_t dim, struct ran_error *err);
void ran_vectors_free(struct ran_vectors *v);
size_t ran_vectors_width(const struct ran_vectors *v);
struct ran_vectors_report {
        size_t rows, promised; /* in the file; by its header */
        bool header;
        bool cut;        /* the last line has no end */
        size_t found;    /* pieces that have a vector */
        size_t repeated; /* rows of a word that had one already: the first counts */
        size_t not_utf8; /* words that no text can hold */
};
/* Fills the rows of those pieces that are a whole word of the file, as it stands or, if no row of
 * the file is that, as the vocabulary normalises it ("Paris" for the piece "paris"): the first one
 * of each kind. The row "<unk>" is that of [UNK]. */
int ran_vectors_read(struct ran_vectors *v, const struct ran_tokenizer *t, struct ran_embedding *to,
                     struct ran_vectors_report *report, struct ran_error *err);

/* Counts words, to learn a vocabulary from them. ran_counter_words may run in many threads at once,
 * each with an encoding (for its scratch) and a buffer of its own: it appends the words of a text
 * to `words` in a form that ran_counter_add takes. ran_counter_add changes the counter: one thread,
 * and always in the same order for the same vocabulary. */
struct ran_counter;
struct ran_counter *ran_counter_new(const struct ran_vocab_settings *settings,
                                    struct ran_error *err);
void ran_counter_free(struct ran_counter *c);
int ran_counter_words(const struct ran_counter *c, const char *text, size_t n,
                      struct ran_encoding *e, struct ran_buf *words, struct ran_error *err);
int ran_counter_add(struct ran_counter *c, const char *words, size_t n, struct ran_error *err);
/* These are to be in a vocabulary of words, too, beside the vocab_size most frequent. */
int ran_counter_want(struct ran_counter *c, const char *words, size_t n, struct ran_error *err);
/* A vocabulary of what was counted; RAN_EINVAL when no word is left to learn from. */
struct ran_tokenizer *ran_counter_learn(const struct ran_counter *c, struct ran_error *err);
struct ran_counter_report {
        uint64_t words;   /* counted in all */
        size_t distinct;  /* held now */
        size_t pruned;    /* times that a word was dropped to keep to max_distinct */
        uint64_t dropped; /* occurrences that were dropped with them */
};
void ran_counter_report(const struct ran_counter *c, struct ran_counter_report *report);

/* Wants (ran_counter_want) the words of the next n rows of a file, but for those that a text would
 * have as several; *wanted: how many. The rows are kept in memory meanwhile, and are still to be
 * read. */
int ran_vectors_want(struct ran_vectors *v, size_t n, struct ran_counter *c, size_t *wanted,
                     struct ran_error *err);

#endif
