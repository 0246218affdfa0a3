/* Under causal and prefix masks, whatever the encoder and the pattern, no output depends on what it
 * may not see: compared bit for bit, at every layer and across the borders of windows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/part.h"
#include "test.h"
#include "toy.h"

static void encode(struct ran_workspace *w, const struct toy *t, const struct ran_packed *rows,
                   size_t slab_rows)
{
        struct ran_error err = {0};

        ran_workspace_init(w, &t->c, true, NULL); /* keeps every layer's output */
        if (slab_rows > 0)
                w->slab_rows = slab_rows;
        CHECK_OK(ran_workspace_fit(w, rows, t->C, &err), err);
        ran_encode(w, &t->p);
}

/* Tokens of document b, of all layers, that differ between the two: the first of them, or L. */
static size_t first_changed(const struct ran_workspace *a, const struct ran_workspace *b)
{
        size_t D = a->D;

        for (size_t t = 0; t < a->packed->L; t++)
                for (size_t l = 1; l <= a->c->layers; l++)
                        if (memcmp(a->x[l] + t * D, b->x[l] + t * D, D * sizeof(float)) != 0)
                                return t;
        return a->packed->L;
}

/* Changes token `at` to another id; no output before `from` may change. That of the token itself
 * must, unless a plain cell's review leaves nothing of it. */
static bool check_change(const struct toy *t, struct ran_packed *rows,
                         const struct ran_workspace *before, size_t at, size_t from,
                         size_t slab_rows)
{
        uint32_t was = rows->ids[at];
        struct ran_workspace after;
        bool shows = t->c.encoder == RAN_ENCODER_TRANSFORMER || t->c.ran.cell != RAN_CELL_PLAIN ||
                     !t->c.ran.review,
             ok;
        size_t first;

        rows->ids[at] = (was + 1) % (uint32_t)t->V;
        encode(&after, t, rows, slab_rows);
        first = first_changed(before, &after);
        ok = CHECK(first >= from && (!shows || first <= at));
        if (!ok)
                printf("  %s: token %zu of %zu (source %zu) changed that at %zu\n", toy_name(&t->c),
                       at, rows->L, rows->sources[0], first);
        ran_workspace_release(&after);
        rows->ids[at] = was;
        return ok;
}

static bool check_leaks(const struct toy *t, struct dice *dice, size_t L, size_t slab_rows)
{
        struct ran_packed rows = {0};
        struct ran_workspace before;
        bool ok = true;

        toy_add(t, &rows, dice, L, 0);
        encode(&before, t, &rows, slab_rows);
        for (size_t at = 0; at < L && ok; at++) {
                bool source = at < rows.sources[0];

                /* the source sees itself whole */
                ok = check_change(t, &rows, &before, at, source ? 0 : at, slab_rows);
        }
        ran_workspace_release(&before);
        ran_packed_release(&rows);
        return ok;
}

/* A RAN and a Transformer take turns; the latter with each pattern. */
static void check_mask(int mask, uint64_t seed)
{
        struct dice dice = {.key = seed};

        for (size_t i = 0; i < 60; i++) {
                struct ran_config c = i % 2 > 0 ? toy_transformer(&dice) : toy_random_config(&dice);
                struct toy t;
                bool ok;

                c.mask = mask;
                c.transformer.attention.item[0] = (unsigned char)(i / 2 % 4);
                toy_init(&t, &c, i, 0.3);
                ok = check_leaks(&t, &dice, dice_size(&dice, 1, 5 * c.window), i % 3 > 0 ? 0 : 9);
                toy_release(&t);
                if (!ok)
                        return;
        }
}

TEST(mask_causal_hides_what_comes_later)
{
        check_mask(RAN_MASK_CAUSAL, 1);
}

TEST(mask_prefix_hides_later_targets_and_shows_the_source)
{
        check_mask(RAN_MASK_PREFIX, 2);
}

/* Without a mask the first tokens do depend on the last: the tests above can fail. */
TEST(mask_none_hides_nothing)
{
        struct ran_config c = toy_config();
        struct dice dice = {.key = 3};
        struct ran_packed rows = {0};
        struct ran_workspace before, after;
        struct toy t;

        toy_init(&t, &c, 4, 0.3);
        toy_add(&t, &rows, &dice, 23, 0);
        encode(&before, &t, &rows, 0);
        rows.ids[22] = (rows.ids[22] + 1) % (uint32_t)t.V;
        encode(&after, &t, &rows, 0);
        CHECK_SIZE(first_changed(&before, &after), 0);
        ran_workspace_release(&before);
        ran_workspace_release(&after);
        ran_packed_release(&rows);
        toy_release(&t);
}
