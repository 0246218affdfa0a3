/* picture.c - a grid of shades, as text and as pictures of several formats. */
#include "cmd/attnmask/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/attnmask/png.h"

const char *const picture_format_names[] = {"text", "json", "png", "svg", "html", NULL};

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

void picture_release(struct picture *p)
{
        free(p->shade);
        p->shade = NULL;
}

unsigned char picture_shade(uint64_t part, uint64_t whole)
{
        if (part == 0 || part == whole)
                return part == 0 ? 0 : 255;
        return (unsigned char)(1 + lrint(253 * sqrt((double)part / (double)whole)));
}

/* ---- text ----------------------------------------------------------------------------------- */

static char letter(unsigned char shade)
{
        static const char between[] = PICTURE_BETWEEN;

        if (shade == 0 || shade == 255)
                return shade == 0 ? '.' : '#';
        return between[(size_t)(shade - 1) * (sizeof between - 1) / 254];
}

static void write_text(const struct picture *p, struct cmd_sink *out)
{
        for (size_t i = 0; i < p->panels; i++) {
                if (p->names != NULL)
                        ran_buf_printf(&out->buf, "%s%s\n", i > 0 ? "\n" : "", p->names[i]);
                for (size_t y = 0; y < p->height; y++) {
                        const unsigned char *shade = picture_line(p, i, y);

                        for (size_t x = 0; x < p->width; x++)
                                ran_buf_char(&out->buf, letter(shade[x]));
                        ran_buf_char(&out->buf, '\n');
                        cmd_sink_flush(out);
                }
        }
}

/* ---- rows of pixels ------------------------------------------------------------------------- */

/* A grey bar between panels, at least as wide as a cell. */
enum { GAP_SHADE = 96 };

struct raster {
        const struct picture *p;
        size_t scale, gap, width, height; /* pixels */
        unsigned char *row;               /* (width): 0 is black */
};

static int raster_init(struct raster *r, const struct picture *p, size_t size,
                       struct ran_error *err)
{
        size_t cells = p->width > p->height ? p->width : p->height;

        *r = (struct raster){.p = p, .scale = size > cells ? size / cells : 1};
        r->gap = 1 + r->scale * p->width / 64;
        if (p->width * r->scale + r->gap > INT32_MAX / p->panels)
                return ran_fail(err, RAN_EINVAL, "a picture that wide cannot be written");
        r->width = p->panels * (p->width * r->scale + r->gap) - r->gap;
        r->height = p->height * r->scale;
        r->row = ran_alloc(r->width, 1, err);
        return r->row != NULL ? RAN_OK : RAN_ENOMEM;
}

/* Fills r->row with line y of cells. */
static void raster_line(struct raster *r, size_t y)
{
        unsigned char *pixel = r->row;

        for (size_t i = 0; i < r->p->panels; i++) {
                const unsigned char *shade = picture_line(r->p, i, y);

                if (i > 0)
                        memset(pixel, 255 - GAP_SHADE, r->gap);
                pixel += i > 0 ? r->gap : 0;
                for (size_t x = 0; x < r->p->width; x++, pixel += r->scale)
                        memset(pixel, 255 - shade[x], r->scale);
        }
}

static int write_png(const struct picture *p, size_t size, struct cmd_sink *out,
                     struct ran_error *err)
{
        struct raster r;
        struct png png;
        int rc = raster_init(&r, p, size, err);

        if (rc == RAN_OK)
                rc = png_begin(&png, &out->buf, r.width, r.height, err);
        for (size_t y = 0; y < r.height && rc == RAN_OK; y++) {
                if (y % r.scale == 0)
                        raster_line(&r, y / r.scale);
                png_row(&png, &out->buf, r.row);
                cmd_sink_flush(out);
        }
        if (rc == RAN_OK)
                png_end(&png, &out->buf);
        free(r.row);
        return rc;
}

int picture_write(const struct picture *p, int format, size_t size, struct cmd_sink *out,
                  struct ran_error *err)
{
        if (format == PICTURE_SVG)
                return picture_svg(p, size, out, err);
        if (format == PICTURE_PNG)
                return write_png(p, size, out, err);
        write_text(p, out);
        return RAN_OK;
}
