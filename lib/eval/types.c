/* types.c - counts for each type of entity, see eval.h. */
#include "eval/eval.h"

#include <stdlib.h>

void ran_types_release(struct ran_types *t)
{
        ran_string_table_release(&t->names);
        free(t->score);
        free(t->ordered);
        *t = (struct ran_types){0};
}

uint32_t ran_types_number(struct ran_types *t, const char *type, size_t length)
{
        const size_t n = t->names.n;
        const uint32_t number = ran_string_table_add(&t->names, type, length);

        RAN_ROOM(t->score, t->score_cap, n + 1);
        if (number == n)
                t->score[n] = (struct ran_tag_score){0};
        return number;
}

struct ran_prf ran_types_rates(double whole, const struct ran_tag_score *score)
{
        double correct = whole * (double)score->correct;
        struct ran_prf rates = {
                .precision = score->found > 0 ? correct / (double)score->found : 0,
                .recall = score->gold > 0 ? correct / (double)score->gold : 0,
        };

        if (rates.precision + rates.recall > 0)
                rates.f1 = 2 * rates.precision * rates.recall / (rates.precision + rates.recall);
        return rates;
}

void ran_prf_add(struct ran_prf *sum, const struct ran_prf *rates, double weight)
{
        sum->precision += weight * rates->precision;
        sum->recall += weight * rates->recall;
        sum->f1 += weight * rates->f1;
}

void ran_prf_divide(struct ran_prf *sum, double by)
{
        if (by > 0)
                *sum = (struct ran_prf){sum->precision / by, sum->recall / by, sum->f1 / by};
}

static int compare_types(const void *a, const void *b)
{
        const struct ran_tag_score *x = a, *y = b;

        return ran_order(x->type, x->length, y->type, y->length);
}

const struct ran_tag_score *ran_types_order(struct ran_types *t, size_t *n)
{
        *n = 0;
        RAN_ROOM(t->ordered, t->ordered_cap, t->names.n);
        for (uint32_t i = 0; i < t->names.n; i++) {
                struct ran_tag_score *score = &t->ordered[*n];

                if (t->score[i].gold + t->score[i].found == 0)
                        continue;
                *score = t->score[i];
                score->type = ran_string_table_get(&t->names, i, &score->length);
                score->rates = ran_types_rates(1, score);
                ++*n;
        }
        if (*n > 1)
                qsort(t->ordered, *n, sizeof(*t->ordered), compare_types);
        return t->ordered;
}
