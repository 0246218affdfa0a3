/* beam.c - continuations by beam search. */
#include "cmd/lm/continuation.h"

int continuation_search(struct continuation *k, struct ran_error *err)
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

                k->beam = ran_beam_new(k->how->lm.model, &set, err);
                if (k->beam == NULL)
                        return RAN_ENOMEM;
        }
        bool found;
        RAN_TRY(ran_beam_search(k->beam, k->state, k->context, q->ids, q->L, q->sources, q->begun,
                                err));
        return continuation_take(k, 0, &found, err);
}

int continuation_take(struct continuation *k, size_t i, bool *found, struct ran_error *err)
{
        const struct ran_beam_text text = ran_beam_text(k->beam, i);

        *found = text.n > 0;
        if (!*found)
                return RAN_OK;
        RAN_TRY(continuation_begin(k, err));
        for (size_t t = 0; t < text.n; t++)
                RAN_TRY(continuation_add(k, text.ids[t], text.nll[t], err));
        lm_text_end(&k->text);
        k->score = text.score;
        return RAN_OK;
}
