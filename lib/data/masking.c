/* masking.c - see masking.h. */
#include "data/masking.h"

#include <stdlib.h>
#include <string.h>

/* Words of a document: word i is the tokens [position[i], position[i + 1]). */
struct words {
        const uint32_t *position;
        size_t n, L;
        uint64_t key;
        double share;
        size_t always; /* masked if no word is drawn */
        bool none;     /* none is */
};

static const double as_mask = 0.8, as_other = 0.1;

const struct ran_masking_draw ran_masking_of_dev = {.share = RAN_MASK_SHARE};

/* Positions of draws: one for a word, two for a token. */
static double draw_word(const struct words *w, size_t i)
{
        return ran_random_uniform(w->key, 3 * i);
}

static struct words words_of(const struct ran_dataset *d, size_t b,
                             const struct ran_masking_draw *draw)
{
        size_t at = d->label_first[b];
        struct words w = {.position = d->positions + at,
                          .n = d->label_first[b + 1] - at,
                          .L = d->first[b + 1] - d->first[b],
                          .key = ran_random_key(draw->seed, RAN_FOR_MASKING, draw->epoch, b),
                          .share = draw->share,
                          .none = true};

        for (size_t i = 0; i < w.n; i++) {
                if (draw_word(&w, i) < w.share)
                        w.none = false;
                if (draw_word(&w, i) < draw_word(&w, w.always))
                        w.always = i;
        }
        return w;
}

static bool is_masked(const struct words *w, size_t i)
{
        return w->none ? i == w->always : draw_word(w, i) < w->share;
}

static size_t word_end(const struct words *w, size_t i)
{
        return i + 1 < w->n ? w->position[i + 1] : w->L;
}

size_t ran_masking_count(const struct ran_dataset *d, size_t b, const struct ran_masking_draw *draw)
{
        struct words w = words_of(d, b, draw);
        size_t count = 0;

        if (d->given)
                return w.n;
        for (size_t i = 0; i < w.n; i++)
                if (is_masked(&w, i))
                        count += word_end(&w, i) - w.position[i];
        return count;
}

/* The replacement for a token of a masked word. */
static uint32_t replace(const struct words *w, size_t t, uint32_t id, uint32_t mask, size_t V)
{
        double how = ran_random_uniform(w->key, 3 * t + 1);
        size_t from = V > RAN_RESERVED ? RAN_RESERVED : 0;

        if (how < as_mask)
                return mask;
        if (how >= as_mask + as_other)
                return id;
        return (uint32_t)(from +
                          (size_t)(ran_random_uniform(w->key, 3 * t + 2) * (double)(V - from)));
}

int ran_masking_id(uint32_t *mask, const struct ran_tokenizer *tokenizer, struct ran_error *err)
{
        *mask = RAN_MASK;
        if (tokenizer != NULL && !ran_tokenizer_find(tokenizer, "[MASK]", 6, mask))
                return ran_fail(err, RAN_EINVAL,
                                "the vocabulary has no token [MASK], which a masked language model "
                                "needs");
        return RAN_OK;
}

int ran_masking_make(struct ran_masking *g, const struct ran_dataset *d, size_t b, uint32_t mask,
                     size_t V, const struct ran_masking_draw *draw, struct ran_error *err)
{
        const uint32_t *ids = d->ids + d->first[b], *labels = d->labels + d->label_first[b];
        struct words w = words_of(d, b, draw);

        RAN_TRY(RAN_GROW(g->ids, g->ids_cap, w.L, err));
        RAN_TRY(RAN_GROW(g->position, g->position_cap, w.L, err));
        RAN_TRY(RAN_GROW(g->gold, g->gold_cap, w.L, err));
        memcpy(g->ids, ids, w.L * sizeof *ids);
        g->n = d->given ? w.n : 0;
        for (size_t i = 0; i < g->n; i++) {
                g->position[i] = w.position[i];
                g->gold[i] = labels[i];
        }
        for (size_t i = 0; i < w.n && !d->given; i++)
                for (size_t t = w.position[i]; is_masked(&w, i) && t < word_end(&w, i); t++) {
                        g->ids[t] = replace(&w, t, ids[t], mask, V);
                        g->position[g->n] = (uint32_t)t;
                        g->gold[g->n++] = ids[t];
                }
        return RAN_OK;
}

void ran_masking_release(struct ran_masking *g)
{
        free(g->ids);
        free(g->position);
        free(g->gold);
        *g = (struct ran_masking){0};
}
