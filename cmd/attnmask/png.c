/* png.c - a picture as grey PNG (PNG specification, RFC 1950, RFC 1951).
 *
 * A row is written as its differences from the row above (filter "Up"), so that repeated rows are
 * zeros. The deflate stream is one block of fixed codes, in which a run of equal bytes is one
 * literal and matches of distance 1: runs of one shade take hardly any space, and nothing else is
 * compressed.
 */
#include "cmd/attnmask/picture.h"

#include <stdlib.h>
#include <string.h>

/* A grey bar between panels, at least as wide as a cell. */
enum { GAP_SHADE = 96 };

struct png {
        uint64_t bits; /* of the deflate stream, on their way into bytes */
        unsigned count;
        uint32_t a, b;       /* Adler-32 */
        struct ran_buf data; /* compressed; written as a chunk */
};

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

/* Writes the data as a chunk, and empties them. */
static void write_chunk(struct ran_buf *out, const char *type, struct ran_buf *data)
{
        uint32_t crc = crc32(UINT32_MAX, (const unsigned char *)type, 4);

        add_u32(out, (uint32_t)data->len);
        ran_buf_add(out, type, 4);
        ran_buf_add(out, data->data, data->len);
        add_u32(out, ~crc32(crc, (const unsigned char *)data->data, data->len));
        data->len = 0;
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

/* Adds bytes to the stream, and to its sum. */
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
        for (size_t i = 0; i < n; i++) {
                p->a = (p->a + bytes[i]) % 65521;
                p->b = (p->b + p->a) % 65521;
        }
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Fills a row of pixels, 0 is black, with line y of all panels; a shade is w pixels wide. */
static void draw_line(const struct picture *p, size_t y, size_t w, size_t gap, unsigned char *pixel)
{
        for (size_t i = 0; i < p->panels; i++) {
                const unsigned char *shade = picture_line(p, i, y);

                if (i > 0)
                        memset(pixel, 255 - GAP_SHADE, gap);
                pixel += i > 0 ? gap : 0;
                for (size_t x = 0; x < p->width; x++, pixel += w)
                        memset(pixel, 255 - shade[x], w);
        }
}

int picture_png(const struct picture *p, size_t size, struct cmd_sink *out, struct ran_error *err)
{
        static const unsigned char depth[] = {8, 0, 0, 0, 0}; /* 8 bits of grey, in one pass */
        const size_t across = p->width * p->x_cells, down = p->height * p->y_cells;
        const size_t cells = across > down ? across : down, scale = size > cells ? size / cells : 1;
        const size_t gap = 1 + scale * across / 64;
        struct png png = {.a = 1};

        if (across * scale + gap > INT32_MAX / p->panels || down > INT32_MAX / scale)
                return ran_fail(err, RAN_EINVAL, "a picture that wide cannot be written");
        const size_t width = p->panels * (across * scale + gap) - gap, height = down * scale;
        /* The pixels of a row, of the one above, and their differences after the filter's byte. */
        unsigned char *pixel = ran_alloc(3, width + 1, err);
        if (pixel == NULL)
                return RAN_ENOMEM;
        unsigned char *above = pixel + width, *filtered = above + width;
        ran_buf_add(&out->buf, "\x89PNG\r\n\x1a\n", 8);
        add_u32(&png.data, (uint32_t)width);
        add_u32(&png.data, (uint32_t)height);
        ran_buf_add(&png.data, depth, sizeof depth);
        write_chunk(&out->buf, "IHDR", &png.data);
        put_bits(&png, 0x0178, 16); /* zlib: deflate, 32 kB at most, no dictionary */
        put_bits(&png, 3, 3);       /* the last block, fixed codes */
        filtered[0] = 2;            /* Up */
        for (size_t y = 0; y < height; y++) {
                if (y % (scale * p->y_cells) == 0)
                        draw_line(p, y / scale / p->y_cells, scale * p->x_cells, gap, pixel);
                for (size_t x = 0; x < width; x++)
                        filtered[1 + x] = (unsigned char)(pixel[x] - above[x]);
                memcpy(above, pixel, width);
                deflate(&png, filtered, width + 1);
                if (png.data.len >= 1 << 15)
                        write_chunk(&out->buf, "IDAT", &png.data);
                cmd_sink_flush(out);
        }
        put_symbol(&png, 256);
        put_bits(&png, 0, (8 - png.count) % 8);
        add_u32(&png.data, png.b << 16 | png.a);
        write_chunk(&out->buf, "IDAT", &png.data);
        write_chunk(&out->buf, "IEND", &png.data);
        ran_buf_release(&png.data);
        free(pixel);
        return RAN_OK;
}
