/* linear-model.c - see linear-model.h. */
#include "model/linear-model.h"
#include "model/document-vector.h"
#include "model/linear-rows.h"
#include "math/elementary.h"
#include "math/simd.h"
#include "ran/model.h"
#include "ran/math.h"

#include <math.h>
#include <sched.h>
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
        return (c->wide + 3) / 4;
}

size_t ran_linear_model_ngram_buckets(const struct ran_config *c)
{
        return c->affixes ? c->wide - affix_buckets(c) : c->wide;
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

static size_t characters(const char *subword, size_t n)
{
        size_t count = 0;

        for (size_t i = 0; i < n; i++)
                count += ((unsigned char)subword[i] & 0xc0) != 0x80;
        return count;
}

/* The seed keeps affixes apart from n-grams: no n-gram's hash begins with it. */
static uint32_t affix_of(bool last, const char *from, const char *end, const struct ran_config *c)
{
        size_t buckets = affix_buckets(c);
        uint64_t hash = UINT64_C(0x5370656c6c696e67) + last;

        for (; from < end; from++)
                hash = ran_linear_model_extend(hash, (unsigned char)*from);
        return (uint32_t)(c->wide - buckets) + ran_linear_model_bucket_of(hash, buckets);
}

static void describe(uint32_t *to, const char *subword, size_t n, const struct ran_config *c)
{
        size_t count = characters(subword, n);

        for (size_t i = RAN_AFFIX_LEAST; i <= RAN_AFFIX_MOST && i <= count; i++, to += 2) {
                to[0] = affix_of(false, subword, subword + byte_of(subword, n, i), c);
                to[1] = affix_of(true, subword + byte_of(subword, n, count - i), subword + n, c);
        }
}

/* Fills the row of an id, but for its part of a word, which it returns. */
static uint32_t fill_row(uint32_t *to, const struct ran_tokenizer *t, const struct ran_config *c,
                         uint32_t id)
{
        static const char goes_on[] = "##"; /* begins a subword that is not a word's first */
        size_t n, mark = strlen(goes_on);
        const char *subword = ran_tokenizer_token(t, id, &n);
        uint32_t part = RAN_SUBWORD_BEGINS;

        for (size_t i = 0; i < RAN_AFFIXES; i++)
                to[i] = RAN_NO_AFFIX;
        if (subword == NULL || id == ran_tokenizer_unknown(t))
                return RAN_SUBWORD_UNKNOWN;
        if (n > mark && memcmp(subword, goes_on, mark) == 0) {
                part = RAN_SUBWORD_CONTINUES;
                subword += mark;
                n -= mark;
        }
        describe(to, subword, n, c);
        return part;
}

uint32_t *ran_linear_model_affixes(const struct ran_tokenizer *t, const struct ran_config *c,
                                   struct ran_error *err)
{
        size_t V = ran_tokenizer_size(t), all;
        uint32_t *affixes = NULL;

        if (!__builtin_mul_overflow(V, RAN_AFFIX_ROW, &all))
                affixes = ran_alloc(all, sizeof *affixes, err);
        for (size_t id = 0; id < V && affixes != NULL; id++) {
                uint32_t *to = affixes + id * RAN_AFFIX_ROW;

                to[RAN_AFFIXES] = fill_row(to, t, c, (uint32_t)id);
        }
        return affixes;
}

/* The one thread that takes a row fills it; others wait, not for long. */
static void take_row(const struct ran_affix_source *s, uint32_t id)
{
        const uint32_t taken = UINT32_MAX;
        uint32_t *to = s->affixes + (size_t)id * RAN_AFFIX_ROW, *part = to + RAN_AFFIXES;
        uint32_t is = RAN_SUBWORD_NONE;

        if (__atomic_compare_exchange_n(part, &is, taken, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE))
                __atomic_store_n(part, fill_row(to, s->tokenizer, s->c, id), __ATOMIC_RELEASE);
        while (__atomic_load_n(part, __ATOMIC_ACQUIRE) == taken)
                sched_yield();
}

void ran_linear_model_affixes_of(const struct ran_affix_source *s, const uint32_t *ids, size_t L)
{
        for (size_t t = 0; t < L; t++) {
                const uint32_t *row = s->affixes + (size_t)ids[t] * RAN_AFFIX_ROW;
                uint32_t part = __atomic_load_n(row + RAN_AFFIXES, __ATOMIC_ACQUIRE);

                if (part == RAN_SUBWORD_NONE || part == UINT32_MAX)
                        take_row(s, ids[t]);
        }
}

/* ---- lists ----------------------------------------------------------------------------------- */

bool ran_linear_model_wants_affixes(const struct ran_config *c)
{
        return ran_has_linear_model(c) && c->affixes;
}

size_t ran_linear_model_features(const struct ran_config *c)
{
        return c->ngrams + (c->affixes ? RAN_AFFIXES : 0);
}

static uint32_t kind(const uint32_t *affixes, uint32_t id)
{
        return affixes[(size_t)id * RAN_AFFIX_ROW + RAN_AFFIXES];
}

static bool is_last(const uint32_t *affixes, const uint32_t *ids, size_t L, size_t t)
{
        return t + 1 == L || kind(affixes, ids[t + 1]) != RAN_SUBWORD_CONTINUES;
}

/* The longest n-gram from t on: `ngrams` tokens, but it stops at the document's end and before a
 * word of several subwords. */
static size_t longest_run(const struct ran_config *c, const uint32_t *affixes, const uint32_t *ids,
                          size_t L, size_t t)
{
        size_t n = 0;

        while (n < c->ngrams && t + n < L &&
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

size_t ran_linear_model_list(struct ran_posting *to, struct ran_posting *spare,
                             const struct ran_config *c, const uint32_t *affixes,
                             const uint32_t *ids, size_t L)
{
        size_t buckets = ran_linear_model_ngram_buckets(c), runs = 0, n = 0;
        uint32_t *id = &spare->id, *scratch = &to->id; /* half of either */

        for (size_t t = 0; t < L; t++) {
                size_t most = longest_run(c, affixes, ids, L, t);
                uint64_t hash = 0;

                for (size_t i = 0; i < most; i++) {
                        hash = ran_linear_model_extend(hash, ids[t + i]);
                        id[runs++] = ran_linear_model_bucket_of(hash, buckets);
                }
                if (affixes != NULL)
                        runs += list_affixes(id + runs, affixes, ids, L, t);
        }
        ran_posting_sort_ids(id, scratch, runs);
        for (size_t i = 0, end; i < runs; i = end) {
                for (end = i + 1; end < runs && id[end] == id[i];)
                        end++;
                to[n++] = (struct ran_posting){id[i], (uint32_t)(end - i)};
        }
        return n;
}

float ran_linear_model_idf(double having, double documents)
{
        return having < 2 ? 0.0f : (float)(1 + ran_log((1 + documents) / (1 + having)));
}

/* ---- the features of a document ------------------------------------------------------------- */

static void set_length(float *x, size_t n, double length)
{
        double squares = 0;

        for (size_t i = 0; i < n; i++)
                squares += (double)x[i] * (double)x[i];
        const double root = sqrt(squares);

        for (size_t i = 0; i < n; i++)
                x[i] = (float)((double)x[i] * length / root);
}

/* 1 + ln n of the counts that are met again and again; 0: not computed yet. */
struct counts {
        double tf[16];
};

/* Before it is divided by the length. */
static float weigh(struct counts *k, uint32_t n, float idf)
{
        double few = 0, *tf = n < sizeof k->tf / sizeof *k->tf ? &k->tf[n] : &few;

        if (*tf == 0)
                *tf = n == 1 ? 1 : 1 + ran_log((double)n);
        return (float)(*tf * (double)idf);
}

/* The `first` of `count` are n-grams, the others affixes. */
static void set_lengths(float *x, size_t first, size_t count)
{
        double length = first > 0 && first < count ? sqrt(0.5) : 1;

        set_length(x, first, length);
        set_length(x + first, count - first, length);
}

size_t ran_linear_model_weigh(float *x, const struct ran_posting *list, size_t n, const float *idf,
                              size_t runs)
{
        size_t count = 0, first = 0;
        struct counts counts = {{0}};

        for (size_t i = 0; i < n; i++) {
                if (!(idf[list[i].id] > 0))
                        continue;
                x[count++] = weigh(&counts, list[i].at, idf[list[i].id]);
                first += list[i].id < runs;
        }
        set_lengths(x, first, count);
        return count;
}

/* The postings that have a row. Rows are far apart in memory: all are asked for before the first is
 * needed. */
static size_t find_rows(struct ran_linear_features f, const struct ran_posting *posting, size_t n,
                        const struct ran_params *p)
{
        size_t count = 0;

        for (size_t i = 0; i < n; i++) {
                uint32_t row = ran_linear_row(p, posting[i].id);

                if (row == RAN_NO_ROW)
                        continue;
                f.gram[count] = (struct ran_gram){posting[i].id, posting[i].at};
                f.row[count++] = row;
                ran_linear_fetch_idf(p, row);
        }
        return count;
}

/* x_g of those with an idf. */
static size_t weigh_rows(struct ran_linear_features f, size_t n, const struct ran_params *p,
                         size_t runs)
{
        size_t count = 0, first = 0;
        struct counts counts = {{0}};

        for (size_t i = 0; i < n; i++) {
                float idf = ran_linear_idf(p, f.row[i]);

                if (!(idf > 0))
                        continue;
                f.gram[count] = f.gram[i];
                f.row[count] = f.row[i];
                f.x[count] = weigh(&counts, f.gram[count].times, idf);
                first += f.gram[count++].bucket < runs;
        }
        set_lengths(f.x, first, count);
        return count;
}

size_t ran_linear_model_read(struct ran_linear_features f, struct ran_posting *posting,
                             struct ran_posting *spare, const struct ran_config *c,
                             const struct ran_params *p, const uint32_t *ids, size_t L)
{
        if (p->affix_source != NULL)
                ran_linear_model_affixes_of(p->affix_source, ids, L);
        size_t n = ran_linear_model_list(posting, spare, c, p->affixes, ids, L);
        n = find_rows(f, posting, n, p);
        return weigh_rows(f, n, p, ran_linear_model_ngram_buckets(c));
}

/* Those of document b of w->packed. */
static struct ran_linear_features features_of(const struct ran_workspace *w, size_t b)
{
        const struct ran_head *h = &w->head;
        size_t at = w->packed->doc[b] * ran_linear_model_features(w->c);

        return (struct ran_linear_features){h->gram + at, h->gram_row + at, h->gram_x + at};
}

static void read_document(struct ran_workspace *w, const struct ran_params *p, size_t b)
{
        const struct ran_packed *packed = w->packed;
        struct ran_head *h = &w->head;
        size_t from = packed->doc[b];

        h->grams[b] = ran_linear_model_read(features_of(w, b), h->gram_posting, h->gram_spare, w->c,
                                            p, packed->ids + from, packed->doc[b + 1] - from);
}

/* The features that a frozen encoder makes. */
static void add_dense(struct ran_workspace *w, const struct ran_params *p, size_t b, size_t C)
{
        struct ran_head *h = &w->head;
        const size_t F = ran_document_vector_width(w->c);
        float *v = h->dense + b * F;

        ran_document_vector(w, p, b, v);
        for (size_t f = 0; f < F; f++) {
                ran_simd->axpy(h->linear + b * C, v[f], p->head.wide_dense + f * C, C);
                ran_simd->axpy(h->logits + b * C, v[f], p->head.wide_dense + f * C, C);
        }
}

void ran_linear_model_dense_bwd(struct ran_workspace *w, const struct ran_params *p, size_t C)
{
        struct ran_head *h = &w->head;
        const size_t F = ran_document_vector_width(w->c);

        for (size_t f = 0; f < F; f++)
                h->ddense[f] = (float)ran_dot(h->dlogits, p->head.wide_dense + f * C, C);
        ran_document_vector_bwd(w, p, h->ddense);
}

void ran_linear_model_add(struct ran_workspace *w, const struct ran_params *p, size_t C)
{
        struct ran_head *h = &w->head;

        memset(h->linear, 0, w->packed->B * C * sizeof *h->linear);
        for (size_t b = 0; b < w->packed->B; b++) {
                const struct ran_linear_features f = features_of(w, b);
                float *linear = h->linear + b * C;

                read_document(w, p, b);
                ran_linear_sum(linear, p, f.x, f.row, h->grams[b], C);
                ran_simd->axpy(h->logits + b * C, w->linear_weight, linear, C);
                if (w->c->frozen)
                        add_dense(w, p, b, C);
                ran_simd->add(h->logits + b * C, p->head.wide_b, C);
                ran_simd->add(linear, p->head.wide_b, C);
        }
}

/* ---- explaining ----------------------------------------------------------------------------- */

/* n if the bucket is not there. */
static size_t find(const struct ran_gram *gram, size_t n, uint32_t bucket)
{
        size_t from = 0, to = n;

        while (from < to) {
                size_t middle = from + (to - from) / 2;

                if (gram[middle].bucket < bucket)
                        from = middle + 1;
                else
                        to = middle;
        }
        return from < n && gram[from].bucket == bucket ? from : n;
}

/* Contributions of features to a weighted sum of the logits. */
struct contribution {
        const struct ran_head *h;
        const struct ran_params *p;
        const float *weight;
        size_t C;
};

/* The contribution of one occurrence of a feature in the bucket. */
static double contribution_of(const struct contribution *k, uint32_t bucket)
{
        const struct ran_head *h = k->h;
        size_t i = find(h->gram, h->grams[0], bucket);

        if (i == h->grams[0]) /* as for RAN_NO_AFFIX */
                return 0;
        return (double)h->gram_x[i] * ran_linear_dot(k->weight, k->p, h->gram_row[i], k->C) /
               (double)h->gram[i].times;
}

void ran_linear_model_explain(const struct ran_workspace *w, const struct ran_params *p, size_t C,
                              const float *weight, double scale, double *value)
{
        const struct contribution k = {&w->head, p, weight, C};
        const struct ran_config *c = w->c;
        const uint32_t *ids = w->packed->ids;
        size_t L = w->packed->L, runs = ran_linear_model_ngram_buckets(c);

        for (size_t t = 0; t < L; t++) {
                size_t most = longest_run(c, p->affixes, ids, L, t);

                for (size_t n = 1; n <= most; n++) {
                        double part =
                                scale / (double)n *
                                contribution_of(&k, ran_linear_model_bucket(ids + t, n, runs));

                        for (size_t i = t; i < t + n; i++)
                                value[i] += part;
                }
                for (size_t i = 0; i < RAN_AFFIXES && p->affixes != NULL; i++)
                        value[t] += scale * contribution_of(&k, affix(p->affixes, ids, L, t, i));
        }
}
