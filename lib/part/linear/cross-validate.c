/* cross-validate.c - see cross-validate.h. */
#include "part/linear/cross-validate.h"
#include "data/loss.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = RAN_FOLDS, ENOUGH = 1000 };

/* Ascending. */
static const double costs[] = {0.25, 0.5, 2, 8};
/* With ratios, for where there are too few documents to validate. */
static const double cost_of_few = 0.5;
/* The weights of affixes beside n-grams, in the order in which they are tried: the next for the
 * best so far. */
static const double scales_of_affixes[] = {1, 0.4};
enum { COSTS = sizeof costs / sizeof *costs };
enum { AFFIXES = sizeof scales_of_affixes / sizeof *scales_of_affixes };
enum { PATHS = 2 + AFFIXES - 1, CHAINS = PATHS * FOLDS };

/* What paths differ in. */
struct setting {
        double affixes;
        bool ratios;
};
/* A smaller tolerance or more passes change no choice, they only take longer. The first cost of a
 * chain has nothing to start from; and passes of few documents take no time. */
static const double rough_tolerance = 0.3;
enum { ROUGH_PASSES = 6, FIRST_PASSES = 8, PASSES_OF_FEW = 10 };
/* A setting and cost that is worse than the best by so many standard errors is out. */
static const double surely = 1;
/* After each further fold, by so many: it is asked again and again. */
static const double still = 2;
/* A fold of fewer documents takes nothing out, and all settings are tried: such folds say little,
 * and take no time. */
enum { FEW = 250 };

/* A setting with all costs. */
struct path {
        struct setting setting;
        bool out[COSTS];    /* or not tried */
        float *loss[COSTS]; /* of the documents that were predicted, in the order of rows */
        struct ran_ensemble ensemble[COSTS][FOLDS]; /* with the least loss: margins are no logits */
};

/* The fits of a path that leave out a fold. */
struct chain {
        struct validation *x;
        struct path *path;
        size_t fold, from, at, end; /* costs of this chain, and the one at work */
        struct ran_svm_solver *solver;
        size_t *row;  /* of the other folds */
        double share; /* of its work that is done; under the lock */
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
        size_t folds, first;     /* those that there may be; the first of them is for all paths */
        bool races;              /* the first fold takes paths out */
        bool used[FOLDS];        /* those that were left out of fits */
        float *logits;           /* (rows in the order, C) of what is predicted, or NULL */
        struct path path[PATHS];
        size_t paths;
        struct chain chain[CHAINS]; /* of a heat */
        size_t chains;
        atomic_size_t next;    /* the first chain that no thread has begun */
        double share, of_heat; /* of the work: before this heat, and of it */

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

/* ---- the race -------------------------------------------------------------------------------- */

/* Sums over documents of what `loss` has more than `than`. */
struct difference {
        double sum, squares;
        size_t n;
};

static void compare(struct difference *d, const float *loss, const float *than, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const double more = (double)loss[i] - (double)than[i];

                d->sum += more;
                d->squares += more * more;
        }
        d->n += n;
}

static bool is_worse(const struct difference *d, double errors)
{
        const double n = (double)d->n;

        return d->sum > errors * sqrt(fmax(0, d->squares - d->sum * d->sum / n));
}

static double sum_of(const float *loss, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += (double)loss[i];
        return sum;
}

/* The loss of all documents that were predicted. */
static double loss_of(const struct validation *x, const struct path *p, size_t cost)
{
        double loss = 0;

        if (p->out[cost])
                return INFINITY;
        for (size_t f = 0; f < FOLDS; f++)
                if (x->used[f])
                        loss += sum_of(p->loss[cost] + x->begin[f], x->begin[f + 1] - x->begin[f]);
        return loss;
}

struct candidate {
        struct path *path; /* NULL: nothing was tried */
        size_t cost;
};

/* The one with the least loss; of equal ones the first. */
static struct candidate find_best(struct validation *x)
{
        struct candidate best = {NULL, 0};
        double least = INFINITY;

        for (size_t i = 0; i < x->paths; i++)
                for (size_t c = 0; c < x->n_costs; c++) {
                        const double loss = loss_of(x, &x->path[i], c);

                        if (loss < least) {
                                least = loss;
                                best = (struct candidate){&x->path[i], c};
                        }
                }
        return best;
}

/* Takes out what is worse than the best by so many standard errors, of the paths from `first` on.
 * Returns how many are left of all. */
static size_t drop_worse(struct validation *x, size_t first, double errors)
{
        const struct candidate best = find_best(x);
        size_t left = 0;

        for (size_t i = 0; i < x->paths; i++)
                for (size_t c = 0; c < x->n_costs; c++) {
                        struct path *p = &x->path[i];
                        struct difference d = {0};

                        for (size_t f = 0; f < FOLDS && !p->out[c] && best.path != NULL; f++)
                                if (x->used[f])
                                        compare(&d, p->loss[c] + x->begin[f],
                                                best.path->loss[best.cost] + x->begin[f],
                                                x->begin[f + 1] - x->begin[f]);
                        p->out[c] |= i >= first && is_worse(&d, errors);
                        left += !p->out[c];
                }
        return left;
}

/* ---- chains ---------------------------------------------------------------------------------- */

static int validate(struct chain *a)
{
        const struct validation *x = a->x;
        const struct ran_svm *k = x->k;
        const size_t from = x->begin[a->fold];
        const struct ran_ensemble_rows rows = {.d = k->d,
                                               .document = k->document,
                                               .row = x->order + from,
                                               .n = x->begin[a->fold + 1] - from,
                                               .least = 0.5};
        size_t numbers;

        if (__builtin_mul_overflow(rows.n, k->d->C, &numbers))
                return RAN_ENOMEM;
        float *logits = ran_alloc_floats(numbers, &a->err);
        if (logits == NULL)
                return RAN_ENOMEM;
        ran_svm_solver_score(a->solver, rows.row, rows.n, logits);
        int rc = ran_ensemble_fit_rows(&a->path->ensemble[a->at][a->fold],
                                       a->path->loss[a->at] + from, &rows, logits, &a->err);
        if (x->logits != NULL && rows.n > 0)
                memcpy(x->logits + from * k->d->C, logits, numbers * sizeof *logits);
        free(logits);
        return rc;
}

/* The cost at work. */
static void begin_cost(const struct chain *a)
{
        const struct validation *x = a->x;
        const size_t passes = a->at == a->from ? FIRST_PASSES : ROUGH_PASSES;

        ran_svm_solver_begin(a->solver, x->cost[a->at], rough_tolerance,
                             x->races ? passes : PASSES_OF_FEW);
}

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
        k.ratios = a->path->setting.ratios;
        k.affixes = a->path->setting.affixes;
        a->solver = ran_svm_solver_new(&k, x->weight, x->bias, &a->err);
        if (a->solver == NULL)
                return RAN_ENOMEM;
        begin_cost(a);
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

/* Whether the fold says that the cost at work is too high: the loss has one valley. */
static bool is_past_best(const struct chain *a)
{
        const size_t from = a->x->begin[a->fold], n = a->x->begin[a->fold + 1] - from;

        for (size_t c = a->from; c < a->at; c++) {
                struct difference d = {0};

                compare(&d, a->path->loss[a->at] + from, a->path->loss[c] + from, n);
                if (is_worse(&d, surely))
                        return true;
        }
        return false;
}

/* The next cost, or the end. */
static int next_cost(struct chain *a)
{
        const struct validation *x = a->x;

        RAN_TRY(validate(a));
        if (x->races && a->fold == x->first && is_past_best(a))
                for (; a->at + 1 < a->end; a->end--)
                        a->path->out[a->end - 1] = true;
        if (++a->at < a->end)
                begin_cost(a);
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
        return x->share + x->of_heat * sum / (double)x->chains;
}

/* After some passes of a chain: tells the caller, who may stop all. Returns whether it goes on. */
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

/* A chain from the first cost of a path that is in the race to the last one. */
static void add_chain(struct validation *x, struct path *p, size_t fold)
{
        size_t from = 0, end = x->n_costs;

        while (from < end && p->out[from])
                from++;
        while (end > from && p->out[end - 1])
                end--;
        if (from < end)
                x->chain[x->chains++] = (struct chain){
                        .x = x, .path = p, .fold = fold, .from = from, .at = from, .end = end};
}

/* Runs the chains that are listed: this share of all work. */
static int run_heat(struct validation *x, double share)
{
        x->of_heat = share;
        pthread_mutex_init(&x->lock, NULL);
        atomic_store(&x->next, 0);
        ran_parallel(x->k->pool, ran_pool_threads(x->k->pool), run_some, x);
        pthread_mutex_destroy(&x->lock);
        for (size_t i = 0; i < x->chains; i++)
                finish(&x->chain[i]);
        x->chains = 0;
        x->share += share;
        return x->rc;
}

/* ---- what is tried --------------------------------------------------------------------------- */

static bool is_usable(const struct validation *x, size_t fold)
{
        const size_t n = x->begin[fold + 1] - x->begin[fold];

        return n > 0 && n < x->k->n; /* a group may be larger than a fold */
}

/* As many folds as it takes to validate on enough documents. */
static size_t count_folds(const struct validation *x)
{
        size_t f = 0;

        while (f < FOLDS && x->begin[f] < ENOUGH)
                f++;
        return f;
}

static int add_path(struct validation *x, struct setting s)
{
        struct path *p = &x->path[x->paths++];
        const size_t predicted = x->begin[x->folds];

        *p = (struct path){.setting = s};
        for (size_t c = 0; c < x->n_costs; c++) {
                p->loss[c] = ran_alloc_floats(predicted, x->err);
                if (p->loss[c] == NULL)
                        return RAN_ENOMEM;
        }
        return RAN_OK;
}

/* The paths to begin with. Fits with ratios come first, for they take longer: so threads end
 * together. */
static int list_paths(struct validation *x, int ratios)
{
        for (int with = 1; with >= 0; with--)
                if (ratios == RAN_RATIOS_AUTO || (ratios == RAN_RATIOS_YES) == with)
                        RAN_TRY(add_path(x, (struct setting){scales_of_affixes[0], with}));
        return RAN_OK;
}

/* A path with the costs that another has left: they hardly depend on scales. */
static int add_like(struct validation *x, const struct path *like, struct setting s)
{
        RAN_TRY(add_path(x, s));
        memcpy(x->path[x->paths - 1].out, like->out, sizeof like->out);
        return RAN_OK;
}

/* The best path with other scales of affixes. */
static int add_affixes(struct validation *x, const struct path *best)
{
        struct setting s = best->setting;

        for (size_t i = 1; i < AFFIXES && x->k->features->affixes != SIZE_MAX; i++) {
                s.affixes = scales_of_affixes[i];
                RAN_TRY(add_like(x, best, s));
        }
        return RAN_OK;
}

static void add_chains(struct validation *x, size_t first, size_t fold)
{
        for (size_t i = first; i < x->paths; i++)
                add_chain(x, &x->path[i], fold);
        x->used[fold] = true;
}

/* The best path so far with other affixes leaves out the first fold, too. */
static int try_others(struct validation *x, double share)
{
        const struct candidate best = find_best(x);
        const size_t first = x->paths;

        if (best.path != NULL)
                RAN_TRY(add_affixes(x, best.path));
        if (x->paths == first) {
                x->share += share;
                return RAN_OK;
        }
        add_chains(x, first, x->first);
        return run_heat(x, share);
}

/* What is left of the race leaves out the other folds, one after another. */
static int race_on(struct validation *x, size_t left, double share)
{
        const size_t folds = x->folds - x->first - 1;

        for (size_t f = x->first + 1; f < x->folds && left > 1; f++) {
                if (!is_usable(x, f))
                        continue;
                add_chains(x, 0, f);
                RAN_TRY(run_heat(x, share / (double)folds));
                left = drop_worse(x, 0, still);
        }
        return RAN_OK;
}

/* All folds at once. */
static int try_folds(struct validation *x, double share)
{
        for (size_t f = x->first + 1; f < x->folds; f++)
                if (is_usable(x, f))
                        add_chains(x, 0, f);
        return run_heat(x, share);
}

/* All paths leave out the first fold, then the others. Other affixes must be better in the first
 * fold: they are no more than a refinement. */
static int try_all(struct validation *x, int ratios, struct ran_error *err)
{
        const double of_first = 0.5, of_affixes = 0.1, of_folds = 1 - of_first - of_affixes;
        size_t paths;

        RAN_TRY(make_folds(x, err));
        x->folds = count_folds(x);
        while (x->first < x->folds && !is_usable(x, x->first))
                x->first++;
        if (x->first == x->folds)
                return RAN_OK;
        x->races = x->begin[x->first + 1] - x->begin[x->first] >= FEW;
        RAN_TRY(list_paths(x, ratios));
        add_chains(x, 0, x->first);
        RAN_TRY(run_heat(x, of_first));
        if (x->races)
                drop_worse(x, 0, surely);
        paths = x->paths;
        RAN_TRY(try_others(x, of_affixes));
        return x->races ? race_on(x, drop_worse(x, paths, 0), of_folds) : try_folds(x, of_folds);
}

/* The mean over the folds. */
static struct ran_ensemble mean_ensemble(const struct validation *x, const struct candidate *of)
{
        struct ran_ensemble mean = {0};
        size_t n = 0;

        for (size_t f = 0; f < FOLDS; f++) {
                const struct ran_ensemble *of_fold = &of->path->ensemble[of->cost][f];

                if (!x->used[f])
                        continue;
                n++;
                mean.linear += (of_fold->linear - mean.linear) / (double)n;
                mean.offset += (of_fold->offset - mean.offset) / (double)n;
        }
        return mean;
}

static void release(struct validation *x)
{
        for (size_t i = 0; i < x->paths; i++)
                for (size_t c = 0; c < COSTS; c++)
                        free(x->path[i].loss[c]);
        free(x->order);
}

/* What is chosen where nothing can be tried. */
static void set_default(struct ran_svm *k, double *cost, int ratios)
{
        *cost = *cost > 0 ? *cost : cost_of_few;
        k->ratios = ratios != RAN_RATIOS_NO;
        k->affixes = scales_of_affixes[0];
        k->ensemble = (struct ran_ensemble){0};
}

static void set_best(struct validation *x, struct ran_svm *k, double *cost)
{
        const struct candidate best = find_best(x);

        if (best.path == NULL)
                return;
        *cost = x->cost[best.cost];
        k->ratios = best.path->setting.ratios;
        k->affixes = best.path->setting.affixes;
        k->ensemble = mean_ensemble(x, &best);
}

/* The best one once more, for what it says of the folds. */
static int hold_out(struct validation *x, struct ran_held_out *h)
{
        const struct candidate best = find_best(x);
        const size_t C = x->k->d->C, rows = x->begin[x->folds];
        size_t numbers, fold;

        if (best.path == NULL)
                return RAN_OK;
        if (__builtin_mul_overflow(rows, C, &numbers))
                return RAN_ENOMEM;
        h->row = ran_alloc(rows, sizeof *h->row, x->err);
        x->logits = h->logits = ran_alloc_floats(numbers, x->err);
        if (h->row == NULL || h->logits == NULL)
                return RAN_ENOMEM;
        for (fold = 0; fold < FOLDS; fold++)
                if (x->used[fold])
                        x->chain[x->chains++] = (struct chain){.x = x,
                                                               .path = best.path,
                                                               .fold = fold,
                                                               .from = best.cost,
                                                               .at = best.cost,
                                                               .end = best.cost + 1};
        RAN_TRY(run_heat(x, 0));
        for (fold = 0; fold < x->folds; fold++) {
                const size_t from = x->begin[fold], n = x->begin[fold + 1] - from;

                if (!x->used[fold])
                        continue;
                memcpy(h->row + h->n, x->order + from, n * sizeof *h->row);
                memmove(h->logits + h->n * C, h->logits + from * C, n * C * sizeof *h->logits);
                h->n += n;
                h->begin[++h->folds] = h->n;
        }
        return RAN_OK;
}

void ran_held_out_release(struct ran_held_out *h)
{
        free(h->row);
        free(h->logits);
        *h = (struct ran_held_out){0};
}

int ran_cross_validate(struct ran_svm *k, double *cost, int ratios, const float *weight,
                       const float *bias, struct ran_held_out *held_out,
                       int (*pass)(void *arg, size_t passes, double share), void *arg,
                       struct ran_error *err)
{
        const bool tries = *cost == 0 || ratios == RAN_RATIOS_AUTO || held_out != NULL;
        struct validation x = {
                .k = k, .weight = weight, .bias = bias, .pass = pass, .arg = arg, .err = err};
        int rc = RAN_OK;

        x.n_costs = *cost > 0 ? 1 : COSTS;
        for (size_t i = 0; i < x.n_costs; i++)
                x.cost[i] = *cost > 0 ? *cost : costs[i];
        if (tries && k->n >= FOLDS)
                rc = try_all(&x, ratios, err);
        if (rc == RAN_OK && held_out != NULL)
                rc = hold_out(&x, held_out);
        if (rc == RAN_OK) {
                set_default(k, cost, ratios);
                set_best(&x, k, cost);
        }
        release(&x);
        return rc;
}

/* The folds that there may be of n rows, and whether the first of them takes paths out. */
static size_t folds_of(size_t n, bool *races)
{
        size_t folds = 0;

        while (folds < FOLDS && folds * n / FOLDS < ENOUGH)
                folds++;
        *races = n / FOLDS >= FEW;
        return folds;
}

/* The most paths, and the most chains of a heat. */
static size_t count_paths(const struct ran_cross_validated *k, size_t n, size_t *chains)
{
        bool races;
        const size_t folds = folds_of(n, &races), ratios = k->ratios == RAN_RATIOS_AUTO ? 2 : 1;
        const size_t paths = ratios + (k->affixes ? AFFIXES - 1 : 0);
        const size_t further = races ? paths * (folds > 1) : paths * (folds - 1);

        *chains = ratios > further ? ratios : further;
        return paths;
}

double ran_cross_validate_bytes(const struct ran_cross_validated *k, const struct ran_dataset *d,
                                size_t n, size_t columns, size_t threads)
{
        const size_t documents = n / FOLDS + 1;
        const double fold = (double)documents, C = (double)d->C;
        bool races;
        size_t chains;

        if (n < FOLDS)
                return 0;
        const size_t folds = folds_of(n, &races), paths = count_paths(k, n, &chains);
        chains = chains < threads ? chains : threads;
        /* a solver and its rows, the logits of the fold that is held out; losses and the order of
         * all rows */
        return (double)chains * (ran_svm_bytes(d, n - n / FOLDS, columns, true) + 8 * (double)n +
                                 4 * fold * C) +
               4 * (double)folds * fold * (double)paths * COSTS + 8 * (double)n;
}
