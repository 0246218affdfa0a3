/* model-score.c - scoring with a model: checks arguments, then calls score.c. See ran/model.h. */
#include "math/elementary.h"
#include "nn/part.h"
#include "infer/infer.h"
#include "ran/model.h"
#include "ran/math.h"

#include <float.h>

/* ---- checks ---------------------------------------------------------------------------------- */

int ran_model_check_task(const struct ran_model *m, const struct ran_state *s,
                         const struct ran_task *task, struct ran_error *err)
{
        const struct ran_task *own = ran_task_of(&m->config);

        if (own != task)
                return ran_fail(err, RAN_EINVAL, "the model is %s, not %s", own->what, task->what);
        return ran_model_check_state(m, s, err);
}

int ran_check_ids(const uint32_t *ids, size_t n, size_t V, struct ran_error *err)
{
        for (size_t i = 0; i < n; i++)
                if (ids[i] >= V)
                        return ran_fail(err, RAN_EINVAL,
                                        "id %u is not in the vocabulary of %zu tokens",
                                        (unsigned)ids[i], V);
        return RAN_OK;
}

int ran_check_spelling(const uint32_t *spelling, size_t n, const struct ran_config *c,
                       struct ran_error *err)
{
        for (size_t i = 0; c->spelling > 0 && i < n; i++)
                if (spelling[i] >= c->spelling)
                        return ran_fail(err, RAN_EINVAL, "there is no bucket %u of spelling",
                                        (unsigned)spelling[i]);
        return RAN_OK;
}

int ran_model_check_document(const struct ran_model *m, const struct ran_document *d,
                             struct ran_error *err)
{
        if (m->config.spelling > 0 && d->spelling == NULL)
                return ran_fail(err, RAN_EINVAL,
                                "the model reads the spelling of words, which ids lack: "
                                "it needs tokens or text");
        RAN_TRY(ran_check_spelling(d->spelling, d->L * RAN_SPELLING, &m->config, err));
        return ran_check_ids(d->ids, d->L, m->V, err);
}

int ran_model_check_positions(const struct ran_document *d, struct ran_error *err)
{
        for (size_t i = 0; i < d->words; i++)
                if (d->positions[i] >= d->L || (i > 0 && d->positions[i] < d->positions[i - 1]))
                        return ran_fail(err, RAN_EINVAL, "word %zu does not stand at a token", i);
        return RAN_OK;
}

/* ---- scoring --------------------------------------------------------------------------------- */

struct ran_state *ran_state_new(const struct ran_model *m, struct ran_pool *pool)
{
        return ran_score_state_new(&m->config, &m->params, m->C, pool);
}

bool ran_model_scores_abreast(const struct ran_model *m)
{
        return ran_parts_abreast(&m->config) != NULL;
}

int ran_classify(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
                 float *logits, float *embedding, struct ran_error *err)
{
        return ran_classify_each(m, s, d, 1, logits, embedding, err);
}

int ran_classify_each(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
                      size_t n, float *logits, float *embedding, struct ran_error *err)
{
        RAN_TRY(ran_model_check_task(m, s, &ran_task_classify, err));
        for (size_t i = 0; i < n; i++)
                RAN_TRY(ran_model_check_document(m, &d[i], err));
        if (embedding != NULL && !ran_config_trains_encoder(&m->config))
                return ran_fail(err, RAN_EINVAL,
                                "the model has no encoder of its own, and so no embedding of a "
                                "document");
        for (size_t i = 0, k; i < n; i += k) {
                k = ran_score_abreast(s, d + i, n - i);
                RAN_TRY(ran_score_each(s, d + i, k, logits + i * m->C,
                                       embedding != NULL ? embedding + i * m->config.dim : NULL,
                                       err));
        }
        return ran_score_check(logits, n * m->C, -FLT_MAX, err);
}

int ran_classify_text(const struct ran_model *m, struct ran_state *s, const char *text, size_t n,
                      float *p, struct ran_error *err)
{
        const size_t buckets = m->config.spelling;
        struct ran_encoding e = {0};

        if (m->tokenizer == NULL)
                return ran_fail(err, RAN_EINVAL, "the model has no vocabulary: it takes ids only");
        if (ran_utf8_valid(text, n) < n)
                return ran_fail(err, RAN_EFORMAT, "the text is not UTF-8");
        int rc = ran_tokenizer_encode(m->tokenizer, text, n, &e, err);
        if (rc == RAN_OK && buckets > 0)
                rc = ran_encoding_spell(&e, 0, text, n, buckets, err);
        if (rc == RAN_OK && e.n == 0)
                rc = ran_fail(err, RAN_EFORMAT, "the text has no tokens");
        const struct ran_document d = {.ids = e.ids, .L = e.n, .spelling = e.spelling};
        if (rc == RAN_OK)
                rc = ran_classify(m, s, &d, p, NULL, err);
        if (rc == RAN_OK)
                ran_probabilities(&m->config, p, m->C, p);
        ran_encoding_release(&e);
        return rc;
}

struct ran_tag *ran_model_tags(const struct ran_model *m)
{
        return ran_tags_of(m->labels, m->labels != NULL ? m->C : 0, ran_model_is_foreign(m));
}

int ran_tag(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
            uint32_t *tags, float *score, float *logits, struct ran_error *err)
{
        RAN_TRY(ran_model_check_task(m, s, &ran_task_tag, err));
        RAN_TRY(ran_model_check_document(m, d, err));
        RAN_TRY(ran_model_check_positions(d, err));
        RAN_TRY(ran_score_tags(s, &m->rules, d, tags, score, logits, err));
        if (score != NULL) /* the CRF can overflow where the logits are finite */
                RAN_TRY(ran_score_check(score, d->words, -FLT_MAX, err));
        return RAN_OK;
}
