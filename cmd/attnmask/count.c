/* count.c - the number of scores of a mask, and Table 1 of the paper about dispersed attention,
 * recomputed. */
#include <inttypes.h>
#include <math.h>

#include "cmd/attnmask/attnmask.h"
#include "cmd/attnmask/picture.h"

/* ---- counts --------------------------------------------------------------------------------- */

struct counted {
        uint64_t scores, full; /* full: of full attention under the same mask */
        double share;
        struct ran_mask_rows rows;
        bool printed; /* the paper gives a number, `paper` */
        uint64_t paper;
};

static int count(const struct attnmask *a, const struct attnmask_head *head, struct counted *c,
                 struct ran_error *err)
{
        const struct attnmask_options *o = a->options;
        struct ran_mask all;
        int rc = ran_mask_init(&all, RAN_ATTENTION_FULL, 0, 0, o->mask, o->length, o->source, err);

        if (rc != RAN_OK)
                return rc;
        c->scores = ran_mask_count(&head->mask, 0, o->length, 0, o->length);
        c->full = ran_mask_count(&all, 0, o->length, 0, o->length);
        c->share = (double)c->scores / (double)c->full;
        ran_mask_rows(&head->mask, &c->rows);
        c->printed = o->mask == RAN_MASK_NONE &&
                     ran_mask_paper(head->pattern, o->window, o->length, &c->paper);
        return RAN_OK;
}

static void add_count_json(struct ran_buf *out, const struct attnmask *a, size_t h,
                           const struct counted *c)
{
        const struct attnmask_options *o = a->options;
        int pattern = a->heads[h].pattern;

        ran_buf_char(out, '{');
        if (a->n > 1)
                ran_buf_printf(out, "\"head\":%zu,", h);
        ran_buf_printf(out, "\"attention\":\"%s\",", ran_attention_names[pattern]);
        if (pattern != RAN_ATTENTION_FULL)
                ran_buf_printf(out, "\"window\":%zu,", o->window);
        if (pattern == RAN_ATTENTION_DILATED)
                ran_buf_printf(out, "\"dilation\":%zu,", o->dilation);
        ran_buf_printf(out, "\"mask\":\"%s\",", ran_mask_names[o->mask]);
        if (o->mask == RAN_MASK_PREFIX)
                ran_buf_printf(out, "\"source\":%zu,", o->source);
        ran_buf_printf(out, "\"length\":%zu,\"scores\":%" PRIu64 ",\"full\":%" PRIu64 ",\"share\":",
                       o->length, c->scores, c->full);
        ran_buf_double(out, c->share);
        ran_buf_printf(out, ",\"least\":%zu,\"median\":", c->rows.least);
        ran_buf_double(out, c->rows.median);
        ran_buf_printf(out, ",\"most\":%zu", c->rows.most);
        if (c->printed)
                ran_buf_printf(out, ",\"paper\":%" PRIu64, c->paper);
        ran_buf_str(out, "}\n");
}

static void add_count_text(struct ran_buf *out, const struct attnmask *a, size_t h,
                           const struct counted *c)
{
        ran_buf_printf(out, "%s%s, mask %s, %zu tokens\n", h > 0 ? "\n" : "", a->names[h],
                       ran_mask_names[a->options->mask], a->options->length);
        ran_buf_printf(out, "scores         %" PRIu64 "\n", c->scores);
        ran_buf_printf(out, "share of full  %.4g %% of %" PRIu64 "\n", 100 * c->share, c->full);
        ran_buf_printf(out, "keys a query   least %zu, median %.15g, most %zu\n", c->rows.least,
                       c->rows.median, c->rows.most);
        if (c->printed && c->paper != c->scores)
                ran_buf_printf(out,
                               "the paper      %" PRIu64 ", by its Algorithm 1, which takes N - w "
                               "terms where the mask has N - 2 - w/2\n",
                               c->paper);
}

int attnmask_count(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err)
{
        for (size_t h = 0; h < a->n; h++) {
                struct counted c;
                int rc = count(a, &a->heads[h], &c, err);

                if (rc != RAN_OK)
                        return rc;
                if (a->options->format == PICTURE_JSON)
                        add_count_json(&out->buf, a, h, &c);
                else
                        add_count_text(&out->buf, a, h, &c);
        }
        return RAN_OK;
}

/* ---- Table 1 -------------------------------------------------------------------------------- */

static const size_t lengths[] = {10, 50, 100, 500, 1000, 5000, 10000, 15000, 16384};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* One pattern at one length. */
struct cell {
        uint64_t mask, paper;
        bool printed;
        double percent;
        double growth; /* growth since the row above: scores ~ N^exponent; 0 in the first */
};

static struct cell cell_of(int pattern, size_t window, size_t i)
{
        struct cell c = {0};
        struct ran_mask m;
        size_t N = lengths[i];

        if (ran_mask_init(&m, pattern, window, 0, RAN_MASK_NONE, N, 0, NULL) != RAN_OK)
                return c; /* cannot be: the options were checked */
        c.mask = ran_mask_count(&m, 0, N, 0, N);
        c.printed = ran_mask_paper(pattern, window, N, &c.paper);
        c.percent = 100 * (double)c.mask / ((double)N * (double)N);
        if (i > 0) {
                double before = (double)cell_of(pattern, window, i - 1).mask;

                c.growth = ran_log((double)c.mask / before) /
                           ran_log((double)N / (double)lengths[i - 1]);
        }
        return c;
}

static void add_cell_text(struct ran_buf *out, const struct cell *c)
{
        if (c->printed)
                ran_buf_printf(out, " %8" PRIu64, c->paper);
        else
                ran_buf_printf(out, " %8s", "-");
        ran_buf_printf(out, " %8" PRIu64 " %8.4f", c->mask, c->percent);
        if (c->growth > 0)
                ran_buf_printf(out, " N^%4.2f", c->growth);
        else
                ran_buf_printf(out, " %6s", "-");
}

static const char notes[] =
        "\n"
        "\"paper\" is what its formulas give: equation (3), and Algorithm 1. \"mask\" is what\n"
        "its mask holds (Algorithm 2), and what is computed here. \"-\": the formula says\n"
        "nothing about an odd window, or one longer than the text.\n"
        "\n"
        "What does not hold:\n"
        "- Algorithm 1 takes N - w terms where the mask has N - 2 - w/2: they agree for\n"
        "  w = 4 only. At N = 1000 it gives 58726 for w = 2, where the mask holds 58640,\n"
        "  and 114456 for w = 64, where it holds 116962.\n"
        "- Equation (10) as printed gives 32754 for w = 4 at N = 1000, not 60550.\n"
        "- The paper calls the growth linear. The dispersed keys of one query grow like\n"
        "  sqrt(2 N), and so the scores like N^1.5. Those of a window are linear.\n"
        "- Two per cent for window(4) are rounded wrongly: those of 15000 tokens are\n"
        "  0.0333, those of 16384 are 0.0305.\n";

static void add_table_text(struct ran_buf *out, size_t window)
{
        ran_buf_printf(out, "%16s  window(%zu), scores%*s  dispersed(%zu), scores\n", "", window,
                       window < 10 ? 14 : 13, "", window);
        ran_buf_printf(out, "tokens      full");
        for (int i = 0; i < 2; i++)
                ran_buf_printf(out, " %8s %8s %8s %6s", "paper", "mask", "% full", "growth");
        ran_buf_char(out, '\n');
        for (size_t i = 0; i < LENGTHS; i++) {
                struct cell w = cell_of(RAN_ATTENTION_WINDOW, window, i),
                            d = cell_of(RAN_ATTENTION_DISPERSED, window, i);

                ran_buf_printf(out, "%6zu %9zu", lengths[i], lengths[i] * lengths[i]);
                add_cell_text(out, &w);
                add_cell_text(out, &d);
                ran_buf_char(out, '\n');
        }
        ran_buf_str(out, notes);
}

static void add_cell_json(struct ran_buf *out, const char *name, const struct cell *c)
{
        ran_buf_printf(out, ",\"%s\":{\"scores\":%" PRIu64 ",\"paper\":", name, c->mask);
        if (c->printed)
                ran_buf_printf(out, "%" PRIu64, c->paper);
        else
                ran_buf_str(out, "null");
        ran_buf_str(out, ",\"percent\":");
        ran_buf_double(out, c->percent);
        ran_buf_str(out, ",\"growth\":");
        if (c->growth > 0)
                ran_buf_double(out, c->growth);
        else
                ran_buf_str(out, "null");
        ran_buf_char(out, '}');
}

static void add_table_json(struct ran_buf *out, size_t window)
{
        for (size_t i = 0; i < LENGTHS; i++) {
                struct cell w = cell_of(RAN_ATTENTION_WINDOW, window, i),
                            d = cell_of(RAN_ATTENTION_DISPERSED, window, i);

                ran_buf_printf(out, "{\"length\":%zu,\"w\":%zu,\"full\":%zu", lengths[i], window,
                               lengths[i] * lengths[i]);
                add_cell_json(out, "window", &w);
                add_cell_json(out, "dispersed", &d);
                ran_buf_str(out, "}\n");
        }
}

int attnmask_table(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err)
{
        (void)err;
        if (a->options->format == PICTURE_JSON)
                add_table_json(&out->buf, a->options->window);
        else
                add_table_text(&out->buf, a->options->window);
        return RAN_OK;
}
