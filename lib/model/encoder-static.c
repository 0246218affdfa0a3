/* encoder-static.c - no encoder but vectors of tokens that stand still: those of a folder
 * (vector-folder.h). A document's vector is the mean of its rows, a feature of the linear model.
 *
 * It has an embedding, and no layers and no tensors: its outputs are its inputs. */
#include "model/encoder.h"
#include "ran/model.h"

static int check(const struct ran_config *c, struct ran_error *err)
{
        if (!c->frozen)
                return ran_fail(err, RAN_EINVAL,
                                "the encoder 'static' is vectors of tokens that are not trained, "
                                "for the linear model: frozen must be true");
        return RAN_OK;
}

static bool uses(const struct ran_config *c, const char *field)
{
        (void)c, (void)field;
        return false;
}

static void layer_tensors(struct ran_tensor_walk *k, void *layer, const struct ran_config *c,
                          size_t l)
{
        (void)k, (void)layer, (void)c, (void)l;
}

static int init(struct ran_workspace *w, struct ran_error *err)
{
        (void)w, (void)err;
        return RAN_OK;
}

static void release(struct ran_workspace *w)
{
        (void)w;
}

static void lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        (void)k;
        for (size_t l = 1; l <= w->c->layers; l++)
                w->x[l] = w->x[0];
}

static void forward(struct ran_workspace *w, const struct ran_params *p)
{
        (void)w, (void)p;
}

static void backward(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        (void)w, (void)p, (void)dp;
}

static size_t state_width(const struct ran_config *c)
{
        (void)c;
        return 0;
}

static size_t state_tokens(const struct ran_config *c)
{
        (void)c;
        return 1;
}

/* Nothing attends to anything. */
static void probe_shape(const struct ran_config *c, struct ran_probe_shape *shape)
{
        (void)c;
        shape->layers = 0;
}

static void path(const float *x, size_t D, double u, double *scale, double *speed)
{
        (void)x, (void)D;
        *scale = u;
        *speed = 1;
}

static int flops(const struct ran_config *c, size_t L, size_t sources, double *flops,
                 struct ran_error *err)
{
        (void)c, (void)L, (void)sources, (void)err;
        *flops = 0;
        return RAN_OK;
}

const struct ran_encoder ran_encoder_static = {
        .per_token = true,
        .check = check,
        .uses = uses,
        .layer_tensors = layer_tensors,
        .init = init,
        .release = release,
        .prepare = init,
        .lay_out = lay_out,
        .forward = forward,
        .backward = backward,
        .documents = forward,
        .documents_bwd = backward,
        .state_width = state_width,
        .state_tokens = state_tokens,
        .probe_shape = probe_shape,
        .path = path,
        .flops = flops,
};
