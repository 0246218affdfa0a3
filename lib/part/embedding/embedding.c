/* embedding.c - the part "embedding": a row of each token, of which those of the spelling of its
 * word are a part. */
#include "math/simd.h"
#include "nn/part.h"
#include "nn/rows.h"
#include "ran/model.h"

static bool is_in(const struct ran_config *c)
{
        return ran_config_has_encoder(c);
}

static size_t tables(struct ran_mapped_table *to, struct ran_params *p, const struct ran_config *c,
                     size_t V, size_t C, size_t rows)
{
        (void)C, (void)rows;
        to[0] = (struct ran_mapped_table){"embed.weight", V, c->dim, &p->embed, false};
        const size_t spelling = ran_encoder_spelling(c);

        to[1] = (struct ran_mapped_table){"spelling.weight", spelling, c->dim, &p->spelling, false};
        return spelling > 0 ? 2 : 1;
}

/* Tokens of a document, in blocks for threads. */
struct tokens {
        const struct ran_workspace *w;
        const struct ran_params *p;
        size_t b;
        float *x; /* rows of the first token */
};

/* fn for the rows of all tokens, which begin at x. */
static void each_block(const struct ran_workspace *w, const struct ran_params *p, float *x,
                       ran_rows_block *fn)
{
        const size_t *doc = w->packed->doc;

        for (size_t b = 0; b < w->packed->B; b++) {
                struct tokens k = {w, p, b, x + doc[b] * w->D};
                const struct ran_rows rows = {
                        .pool = w->pool, .n = doc[b + 1] - doc[b], .block = 512};

                ran_rows_each(&rows, fn, &k);
        }
}

static void drop(void *arg, size_t from, size_t n)
{
        const struct tokens *k = arg;
        const struct ran_workspace *w = k->w;

        ran_workspace_dropout(w, k->b, 0, RAN_DROP_EMBED, w->noise.embed_dropout,
                              k->x + from * w->D, n * w->D, from * w->D);
}

/* A token's row: its subword's and, in models with spelling, those of its word's features. */
static void embed(void *arg, size_t from, size_t n)
{
        const struct tokens *k = arg;
        const struct ran_packed *packed = k->w->packed;
        size_t D = k->w->D, features = k->p->spelling != NULL ? RAN_SPELLING : 0;

        for (size_t t = from; t < from + n; t++) {
                size_t at = packed->doc[k->b] + t;
                float *x = k->x + t * D;

                ran_embed_row(k->p, packed->ids[at], D, x);
                for (size_t i = at * features; i < (at + 1) * features; i++)
                        ran_simd->add(x, k->p->spelling + packed->spelling[i] * D, D);
        }
}

static void rows(struct ran_workspace *w, const struct ran_params *p)
{
        each_block(w, p, w->x[0], embed);
}

static void drop_rows(struct ran_workspace *w, float *x)
{
        if (w->training && w->noise.embed_dropout > 0)
                each_block(w, NULL, x, drop);
}

const struct ran_part ran_part_embedding = {
        .is_in = is_in,
        .tables = tables,
        .rows = rows,
        .drop_rows = drop_rows,
};
