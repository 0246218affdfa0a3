/* png.c - a writer of grey PNG pictures (PNG specification, RFC 1950, RFC 1951).
 *
 * A row is written as its differences from the row above (filter "Up"), so that repeated rows are
 * zeros. The deflate stream is one block of fixed codes, in which a run of equal bytes is one
 * literal and matches of distance 1.
 */
#include "cmd/attnmask/png.h"

#include <stdlib.h>
#include <string.h>

/* ---- chunks --------------------------------------------------------------------------------- */

static void add_u32(struct ran_buf *out, uint32_t x)
{
        const unsigned char bytes[] = {x >> 24, x >> 16 & 255, x >> 8 & 255, x & 255};

        ran_buf_add(out, bytes, sizeof bytes);
}

/* Computes the sum of RFC 1952 bit by bit: little is left to check after compression. */
static uint32_t crc32(uint32_t crc, const unsigned char *bytes, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                crc ^= bytes[i];
                for (int bit = 0; bit < 8; bit++)
                        crc = crc >> 1 ^ (0xedb88320 & -(crc & 1));
        }
        return crc;
}

static void add_chunk(struct ran_buf *out, const char *type, const void *bytes, size_t n)
{
        uint32_t crc = crc32(UINT32_MAX, (const unsigned char *)type, 4);

        add_u32(out, (uint32_t)n);
        ran_buf_add(out, type, 4);
        ran_buf_add(out, bytes, n);
        add_u32(out, ~crc32(crc, bytes, n));
}

/* ---- deflate -------------------------------------------------------------------------------- */

static void put_bits(struct png *p, uint32_t bits, unsigned n)
{
        p->bits |= (uint64_t)bits << p->count;
        for (p->count += n; p->count >= 8; p->count -= 8) {
                ran_buf_char(&p->data, (char)(p->bits & 255));
                p->bits >>= 8;
        }
}

/* Codes are written from their highest bit on. */
static void put_code(struct png *p, uint32_t code, unsigned n)
{
        uint32_t reversed = 0;

        for (unsigned i = 0; i < n; i++)
                reversed |= (code >> i & 1) << (n - 1 - i);
        put_bits(p, reversed, n);
}

/* RFC 1951, 3.2.6 */
static void put_symbol(struct png *p, uint32_t symbol)
{
        if (symbol < 144)
                put_code(p, 0x30 + symbol, 8);
        else if (symbol < 256)
                put_code(p, 0x190 + symbol - 144, 9);
        else if (symbol < 280)
                put_code(p, symbol - 256, 7);
        else
                put_code(p, 0xc0 + symbol - 280, 8);
}

/* Repeats the byte before n times: 3 <= n <= 258. RFC 1951, 3.2.5: 8 lengths of their own, then
 * four symbols for each number of further bits, and one for 258. */
static void put_match(struct png *p, unsigned n)
{
        unsigned extra = 0, base = n - 3;

        if (n == 258) {
                put_symbol(p, 285);
        } else {
                while (base >> extra >= 8)
                        extra++;
                put_symbol(p, 257 + 4 * extra + (base >> extra));
                put_bits(p, base & ((1u << extra) - 1), extra);
        }
        put_code(p, 0, 5); /* distance 1 */
}

static void deflate(struct png *p, const unsigned char *bytes, size_t n)
{
        for (size_t i = 0, run; i < n; i += run) {
                for (run = 1; run < 259 && i + run < n && bytes[i + run] == bytes[i]; run++)
                        ;
                run = run < 4 ? 1 : run;
                put_symbol(p, bytes[i]);
                if (run > 1)
                        put_match(p, (unsigned)run - 1);
        }
}

static void adler32(struct png *p, const unsigned char *bytes, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                p->a = (p->a + bytes[i]) % 65521;
                p->b = (p->b + p->a) % 65521;
        }
}

/* ---- the file ------------------------------------------------------------------------------- */

int png_begin(struct png *p, struct ran_buf *out, size_t width, size_t height,
              struct ran_error *err)
{
        static const unsigned char depth[] = {8, 0, 0, 0, 0}; /* 8 bits of grey, in one pass */
        struct ran_buf header = {0};

        *p = (struct png){.width = width, .a = 1};
        p->before = ran_alloc(width, 1, err);
        p->row = ran_alloc(width + 1, 1, err);
        if (p->before == NULL || p->row == NULL) {
                png_end(p, out);
                return RAN_ENOMEM;
        }
        ran_buf_add(out, "\x89PNG\r\n\x1a\n", 8);
        add_u32(&header, (uint32_t)width);
        add_u32(&header, (uint32_t)height);
        ran_buf_add(&header, depth, sizeof depth);
        out->failed |= header.failed;
        add_chunk(out, "IHDR", header.data, header.len);
        ran_buf_release(&header);
        put_bits(p, 0x0178, 16); /* zlib: deflate, 32 kB at most, no dictionary */
        put_bits(p, 3, 3);       /* the last block, fixed codes */
        return RAN_OK;
}

static void flush(struct png *p, struct ran_buf *out, size_t enough)
{
        out->failed |= p->data.failed;
        if (p->data.len < enough || p->data.len == 0)
                return;
        add_chunk(out, "IDAT", p->data.data, p->data.len);
        p->data.len = 0;
}

void png_row(struct png *p, struct ran_buf *out, const unsigned char *row)
{
        p->row[0] = 2; /* filter: Up */
        for (size_t x = 0; x < p->width; x++)
                p->row[1 + x] = (unsigned char)(row[x] - p->before[x]);
        memcpy(p->before, row, p->width);
        adler32(p, p->row, p->width + 1);
        deflate(p, p->row, p->width + 1);
        flush(p, out, 1 << 15);
}

void png_end(struct png *p, struct ran_buf *out)
{
        if (p->before != NULL && p->row != NULL) {
                put_symbol(p, 256);
                put_bits(p, 0, (8 - p->count) % 8);
                add_u32(&p->data, p->b << 16 | p->a);
                flush(p, out, 0);
                add_chunk(out, "IEND", NULL, 0);
        }
        free(p->before);
        free(p->row);
        ran_buf_release(&p->data);
}
