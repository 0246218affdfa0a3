/* params.c - from the tensors of a folder to the parameters of a model. See folder.h. */
#include "hf/folder.h"
#include "part/bert/bert.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

/* ---- sizes ----------------------------------------------------------------------------------- */

/* The tensor of the last layer of a head. */
static int find_classes(struct ran_hf *f, struct ran_error *err)
{
        const bool tags = f->config.task == RAN_TASK_TAG;
        const struct ran_tensor_spec spec = {.name = "classify.out.weight"},
                                     tag_spec = {.name = "tag.out.weight"};
        struct ran_hf_origin from;

        ran_hf_origin(f, tags ? &tag_spec : &spec, &from);
        const struct ran_hf_tensor *t = ran_hf_find(&f->weights, from.name);
        if (t == NULL || t->tensor->rank != 2 || t->tensor->shape[0] == 0)
                return ran_fail(err, RAN_EFORMAT,
                                "there is no matrix %s, the last layer of %s: config.json and the "
                                "weights do not belong together",
                                from.name, f->architecture);
        f->C = t->tensor->shape[0];
        if (f->labels > 0 && f->labels != f->C)
                return ran_fail(err, RAN_EFORMAT,
                                "config.json has %zu labels, but tensor %s has %zu rows, one for "
                                "each label",
                                f->labels, t->tensor->name, f->C);
        if (f->C == 1 && !tags && !f->config.classify.multilabel)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "the classifier has one output, as models have that score pairs of "
                        "texts (cross-encoders) or predict a number: two labels are needed");
        return RAN_OK;
}

/* The vocabulary may have fewer tokens than the embedding has rows: nobody can name the others. */
static int find_vocabulary(struct ran_hf *f, struct ran_error *err)
{
        struct ran_hf_tensor *t = ran_hf_find(&f->weights, ran_hf_kinds[f->family].embedding);

        if (t == NULL && f->family == RAN_HF_RANNET)
                return ran_fail(err, RAN_EFORMAT,
                                "the checkpoint has no rannet/%s: write it with the package's "
                                "RanNet.export_checkpoint, which names the tensors",
                                ran_hf_kinds[f->family].embedding);
        if (t == NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "there is no tensor %s: config.json (model_type \"%s\") and the "
                                "weights do not belong together",
                                ran_hf_kinds[f->family].embedding, f->type);
        f->embedded = f->vocabulary > 0      ? f->vocabulary
                      : t->tensor->rank == 2 ? t->tensor->shape[0]
                                             : 0;
        RAN_TRY(ran_hf_check(t, f->embedded > 0 ? f->embedded : 1, f->config.dim, err));
        f->V = ran_tokenizer_size(f->tokenizer);
        if (f->V > f->embedded)
                return ran_fail(err, RAN_EFORMAT,
                                "the vocabulary has %zu tokens, but the embedding has %zu rows: "
                                "the tokenizer is that of another model",
                                f->V, f->embedded);
        f->around = ran_tokenizer_surround(f->tokenizer);
        return RAN_OK;
}

/* White space ends most prompts, and follows all: no token of theirs depends on the text. */
static int read_prompt(struct ran_hf *f, struct ran_error *err)
{
        size_t n = f->prompt != NULL ? strlen(f->prompt) : 0;

        while (n > 0 && strchr(" \t\r\n", f->prompt[n - 1]) != NULL)
                n--;
        if (n == 0)
                return RAN_OK;
        RAN_TRY(ran_tokenizer_encode(f->tokenizer, f->prompt, n, &f->prompt_tokens, err));
        const size_t around = f->around.before_n + f->around.after_n;
        if (f->prompt_tokens.n + around >= f->config.bert.max_length)
                return ran_fail(err, RAN_EINVAL,
                                "the prompt has %zu tokens, which leave none of a window's %zu to "
                                "the text",
                                f->prompt_tokens.n, f->config.bert.max_length);
        return RAN_OK;
}

/* An encoder of the family BERT: its windows, and what stands around their tokens. */
static int settle_windows(struct ran_hf *f, struct ran_error *err)
{
        struct ran_config *c = &f->config;

        c->bert.max_length = f->rows - f->first;
        if (f->most > 0 && f->most < c->bert.max_length)
                c->bert.max_length = f->most;
        c->bert.l2_normalize = f->normalize;
        if (f->truncate < ran_bert_width(c))
                c->bert.vector_dim = f->truncate;
        RAN_TRY(read_prompt(f, err));
        c->bert.prefix = f->around.before_n + f->prompt_tokens.n;
        c->bert.pool_skip = f->prompt_tokens.n > 0 && !f->include_prompt ? c->bert.prefix : 0;
        c->bert.suffix = f->around.after_n;
        return RAN_OK;
}

int ran_hf_settle(struct ran_hf *f, struct ran_error *err)
{
        struct ran_config *c = &f->config;

        RAN_TRY(find_vocabulary(f, err));
        if (f->family != RAN_HF_RANNET)
                RAN_TRY(settle_windows(f, err));
        else if (f->prompt != NULL)
                return ran_fail(err, RAN_EINVAL, "models of the package rannet know no prompts");
        else if (ran_hf_find(&f->weights, "mlm-matching/bias") != NULL) /* its head */
                c->task = RAN_TASK_MLM;
        f->C = 0;
        if (c->task == RAN_TASK_MLM)
                f->C = f->V;
        else if (c->task != RAN_TASK_EMBED)
                RAN_TRY(find_classes(f, err));
        return ran_config_check(c, err);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static int check_named(const struct ran_hf_weights *w, const char *name, size_t rows, size_t cols,
                       struct ran_error *err)
{
        struct ran_hf_tensor *t = ran_hf_find(w, name);

        return t != NULL ? ran_hf_check(t, rows, cols, err)
                         : ran_fail(err, RAN_EFORMAT,
                                    "there is no tensor %s, which config.json asks for", name);
}

static int check_spec(const struct ran_hf *f, const struct ran_tensor_spec *spec,
                      struct ran_error *err)
{
        struct ran_hf_origin from;
        size_t rows = spec->rows, cols = spec->cols;

        ran_hf_origin(f, spec, &from);
        if (from.name[0] == '\0')
                return RAN_OK;
        if (strcmp(spec->name, "lm.bias") == 0)
                cols = f->embedded;
        else if (rows > 0)
                rows *= from.parts;
        else
                cols *= from.parts;
        return check_named(from.dense ? &f->dense : &f->weights, from.name,
                           from.transposed ? cols : rows, from.transposed ? rows : cols, err);
}

/* A decoder of its own would say something else than the embedding. */
static int check_decoder(const struct ran_hf *f, struct ran_error *err)
{
        const size_t D = f->config.dim;
        const struct ran_hf_tensor *embedding =
                ran_hf_find(&f->weights, ran_hf_kinds[f->family].embedding);
        char name[96];
        int rc = RAN_OK;

        if (f->config.task != RAN_TASK_MLM || f->family == RAN_HF_RANNET)
                return RAN_OK;
        snprintf(name, sizeof name, "%s.weight", ran_hf_kinds[f->family].decoder);
        struct ran_hf_tensor *t = ran_hf_find(&f->weights, name);
        if (t == NULL)
                return RAN_OK;
        RAN_TRY(ran_hf_check(t, f->embedded, D, err));
        float *x = ran_new_floats(2 * D);
        for (size_t v = 0; rc == RAN_OK && v < f->V; v++) {
                rc = ran_hf_numbers(t, v * D, D, x, err);
                if (rc == RAN_OK)
                        rc = ran_hf_numbers(embedding, v * D, D, x + D, err);
                if (rc == RAN_OK && memcmp(x, x + D, D * sizeof *x) != 0)
                        rc = ran_fail(err, RAN_EFORMAT,
                                      "tensor %s differs from the embedding: a masked language "
                                      "model whose decoder is not tied to it cannot be read",
                                      t->tensor->name);
        }
        free(x);
        return rc;
}

int ran_hf_check_all(const struct ran_hf *f, const struct ran_layout *layout, struct ran_error *err)
{
        const bool positions = f->config.bert.positions && f->family != RAN_HF_RANNET;
        const size_t D = f->config.dim;

        if (positions)
                RAN_TRY(check_named(&f->weights, RAN_HF_POSITIONS, f->rows, D, err));
        if (positions && f->token_types > 0)
                RAN_TRY(check_named(&f->weights, RAN_HF_TOKEN_TYPES, f->token_types, D, err));
        for (size_t i = 0; i < layout->n; i++)
                RAN_TRY(check_spec(f, &layout->spec[i], err));
        RAN_TRY(check_decoder(f, err));
        return ran_hf_check_rest(f, err);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Rows of heads, of n numbers: from the order k, k + d_k / 2 of rotary pairs to 2k, 2k + 1. */
static void pair_rows(const struct ran_config *c, float *head, size_t n)
{
        const size_t d_k = c->head_dim;
        float *scratch = ran_new_floats(d_k * n);

        for (size_t h = 0; h < c->heads; h++, head += d_k * n) {
                memcpy(scratch, head, d_k * n * sizeof *head);
                for (size_t k = 0; k < d_k; k++)
                        memcpy(head + k * n, scratch + (k / 2 + k % 2 * (d_k / 2)) * n,
                               n * sizeof *head);
        }
        free(scratch);
}

/* x (rows, cols), read as (cols, rows). */
static void transpose(float *x, size_t rows, size_t cols)
{
        float *copy = ran_new_floats(rows * cols);

        memcpy(copy, x, rows * cols * sizeof *x);
        for (size_t r = 0; r < rows; r++)
                for (size_t c = 0; c < cols; c++)
                        x[r * cols + c] = copy[c * rows + r];
        free(copy);
}

static int fill_spec(const struct ran_hf *f, const struct ran_tensor_spec *spec, float *x,
                     struct ran_error *err)
{
        const size_t n = (spec->rows > 0 ? spec->rows : 1) * spec->cols;
        struct ran_hf_origin from;

        ran_hf_origin(f, spec, &from);
        if (from.name[0] == '\0')
                return RAN_OK;
        RAN_TRY(ran_hf_numbers(ran_hf_find(from.dense ? &f->dense : &f->weights, from.name),
                               from.part * n, n, x, err));
        if (from.transposed)
                transpose(x, spec->rows, spec->cols);
        else if (from.pairs)
                pair_rows(&f->config, x, spec->rows > 0 ? spec->cols : 1);
        return RAN_OK;
}

/* Rows from that of the first token on, each with token type 0. */
static int fill_positions(const struct ran_hf *f, float *x, struct ran_error *err)
{
        const size_t D = f->config.dim, L = f->config.bert.max_length;

        RAN_TRY(ran_hf_numbers(ran_hf_find(&f->weights, RAN_HF_POSITIONS), f->first * D, L * D, x,
                               err));
        if (f->token_types == 0)
                return RAN_OK;
        float *type = ran_new_floats(D);
        const int rc =
                ran_hf_numbers(ran_hf_find(&f->weights, RAN_HF_TOKEN_TYPES), 0, D, type, err);
        for (size_t i = 0; rc == RAN_OK && i < L * D; i++)
                x[i] += type[i % D];
        free(type);
        return rc;
}

static void fill_around(const struct ran_hf *f, const float *embed, const uint32_t *id, size_t n,
                        float *x)
{
        const size_t D = f->config.dim;

        for (size_t i = 0; i < n; i++)
                memcpy(x + i * D, embed + id[i] * D, D * sizeof *x);
}

int ran_hf_fill(const struct ran_hf *f, const struct ran_layout *layout, struct ran_params *p,
                struct ran_error *err)
{
        const struct ran_bert_once *once = p->once;

        for (size_t i = 0; i < layout->n; i++)
                RAN_TRY(fill_spec(f, &layout->spec[i], p->block + layout->spec[i].offset, err));
        if (f->family == RAN_HF_RANNET)
                return RAN_OK;
        if (once->position != NULL)
                RAN_TRY(fill_positions(f, once->position, err));
        if (once->prefix != NULL) {
                float *prompt = once->prefix + f->around.before_n * f->config.dim;

                fill_around(f, p->embed, f->around.before, f->around.before_n, once->prefix);
                fill_around(f, p->embed, f->prompt_tokens.ids, f->prompt_tokens.n, prompt);
        }
        if (once->suffix != NULL)
                fill_around(f, p->embed, f->around.after, f->around.after_n, once->suffix);
        return RAN_OK;
}
