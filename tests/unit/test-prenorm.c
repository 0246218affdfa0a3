/* The last layer of a prenorm RAN computes its feed-forward part of tokens with an output only:
 * their rows, and all gradients, are those of a batch in which every token has one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "nn/part.h"
#include "test.h"
#include "toy.h"

enum { DOCUMENTS = 5 };

struct way {
        size_t slab_rows;
        bool anew;
        struct ran_noise noise;
};

/* Rows of the tokens that are asked for, gradients of all parameters, adjoints of the tokens. */
struct result {
        float *x, *dx;
        struct ran_params g;
};

/* Documents of up to 30 tokens; one of `every` tokens has an output, of the last document none. */
static void make_batch(const struct toy *t, struct ran_packed *rows, bool *asked, size_t every)
{
        struct dice dice = {.key = 5 + every};

        for (size_t b = 0, at = 0; b < DOCUMENTS; b++) {
                size_t L = dice_size(&dice, 1, 30);

                toy_add(t, rows, &dice, L, 9 + b);
                for (size_t i = 0; i < L; i++)
                        asked[at++] = b + 1 < DOCUMENTS && dice_size(&dice, 1, every) == 1;
        }
}

static void set_positions(struct ran_packed *rows, const bool *asked, bool all)
{
        rows->positions = 0;
        for (size_t b = 0; b < rows->B; b++) {
                for (size_t i = rows->doc[b]; i < rows->doc[b + 1]; i++)
                        if (all || asked[i])
                                rows->position[rows->positions++] = i;
                rows->doc_position[b + 1] = rows->positions;
        }
}

static struct result run(const struct toy *t, const struct ran_packed *rows, const bool *asked,
                         struct way way)
{
        struct ran_error err = {0};
        struct dice dice = {.key = 77};
        struct ran_workspace w;
        struct result r = {0};
        size_t D = t->c.dim, n = rows->L * D;

        CHECK_OK(ran_params_init(&r.g, &t->c, t->C, &err), err);
        ran_workspace_init(&w, &t->c, true, NULL);
        w.slab_rows = way.slab_rows;
        w.keep_floats = way.anew ? 0 : w.keep_floats;
        w.noise = way.noise;
        CHECK_OK(ran_workspace_fit(&w, rows, t->C, &err), err);
        ran_encode(&w, &t->p);
        r.x = ran_alloc_floats(n, &err);
        r.dx = ran_alloc_floats(n, &err);
        memset(w.dlast, 0, rows->B * D * sizeof(float));
        for (size_t i = 0; i < n; i++) {
                r.x[i] = asked[i / D] ? w.x[t->c.layers][i] : 0;
                w.dx[i] = (float)dice_bell(&dice) * (asked[i / D] ? 1 : 0);
        }
        ran_encode_bwd(&w, &t->p, &r.g);
        memcpy(r.dx, w.dx, n * sizeof *r.dx);
        ran_workspace_release(&w);
        return r;
}

static void release(struct result *r)
{
        free(r->x);
        free(r->dx);
        ran_params_release(&r->g);
}

static bool near(const float *x, const float *y, size_t n)
{
        double off = 0, length = 0;

        for (size_t i = 0; i < n; i++) {
                off += pow((double)x[i] - (double)y[i], 2);
                length += pow((double)y[i], 2);
        }
        return CHECK(sqrt(off) <= 1e-5 * sqrt(length) + 1e-7);
}

static void compare(const struct ran_config *c, size_t every, struct way way)
{
        static const size_t room = (size_t)DOCUMENTS * 30;
        struct ran_error err = {0};
        struct ran_packed rows = {0};
        bool asked[DOCUMENTS * 30] = {false};
        struct toy t;

        toy_init(&t, c, 3, 0.4);
        make_batch(&t, &rows, asked, every);
        rows.position = ran_alloc(room, sizeof *rows.position, &err);
        if (rows.position == NULL)
                abort();
        set_positions(&rows, asked, true);
        struct result all = run(&t, &rows, asked, way);
        set_positions(&rows, asked, false);
        struct result few = run(&t, &rows, asked, way);
        bool ok = near(few.x, all.x, rows.L * c->dim);
        ok &= near(few.dx, all.dx, rows.L * c->dim);
        if (!(ok & near(few.g.block, all.g.block, t.layout.size)))
                printf("  %s, one of %zu, chunks of %zu\n", toy_name(c), every, way.slab_rows);
        release(&all);
        release(&few);
        ran_packed_release(&rows);
        toy_release(&t);
}

TEST(prenorm_leaves_out_tokens_without_an_output)
{
        const struct way ways[] = {{2000, false, {0}},
                                   {9, false, {0}},
                                   {9, true, {0}},
                                   {9, true, {.seed = 3, .epoch = 4, .dropout = 0.2}}};

        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
                for (size_t every = 1; every <= 12; every = every * 2 + 1) {
                        struct ran_config c = toy_config();

                        c.ran.cell = RAN_CELL_PRENORM;
                        c.task = RAN_TASK_TAG;
                        compare(&c, every, ways[i]);
                        c.ran.review = RAN_REVIEW_NONE;
                        c.layers = 1;
                        compare(&c, every, ways[i]);
                }
}
