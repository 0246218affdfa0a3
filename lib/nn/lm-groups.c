/* lm-groups.c - see lm-groups.h. */
#include "nn/lm-groups.h"

size_t ran_lm_first(const struct ran_config *c, size_t V)
{
        return c->lm.shortlist > 0 && c->lm.shortlist < V ? c->lm.shortlist : V;
}

size_t ran_lm_tails(const struct ran_config *c, size_t V)
{
        size_t tails = 0;

        for (size_t from = ran_lm_first(c, V); from < V; tails++)
                from = from > V / 4 ? V : 4 * from;
        return tails;
}

struct ran_lm_group ran_lm_tail(const struct ran_config *c, size_t V, size_t k)
{
        size_t from = c->lm.shortlist << 2 * k;

        return (struct ran_lm_group){from, from > V / 4 ? V : 4 * from};
}

size_t ran_lm_widest(const struct ran_config *c, size_t V)
{
        size_t widest = 0;

        for (size_t k = 0; k < ran_lm_tails(c, V); k++) {
                struct ran_lm_group g = ran_lm_tail(c, V, k);

                widest = g.end - g.from > widest ? g.end - g.from : widest;
        }
        return widest;
}
