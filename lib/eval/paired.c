/* paired.c - two models on the same documents: is the difference more than chance?
 *
 * What a model answers to a document is right or wrong, and most answers of two models agree. Only
 * the documents where one is right and the other wrong tell them apart. If neither is better, each
 * of these falls to either side with probability 1/2: McNemar's test, here with the exact binomial
 * distribution. The interval of the difference comes from resampling documents (bootstrap), with
 * both answers to each, so that it, too, knows that they are the same documents.
 */
#include "eval/eval.h"
#include "ran/math.h"

#include <math.h>
#include <stdlib.h>

struct pair {
        struct ran_answer first, second;
};

struct ran_paired {
        bool several;
        struct pair *pair;
        size_t n, cap;
};

/* Resamples, fewer of many documents: the ends of an interval do not need more. */
enum { MOST_RESAMPLES = 2000, LEAST_RESAMPLES = 200 };
static const double most_draws = 4e8;

struct ran_paired *ran_paired_new(bool several)
{
        struct ran_paired *p = ran_new(1, sizeof *p);

        p->several = several;
        return p;
}

void ran_paired_free(struct ran_paired *p)
{
        if (p != NULL)
                free(p->pair);
        free(p);
}

void ran_paired_add(struct ran_paired *p, const struct ran_answer *first,
                    const struct ran_answer *second)
{
        RAN_ROOM(p->pair, p->cap, p->n + 1);
        p->pair[p->n++] = (struct pair){*first, *second};
}

/* ---- McNemar's test -------------------------------------------------------------------------- */

/* P(X <= k) of a binomial distribution of n trials with probability 1/2, k <= n/2. */
static double tail(size_t k, size_t n)
{
        double log_term = -(double)n * 0.69314718055994530942, sum = 0, term;

        for (size_t i = 1; i <= k; i++)
                log_term += ran_log((double)(n - k + i) / (double)i);
        term = ran_exp(log_term);
        for (size_t i = k; term > 0 && term > sum * 1e-17; i--) {
                sum += term;
                if (i == 0)
                        break;
                term *= (double)i / (double)(n - i + 1);
        }
        return sum;
}

double ran_mcnemar(size_t first_only, size_t second_only)
{
        const size_t fewer = first_only < second_only ? first_only : second_only;

        if (first_only == second_only)
                return 1;
        return fmin(1, 2 * tail(fewer, first_only + second_only));
}

/* ---- the difference -------------------------------------------------------------------------- */

struct sums {
        uint64_t right, wrong, missed;
};

static void add(struct sums *s, const struct ran_answer *a)
{
        s->right += a->right;
        s->wrong += a->wrong;
        s->missed += a->missed;
}

/* Micro-F1. With one label each, a wrong answer is also a missed label: the accuracy. */
static double metric(const struct sums *s)
{
        const uint64_t all = 2 * s->right + s->wrong + s->missed;

        return all > 0 ? 2 * (double)s->right / (double)all : 0;
}

/* The difference on n documents that are drawn with replacement. */
static double resample(const struct ran_paired *p, uint64_t key)
{
        struct sums first = {0}, second = {0};

        for (size_t i = 0; i < p->n; i++) {
                const struct pair *pair =
                        &p->pair[(size_t)(ran_random_uniform(key, i) * (double)p->n)];

                add(&first, &pair->first);
                add(&second, &pair->second);
        }
        return metric(&first) - metric(&second);
}

static struct ran_interval find_interval(const struct ran_paired *p)
{
        const double affordable = most_draws / (double)p->n;
        const size_t n = affordable >= MOST_RESAMPLES   ? MOST_RESAMPLES
                         : affordable > LEAST_RESAMPLES ? (size_t)affordable
                                                        : LEAST_RESAMPLES;
        double x[MOST_RESAMPLES] = {0};

        for (size_t i = 0; i < n; i++)
                x[i] = resample(p, ran_random_key(1, 0, 0, i));
        return ran_interval_samples(x, n);
}

/* All of a document is right. */
static bool is_right(const struct ran_answer *a)
{
        return a->wrong == 0 && a->missed == 0;
}

void ran_paired_finish(const struct ran_paired *p, struct ran_paired_report *r)
{
        struct sums first = {0}, second = {0};

        *r = (struct ran_paired_report){.n = p->n, .several = p->several};
        for (size_t i = 0; i < p->n; i++) {
                const bool a = is_right(&p->pair[i].first), b = is_right(&p->pair[i].second);

                add(&first, &p->pair[i].first);
                add(&second, &p->pair[i].second);
                r->both += a && b;
                r->first_only += a && !b;
                r->second_only += !a && b;
                r->neither += !a && !b;
        }
        r->first = metric(&first);
        r->second = metric(&second);
        r->p = ran_mcnemar(r->first_only, r->second_only);
        if (p->n > 0)
                r->difference = find_interval(p);
}
