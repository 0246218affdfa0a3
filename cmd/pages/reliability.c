/* reliability.c - how probabilities and right answers agree. */
#include "cmd/pages/reliability.h"

#include <math.h>

#include "cmd/pages/chart.h"
#include "cmd/pages/page.h"
#include "cmd/pages/report.h"

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

/* NaN of nothing. */
static double share_of(double part, size_t n)
{
        return n > 0 ? part / (double)n : NAN;
}

static double mean_of(const struct page_reliability *r, size_t bin)
{
        return share_of((double)r->bin[bin].p / 1e6, r->bin[bin].n);
}

static void write_reliability(const struct page_reliability *r, const char *answers,
                              struct ran_buf *out)
{
        double x[PAGE_BINS], y[PAGE_BINS];

        for (size_t i = 0; i < PAGE_BINS; i++) {
                x[i] = mean_of(r, i);
                y[i] = share_of((double)r->bin[i].right, r->bin[i].n);
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
                precision[i] = share_of((double)right, all);
                recall[i] = share_of((double)right, gold);
                given[i] = share_of((double)all, total);
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

static void write_numbers(const struct page_reliability *p, const char *answers,
                          struct ran_buf *out)
{
        struct report r = {0};

        report_begin(&r, REPORT_LIST, NULL, "");
        for (size_t i = 0; i < PAGE_BINS; i++) {
                const size_t n = p->bin[i].n, right = p->bin[i].right;

                if (n == 0)
                        continue;
                report_begin(&r, REPORT_OBJECT, NULL, "");
                report_put(&r, NULL, "probability", "%zu to %zu %%", 100 * i / PAGE_BINS,
                           100 * (i + 1) / PAGE_BINS);
                report_count(&r, NULL, answers, n);
                report_share(&r, NULL, "mean probability", mean_of(p, i));
                report_share(&r, NULL, "right", share_of((double)right, n));
                report_interval(&r, ran_interval_share((double)right, (double)n));
                report_end(&r);
        }
        report_end(&r);
        page_open(out, "details");
        page_put(out, "summary", "numbers of the reliability chart");
        report_page(&r, out);
        page_close(out, "details");
        report_release(&r);
}

void page_reliability_write(const struct page_reliability *r, const char *answers,
                            const char *others, const char *note, struct ran_buf *out)
{
        page_put(out, "h2", "Probabilities");
        page_open(out, "div.charts");
        write_reliability(r, answers, out);
        write_thresholds(r, others, note, out);
        page_close(out, "div");
        write_numbers(r, answers, out);
}
