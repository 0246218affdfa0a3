/* ran/mask.h - attention patterns as index sets. Conventions: ran.h. */
#ifndef RAN_RAN_MASK_H
#define RAN_RAN_MASK_H

#include "ran/base.h"

/* ---- attention patterns (mask/) ------------------------------------------------------------- */

/* Whether query i sees key j depends on their distance |i - j|. With H = window / 2, rounded down,
 * and d = dilation, query i sees the distances
 *
 *      full        any
 *      window      0 ... H
 *      dilated     0, (d+1), 2(d+1), ..., H(d+1)
 *      dispersed   0 ... H, then H + 2, H + 2 + 3, H + 2 + 3 + 4, ... without end
 *
 * A mask removes keys after the query: causal all of them, prefix all but source tokens. Every
 * token sees itself. */
enum { RAN_ATTENTION_FULL, RAN_ATTENTION_WINDOW, RAN_ATTENTION_DILATED, RAN_ATTENTION_DISPERSED };
enum { RAN_MASK_NONE, RAN_MASK_CAUSAL, RAN_MASK_PREFIX };
extern const char *const ran_attention_names[]; /* "full" ..., NULL at the end */
extern const char *const ran_mask_names[];

/* The mask of N tokens in a few numbers, never as a matrix; no operation takes longer than sqrt(N).
 * It can be copied. */
#define RAN_MASK_LENGTH 1000000000 /* tokens at most: no count below can overflow */
struct ran_mask {
        size_t N;
        size_t near; /* distances 0 ... near are seen */
        size_t far;  /* and this many more below N: see mask/mask.h */
        size_t step;
        size_t sources; /* earlier queries see keys below it, too: N without a mask, causal 0 */
};
/* pattern, mask: RAN_ATTENTION_..., RAN_MASK_...; dilation matters for dilated only, window for all
 * but full, sources for the prefix mask only. RAN_EINVAL for N = 0, a window of 0, more source
 * tokens than tokens, and anything larger than RAN_MASK_LENGTH. */
int ran_mask_init(struct ran_mask *m, int pattern, size_t window, size_t dilation, int mask,
                  size_t N, size_t sources, struct ran_error *err);

/* The keys that a query sees: the run [from, to), which contains the
 * token itself, and single ones, `left` of them before it and `right` behind. */
struct ran_mask_ranges {
        size_t at;
        size_t from, to, left, right;
};
struct ran_mask_ranges ran_mask_row(const struct ran_mask *m, size_t i); /* keys of query i < N */
/* Walks all of them as runs [*from, *to) in ascending order. Start with pos = 0; false at the end.
 */
bool ran_mask_ranges_next(const struct ran_mask *m, const struct ran_mask_ranges *s, size_t *pos,
                          size_t *from, size_t *to);

/* Scores of the queries [i0, i1) and keys [j0, j1), in closed form; i1, j1 <= N. */
uint64_t ran_mask_count(const struct ran_mask *m, size_t i0, size_t i1, size_t j0, size_t j1);
/* Scores without a mask by the formulas of the paper on dispersed attention: equation (3) for
 * window, Algorithm 1 for dispersed (which agrees with the mask for a window of 4 only). False
 * if they do not apply: other patterns, an odd window, or one longer than N. */
bool ran_mask_paper(int pattern, size_t window, size_t N, uint64_t *scores);

/* Sets of tokens: bit i % 64 of word i / 64. */
#define RAN_TOKEN_WORDS(N) (((N) + 63) / 64)
/* seen |= all keys that the queries in `from` see. spare: scratch of the same size. */
void ran_mask_spread(const struct ran_mask *m, uint64_t *seen, const uint64_t *from,
                     uint64_t *spare);

/* Similarity of query q and key k, both (d), before the softmax:
 *
 *      dot         q.k / sqrt(d)
 *      cosine      sqrt(d) q.k / (|q| |k| + 1e-8)
 *      euclidean   -sqrt(|q - k|^2 + 1e-8)
 *      manhattan   -(sum |q - k|) / sqrt(d) */
enum {
        RAN_SIMILARITY_DOT,
        RAN_SIMILARITY_COSINE,
        RAN_SIMILARITY_EUCLIDEAN,
        RAN_SIMILARITY_MANHATTAN
};
extern const char *const ran_similarity_names[];

#endif
