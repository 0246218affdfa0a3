#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "test.h"

/* As if each id were a word. */
static void spell(struct ran_dataset *d, const uint32_t *ids, size_t L)
{
        struct ran_error err = {0};
        uint32_t *spelling = ran_alloc(L * RAN_SPELLING, sizeof(*spelling), &err);

        for (size_t i = 0; i < L * RAN_SPELLING; i++)
                spelling[i] = (uint32_t)(ran_random_draw(ids[i / RAN_SPELLING], i % RAN_SPELLING) %
                                         CORPUS_SPELLING);
        CHECK_OK(ran_dataset_spell(d, spelling, L, &err), err);
        free(spelling);
}

static void add(struct ran_dataset *d, struct dice *dice, size_t L, bool multilabel)
{
        static const char *const names[CORPUS_C] = {"fall", "rise", "stay"};
        size_t only = dice_size(dice, 0, CORPUS_C - 1), n = 0;
        struct ran_error err = {0};
        uint32_t labels[CORPUS_C], *ids = ran_alloc(L, sizeof(*ids), &err);

        for (size_t t = 0; t < L; t++)
                ids[t] = (uint32_t)dice_size(dice, CORPUS_C, CORPUS_V - 1);
        for (size_t c = 0; c < CORPUS_C; c++) {
                if (multilabel ? L < CORPUS_C || dice_coin(dice) : c != only)
                        continue;
                /* a place of its own for each, so that none hides another */
                ids[multilabel ? c + CORPUS_C * dice_size(dice, 0, L / CORPUS_C - 1)
                               : dice_size(dice, 0, L - 1)] = (uint32_t)c;
                CHECK_OK(ran_dataset_label(d, names[c], strlen(names[c]), &labels[n++], &err), err);
        }
        CHECK_OK(ran_dataset_add(d, ids, L, labels, n, 1, &err), err);
        spell(d, ids, L);
        free(ids);
}

void corpus_make(struct ran_dataset *d, size_t B, size_t shortest, size_t longest, bool multilabel,
                 uint64_t seed)
{
        struct dice dice = {.key = ran_random_key(seed, 4, 5, 6)};
        struct ran_error err = {0};

        *d = (struct ran_dataset){.multilabel = multilabel};
        for (size_t b = 0; b < B; b++)
                add(d, &dice, dice_size(&dice, shortest, longest), multilabel);
        CHECK_OK(ran_dataset_finish(d, &err), err);
        snprintf(d->digest, sizeof(d->digest), "%064llx", (unsigned long long)dice.at + seed);
}

static void add_gaps(struct ran_dataset *d, const uint32_t *ids, size_t L)
{
        struct ran_error err = {0};
        uint32_t *places = ran_alloc(L, sizeof(*places), &err);
        uint32_t *none = ran_alloc(L, sizeof(*none), &err); /* of no meaning */
        size_t n = 0;

        for (size_t t = 0; t < L; t += ids[t] % 3 == 0 ? 2 : 1)
                places[n++] = (uint32_t)t;
        CHECK_OK(ran_dataset_add_words(d, ids, L, places, none, n, 1, &err), err);
        free(places);
        free(none);
}

static void add_text(struct ran_dataset *d, struct dice *dice, size_t L, enum corpus_kind kind)
{
        const uint32_t first = kind == CORPUS_GAPS ? RAN_RESERVED : 1,
                       ids_in_all = CORPUS_V - first;
        bool pairs = kind == CORPUS_PAIRS;
        struct ran_error err = {0};
        uint32_t *ids = ran_alloc(2 * L + 1, sizeof(*ids), &err);
        uint32_t id = (uint32_t)dice_size(dice, 0, ids_in_all - 1);

        for (size_t t = 0; t < L; t++, id = (id * 5 + 1) % ids_in_all)
                ids[t] = first + (pairs ? (uint32_t)dice_size(dice, 0, ids_in_all - 1) : id);
        ids[L] = 0;
        memcpy(ids + L + 1, ids, L * sizeof(*ids));
        if (kind == CORPUS_GAPS)
                add_gaps(d, ids, L);
        else
                CHECK_OK(ran_dataset_add_text(d, ids, pairs ? 2 * L + 1 : L, pairs ? L + 1 : 0, 1,
                                              &err),
                         err);
        free(ids);
}

void corpus_texts(struct ran_dataset *d, size_t B, size_t shortest, size_t longest,
                  enum corpus_kind kind, uint64_t seed)
{
        struct dice dice = {.key = ran_random_key(seed, 7, 8, 9)};
        struct ran_error err = {0};

        *d = (struct ran_dataset){0};
        CHECK_OK(ran_dataset_set_classes(d, NULL, 0, &err), err);
        for (size_t b = 0; b < B; b++)
                add_text(d, &dice, dice_size(&dice, shortest, longest), kind);
        CHECK_OK(ran_dataset_finish(d, &err), err);
        snprintf(d->digest, sizeof(d->digest), "%064llx", (unsigned long long)dice.at + seed);
}
