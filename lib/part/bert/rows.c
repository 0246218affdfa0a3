/* rows.c - windows of documents, groups of windows, and what happens to their rows one by one.
 * See bert.h. */
#include "part/bert/bert.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

/* ---- windows -------------------------------------------------------------------------------- */

/* Windows of n tokens: as few as hold them all. */
static size_t windows_of(const struct ran_config *c, size_t n)
{
        const size_t room = c->bert.max_length - ran_bert_specials(c);

        return n / room + (n % room > 0);
}

/* Closes a group before the window that would make it larger than a slab. */
static void make_groups(struct ran_workspace *w)
{
        struct ran_bert_memory *own = w->own[RAN_PART_BERT];
        size_t rows = 0;

        own->groups = own->R = own->longest = 0;
        for (size_t i = 0; i < own->M; i++) {
                const size_t more = ran_bert_window_rows(w->c, &own->window[i]);

                if (i == 0 || rows + more > w->slab_rows) {
                        own->group[own->groups++] = i;
                        rows = 0;
                }
                own->window[i].row = rows;
                rows += more;
                own->longest = more > own->longest ? more : own->longest;
                own->R = rows > own->R ? rows : own->R;
        }
        own->R = own->R > RAN_FEW_ROWS ? own->R : RAN_FEW_ROWS + 1;
        own->group[own->groups] = own->M;
}

void ran_bert_windows(struct ran_workspace *w)
{
        struct ran_bert_memory *own = w->own[RAN_PART_BERT];
        const struct ran_packed *packed = w->packed;
        size_t M = 0;

        for (size_t b = 0; b < packed->B; b++)
                M += windows_of(w->c, packed->doc[b + 1] - packed->doc[b]);
        RAN_ROOM(own->window, own->window_cap, M);
        RAN_ROOM(own->group, own->group_cap, M + 1);
        RAN_ROOM(own->doc, own->doc_cap, packed->B + 1);
        own->M = 0;
        for (size_t b = 0; b < packed->B; b++) { /* their sizes differ by one at most */
                const size_t L = packed->doc[b + 1] - packed->doc[b], n = windows_of(w->c, L);
                size_t t = packed->doc[b], at = 0;

                own->doc[b] = own->M;
                for (size_t i = 0; i < n; i++) {
                        struct ran_bert_window *v = &own->window[own->M++];

                        *v = (struct ran_bert_window){
                                .b = b, .t = t, .n = L / n + (i < L % n), .at = at};
                        t += v->n;
                        at += ran_bert_window_rows(w->c, v);
                }
        }
        own->doc[packed->B] = own->M;
        make_groups(w);
}

/* ---- passes --------------------------------------------------------------------------------- */

struct ran_bert_pass ran_bert_pass_of(struct ran_workspace *w, const struct ran_params *p,
                                      struct ran_params *dp, size_t l, size_t g)
{
        struct ran_bert_memory *own = w->own[RAN_PART_BERT];
        const struct ran_bert_window *last = &own->window[own->group[g + 1] - 1];
        const size_t rows = last->row + ran_bert_window_rows(w->c, last);
        const size_t R = rows > RAN_FEW_ROWS ? rows : RAN_FEW_ROWS + 1;
        struct ran_bert_acts *act = w->act;
        const struct ran_bert_params *layer = p->layers;
        const size_t below = ran_vector_cache_layers(p->below);
        const struct ran_bert_params *dlayer = dp != NULL ? dp->layers : NULL;
        static const struct ran_bert_params no_gradients;
        static const struct ran_bert_once none_once;

        return (struct ran_bert_pass){
                .w = w,
                .own = own,
                .act = &act[l],
                .p = &layer[l],
                .dp = dlayer != NULL ? &dlayer[l] : &no_gradients,
                .once = p->once,
                .donce = dp != NULL && dp->once != NULL ? dp->once : &none_once,
                .panels = p->panels,
                .params = p,
                .l = l,
                .g = g,
                .R = R,
                .of = {.pool = w->pool,
                       .n = R,
                       .block = RAN_BERT_BLOCK,
                       .D = w->D,
                       .eps = w->c->bert.norm_eps,
                       .zero = own->zero,
                       .part = own->adj.part},
                .out = l + 1 < w->c->layers ? act[l + 1].x : own->rows.last,
                .stays = (l < below),
                .lowest = (below > 0 && l == below),
        };
}

/* ---- into the layers, and out of them ------------------------------------------------------- */

void ran_bert_embed(struct ran_bert_pass *s)
{
        const struct ran_workspace *w = s->w;
        const struct ran_bert_once *once = s->once;
        const size_t D = w->D, prefix = w->c->bert.prefix, suffix = w->c->bert.suffix;

        if (s->R == RAN_FEW_ROWS + 1)
                memset(s->own->rows.e, 0, s->R * D * sizeof(float));
        for (size_t i = s->own->group[s->g]; i < s->own->group[s->g + 1]; i++) {
                const struct ran_bert_window *v = &s->own->window[i];
                float *e = s->own->rows.e + v->row * D;

                if (prefix > 0)
                        memcpy(e, once->prefix, prefix * D * sizeof *e);
                if (!w->streams)
                        memcpy(e + prefix * D, w->x[0] + v->t * D, v->n * D * sizeof *e);
                for (size_t t = 0; t < v->n && w->streams; t++)
                        ran_embed_row(s->params, w->packed->ids[v->t + t], D, e + (prefix + t) * D);
                if (suffix > 0)
                        memcpy(e + (prefix + v->n) * D, once->suffix, suffix * D * sizeof *e);
                if (once->position != NULL)
                        ran_simd->add(e, once->position, ran_bert_window_rows(w->c, v) * D);
        }
        ran_rows_norm(&s->of, s->act->x, s->own->rows.e_stat, s->own->rows.e, once->embed_norm_w,
                      once->embed_norm_b);
}

static void add_rows(float *to, const float *from, size_t floats)
{
        if (to != NULL && floats > 0)
                ran_simd->add(to, from, floats);
}

void ran_bert_embed_bwd(struct ran_bert_pass *s)
{
        const struct ran_workspace *w = s->w;
        const struct ran_bert_once *donce = s->donce;
        const size_t D = w->D, prefix = w->c->bert.prefix, suffix = w->c->bert.suffix;
        float *dh = s->own->adj.dh;

        ran_rows_norm_bwd(&s->of, dh, dh, s->own->rows.e, s->own->rows.e_stat,
                          s->once->embed_norm_w, donce->embed_norm_w, donce->embed_norm_b);
        for (size_t i = s->own->group[s->g]; i < s->own->group[s->g + 1]; i++) {
                const struct ran_bert_window *v = &s->own->window[i];
                const float *de = dh + v->row * D;

                memcpy(w->dx + v->t * D, de + prefix * D, v->n * D * sizeof *de);
                add_rows(donce->prefix, de, prefix * D);
                add_rows(donce->suffix, de + (prefix + v->n) * D, suffix * D);
                add_rows(donce->position, de, ran_bert_window_rows(w->c, v) * D);
        }
}

void ran_bert_scatter(struct ran_bert_pass *s)
{
        struct ran_workspace *w = s->w;

        if (w->c->bert.norm_first)
                ran_rows_norm(&s->of, s->own->rows.h, s->own->rows.h_stat, s->own->rows.last,
                              s->once->norm_w, s->once->norm_b);
        s->own->outputs = w->c->bert.norm_first ? s->own->rows.h : s->own->rows.last;
        for (size_t i = s->own->group[s->g]; i < s->own->group[s->g + 1] && !w->streams; i++) {
                const struct ran_bert_window *v = &s->own->window[i];

                memcpy(w->x[w->c->layers] + v->t * w->D,
                       s->own->outputs + (v->row + w->c->bert.prefix) * w->D,
                       v->n * w->D * sizeof(float));
        }
}

void ran_bert_gather(struct ran_bert_pass *s)
{
        const struct ran_workspace *w = s->w;
        const size_t D = w->D;
        float *dh = memset(s->own->adj.dh, 0, s->R * D * sizeof *dh);

        for (size_t i = s->own->group[s->g]; i < s->own->group[s->g + 1]; i++) {
                const struct ran_bert_window *v = &s->own->window[i];

                if (s->own->pooled_bwd)
                        ran_bert_pool_bwd(s, i, dh + v->row * D);
                else
                        memcpy(dh + (v->row + w->c->bert.prefix) * D, w->dx + v->t * D,
                               v->n * D * sizeof *dh);
        }
        if (w->c->bert.norm_first)
                ran_rows_norm_bwd(&s->of, dh, dh, s->own->rows.last, s->own->rows.h_stat,
                                  s->once->norm_w, s->donce->norm_w, s->donce->norm_b);
}
