/* vectors.c - files of word vectors.
 *
 * GloVe has rows such as "word 0.418 0.24968", and no header. word2vec and fastText begin with one,
 * "400000 300": vectors, and numbers in each; their rows may end with a space. word2vec's binary
 * format has the header, then for each word: the word, a space, 300 floats (little-endian), and
 * often a line feed.
 *
 * The header is a hint: GloVe's does not count its row <unk>, and is wrong about the numbers in two
 * of its modes. A word may contain spaces (". . ." of GloVe 840B), so a row is read from its end:
 * the last D fields are numbers, the rest is the word. Only a space ends a field: words of some
 * files contain U+00A0 or U+0085. Of a file of many gigabytes only rows of words in the vocabulary
 * are kept.
 */
#include "text/learn/counter.h"
#include "text/tokenizer.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_ROW = 1 << 24, WIDEST = 1 << 16 };

struct ran_vectors {
        const char *path; /* the caller's */
        struct ran_bytes file;
        size_t pos;   /* of the next row */
        uint64_t row; /* lines, or vectors of a binary file, so far */
        bool cut;     /* the last line has no line feed */
        size_t width;
        bool header, binary;
        size_t promised; /* number of vectors by the header */
};

struct line {
        const char *text;
        size_t n; /* without trailing spaces and line end */
};

/* strchr would find the NUL at the end, too. */
static bool is_among(const char *characters, char c)
{
        return c != '\0' && strchr(characters, c) != NULL;
}

/* The line at v->pos, and moves behind it. */
static int next_line(struct ran_vectors *v, struct line *line, struct ran_error *err)
{
        const size_t left = v->file.size - v->pos;

        line->text = (const char *)v->file.data + v->pos;
        const char *feed = left > 0 ? memchr(line->text, '\n', left) : NULL;
        line->n = feed != NULL ? (size_t)(feed - line->text) + 1 : left;
        v->cut = feed == NULL && left > 0;
        v->row += left > 0;
        if (line->n > LONGEST_ROW)
                return ran_fail(err, RAN_EFORMAT,
                                "%s:%llu: the line is too long for a row of word vectors", v->path,
                                (unsigned long long)v->row);
        v->pos += line->n;
        while (line->n > 0 && is_among("\n\r ", line->text[line->n - 1]))
                line->n--;
        return RAN_OK;
}

/* ---- fields --------------------------------------------------------------------------------- */

/* The start of the last field of the first n bytes. */
static size_t last_field(const char *s, size_t n)
{
        const char *space = memrchr(s, ' ', n);

        return space != NULL ? (size_t)(space - s) + 1 : 0;
}

/* Quick test for rows that are not wanted: tells a number from "nan" and from a word. */
static bool has_number_characters(const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if ((s[i] < '0' || s[i] > '9') && !is_among("+-.eE", s[i]))
                        return false;
        return n > 0;
}

/* "nan", "inf" and 1e999 count as numbers, which are refused later. "." and "-" are words. */
static bool is_number(const char *s, size_t n)
{
        size_t sign = n > 0 && (*s == '-' || *s == '+');

        s += sign;
        n -= sign;
        return (n > 0 && *s >= '0' && *s <= '9' && has_number_characters(s, n)) ||
               (n >= 3 && (strncasecmp(s, "nan", 3) == 0 || strncasecmp(s, "inf", 3) == 0));
}

/* The number of numeric fields at the end; the first field is always the word. */
static size_t count_numbers(const char *s, size_t n)
{
        size_t count = 0;

        for (;;) {
                size_t at = last_field(s, n);
                if (at == 0 || !is_number(s + at, n - at))
                        return count;
                count++;
                n = at - 1;
        }
}

/* Whether the line is exactly two whole numbers: a header. */
static bool read_header(const struct line *line, size_t *vectors, size_t *width)
{
        size_t at = last_field(line->text, line->n);

        return at > 0 && ran_parse_size(line->text, at - 1, vectors) &&
               ran_parse_size(line->text + at, line->n - at, width);
}

/* ---- what kind of file ---------------------------------------------------------------------- */

static int refuse_foreign(const struct ran_vectors *v, struct ran_error *err)
{
        static const struct {
                const char *magic, *what;
        } foreign[] = {
                {"\x1f\x8b", "compressed by gzip: decompress it first"},
                {"PK\x03\x04", "a zip archive: unpack it first"},
                {"BZh", "compressed by bzip2: decompress it first"},
                {"\xfd"
                 "7zXZ",
                 "compressed by xz: decompress it first"},
                {"\xba\x16\x4f\x2f",
                 "a model of fastText (.bin): its vectors are in the file .vec"},
        };

        for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
                size_t n = strlen(foreign[i].magic);
                if (v->file.size >= n && memcmp(v->file.data, foreign[i].magic, n) == 0)
                        return ran_fail(err, RAN_EFORMAT, "%s is %s", v->path, foreign[i].what);
        }
        return RAN_OK;
}

/* Whether the next bytes, as vectors of that many floats, cannot be text. */
static bool looks_binary(const struct ran_vectors *v, size_t width)
{
        const size_t n = ran_least(v->file.size - v->pos, 64 + 4 * width);
        const char *s = (const char *)v->file.data + v->pos;

        for (size_t i = 0; i < n; i++)
                if ((unsigned char)s[i] < ' ' && !is_among("\t\r\n", s[i]))
                        return true;
        return ran_utf8_valid(s, n) + 4 <= n; /* the last character may be incomplete */
}

static int read_beginning(struct ran_vectors *v, size_t dim, struct ran_error *err)
{
        struct line line;
        size_t width = 0, first;

        RAN_TRY(refuse_foreign(v, err));
        first = v->pos = ran_utf8_mark((const char *)v->file.data, v->file.size);
        RAN_TRY(next_line(v, &line, err));
        v->header = read_header(&line, &v->promised, &width);
        /* The only ambiguity: a first line of two numbers may be a word with a vector of one
         * number. */
        if (v->header && dim == 1 && width != 1)
                v->header = false;
        if (v->header) {
                first = v->pos;
                RAN_TRY(next_line(v, &line, err));
        }
        if (first == v->file.size)
                return ran_fail(err, RAN_EFORMAT, "%s contains no word vectors", v->path);
        v->pos = first;
        v->width = count_numbers(line.text, line.n);
        if (v->width == 0 && v->header && width <= WIDEST && looks_binary(v, width)) {
                v->binary = true;
                v->width = width;
        }
        if (v->width == 0 || v->width > WIDEST)
                return ran_fail(err, RAN_EFORMAT,
                                "%s:%llu: not word vectors: a row is a word and numbers separated "
                                "by spaces",
                                v->path, (unsigned long long)v->row);
        v->row = v->header && !v->binary;
        if (dim > 0 && v->width != dim)
                return ran_fail(err, RAN_EINVAL, "%s: its vectors have %zu numbers each, not %zu",
                                v->path, v->width, dim);
        return RAN_OK;
}

struct ran_vectors *ran_vectors_open(const char *path, size_t dim, struct ran_error *err)
{
        struct ran_vectors *v = ran_new(1, sizeof *v);

        v->path = path;
        if (ran_bytes_open(&v->file, path, err) == RAN_OK && read_beginning(v, dim, err) == RAN_OK)
                return v;
        ran_vectors_free(v);
        return NULL;
}

void ran_vectors_free(struct ran_vectors *v)
{
        if (v == NULL)
                return;
        ran_bytes_release(&v->file);
        free(v);
}

size_t ran_vectors_width(const struct ran_vectors *v)
{
        return v->width;
}

/* ---- rows to the embedding ------------------------------------------------------------------ */

/* How well an id's row matches its token. */
enum { NOT_GIVEN, AS_NORMALISED, AS_IT_STANDS };

struct filling {
        const struct ran_tokenizer *t;
        struct ran_embedding *to;
        struct ran_vectors_report *report;
        struct ran_encoding encoding;
        unsigned char *fit; /* (V) */
        float *row;         /* (width) */
};

/* The id of a word that is one token, or of a token, and how well it matches; RAN_NO_ID: none. */
static uint32_t find_word(struct filling *f, const char *word, size_t n, unsigned *fit)
{
        struct ran_encoding *e = &f->encoding;
        uint32_t id = RAN_NO_ID;
        size_t length;

        if (n == 0)
                return id;
        if (ran_utf8_valid(word, n) < n) {
                f->report->not_utf8++;
                return id;
        }
        e->n = e->words = 0;
        if (ran_tokenizer_encode_word(f->t, word, n, e, NULL) == RAN_OK && e->n == 1 &&
            e->ids[0] != f->t->unk) {
                const char *token = ran_tokenizer_token(f->t, e->ids[0], &length);
                id = e->ids[0];
                *fit = length == n && memcmp(token, word, n) == 0 ? AS_IT_STANDS : AS_NORMALISED;
        } else if (n == strlen("<unk>") && memcmp(word, "<unk>", n) == 0) {
                id = f->t->unk;
                *fit = AS_IT_STANDS;
        } else if (f->t->prefix_n > 0 && n > f->t->prefix_n &&
                   memcmp(word, f->t->prefix, f->t->prefix_n) == 0 &&
                   ran_tokenizer_find(f->t, word, n, &id)) {
                *fit = AS_IT_STANDS; /* a row for a piece, such as ##ing */
        }
        return id;
}

/* The token for which the row of a word is wanted; RAN_NO_ID: none. */
static uint32_t choose(struct filling *f, const char *word, size_t n)
{
        unsigned fit = NOT_GIVEN;
        const uint32_t id = find_word(f, word, n, &fit);

        f->report->rows++;
        if (id == RAN_NO_ID)
                return id;
        if (fit > f->fit[id]) {
                f->report->found += f->fit[id] == NOT_GIVEN;
                f->fit[id] = (unsigned char)fit;
                return id;
        }
        f->report->repeated += fit == AS_IT_STANDS;
        return RAN_NO_ID;
}

/* Reads the fields from the last one on; without `row` it only checks that they are numbers.
 * *word: length of the word before them. */
static int read_numbers(const struct ran_vectors *v, const struct line *line, float *row,
                        size_t *word, struct ran_error *err)
{
        size_t n = line->n;

        for (size_t i = v->width; i-- > 0;) {
                size_t at = last_field(line->text, n);
                const char *s = line->text + at;
                double x = 0;

                if (at == 0)
                        return ran_fail(err, RAN_EFORMAT,
                                        "%s:%llu: %zu numbers, where the first row has %zu%s",
                                        v->path, (unsigned long long)v->row,
                                        count_numbers(line->text, line->n), v->width,
                                        v->cut ? ": the file is truncated" : "");
                if (row == NULL ? !has_number_characters(s, n - at)
                                : !ran_parse_double(s, n - at, &x) || !isfinite((float)x))
                        return ran_fail(err, RAN_EFORMAT,
                                        "%s:%llu: '%.*s' is not a finite number (expected a word "
                                        "and %zu numbers)",
                                        v->path, (unsigned long long)v->row,
                                        n - at < 40 ? (int)(n - at) : 40, s, v->width);
                if (row != NULL)
                        row[i] = (float)x;
                n = at - 1;
        }
        *word = n;
        return RAN_OK;
}

static int cut_off(const struct ran_vectors *v, struct ran_error *err)
{
        return ran_fail(
                err, RAN_EFORMAT,
                "%s: the file is truncated: vector %llu is incomplete, and the header promises %zu",
                v->path, (unsigned long long)v->row, v->promised);
}

struct row {
        struct line line;    /* of a text */
        size_t n;            /* bytes of the word, with which the line begins; 0: it is blank */
        const char *numbers; /* of a binary file, with the word in `line` */
};

/* Line feeds before a row are part of it. */
static int next_binary(struct ran_vectors *v, struct row *row, bool *there, struct ran_error *err)
{
        const char *s = (const char *)v->file.data;
        const size_t size = 4 * v->width;

        while (v->pos < v->file.size && s[v->pos] == '\n')
                v->pos++;
        *there = v->pos < v->file.size;
        if (!*there)
                return RAN_OK;
        v->row++;
        const char *space = memchr(s + v->pos, ' ', ran_least(v->file.size - v->pos, LONGEST_ROW));
        if (space == NULL || v->file.size - (size_t)(space + 1 - s) < size)
                return cut_off(v, err);
        row->line.text = s + v->pos;
        row->n = (size_t)(space - row->line.text);
        row->numbers = space + 1;
        v->pos = (size_t)(row->numbers - s) + size;
        return RAN_OK;
}

/* The row at v->pos, and moves behind it; false in *there: there is none. */
static int next_row(struct ran_vectors *v, struct row *row, bool *there, struct ran_error *err)
{
        *row = (struct row){0};
        if (v->binary)
                return next_binary(v, row, there, err);
        *there = v->pos < v->file.size;
        RAN_TRY(next_line(v, &row->line, err));
        return row->line.n > 0 ? read_numbers(v, &row->line, NULL, &row->n, err) : RAN_OK;
}

static int take(struct ran_vectors *v, const struct row *row, struct filling *f,
                struct ran_error *err)
{
        size_t n;

        for (size_t i = 0; v->binary && i < v->width; i++) {
                uint32_t bits;

                memcpy(&bits, row->numbers + 4 * i, sizeof bits);
                bits = le32toh(bits);
                memcpy(&f->row[i], &bits, sizeof bits);
                if (!isfinite(f->row[i]))
                        return ran_fail(err, RAN_EFORMAT,
                                        "%s: vector %llu contains a number that is not finite",
                                        v->path, (unsigned long long)v->row);
        }
        const uint32_t id = choose(f, row->line.text, row->n);
        if (id == RAN_NO_ID)
                return RAN_OK;
        if (!v->binary)
                RAN_TRY(read_numbers(v, &row->line, f->row, &n, err));
        memcpy(f->to->rows + id * v->width, f->row, v->width * sizeof *f->row);
        f->to->given[id] = true;
        return RAN_OK;
}

static int take_all(struct ran_vectors *v, struct filling *f, struct ran_error *err)
{
        struct ran_sha256 sha;
        struct row row;

        for (bool there = true; there;) {
                RAN_TRY(next_row(v, &row, &there, err));
                if (there && (v->binary || row.line.n > 0))
                        RAN_TRY(take(v, &row, f, err));
                f->report->cut |= v->cut && !v->binary;
        }
        if (v->header && f->report->rows < v->promised && (v->binary || f->report->cut))
                return cut_off(v, err);
        ran_sha256_init(&sha);
        ran_sha256_add(&sha, v->file.data, v->file.size);
        ran_sha256_hex(&sha, f->to->digest);
        return RAN_OK;
}

int ran_vectors_read(struct ran_vectors *v, const struct ran_tokenizer *t, struct ran_embedding *to,
                     struct ran_vectors_report *report, struct ran_error *err)
{
        size_t V = ran_tokenizer_size(t);
        struct filling f = {.t = t, .to = to, .report = report};

        if (to->V != V || to->D != v->width)
                return ran_fail(err, RAN_EINVAL,
                                "%s: %zu numbers for a word do not fit an embedding of %zu by %zu",
                                v->path, v->width, to->V, to->D);
        *report = (struct ran_vectors_report){.promised = v->promised, .header = v->header};
        f.fit = ran_new(V, 1);
        f.row = ran_new(v->width, sizeof *f.row);
        const int code = take_all(v, &f, err);
        ran_encoding_release(&f.encoding);
        free(f.fit);
        free(f.row);
        return code;
}

/* ---- words for a vocabulary ----------------------------------------------------------------- */

int ran_vectors_want(struct ran_vectors *v, size_t n, struct ran_counter *c, size_t *wanted,
                     struct ran_error *err)
{
        struct ran_encoding e = {0};
        struct ran_buf words = {0};
        const struct ran_vectors before = *v;
        struct row row;
        bool there = true;
        const char *word;
        size_t length;
        int code = RAN_OK;

        *wanted = 0;
        for (size_t i = 0; i < n && there && code == RAN_OK; i++) {
                size_t at = 0;

                code = next_row(v, &row, &there, err);
                words.len = 0;
                /* Not UTF-8, or a word that a text would split, cannot be a token. */
                if (code != RAN_OK || row.n == 0 ||
                    ran_counter_words(c, row.line.text, row.n, &e, &words, NULL) != RAN_OK ||
                    ran_counter_word(words.data, words.len, &at, &word, &length, NULL) != RAN_OK ||
                    at != words.len)
                        continue;
                ++*wanted;
                ran_string_table_add(&c->wanted, word, length);
        }
        *v = before;
        ran_encoding_release(&e);
        ran_buf_release(&words);
        return code;
}
