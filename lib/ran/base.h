/* ran/base.h - errors, memory, numbers, UTF-8, random numbers, threads, files, settings.
 * Conventions: ran.h. */
#ifndef RAN_RAN_BASE_H
#define RAN_RAN_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define RAN_VERSION "0.3.0" /* the only place of the version; the Makefile reads it */

/* ---- errors (base/error.c) ------------------------------------------------------------------ */

enum ran_code {
        RAN_OK = 0,
        RAN_EIO,       /* a file cannot be opened, read or written */
        RAN_ENOMEM,    /* memory ran out */
        RAN_EFORMAT,   /* the bytes of a file or record break its format */
        RAN_EINVAL,    /* an option, a configuration or an argument is out of its range */
        RAN_EDIVERGED, /* training produced a number that is not finite */
        RAN_EINTR,     /* the caller asked to stop */
};

struct ran_error {
        enum ran_code code;
        char text[512]; /* one sentence, no newline, unseen characters as <U+202E> */
};

/* Sets err to the code and the sentence, unless err is NULL, and returns the code:
 * `return ran_fail(err, RAN_EIO, "cannot open %s", path);`. Characters of the sentence that
 * nobody sees become codes, <U+001B>; a sentence that is too long is cut at a character. */
int ran_fail(struct ran_error *err, enum ran_code code, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* err, or, if that is NULL, an error of this thread that nobody reads: for functions that need the
 * sentence of a function they call. */
struct ran_error *ran_error_or_spare(struct ran_error *err);

/* Runs a call that returns a code, and returns that code from the function if it is not RAN_OK:
 * RAN_TRY(ran_fields_init(fields, base, err)); */
#define RAN_TRY(call)                        \
        do {                                 \
                int ran_try_code = (call);   \
                if (ran_try_code != RAN_OK)  \
                        return ran_try_code; \
        } while (0)

/* ---- memory (base/memory.c) ----------------------------------------------------------------- */

/* Memory that runs out. A function that could fail for this alone has no error: it calls a handler,
 * which ends the process. The default writes one sentence to stderr and calls _exit(3). What files
 * or lines give as a size is checked before, or allocated with ran_alloc,
 * ran_alloc_floats and RAN_GROW, which fail with an error. */

/* The handler of this process from now on; NULL: the default. Any thread may call it, with one
 * sentence, while others still run. It must neither return nor allocate; ran_writer_abandon_all and
 * _exit are what it wants. */
void ran_memory_handler(void (*handler)(const char *sentence));
/* Calls it: n objects of `size` bytes could not be had. */
_Noreturn void ran_out_of_memory(size_t n, size_t size);

/* Allocates n objects of `size` bytes, zeroed; n = 0 gives a valid pointer. The caller frees it
 * with free(). */
void *ran_new(size_t n, size_t size) __attribute__((returns_nonnull));
/* n floats, zeroed, aligned to 64 bytes. The caller frees them with free(). */
float *ran_new_floats(size_t n) __attribute__((returns_nonnull));
/* The n bytes at s and a NUL. The caller frees them with free(). */
char *ran_copy(const char *s, size_t n) __attribute__((returns_nonnull));
/* Below, above or 0 as n bytes at a come before, behind or are m bytes at b, for qsort. */
int ran_order(const char *a, size_t n, const char *b, size_t m);
/* Grows an array of `cap` objects to at least `want`, by doubling: RAN_ROOM(x->at, x->cap, n + 1).
 * The array may move, and cap grows. New objects are uninitialised. `want` is evaluated twice. */
#define RAN_ROOM(array, cap, want)                    \
        ((array) != NULL && (want) <= (cap) ? (void)0 \
                                            : ran_room(&(array), &(cap), want, sizeof *(array)))
void ran_room(void *array, size_t *cap, size_t want, size_t size);

/* Allocates n objects of `size` bytes, zeroed; n = 0 gives a valid pointer. Returns NULL
 * (RAN_ENOMEM) when n * size overflows or memory runs out; the sentence says how much was
 * requested. The caller frees it with free(). */
void *ran_alloc(size_t n, size_t size, struct ran_error *err);

/* The same as RAN_ROOM, but RAN_ENOMEM where memory runs out; the array is then as it was:
 * RAN_TRY(RAN_GROW(x->at, x->cap, n, err)). In the functions, `array` is a pointer to the array's
 * pointer, and size > 0. */
#define RAN_GROW(array, cap, want, err) ran_grow(&(array), &(cap), want, sizeof *(array), err)
int ran_grow(void *array, size_t *cap, size_t want, size_t size, struct ran_error *err);

/* Allocates n floats, zeroed, aligned to 64 bytes. NULL on failure (RAN_ENOMEM). The caller frees
 * them with free(). */
float *ran_alloc_floats(size_t n, struct ran_error *err);
/* Asks the system for large pages, or for none, as far as they fit into [p, p + n), before memory
 * is first touched: the faults of small ones take longer than what is then done with it, unless
 * most of it is never touched. */
void ran_memory_huge(void *p, size_t n, bool huge);

/* An array that may be larger than memory (base/spool.c). Once it outgrows `keep` bytes it moves to
 * an unnamed file in TMPDIR (default /var/tmp), mapped into memory. Zero-initialise; you may set
 * `keep`. */
#define RAN_SPOOL_KEEP ((size_t)256 << 20)
struct ran_spool {
        void *data;
        size_t room; /* capacity in bytes */
        size_t keep; /* largest size in memory, in bytes; 0: RAN_SPOOL_KEEP */
        int file;    /* its descriptor, if mapped */
        bool mapped;
};
/* Grows the array to at least n objects, new ones uninitialised, and sets `array`, a pointer to
 * them: RAN_TRY(RAN_SPOOL(x->spool, x->at, n, err)). RAN_ENOMEM, RAN_EIO: all stays as it was.
 * In the function, `array` is a pointer to the array's pointer. */
#define RAN_SPOOL(spool, array, n, err) \
        ran_spool_reserve(&(spool), &(array), n, sizeof *(array), err)
int ran_spool_reserve(struct ran_spool *s, void *array, size_t n, size_t size,
                      struct ran_error *err);
void ran_spool_release(struct ran_spool *s); /* `keep` stays */
/* The name of a new, empty file in TMPDIR, else /var/tmp; NULL on failure. Remove the file and free
 * the name with the second function; NULL is nothing. */
char *ran_temporary_new(struct ran_error *err);
void ran_temporary_free(char *path);

/* A growing byte buffer (base/buffer.c). Zero-initialise. data may be NULL when len is 0; the bytes
 * do not end in NUL. */
struct ran_buf {
        char *data;
        size_t len, cap;
};
void ran_buf_add(struct ran_buf *b, const void *bytes, size_t n);
void ran_buf_str(struct ran_buf *b, const char *s);
void ran_buf_char(struct ran_buf *b, char c);
void ran_buf_printf(struct ran_buf *b, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
void ran_buf_vprintf(struct ran_buf *b, const char *format, va_list args)
        __attribute__((format(printf, 2, 0)));
void ran_buf_size(struct ran_buf *b, size_t x); /* in decimal */
/* Reserves n more bytes and returns where they start; write them, then add to b->len. */
char *ran_buf_room(struct ran_buf *b, size_t n) __attribute__((returns_nonnull));
void ran_buf_release(struct ran_buf *b); /* frees and zeroes */
/* Appends s as a JSON string with its quotes, escaping only what JSON requires. Invalid UTF-8
 * becomes U+FFFD (base/quote.c). */
void ran_buf_json(struct ran_buf *b, const char *s, size_t n);
/* The same without the quotes; parts of a string must end between characters. */
void ran_buf_json_part(struct ran_buf *b, const char *s, size_t n);
/* Appends s for people: characters that steer a terminal or that nobody sees (controls, overrides
 * of the direction of a text, spaces without width) become codes, <U+202E>. */
void ran_buf_shown(struct ran_buf *b, const char *s, size_t n);
/* Columns that this takes on a terminal, near enough: one for each character. */
size_t ran_shown_width(const char *s, size_t n);

/* ---- numbers (base/number.c) ---------------------------------------------------------------- */

/* Appends a JSON number: the shortest decimal that reads back as the same float or double. NaN and
 * infinities become null. The locale never matters. */
void ran_buf_float(struct ran_buf *b, float x);
void ran_buf_double(struct ran_buf *b, double x);
/* Parse all of the n bytes at s as a JSON number (also .5 for 0.5) or as digits only. They return
 * false and leave *x alone for anything else: trailing bytes, a number too large; for
 * ran_parse_size also a sign or a fraction. The locale never matters. */
bool ran_parse_double(const char *s, size_t n, double *x);
bool ran_parse_size(const char *s, size_t n, size_t *x);

/* The least and the most of two sizes. */
static inline size_t ran_least(size_t a, size_t b)
{
        return a < b ? a : b;
}

static inline size_t ran_most(size_t a, size_t b)
{
        return a > b ? a : b;
}

/* How many of n ascending numbers are below `bound`. */
static inline size_t ran_count_below(const size_t *x, size_t n, size_t bound)
{
        size_t from = 0;

        while (from < n) {
                const size_t middle = from + (n - from) / 2;

                if (x[middle] < bound)
                        from = middle + 1;
                else
                        n = middle;
        }
        return from;
}

/* ---- UTF-8 (base/utf8.c) ------------------------------------------------------------------- */

/* The length of the longest prefix of s that is valid UTF-8, in bytes: n if all of it is. */
size_t ran_utf8_valid(const char *s, size_t n);
/* The length of the character that the n > 0 bytes at s begin with; where they begin with none, of
 * its longest part that is there (Unicode, 3.9: one U+FFFD takes the place of each such part). */
size_t ran_utf8_character(const char *s, size_t n);
/* The length of the character that the n > 0 bytes at s begin with, and which it is, if it steers a
 * terminal or is not seen and may make a reader believe in another text; else 0. */
size_t ran_utf8_unseen(const char *s, size_t n, uint32_t *c);
/* The length of the byte order mark at the start of s, in bytes: 3 or 0. */
size_t ran_utf8_mark(const char *s, size_t n);

/* ---- the time (base/clock.c) ----------------------------------------------------------------- */

double ran_clock(void);      /* seconds that never run backwards, from an arbitrary beginning */
double ran_clock_date(void); /* seconds since 1970 */

/* ---- random numbers (base/random.c) --------------------------------------------------------- */

/* Counter-based: a number is a function of (seed, purpose, epoch, record, position) and there is no
 * generator state, so results do not depend on the order of work. Make a key once, then draw at
 * positions. */
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
        RAN_FOR_BOOTSTRAP,
};
uint64_t ran_random_key(uint64_t seed, uint64_t purpose, uint64_t epoch, uint64_t record);
/* 64 uniform bits: one output of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
 * number generators", OOPSLA 2014), an odd-constant Weyl sequence through a 64-bit finaliser; draw
 * number `position` of the sequence that starts at `key`. Inline, so that a loop over positions can
 * be vectorised. A change here changes every trained model. */
static inline uint64_t ran_random_draw(uint64_t key, uint64_t position)
{
        uint64_t z = key + (position + 1) * UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
}
double ran_random_uniform(uint64_t key, uint64_t position); /* in [0, 1), 53 bits */
/* order (n) = item (n; NULL: 0, 1, ...), shuffled for an epoch: Fisher and Yates, draws keyed by
 * the epoch. */
#define RAN_SHUFFLE_FOLDS UINT64_MAX /* no real epoch: for folds */
void ran_random_shuffle(size_t *order, const size_t *item, size_t n, uint64_t seed, uint64_t epoch);

/* ---- threads (base/pool.c) ------------------------------------------------------------------ */

/* A pool of `threads` threads, counting the caller's; 0 means 1. ran_parallel runs fn(arg, i) for
 * every i < n and returns when all are done; without a pool (NULL) the caller runs them all. A task
 * may call ran_parallel again: idle threads help, so one long document can use every core, while
 * the caller works only on its own tasks and the tasks that these start. Several threads may use
 * one pool at once. Results must not depend on which thread runs a task, or when. */
struct ran_pool;
struct ran_pool *ran_pool_new(size_t threads, struct ran_error *err);
void ran_pool_free(struct ran_pool *pool);
size_t ran_pool_threads(const struct ran_pool *pool);
void ran_parallel(struct ran_pool *pool, size_t n, void (*fn)(void *arg, size_t i), void *arg);
/* The default number of threads: the environment variable RAN_THREADS if it is a number from 1 to
 * 4096, else the processors available to this process (affinity mask, cgroup quota), at least 1. */
size_t ran_threads_default(void);

/* ---- files (base/file.c) -------------------------------------------------------------------- */

/* The contents of a file, mapped read-only; what cannot be mapped (a pipe) is read into memory.
 * RAN_EIO, RAN_ENOMEM. */
struct ran_bytes {
        const unsigned char *data;
        size_t size;
        bool mapped;
};
int ran_bytes_open(struct ran_bytes *b, const char *path, struct ran_error *err);
/* The same for files that are small: RAN_EFORMAT for more than `most` bytes, before they take
 * memory.
 */
int ran_bytes_open_within(struct ran_bytes *b, const char *path, size_t most,
                          struct ran_error *err);
void ran_bytes_release(struct ran_bytes *b);

/* Opens FOLDER/BASE/NAME of a folder that others made, a regular file of at most `most` bytes,
 * without waiting; BASE may be "". The sentence begins with what follows FOLDER/. RAN_EIO, and
 * *absent unless that is NULL: there is no such file; RAN_EFORMAT: it is a pipe, a device, a
 * folder, or too large. */
int ran_folder_open(struct ran_bytes *file, const char *folder, const char *base, const char *name,
                    size_t most, bool *absent, struct ran_error *err);
bool ran_folder_has(const char *folder, const char *base, const char *name);

/* Writes a file atomically: nobody sees half of it. The bytes go to an unnamed file (or a temporary
 * name in the same folder, where the file system lacks unnamed files); _commit syncs it and moves
 * it into place, _abort drops it. _write keeps its first error for _commit. An existing path that
 * is not a regular file (/dev/stdout, a fifo) is written in place. Open one writer for a path at a
 * time. */
struct ran_writer;
struct ran_writer *ran_writer_open(const char *path, struct ran_error *err);
void ran_writer_write(struct ran_writer *w, const void *bytes, size_t n);
/* Puts n bytes in the place of the first n, which have been written. RAN_EINVAL: the file is
 * written in place, and may be a pipe. */
int ran_writer_rewrite(struct ran_writer *w, const void *bytes, size_t n, struct ran_error *err);
/* RAN_EIO, with the sentence that _commit would give, once a write has failed: lets long work stop
 * early. */
int ran_writer_check(const struct ran_writer *w, struct ran_error *err);
int ran_writer_commit(struct ran_writer *w,
                      struct ran_error *err); /* frees w, whatever it returns */
void ran_writer_abort(struct ran_writer *w);  /* frees w; NULL is fine */
/* Removes the temporary files of all open writers and of ran_temporary_new; for a program that
 * exits early. */
void ran_writer_abandon_all(void);

/* A file that has a name for a while, in the list of those that ran_writer_abandon_all removes. The
 * path is the caller's, and stays until it is forgotten. */
struct ran_temporary {
        const char *path;
        struct ran_temporary *next;
};
void ran_temporary_note(struct ran_temporary *t, const char *path);
void ran_temporary_forget(struct ran_temporary *t); /* nothing, if it was not noted */

/* SHA-256 (FIPS 180-4, base/sha256.c): digests of vocabularies, models and records. */
struct ran_sha256 {
        uint32_t state[8];
        uint64_t length;
        unsigned char block[64];
};
void ran_sha256_init(struct ran_sha256 *s);
void ran_sha256_add(struct ran_sha256 *s, const void *bytes, size_t n);
void ran_sha256_hex(struct ran_sha256 *s, char hex[65]); /* ends it: 64 hex digits and a NUL */

/* Fingerprints of documents (base/fingerprint.c): a model has those of its training documents, to
 * know them again. It is the first 32 bits of the SHA-256 of the text without ASCII white space and
 * with ASCII letters in lower case, so that another format or line width does not matter. A
 * document of several records has the sum of theirs. ran_sha256_init begins one. */
void ran_fingerprint_add(struct ran_sha256 *s, const char *text, size_t n);
uint32_t ran_fingerprint_end(struct ran_sha256 *s);

/* ---- settings (base/field.c) ---------------------------------------------------------------- */

/* A setting is declared once: name, type, range, default and help serve the command line
 * (--min-window), configuration files ("min_window"), --help, --print-config and the metadata of
 * model files. A table is an array of fields that ends with one without a name; `offset` is the
 * offset of the value in the struct that the table describes. */
enum ran_field_type {
        RAN_FIELD_BOOL,    /* bool: --x, --no-x, --x=true|false */
        RAN_FIELD_SIZE,    /* size_t */
        RAN_FIELD_REAL,    /* double */
        RAN_FIELD_CHOICE,  /* int: index into choices */
        RAN_FIELD_CHOICES, /* struct ran_choices: --x=one,two; in JSON a string or a list */
        RAN_FIELD_TEXT,    /* char *, owned by the struct (ran_fields_release), NULL when unset */
        RAN_FIELD_LIST,    /* struct ran_list: may be given several times */
};
#define RAN_CHOICES_MAX 256 /* names in a list */
struct ran_choices {
        size_t n;                            /* at least 1 once set */
        unsigned char item[RAN_CHOICES_MAX]; /* indices into choices */
};
struct ran_list {
        char **item; /* (n + 1) NULL at the end, as in argv; NULL for an empty list */
        size_t n, cap;
};

struct ran_field {
        const char *name; /* as in JSON: lower case, '_' between words, '-' in the long option */
        char letter;      /* short option, or 0 */
        enum ran_field_type type;
        size_t offset;
        double low, high;           /* SIZE and REAL: the range, inclusive */
        const char *const *choices; /* CHOICE, CHOICES: names without commas, NULL at the end */
        const char *value;          /* what --help calls the value: "N", "FILE" */
        const char *initial;        /* default as text; NULL: zero, false, unset, empty */
        const char *help;
        /* CHOICE: may be turned on and off, too: false, or --no-x, is its first choice and true, or
         * --x without a value, the second. In JSON these two are booleans. */
        bool switches;
        /* A setting that older versions did not know: JSON leaves it out while it has its default,
         * which must stay the same, so what they wrote stays comparable. */
        bool later;
        /* Where and how to run, not what to compute (an output file, --jobs, --quiet): not in
         * --print-config, refused in --config. */
        bool local;
        bool fixed; /* what the verb or a model says, and no option: in JSON only */
        bool key;   /* rather a key of --config: --help-all has its name and default alone */
        bool first; /* --help shows it; the others are in --help-all only */
        /* Another default while a CHOICE field earlier in the table has that value. */
        struct ran_exception {
                const char *field, *value, *initial; /* field NULL: no exception */
        } unless;
        const char *verbs; /* of a program, which have this option: "classify tag"; NULL: all */
        /* Options of which one must be on: "eval top". Else the option is refused: "--NAME WHY";
         * why NULL: "--NAME is for --OTHER". NULL: none. */
        const char *needs, *why;
};
int ran_fields_init(const struct ran_field *fields, void *base,
                    struct ran_error *err); /* defaults */
/* Sets one field of the table to its default; earlier fields must be set. */
int ran_field_init(const struct ran_field *fields, const struct ran_field *field, void *base,
                   struct ran_error *err);
void ran_fields_release(const struct ran_field *fields, void *base);
/* Sets one field from text, which must be UTF-8 unless the field is local. RAN_EINVAL: the sentence
 * names the option and the values that it takes. */
int ran_field_set(const struct ran_field *field, void *base, const char *text,
                  struct ran_error *err);
/* Sets the fields that a JSON object names. RAN_EFORMAT if the text is not a JSON object,
 * RAN_EINVAL for a wrong value, a repeated member or an unknown one; with `ignore_unknown` unknown
 * members are skipped (model files of later versions). After a failure earlier members stay set. */
int ran_fields_parse(const struct ran_field *fields, void *base, const char *json, size_t n,
                     bool ignore_unknown, struct ran_error *err);
/* Appends "name":value pairs in table order, with commas and without braces; leaves out local
 * fields and unset text. Numbers are the shortest that read back. */
void ran_fields_json(const struct ran_field *fields, const void *base, struct ran_buf *out);
/* The same for the fields that differ from `other` only. */
void ran_fields_changes(const struct ran_field *fields, const void *base, const void *other,
                        struct ran_buf *out);

/* RAN_EINVAL where a number or a choice is not in its range, as in a struct that is all zero. */
int ran_fields_check(const struct ran_field *fields, const void *base, struct ran_error *err);

/* Whole numbers up to here survive JSON, where a number may become a double: no other one becomes
 * the same double. A size_t of 32 bits ends before. */
#define RAN_FIELD_LARGEST (SIZE_MAX >> (sizeof(size_t) > 4 ? 11 : 0))
/* The value of a field in a struct that its table describes. */
static inline void *ran_field_at(const struct ran_field *field, void *base)
{
        return (char *)base + field->offset;
}
/* Adds the name of n bytes to the choices; RAN_EINVAL, with the names that there are, if it is
 * none. */
int ran_field_add_choice(const struct ran_field *field, struct ran_choices *choices,
                         const char *text, size_t n, struct ran_error *err);

#endif
