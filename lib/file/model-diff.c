/* model-diff.c - describes the differences between two model files. */
#include "file/model.h"
#include "ran/model.h"

#include <string.h>

/* ---- tensors -------------------------------------------------------------------------------- */

static void add_float(struct ran_buf *what, const unsigned char *p)
{
        uint32_t bits =
                (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        float x;

        memcpy(&x, &bits, sizeof x);
        ran_buf_float(what, x);
}

/* "tensor x: 3 of its 12 elements differ, the first is number 4: 0.5 and 0.25"; false if none do.
 */
static bool differ_within(const struct ran_tensor *t, const unsigned char *x,
                          const unsigned char *y, struct ran_buf *what)
{
        size_t n = t->end - t->begin, width = ran_dtype_bytes(t->dtype), differ = 0, first = 0;

        for (size_t i = 0; i < n; i += width)
                if (memcmp(x + i, y + i, width) != 0 && differ++ == 0)
                        first = i;
        if (differ == 0)
                return false;
        ran_buf_printf(what, "tensor %s: %zu of its %zu elements differ, the first is number %zu",
                       t->name, differ, n / width, first / width + 1);
        if (t->dtype == RAN_DTYPE_F32) {
                ran_buf_str(what, ": ");
                add_float(what, x + first);
                ran_buf_str(what, " and ");
                add_float(what, y + first);
        }
        return true;
}

static bool tensors_differ(const struct ran_model *a, const struct ran_model *b,
                           struct ran_buf *what)
{
        for (size_t i = 0; i < a->tensors.n; i++) {
                const struct ran_tensor *x = &a->tensors.tensor[i];
                const struct ran_tensor *y = ran_tensors_find(&b->tensors, x->name);

                if (y == NULL || x->dtype != y->dtype || x->rank != y->rank ||
                    memcmp(x->shape, y->shape, x->rank * sizeof *x->shape) != 0) {
                        ran_buf_printf(what,
                                       y == NULL ? "tensor %s is only in one of them"
                                                 : "tensor %s has another shape",
                                       x->name);
                        return true;
                }
                if (differ_within(x, a->tensors.data + x->begin, b->tensors.data + y->begin, what))
                        return true;
        }
        return false;
}

/* ---- metadata ------------------------------------------------------------------------------- */

enum { BEFORE = 30, EXCERPT = 60 };

static void add_excerpt(struct ran_buf *what, const struct ran_metadata *m, size_t from)
{
        size_t n = m->text_n - from;

        ran_buf_add(what, m->text + from, n < EXCERPT ? n : EXCERPT);
}

static bool metadata_differ(const struct ran_model *a, const struct ran_model *b,
                            struct ran_buf *what)
{
        for (size_t i = 0; i < a->tensors.metadata_n; i++) {
                const struct ran_metadata *x = &a->tensors.metadata[i];
                const struct ran_metadata *y = ran_tensors_metadata(&b->tensors, x->key);
                size_t at = 0;

                if (y == NULL) {
                        ran_buf_printf(what, "the metadata \"%s\" are only in one of them", x->key);
                        return true;
                }
                while (at < x->text_n && at < y->text_n && x->text[at] == y->text[at])
                        at++;
                if (at == x->text_n && at == y->text_n)
                        continue;
                ran_buf_printf(what, "the metadata \"%s\" differ: ", x->key);
                at -= at < BEFORE ? at : BEFORE;
                add_excerpt(what, x, at);
                ran_buf_str(what, " and ");
                add_excerpt(what, y, at);
                return true;
        }
        return false;
}

bool ran_model_same(const struct ran_model *a, const struct ran_model *b, struct ran_buf *what)
{
        ran_model_metadata(a, "digest"); /* those of models in memory may be open */
        ran_model_metadata(b, "digest");
        if (a->file.size == b->file.size && memcmp(a->file.data, b->file.data, a->file.size) == 0)
                return true;
        /* Run both ways, to find what only the other model has. */
        if (!tensors_differ(a, b, what) && !tensors_differ(b, a, what) &&
            !metadata_differ(a, b, what) && !metadata_differ(b, a, what))
                ran_buf_str(what, "the header is written in another way");
        return false;
}
