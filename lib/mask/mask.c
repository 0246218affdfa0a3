/* mask.c - rows and columns of attention patterns.
 *
 * The patterns are those of Mukund and Easwarakumar, *Dispersed Hierarchical Attention Network for
 * Machine Translation and Language Understanding on Long Documents with Linear Complexity*.
 */
#include "mask/mask.h"

#include <math.h>

const char *const ran_attention_names[] = {"full", "window", "dilated", "dispersed", NULL};
const char *const ran_similarity_names[] = {"dot", "cosine", "euclidean", "manhattan", NULL};
const char *const ran_mask_names[] = {"none", "causal", "prefix", NULL};

static int check(int pattern, size_t window, size_t dilation, size_t N, size_t sources,
                 struct ran_error *err)
{
        const size_t most = RAN_MASK_LENGTH;

        if (N == 0)
                return ran_fail(err, RAN_EINVAL, "there is no token to attend to");
        if (N > most)
                return ran_fail(err, RAN_EINVAL, "%zu tokens are more than a mask can have, %zu", N,
                                most);
        if (pattern != RAN_ATTENTION_FULL && (window == 0 || window > most))
                return ran_fail(err, RAN_EINVAL, "a window must have from 1 to %zu tokens, not %zu",
                                most, window);
        if (dilation > most)
                return ran_fail(err, RAN_EINVAL, "a dilation must be at most %zu, not %zu", most,
                                dilation);
        if (sources > N)
                return ran_fail(err, RAN_EINVAL, "%zu of %zu tokens cannot be source tokens",
                                sources, N);
        return RAN_OK;
}

int ran_mask_init(struct ran_mask *m, int pattern, size_t window, size_t dilation, int mask,
                  size_t N, size_t sources, struct ran_error *err)
{
        size_t half = window / 2;

        RAN_TRY(check(pattern, window, dilation, N, sources, err));
        *m = (struct ran_mask){.N = N};
        if (pattern == RAN_ATTENTION_FULL) {
                m->near = N - 1;
        } else if (pattern == RAN_ATTENTION_DILATED && dilation > 0) {
                m->step = dilation + 1;
                m->far = ran_least(half, (N - 1) / m->step);
        } else {
                m->near = ran_least(half, N - 1);
        }
        if (pattern == RAN_ATTENTION_DISPERSED) {
                m->far = N; /* no limit while ran_mask_far_within counts them */
                m->far = ran_mask_far_within(m, N - 1);
        }
        m->sources = mask == RAN_MASK_NONE ? N : mask == RAN_MASK_PREFIX ? sources : 0;
        return RAN_OK;
}

/* Dispersed: the largest k with k (k + 3) / 2 <= y, that is k <= (sqrt(8 y + 9) - 3) / 2. The root
 * may be off by its last bit; the two loops correct that. */
static size_t dispersed_within(size_t y)
{
        size_t k = (size_t)((sqrt(8.0 * (double)y + 9.0) - 3.0) / 2.0);

        while (k * (k + 3) / 2 > y)
                k--;
        while ((k + 1) * (k + 4) / 2 <= y)
                k++;
        return k;
}

size_t ran_mask_far_within(const struct ran_mask *m, size_t x)
{
        if (m->far == 0 || x <= m->near)
                return 0;
        return ran_least(m->far, m->step > 0 ? x / m->step : dispersed_within(x - m->near));
}

struct ran_mask_ranges ran_mask_row(const struct ran_mask *m, size_t i)
{
        const size_t ahead = ran_mask_ahead(m, i);

        return (struct ran_mask_ranges){
                .at = i,
                .from = i - ran_least(i, m->near),
                .to = i + ran_least(ahead, m->near) + 1,
                .left = ran_mask_far_within(m, i),
                .right = ran_mask_far_within(m, ahead),
        };
}

bool ran_mask_ranges_next(const struct ran_mask *m, const struct ran_mask_ranges *s, size_t *pos,
                          size_t *from, size_t *to)
{
        size_t i = (*pos)++;

        if (i < s->left) {
                *from = s->at - ran_mask_far(m, s->left - i);
        } else if (i == s->left) {
                *from = s->from;
                *to = s->to;
                return true;
        } else if (i <= s->left + s->right) {
                *from = s->at + ran_mask_far(m, i - s->left);
        } else {
                *pos = i;
                return false;
        }
        *to = *from + 1;
        return true;
}
