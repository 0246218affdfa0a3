/* count.c - the number of scores of a mask, and Table 1 of the paper about dispersed attention,
 * recomputed. */
#include "cmd/attnmask/attnmask.h"

#include <inttypes.h>
#include <math.h>

#include "cmd/pages/report.h"

/* ---- counts --------------------------------------------------------------------------------- */

static void add_count(const struct attnmask *a, size_t h, uint64_t full, struct report *r)
{
        const struct attnmask_options *o = a->options;
        const int pattern = a->heads[h].pattern;
        const size_t N = o->length;
        const uint64_t scores = ran_mask_count(&a->heads[h].mask, 0, N, 0, N);
        const double share = (double)scores / (double)full;
        uint64_t paper;

        report_count(r, a->n > 1 ? "head" : NULL, NULL, h);
        report_string(r, "attention", NULL, ran_attention_names[pattern]);
        report_count(r, pattern != RAN_ATTENTION_FULL ? "window" : NULL, NULL, o->window);
        report_count(r, pattern == RAN_ATTENTION_DILATED ? "dilation" : NULL, NULL, o->dilation);
        report_string(r, "mask", NULL, ran_mask_names[o->mask]);
        report_count(r, o->mask == RAN_MASK_PREFIX ? "source" : NULL, NULL, o->source);
        report_count(r, "length", NULL, N);
        report_count(r, "scores", "scores", scores);
        report_count(r, "full", NULL, full);
        report_number(r, "share", NULL, share, 0);
        report_put(r, NULL, "share of full", "%.4g %% of %" PRIu64, 100 * share, full);
        report_number(r, "keys", "keys a query", (double)scores / (double)N, 2);
        if (o->mask != RAN_MASK_NONE || !ran_mask_paper(pattern, o->window, N, &paper))
                return;
        report_count(r, "paper", paper != scores ? "the paper" : NULL, paper);
        report_note(r, "its Algorithm 1 takes N - w terms where the mask has N - 2 - w/2");
}

int attnmask_count(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err)
{
        const struct attnmask_options *o = a->options;
        const bool text = o->format != PICTURE_JSON;
        struct ran_mask all; /* of full attention under the same mask */

        RAN_TRY(ran_mask_init(&all, RAN_ATTENTION_FULL, 0, 0, o->mask, o->length, o->source, err));
        for (size_t h = 0; h < a->n; h++) {
                struct report r = {0};

                if (text)
                        ran_buf_printf(&out->buf, "%s%s, mask %s, %zu tokens\n", h > 0 ? "\n" : "",
                                       a->names[h], ran_mask_names[o->mask], o->length);
                add_count(a, h, ran_mask_count(&all, 0, o->length, 0, o->length), &r);
                report_finish(&r, text, &out->buf);
        }
        return RAN_OK;
}

/* ---- Table 1 -------------------------------------------------------------------------------- */

static const size_t lengths[] = {10, 50, 100, 500, 1000, 5000, 10000, 15000, 16384};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* The scores of a pattern with lengths[i] tokens; 0: the mask cannot be (the options were checked).
 */
static uint64_t scores_at(int pattern, size_t window, size_t i)
{
        const size_t N = lengths[i];
        struct ran_mask m;

        return ran_mask_init(&m, pattern, window, 0, RAN_MASK_NONE, N, 0, NULL) == RAN_OK
                       ? ran_mask_count(&m, 0, N, 0, N)
                       : 0;
}

/* A table of one pattern: `paper` is what its formulas give, `scores` what its mask holds; growth
 * is the exponent with scores ~ N^growth since the length before. */
static void add_table(int pattern, size_t window, const char *title, struct report *r)
{
        report_begin(r, REPORT_LIST, ran_attention_names[pattern], title);
        for (size_t i = 0; i < LENGTHS; i++) {
                const double scores = (double)scores_at(pattern, window, i), N = (double)lengths[i];
                double growth = NAN;
                uint64_t paper;

                if (i > 0)
                        growth = ran_log(scores / (double)scores_at(pattern, window, i - 1)) /
                                 ran_log(N / (double)lengths[i - 1]);
                report_begin(r, REPORT_OBJECT, "", "");
                report_count(r, "length", "tokens", lengths[i]);
                report_count(r, "full", "full", lengths[i] * lengths[i]);
                report_count(r, "scores", "scores", scores_at(pattern, window, i));
                if (ran_mask_paper(pattern, window, lengths[i], &paper))
                        report_count(r, "paper", "in the paper", paper);
                else
                        report_number(r, "paper", "in the paper", NAN, 0);
                report_number(r, "percent", "% of full", 100 * scores / (N * N), 4);
                report_number(r, "growth", "power of the tokens", growth > 0 ? growth : NAN, 2);
                report_end(r);
        }
        report_end(r);
}

int attnmask_table(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err)
{
        const size_t window = a->options->window;
        struct report r = {0};

        (void)err;
        report_count(&r, "w", "window of both patterns", window);
        add_table(RAN_ATTENTION_WINDOW, window, "Scores of a window", &r);
        add_table(RAN_ATTENTION_DISPERSED, window, "Scores of dispersed attention", &r);
        report_finish(&r, a->options->format != PICTURE_JSON, &out->buf);
        return RAN_OK;
}
