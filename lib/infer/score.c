/* score.c - documents through an encoder and its head.
 *
 * A document's result depends on its ids only: it is computed alone, or with others in one matrix
 * product where that has the same bits (ran_score_abreast). */
#include "infer/infer.h"
#include "math/gemm.h"
#include "part/linear/linear-model.h"
#include "part/linear/linear-words.h"
#include "part/vectors/document-vector.h"
#include "nn/part.h"
#include "task/lm-output.h"
#include "nn/vector-cache.h"
#include "ran/math.h"
#include "ran/model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ran_state {
        struct ran_workspace workspace;
        struct ran_packed packed;
        const struct ran_params *p;
        size_t C;
        double *chain; /* tagging: scratch of the CRF */
        float *marginals;
        float *logits; /* of a block of masked tokens */
        float *vector; /* of a document: features that parts make */
        size_t chain_cap, marginals_cap, logits_cap, vector_cap;
};

struct ran_state *ran_score_state_new(const struct ran_config *c, const struct ran_params *p,
                                      size_t C, struct ran_pool *pool)
{
        struct ran_state *s = ran_new(1, sizeof *s);

        s->p = p;
        s->C = C;
        ran_workspace_init(&s->workspace, c, false, pool);
        s->workspace.streams = ran_parts_stream(c);
        return s;
}

int ran_model_check_state(const struct ran_model *m, const struct ran_state *s,
                          struct ran_error *err)
{
        return s->p == &m->params
                       ? RAN_OK
                       : ran_fail(err, RAN_EINVAL, "the state was made for another model");
}

void ran_state_free(struct ran_state *s)
{
        if (s == NULL)
                return;
        ran_workspace_release(&s->workspace);
        ran_packed_release(&s->packed);
        free(s->chain);
        free(s->marginals);
        free(s->logits);
        free(s->vector);
        free(s);
}

/* Packs n checked documents and fits the workspace; words, or sources: of one document. */
static int load(struct ran_state *s, const struct ran_document *d, size_t n, size_t sources,
                struct ran_error *err)
{
        const struct ran_config *c = s->workspace.c;

        ran_packed_clear(&s->packed);
        for (size_t i = 0; i < n; i++) {
                if (d[i].L == 0)
                        return ran_fail(err, RAN_EINVAL, "a document without tokens");
                ran_packed_add(&s->packed, c, d[i].ids, d[i].L, 0);
                if (c->spelling > 0)
                        ran_packed_spell(&s->packed, d[i].spelling);
                if (d[i].words > 0)
                        ran_packed_positions(&s->packed, d[i].positions, d[i].words);
                s->packed.sources[i] = sources;
        }
        return ran_workspace_fit(&s->workspace, &s->packed, s->C, err);
}

/* Stands for all that the encoder reads: "Wet" and "wet" may have the same ids. */
static struct ran_vector_key key_of(const struct ran_state *s, const struct ran_document *d)
{
        const bool spells = ran_encoder_spelling(s->workspace.c) > 0 && d->spelling != NULL;

        return ran_vector_key(d->ids, d->L, d->spelling, spells ? d->L * RAN_SPELLING : 0);
}

static int compute_vectors(struct ran_state *s, const struct ran_document *d, size_t n,
                           float *const *v, struct ran_error *err)
{
        RAN_TRY(load(s, d, n, 0, err));
        ran_encode(&s->workspace, s->p);
        for (size_t i = 0; i < n; i++)
                ran_document_vector(&s->workspace, s->p, i, v[i]);
        for (size_t i = 0; i < n && s->p->vectors != NULL; i++)
                ran_vector_cache_add(s->p->vectors, key_of(s, &d[i]), v[i],
                                     ran_document_vector_width(s->workspace.c));
        return RAN_OK;
}

int ran_score_vectors(struct ran_state *s, const struct ran_document *d, size_t n, float *v,
                      struct ran_error *err)
{
        const size_t width = ran_document_vector_width(s->workspace.c);
        struct ran_document missing[RAN_SCORE_ABREAST];
        float *at[RAN_SCORE_ABREAST];
        size_t m = 0;

        for (size_t i = 0; i < n; i++)
                if (s->p->vectors == NULL ||
                    !ran_vector_cache_find(s->p->vectors, key_of(s, &d[i]), v + i * width, width)) {
                        missing[m] = d[i];
                        at[m++] = v + i * width;
                }
        return m > 0 ? compute_vectors(s, missing, m, at, err) : RAN_OK;
}

size_t ran_score_abreast(const struct ran_state *s, const struct ran_document *d, size_t n)
{
        const struct ran_part *encoder = ran_parts_abreast(s->workspace.c);
        size_t tokens = d[0].L, all = 1;

        if (encoder == NULL || d[0].L < encoder->rows_stand_alone || !ran_gemm_rows_stand_alone())
                return 1;
        while (all < n && all < RAN_SCORE_ABREAST && d[all].L >= encoder->rows_stand_alone &&
               tokens + d[all].L <= encoder->abreast)
                tokens += d[all++].L;
        return all;
}

/* Reads documents as far as the head wants: with a cache, the vectors of a frozen encoder are
 * enough. */
static int read_documents(struct ran_state *s, const struct ran_document *d, size_t n,
                          struct ran_error *err)
{
        const struct ran_config *c = s->workspace.c;
        const bool known =
                s->p->vectors != NULL && ran_parts_features(c) > 0 && !s->workspace.parts.trains;

        if (known) {
                RAN_TRY(RAN_GROW(s->vector, s->vector_cap, n * ran_document_vector_width(c), err));
                RAN_TRY(ran_score_vectors(s, d, n, s->vector, err));
        }
        RAN_TRY(load(s, d, n, 0, err));
        s->workspace.given = known ? s->vector : NULL;
        if (!known)
                ran_encode(&s->workspace, s->p);
        return RAN_OK;
}

int ran_score_each(struct ran_state *s, const struct ran_document *d, size_t n, float *logits,
                   float *embedding, struct ran_error *err)
{
        RAN_TRY(read_documents(s, d, n, err));
        ran_head(&s->workspace, s->p, s->C);
        s->workspace.given = NULL;
        memcpy(logits, s->workspace.head.logits, n * s->C * sizeof *logits);
        if (embedding != NULL)
                memcpy(embedding, s->workspace.head.head, n * s->workspace.D * sizeof *embedding);
        return RAN_OK;
}

int ran_score(struct ran_state *s, const struct ran_document *d, float *logits, float *embedding,
              struct ran_error *err)
{
        struct ran_document whole = *d;

        whole.words = 0;
        return ran_score_each(s, &whole, 1, logits, embedding, err);
}

int ran_score_parts(struct ran_state *s, const struct ran_document *d, float *encoder,
                    float *linear, struct ran_error *err)
{
        float weight = s->workspace.linear_weight;

        if (linear == NULL)
                s->workspace.linear_weight = 0;
        int rc = ran_score(s, d, encoder, NULL, err);
        s->workspace.linear_weight = weight;
        if (rc != RAN_OK || linear == NULL)
                return rc;
        if (ran_has_linear_model(s->workspace.c))
                memcpy(linear, ran_linear_model_logits(&s->workspace), s->C * sizeof *linear);
        for (size_t c = 0; c < s->C; c++)
                encoder[c] -= linear[c];
        return RAN_OK;
}

int ran_score_probed(struct ran_state *s, const struct ran_document *d, size_t sources,
                     const struct ran_probes *probes, struct ran_error *err)
{
        struct ran_document whole = *d;

        whole.words = 0;
        s->workspace.probes = probes;
        int rc = load(s, &whole, 1, sources, err);
        if (rc == RAN_OK)
                ran_encode(&s->workspace, s->p);
        s->workspace.probes = NULL;
        return rc;
}

/* The logits (words, C) of the encoder alone, in the head. */
static int read_words(struct ran_state *s, const struct ran_document *d, struct ran_error *err)
{
        if (d->L == 0 || d->words == 0)
                return ran_fail(err, RAN_EINVAL, "a document without words");
        RAN_TRY(load(s, d, 1, 0, err));
        ran_encode(&s->workspace, s->p);
        ran_head(&s->workspace, s->p, s->C);
        return RAN_OK;
}

static void add_words(struct ran_state *s, const struct ran_document *d, float *logits)
{
        if (ran_has_linear_words(s->workspace.c))
                ran_linear_words_add(logits, ran_linear_of(s->p), s->workspace.c, d, s->C);
}

int ran_score_word_parts(struct ran_state *s, const struct ran_document *d, float *encoder,
                         float *linear, struct ran_error *err)
{
        size_t bytes = d->words * s->C * sizeof *encoder;
        RAN_TRY(read_words(s, d, err));
        memcpy(encoder, s->workspace.head.logits, bytes);
        if (linear != NULL) {
                memset(linear, 0, bytes);
                add_words(s, d, linear);
        }
        return RAN_OK;
}

int ran_score_tags(struct ran_state *s, const struct ran_crf_rules *rules,
                   const struct ran_document *d, uint32_t *tags, float *score, float *logits,
                   struct ran_error *err)
{
        const size_t n = d->words, C = s->C;

        RAN_TRY(RAN_GROW(s->chain, s->chain_cap, ran_crf_scratch(s->workspace.c->tag.crf, n, C),
                         err));
        /* more than n C, which therefore cannot overflow */
        RAN_TRY(RAN_GROW(s->marginals, s->marginals_cap, n * C, err));
        RAN_TRY(read_words(s, d, err));
        const struct ran_crf crf = ran_crf_of(s->p);
        float *own = s->workspace.head.logits;
        add_words(s, d, own);
        RAN_TRY(ran_score_check(own, n * C, -FLT_MAX, err));
        ran_crf_decode_sentences(tags, own, &crf, rules, d->begins, n, C, s->chain);
        if (logits != NULL)
                memcpy(logits, own, n * C * sizeof *logits);
        if (score == NULL)
                return RAN_OK;
        ran_crf_marginals_sentences(s->marginals, own, &crf, d->begins, n, C, s->chain);
        for (size_t i = 0; i < n; i++)
                score[i] = s->marginals[i * C + tags[i]];
        return RAN_OK;
}

/* ---- language models ------------------------------------------------------------------------ */

/* Makes the tokens [from, end) of the document its positions. */
static void set_positions(struct ran_packed *packed, size_t from, size_t end)
{
        packed->positions = packed->doc_position[0] = 0;
        for (size_t t = from; t < end; t++) {
                uint32_t at = (uint32_t)t;

                ran_packed_positions(packed, &at, 1);
        }
}

int ran_score_lm(struct ran_state *s, struct ran_recurrent_state *recurrent, const uint32_t *ids,
                 size_t n, size_t sources, const struct ran_lm_out *out, struct ran_error *err)
{
        bool all = out->gold != NULL || out->logits != NULL;
        struct ran_cache *cache = out->gold != NULL ? out->cache : NULL;

        if (n == 0 || n > UINT32_MAX)
                return ran_fail(err, RAN_EINVAL, "%zu tokens cannot be read at once", n);
        if (cache != NULL)
                RAN_TRY(ran_cache_reserve(cache, s->workspace.D, n - out->skip,
                                          out->logits != NULL ? s->C : 0, err));
        ran_packed_clear(&s->packed);
        ran_packed_add_after(&s->packed, s->workspace.c, ids, n, 0, recurrent);
        s->packed.sources[0] = sources;
        set_positions(&s->packed, all ? out->skip : n - 1, n);
        RAN_TRY(ran_workspace_fit(&s->workspace, &s->packed, s->C, err));
        ran_encode(&s->workspace, s->p);
        if (all)
                ran_lm_score(&s->workspace, s->p, s->C, out->gold, out->nll, out->logits);
        if (cache != NULL)
                ran_cache_mix(cache, s->workspace.pool, s->workspace.head.head, out->gold,
                              n - out->skip, out->nll, out->logits, s->C);
        if (out->last == NULL)
                return RAN_OK;
        set_positions(&s->packed, n - 1, n);
        ran_lm_score(&s->workspace, s->p, s->C, NULL, NULL, out->last);
        return RAN_OK;
}

int ran_score_lm_each(struct ran_state *s, struct ran_recurrent_state *const *recurrent,
                      const uint32_t *ids, size_t n, float *logits, struct ran_error *err)
{
        const uint32_t first = 0;

        ran_packed_clear(&s->packed);
        for (size_t i = 0; i < n; i++) {
                ran_packed_add_after(&s->packed, s->workspace.c, ids + i, 1, 0, recurrent[i]);
                ran_packed_positions(&s->packed, &first, 1);
        }
        RAN_TRY(ran_workspace_fit(&s->workspace, &s->packed, s->C, err));
        ran_encode(&s->workspace, s->p);
        ran_lm_score(&s->workspace, s->p, s->C, NULL, NULL, logits);
        return RAN_OK;
}

int ran_score_masked(struct ran_state *s, const uint32_t *ids, size_t L, const uint32_t *positions,
                     size_t n, const uint32_t *gold, float *nll, ran_lm_take *take, void *arg,
                     struct ran_error *err)
{
        size_t rows = ran_least(n, RAN_LM_ROWS), floats = 0;

        if (take != NULL && __builtin_mul_overflow(rows, s->C, &floats))
                return ran_fail(err, RAN_ENOMEM, "no memory for the logits of %zu masked tokens",
                                rows);
        RAN_TRY(RAN_GROW(s->logits, s->logits_cap, floats, err));
        if (L == 0 || n == 0)
                return ran_fail(err, RAN_EINVAL, "a document without a masked token");
        ran_packed_clear(&s->packed);
        ran_packed_add(&s->packed, s->workspace.c, ids, L, 0);
        ran_packed_positions(&s->packed, positions, n);
        RAN_TRY(ran_workspace_fit(&s->workspace, &s->packed, s->C, err));
        ran_encode(&s->workspace, s->p);
        return ran_lm_each(&s->workspace, s->p, s->C, gold, nll, take != NULL ? s->logits : NULL,
                           take, arg, err);
}

int ran_score_check(const float *x, size_t n, float least, struct ran_error *err)
{
        for (size_t i = 0; i < n; i++)
                if (!(x[i] >= least && x[i] < INFINITY))
                        return ran_fail(err, RAN_EFORMAT,
                                        "the model's result is no number: its weights are damaged "
                                        "or useless");
        return RAN_OK;
}
