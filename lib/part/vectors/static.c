/* static.c - the part "static": vectors of tokens that stand still in place of an encoder, those of
 * a folder (vector-folder.h) or the embedding of a model. A document's vector is the mean of its
 * rows.
 *
 * It has no layers and no tensors: its outputs are its inputs. */
#include "nn/part.h"
#include "ran/model.h"

static int check(const struct ran_config *c, struct ran_error *err)
{
        if (!c->frozen && c->task != RAN_TASK_EMBED)
                return ran_fail(err, RAN_EINVAL,
                                "the encoder 'static' is vectors of tokens that are not trained, "
                                "for the linear model: frozen must be true");
        return RAN_OK;
}

static void lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        (void)k;
        for (size_t l = 1; l <= w->c->layers; l++)
                w->x[l] = w->x[0];
}

const struct ran_part ran_part_static = {
        .encoder = RAN_ENCODER_STATIC,
        .encodes = true,
        .check = check,
        .lay_out = lay_out,
        .components = true,
};
