/* params.c - the tensors of a model, and their initial values: see params.h. */
#include "nn/params.h"
#include "nn/part.h"
#include "math/elementary.h"
#include "ran/model.h"
#include "ran/math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

float *ran_tensor_walk_take(struct ran_tensor_walk *k, const char *name, size_t rows, size_t cols,
                            enum ran_init init)
{
        size_t offset = k->at, n;

        if (k->rc != RAN_OK)
                return NULL;
        if (__builtin_mul_overflow(rows > 0 ? rows : 1, cols, &n) ||
            __builtin_add_overflow(k->at, n, &k->at) || k->at > SIZE_MAX / sizeof(float)) {
                ran_fail(k->err, RAN_EINVAL,
                         "a model of this configuration is larger than memory "
                         "can address (tensor %s)",
                         name);
                k->rc = RAN_EINVAL;
                return NULL;
        }
        if (k->layout != NULL) {
                struct ran_layout *l = k->layout;

                RAN_ROOM(l->spec, l->cap, l->n + 1);
                struct ran_tensor_spec *spec = &l->spec[l->n++];
                *spec = (struct ran_tensor_spec){
                        .rows = rows, .cols = cols, .offset = offset, .init = init};
                spec->paneled = k->prefix != NULL && k->paneled;
                if (k->prefix != NULL)
                        snprintf(spec->name, sizeof spec->name, "%s.%zu.%s", k->prefix, k->layer,
                                 name);
                else
                        snprintf(spec->name, sizeof spec->name, "%s", name);
        }
        return k->block != NULL ? k->block + offset : NULL;
}

/* All tensors of a configuration, in the order of the block. */
static void walk_all(struct ran_tensor_walk *k, struct ran_params *p, const struct ran_config *c,
                     size_t C)
{
        const struct ran_part_list parts = ran_parts_of(c);

        for (size_t i = 0; i < parts.n; i++) {
                const struct ran_part *part = parts.part[i];

                k->prefix = ran_encoder_names[c->encoder];
                k->paneled = part->paneled;
                for (k->layer = 0; k->layer < c->layers && part->layer_size > 0; k->layer++)
                        part->layer_tensors(k, (char *)p->layers + k->layer * part->layer_size, c);
                k->prefix = NULL;
                if (part->once_size > 0)
                        part->once_tensors(k, p->once, c);
                if (part->tensors != NULL)
                        part->tensors(k, p, c, C);
        }
}

void ran_params_none(struct ran_params *p, const struct ran_config *c)
{
        const struct ran_part_list parts = ran_parts_of(c);

        *p = (struct ran_params){0};
        for (size_t i = 0; i < parts.n; i++)
                if (parts.part[i]->params_size > 0)
                        p->own[parts.number[i]] = ran_new(1, parts.part[i]->params_size);
        if (parts.encoder != NULL && parts.encoder->layer_size > 0)
                p->layers = ran_new(c->layers, parts.encoder->layer_size);
        if (parts.encoder != NULL && parts.encoder->once_size > 0)
                p->once = ran_new(1, parts.encoder->once_size);
}

size_t ran_params_mapped_tables(struct ran_mapped_table mapped[RAN_MAPPED_TABLES],
                                struct ran_params *p, const struct ran_config *c, size_t V,
                                size_t C, size_t rows)
{
        const struct ran_part_list parts = ran_parts_of(c);
        const size_t spelling = ran_encoder_spelling(c), D = c->dim;
        size_t n = 0;

        if (parts.encoder != NULL)
                mapped[n++] = (struct ran_mapped_table){"embed.weight", V, D, &p->embed, false};
        if (spelling > 0)
                mapped[n++] = (struct ran_mapped_table){"spelling.weight", spelling, D,
                                                        &p->spelling, false};
        for (size_t i = 0; i < parts.n; i++)
                if (parts.part[i]->tables != NULL)
                        n += parts.part[i]->tables(mapped + n, p, c, V, C, rows);
        return n;
}

bool ran_table_shape(struct ran_table *table, const struct ran_config *c, size_t V)
{
        size_t all;

        *table = (struct ran_table){0};
        if (!ran_config_has_encoder(c))
                return true;
        *table = (struct ran_table){NULL, V + ran_encoder_spelling(c), c->dim};
        return table->rows >= V && !__builtin_mul_overflow(table->rows, c->dim, &all) &&
               all <= SIZE_MAX / sizeof(float);
}

int ran_layout_init(struct ran_layout *l, const struct ran_config *c, size_t C,
                    struct ran_error *err)
{
        struct ran_tensor_walk w = {.layout = l, .err = err};
        struct ran_params p;

        *l = (struct ran_layout){0};
        ran_params_none(&p, c);
        walk_all(&w, &p, c, C);
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

int ran_params_fill(struct ran_params *p, const struct ran_config *c, size_t C,
                    struct ran_error *err)
{
        struct ran_tensor_walk sizes = {.err = err}, w = {.err = err};

        walk_all(&sizes, p, c, C);
        RAN_TRY(sizes.rc);
        w.block = p->block = ran_alloc_floats(sizes.at, err);
        if (p->block == NULL)
                return RAN_ENOMEM;
        walk_all(&w, p, c, C);
        return RAN_OK;
}

int ran_params_init(struct ran_params *p, const struct ran_config *c, size_t C,
                    struct ran_error *err)
{
        ran_params_none(p, c);
        const int rc = ran_params_fill(p, c, C, err);
        if (rc != RAN_OK)
                ran_params_release(p);
        return rc;
}

void ran_params_release(struct ran_params *p)
{
        free(p->block);
        free(p->layers);
        free(p->once);
        for (int i = 0; i < RAN_PARTS_MOST; i++)
                free(p->own[i]);
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
        const size_t n = (spec->rows > 0 ? spec->rows : 1) * spec->cols;
        const uint64_t key = ran_random_key(seed, RAN_FOR_INIT, 0, hash(spec->name));
        const double glorot = sqrt(2.0 / (double)(spec->rows + spec->cols));
        const double deviation[] = {[RAN_INIT_NORMAL] = 1,
                                    [RAN_INIT_GLOROT] = glorot,
                                    [RAN_INIT_QUARTER] = 0.25 * glorot};

        for (size_t i = 0; i < n; i++)
                if (spec->init <= RAN_INIT_ONE)
                        x[i] = spec->init == RAN_INIT_ONE ? 1.0f : 0.0f;
                else if (spec->init == RAN_INIT_UNIFORM)
                        x[i] = (float)(0.1 * ran_random_uniform(key, i) - 0.05);
                else
                        x[i] = (float)(deviation[spec->init] * normal(key, i));
}

/* ---- the output of language models ----------------------------------------------------------- */

size_t ran_lm_first(const struct ran_config *c, size_t V)
{
        return c->lm.shortlist > 0 && c->lm.shortlist < V ? c->lm.shortlist : V;
}

size_t ran_lm_tails(const struct ran_config *c, size_t V)
{
        size_t tails = 0;

        for (size_t from = ran_lm_first(c, V); from < V; tails++)
                from = from > V / 4 ? V : 4 * from;
        return tails;
}

struct ran_lm_group ran_lm_tail(const struct ran_config *c, size_t V, size_t k)
{
        size_t from = c->lm.shortlist << 2 * k;

        return (struct ran_lm_group){from, from > V / 4 ? V : 4 * from};
}

size_t ran_lm_widest(const struct ran_config *c, size_t V)
{
        size_t widest = 0;

        for (size_t k = 0; k < ran_lm_tails(c, V); k++) {
                struct ran_lm_group g = ran_lm_tail(c, V, k);

                widest = g.end - g.from > widest ? g.end - g.from : widest;
        }
        return widest;
}
