/* rows.c - what an upper part reads: outputs of tokens or vectors of windows, computed by the
 * encoder, or known. See upper.h. */
#include "math/simd.h"
#include "nn/encoder.h"
#include "nn/part.h"
#include "part/upper/row-store.h"
#include "part/upper/upper.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

/* Reads a document whose rows are not known: a workspace that only scores, without an upper part.
 */
struct ran_upper_reader {
        struct ran_config c;
        struct ran_workspace work;
        struct ran_packed packed;
};

void ran_upper_reader_free(struct ran_upper_reader *r)
{
        if (r == NULL)
                return;
        ran_workspace_release(&r->work);
        ran_packed_release(&r->packed);
        free(r);
}

static struct ran_upper_reader *new_reader(const struct ran_workspace *w, struct ran_error *err)
{
        struct ran_upper_reader *r = ran_alloc(1, sizeof *r, err);

        if (r == NULL)
                return NULL;
        r->c = *w->c;
        r->c.wide = 0;
        r->c.frozen = false;
        r->c.upper = RAN_UPPER_MEAN; /* whose windows have vectors of their own */
        if (ran_workspace_init(&r->work, &r->c, false, w->pool, err) == RAN_OK)
                return r;
        free(r);
        return NULL;
}

static bool of_windows(const struct ran_workspace *w)
{
        return w->c->upper == RAN_UPPER_ATTENTION || w->c->upper_rows == RAN_ROWS_WINDOWS;
}

/* The encoder's outputs that are rows, of all documents. */
static const float *outputs(struct ran_workspace *w, const struct ran_params *p, bool windows)
{
        return windows ? w->parts.encoder->window_vectors(w, p) : w->x[w->c->layers];
}

static void remember(const struct ran_workspace *w, const struct ran_params *p, size_t b,
                     const float *x, size_t n)
{
        const size_t from = w->packed->doc[b];

        if (p->kept_rows != NULL)
                ran_row_store_add(p->kept_rows, w->packed->ids + from, w->packed->doc[b + 1] - from,
                                  x, n);
}

/* Reads document b into x, n floats. */
static int read_document(struct ran_workspace *w, const struct ran_params *p, size_t b, float *x,
                         size_t n, struct ran_error *err)
{
        struct ran_upper_memory *own = ran_upper_memory_of(w);
        const size_t from = w->packed->doc[b], L = w->packed->doc[b + 1] - from;

        if (own->reader == NULL && (own->reader = new_reader(w, err)) == NULL)
                return RAN_ENOMEM;
        struct ran_upper_reader *r = own->reader;
        ran_packed_clear(&r->packed);
        RAN_TRY(ran_packed_add(&r->packed, &r->c, w->packed->ids + from, L, 0, err));
        RAN_TRY(ran_workspace_fit(&r->work, &r->packed, 0, err));
        ran_encode(&r->work, p);
        memcpy(x, outputs(&r->work, p, of_windows(w)), n * sizeof *x);
        remember(w, p, b, x, n);
        return RAN_OK;
}

int ran_upper_fetch(struct ran_workspace *w, const struct ran_params *p, struct ran_error *err)
{
        struct ran_upper_memory *own = ran_upper_memory_of(w);
        const struct ran_packed *packed = w->packed;
        bool all = w->c->frozen && (w->frozen || p->kept_rows != NULL);

        for (size_t b = 0; b < packed->B && all; b++) {
                float *x = own->rows.fetched + own->first[b] * w->D;
                const size_t n = (own->first[b + 1] - own->first[b]) * w->D, from = packed->doc[b];

                if (p->kept_rows != NULL && ran_row_store_find(p->kept_rows, packed->ids + from,
                                                               packed->doc[b + 1] - from, x, n))
                        continue;
                all = w->frozen;
                if (all)
                        RAN_TRY(read_document(w, p, b, x, n, err));
        }
        w->encoded = all;
        return RAN_OK;
}

const float *ran_upper_take(struct ran_workspace *w, const struct ran_params *p)
{
        struct ran_upper_memory *own = ran_upper_memory_of(w);

        if (w->encoded)
                return own->rows.fetched;
        const float *x = outputs(w, p, of_windows(w));
        for (size_t b = 0; b < w->packed->B; b++)
                remember(w, p, b, x + own->first[b] * w->D,
                         (own->first[b + 1] - own->first[b]) * w->D);
        return x;
}

float *ran_upper_adjoints(struct ran_workspace *w)
{
        struct ran_upper_memory *own = ran_upper_memory_of(w);

        if (w->frozen)
                return NULL;
        float *of_windows_ = w->parts.encoder->clear_adjoints(w);
        float *dx = of_windows(w) ? of_windows_ : w->dx;
        memset(dx, 0, own->first[w->packed->B] * w->D * sizeof *dx);
        return dx;
}

void ran_upper_give(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        if (!w->frozen && of_windows(w))
                w->parts.encoder->window_vectors_bwd(w, p, dp);
}
