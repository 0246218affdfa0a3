/* replace.c - --replace-unknown: in a generated target, [UNK] becomes the word of the source that
 * the model attended to when it predicted the token, with the mean of all layers and heads. */
#include "cmd/lm/lm.h"

#include <stdlib.h>

/* ---- words of the source -------------------------------------------------------------------- */

/* Appends the word that source token t is in. Offsets are bytes. */
static int add_word(struct ran_buf *out, const struct continuation *k, const struct record *record,
                    size_t t, struct ran_error *err)
{
        const struct cmd_document *d = &k->sequence.document;
        const struct ran_encoding *e = &d->encoding;
        const struct ran_member *m = record->is[FIELD_SOURCE];
        size_t from = t, to = t + 1, pos = 0;
        struct ran_span item;
        char type;

        if (d->from == CMD_FROM_TOKENS) {
                for (size_t i = 0;
                     m != NULL && m->type == 'a' &&
                     ran_json_next(record->json.line, m->value, &pos, NULL, &item, &type);
                     i++)
                        if (i == e->word[t] && type == 's')
                                return ran_json_decode(record->json.line, item, out, err);
                return RAN_OK;
        }
        while (from > 0 && e->word[from - 1] == e->word[t])
                from--;
        while (to < e->n && e->word[to] == e->word[t])
                to++;
        size_t start = e->start[from], end = e->end[to - 1];
        while (start < end && d->text.data[start] == ' ') /* byte pairs begin with the space */
                start++;
        ran_buf_add(out, d->text.data + start, end - start);
        return RAN_OK;
}

/* ---- replacing ------------------------------------------------------------------------------ */

/* The attention of what was generated: weight (n_new + 1, sources), the caller frees it. */
static int read_weights(struct continuation *k, double **weight, struct ran_error *err)
{
        const struct cmd_sequence *q = &k->sequence;
        size_t source = q->L - q->begun, n = source + k->n_new;
        uint32_t *ids = ran_new(n, sizeof *ids);
        struct ran_document d = {.ids = ids, .L = n};

        *weight = ran_new((k->n_new + 1) * q->sources, sizeof **weight);
        for (size_t i = 0; i < n; i++)
                ids[i] = i < source ? q->ids[i] : k->ids[i - source];
        int rc = ran_alignment(k->how->lm.model, k->state, &d, q->sources, RAN_PROBE_MEAN,
                               RAN_PROBE_MEAN, *weight, err);
        free(ids);
        return rc;
}

/* The word of the source in place of the i-th token: that of the token, but not [SEP], with the
 * most weight. RAN_EFORMAT: none has any. */
static int add_source_word(struct continuation *k, const struct record *record, size_t i,
                           const double *weight, struct ran_buf *word, struct ran_error *err)
{
        const double *w = weight + i * k->sequence.sources;
        size_t most = 0;

        for (size_t j = 1; j < k->sequence.document.L; j++)
                if (w[j] > w[most])
                        most = j;
        if (!(w[most] > 0))
                return ran_fail(err, RAN_EFORMAT,
                                "the model saw no token of the source when it predicted an "
                                "unknown word: --replace-unknown needs windows with the source "
                                "in them, or a model trained with --review-source");
        word->len = 0;
        if (k->text.text.len > 0)
                ran_buf_char(word, ' ');
        RAN_TRY(add_word(word, k, record, most, err));
        lm_text_add_bytes(&k->text, word->data, word->len);
        return RAN_OK;
}

/* Makes the text anew, with the words of the source in it. */
static int replace(struct continuation *k, const struct record *record, const double *weight,
                   struct ran_error *err)
{
        const struct lm *lm = &k->how->lm;
        struct ran_buf word = {0};
        int rc = RAN_OK;

        lm_text_begin(&k->text, lm->tokenizer, &k->how->options->stop, RAN_NO_ID);
        for (size_t i = 0; i < k->n_new && rc == RAN_OK && !k->text.stopped; i++) {
                if (k->ids[i] == lm->reserved.end)
                        break;
                if (k->ids[i] != lm->reserved.unk) {
                        rc = lm_text_add(&k->text, k->ids[i], err);
                        continue;
                }
                rc = add_source_word(k, record, i, weight, &word, err);
                k->text.last = k->ids[i];
        }
        lm_text_end(&k->text);
        ran_buf_release(&word);
        return rc;
}

int lm_replace_unknown(struct continuation *k, const struct record *record, struct ran_error *err)
{
        const struct cmd_document *d = &k->sequence.document;
        double *weight = NULL;
        size_t i = 0;

        while (i < k->n_new && k->ids[i] != k->how->lm.reserved.unk)
                i++;
        if (i == k->n_new)
                return RAN_OK;
        if (d->from != CMD_FROM_TEXT && d->from != CMD_FROM_TOKENS)
                return ran_fail(err, RAN_EFORMAT,
                                "--replace-unknown needs a \"source\" of text: ids have no words");
        int rc = read_weights(k, &weight, err);
        if (rc == RAN_OK)
                rc = replace(k, record, weight, err);
        free(weight);
        return rc;
}
