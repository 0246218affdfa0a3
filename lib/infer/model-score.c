/* model-score.c - scoring with a model: checks arguments, then calls score.c and tagger.c. See
 * ran/model.h. */
#include "math/elementary.h"
#include "nn/part.h"
#include "infer/model-check.h"
#include "infer/tagger.h"
#include "ran/model.h"
#include "ran/math.h"

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
        return ran_score_check_result(logits, n * m->C, err);
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

int ran_tag(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
            uint32_t *tags, float *score, float *logits, struct ran_error *err)
{
        RAN_TRY(ran_model_check_task(m, s, &ran_task_tag, err));
        RAN_TRY(ran_model_check_document(m, d, err));
        RAN_TRY(ran_model_check_positions(d, err));
        RAN_TRY(ran_tagger_tags(s, &m->rules, d, tags, score, logits, err));
        RAN_TRY(ran_score_check_logits(s, d->words * m->C, err));
        if (score != NULL) /* the CRF can overflow where the logits are finite */
                RAN_TRY(ran_score_check_result(score, d->words, err));
        return RAN_OK;
}
