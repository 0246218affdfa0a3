/* pretrained.c - see pretrained.h. */
#include "train/pretrained.h"
#include "ran/train.h"

#include <stdlib.h>
#include <string.h>

/* ---- tensors --------------------------------------------------------------------------------- */

bool ran_pretrained_is_of_head(const char *tensor)
{
        static const char *const heads[] = {"classify.", "wide.", "tag.", "crf.", "lm."};

        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
                if (strncmp(tensor, heads[i], strlen(heads[i])) == 0)
                        return true;
        return false;
}

/* Whether it belongs to what stands above a pretrained encoder. */
static bool is_of_upper(const struct ran_trainer *t, const char *tensor)
{
        return ran_config_has_upper(t->c) && strncmp(tensor, "bert.", 5) != 0 &&
               strcmp(tensor, "embed.weight") != 0;
}

/* Tensors outside the layers that are below all of them. */
static bool is_of_rows(const char *tensor)
{
        static const char *const names[] = {"embed.",          "spelling.",      "bert.prefix.",
                                            "bert.suffix.",    "bert.position.", "bert.relative.",
                                            "bert.embed_norm."};

        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (strncmp(tensor, names[i], strlen(names[i])) == 0)
                        return true;
        return false;
}

/* How many layers of the model are above the layer of a tensor `PREFIX.LAYER.NAME`; tensors outside
 * the layers are above all of them, but the embedding is below. */
static size_t layers_above(const struct ran_trainer *t, const char *tensor)
{
        const char *dot = strchr(tensor, '.');
        size_t layer = 0, digits = 0;

        if (strcmp(tensor, "embed.weight") == 0 || strcmp(tensor, "spelling.weight") == 0)
                return t->c->layers;
        if (is_of_upper(t, tensor))
                return 0;
        for (; dot != NULL && dot[1 + digits] >= '0' && dot[1 + digits] <= '9'; digits++)
                layer = 10 * layer + (size_t)(dot[1 + digits] - '0');
        return digits > 0 && layer < t->c->layers ? t->c->layers - 1 - layer : 0;
}

bool ran_pretrained_stays(const struct ran_trainer *t, const char *tensor)
{
        const size_t below = ran_train_below(t->s, t->c);

        if (below == 0 || ran_pretrained_is_of_head(tensor) || is_of_upper(t, tensor))
                return false;
        return below == t->c->layers || is_of_rows(tensor) ||
               layers_above(t, tensor) >= t->s->tune_layers;
}

double ran_pretrained_rate(const struct ran_trainer *t, const char *tensor)
{
        double rate = ran_pretrained_stays(t, tensor) ? 0 : t->s->init_rate;

        for (size_t i = layers_above(t, tensor); i > 0; i--)
                rate *= t->s->layer_decay;
        return rate;
}

/* ---- the encoder ----------------------------------------------------------------------------- */

static float *kept(float **at, size_t n, struct ran_error *err)
{
        if (*at == NULL)
                *at = ran_alloc_floats(n, err);
        return *at;
}

int ran_pretrained_allocate(struct ran_trainer *t, struct ran_error *err)
{
        return kept(&t->weights.kept_block, t->weights.layout.size, err) != NULL &&
                               kept(&t->weights.kept_table, t->V * t->D, err) != NULL
                       ? RAN_OK
                       : RAN_ENOMEM;
}

void ran_pretrained_apply(struct ran_trainer *t)
{
        const double of_rows = ran_pretrained_rate(t, "embed.weight");

        if (t->at.pretrained.done == 0 || t->weights.kept_block == NULL)
                return;
        for (size_t i = 0; i < t->weights.layout.n; i++) {
                const struct ran_tensor_spec *s = &t->weights.layout.spec[i];

                if (ran_pretrained_is_of_head(s->name))
                        continue;
                memcpy(t->weights.p.block + s->offset, t->weights.kept_block + s->offset,
                       (s->rows > 0 ? s->rows : 1) * s->cols * sizeof(float));
                t->loop.optimiser.rate_scale[i] = (float)ran_pretrained_rate(t, s->name);
        }
        memcpy(t->weights.table.x, t->weights.kept_table, t->V * t->D * sizeof(float));
        for (size_t id = 0; id < t->V; id++)
                if (t->loop.optimiser.table.rate_scale[id] != 0) /* not frozen */
                        t->loop.optimiser.table.rate_scale[id] = (float)of_rows;
}

void ran_pretrained_release(struct ran_trainer *t)
{
        free(t->weights.kept_block);
        free(t->weights.kept_table);
}

/* ---- descriptions ---------------------------------------------------------------------------- */

void ran_pretrained_describe_texts(const struct ran_train_job *job, struct ran_buf *out)
{
        const struct ran_train_texts *texts = job->texts;

        if (texts == NULL)
                return;
        ran_buf_printf(out, ",\"pretrain\":{\"documents\":%zu,\"tokens\":%zu,\"digest\":\"%s\"}",
                       texts->train->B, texts->train->first[texts->train->B], texts->train->digest);
}

static void add_number(struct ran_buf *out, const char *name, double x)
{
        ran_buf_printf(out, "\"%s\":", name);
        ran_buf_double(out, x);
}

void ran_pretrained_describe(const struct ran_trainer *t, struct ran_buf *out)
{
        const struct ran_state_pretrained *p = &t->at.pretrained;

        if (p->done == 0)
                return;
        ran_buf_printf(out, ",\"pretrained\":{\"epochs\":%.0f,\"best_epoch\":%.0f,\"steps\":%.0f,",
                       p->epochs, p->best_epoch, p->steps);
        if (p->before > 0) {
                add_number(out, "loss_before", p->before);
                ran_buf_char(out, ',');
        }
        add_number(out, "loss", p->after);
        if (p->limit > 0 || p->last > 0)
                ran_buf_printf(out, ",\"time_limit\":{\"from\":%.0f,\"steps\":%.0f,\"last\":%.0f}",
                               p->limit_from, p->limit, p->last);
        ran_buf_char(out, '}');
}
