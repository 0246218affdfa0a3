/* batch.c - see batch.h. */
#include "train/batch.h"
#include "math/simd.h"
#include "model/encoder.h"
#include "model/lm.h"
#include "model/model.h"
#include "model/tagger.h"
#include "train/loss.h"
#include "train/reduce.h"

#include <stdlib.h>
#include <string.h>

enum { SHARD_TOKENS = 2048, LEAST_TOKENS = 256, SHARDS_AT_LEAST = 4 };

int ran_batcher_init(struct ran_batcher *k, const struct ran_config *c, const struct ran_params *p,
                     size_t V, size_t C, const struct ran_dataset *data, struct ran_pool *pool,
                     struct ran_error *err)
{
        struct ran_layout layout;

        *k = (struct ran_batcher){.c = c, .p = p, .V = V, .C = C, .data = data, .pool = pool};
        int rc = ran_layout_init(&layout, c, C, err);
        if (rc != RAN_OK)
                return rc;
        size_t size = layout.size;
        ran_layout_release(&layout);
        if (ran_tree_init(&k->tree, c, C, size, err) != RAN_OK)
                return err->code;
        if (pthread_mutex_init(&k->lock, NULL) != 0) {
                ran_tree_release(&k->tree);
                return ran_fail(err, RAN_ENOMEM, "no lock to be had");
        }
        return RAN_OK;
}

void ran_batcher_release(struct ran_batcher *k)
{
        if (k->c == NULL)
                return;
        while (k->idle != NULL) {
                struct ran_batch_scratch *t = k->idle;

                k->idle = t->next;
                ran_workspace_release(&t->work);
                ran_packed_release(&t->packed);
                free(t->crf);
                free(t->gold);
                free(t->scale);
                free(t->position);
                ran_masking_release(&t->masking);
                free(t);
        }
        ran_tree_release(&k->tree);
        pthread_mutex_destroy(&k->lock);
        free(k->class_weight);
        free(k->shard);
        free(k->begin);
        free(k->bound);
        free(k->loss);
        *k = (struct ran_batcher){0};
}

int ran_batcher_balance(struct ran_batcher *k, struct ran_error *err)
{
        const struct ran_dataset *d = k->data;
        size_t labels = d->label_first[d->B];

        k->class_weight = ran_alloc(k->C, sizeof *k->class_weight, err);
        if (k->class_weight == NULL)
                return RAN_ENOMEM;
        for (size_t i = 0; i < labels; i++)
                k->class_weight[d->labels[i]] += 1.0;
        for (size_t c = 0; c < k->C; c++)
                if (k->class_weight[c] > 0)
                        k->class_weight[c] = (double)d->B / ((double)k->C * k->class_weight[c]);
        return RAN_OK;
}

/* What a document should be told as, of C classes; unknown: also as one of others. */
static int check_labels(const struct ran_dataset *d, size_t b, const struct ran_config *c, size_t C,
                        bool unknown, struct ran_error *err)
{
        size_t from = d->label_first[b], to = d->label_first[b + 1];

        if (c->task == RAN_TASK_CLASSIFY && !c->multilabel && to - from != 1)
                return ran_fail(err, RAN_EINVAL, "a document has %zu labels, where one is wanted",
                                to - from);
        for (size_t i = from; i < to; i++)
                if (d->labels[i] >= C && !(unknown && d->labels[i] == RAN_LABEL_UNKNOWN))
                        return ran_fail(err, RAN_EINVAL, "label %u is none of %zu classes",
                                        (unsigned)d->labels[i], C);
        return RAN_OK;
}

static int check_documents(const struct ran_dataset *d, const struct ran_config *c, size_t C,
                           bool unknown, struct ran_error *err)
{
        int rc = RAN_OK;

        for (size_t b = 0; b < d->B && rc == RAN_OK; b++) {
                const struct ran_document doc = ran_dataset_document(d, b);

                if (doc.L == 0)
                        rc = ran_fail(err, RAN_EINVAL, "a document without tokens");
                if (rc == RAN_OK)
                        rc = ran_model_check_positions(&doc, err);
                if (rc == RAN_OK && !ran_is_tied(c))
                        rc = check_labels(d, b, c, C, unknown, err);
        }
        return rc;
}

int ran_batch_check(const struct ran_dataset *d, const struct ran_config *c, size_t V, size_t C,
                    bool unknown, struct ran_error *err)
{
        size_t B = d != NULL ? d->B : 0, tokens = B > 0 ? d->first[B] : 0;

        if (B == 0)
                return RAN_OK;
        if (c->task == RAN_TASK_MLM && d->places == NULL)
                return ran_fail(err, RAN_EINVAL, "the documents do not say where words begin");
        if ((c->task == RAN_TASK_LM) != (d->sources != NULL) ||
            (c->task == RAN_TASK_TAG || c->task == RAN_TASK_MLM) != (d->places != NULL))
                return ran_fail(err, RAN_EINVAL, "the documents are for another task");
        for (size_t b = 0; b < B && c->mask == RAN_MASK_CAUSAL; b++)
                if (d->sources[b] > 0)
                        return ran_fail(err, RAN_EINVAL,
                                        "a document has a source: mask must be 'prefix'");
        if (tokens > 0 && c->spelling > 0 && d->spelling == NULL)
                return ran_fail(err, RAN_EINVAL,
                                "the spelling of words is wanted (spelling %zu), but the documents "
                                "have none",
                                c->spelling);
        for (size_t i = 0; c->spelling > 0 && i < tokens * RAN_SPELLING; i++)
                if (d->spelling[i] >= c->spelling)
                        return ran_fail(err, RAN_EINVAL, "there is no bucket %u of spelling",
                                        (unsigned)d->spelling[i]);
        for (size_t i = 0; d->given && i < d->label_first[B]; i++)
                if (d->labels[i] >= V)
                        return ran_fail(err, RAN_EINVAL,
                                        "id %u is not in the vocabulary of %zu pieces",
                                        (unsigned)d->labels[i], V);
        for (size_t i = 0; i < tokens; i++)
                if (d->ids[i] >= V)
                        return ran_fail(err, RAN_EINVAL,
                                        "id %u is not in the vocabulary of %zu pieces",
                                        (unsigned)d->ids[i], V);
        return check_documents(d, c, C, unknown, err);
}

/* ---- shards --------------------------------------------------------------------------------- */

/* What output i of a document (its class, or the tag of a word) weighs in the loss. With several
 * labels a document there is no one class that it belongs to. */
static double term_weight(const struct ran_batcher *k, size_t b, size_t i)
{
        const struct ran_dataset *d = k->data;
        double weight = (double)d->weight[b];

        if (k->class_weight != NULL && !k->c->multilabel && !k->c->crf)
                weight *= k->class_weight[d->labels[d->label_first[b] + i]];
        return weight;
}

/* Terms of the loss: a document, a word, or a predicted token. */
static double terms(const struct ran_batcher *k, const struct ran_chunk_of_document *chunk)
{
        size_t b = chunk->document, from, to;
        size_t words = k->data->label_first[b + 1] - k->data->label_first[b];
        double sum = 0;

        if (k->c->task == RAN_TASK_LM) {
                to = ran_plan_predicts(k->data, chunk, &from);
                return (double)k->data->weight[b] * (double)(to - from);
        }
        if (k->c->task == RAN_TASK_MLM)
                return (double)k->data->weight[b] *
                       (double)ran_masking_count(k->data, b, k->noise.seed, k->noise.epoch);
        if (k->c->task == RAN_TASK_CLASSIFY)
                return term_weight(k, b, 0);
        for (size_t i = 0; i < words; i++)
                sum += term_weight(k, b, i);
        return sum;
}

static int plan_shards(struct ran_batcher *k, const struct ran_chunk_of_document *chunk, size_t n,
                       struct ran_error *err)
{
        size_t tokens = 0, target, held = 0;

        k->chunk = chunk;
        k->shards = 0;
        k->terms = 0;
        for (size_t i = 0; i < n; i++) {
                tokens += chunk[i].to - chunk[i].from;
                k->terms += terms(k, &chunk[i]);
        }
        target = tokens / SHARDS_AT_LEAST;
        target = target < LEAST_TOKENS ? LEAST_TOKENS : target;
        target = target > SHARD_TOKENS ? SHARD_TOKENS : target;
        size_t *shard = ran_grow(k->shard, &k->shard_cap, n + 1, sizeof *shard, err);
        if (shard == NULL)
                return RAN_ENOMEM;
        k->shard = shard;
        size_t *begin = ran_grow(k->begin, &k->begin_cap, n + 1, sizeof *begin, err);
        if (begin == NULL)
                return RAN_ENOMEM;
        k->begin = begin;
        double *loss = ran_grow(k->loss, &k->loss_cap, n, sizeof *loss, err);
        if (loss == NULL)
                return RAN_ENOMEM;
        k->loss = loss;
        tokens = 0;
        for (size_t i = 0; i < n; i++) {
                size_t L = chunk[i].to - chunk[i].from;

                if (i == 0 || held + L > target) {
                        begin[k->shards] = tokens;
                        shard[k->shards++] = i;
                        held = 0;
                }
                held += L;
                tokens += L;
        }
        begin[k->shards] = tokens;
        shard[k->shards] = n;
        return RAN_OK;
}

/* Which rank has which shards; and what these go on from comes there. */
static int assign_shards(struct ran_batcher *k, struct ran_error *err)
{
        if (k->bound == NULL && (k->bound = ran_ranks_bounds(k->ranks, err)) == NULL)
                return RAN_ENOMEM;
        ran_ranks_partition(k->ranks, k->begin, k->shards, k->bound);
        for (size_t r = 0; r < ran_ranks_count(k->ranks); r++)
                for (size_t i = k->shard[k->bound[r]]; i < k->shard[k->bound[r + 1]]; i++)
                        if (ran_plan_move(&k->chunk[i], k->c, r, k->ranks, err) != RAN_OK)
                                return err->code;
        return RAN_OK;
}

static struct ran_batch_scratch *take_scratch(struct ran_batcher *k, struct ran_error *err)
{
        struct ran_batch_scratch *t;

        pthread_mutex_lock(&k->lock);
        t = k->idle;
        if (t != NULL)
                k->idle = t->next;
        pthread_mutex_unlock(&k->lock);
        if (t != NULL)
                return t;
        t = ran_alloc(1, sizeof *t, err);
        if (t != NULL && ran_workspace_init(&t->work, k->c, true, k->pool, err) != RAN_OK) {
                free(t);
                return NULL;
        }
        return t;
}

static void give_scratch(struct ran_batcher *k, struct ran_batch_scratch *t)
{
        pthread_mutex_lock(&k->lock);
        t->next = k->idle;
        k->idle = t;
        pthread_mutex_unlock(&k->lock);
}

/* ---- one shard ------------------------------------------------------------------------------ */

/* Grows one array of a scratch. */
#define ROOM(array, want)                                                                       \
        do {                                                                                    \
                void *moved = ran_grow(t->array, &t->array##_cap, want, sizeof *t->array, err); \
                if (moved == NULL)                                                              \
                        return RAN_ENOMEM;                                                      \
                t->array = moved;                                                               \
        } while (0)

/* A place for each token that predicts the one after it. */
static int load_predicted(struct ran_batcher *k, struct ran_batch_scratch *t,
                          const struct ran_chunk_of_document *p, struct ran_error *err)
{
        const struct ran_dataset *d = k->data;
        size_t b = p->document, at = t->packed.places, from;
        size_t to = ran_plan_predicts(d, p, &from);

        ROOM(position, to - from);
        ROOM(gold, at + to - from);
        ROOM(scale, at + to - from);
        for (size_t i = from; i < to; i++, at++) {
                t->position[i - from] = (uint32_t)(i - p->from);
                t->gold[at] = d->ids[d->first[b] + i + 1];
                t->scale[at] = (float)((double)d->weight[b] / k->terms);
        }
        if (p->from == 0)
                t->packed.sources[t->packed.B - 1] = d->sources[b];
        return ran_packed_places(&t->packed, t->position, to - from, err);
}

/* A place for each token that is to be found. */
static int load_masked(struct ran_batcher *k, struct ran_batch_scratch *t, size_t b,
                       struct ran_error *err)
{
        const struct ran_masking *g = &t->masking;
        size_t at = t->packed.places;

        ROOM(gold, at + g->n);
        ROOM(scale, at + g->n);
        memcpy(t->gold + at, g->gold, g->n * sizeof *g->gold);
        for (size_t i = 0; i < g->n; i++)
                t->scale[at + i] = (float)((double)k->data->weight[b] / k->terms);
        return ran_packed_places(&t->packed, g->position, g->n, err);
}

static int load_words(struct ran_batcher *k, struct ran_batch_scratch *t, size_t b,
                      struct ran_error *err)
{
        const struct ran_dataset *d = k->data;
        size_t from = d->label_first[b], n = d->label_first[b + 1] - from;

        if (k->c->crf)
                ROOM(crf, ran_crf_scratch(true, n, k->C));
        return ran_packed_places(&t->packed, d->places + from, n, err);
}

/* Makes some ids of the chunk that was added last unknown. */
static void drop_words(struct ran_batcher *k, struct ran_packed *rows, uint64_t record)
{
        uint64_t key = ran_key(k->noise.seed, RAN_FOR_WORDS, k->noise.epoch, record);
        size_t at = rows->doc[rows->B - 1];

        for (size_t i = at; k->word_dropout > 0 && i < rows->L; i++)
                if (ran_uniform(key, i - at) < k->word_dropout)
                        rows->ids[i] = k->unknown;
}

static int load_chunk(struct ran_batcher *k, struct ran_batch_scratch *t,
                      const struct ran_chunk_of_document *p, struct ran_error *err)
{
        const struct ran_dataset *d = k->data;
        size_t b = p->document;
        const uint32_t *ids = d->ids + d->first[b] + p->from;
        uint64_t record = b + (uint64_t)p->number * d->B; /* no two chunks drop out alike */

        if (p->recurrent != NULL && p->from == 0)
                ran_recurrent_state_clear(p->recurrent);
        if (k->c->task == RAN_TASK_MLM) {
                if (ran_masking_make(&t->masking, d, b, k->mask, k->C, k->noise.seed,
                                     k->noise.epoch, err) != RAN_OK)
                        return RAN_ENOMEM;
                ids = t->masking.ids;
        }
        if (ran_packed_add_after(&t->packed, k->c, ids, p->to - p->from, record, p->recurrent,
                                 err) != RAN_OK ||
            (k->c->spelling > 0 &&
             ran_packed_spell(&t->packed, d->spelling + (d->first[b] + p->from) * RAN_SPELLING,
                              err) != RAN_OK))
                return err->code;
        drop_words(k, &t->packed, record);
        if (k->c->task == RAN_TASK_LM)
                return load_predicted(k, t, p, err);
        if (k->c->task == RAN_TASK_MLM)
                return load_masked(k, t, b, err);
        return k->c->task == RAN_TASK_TAG ? load_words(k, t, b, err) : RAN_OK;
}

static int load(struct ran_batcher *k, struct ran_batch_scratch *t, size_t shard,
                struct ran_error *err)
{
        ran_packed_clear(&t->packed);
        for (size_t i = k->shard[shard]; i < k->shard[shard + 1]; i++)
                if (load_chunk(k, t, &k->chunk[i], err) != RAN_OK)
                        return err->code;
        return ran_workspace_fit(&t->work, &t->packed, k->C, err);
}

/* Loss of the n words of a document from the label `at` on, each sentence a crf of its own, and
 * the gradient by their logits. */
static double crf_loss(struct ran_batcher *k, struct ran_batch_scratch *t, size_t at, size_t n,
                       const float *logits, float *dlogits, double weight, struct ran_grad *g)
{
        const struct ran_dataset *d = k->data;
        const struct ran_crf crf = ran_crf_of_params(k->p);
        const struct ran_crf_grad d_crf = {g->p.head.crf_start, g->p.head.crf_end,
                                           g->p.head.crf_transition};
        double loss = 0;

        for (size_t from = 0, end; from < n; from = end) {
                end = ran_tag_sentence_end(d->begins + at, from, n);
                loss += ran_crf_loss(dlogits + from * k->C, &d_crf, logits + from * k->C, &crf,
                                     d->labels + at + from, end - from, k->C, weight, t->crf);
        }
        return loss;
}

/* Loss of a document whose first output is row r, and its gradient by the logits. */
static double document_loss(struct ran_batcher *k, struct ran_batch_scratch *t, size_t b, size_t r,
                            struct ran_grad *g)
{
        const struct ran_dataset *d = k->data;
        size_t at = d->label_first[b], n = d->label_first[b + 1] - at;
        struct ran_target target = ran_loss_target(d, b);
        float *dlogits = t->work.head.dlogits + r * k->C;
        const float *logits = t->work.head.logits + r * k->C;
        double loss = 0;

        if (k->c->task == RAN_TASK_CLASSIFY)
                return ran_loss_classify(dlogits, logits, k->C, &target, k->c->multilabel,
                                         k->smoothing, term_weight(k, b, 0) / k->terms);
        if (k->c->crf)
                return crf_loss(k, t, at, n, logits, dlogits, term_weight(k, b, 0) / k->terms, g);
        for (size_t i = 0; i < n; i++) {
                const struct ran_target word = {target.label + i, NULL, 1};

                loss += ran_loss_classify(dlogits + i * k->C, logits + i * k->C, k->C, &word, false,
                                          k->smoothing, term_weight(k, b, i) / k->terms);
        }
        return loss;
}

static double losses(struct ran_batcher *k, struct ran_batch_scratch *t, size_t shard,
                     struct ran_grad *g)
{
        bool places = k->c->task != RAN_TASK_CLASSIFY;
        double loss = 0;

        for (size_t i = k->shard[shard], r = 0; i < k->shard[shard + 1]; i++, r++)
                loss += document_loss(k, t, k->chunk[i].document,
                                      places ? t->packed.docplace[r] : r, g);
        return loss;
}

static int differentiate(struct ran_batcher *k, struct ran_batch_scratch *t, size_t shard,
                         struct ran_grad *g, struct ran_error *err)
{
        if (load(k, t, shard, err) != RAN_OK)
                return err->code;
        t->work.noise = k->noise;
        t->work.linear_weight = 0; /* each path learns by itself */
        ran_encode(&t->work, k->p);
        if (ran_is_tied(k->c)) {
                k->loss[shard] = ran_lm_loss(&t->work, k->p, &g->p, k->C, t->gold, t->scale);
        } else {
                ran_head(&t->work, k->p, k->C);
                k->loss[shard] = losses(k, t, shard, g);
                ran_head_bwd(&t->work, k->p, &g->p, k->C);
        }
        ran_encode_bwd(&t->work, k->p, &g->p);
        return ran_grad_embed(g, t->packed.ids, k->c->spelling > 0 ? t->packed.spelling : NULL,
                              k->V, t->work.dx, t->packed.L, k->c->dim, k->pool, err);
}

/* The n-th of this rank. */
static void run_shard(void *arg, size_t n)
{
        struct ran_batcher *k = arg;
        struct ran_error err = {0};
        size_t shard = k->bound[ran_ranks_me(k->ranks)] + n;

        ran_phase = RAN_PHASE_REST;
        struct ran_batch_scratch *t = take_scratch(k, &err);
        struct ran_grad *g = t != NULL ? ran_tree_take(&k->tree) : NULL;

        if (g != NULL && differentiate(k, t, shard, g, &err) == RAN_OK)
                ran_tree_add(&k->tree, shard, g);
        else if (g != NULL)
                ran_tree_give(&k->tree, g);
        if (err.code != RAN_OK)
                ran_tree_fail(&k->tree, &err);
        if (t != NULL)
                give_scratch(k, t);
}

int ran_batch_gradient(struct ran_batcher *k, const struct ran_chunk_of_document *chunk, size_t n,
                       double *loss, struct ran_grad **gradient, struct ran_error *err)
{
        size_t me = ran_ranks_me(k->ranks);

        if (plan_shards(k, chunk, n, err) != RAN_OK ||
            ran_tree_begin(&k->tree, k->shards, err) != RAN_OK || assign_shards(k, err) != RAN_OK)
                return ran_ranks_break(k->ranks, err->code);
        if (!(k->terms > 0))
                k->terms = 1; /* only documents of weight 0: no loss, no gradient */
        ran_parallel(k->pool, k->bound[me + 1] - k->bound[me], run_shard, k);
        return ran_reduce(&k->tree, k->ranks, k->bound, k->loss, loss, gradient, err);
}
