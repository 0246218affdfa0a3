/* buffer.c - growing runs of bytes. See ran/base.h. */
#include <limits.h>
#include <stdlib.h>

#include "base/digits.h"
#include "base/utf8.h"
#include "ran/base.h"

char *ran_buf_room(struct ran_buf *b, size_t n)
{
        if (n > SIZE_MAX - b->len)
                ran_out_of_memory(n, 1);
        if (b->data == NULL || n > b->cap - b->len)
                RAN_ROOM(b->data, b->cap, b->len + n);
        return b->data + b->len;
}

void ran_buf_add(struct ran_buf *b, const void *bytes, size_t n)
{
        if (n == 0)
                return;
        memcpy(ran_buf_room(b, n), bytes, n);
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
        b->len += ran_digits_put(ran_buf_room(b, RAN_DIGITS_MAX), x);
}

void ran_buf_vprintf(struct ran_buf *b, const char *format, va_list args)
{
        va_list again;

        va_copy(again, args);
        int n = vsnprintf(NULL, 0, format, again);
        va_end(again);
        if (n < 0)
                ran_out_of_memory(INT_MAX, 1);
        vsnprintf(ran_buf_room(b, (size_t)n + 1), (size_t)n + 1, format, args); /* and a NUL */
        b->len += (size_t)n;
}

void ran_buf_printf(struct ran_buf *b, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        ran_buf_vprintf(b, format, args);
        va_end(args);
}

void ran_buf_shown(struct ran_buf *b, const char *s, size_t n)
{
        for (size_t pos = 0; pos < n;) {
                char code[RAN_UTF8_CODE];
                uint32_t c;
                size_t length = ran_utf8_unseen(s + pos, n - pos, &c);

                const size_t shown = length > 0 ? ran_utf8_code(code, c) : 0;
                if (shown > 0)
                        ran_buf_add(b, code, shown);
                else
                        ran_buf_char(b, s[pos]);
                pos += length > 0 ? length : 1;
        }
}

size_t ran_shown_width(const char *s, size_t n)
{
        struct ran_buf shown = {0};
        size_t width = 0;

        ran_buf_shown(&shown, s, n);
        for (size_t i = 0; i < shown.len; i++)
                width += ((unsigned char)shown.data[i] & 0xc0) != 0x80;
        ran_buf_release(&shown);
        return width;
}

void ran_buf_release(struct ran_buf *b)
{
        free(b->data);
        *b = (struct ran_buf){0};
}
