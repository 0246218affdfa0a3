/* grid.c - how large pictures are; a mask as a grid: text or a picture, in blocks when it is
 * large. */
#include "cmd/attnmask/attnmask.h"

#include <math.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/options/message.h"

size_t attnmask_size(const struct attnmask_options *o)
{
        struct winsize terminal;

        if (o->size > 0)
                return o->size;
        if (o->format != PICTURE_TEXT)
                return 512; /* pixels */
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &terminal) == 0 && terminal.ws_col > 0)
                return terminal.ws_col;
        return 80;
}

/* The longer side of a panel has at most this many times as many cells as the shorter one. */
enum { SLIMMEST = 4 };

/* 0: nothing. Weights are exponentials of scores: on a linear scale most pictures would be nearly
 * white. */
static unsigned char shade_of(struct picture_scale s, double value)
{
        const double lightest = 0.05;
        double share = 1;

        if (!(value > 0))
                return 0;
        if (value < s.most && s.least < s.most)
                share = lightest + (1 - lightest) * ran_log(fmax(value / s.least, 1)) /
                                           ran_log(s.most / s.least);
        return picture_shade((uint64_t)ceil(share * share * 1e9), 1000000000); /* has a root */
}

int attnmask_draw(const struct attnmask_options *o, struct picture *p, const double *value,
                  struct cmd_sink *out, struct ran_error *err)
{
        const size_t word = 14, enough = 1200; /* pixels */
        const size_t n = p->panels * p->height * p->width;
        const struct picture_scale scale = picture_scale(value, n);
        size_t size = attnmask_size(o);

        for (size_t i = 0; i < n; i++)
                p->shade[i] = shade_of(scale, value[i]);
        p->x_cells = ran_most(p->height / SLIMMEST / p->width, 1);
        p->y_cells = ran_most(p->width / SLIMMEST / p->height, 1);
        snprintf(p->least, sizeof p->least, "%.2g", scale.least);
        snprintf(p->most, sizeof p->most, "%.2g", scale.most);
        const size_t cells = ran_most(p->width * p->x_cells, p->height * p->y_cells);
        /* Without --size, some more pixels if words then fit. */
        if (o->size == 0 && (p->x_words != NULL || p->y_words != NULL) && cells <= enough / word)
                size = ran_most(size, cells * word);
        RAN_TRY(picture_svg(p, size, out, err));
        if (p->down * p->across > 1)
                cmd_note("a cell is a block of %zu x %zu tokens: --rows A:B draws a part of them",
                         p->down, p->across);
        return RAN_OK;
}

/* ---- a mask --------------------------------------------------------------------------------- */

static size_t divide_up(size_t n, size_t by)
{
        return n / by + (n % by > 0);
}

/* A cell stands for `across` keys of `down` queries. */
static void fill_panel(const struct ran_mask *m, const struct attnmask *a, size_t across,
                       size_t down, const struct picture *p, unsigned char *shade)
{
        for (size_t y = 0; y < p->height; y++) {
                size_t i0 = a->from + y * down, i1 = ran_least(i0 + down, a->to);

                for (size_t x = 0; x < p->width; x++) {
                        size_t j0 = a->from + x * across, j1 = ran_least(j0 + across, a->to);

                        *shade++ = picture_shade(ran_mask_count(m, i0, i1, j0, j1),
                                                 (uint64_t)(i1 - i0) * (j1 - j0));
                }
        }
}

/* "Attention pattern dispersed(4), mask causal, 100 tokens" */
static char *title_of(const struct attnmask *a)
{
        const struct attnmask_options *o = a->options;
        struct ran_buf title = {0};

        ran_buf_printf(&title, "Attention pattern%s", a->n > 1 ? "s" : "");
        for (size_t h = 0; h < a->n; h++)
                ran_buf_printf(&title, "%s %s", h > 0 ? "," : "", a->names[h]);
        if (o->mask != RAN_MASK_NONE)
                ran_buf_printf(&title, ", mask %s", ran_mask_names[o->mask]);
        ran_buf_printf(&title, ", %zu tokens", o->length);
        return picture_string(&title);
}

int attnmask_grid(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err)
{
        const bool text = a->options->format == PICTURE_TEXT;
        const size_t size = attnmask_size(a->options), tokens = a->to - a->from,
                     across = divide_up(tokens, size);
        /* Letters are twice as high as wide, so in blocks a cell of text is, too. */
        const size_t down = text && across > 1 ? 2 * across : across;
        struct picture p;
        int rc = picture_init(&p, a->n, divide_up(tokens, across), divide_up(tokens, down), err);

        if (rc == RAN_OK) {
                p.title = title_of(a);
                p.names = a->n > 1 ? a->names : NULL;
                p.x_name = "key (token)";
                p.y_name = "query (token)";
                p.legend = across > 1 ? "of the keys are seen (square-root scale)"
                                      : "the query attends to the key";
                snprintf(p.least, sizeof p.least, "%s", across > 1 ? "0" : "");
                snprintf(p.most, sizeof p.most, "%s", across > 1 ? "100 %" : "");
                p.x_from = p.y_from = a->from;
                p.x_to = p.y_to = a->to - 1;
                for (size_t h = 0; h < a->n; h++)
                        fill_panel(&a->heads[h].mask, a, across, down, &p,
                                   p.shade + h * p.height * p.width);
                if (text)
                        picture_text(&p, out);
                else
                        rc = picture_svg(&p, size, out, err);
                p.names = NULL; /* they are not the picture's */
        }
        picture_release(&p);
        if (rc == RAN_OK && across > 1 && text)
                cmd_note("a character stands for %zu queries and %zu keys: %s", down, across,
                         PICTURE_LEGEND);
        else if (rc == RAN_OK && across > 1)
                cmd_note("a cell stands for %zu queries and as many keys: the darker, the more "
                         "of them are seen",
                         across);
        return rc;
}
