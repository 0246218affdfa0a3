/* lm-context.c - a language-model context, in memory and in a file.
 *
 * The file is a safetensors file: `cell` (N, D), and for each layer l `key.{l}`,
 * `value.{l}` (states, D) and `open.{l}` (1 + open, 3E); tensors without rows are left out. See
 * recurrent-state.h. `pending` (1, 2) is a waiting token: two halves of its id, 16 bits each,
 * because the digest covers tensors only. The metadata name the model it belongs to. Older states
 * may have the tensors of a cache, which are passed over.
 */
#include "math/elementary.h"
#include "infer/infer.h"
#include "nn/part.h"
#include "ran/model.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "ran-state"

struct ran_lm_context {
        const struct ran_model *m;
        struct ran_recurrent_state recurrent;
        uint32_t pending;
};

struct ran_lm_context *ran_lm_context_new(const struct ran_model *m)
{
        struct ran_lm_context *p = ran_new(1, sizeof *p);

        p->m = m;
        p->pending = RAN_NO_ID;
        ran_encoder_state_init(&p->recurrent, &m->config);
        return p;
}

void ran_lm_context_free(struct ran_lm_context *p)
{
        if (p != NULL)
                ran_recurrent_state_release(&p->recurrent);
        free(p);
}

void ran_lm_context_clear(struct ran_lm_context *p)
{
        ran_recurrent_state_clear(&p->recurrent);
        p->pending = RAN_NO_ID;
}

size_t ran_lm_context_tokens(const struct ran_lm_context *p)
{
        return p->recurrent.tokens;
}

uint32_t ran_lm_context_pending(const struct ran_lm_context *p)
{
        return p->pending;
}

void ran_lm_context_set_pending(struct ran_lm_context *p, uint32_t id)
{
        p->pending = id;
}

int ran_lm_context_fork(struct ran_lm_context *to, const struct ran_lm_context *from,
                        struct ran_error *err)
{
        if (to->m != from->m)
                return ran_fail(err, RAN_EINVAL, "the context belongs to another model");
        if (to == from || from->recurrent.base == &to->recurrent)
                return ran_fail(err, RAN_EINVAL,
                                "a context cannot become a copy of a context that shares its text");
        to->pending = from->pending;
        int rc = ran_recurrent_state_fork(&to->recurrent, &from->recurrent, err);
        if (rc != RAN_OK)
                ran_lm_context_clear(to);
        return rc;
}

/* ---- reading -------------------------------------------------------------------------------- */

static int check_gold(const struct ran_model *m, const uint32_t *gold, size_t n,
                      struct ran_error *err)
{
        for (size_t i = 0; gold != NULL && i < n; i++)
                if (gold[i] != RAN_NO_ID && ran_check_ids(gold + i, 1, m->V, err) != RAN_OK)
                        return RAN_EINVAL;
        return RAN_OK;
}

int ran_lm_read(const struct ran_model *m, struct ran_state *s, struct ran_lm_context *context,
                const uint32_t *ids, size_t n, size_t sources, const struct ran_lm_out *out,
                struct ran_error *err)
{
        RAN_TRY(ran_model_check_task(m, s, &ran_task_lm, err));
        RAN_TRY(ran_check_ids(ids, n, m->V, err));
        if (out->skip > 0 && out->skip >= n)
                return ran_fail(err, RAN_EINVAL, "skip leaves none of %zu tokens", n);
        RAN_TRY(check_gold(m, out->gold, n - out->skip, err));
        if (context != NULL && context->m != m)
                return ran_fail(err, RAN_EINVAL, "the context belongs to another model");
        if (sources > n || (sources > 0 && m->config.mask != RAN_MASK_PREFIX))
                return ran_fail(err, RAN_EINVAL,
                                "the model has no source tokens: its mask is not 'prefix'");
        if (sources > 0 && context != NULL && context->recurrent.tokens > 0)
                return ran_fail(err, RAN_EINVAL,
                                "source tokens must be read at once, at the beginning");
        RAN_TRY(ran_score_lm(s, context != NULL ? &context->recurrent : NULL, ids, n, sources, out,
                             err));
        if (out->nll != NULL)
                RAN_TRY(ran_score_check(out->nll, n - out->skip, -FLT_MAX, err));
        if (out->logits != NULL)
                RAN_TRY(ran_score_check(out->logits, (n - out->skip) * m->V, -INFINITY, err));
        return out->last != NULL ? ran_score_check(out->last, m->V, -INFINITY, err) : RAN_OK;
}

int ran_lm_read_each(const struct ran_model *m, struct ran_state *s,
                     struct ran_lm_context *const *context, const uint32_t *ids, size_t n,
                     float *logits, struct ran_error *err)
{
        RAN_TRY(ran_model_check_task(m, s, &ran_task_lm, err));
        RAN_TRY(ran_check_ids(ids, n, m->V, err));
        for (size_t i = 0; i < n; i++)
                if (context[i]->m != m || context[i]->recurrent.tokens == 0)
                        return ran_fail(err, RAN_EINVAL, "context %zu has read nothing", i);
        struct ran_recurrent_state **state = ran_new(n, sizeof *state);
        for (size_t i = 0; i < n; i++)
                state[i] = &context[i]->recurrent;
        int rc = ran_score_lm_each(s, state, ids, n, logits, err);
        free(state);
        for (size_t i = 0; i < n && rc == RAN_OK; i++)
                rc = ran_score_check(logits + i * m->V, m->V, -INFINITY, err);
        return rc;
}

/* Passes logits on to the caller's function. */
struct checked {
        const struct ran_model *m;
        ran_lm_take *take;
        void *arg;
};

static int take_checked(void *arg, size_t i, const float *logits, struct ran_error *err)
{
        const struct checked *k = arg;

        RAN_TRY(ran_score_check(logits, k->m->V, -INFINITY, err));
        return k->take(k->arg, i, logits, err);
}

int ran_lm_fill(const struct ran_model *m, struct ran_state *s, const uint32_t *ids, size_t L,
                const uint32_t *positions, size_t n, const uint32_t *gold, float *nll,
                ran_lm_take *take, void *arg, struct ran_error *err)
{
        struct checked k = {m, take, arg};

        RAN_TRY(ran_model_check_task(m, s, &ran_task_mlm, err));
        RAN_TRY(ran_check_ids(ids, L, m->V, err));
        RAN_TRY(check_gold(m, gold, n, err));
        for (size_t i = 0; i < n; i++)
                if (positions[i] >= L || (i > 0 && positions[i] <= positions[i - 1]))
                        return ran_fail(err, RAN_EINVAL, "masked token %zu is not one of the %zu",
                                        i, L);
        RAN_TRY(ran_score_masked(s, ids, L, positions, n, gold, nll,
                                 take != NULL ? take_checked : NULL, &k, err));
        return nll != NULL ? ran_score_check(nll, n, -FLT_MAX, err) : RAN_OK;
}

/* ---- the file ------------------------------------------------------------------------------- */

/* A tensor of a state. */
struct part {
        char name[32];
        float *data;
        size_t rows, cols;
};

/* Appends a tensor unless it has no rows. */
__attribute__((format(printf, 6, 7))) static void
add_part(struct part *list, size_t *n, float *data, size_t rows, size_t cols, const char *name, ...)
{
        va_list args;

        if (rows == 0)
                return;
        list[*n] = (struct part){.data = data, .rows = rows, .cols = cols};
        va_start(args, name);
        vsnprintf(list[(*n)++].name, sizeof list->name, name, args);
        va_end(args);
}

/* The tensors in one order for reading and writing, *n of them; the caller frees them. halves: of
 * the pending token; NULL: none. */
static struct part *list_parts(const struct ran_recurrent_state *c, float *halves, size_t *n)
{
        struct part *list = ran_new(2 + 3 * c->layers, sizeof *list);

        *n = 0;
        add_part(list, n, c->cell, c->layers, c->cell_width, "cell");
        add_part(list, n, halves, halves != NULL, 2, "pending");
        for (size_t l = 0; l < c->layers; l++) {
                add_part(list, n, c->key[l], c->states, c->width, "key.%zu", l);
                add_part(list, n, c->value[l], c->states, c->width, "value.%zu", l);
                add_part(list, n, c->qkv[l], c->open > 0 ? 1 + c->open : 0, 3 * c->E, "open.%zu",
                         l);
        }
        return list;
}

int ran_lm_context_save(const struct ran_lm_context *p, const char *path, struct ran_error *err)
{
        const struct ran_recurrent_state *c = &p->recurrent;
        const char *digest = ran_model_metadata(p->m, "digest");
        float halves[2] = {(float)(p->pending >> 16), (float)(p->pending & 0xffff)};
        char tokens[32], sources[32];
        struct ran_metadata_source meta[] = {{"format", FORMAT},
                                             {"format_version", "1"},
                                             {"model", digest},
                                             {"tokens", tokens},
                                             {"sources", sources}};
        /* The last one is of a review of the source. */
        size_t metas = sizeof meta / sizeof *meta - (c->sources > 0 ? 0 : 1), n;

        if (digest == NULL)
                return ran_fail(
                        err, RAN_EINVAL,
                        "the model file has no digest, which a state needs to name its model");
        if (c->base != NULL)
                return ran_fail(err, RAN_EINVAL,
                                "a copy shares the text of another context: save that one");
        if (c->tokens == 0 && p->pending == RAN_NO_ID)
                return ran_fail(err, RAN_EINVAL, "nothing was read: there is no state to keep");
        snprintf(tokens, sizeof tokens, "%zu", c->tokens);
        snprintf(sources, sizeof sources, "%zu", c->sources);
        struct part *part = list_parts(c, p->pending != RAN_NO_ID ? halves : NULL, &n);
        struct ran_tensor_source *source = ran_new(n, sizeof *source);
        for (size_t i = 0; i < n; i++)
                source[i] = (struct ran_tensor_source){.name = part[i].name,
                                                       .dtype = RAN_DTYPE_F32,
                                                       .rank = 2,
                                                       .shape = {part[i].rows, part[i].cols},
                                                       .data = part[i].data};
        int rc = ran_tensors_write(path, NULL, source, n, meta, metas, err);
        free(source);
        free(part);
        return rc;
}

static int read_parts(const struct ran_tensors *file, const struct part *part, size_t n,
                      struct ran_error *err)
{
        for (const struct part *end = part + n; part < end; part++) {
                const struct ran_tensor *t = ran_tensors_find(file, part->name);

                if (t == NULL || t->dtype != RAN_DTYPE_F32 || t->rank != 2 ||
                    t->shape[0] != part->rows || t->shape[1] != part->cols)
                        return ran_fail(err, RAN_EFORMAT, "no tensor %s of %zu by %zu", part->name,
                                        part->rows, part->cols);
                RAN_TRY(ran_tensor_floats(file, t, part->data, err));
                for (size_t i = 0; i < part->rows * part->cols; i++)
                        if (!isfinite(part->data[i]))
                                return ran_fail(err, RAN_EFORMAT,
                                                "tensor %s has an element that is no number",
                                                part->name);
        }
        return RAN_OK;
}

static const char *metadata(const struct ran_tensors *t, const char *key)
{
        const struct ran_metadata *m = ran_tensors_metadata(t, key);

        return m != NULL ? m->text : "";
}

static int read_state(struct ran_lm_context *p, const struct ran_tensors *t, struct ran_error *err)
{
        const char *digest = ran_model_metadata(p->m, "digest"), *number = metadata(t, "tokens"),
                   *sources = metadata(t, "sources");
        struct ran_recurrent_state *c = &p->recurrent;
        float halves[2], *pending = ran_tensors_find(t, "pending") != NULL ? halves : NULL;
        size_t n;

        if (strcmp(metadata(t, "format"), FORMAT) != 0)
                return ran_fail(err, RAN_EFORMAT, "a safetensors file, but not a state of ran-lm");
        if (strcmp(metadata(t, "format_version"), "1") != 0)
                return ran_fail(err, RAN_EFORMAT, "state format version %s; this program reads 1",
                                metadata(t, "format_version"));
        if (digest == NULL || strcmp(metadata(t, "model"), digest) != 0)
                return ran_fail(err, RAN_EINVAL, "the state of another model");
        RAN_TRY(ran_tensors_verify(t, err));
        if (!ran_parse_size(number, strlen(number), &c->tokens))
                return ran_fail(err, RAN_EFORMAT, "it does not say how many tokens it has read");
        if (*sources != '\0' &&
            (!p->m->config.ran.review_source ||
             !ran_parse_size(sources, strlen(sources), &c->sources) || c->sources > c->tokens))
                return ran_fail(err, RAN_EFORMAT, "its number of source tokens is impossible");
        c->states = ran_encoder_states(&p->m->config, c->tokens) + c->sources;
        c->open = c->tokens % ran_encoder_state_tokens(&p->m->config);
        if (c->states > t->size || c->open > t->size) /* before allocating that much */
                return ran_fail(err, RAN_EFORMAT, "it is too small for %zu tokens", c->tokens);
        RAN_TRY(ran_recurrent_state_reserve(c, c->states, c->open, err));
        struct part *part = list_parts(c, pending, &n);
        int rc = read_parts(t, part, n, err);
        free(part);
        if (rc != RAN_OK || pending == NULL)
                return rc;
        p->pending = 0;
        for (int i = 0; i < 2; i++) {
                if (!(halves[i] >= 0 && halves[i] < 65536 && halves[i] == floorf(halves[i])))
                        return ran_fail(err, RAN_EFORMAT, "it has an id that is no token");
                p->pending = p->pending << 16 | (uint32_t)halves[i];
        }
        return ran_check_ids(&p->pending, 1, p->m->V, err);
}

struct ran_lm_context *ran_lm_context_load(const struct ran_model *m, const char *path,
                                           struct ran_error *err)
{
        struct ran_error why = {0};
        struct ran_tensors t = {0};
        struct ran_bytes file;
        struct ran_lm_context *p = ran_lm_context_new(m);

        if (ran_bytes_open(&file, path, err) != RAN_OK) {
                ran_lm_context_free(p);
                return NULL;
        }
        if (ran_tensors_read(&t, &file, &why) != RAN_OK || read_state(p, &t, &why) != RAN_OK) {
                ran_fail(err, why.code, "%s: %s", path, why.text);
                ran_lm_context_free(p);
                p = NULL;
        }
        ran_tensors_release(&t);
        ran_bytes_release(&file);
        return p;
}
