/* svm.c - see svm.h. Scores are sums in float32 over the features of a row, in order; the rest is
 * in double. Neither depends on the number of threads.
 *
 * Each thread has a group of classes. The arrays of a group hold `width` numbers for each column of
 * the matrix, one a class, side by side: a feature of a row then reads one run of memory, however
 * many classes there are, and threads share no cache line. */
#include "part/linear/svm.h"
#include "math/elementary.h"
#include "math/simd.h"
#include "data/loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Added to a feature's count on either side of a ratio. */
static const double smoothing = 0.03;

const double ran_svm_tolerance = 0.1;

enum { SIDES = 2 }; /* a document can count for: the class, and the others */

/* Classes [first, first + width). */
struct group {
        struct ran_svm_solver *s;
        size_t first, width;
        float *weight, *bias; /* (columns, width), (width) */
        size_t kinds;         /* of r: width with ratios, else 1: all classes have the same */
        float *square;        /* (columns, kinds) r²; NULL: all are 1 */
        float *squares;       /* (n, kinds) squared length of a row for a class, 0: not known yet */
        float *alpha;         /* (n, width, sides) dual variables */
        float *score, *step;  /* (width) of the row at work, and what its dual variables move by */
        float *target;        /* (width) whether it is of the class */
        uint32_t *near;       /* (width) classes that are to be solved for the row */
        float *scaled;        /* (longest row) its features times r², if kinds is 1 */
        unsigned char *busy;  /* (n) whether a row may still move */
        double worst;         /* largest violation of a pass */
};

struct ran_svm_solver {
        struct ran_svm k;
        size_t C, width; /* width: C, or 1 where the second class mirrors the first */
        size_t sides;    /* 1 without soft targets */
        struct group *group;
        size_t groups;
        size_t *active; /* (actives) numbers of rows, below n, that are not shrunk away */
        size_t *order;  /* (n) the same, as a pass takes them */
        size_t actives;
        double cost, tolerance, bound;
        size_t visits, most_visits, passes;
};

/* ---- init and release ----------------------------------------------------------------------- */

/* Whether of two classes the second is the mirror image of the first, at the start, too. */
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
        for (size_t i = 0; i < s->groups; i++) {
                struct group *q = &s->group[i];

                free(q->weight);
                free(q->bias);
                free(q->square);
                free(q->squares);
                free(q->alpha);
                free(q->score);
                free(q->step);
                free(q->target);
                free(q->near);
                free(q->scaled);
                free(q->busy);
        }
        free(s->group);
        free(s->active);
        free(s->order);
        free(s);
}

static bool scales_affixes(const struct ran_svm *k)
{
        return k->features->affixes != SIZE_MAX && k->affixes != 1;
}

/* Whether features differ in r. */
static bool weighs(const struct ran_svm *k)
{
        return k->ratios || scales_affixes(k);
}

/* What grows with columns and classes may be too much for a training. */
static bool allocate_group(struct group *q, struct ran_error *err)
{
        const struct ran_svm *k = &q->s->k;
        const size_t columns = k->features->columns, width = q->width, n = k->n;

        q->kinds = k->ratios ? width : 1;
        q->bias = ran_new_floats(width);
        q->score = ran_new_floats(width);
        q->step = ran_new_floats(width);
        q->target = ran_new_floats(width);
        q->near = ran_new(width, sizeof *q->near);
        q->busy = ran_new(n, 1);
        if (weighs(k) && !k->ratios) {
                const size_t *first = k->features->first;
                size_t longest = 0;

                for (size_t i = 0; i < k->features->n; i++)
                        longest = first[i + 1] - first[i] > longest ? first[i + 1] - first[i]
                                                                    : longest;
                q->scaled = ran_new_floats(longest);
        }
        q->weight = ran_alloc_floats(columns * width, err);
        q->square = weighs(k) ? ran_alloc_floats(columns * q->kinds, err) : NULL;
        q->squares = ran_alloc_floats(n * q->kinds, err);
        q->alpha = ran_alloc_floats(n * width * q->s->sides, err);
        return q->weight != NULL && (q->square != NULL || !weighs(k)) && q->squares != NULL &&
               q->alpha != NULL;
}

static bool allocate(struct ran_svm_solver *s, struct ran_error *err)
{
        const size_t threads = s->k.pool != NULL ? ran_pool_threads(s->k.pool) : 1;

        s->active = ran_new(s->k.n, sizeof *s->active);
        s->order = ran_new(s->k.n, sizeof *s->order);
        s->groups = s->width < threads ? s->width : threads;
        s->group = ran_new(s->groups, sizeof *s->group);
        for (size_t i = 0; i < s->groups; i++) {
                struct group *q = &s->group[i];

                q->s = s;
                q->first = i * s->width / s->groups;
                q->width = (i + 1) * s->width / s->groups - q->first;
                if (!allocate_group(q, err))
                        return false;
        }
        return true;
}

/* A row of the matrix. */
struct row {
        const uint32_t *column; /* (n) */
        const float *x;         /* (n) */
        size_t n;
};

static struct row row_of(const struct ran_svm_solver *s, size_t row)
{
        const struct ran_features *f = s->k.features;
        const size_t at = f->first[row];

        return (struct row){f->column + at, f->x + at, f->first[row + 1] - at};
}

/* x + 0: no -0 remains, so that all is the same whether 0 is added later or not. */
static void copy_start(struct group *q, const float *weight, const float *bias)
{
        const struct ran_features *f = q->s->k.features;

        for (size_t g = 0; weight != NULL && g < f->columns; g++)
                for (size_t c = 0; c < q->width; c++)
                        q->weight[g * q->width + c] =
                                weight[f->bucket[g] * q->s->C + q->first + c] + 0.0f;
        for (size_t c = 0; bias != NULL && c < q->width; c++)
                q->bias[c] = bias[q->first + c] + 0.0f;
}

/* ---- how well a feature tells a class by itself: r² ----------------------------------------- */

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

/* The sums over all rows. */
static void count(struct rating *k)
{
        const struct ran_svm_solver *s = k->s;

        for (size_t i = 0; i < s->k.n; i++) {
                size_t row = s->k.row[i];
                double weight = (double)s->k.d->weight[row_document(s, i)];

                const struct row r = row_of(s, row);

                for (size_t g = 0; g < r.n; g++) {
                        double x = weight * (double)r.x[g];

                        k->all[r.column[g]] += x;
                        k->squares[r.column[g]] += x * (double)r.x[g];
                }
                k->weight += weight;
        }
        for (size_t g = 0; g < s->k.features->columns; g++)
                k->log_all[g] = ran_log(smoothing + k->all[g]);
}

/* Leaves in q->square the sums of x over the rows of each class. */
static void count_classes(struct group *q)
{
        const struct ran_svm_solver *s = q->s;

        for (size_t i = 0; i < s->k.n; i++) {
                size_t b = row_document(s, i);
                const struct row r = row_of(s, s->k.row[i]);
                const struct ran_target t = ran_loss_target(s->k.d, b);

                for (size_t j = 0; j < t.n; j++) {
                        size_t c = (size_t)t.label[j] - q->first; /* huge below the first */
                        float by = s->k.d->weight[b] * (t.p != NULL ? t.p[j] : 1);

                        for (size_t g = 0; c < q->width && g < r.n; g++)
                                q->square[r.column[g] * q->width + c] += by * r.x[g];
                }
        }
}

/* From the sums of class c to r². A column is there because rows of the matrix have it; rows that
 * are left out of a fold may be all of them: it then has no ratio. */
static void rate_class(const struct rating *k, struct group *q, size_t c)
{
        const size_t columns = k->s->k.features->columns;
        double mine = 0, others = 0, sum = 0, scale;

        for (size_t g = 0; g < columns; g++) {
                double p = (double)q->square[g * q->width + c];

                if (k->all[g] > 0) {
                        mine += smoothing + p;
                        others += smoothing + fmax(k->all[g] - p, 0);
                }
        }
        const double log_mine = ran_log(mine), log_others = ran_log(others),
                     log_none = ran_log(smoothing);
        for (size_t g = 0; g < columns; g++) {
                float *at = &q->square[g * q->width + c];
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
                q->square[g * q->width + c] *= (float)scale;
}

static void rate_group(void *arg, size_t i)
{
        const struct rating *k = arg;
        struct group *q = &k->s->group[i];
        const struct ran_svm *svm = &k->s->k;

        if (svm->ratios) {
                count_classes(q);
                for (size_t c = 0; c < q->width; c++)
                        rate_class(k, q, c);
        } else {
                for (size_t g = 0; g < svm->features->columns * q->kinds; g++)
                        q->square[g] = 1;
        }
        if (!scales_affixes(svm))
                return;
        const double affixes = svm->affixes * svm->affixes; /* each kind has half of the length² */
        const float of_ngrams = (float)(2 / (1 + affixes)),
                    of_affixes = (float)(2 * affixes / (1 + affixes));
        for (size_t g = 0; g < svm->features->columns; g++) {
                const bool affix = svm->features->bucket[g] >= svm->features->affixes;

                for (size_t c = 0; c < q->kinds; c++)
                        q->square[g * q->kinds + c] *= affix ? of_affixes : of_ngrams;
        }
}

static void rate(struct ran_svm_solver *s)
{
        const size_t columns = s->k.features->columns;
        struct rating k = {.s = s,
                           .all = ran_new(columns, sizeof *k.all),
                           .squares = ran_new(columns, sizeof *k.squares),
                           .log_all = ran_new(columns, sizeof *k.log_all)};

        if (s->k.ratios)
                count(&k);
        ran_parallel(s->k.pool, s->groups, rate_group, &k);
        free(k.all);
        free(k.squares);
        free(k.log_all);
}

struct ran_svm_solver *ran_svm_solver_new(const struct ran_svm *k, const float *weight,
                                          const float *bias, struct ran_error *err)
{
        size_t C = k->d->C, all;
        struct ran_svm_solver *s;

        if (__builtin_mul_overflow(C, SIDES, &all) || __builtin_mul_overflow(k->n, all, &all) ||
            __builtin_mul_overflow(k->features->columns, C, &all)) {
                ran_fail(err, RAN_ENOMEM, "out of memory: %zu labels of %zu documents", C, k->n);
                return NULL;
        }
        s = ran_new(1, sizeof *s);
        s->k = *k;
        s->C = C;
        s->width = mirrors(k, weight, bias) ? 1 : C;
        s->sides = k->d->soft_first != NULL ? SIDES : 1;
        if (!allocate(s, err)) {
                ran_svm_solver_free(s);
                return NULL;
        }
        if (weighs(k))
                rate(s);
        for (size_t i = 0; i < s->groups; i++)
                copy_start(&s->group[i], weight, bias);
        return s;
}

/* ---- coordinate descent ---------------------------------------------------------------------- */

/* Four sums, so that none waits for the one before. */
static float score_one(const float *w, const struct row r)
{
        float sum[4] = {0};
        size_t g = 0;

        for (; g + 4 <= r.n; g += 4)
                for (size_t i = 0; i < 4; i++)
                        sum[i] += r.x[g + i] * w[r.column[g + i]];
        for (; g < r.n; g++)
                sum[0] += r.x[g] * w[r.column[g]];
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void score_row(const struct group *q, float *score, const struct row r)
{
        memcpy(score, q->bias, q->width * sizeof *score);
        if (q->s->width == 1)
                *score += score_one(q->weight, r);
        else
                ran_simd->sparse_sum(score, r.x, r.column, r.n, q->weight, q->width, q->width);
}

/* The squared length of row i, one for the bias included, as class c of the group sees it. */
static double squared_length(struct group *q, size_t i, const struct row r, size_t c)
{
        const size_t kind = q->kinds > 1 ? c : 0;
        float *known = &q->squares[i * q->kinds + kind];
        double sum = 1;

        if (*known > 0)
                return (double)*known;
        for (size_t g = 0; g < r.n; g++)
                sum += (double)r.x[g] * (double)r.x[g] *
                       (q->square != NULL ? (double)q->square[r.column[g] * q->kinds + kind] : 1);
        *known = (float)sum;
        return (double)*known;
}

/* weight and bias move with the row's dual variables by q->step. */
static void move(struct group *q, const struct row r)
{
        const float *x = q->scaled != NULL ? q->scaled : r.x;
        const float *square = q->scaled == NULL ? q->square : NULL;

        for (size_t g = 0; g < r.n && q->scaled != NULL; g++) /* all classes have the same r² */
                q->scaled[g] = r.x[g] * q->square[r.column[g]];
        for (size_t c = 0; c < q->width; c++)
                q->bias[c] += q->step[c];
        if (q->s->width > 1)
                ran_simd->sparse_add(q->weight, square, q->width, x, r.column, r.n, q->step,
                                     q->width);
        else if (square == NULL)
                for (size_t g = 0; g < r.n; g++)
                        q->weight[r.column[g]] += *q->step * x[g];
        else
                for (size_t g = 0; g < r.n; g++)
                        q->weight[r.column[g]] += *q->step * x[g] * square[r.column[g]];
}

/* A row at work. */
struct visit {
        struct group *q;
        size_t i;
        struct row row;
        bool busy, moved;
};

/* Takes the dual variable of a row on side y of class c to its optimum. Most are 0 and stay there,
 * so that only their score costs anything. */
static void solve_side(struct visit *v, size_t c, float y, double cost, float *alpha)
{
        struct group *q = v->q;

        if (cost <= 0)
                return;
        const double was = (double)*alpha, slack = was != 0 ? 1 / (2 * cost) : 0;
        const double slope = (double)(y * q->score[c]) - 1 + slack * was;

        if (was == 0 && slope >= 0) {
                v->busy |= slope <= q->s->bound;
                return;
        }
        const double squares = squared_length(q, v->i, v->row, c);
        q->worst = fmax(q->worst, fabs(slope));
        *alpha = (float)fmax(0, was - slope / (squares + 1 / (2 * cost)));
        const float step = y * (float)((double)*alpha - was);
        q->step[c] += step;
        q->score[c] += step * (float)squares;
        v->busy = true;
        v->moved |= step != 0;
}

/* Lists in q->near the classes whose dual variables of row i may move, and returns how many there
 * are. Others, most of many, are far: the row is not of them, and their scores say so. all: none is
 * left out. */
static size_t list_near(struct visit *v, const float *alpha, bool all)
{
        const struct group *q = v->q;
        const double bound = q->s->bound;
        size_t n = 0;
        bool busy = false;

        for (size_t c = 0; c < q->width; c++) {
                const bool far = !all & (q->target[c] == 0) & (alpha[c] == 0) & (q->score[c] <= -1);

                q->near[n] = (uint32_t)c;
                n += !far;
                busy |= far & ((double)-q->score[c] - 1 <= bound);
        }
        v->busy |= busy;
        return n;
}

/* All classes of row i. Returns whether any may still move. Classes do not depend on each other, so
 * their weights move together in the end. */
static bool solve_row(struct group *q, size_t i)
{
        const struct ran_svm *k = &q->s->k;
        size_t b = row_document(q->s, i), sides = q->s->sides;
        struct visit v = {.q = q, .i = i, .row = row_of(q->s, k->row[i])};
        double cost = q->s->cost * (double)k->d->weight[b];
        float *alpha = q->alpha + i * q->width * sides;

        if (k->class_weight != NULL && !k->d->multilabel)
                cost *= k->class_weight[k->d->labels[k->d->label_first[b]]];
        memset(q->target, 0, q->width * sizeof *q->target);
        const struct ran_target t = ran_loss_target(k->d, b);
        for (size_t j = 0; j < t.n; j++)
                if (t.label[j] >= q->first && t.label[j] - q->first < q->width)
                        q->target[t.label[j] - q->first] = t.p != NULL ? t.p[j] : 1;
        score_row(q, q->score, v.row);
        memset(q->step, 0, q->width * sizeof *q->step);
        const size_t n = list_near(&v, alpha, sides > 1 || cost <= 0);
        for (size_t j = 0; j < n; j++) {
                const size_t c = q->near[j];
                const double of_class = (double)q->target[c];

                solve_side(&v, c, 1, cost * of_class, alpha + c * sides);
                solve_side(&v, c, -1, cost * (1 - of_class), alpha + c * sides + sides - 1);
        }
        if (v.moved)
                move(q, v.row);
        return v.busy;
}

static void solve_group(void *arg, size_t i)
{
        struct ran_svm_solver *s = arg;
        struct group *q = &s->group[i];

        q->worst = 0;
        for (size_t j = 0; j < s->actives; j++)
                q->busy[s->order[j]] = solve_row(q, s->order[j]);
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

                for (size_t q = 0; q < s->groups; q++)
                        busy |= s->group[q].busy[i] != 0;
                if (busy)
                        s->active[left++] = i;
        }
        s->actives = left;
}

void ran_svm_solver_begin(struct ran_svm_solver *s, double cost, double tolerance, size_t passes)
{
        s->cost = cost;
        s->tolerance = tolerance;
        if (__builtin_mul_overflow(passes, s->k.n, &s->most_visits))
                s->most_visits = SIZE_MAX;
        s->visits = s->passes = 0;
        activate_all(s);
}

/* With so few rows a pass ends sooner than threads wake up. */
enum { FEW_ROWS = 16 };

bool ran_svm_solver_pass(struct ran_svm_solver *s)
{
        const bool all = s->actives == s->k.n;
        double worst = 0;

        ran_random_shuffle(s->order, s->active, s->actives, s->k.seed, s->passes++);
        ran_parallel(s->actives > FEW_ROWS ? s->k.pool : NULL, s->groups, solve_group, s);
        for (size_t i = 0; i < s->groups; i++)
                worst = fmax(worst, s->group[i].worst);
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

size_t ran_svm_solver_visits(const struct ran_svm_solver *s)
{
        return s->visits;
}

/* ---- results --------------------------------------------------------------------------------- */

/* 0 - x: the mirror image of 0 is not -0. */
static void mirror(const struct ran_svm_solver *s, float *x)
{
        if (s->width < s->C)
                x[1] = 0 - x[0];
}

void ran_svm_solver_score(const struct ran_svm_solver *s, const size_t *row, size_t n,
                          float *logits)
{
        for (size_t i = 0; i < n; i++) {
                float *to = logits + i * s->C;

                for (size_t q = 0; q < s->groups; q++)
                        score_row(&s->group[q], to + s->group[q].first, row_of(s, row[i]));
                mirror(s, to);
        }
}

void ran_svm_solver_store(const struct ran_svm_solver *s, float *weight, float *bias)
{
        const struct ran_features *f = s->k.features;

        for (size_t q = 0; q < s->groups; q++) {
                const struct group *from = &s->group[q];

                for (size_t g = 0; g < f->columns; g++)
                        memcpy(weight + f->bucket[g] * s->C + from->first,
                               from->weight + g * from->width, from->width * sizeof *weight);
                memcpy(bias + from->first, from->bias, from->width * sizeof *bias);
        }
        for (size_t g = 0; g < f->columns; g++)
                mirror(s, weight + f->bucket[g] * s->C);
        mirror(s, bias);
}

double ran_svm_solver_share(const struct ran_svm_solver *s)
{
        return fmin(1, (double)s->visits / (double)s->most_visits);
}

int ran_svm_fit(const struct ran_svm *k, double cost, float *weight, float *bias,
                int (*pass)(void *arg, size_t passes, double share), void *arg,
                struct ran_error *err)
{
        struct ran_svm_solver *s = ran_svm_solver_new(k, weight, bias, err);
        bool done = k->n == 0;
        int rc = RAN_OK;

        if (s == NULL)
                return RAN_ENOMEM;
        ran_svm_solver_begin(s, cost, ran_svm_tolerance, RAN_SVM_PASSES);
        while (!done && rc == RAN_OK) {
                done = ran_svm_solver_pass(s);
                if (pass != NULL && pass(arg, s->passes, done ? 1 : ran_svm_solver_share(s)) != 0)
                        rc = ran_fail(err, RAN_EINTR, "stopped while the linear model was trained");
        }
        if (rc == RAN_OK)
                ran_svm_solver_store(s, weight, bias);
        ran_svm_solver_free(s);
        return rc;
}
