/* figure.c - results as people read them: the same words for the same figure in
 * the live line, in the lines that stay and in the summary. */
#include "cmd/train/run/figure.h"

#include <math.h>
#include <string.h>

#include "cmd/train/about/about.h"

double train_progress_metric(const struct train_progress *p, double metric)
{
        if (p->texts && strcmp(p->metric, "loss") == 0)
                return ran_exp(-metric);
        return strcmp(p->metric, "loss") == 0 ? -metric : 100 * metric;
}

const char *train_progress_name(const struct train_progress *p)
{
        if (p->texts && strcmp(p->metric, "loss") == 0)
                return "perplexity";
        return p->single && strcmp(p->metric, "micro_f1") == 0 ? "accuracy" : p->metric;
}

/* "84 of 100, 76 to 90 %", or "76 to 90 %, 100 documents" where the metric is no share of them. */
static void add_interval(const struct train_progress *p, double metric, struct ran_interval i,
                         size_t documents, struct ran_buf *out)
{
        const bool share = p->single && strncmp(p->metric, "macro", 5) != 0;

        if (i.low > i.high) {
                ran_buf_printf(out, "(%zu documents)", documents);
                return;
        }
        ran_buf_char(out, '(');
        if (share)
                ran_buf_printf(out, "%.0f of %zu, ", round(metric * (double)documents), documents);
        ran_buf_printf(out, "%.0f to %.0f %%", 100 * i.low, 100 * i.high);
        if (!share)
                ran_buf_printf(out, ", %zu documents", documents);
        ran_buf_char(out, ')');
}

static void add_unknown(const struct train_progress *p, struct ran_buf *out)
{
        if (p->unknown > 0)
                ran_buf_printf(out, ", %.3g %% of tokens unknown", 100 * p->unknown);
}

void train_figure_metric(const struct train_progress *p, double metric,
                         struct ran_interval interval, size_t documents, struct ran_buf *out)
{
        ran_buf_printf(out, "%s %.2f ", train_progress_name(p), train_progress_metric(p, metric));
        add_interval(p, metric, interval, documents, out);
        add_unknown(p, out);
}

void train_figure_add(const struct train_progress *p, const struct ran_train_report *r,
                      struct ran_buf *out)
{
        const struct ran_interval none = {1, 0};

        ran_buf_printf(out, "validation loss %.4f", r->loss);
        if (strcmp(train_progress_name(p), "loss") == 0) {
                ran_buf_char(out, ' ');
                add_interval(p, r->metric, none, r->validation, out);
        } else {
                ran_buf_str(out, ", ");
                train_figure_metric(p, r->metric, p->texts ? none : r->interval, r->validation,
                                    out);
        }
}
