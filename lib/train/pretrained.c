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
        for (; dot != NULL && dot[1 + digits] >= '0' && dot[1 + digits] <= '9'; digits++)
                layer = 10 * layer + (size_t)(dot[1 + digits] - '0');
        return digits > 0 && layer < t->c->layers ? t->c->layers - 1 - layer : 0;
}

bool ran_pretrained_stays(const struct ran_trainer *t, const char *tensor)
{
        const size_t below = ran_train_below(t->s, t->c);

        if (below == 0 || ran_pretrained_is_of_head(tensor))
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
