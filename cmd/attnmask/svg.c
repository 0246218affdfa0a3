/* svg.c - a picture as SVG, with text around its cells. */
#include "cmd/attnmask/frame.h"
#include "cmd/pages/page.h"

/* Shades are rounded to this many. Each shade is one path, a run of cells one rectangle of it. */
enum { SVG_SHADES = 16 };

static unsigned svg_shade(unsigned char shade)
{
        return ((unsigned)shade * (SVG_SHADES - 1) + 254) / 255;
}

static void write_path(const struct picture *p, size_t panel, unsigned shade, struct cmd_sink *out)
{
        bool begun = false;

        for (size_t y = 0; y < p->height; y++) {
                const unsigned char *line = picture_line(p, panel, y);

                for (size_t x = 0, end; x < p->width; x = end) {
                        for (end = x + 1; end < p->width && line[end] == line[x]; end++)
                                ;
                        if (svg_shade(line[x]) != shade)
                                continue;
                        if (!begun)
                                ran_buf_printf(&out->buf, "<path fill-opacity=\"%.3g\" d=\"",
                                               shade / (double)(SVG_SHADES - 1));
                        begun = true;
                        ran_buf_printf(&out->buf, "M%zu %zuh%zuv1h-%zuz", x, y, end - x, end - x);
                }
                cmd_sink_flush(out);
        }
        if (begun)
                ran_buf_str(&out->buf, "\"/>\n");
}

static void write_text(const struct frame *f, const struct frame_text *t, struct cmd_sink *out)
{
        static const char *const anchors[] = {[FRAME_BEGIN] = "",
                                              [FRAME_MIDDLE] = " text-anchor=\"middle\"",
                                              [FRAME_END] = " text-anchor=\"end\""};
        struct ran_buf *b = &out->buf;

        if (t->turned)
                ran_buf_printf(b, "<text transform=\"translate(%ld %ld) rotate(-90)\"", t->x, t->y);
        else
                ran_buf_printf(b, "<text x=\"%ld\" y=\"%ld\"", t->x, t->y);
        if (t->scale != 1)
                ran_buf_printf(b, " font-size=\"%.3g\"", 12 * t->scale);
        ran_buf_printf(b, "%s>", anchors[t->anchor]);
        page_text(b, f->letters.data + t->begin, t->n);
        ran_buf_str(b, "</text>\n");
        cmd_sink_flush(out);
}

static void write_svg(const struct picture *p, const struct frame *f, struct cmd_sink *out)
{
        ran_buf_printf(&out->buf,
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
                       "viewBox=\"0 0 %zu %zu\" font-family=\"sans-serif\" font-size=\"12\">\n"
                       "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                       f->width, f->height, f->width, f->height);
        for (size_t i = 0; i < p->panels; i++) {
                ran_buf_printf(&out->buf,
                               "<g transform=\"translate(%zu %zu) scale(%zu)\" "
                               "shape-rendering=\"crispEdges\">\n",
                               f->left + i % f->columns * f->across,
                               f->top + i / f->columns * f->down, f->unit);
                for (unsigned shade = 1; shade < SVG_SHADES; shade++)
                        write_path(p, i, shade, out);
                ran_buf_str(&out->buf, "</g>\n");
        }
        for (size_t i = 0; i < f->bars; i++) {
                const struct frame_bar *bar = &f->bar[i];
                ran_buf_printf(&out->buf,
                               "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\" "
                               "fill-opacity=\"%.3g\"/>\n",
                               bar->x, bar->y, bar->w, bar->h, bar->shade / 255.0);
                cmd_sink_flush(out);
        }
        for (size_t i = 0; i < f->texts; i++)
                write_text(f, &f->text[i], out);
        ran_buf_str(&out->buf, "</svg>\n");
}

int picture_svg(const struct picture *p, size_t size, struct cmd_sink *out, struct ran_error *err)
{
        struct frame f;
        int rc = frame_make(&f, p, size, err);

        if (rc == RAN_OK)
                write_svg(p, &f, out);
        frame_release(&f);
        return rc;
}
