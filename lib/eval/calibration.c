/* calibration.c - see calibration.h. */
#include "eval/calibration.h"
#include "base/cjson.h"

#include <math.h>
#include <stdlib.h>

#include "ran/math.h"

void ran_calibration_release(struct ran_calibration *c)
{
        free(c->p);
        *c = (struct ran_calibration){0};
}

static int compare_falling(const void *a, const void *b)
{
        float x = *(const float *)a, y = *(const float *)b;

        return (x < y) - (x > y);
}

static size_t kept(size_t documents)
{
        return documents < RAN_CALIBRATION_KEPT ? documents : RAN_CALIBRATION_KEPT;
}

/* The rank of entry i, from 1. In two parts, so that the product cannot overflow. */
static size_t rank_of(size_t i, size_t documents, size_t n)
{
        return (i + 1) * (documents / n) + ((i + 1) * (documents % n) + n - 1) / n;
}

void ran_calibration_make(struct ran_calibration *c, float *p, size_t documents)
{
        *c = (struct ran_calibration){.documents = documents, .p = p, .n = kept(documents)};
        if (documents > 0)
                qsort(p, documents, sizeof *p, compare_falling);
        for (size_t i = 0; i < c->n; i++) /* no rank is below its index */
                p[i] = p[rank_of(i, documents, c->n) - 1];
}

void ran_calibration_json(const struct ran_calibration *c, struct ran_buf *out)
{
        ran_buf_printf(out, "\"calibration\":{\"documents\":%zu,\"probabilities\":[", c->documents);
        for (size_t i = 0; i < c->n; i++) {
                ran_buf_str(out, i == 0 ? "" : ",");
                ran_buf_float(out, c->p[i]);
        }
        ran_buf_str(out, "]}");
}

int ran_calibration_read(struct ran_calibration *c, const cJSON *training, struct ran_error *err)
{
        const cJSON *all = ran_cjson_member(training, "calibration"), *x;
        size_t i = 0;

        if (all == NULL)
                return RAN_OK;
        if (!ran_cjson_whole(ran_cjson_member(all, "documents"), 1, 0x1p53, &c->documents))
                return ran_fail(err, RAN_EFORMAT,
                                "the calibration in the model file has no number of documents");
        c->n = kept(c->documents);
        c->p = ran_new(c->n, sizeof *c->p);
        cJSON_ArrayForEach(x, ran_cjson_member(all, "probabilities"))
        {
                float p = cJSON_IsNumber(x) ? (float)x->valuedouble : -1;

                if (i == c->n || !(p >= 0) || !(p <= (i > 0 ? c->p[i - 1] : 1)))
                        break;
                c->p[i++] = p;
        }
        if (i != c->n || x != NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "the calibration in the model file is not a list of %zu falling "
                                "probabilities",
                                c->n);
        return RAN_OK;
}

/* A finished model merges encoder and linear model, and other processors round differently, so
 * probabilities differ from those of calibration in the last digits. The document at the cut
 * must stay in the set nevertheless. */
static const float within_rounding = 1e-5f;

/* Rounding may lift a whole product: that must not select the next rank. */
static double rank_for(double documents, double coverage)
{
        return ceil((documents + 1) * coverage - 1e-9 * documents);
}

/* The chance that at least k of n events of probability x happen. */
static double at_least(double n, double k, double x)
{
        double term = ran_exp(n * ran_log(x)), sum = 0, j = n;

        while (j >= k) {
                sum += term;
                term *= j / (n - j + 1) * (1 - x) / x;
                j--;
        }
        return sum;
}

/* The coverage of a cut at rank k of n is that of the k-th of n uniform numbers: it is below x if
 * at least k of them are. */
double ran_calibration_floor(const struct ran_calibration *c, double coverage)
{
        const double many = 200, n = (double)c->documents, k = rank_for(n, coverage),
                     one_in_20 = 0.05;
        double low = 0, high = 1;

        if (c->n == 0 || !(k <= n))
                return 0;
        if (n > many) /* almost normal */
                return fmax(0, coverage - 1.645 * sqrt(coverage * (1 - coverage) / n));
        for (int i = 0; i < 50; i++) {
                double middle = (low + high) / 2;
                *(at_least(n, k, middle) < one_in_20 ? &low : &high) = middle;
        }
        return low;
}

int ran_calibration_cut(const struct ran_calibration *c, double coverage, float *cut,
                        struct ran_error *err)
{
        double n = (double)c->documents;
        double rank = rank_for(n, coverage);
        size_t i = 0;

        if (c->n == 0)
                return ran_fail(
                        err, RAN_EINVAL,
                        "the model has no calibration, which --coverage needs: train it "
                        "again with validation documents, --dev or --dev-share, whose labels "
                        "are known");
        if (!(rank <= n))
                return ran_fail(err, RAN_EINVAL,
                                "the model was calibrated with %zu documents, too few for a "
                                "coverage of %g: %.4g at most",
                                c->documents, coverage, floor(1e4 * n / (n + 1)) / 1e4);
        while ((double)rank_of(i, c->documents, c->n) < rank)
                i++;
        *cut = c->p[i] * (1 - within_rounding);
        return RAN_OK;
}
