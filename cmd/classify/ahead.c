/* ahead.c - see ahead.h. */
#include "cmd/classify/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/classify/options.h"

/* Bytes of a record that is worth being read ahead: a longer one has no others to be scored with,
 * and would be read twice. */
enum { AHEAD_BYTES = 1 << 14 };

/* Copies the ids of a document: the next one is read into the same memory. */
static bool keep(struct ahead *a, const struct ran_document *d)
{
        uint32_t *ids = ran_grow(a->ids, &a->ids_cap, a->ids_n + d->L, sizeof *ids, NULL);

        if (ids == NULL)
                return false;
        a->ids = ids;
        memcpy(ids + a->ids_n, d->ids, d->L * sizeof *ids);
        a->first[a->n] = a->ids_n;
        a->document[a->n] = (struct ran_document){.L = d->L};
        a->ids_n += d->L;
        return true;
}

static void read_items(struct ahead *a, const struct classifier *c, struct cmd_document *document,
                       const struct cmd_item *items, size_t n)
{
        const struct ran_model *m = c->model;
        struct ran_error err;

        a->n = a->ids_n = 0;
        for (size_t i = 0; i < n && a->n < AHEAD_RECORDS; i++) {
                if (items[i].line->record.json.length > AHEAD_BYTES ||
                    cmd_document_read(document, &items[i].line->record, ran_model_tokenizer(m),
                                      ran_model_vocabulary(m), &c->options->document,
                                      &err) != RAN_OK)
                        continue;
                const struct ran_document d = cmd_document_view(document);
                if (d.L == 0 || !keep(a, &d))
                        continue;
                a->of[a->n++] = i + 1;
        }
        for (size_t k = 0; k < a->n; k++)
                a->document[k].ids = a->ids + a->first[k];
}

static float *room(float **x, size_t *cap, size_t n, size_t width)
{
        size_t floats;
        float *grown = NULL;

        if (!__builtin_mul_overflow(n, width, &floats))
                grown = ran_grow(*x, cap, floats, sizeof **x, NULL);
        if (grown != NULL)
                *x = grown;
        return grown;
}

static int score_items(struct ahead *a, const struct classifier *c, struct ran_state *state)
{
        const bool embed = classify_options_embed(c->options);
        struct ran_error err;

        if (room(&a->logits, &a->logits_cap, a->n, c->C) == NULL ||
            room(&a->embedding, &a->embedding_cap, a->n, embed ? c->D : 0) == NULL)
                return RAN_ENOMEM;
        if (c->embedder != NULL)
                RAN_TRY(ran_embed_each(c->embedder, state, a->document, a->n, a->embedding, &err));
        if (c->C == 0)
                return RAN_OK;
        return ran_classify_each(c->model, state, a->document, a->n, a->logits,
                                 embed && c->embedder == NULL ? a->embedding : NULL, &err);
}

void ahead_score(struct ahead *a, const struct classifier *c, struct ran_state *state,
                 struct cmd_document *document, const struct cmd_item *items, size_t n)
{
        read_items(a, c, document, items, n);
        if (a->n > 0 && score_items(a, c, state) != RAN_OK)
                a->n = 0;
}

size_t ahead_place(const struct ahead *a, size_t i)
{
        for (size_t k = 0; k < a->n; k++)
                if (a->of[k] == i + 1)
                        return k;
        return SIZE_MAX;
}

bool ahead_take(const struct ahead *a, const struct classifier *c, size_t i, float *logits,
                float *embedding)
{
        const size_t k = ahead_place(a, i);

        if (k == SIZE_MAX)
                return false;
        memcpy(logits, a->logits + k * c->C, c->C * sizeof *logits);
        if (embedding != NULL)
                memcpy(embedding, a->embedding + k * c->D, c->D * sizeof *embedding);
        return true;
}

void ahead_release(struct ahead *a)
{
        free(a->ids);
        free(a->logits);
        free(a->embedding);
}
