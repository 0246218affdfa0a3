/* text-score.c - BLEU, chrF and ROUGE of a corpus, with intervals by bootstrap. */
#include "eval/eval.h"
#include "ran/math.h"

#include <stdlib.h>
#include <string.h>

/* Texts, or runs of adjacent ones, that the bootstrap draws from. */
enum { UNITS = 20000 };

struct unit {
        struct ran_text_counts sum;
        size_t n; /* texts */
};

struct ran_text_score {
        struct unit unit[UNITS];
        size_t units, run, n; /* texts of a unit; of all */
};

struct ran_text_score *ran_text_score_new(void)
{
        struct ran_text_score *s = ran_new(1, sizeof *s);

        s->run = 1;
        return s;
}

void ran_text_score_free(struct ran_text_score *s)
{
        free(s);
}

/* ---- sums ----------------------------------------------------------------------------------- */

static void add(struct ran_text_counts *sum, const struct ran_text_counts *x)
{
        sum->length += x->length;
        sum->reference_length += x->reference_length;
        for (size_t k = 0; k < RAN_BLEU_ORDER; k++) {
                sum->match[k] += x->match[k];
                sum->all[k] += x->all[k];
        }
        for (size_t k = 0; k < RAN_CHRF_ORDER; k++)
                for (size_t i = 0; i < 3; i++)
                        sum->characters[k][i] += x->characters[k][i];
        for (size_t k = 0; k < RAN_ROUGES; k++)
                ran_prf_add(&sum->rouge[k], &x->rouge[k], 1);
}

/* Makes one unit of every two. */
static void halve(struct ran_text_score *s)
{
        for (size_t i = 0; i < UNITS / 2; i++) {
                s->unit[i] = s->unit[2 * i];
                add(&s->unit[i].sum, &s->unit[2 * i + 1].sum);
                s->unit[i].n += s->unit[2 * i + 1].n;
        }
        s->units = UNITS / 2;
        s->run *= 2;
}

void ran_text_score_add(struct ran_text_score *s, const struct ran_text_counts *counts)
{
        if (s->units == 0 || s->unit[s->units - 1].n == s->run) {
                if (s->units == UNITS)
                        halve(s);
                s->unit[s->units++] = (struct unit){.n = 0};
        }
        add(&s->unit[s->units - 1].sum, counts);
        s->unit[s->units - 1].n++;
        s->n++;
}

/* ---- scores --------------------------------------------------------------------------------- */

static double brevity(const struct ran_text_counts *x)
{
        double text = (double)x->length, reference = (double)x->reference_length;

        if (x->length >= x->reference_length)
                return 1;
        return x->length > 0 ? ran_exp(1 - reference / text) : 0;
}

/* The precisions (RAN_BLEU_ORDER) in per cent, and the score. An order without a match counts as
 * 1/2, 1/4, ... of one; the score is 0 without any match, or with no n-gram of some order. */
static double bleu(const struct ran_text_counts *x, double *precision)
{
        double half = 1, logs = 0, most = 0;
        uint64_t any = 0;

        memset(precision, 0, RAN_BLEU_ORDER * sizeof *precision);
        for (size_t k = 0; k < RAN_BLEU_ORDER; k++)
                any |= x->match[k];
        if (any == 0)
                return 0;
        for (size_t k = 0; k < RAN_BLEU_ORDER; k++) {
                if (x->all[k] == 0)
                        return 0;
                half *= x->match[k] == 0 ? 2 : 1;
                precision[k] = x->match[k] == 0 ? 100 / (half * (double)x->all[k])
                                                : 100 * (double)x->match[k] / (double)x->all[k];
                logs += ran_log(precision[k]);
                most = precision[k] > most ? precision[k] : most;
        }
        const double score = brevity(x) * ran_exp(logs / RAN_BLEU_ORDER);
        return score < most ? score : most; /* rounding may put a mean above all it is of */
}

/* Orders that either side lacks are left out. */
double ran_text_chrf(const struct ran_text_counts *x)
{
        double precision = 0, recall = 0, orders = 0;

        for (size_t k = 0; k < RAN_CHRF_ORDER; k++) {
                const uint64_t *n = x->characters[k];

                if (n[0] == 0 || n[1] == 0)
                        continue;
                precision += (double)n[2] / (double)n[0];
                recall += (double)n[2] / (double)n[1];
                orders++;
        }
        if (precision + recall <= 0)
                return 0;
        precision /= orders;
        recall /= orders;
        return 100 * 5 * precision * recall / (4 * precision + recall);
}

enum { SCORES = 2 + RAN_ROUGES };

/* BLEU, chrF, ROUGE of n texts. */
static void scores(const struct ran_text_counts *sum, size_t n, double *out)
{
        double precision[RAN_BLEU_ORDER];

        out[0] = bleu(sum, precision);
        out[1] = ran_text_chrf(sum);
        for (size_t k = 0; k < RAN_ROUGES; k++)
                out[2 + k] = sum->rouge[k].f1 / (double)n;
}

/* ---- the bootstrap -------------------------------------------------------------------------- */

/* sample (SCORES, RAN_TEXT_SAMPLES). */
static void draw(const struct ran_text_score *s, uint64_t seed, double *sample)
{
        for (size_t i = 0; i < RAN_TEXT_SAMPLES; i++) {
                uint64_t key = ran_random_key(seed, RAN_FOR_BOOTSTRAP, 0, i);
                struct ran_text_counts sum = {0};
                double score[SCORES];
                size_t n = 0;

                for (size_t j = 0; j < s->units; j++) {
                        const struct unit *unit = &s->unit[ran_random_draw(key, j) % s->units];

                        add(&sum, &unit->sum);
                        n += unit->n;
                }
                scores(&sum, n, score);
                for (size_t k = 0; k < SCORES; k++)
                        sample[k * RAN_TEXT_SAMPLES + i] = score[k];
        }
}

void ran_text_score_finish(const struct ran_text_score *s, uint64_t seed,
                           struct ran_text_report *report)
{
        struct ran_text_counts sum = {0};
        struct ran_text_value *const value[SCORES] = {&report->bleu, &report->chrf,
                                                      &report->rouge[0], &report->rouge[1],
                                                      &report->rouge[2]};
        double score[SCORES] = {0},
               *sample = ran_new((size_t)SCORES * RAN_TEXT_SAMPLES, sizeof *sample);
        const size_t n = ran_most(s->n, 1);

        *report = (struct ran_text_report){.n = s->n, .seed = seed};
        for (size_t i = 0; i < s->units; i++)
                add(&sum, &s->unit[i].sum);
        scores(&sum, n, score);
        if (s->units > 1)
                draw(s, seed, sample);
        for (size_t k = 0; k < SCORES; k++) {
                struct ran_interval x = {score[k], score[k]};

                if (s->units > 1)
                        x = ran_interval_samples(sample + k * RAN_TEXT_SAMPLES, RAN_TEXT_SAMPLES);
                *value[k] = (struct ran_text_value){score[k], x.low, x.high};
        }
        for (size_t k = 0; k < RAN_ROUGES; k++) {
                report->rouge_precision[k] = sum.rouge[k].precision / (double)n;
                report->rouge_recall[k] = sum.rouge[k].recall / (double)n;
        }
        bleu(&sum, report->precision);
        report->brevity = brevity(&sum);
        report->length = sum.length;
        report->reference_length = sum.reference_length;
        free(sample);
}
