/* params.c - places of the tensors in a block of floats. See params.h. */
#include "model/params.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Walks over all tensors in order: notes them in a layout, or hands out pointers into a block. */
struct walk {
        struct ran_layout *layout; /* NULL: only point */
        float *block;              /* NULL: only note */
        size_t at;
        struct ran_error *err;
        bool failed;
};

static float *take(struct walk *w, size_t layer, bool in_layer, const char *name, size_t rows,
                   size_t cols, enum ran_start start)
{
        size_t offset = w->at, n;

        if (w->failed)
                return NULL;
        if (__builtin_mul_overflow(rows > 0 ? rows : 1, cols, &n) ||
            __builtin_add_overflow(w->at, n, &w->at) || w->at > SIZE_MAX / sizeof(float)) {
                ran_fail(w->err, RAN_EINVAL,
                         "a model of this configuration is larger than memory "
                         "can address (tensor %s)",
                         name);
                w->failed = true;
                return NULL;
        }
        if (w->layout != NULL) {
                struct ran_layout *l = w->layout;
                struct ran_tensor_spec *spec =
                        ran_grow(l->spec, &l->cap, l->n + 1, sizeof *spec, w->err);

                if (spec == NULL) {
                        w->failed = true;
                        return NULL;
                }
                l->spec = spec;
                spec += l->n++;
                *spec = (struct ran_tensor_spec){
                        .rows = rows, .cols = cols, .offset = offset, .start = start};
                if (in_layer)
                        snprintf(spec->name, sizeof spec->name, "ran.%zu.%s", layer, name);
                else
                        snprintf(spec->name, sizeof spec->name, "%s", name);
        }
        return w->block != NULL ? w->block + offset : NULL;
}

static void walk_layer(struct walk *w, struct ran_layer_params *p, const struct ran_config *c,
                       size_t l)
{
        const size_t D = c->dim, E = c->heads * c->head_dim;
        const bool gated = c->cell == RAN_CELL_GATED;

#define X(field, name, rows, cols, start, when) \
        p->field = (when) ? take(w, l, true, name, rows, cols, RAN_START_##start) : NULL;
        RAN_LAYER_PARAMS(X)
#undef X
}

static void walk_head(struct walk *w, struct ran_head_params *p, const struct ran_config *c,
                      size_t C)
{
        const size_t D = c->dim;
        const bool gated = c->cell == RAN_CELL_GATED;
        const bool classify = c->task == RAN_TASK_CLASSIFY, tag = c->task == RAN_TASK_TAG;
        const bool lm = ran_is_tied(c);

#define X(field, name, rows, cols, start, when) \
        p->field = (when) ? take(w, 0, false, name, rows, cols, RAN_START_##start) : NULL;
        RAN_HEAD_PARAMS(X)
#undef X
}

int ran_layout_init(struct ran_layout *l, const struct ran_config *c, size_t C,
                    struct ran_error *err)
{
        struct walk w = {.layout = l, .err = err};
        struct ran_layer_params layer;
        struct ran_head_params head;

        *l = (struct ran_layout){0};
        for (size_t i = 0; i < c->layers; i++)
                walk_layer(&w, &layer, c, i);
        walk_head(&w, &head, c, C);
        l->size = w.at;
        if (w.failed)
                ran_layout_release(l);
        return w.failed ? RAN_EINVAL : RAN_OK;
}

void ran_layout_release(struct ran_layout *l)
{
        free(l->spec);
        *l = (struct ran_layout){0};
}

int ran_params_init(struct ran_params *p, const struct ran_config *c, size_t C,
                    struct ran_error *err)
{
        struct ran_layout layout;
        struct walk w = {.err = err};

        *p = (struct ran_params){0};
        if (ran_layout_init(&layout, c, C, err) != RAN_OK)
                return RAN_EINVAL;
        w.block = p->block = ran_alloc_floats(layout.size, err);
        p->layer = ran_alloc(c->layers, sizeof *p->layer, err);
        ran_layout_release(&layout);
        if (p->block == NULL || p->layer == NULL) {
                ran_params_release(p);
                return RAN_ENOMEM;
        }
        for (size_t i = 0; i < c->layers; i++)
                walk_layer(&w, &p->layer[i], c, i);
        walk_head(&w, &p->head, c, C);
        return RAN_OK;
}

void ran_params_release(struct ran_params *p)
{
        free(p->block);
        free(p->layer);
        *p = (struct ran_params){0};
}

/* Box and Muller, one number a position. */
static double normal(uint64_t key, uint64_t i)
{
        double u = 1.0 - ran_uniform(key, 2 * i), v = ran_uniform(key, 2 * i + 1);

        return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

static uint64_t hash(const char *s)
{
        uint64_t h = 14695981039346656037u;

        for (; *s != '\0'; s++)
                h = (h ^ (unsigned char)*s) * 1099511628211u;
        return h;
}

void ran_tensor_start(float *x, const struct ran_tensor_spec *spec, uint64_t seed)
{
        size_t n = (spec->rows > 0 ? spec->rows : 1) * spec->cols;
        uint64_t key = ran_key(seed, RAN_FOR_INIT, 0, hash(spec->name));
        double deviation = sqrt(2.0 / (double)(spec->rows + spec->cols));

        for (size_t i = 0; i < n; i++)
                switch (spec->start) {
                case RAN_START_ZERO:
                        x[i] = 0.0f;
                        break;
                case RAN_START_ONE:
                        x[i] = 1.0f;
                        break;
                case RAN_START_NORMAL:
                        x[i] = (float)normal(key, i);
                        break;
                case RAN_START_GLOROT:
                        x[i] = (float)(deviation * normal(key, i));
                        break;
                case RAN_START_QUARTER:
                        x[i] = (float)(0.25 * deviation * normal(key, i));
                        break;
                case RAN_START_UNIFORM:
                        x[i] = (float)(0.1 * ran_uniform(key, i) - 0.05);
                        break;
                }
}
