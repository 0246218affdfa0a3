/* Pictures: shades, letters, SVG. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/attnmask/picture.h"
#include "test.h"

/* What is written, as a file's bytes. */
static void write_picture(const struct picture *p, int format, size_t size, struct ran_buf *out)
{
        char *path = test_path("picture");
        struct cmd_sink sink;
        struct ran_error err = {0};
        struct ran_bytes bytes;

        cmd_sink_open(&sink, path);
        if (format == PICTURE_TEXT)
                picture_text(p, &sink);
        else
                CHECK_OK(picture_svg(p, size, &sink, &err), err);
        cmd_sink_close(&sink);
        if (CHECK_OK(ran_bytes_open(&bytes, path, &err), err))
                ran_buf_add(out, bytes.data, bytes.size);
        ran_bytes_release(&bytes);
        free(path);
}

/* What stands around the panels of SVG. */
static void name_picture(struct picture *p)
{
        p->title = ran_copy("t", 1);
        p->x_name = "x";
        p->y_name = "y";
        p->legend = "l";
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
        static const char *const parts[] = {
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"171\" height=\"144\" "
                "viewBox=\"0 0 171 144\" font-family=\"sans-serif\" font-size=\"12\">\n"
                "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
                "<g transform=\"translate(44 53) scale(10)\" shape-rendering=\"crispEdges\">\n"
                "<path fill-opacity=\"0.533\" d=\"M0 1h2v1h-2z\"/>\n"
                "<path fill-opacity=\"1\" d=\"M1 0h2v1h-2z\"/>\n"
                "</g>\n"
                "<rect x=\"43\" y=\"52\" width=\"32\" height=\"1\" fill-opacity=\"0.502\"/>\n"
                "<rect x=\"43\" y=\"73\" width=\"32\" height=\"1\" fill-opacity=\"0.502\"/>\n"
                "<rect x=\"43\" y=\"53\" width=\"1\" height=\"20\" fill-opacity=\"0.502\"/>\n"
                "<rect x=\"74\" y=\"53\" width=\"1\" height=\"20\" fill-opacity=\"0.502\"/>\n",
                "<text x=\"8\" y=\"23\" font-size=\"15\">t</text>\n"
                "<text x=\"44\" y=\"48\">a &lt;</text>\n"
                "<text x=\"49\" y=\"88\" text-anchor=\"middle\">0</text>\n"
                "<text x=\"69\" y=\"88\" text-anchor=\"middle\">2</text>\n"
                "<text x=\"59\" y=\"106\" text-anchor=\"middle\">x</text>\n"
                "<text x=\"38\" y=\"62\" text-anchor=\"end\">0</text>\n"
                "<text x=\"38\" y=\"72\" text-anchor=\"end\">1</text>\n"
                "<text transform=\"translate(17 63) rotate(-90)\" text-anchor=\"middle\">y</text>\n"
                "<text x=\"141\" y=\"136\">l</text>\n"
                "</svg>\n"};
        struct ran_error err = {0};
        struct ran_buf out = {0};
        struct picture p;
        char *names[] = {"a <"};

        CHECK_OK(picture_init(&p, 1, 3, 2, &err), err);
        memcpy(p.shade, shades, sizeof shades);
        p.names = names;
        p.x_to = 2;
        p.y_to = 1;
        name_picture(&p);
        write_picture(&p, PICTURE_SVG, 30, &out);
        p.names = NULL;
        ran_buf_char(&out, '\0');
        CHECK(strncmp(out.data, parts[0], strlen(parts[0])) == 0);
        CHECK(strstr(out.data, parts[1]) != NULL);
        ran_buf_release(&out);
        picture_release(&p);
}

/* Numbers stand on an axis without touching, the ends always. The name of the axis comes last, and
 * the other axis behind it. */
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
                        name_picture(&p);
                        p.x_from = ends[i][0];
                        p.x_to = ends[i][1];
                        write_picture(&p, PICTURE_SVG, size, &out);
                        ran_buf_char(&out, '\0');
                        for (const char *s = out.data; (s = strstr(s, "<text ")) != NULL; s++) {
                                const char *text = strchr(s, '>') + 1;

                                if (strncmp(text, "x<", 2) == 0)
                                        break;
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
