/* linear-model.c - see linear-model.h. */
#include "part/linear/linear-model.h"
#include "part/linear/linear-rows.h"
#include "math/elementary.h"
#include "math/simd.h"
#include "nn/part.h"
#include "part/vectors/document-vector.h"
#include "ran/model.h"
#include "ran/math.h"

#include <math.h>
#include <string.h>

uint32_t ran_linear_model_bucket(const uint32_t *ids, size_t n, size_t buckets)
{
        uint64_t hash = 0;

        for (size_t i = 0; i < n; i++)
                hash = ran_linear_model_extend(hash, ids[i]);
        return ran_linear_model_bucket_of(hash, buckets);
}

/* A quarter, rounded up. */
static size_t affix_buckets(const struct ran_config *c)
{
        return (c->linear.wide + 3) / 4;
}

size_t ran_linear_model_ngram_buckets(const struct ran_config *c)
{
        return c->linear.affixes ? c->linear.wide - affix_buckets(c) : c->linear.wide;
}

/* ---- affixes of subwords --------------------------------------------------------------------- */

/* The byte at which character i of a subword (UTF-8) begins; its end if it has no more. */
static size_t byte_of(const char *subword, size_t n, size_t i)
{
        size_t at = 0;

        for (; i > 0 && at < n; i--)
                do
                        at++;
                while (at < n && ((unsigned char)subword[at] & 0xc0) == 0x80);
        return at;
}

/* The seed keeps affixes apart from n-grams: no n-gram's hash begins with it. */
static uint32_t affix_of(bool last, const char *from, const char *end, const struct ran_config *c)
{
        size_t buckets = affix_buckets(c);
        uint64_t hash = UINT64_C(0x5370656c6c696e67) + last;

        for (; from < end; from++)
                hash = ran_linear_model_extend(hash, (unsigned char)*from);
        return (uint32_t)(c->linear.wide - buckets) + ran_linear_model_bucket_of(hash, buckets);
}

static void describe(uint32_t *to, const char *subword, size_t n, const struct ran_config *c)
{
        size_t count = 0; /* of characters */

        for (size_t i = 0; i < n; i++)
                count += ((unsigned char)subword[i] & 0xc0) != 0x80;
        for (size_t i = RAN_AFFIX_LEAST; i <= RAN_AFFIX_MOST && i <= count; i++, to += 2) {
                to[0] = affix_of(false, subword, subword + byte_of(subword, n, i), c);
                to[1] = affix_of(true, subword + byte_of(subword, n, count - i), subword + n, c);
        }
}

uint32_t *ran_linear_model_affixes(const struct ran_tokenizer *t, const struct ran_config *c,
                                   struct ran_error *err)
{
        static const char goes_on[] = "##"; /* begins a subword that is not a word's first */
        const size_t V = ran_tokenizer_size(t), mark = strlen(goes_on);
        uint32_t *affixes = NULL, *to;
        size_t all, n;

        if (!__builtin_mul_overflow(V, RAN_AFFIX_ROW, &all))
                affixes = ran_alloc(all, sizeof *affixes, err);
        to = affixes;
        for (size_t id = 0; id < V && affixes != NULL; id++, to += RAN_AFFIX_ROW) {
                const char *subword = ran_tokenizer_token(t, (uint32_t)id, &n);

                for (size_t i = 0; i < RAN_AFFIXES; i++)
                        to[i] = RAN_NO_AFFIX;
                to[RAN_AFFIXES] = RAN_SUBWORD_UNKNOWN;
                if (subword == NULL || id == ran_tokenizer_unknown(t))
                        continue;
                const bool continues = n > mark && memcmp(subword, goes_on, mark) == 0;
                const size_t from = continues ? mark : 0;
                to[RAN_AFFIXES] = continues ? RAN_SUBWORD_CONTINUES : RAN_SUBWORD_BEGINS;
                describe(to, subword + from, n - from, c);
        }
        return affixes;
}

/* ---- lists ----------------------------------------------------------------------------------- */

bool ran_linear_model_wants_affixes(const struct ran_config *c)
{
        return ran_has_linear_model(c) && c->linear.affixes;
}

size_t ran_linear_model_features(const struct ran_config *c)
{
        return c->linear.ngrams + (c->linear.affixes ? RAN_AFFIXES : 0);
}

/* Where a chunk of a long document's features has room beside the buckets. */
size_t ran_linear_model_room(const struct ran_config *c, size_t L)
{
        const size_t features = ran_linear_model_features(c), most = c->linear.wide + features;

        return L < most / features ? L * features : most;
}

static uint32_t kind(const uint32_t *affixes, uint32_t id)
{
        return affixes[(size_t)id * RAN_AFFIX_ROW + RAN_AFFIXES];
}

static bool is_last(const uint32_t *affixes, const uint32_t *ids, size_t L, size_t t)
{
        return t + 1 == L || kind(affixes, ids[t + 1]) != RAN_SUBWORD_CONTINUES;
}

size_t ran_linear_model_longest(const struct ran_config *c, const uint32_t *affixes,
                                const uint32_t *ids, size_t L, size_t t)
{
        size_t n = 0;

        while (n < c->linear.ngrams && t + n < L &&
               (affixes == NULL || (kind(affixes, ids[t + n]) == RAN_SUBWORD_BEGINS &&
                                    is_last(affixes, ids, L, t + n))))
                n++;
        return n;
}

/* Affix i of token t's word: a prefix if t is its first subword, a suffix if its last. */
static uint32_t affix(const uint32_t *affixes, const uint32_t *ids, size_t L, size_t t, size_t i)
{
        bool there = i % 2 == 0 ? kind(affixes, ids[t]) != RAN_SUBWORD_CONTINUES
                                : is_last(affixes, ids, L, t);

        return there ? affixes[(size_t)ids[t] * RAN_AFFIX_ROW + i] : RAN_NO_AFFIX;
}

/* All of token t, without a branch for each: which ones there are cannot be foreseen. Writes up to
 * RAN_AFFIXES numbers, returns how many count. */
static size_t list_affixes(uint32_t *to, const uint32_t *affixes, const uint32_t *ids, size_t L,
                           size_t t)
{
        const uint32_t *row = affixes + (size_t)ids[t] * RAN_AFFIX_ROW;
        const bool prefixes = row[RAN_AFFIXES] != RAN_SUBWORD_CONTINUES;
        const bool suffixes = is_last(affixes, ids, L, t);
        size_t n = 0;

        for (size_t i = 0; i < RAN_AFFIXES; i += 2) {
                to[n] = row[i];
                n += prefixes & (row[i] != RAN_NO_AFFIX);
                to[n] = row[i + 1];
                n += suffixes & (row[i + 1] != RAN_NO_AFFIX);
        }
        return n;
}

/* The document that is listed, and the tokens of it, [from, end). */
struct tokens {
        const uint32_t *ids;
        size_t L, from, end;
};

/* The buckets of n-grams that begin there; rows: NULL, or where each will be looked up. */
static size_t list_ngrams(uint32_t *to, const struct ran_config *c, const uint32_t *affixes,
                          const struct ran_linear_rows *rows, const struct tokens *tokens)
{
        const size_t buckets = ran_linear_model_ngram_buckets(c), L = tokens->L;
        const uint32_t *ids = tokens->ids;
        size_t n = 0;

        for (size_t t = tokens->from; t < tokens->end; t++) {
                size_t most = ran_linear_model_longest(c, affixes, ids, L, t);
                uint64_t hash = 0;

                for (size_t i = 0; i < most; i++) {
                        hash = ran_linear_model_extend(hash, ids[t + i]);
                        to[n] = ran_linear_model_bucket_of(hash, buckets);
                        if (rows != NULL)
                                __builtin_prefetch(rows->group + to[n] / 64);
                        n++;
                }
        }
        return n;
}

/* All features of these tokens: rows of p, or buckets where it is NULL. Affixes are as their table
 * has them. */
static size_t list_tokens(uint32_t *to, const struct ran_config *c, const uint32_t *affixes,
                          const struct ran_linear_params *p, const struct tokens *tokens)
{
        const struct ran_linear_rows *rows = p != NULL ? p->rows : NULL;
        size_t all = list_ngrams(to, c, affixes, rows, tokens), n = rows != NULL ? 0 : all;

        for (size_t i = 0; i < all && rows != NULL; i++) { /* without those that have none */
                const uint32_t row = ran_linear_row(p, to[i]);

                to[n] = row;
                n += row != RAN_NO_ROW;
        }
        for (size_t t = tokens->from; t < tokens->end && affixes != NULL; t++)
                n += list_affixes(to + n, affixes, tokens->ids, tokens->L, t);
        return n;
}

/* From n sorted rows to each row once, and its count. Rows are far apart in memory: their idf is
 * asked for before the first is needed. */
static size_t count_sorted(struct ran_linear_features f, size_t n,
                           const struct ran_linear_params *p)
{
        size_t count = 0;

        for (size_t i = 0, from; i < n;) {
                for (from = i++; i < n && f.row[i] == f.row[from]; i++)
                        ;
                if (p != NULL)
                        ran_linear_fetch_idf(p, f.row[from]);
                f.row[count] = f.row[from];
                f.times[count++] = (uint32_t)(i - from);
        }
        return count;
}

/* Fills f.row, ascending, and f.times. A long document is counted chunk by chunk. */
static size_t list_features(struct ran_linear_features f, uint32_t *spare,
                            const struct ran_config *c, const uint32_t *affixes,
                            const struct ran_linear_params *p, const uint32_t *ids, size_t L)
{
        const size_t rows = p != NULL && p->rows != NULL ? p->rows->n : c->linear.wide;
        const size_t chunk = ran_linear_model_room(c, L) / ran_linear_model_features(c);
        struct tokens tokens = {ids, L, 0, L};
        size_t n = 0;

        if (L <= chunk) {
                n = list_tokens(f.row, c, affixes, p, &tokens);
                ran_posting_sort_ids(f.row, spare, n);
                return count_sorted(f, n, p);
        }
        memset(spare, 0, rows * sizeof *spare);
        for (; tokens.from < L; tokens.from = tokens.end) {
                tokens.end = L - tokens.from < chunk ? L : tokens.from + chunk;
                n = list_tokens(f.row, c, affixes, p, &tokens);
                for (size_t i = 0; i < n; i++)
                        spare[f.row[i]]++;
        }
        n = 0;
        for (size_t row = 0; row < rows; row++)
                if (spare[row] > 0) {
                        f.row[n] = (uint32_t)row;
                        f.times[n++] = spare[row];
                }
        return n;
}

size_t ran_linear_model_list(struct ran_posting *to, struct ran_posting *spare,
                             const struct ran_config *c, const uint32_t *affixes,
                             const uint32_t *ids, size_t L)
{
        uint32_t *half = &spare->id; /* of the spare room */
        const struct ran_linear_features f = {half, half + ran_linear_model_room(c, L), NULL};
        const size_t n = list_features(f, &to->id, c, affixes, NULL, ids, L);

        for (size_t i = 0; i < n; i++)
                to[i] = (struct ran_posting){f.row[i], f.times[i]};
        return n;
}

float ran_linear_model_idf(double having, double documents)
{
        return having < 2 ? 0.0f : (float)(1 + ran_log((1 + documents) / (1 + having)));
}

/* ---- the features of a document ------------------------------------------------------------- */

/* x length / root, for each x. Division is slow: two at a time. */
static void divide(float *x, size_t n, double length, double root)
{
        typedef double pair __attribute__((vector_size(16)));
        size_t i = 0;

        for (; i + 2 <= n; i += 2) {
                pair v = {(double)x[i], (double)x[i + 1]};

                v = v * length / root;
                x[i] = (float)v[0];
                x[i + 1] = (float)v[1];
        }
        if (i < n)
                x[i] = (float)((double)x[i] * length / root);
}

/* 1 + ln n of the counts that are met again and again; 0: not computed yet. */
struct counts {
        double tf[16];
};

/* Before it is divided by the length. */
static inline float weigh(struct counts *k, uint32_t n, float idf)
{
        double few = 0, *tf = n < sizeof k->tf / sizeof *k->tf ? &k->tf[n] : &few;

        if (*tf == 0)
                *tf = n == 1 ? 1 : 1 + ran_log((double)n);
        return (float)(*tf * (double)idf);
}

/* The `first` of `count` are n-grams, the others affixes. */
static void set_lengths(float *x, size_t first, size_t count, const double squares[2])
{
        double length = first > 0 && first < count ? sqrt(0.5) : 1;

        divide(x, first, length, sqrt(squares[0]));
        divide(x + first, count - first, length, sqrt(squares[1]));
}

size_t ran_linear_model_weigh(float *x, const struct ran_posting *list, size_t n, const float *idf,
                              size_t runs)
{
        struct counts counts = {{0}};
        double squares[2] = {0};
        size_t count = 0, first = 0;

        for (size_t i = 0; i < n; i++) {
                const bool affix = list[i].id >= runs;

                if (!(idf[list[i].id] > 0))
                        continue;
                x[count] = weigh(&counts, list[i].at, idf[list[i].id]);
                squares[affix] += (double)x[count] * (double)x[count];
                first += !affix;
                count++;
        }
        set_lengths(x, first, count, squares);
        return count;
}

/* Features [from, end) get values, those with an idf, and move to `to`; returns the end of these.
 * squares: the sum of their squares. */
static size_t weigh_rows(struct ran_linear_features f, size_t to, size_t from, size_t end,
                         const struct ran_linear_params *p, size_t C, struct counts *counts,
                         double *squares)
{
        double sum = 0;

        for (size_t i = from; i < end; i++) {
                const float idf = ran_linear_idf(p, f.row[i]);

                if (!(idf > 0))
                        continue;
                ran_linear_fetch_row(p, f.row[i], C);
                const float x = weigh(counts, f.times[i], idf);

                f.row[to] = f.row[i];
                f.times[to] = f.times[i];
                f.x[to++] = x;
                sum += (double)x * (double)x;
        }
        *squares = sum;
        return to;
}

size_t ran_linear_model_read(struct ran_linear_features f, uint32_t *spare,
                             const struct ran_config *c, const struct ran_linear_params *p,
                             size_t C, const uint32_t *ids, size_t L)
{
        /* the last rows are those of affixes, as buckets are */
        const size_t bucket = ran_linear_model_ngram_buckets(c);
        const size_t affix =
                p->rows == NULL ? bucket
                                : ran_linear_lower_bound(p->rows->bucket, 0, p->rows->n, bucket);
        struct counts counts = {{0}};
        double squares[2];
        size_t first = 0, n;

        n = list_features(f, spare, c, p->affixes, p, ids, L);
        while (first < n && f.row[first] < affix)
                first++;
        size_t ngrams = weigh_rows(f, 0, 0, first, p, C, &counts, &squares[0]);
        n = weigh_rows(f, ngrams, first, n, p, C, &counts, &squares[1]);
        set_lengths(f.x, ngrams, n, squares);
        return n;
}

/* ---- the part ------------------------------------------------------------------------------- */

/* Features of document b from doc[b] features_of(b) on, grams[b] of them. */
struct memory {
        float *linear;        /* (B, C) its own logits */
        float *dense;         /* (B, F) features that other parts make, */
        float *ddense;        /* and their adjoint, only for training */
        uint32_t *gram_row;   /* of the table, ascending */
        uint32_t *gram_times; /* how often the feature is there, */
        float *gram_x;        /* and its value, laid out as gram_row */
        size_t *grams;        /* (B) */
        uint32_t *gram_spare; /* scratch of a document */
};

static struct memory *memory_of(const struct ran_workspace *w)
{
        return w->own[RAN_PART_LINEAR];
}

static bool is_in(const struct ran_config *c)
{
        return c->linear.wide > 0 && ran_task_of(c)->linear == RAN_LINEAR_SVM;
}

static int check(const struct ran_config *c, struct ran_error *err)
{
        if (c->linear.affixes && c->linear.wide == 1)
                return ran_fail(err, RAN_EINVAL,
                                "n-grams and affixes have rows of their own: wide must be 2 at "
                                "least, or affixes off");
        return RAN_OK;
}

/* Whether documents of the packed batch have so much room each, which is less than room for the
 * features of all tokens. */
static bool is_apart(const struct ran_config *c, const struct ran_dims *size)
{
        return (double)size->B * (double)ran_linear_model_room(c, size->L) <
               (double)size->L * (double)ran_linear_model_features(c);
}

#define FLOATS_OF(type) ((double)sizeof(type) / (double)sizeof(float))

static void lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        struct memory *out = memory_of(w);
        const struct ran_dims *x = &w->size;
        const double B = (double)x->B, L = (double)x->L, C = (double)x->C;
        const double dense = B * (double)w->parts.features;
        const double room = (double)ran_linear_model_room(w->c, x->L);
        const double runs =
                is_apart(w->c, x) ? B * room : L * (double)ran_linear_model_features(w->c);

        out->linear = ran_arena_take(k, B * C);
        out->dense = ran_arena_take(k, dense);
        out->ddense = ran_arena_take(k, w->training ? dense : 0);
        out->grams = (size_t *)ran_arena_take(k, FLOATS_OF(size_t) * B);
        out->gram_row = (uint32_t *)ran_arena_take(k, FLOATS_OF(uint32_t) * runs);
        out->gram_times = (uint32_t *)ran_arena_take(k, FLOATS_OF(uint32_t) * runs);
        out->gram_x = ran_arena_take(k, runs);
        out->gram_spare = (uint32_t *)ran_arena_take(k, FLOATS_OF(uint32_t) * room);
}

/* The features of document b of w->packed. */
static struct ran_linear_features features_of(const struct ran_workspace *w, size_t b)
{
        const struct memory *h = memory_of(w);
        const size_t features = ran_linear_model_features(w->c);
        const size_t each = ran_linear_model_room(w->c, w->size.L);
        const size_t at = is_apart(w->c, &w->size) ? b * each : w->packed->doc[b] * features;

        return (struct ran_linear_features){h->gram_row + at, h->gram_times + at, h->gram_x + at};
}

/* Vectors of documents: x += v wide.dense. */
static void add_dense(struct ran_workspace *w, const struct ran_params *p, size_t b, size_t C)
{
        struct memory *h = memory_of(w);
        const size_t F = w->parts.features;
        const float *weight = ran_linear_of(p)->dense;
        float *v = h->dense + b * F;

        if (w->given != NULL)
                memcpy(v, w->given + b * F, F * sizeof *v);
        else if (F > 0)
                ran_document_vector(w, p, b, v);
        for (size_t f = 0; f < F; f++) {
                ran_simd->axpy(h->linear + b * C, v[f], weight + f * C, C);
                ran_simd->axpy(w->head.logits + b * C, v[f], weight + f * C, C);
        }
}

void ran_linear_model_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, size_t C)
{
        struct memory *h = memory_of(w);
        const float *weight = ran_linear_of(p)->dense;

        for (size_t f = 0; f < w->parts.features; f++)
                h->ddense[f] = (float)ran_dot(w->head.dlogits, weight + f * C, C);
        ran_document_vector_bwd(w, p, dp, h->ddense);
}

void ran_linear_model_rows_bwd(struct ran_workspace *w, const struct ran_params *p)
{
        ran_document_vector_rows_bwd(w, p, memory_of(w)->ddense);
}

void ran_linear_model_add(struct ran_workspace *w, const struct ran_params *p, size_t C)
{
        const struct ran_linear_params *own = ran_linear_of(p);
        struct memory *h = memory_of(w);
        float *logits = w->head.logits;

        memset(h->linear, 0, w->packed->B * C * sizeof *h->linear);
        for (size_t b = 0; b < w->packed->B; b++) {
                const struct ran_linear_features f = features_of(w, b);
                const size_t from = w->packed->doc[b], L = w->packed->doc[b + 1] - from;
                float *linear = h->linear + b * C;

                h->grams[b] = ran_linear_model_read(f, h->gram_spare, w->c, own, C,
                                                    w->packed->ids + from, L);
                ran_linear_sum(linear, own, f.x, f.row, h->grams[b], C);
                ran_simd->axpy(logits + b * C, w->linear_weight, linear, C);
                add_dense(w, p, b, C);
                ran_simd->add(logits + b * C, own->bias, C);
                ran_simd->add(linear, own->bias, C);
        }
}

const float *ran_linear_model_logits(const struct ran_workspace *w)
{
        return memory_of(w)->linear;
}

/* ---- explaining ----------------------------------------------------------------------------- */

/* Contributions of features to a weighted sum of the logits. */
struct contribution {
        const struct memory *h;
        const struct ran_linear_params *p;
        const float *weight;
        size_t C;
};

/* The contribution of one occurrence of a feature in the row. */
static double contribution_of(const struct contribution *k, uint32_t row)
{
        const struct memory *h = k->h;
        const size_t n = h->grams[0], i = ran_linear_lower_bound(h->gram_row, 0, n, row);

        if (i == n || h->gram_row[i] != row) /* as for RAN_NO_AFFIX and RAN_NO_ROW */
                return 0;
        return (double)h->gram_x[i] * ran_linear_dot(k->weight, k->p, h->gram_row[i], k->C) /
               (double)h->gram_times[i];
}

/* An n-gram divides its contribution evenly among its tokens. */
void ran_linear_model_explain(const struct ran_workspace *w, const struct ran_params *p, size_t C,
                              const float *weight, double scale, double *value)
{
        const struct ran_linear_params *linear = ran_linear_of(p);
        const struct contribution k = {memory_of(w), linear, weight, C};
        const struct ran_config *c = w->c;
        const uint32_t *ids = w->packed->ids;
        size_t L = w->packed->L, runs = ran_linear_model_ngram_buckets(c);

        for (size_t t = 0; t < L; t++) {
                size_t most = ran_linear_model_longest(c, linear->affixes, ids, L, t);

                for (size_t n = 1; n <= most; n++) {
                        uint32_t bucket = ran_linear_model_bucket(ids + t, n, runs);
                        double part = scale / (double)n *
                                      contribution_of(&k, ran_linear_row(linear, bucket));

                        for (size_t i = t; i < t + n; i++)
                                value[i] += part;
                }
                for (size_t i = 0; i < RAN_AFFIXES && linear->affixes != NULL; i++)
                        value[t] +=
                                scale * contribution_of(&k, affix(linear->affixes, ids, L, t, i));
        }
}

const struct ran_part ran_part_linear = {
        .is_in = is_in,
        .check = check,
        .params_size = sizeof(struct ran_linear_params),
        .tensors = ran_linear_tensors,
        .tables = ran_linear_tables,
        .own_size = sizeof(struct memory),
        .lay_out = lay_out,
};
