/* ran.h - long-document text models: the public interface of libran.
 *
 * The library never prints, exits, or asserts about input. A function that can fail takes a
 * `struct ran_error *` last, fills it with a sentence complete enough to be shown to a person, and
 * returns its code (RAN_OK is 0), or NULL where it returns a pointer. On success the error is left
 * untouched. It may be NULL, where nobody wants the sentence.
 *
 * Life-cycle verbs: _init/_release for structs the caller owns, _new/_open/_load and _free for
 * those allocated here; _free(NULL) is fine, and so is _release of a struct that is all zero, that
 * was released, or whose _init or _open failed. Whatever failed, what it was given can be released.
 * What a function hands out that has no such verb is good until what it is of is freed.
 *
 * All names of the library, those that are not here, too, begin with ran_ or RAN_.
 *
 * Dimension letters, the same everywhere: B documents, L tokens of a document, W window, m windows,
 * D model width, h heads, d_k width of a head, E = h d_k, V vocabulary, C classes, N layers.
 *
 * In this order: errors, memory, numbers, random, threads, files, settings, JSON records, tags,
 * vocabularies, attention patterns, models, scoring, explaining, metrics, training.
 */
#ifndef RAN_H
#define RAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define RAN_VERSION "0.1.0" /* the one place where the version stands; the Makefile reads it */

/* ---- errors (base/error.c) ------------------------------------------------------------------ */

enum ran_code {
        RAN_OK = 0,
        RAN_EIO,       /* a file could not be opened, read or written */
        RAN_ENOMEM,    /* memory ran out */
        RAN_EFORMAT,   /* bytes are not what the format asks for */
        RAN_EINVAL,    /* an option, a configuration or a request that cannot be served */
        RAN_EDIVERGED, /* training met a number that is not finite */
        RAN_EINTR,     /* stopped because the caller asked for it */
};

struct ran_error {
        enum ran_code code;
        char text[512]; /* one sentence, no newline, control characters replaced by '?' */
};

/* Fills err and returns code, so that `return ran_fail(err, RAN_EIO, ...)` reads
 * well. */
int ran_fail(struct ran_error *err, enum ran_code code, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* ---- memory (base/memory.c) ----------------------------------------------------------------- */

/* n objects of `size` bytes, zeroed; n = 0 gives a valid pointer. NULL when n * size overflows or
 * memory runs out: the sentence then says how much was asked for. Free with free(). */
void *ran_alloc(size_t n, size_t size, struct ran_error *err);

/* Room for at least `want` objects in an array that doubles: returns p or a moved copy and updates
 * *cap; NULL on failure, p then still valid and owned by the caller. */
void *ran_grow(void *p, size_t *cap, size_t want, size_t size, struct ran_error *err);

/* n floats, zeroed, at a multiple of 64 bytes. Free with free(). */
float *ran_alloc_floats(size_t n, struct ran_error *err);

/* An array that may be larger than memory (base/spool.c): what outgrows `keep` bytes moves to a
 * file without a name in TMPDIR (or /var/tmp), mapped into memory. Zero-initialise; `keep` may be
 * set. */
#define RAN_SPOOL_KEEP ((size_t)256 << 20)
struct ran_spool {
        void *data;
        size_t room; /* bytes there is room for */
        size_t keep; /* 0: RAN_SPOOL_KEEP */
        int file;    /* where mapped */
        bool mapped;
};
/* Room for at least n objects of `size` bytes; what was added is arbitrary. Returns data, which may
 * have moved. NULL on failure (memory, disk): what was there stays as it was. */
void *ran_spool_reserve(struct ran_spool *s, size_t n, size_t size, struct ran_error *err);
void ran_spool_release(struct ran_spool *s); /* keeps `keep` */

/* A growing run of bytes. Zero-initialise. After a failed allocation `failed` stays set and further
 * additions do nothing, so that a caller checks once, at the end. data may be NULL when len is 0.
 */
struct ran_buf {
        char *data;
        size_t len, cap;
        bool failed;
};
void ran_buf_add(struct ran_buf *b, const void *bytes, size_t n);
void ran_buf_str(struct ran_buf *b, const char *s);
void ran_buf_char(struct ran_buf *b, char c);
void ran_buf_printf(struct ran_buf *b, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
void ran_buf_size(struct ran_buf *b, size_t x); /* its digits */
/* Room for n more bytes, to be written at the end; b->len is then the caller's to raise. NULL, and
 * failed, when there is none. */
char *ran_buf_room(struct ran_buf *b, size_t n);
void ran_buf_release(struct ran_buf *b); /* frees and zeroes */
/* Appends s as a JSON string, quotes included: only what must be escaped is. What is not UTF-8
 * becomes U+FFFD (base/quote.c). */
void ran_buf_json(struct ran_buf *b, const char *s, size_t n);
/* Appends s for people: control characters, which could steer a terminal, are shown as '?'
 * (base/error.c). */
void ran_buf_shown(struct ran_buf *b, const char *s, size_t n);

/* ---- numbers (base/number.c) ---------------------------------------------------------------- */

/* The shortest decimal text that reads back as the same float32 / double, as a JSON number; NaN and
 * the infinities become null. Never the locale's comma. */
void ran_buf_float(struct ran_buf *b, float x);
void ran_buf_double(struct ran_buf *b, double x);
/* Reads a whole JSON-style number in [s, s+n), also .5 for 0.5; false, and *x left alone, when it
 * is none, has trailing bytes or is larger than any double. Locale never matters. ran_parse_size
 * refuses signs, fractions and overflow. */
bool ran_parse_double(const char *s, size_t n, double *x);
bool ran_parse_size(const char *s, size_t n, size_t *x);

/* ---- random numbers (base/random.c) --------------------------------------------------------- */

/* No generator state: a number is a function of (seed, purpose, epoch, record, position), so that
 * nothing depends on the order of work. Take a key once, then draw at positions. */
enum ran_purpose {
        RAN_FOR_INIT = 1,
        RAN_FOR_SHUFFLE,
        RAN_FOR_SPLIT,
        RAN_FOR_DROPOUT, /* + 16 * site, see model/ */
        RAN_FOR_MASKING,
        RAN_FOR_SAMPLING,
        RAN_FOR_CONTEXT,
        RAN_FOR_WORDS, /* dropout of whole words */
        RAN_FOR_HUTCHINSON,
        RAN_FOR_SEARCH,
};
uint64_t ran_key(uint64_t seed, uint64_t purpose, uint64_t epoch, uint64_t record);
uint64_t ran_draw(uint64_t key, uint64_t position);  /* 64 uniform bits */
double ran_uniform(uint64_t key, uint64_t position); /* in [0, 1), 53 bits */

/* ---- threads (base/pool.c) ------------------------------------------------------------------ */

/* A pool of `threads` threads in all, the caller's among them. ran_parallel runs fn(arg, i) for
 * every i < n and returns when all are done. It may be called from inside a task: idle threads
 * help, so that one long document can use every core; the caller itself works only on its own tasks
 * and on what those start. Several threads may call it at once, for one pool. 0 threads are 1.
 * Which thread runs a task, and when, must never change a result. pool NULL: all in the caller. */
struct ran_pool;
struct ran_pool *ran_pool_new(size_t threads, struct ran_error *err);
void ran_pool_free(struct ran_pool *pool);
size_t ran_pool_threads(const struct ran_pool *pool);
void ran_parallel(struct ran_pool *pool, size_t n, void (*fn)(void *arg, size_t i), void *arg);
/* Threads to use when nobody says: RAN_THREADS, if that is a number from 1 to 4096, else the
 * processors this process may run on (affinity mask and cgroup quota), at least 1. */
size_t ran_threads_default(void);

/* ---- the processor (math/gemm.c) ------------------------------------------------------------- */

/* The kernels in use: the best that this processor runs, or those that the environment variable
 * RAN_ISA names ("avx512", "avx2", "base", "portable"). Chosen before main, when OpenBLAS is told
 * to keep to one thread, too: in the whole program, since it has one setting for all. */
const char *ran_isa(void);
/* NULL when RAN_ISA is unset or was honoured; else its value, which this processor or build does
 * not know, and *known lists what would do. */
const char *ran_isa_refused(const char **known);

/* ---- elementary functions (math/elementary.c) ------------------------------------------------ */

/* The same bits on every processor and with every C library, within 1 ulp: programs whose results
 * hold such numbers call these, not those of the C library. */
double ran_exp(double x);
double ran_log(double x);

/* ---- files (base/file.c) -------------------------------------------------------------------- */

/* A whole file, mapped read-only (or read into memory where it cannot be mapped: a pipe). */
struct ran_bytes {
        const unsigned char *data;
        size_t size;
        bool mapped;
};
int ran_bytes_open(struct ran_bytes *b, const char *path, struct ran_error *err);
void ran_bytes_release(struct ran_bytes *b);

/* Writes a file so that nobody ever sees half of it: to one without a name (or, where the file
 * system has none, under a temporary name in the same folder), synced, put in its place by _commit.
 * _abort (fine after failure) drops it. Errors of _write are kept and reported by _commit. A path
 * that exists and is no regular file (/dev/stdout, a fifo) is written in place. A process has one
 * writer for a path at a time. */
struct ran_writer;
struct ran_writer *ran_writer_open(const char *path, struct ran_error *err);
void ran_writer_write(struct ran_writer *w, const void *bytes, size_t n);
/* RAN_EIO, with the sentence of _commit, once something could not be written: for long work, which
 * need not go on then. */
int ran_writer_check(const struct ran_writer *w, struct ran_error *err);
int ran_writer_commit(struct ran_writer *w, struct ran_error *err); /* also frees w, always */
void ran_writer_abort(struct ran_writer *w);                        /* also frees w */
/* Removes all temporary names that there are; for a program that is about to end early. */
void ran_writer_abandon_all(void);

/* SHA-256 (FIPS 180-4), for digests of vocabularies, models and records. */
struct ran_sha256 {
        uint32_t state[8];
        uint64_t length;
        unsigned char block[64];
};
void ran_sha256_init(struct ran_sha256 *s);
void ran_sha256_add(struct ran_sha256 *s, const void *bytes, size_t n);
void ran_sha256_hex(struct ran_sha256 *s, char hex[65]); /* finishes; 64 digits and a NUL */

/* ---- settings (base/field.c) ---------------------------------------------------------------- */

/* One declaration a setting: its name, type, range, default and help serve the command line
 * (--min-window), configuration files ("min_window"), --help, --print-config and the metadata of a
 * model file alike. A table is an array ended by a field without a name; `offset` is where the
 * value lies in the struct that the table describes. */
enum ran_field_type {
        RAN_FIELD_BOOL,    /* bool:   --x, --no-x, --x=true|false */
        RAN_FIELD_SIZE,    /* size_t */
        RAN_FIELD_REAL,    /* double */
        RAN_FIELD_CHOICE,  /* int: index into choices */
        RAN_FIELD_CHOICES, /* struct ran_choices: --x=one,two; in JSON a string, or a list of them
                            */
        RAN_FIELD_TEXT,    /* char *, owned by the struct (ran_fields_release), NULL when unset */
        RAN_FIELD_LIST,    /* struct ran_list: may be given again and again */
};
#define RAN_CHOICES_MAX 256 /* more are refused */
struct ran_choices {
        size_t n;                            /* at least 1 once set */
        unsigned char item[RAN_CHOICES_MAX]; /* indices into choices */
};
struct ran_list {
        char **item;
        size_t n, cap;
};
struct ran_field {
        const char *name; /* as in JSON: lower case, '_' between words; the long option has '-' */
        char letter;      /* short option, or 0 */
        enum ran_field_type type;
        size_t offset;
        double low, high;           /* SIZE and REAL: range, both ends allowed */
        const char *const *choices; /* CHOICE, CHOICES: names without commas, NULL at the end */
        const char *value;          /* what --help calls the value: "N", "FILE" */
        const char *initial;        /* default as text; NULL: zero, false, unset, empty */
        const char *help;
        bool local; /* says where and how to run, not what to compute: not in --print-config,
                       not accepted in --config (an output file, --jobs, --quiet) */
        /* Another default as long as a CHOICE field before it in the table has that value. */
        struct ran_exception {
                const char *field, *value, *initial; /* field NULL: no exception */
        } unless;
};
int ran_fields_init(const struct ran_field *fields, void *base,
                    struct ran_error *err); /* defaults */
/* The same for one field of the table; those before it have their values. */
int ran_field_init(const struct ran_field *fields, const struct ran_field *field, void *base,
                   struct ran_error *err);
void ran_fields_release(const struct ran_field *fields, void *base);
/* Sets one field from text, which is UTF-8 unless the field is local; the sentence says what would
 * be right. */
int ran_field_set(const struct ran_field *field, void *base, const char *text,
                  struct ran_error *err);
/* Sets the fields that a JSON object names. An unknown member, or a value of the wrong type, is an
 * error; with `ignore_unknown` members of other names are left alone (model files of later
 * versions). Those before the one that is wrong are set then. */
int ran_fields_parse(const struct ran_field *fields, void *base, const char *json, size_t n,
                     bool ignore_unknown, struct ran_error *err);
/* Appends "name":value pairs, comma between, in table order and without braces, local fields and
 * unset text left out. The numbers are the shortest that read back. */
void ran_fields_json(const struct ran_field *fields, const void *base, struct ran_buf *out);
/* The same of those fields only that are different in `other`. */
void ran_fields_changes(const struct ran_field *fields, const void *base, const void *other,
                        struct ran_buf *out);

/* ---- JSON records (record/) ----------------------------------------------------------------- */

/* A span scanner: it checks a whole line against RFC 8259 (and UTF-8) without recursion and notes
 * where each member of the top-level object stands, so that the line can be passed on byte for
 * byte. Spans are byte offsets into the line. */
struct ran_span {
        size_t begin, end;
};
struct ran_member {
        struct ran_span name;  /* in record.names: decoded, escapes resolved */
        struct ran_span whole; /* from the opening quote of the name to the end of the value */
        struct ran_span value;
        char type; /* 's'tring, 'n'umber, 'o'bject, 'a'rray, 't'rue, 'f'alse, '0' null */
};
struct ran_record {
        const char *line; /* not owned, valid while the record is used; no newline at its end */
        size_t length;
        struct ran_span object; /* braces included; white space may stand around it */
        struct ran_member *members;
        size_t count, cap;
        struct ran_buf names;
};
/* Scans a line; a record may be scanned into again and again. The line must be one object.
 * RAN_EFORMAT: the sentence names the column (bytes, from 1), and the members before it are kept:
 * what could be read of a bad line. */
int ran_record_scan(struct ran_record *r, const char *line, size_t length, struct ran_error *err);
void ran_record_release(struct ran_record *r);
/* The member of that name, matched exactly after decoding escapes; NULL when absent. If it is there
 * twice, *twice (may be NULL) is set. */
const struct ran_member *ran_record_find(const struct ran_record *r, const char *name, bool *twice);

/* Decodes the JSON string at `value` (its quotes included) and appends it as UTF-8; U+0000 is a
 * byte like any other. RAN_EFORMAT for a lone surrogate. */
int ran_json_decode(const char *line, struct ran_span value, struct ran_buf *out,
                    struct ran_error *err);
/* Whether all strings in a part of the line can be decoded. */
bool ran_json_decodable(const char *line, struct ran_span part);
/* Walks an array or object value without copying. Start with pos = 0. Each call sets *item (and
 * *name, raw with its quotes, inside an object) and *type as in ran_member; false at the end. The
 * value has been checked by ran_record_scan, so walking cannot fail. */
bool ran_json_next(const char *line, struct ran_span value, size_t *pos, struct ran_span *name,
                   struct ran_span *item, char *type);
/* How many bytes of s come before the first that is not valid UTF-8: n when all is well. */
size_t ran_utf8_valid(const char *s, size_t n);
/* How many bytes of a byte order mark a text of n bytes begins with: 3 or none. */
size_t ran_text_mark(const char *s, size_t n);

/* ---- tags (record/tags.c) ------------------------------------------------------------------- */

/* Entities written as tags, one a token: 'O' outside of all, else a part, a hyphen and a type.
 *
 *              J. Doe  met     Ann   Lee   Bo
 *      IOB2    B-PER I-PER O   B-PER I-PER B-PER    B- begins, I- goes on
 *      IOB1    I-PER I-PER O   I-PER I-PER B-PER    B- only right after an entity of the same type
 *      IOBES   B-PER E-PER O   B-PER E-PER S-PER    E- ends, S- is an entity of one token
 *      BILOU   B-PER L-PER O   B-PER L-PER U-PER    the same by other letters
 */
struct ran_tag {
        char part;        /* O, B, I, E, S, L or U */
        const char *type; /* not owned, no NUL at its end; empty for O, and for a bare "B" */
        size_t length;
};
/* RAN_EFORMAT when it is no tag of any scheme (B and I may stand without hyphen and type).
 * tag->type points into text. */
int ran_tag_parse(struct ran_tag *tag, const char *text, size_t n, struct ran_error *err);

enum ran_tag_scheme { RAN_TAGS_IOB2, RAN_TAGS_IOB1, RAN_TAGS_IOBES, RAN_TAGS_BILOU };
extern const char *const ran_tag_scheme_names[]; /* "IOB2" ..., NULL at the end */
/* What the tags of a data set were like, to tell its scheme. Zero-initialise. */
struct ran_tag_census {
        size_t opens;        /* I, E and L that have nothing to go on with */
        size_t needless;     /* B that does not come right after an entity of its type */
        size_t unclosed;     /* entities that do not end with E, S, L or U */
        size_t iobes, bilou; /* tags that only that scheme has */
};
/* Turns the tags of a sentence of any scheme into IOB2, in place, and adds them to the census. A
 * tag that has nothing to go on with becomes the beginning of an entity. */
void ran_tags_to_iob2(struct ran_tag *tags, size_t L, struct ran_tag_census *census);
/* The scheme that the fewest of the tags are wrong in, and how many those are. RAN_EFORMAT when
 * there are tags of IOBES and of BILOU. */
int ran_tag_census_scheme(const struct ran_tag_census *census, enum ran_tag_scheme *scheme,
                          size_t *wrong, struct ran_error *err);

struct ran_entity {
        size_t start, end; /* tokens, end exclusive */
        const char *type;  /* as in its tags */
        size_t length;
};
/* The entities of a sentence in IOB2, from left to right; entities has room for L. They begin with
 * B only: an I with nothing to go on with is outside. Returns how many there are. */
size_t ran_tags_entities(const struct ran_tag *tags, size_t L, struct ran_entity *entities);

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
extern const char *const ran_clean_names[]; /* "none" ..., NULL at the end */

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

/* ---- attention patterns (mask/) ------------------------------------------------------------- */

/* Whether query i sees key j is a matter of their distance |i - j|. With H = window / 2 rounded
 * down and d = dilation, the distances are
 *
 *      full        any
 *      window      0 ... H
 *      dilated     0, (d+1), 2(d+1), ..., H(d+1)
 *      dispersed   0 ... H, then H + 2, H + 2 + 3, H + 2 + 3 + 4, ... without end
 *
 * A mask takes keys after the query away: causal all of them, prefix those that are no source
 * tokens. Every token sees itself. */
enum { RAN_ATTENTION_FULL, RAN_ATTENTION_WINDOW, RAN_ATTENTION_DILATED, RAN_ATTENTION_DISPERSED };
enum { RAN_MASK_NONE, RAN_MASK_CAUSAL, RAN_MASK_PREFIX };
extern const char *const ran_attention_names[]; /* "full" ..., NULL at the end */
extern const char *const ran_mask_names[];

/* Who sees whom among N tokens: a few numbers, never a matrix, and no work that grows with N beyond
 * sqrt(N). To be copied freely. */
#define RAN_MASK_LENGTH 1000000000 /* tokens at most: no count below can overflow */
struct ran_mask {
        size_t N;
        size_t near; /* distances 0 ... near are seen */
        size_t far;  /* and this many more below N: mask/mask.h says which */
        size_t step;
        size_t sources; /* keys below it are seen from before, too: none N, causal 0 */
};
/* pattern, mask: RAN_ATTENTION_..., RAN_MASK_...; dilation counts for dilated only, window for all
 * but full, sources for the prefix mask only. RAN_EINVAL for N = 0, a window of 0, more source
 * tokens than tokens, and anything larger than RAN_MASK_LENGTH. */
int ran_mask_init(struct ran_mask *m, int pattern, size_t window, size_t dilation, int mask,
                  size_t N, size_t sources, struct ran_error *err);

/* The keys that a query sees, or the queries that see a key: those of the run [from, to), which
 * holds the token itself, and single ones, some to the left of it and some to the right. */
struct ran_mask_ranges {
        size_t at;
        size_t from, to, left, right;
};
struct ran_mask_ranges ran_mask_row(const struct ran_mask *m, size_t i); /* keys of query i < N */
struct ran_mask_ranges ran_mask_column(const struct ran_mask *m,
                                       size_t j); /* queries of key j < N */
/* Walks all of them as runs [*from, *to) in ascending order. Start with pos = 0; false at the end.
 */
bool ran_mask_ranges_next(const struct ran_mask *m, const struct ran_mask_ranges *s, size_t *pos,
                          size_t *from, size_t *to);

/* How many keys of [j0, j1) all queries of [i0, i1) see, in all: the scores of a part. In closed
 * form; i1, j1 <= N. */
uint64_t ran_mask_count(const struct ran_mask *m, size_t i0, size_t i1, size_t j0, size_t j1);
/* Over all queries, how many keys one sees. */
struct ran_mask_rows {
        size_t least, most;
        double median; /* the mean of the middle two where N is even */
};
void ran_mask_rows(const struct ran_mask *m, struct ran_mask_rows *rows);
/* Scores without a mask by the formulas of the paper that dispersed attention comes from: equation
 * (3) for window, Algorithm 1 for dispersed, which agrees with the mask for a window of 4 only.
 * False where they say nothing: for other patterns, an odd window, or one longer than N. */
bool ran_mask_paper(int pattern, size_t window, size_t N, uint64_t *scores);

/* Sets of tokens: bit i % 64 of word i / 64. */
#define RAN_TOKEN_WORDS(N) (((N) + 63) / 64)
/* seen |= all keys that the queries in `from` see. spare: as large as they are, for scratch. */
void ran_mask_spread(const struct ran_mask *m, uint64_t *seen, const uint64_t *from,
                     uint64_t *spare);

/* How much query q and key k, both (d), are alike, before the softmax:
 *
 *      dot         q.k / sqrt(d)
 *      cosine      sqrt(d) q.k / (|q| |k| + 1e-8)
 *      euclidean   -sqrt(|q - k|^2 + 1e-8)
 *      manhattan   -(sum |q - k|) / sqrt(d) */
enum {
        RAN_SIMILARITY_DOT,
        RAN_SIMILARITY_COSINE,
        RAN_SIMILARITY_EUCLIDEAN,
        RAN_SIMILARITY_MANHATTAN
};
extern const char *const ran_similarity_names[];
double ran_similarity(int similarity, const float *q, const float *k, size_t d);

/* ---- models (model/) ------------------------------------------------------------------------ */

enum { RAN_ENCODER_RAN, RAN_ENCODER_CONTEXTUALIZER, RAN_ENCODER_TRANSFORMER };
enum { RAN_TASK_CLASSIFY, RAN_TASK_TAG, RAN_TASK_LM, RAN_TASK_MLM };
enum { RAN_CELL_GATED, RAN_CELL_PLAIN };
enum { RAN_POOL_MAX, RAN_POOL_MEAN };
enum { RAN_CONTEXT_CONSTANT, RAN_CONTEXT_LEARNED, RAN_CONTEXT_RANDOM };

/* What a model is, apart from its weights: the `config` of the model file and the options of
 * ran-train alike. V and C come from the tensors' shapes. */
struct ran_config {
        int encoder, task;
        size_t dim, layers, heads, head_dim, window, min_window;
        int cell, mask;
        bool rotary, residual, review;
        int pooling;
        bool multilabel;       /* classify */
        bool crf;              /* tag */
        size_t join_sentences; /* tag: of one `doc`, read as a document, at most; 0: each by itself
                                */
        size_t spelling;       /* rows of the table of spelling; 0: pieces alone */
        size_t wide, ngrams; /* classify, tag: rows of the table of the wide path, 0: none; and the
                                longest runs of ids that it looks at */
        bool affixes;        /* and whether at what words begin and end with, too */
        size_t rank;         /* contextualizer: width u of the second-order attention */
        int context;         /* contextualizer: the first context, RAN_CONTEXT_... */
        bool position_scale; /* contextualizer */
        size_t ffn_dim;      /* transformer, and what follows */
        struct ran_choices attention; /* RAN_ATTENTION_..., one of all heads or one of each */
        size_t dilation;
        int similarity;   /* RAN_SIMILARITY_... */
        size_t shortlist; /* lm, mlm: ids below it in the first softmax, see model/lm.h; 0: all */
};
extern const struct ran_field ran_config_fields[];
/* Whether a field belongs to the task, its head and how its documents are read; the others make an
 * encoder what it is, so that weights are of use only where they are the same. */
bool ran_config_is_of_task(const char *name);
/* Checks the range of each field, and what no single one can know (an even head_dim for rotary,
 * sizes that overflow). ran_fields_init gives the defaults; all zero is no model. */
int ran_config_check(const struct ran_config *config, struct ran_error *err);

/* A model is read-only once open and may be shared by threads. */
struct ran_model;
/* verify: also compares the digest of the data section. */
struct ran_model *ran_model_open(const char *path, bool verify, struct ran_error *err);
void ran_model_free(struct ran_model *m);
const struct ran_config *ran_model_config(const struct ran_model *m);
const struct ran_tokenizer *ran_model_tokenizer(const struct ran_model *m); /* NULL: ids only */
size_t ran_model_vocabulary(const struct ran_model *m);                     /* V */
size_t ran_model_classes(const struct ran_model *m); /* C; of a language model V */
const char *ran_model_label(const struct ran_model *m,
                            size_t c); /* "0", "1" ... if unnamed; NULL: none */
const char *ran_model_metadata(const struct ran_model *m, const char *key); /* NULL: absent */
/* Whether the files of two models are the same bytes. If not, appends to `what` where they are not,
 * the first tensor that differs before all else: "tensor lm.bias: 3 of its 40 elements differ,
 * ...".
 */
bool ran_model_same(const struct ran_model *a, const struct ran_model *b, struct ran_buf *what);
/* Decision thresholds of a model with several labels a document, (C): tuned ones, or 0.5. NULL: a
 * language model. */
const float *ran_model_thresholds(const struct ran_model *m);
/* One label a document: labels at least as probable as *cut are a set that holds the right one with
 * this probability, 0 < coverage < 1, for documents like those that the model was calibrated with
 * in training (model/calibration.h). RAN_EINVAL, and what to do, where there were none or too few.
 */
int ran_model_cut(const struct ran_model *m, double coverage, float *cut, struct ran_error *err);

/* ---- scoring (model/score.c) ---------------------------------------------------------------- */

/* Scratch for scoring with m: one a thread, reused from document to document, after an error too.
 * pool: threads that may help with one long document, or NULL. m and pool must outlive it.
 *
 * A model, state or past that do not belong together, a task that is not the model's, ids that it
 * does not have and places that are none are RAN_EINVAL; a result that is no number, as of damaged
 * weights, is RAN_EFORMAT. */
struct ran_state;
struct ran_state *ran_state_new(const struct ran_model *m, struct ran_pool *pool,
                                struct ran_error *err);
void ran_state_free(struct ran_state *s);
/* A document to be read. */
struct ran_document {
        const uint32_t *ids; /* (L), each < V; L >= 1 */
        size_t L;
        const uint32_t
                *spelling; /* (L, RAN_SPELLING), for models that want it, of as many buckets */
        /* For tagging: word i stands at token places[i] (ascending, < L). Of a document that was
         * put together of sentences, begins[i] says whether it is the first of one: tags go from
         * word to word within a sentence only. NULL: it is one sentence. */
        const uint32_t *places; /* (words) */
        const bool *begins;     /* (words) */
        size_t words;
};
/* logits (C); embedding (D), the input of the last linear layer, or NULL. The result depends on the
 * document alone, bit for bit. task classify. */
int ran_classify(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
                 float *logits, float *embedding, struct ran_error *err);
/* tags (words, at least 1): the best sequence, which is a possible one in IOB2 if that is how the
 * model's tags are named. score (words): the probability of each tag, or NULL. logits (words, C),
 * or NULL. task tag. */
int ran_tag(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
            uint32_t *tags, float *score, float *logits, struct ran_error *err);
/* What a language model has read so far, to read on from there (MODELS.md calls it the state to
 * carry on): per layer the cell, what the review keeps of all earlier ones, and the window that is
 * open. Reading on costs the new tokens alone. m must outlive it. */
struct ran_lm_context;
struct ran_lm_context *ran_lm_context_new(const struct ran_model *m,
                                          struct ran_error *err); /* nothing read */
void ran_lm_context_free(struct ran_lm_context *p);
void ran_lm_context_clear(struct ran_lm_context *p);
size_t ran_lm_context_tokens(const struct ran_lm_context *p); /* read so far */
/* The token that the document stopped before: it is read first when the document goes on, because
 * reading it tells what follows it. RAN_NO_ID: none. The caller's to set and to read. */
uint32_t ran_lm_context_pending(const struct ran_lm_context *p);
void ran_lm_context_set_pending(struct ran_lm_context *p, uint32_t id);

/* A cache over the recent past (model/cache.c): words that were there a while ago come again
 * (Grave, Joulin and Usunier, Improving neural language models with a continuous cache, ICLR 2017).
 * It needs no training, and makes of what a model says of the token after place t
 *
 *      p(w) = (1 - weight) p_model(w) + weight p_cache(w)
 *      p_cache(w) = sum of exp(theta cos(h_t, h_i)) over those i that w came after, divided by the
 *                   sum over all i:  the last `positions` places before t of this document
 *
 * h is the output of the encoder that the softmax reads. The paper has h_t . h_i; the cosine makes
 * theta the same thing for models of any width and scale. At the first place of a document, where
 * there is nothing to look back on, p is p_model. Probabilities add up to 1, as those of the model
 * do. A token takes the time of `positions` cosines; memory grows with them, by 2 (D + 64) numbers
 * each at most.
 *
 * One for each document that is being read; the next one begins with ran_cache_clear. */
#define RAN_CACHE_THETA 1000 /* at most */
struct ran_cache_settings {
        size_t positions;     /* at least 1 */
        double weight, theta; /* 0 <= weight < 1; 0 <= theta */
};
struct ran_cache;
struct ran_cache *ran_cache_new(const struct ran_config *config,
                                const struct ran_cache_settings *set, struct ran_error *err);
void ran_cache_free(struct ran_cache *c);
void ran_cache_clear(struct ran_cache *c); /* nothing remembered */

/* Kept in a file, the pending token, too: a safetensors file that names its model by digest. One of
 * another model, and what is damaged, is refused. cache: what it remembers of the document is kept
 * and loaded with it, or NULL. A file that remembers less than a cache of so many positions would
 * is refused. */
int ran_lm_context_save(const struct ran_lm_context *p, const struct ran_cache *cache,
                        const char *path, struct ran_error *err);
struct ran_lm_context *ran_lm_context_load(const struct ran_model *m, struct ran_cache *cache,
                                           const char *path, struct ran_error *err);

/* What is wanted of the tokens that are read; NULL: not that. All zero: nothing. */
struct ran_lm_out {
        size_t skip; /* below n: nothing is wanted of so many leading tokens, which gold, nll and
                        logits then do not have */
        const uint32_t *gold; /* (n) the token that should follow each, or RAN_NO_ID */
        float *nll;           /* (n) -log of the probability of gold, 0 where there is none */
        float *logits;        /* (n, V); log-probabilities under an adaptive softmax */
        float *last;          /* (V) the same, after the last token only */
        /* With gold: nll and logits, then log-probabilities, are those of model and cache together,
         * and the cache remembers these tokens. `last` is the model's alone. */
        struct ran_cache *cache;
};
/* Reads n >= 1 ids of a document (each < V) after those of `past` (may be NULL: a document of its
 * own), which then holds them, too. The first `sources` of them are source tokens (mask prefix):
 * those of a document must be read all at once, at its beginning. task lm. After RAN_EFORMAT past
 * and cache hold what is no number: clear them. After any other failure they are as they were. */
int ran_lm_read(const struct ran_model *m, struct ran_state *s, struct ran_lm_context *past,
                const uint32_t *ids, size_t n, size_t sources, const struct ran_lm_out *out,
                struct ran_error *err);
/* Of a document of L ids the tokens at places (n, ascending): nll of gold (n) unless NULL, and
 * logits (n, V) unless NULL. task mlm. */
int ran_lm_fill(const struct ran_model *m, struct ran_state *s, const uint32_t *ids, size_t L,
                const uint32_t *places, size_t n, const uint32_t *gold, float *nll, float *logits,
                struct ran_error *err);
/* Takes the logits (V) of the i-th place. What it returns, if not RAN_OK, ends the others, and is
 * what ran_lm_fill_each returns. */
typedef int ran_lm_take(void *arg, size_t i, const float *logits, struct ran_error *err);
/* The logits of one place after another: memory for a few hundred of them, however many there are.
 */
int ran_lm_fill_each(const struct ran_model *m, struct ran_state *s, const uint32_t *ids, size_t L,
                     const uint32_t *places, size_t n, ran_lm_take *take, void *arg,
                     struct ran_error *err);

/* Probabilities (C) of logits: softmax, or a sigmoid each for several labels. In double, then
 * rounded; never above 1. */
void ran_probabilities(const struct ran_config *config, const float *logits, size_t C, float *p);
size_t ran_most_probable(const float *p, size_t C); /* the first of equals */

/* ---- the attention that was paid (model/probe.c) ----------------------------------------------
 */

/* Attention is a table of weights: a row is a query, which looks, a column a key, which is looked
 * at. What a query gives to all keys adds up to 1, and a key that it does not see gets 0. Each
 * layer has
 *
 *                    RAN_PROBE_HEADS, a table a head             RAN_PROBE_REVIEW, one table
 *      RAN           rows and rows: window by window            tokens and states
 *      Transformer   tokens and tokens, as far as they see
 *      Contextualizer  the document and its tokens; layers are steps
 *
 * Rows are the tokens, before those of each window its cell. State i is the cell after i windows:
 * what the review of window i - 1 left; state 0, with which the document begins, is seen under a
 * mask only. A Contextualizer has a vector a token and step, alpha * x; the weight is its length's
 * share of all those lengths. */
enum { RAN_PROBE_HEADS, RAN_PROBE_REVIEW, RAN_PROBE_TABLES };
enum ran_axis { RAN_AXIS_TOKENS, RAN_AXIS_ROWS, RAN_AXIS_STATES, RAN_AXIS_DOCUMENT };
struct ran_probe_shape {
        size_t L, layers;
        size_t windows, window; /* window i begins at token i * window; 1 and L: there are none */
        struct ran_probe_table {
                enum ran_axis queries, keys; /* what they are */
                size_t n_queries, n_keys;
                size_t heads; /* 0: no such table */
        } table[RAN_PROBE_TABLES];
};
/* Of a document of L >= 1 tokens. */
void ran_probe_shape(struct ran_probe_shape *shape, const struct ran_config *c, size_t L);
size_t ran_probe_window(const struct ran_probe_shape *shape, size_t t); /* of token t */
size_t ran_probe_window_end(const struct ran_probe_shape *shape,
                            size_t i);                               /* after its last token */
size_t ran_probe_row(const struct ran_probe_shape *shape, size_t t); /* of token t */
size_t ran_probe_cell(const struct ran_probe_shape *shape,
                      size_t i); /* row of the cell of window i */
/* Whether a row is a cell; *at: its window, or else the token. */
bool ran_probe_is_cell(const struct ran_probe_shape *shape, size_t row, size_t *at);

/* What to look at: the queries and keys of a table, in blocks; the last of them may be smaller. One
 * block of queries over blocks of one key says how much each key got in all; blocks of 1 and 1 are
 * the weights themselves. */
#define RAN_PROBE_MEAN SIZE_MAX /* for head: the mean of all */
struct ran_probe {
        int table;
        size_t layer, head;
        size_t query_from, query_to, key_from, key_to;
        size_t down, across; /* queries and keys of a block, at least 1 */
        double *sum; /* (height, width) of the weights of a block: the caller's, overwritten */
        /* Of a Contextualizer: |z|, how large the update of the step was, and |c| after it; else 0.
         */
        double update, context;
};
size_t ran_probe_height(const struct ran_probe *k); /* blocks of queries, of keys */
size_t ran_probe_width(const struct ran_probe *k);
/* RAN_EINVAL for what is not there, with a sentence; sum is not looked at. */
int ran_probe_check(const struct ran_probe_shape *shape, const struct ran_probe *k,
                    struct ran_error *err);
/* Reads a document once and fills all n looks, from the weights as they are computed on the way; no
 * table is ever held whole. `sources`: as for ran_lm_read; any task. */
int ran_probe(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
              size_t sources, struct ran_probe *look, size_t n, struct ran_error *err);
/* ---- explaining (model/explain.c) ------------------------------------------------------------ */

/* How each token of a document bears on what a model makes of it, by backward passes through the
 * whole document: exact, however long it is and whatever lies between. One a thread; memory as in
 * training. m and pool must outlive it; pool may be NULL. */
struct ran_explainer;
struct ran_explainer *ran_explainer_new(const struct ran_model *m, struct ran_pool *pool,
                                        struct ran_error *err);
void ran_explainer_free(struct ran_explainer *e);
/* Takes a document, for the questions below; what d points to is copied. sources: as for
 * ran_lm_read. */
int ran_explain_read(struct ran_explainer *e, const struct ran_document *d, size_t sources,
                     struct ran_error *err);

/* Token to label: what each of the L tokens adds to the log odds log(p / (1 - p)) of class c, for
 * the document (row 0) or, tagging, for its word `row`: to the logit itself, where there may be
 * several labels.
 *
 * steps 0: gradient x input. A token's value is the derivative of the log odds by the size of its
 * row of the embedding: all of them together are the derivative by s, at s = 0, for the document
 * whose rows are all (1 + s) times as large. The truth, but of a place where little is to be seen:
 * RAN and Transformer begin with a layer norm, which takes away the size of a row.
 *
 * steps k: the same at k places of a path on which all tokens grow from nothing (a row of zeros) to
 * what they are, evenly as their layer norm shows them (integrated gradients; Sundararajan, Taly
 * and Yan 2017). The values together are the log odds less those of as many empty tokens, the
 * better the more places; their order is good from the first, and RAN_EXPLAIN_STEPS change it
 * little. One forward and one backward pass a step. */
enum { RAN_EXPLAIN_STEPS = 4 };
int ran_explain_label(struct ran_explainer *e, size_t row, size_t c, size_t steps, double *value,
                      struct ran_error *err);

/* Token to token: how much each of the L tokens bears on the outputs of the tokens [from, to) of
 * the encoder. J being the Jacobian of these rows by the embedding row x of a token (all products
 * of Jacobians through attention, cells and review are in it), its value is |J|^2 |x|^2 / D: the
 * mean square by which these outputs move, to first order, when the row of the token makes a step
 * of its own length in some direction. So values of several runs of rows may be added, and so may
 * those of tokens.
 *
 * |J|^2, the Frobenius norm, is that of r J for random signs r, in the mean over `probes` of them,
 * always the same ones (Hutchinson 1990): one backward pass a probe, however many rows. Not for a
 * Contextualizer. */
int ran_explain_tokens(struct ran_explainer *e, size_t from, size_t to, size_t probes,
                       double *value, struct ran_error *err);

/* ---- sampling (model/sample.c) --------------------------------------------------------------- */

/* How a token is drawn from the logits of a language model. Set the first four members, leave the
 * rest zero; one a thread. The order of the cuts: temperature, top_k, top_p. */
struct ran_sampler {
        double temperature; /* logits are divided by it; 0: the most probable token, no chance */
        size_t top_k;       /* only of the k most probable; 0: of all */
        double top_p; /* of these, only of the fewest that have this share of their probability; 1:
                         all */
        const bool *never; /* (V) tokens that are never drawn; NULL: none */
        /* Scratch. */
        uint32_t *heap;
        double *weight;
        size_t heap_cap, weight_cap;
};
void ran_sampler_release(struct ran_sampler *s);
/* Draws by u, uniform in [0, 1). Of equally probable tokens the one with the lower id comes first.
 * RAN_EINVAL when a logit is not a number, or no token can be drawn. */
int ran_sampler_draw(struct ran_sampler *s, const float *logits, size_t V, double u, uint32_t *id,
                     struct ran_error *err);
/* The k most probable tokens but those of `never`, the most probable first, and their probabilities
 * among all V. Returns in *n how many there are: k, or fewer. The other settings play no part. */
int ran_sampler_best(struct ran_sampler *s, const float *logits, size_t V, size_t k, uint32_t *ids,
                     double *p, size_t *n, struct ran_error *err);
/* -log of the probability of a token, in double. */
double ran_nll(const float *logits, size_t V, uint32_t id);

/* ---- metrics (eval/) ------------------------------------------------------------------------ */

/* Counts and sums (in double) over scored documents of a classifier. What is added in the same
 * order gives the same numbers to the last bit. */
struct ran_eval;
/* names (C): not owned, or NULL for "0", "1" ...; multilabel: any number of labels a document. */
struct ran_eval *ran_eval_new(size_t C, const char *const *names, bool multilabel,
                              struct ran_error *err);
void ran_eval_free(struct ran_eval *e);
/* Before the first document, of a model with one label: counts sets, too, of the classes with p >=
 * cut. */
void ran_eval_sets(struct ran_eval *e, float cut);
/* One document: its gold classes (n_gold of them, each < C; exactly one with a single label, unless
 * it is unknown), how many more gold labels it has that the model does not know (they count as
 * missed), and probabilities p (C). thresholds (C) decide with several labels; NULL: 0.5. Can fail
 * for lack of memory only, and then adds nothing. */
int ran_eval_add(struct ran_eval *e, const uint32_t *gold, size_t n_gold, size_t unknown,
                 const float *p, const float *thresholds, struct ran_error *err);
/* Remembers the name of an unknown label for the report (the first hundred; all are counted). */
int ran_eval_unknown(struct ran_eval *e, const char *name, size_t n, struct ran_error *err);
/* Adds all that `from` holds to e; same C and kind. On failure, for lack of memory, only a part. */
int ran_eval_merge(struct ran_eval *e, const struct ran_eval *from, struct ran_error *err);

struct ran_prf {
        double precision, recall, f1; /* 0 where the denominator is 0 */
};
struct ran_eval_class {
        size_t tp, fp, fn, support;
        struct ran_prf rates;
};
struct ran_eval_cell {
        uint32_t gold, predicted;
        size_t count;
};
struct ran_eval_label {
        char *name;
        size_t length, count;
};
enum { RAN_EVAL_TOP = 5, RAN_EVAL_BINS = 15 };
struct ran_eval_report {
        size_t n;         /* documents */
        size_t n_skipped; /* documents without a gold label: for the caller to set */
        size_t C;
        const char *const *names;
        bool multilabel;
        double accuracy; /* several labels: share of documents with exactly the gold set; NaN
                            without any */
        /* macro: mean over classes that are in the gold data or were predicted; weighted: by
         * support. */
        struct ran_prf micro, macro, weighted;
        /* Over the documents whose labels are all known (n_known); NaN without any.
         * One label: -log p of the gold class; sum over classes of (p - y)^2; confidence in the
         * predicted class against its accuracy. Several: binary, mean over documents and classes.
         * ece: 15 bins of equal width. */
        size_t n_known;
        double log_loss, brier, ece;
        double top[RAN_EVAL_TOP]; /* one label: top[k-1], share with gold among the k most probable
                                   */
        bool sets;                /* ran_eval_sets: */
        double covered, set_size; /* share of sets that hold the gold class; classes in the mean */
        double single, empty;     /* share of sets that hold one class, none */
        double single_accuracy;   /* of those that hold one; NaN without any */
        const struct ran_eval_class *classes; /* (C) */
        const struct ran_eval_cell
                *confusion; /* one label: cells above 0, by gold, then predicted */
        size_t cells;
        const struct ran_eval_label *unknown; /* by their bytes */
        size_t n_unknown, unknown_total;      /* names; occurrences */
};
/* The pointers in the report are e's and are good until e is added to or freed. */
void ran_eval_finish(struct ran_eval *e, struct ran_eval_report *report);
/* One JSON object; a table for people. */
void ran_eval_json(const struct ran_eval_report *report, struct ran_buf *out);
void ran_eval_text(const struct ran_eval_report *report, struct ran_buf *out);

/* What a tagger found of one type, or in all. */
struct ran_tag_score {
        const char *type; /* no NUL at its end; NULL in all */
        size_t length;
        size_t gold, found, correct; /* phrases, or entities */
        struct ran_prf rates;
};

/* The score of conlleval, the script of the CoNLL shared tasks, as its version of 2004-01-26
 * computes and prints it. Fed token by token with tags as they stand: the script takes any string,
 * knows IOB2 and IOB1 and more by rules of its own, and is blind to S-, L- and U-. */
struct ran_conll;
struct ran_conll *ran_conll_new(struct ran_error *err);
void ran_conll_free(struct ran_conll *c);
/* Can fail for lack of memory only. */
int ran_conll_add_token(struct ran_conll *c, const char *correct, size_t correct_n,
                        const char *guessed, size_t guessed_n, struct ran_error *err);
void ran_conll_end_sentence(struct ran_conll *c);

struct ran_conll_report {
        size_t tokens, correct_tokens;
        double accuracy; /* of tokens; 0 without any */
        struct ran_tag_score all;
        /* Those in the data or found, by their bytes. Rates of one can exceed 1: the script may
         * credit it with a phrase that it counted under another. */
        const struct ran_tag_score *types;
        size_t n_types;
};
/* The pointers in the report are c's and are good until c is added to or freed. */
void ran_conll_finish(struct ran_conll *c, struct ran_conll_report *report);
/* What the script prints, byte for byte; one JSON object (rates as shares of 1, as elsewhere). */
void ran_conll_text(const struct ran_conll_report *report, struct ran_buf *out);
void ran_conll_json(const struct ran_conll_report *report, struct ran_buf *out);

/* Reads the files of columns that the script reads, by its rules: fields between single spaces, the
 * last the guessed tag, the one before it the correct one. Set `in`, leave the rest zero. */
struct ran_conll_reader {
        FILE *in;                      /* the caller's */
        const char *correct, *guessed; /* of a token, good until the next call */
        size_t correct_n, guessed_n;
        int status;             /* of a refused file: what the script exits with */
        struct ran_buf message; /* and its message, newline included */
        char *line;
        size_t cap, fields;
};
enum ran_conll_line {
        RAN_CONLL_END, /* no more lines */
        RAN_CONLL_TOKEN,
        RAN_CONLL_BREAK,   /* the sentence ends: an empty line, or a boundary "-X-" */
        RAN_CONLL_REFUSED, /* the script gives up here, and prints no score */
        RAN_CONLL_FAILED,  /* the file cannot be read, or memory ran out: see err */
};
enum ran_conll_line ran_conll_read(struct ran_conll_reader *r, struct ran_error *err);
void ran_conll_reader_release(struct ran_conll_reader *r);

/* The strict score: an entity is right when its type and both its ends are. Only what is valid IOB2
 * counts, see ran_tags_entities. */
struct ran_strict;
struct ran_strict *ran_strict_new(struct ran_error *err);
void ran_strict_free(struct ran_strict *s);
/* A sentence of L tokens, in IOB2. Can fail for lack of memory only. */
int ran_strict_add(struct ran_strict *s, const struct ran_tag *gold, const struct ran_tag *found,
                   size_t L, struct ran_error *err);

struct ran_strict_report {
        size_t sentences, tokens;
        struct ran_tag_score all;          /* rates: micro average */
        struct ran_prf macro;              /* mean over the types */
        const struct ran_tag_score *types; /* those in the data or found, by their bytes */
        size_t n_types;
        /* Of the entities found that are not correct: those with the ends of one in the data and
         * another type; and those that share the type and a token, but not both ends. */
        size_t boundary_only, type_only;
        size_t invalid_gold, invalid_found; /* tags that IOB2 does not allow where they stand */
};
/* The pointers in the report are s's and are good until s is added to or freed. */
void ran_strict_finish(struct ran_strict *s, struct ran_strict_report *report);
/* One JSON object; a table for people. */
void ran_strict_json(const struct ran_strict_report *report, struct ran_buf *out);
void ran_strict_text(const struct ran_strict_report *report, struct ran_buf *out);

/* ---- training (train/) ---------------------------------------------------------------------- */

/* Documents ready to train on or to be evaluated (train/dataset.c, split.c). Zero-initialise; call
 * _set_classes where the classes are known already (development data, a model's own); _label and
 * _add for each document; _finish. The members may be read from then on. */
struct ran_dataset {
        size_t B;            /* documents */
        uint32_t *ids;       /* all documents, one after another */
        size_t *first;       /* (B+1) where each begins in ids */
        uint32_t *labels;    /* all labels, one after another; ascending within a document */
        size_t *label_first; /* (B+1) where those of a document begin */
        uint32_t *places;   /* tagging, else NULL: as labels, the token of its document that each is
                             * of;   mlm: the first token of each word, all labels being 0 */
        uint32_t *sources;  /* (B) language models, else NULL: leading ids that are source */
        uint32_t *spelling; /* or NULL: as ids, RAN_SPELLING each */
        bool *begins;       /* as places: the word is the first of a sentence */
        float *weight;      /* (B) */
        /* Or NULL: soft targets, which documents are learned from in the place of their labels:
         * soft[i] is the probability of class soft_labels[i], ascending within a document, from
         * soft_first[b] on. A document that has none is learned from its labels. */
        uint32_t *soft_labels;
        float *soft;
        size_t *soft_first; /* (B+1) */
        bool *guessed;      /* (B) its labels are what its target says: nobody gave them */
        uint64_t *group;    /* (B) or NULL: those of equal numbers are in one part of any split */
        char **names;       /* (C) label names, ordered by their bytes; shared with nobody */
        size_t C;
        bool multilabel; /* records hold "labels": set by the caller */
        bool given;      /* mlm: places are gaps, and labels what stood there: set by the caller */
        char digest[65]; /* SHA-256 of what was read, in order: set by the caller */
        /* Where the arrays lie that grow with the documents and may be larger than memory. */
        struct {
                struct ran_spool ids, first, labels, label_first, places, begins, spelling, sources,
                        weight, soft_labels, soft, soft_first, guessed, group;
        } spool;
        size_t keep; /* bytes of each that stay in memory; 0: RAN_SPOOL_KEEP */
        /* While it is built. */
        bool fixed;                    /* the classes were given */
        struct ran_known_names *known; /* to find a class by its name; NULL: there is none yet */
        size_t names_cap;
};
/* A label that the given classes do not have: no answer is right for it. Never in training data. Of
 * the labels of a document these come last, and each counts. */
#define RAN_LABEL_UNKNOWN UINT32_MAX
/* Copies the names, ordered by their bytes or as a model has them; labels of any other name become
 * RAN_LABEL_UNKNOWN. Before the first _label. */
int ran_dataset_set_classes(struct ran_dataset *d, char *const *names, size_t C,
                            struct ran_error *err);
/* The class of a label name; a new one when it never turned up and the classes were not given.
 * A name cannot hold U+0000. */
int ran_dataset_label(struct ran_dataset *d, const char *name, size_t n, uint32_t *label,
                      struct ran_error *err);
/* Appends a document of L ids. A class that it names twice counts once. */
int ran_dataset_add(struct ran_dataset *d, const uint32_t *ids, size_t L, const uint32_t *labels,
                    size_t n, double weight, struct ran_error *err);
/* Gives the document that was added last a soft target: probabilities p (n) of the classes labels
 * (n), no class twice; n 0: none. All documents, or none. */
int ran_dataset_soft_target(struct ran_dataset *d, const uint32_t *labels, const float *p, size_t n,
                            bool guessed, struct ran_error *err);
/* Says to which group the document that was added last belongs: that of n bytes, or, n 0, one of
 * its own. All documents, or none. */
int ran_dataset_group(struct ran_dataset *d, const char *name, size_t n, struct ran_error *err);
/* Appends a document for tagging: word i stands at token places[i] (ascending) and has the tag
 * tags[i]. A dataset holds documents of one kind. */
int ran_dataset_add_words(struct ran_dataset *d, const uint32_t *ids, size_t L,
                          const uint32_t *places, const uint32_t *tags, size_t n, double weight,
                          struct ran_error *err);
/* Appends a document for a language model: it reads L - 1 ids, and predicts those from the second
 * one on that are not among the first `sources`. RAN_EINVAL when there is none to predict. */
int ran_dataset_add_text(struct ran_dataset *d, const uint32_t *ids, size_t L, size_t sources,
                         double weight, struct ran_error *err);
/* Makes the document that was added last, for tagging, longer by a sentence. Its weight stays. */
int ran_dataset_continue(struct ran_dataset *d, const uint32_t *ids, size_t L,
                         const uint32_t *places, const uint32_t *tags, size_t n,
                         struct ran_error *err);
/* Gives the L tokens that were added last their spelling (L, RAN_SPELLING): all documents, or none.
 */
int ran_dataset_spell(struct ran_dataset *d, const uint32_t *spelling, size_t L,
                      struct ran_error *err);
/* Document b, to be read; good until the next _add. */
struct ran_document ran_dataset_document(const struct ran_dataset *d, size_t b);
size_t ran_dataset_guessed(const struct ran_dataset *d); /* documents of which labels are guessed */
/* Orders the classes that turned up by the bytes of their names, and renumbers the labels.
 * RAN_EINVAL for a label that is none of them. */
int ran_dataset_finish(struct ran_dataset *d, struct ran_error *err);
/* Marks a share of the documents of d (finished) in held (B), and copies them to dev (zeroed), in
 * order: about that share of each class and exactly that share in all, but never the last document
 * of a class. Which ones depends on the seed and on a document's place in d alone. With several
 * labels a document, the share is of all. Documents whose labels are guessed are left out of this,
 * unless all are; the copies have no soft target. Where documents have groups, whole groups are
 * held out: about that share of the documents, of whatever class, but never the last group of a
 * class. After a failure dev holds a part, and is to be released. */
int ran_dataset_split(const struct ran_dataset *d, double share, uint64_t seed, bool *held,
                      struct ran_dataset *dev, struct ran_error *err);
void ran_dataset_release(struct ran_dataset *d);

enum { RAN_SCHEDULE_CONSTANT, RAN_SCHEDULE_LINEAR, RAN_SCHEDULE_COSINE };
enum { RAN_METRIC_ACCURACY, RAN_METRIC_MICRO_F1, RAN_METRIC_MACRO_F1, RAN_METRIC_LOSS };
enum { RAN_WEIGHTS_NONE, RAN_WEIGHTS_BALANCED };
enum { RAN_RATIOS_AUTO, RAN_RATIOS_YES, RAN_RATIOS_NO };

/* Settings of training that can change its result; with ran_config they are the `training` of the
 * model file. */
struct ran_train_settings {
        size_t epochs, batch, bptt, patience, seed;
        double learning_rate, min_learning_rate, warmup, weight_decay, clip;
        double beta1, beta2, epsilon;
        double dropout, embed_dropout, word_dropout, label_smoothing;
        double vectors_rms; /* root mean square that `vectors` of the job are scaled to; 0: as is */
        double init_rate;   /* share of the learning rate, for what `init` of the job brings */
        double wide_cost;   /* of errors of the wide path, see train/svm.h; 0: chosen */
        bool refit;         /* after the best epoch is known, learn from `held` documents, too */
        bool freeze;        /* the rows of the embedding that `vectors` or `init` bring stay */
        int schedule, metric, class_weights, wide_ratios;
};
extern const struct ran_field ran_train_fields[];
/* Checks the range of each setting, and what no single one can know: what the model is. */
int ran_train_settings_check(const struct ran_train_settings *s, const struct ran_config *config,
                             struct ran_error *err);

struct ran_train_report {
        enum {
                RAN_REPORT_WIDE, /* the wide path is being learned: step times through the data */
                RAN_REPORT_STEP, /* an epoch is at work until here */
                RAN_REPORT_DEV,
                RAN_REPORT_CHECKPOINT,
                RAN_REPORT_KEPT,  /* what is best of the epochs is known, and whether its encoder
                                     counts: `best` is of that, and may be less than it was */
                RAN_REPORT_REFIT, /* the best epoch is known, all documents are learned from now */
                RAN_REPORT_END
        } event;
        bool refit;                        /* what is reported is of that */
        size_t epoch, epochs, step, steps; /* from 1 */
        double loss;                       /* of the last steps, smoothed; of dev for REPORT_DEV */
        double learning_rate, gradient_norm;
        size_t tokens;  /* trained on so far in this run */
        double seconds; /* of this run so far */
        double tokens_per_second, eta_seconds;
        double accuracy, micro_f1, macro_f1; /* REPORT_DEV */
        double metric, best;                 /* of the dev set, larger is better (loss: negated) */
        size_t best_epoch, stale;            /* epochs since the best */
        uint64_t moved;                      /* bytes between this rank and others so far */
        bool improved;
        bool first_encoder; /* with REPORT_END: it is not of all documents, which led it astray */
        bool alone; /* with REPORT_END: the wide path, since nothing shows that the encoder helps */
};

/* Processes that train one model together (train/ranks.h). NULL stands for one that is alone. */
struct ran_ranks;
/* Those that a launcher (mpirun) started this process among; *ranks NULL: it was not. Fails where
 * they cannot work together, RAN_EINVAL where this library was built without MPI: the sentence is
 * for one of them to say, others have an empty one. stopped: whether a signal asks this process to
 * end; or NULL. */
int ran_ranks_open(struct ran_ranks **ranks, int (*stopped)(void), struct ran_error *err);
/* The last thing of all. Rank 0 sends the others home; where that is not possible any more it ends
 * them, and this process too, with that status. */
void ran_ranks_close(struct ran_ranks *ranks, int status);
size_t ran_ranks_me(const struct ran_ranks *ranks); /* from 0: reads, decides, reports and saves */
size_t ran_ranks_count(const struct ran_ranks *ranks);

struct ran_train_job {
        const struct ran_config *config;
        const struct ran_train_settings *settings;
        const struct ran_dataset *train, *dev; /* dev NULL or empty: the last epoch is kept; else it
                                                  has the classes of train */
        const bool *held; /* (B) documents of train that dev has, not to be learned from until the
                             settings say `refit`; NULL: none */
        const struct ran_tokenizer
                *tokenizer; /* goes into the model; NULL: ids only, then V says how many */
        size_t V;
        /* Where weights begin; NULL: by chance. init: tensors of the same name and shape, those of
         * the head only where ran_train_keeps_head, and the embedding, which must fit. */
        const struct ran_embedding *vectors;
        const struct ran_model *init;
        const char *output;        /* model file; written when training is complete, never before */
        const char *checkpoint;    /* output.ckpt; NULL: none */
        double checkpoint_seconds; /* how often to write it; also whenever the caller ends a run */
        bool resume;
        const char *training; /* JSON members that the caller wants in `training`, or NULL */
        struct ran_pool *pool;
        /* Rank 0 hands the job to the others, which wait in ran_train_follow; the model is the same
         * for any number of them. threads: of each of them; 0: as many as it has processors. */
        struct ran_ranks *ranks;
        size_t threads;
        /* Called now and then, or NULL; a value other than 0 ends training with RAN_EINTR, after a
         * checkpoint if the job has one (still: the caller may have taken it away meanwhile). */
        int (*report)(void *arg, const struct ran_train_report *report);
        void *arg;
};
/* RAN_EINVAL where settings or documents do not fit the model: documents of another task or without
 * tokens, ids beyond V, labels that are no class, words at no token. */
int ran_train(const struct ran_train_job *job, struct ran_error *err);
/* What ranks other than 0 do, until rank 0 closes. Fails when it has lost the others, or what was
 * to be done could not be done here: then its sentence has to be said, and closing ends all. */
int ran_train_follow(struct ran_ranks *ranks, struct ran_error *err);
/* Everything that can change the result of a job, as JSON members `"training":{...},"config":{...},
 * "vocabulary":...`: the same text means the same model. */
void ran_train_describe(const struct ran_train_job *job, struct ran_buf *out);
/* Whether the head of `init` serves, too: same encoder, task and classes. */
bool ran_train_keeps_head(const struct ran_train_job *job);
/* Loss and gradients of the first batch (the documents in order, no dropout, no shuffling) as a
 * safetensors file: "loss" (F64, 1) and "grad.NAME" for each tensor. Weights untouched. */
int ran_dump_gradients(const char *model, const struct ran_dataset *data, size_t documents,
                       struct ran_pool *pool, const char *output, struct ran_error *err);
/* Bytes that training will need at most, and parameters, for --dry-run. */
struct ran_train_estimate {
        size_t parameters, embedding_parameters, bytes, steps;
        double flops; /* of one epoch */
};
int ran_train_estimate(const struct ran_train_job *job, struct ran_train_estimate *e,
                       struct ran_error *err);

/* A search for better settings (train/search.c, where a table has those that matter, and values of
 * each). A trial is one value of each. */
enum { RAN_SEARCH_FIELDS = 24 };
struct ran_trial {
        signed char at[RAN_SEARCH_FIELDS]; /* which value; -1: that of the job, which is another */
        double metric; /* what came of it, larger is better; -INFINITY: nothing yet */
};
struct ran_search {
        const struct ran_train_job *job; /* with the settings that the search starts from */
        struct ran_trial start;
        bool fixed[RAN_SEARCH_FIELDS]; /* stays as it is */
        size_t longest;                /* document */
        double flops, parameters;      /* of the job */
};
/* The job is the caller's, must live on, and stays as it is. given: whether that setting is not to
 * be changed. */
int ran_search_init(struct ran_search *s, const struct ran_train_job *job,
                    bool (*given)(const char *name), struct ran_error *err);
/* What to try after n trials: a function of the job, its seed, and what the trials brought. The
 * first one is the job as it is. False when nothing is left to try. */
bool ran_search_next(const struct ran_search *s, const struct ran_trial *trial, size_t n,
                     struct ran_trial *next);
void ran_search_apply(const struct ran_search *s, const struct ran_trial *trial,
                      struct ran_config *config, struct ran_train_settings *settings);
/* The best of n trials, the first of several; n > 0. */
size_t ran_search_best(const struct ran_trial *trial, size_t n);
/* Whether a trial that has reached `metric` after so many epochs is clearly behind one whose metric
 * after each of n epochs is best[] (NaN: unknown): less than that had after two thirds of them. */
bool ran_search_behind(const double *best, size_t n, size_t epoch, double metric);
/* The names of the settings that are not fixed, as a JSON array. */
void ran_search_fields(const struct ran_search *s, struct ran_buf *out);

#endif
