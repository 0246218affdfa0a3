/* params.c - places of the tensors in a block of floats. See params.h. */
#include "model/params.h"
#include "math/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Walks over all tensors in order: notes them in a layout, or hands out pointers into a block. */
struct walk {
        struct ran_layout *layout; /* NULL: only point */
        float *block;              /* NULL: only note */
        size_t at;
        struct ran_error *err;
        int rc; /* of the first failure */
};

/* prefix: what stands before the number of a layer in its tensors' names; NULL: in no layer. */
static float *take(struct walk *w, const char *prefix, size_t layer, const char *name, size_t rows,
                   size_t cols, enum ran_init start)
{
        size_t offset = w->at, n;

        if (w->rc != RAN_OK)
                return NULL;
        if (__builtin_mul_overflow(rows > 0 ? rows : 1, cols, &n) ||
            __builtin_add_overflow(w->at, n, &w->at) || w->at > SIZE_MAX / sizeof(float)) {
                ran_fail(w->err, RAN_EINVAL,
                         "a model of this configuration is larger than memory "
                         "can address (tensor %s)",
                         name);
                w->rc = RAN_EINVAL;
                return NULL;
        }
        if (w->layout != NULL) {
                struct ran_layout *l = w->layout;
                struct ran_tensor_spec *spec =
                        ran_grow(l->spec, &l->cap, l->n + 1, sizeof *spec, w->err);

                if (spec == NULL) {
                        w->rc = RAN_ENOMEM;
                        return NULL;
                }
                l->spec = spec;
                spec += l->n++;
                *spec = (struct ran_tensor_spec){
                        .rows = rows, .cols = cols, .offset = offset, .start = start};
                if (prefix != NULL)
                        snprintf(spec->name, sizeof spec->name, "%s.%zu.%s", prefix, layer, name);
                else
                        snprintf(spec->name, sizeof spec->name, "%s", name);
        }
        return w->block != NULL ? w->block + offset : NULL;
}

#define IN_SCOPE                                                                   \
        const size_t D = c->dim, E = c->heads * c->head_dim;                       \
        const size_t u = c->rank, f = c->ffn_dim;                                  \
        const bool gated = c->cell == RAN_CELL_GATED, lm = ran_is_tied(c);         \
        const bool classify = c->task == RAN_TASK_CLASSIFY;                        \
        const bool tag = c->task == RAN_TASK_TAG;                                  \
        const bool ran = c->encoder == RAN_ENCODER_RAN;                            \
        const bool contextualizer = c->encoder == RAN_ENCODER_CONTEXTUALIZER;      \
        const bool transformer = c->encoder == RAN_ENCODER_TRANSFORMER;            \
        (void)D, (void)E, (void)u, (void)f, (void)gated, (void)lm, (void)classify; \
        (void)tag, (void)ran, (void)contextualizer, (void)transformer

#define TAKE(field, name, rows, cols, start, when) \
        p->field = (when) ? take(w, prefix, l, name, rows, cols, RAN_INIT_##start) : NULL;

static void walk_layer(struct walk *w, struct ran_layer_params *p, const struct ran_config *c,
                       size_t l)
{
        const char *prefix = "ran";

        IN_SCOPE;
        RAN_LAYER_PARAMS(TAKE)
}

static void walk_step(struct walk *w, struct ran_contextualizer_params *p,
                      const struct ran_config *c, size_t l)
{
        const char *prefix = "contextualizer";

        IN_SCOPE;
        RAN_CONTEXTUALIZER_PARAMS(TAKE)
}

static void walk_block(struct walk *w, struct ran_transformer_params *p, const struct ran_config *c,
                       size_t l)
{
        const char *prefix = "transformer";

        IN_SCOPE;
        RAN_TRANSFORMER_PARAMS(TAKE)
}

static void walk_encoder(struct walk *w, struct ran_encoder_params *p, const struct ran_config *c)
{
        const char *prefix = NULL;
        const size_t l = 0;

        IN_SCOPE;
        RAN_ENCODER_PARAMS(TAKE)
}

static void walk_head(struct walk *w, struct ran_head_params *p, const struct ran_config *c,
                      size_t C)
{
        const char *prefix = NULL;
        const size_t l = 0;

        IN_SCOPE;
        RAN_HEAD_PARAMS(TAKE)
}

/* All tensors of a configuration, in the order of the block. */
static void walk(struct walk *w, struct ran_params *p, const struct ran_config *c, size_t C)
{
        for (size_t l = 0; l < c->layers; l++) {
                if (p->layer != NULL)
                        walk_layer(w, &p->layer[l], c, l);
                if (p->step != NULL)
                        walk_step(w, &p->step[l], c, l);
                if (p->blocks != NULL)
                        walk_block(w, &p->blocks[l], c, l);
        }
        walk_encoder(w, &p->encoder, c);
        walk_head(w, &p->head, c, C);
}

static int make_layers(struct ran_params *p, const struct ran_config *c, struct ran_error *err)
{
        *p = (struct ran_params){0};
        switch (c->encoder) {
        case RAN_ENCODER_CONTEXTUALIZER:
                p->step = ran_alloc(c->layers, sizeof *p->step, err);
                break;
        case RAN_ENCODER_TRANSFORMER:
                p->blocks = ran_alloc(c->layers, sizeof *p->blocks, err);
                break;
        default:
                p->layer = ran_alloc(c->layers, sizeof *p->layer, err);
        }
        return p->step != NULL || p->blocks != NULL || p->layer != NULL ? RAN_OK : RAN_ENOMEM;
}

size_t ran_params_mapped_tables(struct ran_mapped_table mapped[RAN_MAPPED_TABLES],
                                struct ran_params *p, const struct ran_config *c, size_t V,
                                size_t C)
{
        size_t n = 0;

        mapped[n++] = (struct ran_mapped_table){"embed.weight", V, c->dim, &p->embed};
        if (c->spelling > 0)
                mapped[n++] = (struct ran_mapped_table){"spelling.weight", c->spelling, c->dim,
                                                        &p->spelling};
        if (c->wide > 0) {
                mapped[n++] = (struct ran_mapped_table){"wide.weight", c->wide, C, &p->wide};
                if (ran_has_linear_model(c))
                        mapped[n++] = (struct ran_mapped_table){"wide.idf", 0, c->wide, &p->idf};
        }
        return n;
}

bool ran_table_shape(struct ran_table *table, const struct ran_config *c, size_t V)
{
        size_t all;

        *table = (struct ran_table){NULL, V + c->spelling, c->dim};
        return table->rows >= V && !__builtin_mul_overflow(table->rows, c->dim, &all) &&
               all <= SIZE_MAX / sizeof(float);
}

int ran_params_none(struct ran_params *p, const struct ran_config *c, struct ran_error *err)
{
        return make_layers(p, c, err);
}

int ran_layout_init(struct ran_layout *l, const struct ran_config *c, size_t C,
                    struct ran_error *err)
{
        struct walk w = {.layout = l, .err = err};
        struct ran_params p;

        *l = (struct ran_layout){0};
        if (make_layers(&p, c, err) != RAN_OK)
                return RAN_ENOMEM;
        walk(&w, &p, c, C);
        ran_params_release(&p);
        l->size = w.at;
        if (w.rc != RAN_OK)
                ran_layout_release(l);
        return w.rc;
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
        int rc = ran_layout_init(&layout, c, C, err);
        if (rc != RAN_OK)
                return rc;
        if (make_layers(p, c, err) == RAN_OK)
                w.block = p->block = ran_alloc_floats(layout.size, err);
        ran_layout_release(&layout);
        if (p->block == NULL) {
                ran_params_release(p);
                return RAN_ENOMEM;
        }
        walk(&w, p, c, C);
        return RAN_OK;
}

void ran_params_release(struct ran_params *p)
{
        free(p->block);
        free(p->layer);
        free(p->step);
        free(p->blocks);
        *p = (struct ran_params){0};
}

/* Box and Muller, one number a position. */
static double normal(uint64_t key, uint64_t i)
{
        double u = 1.0 - ran_random_uniform(key, 2 * i), v = ran_random_uniform(key, 2 * i + 1);

        return sqrt(-2.0 * ran_log(u)) * ran_cos(6.283185307179586 * v);
}

static uint64_t hash(const char *s)
{
        uint64_t h = 14695981039346656037u;

        for (; *s != '\0'; s++)
                h = (h ^ (unsigned char)*s) * 1099511628211u;
        return h;
}

void ran_tensor_init(float *x, const struct ran_tensor_spec *spec, uint64_t seed)
{
        size_t n = (spec->rows > 0 ? spec->rows : 1) * spec->cols;
        uint64_t key = ran_random_key(seed, RAN_FOR_INIT, 0, hash(spec->name));
        double deviation = sqrt(2.0 / (double)(spec->rows + spec->cols));

        for (size_t i = 0; i < n; i++)
                switch (spec->start) {
                case RAN_INIT_ZERO:
                        x[i] = 0.0f;
                        break;
                case RAN_INIT_ONE:
                        x[i] = 1.0f;
                        break;
                case RAN_INIT_NORMAL:
                        x[i] = (float)normal(key, i);
                        break;
                case RAN_INIT_GLOROT:
                        x[i] = (float)(deviation * normal(key, i));
                        break;
                case RAN_INIT_QUARTER:
                        x[i] = (float)(0.25 * deviation * normal(key, i));
                        break;
                case RAN_INIT_UNIFORM:
                        x[i] = (float)(0.1 * ran_random_uniform(key, i) - 0.05);
                        break;
                }
}
