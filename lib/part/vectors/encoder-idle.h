/* encoder-idle.h - what encoders without layers and tensors share: encoder-none.c,
 * encoder-static.c. */
#ifndef RAN_MODEL_ENCODER_IDLE_H
#define RAN_MODEL_ENCODER_IDLE_H

#include "nn/encoder.h"

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

/* The rest of their struct ran_encoder. */
#define RAN_ENCODER_IDLE                                                                     \
        .uses = uses, .layer_tensors = layer_tensors, .init = init, .release = release,      \
        .prepare = init, .forward = forward, .backward = backward, .documents = forward,     \
        .documents_bwd = backward, .state_width = state_width, .state_tokens = state_tokens, \
        .probe_shape = probe_shape, .path = path, .flops = flops

#endif
