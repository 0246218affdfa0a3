/* strict.c - entities that are right in type and in both ends, and those that nearly are.
 *
 * The entities of a sentence do not overlap and are in order, in the data as in what was found, so
 * that one walk along both meets every pair that shares a token.
 */
#include "eval/eval.h"

#include <stdlib.h>


struct entities {
        struct ran_entity *entity;
        uint32_t *type; /* number of each one's type */
        size_t n, entity_cap, type_cap;
};

struct ran_strict {
        size_t sentences, tokens;
        size_t boundary_only, type_only, invalid_gold, invalid_found;
        struct ran_types types;
        struct entities gold, found; /* of one sentence */
};

struct ran_strict *ran_strict_new(void)
{
        return ran_new(1, sizeof(struct ran_strict));
}

static void release_entities(struct entities *list)
{
        free(list->entity);
        free(list->type);
}

void ran_strict_free(struct ran_strict *s)
{
        if (s == NULL)
                return;
        ran_types_release(&s->types);
        release_entities(&s->gold);
        release_entities(&s->found);
        free(s);
}

/* ---- one sentence --------------------------------------------------------------------------- */

static void list_entities(struct ran_strict *s, struct entities *list, const struct ran_tag *tags,
                          size_t L)
{
        RAN_ROOM(list->entity, list->entity_cap, L);
        RAN_ROOM(list->type, list->type_cap, L);
        list->n = ran_tags_entities(tags, L, list->entity);
        for (size_t i = 0; i < list->n; i++)
                list->type[i] =
                        ran_types_number(&s->types, list->entity[i].type, list->entity[i].length);
}

static size_t count_invalid(const struct ran_tag *tags, size_t L)
{
        size_t n = 0;

        for (size_t t = 0; t < L; t++)
                n += tags[t].part != 'O' && tags[t].part != 'B' &&
                     (t == 0 || !ran_tag_goes_on(&tags[t - 1], &tags[t]));
        return n;
}

enum match { NONE, SAME_TYPE, SAME_ENDS, SAME = SAME_TYPE | SAME_ENDS };

/* The best match of the i-th entity found among those of the data from *at on. Moves *at past what
 * ends before it. */
static enum match best_match(const struct ran_strict *s, size_t i, size_t *at)
{
        const struct ran_entity *found = &s->found.entity[i];
        enum match best = NONE;

        while (*at < s->gold.n && s->gold.entity[*at].end <= found->start)
                ++*at;
        for (size_t j = *at; j < s->gold.n && s->gold.entity[j].start < found->end; j++) {
                const struct ran_entity *gold = &s->gold.entity[j];
                bool type = s->gold.type[j] == s->found.type[i];
                bool ends = gold->start == found->start && gold->end == found->end;
                enum match match = (ends ? SAME_ENDS : NONE) | (type ? SAME_TYPE : NONE);

                best = match > best ? match : best;
        }
        return best;
}

static void score_sentence(struct ran_strict *s)
{
        size_t at = 0;

        for (size_t i = 0; i < s->gold.n; i++)
                s->types.score[s->gold.type[i]].gold++;
        for (size_t i = 0; i < s->found.n; i++) {
                struct ran_tag_score *score = &s->types.score[s->found.type[i]];
                enum match match = best_match(s, i, &at);

                score->found++;
                score->correct += match == SAME;
                s->boundary_only += match == SAME_ENDS;
                s->type_only += match == SAME_TYPE;
        }
}

void ran_strict_add(struct ran_strict *s, const struct ran_tag *gold, const struct ran_tag *found,
                    size_t L)
{
        list_entities(s, &s->gold, gold, L);
        list_entities(s, &s->found, found, L);
        score_sentence(s);
        s->sentences++;
        s->tokens += L;
        s->invalid_gold += count_invalid(gold, L);
        s->invalid_found += count_invalid(found, L);
}

/* ---- the numbers ---------------------------------------------------------------------------- */

void ran_strict_finish(struct ran_strict *s, struct ran_strict_report *report)
{
        *report = (struct ran_strict_report){
                .sentences = s->sentences,
                .tokens = s->tokens,
                .boundary_only = s->boundary_only,
                .type_only = s->type_only,
                .invalid_gold = s->invalid_gold,
                .invalid_found = s->invalid_found,
        };
        report->types = ran_types_order(&s->types, &report->n_types);
        for (size_t i = 0; i < report->n_types; i++) {
                const struct ran_tag_score *score = &report->types[i];

                report->all.gold += score->gold;
                report->all.found += score->found;
                report->all.correct += score->correct;
                ran_prf_add(&report->macro, &score->rates, 1);
        }
        ran_prf_divide(&report->macro, (double)report->n_types);
        report->all.rates = ran_types_rates(1, &report->all);
}
