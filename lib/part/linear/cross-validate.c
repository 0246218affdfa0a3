/* cross-validate.c - see cross-validate.h. */
#include "part/linear/cross-validate.h"
#include "data/loss.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 5, ENOUGH = 1000 };

/* Ascending. */
static const double costs[] = {0.25, 0.5, 2, 8};
/* With ratios, for where there are too few documents to validate. */
static const double cost_of_few = 0.5;
/* The scales of a frozen encoder's features, beside n-grams of length 1. The middle one is also for
 * where there are too few documents to validate. Of equally good ones the smaller: 0 leaves them
 * out. */
static const double scales_of_dense[] = {0, 0.3, 1};
/* The weights of affixes beside n-grams, in the order in which they are tried: the next for the
 * best so far. */
static const double scales_of_affixes[] = {1, 0.4};
enum { COSTS = sizeof costs / sizeof *costs };
enum { DENSE = sizeof scales_of_dense / sizeof *scales_of_dense };
enum { AFFIXES = sizeof scales_of_affixes / sizeof *scales_of_affixes };
enum { CHAINS = (2 * DENSE + AFFIXES - 1) * FOLDS };

/* What chains differ in, but for the fold. */
struct setting {
        double cost, dense, affixes;
        bool ratios;
};
/* A smaller tolerance or more passes change no choice, they only take longer. */
static const double rough_tolerance = 0.3;
enum { ROUGH_PASSES = 10 };

struct chain {
        struct validation *x;
        size_t fold, from, at, end; /* costs of this chain, and the one at work */
        struct setting setting;     /* but for the cost */
        struct ran_svm_solver *solver;
        size_t *row; /* of the other folds */
        double loss[COSTS];
        struct ran_ensemble ensemble[COSTS]; /* with the least loss: margins are no logits */
        double share;                        /* of its work that is done; under the lock */
        bool done;
        struct ran_error err;
};

struct validation {
        const struct ran_svm *k;
        const float *weight, *bias;
        double cost[COSTS];
        size_t n_costs;
        size_t *order;           /* (k->n) rows of k, shuffled */
        size_t begin[FOLDS + 1]; /* where in the order each fold begins */
        struct chain chain[CHAINS];
        size_t chains, planned; /* so far, and in the end */
        size_t begun;           /* chains of earlier rounds */
        atomic_size_t next;     /* the first chain that no thread has begun */

        int (*pass)(void *arg, size_t passes, double share);
        void *arg;
        struct ran_error *err;
        pthread_mutex_t lock; /* guards all below: threads call pass, one at a time */
        size_t rounds;
        int rc; /* of the first that failed, or was stopped */
};

/* ---- folds ----------------------------------------------------------------------------------- */

struct drawn {
        uint64_t draw;
        size_t row;
};

static int compare_drawn(const void *a, const void *b)
{
        const struct drawn *x = a, *y = b;

        if (x->draw != y->draw)
                return x->draw < y->draw ? -1 : 1;
        return (x->row > y->row) - (x->row < y->row);
}

/* Groups are shuffled, and their documents stay together. */
static int shuffle_groups(struct validation *x, struct ran_error *err)
{
        const struct ran_svm *k = x->k;
        struct drawn *drawn = ran_alloc(k->n, sizeof *drawn, err);

        if (drawn == NULL)
                return RAN_ENOMEM;
        for (size_t i = 0; i < k->n; i++) {
                uint64_t group = k->d->group[k->document[k->row[i]]];

                drawn[i] = (struct drawn){ran_random_draw(ran_random_key(k->seed, RAN_FOR_SPLIT,
                                                                         RAN_SHUFFLE_FOLDS, group),
                                                          0),
                                          k->row[i]};
        }
        qsort(drawn, k->n, sizeof *drawn, compare_drawn);
        for (size_t i = 0; i < k->n; i++)
                x->order[i] = drawn[i].row;
        free(drawn);
        return RAN_OK;
}

/* Folds of as many rows each, but for a group, which is whole. */
static int make_folds(struct validation *x, struct ran_error *err)
{
        const struct ran_svm *k = x->k;
        const uint64_t *group = k->d->group;

        x->order = ran_alloc(k->n, sizeof *x->order, err);
        if (x->order == NULL)
                return RAN_ENOMEM;
        if (group == NULL)
                ran_random_shuffle(x->order, k->row, k->n, k->seed, RAN_SHUFFLE_FOLDS);
        else
                RAN_TRY(shuffle_groups(x, err));
        for (size_t f = 1; f <= FOLDS; f++) {
                size_t at = f * k->n / FOLDS;

                while (group != NULL && at > 0 && at < k->n &&
                       group[k->document[x->order[at]]] == group[k->document[x->order[at - 1]]])
                        at++;
                x->begin[f] = at;
        }
        return RAN_OK;
}

/* ---- the loss of a fold ---------------------------------------------------------------------- */

static int validate(struct chain *a)
{
        const struct validation *x = a->x;
        const struct ran_svm *k = x->k;
        const size_t from = x->begin[a->fold];
        const struct ran_ensemble_rows rows = {k->d, k->document, x->order + from,
                                               x->begin[a->fold + 1] - from};
        size_t numbers;

        if (__builtin_mul_overflow(rows.n, k->d->C, &numbers))
                return RAN_ENOMEM;
        float *logits = ran_alloc_floats(numbers, &a->err);
        if (logits == NULL)
                return RAN_ENOMEM;
        ran_svm_solver_score(a->solver, rows.row, rows.n, logits);
        int rc = ran_ensemble_fit_rows(&a->ensemble[a->at], &a->loss[a->at], ran_ensemble_default,
                                       &rows, logits, &a->err);
        free(logits);
        return rc;
}

/* ---- chains ---------------------------------------------------------------------------------- */

static int start(struct chain *a)
{
        const struct validation *x = a->x;
        struct ran_svm k = *x->k;
        size_t from = x->begin[a->fold], to = x->begin[a->fold + 1];

        a->row = ran_alloc(k.n, sizeof *a->row, &a->err);
        if (a->row == NULL)
                return RAN_ENOMEM;
        memcpy(a->row, x->order, from * sizeof *a->row);
        memcpy(a->row + from, x->order + to, (k.n - to) * sizeof *a->row);
        k.row = a->row;
        k.n -= to - from;
        k.ratios = a->setting.ratios;
        k.dense = a->setting.dense;
        k.affixes = a->setting.affixes;
        a->solver = ran_svm_solver_new(&k, x->weight, x->bias, &a->err);
        if (a->solver == NULL)
                return RAN_ENOMEM;
        ran_svm_solver_begin(a->solver, x->cost[a->at], rough_tolerance, ROUGH_PASSES);
        return RAN_OK;
}

static void finish(struct chain *a)
{
        ran_svm_solver_free(a->solver);
        free(a->row);
        a->solver = NULL;
        a->row = NULL;
        a->done = true;
}

/* The next cost, or the end. */
static int next_cost(struct chain *a)
{
        const struct validation *x = a->x;

        RAN_TRY(validate(a));
        if (++a->at < a->end)
                ran_svm_solver_begin(a->solver, x->cost[a->at], rough_tolerance, ROUGH_PASSES);
        else
                finish(a);
        return RAN_OK;
}

/* A round visits as many rows as there are; as most are shrunk away, that is many passes. */
static int advance(struct chain *a)
{
        size_t visits = 0, was;

        if (a->solver == NULL)
                RAN_TRY(start(a));
        while (!a->done && visits < a->x->k->n) {
                was = ran_svm_solver_visits(a->solver);
                bool solved = ran_svm_solver_pass(a->solver);
                visits += ran_svm_solver_visits(a->solver) - was;
                if (solved)
                        RAN_TRY(next_cost(a));
        }
        return RAN_OK;
}

static double share_of(const struct validation *x)
{
        double sum = 0;

        for (size_t i = 0; i < x->chains; i++)
                sum += x->chain[i].share;
        return sum / (double)x->planned;
}

/* After a round of a chain: tells the caller, who may stop all. Returns whether it goes on. */
static bool end_round(struct chain *a, int rc)
{
        struct validation *x = a->x;
        const double solved = a->solver != NULL ? ran_svm_solver_share(a->solver) : 0;

        pthread_mutex_lock(&x->lock);
        a->share = a->done ? 1 : ((double)(a->at - a->from) + solved) / (double)(a->end - a->from);
        if (x->rc == RAN_OK && rc != RAN_OK)
                x->rc = ran_fail(x->err, rc, "%s", a->err.text);
        else if (x->rc == RAN_OK && x->pass != NULL &&
                 x->pass(x->arg, ++x->rounds, share_of(x)) != 0)
                x->rc = ran_fail(x->err, RAN_EINTR,
                                 "stopped while the linear model was cross-validated");
        bool goes_on = x->rc == RAN_OK;
        pthread_mutex_unlock(&x->lock);
        return goes_on;
}

/* A thread takes one chain after the other to its end: each takes the memory of a fit. Threads that
 * find none take classes of the others. */
static void run_some(void *arg, size_t thread)
{
        struct validation *x = arg;
        bool goes_on = true;
        size_t i;

        (void)thread;
        while (goes_on && (i = atomic_fetch_add(&x->next, 1)) < x->chains)
                while (goes_on && !x->chain[i].done)
                        goes_on = end_round(&x->chain[i], advance(&x->chain[i]));
}

static bool is_usable(const struct validation *x, size_t fold)
{
        const size_t n = x->begin[fold + 1] - x->begin[fold];

        return n > 0 && n < x->k->n; /* a group may be larger than a fold */
}

/* A chain for each fold, of costs [from, end): as many as it takes to validate on enough
 * documents. */
static void list_folds(struct validation *x, const struct setting *s, size_t from, size_t end)
{
        for (size_t f = 0; f < FOLDS && x->begin[f] < ENOUGH; f++) {
                if (!is_usable(x, f))
                        continue;
                struct chain *a = &x->chain[x->chains++];

                *a = (struct chain){
                        .x = x, .fold = f, .setting = *s, .from = from, .at = from, .end = end};
                for (size_t i = 0; i < COSTS; i++)
                        a->loss[i] = INFINITY;
        }
}

/* Fits with ratios come first, for they take longer: so threads end together. */
static void list_chains(struct validation *x, int ratios)
{
        const size_t n = x->k->features->dense > 0 ? DENSE : 1;

        for (int with = 1; with >= 0; with--)
                for (size_t i = 0; i < n; i++)
                        if (ratios == RAN_RATIOS_AUTO || (ratios == RAN_RATIOS_YES) == with)
                                list_folds(x,
                                           &(struct setting){.dense = scales_of_dense[i],
                                                             .affixes = scales_of_affixes[0],
                                                             .ratios = with},
                                           0, x->n_costs);
}

static bool is_of(const struct chain *a, const struct setting *s)
{
        return a->setting.ratios == s->ratios && a->setting.dense == s->dense &&
               a->setting.affixes == s->affixes;
}

/* Its loss over all folds; infinite if it was not tried. */
static double loss_of(const struct validation *x, const struct setting *s, size_t cost)
{
        double loss = 0;
        bool tried = false;

        for (size_t a = 0; a < x->chains; a++)
                if (is_of(&x->chain[a], s)) {
                        loss += x->chain[a].loss[cost];
                        tried = true;
                }
        return tried ? loss : INFINITY;
}

/* The setting with the least loss; of equal ones the first. */
static void choose(const struct validation *x, struct setting *best)
{
        double least = INFINITY;

        for (size_t a = 0; a < x->chains; a++)
                for (size_t i = 0; i < x->n_costs; i++) {
                        const double loss = loss_of(x, &x->chain[a].setting, i);

                        if (loss < least) {
                                least = loss;
                                *best = x->chain[a].setting;
                                best->cost = x->cost[i];
                        }
                }
}

/* The mean ensemble of the folds of that setting; 0: there are no folds. */
static struct ran_ensemble mean_ensemble(const struct validation *x, const struct setting *s)
{
        struct ran_ensemble mean = {0};
        size_t n = 0;

        for (size_t a = 0; a < x->chains; a++)
                for (size_t c = 0; c < x->n_costs; c++)
                        if (is_of(&x->chain[a], s) && x->cost[c] == s->cost) {
                                const struct ran_ensemble *of_fold = &x->chain[a].ensemble[c];

                                n++;
                                mean.linear += (of_fold->linear - mean.linear) / (double)n;
                                mean.offset += (of_fold->offset - mean.offset) / (double)n;
                        }
        return mean;
}

/* The chains that nobody has begun. */
static int run_chains(struct validation *x)
{
        pthread_mutex_init(&x->lock, NULL);
        atomic_store(&x->next, x->begun);
        ran_parallel(x->k->pool, ran_pool_threads(x->k->pool), run_some, x);
        pthread_mutex_destroy(&x->lock);
        x->begun = x->chains;
        return x->rc;
}

static size_t cost_index(const struct validation *x, double cost)
{
        size_t i = 0;

        while (i + 1 < x->n_costs && x->cost[i] != cost)
                i++;
        return i;
}

/* Scales of affixes hardly depend on the rest, and are tried last, at the best cost. */
static int try_all(struct validation *x, int ratios, struct setting *best, struct ran_error *err)
{
        const size_t scales = x->k->features->affixes != SIZE_MAX ? AFFIXES : 1;
        size_t folds = 0;

        RAN_TRY(make_folds(x, err));
        for (size_t f = 0; f < FOLDS && x->begin[f] < ENOUGH; f++)
                folds += is_usable(x, f);
        list_chains(x, ratios);
        x->planned = x->chains + (scales - 1) * folds;
        RAN_TRY(run_chains(x));
        choose(x, best);
        for (size_t i = 1; i < scales; i++) {
                struct setting next = *best;

                next.affixes = scales_of_affixes[i];
                const size_t at = cost_index(x, best->cost);

                list_folds(x, &next, at, at + 1);
                RAN_TRY(run_chains(x));
                choose(x, best);
        }
        return RAN_OK;
}

int ran_cross_validate(struct ran_svm *k, double *cost, int ratios, const float *weight,
                       const float *bias, int (*pass)(void *arg, size_t passes, double share),
                       void *arg, struct ran_error *err)
{
        struct validation x = {
                .k = k, .weight = weight, .bias = bias, .pass = pass, .arg = arg, .err = err};
        int rc = RAN_OK;

        x.n_costs = *cost > 0 ? 1 : COSTS;
        for (size_t i = 0; i < x.n_costs; i++)
                x.cost[i] = *cost > 0 ? *cost : costs[i];
        struct setting best = {*cost > 0 ? *cost : cost_of_few, scales_of_dense[DENSE / 2],
                               scales_of_affixes[0], ratios != RAN_RATIOS_NO};
        if ((x.n_costs > 1 || ratios == RAN_RATIOS_AUTO || k->features->dense > 0) && k->n >= FOLDS)
                rc = try_all(&x, ratios, &best, err);
        for (size_t i = 0; i < x.chains; i++)
                finish(&x.chain[i]);
        free(x.order);
        if (rc != RAN_OK)
                return rc;
        *cost = best.cost;
        k->ratios = best.ratios;
        k->dense = best.dense;
        k->affixes = best.affixes;
        k->ensemble = mean_ensemble(&x, &best);
        return RAN_OK;
}

double ran_cross_validate_bytes(const struct ran_dataset *d, size_t n, size_t columns,
                                size_t threads)
{
        const size_t documents = n / FOLDS + 1;
        const double fold = (double)documents, C = (double)d->C;
        size_t chains = 0;

        if (n < FOLDS)
                return 0;
        for (size_t f = 0; f < FOLDS && f * n / FOLDS < ENOUGH; f++)
                chains += 2;
        chains = chains < threads ? chains : threads;
        /* a solver and its rows, the logits of the fold that is held out; the order of all rows */
        return (double)chains * (ran_svm_bytes(d, n - n / FOLDS, columns, true) + 8 * (double)n +
                                 4 * fold * C) +
               8 * (double)n;
}
