/* review.c - memory review, equation (9): every token attends to the cells of its document, all of
 * them or a pattern of them.
 *
 * One head over the states: softmax(q key^T / sqrt(D)) value. The states of a document stand in a
 * row, and a token of window i stands at the last state that it sees without a source: G_i without
 * a mask, G_{i-1} under one. It sees the states at the distances of the pattern (mask/mask.h), as
 * far as the mask lets it. Without a mask the row begins with G_1.
 *
 *      states      G0  G1  G2  G3  G4  G5  G6  G7  G8      causal, dispersed, near = 1:
 *      window 8     .   .   .   o   .   .   o   o          distances 0, 1; 1 + 2, 1 + 2 + 3, ...
 *
 * All tokens of a window see the same states. Their keys and values are copied side by side, unless
 * they are already, and the rest are products of whole matrices.
 *
 * A cell is one vector for a window of the source; a translation wants its words. With
 * review_source, under the prefix mask, the source tokens are states, too, which only target tokens
 * see. Their keys and values come before all others:
 *
 *      keys of a document    | source tokens | earlier states | G_0 ... G_m |
 *      a source token sees                   |------------------------|
 *      a target token sees   |----------------------------------------|
 *
 * A dispersed pattern sees few earlier states and moves none: they are read in the recurrent state,
 * and the keys of a document are those of its own states alone.
 */
#include "part/ran/layer.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- where keys and values are ----------------------------------------------------------------
 */

static bool copies_earlier(const struct ran_config *c)
{
        return c->ran.review != RAN_REVIEW_DISPERSED;
}

/* The first key of document b. */
static size_t first_key(const struct ran_review_pass *k, size_t b)
{
        return k->w->packed->key[b] + k->own->sources[b];
}

/* The key of document b's first own state: G_0, or the cell that it continues from. */
static size_t own_key(const struct ran_review_pass *k, size_t b)
{
        const struct ran_packed *packed = k->w->packed;

        return copies_earlier(k->w->c) ? first_key(k, b) + ran_review_sources(k->w, b) +
                                                 ran_packed_earlier(packed, b)
                                       : packed->doc_window[b] + b;
}

/* The states that nobody sees without a mask: G_0. */
static size_t unseen(const struct ran_config *c)
{
        return c->mask == RAN_MASK_NONE ? 1 : 0;
}

/* ---- the pattern ------------------------------------------------------------------------------
 */

/* The states of a document as a mask whose query i is the tokens of its window i; `earlier` are
 * counted with both. pure: first windows that hold the source only. */
static int mask_of(struct ran_mask *m, const struct ran_config *c, size_t windows, size_t earlier,
                   size_t pure, struct ran_error *err)
{
        static const int pattern[] = {[RAN_REVIEW_NONE] = RAN_ATTENTION_FULL,
                                      [RAN_REVIEW_ALL] = RAN_ATTENTION_FULL,
                                      [RAN_REVIEW_WINDOW] = RAN_ATTENTION_WINDOW,
                                      [RAN_REVIEW_DISPERSED] = RAN_ATTENTION_DISPERSED};

        return ran_mask_init(m, pattern[c->ran.review], c->ran.review_window, 0, c->mask,
                             earlier + windows + 1 - unseen(c), pure > 0 ? earlier + pure + 1 : 0,
                             err);
}

/* Windows of a document that hold nothing but its source. */
static size_t pure_windows(const struct ran_workspace *w, size_t b)
{
        const struct ran_packed *packed = w->packed;
        size_t i = packed->doc_window[b];

        while (i < packed->doc_window[b + 1] &&
               packed->window[i + 1] <= packed->doc[b] + packed->sources[b] &&
               !ran_layer_stays_open(w, i))
                i++;
        return i - packed->doc_window[b];
}

static size_t length(const struct ran_mask_ranges *k)
{
        return k->left + (k->to - k->from) + k->right;
}

/* The states that the tokens of window i see. */
static struct ran_mask_ranges row_of(const struct ran_review *own, const struct ran_packed *packed,
                                     size_t i)
{
        size_t b = packed->window_doc[i];

        return ran_mask_row(&own->seen[b],
                            ran_packed_earlier(packed, b) + i - packed->doc_window[b]);
}

int ran_review_prepare(struct ran_review *own, const struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *packed = w->packed;
        size_t B = packed->B;

        RAN_TRY(RAN_GROW(own->sources, own->sources_cap, B + 1, err));
        RAN_TRY(RAN_GROW(own->seen, own->seen_cap, B, err));
        own->most_seen = own->longest = own->sources[0] = 0;
        for (size_t b = 0; b < B; b++) {
                own->sources[b + 1] = own->sources[b] + ran_review_sources(w, b);
                RAN_TRY(mask_of(&own->seen[b], w->c,
                                packed->doc_window[b + 1] - packed->doc_window[b],
                                ran_packed_earlier(packed, b), pure_windows(w, b), err));
        }
        if (!w->c->ran.review || B == 0)
                own->keys = 0;
        else
                own->keys = copies_earlier(w->c) ? packed->key[B] + own->sources[B] : packed->m + B;
        for (size_t i = 0; i < packed->m; i++) {
                struct ran_mask_ranges row = row_of(own, packed, i);
                size_t seen = length(&row) + ran_review_sources(w, packed->window_doc[i]);

                own->longest = ran_most(own->longest, packed->row[i + 1] - packed->row[i] - 1);
                own->most_seen = w->c->ran.review ? ran_most(own->most_seen, seen) : 0;
        }
        return RAN_OK;
}

void ran_review_release(struct ran_review *own)
{
        free(own->sources);
        free(own->seen);
}

size_t ran_review_scratch(const struct ran_review *own, const struct ran_workspace *w)
{
        return own->most_seen * (2 * w->D + (w->training ? 2 : 1) * own->longest);
}

uint64_t ran_review_scores(const struct ran_config *c, size_t L, size_t sources)
{
        size_t m = ran_packed_windows(c, L, 0), last = L - (m - 1) * c->window;
        size_t pure = sources < L ? sources / c->window : m;
        struct ran_error unused;
        struct ran_mask k;

        if (c->ran.review == RAN_REVIEW_NONE ||
            mask_of(&k, c, m, 0, ran_least(pure, m), &unused) != RAN_OK)
                return 0;
        return (uint64_t)c->window * ran_mask_count(&k, 0, m - 1, 0, k.N) +
               (uint64_t)last * ran_mask_count(&k, m - 1, m, 0, k.N) +
               (c->ran.review_source ? (uint64_t)sources * (L - sources) : 0);
}

/* ---- keys and values of the states ------------------------------------------------------------
 */

/* Whether document b is scored and its states are so few that their products are the same one by
 * one. */
static bool has_few_states(const struct ran_workspace *w, size_t b)
{
        const size_t *first = w->packed->doc_window + b;

        return ran_workspace_stands_alone(w) && first[1] - first[0] + 1 <= RAN_FEW_ROWS;
}

void ran_review_products(const struct ran_workspace *w, struct ran_kept_panels *kept, float *y,
                         const float *G, const float *weight, const float *bias)
{
        const struct ran_packed *packed = w->packed;
        size_t D = w->D;

        for (size_t b = 0, end; b < packed->B; b = end) {
                const size_t state = packed->doc_window[b] + b;
                const bool few = has_few_states(w, b);

                end = ran_workspace_stands_alone(w) ? b + 1 : packed->B;
                while (few && end < packed->B && has_few_states(w, end))
                        end++;
                (few ? ran_gemm_linear_alone : ran_gemm_linear_kept)(
                        w->pool, kept, y + state * 2 * D, 2 * D, G + state * D, D, weight, bias,
                        packed->doc_window[end] + end - state, D, 2 * D);
        }
}

static void copy_earlier(const struct ran_review_pass *k, size_t b)
{
        size_t D = k->w->D, earlier = ran_packed_earlier(k->w->packed, b),
               to = own_key(k, b) - earlier;
        struct ran_recurrent_run run;

        for (size_t at = 0; at < earlier; at += run.n, to += run.n) {
                run = ran_recurrent_state_run(k->w->packed->recurrent[b], k->l, at, earlier);
                memcpy(k->key + to * D, run.key, run.n * D * sizeof(float));
                memcpy(k->value + to * D, run.value, run.n * D * sizeof(float));
        }
}

/* n rows of keys and values to the pairs at kv, or with `place` from there; returns the end of
 * these. */
static float *move(bool place, float *key, float *value, float *kv, size_t n, size_t D)
{
        const size_t row = D * sizeof *kv;

        for (; n > 0; n--, key += D, value += D, kv += 2 * D) {
                memcpy(place ? key : kv, place ? kv : key, row);
                memcpy(place ? value : kv + D, place ? kv + D : value, row);
        }
        return kv;
}

static void move_all(const struct ran_review_pass *k, bool place, float *key, float *value,
                     float *kv, float *source_kv)
{
        const struct ran_packed *packed = k->w->packed;
        const size_t D = k->w->D;

        for (size_t b = 0; b < packed->B; b++) {
                const size_t states = packed->doc_window[b + 1] - packed->doc_window[b] + 1;
                const size_t first = first_key(k, b) * D, own = own_key(k, b) * D;

                source_kv = move(place, key + first, value + first, source_kv,
                                 ran_review_sources(k->w, b), D);
                if (place && copies_earlier(k->w->c))
                        copy_earlier(k, b);
                kv = move(place, key + own, value + own, kv, states, D);
        }
}

void ran_review_place(const struct ran_review_pass *k, float *kv, float *source_kv)
{
        move_all(k, true, k->key, k->value, kv, source_kv);
}

void ran_review_collect(const struct ran_review_pass *k, float *dkv, float *dsource_kv)
{
        move_all(k, false, k->dkey, k->dvalue, dkv, dsource_kv);
}

/* ---- a window ---------------------------------------------------------------------------------
 */

/* The tokens of a window and what they see: source tokens, then the states of the pattern. */
struct view {
        size_t b, n;     /* document, tokens */
        size_t first[3]; /* [first[j], first[j + 1]): tokens of the source, then of the target */
        size_t skip[2];  /* the keys that these leave out, the first ones */
        size_t sources;
        struct ran_mask_ranges row;
        size_t keys;
        const float *key, *value; /* (keys, D) */
        float *spare;             /* scratch that is left */
};

/* The key, or value, of a document's state. Those of earlier states that no later chunk moves stay
 * where they are. */
static const float *state_at(const struct ran_review_pass *k, size_t b, size_t state, bool value)
{
        const struct ran_packed *packed = k->w->packed;
        size_t earlier = ran_packed_earlier(packed, b);

        if (state < earlier && !copies_earlier(k->w->c)) {
                struct ran_recurrent_run run =
                        ran_recurrent_state_run(packed->recurrent[b], k->l, state, earlier);

                return value ? run.value : run.key;
        }
        return (value ? k->value : k->key) +
               (own_key(k, b) + unseen(k->w->c) + state - earlier) * k->w->D;
}

/* The rows of what is seen: where they are, or copied to `out`. */
static const float *gather(const struct ran_review_pass *k, const struct view *v, bool value,
                           float *out)
{
        const struct ran_mask *m = &k->own->seen[v->b];
        size_t D = k->w->D, earlier = ran_packed_earlier(k->w->packed, v->b), n = 0;

        if (length(&v->row) == v->row.to - v->row.from &&
            (v->row.from >= earlier || copies_earlier(k->w->c)))
                return state_at(k, v->b, v->row.from, value) - v->sources * D;
        for (size_t pos = 0, from, to; ran_mask_ranges_next(m, &v->row, &pos, &from, &to);)
                for (size_t j = from; j < to; j++)
                        memcpy(out + n++ * D, state_at(k, v->b, j, value), D * sizeof *out);
        return out;
}

static struct view view_of(const struct ran_review_pass *k, size_t i, float *scratch)
{
        const struct ran_packed *packed = k->w->packed;
        size_t b = packed->window_doc[i], t = packed->window[i],
               sources = ran_review_sources(k->w, b), end = packed->doc[b] + sources;
        struct view v = {.b = b, .n = packed->window[i + 1] - t, .row = row_of(k->own, packed, i)};

        v.first[1] = end > t ? ran_least(end - t, v.n) : 0;
        v.first[2] = v.n;
        v.sources = v.first[1] < v.n ? sources : 0;
        v.skip[0] = v.sources;
        v.keys = v.sources + length(&v.row);
        v.key = gather(k, &v, false, scratch);
        v.value = gather(k, &v, true, scratch + v.keys * k->w->D);
        v.spare = scratch + 2 * v.keys * k->w->D;
        return v;
}

static float scale_of(const struct ran_workspace *w)
{
        return (float)(1.0 / sqrt((double)w->D));
}

/* score (n, keys) = the weights that the window's tokens give to what they see */
static void weigh(const struct ran_workspace *w, const struct view *v, const float *q, float *score)
{
        size_t D = w->D;

        for (int j = 0; j < 2; j++) {
                size_t from = v->first[j], end = v->first[j + 1], skip = v->skip[j];

                if (from == end)
                        continue;
                ran_gemm(score + from * v->keys + skip, v->keys, q + from * D, D, 1,
                         v->key + skip * D, 1, D, end - from, v->keys - skip, D, false);
                for (size_t t = from; t < end; t++)
                        ran_simd->softmax(score + t * v->keys + skip, scale_of(w), v->keys - skip,
                                          NULL);
        }
}

void ran_review_look(const struct ran_review_pass *k, size_t i, const float *q, float *r,
                     float *scratch)
{
        struct view v = view_of(k, i, scratch);
        size_t D = k->w->D;

        weigh(k->w, &v, q, v.spare);
        for (int j = 0; j < 2; j++)
                if (v.first[j] < v.first[j + 1])
                        ran_gemm(r + v.first[j] * D, D, v.spare + v.first[j] * v.keys + v.skip[j],
                                 v.keys, 1, v.value + v.skip[j] * D, D, 1,
                                 v.first[j + 1] - v.first[j], D, v.keys - v.skip[j], false);
}

void ran_review_look_bwd(const struct ran_review_pass *k, size_t i, float *dq, float *part,
                         const float *q, const float *dr, float *scratch)
{
        struct view v = view_of(k, i, scratch);
        size_t D = k->w->D;
        float *dvalue = part, *dkey = part + k->own->most_seen * D;

        weigh(k->w, &v, q, v.spare);
        for (int j = 1; j >= 0; j--) { /* those of the target fill all rows of dvalue and dkey */
                size_t from = v.first[j], n = v.first[j + 1] - from, skip = v.skip[j],
                       seen = v.keys - skip;
                float *score = v.spare + from * v.keys + skip, *dscore = score + v.n * v.keys;
                bool add = j == 0 && v.first[1] < v.n;

                if (n == 0)
                        continue;
                ran_gemm(dvalue + skip * D, D, score, 1, v.keys, dr + from * D, D, 1, seen, D, n,
                         add);
                ran_gemm(dscore, v.keys, dr + from * D, D, 1, v.value + skip * D, 1, D, n, seen, D,
                         false);
                for (size_t t = 0; t < n; t++)
                        ran_simd->softmax_bwd(dscore + t * v.keys, score + t * v.keys,
                                              scale_of(k->w), seen);
                ran_gemm(dq + from * D, D, dscore, v.keys, 1, v.key + skip * D, D, 1, n, D, seen,
                         false);
                ran_gemm(dkey + skip * D, D, dscore, 1, v.keys, q + from * D, D, 1, seen, D, n,
                         add);
        }
}

void ran_review_add(const struct ran_review_pass *k, size_t i, const float *part, bool key)
{
        const struct ran_packed *packed = k->w->packed;
        struct ran_mask_ranges row = row_of(k->own, packed, i);
        size_t D = k->w->D, b = packed->window_doc[i], earlier = ran_packed_earlier(packed, b),
               sources = ran_review_sources(k->w, b);
        float *d = key ? k->dkey : k->dvalue, *own = d + (own_key(k, b) + unseen(k->w->c)) * D;

        part += key ? k->own->most_seen * D : 0;
        if (sources > 0 && packed->window[i + 1] > packed->doc[b] + sources) {
                ran_simd->add(d + first_key(k, b) * D, part, sources * D);
                part += sources * D;
        }
        for (size_t pos = 0, from, to;
             ran_mask_ranges_next(&k->own->seen[b], &row, &pos, &from, &to);)
                for (size_t j = from; j < to; j++, part += D)
                        if (j >= earlier)
                                ran_simd->add(own + (j - earlier) * D, part, D);
}

void ran_review_probe(const struct ran_review_pass *k, struct ran_probe *probe, size_t i,
                      const float *q, float *scratch)
{
        const struct ran_packed *packed = k->w->packed;
        size_t t0 = packed->window[i] - packed->doc[packed->window_doc[i]],
               n = packed->window[i + 1] - packed->window[i], from, to;

        if (!ran_probe_matches(probe, RAN_PROBE_REVIEW, k->l) ||
            !ran_probe_queries(probe, t0, n, &from, &to))
                return;
        struct view v = view_of(k, i, scratch);
        weigh(k->w, &v, q, v.spare);
        for (size_t t = from; t < to; t++) {
                const float *score = v.spare + t * v.keys + v.sources;

                for (size_t pos = 0, a, b;
                     ran_mask_ranges_next(&k->own->seen[v.b], &v.row, &pos, &a, &b); score += b - a)
                        ran_probe_add(probe, t0 + t, unseen(k->w->c) + a, score, b - a, 1.0f);
        }
}

/* ---- what the next chunk sees -----------------------------------------------------------------
 */

size_t ran_review_kept(const struct ran_config *c, size_t states)
{
        /* At least one: a document with no earlier state is read from the beginning. */
        size_t near = ran_most(c->ran.review_window / 2, 1);

        return c->ran.review == RAN_REVIEW_WINDOW ? ran_least(states, near) : states;
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

void ran_review_keep(const struct ran_review_pass *k, size_t b, size_t closed)
{
        const struct ran_workspace *w = k->w;
        struct ran_recurrent_state *recurrent = w->packed->recurrent[b];
        size_t D = w->D, earlier = ran_packed_earlier(w->packed, b), shared = recurrent->shared,
               fresh = ran_review_sources(w, b) + closed, /* a source comes with nothing earlier */
                all = ran_review_kept(w->c, earlier + fresh), added = ran_least(fresh, all),
               stay = all - added, from = (own_key(k, b) + closed - added) * D;
        float *key = recurrent->key[k->l], *value = recurrent->value[k->l];

        if (w->c->ran.review == RAN_REVIEW_WINDOW) {
                const struct ran_recurrent_state *base = recurrent->base;

                move_to_front(key, shared > 0 ? base->key[k->l] : NULL, shared, earlier - stay,
                              stay, D);
                move_to_front(value, shared > 0 ? base->value[k->l] : NULL, shared, earlier - stay,
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
        memcpy(key, k->key + from, added * D * sizeof *key);
        memcpy(value, k->value + from, added * D * sizeof *value);
}
