/* continuation.c - continues a sequence, one token after another.
 *
 * A document is read once: the sequence as a whole, then each generated token. So a token costs its
 * own computation and nothing else. What comes out of a beam search goes the same way: token by
 * token into the text.
 */
#include "cmd/lm/lm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"

void continuation_free(void *continuation)
{
        struct continuation *k = continuation;

        if (k == NULL)
                return;
        ran_state_free(k->state);
        if (k->own)
                ran_lm_context_free(k->context);
        ran_sampler_release(&k->sampler);
        ran_beam_free(k->beam);
        cmd_sequence_release(&k->sequence);
        free(k->logits);
        free(k->allowed);
        free(k->ids);
        free(k->nll);
        lm_text_release(&k->text);
        free(k);
}

void *continuation_new(void *how)
{
        const struct continuation_how *h = how;
        const struct continuation_options *o = h->options;
        struct continuation *k = ran_new(1, sizeof *k);

        k->how = h;
        k->sampler = (struct ran_sampler){.temperature = o->temperature,
                                          .top_k = o->top_k,
                                          .top_p = o->top_p,
                                          .never = h->never};
        k->state = ran_state_new(h->lm.model, h->lm.pool);
        k->logits = ran_new_floats(h->lm.V);
        k->allowed = ran_new_floats(h->lm.V);
        k->own = h->lm.context == NULL;
        k->context = k->own ? ran_lm_context_new(h->lm.model) : h->lm.context;
        return k;
}

int continuation_read(struct continuation *k, const struct record *record, struct ran_error *err)
{
        struct cmd_sequence_how how = lm_how(&k->how->lm);

        how.ask = true;
        return cmd_sequence_read(&k->sequence, &how, record, err);
}

/* ---- the text ------------------------------------------------------------------------------- */

static void begin_text(struct continuation *k)
{
        const struct cmd_reserved *r = &k->how->lm.reserved;
        const struct cmd_sequence *q = &k->sequence;
        /* It decides on a space; none comes after [START] and [SEP]. */
        const uint32_t before = q->ids[q->L - 1];

        k->n_new = 0;
        k->finish = NULL;
        lm_text_begin(&k->text, k->how->lm.tokenizer, &k->how->options->stop,
                      before == r->start || before == r->sep || before == r->end ? RAN_NO_ID
                                                                                 : before);
}

/* Adds a token, and its text; sets `finish` if it is [END], completes a stop string, or is the last
 * that may come. */
static int add_token(struct continuation *k, uint32_t id, float nll, struct ran_error *err)
{
        RAN_ROOM(k->ids, k->ids_cap, k->n_new + 1);
        RAN_ROOM(k->nll, k->nll_cap, k->n_new + 1);
        k->ids[k->n_new] = id;
        k->nll[k->n_new++] = nll;
        if (id == k->how->lm.reserved.end) {
                k->finish = "end";
                return RAN_OK;
        }
        if (k->how->lm.tokenizer != NULL)
                RAN_TRY(lm_text_add(&k->text, id, err));
        if (k->text.stopped)
                k->finish = "stop";
        else if (k->n_new == k->how->options->max_new_tokens)
                k->finish = "length";
        return RAN_OK;
}

/* ---- sampling ------------------------------------------------------------------------------- */

/* Sampling depends on the seed, the id of the record, and the text that is continued, but not on
 * other records. */
static uint64_t key_of(const struct continuation *k, const struct record *record)
{
        const struct ran_member *id =
                record != NULL ? ran_record_find(&record->json, "id", NULL) : NULL;
        uint64_t key = 0;

        for (size_t i = 0; id != NULL && id->type != '0' && i < id->value.end - id->value.begin;
             i++)
                key = ran_random_draw(key, (unsigned char)record->json.line[id->value.begin + i]);
        for (size_t t = 0; t < k->sequence.L; t++)
                key = ran_random_draw(key, k->sequence.ids[t]);
        return ran_random_key(k->how->options->seed, RAN_FOR_SAMPLING,
                              ran_lm_context_tokens(k->context), key);
}

/* Samples one more token from the logits. */
static int sample_token(struct continuation *k, uint64_t key, struct ran_error *err)
{
        const struct continuation_options *o = k->how->options;
        uint32_t id = 0, end = k->how->lm.reserved.end;
        const float *allowed = k->logits;

        if (o->no_repeat_ngram > 0 || k->n_new < o->min_new_tokens) {
                memcpy(k->allowed, k->logits, k->how->lm.V * sizeof *k->allowed);
                ran_ban_repeats(k->allowed, k->ids, k->n_new, o->no_repeat_ngram);
                if (end < k->how->lm.V && k->n_new < o->min_new_tokens)
                        k->allowed[end] = -INFINITY;
                allowed = k->allowed;
        }
        RAN_TRY(ran_sampler_draw(&k->sampler, allowed, k->how->lm.V,
                                 ran_random_uniform(key, k->n_new), &id, err));
        return add_token(k, id, (float)ran_nll(k->logits, k->how->lm.V, id), err);
}

static int sample(struct continuation *k, uint64_t key,
                  void (*show)(void *arg, const struct lm_text *text), void *arg,
                  struct ran_error *err)
{
        const struct ran_lm_out out = {.last = k->logits};
        const uint32_t *next = k->sequence.ids;
        size_t n = k->sequence.L, sources = k->sequence.sources;

        while (k->finish == NULL) {
                RAN_TRY(ran_lm_read(k->how->lm.model, k->state, k->context, next, n, sources, &out,
                                    err));
                RAN_TRY(sample_token(k, key, err));
                if (show != NULL)
                        show(arg, &k->text);
                next = k->ids + k->n_new - 1;
                n = 1;
                sources = 0;
        }
        return RAN_OK;
}

/* ---- beam search ----------------------------------------------------------------------------- */

/* The i-th best, if there is one, becomes the text. */
static int take_found(struct continuation *k, size_t i, struct ran_error *err)
{
        const struct ran_beam_text text = ran_beam_text(k->beam, i);

        begin_text(k);
        for (size_t t = 0; t < text.n; t++)
                RAN_TRY(add_token(k, text.ids[t], text.nll[t], err));
        lm_text_end(&k->text);
        k->score = text.score;
        return RAN_OK;
}

static int search(struct continuation *k, struct ran_error *err)
{
        const struct continuation_options *o = k->how->options;
        const struct cmd_sequence *q = &k->sequence;

        if (k->beam == NULL) {
                const struct ran_beam_settings set = {
                        .width = o->beam,
                        .max_new = o->max_new_tokens,
                        .min_new = o->min_new_tokens,
                        .no_repeat = o->no_repeat_ngram,
                        .length_penalty = o->length_penalty,
                        .never = k->how->never,
                        .end = k->how->lm.reserved.end,
                };

                k->beam = ran_beam_new(k->how->lm.model, &set);
        }
        RAN_TRY(ran_beam_search(k->beam, k->state, k->context, q->ids, q->L, q->sources, err));
        return take_found(k, 0, err);
}

/* ---- either --------------------------------------------------------------------------------- */

int continuation_make(struct continuation *k, const struct record *record,
                      void (*show)(void *arg, const struct lm_text *text), void *arg,
                      struct ran_error *err)
{
        if (k->own)
                ran_lm_context_clear(k->context);
        if (k->how->options->beam > 0)
                return search(k, err);
        begin_text(k);
        int rc = sample(k, key_of(k, record), show, arg, err);
        lm_text_end(&k->text);
        if (rc == RAN_OK && !k->own)
                ran_lm_context_set_pending(k->context, k->ids[k->n_new - 1]);
        return rc;
}

/* ---- the result ----------------------------------------------------------------------------- */

static void add_members(struct ran_buf *out, const struct continuation *k)
{
        const struct lm *lm = &k->how->lm;
        double nll = 0;

        for (size_t i = 0; i < k->n_new; i++)
                nll += (double)k->nll[i];
        if (lm->tokenizer != NULL)
                json_put_string(out, "text", k->text.text.data, k->text.text.len);
        if (k->sequence.document.from == CMD_FROM_IDS)
                lm_add_ids(out, k->ids, k->n_new);
        json_put_size(out, "tokens", k->n_new);
        json_put_text(out, "finish", k->finish);
        json_put_double(out, "nll", nll);
        if (k->how->options->beam > 0)
                json_put_double(out, "score", k->score);
        if (!k->how->options->per_token)
                return;
        json_name(out, "per_token");
        json_begin(out, '{');
        lm_add_tokens(out, lm, k->ids, k->nll, k->n_new);
        json_end(out, '}');
}

int continuation_json(struct continuation *k, struct ran_buf *out, struct ran_error *err)
{
        const size_t n_best = k->how->options->n_best;

        json_begin(out, '{');
        add_members(out, k);
        if (n_best > 0) {
                json_name(out, "n_best");
                json_begin(out, '[');
                for (size_t i = 0; i < n_best && ran_beam_text(k->beam, i).n > 0; i++) {
                        RAN_TRY(take_found(k, i, err));
                        json_begin(out, '{');
                        add_members(out, k);
                        json_end(out, '}');
                }
                json_end(out, ']');
        }
        json_end(out, '}');
        return RAN_OK;
}
