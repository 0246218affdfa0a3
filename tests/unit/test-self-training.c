/* Self-training: texts without labels as soft targets, and the folds that judge it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "training.h"

/* ---- documents and texts --------------------------------------------------------------------- */

/* Texts of the classes of d: the same kind of documents, whose labels are lost. */
static void make_texts(struct ran_dataset *texts, const struct ran_dataset *d, size_t B,
                       uint64_t seed)
{
        struct ran_dataset labelled = {0};
        struct ran_error err = {0};

        corpus_make(&labelled, B, 1, 20, false, seed);
        REQUIRE(CHECK_OK(ran_dataset_set_classes(texts, d->names, d->C, &err), err));
        for (size_t b = 0; b < B; b++) {
                const struct ran_document x = ran_dataset_document(&labelled, b);

                CHECK_OK(ran_dataset_add(texts, x.ids, x.L, NULL, 0, 1, &err), err);
                if (x.spelling != NULL)
                        CHECK_OK(ran_dataset_spell(texts, x.spelling, x.L, &err), err);
        }
        REQUIRE(CHECK_OK(ran_dataset_finish(texts, &err), err));
        ran_dataset_release(&labelled);
}

TEST(texts_follow_the_documents_with_their_probabilities_as_targets)
{
        static const float p[] = {0.25f, 0, 0.75f, 0.5f, 0.5f, 0};
        struct ran_dataset d = {0}, texts = {0}, both = {0};
        struct ran_error err = {0};
        bool left_out[6] = {false, true, false, false, true, false};

        corpus_make(&d, 6, 2, 5, false, 1);
        make_texts(&texts, &d, 2, 7);
        REQUIRE(CHECK_OK(ran_dataset_join(&d, left_out, &texts, p, &both, &err), err));
        CHECK_SIZE(both.B, 6);
        CHECK_SIZE(both.C, CORPUS_C);
        for (size_t b = 0, from = 0; b < 4; b++, from++) {
                while (left_out[from])
                        from++;
                CHECK_SIZE(both.labels[b], d.labels[from]);
                CHECK_SIZE(both.soft_first[b + 1], 0);
                CHECK(!both.guessed[b]);
                CHECK_SIZE(both.ids[both.first[b]], d.ids[d.first[from]]);
        }
        CHECK_SIZE(both.labels[4], 2);
        CHECK_SIZE(both.labels[5], 0);
        CHECK(both.guessed[4] && both.guessed[5]);
        CHECK_SIZE(both.soft_first[5], 2);
        CHECK_SIZE(both.soft_first[6], 4);
        CHECK_SIZE(both.soft_labels[1], 2);
        CHECK(both.soft[1] == 0.75f && both.soft[2] == 0.5f);
        CHECK_SIZE(both.ids[both.first[5]], texts.ids[texts.first[1]]);
        ran_dataset_release(&both);
        ran_dataset_release(&texts);
        ran_dataset_release(&d);
}

TEST(texts_that_repeat_documents_or_each_other_are_found)
{
        static const uint32_t x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, y[] = {9, 7, 5, 3, 1, 2, 4, 6};
        static const uint32_t z[] = {11, 1, 11, 3, 11, 5, 11, 7, 11};
        struct ran_dataset train = {0}, dev = {0}, texts = {0};
        const struct ran_dataset *before[] = {&train, &dev};
        const uint32_t label = 0;
        struct ran_error err = {0};
        char *name[] = {"a"};
        size_t like[4];

        CHECK_OK(ran_dataset_set_classes(&train, name, 1, &err), err);
        CHECK_OK(ran_dataset_set_classes(&dev, name, 1, &err), err);
        CHECK_OK(ran_dataset_set_classes(&texts, name, 1, &err), err);
        CHECK_OK(ran_dataset_add(&train, x, 10, &label, 1, 1, &err), err);
        CHECK_OK(ran_dataset_add(&dev, y, 8, &label, 1, 1, &err), err);
        CHECK_OK(ran_dataset_add(&texts, z, 9, NULL, 0, 1, &err), err);
        CHECK_OK(ran_dataset_add(&texts, y, 8, NULL, 0, 1, &err), err);
        CHECK_OK(ran_dataset_add(&texts, x, 10, NULL, 0, 1, &err), err);
        CHECK_OK(ran_dataset_add(&texts, z, 9, NULL, 0, 1, &err), err);
        CHECK_OK(ran_dataset_finish(&train, &err), err);
        CHECK_OK(ran_dataset_finish(&dev, &err), err);
        CHECK_OK(ran_dataset_finish(&texts, &err), err);
        REQUIRE(CHECK_OK(ran_dataset_find_alike(&texts, before, 2, 0.8, like, &err), err));
        CHECK(like[0] == RAN_NO_TEXT);
        CHECK_SIZE(like[1], 1);
        CHECK_SIZE(like[2], 0);
        CHECK_SIZE(like[3], 2);
        REQUIRE(CHECK_OK(ran_dataset_find_alike(&texts, NULL, 0, 0.8, like, &err), err));
        CHECK(like[1] == RAN_NO_TEXT && like[2] == RAN_NO_TEXT);
        CHECK_SIZE(like[3], 0);
        ran_dataset_release(&train);
        ran_dataset_release(&dev);
        ran_dataset_release(&texts);
}

/* ---- the folds ------------------------------------------------------------------------------- */

struct seen {
        size_t calls, stop_at, folds;
        double share;
        bool fell;
};

static int on_progress(void *arg, const struct ran_self_progress *p)
{
        struct seen *seen = arg;

        seen->fell |= p->share < seen->share - 1e-9;
        seen->share = p->share;
        seen->folds = p->folds;
        return ++seen->calls == seen->stop_at;
}

static void begin(struct training *t, const char *name, struct ran_dataset *texts)
{
        training_init(t, name, 20, false);
        t->c.encoder = RAN_ENCODER_NONE;
        t->c.linear.wide = 100;
        t->s.refit = true;
        make_texts(texts, &t->train, 60, 9);
}

TEST(teacher_is_judged_by_the_out_of_fold_probabilities)
{
        struct training t;
        struct ran_dataset texts = {0};
        struct ran_self_training x;
        struct ran_error err = {0};
        struct seen seen = {0};
        float p[40 * CORPUS_C];
        size_t right = 0, found = 0, of_label = 0;

        begin(&t, "self", &texts);
        REQUIRE(CHECK_OK(ran_self_train(&x, &t.job, &texts, on_progress, &seen, &err), err));
        REQUIRE(CHECK_OK(ran_train_folds(&t.job, RAN_SELF_FOLDS, NULL, NULL, p, &err), err));
        for (size_t b = 0; b < 40; b++) {
                const bool is = ran_most_probable(p + b * CORPUS_C, CORPUS_C) == t.train.labels[b];

                right += is;
                of_label += t.train.labels[b] == 1;
                found += is && t.train.labels[b] == 1;
        }
        CHECK_SIZE(x.trial[0].right, right);
        CHECK_NEAR(x.trial[0].recall[1], (double)found / (double)of_label, 1e-12);
        CHECK_NEAR(x.labelled[1], (double)of_label / 40, 1e-12);
        CHECK_NEAR(x.text[0] + x.text[1] + x.text[2], 1, 1e-5);
        CHECK_SIZE(x.folds, RAN_SELF_FOLDS);
        CHECK_SIZE(x.judged, 40);
        CHECK_SIZE(x.sampled, 60);
        CHECK(x.trials >= 2 && x.trial[1].rounds == 1 && !x.trial[1].vectors);
        CHECK(!seen.fell && seen.share > 0 && seen.share <= 1);
        CHECK_SIZE(seen.folds, RAN_SELF_FOLDS);
        ran_self_training_release(&x);
        ran_dataset_release(&texts);
        training_release(&t);
}

enum { WORDS = 40, SCATTERED = 2 * WORDS, TEXTS = 60 };

/* Documents of two classes, two of them with each word, in one fold; half of them have a word of
 * their class, too. What the other half is only the texts tell, which have three words of a class:
 * a teacher hardly knows it, and its pupil does. */
static void begin_scattered(struct training *t, const char *name, struct ran_dataset *texts)
{
        static char *const names[] = {"even", "odd"};
        struct ran_error err = {0};

        training_init(t, name, 20, false);
        ran_dataset_release(&t->train);
        t->train = (struct ran_dataset){0};
        t->c.encoder = RAN_ENCODER_NONE;
        t->c.linear.wide = 4096;
        t->c.spelling = 0;
        t->s.refit = true;
        t->job.V = WORDS + 2;
        CHECK_OK(ran_dataset_set_classes(&t->train, names, 2, &err), err);
        CHECK_OK(ran_dataset_set_classes(texts, names, 2, &err), err);
        for (uint32_t b = 0; b < SCATTERED; b++) {
                const uint32_t word = b / 2, label = word % 2, ids[] = {word, WORDS + label};

                CHECK_OK(ran_dataset_add(&t->train, ids, word % 4 < 2 ? 2 : 1, &label, 1, 1, &err),
                         err);
                CHECK_OK(ran_dataset_group(&t->train, (const char *)&word, sizeof word, &err), err);
        }
        for (uint32_t i = 0; i < TEXTS; i++) {
                const uint32_t ids[] = {i % WORDS, (i + 2) % WORDS, (i + 4) % WORDS};

                CHECK_OK(ran_dataset_add(texts, ids, 3, NULL, 0, 1, &err), err);
        }
        CHECK_OK(ran_dataset_finish(&t->train, &err), err);
        CHECK_OK(ran_dataset_finish(texts, &err), err);
}

/* Two teachers: one that does not know what is held out, and one of all documents. */
TEST(pupil_learns_from_a_teacher_that_does_not_know_held_out_documents)
{
        struct training t;
        struct ran_dataset texts = {0}, dev = {0};
        struct ran_self_training x, again;
        struct ran_error err = {0};
        bool held_out[SCATTERED];
        const size_t n = (size_t)TEXTS * 2;

        begin_scattered(&t, "self2", &texts);
        REQUIRE(CHECK_OK(ran_dataset_split(&t.train, 0.2, 1, NULL, held_out, &dev, &err), err));
        t.job.dev = &dev;
        t.job.held_out = held_out;
        REQUIRE(CHECK_OK(ran_self_train(&x, &t.job, &texts, NULL, NULL, &err), err));
        t.job.pool = ran_pool_new(3, &err);
        REQUIRE(CHECK_OK(ran_self_train(&again, &t.job, &texts, NULL, NULL, &err), err));
        ran_pool_free(t.job.pool);
        t.job.pool = NULL;
        CHECK_SIZE(again.kept, x.kept);
        CHECK(again.trial[1].loss >= x.trial[1].loss && again.trial[1].loss <= x.trial[1].loss);
        REQUIRE(x.kept > 0);
        CHECK_SIZE(x.set.B, SCATTERED + TEXTS);
        CHECK_SIZE(x.trial[x.kept].rounds > 0, 1);
        CHECK_SIZE(x.set.soft_first[SCATTERED + TEXTS], n);
        REQUIRE(x.held_out != NULL && x.refit_soft != NULL);
        CHECK(memcmp(x.held_out, held_out, sizeof held_out) == 0);
        CHECK(!x.held_out[SCATTERED + TEXTS - 1]);
        CHECK(memcmp(x.set.soft, again.set.soft, n * sizeof(float)) == 0);
        CHECK(memcmp(x.refit_soft, again.refit_soft, n * sizeof(float)) == 0);
        CHECK(memcmp(x.set.soft, x.refit_soft, n * sizeof(float)) != 0);
        ran_self_training_apply(&x, &t.job);
        CHECK(t.job.train == &x.set);
        CHECK_OK(training_run(&t, 1, &err), err);
        ran_self_training_release(&x);
        ran_self_training_release(&again);
        ran_dataset_release(&dev);
        ran_dataset_release(&texts);
        training_release(&t);
}

TEST(job_stays_as_it_is_when_nothing_is_kept)
{
        struct training t;
        struct ran_dataset texts = {0}, dev = {0};
        struct ran_self_training x;
        struct ran_error err = {0};
        bool held_out[40];

        begin(&t, "self5", &texts);
        REQUIRE(CHECK_OK(ran_dataset_split(&t.train, 0.2, 1, NULL, held_out, &dev, &err), err));
        t.job.dev = &dev;
        t.job.held_out = held_out;
        REQUIRE(CHECK_OK(ran_self_train(&x, &t.job, &texts, NULL, NULL, &err), err));
        CHECK_NEAR(x.text[0] + x.text[1] + x.text[2], 1, 1e-5);
        x.kept = 0;
        ran_self_training_apply(&x, &t.job);
        CHECK(t.job.train == &t.train && t.job.held_out == held_out && t.job.config == &t.c);
        CHECK(t.job.refit_soft == NULL && t.job.vectors == NULL && !t.job.without_vectors);
        CHECK_SIZE(t.job.unlabelled, 0);
        CHECK_OK(training_run(&t, 1, &err), err);
        ran_self_training_release(&x);
        ran_dataset_release(&dev);
        ran_dataset_release(&texts);
        training_release(&t);
}

/* Fewer tokens than numbers of a vector: the others are 0. */
TEST(in_domain_vectors_are_features_of_the_model_that_is_kept)
{
        struct training t;
        struct ran_dataset few = {0}, texts = {0};
        struct ran_self_training x;
        struct ran_error err = {0};

        begin(&t, "self6", &few);
        make_texts(&texts, &t.train, 6000, 11);
        REQUIRE(CHECK_OK(ran_self_train(&x, &t.job, &few, NULL, NULL, &err), err));
        CHECK(x.tokens < RAN_SELF_TOKENS && !x.trial[1].in_domain);
        CHECK_SIZE(x.vectors.V, 0);
        ran_self_training_release(&x);
        REQUIRE(CHECK_OK(ran_self_train(&x, &t.job, &texts, NULL, NULL, &err), err));
        CHECK_SIZE(x.vectors.V, CORPUS_V);
        CHECK(x.trial[1].in_domain && x.trial[1].vectors && x.trial[1].rounds == 0);
        CHECK(x.trial[2].rounds == 1 && x.trial[2].teacher < 2);
        x.kept = 1;
        ran_self_training_apply(&x, &t.job);
        CHECK(t.job.train == &t.train && t.job.vectors == &x.vectors);
        CHECK_SIZE(t.job.unlabelled, 0);
        REQUIRE(CHECK_OK(training_run(&t, 1, &err), err));
        struct ran_model *m = ran_model_open(t.output, true, &err);
        REQUIRE(m != NULL);
        CHECK(ran_model_config(m)->encoder == RAN_ENCODER_STATIC && ran_model_config(m)->frozen);
        CHECK_SIZE(ran_model_config(m)->dim, x.vectors.D);
        ran_model_free(m);
        ran_self_training_release(&x);
        ran_dataset_release(&few);
        ran_dataset_release(&texts);
        training_release(&t);
}

/* The refit learns from the other targets, and nothing else does. */
TEST(refit_takes_its_own_soft_targets)
{
        struct training t;
        struct ran_dataset texts = {0}, both = {0}, dev = {0};
        struct ran_error err = {0};
        bool held_out[100] = {false};
        float p[60 * CORPUS_C], turned[60 * CORPUS_C];
        struct ran_model *m[3];

        begin(&t, "self3", &texts);
        for (size_t i = 0; i < 60 * CORPUS_C; i++) {
                p[i] = i % CORPUS_C == i / CORPUS_C % 2 ? 0.8f : 0.1f;
                turned[i] = i % CORPUS_C == 2 - i / CORPUS_C % 2 ? 0.8f : 0.1f;
        }
        REQUIRE(CHECK_OK(ran_dataset_join(&t.train, NULL, &texts, p, &both, &err), err));
        REQUIRE(CHECK_OK(ran_dataset_split(&both, 0.1, 1, NULL, held_out, &dev, &err), err));
        t.job.train = &both;
        t.job.dev = &dev;
        t.job.held_out = held_out;
        for (size_t i = 0; i < 3; i++) {
                t.job.refit_soft = i == 1 ? both.soft : i == 2 ? turned : NULL;
                REQUIRE(CHECK_OK(training_run(&t, 1, &err), err));
                m[i] = ran_model_open(t.output, true, &err);
                REQUIRE(m[i] != NULL);
        }
        struct ran_buf what = {0};
        CHECK(ran_model_same(m[0], m[1], &what));
        CHECK(!ran_model_same(m[0], m[2], &what));
        ran_buf_release(&what);
        for (size_t i = 0; i < 3; i++)
                ran_model_free(m[i]);
        ran_dataset_release(&both);
        ran_dataset_release(&dev);
        ran_dataset_release(&texts);
        training_release(&t);
}

TEST(self_training_stops_and_refuses_what_it_cannot_do)
{
        struct training t;
        struct ran_dataset texts = {0}, none = {0};
        struct ran_self_training x;
        struct ran_error err = {0};
        struct seen seen = {.stop_at = 3};

        begin(&t, "self4", &texts);
        CHECK(ran_self_train(&x, &t.job, &texts, on_progress, &seen, &err) == RAN_EINTR);
        ran_self_training_release(&x);
        CHECK(ran_self_train(&x, &t.job, &none, NULL, NULL, &err) == RAN_EINVAL);
        CHECK_STR(err.text, "there is nothing to learn from");
        ran_self_training_release(&x);
        t.c.encoder = RAN_ENCODER_RAN;
        CHECK(ran_self_train(&x, &t.job, &texts, NULL, NULL, &err) == RAN_EINVAL);
        CHECK_STR(err.text, "self-training is for linear models of documents with one label each");
        ran_self_training_release(&x);
        ran_dataset_release(&texts);
        training_release(&t);
}
