/* picture.c - panels of shades, and these as text. */
#include "cmd/attnmask/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const picture_format_names[] = {"text", "json", "svg", "html", NULL};

int picture_init(struct picture *p, size_t panels, size_t width, size_t height,
                 struct ran_error *err)
{
        *p = (struct picture){
                .panels = panels, .width = width, .height = height, .x_cells = 1, .y_cells = 1};
        if (height > 0 && panels > SIZE_MAX / height)
                return ran_fail(err, RAN_ENOMEM, "no picture can be that large");
        p->shade = ran_alloc(panels * height, width, err);
        return p->shade != NULL ? RAN_OK : RAN_ENOMEM;
}

char *picture_string(struct ran_buf *text)
{
        ran_buf_char(text, '\0');
        return text->data;
}

void picture_strings_free(char **strings, size_t n)
{
        for (size_t i = 0; i < n && strings != NULL; i++)
                free(strings[i]);
        free(strings);
}

void picture_release(struct picture *p)
{
        free(p->shade);
        free(p->title);
        picture_strings_free(p->names, p->panels);
        picture_strings_free(p->x_words, p->width);
        picture_strings_free(p->y_words, p->height);
        *p = (struct picture){0};
}

/* ---- shades --------------------------------------------------------------------------------- */

unsigned char picture_shade(uint64_t part, uint64_t whole)
{
        if (part == 0 || part == whole)
                return part == 0 ? 0 : 255;
        return (unsigned char)(1 + lrint(253 * sqrt((double)part / (double)whole)));
}

struct picture_scale picture_scale(const double *value, size_t n)
{
        const double furthest = 1e-3;
        struct picture_scale s = {INFINITY, 0};

        for (size_t i = 0; i < n; i++) {
                s.most = fmax(s.most, value[i]);
                s.least = value[i] > 0 ? fmin(s.least, value[i]) : s.least;
        }
        s.least = fmin(fmax(s.least, s.most * furthest), s.most);
        return s;
}

/* ---- text ----------------------------------------------------------------------------------- */

void picture_text(const struct picture *p, struct cmd_sink *out)
{
        static const char between[] = ":-=+*%@";

        for (size_t i = 0; i < p->panels; i++) {
                if (p->names != NULL)
                        ran_buf_printf(&out->buf, "%s%s\n", i > 0 ? "\n" : "", p->names[i]);
                for (size_t y = 0; y < p->height; y++) {
                        const unsigned char *shade = picture_line(p, i, y);

                        for (size_t x = 0; x < p->width; x++)
                                ran_buf_char(&out->buf,
                                             shade[x] == 0 ? '.'
                                             : shade[x] == 255
                                                     ? '#'
                                                     : between[(size_t)(shade[x] - 1) *
                                                               (sizeof between - 1) / 254]);
                        ran_buf_char(&out->buf, '\n');
                        cmd_sink_flush(out);
                }
        }
}
