/* cross-validate.c - see svm.h. */
#include "part/linear/svm.h"
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
/* The weight of affixes beside n-grams, and the one that is tried for the best setting. */
static const double usual_affixes = 1, less_affixes = 0.4;
enum { COSTS = sizeof costs / sizeof *costs };
enum { AFFIXES = 2, PATHS = 3, CHAINS = PATHS * FOLDS };

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
        double affixes;
        bool ratios;
        bool out[COSTS];    /* or not tried */
        float *loss[COSTS]; /* of the documents that were predicted, in the order of rows */
        struct ran_ensemble ensemble[COSTS][FOLDS]; /* with the least loss: margins are no logits */
};

/* The fits of a path that leave out a fold. */
struct chain {
        struct path *path;
        size_t fold, from, at, end; /* costs of this chain, and the one at work */
        double share;               /* of its work that is done; under the lock */
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
static void shuffle_groups(struct validation *x)
{
        const struct ran_svm *k = x->k;
        struct drawn *drawn = ran_new(k->n, sizeof *drawn);

        for (size_t i = 0; i < k->n; i++) {
                const uint64_t key = ran_random_key(k->seed, RAN_FOR_SPLIT, RAN_SHUFFLE_FOLDS,
                                                    k->d->group[k->document[k->row[i]]]);

                drawn[i] = (struct drawn){ran_random_draw(key, 0), k->row[i]};
        }
        qsort(drawn, k->n, sizeof *drawn, compare_drawn);
        for (size_t i = 0; i < k->n; i++)
                x->order[i] = drawn[i].row;
        free(drawn);
}

static bool is_usable(const struct validation *x, size_t fold)
{
        const size_t n = x->begin[fold + 1] - x->begin[fold];

        return n > 0 && n < x->k->n; /* a group may be larger than a fold */
}

/* Folds of as many rows each, but for a group, which is whole; as many as it takes to validate on
 * enough documents. */
static void make_folds(struct validation *x)
{
        const struct ran_svm *k = x->k;
        const uint64_t *group = k->d->group;

        x->order = ran_new(k->n, sizeof *x->order);
        if (group == NULL)
                ran_random_shuffle(x->order, k->row, k->n, k->seed, RAN_SHUFFLE_FOLDS);
        else
                shuffle_groups(x);
        for (size_t f = 1; f <= FOLDS; f++) {
                size_t at = f * k->n / FOLDS;

                while (group != NULL && at > 0 && at < k->n &&
                       group[k->document[x->order[at]]] == group[k->document[x->order[at - 1]]])
                        at++;
                x->begin[f] = at;
        }
        while (x->folds < FOLDS && x->begin[x->folds] < ENOUGH)
                x->folds++;
        while (x->first < x->folds && !is_usable(x, x->first))
                x->first++;
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

/* The loss of all documents that were predicted. */
static double loss_of(const struct validation *x, const struct path *p, size_t cost)
{
        double loss = 0;

        if (p->out[cost])
                return INFINITY;
        for (size_t f = 0; f < FOLDS; f++) {
                double of_fold = 0;

                for (size_t i = x->begin[f]; x->used[f] && i < x->begin[f + 1]; i++)
                        of_fold += (double)p->loss[cost][i];
                loss += of_fold;
        }
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

/* Scores the fold with the cost at work. */
static void validate(struct validation *x, const struct chain *a, const struct ran_svm_solver *s)
{
        const struct ran_svm *k = x->k;
        const size_t from = x->begin[a->fold], C = k->d->C;
        const struct ran_ensemble_rows rows = {.d = k->d,
                                               .document = k->document,
                                               .row = x->order + from,
                                               .n = x->begin[a->fold + 1] - from,
                                               .least = 0.5};
        float *own = x->logits == NULL ? ran_new_floats(rows.n * C) : NULL;
        float *logits = own != NULL ? own : x->logits + from * C;

        ran_svm_solver_score(s, rows.row, rows.n, logits);
        ran_ensemble_fit_rows(&a->path->ensemble[a->at][a->fold], a->path->loss[a->at] + from,
                              &rows, logits);
        free(own);
}

/* Whether the fold says that the cost at work is too high: the loss has one valley. */
static bool is_past_best(const struct validation *x, const struct chain *a)
{
        const size_t from = x->begin[a->fold], n = x->begin[a->fold + 1] - from;

        for (size_t c = a->from; c < a->at; c++) {
                struct difference d = {0};

                compare(&d, a->path->loss[a->at] + from, a->path->loss[c] + from, n);
                if (is_worse(&d, surely))
                        return true;
        }
        return false;
}

/* The cost at work. */
static void begin_cost(const struct validation *x, const struct chain *a, struct ran_svm_solver *s)
{
        const size_t passes = a->at == a->from ? FIRST_PASSES : ROUGH_PASSES;

        ran_svm_solver_begin(s, x->cost[a->at], rough_tolerance, x->races ? passes : PASSES_OF_FEW);
}

/* What the cost at work comes to, and the next one. */
static void end_cost(struct validation *x, struct chain *a, struct ran_svm_solver *s)
{
        validate(x, a, s);
        if (x->races && a->fold == x->first && is_past_best(x, a))
                for (; a->at + 1 < a->end; a->end--)
                        a->path->out[a->end - 1] = true;
        if (++a->at < a->end)
                begin_cost(x, a, s);
}

/* After some passes of a chain: tells the caller, who may stop all. Returns whether it goes on. */
static bool end_round(struct validation *x, struct chain *a, const struct ran_svm_solver *s)
{
        const double solved = a->at < a->end ? ran_svm_solver_share(s) : 0;
        double done = 0;

        pthread_mutex_lock(&x->lock);
        a->share = ((double)(a->at - a->from) + solved) / (double)(a->end - a->from);
        for (size_t i = 0; i < x->chains; i++)
                done += x->chain[i].share;
        if (x->rc == RAN_OK && x->pass != NULL &&
            x->pass(x->arg, ++x->rounds, x->share + x->of_heat * done / (double)x->chains) != 0)
                x->rc = ran_fail(x->err, RAN_EINTR,
                                 "stopped while the linear model was cross-validated");
        const bool goes_on = x->rc == RAN_OK;
        pthread_mutex_unlock(&x->lock);
        return goes_on;
}

/* A round visits as many rows as there are; as most are shrunk away, that is many passes. Returns
 * whether other chains go on. */
static bool run_chain(struct validation *x, struct chain *a, struct ran_svm_solver *s)
{
        bool goes_on = true;
        size_t visits = 0;

        begin_cost(x, a, s);
        while (goes_on && a->at < a->end) {
                const size_t was = ran_svm_solver_visits(s);
                const bool solved = ran_svm_solver_pass(s);

                visits += ran_svm_solver_visits(s) - was;
                if (solved)
                        end_cost(x, a, s);
                if (visits >= x->k->n || a->at == a->end) {
                        goes_on = end_round(x, a, s);
                        visits = 0;
                }
        }
        return goes_on;
}

/* A thread takes one chain after the other to its end: each takes the memory of a fit. Threads that
 * find none take classes of the others. */
static void run_some(void *arg, size_t thread)
{
        struct validation *x = arg;
        size_t *row = ran_new(x->k->n, sizeof *row); /* of the other folds */
        bool goes_on = true;
        size_t i;

        (void)thread;
        while (goes_on && (i = atomic_fetch_add(&x->next, 1)) < x->chains) {
                struct chain *a = &x->chain[i];
                const size_t from = x->begin[a->fold], to = x->begin[a->fold + 1];
                struct ran_svm k = *x->k;
                struct ran_error why = {0};

                memcpy(row, x->order, from * sizeof *row);
                memcpy(row + from, x->order + to, (k.n - to) * sizeof *row);
                k.row = row;
                k.n -= to - from;
                k.ratios = a->path->ratios;
                k.affixes = a->path->affixes;
                struct ran_svm_solver *s = ran_svm_solver_new(&k, x->weight, x->bias, &why);
                if (s == NULL) {
                        pthread_mutex_lock(&x->lock);
                        if (x->rc == RAN_OK)
                                x->rc = ran_fail(x->err, RAN_ENOMEM, "%s", why.text);
                        pthread_mutex_unlock(&x->lock);
                }
                goes_on = s != NULL && run_chain(x, a, s);
                ran_svm_solver_free(s);
        }
        free(row);
}

/* Runs the chains that are listed: this share of all work. */
static int run_heat(struct validation *x, double share)
{
        x->of_heat = share;
        atomic_store(&x->next, 0);
        ran_parallel(x->k->pool, ran_pool_threads(x->k->pool), run_some, x);
        x->chains = 0;
        x->share += share;
        return x->rc;
}

/* ---- what is tried --------------------------------------------------------------------------- */

static struct path *add_path(struct validation *x, double affixes, bool ratios)
{
        struct path *p = &x->path[x->paths++];

        *p = (struct path){.affixes = affixes, .ratios = ratios};
        for (size_t c = 0; c < x->n_costs; c++)
                p->loss[c] = ran_new_floats(x->begin[x->folds]);
        return p;
}

/* Leaves out a fold: chains of the paths from `first` on, each from the first of its costs that is
 * in the race to the last one. */
static void add_chains(struct validation *x, size_t first, size_t fold)
{
        for (size_t i = first; i < x->paths; i++) {
                struct path *p = &x->path[i];
                size_t from = 0, end = x->n_costs;

                while (from < end && p->out[from])
                        from++;
                while (end > from && p->out[end - 1])
                        end--;
                if (from < end)
                        x->chain[x->chains++] = (struct chain){
                                .path = p, .fold = fold, .from = from, .at = from, .end = end};
        }
        x->used[fold] = true;
}

/* All paths leave out the first fold, then the best one with other affixes, which must be better
 * there: they are no more than a refinement. What is left leaves out the other folds: in a race one
 * after another, else all at once. */
static int try_all(struct validation *x, int ratios)
{
        const double of_first = 0.5, of_affixes = 0.1, of_folds = 1 - of_first - of_affixes;

        x->races = x->begin[x->first + 1] - x->begin[x->first] >= FEW;
        for (int with = 1; with >= 0; with--) /* they take longer: so threads end together */
                if (ratios == RAN_RATIOS_AUTO || (ratios == RAN_RATIOS_YES) == with)
                        add_path(x, usual_affixes, with);
        add_chains(x, 0, x->first);
        RAN_TRY(run_heat(x, of_first));
        if (x->races)
                drop_worse(x, 0, surely);
        const struct candidate best = find_best(x);
        const size_t paths = x->paths;
        if (best.path != NULL && x->k->features->affixes != SIZE_MAX) {
                struct path *p = add_path(x, less_affixes, best.path->ratios);

                memcpy(p->out, best.path->out, sizeof p->out); /* costs hardly depend on scales */
                add_chains(x, paths, x->first);
        }
        RAN_TRY(run_heat(x, of_affixes));
        size_t left = x->races ? drop_worse(x, paths, 0) : SIZE_MAX;
        for (size_t f = x->first + 1; f < x->folds && left > 1; f++) {
                if (!is_usable(x, f))
                        continue;
                add_chains(x, 0, f);
                if (!x->races)
                        continue;
                RAN_TRY(run_heat(x, of_folds / (double)(x->folds - x->first - 1)));
                left = drop_worse(x, 0, still);
        }
        return x->races ? RAN_OK : run_heat(x, of_folds);
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

/* The best one once more, for what it says of the folds. */
static int hold_out(struct validation *x, struct ran_held_out *h)
{
        const struct candidate best = find_best(x);
        const size_t C = x->k->d->C, rows = x->begin[x->folds];

        if (best.path == NULL)
                return RAN_OK;
        h->row = ran_new(rows, sizeof *h->row);
        x->logits = h->logits = ran_new_floats(rows * C);
        for (size_t fold = 0; fold < FOLDS; fold++)
                if (x->used[fold])
                        x->chain[x->chains++] = (struct chain){.path = best.path,
                                                               .fold = fold,
                                                               .from = best.cost,
                                                               .at = best.cost,
                                                               .end = best.cost + 1};
        RAN_TRY(run_heat(x, 0));
        for (size_t fold = 0; fold < x->folds; fold++) {
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

/* What is chosen, or stays where nothing can be tried. */
static int choose(struct validation *x, struct ran_svm *k, double *cost, int ratios,
                  struct ran_held_out *held_out)
{
        if ((*cost == 0 || ratios == RAN_RATIOS_AUTO || held_out != NULL) && k->n >= FOLDS) {
                make_folds(x);
                if (x->first < x->folds)
                        RAN_TRY(try_all(x, ratios));
        }
        if (held_out != NULL)
                RAN_TRY(hold_out(x, held_out));
        const struct candidate best = find_best(x);
        *cost = *cost > 0 ? *cost : cost_of_few;
        k->ratios = ratios != RAN_RATIOS_NO;
        k->affixes = usual_affixes;
        k->ensemble = (struct ran_ensemble){0};
        if (best.path != NULL) {
                *cost = x->cost[best.cost];
                k->ratios = best.path->ratios;
                k->affixes = best.path->affixes;
                k->ensemble = mean_ensemble(x, &best);
        }
        return RAN_OK;
}

int ran_cross_validate(struct ran_svm *k, double *cost, int ratios, const float *weight,
                       const float *bias, struct ran_held_out *held_out,
                       int (*pass)(void *arg, size_t passes, double share), void *arg,
                       struct ran_error *err)
{
        struct validation x = {.k = k,
                               .weight = weight,
                               .bias = bias,
                               .n_costs = *cost > 0 ? 1 : COSTS,
                               .pass = pass,
                               .arg = arg,
                               .err = err,
                               .lock = PTHREAD_MUTEX_INITIALIZER};

        for (size_t i = 0; i < x.n_costs; i++)
                x.cost[i] = *cost > 0 ? *cost : costs[i];
        const int rc = choose(&x, k, cost, ratios, held_out);
        for (size_t i = 0; i < x.paths; i++)
                for (size_t c = 0; c < COSTS; c++)
                        free(x.path[i].loss[c]);
        free(x.order);
        return rc;
}
