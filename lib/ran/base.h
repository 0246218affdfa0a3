/* ran/base.h - errors, memory, numbers, UTF-8, random numbers, threads, files, settings.
 * Conventions: ran.h. */
#ifndef RAN_RAN_BASE_H
#define RAN_RAN_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define RAN_VERSION "0.1.0" /* the only place of the version; the Makefile reads it */

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

/* Returns the code of a call that failed: RAN_TRY(ran_model_write(path, parts, err)); */
#define RAN_TRY(call)                        \
        do {                                 \
                int ran_try_code = (call);   \
                if (ran_try_code != RAN_OK)  \
                        return ran_try_code; \
        } while (0)

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

/* ---- UTF-8 (base/utf8.c) ------------------------------------------------------------------- */

/* How many bytes of s come before the first that is not valid UTF-8: n when all is well. */
size_t ran_utf8_valid(const char *s, size_t n);
/* How many bytes of a byte order mark a text of n bytes begins with: 3 or none. */
size_t ran_utf8_mark(const char *s, size_t n);

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

#endif
