/* cross-validate.c - see cross-validate.h. */
#include "train/cross-validate.h"
#include "train/loss.h"
#include "train/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 5, ENOUGH = 1000 };

/* Ascending: each fit begins where that with less cost ended. The first one, with ratios, is for
 * where there are too few documents to ask. */
static const double costs[] = {0.5, 2, 8};
/* Nearer than that no choice becomes another, only later (ran_svm_tolerance, RAN_SVM_PASSES). */
static const double rough_tolerance = 0.3;
enum { SOME_PASSES = 10 };
enum { COSTS = sizeof costs / sizeof *costs };

struct candidate {
        bool ratios;
        double cost, loss;
};

struct validation {
        const struct ran_svm *k;
        const float *idf, *weight, *bias; /* as fits begin */
        struct candidate candidate[2 * COSTS];
        size_t candidates;
        struct ran_svm fold;      /* k without the documents that are held_out about */
        size_t *order, *training; /* all documents, shuffled; those of the fold */
        size_t begin[FOLDS + 1];  /* where in the order each fold begins */
        const size_t *held_out;   /* (n) */
        size_t n;
        float *w, *b, *alpha, *logits, *scaled; /* logits (n, C), scaled (C) */
        size_t passes;
};

static void list_candidates(struct validation *x, int ratios)
{
        for (int with = 1; with >= 0; with--) {
                if (ratios != RAN_RATIOS_AUTO && (ratios == RAN_RATIOS_YES) != with)
                        continue;
                for (size_t i = 0; i < (x->k->cost > 0 ? 1 : COSTS); i++)
                        x->candidate[x->candidates++] = (struct candidate){
                                .ratios = with, .cost = x->k->cost > 0 ? x->k->cost : costs[i]};
        }
}

static int on_pass(void *arg, size_t passes)
{
        struct validation *x = arg;

        (void)passes;
        return x->k->pass != NULL ? x->k->pass(x->k->arg, ++x->passes) : 0;
}

struct drawn {
        uint64_t draw;
        size_t document;
};

static int compare_drawn(const void *a, const void *b)
{
        const struct drawn *x = a, *y = b;

        if (x->draw != y->draw)
                return x->draw < y->draw ? -1 : 1;
        return (x->document > y->document) - (x->document < y->document);
}

/* Groups are shuffled, and their documents stay together. */
static int shuffle_groups(struct validation *x, struct ran_error *err)
{
        const struct ran_svm *k = x->k;
        struct drawn *drawn = ran_alloc(k->n, sizeof *drawn, err);

        if (drawn == NULL)
                return RAN_ENOMEM;
        for (size_t i = 0; i < k->n; i++) {
                uint64_t group = k->d->group[k->document[i]];

                drawn[i] = (struct drawn){ran_random_draw(ran_random_key(k->seed, RAN_FOR_SPLIT,
                                                                         RAN_SHUFFLE_FOLDS, group),
                                                          0),
                                          k->document[i]};
        }
        qsort(drawn, k->n, sizeof *drawn, compare_drawn);
        for (size_t i = 0; i < k->n; i++)
                x->order[i] = drawn[i].document;
        free(drawn);
        return RAN_OK;
}

/* The order of all documents, and its folds: as many documents in each, but for a group that is
 * whole. */
static int make_folds(struct validation *x, struct ran_error *err)
{
        const struct ran_svm *k = x->k;
        const uint64_t *group = k->d->group;

        x->order = ran_alloc(k->n, sizeof *x->order, err);
        if (x->order == NULL)
                return RAN_ENOMEM;
        if (group != NULL && shuffle_groups(x, err) != RAN_OK)
                return RAN_ENOMEM;
        if (group == NULL)
                ran_plan_shuffle(x->order, k->document, k->n, k->seed, RAN_SHUFFLE_FOLDS);
        for (size_t f = 1; f <= FOLDS; f++) {
                size_t at = f * k->n / FOLDS;

                while (group != NULL && at > 0 && at < k->n &&
                       group[x->order[at]] == group[x->order[at - 1]])
                        at++;
                x->begin[f] = at;
        }
        return RAN_OK;
}

static size_t largest_fold(const struct validation *x)
{
        size_t most = 0;

        for (size_t f = 0; f < FOLDS; f++)
                if (x->begin[f + 1] - x->begin[f] > most)
                        most = x->begin[f + 1] - x->begin[f];
        return most;
}

static int prepare(struct validation *x, struct ran_error *err)
{
        const struct ran_svm *k = x->k;
        size_t C = k->d->C, alphas, logits;

        if (make_folds(x, err) != RAN_OK)
                return RAN_ENOMEM;
        if (__builtin_mul_overflow(k->d->B, C * ran_svm_sides(k->d), &alphas) ||
            __builtin_mul_overflow(largest_fold(x), C, &logits))
                return ran_fail(err, RAN_EINVAL, "%zu documents with %zu labels are too many",
                                k->d->B, C);
        x->training = ran_alloc(k->n, sizeof *x->training, err);
        x->w = ran_alloc_floats(k->c->wide * C, err);
        x->b = ran_alloc_floats(C, err);
        x->alpha = ran_alloc_floats(alphas, err);
        x->logits = ran_alloc_floats(logits, err);
        x->scaled = ran_alloc_floats(C, err);
        if (x->training == NULL || x->w == NULL || x->b == NULL || x->alpha == NULL ||
            x->logits == NULL || x->scaled == NULL)
                return RAN_ENOMEM;
        x->fold = *k;
        x->fold.tolerance = rough_tolerance;
        x->fold.passes = SOME_PASSES;
        x->fold.alpha = x->alpha;
        x->fold.pass = on_pass;
        x->fold.arg = x;
        return RAN_OK;
}

static void release(struct validation *x)
{
        free(x->order);
        free(x->training);
        free(x->w);
        free(x->b);
        free(x->alpha);
        free(x->logits);
        free(x->scaled);
}

static double loss_at(const struct validation *x, double scale)
{
        const struct ran_dataset *d = x->k->d;
        double sum = 0;

        for (size_t i = 0; i < x->n; i++) {
                const struct ran_target target = ran_loss_target(d, x->held_out[i]);

                for (size_t c = 0; c < d->C; c++)
                        x->scaled[c] = (float)(scale * (double)x->logits[i * d->C + c]);
                sum += ran_loss_classify(x->scaled, x->scaled, d->C, &target, d->multilabel, 0,
                                         (double)d->weight[x->held_out[i]]);
        }
        return sum;
}

/* The least at any of ten scales, half an octave apart, from 1/2 to 11: margins are no logits. */
static double lowest_loss(const struct validation *x)
{
        double least = INFINITY, scale = 0.5;

        for (int i = 0; i < 10; i++) {
                least = fmin(least, loss_at(x, scale));
                scale *= 1.4142135623730951;
        }
        return least;
}

static void reset(struct validation *x)
{
        size_t C = x->k->d->C;

        memcpy(x->w, x->weight, x->k->c->wide * C * sizeof *x->w);
        memcpy(x->b, x->bias, C * sizeof *x->b);
        memset(x->alpha, 0, x->k->d->B * C * ran_svm_sides(x->k->d) * sizeof *x->alpha);
}

static int try_all(struct validation *x, struct ran_error *err)
{
        int rc = RAN_OK;

        for (size_t i = 0; i < x->candidates && rc == RAN_OK; i++) {
                struct candidate *a = &x->candidate[i];

                if (i == 0 || a->ratios != a[-1].ratios)
                        reset(x);
                x->fold.ratios = a->ratios;
                x->fold.cost = a->cost;
                rc = ran_svm_fit(&x->fold, x->idf, x->w, x->b, err);
                if (rc == RAN_OK)
                        rc = ran_svm_score(&x->fold, x->held_out, x->n, x->idf, x->w, x->b,
                                           x->logits, err);
                if (rc == RAN_OK)
                        a->loss += lowest_loss(x);
        }
        return rc;
}

/* The documents of fold f are held_out about. */
static int try_fold(struct validation *x, size_t f, struct ran_error *err)
{
        size_t from = x->begin[f], to = x->begin[f + 1];

        if (from == to || to - from == x->k->n) /* between groups nothing, or one is all there is */
                return RAN_OK;
        memcpy(x->training, x->order, from * sizeof *x->training);
        memcpy(x->training + from, x->order + to, (x->k->n - to) * sizeof *x->training);
        x->fold.document = x->training;
        x->fold.n = x->k->n - (to - from);
        x->held_out = x->order + from;
        x->n = to - from;
        return try_all(x, err);
}

int ran_cross_validate(struct ran_svm *k, int ratios, const float *idf, const float *weight,
                       const float *bias, struct ran_error *err)
{
        struct validation x = {.k = k, .idf = idf, .weight = weight, .bias = bias};
        const struct candidate *best = x.candidate;
        int rc = RAN_OK;

        list_candidates(&x, ratios);
        if (x.candidates > 1 && k->n >= FOLDS) {
                rc = prepare(&x, err);
                for (size_t f = 0; f < FOLDS && x.begin[f] < ENOUGH && rc == RAN_OK; f++)
                        rc = try_fold(&x, f, err);
        }
        for (size_t i = 1; i < x.candidates; i++)
                if (x.candidate[i].loss < best->loss)
                        best = &x.candidate[i];
        release(&x);
        if (rc == RAN_OK) {
                k->cost = best->cost;
                k->ratios = best->ratios;
        }
        return rc;
}
