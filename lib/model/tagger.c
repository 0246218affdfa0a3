/* tagger.c - see tagger.h. Reading the document is score.c's; this decodes what it leaves. */
#include "model/model.h"
#include "record/tags.h"

#include <stdlib.h>
#include <string.h>

int ran_tag_rules_init(struct ran_tag_rules *r, char *const *names, size_t C, struct ran_error *err)
{
        struct ran_tag *tags = ran_alloc(C, sizeof *tags, err);
        bool all = true;

        *r = (struct ran_tag_rules){0};
        if (tags == NULL)
                return RAN_ENOMEM;
        for (size_t c = 0; c < C && all; c++)
                all = ran_tag_parse(&tags[c], names[c], strlen(names[c]), NULL) == RAN_OK;
        if (!all) { /* numbers, say: nothing is known about their order */
                free(tags);
                return RAN_OK;
        }
        r->start = ran_alloc(C, sizeof *r->start, err);
        r->open = ran_alloc(C, sizeof *r->open, err);
        r->type = ran_alloc(C, sizeof *r->type, err);
        int rc = r->start != NULL && r->open != NULL && r->type != NULL
                         ? ran_tags_rules(r->start, r->open, r->type, tags, C, err)
                         : RAN_ENOMEM;
        free(tags);
        if (rc != RAN_OK)
                ran_tag_rules_release(r);
        return rc;
}

void ran_tag_rules_release(struct ran_tag_rules *r)
{
        free(r->start);
        free(r->open);
        free(r->type);
        *r = (struct ran_tag_rules){0};
}

struct ran_crf ran_crf_of_params(const struct ran_params *p)
{
        return (struct ran_crf){p->head.crf_start, p->head.crf_end, p->head.crf_transition};
}

size_t ran_tag_sentence_end(const bool *begins, size_t from, size_t n)
{
        size_t end = from + 1;

        while (end < n && (begins == NULL || !begins[end]))
                end++;
        return end;
}

void ran_tag_decode(const struct ran_tag_scratch *k, const struct ran_tag_rules *rules, size_t n,
                    uint32_t *tags)
{
        const struct ran_crf_rules allowed = {rules->start, rules->open, rules->type};

        for (size_t from = 0, end; from < n; from = end) {
                end = ran_tag_sentence_end(k->begins, from, n);
                ran_crf_decode(tags + from, k->logits + from * k->C, &k->crf,
                               rules->start != NULL ? &allowed : NULL, end - from, k->C, k->chain);
        }
}

void ran_tag_marginals(const struct ran_tag_scratch *k, size_t n)
{
        for (size_t from = 0, end; from < n; from = end) {
                end = ran_tag_sentence_end(k->begins, from, n);
                ran_crf_marginals(k->marginals + from * k->C, k->logits + from * k->C, &k->crf,
                                  end - from, k->C, k->chain);
        }
}

int ran_score_tags(struct ran_state *s, const struct ran_tag_rules *rules,
                   const struct ran_document *d, uint32_t *tags, float *score, float *logits,
                   struct ran_error *err)
{
        struct ran_tag_scratch k;
        size_t n = d->words;
        int rc = ran_score_words(s, d, &k, err);

        if (rc != RAN_OK)
                return rc;
        ran_tag_decode(&k, rules, n, tags);
        if (logits != NULL)
                memcpy(logits, k.logits, n * k.C * sizeof *logits);
        if (score == NULL)
                return RAN_OK;
        ran_tag_marginals(&k, n);
        for (size_t i = 0; i < n; i++)
                score[i] = k.marginals[i * k.C + tags[i]];
        return RAN_OK;
}

int ran_tag(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
            uint32_t *tags, float *score, float *logits, struct ran_error *err)
{
        if (ran_model_check_task(m, s, RAN_TASK_TAG, err) != RAN_OK ||
            ran_model_check_document(m, d, err) != RAN_OK ||
            ran_model_check_positions(d, err) != RAN_OK)
                return RAN_EINVAL;
        int rc = ran_score_tags(s, &m->rules, d, tags, score, logits, err);
        if (rc == RAN_OK)
                rc = ran_score_check_logits(s, d->words * m->C, err);
        if (rc == RAN_OK && score != NULL) /* which depends on the chain of tags, too */
                rc = ran_score_check_result(score, d->words, err);
        return rc;
}
