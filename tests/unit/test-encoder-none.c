/* A linear model without an encoder, from training to attribution; and what is left of a model
 * whose encoder did not help. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/model.h"
#include "gradients.h"
#include "test.h"
#include "toy.h"
#include "training.h"

/* Classes of documents by the ids in them; held out: each fourth. */
static void begin(struct training *t, const char *name, bool several, bool *held_out)
{
        training_init(t, name, 30, several);
        t->c.encoder = RAN_ENCODER_NONE;
        t->c.linear.wide = 100;
        for (size_t b = 0; b < 40 && held_out != NULL; b++)
                held_out[b] = b % 4 == 0;
        t->s.refit = held_out != NULL;
        t->job.held_out = held_out;
}

/* The tag of a word is its id modulo three. */
static void begin_tagger(struct training *t, const char *name)
{
        begin(t, name, false, NULL);
        t->c.task = RAN_TASK_TAG;
        t->c.tag.crf = true;
        t->s.label_smoothing = 0;
        for (int dev = 0; dev <= 1; dev++) {
                struct ran_dataset *d = dev ? &t->dev : &t->train;
                struct ran_error err = {0};
                struct dice dice = {.key = 5 + (uint64_t)dev};

                ran_dataset_release(d);
                *d = (struct ran_dataset){0};
                char *names[] = {"B-x", "I-x", "O"};
                CHECK_OK(ran_dataset_set_classes(d, names, 3, &err), err);
                for (size_t b = 0; b < 40; b++) {
                        uint32_t ids[20], positions[20], tags[20];
                        size_t n = dice_size(&dice, 2, 20);

                        for (uint32_t i = 0; i < n; i++) {
                                ids[i] = (uint32_t)dice_size(&dice, 0, CORPUS_V - 1);
                                positions[i] = i;
                                tags[i] = ids[i] % 3;
                        }
                        CHECK_OK(ran_dataset_add_words(d, ids, n, positions, tags, n, 1, &err),
                                 err);
                }
                CHECK_OK(ran_dataset_finish(d, &err), err);
        }
}

static struct ran_model *train(struct training *t)
{
        struct ran_error err = {0};

        if (!CHECK_OK(training_run(t, 2, &err), err))
                return NULL;
        struct ran_model *m = ran_model_open(t->output, true, &err);
        test_check(m != NULL, err.text, __FILE__, __LINE__);
        return m;
}

static bool has(const struct ran_model *m, const char *tensor)
{
        return ran_tensors_find(&m->tensors, tensor) != NULL;
}

/* ---- from end to end ------------------------------------------------------------------------- */

TEST(none_learns_scores_and_has_nothing_of_an_encoder)
{
        struct training t;
        struct ran_error err = {0};
        size_t right = 0;

        begin(&t, "none", false, NULL);
        struct ran_model *m = train(&t);
        REQUIRE(m != NULL);
        struct ran_state *s = ran_state_new(m, NULL);
        struct ran_explainer *e = ran_explainer_new(m, NULL);
        REQUIRE(s != NULL && e != NULL);
        CHECK(training_count(&t, RAN_REPORT_STEP) == 0 && training_count(&t, RAN_REPORT_DEV) == 1);
        CHECK(m->tensors.n == 4 && has(m, "wide.weight") && has(m, "wide.bias") &&
              has(m, "wide.idf") && has(m, "wide.rows"));
        CHECK(ran_model_vocabulary(m) == RAN_ANY_ID && ran_model_classes(m) == CORPUS_C);
        for (size_t b = 0; b < t.train.B; b++) {
                const struct ran_document d = ran_dataset_document(&t.train, b);
                float logits[CORPUS_C];

                CHECK_OK(ran_classify(m, s, &d, logits, NULL, &err), err);
                right += ran_most_probable(logits, CORPUS_C) ==
                         t.train.labels[t.train.label_first[b]];
        }
        CHECK(right >= 36);
        /* Attribution adds up to the logit of the linear model, without its bias. */
        const struct ran_document d = ran_dataset_document(&t.train, 0);
        double value[64], sum = 0;
        float logits[CORPUS_C], bias[CORPUS_C], embedding[8];
        CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
        CHECK_OK(ran_explain_label(e, 0, 1, 100, value, &err), err);
        for (size_t i = 0; i < d.L; i++)
                sum += value[i];
        CHECK_OK(ran_classify(m, s, &d, logits, NULL, &err), err);
        memcpy(bias, ran_linear_of(&m->params)->bias, sizeof bias);
        float p[2][CORPUS_C];
        ran_probabilities(&m->config, logits, CORPUS_C, p[0]);
        ran_probabilities(&m->config, bias, CORPUS_C, p[1]);
        double odds[2];
        for (int i = 0; i < 2; i++)
                odds[i] = (double)p[i][1] / (1 - (double)p[i][1]);
        CHECK_NEAR(exp(sum), odds[0] / odds[1], 1e-3 * odds[0] / odds[1]);
        /* What it does not have. */
        CHECK_SIZE((size_t)ran_classify(m, s, &d, logits, embedding, &err), RAN_EINVAL);
        CHECK(strstr(err.text, "no encoder") != NULL);
        CHECK_SIZE((size_t)ran_explain_tokens(e, 0, 1, 1, value, &err), RAN_EINVAL);
        CHECK_SIZE((size_t)ran_dump_gradients(t.output, &t.train, 5, NULL, t.checkpoint, &err),
                   RAN_EINVAL);
        double weights[4] = {0};
        struct ran_probe probe = {
                .query_to = 1, .key_to = 1, .down = 1, .across = 1, .sum = weights};
        CHECK_SIZE((size_t)ran_probe(m, s, &d, 0, &probe, 1, &err), RAN_EINVAL);
        /* Any id is hashed. */
        const uint32_t foreign[] = {4000000000u, 77};
        CHECK_OK(ran_classify(m, s, &(struct ran_document){.ids = foreign, .L = 2}, logits, NULL,
                              &err),
                 err);
        ran_explainer_free(e);
        ran_state_free(s);
        ran_model_free(m);
        training_release(&t);
}

TEST(none_tags_words)
{
        struct training t;
        struct ran_error err = {0};
        size_t right = 0, words = 0;

        begin_tagger(&t, "none-tags");
        struct ran_model *m = train(&t);
        REQUIRE(m != NULL);
        struct ran_state *s = ran_state_new(m, NULL);
        REQUIRE(s != NULL);
        CHECK(!has(m, "embed.weight") && !has(m, "tag.out.bias") && has(m, "crf.start"));
        for (size_t b = 0; b < t.dev.B; b++) {
                const struct ran_document d = ran_dataset_document(&t.dev, b);
                uint32_t tags[20];
                float score[20];

                CHECK_OK(ran_tag(m, s, &d, tags, score, NULL, &err), err);
                for (size_t i = 0; i < d.words; i++)
                        right += tags[i] == t.dev.labels[t.dev.label_first[b] + i];
                words += d.words;
        }
        CHECK(20 * right > 13 * words); /* tags that IOB2 forbids cannot be given */
        ran_state_free(s);
        ran_model_free(m);
        training_release(&t);
}

/* ---- configurations and files ---------------------------------------------------------------- */

TEST(none_is_for_labels_and_tags_and_needs_a_linear_model)
{
        struct ran_config c = toy_config();
        struct ran_error err = {0};

        c.encoder = RAN_ENCODER_NONE;
        CHECK(ran_config_check(&c, &err) == RAN_EINVAL && strstr(err.text, "wide must be above 0"));
        c.linear.wide = 10;
        CHECK_OK(ran_config_check(&c, &err), err);
        c.task = RAN_TASK_TAG;
        CHECK_OK(ran_config_check(&c, &err), err);
        c.linear.wide = 0;
        c.task = RAN_TASK_MLM;
        CHECK(ran_config_check(&c, &err) == RAN_EINVAL && strstr(err.text, "for 'mlm'"));
        c.task = RAN_TASK_LM;
        c.mask = RAN_MASK_CAUSAL;
        CHECK(ran_config_check(&c, &err) == RAN_EINVAL && strstr(err.text, "for 'lm'"));
}

/* ---- the same bytes -------------------------------------------------------------------------- */

/* Stops at a report, at each in turn in make check-all. */
static void check_resumes(struct training *t)
{
        struct ran_error err = {0};
        char *whole = test_path("none-whole.ran");

        CHECK_OK(training_run(t, 1, &err), err);
        CHECK(rename(t->output, whole) == 0);
        size_t reports = t->reports;
        for (size_t at = 1; at < reports; at += test_all() ? 1 : 1 + reports / 4) {
                t->job.resume = false;
                t->stop_at = at;
                int rc = training_run(t, 1, &err);
                if (rc == RAN_OK) /* only told of a checkpoint */
                        continue;
                CHECK(rc == RAN_EINTR && exists(t->checkpoint) && !exists(t->output));
                t->job.resume = true;
                t->stop_at = 0;
                CHECK_OK(training_run(t, 3, &err), err);
                if (!CHECK(same_file(t->output, whole)))
                        printf("  stopped at report %zu of %zu\n", at, reports);
                CHECK(!exists(t->checkpoint));
                unlink(t->output);
        }
        t->job.resume = false;
        t->stop_at = 0;
        free(whole);
}

TEST(none_resumes_and_takes_any_number_of_threads)
{
        for (int kind = 0; kind < 4; kind++) {
                bool held_out[40];
                struct training t;

                if (kind == 3)
                        begin_tagger(&t, "none-resume");
                else
                        begin(&t, "none-resume", kind == 1, kind == 2 ? held_out : NULL);
                if (kind == 1)
                        t.job.dev = NULL;
                check_resumes(&t);
                training_release(&t);
        }
}

/* ---- initialised from another model ---------------------------------------------------------- */

static bool same_tensor(const struct ran_model *a, const struct ran_model *b, const char *name)
{
        const struct ran_tensor *x = ran_tensors_find(&a->tensors, name);
        const struct ran_tensor *y = ran_tensors_find(&b->tensors, name);

        return x != NULL && y != NULL && x->end - x->begin == y->end - y->begin &&
               memcmp(a->tensors.data + x->begin, b->tensors.data + y->begin, x->end - x->begin) ==
                       0;
}

/* Of a model with an encoder it takes the linear model, and an encoder cannot begin with none. */
TEST(none_begins_with_the_linear_model_of_another)
{
        struct training base, t;
        struct ran_error err = {0};

        begin(&base, "none-base", false, NULL);
        base.c.encoder = RAN_ENCODER_RAN;
        base.job.dev = NULL; /* nothing is dropped */
        struct ran_model *from = train(&base);
        REQUIRE(from != NULL);
        CHECK(has(from, "embed.weight") && has(from, "wide.rows"));
        begin(&t, "none-init", false, NULL);
        t.job.init = from;
        t.job.dev = NULL;
        t.s.init_rate = 0; /* nothing moves */
        CHECK(ran_train_keeps_head(&t.job));
        struct ran_model *m = train(&t);
        REQUIRE(m != NULL);
        CHECK(same_tensor(m, from, "wide.weight") && same_tensor(m, from, "wide.bias") &&
              same_tensor(m, from, "wide.idf") && same_tensor(m, from, "wide.rows"));
        t.job.init = m;
        t.c.encoder = RAN_ENCODER_RAN;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINVAL);
        CHECK(strstr(err.text, "no encoder") != NULL);
        ran_model_free(m);
        ran_model_free(from);
        training_release(&t);
        training_release(&base);
}

/* ---- an encoder that did not help ------------------------------------------------------------ */

/* Without a step of its own an encoder cannot help. */
static void begin_useless(struct training *t, const char *name, bool *held_out)
{
        begin(t, name, false, held_out);
        t->c.encoder = RAN_ENCODER_RAN;
        t->s.learning_rate = t->s.min_learning_rate = 1e-9;
        ran_dataset_release(&t->train);
        corpus_make(&t->train, 40, 20, 30, false, 1);
}

/* The model is that of --encoder none, but for the record of its training. */
TEST(encoder_that_does_not_help_is_not_in_the_model)
{
        static const char *const tensors[] = {"wide.weight", "wide.idf", "wide.rows", "wide.bias"};
        bool held_out[40];

        for (int refit = 0; refit <= 1; refit++) {
                struct training t;

                begin_useless(&t, "dropped", refit ? held_out : NULL);
                struct ran_model *m = train(&t);
                REQUIRE(m != NULL);
                CHECK(t.report[t.reports - 1].linear_only);
                CHECK(!ran_config_has_encoder(&m->config) && m->tensors.n == 4);
                CHECK(strstr(ran_model_metadata(m, "training"), "\"tried\":{\"encoder\":\"ran\"") !=
                      NULL);
                for (size_t i = 0; i < t.reports; i++) /* no encoder is refitted */
                        CHECK(!t.report[i].refit || t.report[i].event != RAN_REPORT_STEP);
                t.c.encoder = RAN_ENCODER_NONE;
                struct ran_model *none = train(&t);
                REQUIRE(none != NULL);
                for (size_t i = 0; i < 4; i++)
                        CHECK(same_tensor(m, none, tensors[i]));
                ran_model_free(none);
                ran_model_free(m);
                training_release(&t);
        }
}

TEST(encoder_that_does_not_help_is_resumed)
{
        bool held_out[40];
        struct training t;

        begin_useless(&t, "dropped-resume", held_out);
        check_resumes(&t);
        training_release(&t);
}
