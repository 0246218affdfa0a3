/* svm.c - see svm.h. Scores are sums in float32 over the features of a row, in order; the rest is
 * in double. Neither depends on the number of threads.
 *
 * Arrays hold `width` numbers for each column of the matrix, one a solved class, side by side: a
 * feature of a row then reads one run of memory, however many classes there are.
 */
#include "train/svm.h"
#include "math/elementary.h"
#include "math/simd.h"
#include "train/loss.h"
#include "train/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Added to a feature's count on either side of a ratio. */
static const double smoothing = 0.03;

const double ran_svm_tolerance = 0.05;

/* Features between the one at work and the one whose weights are fetched into the cache. */
enum { AHEAD = 12 };

enum { SIDES = 2 }; /* a document can count for: the class, and the others */

struct ran_svm_solver {
        struct ran_svm k;
        size_t C, width;      /* width: C, or 1 where the second class mirrors the first */
        size_t sides;         /* 1 without soft targets */
        size_t tasks;         /* groups of classes, one a thread */
        float *weight, *bias; /* (columns, width), (width) */
        float *square;        /* (columns, width) r²; NULL: all are 1 */
        float *squares; /* (n, width) squared length of a row for a class, 0: not known yet; or
                           (n) without ratios */
        float *alpha;   /* (n, width, sides) dual variables */
        float *score;   /* (width) of the row at work */
        float *target;  /* (width) whether it is of the class */
        size_t *active; /* (actives) numbers of rows, below n, that are not shrunk away */
        size_t *order;  /* (n) the same, as a pass takes them */
        size_t actives;
        unsigned char *busy; /* (tasks, n) whether a row may still move */
        double *worst;       /* (tasks) largest violation of a pass */
        double cost, tolerance, bound;
        size_t visits, most_visits, passes;
};

/* ---- life ------------------------------------------------------------------------------------ */

static bool mirrors(const struct ran_svm *k, const float *weight, const float *bias)
{
        if (k->d->C != 2 || k->d->multilabel)
                return false;
        for (size_t g = 0; weight != NULL && g < k->features->columns; g++) {
                const float *w = weight + (size_t)k->features->bucket[g] * 2;

                if (w[0] != -w[1])
                        return false;
        }
        return bias == NULL || bias[0] == -bias[1];
}

void ran_svm_solver_free(struct ran_svm_solver *s)
{
        if (s == NULL)
                return;
        free(s->weight);
        free(s->bias);
        free(s->square);
        free(s->squares);
        free(s->alpha);
        free(s->score);
        free(s->target);
        free(s->active);
        free(s->order);
        free(s->busy);
        free(s->worst);
        free(s);
}

static bool allocate(struct ran_svm_solver *s, struct ran_error *err)
{
        size_t columns = s->k.features->columns, width = s->width, n = s->k.n;

        s->weight = ran_alloc_floats(columns * width, err);
        s->bias = ran_alloc_floats(width, err);
        s->square = s->k.ratios ? ran_alloc_floats(columns * width, err) : NULL;
        s->squares = ran_alloc_floats(s->k.ratios ? n * width : n, err);
        s->alpha = ran_alloc_floats(n * width * s->sides, err);
        s->score = ran_alloc_floats(width, err);
        s->target = ran_alloc_floats(width, err);
        s->active = ran_alloc(n, sizeof *s->active, err);
        s->order = ran_alloc(n, sizeof *s->order, err);
        s->busy = ran_alloc(s->tasks * n, 1, err);
        s->worst = ran_alloc(s->tasks, sizeof *s->worst, err);
        return s->weight != NULL && s->bias != NULL && (s->square != NULL || !s->k.ratios) &&
               s->squares != NULL && s->alpha != NULL && s->score != NULL && s->target != NULL &&
               s->active != NULL && s->order != NULL && s->busy != NULL && s->worst != NULL;
}

static void copy_start(struct ran_svm_solver *s, const float *weight, const float *bias)
{
        const struct ran_features *f = s->k.features;

        for (size_t g = 0; weight != NULL && g < f->columns; g++)
                memcpy(s->weight + g * s->width, weight + f->bucket[g] * s->C,
                       s->width * sizeof *weight);
        if (bias != NULL)
                memcpy(s->bias, bias, s->width * sizeof *bias);
}

/* ---- how well a feature tells a class by itself ---------------------------------------------- */

struct rating {
        struct ran_svm_solver *s;
        double *all, *squares; /* (columns) sums of x and of x² */
        double *log_all;       /* (columns) ln(smoothing + all) */
        double weight;         /* of all documents */
};

static size_t row_document(const struct ran_svm_solver *s, size_t i)
{
        return s->k.document[s->k.row[i]];
}

/* The sums of x: over all rows, and in s->square over the rows of each class. */
static void count(struct rating *k)
{
        struct ran_svm_solver *s = k->s;
        const struct ran_features *f = s->k.features;

        for (size_t i = 0; i < s->k.n; i++) {
                size_t b = row_document(s, i), row = s->k.row[i];
                const struct ran_target t = ran_loss_target(s->k.d, b);

                for (size_t g = f->first[row]; g < f->first[row + 1]; g++) {
                        float x = f->x[g] * s->k.d->weight[b];
                        float *sum = s->square + f->column[g] * s->width;

                        k->all[f->column[g]] += (double)x;
                        k->squares[f->column[g]] += (double)x * (double)f->x[g];
                        for (size_t j = 0; j < t.n; j++)
                                if (t.label[j] < s->width)
                                        sum[t.label[j]] += t.p != NULL ? t.p[j] * x : x;
                }
                k->weight += (double)s->k.d->weight[b];
        }
        for (size_t g = 0; g < f->columns; g++)
                k->log_all[g] = ran_log(smoothing + k->all[g]);
}

/* From the sums of class c to r². A column is there because rows of the matrix have it; rows that
 * are left out of a fold may be all of them: it then has no ratio. */
static void rate_class(void *arg, size_t c)
{
        const struct rating *k = arg;
        const struct ran_svm_solver *s = k->s;
        size_t columns = s->k.features->columns;
        double mine = 0, others = 0, sum = 0, scale;

        for (size_t g = 0; g < columns; g++) {
                double p = (double)s->square[g * s->width + c];

                if (k->all[g] > 0) {
                        mine += smoothing + p;
                        others += smoothing + fmax(k->all[g] - p, 0);
                }
        }
        const double log_mine = ran_log(mine), log_others = ran_log(others),
                     log_none = ran_log(smoothing);
        for (size_t g = 0; g < columns; g++) {
                float *at = &s->square[g * s->width + c];
                double p = (double)*at, ratio = 0;

                if (k->all[g] > 0 && p == 0)
                        ratio = fabs((log_none - log_mine) - (k->log_all[g] - log_others));
                else if (k->all[g] > 0)
                        ratio = fabs((ran_log(smoothing + p) - log_mine) -
                                     (ran_log(smoothing + fmax(k->all[g] - p, 0)) - log_others));
                *at = (float)ratio;
                sum += ratio * k->squares[g];
        }
        scale = sum > 0 ? k->weight / sum : 1;
        for (size_t g = 0; g < columns; g++)
                s->square[g * s->width + c] *= (float)scale;
}

static int rate(struct ran_svm_solver *s, struct ran_error *err)
{
        size_t columns = s->k.features->columns;
        struct rating k = {.s = s,
                           .all = ran_alloc(columns, sizeof *k.all, err),
                           .squares = ran_alloc(columns, sizeof *k.squares, err),
                           .log_all = ran_alloc(columns, sizeof *k.log_all, err)};
        int rc = RAN_ENOMEM;

        if (k.all != NULL && k.squares != NULL && k.log_all != NULL) {
                count(&k);
                ran_parallel(s->k.pool, s->width, rate_class, &k);
                rc = RAN_OK;
        }
        free(k.all);
        free(k.squares);
        free(k.log_all);
        return rc;
}

struct ran_svm_solver *ran_svm_solver_new(const struct ran_svm *k, const float *weight,
                                          const float *bias, struct ran_error *err)
{
        size_t C = k->d->C, threads = k->pool != NULL ? ran_pool_threads(k->pool) : 1, all;
        struct ran_svm_solver *s;

        if (__builtin_mul_overflow(k->n, C * SIDES, &all) || C > SIZE_MAX / SIDES ||
            __builtin_mul_overflow(k->features->columns, C, &all)) {
                ran_fail(err, RAN_EINVAL, "too many labels: %zu, of %zu documents", C, k->n);
                return NULL;
        }
        s = ran_alloc(1, sizeof *s, err);
        if (s == NULL)
                return NULL;
        s->k = *k;
        s->C = C;
        s->width = mirrors(k, weight, bias) ? 1 : C;
        s->sides = k->d->soft_first != NULL ? SIDES : 1;
        s->tasks = s->width < threads ? s->width : threads;
        if (!allocate(s, err) || (k->ratios && rate(s, err) != RAN_OK)) {
                ran_svm_solver_free(s);
                return NULL;
        }
        copy_start(s, weight, bias);
        return s;
}

/* ---- coordinate descent ---------------------------------------------------------------------- */

/* score[from, to) of a row. */
static void score_row(const struct ran_svm_solver *s, float *restrict score, size_t row,
                      size_t from, size_t to)
{
        const struct ran_features *f = s->k.features;
        const uint32_t *column = f->column + f->first[row];
        const float *x = f->x + f->first[row];
        size_t n = f->first[row + 1] - f->first[row], width = s->width;

        if (width == 1) { /* four sums, so that none waits for the one before */
                const float *w = s->weight;
                float sum[4] = {0};
                size_t g = 0;

                for (; g + 4 <= n; g += 4)
                        for (size_t i = 0; i < 4; i++)
                                sum[i] += x[g + i] * w[column[g + i]];
                for (; g < n; g++)
                        sum[0] += x[g] * w[column[g]];
                score[0] = s->bias[0] + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
                return;
        }
        memcpy(score + from, s->bias + from, (to - from) * sizeof *score);
        for (size_t g = 0; g < n; g++) {
                if (g + AHEAD < n)
                        __builtin_prefetch(s->weight + column[g + AHEAD] * width + from);
                ran_simd->axpy(score + from, x[g], s->weight + column[g] * width + from, to - from);
        }
}

/* The squared length of row i, one for the bias included, as class c sees it. */
static double squared_length(struct ran_svm_solver *s, size_t i, size_t c)
{
        const struct ran_features *f = s->k.features;
        float *known = &s->squares[s->square != NULL ? i * s->width + c : i];
        double sum = 1;

        if (*known > 0)
                return (double)*known;
        for (size_t g = f->first[s->k.row[i]]; g < f->first[s->k.row[i] + 1]; g++)
                sum += (double)f->x[g] * (double)f->x[g] *
                       (s->square != NULL ? (double)s->square[f->column[g] * s->width + c] : 1);
        *known = (float)sum;
        return (double)*known;
}

static void move(struct ran_svm_solver *s, size_t i, size_t c, float step)
{
        const struct ran_features *f = s->k.features;
        size_t width = s->width, end = f->first[s->k.row[i] + 1];

        s->bias[c] += step;
        if (s->square == NULL)
                for (size_t g = f->first[s->k.row[i]]; g < end; g++)
                        s->weight[f->column[g] * width + c] += step * f->x[g];
        else
                for (size_t g = f->first[s->k.row[i]]; g < end; g++) {
                        size_t at = f->column[g] * width + c;

                        s->weight[at] += step * f->x[g] * s->square[at];
                }
}

/* Takes the dual variable of row i on side y of class c to its optimum. Most are 0 and stay there,
 * so that only their score costs anything. Returns whether it may still move. */
static bool solve_side(struct ran_svm_solver *s, size_t i, size_t c, float y, double cost,
                       float *alpha, double *worst)
{
        if (cost <= 0)
                return false;
        const double was = (double)*alpha, slack = 1 / (2 * cost);
        const double slope = (double)(y * s->score[c]) - 1 + slack * was;

        if (was == 0 && slope >= 0)
                return slope <= s->bound;
        const double squares = squared_length(s, i, c);
        *worst = fmax(*worst, fabs(slope));
        *alpha = (float)fmax(0, was - slope / (squares + slack));
        const float step = y * (float)((double)*alpha - was);
        if (step != 0)
                move(s, i, c, step);
        s->score[c] += step * (float)squares;
        return true;
}

static void set_targets(const struct ran_svm_solver *s, size_t b, size_t from, size_t to)
{
        const struct ran_target t = ran_loss_target(s->k.d, b);

        memset(s->target + from, 0, (to - from) * sizeof *s->target);
        for (size_t j = 0; j < t.n; j++)
                if (t.label[j] >= from && t.label[j] < to)
                        s->target[t.label[j]] = t.p != NULL ? t.p[j] : 1;
}

/* All classes [from, to) of row i. */
static bool solve_row(struct ran_svm_solver *s, size_t i, size_t from, size_t to, double *worst)
{
        const struct ran_svm *k = &s->k;
        size_t b = row_document(s, i);
        double cost = s->cost * (double)k->d->weight[b];
        bool busy = false;

        if (k->class_weight != NULL && !k->d->multilabel)
                cost *= k->class_weight[k->d->labels[k->d->label_first[b]]];
        set_targets(s, b, from, to);
        score_row(s, s->score, k->row[i], from, to);
        for (size_t c = from; c < to; c++) {
                float *alpha = s->alpha + (i * s->width + c) * s->sides;
                double t = (double)s->target[c];

                busy |= solve_side(s, i, c, 1, cost * t, alpha, worst);
                busy |= solve_side(s, i, c, -1, cost * (1 - t), alpha + s->sides - 1, worst);
        }
        return busy;
}

static void solve_classes(void *arg, size_t task)
{
        struct ran_svm_solver *s = arg;
        size_t from = task * s->width / s->tasks, to = (task + 1) * s->width / s->tasks;
        unsigned char *busy = s->busy + task * s->k.n;
        double worst = 0; /* threads do not share a cache line */

        for (size_t j = 0; j < s->actives; j++)
                busy[s->order[j]] = solve_row(s, s->order[j], from, to, &worst);
        s->worst[task] = worst;
}

static void activate_all(struct ran_svm_solver *s)
{
        for (size_t i = 0; i < s->k.n; i++)
                s->active[i] = i;
        s->actives = s->k.n;
        s->bound = INFINITY;
}

/* Drops the rows that no class can move. */
static void shrink(struct ran_svm_solver *s)
{
        size_t left = 0;

        for (size_t j = 0; j < s->actives; j++) {
                size_t i = s->active[j];
                bool busy = false;

                for (size_t task = 0; task < s->tasks; task++)
                        busy |= s->busy[task * s->k.n + i] != 0;
                if (busy)
                        s->active[left++] = i;
        }
        s->actives = left;
}

void ran_svm_solver_begin(struct ran_svm_solver *s, double cost, double tolerance, size_t passes)
{
        s->cost = cost;
        s->tolerance = tolerance;
        s->most_visits = passes * s->k.n;
        s->visits = s->passes = 0;
        activate_all(s);
}

bool ran_svm_solver_pass(struct ran_svm_solver *s)
{
        const bool all = s->actives == s->k.n;
        double worst = 0;

        ran_plan_shuffle(s->order, s->active, s->actives, s->k.seed, s->passes++);
        ran_parallel(s->k.pool, s->tasks, solve_classes, s);
        for (size_t i = 0; i < s->tasks; i++)
                worst = fmax(worst, s->worst[i]);
        s->visits += s->actives;
        if (worst <= s->tolerance && all)
                return true;
        if (worst <= s->tolerance) {
                activate_all(s);
        } else {
                shrink(s);
                s->bound = worst;
        }
        return s->visits + s->actives > s->most_visits;
}

/* ---- results --------------------------------------------------------------------------------- */

void ran_svm_solver_score(struct ran_svm_solver *s, const size_t *row, size_t n, float *logits)
{
        for (size_t i = 0; i < n; i++) {
                float *to = logits + i * s->C;

                score_row(s, to, row[i], 0, s->width);
                if (s->width < s->C)
                        to[1] = -to[0];
        }
}

void ran_svm_solver_store(const struct ran_svm_solver *s, float *weight, float *bias)
{
        const struct ran_features *f = s->k.features;

        for (size_t g = 0; g < f->columns; g++) {
                float *to = weight + f->bucket[g] * s->C;

                memcpy(to, s->weight + g * s->width, s->width * sizeof *to);
                if (s->width < s->C)
                        to[1] = -to[0];
        }
        memcpy(bias, s->bias, s->width * sizeof *bias);
        if (s->width < s->C)
                bias[1] = -bias[0];
}

int ran_svm_fit(const struct ran_svm *k, double cost, float *weight, float *bias,
                int (*pass)(void *arg, size_t passes), void *arg, struct ran_error *err)
{
        struct ran_svm_solver *s = ran_svm_solver_new(k, weight, bias, err);
        bool done = k->n == 0;
        int rc = RAN_OK;

        if (s == NULL)
                return RAN_ENOMEM;
        ran_svm_solver_begin(s, cost, ran_svm_tolerance, RAN_SVM_PASSES);
        while (!done && rc == RAN_OK) {
                done = ran_svm_solver_pass(s);
                if (pass != NULL && pass(arg, s->passes) != 0)
                        rc = ran_fail(err, RAN_EINTR, "stopped while the linear model was trained");
        }
        if (rc == RAN_OK)
                ran_svm_solver_store(s, weight, bias);
        ran_svm_solver_free(s);
        return rc;
}
