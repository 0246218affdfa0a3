/* Which trial of a self-training is kept: probabilities by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ran.h"
#include "test.h"
#include "train/self-judge.h"

enum { B = 40, C = 3 };

/* Labels 0 and 1, and label 2 in the last 4 documents; the last fold is not judged. */
struct judged {
        struct ran_dataset d;
        uint32_t of[B];
        struct ran_self_judge judge;
        struct ran_self_training x;
};

static void begin(struct judged *k, bool by_label, size_t trials)
{
        static char *const names[] = {"a", "b", "c"};
        const uint32_t id = 0;
        struct ran_error err = {0};

        *k = (struct judged){0};
        CHECK_OK(ran_dataset_set_classes(&k->d, names, C, &err), err);
        for (uint32_t b = 0; b < B; b++) {
                const uint32_t label = b >= B - 4 ? 2 : b % 2;

                CHECK_OK(ran_dataset_add(&k->d, &id, 1, &label, 1, 1, &err), err);
                k->of[b] = b % 5;
        }
        CHECK_OK(ran_dataset_finish(&k->d, &err), err);
        k->judge =
                (struct ran_self_judge){.d = &k->d, .of = k->of, .folds = 4, .by_label = by_label};
        REQUIRE(CHECK_OK(ran_self_judge_init(&k->judge, &err), err));
        k->x.trials = trials;
}

static void end(struct judged *k)
{
        ran_self_judge_release(&k->judge);
        ran_self_training_release(&k->x);
        ran_dataset_release(&k->d);
}

/* Document b gets `label` with probability p, the others the rest. */
static void say(struct judged *k, size_t trial, size_t b, size_t label, double p)
{
        for (size_t c = 0; c < C; c++)
                k->judge.p[trial][b * C + c] = (float)(c == label ? p : (1 - p) / (C - 1));
}

/* All documents right with probability p, but for wrong ones of each label. */
static void say_all(struct judged *k, size_t trial, double p, const size_t wrong[C])
{
        size_t left[C];

        memcpy(left, wrong, sizeof left);
        for (size_t b = 0; b < B; b++) {
                const uint32_t label = k->d.labels[b];
                const bool errs = k->of[b] < 4 && left[label] > 0;

                left[label] -= errs;
                say(k, trial, b, errs ? (label + 1) % C : label, p);
        }
}

static void judge(struct judged *k)
{
        struct ran_error err = {0};

        for (size_t i = 0; i < k->x.trials; i++)
                CHECK_OK(ran_self_judge_trial(&k->judge, &k->x, i, &err), err);
}

TEST(trial_with_less_loss_and_fewer_errors_is_kept)
{
        struct judged k;

        begin(&k, false, 3);
        say_all(&k, 0, 0.8, (size_t[]){6, 6, 1});
        say_all(&k, 1, 0.8, (size_t[]){2, 2, 1});
        say_all(&k, 2, 0.8, (size_t[]){4, 4, 1});
        judge(&k);
        CHECK_SIZE(k.x.kept, 1);
        CHECK_SIZE(k.x.trial[0].right, 32 - 13);
        CHECK_SIZE(k.x.trial[1].right, 32 - 5);
        CHECK(k.x.trial[1].loss < k.x.trial[2].loss && k.x.trial[2].loss < k.x.trial[0].loss);
        end(&k);
}

TEST(trial_that_never_finds_a_label_is_not_kept)
{
        struct judged k;

        begin(&k, false, 2);
        say_all(&k, 0, 0.8, (size_t[]){6, 6, 2});
        say_all(&k, 1, 0.8, (size_t[]){0, 0, 4});
        judge(&k);
        CHECK(k.x.trial[0].recall[2] > 0 && !(k.x.trial[1].recall[2] > 0));
        CHECK(k.x.trial[1].vanishes && !k.x.trial[0].vanishes);
        CHECK(k.x.trial[1].right > k.x.trial[0].right && k.x.trial[1].loss < k.x.trial[0].loss);
        CHECK_SIZE(k.x.kept, 0);
        end(&k);
        /* The first finds none of them either: then nothing vanishes. */
        begin(&k, false, 2);
        say_all(&k, 0, 0.8, (size_t[]){6, 6, 4});
        say_all(&k, 1, 0.8, (size_t[]){0, 0, 4});
        judge(&k);
        CHECK(!k.x.trial[1].vanishes);
        CHECK_SIZE(k.x.kept, 1);
        end(&k);
}

TEST(trial_that_gains_nothing_or_is_surely_worse_is_not_kept)
{
        struct judged k;

        begin(&k, false, 2);
        say_all(&k, 0, 0.8, (size_t[]){3, 3, 1});
        say_all(&k, 1, 0.6, (size_t[]){3, 3, 1}); /* softer: its temperature differs */
        judge(&k);
        CHECK_NEAR(k.x.trial[1].loss, k.x.trial[0].loss, 1e-6);
        CHECK_SIZE(k.x.kept, 0);
        end(&k);
        begin(&k, false, 2);
        say_all(&k, 0, 0.8, (size_t[]){1, 1, 1});
        say_all(&k, 1, 0.8, (size_t[]){8, 8, 1});
        judge(&k);
        CHECK_SIZE(k.x.kept, 0);
        end(&k);
}

/* The mean over labels of the mean loss of their documents. */
static double loss_by_label(const struct judged *k, size_t trial)
{
        double sum[C] = {0}, n[C] = {0}, mean = 0;

        for (size_t b = 0; b < B; b++)
                if (k->of[b] < 4) {
                        const uint32_t label = k->d.labels[b];
                        double z = 0;

                        for (size_t c = 0; c < C; c++)
                                z += pow((double)k->judge.p[trial][b * C + c],
                                         k->judge.power[trial]);
                        sum[label] +=
                                log(z) - k->judge.power[trial] *
                                                 log((double)k->judge.p[trial][b * C + label]);
                        n[label]++;
                }
        for (size_t c = 0; c < C; c++)
                mean += sum[c] / n[c] / C;
        return mean;
}

/* By macro F1 a rare label counts as much as the others. */
TEST(labels_weigh_the_same_by_macro_f1)
{
        struct judged k;

        for (int by_label = 0; by_label < 2; by_label++) {
                begin(&k, by_label != 0, 2);
                say_all(&k, 0, 0.8, (size_t[]){4, 4, 2});
                say_all(&k, 1, 0.8, (size_t[]){6, 5, 0}); /* better for the rare one alone */
                judge(&k);
                CHECK((k.x.trial[1].loss < k.x.trial[0].loss) == (by_label != 0));
                CHECK_SIZE(k.x.kept, by_label != 0 ? 1 : 0);
                if (by_label != 0)
                        CHECK_NEAR(k.x.trial[1].loss, loss_by_label(&k, 1), 1e-6);
                else
                        CHECK(fabs(k.x.trial[1].loss - loss_by_label(&k, 1)) > 1e-3);
                end(&k);
        }
}
