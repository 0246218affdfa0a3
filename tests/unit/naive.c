/* What the plain loops share, and all that is above an encoder. See naive.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "part/linear/linear-model.h"
#include "naive-parts.h"

/* ---- parameters ------------------------------------------------------------------------------ */

struct pair naive_pair(const struct naive *n, const char *name)
{
        struct pair p = {0};
        size_t length = strlen(name);

        for (size_t i = 0; i < n->layout->n; i++) {
                const struct ran_tensor_spec *s = &n->layout->spec[i];

                if (strncmp(s->name, name, length) != 0)
                        continue;
                if (s->name[length] == '\0')
                        p.w = n->block + s->offset;
                if (strcmp(s->name + length, ".bias") == 0)
                        p.b = n->block + s->offset;
                if (strcmp(s->name + length, ".weight") == 0)
                        p = (struct pair){n->block + s->offset, p.b,
                                          s->rows > 0 ? s->rows : s->cols, s->cols};
        }
        return p;
}

static struct pair in_layer(const struct naive *n, size_t l, const char *name)
{
        char whole[96];

        snprintf(whole, sizeof(whole), "ran.%zu.%s", l, name);
        return naive_pair(n, whole);
}

static struct naive_layer layer_of(const struct naive *n, size_t l)
{
        return (struct naive_layer){
                .l = l,
                .gpc = in_layer(n, l, "gpc"),
                .gpc_norm = in_layer(n, l, "gpc_norm"),
                .input_norm = in_layer(n, l, "input_norm"),
                .output_norm = in_layer(n, l, "output_norm"),
                .update_norm = in_layer(n, l, "update_norm"),
                .review_norm = in_layer(n, l, "review_norm"),
                .q = in_layer(n, l, "attn.q"),
                .k = in_layer(n, l, "attn.k"),
                .v = in_layer(n, l, "attn.v"),
                .out = in_layer(n, l, "attn.out"),
                .review_q = in_layer(n, l, "review.q"),
                .review_k = in_layer(n, l, "review.k"),
                .review_v = in_layer(n, l, "review.v"),
                .review_out = in_layer(n, l, "review.out"),
                .output = {in_layer(n, l, "output_glu.value"), in_layer(n, l, "output_glu.gate")},
                .update = {in_layer(n, l, "update_glu.value"), in_layer(n, l, "update_glu.gate")},
                .review = {in_layer(n, l, "review_glu.value"), in_layer(n, l, "review_glu.gate")},
                .cell_out = in_layer(n, l, "attn.cell"),
                .cell_norm = in_layer(n, l, "cell_norm"),
                .update_gate = in_layer(n, l, "update_gate"),
                .feed_norm = in_layer(n, l, "ffn_norm"),
                .feed_value = in_layer(n, l, "ffn.value"),
                .feed_gate = in_layer(n, l, "ffn.gate"),
                .feed_down = in_layer(n, l, "ffn.down"),
        };
}

static struct naive_head head_of(const struct naive *n)
{
        return (struct naive_head){
                .pool = naive_pair(n, "classify.pool"),
                .pool_norm = naive_pair(n, "classify.pool_norm"),
                .cell = naive_pair(n, "classify.cell"),
                .gpc = naive_pair(n, "classify.gpc"),
                .out = naive_pair(n, "classify.out"),
                .wide = naive_pair(n, "wide"),
                .gpc_glu = {naive_pair(n, "classify.gpc_glu.value"),
                            naive_pair(n, "classify.gpc_glu.gate")},
        };
}

void naive_init(struct naive *n, const struct ran_config *c, const struct ran_layout *layout,
                const struct ran_params *p, size_t V, size_t C)
{
        *n = (struct naive){.c = c, .layout = layout, .V = V, .C = C, .seed = p->seed};
        n->block = doubles(layout->size);
        const struct ran_linear_params *linear = ran_linear_of(p);
        n->idf = linear != NULL ? linear->idf : NULL;
        n->affixes = linear != NULL ? linear->affixes : NULL;
        n->embed = doubles((V + c->spelling) * c->dim + c->linear.wide * C);
        for (size_t i = 0; i < layout->size; i++)
                n->block[i] = (double)p->block[i];
        for (size_t i = 0; i < V * c->dim; i++)
                n->embed[i] = (double)p->embed[i];
        for (size_t i = 0; i < c->spelling * c->dim; i++)
                n->embed[V * c->dim + i] = (double)p->spelling[i];
        for (size_t i = 0; linear != NULL && i < c->linear.wide * C; i++)
                n->embed[(V + c->spelling) * c->dim + i] = (double)linear->wide[i];
        n->layer = calloc(c->layers, sizeof(*n->layer));
        n->head = calloc(1, sizeof(*n->head));
        if (n->layer == NULL || n->head == NULL)
                abort();
        for (size_t l = 0; l < c->layers; l++)
                n->layer[l] = layer_of(n, l);
        *n->head = head_of(n);
}

void naive_release(struct naive *n)
{
        free(n->block);
        free(n->embed);
        free(n->layer);
        free(n->head);
}

/* ---- building blocks ------------------------------------------------------------------------- */

bool naive_is_published(const struct naive *n)
{
        return n->c->encoder == RAN_ENCODER_RAN && n->c->ran.cell == RAN_CELL_PUBLISHED;
}

bool naive_is_gated(const struct naive *n)
{
        return n->c->ran.cell == RAN_CELL_GATED || n->c->ran.cell == RAN_CELL_PUBLISHED;
}

bool naive_is_prenorm(const struct naive *n)
{
        return n->c->ran.cell == RAN_CELL_PRENORM;
}

double naive_sigmoid(double x)
{
        return 1 / (1 + exp(-x));
}

double naive_phi(const struct naive *n, double x)
{
        return naive_is_gated(n) ? x * naive_sigmoid(x) : x;
}

void naive_linear(const struct naive *n, double *y, const double *x, struct pair p, size_t N,
                  bool activated)
{
        for (size_t r = 0; r < N; r++)
                for (size_t o = 0; o < p.O; o++) {
                        double sum = p.b != NULL ? p.b[o] : 0;

                        for (size_t i = 0; i < p.I; i++)
                                sum += p.w[o * p.I + i] * x[r * p.I + i];
                        y[r * p.O + o] = activated ? naive_phi(n, sum) : sum;
                }
}

void naive_add_glu(const struct naive *n, double *y, const double *x, struct glu g, size_t N)
{
        size_t D = n->c->dim;
        double *value = doubles(N * D), *gate = doubles(N * D);

        naive_linear(n, value, x, g.value, N, false);
        naive_linear(n, gate, x, g.gate, N, false);
        for (size_t i = 0; i < N * D; i++)
                y[i] += value[i] * naive_sigmoid(gate[i]);
        free(value);
        free(gate);
}

void naive_norm(const struct naive *n, double *x, const struct pair *p, size_t N)
{
        size_t D = n->c->dim;
        double eps = p != NULL && !naive_is_published(n) ? 1e-5 : 1e-7;

        for (size_t r = 0; r < N; r++, x += D) {
                double mean = 0, var = 0;

                for (size_t i = 0; i < D; i++)
                        mean += x[i] / (double)D;
                for (size_t i = 0; i < D; i++)
                        var += pow(x[i] - (naive_is_published(n) ? 0 : mean), 2) / (double)D;
                for (size_t i = 0; i < D; i++) {
                        x[i] = (x[i] - mean) / sqrt(var + eps);
                        if (p != NULL)
                                x[i] = x[i] * p->w[i] + p->b[i];
                }
        }
}

void naive_softmax(double *x, size_t n)
{
        double top = x[0], sum = 0;

        for (size_t i = 1; i < n; i++)
                top = fmax(top, x[i]);
        for (size_t i = 0; i < n; i++)
                sum += x[i] = exp(x[i] - top);
        for (size_t i = 0; i < n; i++)
                x[i] /= sum;
}

void naive_drop(const struct naive *n, double *x, size_t count, size_t at, size_t layer, int site,
                double p)
{
        uint64_t purpose = RAN_FOR_DROPOUT + 16 * (layer * RAN_DROP_SITES + (uint64_t)site);
        uint64_t key = ran_random_key(n->noise.seed, purpose, n->noise.epoch, n->record);

        for (size_t i = 0; i < count && p > 0; i++) {
                uint64_t bits = ran_random_draw(key, (at + i) / 4) >> 16 * ((at + i) % 4) & 0xffff;

                x[i] = bits < (uint64_t)(p * 65536 + 0.5) ? 0 : x[i] / (1 - p);
        }
}

void naive_rotate(double *row, size_t position, size_t h, size_t d)
{
        for (size_t i = 0; i < h * d; i += 2) {
                double angle = (double)position * pow(10000, -(double)(i % d) / (double)d);
                double a = row[i], b = row[i + 1];

                row[i] = a * cos(angle) - b * sin(angle);
                row[i + 1] = a * sin(angle) + b * cos(angle);
        }
}

/* x (D): the piece, and each feature of the spelling of its word. */
static void embed(const struct naive *n, double *x, uint32_t id, size_t t)
{
        size_t D = n->c->dim, features = n->c->spelling > 0 ? RAN_SPELLING : 0;

        memcpy(x, n->embed + id * D, D * sizeof(*x));
        for (size_t i = t * features; i < (t + 1) * features; i++)
                for (size_t d = 0; d < D; d++)
                        x[d] += n->embed[(n->V + n->spelling[i]) * D + d];
}

void naive_read_tokens(const struct naive *n, double *x, const uint32_t *ids, size_t L)
{
        size_t D = n->c->dim;

        if (n->given != NULL)
                memcpy(x, n->given, L * D * sizeof(*x));
        for (size_t t = 0; t < L && n->given == NULL; t++)
                embed(n, x + t * D, ids[t], t);
        naive_drop(n, x, L * D, 0, 0, RAN_DROP_EMBED, n->noise.embed_dropout);
}

/* ---- the head -------------------------------------------------------------------------------- */

void naive_pool(const struct naive *n, double *v, const double *x, size_t L)
{
        size_t D = n->c->dim;

        for (size_t i = 0; i < D; i++) {
                double top = x[i], sum = 0;

                for (size_t t = 0; t < L; t++) {
                        top = fmax(top, x[t * D + i]);
                        sum += x[t * D + i];
                }
                v[i] = n->c->pooling == RAN_POOL_MAX ? top : sum / (double)L;
        }
}

/* The vector of a document by the encoder that n->c names. */
static void read_document(const struct naive *n, double *v, const uint32_t *ids, size_t L)
{
        if (n->c->encoder == RAN_ENCODER_CONTEXTUALIZER)
                naive_read_context(n, v, ids, L);
        else if (n->c->encoder == RAN_ENCODER_TRANSFORMER)
                naive_read_pooled(n, v, ids, L);
        else if (n->c->ran.vector)
                naive_read_learned(n, v, ids, L);
        else
                naive_read_cells(n, v, ids, L);
}

/* ---- above the windows of an encoder: --upper certain ---------------------------------------- */

/* The row of the window that is surest of its label. */
static void choose_window(const struct naive *n, double *h, const double *x, size_t R)
{
        const size_t D = n->c->dim, C = n->C;
        double *logits = doubles(C), best = -INFINITY;

        for (size_t r = 0; r < R; r++) {
                double top = -INFINITY;

                naive_linear(n, logits, x + r * D, n->head->out, 1, false);
                if (!n->c->classify.multilabel)
                        naive_softmax(logits, C);
                for (size_t c = 0; c < C; c++)
                        top = fmax(top, logits[c]);
                if (top > best)
                        memcpy(h, x + r * D, D * sizeof(*h));
                best = fmax(top, best);
        }
        free(logits);
}

static void read_windows(const struct naive *n, double *v, const uint32_t *ids, size_t L)
{
        const size_t D = n->c->dim, m = naive_windows(n, L);
        double *x = doubles(L * D), *own = doubles(D), *tokens = doubles(L * D),
               *each = doubles(m * D);

        naive_read_tokens(n, x, ids, L);
        naive_bert(n, own, tokens, each, x, L);
        if (n->c->upper == RAN_UPPER_CERTAIN)
                choose_window(n, v, each, m);
        else
                memcpy(v, own, D * sizeof(*v));
        free(x);
        free(own);
        free(tokens);
        free(each);
}

/* ---- the linear model ---- */

/* The last quarter is for affixes, rounded up. */
static size_t runs_of(const struct naive *n)
{
        return n->c->linear.affixes ? 3 * n->c->linear.wide / 4 : n->c->linear.wide;
}

/* One round of SplitMix64 for each id. */
static size_t bucket_of(const struct naive *n, const uint32_t *ids, size_t length)
{
        uint64_t z = 0;

        for (size_t i = 0; i < length; i++) {
                z = (z ^ ids[i]) + 0x9e3779b97f4a7c15u;
                z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
                z = (z ^ z >> 27) * 0x94d049bb133111ebu;
                z ^= z >> 31;
        }
        return (size_t)(z % runs_of(n));
}

static uint32_t kind(const struct naive *n, uint32_t id)
{
        return n->affixes[id * RAN_AFFIX_ROW + RAN_AFFIXES];
}

/* Whether tokens [from, to) are words of one piece each. */
static bool words_are_whole(const struct naive *n, const uint32_t *ids, size_t L, size_t from,
                            size_t to)
{
        for (size_t t = from; t < to && n->c->linear.affixes; t++)
                if (kind(n, ids[t]) != RAN_SUBWORD_BEGINS)
                        return false;
        return !n->c->linear.affixes || to == L || kind(n, ids[to]) != RAN_SUBWORD_CONTINUES;
}

static void add_wide(const struct naive *n, double *logits, const uint32_t *ids, size_t L)
{
        const double *table = n->embed + (n->V + n->c->spelling) * n->c->dim;
        double *x = doubles(n->c->linear.wide), squares[2] = {0};

        for (size_t length = 1; length <= n->c->linear.ngrams; length++)
                for (size_t t = 0; t + length <= L; t++)
                        if (words_are_whole(n, ids, L, t, t + length))
                                x[bucket_of(n, ids + t, length)]++;
        for (size_t t = 0; n->c->linear.affixes && t < L; t++)
                for (size_t i = 0; i < RAN_AFFIXES; i++) {
                        uint32_t bucket = n->affixes[ids[t] * RAN_AFFIX_ROW + i];
                        size_t later = i % 2 == 0 ? t : t + 1; /* the first is behind no other */

                        if (bucket != RAN_NO_AFFIX &&
                            (later == L || kind(n, ids[later]) != RAN_SUBWORD_CONTINUES))
                                x[bucket]++;
                }
        for (size_t g = 0; g < n->c->linear.wide; g++) {
                x[g] = x[g] > 0 ? (1 + log(x[g])) * (double)n->idf[g] : 0;
                squares[g >= runs_of(n)] += x[g] * x[g];
        }
        for (size_t g = 0; g < n->c->linear.wide; g++) {
                double other = squares[g < runs_of(n)], own = squares[g >= runs_of(n)];

                for (size_t c = 0; c < n->C && x[g] > 0; c++)
                        logits[c] += x[g] / sqrt(other > 0 ? 2 * own : own) * table[g * n->C + c];
        }
        for (size_t c = 0; c < n->C; c++)
                logits[c] += n->head->wide.b[c];
        free(x);
}

void naive_classify(const struct naive *n, double *logits, double *head, const uint32_t *ids,
                    size_t L)
{
        size_t D = n->c->dim;
        double *sum = doubles(D);

        if (n->c->encoder == RAN_ENCODER_BERT)
                read_windows(n, sum, ids, L);
        else
                read_document(n, sum, ids, L);
        naive_drop(n, sum, D, 0, 0, RAN_DROP_HEAD, n->noise.dropout);
        naive_linear(n, logits, sum, n->head->out, 1, false); /* (11) */
        if (n->c->linear.wide > 0)
                add_wide(n, logits, ids, L);
        if (head != NULL)
                memcpy(head, sum, D * sizeof(*head));
        free(sum);
}

double naive_loss(const double *logits, size_t C, const uint32_t *gold, size_t n_gold,
                  bool multilabel, double smoothing)
{
        double *p = doubles(C), loss = 0;

        memcpy(p, logits, C * sizeof(*p));
        naive_softmax(p, C);
        for (size_t c = 0; c < C; c++) {
                bool is = false;

                for (size_t i = 0; i < n_gold; i++)
                        is |= gold[i] == c;
                if (multilabel) {
                        double y = (is ? 1 - smoothing : 0) + smoothing / 2;

                        loss -= y * log(naive_sigmoid(logits[c])) / (double)C;
                        loss -= (1 - y) * log(naive_sigmoid(-logits[c])) / (double)C;
                } else {
                        loss -= ((is ? 1 - smoothing : 0) + smoothing / (double)C) * log(p[c]);
                }
        }
        free(p);
        return loss;
}
