/* Whether an encoder pays: the rules by hand, and what a run of training does with them. */
#include <math.h>
#include <string.h>

#include "test.h"
#include "training.h"
#include "train/trainer.h"

static struct ran_gain gain(size_t n, double mean, double error)
{
        return (struct ran_gain){.n = n,
                                 .mean = mean,
                                 .error = error,
                                 .base = 1,
                                 .worth = 0.005,
                                 .better = true,
                                 .few = n < 250};
}

/* 1, 2 and 6: mean 3, variance 14 / 3. What is no number is not counted. */
TEST(stop_gain_by_hand)
{
        const double before[] = {2, 4, NAN, 7, 1}, now[] = {1, 2, 5, 1, NAN};
        const struct ran_gain g = ran_gain_of(before, now, 5), none = ran_gain_of(now, now, 0);

        CHECK_SIZE(g.n, 3);
        CHECK_NEAR(g.mean, 3, 1e-12);
        CHECK_NEAR(g.base, 13.0 / 3, 1e-12);
        CHECK_NEAR(g.error, sqrt(14.0 / 3 / 3), 1e-12);
        CHECK(none.n == 0 && ran_gain_is_proven(&none) && ran_gain_may_prove(&none, 1));
}

TEST(stop_few_documents_ask_for_three_standard_errors_and_many_for_one)
{
        const struct ran_gain few = gain(249, 0.3, 0.1), little = gain(249, 0.31, 0.1);
        const struct ran_gain many = gain(250, 0.1, 0.1), enough = gain(250, 0.11, 0.1);

        CHECK(!ran_gain_is_proven(&few) && ran_gain_is_proven(&little));
        CHECK(!ran_gain_is_proven(&many) && ran_gain_is_proven(&enough));
}

/* What is missing must be less than 1 / epoch standard errors, of few documents 2 / epoch. */
TEST(stop_gains_have_less_and_less_time_to_grow)
{
        const struct ran_gain none = gain(300, 0, 0), loss = gain(300, -0.001, 0.1);
        const struct ran_gain some = gain(300, 0.06, 0.1), few = gain(60, 0.15, 0.1);

        CHECK(!ran_gain_may_prove(&none, 1) && !ran_gain_may_prove(&loss, 1));
        CHECK(ran_gain_may_prove(&some, 1) && ran_gain_may_prove(&some, 2));
        CHECK(!ran_gain_may_prove(&some, 3));
        CHECK(ran_gain_may_prove(&few, 1) && !ran_gain_may_prove(&few, 2));
}

/* Found with 20 Newsgroups: the biases of an encoder that knew nothing gained little, but surely.
 */
TEST(stop_a_trifle_is_no_proof)
{
        const struct ran_gain trifle = gain(300, 0.004, 0.0001), enough = gain(300, 0.006, 0.0001);
        const struct ran_gain half = gain(300, 0.0024, 0.0001);

        CHECK(!ran_gain_is_proven(&trifle) && ran_gain_is_proven(&enough));
        CHECK(ran_gain_may_prove(&trifle, 1) && !ran_gain_may_prove(&half, 1));
}

/* An hour of 20 Newsgroups for a lower loss and the same labels. */
TEST(stop_a_metric_that_is_no_better_asks_for_twice_the_gain)
{
        struct ran_gain g = gain(300, 0.009, 0.0001), twice = gain(300, 0.011, 0.0001);

        CHECK(ran_gain_is_proven(&g) && ran_gain_may_prove(&g, 2));
        g.better = twice.better = false;
        CHECK(!ran_gain_is_proven(&g) && ran_gain_is_proven(&twice));
        CHECK(ran_gain_may_prove(&g, 1) && !ran_gain_may_prove(&g, 2));
        CHECK(ran_gain_may_prove(&twice, 2));
}

TEST(stop_a_trial_asks_for_more_than_chance)
{
        const struct ran_gain none = {0}, chance = gain(40, 0.01, 0.011),
                              more = gain(40, 0.01, 0.009), loss = gain(40, -0.01, 0.001),
                              same = gain(40, 0, 0), nothing = gain(40, 1e-8, 1e-9);

        CHECK(ran_gain_may_begin(&none) && ran_gain_may_begin(&more));
        CHECK(!ran_gain_may_begin(&chance) && !ran_gain_may_begin(&loss) &&
              !ran_gain_may_begin(&same) && !ran_gain_may_begin(&nothing));
}

TEST(stop_needs_errors_to_correct)
{
        CHECK(!ran_gain_has_room(0) && !ran_gain_has_room(7) && ran_gain_has_room(8));
}

TEST(stop_states_of_a_damaged_checkpoint_are_refused)
{
        struct ran_states s = {0};

        CHECK(ran_states_are_sane(&s));
        s.decision.errors = 1;
        CHECK(!ran_states_are_sane(&s));
        s.decision.documents = 1;
        CHECK(ran_states_are_sane(&s));
        for (size_t i = 0; i < sizeof s.decision / sizeof(double); i++) {
                struct ran_states bad = s;

                ((double *)&bad.decision)[i] = NAN;
                CHECK(!ran_states_are_sane(&bad));
                ((double *)&bad.decision)[i] = INFINITY;
                CHECK(!ran_states_are_sane(&bad));
        }
        s.decision.why = 9;
        CHECK(!ran_states_are_sane(&s));
}

static void check_says(const struct ran_train_decision *d, const char *wanted)
{
        struct ran_buf out = {0};

        ran_train_decision_tell(d, &out);
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data, wanted);
        ran_buf_release(&out);
}

TEST(stop_says_in_a_sentence_what_was_decided_and_why)
{
        struct ran_train_decision d = {
                .epoch = 2, .documents = 60, .errors = 3, .loss = 0.5, .gain = 0.01, .error = 0.02};

        check_says(&d, "");
        d.why = RAN_ENCODER_NO_ROOM;
        check_says(&d, "linear model only: it errs on 3 of 60 validation documents, and fewer than "
                       "8 errors cannot show that an encoder helps");
        d.why = RAN_ENCODER_NO_GAIN;
        check_says(
                &d,
                "linear model only: the encoder did not improve results enough on 60 validation "
                "documents and ended after epoch 2 (gain in loss 0.0100 of 0.5000, standard error "
                "0.0200)");
        d.epoch = 0;
        check_says(&d, "linear model only: the encoder showed no gain in a trial on a part of the "
                       "documents, which may cost as much as the linear model (gain in loss 0.0100 "
                       "of 0.5000, standard error 0.0200)");
        d.why = RAN_ENCODER_NOT_PROVEN;
        check_says(&d,
                   "linear model only: the encoder did not improve results enough on 60 validation "
                   "documents (gain in loss 0.0100 of 0.5000, standard error 0.0200)");
}
