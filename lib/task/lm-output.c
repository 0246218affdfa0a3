/* lm-output.c - see lm-output.h. */
#include "task/lm-output.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "nn/part.h"
#include "ran/model.h"
#include "ran/math.h"

#include <string.h>

void ran_lm_init_bias(const struct ran_config *c, const struct ran_params *p, size_t V,
                      const double *count)
{
        double all = 0;

        for (size_t id = 0; id < V; id++)
                all += count[id] + 0.5; /* finite even for an id that never occurred */
        for (size_t id = 0; id < V; id++)
                p->head.b[id] = (float)ran_log((count[id] + 0.5) / all);
        for (size_t k = 0; k < ran_lm_tails(c, V); k++) {
                struct ran_lm_group g = ran_lm_tail(c, V, k);
                double sum = 0;

                for (size_t id = g.from; id < g.end; id++)
                        sum += count[id] + 0.5;
                p->head.tail_b[k] = (float)ran_log(sum / all);
        }
}

static const size_t NONE = SIZE_MAX;

/* ---- a block of positions -------------------------------------------------------------------- */

/* Positions [at, at + n), and the results wanted for them. */
struct block {
        struct ran_workspace *w;
        const struct ran_params *p;
        struct ran_params *dp; /* NULL: no gradient */
        size_t V, first, tails;
        size_t at, n;
        const uint32_t *gold;
        const float *scale; /* with dp */
        double smoothing;   /* with dp: the part of the target that all tokens share */
        double nll[RAN_LM_ROWS];
        float *logits; /* (positions, V), from `listed` on; or NULL */
        size_t listed;
        bool each; /* `logits` has a block at a time */
        /* The current softmax: rows of `width` scores, and the position of each row. */
        float *score;
        size_t rows, width;
        size_t position[RAN_LM_ROWS]; /* from `at` */
        size_t target[RAN_LM_ROWS];
};

static double mean(const float *x, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += (double)x[i];
        return sum / (double)n;
}

/* Turns row r of scores into probabilities, or into the adjoint of the scores. The loss is the log
 * of the sum less the mean score under the target: (1 - s) of gold and s of all, s the smoothing.
 */
static void online_exp(void *arg, size_t r)
{
        struct block *k = arg;
        float *score = k->score + r * k->width, scale, rest;
        size_t i = k->position[r], at = k->target[r];
        double log_sum, target;

        if (at == NONE) { /* counts for nothing */
                memset(score, 0, k->width * sizeof *score);
                return;
        }
        target = (1 - k->smoothing) * (double)score[at];
        if (k->smoothing > 0)
                target += k->smoothing * mean(score, k->width);
        ran_simd->softmax(score, 1.0f, k->width, &log_sum);
        k->nll[i] += log_sum - target;
        if (k->dp == NULL)
                return;
        scale = k->scale[k->at + i];
        rest = (float)(k->smoothing / (double)k->width);
        score[at] -= (float)(1 - k->smoothing);
        for (size_t j = 0; j < k->width; j++)
                score[j] = (score[j] - rest) * scale;
}

/* The id's entry in the first softmax. */
static size_t entry_of(const struct block *k, size_t id)
{
        size_t tail = 0;

        if (id < k->first)
                return id;
        while (id >= ran_lm_tail(k->w->c, k->V, tail).end)
                tail++;
        return k->first + tail;
}

static float *head_of(const struct block *k)
{
        return k->w->head.head + k->at * k->w->D;
}

/* The first softmax, over `first` ids and the tails. */
static void first_scores(struct block *k)
{
        struct ran_workspace *w = k->w;
        const struct ran_head_params *q = &k->p->head;
        size_t D = w->D;

        k->score = w->head.logits;
        k->width = k->first + k->tails;
        k->rows = k->n;
        ran_gemm_linear(w->pool, k->score, k->width, head_of(k), D, k->p->embed, q->b, k->n, D,
                        k->first);
        if (k->tails > 0)
                ran_gemm_linear(w->pool, k->score + k->first, k->width, head_of(k), D, q->tail_w,
                                q->tail_b, k->n, D, k->tails);
}

static void first_bwd(struct block *k)
{
        struct ran_workspace *w = k->w;
        struct ran_head_params *dq = &k->dp->head;
        size_t D = w->D;
        float *dhead = w->head.dhead + k->at * D;

        ran_gemm_linear_bwd(w->pool, dhead, D, false, k->dp->dembed, dq->b, k->score, k->width,
                            head_of(k), D, k->p->embed, k->n, D, k->first);
        if (k->tails > 0)
                ran_gemm_linear_bwd(w->pool, dhead, D, true, dq->tail_w, dq->tail_b,
                                    k->score + k->first, k->width, head_of(k), D, k->p->head.tail_w,
                                    k->n, D, k->tails);
}

static void first(struct block *k)
{
        first_scores(k);
        for (size_t i = 0; i < k->n; i++) {
                uint32_t id = k->gold[k->at + i];

                k->position[i] = i;
                k->target[i] = id == RAN_NO_ID ? NONE : entry_of(k, id);
        }
        ran_parallel(k->w->pool, k->rows, online_exp, k);
        if (k->dp != NULL)
                first_bwd(k);
}

/* Scores of a tail's ids for k->rows rows of x. */
static void tail_scores(struct block *k, struct ran_lm_group g, const float *x)
{
        struct ran_workspace *w = k->w;

        k->score = w->head.tail;
        k->width = g.end - g.from;
        ran_gemm_linear(w->pool, k->score, k->width, x, w->D, k->p->embed + g.from * w->D,
                        k->p->head.b + g.from, k->rows, w->D, k->width);
}

static void tail_bwd(struct block *k, struct ran_lm_group g)
{
        struct ran_workspace *w = k->w;
        size_t D = w->D;

        ran_gemm_linear_bwd(w->pool, w->head.dtail_head, D, false, k->dp->dembed + g.from * D,
                            k->dp->head.b + g.from, k->score, k->width, w->head.tail_head, D,
                            k->p->embed + g.from * D, k->rows, D, k->width);
        for (size_t r = 0; r < k->rows; r++)
                ran_simd->add(w->head.dhead + (k->at + k->position[r]) * D,
                              w->head.dtail_head + r * D, D);
}

/* A tail's softmax, for the positions that need it. */
static void tail(struct block *k, struct ran_lm_group g)
{
        struct ran_workspace *w = k->w;
        size_t D = w->D;

        k->rows = 0;
        for (size_t i = 0; i < k->n; i++) {
                uint32_t id = k->gold[k->at + i];

                if (id == RAN_NO_ID || id < g.from || id >= g.end)
                        continue;
                memcpy(w->head.tail_head + k->rows * D, head_of(k) + i * D, D * sizeof(float));
                k->position[k->rows] = i;
                k->target[k->rows++] = id - g.from;
        }
        if (k->rows == 0)
                return;
        tail_scores(k, g, w->head.tail_head);
        ran_parallel(w->pool, k->rows, online_exp, k);
        if (k->dp != NULL)
                tail_bwd(k, g);
}

/* ---- all scores, for those who ask ---------------------------------------------------------- */

/* Log-probabilities of a group for all positions of the block: scores - their log-sum + the
 * group's log-probability in the first softmax. */
static void list(struct block *k, size_t from, size_t width, const double *of_tail)
{
        for (size_t i = 0; i < k->n; i++) {
                float *score = k->score + i * k->width;
                float *out = k->logits + (k->at - k->listed + i) * k->V + from;
                double log_sum;

                memcpy(out, score, width * sizeof *out);
                ran_simd->softmax(score, 1.0f, k->width, &log_sum);
                for (size_t j = 0; j < width; j++)
                        out[j] = (float)((double)out[j] - log_sum + (of_tail ? of_tail[i] : 0));
        }
}

static void list_adaptive(struct block *k)
{
        double tail_log[RAN_LM_ROWS];

        for (size_t t = 0; t < k->tails; t++) {
                struct ran_lm_group g = ran_lm_tail(k->w->c, k->V, t);

                first_scores(k);
                for (size_t i = 0; i < k->n; i++) {
                        float *score = k->score + i * k->width, x = score[k->first + t];
                        double log_sum;

                        ran_simd->softmax(score, 1.0f, k->width, &log_sum);
                        tail_log[i] = (double)x - log_sum;
                }
                tail_scores(k, g, head_of(k));
                list(k, g.from, k->width, tail_log);
        }
        first_scores(k);
        list(k, 0, k->first, NULL);
}

static void list_logits(struct block *k)
{
        if (k->tails > 0) {
                list_adaptive(k);
                return;
        }
        first_scores(k);
        memcpy(k->logits + (k->at - k->listed) * k->V, k->score, k->n * k->V * sizeof *k->logits);
}

/* ---- all positions --------------------------------------------------------------------------- */

/* The next positions, which begin after those of the block before; false: there are none. */
static bool run_block(struct block *k)
{
        k->at += k->n;
        k->n = ran_least(k->w->packed->positions - k->at, RAN_LM_ROWS);
        if (k->n == 0)
                return false;
        if (k->each)
                k->listed = k->at;
        memset(k->nll, 0, sizeof k->nll);
        if (k->logits != NULL)
                list_logits(k);
        if (k->gold == NULL)
                return true;
        first(k);
        for (size_t t = 0; t < k->tails; t++)
                tail(k, ran_lm_tail(k->w->c, k->V, t));
        return true;
}

static struct block block_of(struct ran_workspace *w, const struct ran_params *p, size_t V)
{
        return (struct block){.w = w,
                              .p = p,
                              .V = V,
                              .first = ran_lm_first(w->c, V),
                              .tails = ran_lm_tails(w->c, V)};
}

int ran_lm_each(struct ran_workspace *w, const struct ran_params *p, size_t V, const uint32_t *gold,
                float *nll, float *logits, ran_lm_take *take, void *arg, struct ran_error *err)
{
        const bool before = ran_params_portable(p);
        struct block k = block_of(w, p, V);
        int rc = RAN_OK;

        k.gold = gold;
        k.logits = logits;
        k.each = take != NULL;
        ran_head_positions(w, p);
        while (rc == RAN_OK && run_block(&k))
                for (size_t i = 0; i < k.n && rc == RAN_OK; i++) {
                        if (nll != NULL)
                                nll[k.at + i] = (float)k.nll[i];
                        if (take != NULL && logits != NULL)
                                rc = take(arg, k.at + i, logits + i * V, err);
                }
        ran_portable = before;
        return rc;
}

void ran_lm_score(struct ran_workspace *w, const struct ran_params *p, size_t V,
                  const uint32_t *gold, float *nll, float *logits)
{
        ran_lm_each(w, p, V, gold, nll, logits, NULL, NULL, NULL);
}

double ran_lm_loss(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                   size_t V, const uint32_t *gold, const float *scale, double smoothing)
{
        struct block k = block_of(w, p, V);
        double loss = 0;

        k.dp = dp;
        k.gold = gold;
        k.scale = scale;
        k.smoothing = smoothing;
        ran_head_positions(w, p);
        while (run_block(&k))
                for (size_t i = 0; i < k.n; i++)
                        loss += (double)scale[k.at + i] * k.nll[i];
        ran_head_positions_bwd(w, p, dp);
        return loss;
}
