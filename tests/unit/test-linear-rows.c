/* The linear model in a file: only rows that are not zero, and the same results as with all. */
#include <stdlib.h>
#include <string.h>

#include "part/linear/linear-rows.h"
#include "file/model.h"
#include "test.h"
#include "toy.h"

/* ---- the index ------------------------------------------------------------------------------- */

/* Rows for some of the buckets, as thick as `percent` says; each bucket finds its own. */
static void check_index(struct dice *dice, size_t buckets, size_t percent)
{
        struct ran_error err = {0};
        uint32_t *bucket = ran_alloc(buckets, sizeof *bucket, &err);
        struct ran_linear_rows r;
        struct ran_linear_params p = {.rows = &r};
        size_t n = 0;

        for (uint32_t g = 0; g < buckets; g++)
                if (dice_size(dice, 0, 99) < percent)
                        bucket[n++] = g;
        if (!CHECK_OK(ran_linear_rows_init(&r, bucket, n, buckets, &err), err))
                return;
        for (uint32_t g = 0, row = 0; g < buckets; g++) {
                bool there = row < n && bucket[row] == g;

                if (!CHECK(ran_linear_row(&p, g) == (there ? row : RAN_NO_ROW)))
                        break;
                row += there;
        }
        ran_linear_rows_release(&r);
        free(bucket);
}

TEST(linear_rows_are_found_by_their_buckets)
{
        static const size_t sizes[] = {1, 2, 3, 5, 64, 65, 1000, 20000};
        static const size_t shares[] = {0, 1, 10, 50, 99, 100};
        struct dice dice = {.key = 3};

        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
                for (size_t k = 0; k < sizeof shares / sizeof *shares; k++)
                        check_index(&dice, sizes[i], shares[k]);
}

TEST(linear_rows_are_few_of_a_vast_table)
{
        static const uint32_t bucket[] = {9, 10, 11, 268435455};
        struct ran_error err = {0};
        struct ran_linear_rows r;
        struct ran_linear_params p = {.rows = &r};

        CHECK_OK(ran_linear_rows_init(&r, bucket, 4, 1 << 28, &err), err);
        CHECK(ran_linear_row(&p, 8) == RAN_NO_ROW && ran_linear_row(&p, 9) == 0);
        CHECK(ran_linear_row(&p, 11) == 2 && ran_linear_row(&p, 12) == RAN_NO_ROW);
        CHECK(ran_linear_row(&p, 268435455) == 3);
        ran_linear_rows_release(&r);
}

static void check_refused(const uint32_t *bucket, size_t n, size_t buckets)
{
        struct ran_error err = {0};
        struct ran_linear_rows r;

        CHECK_SIZE((size_t)ran_linear_rows_init(&r, bucket, n, buckets, &err), RAN_EFORMAT);
        ran_linear_rows_release(&r);
}

TEST(linear_rows_that_do_not_ascend_are_refused)
{
        check_refused((const uint32_t[]){0, 2, 2}, 3, 10);
        check_refused((const uint32_t[]){0, 2, 1}, 3, 10);
        check_refused((const uint32_t[]){0, 2, 10}, 3, 10);
        check_refused((const uint32_t[]){UINT32_MAX}, 1, 10);
        check_refused((const uint32_t[]){0, 1, 2}, 3, 2);
}

/* ---- in a model ------------------------------------------------------------------------------ */

enum { WIDE = 300, LENGTH = 40 };

/* Most rows of the linear model are zero, and some of those with an idf. */
static void thin_out(struct toy *t, const struct ran_config *c)
{
        float *weight = t->embed + (t->V + c->spelling) * c->dim;
        float *idf = t->embed + toy_tables(t);

        for (size_t g = 0; g < c->linear.wide; g++) {
                if (g % 3 != 0)
                        memset(weight + g * t->C, 0, t->C * sizeof *weight);
                if (g % 3 == 1)
                        idf[g] = 0;
        }
}

static struct ran_model *write_and_open(const struct toy *t, const char *path)
{
        struct ran_error err = {0};
        const struct ran_parts parts = {
                .config = &t->c, .layout = &t->layout, .params = &t->p, .V = t->V, .C = t->C};

        CHECK_OK(ran_model_write(path, NULL, &parts, &err), err);
        struct ran_model *m = ran_model_open(path, true, &err);
        test_check(m != NULL, err.text, __FILE__, __LINE__);
        return m;
}

/* The same model with all rows, as 0.1.0 wrote it. */
static void make_dense(struct ran_model *dense, struct ran_linear_params *own,
                       const struct ran_model *m, const struct toy *t)
{
        const int part = m->config.task == RAN_TASK_TAG ? RAN_PART_WORDS : RAN_PART_LINEAR;

        *dense = *m;
        *own = *ran_linear_of(&m->params);
        own->wide = ran_linear_of(&t->p)->wide;
        own->idf = ran_linear_of(&t->p)->idf;
        own->rows = NULL;
        dense->params.own[part] = own;
}

struct results {
        float logits[LENGTH * TOY_C];
        double value[LENGTH];
};

static void compute(struct results *r, const struct ran_model *m, const struct ran_document *d)
{
        struct ran_error err = {0};
        struct ran_state *s = ran_state_new(m, NULL);
        struct ran_explainer *e = ran_explainer_new(m, NULL);
        uint32_t tags[LENGTH];

        memset(r, 0, sizeof *r);
        if (m->config.task == RAN_TASK_TAG)
                CHECK_OK(ran_tag(m, s, d, tags, NULL, r->logits, &err), err);
        else
                CHECK_OK(ran_classify(m, s, d, r->logits, NULL, &err), err);
        CHECK_OK(ran_explain_read(e, d, 0, &err), err);
        CHECK_OK(ran_explain_label(e, 0, 1, 3, r->value, &err), err);
        ran_explainer_free(e);
        ran_state_free(s);
}

static void check_same_results(struct ran_config c)
{
        struct dice dice = {.key = 17};
        char *path = test_path("rows.ran");
        struct toy t;

        c.linear.wide = WIDE;
        toy_init(&t, &c, 4, 0.3);
        thin_out(&t, &c);
        struct ran_model *m = write_and_open(&t, path), dense;
        struct ran_linear_params own;
        REQUIRE(m != NULL);
        make_dense(&dense, &own, m, &t);
        CHECK(m->linear.rows.n > WIDE / 3 - 1 && m->linear.rows.n < WIDE);
        for (size_t i = 0; i < 50; i++) {
                uint32_t ids[LENGTH], positions[LENGTH], spelling[LENGTH * RAN_SPELLING];
                struct ran_document d = {.ids = ids, .L = dice_size(&dice, 1, LENGTH)};
                struct results sparse, all;

                for (size_t w = 0; w < d.L; w++) {
                        ids[w] = (uint32_t)dice_size(&dice, 0, t.V - 1);
                        positions[w] = (uint32_t)w;
                }
                for (size_t w = 0; w < d.L * RAN_SPELLING; w++)
                        spelling[w] = (uint32_t)dice_size(&dice, 0, c.spelling);
                if (c.task == RAN_TASK_TAG) {
                        d.positions = positions;
                        d.words = d.L;
                }
                for (size_t w = 0; w < d.L * RAN_SPELLING && c.spelling > 0; w++)
                        spelling[w] %= (uint32_t)c.spelling;
                d.spelling = c.spelling > 0 ? spelling : NULL;
                compute(&sparse, m, &d);
                compute(&all, &dense, &d);
                CHECK(memcmp(&sparse, &all, sizeof all) == 0);
        }
        ran_model_free(m);
        toy_release(&t);
        free(path);
}

TEST(linear_rows_give_the_results_of_all_rows)
{
        struct ran_config c = toy_config();

        check_same_results(c);
        c.linear.ngrams = 3, c.classify.multilabel = true;
        check_same_results(c);
        c = toy_config();
        c.task = RAN_TASK_TAG, c.tag.crf = true, c.spelling = 9;
        check_same_results(c);
}

/* What training goes on from is the table it had. */
TEST(linear_rows_spread_to_the_table_they_came_from)
{
        struct ran_config c = toy_config();
        struct ran_error err = {0};
        char *path = test_path("spread.ran");
        struct toy t;

        c.linear.wide = WIDE;
        toy_init(&t, &c, 5, 0.3);
        thin_out(&t, &c);
        struct ran_model *m = write_and_open(&t, path);
        REQUIRE(m != NULL);
        float *weight = ran_alloc_floats(WIDE * t.C, &err), *idf = ran_alloc_floats(WIDE, &err);
        dice_floats(&(struct dice){.key = 1}, weight, WIDE * t.C, 1);
        ran_linear_rows_spread(ran_linear_of(&m->params), WIDE, t.C, weight, idf);
        for (size_t i = 0; i < WIDE * t.C; i++)
                CHECK(weight[i] == ran_linear_of(&t.p)->wide[i]);
        for (size_t g = 0; g < WIDE; g++)
                CHECK(idf[g] == ran_linear_of(&t.p)->idf[g]);
        free(weight);
        free(idf);
        ran_model_free(m);
        toy_release(&t);
        free(path);
}

TEST(linear_model_of_zeros_alone_has_a_row)
{
        struct ran_config c = toy_config();
        char *path = test_path("zeros.ran");
        struct toy t;

        c.linear.wide = WIDE;
        toy_init(&t, &c, 5, 0.3);
        memset(t.embed + t.V * c.dim, 0, WIDE * (t.C + 1) * sizeof(float));
        struct ran_model *m = write_and_open(&t, path);
        REQUIRE(m != NULL);
        CHECK(m->linear.rows.n == 1 && ran_linear_of(&m->params)->rows->bucket[0] == 0);
        ran_model_free(m);
        toy_release(&t);
        free(path);
}
