/* digest.c - a name for what an encoder that was trained before computes: see part.h. */
#include "nn/part.h"
#include "ran/model.h"
#include "nn/unread.h"

#include <stdlib.h>
#include <string.h>

/* Whether a setting changes the vector of a document. */
static bool matters(const struct ran_config *c, const char *name)
{
        if (strcmp(name, "cell_pooling") == 0 || strcmp(name, "min_window") == 0)
                return ran_config_uses(c, name);
        if (strcmp(name, "vector_dim") == 0)
                return c->bert.vector_dim > 0;
        return !ran_config_is_of_task(name) || strcmp(name, "pooling") == 0 ||
               strncmp(name, "dense", 5) == 0 || strcmp(name, "upper") == 0 ||
               strcmp(name, "l2_normalize") == 0;
}

static void add_settings(struct ran_sha256 *sha, const struct ran_config *c, struct ran_buf *text)
{
        for (const struct ran_field *f = ran_config_fields; f->name != NULL; f++) {
                const struct ran_field one[] = {*f, {0}};

                if (matters(c, f->name))
                        ran_fields_json(one, c, text);
        }
        ran_sha256_add(sha, text->data, text->len);
}

static void add_tensor(struct ran_sha256 *sha, const struct ran_params *p,
                       const struct ran_tensor_spec *t)
{
        const size_t n = (t->rows > 0 ? t->rows : 1) * t->cols;
        const float *at = p->block + t->offset;
        float *read = NULL;

        if (p->unread != NULL) {
                read = ran_new_floats(n);
                ran_unread_copy(p->unread, at, n, read);
        }
        ran_sha256_add(sha, read != NULL ? read : at, n * sizeof *at);
        free(read);
}

void ran_encoder_digest(char hex[65], const struct ran_config *c, const struct ran_params *p,
                        size_t V)
{
        const char *own = ran_encoder_names[c->encoder]; /* as its tensors begin: "ran." */
        const size_t n = strlen(own);
        struct ran_layout layout;
        struct ran_buf text = {0};
        struct ran_sha256 sha;

        ran_layout_init(&layout, c, 1, NULL); /* p has such a layout */
        ran_sha256_init(&sha);
        add_settings(&sha, c, &text);
        if (p->integers)
                ran_sha256_add(&sha, "integers", 8);
        for (size_t i = 0; i < layout.n; i++) {
                const struct ran_tensor_spec *t = &layout.spec[i];

                if (strncmp(t->name, own, n) == 0 && t->name[n] == '.')
                        add_tensor(&sha, p, t);
        }
        float *row = ran_new_floats(c->dim);
        for (size_t id = 0; id < V; id++) {
                ran_embed_row(p, id, c->dim, row);
                ran_sha256_add(&sha, row, c->dim * sizeof *row);
        }
        free(row);
        if (p->spelling != NULL)
                ran_sha256_add(&sha, p->spelling, ran_encoder_spelling(c) * c->dim * sizeof(float));
        ran_sha256_hex(&sha, hex);
        ran_buf_release(&text);
        ran_layout_release(&layout);
}
