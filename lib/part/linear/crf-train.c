/* crf-train.c - see linear-words.h. */
#include "part/linear/linear-words.h"
#include "math/simd.h"
#include "part/crf/crf.h"
#include "ran/train.h"

#include <stdlib.h>
#include <string.h>

/* The most words of a step: a text without sentences is divided into steps of this many. */
enum { SPAN = 256 };

const double ran_crf_train_cost = 0.5;

/* The first step size: with some fifty features of 1 a word, half of the step that would
 * diverge. */
static const double first_step = 0.1;

/* Words [from, to) of the sentence [begin, end) of a document. */
struct span {
        uint32_t document, begin, end, from, to;
};

/* The weights are from + scale v; v has the rows of the table, then bias, start, end and the
 * rows of the transitions. The crf starts at 0, and so does the table unless a model initialises
 * it. */
struct learner {
        const struct ran_crf_train *k;
        size_t C, rows, features;
        const float *from, *from_bias; /* from NULL: zeros */
        float *v, *now;                /* (rows, C); current bias and crf */
        double scale;
        struct span *span;
        size_t spans, spans_cap;
        size_t *order;
        uint32_t *bucket; /* (SPAN, features), counts of them (SPAN) */
        size_t *buckets;
        float *score;
        double *scratch;
        bool has_crf;
};

size_t ran_crf_train_floats(size_t C)
{
        return C * (C + 2);
}

struct ran_crf ran_crf_train_view(float *x, size_t C)
{
        return x != NULL ? (struct ran_crf){x, x + C, x + 2 * C} : (struct ran_crf){0};
}

/* ---- sentences ------------------------------------------------------------------------------ */

static void add_spans(struct learner *l, size_t b)
{
        const struct ran_document d = ran_dataset_document(l->k->d, b);

        for (size_t begin = 0, end; begin < d.words; begin = end) {
                end = ran_crf_sentence_end(d.begins, begin, d.words);
                for (size_t from = begin; from < end; from += SPAN) {
                        size_t to = end - from < SPAN ? end : from + SPAN;

                        RAN_ROOM(l->span, l->spans_cap, l->spans + 1);
                        l->span[l->spans++] =
                                (struct span){(uint32_t)b, (uint32_t)begin, (uint32_t)end,
                                              (uint32_t)from, (uint32_t)to};
                }
        }
}

/* ---- one step ------------------------------------------------------------------------------- */

static float *row(const struct learner *l, size_t i)
{
        return l->v + i * l->C;
}

static size_t crf_floats(const struct learner *l)
{
        return l->has_crf ? ran_crf_train_floats(l->C) : 0;
}

static void score(struct learner *l, const struct ran_document *d, const struct span *s)
{
        size_t C = l->C;

        memset(l->score, 0, (s->to - s->from) * C * sizeof *l->score);
        for (size_t w = s->from; w < s->to; w++) {
                size_t i = w - s->from;
                uint32_t *bucket = l->bucket + i * l->features;
                float *out = l->score + i * C;

                l->buckets[i] = ran_linear_words_list(bucket, l->k->c, d, s->begin, s->end, w);
                for (size_t g = 0; g < l->buckets[i]; g++)
                        ran_simd->add(out, row(l, bucket[g]), C);
                for (size_t c = 0; c < C; c++)
                        out[c] = (float)(l->scale * (double)out[c]);
                for (size_t g = 0; g < l->buckets[i] && l->from != NULL; g++)
                        ran_simd->add(out, l->from + bucket[g] * C, C);
                ran_simd->add(out, l->now, C);
        }
}

/* Moves v against the gradient of the span, which is in l->score and behind v's last row. */
static void move(struct learner *l, const struct span *s, const float *dcrf, double step)
{
        size_t C = l->C;
        float by = (float)(-step / l->scale);

        for (size_t i = 0; i < s->to - s->from; i++) {
                const float *d = l->score + i * C;

                for (size_t g = 0; g < l->buckets[i]; g++)
                        ran_simd->axpy(row(l, l->bucket[i * l->features + g]), by, d, C);
                ran_simd->axpy(row(l, l->k->c->linear.wide), by, d, C);
        }
        ran_simd->axpy(row(l, l->k->c->linear.wide + 1), by, dcrf, crf_floats(l));
}

static void learn_span(struct learner *l, const struct span *s, float *dcrf, double step,
                       double decay)
{
        const struct ran_dataset *data = l->k->d;
        const struct ran_document d = ran_dataset_document(data, s->document);
        size_t C = l->C, n = s->to - s->from;
        const struct ran_crf crf = ran_crf_train_view(l->has_crf ? l->now + C : NULL, C);
        const struct ran_crf grad = ran_crf_train_view(l->has_crf ? dcrf : NULL, C);

        const float *v = row(l, l->k->c->linear.wide);
        for (size_t i = 0; i < C + crf_floats(l); i++) /* every sentence needs these whole */
                l->now[i] = (float)(l->scale * (double)v[i]);
        ran_simd->add(l->now, l->from_bias, C);
        score(l, &d, s);
        memset(dcrf, 0, crf_floats(l) * sizeof *dcrf);
        ran_crf_loss(l->score, &grad, l->score, &crf,
                     data->labels + data->label_first[s->document] + s->from, n, C,
                     (double)data->weight[s->document], l->scratch);
        move(l, s, dcrf, step);
        l->scale /= 1 + step * decay; /* |w|² at the end of the step: no cost is too small */
        if (l->scale >= 1e-4)
                return;
        for (size_t i = 0; i < l->rows * C; i++) /* before updates cannot be divided by it */
                l->v[i] = (float)(l->scale * (double)l->v[i]);
        l->scale = 1;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static int run_passes(struct learner *l, struct ran_error *err)
{
        const struct ran_crf_train *k = l->k;
        double decay = 1 / (k->cost * (double)l->spans), all = (double)l->spans * (double)k->passes;
        float *dcrf = ran_new_floats(crf_floats(l));
        int rc = RAN_OK;

        for (size_t n = 0, t = 0; n < k->passes && rc == RAN_OK; n++) {
                ran_random_shuffle(l->order, NULL, l->spans, k->seed, n);
                for (size_t i = 0; i < l->spans; i++, t++)
                        learn_span(l, &l->span[l->order[i]], dcrf,
                                   first_step * (1 - (double)t / all), decay);
                if (k->pass != NULL &&
                    k->pass(k->arg, n + 1, (double)(n + 1) / (double)k->passes) != 0)
                        rc = ran_fail(err, RAN_EINTR,
                                      "stopped while the linear model was being fitted");
        }
        free(dcrf);
        return rc;
}

static void add_scaled(float *to, const float *v, double scale, size_t n)
{
        for (size_t i = 0; i < n; i++)
                to[i] = (float)((double)to[i] + scale * (double)v[i]);
}

/* What is learned is added to the weights that it began with. */
static int learn(struct learner *l, float *weight, float *bias, float *crf, struct ran_error *err)
{
        const size_t wide = l->k->c->linear.wide, C = l->C;
        size_t all;

        if (__builtin_mul_overflow(l->rows, C, &all))
                return ran_fail(err, RAN_EINVAL, "a linear model of %zu tags is too large", C);
        l->v = ran_alloc_floats(all, err);
        if (l->v == NULL)
                return RAN_ENOMEM;
        for (size_t i = 0; i < l->k->n; i++)
                add_spans(l, l->k->document[i]);
        l->now = ran_new_floats(C + crf_floats(l));
        l->order = ran_new(l->spans, sizeof *l->order);
        l->bucket = ran_new(SPAN * l->features, sizeof *l->bucket);
        l->buckets = ran_new(SPAN, sizeof *l->buckets);
        l->score = ran_new_floats(SPAN * C);
        l->scratch = ran_new(ran_crf_scratch(l->has_crf, SPAN, C), sizeof *l->scratch);
        RAN_TRY(run_passes(l, err));
        add_scaled(weight, l->v, l->scale, wide * l->C);
        add_scaled(bias, row(l, wide), l->scale, l->C);
        if (crf == NULL)
                return RAN_OK;
        memset(crf, 0, ran_crf_train_floats(l->C) * sizeof *crf);
        add_scaled(crf, row(l, wide + 1), l->scale, ran_crf_train_floats(l->C));
        return RAN_OK;
}

int ran_crf_train_run(const struct ran_crf_train *k, float *weight, float *bias, float *crf,
                      struct ran_error *err)
{
        size_t C = k->d->C, wide = k->c->linear.wide, zeros = 0;
        while (zeros < wide * C && weight[zeros] == 0)
                zeros++;
        struct learner l = {.k = k,
                            .C = C,
                            .rows = wide + 1 + (crf != NULL ? C + 2 : 0),
                            .features = ran_linear_words_features(k->c),
                            .from = zeros < wide * C ? weight : NULL,
                            .from_bias = bias,
                            .scale = 1,
                            .has_crf = crf != NULL};
        const int rc = learn(&l, weight, bias, crf, err);

        free(l.v);
        free(l.now);
        free(l.span);
        free(l.order);
        free(l.bucket);
        free(l.buckets);
        free(l.score);
        free(l.scratch);
        return rc;
}
