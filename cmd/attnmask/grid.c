/* grid.c - a mask as a grid: text or a picture, in blocks when it is large. */
#include <stdlib.h>

#include "cmd/attnmask/panels.h"
#include "cmd/attnmask/picture.h"
#include "cmd/options/message.h"

/* Cells of a panel. Letters are twice as high as wide, so in blocks a cell of text is, too. */
struct grid {
        size_t tokens;       /* across and down */
        size_t across, down; /* tokens of a cell */
};

static size_t divide_up(size_t n, size_t by)
{
        return n / by + (n % by > 0);
}

static struct grid grid_of(const struct attnmask *a, size_t size)
{
        struct grid g = {.tokens = a->to - a->from};

        g.across = g.down = divide_up(g.tokens, size);
        if (a->options->format == PICTURE_TEXT && g.across > 1)
                g.down = 2 * g.across;
        return g;
}

static size_t least(size_t a, size_t b)
{
        return a < b ? a : b;
}

static void draw(const struct ran_mask *m, const struct attnmask *a, const struct grid *g,
                 const struct picture *p, unsigned char *shade)
{
        for (size_t y = 0; y < p->height; y++) {
                size_t i0 = a->from + y * g->down, i1 = least(i0 + g->down, a->to);

                for (size_t x = 0; x < p->width; x++) {
                        size_t j0 = a->from + x * g->across, j1 = least(j0 + g->across, a->to);

                        *shade++ = picture_shade(ran_mask_count(m, i0, i1, j0, j1),
                                                 (uint64_t)(i1 - i0) * (j1 - j0));
                }
        }
}

static void explain(const struct attnmask *a, const struct grid *g)
{
        if (g->across == 1)
                return;
        if (a->options->format == PICTURE_TEXT)
                cmd_note("a character stands for %zu queries and %zu keys: %s", g->down, g->across,
                         PICTURE_LEGEND);
        else
                cmd_note("a cell stands for %zu queries and as many keys: the darker, the more "
                         "of them are seen",
                         g->across);
}

/* "Attention pattern dispersed(4), mask causal, 100 tokens" */
static void add_title(const struct attnmask *a, struct ran_buf *title)
{
        const struct attnmask_options *o = a->options;

        ran_buf_printf(title, "Attention pattern%s", a->n > 1 ? "s" : "");
        for (size_t h = 0; h < a->n; h++)
                ran_buf_printf(title, "%s %s", h > 0 ? "," : "", a->names[h]);
        if (o->mask != RAN_MASK_NONE)
                ran_buf_printf(title, ", mask %s", ran_mask_names[o->mask]);
        ran_buf_printf(title, ", %zu tokens", o->length);
        ran_buf_char(title, '\0');
}

int attnmask_grid(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err)
{
        size_t size = attnmask_size(a->options);
        struct grid g = grid_of(a, size);
        struct ran_buf title = {0};
        struct picture p;
        int rc = picture_init(&p, a->n, divide_up(g.tokens, g.across), divide_up(g.tokens, g.down),
                              err);

        if (rc != RAN_OK)
                return rc;
        add_title(a, &title);
        p.names = a->n > 1 ? a->names : NULL;
        p.title = title.data;
        p.x_name = "key (token)";
        p.y_name = "query (token)";
        p.legend = g.across > 1 ? "of the keys are seen (square-root scale)"
                                : "the query attends to the key";
        p.least = g.across > 1 ? "0" : NULL;
        p.most = g.across > 1 ? "100 %" : NULL;
        p.x_from = p.y_from = a->from;
        p.x_to = p.y_to = a->to - 1;
        for (size_t h = 0; h < a->n; h++)
                draw(&a->heads[h].mask, a, &g, &p, p.shade + h * p.height * p.width);
        rc = title.failed ? ran_fail(err, RAN_ENOMEM, "no memory for the title of a picture")
                          : picture_write(&p, a->options->format, size, out, err);
        picture_release(&p);
        ran_buf_release(&title);
        if (rc == RAN_OK)
                explain(a, &g);
        return rc;
}
