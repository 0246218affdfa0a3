/* The chunks of a step: every token once, in order, and no chunk that ends
 * within a window or within a source. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "test.h"
#include "toy.h"
#include "gradient/plan.h"

enum { MOST = 40 };

struct epoch {
        struct ran_config c;
        struct ran_dataset d;
        size_t order[MOST], n;
        struct ran_plan plan;
};

/* n documents of up to `longest` ids, with sources under the prefix mask. */
static void begin(struct epoch *e, int mask, size_t n, size_t longest, size_t lanes, size_t bptt)
{
        struct dice dice = {.key = ran_random_key(n, longest, lanes, bptt)};
        struct ran_error err = {0};
        uint32_t *ids = ran_alloc(longest, sizeof(*ids), &err);

        *e = (struct epoch){.c = toy_config(), .n = n};
        e->c.task = RAN_TASK_LM;
        e->c.mask = mask;
        for (size_t b = 0; b < n; b++) {
                size_t L = dice_size(&dice, 2, longest);
                size_t sources = mask == RAN_MASK_PREFIX ? dice_size(&dice, 0, L - 1) : 0;

                CHECK_OK(ran_dataset_add_text(&e->d, ids, L, sources, 1, &err), err);
        }
        CHECK_OK(ran_dataset_finish(&e->d, &err), err);
        CHECK_OK(ran_plan_init(&e->plan, &e->c, &e->d, lanes, bptt, &err), err);
        ran_random_shuffle(e->order, NULL, n, 1, 2);
        free(ids);
}

static void end(struct epoch *e)
{
        ran_plan_release(&e->plan);
        ran_dataset_release(&e->d);
}

/* Each token but the first, and but those of the source, is predicted from the one before it. */
static void check_predicted(const struct epoch *e, const struct ran_chunk *p, size_t length,
                            size_t sources)
{
        size_t from, to = ran_plan_predicts(&e->d, p, &from), first = to;

        for (size_t t = p->to; t-- > p->from;)
                if (t + 1 < length && t + 1 >= sources)
                        first = t;
        CHECK(from < to && from == first && to == (p->to < length ? p->to : length - 1));
}

/* A piece that comes after `read` tokens of its document. */
static void check_piece(const struct epoch *e, const struct ran_chunk *p, size_t read,
                        size_t number, size_t span)
{
        size_t b = p->document, length = e->d.first[b + 1] - e->d.first[b];
        size_t sources = e->d.sources[b], most = span > sources ? span : sources + span - 1;

        CHECK(p->from == read && p->to > read && p->to <= length && p->number == number);
        CHECK(p->to == length || p->to % span == 0);
        CHECK(read > 0 || p->to >= sources);
        CHECK(p->to - p->from - (p->to == length) <= (read == 0 ? most : span));
        check_predicted(e, p, length, sources);
}

/* Returns the steps. */
static size_t check_epoch(struct epoch *e, size_t lanes, size_t span)
{
        size_t read[MOST] = {0}, number[MOST] = {0}, begun = 0, steps = 0, last_n = lanes;

        ran_plan_begin(&e->plan, e->order, e->n);
        for (; ran_plan_next(&e->plan); steps++) {
                bool seen[MOST] = {false};

                CHECK(e->plan.n <= lanes && e->plan.n <= last_n);
                last_n = e->plan.n;
                for (size_t i = 0; i < e->plan.n; i++) {
                        const struct ran_chunk *p = &e->plan.chunk[i];
                        size_t b = p->document;

                        CHECK(b < e->n && !seen[b]);
                        seen[b] = true;
                        check_piece(e, p, read[b], number[b]++, span);
                        if (read[b] == 0)
                                CHECK_SIZE(b, e->order[begun++]);
                        read[b] = p->to;
                }
        }
        for (size_t b = 0; b < e->n; b++)
                CHECK_SIZE(read[b], e->d.first[b + 1] - e->d.first[b]);
        return steps;
}

TEST(plan_of_whole_documents_takes_a_batch_a_step)
{
        for (size_t n = 1; n <= MOST; n += 3)
                for (size_t lanes = 1; lanes < 20; lanes += 4) {
                        struct epoch e;

                        begin(&e, RAN_MASK_CAUSAL, n, 30, lanes, 0);
                        CHECK_SIZE(check_epoch(&e, lanes, SIZE_MAX), (n + lanes - 1) / lanes);
                        CHECK_SIZE(ran_plan_steps(&e.plan, e.order, n), (n + lanes - 1) / lanes);
                        end(&e);
                }
}

TEST(plan_of_chunks_reads_every_document_once_and_in_order)
{
        for (int mask = RAN_MASK_CAUSAL; mask <= RAN_MASK_PREFIX; mask++)
                for (size_t n = 1; n <= MOST; n += 3)
                        for (size_t lanes = 1; lanes < 20; lanes += 4)
                                for (size_t bptt = 1; bptt <= 3; bptt++) {
                                        struct epoch e;

                                        begin(&e, mask, n, 100, lanes, bptt);
                                        size_t steps = check_epoch(&e, lanes, bptt * e.c.window);
                                        CHECK_SIZE(ran_plan_steps(&e.plan, e.order, n), steps);
                                        CHECK_SIZE(check_epoch(&e, lanes, bptt * e.c.window),
                                                   steps);
                                        end(&e);
                                }
}

TEST(plan_shuffles_by_seed_and_epoch)
{
        size_t a[MOST], b[MOST], seen = 0;

        ran_random_shuffle(a, NULL, MOST, 1, 2);
        ran_random_shuffle(b, NULL, MOST, 1, 2);
        CHECK(memcmp(a, b, sizeof(a)) == 0);
        for (size_t i = 0; i < MOST; i++)
                for (size_t j = 0; j < MOST; j++)
                        seen += a[j] == i;
        CHECK_SIZE(seen, MOST);
        ran_random_shuffle(b, NULL, MOST, 2, 2);
        CHECK(memcmp(a, b, sizeof(a)) != 0);
        ran_random_shuffle(b, NULL, MOST, 1, 3);
        CHECK(memcmp(a, b, sizeof(a)) != 0);
}
