/* png.c - a picture as grey PNG (PNG specification, RFC 1950, RFC 1951), whose deflate stream is of
 * blocks that are not compressed.
 */
#include "cmd/attnmask/picture.h"

#include <stdlib.h>
#include <string.h>

/* A grey bar between panels, at least as wide as a cell. */
enum { GAP_SHADE = 96 };

/* ---- chunks --------------------------------------------------------------------------------- */

static void add_u32(struct ran_buf *out, uint32_t x)
{
        const unsigned char bytes[] = {x >> 24, x >> 16 & 255, x >> 8 & 255, x & 255};

        ran_buf_add(out, bytes, sizeof bytes);
}

/* Computes the sum of RFC 1952 bit by bit. */
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
        struct ran_buf data = {0};  /* of a chunk */
        uint32_t low = 1, high = 0; /* Adler-32 */

        if (across * scale + gap > INT32_MAX / p->panels || down > INT32_MAX / scale)
                return ran_fail(err, RAN_EINVAL, "a picture that wide cannot be written");
        const size_t width = p->panels * (across * scale + gap) - gap, height = down * scale;
        unsigned char *row = ran_alloc(width + 1, 1, err); /* after a byte, 0: not filtered */
        if (row == NULL)
                return RAN_ENOMEM;
        ran_buf_add(&out->buf, "\x89PNG\r\n\x1a\n", 8);
        add_u32(&data, (uint32_t)width);
        add_u32(&data, (uint32_t)height);
        ran_buf_add(&data, depth, sizeof depth);
        write_chunk(&out->buf, "IHDR", &data);
        ran_buf_add(&data, "\x78\x01", 2); /* zlib: deflate, no dictionary */
        for (size_t y = 0; y < height; y++) {
                if (y % (scale * p->y_cells) == 0)
                        draw_line(p, y / scale / p->y_cells, scale * p->x_cells, gap, row + 1);
                for (size_t at = 0, n; at <= width; at += n) {
                        n = width + 1 - at < UINT16_MAX ? width + 1 - at : UINT16_MAX;
                        const unsigned char head[] = {y + 1 == height && at + n > width, n & 255,
                                                      n >> 8, ~n & 255, ~n >> 8 & 255};

                        ran_buf_add(&data, head, sizeof head);
                        ran_buf_add(&data, row + at, n);
                }
                for (size_t i = 0; i <= width; i++) {
                        low = (low + row[i]) % 65521;
                        high = (high + low) % 65521;
                }
                if (data.len >= 1 << 15)
                        write_chunk(&out->buf, "IDAT", &data);
                cmd_sink_flush(out);
        }
        add_u32(&data, high << 16 | low);
        write_chunk(&out->buf, "IDAT", &data);
        write_chunk(&out->buf, "IEND", &data);
        ran_buf_release(&data);
        free(row);
        return RAN_OK;
}
