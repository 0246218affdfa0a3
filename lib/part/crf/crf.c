/* crf.c - see crf.h.
 *
 * Forward, each token has one message: in[t][j] is the log of the summed weights of all paths up to
 * tag j of token t, without the score of that token. here[j] adds the score and subtracts the
 * largest sum; the next message follows from it.
 *
 * Backward, no second message is needed: given tag j of token t, tag i of token t - 1 has the
 * probability exp(here[i] + transition[i][j] - in[t][j]), which sums to 1 over i. These
 * probabilities spread the marginals of a token over the pairs and the token before, so that
 * rounding errors do not grow with the document.
 *
 * exp is taken of the transitions once a document and of here once a token, so that a pair of tags
 * costs one multiplication. If the transitions are so far apart that the smallest exp would vanish
 * beside the largest, each pair takes an exp of its own.
 */
#include "part/crf/crf.h"
#include "nn/part.h"
#include "ran/math.h"

#include <math.h>
#include <string.h>

struct lattice {
        size_t L, C;
        const float *score;  /* (L,C) */
        double *start, *end; /* (C) (C), in double */
        double *in;          /* (L,C) */
        double *here;        /* (C) */
        double *spare;       /* (C) */
        double *p;           /* (C) marginals of a token */
        const struct ran_crf_rules *rules;
        /* There are transitions and more than one token; otherwise the members below are unused. */
        bool chained;
        double *transition; /* (C,C) in double; unless steep, exp(transition - largest) */
        double *pairs;      /* (C,C) sums over the document */
        double largest;     /* subtracted from messages unless steep; else 0 */
        bool steep;
};

enum { VECTORS = 5, MATRICES = 2 };

/* With transitions no further apart, sums of millions of their exps are finite, and so are the
 * reciprocals. */
static const double steepest = 500;

size_t ran_crf_sentence_end(const bool *begins, size_t from, size_t n)
{
        size_t end = from + 1;

        while (end < n && (begins == NULL || !begins[end]))
                end++;
        return end;
}

size_t ran_crf_scratch(bool chained, size_t L, size_t C)
{
        size_t rows, n;

        if (__builtin_mul_overflow(C, (size_t)(chained ? MATRICES : 0), &rows) ||
            __builtin_add_overflow(rows, (size_t)VECTORS, &rows) ||
            __builtin_add_overflow(rows, L, &rows) || __builtin_mul_overflow(rows, C, &n))
                return SIZE_MAX;
        return n;
}

static double larger(double a, double b) /* fmax, but for NaN: quicker */
{
        return b > a ? b : a;
}

static void widen(double *to, const float *from, size_t n)
{
        for (size_t i = 0; i < n; i++)
                to[i] = from != NULL ? (double)from[i] : 0;
}

static void lay_out(struct lattice *l, const float *score, const struct ran_crf *crf, size_t L,
                    size_t C, double *scratch)
{
        *l = (struct lattice){.L = L,
                              .C = C,
                              .score = score,
                              .chained = crf->transition != NULL && L > 1,
                              .start = scratch,
                              .end = scratch + C,
                              .here = scratch + 2 * C,
                              .spare = scratch + 3 * C,
                              .p = scratch + 4 * C,
                              .in = scratch + 5 * C};
        widen(l->start, crf->start, C);
        widen(l->end, crf->end, C);
        if (!l->chained)
                return;
        l->transition = l->in + L * C;
        l->pairs = l->transition + C * C;
        widen(l->transition, crf->transition, C * C);
}

/* here = in[t] + score[t] - largest. Returns the largest. */
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

/* p = softmax(p), n >= 1. Returns log of the sum of exp(p). */
static double softmax(double *p, size_t n)
{
        double most = p[0], sum = 0;

        for (size_t i = 1; i < n; i++)
                most = larger(most, p[i]);
        for (size_t i = 0; i < n; i++)
                sum += p[i] = ran_exp(p[i] - most);
        for (size_t i = 0; i < n; i++)
                p[i] /= sum;
        return most + ran_log(sum);
}

/* out (C) = weight (p - one-hot of the true tag); tag NULL: weight p. */
static void put(const struct lattice *l, float *out, const uint32_t *tag, double weight)
{
        for (size_t j = 0; j < l->C; j++) {
                double certain = tag != NULL && *tag == j;

                out[j] = (float)(weight * (l->p[j] - certain));
        }
}

/* ---- tokens by themselves ------------------------------------------------------------------- */

/* p = the marginals of token t, which is independent of the others. Returns its log Z. */
static double alone(const struct lattice *l, size_t t)
{
        widen(l->p, l->score + t * l->C, l->C);
        for (size_t j = 0; j < l->C && t == 0; j++)
                l->p[j] += l->start[j];
        for (size_t j = 0; j < l->C && t == l->L - 1; j++)
                l->p[j] += l->end[j];
        return softmax(l->p, l->C);
}

/* The same for all tokens; out: see put, or NULL. */
static double unchained(struct lattice *l, float *out, const uint32_t *path, double weight)
{
        double log_z = 0;

        for (size_t t = 0; t < l->L; t++) {
                log_z += alone(l, t);
                if (out != NULL)
                        put(l, out + t * l->C, path != NULL ? path + t : NULL, weight);
        }
        return log_z;
}

/* ---- sums over all paths -------------------------------------------------------------------- */

/* l->transition = exp(transition - largest), unless steep. */
static void raise_transitions(struct lattice *l)
{
        size_t n = l->C * l->C;
        double least = l->transition[0], most = least;

        for (size_t i = 1; i < n; i++) {
                least = -larger(-least, -l->transition[i]);
                most = larger(most, l->transition[i]);
        }
        l->steep = !(most - least <= steepest); /* or no number */
        l->largest = l->steep ? 0 : most;
        for (size_t i = 0; i < n && !l->steep; i++)
                l->transition[i] = ran_exp(l->transition[i] - most);
}

static void raise_here(struct lattice *l)
{
        for (size_t i = 0; i < l->C; i++)
                l->here[i] = ran_exp(l->here[i]);
}

/* in[j] = log of the sum over i of exp(here[i] + transition[i][j]), less the largest */
static void sum_before(struct lattice *l, double *in)
{
        size_t C = l->C;

        raise_here(l);
        memset(in, 0, C * sizeof *in);
        for (size_t i = 0; i < C; i++)
                for (size_t j = 0; j < C; j++)
                        in[j] += l->here[i] * l->transition[i * C + j];
        for (size_t j = 0; j < C; j++)
                in[j] = ran_log(in[j]);
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

static void sum_before_steep(const struct lattice *l, double *in)
{
        size_t C = l->C;
        double *most = l->spare;

        best_before(l, most);
        memset(in, 0, C * sizeof *in);
        for (size_t i = 0; i < C; i++)
                for (size_t j = 0; j < C; j++)
                        in[j] += ran_exp(l->here[i] + l->transition[i * C + j] - most[j]);
        for (size_t j = 0; j < C; j++)
                in[j] = most[j] + ran_log(in[j]);
}

/* All messages; p becomes the marginals of the last token. Returns log Z. */
static double forward(struct lattice *l)
{
        double log_z = 0;

        memcpy(l->in, l->start, l->C * sizeof *l->in);
        raise_transitions(l);
        for (size_t t = 1; t < l->L; t++) {
                log_z += arrive(l, t - 1) + l->largest;
                if (l->steep)
                        sum_before_steep(l, l->in + t * l->C);
                else
                        sum_before(l, l->in + t * l->C);
        }
        log_z += arrive(l, l->L - 1);
        for (size_t j = 0; j < l->C; j++)
                l->p[j] = l->here[j] + l->end[j];
        return log_z + softmax(l->p, l->C);
}

/* In four independent sums, which the processor can overlap. */
static double dot(const double *a, const double *b, size_t n)
{
        double sum[4] = {0};
        size_t i = 0;

        for (; i + 4 <= n; i += 4)
                for (size_t k = 0; k < 4; k++)
                        sum[k] += a[i + k] * b[i + k];
        for (size_t k = 0; i < n; i++, k++)
                sum[k] += a[i] * b[i];
        return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* From the marginals of token t to those of token t - 1. Adds the pairs to the sums, still
 * without their factor exp(transition). */
static void step_back(struct lattice *l, size_t t, bool pairs)
{
        size_t C = l->C;
        const double *in = l->in + t * C;
        double *ratio = l->spare;

        arrive(l, t - 1);
        raise_here(l);
        for (size_t j = 0; j < C; j++)
                ratio[j] = l->p[j] / ran_exp(in[j]);
        for (size_t i = 0; i < C; i++)
                l->p[i] = l->here[i] * dot(l->transition + i * C, ratio, C);
        for (size_t i = 0; i < C && pairs; i++)
                for (size_t j = 0; j < C; j++)
                        l->pairs[i * C + j] += l->here[i] * ratio[j];
}

static void step_back_steep(struct lattice *l, size_t t, bool pairs)
{
        size_t C = l->C;
        const double *in = l->in + t * C;

        arrive(l, t - 1);
        for (size_t i = 0; i < C; i++) {
                double sum = 0;

                for (size_t j = 0; j < C; j++) {
                        double pair =
                                l->p[j] * ran_exp(l->here[i] + l->transition[i * C + j] - in[j]);

                        if (pairs)
                                l->pairs[i * C + j] += pair;
                        sum += pair;
                }
                l->spare[i] = sum;
        }
        memcpy(l->p, l->spare, C * sizeof *l->p);
}

/* The marginals of all tokens, after forward. */
static void backward(struct lattice *l, float *out, const uint32_t *path, double weight, bool pairs)
{
        size_t C = l->C;

        for (size_t i = 0; i < C * C && pairs; i++)
                l->pairs[i] = 0;
        for (size_t t = l->L; t-- > 0;) {
                put(l, out + t * C, path != NULL ? path + t : NULL, weight);
                if (t > 0 && l->steep)
                        step_back_steep(l, t, pairs);
                else if (t > 0)
                        step_back(l, t, pairs);
        }
        for (size_t i = 0; i < C * C && pairs && !l->steep; i++)
                l->pairs[i] *= l->transition[i];
}

/* Call it before exp is taken of the transitions. */
static double path_score(const struct lattice *l, const uint32_t *path)
{
        size_t C = l->C;
        double sum = l->start[path[0]] + l->end[path[l->L - 1]];

        for (size_t t = 0; t < l->L; t++)
                sum += (double)l->score[t * C + path[t]];
        for (size_t t = 1; t < l->L && l->chained; t++)
                sum += l->transition[path[t - 1] * C + path[t]];
        return sum;
}

static void add_pairs(struct lattice *l, float *to, const uint32_t *path, double weight)
{
        size_t C = l->C;

        for (size_t t = 1; t < l->L; t++)
                l->pairs[path[t - 1] * C + path[t]] -= 1;
        for (size_t i = 0; i < C * C; i++)
                to[i] += (float)(weight * l->pairs[i]);
}

double ran_crf_loss(float *dscore, const struct ran_crf *d, const float *score,
                    const struct ran_crf *crf, const uint32_t *path, size_t L, size_t C,
                    double weight, double *scratch)
{
        struct lattice l;
        double loss;

        lay_out(&l, score, crf, L, C, scratch);
        loss = -path_score(&l, path);
        loss += l.chained ? forward(&l) : unchained(&l, dscore, path, weight);
        if (dscore == NULL)
                return weight * loss;
        if (l.chained) {
                backward(&l, dscore, path, weight, true);
                add_pairs(&l, d->transition, path, weight);
        }
        /* start and end add to the first and last token of a path, as scores do. */
        for (size_t j = 0; j < C && crf->start != NULL; j++)
                d->start[j] += dscore[j];
        for (size_t j = 0; j < C && crf->end != NULL; j++)
                d->end[j] += dscore[(L - 1) * C + j];
        return weight * loss;
}

void ran_crf_marginals(float *p, const float *score, const struct ran_crf *crf, size_t L, size_t C,
                       double *scratch)
{
        struct lattice l;

        lay_out(&l, score, crf, L, C, scratch);
        if (l.chained) {
                forward(&l);
                backward(&l, p, NULL, 1, false);
        } else {
                unchained(&l, p, NULL, 1);
        }
}

/* ---- the best path -------------------------------------------------------------------------- */

/* No path uses a forbidden tag or transition. */
static void rule(struct lattice *l, const struct ran_crf_rules *rules)
{
        size_t C = l->C;

        l->rules = rules;
        for (size_t j = 0; j < C && rules != NULL; j++)
                if (!rules->start[j])
                        l->start[j] = -INFINITY;
        for (size_t i = 0; i < C && rules != NULL && l->chained; i++)
                for (size_t j = 0; j < C; j++)
                        if (!ran_crf_allows(rules, i, j))
                                l->transition[i * C + j] = -INFINITY;
}

/* As best_before, without transitions: all allowed predecessors cost the same, so one tag of a
 * type is enough. */
static void best_allowed(const struct lattice *l, double *best)
{
        const struct ran_crf_rules *rules = l->rules;
        double *open = l->spare;

        for (size_t j = 0; j < l->C; j++)
                open[j] = -INFINITY;
        for (size_t i = 0; i < l->C && rules != NULL; i++)
                if (rules->open[i])
                        open[rules->type[i]] = larger(open[rules->type[i]], l->here[i]);
        for (size_t j = 0; j < l->C; j++) /* the largest of here is 0 */
                best[j] = rules == NULL || rules->start[j] ? 0 : open[rules->type[j]];
}

static uint32_t first_of_largest(const double *x, size_t n)
{
        size_t best = 0;

        for (size_t i = 1; i < n; i++)
                if (x[i] > x[best])
                        best = i;
        return (uint32_t)best;
}

void ran_crf_decode(uint32_t *path, const float *score, const struct ran_crf *crf,
                    const struct ran_crf_rules *rules, size_t L, size_t C, double *scratch)
{
        struct lattice l;

        lay_out(&l, score, crf, L, C, scratch);
        rule(&l, rules != NULL && rules->start != NULL ? rules : NULL);
        memcpy(l.in, l.start, C * sizeof *l.in);
        for (size_t t = 1; t < L; t++) {
                arrive(&l, t - 1);
                if (l.chained)
                        best_before(&l, l.in + t * C);
                else
                        best_allowed(&l, l.in + t * C);
        }
        arrive(&l, L - 1);
        for (size_t j = 0; j < C; j++)
                l.here[j] += l.end[j];
        path[L - 1] = first_of_largest(l.here, C);
        for (size_t t = L - 1; t > 0; t--) {
                arrive(&l, t - 1);
                for (size_t i = 0, j = path[t]; i < C; i++) /* and the transition to tag j */
                        if (l.chained)
                                l.here[i] += l.transition[i * C + j];
                        else if (l.rules != NULL && !ran_crf_allows(l.rules, i, j))
                                l.here[i] = -INFINITY;
                path[t - 1] = first_of_largest(l.here, C);
        }
}

/* ---- documents ------------------------------------------------------------------------------- */

void ran_crf_decode_sentences(uint32_t *path, const float *score, const struct ran_crf *crf,
                              const struct ran_crf_rules *rules, const bool *begins, size_t n,
                              size_t C, double *scratch)
{
        for (size_t from = 0, end; from < n; from = end) {
                end = ran_crf_sentence_end(begins, from, n);
                ran_crf_decode(path + from, score + from * C, crf, rules, end - from, C, scratch);
        }
}

void ran_crf_marginals_sentences(float *p, const float *score, const struct ran_crf *crf,
                                 const bool *begins, size_t n, size_t C, double *scratch)
{
        for (size_t from = 0, end; from < n; from = end) {
                end = ran_crf_sentence_end(begins, from, n);
                ran_crf_marginals(p + from * C, score + from * C, crf, end - from, C, scratch);
        }
}

/* ---- the part ------------------------------------------------------------------------------- */

/* X(field, name, rows, cols, init, present when) */
#define CRF_PARAMS(X)                           \
        X(start, "crf.start", 0, C, ZERO, true) \
        X(end, "crf.end", 0, C, ZERO, true)     \
        X(transition, "crf.transition", C, C, ZERO, true)

struct ran_crf ran_crf_of(const struct ran_params *p)
{
        const struct ran_crf *own = p->own[RAN_PART_CRF];

        return own != NULL ? *own : (struct ran_crf){0};
}

static bool is_in(const struct ran_config *c)
{
        return c->task == RAN_TASK_TAG && c->tag.crf;
}

static void tensors(struct ran_tensor_walk *k, struct ran_params *params,
                    const struct ran_config *c, size_t C)
{
        struct ran_crf *p = params->own[RAN_PART_CRF];

        (void)c;
        CRF_PARAMS(RAN_TENSOR_FIELD)
}

const struct ran_part ran_part_crf = {
        .is_in = is_in,
        .params_size = sizeof(struct ran_crf),
        .tensors = tensors,
};
