/* Masked tokens: which words, their replacements, and that nothing but (seed,
 * epoch, document) decides it. */
#include <string.h>

#include "test.h"
#include "data/masking.h"

/* How a document is masked. */
#define DRAW(seed, epoch) (&(struct ran_masking_draw){RAN_MASK_SHARE, seed, epoch})

enum { WORDS = 4000, SUBWORDS = 3, L = WORDS * SUBWORDS, V = 1000 };

/* One document of words of three subwords, and one of one subword; ids are above those reserved. */
static void make(struct ran_dataset *d)
{
        static uint32_t ids[L], positions[WORDS], zero[WORDS];
        struct ran_error err = {0};

        for (uint32_t t = 0; t < L; t++)
                ids[t] = RAN_RESERVED + t % (V - RAN_RESERVED);
        for (uint32_t i = 0; i < WORDS; i++)
                positions[i] = SUBWORDS * i;
        CHECK_OK(ran_dataset_set_classes(d, NULL, 0, &err), err);
        CHECK_OK(ran_dataset_add_words(d, ids, L, positions, zero, WORDS, 1, &err), err);
        CHECK_OK(ran_dataset_add_words(d, ids, 1, positions, zero, 1, 1, &err), err);
        CHECK_OK(ran_dataset_finish(d, &err), err);
}

TEST(words_are_masked_whole_and_about_15_percent_of_them)
{
        struct ran_dataset d = {0};
        struct ran_masking g = {0};
        struct ran_error err = {0};
        size_t mask = 0, kept = 0, other = 0;

        make(&d);
        CHECK_OK(ran_masking_make(&g, &d, 0, RAN_MASK, V, DRAW(1, 2), &err), err);
        CHECK_SIZE(g.n, ran_masking_count(&d, 0, DRAW(1, 2)));
        CHECK(g.n > 0.13 * L && g.n < 0.17 * L && g.n % SUBWORDS == 0);
        for (size_t i = 0; i < g.n; i++) {
                uint32_t t = g.position[i], now = g.ids[t];

                CHECK(g.gold[i] == d.ids[t] && t % SUBWORDS == i % SUBWORDS);
                CHECK(now == RAN_MASK || (now >= RAN_RESERVED && now < V));
                mask += now == RAN_MASK;
                kept += now == g.gold[i];
                other += now != RAN_MASK && now != g.gold[i];
        }
        CHECK_NEAR((double)mask / (double)g.n, 0.8, 0.04);
        CHECK_NEAR((double)kept / (double)g.n, 0.1, 0.03);
        CHECK_NEAR((double)other / (double)g.n, 0.1, 0.03);
        for (size_t t = 0, i = 0; t < L; t++) { /* nothing else has changed */
                if (i < g.n && g.position[i] == t)
                        i++;
                else
                        CHECK(g.ids[t] == d.ids[t]);
        }
        ran_masking_release(&g);
        ran_dataset_release(&d);
}

TEST(masked_tokens_are_a_function_of_seed_epoch_and_document)
{
        struct ran_dataset d = {0};
        struct ran_masking a = {0}, b = {0};
        struct ran_error err = {0};

        make(&d);
        CHECK_OK(ran_masking_make(&a, &d, 0, RAN_MASK, V, DRAW(1, 2), &err), err);
        CHECK_OK(ran_masking_make(&b, &d, 1, RAN_MASK, V, DRAW(1, 2), &err), err);
        CHECK_OK(ran_masking_make(&b, &d, 0, RAN_MASK, V, DRAW(1, 2), &err), err);
        CHECK(a.n == b.n && memcmp(a.ids, b.ids, L * sizeof *a.ids) == 0);
        CHECK_OK(ran_masking_make(&b, &d, 0, RAN_MASK, V, DRAW(1, 3), &err), err);
        CHECK(memcmp(a.ids, b.ids, L * sizeof *a.ids) != 0);
        CHECK_OK(ran_masking_make(&b, &d, 0, RAN_MASK, V, DRAW(2, 2), &err), err);
        CHECK(memcmp(a.ids, b.ids, L * sizeof *a.ids) != 0);
        ran_masking_release(&a);
        ran_masking_release(&b);
        ran_dataset_release(&d);
}

TEST(a_document_has_a_masked_token_however_short_it_is)
{
        struct ran_dataset d = {0};
        struct ran_masking g = {0};
        struct ran_error err = {0};

        make(&d);
        for (uint64_t epoch = 0; epoch < 50; epoch++) {
                CHECK_OK(ran_masking_make(&g, &d, 1, RAN_MASK, V, DRAW(1, epoch), &err), err);
                CHECK(g.n == 1 && g.position[0] == 0 &&
                      ran_masking_count(&d, 1, DRAW(1, epoch)) == 1);
        }
        ran_masking_release(&g);
        ran_dataset_release(&d);
}

TEST(masked_tokens_that_a_document_has_are_taken_as_they_are)
{
        const uint32_t ids[] = {7, 1, 9}, positions[] = {1, 2}, gold[] = {8, 6};
        struct ran_dataset d = {.given = true};
        struct ran_masking g = {0};
        struct ran_error err = {0};

        CHECK_OK(ran_dataset_set_classes(&d, NULL, 0, &err), err);
        CHECK_OK(ran_dataset_add_words(&d, ids, 3, positions, gold, 2, 1, &err), err);
        CHECK_OK(ran_dataset_finish(&d, &err), err);
        CHECK_OK(ran_masking_make(&g, &d, 0, RAN_MASK, V, DRAW(1, 1), &err), err);
        CHECK(g.n == 2 && ran_masking_count(&d, 0, DRAW(1, 1)) == 2);
        CHECK(memcmp(g.ids, ids, sizeof ids) == 0 &&
              memcmp(g.position, positions, sizeof positions) == 0 &&
              memcmp(g.gold, gold, sizeof gold) == 0);
        ran_masking_release(&g);
        ran_dataset_release(&d);
}
