/* svm.c - see svm.h. Elementwise and in double, so that neither threads nor vectors of a
 * processor change the result.
 */
#include "train/svm.h"
#include "math/elementary.h"
#include "model/linear-model.h"
#include "train/loss.h"
#include "train/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Documents are read so many tokens at a time, one at least. */
enum { TOKENS = 1 << 15 };
/* Of how rare a feature is: added to what each side has of it. */
static const double smoothing = 0.03;

const double ran_svm_tolerance = 0.05;

enum { SIDES = 2 }; /* that a document can count for: the class, and the others */

/* Documents that are read: the features of each. */
struct lists {
        const struct ran_svm *k;
        const float *idf;       /* NULL: only which buckets there are */
        const size_t *document; /* (n) */
        size_t n;
        size_t *begin; /* (n) where its features begin */
        size_t *grams; /* (n) how many they are */
        struct ran_gram *gram;
        struct ran_posting *place, *spare;
        size_t begin_cap, grams_cap, gram_cap, place_cap, spare_cap;
};

struct solver {
        const struct ran_svm *k;
        struct lists lists;
        size_t C, sides, per;   /* sides: 1 where no document has soft targets; per:
                                   classes of a task */
        float *weight, *bias;   /* copies: those of the caller stay until there is a result */
        float *square;          /* (rows, C) r² */
        float *alpha;           /* (B, C, sides): its own, or that of k */
        double *target, *score; /* (C) of the document at hand: whether it is of the class */
        double *worst;          /* (tasks) how far from its optimum a class is */
};

/* ---- documents ------------------------------------------------------------------------------ */

static size_t tokens_of(const struct ran_dataset *d, size_t b)
{
        return d->first[b + 1] - d->first[b];
}

/* How many documents from `document` on are read at once, and how many features they may have. */
static size_t plan(const struct ran_svm *k, const size_t *document, size_t left, size_t *room)
{
        size_t n = 0, tokens = 0;

        while (n < left && (n == 0 || tokens + tokens_of(k->d, document[n]) <= TOKENS))
                tokens += tokens_of(k->d, document[n++]);
        *room = tokens * ran_linear_model_features(k->c);
        return n;
}

static void lists_release(struct lists *l)
{
        free(l->begin);
        free(l->grams);
        free(l->gram);
        free(l->place);
        free(l->spare);
}

/* Grows one array of a list. */
#define ROOM(array, want)                                                                       \
        do {                                                                                    \
                void *grown = ran_grow(l->array, &l->array##_cap, want, sizeof *l->array, err); \
                if (grown == NULL)                                                              \
                        return RAN_ENOMEM;                                                      \
                l->array = grown;                                                               \
        } while (0)

static int fit(struct lists *l, size_t room, struct ran_error *err)
{
        ROOM(begin, l->n);
        ROOM(grams, l->n);
        ROOM(gram, room);
        ROOM(place, room);
        ROOM(spare, room);
        return RAN_OK;
}

static void read_one(void *arg, size_t i)
{
        const struct lists *l = arg;
        const struct ran_svm *k = l->k;
        size_t at = l->begin[i], b = l->document[i];

        l->grams[i] =
                ran_linear_model_read(l->gram + at, l->place + at, l->spare + at, k->c, k->pieces,
                                      l->idf, k->d->ids + k->d->first[b], tokens_of(k->d, b));
}

/* Reads the next documents of `left`. */
static int read(struct lists *l, const size_t *document, size_t left, struct ran_error *err)
{
        size_t room, at = 0;

        l->document = document;
        l->n = plan(l->k, document, left, &room);
        if (fit(l, room, err) != RAN_OK)
                return RAN_ENOMEM;
        for (size_t i = 0; i < l->n; i++) {
                l->begin[i] = at;
                at += tokens_of(l->k->d, document[i]) * ran_linear_model_features(l->k->c);
        }
        ran_parallel(l->k->pool, l->n, read_one, l);
        return RAN_OK;
}

int ran_svm_idf(const struct ran_svm *k, float *idf, struct ran_error *err)
{
        struct lists l = {.k = k};
        int rc = RAN_OK;

        memset(idf, 0, k->c->wide * sizeof *idf);
        for (size_t at = 0; at < k->n && rc == RAN_OK; at += l.n) {
                rc = read(&l, k->document + at, k->n - at, err);
                for (size_t i = 0; i < l.n && rc == RAN_OK; i++)
                        for (size_t g = l.begin[i]; g < l.begin[i] + l.grams[i]; g++)
                                idf[l.gram[g].bucket]++; /* exact up to 2^24, where it stays */
        }
        for (size_t g = 0; g < k->c->wide; g++)
                idf[g] = ran_linear_model_idf((double)idf[g], (double)k->n);
        lists_release(&l);
        return rc;
}

/* ---- how well a feature tells a class by itself ---------------------------------------------- */

/* What the classes have of each feature, and what all have of it, times and squared. */
static int count(struct solver *s, double *all, double *squares, struct ran_error *err)
{
        const struct ran_svm *k = s->k;
        struct lists *l = &s->lists;
        size_t C = s->C;
        int rc = RAN_OK;

        for (size_t at = 0; at < k->n && rc == RAN_OK; at += l->n) {
                rc = read(l, k->document + at, k->n - at, err);
                for (size_t i = 0; i < l->n && rc == RAN_OK; i++) {
                        size_t b = l->document[i];
                        const struct ran_target t = ran_loss_target(k->d, b);
                        const struct ran_gram *gram = l->gram + l->begin[i];

                        for (size_t g = 0; g < l->grams[i]; g++) {
                                float *row = s->square + gram[g].bucket * C;
                                float x = gram[g].x * k->d->weight[b];

                                all[gram[g].bucket] += (double)x;
                                squares[gram[g].bucket] += (double)x * (double)gram[g].x;
                                for (size_t j = 0; j < t.n; j++)
                                        row[t.label[j]] += t.p != NULL ? t.p[j] * x : x;
                        }
                }
        }
        return rc;
}

struct rating {
        const struct solver *s;
        const double *all, *squares; /* (rows) */
        double weight;               /* of all documents */
};

/* From what class c has of each feature to r². */
static void rate_class(void *arg, size_t c)
{
        const struct rating *k = arg;
        const struct solver *s = k->s;
        const double *all = k->all, *squares = k->squares;
        double mine = 0, others = 0, sum = 0;
        size_t rows = s->k->c->wide;

        for (size_t g = 0; g < rows; g++) {
                double p = (double)s->square[g * s->C + c];

                if (all[g] > 0) {
                        mine += smoothing + p;
                        others += smoothing + fmax(all[g] - p, 0);
                }
        }
        for (size_t g = 0; g < rows; g++) {
                double p = (double)s->square[g * s->C + c], ratio = 0;

                if (all[g] > 0)
                        ratio = fabs(ran_log((smoothing + p) / mine) -
                                     ran_log((smoothing + fmax(all[g] - p, 0)) / others));
                s->square[g * s->C + c] = (float)ratio;
                sum += ratio * squares[g];
        }
        for (size_t g = 0; g < rows && sum > 0; g++)
                s->square[g * s->C + c] *= (float)(k->weight / sum);
}

static int rate(struct solver *s, struct ran_error *err)
{
        size_t rows = s->k->c->wide;

        if (!s->k->ratios) {
                for (size_t i = 0; i < rows * s->C; i++)
                        s->square[i] = 1;
                return RAN_OK;
        }
        double *all = ran_alloc(rows, sizeof *all, err);
        double *squares = ran_alloc(rows, sizeof *squares, err);
        int rc = RAN_ENOMEM;

        if (all != NULL && squares != NULL)
                rc = count(s, all, squares, err);
        if (rc == RAN_OK) {
                struct rating k = {.s = s, .all = all, .squares = squares};

                for (size_t i = 0; i < s->k->n; i++)
                        k.weight += (double)s->k->d->weight[s->k->document[i]];
                ran_parallel(s->k->pool, s->C, rate_class, &k);
        }
        free(all);
        free(squares);
        return rc;
}

/* ---- coordinate descent ---------------------------------------------------------------------- */

/* sum (C): the scores of classes [from, to) for document i of a list. */
static void score(double *restrict sum, const struct lists *l, size_t i, const float *weight,
                  const float *bias, size_t from, size_t to)
{
        const struct ran_gram *gram = l->gram + l->begin[i];
        size_t C = l->k->d->C;

        for (size_t c = from; c < to; c++)
                sum[c] = (double)bias[c];
        for (size_t g = 0; g < l->grams[i]; g++) {
                const float *restrict w = weight + gram[g].bucket * C;
                double x = (double)gram[g].x;

                for (size_t c = from; c < to; c++)
                        sum[c] += x * (double)w[c];
        }
}

/* The squared length of document i as class c sees it. */
static double length(const struct solver *s, size_t i, size_t c)
{
        const struct ran_gram *gram = s->lists.gram + s->lists.begin[i];
        double sum = 1;

        for (size_t g = 0; g < s->lists.grams[i]; g++)
                sum += (double)gram[g].x * (double)gram[g].x *
                       (double)s->square[gram[g].bucket * s->C + c];
        return sum;
}

static void move(struct solver *s, size_t i, size_t c, double step)
{
        const struct ran_gram *gram = s->lists.gram + s->lists.begin[i];

        s->bias[c] += (float)step;
        for (size_t g = 0; g < s->lists.grams[i]; g++) {
                size_t at = gram[g].bucket * s->C + c;

                s->weight[at] = (float)((double)s->weight[at] +
                                        step * (double)gram[g].x * (double)s->square[at]);
        }
}

/* The dual variable of document i on side y of class c goes where it belongs. Most are 0, and stay
 * there, so that only the scores cost anything. Raises *worst to how far it was. */
static void solve_side(struct solver *s, size_t i, size_t c, double y, double cost, float *alpha,
                       double *worst)
{
        double was = (double)*alpha, slack = 1 / (2 * cost), slope, squares;

        slope = y * s->score[c] - 1 + slack * was;
        if (cost <= 0 || slope == 0 || (was == 0 && slope > 0))
                return;
        *worst = fmax(*worst, fabs(slope));
        squares = length(s, i, c);
        *alpha = (float)fmax(0, was - slope / (squares + slack));
        move(s, i, c, y * ((double)*alpha - was));
        s->score[c] += y * ((double)*alpha - was) * squares;
}

/* The target of document b, of classes [from, to). */
static void aim(const struct solver *s, size_t b, size_t from, size_t to)
{
        const struct ran_target t = ran_loss_target(s->k->d, b);

        memset(s->target + from, 0, (to - from) * sizeof *s->target);
        for (size_t j = 0; j < t.n; j++)
                if (t.label[j] >= from && t.label[j] < to)
                        s->target[t.label[j]] = t.p != NULL ? (double)t.p[j] : 1;
}

static void solve_document(struct solver *s, size_t i, size_t from, size_t to, double *worst)
{
        const struct ran_svm *k = s->k;
        size_t b = s->lists.document[i];
        double cost = k->cost * (double)k->d->weight[b];

        if (k->class_weight != NULL && !k->d->multilabel)
                cost *= k->class_weight[k->d->labels[k->d->label_first[b]]];
        aim(s, b, from, to);
        score(s->score, &s->lists, i, s->weight, s->bias, from, to);
        for (size_t c = from; c < to; c++) {
                float *alpha = s->alpha + (b * s->C + c) * s->sides;
                double t = s->target[c];

                solve_side(s, i, c, 1, cost * t, alpha, worst);
                solve_side(s, i, c, -1, cost * (1 - t), alpha + s->sides - 1, worst);
        }
}

static void solve_classes(void *arg, size_t task)
{
        struct solver *s = arg;
        size_t from = task * s->per, to = from + s->per < s->C ? from + s->per : s->C;

        for (size_t i = 0; i < s->lists.n; i++)
                solve_document(s, i, from, to, &s->worst[task]);
}

/* Once through the documents. */
static int pass(struct solver *s, const size_t *order, struct ran_error *err)
{
        size_t tasks = (s->C + s->per - 1) / s->per;
        int rc = RAN_OK;

        memset(s->worst, 0, tasks * sizeof *s->worst);
        for (size_t at = 0; at < s->k->n && rc == RAN_OK; at += s->lists.n) {
                rc = read(&s->lists, order + at, s->k->n - at, err);
                if (rc == RAN_OK)
                        ran_parallel(s->k->pool, tasks, solve_classes, s);
        }
        return rc;
}

static bool solved(const struct solver *s)
{
        double worst = 0;

        for (size_t i = 0; i < (s->C + s->per - 1) / s->per; i++)
                worst = fmax(worst, s->worst[i]);
        return worst <= s->k->tolerance;
}

static int solve(struct solver *s, struct ran_error *err)
{
        const struct ran_svm *k = s->k;
        size_t *order = ran_alloc(k->n, sizeof *order, err);
        int rc = order != NULL ? RAN_OK : RAN_ENOMEM;

        for (size_t n = 0; n < k->passes && rc == RAN_OK; n++) {
                ran_plan_shuffle(order, k->document, k->n, k->seed, n);
                rc = pass(s, order, err);
                if (rc == RAN_OK && k->pass != NULL && k->pass(k->arg, n + 1) != 0)
                        rc = ran_fail(err, RAN_EINTR,
                                      "stopped while the linear model was being fitted");
                if (solved(s))
                        break;
        }
        free(order);
        return rc;
}

static void solver_release(struct solver *s)
{
        lists_release(&s->lists);
        free(s->weight);
        free(s->bias);
        free(s->square);
        if (s->k->alpha == NULL)
                free(s->alpha);
        free(s->target);
        free(s->score);
        free(s->worst);
}

size_t ran_svm_sides(const struct ran_dataset *d)
{
        return d->soft_first != NULL ? SIDES : 1;
}

int ran_svm_fit(const struct ran_svm *k, const float *idf, float *weight, float *bias,
                struct ran_error *err)
{
        size_t C = k->d->C, threads = k->pool != NULL ? ran_pool_threads(k->pool) : 1, all;
        struct solver s = {.k = k,
                           .lists = {.k = k, .idf = idf},
                           .C = C,
                           .sides = ran_svm_sides(k->d),
                           .per = (C + threads - 1) / threads};
        int rc = RAN_ENOMEM;

        if (__builtin_mul_overflow(k->d->B, C * s.sides, &all) || C > SIZE_MAX / SIDES)
                return ran_fail(err, RAN_EINVAL, "%zu documents with %zu labels are too many",
                                k->d->B, C);
        s.weight = ran_alloc_floats(k->c->wide * C, err);
        s.bias = ran_alloc_floats(C, err);
        s.square = ran_alloc_floats(k->c->wide * C, err);
        s.alpha = k->alpha != NULL ? k->alpha : ran_alloc_floats(all, err);
        s.target = ran_alloc(C, sizeof *s.target, err);
        s.score = ran_alloc(C, sizeof *s.score, err);
        s.worst = ran_alloc(C, sizeof *s.worst, err);
        if (s.weight != NULL && s.bias != NULL && s.square != NULL && s.alpha != NULL &&
            s.target != NULL && s.score != NULL && s.worst != NULL)
                rc = rate(&s, err);
        if (rc == RAN_OK) {
                memcpy(s.weight, weight, k->c->wide * C * sizeof *weight);
                memcpy(s.bias, bias, C * sizeof *bias);
                rc = solve(&s, err);
        }
        if (rc == RAN_OK) {
                memcpy(weight, s.weight, k->c->wide * C * sizeof *weight);
                memcpy(bias, s.bias, C * sizeof *bias);
        }
        solver_release(&s);
        return rc;
}

int ran_svm_score(const struct ran_svm *k, const size_t *document, size_t n, const float *idf,
                  const float *weight, const float *bias, float *logits, struct ran_error *err)
{
        struct lists l = {.k = k, .idf = idf};
        size_t C = k->d->C;
        double *sum = ran_alloc(C, sizeof *sum, err);
        int rc = sum != NULL ? RAN_OK : RAN_ENOMEM;

        for (size_t at = 0; at < n && rc == RAN_OK; at += l.n) {
                rc = read(&l, document + at, n - at, err);
                for (size_t i = 0; i < l.n && rc == RAN_OK; i++) {
                        score(sum, &l, i, weight, bias, 0, C);
                        for (size_t c = 0; c < C; c++)
                                logits[(at + i) * C + c] = (float)sum[c];
                }
        }
        free(sum);
        lists_release(&l);
        return rc;
}
