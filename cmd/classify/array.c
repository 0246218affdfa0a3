/* array.c - see array.h; cmd/formats/npy.c has the form of the file. */
#include "cmd/classify/array.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC = sizeof magic - 1, PREFIX = MAGIC + 4, HEADER_MOST = 65535 };
enum { NAME = 16, TAIL = 128 + NAME }; /* of the vectors; the array with it */

bool array_is(const char *path)
{
        const size_t n = strlen(path);
        char begin[MAGIC];
        FILE *f = fopen(path, "rb");
        const bool is =
                f != NULL && fread(begin, 1, MAGIC, f) == MAGIC && memcmp(begin, magic, MAGIC) == 0;

        if (f != NULL)
                fclose(f);
        return is || (n > 4 && strcmp(path + n - 4, ".npy") == 0);
}

/* Behind the name of a member in the header, with blanks as Python may write them; NULL: no such
 * member. */
static const char *member(const char *header, const char *name)
{
        const char *at = strstr(header, name);

        if (at == NULL)
                return NULL;
        at += strlen(name);
        return at + strspn(at, " :");
}

/* A size, and what follows it; NULL: none. */
static const char *read_size(const char *s, size_t *size)
{
        char *end;

        errno = 0;
        const unsigned long long n = strtoull(s, &end, 10);
        *size = (size_t)n;
        return *s >= '0' && *s <= '9' && errno == 0 && *size == n ? end + strspn(end, " ") : NULL;
}

/* Two sizes, as Python writes a tuple of them. */
static bool read_shape(const char *s, size_t *rows, size_t *cols)
{
        if (s == NULL || *s != '(')
                return false;
        s = read_size(s + 1, rows);
        if (s == NULL || *s != ',')
                return false;
        s = read_size(s + 1 + strspn(s + 1, " "), cols);
        return s != NULL && *s == ')';
}

/* What the header says; the rows begin at *from. *name: of the vectors, or NULL. */
static int read_header(const struct ran_bytes *b, size_t D, size_t *rows, size_t *from,
                       const char **name, struct ran_error *err)
{
        const unsigned char *p = b->data;
        char header[HEADER_MOST + 1];
        size_t length = 0, cols = 0, floats;

        if (b->size < MAGIC || memcmp(p, magic, MAGIC) != 0)
                return ran_fail(err, RAN_EFORMAT, "no array of numpy, as its name says");
        if (b->size >= PREFIX && p[MAGIC] == 1)
                length = p[PREFIX - 2] + (size_t)p[PREFIX - 1] * 256;
        *from = PREFIX + length;
        if (length == 0 || b->size < *from)
                return ran_fail(err, RAN_EFORMAT,
                                "an array of numpy of another version than 1.0, or cut off");
        memcpy(header, p + PREFIX, length);
        header[length] = '\0';
        const char *type = member(header, "'descr'"), *order = member(header, "'fortran_order'");
        if (type == NULL || strncmp(type, "'<f4'", 5) != 0 || order == NULL ||
            strncmp(order, "False", 5) != 0 || !read_shape(member(header, "'shape'"), rows, &cols))
                return ran_fail(err, RAN_EFORMAT,
                                "not an array of rows of 32-bit floats, the lowest byte first");
        if (cols != D)
                return ran_fail(err, RAN_EFORMAT,
                                "its vectors have %zu numbers, and those of the model have %zu",
                                cols, D);
        *name = NULL;
        if (b->size - *from >= TAIL && memcmp(p + b->size - TAIL, magic, MAGIC) == 0)
                *name = (const char *)p + b->size - NAME;
        const size_t room = b->size - *from - (*name != NULL ? TAIL : 0);
        if (__builtin_mul_overflow(*rows, cols, &floats) || floats > room / 4 || floats * 4 != room)
                return ran_fail(err, RAN_EFORMAT,
                                "its %zu rows are not all there, or there is more than them",
                                *rows);
        return RAN_OK;
}

static float number_at(const unsigned char *p)
{
        const uint32_t bits =
                (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        float x;

        memcpy(&x, &bits, sizeof x);
        return x;
}

static int add_row(struct classify_nearest *to, const char *path, size_t row,
                   const unsigned char *p, float *v, size_t D, struct ran_error *err)
{
        struct ran_buf place = {0}, id = {0};
        bool finite = true;

        for (size_t d = 0; d < D; d++) {
                v[d] = number_at(p + 4 * d);
                finite &= isfinite(v[d]) != 0;
        }
        if (!finite)
                return RAN_OK;
        ran_buf_printf(&place, "%s:%zu", path, row + 1);
        ran_buf_json(&id, place.data, place.len);
        int rc = place.failed || id.failed ? ran_fail(err, RAN_ENOMEM, "out of memory")
                                           : classify_nearest_put(to, v, id.data, id.len, err);
        ran_buf_release(&place);
        ran_buf_release(&id);
        return rc;
}

static int read_rows(struct classify_nearest *to, const char *path, const struct ran_bytes *b,
                     size_t D, const char *vectors, struct ran_error *err)
{
        size_t rows = 0, from = 0;
        const char *name = NULL;

        RAN_TRY(read_header(b, D, &rows, &from, &name, err));
        if (name != NULL)
                RAN_TRY(classify_nearest_same(name, NAME, vectors, err));
        float *v = ran_alloc_floats(D, err);
        int rc = v != NULL ? RAN_OK : RAN_ENOMEM;
        for (size_t i = 0; i < rows && rc == RAN_OK; i++)
                rc = add_row(to, path, i, b->data + from + i * D * 4, v, D, err);
        free(v);
        return rc;
}

int array_read(struct classify_nearest *to, const char *path, size_t D, const char *vectors,
               struct ran_error *err)
{
        struct ran_bytes b;
        struct ran_error why = {0};

        RAN_TRY(ran_bytes_open(&b, path, err));
        int rc = read_rows(to, path, &b, D, vectors, &why);
        ran_bytes_release(&b);
        return rc == RAN_OK ? RAN_OK : ran_fail(err, rc, "%s: %s", path, why.text);
}
