#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "ran.h"

static int out_of_memory(size_t n, size_t size, struct ran_error *err)
{
        return ran_fail(err, RAN_ENOMEM, "out of memory: %zu x %zu bytes were asked for", n, size);
}

void *ran_alloc(size_t n, size_t size, struct ran_error *err)
{
        void *p = n == 0 || size == 0 ? calloc(1, 1) : calloc(n, size);

        if (p == NULL)
                out_of_memory(n, size, err);
        return p;
}

void *ran_grow(void *p, size_t *cap, size_t want, size_t size, struct ran_error *err)
{
        if (want <= *cap && p != NULL)
                return p;

        size_t n = *cap <= SIZE_MAX / 2 ? *cap * 2 : want;
        if (n < want)
                n = want;
        if (n < 16)
                n = 16;
        if (size != 0 && n > SIZE_MAX / size)
                n = want; /* the doubled size overflows; perhaps the exact one does not */

        void *q = size != 0 && n > SIZE_MAX / size ? NULL : realloc(p, n * (size != 0 ? size : 1));
        if (q == NULL) {
                out_of_memory(want, size, err);
                return NULL;
        }
        *cap = n;
        return q;
}

float *ran_alloc_floats(size_t n, struct ran_error *err)
{
        const size_t line = 64; /* a cache line, and the widest vector register */

        if (n > (SIZE_MAX - line) / sizeof(float)) {
                out_of_memory(n, sizeof(float), err);
                return NULL;
        }
        size_t bytes = (n * sizeof(float) + line - 1) / line * line;
        float *p = aligned_alloc(line, bytes > 0 ? bytes : line);
        if (p == NULL) {
                out_of_memory(n, sizeof(float), err);
                return NULL;
        }
        memset(p, 0, bytes > 0 ? bytes : line);
        return p;
}

char *ran_buf_room(struct ran_buf *b, size_t n)
{
        if (!b->failed && b->data != NULL && n <= b->cap - b->len)
                return b->data + b->len;
        char *data = b->failed || n > SIZE_MAX - b->len
                             ? NULL
                             : ran_grow(b->data, &b->cap, b->len + n, 1, NULL);
        if (data == NULL) {
                b->failed = true;
                return NULL;
        }
        b->data = data;
        return data + b->len;
}

void ran_buf_add(struct ran_buf *b, const void *bytes, size_t n)
{
        char *room = n > 0 ? ran_buf_room(b, n) : NULL;

        if (room == NULL)
                return;
        memcpy(room, bytes, n);
        b->len += n;
}

void ran_buf_str(struct ran_buf *b, const char *s)
{
        ran_buf_add(b, s, strlen(s));
}

void ran_buf_char(struct ran_buf *b, char c)
{
        ran_buf_add(b, &c, 1);
}

void ran_buf_size(struct ran_buf *b, size_t x)
{
        char *room = ran_buf_room(b, DIGITS_MAX);

        if (room != NULL)
                b->len += digits_put(room, x);
}

void ran_buf_printf(struct ran_buf *b, const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        int n = vsnprintf(NULL, 0, format, ap);
        va_end(ap);
        if (n < 0 || ran_buf_room(b, (size_t)n + 1) == NULL) { /* vsnprintf also writes a NUL */
                b->failed = true;
                return;
        }
        va_start(ap, format);
        vsnprintf(b->data + b->len, (size_t)n + 1, format, ap);
        va_end(ap);
        b->len += (size_t)n;
}

void ran_buf_release(struct ran_buf *b)
{
        free(b->data);
        *b = (struct ran_buf){0};
}
