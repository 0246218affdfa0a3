/* Pictures: read back by a reader of this test's own, pixel by pixel. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/attnmask/picture.h"
#include "dice.h"
#include "test.h"

/* ---- a PNG reader, as the specifications say ------------------------------------------------- */

static uint32_t read_u32(const unsigned char *s)
{
        return (uint32_t)s[0] << 24 | (uint32_t)s[1] << 16 | (uint32_t)s[2] << 8 | s[3];
}

/* Blocks that are not compressed; returns where they end, 0 if they are none. */
static size_t inflate(const unsigned char *s, size_t n, struct ran_buf *out)
{
        for (size_t at = 0; at + 5 <= n;) {
                const size_t length = s[at + 1] | (size_t)s[at + 2] << 8;

                if (s[at] > 1 || (length ^ (s[at + 3] | (size_t)s[at + 4] << 8)) != 0xffff ||
                    length > n - at - 5)
                        return 0;
                ran_buf_add(out, s + at + 5, length);
                if (s[at] == 1)
                        return at + 5 + length;
                at += 5 + length;
        }
        return 0;
}

static uint32_t check_sum(const unsigned char *s, size_t n)
{
        uint32_t crc = UINT32_MAX;

        for (size_t i = 0; i < 8 * n; i++) {
                uint32_t bit = (s[i / 8] >> i % 8 & 1) ^ (crc & 1);
                crc = crc >> 1 ^ (bit ? 0xedb88320 : 0);
        }
        return ~crc;
}

/* The pixels of a PNG file. */
static void read_png(const unsigned char *s, size_t n, size_t *width, size_t *height,
                     struct ran_buf *pixels)
{
        struct ran_buf data = {0}, rows = {0};
        uint32_t a = 1, b = 0;
        size_t at = 8, chunks = 0;

        REQUIRE(n > 8 && memcmp(s, "\x89PNG\r\n\x1a\n", 8) == 0);
        for (; at + 12 <= n; chunks++) {
                size_t length = read_u32(s + at);
                REQUIRE(length <= n - at - 12);
                CHECK_SIZE(read_u32(s + at + 8 + length), check_sum(s + at + 4, length + 4));
                if (chunks == 0) {
                        REQUIRE(memcmp(s + at + 4, "IHDR", 4) == 0 && length == 13);
                        *width = read_u32(s + at + 8);
                        *height = read_u32(s + at + 12);
                        CHECK(memcmp(s + at + 16, "\x08\0\0\0", 5) == 0);
                } else if (memcmp(s + at + 4, "IDAT", 4) == 0) {
                        ran_buf_add(&data, s + at + 8, length);
                } else {
                        CHECK(memcmp(s + at + 4, "IEND", 4) == 0 && at + 12 == n);
                }
                at += 12 + length;
        }
        CHECK_SIZE(at, n);
        const unsigned char *stream = (unsigned char *)data.data + 2;
        CHECK(data.len > 6 && ((unsigned char)data.data[0] * 256 + data.data[1]) % 31 == 0);
        at = inflate(stream, data.len - 2, &rows);
        for (size_t i = 0; i < rows.len; i++) {
                a = (a + (unsigned char)rows.data[i]) % 65521;
                b = (b + a) % 65521;
        }
        REQUIRE(at + 6 == data.len && rows.len == *height * (*width + 1));
        CHECK_SIZE(read_u32(stream + at), b << 16 | a);
        for (size_t y = 0; y < *height; y++) {
                CHECK_SIZE((unsigned char)rows.data[y * (*width + 1)], 0);
                ran_buf_add(pixels, rows.data + y * (*width + 1) + 1, *width);
        }
        ran_buf_release(&data);
        ran_buf_release(&rows);
}

/* ---- pictures ------------------------------------------------------------------------------- */

/* What the pixel (x, y) should be, of panels of width w and height h cells, each `scale` pixels. */
static unsigned wanted(const struct picture *p, size_t scale, size_t gap, size_t x, size_t y)
{
        size_t panel = x / (p->width * scale + gap), in = x % (p->width * scale + gap);

        if (in >= p->width * scale)
                return 255 - 96;
        return 255 - p->shade[(panel * p->height + y / scale) * p->width + in / scale];
}

/* What picture_write writes, as a file's bytes. */
static void write_picture(const struct picture *p, int format, size_t size, struct ran_buf *out)
{
        char *path = test_path("picture");
        struct cmd_sink sink;
        struct ran_error err = {0};
        struct ran_bytes bytes;

        cmd_sink_open(&sink, path);
        CHECK_OK(picture_write(p, format, size, &sink, &err), err);
        cmd_sink_close(&sink);
        if (CHECK_OK(ran_bytes_open(&bytes, path, &err), err))
                ran_buf_add(out, bytes.data, bytes.size);
        ran_bytes_release(&bytes);
        free(path);
}

static void check_png(const struct picture *p, size_t size, size_t scale)
{
        struct ran_buf file = {0}, pixels = {0};
        size_t width = 0, height = 0, wrong = 0, gap = 1 + scale * p->width / 64;

        write_picture(p, PICTURE_PNG, size, &file);
        read_png((unsigned char *)file.data, file.len, &width, &height, &pixels);
        CHECK_SIZE(width, p->panels * (p->width * scale + gap) - gap);
        CHECK_SIZE(height, p->height * scale);
        REQUIRE(pixels.len == width * height);
        for (size_t i = 0; i < pixels.len; i++)
                wrong += (unsigned char)pixels.data[i] !=
                         wanted(p, scale, gap, i % width, i / width);
        CHECK_SIZE(wrong, 0);
        ran_buf_release(&file);
        ran_buf_release(&pixels);
}

static struct picture random_picture(struct dice *dice, size_t panels, size_t width, size_t height)
{
        struct ran_error err = {0};
        struct picture p;

        CHECK_OK(picture_init(&p, panels, width, height, &err), err);
        for (size_t i = 0, n = 0; i < panels * width * height; i++, n--) {
                if (n == 0)
                        n = dice_size(dice, 1, 9);
                p.shade[i] =
                        (unsigned char)(n > 1 && i > 0 ? p.shade[i - 1] : dice_size(dice, 0, 255));
        }
        return p;
}

TEST(picture_png)
{
        struct dice dice = {.key = 1};

        for (size_t i = 0; i < 40; i++) {
                size_t width = dice_size(&dice, 1, i < 39 ? 60 : 700),
                       height = dice_size(&dice, 1, i < 39 ? width : 300);
                struct picture p = random_picture(&dice, dice_size(&dice, 1, 3), width, height);

                check_png(&p, 1, 1);
                check_png(&p, 3 * width + dice_size(&dice, 0, width - 1), 3);
                picture_release(&p);
        }
}

/* Rows of more than a block has room for. */
TEST(picture_png_of_wide_rows)
{
        struct ran_error err = {0};
        struct picture p;

        CHECK_OK(picture_init(&p, 1, 70000, 3, &err), err);
        for (size_t i = 0; i < 210000; i++)
                p.shade[i] = (unsigned char)(i / 3);
        check_png(&p, 600, 1);
        picture_release(&p);
}

TEST(picture_shades)
{
        CHECK_SIZE(picture_shade(0, 100), 0);
        CHECK_SIZE(picture_shade(1, UINT64_C(1000000000000000000)), 1);
        CHECK_SIZE(picture_shade(36, 100), 153);
        CHECK_SIZE(picture_shade(999999, 1000000), 254);
        CHECK_SIZE(picture_shade(7, 7), 255);
}

TEST(picture_text)
{
        static const unsigned char shades[] = {0, 1, 37, 38, 218, 219, 254, 255};
        struct ran_error err = {0};
        struct ran_buf out = {0};
        struct picture p;
        char *names[] = {"a", "b"};

        CHECK_OK(picture_init(&p, 2, 4, 1, &err), err);
        memcpy(p.shade, shades, sizeof shades);
        p.names = names;
        write_picture(&p, PICTURE_TEXT, 4, &out);
        p.names = NULL;
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data, "a\n.::-\n\nb\n%@@#\n");
        ran_buf_release(&out);
        picture_release(&p);
}

TEST(picture_svg)
{
        static const unsigned char shades[] = {0, 255, 255, 128, 128, 0};
        struct ran_error err = {0};
        struct ran_buf out = {0};
        struct picture p;
        char *names[] = {"a <"};

        CHECK_OK(picture_init(&p, 1, 3, 2, &err), err);
        memcpy(p.shade, shades, sizeof shades);
        p.names = names;
        write_picture(&p, PICTURE_SVG, 30, &out);
        p.names = NULL;
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"62\" height=\"56\" "
                  "viewBox=\"0 0 62 56\" font-family=\"sans-serif\" font-size=\"12\">\n"
                  "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
                  "<g transform=\"translate(8 28) scale(10)\" shape-rendering=\"crispEdges\">\n"
                  "<path fill-opacity=\"0.533\" d=\"M0 1h2v1h-2z\"/>\n"
                  "<path fill-opacity=\"1\" d=\"M1 0h2v1h-2z\"/>\n"
                  "</g>\n"
                  "<rect x=\"7\" y=\"27\" width=\"32\" height=\"1\" fill-opacity=\"0.502\"/>\n"
                  "<rect x=\"7\" y=\"48\" width=\"32\" height=\"1\" fill-opacity=\"0.502\"/>\n"
                  "<rect x=\"7\" y=\"28\" width=\"1\" height=\"20\" fill-opacity=\"0.502\"/>\n"
                  "<rect x=\"38\" y=\"28\" width=\"1\" height=\"20\" fill-opacity=\"0.502\"/>\n"
                  "<text x=\"8\" y=\"23\">a &lt;</text>\n"
                  "</svg>\n");
        ran_buf_release(&out);
        picture_release(&p);
}

/* Numbers stand on an axis without touching, the ends always. The name of the axis comes last. */
TEST(picture_axis_numbers)
{
        static const size_t ends[][2] = {{0, 0},    {0, 1},      {7, 9},           {0, 39},
                                         {5, 1999}, {0, 999999}, {123456, 7654321}};
        struct ran_error err = {0};

        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
                for (size_t size = 1; size < 2000; size = size * 3 + 1) {
                        struct ran_buf out = {0};
                        struct picture p;
                        size_t texts = 0, number, first = SIZE_MAX, last = 0;
                        long x, end = LONG_MIN;

                        CHECK_OK(picture_init(&p, 1, size, size, &err), err);
                        p.x_name = "x";
                        p.x_from = ends[i][0];
                        p.x_to = ends[i][1];
                        write_picture(&p, PICTURE_SVG, size, &out);
                        ran_buf_char(&out, '\0');
                        for (const char *s = out.data; (s = strstr(s, "<text ")) != NULL; s++) {
                                const char *text = strchr(s, '>') + 1;

                                if (sscanf(s, "<text x=\"%ld\"", &x) != 1 ||
                                    sscanf(text, "%zu", &number) != 1)
                                        continue;
                                const long wide = 7 * (strchr(text, '<') - text),
                                           begin = x - wide / 2;
                                CHECK(size < 100 || begin > end);
                                end = begin + wide;
                                first = texts++ == 0 ? number : first;
                                last = number;
                        }
                        CHECK_SIZE(first, ends[i][0]);
                        CHECK_SIZE(last, ends[i][1]);
                        CHECK(texts >= 1 && texts < size + 2);
                        ran_buf_release(&out);
                        picture_release(&p);
                }
}
