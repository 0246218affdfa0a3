/* encoder-ran.c - the layers of a Recurrent Attention Network, chunk by chunk. See layer.h for the
 * order of things. */
#include "model/encoder.h"
#include "model/layer.h"

#include <string.h>

/* ---- memory --------------------------------------------------------------------------------- */

/* Cuts the windows into chunks of whole windows; fills w->chunk and the largest chunk's T and R. */
static int cut_chunks(struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *rows = w->rows;
        struct ran_dims *x = &w->size;

        w->chunks = 0;
        x->T = x->R = 0;
        for (size_t from = 0, to; from < rows->m; from = to) {
                size_t T, R;

                for (to = from + 1; to < rows->m; to++)
                        if (ran_packed_row(rows, to + 1) - ran_packed_row(rows, from) >
                            w->chunk_rows)
                                break;
                T = rows->win[to] - rows->win[from];
                R = ran_packed_row(rows, to) - ran_packed_row(rows, from);
                x->T = T > x->T ? T : x->T;
                x->R = R > x->R ? R : x->R;
                size_t *chunk =
                        ran_grow(w->chunk, &w->chunk_cap, w->chunks + 2, sizeof *chunk, err);
                if (chunk == NULL)
                        return RAN_ENOMEM;
                w->chunk = chunk;
                w->chunk[w->chunks++] = from;
                w->chunk[w->chunks] = to;
        }
        return RAN_OK;
}

static void cut_chunk(struct ran_workspace *w, struct ran_arena *k, struct ran_chunk *out)
{
        RAN_DIMS;
        RAN_CHUNK(RAN_ARENA_FIELD)
}

static void cut_cells(struct ran_workspace *w, struct ran_arena *k, struct ran_cells *out)
{
        RAN_DIMS;
        RAN_CELLS(RAN_ARENA_FIELD)
}

static void cut_adjoints(struct ran_workspace *w, struct ran_arena *k, struct ran_adjoints *out)
{
        RAN_DIMS;
        RAN_ADJOINTS(RAN_ARENA_FIELD)
}

static size_t acts_of(const struct ran_workspace *w)
{
        if (w->keeps)
                return w->c->layers * w->chunks;
        return w->chunks > 1 ? 2 : 1;
}

/* Whether activations stay until the backward pass, and room for so many. */
static int plan_acts(struct ran_workspace *w, struct ran_error *err)
{
        struct ran_arena one = {0};
        struct ran_chunk unused;

        cut_chunk(w, &one, &unused);
        w->keeps = w->training &&
                   (w->chunks == 1 ||
                    one.count * (double)w->chunks * (double)w->c->layers <= (double)w->keep_floats);
        struct ran_chunk *acts = ran_grow(w->acts, &w->acts_cap, acts_of(w), sizeof *acts, err);
        if (acts == NULL)
                return RAN_ENOMEM;
        w->acts = acts;
        return RAN_OK;
}

/* Room for what ran_encode will leave in the documents' carries. */
static int reserve_carries(const struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *rows = w->rows;

        for (size_t b = 0; b < rows->B; b++)
                if (rows->recurrent[b] != NULL &&
                    ran_recurrent_state_reserve(rows->recurrent[b], rows->key[b + 1] - rows->key[b],
                                                w->training ? 0 : w->c->window, err) != RAN_OK)
                        return RAN_ENOMEM;
        return RAN_OK;
}

static int prepare(struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *rows = w->rows;
        struct ran_dims *x = &w->size;

        x->S = rows->m + rows->B;
        x->K = rows->B > 0 ? rows->key[rows->B] : 0;
        for (size_t b = 0; b < rows->B; b++) {
                size_t states = rows->key[b + 1] - rows->key[b];

                x->Y = states > x->Y ? states : x->Y;
        }
        for (size_t i = 0; i < rows->m; i++) {
                size_t tokens = ran_packed_row(rows, i + 1) - ran_packed_row(rows, i) - 1;

                x->longest = tokens > x->longest ? tokens : x->longest;
        }
        if (cut_chunks(w, err) != RAN_OK || plan_acts(w, err) != RAN_OK ||
            ran_workspace_rotary(w, x->longest, err) != RAN_OK || reserve_carries(w, err) != RAN_OK)
                return RAN_ENOMEM;
        return RAN_OK;
}

static void lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        const double rows = (double)w->size.L * (double)w->D;
        const double score = (double)w->size.T * (double)w->size.Y;
        const size_t layers = w->c->layers;
        const size_t n = w->size.longest + 1;

        for (size_t l = 0; l < layers; l++) {
                cut_cells(w, k, &w->cells[l]);
                if (w->training) {
                        w->y[l] = ran_arena_take(k, rows);
                        w->x[l + 1] = ran_arena_take(k, rows);
                } else {
                        w->y[l] = w->x[l + 1] = w->x[0]; /* rows are read once: in place */
                }
        }
        for (size_t i = 0; i < acts_of(w); i++)
                cut_chunk(w, k, &w->acts[i]);
        w->score = ran_arena_take(k, score);
        if (w->training) {
                cut_adjoints(w, k, &w->adj);
                w->dscore = ran_arena_take(k, score);
                w->dy = ran_arena_take(k, rows);
        }
        /* Two score matrices of a window with its cell (attention.c), or a cell's rows (scan.c). */
        w->lane_floats = 2 * n * n + w->F + 2 * w->E + 6 * w->D;
        w->scratch = ran_arena_take(k, (double)w->lanes * (double)w->lane_floats);
        w->aside = w->chunks > 1 ? ran_arena_take(k, (double)w->lanes * (double)w->lane_floats)
                                 : w->scratch;
}

/* ---- what a document leaves for its next piece ----------------------------------------------- */

/* Windows of a document that are complete, and will not change. */
static size_t closed_windows(const struct ran_workspace *w, size_t b)
{
        const struct ran_packed *rows = w->rows;
        size_t m = rows->docwin[b + 1] - rows->docwin[b];

        return ran_window_stays_open(w, rows->docwin[b + 1] - 1) ? m - 1 : m;
}

/* A layer's cell, keys and values, once all its chunks are done; s is the last of them. Room was
 * made by ran_workspace_fit. */
static void keep(const struct ran_layer_pass *s, size_t b)
{
        const struct ran_workspace *w = s->w;
        const struct ran_packed *rows = w->rows;
        struct ran_recurrent_state *recurrent = rows->recurrent[b];
        size_t D = w->D, closed = closed_windows(w, b), earlier = ran_packed_earlier(rows, b);
        const float *key = s->cells->key + (rows->key[b] + earlier) * D;
        const float *value = s->cells->value + (rows->key[b] + earlier) * D;
        size_t last = rows->docwin[b + 1] - 1, r = ran_packed_row(rows, last) - s->r0;

        memcpy(recurrent->G + s->l * D, s->cells->G + (rows->docwin[b] + b + closed) * D,
               D * sizeof(float));
        if (w->c->review) {
                memcpy(recurrent->key[s->l] + earlier * D, key, closed * D * sizeof(float));
                memcpy(recurrent->value[s->l] + earlier * D, value, closed * D * sizeof(float));
        } else { /* nobody asks for them, but they may be written to a file */
                memset(recurrent->key[s->l] + earlier * D, 0, closed * D * sizeof(float));
                memset(recurrent->value[s->l] + earlier * D, 0, closed * D * sizeof(float));
        }
        if (!ran_window_stays_open(w, last))
                return;
        memcpy(recurrent->qkv[s->l], s->act->qkv + r * 3 * w->E,
               (ran_packed_row(rows, last + 1) - ran_packed_row(rows, last)) * 3 * w->E *
                       sizeof(float));
        memcpy(recurrent->pre + s->l * w->F, s->act->pre + r * w->F, w->F * sizeof(float));
}

static void advance(const struct ran_workspace *w, size_t b)
{
        const struct ran_packed *rows = w->rows;
        struct ran_recurrent_state *recurrent = rows->recurrent[b];
        size_t last = rows->docwin[b + 1] - 1;

        recurrent->tokens += rows->doc[b + 1] - rows->doc[b];
        recurrent->states += closed_windows(w, b);
        recurrent->open = ran_window_stays_open(w, last)
                                  ? ran_packed_row(rows, last + 1) - ran_packed_row(rows, last) - 1
                                  : 0;
}

/* ---- what is looked at ----------------------------------------------------------------------- */

static void shape(const struct ran_config *c, struct ran_probe_shape *s)
{
        size_t m = ran_packed_windows(c, s->L, 0), rows = s->L + m;

        s->windows = m;
        s->window = c->window;
        s->table[RAN_PROBE_HEADS] =
                (struct ran_probe_table){RAN_AXIS_ROWS, RAN_AXIS_ROWS, rows, rows, c->heads};
        if (c->review)
                s->table[RAN_PROBE_REVIEW] =
                        (struct ran_probe_table){RAN_AXIS_TOKENS, RAN_AXIS_STATES, s->L, m + 1, 1};
}

/* The windows of a chunk; rows count in the one document there is. */
static void look_at_windows(void *arg, size_t at, float *score)
{
        const struct ran_layer_pass *s = arg;
        struct ran_probe *k = &s->w->probes->probe[at];
        size_t head, heads, from, to;
        float share = ran_probe_heads(k, s->w->h, &head, &heads);

        if (!ran_probe_matches(k, RAN_PROBE_HEADS, s->l))
                return;
        for (size_t i = s->from; i < s->to; i++) {
                struct ran_window_view v = ran_window_view_of(s, i);
                struct ran_attention_heads x = ran_attention_heads_of(s, &v);

                if (!ran_probe_queries(k, v.at, v.n, &from, &to))
                        continue;
                for (size_t j = head; j < heads; j++) {
                        ran_attention_weights(score, &x, j, from, to);
                        for (size_t r = from; r < to; r++)
                                ran_probe_add(k, v.at + r, v.at, score + (r - from) * v.n, v.n,
                                              share);
                }
        }
}

/* ---- a scan, and what others do meanwhile ---------------------------------------------------- */

/* A chunk's scan is the work of one thread a document. What another chunk needs does not wait for
 * it. */
struct beside {
        struct ran_layer_pass *scanned, *other; /* other NULL: there is none */
        void (*scan)(struct ran_layer_pass *s);
        void (*work)(struct ran_layer_pass *s);
};

static void run_beside(void *arg, size_t i)
{
        const struct beside *k = arg;

        if (i == 0)
                k->scan(k->scanned);
        else
                k->work(k->other);
}

static void scan_beside(struct beside k)
{
        ran_parallel(k.scanned->w->pool, k.other != NULL ? 2 : 1, run_beside, &k);
}

/* ---- forward -------------------------------------------------------------------------------- */

static void encode_layer(struct ran_workspace *w, const struct ran_layer_params *p, size_t l)
{
        struct ran_layer_pass s = ran_layer_pass_of(w, p, NULL, l, 0);

        /* Under a mask the last cell of the layer below has seen what this layer's first must not.
         */
        ran_scan_first_cells(&s, l > 0 && w->c->mask == RAN_MASK_NONE ? &w->cells[l - 1] : NULL);
        ran_window_project(&s);
        for (size_t chunk = 0; chunk < w->chunks; chunk++) {
                bool last = chunk + 1 == w->chunks;
                struct ran_layer_pass next =
                        ran_layer_pass_of(w, p, NULL, l, last ? chunk : chunk + 1);

                scan_beside((struct beside){&s, last ? NULL : &next, ran_scan, ran_window_project});
                ran_window_finish(&s);
                if (w->probes != NULL)
                        ran_workspace_each(w, 0, w->probes->n, look_at_windows, &s);
                s = next;
        }
        ran_review_states(&s);
        for (size_t chunk = 0; chunk < w->chunks; chunk++) {
                s = ran_layer_pass_of(w, p, NULL, l, chunk);
                ran_review(&s);
        }
        for (size_t b = 0; b < w->rows->B; b++)
                if (w->rows->recurrent[b] != NULL)
                        keep(&s, b);
}

static void encode(struct ran_workspace *w, const struct ran_params *p)
{
        for (size_t l = 0; l < w->c->layers; l++)
                encode_layer(w, &p->layer[l], l);
        for (size_t b = 0; b < w->rows->B; b++)
                if (w->rows->recurrent[b] != NULL)
                        advance(w, b);
}

/* ---- backward ------------------------------------------------------------------------------- */

static void clear_adjoints(struct ran_workspace *w)
{
        const struct ran_packed *rows = w->rows;
        size_t D = w->D, keys = rows->key[rows->B] * D * sizeof(float);
        struct ran_adjoints *j = &w->adj;

        memset(j->dG, 0, (rows->m + rows->B) * D * sizeof(float));
        memset(j->dkey, 0, keys);
        memset(j->dvalue, 0, keys);
        memset(j->dupdate_glu, 0, (rows->m + rows->B) * w->U * sizeof(float));
        memset(j->part, 0, rows->m * 6 * D * sizeof(float));
        for (size_t b = 0; b < rows->B; b++)
                memcpy(j->dG + (rows->docwin[b + 1] + b) * D, w->dlast + b * D, D * sizeof(float));
}

/* A chunk that was not kept, up to its review. */
static void restore(struct ran_layer_pass *s)
{
        s->known = true;
        ran_window_project(s);
        ran_window_finish(s);
}

static void encode_layer_bwd(struct ran_workspace *w, const struct ran_layer_params *p,
                             struct ran_layer_params *dp, size_t l)
{
        struct ran_layer_pass s;
        clear_adjoints(w);
        for (size_t chunk = 0; chunk < w->chunks; chunk++) {
                s = ran_layer_pass_of(w, p, dp, l, chunk);
                if (!w->keeps)
                        ran_review(&s);
                ran_review_bwd(&s);
        }
        ran_review_states_bwd(&s);
        if (!w->keeps)
                restore(&s);
        for (size_t chunk = w->chunks; chunk-- > 0;) {
                struct ran_layer_pass next =
                        ran_layer_pass_of(w, p, dp, l, chunk > 0 ? chunk - 1 : 0);

                ran_window_finish_bwd(&s);
                scan_beside((struct beside){&s, chunk > 0 && !w->keeps ? &next : NULL, ran_scan_bwd,
                                            restore});
                ran_window_project_bwd(&s);
                if (chunk > 0)
                        s = next;
        }
        ran_scan_weights_bwd(&s);
        ran_scan_first_cells_bwd(&s);
        if (w->c->mask != RAN_MASK_NONE)
                memset(w->dlast, 0, w->rows->B * w->D * sizeof(float)); /* there was no such cell */
}

static void encode_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        for (size_t l = w->c->layers; l-- > 0;)
                encode_layer_bwd(w, &p->layer[l], &dp->layer[l], l);
}

const struct ran_encoder ran_encoder_ran = {prepare, lay_out, encode, encode_bwd, NULL, shape};
