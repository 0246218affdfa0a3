/* batch.c - see batch.h. */
#include "gradient/batch.h"
#include "nn/part.h"
#include "ran/train.h"

#include <stdlib.h>

enum { LEAST_TOKENS = 256, SHARDS_AT_LEAST = 4 };

int ran_batcher_init(struct ran_batcher *k, const struct ran_config *c, const struct ran_params *p,
                     size_t V, size_t C, const struct ran_dataset *data, struct ran_pool *pool,
                     struct ran_error *err)
{
        struct ran_layout layout;

        *k = (struct ran_batcher){
                .task = ran_train_task_of(c),
                .of = {.c = c, .p = p, .V = V, .C = C, .data = data, .mask_share = RAN_MASK_SHARE},
                .pool = pool};
        RAN_TRY(ran_layout_init(&layout, c, C, err));
        const size_t size = layout.size;
        ran_layout_release(&layout);
        RAN_TRY(ran_tree_init(&k->tree, c, C, size, err));
        pthread_mutex_init(&k->lock, NULL);
        return RAN_OK;
}

static void release_scratch(struct ran_batch_scratch *t)
{
        while (t != NULL) {
                struct ran_batch_scratch *next = t->next;
                struct ran_task_scratch *s = &t->of;

                ran_workspace_release(&s->work);
                ran_packed_release(&s->packed);
                free(s->document);
                free(s->crf);
                free(s->gold);
                free(s->scale);
                free(s->position);
                ran_masking_release(&s->masking);
                free(t);
                t = next;
        }
}

void ran_batcher_rest(struct ran_batcher *k)
{
        pthread_mutex_lock(&k->lock);
        struct ran_batch_scratch *idle = k->idle_long;
        k->idle_long = NULL;
        pthread_mutex_unlock(&k->lock);
        release_scratch(idle);
}

/* Between steps, when all scratch is idle. */
static void release_longest(struct ran_batcher *k)
{
        for (struct ran_batch_scratch **at = &k->idle_long, *t; (t = *at) != NULL;) {
                if (t->tokens <= RAN_KEEP_TOKENS) {
                        at = &t->next;
                        continue;
                }
                *at = t->next;
                t->next = NULL;
                release_scratch(t);
        }
}

void ran_batcher_release(struct ran_batcher *k)
{
        if (k->of.c == NULL)
                return;
        release_scratch(k->idle);
        release_scratch(k->idle_long);
        ran_tree_release(&k->tree);
        pthread_mutex_destroy(&k->lock);
        free(k->of.class_weight);
        free(k->shard);
        free(k->begin);
        free(k->bound);
        free(k->loss);
        *k = (struct ran_batcher){0};
}

void ran_batcher_balance(struct ran_batcher *k)
{
        const struct ran_dataset *d = k->of.data;
        size_t labels = d->label_first[d->B];

        k->of.class_weight = ran_new(k->of.C, sizeof *k->of.class_weight);
        for (size_t i = 0; i < labels; i++)
                k->of.class_weight[d->labels[i]] += 1.0;
        for (size_t c = 0; c < k->of.C; c++)
                if (k->of.class_weight[c] > 0)
                        k->of.class_weight[c] =
                                (double)d->B / ((double)k->of.C * k->of.class_weight[c]);
}

/* ---- shards --------------------------------------------------------------------------------- */

/* How many shards so many tokens want. The sums of a gradient go by shards: a batch of fewer than
 * twice LEAST_TOKENS has shards as in version 0.1.0 (0 here: as many as LEAST_TOKENS each give). */
static size_t wanted_shards(size_t tokens)
{
        size_t even = tokens / LEAST_TOKENS, least = (tokens - 1) / RAN_SHARD_TOKENS + 1;

        if (even < 2)
                return 0;
        even = even < SHARDS_AT_LEAST ? even : SHARDS_AT_LEAST;
        return even > least ? even : least;
}

/* Whether a chunk of L tokens begins a shard, after one of `held` tokens; `left` are not in shards
 * that are complete, and `wanted` shards are to hold them. */
static bool begins_shard(size_t held, size_t L, size_t left, size_t wanted)
{
        if (wanted == 0)
                return held + L > LEAST_TOKENS;
        return held + L > RAN_SHARD_TOKENS || held + L / 2 > left / wanted;
}

size_t ran_batch_shards(const struct ran_chunk *chunk, size_t n, size_t *shard, size_t *begin)
{
        size_t tokens = 0, shards = 0, held = 0, wanted, left;

        for (size_t i = 0; i < n; i++)
                tokens += chunk[i].to - chunk[i].from;
        wanted = wanted_shards(tokens);
        left = tokens;
        tokens = 0;
        for (size_t i = 0; i < n; i++) {
                size_t L = chunk[i].to - chunk[i].from;

                if (i == 0 || begins_shard(held, L, left, wanted)) {
                        begin[shards] = tokens;
                        shard[shards++] = i;
                        left -= held;
                        wanted -= i > 0 && wanted > 1;
                        held = 0;
                }
                held += L;
                tokens += L;
        }
        begin[shards] = tokens;
        shard[shards] = n;
        return shards;
}

/* Takes the shortest idle scratch with room for a chunk of so many tokens off the list. */
static struct ran_batch_scratch *take_idle(struct ran_batch_scratch **list, size_t tokens)
{
        struct ran_batch_scratch **best = NULL;

        for (struct ran_batch_scratch **at = list; *at != NULL; at = &(*at)->next)
                if ((*at)->tokens >= tokens && (best == NULL || (*at)->tokens < (*best)->tokens))
                        best = at;
        if (best == NULL)
                return NULL;
        struct ran_batch_scratch *t = *best;
        *best = t->next;
        return t;
}

static struct ran_batch_scratch *take_scratch(struct ran_batcher *k, size_t shard)
{
        const size_t tokens = k->begin[shard + 1] - k->begin[shard];
        const bool is_long = tokens > RAN_SHARD_TOKENS;

        pthread_mutex_lock(&k->lock);
        struct ran_batch_scratch *t =
                take_idle(is_long ? &k->idle_long : &k->idle, is_long ? tokens : 0);
        pthread_mutex_unlock(&k->lock);
        if (t != NULL)
                return t;
        if (is_long)
                ran_batcher_rest(k);
        t = ran_new(1, sizeof *t);
        ran_workspace_init(&t->of.work, k->of.c, true, k->pool);
        t->tokens = is_long ? tokens : 0;
        return t;
}

static void give_scratch(struct ran_batcher *k, struct ran_batch_scratch *t)
{
        struct ran_batch_scratch **list = t->tokens > 0 ? &k->idle_long : &k->idle;

        pthread_mutex_lock(&k->lock);
        t->next = *list;
        *list = t;
        pthread_mutex_unlock(&k->lock);
}

/* ---- one shard ------------------------------------------------------------------------------ */

static int load_chunk(struct ran_batcher *k, struct ran_batch_scratch *t, const struct ran_chunk *p,
                      struct ran_error *err)
{
        const struct ran_dataset *d = k->of.data;
        size_t b = p->document;
        const uint32_t *ids = d->ids + d->first[b] + p->from;
        uint64_t record = b + (uint64_t)p->number * d->B; /* no two chunks drop out alike */

        if (p->recurrent != NULL && p->from == 0)
                ran_recurrent_state_clear(p->recurrent);
        if (k->task->mask != NULL)
                RAN_TRY(k->task->mask(&k->of, &t->of, b, &ids, err));
        ran_packed_add_after(&t->of.packed, k->of.c, ids, p->to - p->from, record, p->recurrent);
        if (k->of.c->spelling > 0)
                ran_packed_spell(&t->of.packed,
                                 d->spelling + (d->first[b] + p->from) * RAN_SPELLING);
        struct ran_packed *rows = &t->of.packed;
        const uint64_t key =
                ran_random_key(k->of.noise.seed, RAN_FOR_WORDS, k->of.noise.epoch, record);
        for (size_t at = rows->doc[rows->B - 1], i = at; k->word_dropout > 0 && i < rows->L; i++)
                if (ran_random_uniform(key, i - at) < k->word_dropout)
                        rows->ids[i] = k->unknown;
        RAN_ROOM(t->of.document, t->of.document_cap, t->of.packed.B);
        t->of.document[t->of.packed.B - 1] = b;
        return k->task->load != NULL ? k->task->load(&k->of, &t->of, b, p->from, p->to, err)
                                     : RAN_OK;
}

static int differentiate(struct ran_batcher *k, struct ran_batch_scratch *t, size_t shard,
                         struct ran_grad *g, struct ran_error *err)
{
        ran_packed_clear(&t->of.packed);
        for (size_t i = k->shard[shard]; i < k->shard[shard + 1]; i++)
                RAN_TRY(load_chunk(k, t, &k->chunk[i], err));
        RAN_TRY(ran_workspace_fit(&t->of.work, &t->of.packed, k->of.C, err));
        t->of.work.noise = k->of.noise;
        t->of.work.linear_weight = 0; /* each path learns by itself */
        ran_encode(&t->of.work, k->of.p);
        k->loss[shard] = k->task->loss(&k->of, &t->of, &g->p);
        ran_encode_bwd(&t->of.work, k->of.p, &g->p);
        if (k->of.p->below != NULL)
                return RAN_OK;
        return ran_grad_embed(g, t->of.packed.ids,
                              ran_encoder_spelling(k->of.c) > 0 ? t->of.packed.spelling : NULL,
                              k->of.V, t->of.work.dx, t->of.packed.L, k->of.c->dim, k->pool, err);
}

/* The n-th of this rank. */
static void run_shard(void *arg, size_t n)
{
        struct ran_batcher *k = arg;
        struct ran_error err = {0};
        size_t shard = k->bound[ran_ranks_me(k->ranks)] + n;

        struct ran_batch_scratch *t = take_scratch(k, shard);
        struct ran_grad *g = ran_tree_take(&k->tree);

        if (differentiate(k, t, shard, g, &err) == RAN_OK) {
                ran_tree_join(&k->tree, shard, 1, g);
        } else {
                ran_tree_give(&k->tree, g);
                ran_tree_fail(&k->tree, &err);
        }
        give_scratch(k, t);
}

int ran_batch_gradient(struct ran_batcher *k, const struct ran_chunk *chunk, size_t n, double *loss,
                       struct ran_grad **gradient, struct ran_error *err)
{
        const size_t me = ran_ranks_me(k->ranks);
        int rc = RAN_OK;

        k->chunk = chunk;
        k->of.terms = 0;
        for (size_t i = 0; i < n; i++)
                k->of.terms +=
                        k->task->terms(&k->of, chunk[i].document, chunk[i].from, chunk[i].to);
        if (!(k->of.terms > 0))
                k->of.terms = 1; /* only documents of weight 0: no loss, no gradient */
        RAN_ROOM(k->shard, k->shard_cap, n + 1);
        RAN_ROOM(k->begin, k->begin_cap, n + 1);
        RAN_ROOM(k->loss, k->loss_cap, n);
        k->shards = ran_batch_shards(chunk, n, k->shard, k->begin);
        ran_tree_begin(&k->tree, k->shards);

        /* Shards go to ranks, and the recurrent states to the ranks that need them. */
        if (k->bound == NULL)
                k->bound = ran_ranks_bounds(k->ranks);
        ran_ranks_partition(k->ranks, k->begin, k->shards, k->bound);
        for (size_t r = 0; r < ran_ranks_count(k->ranks) && rc == RAN_OK; r++)
                for (size_t i = k->shard[k->bound[r]];
                     i < k->shard[k->bound[r + 1]] && rc == RAN_OK; i++)
                        rc = ran_plan_move(&chunk[i], k->of.c, r, k->ranks, err);
        RAN_TRY(ran_ranks_break(k->ranks, rc));
        ran_parallel(k->pool, k->bound[me + 1] - k->bound[me], run_shard, k);
        release_longest(k);
        return ran_reduce(&k->tree, k->ranks, k->bound, k->loss, loss, gradient, err);
}
