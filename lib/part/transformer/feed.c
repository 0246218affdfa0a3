/* feed.c - the feed-forward part and its residual. See transformer.h. */
#include "part/transformer/transformer.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

static void gelu(void *arg, size_t from, size_t n)
{
        const struct ran_transformer_pass *s = arg;
        size_t ffn_dim = s->w->c->ffn_dim;

        ran_simd->gelu(s->own->rows.gelu + from * ffn_dim, s->up + from * ffn_dim, n * ffn_dim);
}

/* LN(mid), Linear_up, unless its rows are kept, and GELU of the slab. */
static void feed_up(struct ran_transformer_pass *s, bool kept)
{
        struct ran_workspace *w = s->w;
        const size_t ffn_dim = w->c->ffn_dim;

        ran_rows_norm(&s->of, s->own->rows.z, s->act->mid_stat + s->t0 * 2,
                      s->act->mid + s->t0 * w->D, s->p->ffn_norm_w, s->p->ffn_norm_b);
        if (!kept)
                ran_gemm_linear(w->pool, s->up, ffn_dim, s->own->rows.z, w->D, s->p->up_w,
                                s->p->up_b, s->tokens, w->D, ffn_dim);
        ran_rows_each(&s->of, gelu, s);
}

void ran_transformer_feed(struct ran_workspace *w, const struct ran_params *p, size_t l)
{
        for (size_t t0 = 0; t0 < w->packed->L; t0 += w->slab_rows) {
                struct ran_transformer_pass s = ran_transformer_pass_of(w, p, NULL, l, t0);

                feed_up(&s, false);
                ran_gemm_linear(w->pool, s.own->rows.o, w->D, s.own->rows.gelu, w->c->ffn_dim,
                                s.p->down_w, s.p->down_b, s.tokens, w->c->ffn_dim, w->D);
                ran_transformer_drop(&s, RAN_DROP_FEED, s.own->rows.o);
                ran_rows_add(&s.of, s.out + t0 * w->D, s.act->mid + t0 * w->D, s.own->rows.o);
        }
}

static void gelu_bwd(void *arg, size_t from, size_t n)
{
        const struct ran_transformer_pass *s = arg;
        size_t ffn_dim = s->w->c->ffn_dim;
        float *dup = s->own->adj.dup + from * ffn_dim;

        ran_simd->gelu_bwd(dup, s->up + from * ffn_dim, dup, n * ffn_dim);
}

void ran_transformer_feed_bwd(struct ran_workspace *w, const struct ran_params *p,
                              struct ran_params *dp, size_t l)
{
        size_t D = w->D, ffn_dim = w->c->ffn_dim;

        for (size_t t0 = 0; t0 < w->packed->L; t0 += w->slab_rows) {
                struct ran_transformer_pass s = ran_transformer_pass_of(w, p, dp, l, t0);
                const float *d_o = ran_transformer_dropped(&s, RAN_DROP_FEED);

                feed_up(&s, ran_transformer_keeps(w));
                ran_gemm_linear_bwd(w->pool, s.own->adj.dup, ffn_dim, false, s.dp->down_w,
                                    s.dp->down_b, d_o, D, s.own->rows.gelu, ffn_dim, s.p->down_w,
                                    s.tokens, ffn_dim, D);
                ran_rows_each(&s.of, gelu_bwd, &s);
                ran_gemm_linear_bwd(w->pool, s.own->adj.dz, D, false, s.dp->up_w, s.dp->up_b,
                                    s.own->adj.dup, ffn_dim, s.own->rows.z, D, s.p->up_w, s.tokens,
                                    D, ffn_dim);
                ran_rows_norm_bwd(&s.of, w->dx + t0 * D, s.own->adj.dz, s.act->mid + t0 * D,
                                  s.act->mid_stat + t0 * 2, s.p->ffn_norm_w, s.dp->ffn_norm_w,
                                  s.dp->ffn_norm_b);
        }
}
