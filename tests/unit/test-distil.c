/* Distillation: principal components, the loss of a text and its derivative, the fit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distil/components.h"
#include "distil/static-fit.h"
#include "doubles.h"
#include "gradient/batch.h"
#include "naive.h"
#include "nn/digest.h"
#include "ran.h"
#include "test.h"
#include "toy.h"
#include "training.h"

static double uniform(uint64_t i)
{
        return 2 * ran_random_uniform(ran_random_key(7, 100, 0, 0), i) - 1;
}

/* ---- principal components -------------------------------------------------------------------- */

enum { F = 5, N = 400 };
static const double size[F] = {0.5, 3, 0.1, 1, 0}; /* of direction i, the axes turned */

static double sample(size_t i, size_t f)
{
        return size[f] * uniform(i * F + f);
}

/* The axes 1 and 3 turned by 30 degrees, and moved. */
static void read_sample(const void *arg, size_t i, float *v)
{
        const double c = sqrt(3) / 2, s = 0.5;

        (void)arg;
        for (size_t f = 0; f < F; f++)
                v[f] = (float)sample(i, f);
        v[1] = (float)(c * sample(i, 1) - s * sample(i, 3)) + 10;
        v[3] = (float)(s * sample(i, 1) + c * sample(i, 3)) - 20;
}

TEST(components_are_the_directions_of_largest_variance)
{
        struct ran_components k;
        struct ran_error err = {0};

        CHECK(ran_components_init(&k, F, 2, N, read_sample, NULL, &err) == RAN_OK);
        CHECK_NEAR(k.mean[1], 10, 0.3);
        CHECK_NEAR(k.mean[3], -20, 0.3);
        CHECK_NEAR(fabs((double)k.row[1]), sqrt(3) / 2, 0.05);
        CHECK_NEAR(fabs((double)k.row[3]), 0.5, 0.05);
        CHECK((k.row[1] > 0) == (k.row[3] > 0));
        double product = 0, length = 0, all = 0;
        for (size_t f = 0; f < F; f++) {
                product += (double)k.row[f] * (double)k.row[F + f];
                length += (double)k.row[F + f] * (double)k.row[F + f];
                all += size[f] * size[f];
        }
        CHECK_NEAR(product, 0, 1e-5);
        CHECK_NEAR(length, 1, 1e-5);
        CHECK_NEAR(k.explained, (9 + 1) / all, 0.01);
        ran_components_release(&k);
}

TEST(components_without_variance_are_zeros)
{
        struct ran_components k;
        struct ran_error err = {0};
        float x[F] = {1, 2, 3, 4, 5}, y[F];

        CHECK(ran_components_init(&k, F, F, N, read_sample, NULL, &err) == RAN_OK);
        for (size_t f = 0; f < F; f++)
                CHECK(k.row[4 * F + f] == 0);
        CHECK_NEAR(k.explained, 1, 1e-12);
        ran_components_project(&k, x, 1, y);
        double sum = 0;
        for (size_t f = 0; f < F; f++)
                sum += (double)k.row[f] * (double)x[f];
        CHECK_NEAR((double)y[0], sum, 1e-4);
        CHECK(y[4] == 0);
        ran_components_release(&k);
}

/* ---- the loss of a text ---------------------------------------------------------------------- */

enum { D = 7 };

static double loss_in_double(const double *y, const double *t)
{
        double yt = 0, yy = 0, tt = 0;

        for (size_t d = 0; d < D; d++) {
                yt += y[d] * t[d];
                yy += y[d] * y[d];
                tt += t[d] * t[d];
        }
        return 1 - yt / sqrt(yy * tt);
}

TEST(derivative_of_the_loss_is_that_of_differences)
{
        float y[D], dy[D];
        double a[D], b[D];

        for (size_t d = 0; d < D; d++) {
                y[d] = (float)uniform(1000 + d);
                dy[d] = (float)uniform(2000 + d);
                a[d] = (double)y[d];
                b[d] = (double)dy[d];
        }
        CHECK_NEAR(ran_static_loss(y, dy, D), loss_in_double(a, b), 1e-6);
        for (size_t d = 0; d < D; d++) {
                const double h = 1e-5, was = a[d];

                a[d] = was + h;
                const double up = loss_in_double(a, b);
                a[d] = was - h;
                const double down = loss_in_double(a, b);
                a[d] = was;
                CHECK_NEAR((double)dy[d], (up - down) / (2 * h), 1e-5);
        }
}

TEST(loss_of_a_vector_without_a_direction_is_1)
{
        float y[D] = {0}, t[D] = {1, 2};

        CHECK(ran_static_loss(y, t, D) == 1);
        for (size_t d = 0; d < D; d++)
                CHECK(t[d] == 0);
}

/* ---- the fit --------------------------------------------------------------------------------- */

enum { V = 20, TEXTS = 300, L = 6 };
static uint32_t ids[TEXTS * L];
static size_t first[TEXTS + 1], order[TEXTS];
static float hidden[V * D];

static void target(const void *arg, size_t text, float *t)
{
        const struct ran_text_ids texts = {ids, first};

        (void)arg;
        ran_static_mean(hidden, D, &texts, text, t);
}

static int count_steps(void *arg, size_t done, double loss)
{
        size_t *steps = arg;

        (void)done, (void)loss;
        return ++*steps == 3; /* the caller ends it */
}

static struct ran_static_fit make_fit(float *rows)
{
        for (size_t i = 0; i < V * D; i++) {
                hidden[i] = (float)uniform(5000 + i);
                rows[i] = (float)(0.1 * uniform(9000 + i));
        }
        for (size_t i = 0; i < TEXTS; i++) {
                order[i] = i;
                first[i + 1] = (i + 1) * L;
                for (size_t k = 0; k < L; k++) /* no text has the last token */
                        ids[i * L + k] = (uint32_t)(ran_random_draw(3, i * L + k) % (V - 1));
        }
        return (struct ran_static_fit){.rows = rows,
                                       .V = V,
                                       .D = D,
                                       .texts = {ids, first},
                                       .order = order,
                                       .n = TEXTS,
                                       .epochs = 60,
                                       .batch = 16,
                                       .seed = 1,
                                       .learning_rate = 0.02,
                                       .target = target};
}

TEST(fit_finds_vectors_whose_means_have_the_directions)
{
        float rows[V * D], last[D], y[D], t[D];
        const struct ran_static_fit f = make_fit(rows);
        struct ran_error err = {0};
        double sum = 0;

        memcpy(last, rows + (V - 1) * D, sizeof last);
        CHECK(ran_static_fit(&f, &err) == RAN_OK);
        for (size_t i = 0; i < TEXTS; i++) {
                ran_static_mean(rows, D, &f.texts, i, y);
                target(NULL, i, t);
                sum += ran_static_loss(y, t, D);
        }
        CHECK(sum / TEXTS < 0.01);
        CHECK(memcmp(last, rows + (V - 1) * D, sizeof last) == 0); /* a token of no text stays */
}

TEST(fit_ends_when_the_caller_says_so)
{
        float rows[V * D];
        struct ran_static_fit f = make_fit(rows);
        struct ran_error err = {0};
        size_t steps = 0;

        f.step = count_steps;
        f.step_arg = &steps;
        CHECK(ran_static_fit(&f, &err) == RAN_EINTR);
        CHECK(steps == 3);
}

/* ---- a RAN that learns vectors --------------------------------------------------------------- */

enum { DOCUMENTS = 3, LONGEST = 11 };

struct school {
        struct toy t;
        struct ran_dataset d;
        float target[DOCUMENTS][16];
        struct ran_batcher batcher;
        struct ran_chunk chunk[DOCUMENTS];
};

static void school_init(struct school *k, size_t width)
{
        struct ran_config c = toy_config();
        struct dice dice = {.key = 5};
        struct ran_error err = {0};

        *k = (struct school){0};
        c.task = RAN_TASK_EMBED;
        c.ran.cell = RAN_CELL_PRENORM;
        c.ran.vector = true;
        c.dim = width;
        toy_init(&k->t, &c, 7, 0.4);
        for (size_t b = 0; b < DOCUMENTS; b++) {
                uint32_t ids_of[LONGEST];
                const size_t length = 1 + 5 * b;

                for (size_t i = 0; i < length; i++)
                        ids_of[i] = (uint32_t)dice_size(&dice, 0, TOY_V - 1);
                CHECK_OK(ran_dataset_add(&k->d, ids_of, length, NULL, 0, 1 + (double)b, &err), err);
                dice_floats(&dice, k->target[b], width, 2);
                k->chunk[b] = (struct ran_chunk){.document = b, .to = length};
        }
        CHECK_OK(ran_dataset_finish(&k->d, &err), err);
        float *all = ran_alloc_floats(DOCUMENTS * width, &err);
        for (size_t b = 0; b < DOCUMENTS; b++)
                memcpy(all + b * width, k->target[b], width * sizeof *all);
        k->d.target = all;
        k->d.target_width = width;
        CHECK_OK(ran_batch_check(&k->d, &k->t.c, TOY_V, width, false, &err), err);
        CHECK_OK(ran_batcher_init(&k->batcher, &k->t.c, &k->t.p, TOY_V, width, &k->d, NULL, &err),
                 err);
}

static void school_release(struct school *k)
{
        ran_batcher_release(&k->batcher);
        free((float *)k->d.target);
        ran_dataset_release(&k->d);
        toy_release(&k->t);
}

/* The loss by the plain loop, whose vectors are as long as heads want them: the cosine is the same.
 * Documents weigh 1, 2 and 3. */
static double naive_lesson(const struct naive *n, const struct school *k)
{
        double sum = 0, weights = 0;

        for (size_t b = 0; b < DOCUMENTS; b++) {
                const size_t width = k->t.c.dim, from = k->d.first[b];
                double logits[16] = {0}, v[16], vt = 0, vv = 0, tt = 0;

                naive_classify(n, logits, v, k->d.ids + from, k->d.first[b + 1] - from);
                for (size_t i = 0; i < width; i++) {
                        vt += v[i] * (double)k->target[b][i];
                        vv += v[i] * v[i];
                        tt += (double)k->target[b][i] * (double)k->target[b][i];
                }
                sum += (1 + (double)b) * (1 - vt / sqrt(vv * tt));
                weights += 1 + (double)b;
        }
        return sum / weights;
}

TEST(gradient_of_the_loss_of_vectors_is_that_of_differences)
{
        struct school k;
        struct naive n;
        struct ran_grad *g;
        struct ran_error err = {0};
        double loss;

        school_init(&k, 6);
        CHECK_OK(ran_batch_gradient(&k.batcher, k.chunk, DOCUMENTS, &loss, &g, &err), err);
        naive_init(&n, &k.t.c, &k.t.layout, &k.t.p, TOY_V, k.t.c.dim);
        CHECK_NEAR(loss, naive_lesson(&n, &k), 1e-5);
        for (size_t i = 0; i < k.t.layout.size; i += 7) {
                const double step = 1e-5, was = n.block[i];

                n.block[i] = was + step;
                const double above = naive_lesson(&n, &k);
                n.block[i] = was - step;
                const double below = naive_lesson(&n, &k);
                n.block[i] = was;
                CHECK_NEAR((double)g->p.block[i], (above - below) / (2 * step), 1e-4);
        }
        ran_tree_give(&k.batcher.tree, g);
        naive_release(&n);
        school_release(&k);
}

TEST(documents_without_vectors_to_learn_are_refused)
{
        struct school k;
        struct ran_error err = {0};

        school_init(&k, 6);
        k.d.target_width = 5;
        CHECK(ran_batch_check(&k.d, &k.t.c, TOY_V, 6, false, &err) == RAN_EINVAL);
        k.d.target_width = 6;
        const float *all = k.d.target;
        k.d.target = NULL;
        CHECK(ran_batch_check(&k.d, &k.t.c, TOY_V, 6, false, &err) == RAN_EINVAL);
        k.d.target = all;
        school_release(&k);
}

/* By which a file of vectors is known to be of this model. */
TEST(digest_of_an_encoder_is_also_of_its_table_of_spellings)
{
        struct ran_config c = toy_config();
        struct toy t;
        struct ran_error err = {0};
        char before[65], after[65];

        c.ran.cell = RAN_CELL_PRENORM;
        c.ran.vector = true;
        c.spelling = 8;
        toy_init(&t, &c, 7, 0.4);
        CHECK_OK(ran_encoder_digest(before, &t.c, &t.p, TOY_V, &err), err);
        ((float *)t.p.spelling)[8 * c.dim - 1] += 1;
        CHECK_OK(ran_encoder_digest(after, &t.c, &t.p, TOY_V, &err), err);
        CHECK(strcmp(before, after) != 0);
        toy_release(&t);
}

/* ---- the whole way --------------------------------------------------------------------------- */

enum { SENTENCES = 40 };

struct making {
        struct ran_distil_settings settings;
        struct ran_buf text;
        size_t end[SENTENCES];
        struct ran_distil_job job;
        size_t steps; /* of the RAN */
};

static int count_lessons(void *arg, const struct ran_distil_progress *p)
{
        struct making *k = arg;

        k->steps += p->stage == RAN_DISTIL_RAN;
        return 0;
}

static void making_init(struct making *k)
{
        static const char *const word[] = {"rain", "sun", "sea", "snow", "river", "stone"};
        struct dice dice = {.key = 8};
        struct ran_error err = {0};

        *k = (struct making){0};
        for (size_t i = 0; i < SENTENCES; i++) {
                for (size_t n = 0; n < 4; n++)
                        ran_buf_printf(&k->text, "%s ", word[dice_size(&dice, 0, 5)]);
                k->end[i] = k->text.len;
        }
        REQUIRE(CHECK_OK(ran_fields_init(ran_distil_fields, &k->settings, &err), err));
        k->settings.encoder = RAN_STUDENT_RAN;
        k->settings.dim = 8;
        k->settings.layers = 1;
        k->settings.heads = 2;
        k->settings.window = 4;
        k->settings.ran_epochs = 2;
        k->job = (struct ran_distil_job){
                .teacher = ran_model_open("tests/encoders/sentence-mean", false, &err),
                .settings = &k->settings,
                .text = k->text.data,
                .end = k->end,
                .n = SENTENCES,
                .held_out = 4,
                .checkpoint = test_path("student.ckpt"),
                .storage = RAN_STORAGE_F32,
                .progress = count_lessons,
                .arg = k};
        REQUIRE(CHECK_OK(k->job.teacher != NULL ? RAN_OK : RAN_EIO, err));
        k->job.tokenizer = ran_model_tokenizer(k->job.teacher);
}

static void making_release(struct making *k)
{
        ran_model_free(k->job.teacher);
        ran_buf_release(&k->text);
        ran_fields_release(ran_distil_fields, &k->settings);
}

/* The last thing to fail is the file of the student: the disk is full, say. */
TEST(what_a_ran_has_learned_is_kept_until_its_model_is_written)
{
        struct making k;
        struct ran_distil_report report;
        struct ran_error err = {0};
        char *nowhere = test_path("no-folder/student.ran"), *path = test_path("student.ran");
        char *fresh = test_path("fresh.ran");

        making_init(&k);
        CHECK(ran_distil(&k.job, nowhere, &report, &err) == RAN_EIO);
        CHECK(k.steps > 0);
        CHECK(exists(k.job.checkpoint));
        k.steps = 0;
        CHECK_OK(ran_distil(&k.job, path, &report, &err), err);
        CHECK_SIZE(k.steps, 0);
        CHECK(!exists(k.job.checkpoint));
        CHECK_OK(ran_distil(&k.job, fresh, &report, &err), err);
        CHECK(k.steps > 0);
        CHECK(same_file(path, fresh));
        free((char *)k.job.checkpoint);
        making_release(&k);
        free(nowhere);
        free(path);
        free(fresh);
}

TEST(vectors_are_not_judged_by_validation_documents)
{
        struct school k;
        struct ran_train_settings s;
        struct ran_error err = {0};

        school_init(&k, 6);
        REQUIRE(CHECK_OK(ran_fields_init(ran_train_fields, &s, &err), err));
        s.metric = RAN_METRIC_LOSS;
        s.refit = false;
        s.early_stop = false;
        const struct ran_train_job job = {
                .config = &k.t.c, .settings = &s, .train = &k.d, .dev = &k.d, .V = TOY_V};
        CHECK(ran_train(&job, &err) == RAN_EINVAL);
        CHECK_STR(err.text, "vectors are not judged by validation documents: leave them out");
        ran_fields_release(ran_train_fields, &s);
        school_release(&k);
}
