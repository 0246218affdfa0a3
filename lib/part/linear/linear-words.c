/* linear-words.c - see linear-words.h. */
#include "part/linear/linear-words.h"
#include "math/simd.h"
#include "part/linear/linear-model.h"
#include "part/linear/linear-rows.h"
#include "ran/model.h"

/* Kinds of features: part of the format of model files. */
enum { WORD, LETTERS, SPELLING, SHAPES, RUN };
enum { NEAR = 2 };           /* neighbours on each side */
enum { ROWS = 64 };          /* of the table that are added at a time */
enum { SHAPE = 1, FAR = 2 }; /* of a spelling: the shape's index; features used two words away */
enum { PREFIX_4 = RAN_SPELLING / 2, SUFFIX_4 = RAN_SPELLING - 1 };
/* Features of a word at most, with the longest n-grams that there may be (nn/config.c). */
enum {
        NGRAMS = 8,
        MOST = 2 * NEAR + 3 * (1 + RAN_SPELLING) + 2 * FAR + 3 + NGRAMS * (NGRAMS + 1) / 2
};

size_t ran_linear_words_features(const struct ran_config *c)
{
        size_t n = 2 * NEAR + 1; /* which words */

        if (c->spelling > 0)
                n += 3 * (1 + RAN_SPELLING) + 2 * FAR + 3;
        for (size_t i = 2; i <= c->linear.ngrams; i++)
                n += i;
        return n;
}

/* Contributions of the features of a word, and the tokens that get them. */
struct contribution {
        const struct ran_linear_params *p;
        const float *weight;
        size_t C;
        double scale, *value;
};

/* A document's words, and the sentence of word w. */
struct reader {
        const struct ran_config *c;
        const struct ran_document *d;
        size_t from, end, w;
        const struct contribution *contribution; /* NULL: features are listed */
        uint32_t *bucket;
        size_t n;
};

/* First token of word w + away; the end after the last word. */
static size_t token_of(const struct reader *r, int away)
{
        size_t w = r->w + (size_t)away;

        return w < r->d->words ? r->d->positions[w] : r->d->L;
}

/* Divides a feature among the words from one offset to another. */
static void give(const struct reader *r, int first, int last, uint32_t bucket)
{
        const struct contribution *k = r->contribution;
        uint32_t row = ran_linear_row(k->p, bucket);

        if (row == RAN_NO_ROW)
                return;
        double all =
                k->scale * ran_linear_dot(k->weight, k->p, row, k->C) / (double)(last - first + 1);

        for (int away = first; away <= last; away++) {
                size_t from = token_of(r, away), to = token_of(r, away + 1);

                for (size_t t = from; t < to; t++)
                        k->value[t] += all / (double)(to - from);
        }
}

/* Extends a feature by the words from one offset to another. */
static void note(struct reader *r, int first, int last, uint64_t hash)
{
        uint32_t bucket = ran_linear_model_bucket_of(hash, r->c->linear.wide);

        if (r->contribution != NULL)
                give(r, first, last, bucket);
        else
                r->bucket[r->n++] = bucket;
}

/* A feature of a kind, of the word at offset `away` from w. */
static uint64_t begin(int kind, int away)
{
        return ran_linear_model_extend(
                ran_linear_model_extend(UINT64_C(0x776f726473), (uint32_t)kind),
                (uint32_t)(away + NEAR));
}

static bool is_there(const struct reader *r, int away)
{
        return away < 0 ? r->w - r->from >= (size_t)-away : r->end - r->w > (size_t)away;
}

static const uint32_t *spelling_of(const struct reader *r, int away)
{
        return r->d->spelling + r->d->positions[r->w + (size_t)away] * RAN_SPELLING;
}

static uint64_t add_letters(uint64_t hash, const struct reader *r, int away)
{
        const uint32_t *s = spelling_of(r, away);

        return ran_linear_model_extend(ran_linear_model_extend(hash, s[PREFIX_4]), s[SUFFIX_4]);
}

/* The word's identity: its subwords; an unknown word has one that says only that. */
static uint64_t add_word(uint64_t hash, const struct reader *r, int away)
{
        const struct ran_document *d = r->d;
        size_t to = token_of(r, away + 1);

        for (size_t t = token_of(r, away); t < to; t++)
                hash = ran_linear_model_extend(hash, d->ids[t]);
        return r->c->spelling > 0 ? add_letters(hash, r, away) : hash;
}

static void note_words(struct reader *r)
{
        for (int away = -NEAR; away <= NEAR; away++) {
                uint64_t hash = begin(WORD, away);

                if (is_there(r, away))
                        note(r, away, away, add_word(hash, r, away));
                else
                        note(r, 0, 0, hash);
        }
}

static void note_spelling(struct reader *r)
{
        for (int away = -NEAR; away <= NEAR; away++) {
                bool beside = away >= -1 && away <= 1;

                for (size_t i = 0; i < (beside ? RAN_SPELLING : FAR) && is_there(r, away); i++)
                        note(r, away, away,
                             ran_linear_model_extend(
                                     ran_linear_model_extend(begin(SPELLING, away), (uint32_t)i),
                                     spelling_of(r, away)[i]));
                if (beside && is_there(r, away))
                        note(r, away, away, add_letters(begin(LETTERS, away), r, away));
        }
}

/* The shapes of the words from one offset to another. */
static void note_shapes(struct reader *r, int from, int to)
{
        uint64_t hash = ran_linear_model_extend(begin(SHAPES, from), (uint32_t)(to + NEAR));

        if (!is_there(r, from) || !is_there(r, to))
                return;
        for (int away = from; away <= to; away++)
                hash = ran_linear_model_extend(hash, spelling_of(r, away)[SHAPE]);
        note(r, from, to, hash);
}

static void note_runs(struct reader *r)
{
        for (int n = 2; n <= (int)r->c->linear.ngrams; n++)
                for (int first = 1 - n; first <= 0; first++) {
                        uint64_t hash = ran_linear_model_extend(begin(RUN, first), (uint32_t)n);

                        if (!is_there(r, first) || !is_there(r, first + n - 1))
                                continue;
                        for (int away = first; away < first + n; away++)
                                hash = add_word(hash, r, away);
                        note(r, first, first + n - 1, hash);
                }
}

static void note_all(struct reader *r)
{
        note_words(r);
        note_runs(r);
        if (r->c->spelling == 0)
                return;
        note_spelling(r);
        note_shapes(r, -1, 0);
        note_shapes(r, 0, 1);
        note_shapes(r, -1, 1);
}

size_t ran_linear_words_list(uint32_t *bucket, const struct ran_config *c,
                             const struct ran_document *d, size_t from, size_t end, size_t w)
{
        struct reader r = {.c = c, .d = d, .from = from, .end = end, .w = w, .bucket = bucket};

        note_all(&r);
        return r.n;
}

/* Adds `scale` times the n buckets' rows and the bias to logits (C); bucket becomes the rows. */
static void add_buckets(float *logits, uint32_t *bucket, size_t n,
                        const struct ran_linear_params *p, size_t C, float scale)
{
        float x[ROWS];
        size_t rows = 0;

        for (size_t i = 0; i < ROWS; i++)
                x[i] = scale;
        for (size_t i = 0; i < n; i++) {
                uint32_t row = ran_linear_row(p, bucket[i]);

                if (row != RAN_NO_ROW)
                        bucket[rows++] = row;
        }
        ran_simd->add(logits, p->bias, C);
        for (size_t i = 0; i < rows; i += ROWS)
                ran_linear_sum(logits, p, x, bucket + i, rows - i < ROWS ? rows - i : ROWS, C);
}

void ran_linear_words_add(float *logits, const struct ran_linear_params *p,
                          const struct ran_config *c, const struct ran_document *d, size_t C)
{
        uint32_t bucket[MOST];

        for (size_t from = 0, end; from < d->words; from = end) {
                end = ran_crf_sentence_end(d->begins, from, d->words);
                for (size_t w = from; w < end; w++) {
                        size_t n = ran_linear_words_list(bucket, c, d, from, end, w);

                        add_buckets(logits + w * C, bucket, n, p, C, 1);
                }
        }
}

/* The sentence of word w. */
static void find_sentence(struct reader *r)
{
        while ((r->end = ran_crf_sentence_end(r->d->begins, r->from, r->d->words)) <= r->w)
                r->from = r->end;
}

/* ---- the part ------------------------------------------------------------------------------- */

static bool is_in(const struct ran_config *c)
{
        return c->linear.wide > 0 && ran_task_of(c)->linear == RAN_LINEAR_CRF;
}

void ran_linear_words_score_one(const struct ran_workspace *w, const struct ran_params *p,
                                const struct ran_document *d, size_t C, size_t word, float scale,
                                float *logits)
{
        uint32_t bucket[MOST];
        struct reader r = {.c = w->c, .d = d, .w = word, .bucket = bucket};

        find_sentence(&r);
        note_all(&r);
        add_buckets(logits, r.bucket, r.n, ran_linear_of(p), C, scale);
}

/* A feature divides its contribution evenly among its words, and they among their tokens. A missing
 * neighbour counts for the word. */
void ran_linear_words_explain(const struct ran_workspace *w, const struct ran_params *p,
                              const struct ran_document *d, size_t C, size_t word,
                              const float *weight, double scale, double *value)
{
        const struct contribution contribution = {ran_linear_of(p), weight, C, scale, value};
        struct reader r = {.c = w->c, .d = d, .w = word, .contribution = &contribution};

        find_sentence(&r);
        note_all(&r);
}

const struct ran_part ran_part_words = {
        .is_in = is_in,
        .params_size = sizeof(struct ran_linear_params),
        .tensors = ran_linear_tensors,
        .tables = ran_linear_tables,
};
