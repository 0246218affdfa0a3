/* review-pattern.c - memory review over a pattern of windows: equation (9) for a part of the
 * states.
 *
 * The states of a document stand in a row, and a token of window i stands at the last state that it
 * sees without a source: G_i without a mask, G_{i-1} under one. It sees the states at the distances
 * of the pattern (mask/mask.h), as far as the mask lets it. Without a mask the row begins with G_1.
 *
 *      states      G0  G1  G2  G3  G4  G5  G6  G7  G8      causal, dispersed, near = 1:
 *      window 8     .   .   .   o   .   .   o   o          distances 0, 1; 1 + 2, 1 + 2 + 3, ...
 *
 * All tokens of a window see the same states. Their keys and values are copied side by side, unless
 * they are already, and the rest are products of whole matrices: 4 tokens D operations a state that
 * is seen, and memory for one window's states a thread.
 */
#include "math/gemm.h"
#include "math/simd.h"
#include "part/ran/layer.h"
#include "ran/model.h"

#include <math.h>
#include <string.h>

/* ---- the pattern ---------------------------------------------------------------------------- */

int ran_review_mask(struct ran_mask *m, const struct ran_config *c, size_t windows, size_t earlier,
                    size_t pure, struct ran_error *err)
{
        static const int pattern[] = {[RAN_REVIEW_NONE] = RAN_ATTENTION_FULL,
                                      [RAN_REVIEW_ALL] = RAN_ATTENTION_FULL,
                                      [RAN_REVIEW_WINDOW] = RAN_ATTENTION_WINDOW,
                                      [RAN_REVIEW_DISPERSED] = RAN_ATTENTION_DISPERSED};
        size_t first = c->mask == RAN_MASK_NONE ? 0 : 1;

        return ran_mask_init(m, pattern[c->ran.review], c->ran.review_window, 0, c->mask,
                             earlier + windows + first, pure > 0 ? earlier + pure + 1 : 0, err);
}

/* Windows of a document that hold nothing but its source. */
static size_t pure_windows(const struct ran_workspace *w, size_t b)
{
        const struct ran_packed *packed = w->packed;
        size_t i = packed->doc_window[b];

        while (i < packed->doc_window[b + 1] &&
               packed->window[i + 1] <= packed->doc[b] + packed->sources[b] &&
               !ran_window_stays_open(w, i))
                i++;
        return i - packed->doc_window[b];
}

static size_t length(const struct ran_mask_ranges *k)
{
        return k->left + (k->to - k->from) + k->right;
}

/* The states that the tokens of window i see. */
static struct ran_mask_ranges row_of(const struct ran_workspace *w, size_t i)
{
        const struct ran_packed *packed = w->packed;
        size_t b = packed->window_doc[i];

        return ran_mask_row(&ran_layer_memory_of(w)->seen[b],
                            ran_packed_earlier(packed, b) + i - packed->doc_window[b]);
}

int ran_review_prepare(struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *packed = w->packed;
        struct ran_layer_memory *own = w->own[RAN_PART_RAN];

        own->most_seen = own->group = 0;
        if (!ran_review_is_sparse(w->c))
                return RAN_OK;
        struct ran_mask *seen = ran_grow(own->seen, &own->seen_cap, packed->B, sizeof *seen, err);
        if (seen == NULL)
                return RAN_ENOMEM;
        own->seen = seen;
        for (size_t b = 0; b < packed->B; b++)
                RAN_TRY(ran_review_mask(&seen[b], w->c,
                                        packed->doc_window[b + 1] - packed->doc_window[b],
                                        ran_packed_earlier(packed, b), pure_windows(w, b), err));
        for (size_t i = 0; i < packed->m; i++) {
                struct ran_mask_ranges row = row_of(w, i);

                own->most_seen = length(&row) > own->most_seen ? length(&row) : own->most_seen;
        }
        for (size_t slab = 0; slab < own->slabs; slab++) {
                size_t windows = own->first[slab + 1] - own->first[slab];

                own->group = windows > own->group ? windows : own->group;
        }
        own->group = own->group < RAN_REVIEW_GROUP ? own->group : RAN_REVIEW_GROUP;
        return RAN_OK;
}

uint64_t ran_review_scores(const struct ran_config *c, size_t L, size_t sources)
{
        size_t m = ran_packed_windows(c, L, 0), last = L - (m - 1) * c->window;
        size_t pure = sources < L ? sources / c->window : m;
        struct ran_error unused;
        struct ran_mask k;

        if (c->ran.review == RAN_REVIEW_NONE ||
            ran_review_mask(&k, c, m, 0, pure < m ? pure : m, &unused) != RAN_OK)
                return 0;
        return (uint64_t)c->window * ran_mask_count(&k, 0, m - 1, 0, k.N) +
               (uint64_t)last * ran_mask_count(&k, m - 1, m, 0, k.N) +
               (c->ran.review_source ? (uint64_t)sources * (L - sources) : 0);
}

/* ---- a window ------------------------------------------------------------------------------- */

/* The tokens of a window and the states that they see, in order. */
struct view {
        size_t b, t, n; /* document; first token in the slab, number of them */
        struct ran_mask_ranges row;
        size_t states;
        const float *key, *value; /* (states, D) */
        float *spare;             /* scratch that is left */
};

/* The key, or value, of a document's state. Those of earlier states that no later chunk moves stay
 * where they are. */
static const float *state_at(const struct ran_layer_pass *s, size_t b, size_t state, bool value)
{
        const struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        size_t D = w->D, earlier = ran_packed_earlier(packed, b),
               first = w->c->mask == RAN_MASK_NONE ? 1 : 0;

        if (state < earlier && !ran_review_copies_earlier(w->c)) {
                struct ran_recurrent_run run =
                        ran_recurrent_state_run(packed->recurrent[b], s->l, state, earlier);

                return value ? run.value : run.key;
        }
        return (value ? s->cells->value : s->cells->key) +
               (ran_review_key(w, b) + first + state - earlier) * D;
}

/* The rows of the states that are seen: where they are, or copied to `out`. */
static const float *gather(const struct ran_layer_pass *s, const struct view *v, bool value,
                           float *out)
{
        const struct ran_mask *m = &s->own->seen[v->b];
        size_t D = s->w->D, earlier = ran_packed_earlier(s->w->packed, v->b), n = 0;

        if (length(&v->row) == v->row.to - v->row.from &&
            (v->row.from >= earlier || ran_review_copies_earlier(s->w->c)))
                return state_at(s, v->b, v->row.from, value);
        for (size_t pos = 0, from, to; ran_mask_ranges_next(m, &v->row, &pos, &from, &to);)
                for (size_t j = from; j < to; j++)
                        memcpy(out + n++ * D, state_at(s, v->b, j, value), D * sizeof *out);
        return out;
}

static struct view view_of(const struct ran_layer_pass *s, size_t i, float *scratch)
{
        const struct ran_packed *packed = s->w->packed;
        struct view v = {.b = packed->window_doc[i],
                         .t = packed->window[i] - s->t0,
                         .n = packed->window[i + 1] - packed->window[i],
                         .row = row_of(s->w, i)};

        v.states = length(&v.row);
        v.key = gather(s, &v, false, scratch);
        v.value = gather(s, &v, true, scratch + v.states * s->w->D);
        v.spare = scratch + 2 * v.states * s->w->D;
        return v;
}

static float scale_of(const struct ran_workspace *w)
{
        return (float)(1.0 / sqrt((double)w->D));
}

/* score (n, states) = the weights that the window's tokens give to the states */
static void weigh(const struct ran_layer_pass *s, const struct view *v, float *score)
{
        size_t D = s->w->D;

        ran_gemm(score, v->states, s->act->review_q + v->t * D, D, 1, v->key, 1, D, v->n, v->states,
                 D, false);
        for (size_t t = 0; t < v->n; t++)
                ran_simd->softmax(score + t * v->states, scale_of(s->w), v->states, NULL);
}

/* ---- forward -------------------------------------------------------------------------------- */

static void look(void *arg, size_t i, float *scratch)
{
        const struct ran_layer_pass *s = arg;
        struct view v = view_of(s, i, scratch);
        size_t D = s->w->D;

        weigh(s, &v, v.spare);
        ran_gemm(s->act->review_r + v.t * D, D, v.spare, v.states, 1, v.value, D, 1, v.n, D,
                 v.states, false);
}

/* Adds the weights to an attention probe, run by run. */
static void add_to_probe(const struct ran_layer_pass *s, struct ran_probe *k, size_t i,
                         float *scratch)
{
        struct view v = view_of(s, i, scratch);
        const struct ran_packed *packed = s->w->packed;
        const float *score = v.spare;
        size_t t0 = packed->window[i] - packed->doc[v.b], from, to,
               first = s->w->c->mask == RAN_MASK_NONE ? 1 : 0;

        if (!ran_probe_queries(k, t0, v.n, &from, &to))
                return;
        weigh(s, &v, v.spare);
        score += from * v.states;
        for (size_t t = from; t < to; t++)
                for (size_t pos = 0, a, b;
                     ran_mask_ranges_next(&s->own->seen[v.b], &v.row, &pos, &a, &b); score += b - a)
                        ran_probe_add(k, t0 + t, first + a, score, b - a, 1.0f);
}

static void fill_probe(void *arg, size_t at, float *scratch)
{
        const struct ran_layer_pass *s = arg;
        struct ran_probe *k = &s->w->probes->probe[at];

        for (size_t i = s->from; ran_probe_matches(k, RAN_PROBE_REVIEW, s->l) && i < s->to; i++)
                add_to_probe(s, k, i, scratch);
}

void ran_review_pattern(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;

        ran_workers_each(&w->workers, s->from, s->to, look, s);
        if (w->probes != NULL)
                ran_workers_each(&w->workers, 0, w->probes->n, fill_probe, s);
}

/* ---- backward ------------------------------------------------------------------------------- */

/* Neighbouring windows share states, so each leaves its part of dkey and dvalue in a place of its
 * own. The parts of a group of windows are then added in order: the threads change no bit. */
struct group {
        struct ran_layer_pass *s;
        size_t from, to; /* windows */
};

static float *part_of(const struct group *g, size_t i, bool value)
{
        const struct ran_layer_memory *own = g->s->own;

        return own->part + ((i - g->from) * 2 + value) * own->most_seen * g->s->w->D;
}

static void look_bwd(void *arg, size_t i, float *scratch)
{
        const struct group *g = arg;
        const struct ran_layer_pass *s = g->s;
        struct view v = view_of(s, i, scratch);
        size_t D = s->w->D, n = v.states;
        const float *q = s->act->review_q + v.t * D, *dr = s->own->adj.dreview_r + v.t * D;
        float *score = v.spare, *dscore = score + v.n * n;

        weigh(s, &v, score);
        ran_gemm(part_of(g, i, true), D, score, 1, n, dr, D, 1, n, D, v.n, false);
        ran_gemm(dscore, n, dr, D, 1, v.value, 1, D, v.n, n, D, false);
        for (size_t t = 0; t < v.n; t++)
                ran_simd->softmax_bwd(dscore + t * n, score + t * n, scale_of(s->w), n);
        ran_gemm(s->own->adj.dreview_q + v.t * D, D, dscore, n, 1, v.key, D, 1, v.n, D, n, false);
        ran_gemm(part_of(g, i, false), D, dscore, 1, n, q, D, 1, n, D, v.n, false);
}

/* Adds a window's part to dkey or dvalue, but for earlier states: they are constants. */
static void add_part(const struct group *g, size_t i, bool value)
{
        const struct ran_layer_pass *s = g->s;
        const struct ran_packed *packed = s->w->packed;
        struct ran_mask_ranges row = row_of(s->w, i);
        size_t D = s->w->D, b = packed->window_doc[i], earlier = ran_packed_earlier(packed, b),
               first = s->w->c->mask == RAN_MASK_NONE ? 1 : 0;
        const float *part = part_of(g, i, value);
        float *d = (value ? s->own->adj.dvalue : s->own->adj.dkey) +
                   (ran_review_key(s->w, b) + first) * D;

        for (size_t pos = 0, from, to;
             ran_mask_ranges_next(&s->own->seen[b], &row, &pos, &from, &to);)
                for (size_t j = from; j < to; j++, part += D)
                        if (j >= earlier)
                                ran_simd->add(d + (j - earlier) * D, part, D);
}

static void add_parts(void *arg, size_t value, float *scratch)
{
        const struct group *g = arg;

        (void)scratch;
        for (size_t i = g->from; i < g->to; i++)
                add_part(g, i, value > 0);
}

void ran_review_pattern_bwd(struct ran_layer_pass *s)
{
        struct ran_workers *workers = &s->w->workers;
        struct group g = {.s = s};

        for (g.from = s->from; g.from < s->to; g.from = g.to) {
                g.to = s->to - g.from < s->own->group ? s->to : g.from + s->own->group;
                ran_workers_each(workers, g.from, g.to, look_bwd, &g);
                ran_workers_each(workers, 0, 2, add_parts, &g);
        }
}

/* ---- memory --------------------------------------------------------------------------------- */

size_t ran_review_scratch(const struct ran_workspace *w)
{
        const struct ran_layer_memory *own = w->own[RAN_PART_RAN];

        return own->most_seen * (2 * w->D + (w->training ? 2 : 1) * own->longest);
}

size_t ran_review_kept(const struct ran_config *c, size_t states)
{
        size_t near = c->ran.review_window / 2;

        /* At least one: a document with no earlier state is read from the beginning. */
        near = near > 0 ? near : 1;
        return c->ran.review == RAN_REVIEW_WINDOW && states > near ? near : states;
}

/* The states of a window pattern are few and move, so none of them stays shared: copies the last n,
 * those from `from` on, to the front. */
static void move_to_front(float *own, const float *base, size_t shared, size_t from, size_t n,
                          size_t D)
{
        size_t copied = from < shared ? shared - from : 0;

        memmove(own + copied * D, own + (from + copied - shared) * D,
                (n - copied) * D * sizeof *own);
        if (copied > 0)
                memcpy(own, base + from * D, copied * D * sizeof *own);
}

void ran_review_keep(const struct ran_layer_pass *s, size_t b, size_t closed)
{
        const struct ran_workspace *w = s->w;
        struct ran_recurrent_state *recurrent = w->packed->recurrent[b];
        size_t D = w->D, earlier = ran_packed_earlier(w->packed, b), shared = recurrent->shared,
               fresh = ran_review_sources(w, b) + closed, /* a source comes with nothing earlier */
                all = ran_review_kept(w->c, earlier + fresh), added = fresh < all ? fresh : all,
               stay = all - added, from = (ran_review_key(w, b) + closed - added) * D;
        float *key = recurrent->key[s->l], *value = recurrent->value[s->l];

        if (w->c->ran.review == RAN_REVIEW_WINDOW) {
                const struct ran_recurrent_state *base = recurrent->base;

                move_to_front(key, shared > 0 ? base->key[s->l] : NULL, shared, earlier - stay,
                              stay, D);
                move_to_front(value, shared > 0 ? base->value[s->l] : NULL, shared, earlier - stay,
                              stay, D);
                shared = 0;
        }
        key += (stay - shared) * D;
        value += (stay - shared) * D;
        if (w->c->ran.review == RAN_REVIEW_NONE) { /* unused, but they may be written to a file */
                memset(key, 0, added * D * sizeof *key);
                memset(value, 0, added * D * sizeof *value);
                return;
        }
        memcpy(key, s->cells->key + from, added * D * sizeof *key);
        memcpy(value, s->cells->value + from, added * D * sizeof *value);
}
