/* encoder-static.c - no encoder but vectors of tokens that stand still: those of a folder
 * (vector-folder.h), or the embedding of a model. A document's vector is the mean of its rows, a
 * feature of the linear model.
 *
 * It has an embedding, and no layers and no tensors: its outputs are its inputs. */
#include "part/vectors/encoder-idle.h"
#include "ran/model.h"

static int check(const struct ran_config *c, struct ran_error *err)
{
        if (!c->frozen)
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

const struct ran_encoder ran_encoder_static = {
        .per_token = true,
        .check = check,
        .lay_out = lay_out,
        RAN_ENCODER_IDLE,
};
