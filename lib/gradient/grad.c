/* grad.c - sums of gradients. See grad.h. */
#include "gradient/grad.h"
#include "base/posting.h"
#include "math/simd.h"
#include "nn/part.h"
#include "ran/train.h"

#include <stdlib.h>
#include <string.h>

void ran_grad_release(struct ran_grad *g)
{
        ran_params_release(&g->p);
        free(g->rows.ids);
        free(g->rows.rows);
        *g = (struct ran_grad){0};
}

static void grad_free(struct ran_grad *g)
{
        if (g != NULL)
                ran_grad_release(g);
        free(g);
}

/* ---- rows of tables ------------------------------------------------------------------------- */

void ran_grad_room(struct ran_grad_rows *g, size_t n, size_t width)
{
        RAN_ROOM(g->ids, g->ids_cap, n);
        RAN_ROOM(g->rows, g->rows_cap, n * width);
}

/* Ids and their runs of postings, divided among threads. */
struct sums {
        struct ran_grad_rows *to;
        float *dense; /* or NULL */
        const struct ran_posting *posting;
        const uint32_t *first; /* (ids + 1) */
        size_t ids, D;
        const float *dx;
};

enum { IDS = 64 }; /* of a task */

static void sum_ids(void *arg, size_t task)
{
        const struct sums *k = arg;
        size_t D = k->D, end = (task + 1) * IDS < k->ids ? (task + 1) * IDS : k->ids;

        for (size_t i = task * IDS; i < end; i++) {
                const struct ran_posting *posting = k->posting + k->first[i],
                                         *to = k->posting + k->first[i + 1];
                float *row = k->to->rows + i * D;

                if (k->dense != NULL) {
                        row = k->dense + posting->id * D;
                } else {
                        k->to->ids[i] = posting->id;
                        memcpy(row, k->dx + posting->at * D, D * sizeof *row);
                        posting++;
                }
                for (; posting < to; posting++)
                        ran_simd->add(row, k->dx + posting->at * D, D);
        }
}

int ran_grad_embed(struct ran_grad *g, const uint32_t *ids, const uint32_t *spelling, size_t V,
                   const float *dx, size_t L, size_t D, struct ran_pool *pool,
                   struct ran_error *err)
{
        bool dense = g->p.dembed != NULL;
        size_t features = spelling != NULL && !dense ? RAN_SPELLING : 0, n = L * (1 + features);
        struct ran_grad_rows *to = &g->rows;
        struct sums k = {.to = to, .dense = g->p.dembed, .D = D, .dx = dx};

        if (n >= UINT32_MAX)
                return ran_fail(err, RAN_EINVAL, "%zu tokens are too many for one document", L);
        struct ran_posting *posting = ran_new(2 * n, sizeof *posting);
        uint32_t *first = ran_new(n + 1, sizeof *first);
        struct ran_posting *p = posting;
        for (size_t t = 0; t < L; t++) {
                *p++ = (struct ran_posting){ids[t], (uint32_t)t};
                for (size_t i = t * features; i < (t + 1) * features; i++)
                        *p++ = (struct ran_posting){(uint32_t)(V + spelling[i]), (uint32_t)t};
        }
        k.posting = p = ran_posting_sort(posting, posting + n, n);
        k.first = first; /* where each id's postings begin, and at last their end */
        for (size_t i = 0; i < n; i++)
                if (i == 0 || p[i].id != p[i - 1].id)
                        first[k.ids++] = (uint32_t)i;
        first[k.ids] = (uint32_t)n;
        if (!dense) {
                ran_grad_room(to, k.ids, D);
                to->n = k.ids;
        }
        ran_parallel(pool, (k.ids + IDS - 1) / IDS, sum_ids, &k);
        free(posting);
        free(first);
        return RAN_OK;
}

/* out = a + b; rows of equal ids are added */
static void merge_rows(struct ran_grad_rows *out, const struct ran_grad_rows *a,
                       const struct ran_grad_rows *b, size_t D)
{
        size_t i = 0, j = 0;

        for (out->n = 0; i < a->n || j < b->n; out->n++) {
                bool left = j == b->n || (i < a->n && a->ids[i] <= b->ids[j]);
                bool both = left && j < b->n && a->ids[i] == b->ids[j];
                float *row = out->rows + out->n * D;

                out->ids[out->n] = left ? a->ids[i] : b->ids[j];
                memcpy(row, left ? a->rows + i * D : b->rows + j * D, D * sizeof *row);
                if (both)
                        ran_simd->add(row, b->rows + j * D, D);
                i += left;
                j += both || !left;
        }
}

void ran_tree_fail(struct ran_tree *t, const struct ran_error *err)
{
        pthread_mutex_lock(&t->lock);
        if (t->error.code == RAN_OK)
                t->error = *err;
        pthread_mutex_unlock(&t->lock);
}

static void add_rows(struct ran_tree *t, struct ran_grad *g, const struct ran_grad *right,
                     struct ran_grad_rows *spare)
{
        size_t n = g->rows.n + right->rows.n, D = t->c->dim;

        if (g->p.dembed != NULL) {
                ran_simd->add(g->rows.rows, right->rows.rows, g->rows.n * D);
                return;
        }
        if (n > 0)
                ran_grad_room(spare, n, D);
        merge_rows(spare, &g->rows, &right->rows, D);
        struct ran_grad_rows old = g->rows; /* g takes the merged rows; its old ones become spare */
        g->rows = *spare;
        *spare = old;
}

/* ---- the tree ------------------------------------------------------------------------------- */

int ran_tree_init(struct ran_tree *t, const struct ran_config *c, size_t C, size_t block,
                  struct ran_error *err)
{
        size_t rows;

        *t = (struct ran_tree){.c = c, .C = C, .size = block};
        if (__builtin_mul_overflow(C, c->dim, &rows)) {
                t->c = NULL;
                return ran_fail(err, RAN_EINVAL, "the vocabulary is too large");
        }
        if (ran_task_is_tied(c))
                t->V = C;
        pthread_mutex_init(&t->lock, NULL);
        return RAN_OK;
}

void ran_tree_release(struct ran_tree *t)
{
        if (t->c == NULL)
                return;
        for (size_t i = 0; i < t->shards; i++)
                grad_free(t->ready[i].sum);
        while (t->free_list != NULL) {
                struct ran_grad *g = t->free_list;

                t->free_list = g->next;
                grad_free(g);
        }
        free(t->ready);
        free(t->touched);
        pthread_mutex_destroy(&t->lock);
        *t = (struct ran_tree){0};
}

void ran_tree_begin(struct ran_tree *t, size_t shards)
{
        RAN_ROOM(t->ready, t->ready_cap, shards);
        t->shards = shards;
        memset(t->ready, 0, shards * sizeof *t->ready);
}

static struct ran_grad *grad_new(struct ran_tree *t)
{
        struct ran_grad *g = ran_new(1, sizeof *g);

        if (ran_params_init(&g->p, t->c, t->C, NULL) != RAN_OK)
                ran_out_of_memory(t->size, sizeof(float));
        if (t->V > 0)
                g->p.dembed = g->rows.rows = ran_new_floats(t->V * t->c->dim);
        g->rows.n = t->V;
        return g;
}

struct ran_grad *ran_tree_take(struct ran_tree *t)
{
        struct ran_grad *g;

        pthread_mutex_lock(&t->lock);
        g = t->free_list;
        if (g != NULL)
                t->free_list = g->next;
        else
                g = grad_new(t);
        pthread_mutex_unlock(&t->lock);
        memset(g->p.block + t->from, 0, (t->size - t->from) * sizeof(float));
        if (g->p.dembed == NULL)
                g->rows.n = 0;
        else
                memset(g->p.dembed, 0, t->V * t->c->dim * sizeof(float));
        g->next = NULL;
        return g;
}

void ran_tree_give(struct ran_tree *t, struct ran_grad *g)
{
        pthread_mutex_lock(&t->lock);
        g->next = t->free_list;
        t->free_list = g;
        pthread_mutex_unlock(&t->lock);
}

/* The neighbour of the subtree [at, at + span): the first one ready waits in t->ready for the
 * other. The left one receives the sum. */
void ran_tree_join(struct ran_tree *t, size_t at, size_t span, struct ran_grad *g)
{
        struct ran_grad_rows spare = {0};

        for (; span < t->shards; span *= 2) {
                size_t left = at / (2 * span) * (2 * span), other = left == at ? at + span : left;
                struct ran_grad *neighbour = NULL;

                if (other >= t->shards)
                        continue; /* the last subtree of an odd row goes up alone */
                pthread_mutex_lock(&t->lock);
                if (t->ready[other].sum != NULL && t->ready[other].span == span) {
                        neighbour = t->ready[other].sum;
                        t->ready[other].sum = NULL;
                } else {
                        t->ready[at] = (struct ran_subtree){g, span};
                }
                pthread_mutex_unlock(&t->lock);
                if (neighbour == NULL)
                        goto out;
                if (left != at) {
                        struct ran_grad *right = g;

                        g = neighbour;
                        neighbour = right;
                }
                ran_simd->add(g->p.block + t->from, neighbour->p.block + t->from,
                              t->size - t->from);
                add_rows(t, g, neighbour, &spare);
                ran_tree_give(t, neighbour);
                at = left;
        }
        pthread_mutex_lock(&t->lock);
        t->ready[0] = (struct ran_subtree){g, span};
        pthread_mutex_unlock(&t->lock);
out:
        free(spare.ids);
        free(spare.rows);
}

struct ran_grad *ran_tree_sum(struct ran_tree *t)
{
        struct ran_grad *g = t->shards > 0 ? t->ready[0].sum : NULL;

        if (g != NULL)
                t->ready[0].sum = NULL;
        if (g != NULL && t->error.code != RAN_OK) {
                ran_tree_give(t, g);
                return NULL;
        }
        return g;
}
