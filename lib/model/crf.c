/* crf.c - see crf.h.
 *
 * One message a token goes from left to right: in[t][j] is the log of the summed weights of all
 * paths that lead up to tag j of token t, the score of that token not included. With the score
 * added and the largest subtracted it is here[j], from which the next message follows.
 *
 * Back from right to left no second message is needed: given tag j of token t, tag i of token t - 1
 * has the probability exp(here[i] + transition[i][j] - in[t][j]), which sums to 1 over i. So the
 * marginals of a token, spread by these, are those of the pair and of the token before, and
 * rounding errors stay what they are however long the document.
 */
#include "model/crf.h"

#include <math.h>
#include <string.h>

struct lattice {
        size_t L, C;
        const float *score;               /* (L,C) */
        double *start, *end, *transition; /* (C) (C) (C,C), in double */
        double *in;                       /* (L,C) */
        double *here;                     /* (C) */
        double *spare;                    /* (C) */
        double *p;                        /* (C) marginals of a token */
        double *pairs;                    /* (C,C) sums over the document */
};

enum { VECTORS = 5, MATRICES = 2 };

size_t ran_crf_scratch(size_t L, size_t C)
{
        size_t rows, n;

        if (__builtin_mul_overflow(C, (size_t)MATRICES, &rows) ||
            __builtin_add_overflow(rows, (size_t)VECTORS, &rows) ||
            __builtin_add_overflow(rows, L, &rows) || __builtin_mul_overflow(rows, C, &n))
                return SIZE_MAX;
        return n;
}

static double larger(double a, double b) /* fmax, but for NaN: quicker */
{
        return b > a ? b : a;
}

static void widen(double *to, const float *from, const bool *allowed, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                to[i] = from != NULL ? (double)from[i] : 0;
                if (allowed != NULL && !allowed[i])
                        to[i] = -INFINITY;
        }
}

static struct lattice lattice_of(const float *score, const struct ran_crf *crf,
                                 const struct ran_crf_rules *rules, size_t L, size_t C,
                                 double *scratch)
{
        struct lattice l = {.L = L, .C = C, .score = score, .start = scratch};

        l.end = l.start + C;
        l.here = l.end + C;
        l.spare = l.here + C;
        l.p = l.spare + C;
        l.transition = l.p + C;
        l.pairs = l.transition + C * C;
        l.in = l.pairs + C * C;
        widen(l.start, crf->start, rules != NULL ? rules->start : NULL, C);
        widen(l.end, crf->end, NULL, C);
        widen(l.transition, crf->transition, rules != NULL ? rules->transition : NULL, C * C);
        memcpy(l.in, l.start, C * sizeof(*l.in));
        return l;
}

/* here = in[t] + score[t], less the largest, which is returned. */
static double arrive(struct lattice *l, size_t t)
{
        const double *in = l->in + t * l->C;
        const float *score = l->score + t * l->C;
        double most = -INFINITY;

        for (size_t j = 0; j < l->C; j++) {
                l->here[j] = in[j] + (double)score[j];
                most = larger(most, l->here[j]);
        }
        for (size_t j = 0; j < l->C; j++)
                l->here[j] -= most;
        return most;
}

/* best[j] = max over i of here[i] + transition[i][j] */
static void best_before(const struct lattice *l, double *best)
{
        size_t C = l->C;

        for (size_t j = 0; j < C; j++)
                best[j] = -INFINITY;
        for (size_t i = 0; i < C; i++)
                for (size_t j = 0; j < C; j++)
                        best[j] = larger(best[j], l->here[i] + l->transition[i * C + j]);
}

/* in[j] = log of the sum over i of exp(here[i] + transition[i][j]) */
static void sum_before(const struct lattice *l, double *in)
{
        size_t C = l->C;
        double *most = l->spare;

        best_before(l, most);
        memset(in, 0, C * sizeof(*in));
        for (size_t i = 0; i < C; i++)
                for (size_t j = 0; j < C; j++)
                        in[j] += ran_exp(l->here[i] + l->transition[i * C + j] - most[j]);
        for (size_t j = 0; j < C; j++)
                in[j] = most[j] + ran_log(in[j]);
}

/* ---- sums over all paths -------------------------------------------------------------------- */

/* p = softmax(x), n >= 1. Returns log of the sum of exp(x). */
static double softmax(double *p, const double *x, size_t n)
{
        double most = x[0], sum = 0;

        for (size_t i = 1; i < n; i++)
                most = larger(most, x[i]);
        for (size_t i = 0; i < n; i++)
                sum += p[i] = ran_exp(x[i] - most);
        for (size_t i = 0; i < n; i++)
                p[i] /= sum;
        return most + ran_log(sum);
}

/* All messages; p becomes the marginals of the last token. Returns log Z. */
static double forward(struct lattice *l)
{
        double log_z = 0;

        for (size_t t = 1; t < l->L; t++) {
                log_z += arrive(l, t - 1);
                sum_before(l, l->in + t * l->C);
        }
        log_z += arrive(l, l->L - 1);
        for (size_t j = 0; j < l->C; j++)
                l->here[j] += l->end[j];
        return log_z + softmax(l->p, l->here, l->C);
}

/* From the marginals of token t to those of the one before; adds the pairs' to the sums. */
static void step_back(struct lattice *l, size_t t)
{
        size_t C = l->C;
        const double *in = l->in + t * C;

        arrive(l, t - 1);
        for (size_t i = 0; i < C; i++) {
                double sum = 0;

                for (size_t j = 0; j < C; j++) {
                        double pair =
                                l->p[j] * ran_exp(l->here[i] + l->transition[i * C + j] - in[j]);

                        l->pairs[i * C + j] += pair;
                        sum += pair;
                }
                l->spare[i] = sum;
        }
        memcpy(l->p, l->spare, C * sizeof(*l->p));
}

/* out (L,C) = the marginals, less those of a path that is certain (NULL: less nothing), times
 * weight. */
static void backward(struct lattice *l, float *out, const uint32_t *path, double weight)
{
        size_t C = l->C;

        memset(l->pairs, 0, C * C * sizeof(*l->pairs));
        for (size_t t = l->L; t-- > 0;) {
                for (size_t j = 0; j < C; j++) {
                        double certain = path != NULL && path[t] == j;

                        out[t * C + j] = (float)(weight * (l->p[j] - certain));
                }
                if (t > 0)
                        step_back(l, t);
        }
}

static double path_score(const struct lattice *l, const uint32_t *path)
{
        size_t C = l->C;
        double sum = l->start[path[0]] + l->end[path[l->L - 1]];

        for (size_t t = 0; t < l->L; t++)
                sum += (double)l->score[t * C + path[t]];
        for (size_t t = 1; t < l->L; t++)
                sum += l->transition[path[t - 1] * C + path[t]];
        return sum;
}

double ran_crf_loss(float *dscore, const struct ran_crf_grad *d, const float *score,
                    const struct ran_crf *crf, const uint32_t *path, size_t L, size_t C,
                    double weight, double *scratch)
{
        struct lattice l = lattice_of(score, crf, NULL, L, C, scratch);
        double loss = forward(&l) - path_score(&l, path);

        if (dscore == NULL)
                return weight * loss;
        backward(&l, dscore, path, weight);
        for (size_t t = 1; t < L; t++)
                l.pairs[path[t - 1] * C + path[t]] -= 1;
        for (size_t i = 0; i < C * C; i++)
                d->transition[i] += (float)(weight * l.pairs[i]);
        /* start and end add to a path what the scores of the first and last token do. */
        for (size_t j = 0; j < C; j++) {
                d->start[j] += dscore[j];
                d->end[j] += dscore[(L - 1) * C + j];
        }
        return weight * loss;
}

void ran_crf_marginals(float *p, const float *score, const struct ran_crf *crf, size_t L, size_t C,
                       double *scratch)
{
        struct lattice l = lattice_of(score, crf, NULL, L, C, scratch);

        forward(&l);
        backward(&l, p, NULL, 1);
}

/* ---- the best path -------------------------------------------------------------------------- */

/* The first tag of those with the largest here[i] + more[i * step]. */
static uint32_t best_tag(const struct lattice *l, const double *more, size_t step)
{
        uint32_t best = 0;

        for (uint32_t i = 1; i < l->C; i++)
                if (l->here[i] + more[i * step] > l->here[best] + more[best * step])
                        best = i;
        return best;
}

void ran_crf_decode(uint32_t *path, const float *score, const struct ran_crf *crf,
                    const struct ran_crf_rules *rules, size_t L, size_t C, double *scratch)
{
        struct lattice l = lattice_of(score, crf, rules, L, C, scratch);

        for (size_t t = 1; t < L; t++) {
                arrive(&l, t - 1);
                best_before(&l, l.in + t * C);
        }
        arrive(&l, L - 1);
        path[L - 1] = best_tag(&l, l.end, 1);
        for (size_t t = L - 1; t > 0; t--) {
                arrive(&l, t - 1);
                path[t - 1] = best_tag(&l, l.transition + path[t], C);
        }
}
