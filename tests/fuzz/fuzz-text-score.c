/* Any bytes as a text and its reference, with a zero between them: counts that make sense, and the
 * same the other way round. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ran.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool right)
{
        if (!right)
                abort();
}

static void check_counts(const struct ran_text_counts *x)
{
        for (size_t k = 0; k < RAN_BLEU_ORDER; k++) {
                must(x->match[k] <= x->all[k]);
                must(x->all[k] == (x->length > k ? x->length - k : 0));
        }
        for (size_t k = 0; k < RAN_CHRF_ORDER; k++)
                must(x->characters[k][2] <= x->characters[k][1] &&
                     (x->characters[k][1] == 0 || x->characters[k][2] <= x->characters[k][0]));
        for (size_t k = 0; k < RAN_ROUGES; k++) {
                must(x->rouge[k].precision >= 0 && x->rouge[k].precision <= 1);
                must(x->rouge[k].recall >= 0 && x->rouge[k].recall <= 1);
                must(x->rouge[k].f1 >= 0 && x->rouge[k].f1 <= 1);
        }
}

/* Matches and common subsequences are those of either order. */
static void check_mirror(const struct ran_text_counts *x, const struct ran_text_counts *y)
{
        must(x->length == y->reference_length && y->length == x->reference_length);
        for (size_t k = 0; k < RAN_BLEU_ORDER; k++)
                must(x->match[k] == y->match[k]);
        for (size_t k = 0; k < RAN_ROUGES; k++)
                must(x->rouge[k].precision == y->rouge[k].recall &&
                     x->rouge[k].recall == y->rouge[k].precision);
}

static void check_report(const struct ran_text_counts *x)
{
        struct ran_text_score *s = ran_text_score_new();
        struct ran_text_report report;

        if (s == NULL)
                return;
        ran_text_score_add(s, x);
        ran_text_score_finish(s, 1, &report);
        must(report.bleu.value >= 0 && report.bleu.value < 100.001);
        must(report.chrf.value >= 0 && report.chrf.value < 100.001);
        ran_text_score_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *text = (const char *)data;
        const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
        size_t n = zero != NULL ? (size_t)(zero - data) : size, m = zero != NULL ? size - n - 1 : 0;
        const char *reference = text + (zero != NULL ? n + 1 : n);
        struct ran_text_counter *c = ran_text_counter_new();
        struct ran_text_counts x, y;

        if (c == NULL)
                return 0;
        ran_text_count(c, text, n, reference, m, &x);
        ran_text_count(c, reference, m, text, n, &y);
        check_counts(&x);
        check_mirror(&x, &y);
        check_report(&x);
        ran_text_counter_free(c);
        return 0;
}
