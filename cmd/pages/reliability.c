/* reliability.c - how probabilities and right answers agree. */
#include "cmd/pages/reliability.h"

#include <math.h>

#include "cmd/pages/chart.h"
#include "cmd/pages/element.h"
#include "cmd/pages/page.h"
#include "cmd/pages/table.h"

void page_reliability_add(struct page_reliability *r, double p, bool right)
{
        double x = p >= 0 && p <= 1 ? p : 0;
        size_t bin = (size_t)(x * PAGE_BINS), step = (size_t)(x * PAGE_STEPS);

        bin = bin < PAGE_BINS ? bin : PAGE_BINS - 1;
        atomic_fetch_add(&r->bin[bin].n, 1);
        atomic_fetch_add(&r->bin[bin].right, right);
        atomic_fetch_add(&r->bin[bin].p, (unsigned long long)llrint(x * 1e6));
        atomic_fetch_add(&r->all[step], 1);
        atomic_fetch_add(&r->right[step], right);
}

static double mean_of(const struct page_reliability *r, size_t bin)
{
        size_t n = r->bin[bin].n;

        return n > 0 ? (double)r->bin[bin].p / 1e6 / (double)n : NAN;
}

static double right_of(const struct page_reliability *r, size_t bin)
{
        size_t n = r->bin[bin].n;

        return n > 0 ? (double)r->bin[bin].right / (double)n : NAN;
}

static void write_reliability(const struct page_reliability *r, const char *answers,
                              struct ran_buf *out)
{
        double x[PAGE_BINS], y[PAGE_BINS];

        for (size_t i = 0; i < PAGE_BINS; i++) {
                x[i] = mean_of(r, i);
                y[i] = right_of(r, i);
        }
        const struct chart_line line = {answers, x, y, PAGE_BINS, true, false};
        const struct chart chart = {
                .title = "Reliability",
                .x_name = "probability",
                .y_name = "share that is right",
                .note = "On the dotted line a probability is right as often as it says; below it "
                        "the model is too sure.",
                .x_to = 1,
                .y_to = 1,
                .diagonal = true,
                .lines = &line,
                .n = 1};

        chart_add(out, &chart);
}

static void write_thresholds(const struct page_reliability *r, const char *others, const char *note,
                             struct ran_buf *out)
{
        enum { N = PAGE_STEPS + 1 };
        double t[N], precision[N], recall[N], given[N];
        size_t all = 0, right = 0, total = 0, gold = r->gold;

        for (size_t i = 0; i < N; i++)
                total += r->all[i];
        for (size_t i = N; i-- > 0;) {
                all += r->all[i];
                right += r->right[i];
                t[i] = (double)i / PAGE_STEPS;
                precision[i] = all > 0 ? (double)right / (double)all : NAN;
                recall[i] = gold > 0 ? (double)right / (double)gold : NAN;
                given[i] = total > 0 ? (double)all / (double)total : NAN;
        }
        const struct chart_line lines[] = {
                {"precision", t, precision, N, false, false},
                {"recall", t, recall, N, false, false},
                {others, t, given, N, false, true},
        };
        const struct chart chart = {.title = "Precision and recall by threshold",
                                    .x_name = "threshold of the probability",
                                    .y_name = "share",
                                    .note = note,
                                    .x_to = 1,
                                    .y_to = 1,
                                    .lines = lines,
                                    .n = others != NULL ? 3 : 2};

        chart_add(out, &chart);
}

static void write_numbers(const struct page_reliability *r, const char *answers,
                          struct ran_buf *out)
{
        struct ran_buf heads = {0};
        char bin[32];

        page_open(out, HTML_DETAILS);
        page_put(out, HTML_SUMMARY, "numbers of the reliability chart");
        ran_buf_printf(&heads, "probability|#%s|#mean probability|#right (95 %% interval)",
                       answers);
        ran_buf_char(&heads, '\0');
        struct page_table t = page_table_begin(out, PAGE_INNER, heads.failed ? "" : heads.data);
        for (size_t i = 0; i < PAGE_BINS; i++) {
                size_t n = r->bin[i].n, right = r->bin[i].right;

                snprintf(bin, sizeof bin, "%zu to %zu %%", 100 * i / PAGE_BINS,
                         100 * (i + 1) / PAGE_BINS);
                if (n > 0)
                        page_row(&t, CELL_NAME(bin), CELL_COUNT(n), CELL_PERCENT(mean_of(r, i), 1),
                                 CELL_INTERVAL(right_of(r, i),
                                               ran_interval_share((double)right, (double)n)));
        }
        page_table_end(&t);
        page_close(out, HTML_DETAILS);
        ran_buf_release(&heads);
}

void page_reliability_write(const struct page_reliability *r, const char *answers,
                            const char *others, const char *note, struct ran_buf *out)
{
        page_put(out, HTML_HEADING, "Probabilities");
        page_open(out, HTML_CHARTS);
        write_reliability(r, answers, out);
        write_thresholds(r, others, note, out);
        page_close(out, HTML_CHARTS);
        write_numbers(r, answers, out);
}
