/* sample.c - draws a token from the logits of a language model.
 *
 * Of the hundred thousand tokens of a vocabulary few are probable. They come off a heap, the most
 * probable first, until there are enough; the others are never sorted.
 */
#include "math/elementary.h"
#include "ran/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ran_sampler_release(struct ran_sampler *s)
{
        free(s->heap);
        free(s->weight);
        s->heap = NULL;
        s->weight = NULL;
        s->heap_cap = s->weight_cap = 0;
}

/* ---- the heap ------------------------------------------------------------------------------- */

/* Is token a more probable than b? A total order. */
static bool better(const double *weight, uint32_t a, uint32_t b)
{
        return weight[a] != weight[b] ? weight[a] > weight[b] : a < b;
}

static void sift_down(const double *weight, uint32_t *heap, size_t n, size_t slot)
{
        uint32_t token = heap[slot];

        for (size_t child; (child = 2 * slot + 1) < n; slot = child) {
                if (child + 1 < n && better(weight, heap[child + 1], heap[child]))
                        child++;
                if (!better(weight, heap[child], token))
                        break;
                heap[slot] = heap[child];
        }
        heap[slot] = token;
}

static void make_heap(const double *weight, uint32_t *heap, size_t n)
{
        for (size_t i = n / 2; i-- > 0;)
                sift_down(weight, heap, n, i);
}

/* Removes the best of n and leaves it at heap[n - 1]. */
static uint32_t pop(const double *weight, uint32_t *heap, size_t n)
{
        uint32_t best = heap[0];

        heap[0] = heap[n - 1];
        heap[n - 1] = best;
        if (n > 2)
                sift_down(weight, heap, n - 1, 0);
        return best;
}

/* ---- weights -------------------------------------------------------------------------------- */

static bool is_allowed(const struct ran_sampler *s, size_t id)
{
        return s->never == NULL || !s->never[id];
}

static void make_room(struct ran_sampler *s, size_t V)
{
        RAN_ROOM(s->heap, s->heap_cap, V);
        RAN_ROOM(s->weight, s->weight_cap, V);
}

static int no_token(struct ran_error *err)
{
        return ran_fail(err, RAN_EINVAL, "every token that may stand here has probability 0");
}

/* Weights of the allowed tokens: exp(logit / temperature) over that of the most probable one. Fills
 * the heap with those above 0, by id, and returns how many there are. */
static size_t set_weights(struct ran_sampler *s, const float *logits, size_t V, double temperature)
{
        double most = -INFINITY;
        size_t n = 0;

        for (size_t i = 0; i < V; i++)
                if (is_allowed(s, i) && (double)logits[i] > most)
                        most = (double)logits[i];
        if (most == -INFINITY)
                return 0;
        for (size_t i = 0; i < V; i++) {
                if (!is_allowed(s, i))
                        continue;
                s->weight[i] = ran_exp(((double)logits[i] - most) / temperature);
                if (s->weight[i] > 0)
                        s->heap[n++] = (uint32_t)i;
        }
        return n;
}

void ran_ban_repeats(float *logits, const uint32_t *ids, size_t length, size_t n)
{
        if (n == 0 || length < n)
                return;
        const uint32_t *last = ids + (length - (n - 1));
        for (size_t i = 0; i + n <= length; i++)
                if (memcmp(ids + i, last, (n - 1) * sizeof *ids) == 0)
                        logits[ids[i + n - 1]] = -INFINITY;
}

double ran_nll(const float *logits, size_t V, uint32_t id)
{
        return ran_log_sum_exp(logits, V) - (double)logits[id];
}

/* ---- drawing -------------------------------------------------------------------------------- */

static int draw_best(const struct ran_sampler *s, const float *logits, size_t V, uint32_t *id,
                     struct ran_error *err)
{
        size_t best = V;

        for (size_t i = 0; i < V; i++)
                if (is_allowed(s, i) && logits[i] > -INFINITY &&
                    (best == V || logits[i] > logits[best]))
                        best = i;
        if (best == V)
                return no_token(err);
        *id = (uint32_t)best;
        return RAN_OK;
}

/* The token of the n in `from` at the quantile u of their weights. */
static uint32_t pick(const double *weight, const uint32_t *from, size_t n, double u)
{
        double sum = 0, passed = 0;

        for (size_t i = 0; i < n; i++)
                sum += weight[from[i]];
        for (size_t i = 0; i + 1 < n; i++) {
                passed += weight[from[i]];
                if (u * sum < passed)
                        return from[i];
        }
        return from[n - 1];
}

/* Removes the k most probable tokens from the heap of n, or as few of them as have the fraction
 * top_p of their weight. They end up behind the heap, the most probable last. Returns their
 * number. */
static size_t most_probable(const struct ran_sampler *s, size_t n)
{
        size_t k = s->top_k > 0 && s->top_k < n ? s->top_k : n;
        double whole = 0, sum = 0;
        size_t kept = 0;

        make_heap(s->weight, s->heap, n);
        if (k == n) {
                for (size_t i = 0; i < n; i++)
                        whole += s->weight[s->heap[i]];
        } else {
                for (size_t i = 0; i < k; i++)
                        whole += s->weight[pop(s->weight, s->heap, n - i)];
        }
        while (kept < k && (kept == 0 || s->top_p >= 1 || sum < s->top_p * whole)) {
                if (k == n)
                        pop(s->weight, s->heap, n - kept);
                sum += s->weight[s->heap[n - ++kept]];
        }
        return kept;
}

int ran_sampler_draw(struct ran_sampler *s, const float *logits, size_t V, double u, uint32_t *id,
                     struct ran_error *err)
{
        if (s->temperature == 0)
                return draw_best(s, logits, V, id, err);
        make_room(s, V);
        size_t n = set_weights(s, logits, V, s->temperature);
        if (n == 0)
                return no_token(err);
        size_t kept = s->top_k > 0 || s->top_p < 1 ? most_probable(s, n) : n;
        *id = pick(s->weight, s->heap + (n - kept), kept, u);
        return RAN_OK;
}

size_t ran_sampler_best(struct ran_sampler *s, const float *logits, size_t V, size_t k,
                        uint32_t *ids, double *p)
{
        const double whole = ran_log_sum_exp(logits, V);
        size_t n = 0;

        make_room(s, V);
        size_t left = set_weights(s, logits, V, 1);
        make_heap(s->weight, s->heap, left);
        for (; n < k && left > 0; left--) {
                ids[n] = pop(s->weight, s->heap, left);
                p[n] = ran_exp((double)logits[ids[n]] - whole);
                n++;
        }
        return n;
}
