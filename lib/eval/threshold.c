/* threshold.c - the threshold of a label that reaches a recall or a precision: see ran/eval.h. */
#include "ran/eval.h"

#include <math.h>
#include <stdlib.h>

struct judged {
        float p;
        bool positive;
};

static int falling(const void *a, const void *b)
{
        const struct judged *x = a, *y = b;

        if (x->p < y->p || x->p > y->p)
                return x->p < y->p ? 1 : -1;
        return 0;
}

/* Other processors round differently: the document at the threshold must still reach it. */
static const float within_rounding = 1e-5f;

/* The first `found` documents get the label, `right` of them rightly. */
static void note(struct ran_threshold *t, const struct judged *j, size_t found, size_t right)
{
        t->threshold = j[found - 1].p * (1 - within_rounding);
        t->found = found;
        t->right = right;
        t->recall = (double)right / (double)t->positives;
        t->precision = (double)right / (double)found;
        t->recall_interval = ran_interval_share((double)right, (double)t->positives);
        t->precision_interval = ran_interval_share((double)right, (double)found);
}

/* Documents of one probability get the label together. A recall is reached by the first cut that
 * has it; a precision by the last one, which has the largest recall. */
static bool find(struct ran_threshold *t, const struct judged *j, size_t n, bool precision,
                 double wanted)
{
        size_t right = 0;
        bool reached = false;

        for (size_t i = 0; i < n; i++) {
                right += j[i].positive;
                if (i + 1 < n && !(j[i + 1].p < j[i].p))
                        continue;
                const double of = precision ? (double)(i + 1) : (double)t->positives;

                if (right == 0 || (double)right < wanted * of - 1e-9)
                        continue;
                note(t, j, i + 1, right);
                reached = true;
                if (!precision)
                        break;
        }
        return reached;
}

int ran_threshold_find(struct ran_threshold *t, const float *p, const bool *positive, size_t n,
                       bool precision, double wanted, struct ran_error *err)
{
        struct judged *j = ran_new(n + 1, sizeof *j);

        *t = (struct ran_threshold){.documents = n};
        for (size_t i = 0; i < n; i++) {
                j[i] = (struct judged){p[i], positive[i]};
                t->positives += positive[i];
        }
        qsort(j, n, sizeof *j, falling);
        const bool reached = t->positives > 0 && find(t, j, n, precision, wanted);
        free(j);
        return reached ? RAN_OK
                       : ran_fail(err, RAN_EINVAL, "no threshold reaches a %s of %g",
                                  precision ? "precision" : "recall", wanted);
}
