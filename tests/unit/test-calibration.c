/* Sets of labels: ranks by hand, the promise by many draws, and files that say odd things. */
#include "dice.h"
#include "eval/calibration.h"
#include "test.h"
#include "data/rates.h"

#include <stdlib.h>
#include <string.h>

static void make(struct ran_calibration *c, struct dice *dice, size_t documents)
{
        struct ran_error err = {0};
        float *p = ran_alloc(documents, sizeof *p, &err);

        for (size_t i = 0; i < documents; i++)
                p[i] = (float)dice_real(dice, 0, 1);
        ran_calibration_make(c, p, documents);
}

static int read_json(struct ran_calibration *c, const char *json, struct ran_error *err)
{
        cJSON *training = cJSON_Parse(json);
        int code = ran_calibration_read(c, training, err);

        CHECK(training != NULL);
        cJSON_Delete(training);
        return code;
}

/* Other last digits of p are still above the cut. */
static bool is_just_below(float cut, float p)
{
        return cut < p * (1 - 1e-6f) && cut > p * (1 - 2e-5f);
}

/* Of 9 documents, a tenth one takes each of ten ranks with the same chance. */
TEST(calibration_cuts_at_the_corrected_rank)
{
        struct ran_calibration c = {0};
        struct ran_error err = {0};
        float *p = ran_alloc(9, sizeof *p, &err), cut = 7;

        for (int i = 0; i < 9; i++)
                p[i] = (float)(((i * 4) % 9 + 1) / 16.0); /* 1/16 ... 9/16, in no order */
        ran_calibration_make(&c, p, 9);
        CHECK_OK(ran_calibration_cut(&c, 0.9, &cut, &err), err);
        CHECK(is_just_below(cut, 1 / 16.0f));
        CHECK_OK(ran_calibration_cut(&c, 0.8, &cut, &err), err);
        CHECK(is_just_below(cut, 2 / 16.0f));
        CHECK_OK(ran_calibration_cut(&c, 0.8001, &cut, &err), err);
        CHECK(is_just_below(cut, 1 / 16.0f));
        CHECK_OK(ran_calibration_cut(&c, 1e-12, &cut, &err), err);
        CHECK(is_just_below(cut, 9 / 16.0f));
        CHECK(ran_calibration_cut(&c, 0.91, &cut, &err) == RAN_EINVAL);
        CHECK_STR(err.text, "the model was calibrated with 9 documents, too few for a coverage of "
                            "0.91: 0.9 at most");
        CHECK(ran_calibration_cut(&c, 1, &cut, &err) == RAN_EINVAL);
        ran_calibration_release(&c);
        CHECK(ran_calibration_cut(&c, 0.5, &cut, &err) == RAN_EINVAL);
        CHECK(strstr(err.text, "has no calibration") != NULL);
}

/* The mean over calibrations of the chance that the set holds the label is what was asked for, to
 * the last document: k / (n + 1). p of the right label is uniform here, so that chance is 1 - cut.
 */
TEST(calibration_keeps_its_promise)
{
        static const size_t sizes[] = {19, 99, 100, 1023, 3000};
        struct dice dice = {.key = 11};

        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                size_t n = sizes[s], rounds = 200000 / n;
                double sum = 0, want = 0.9;

                for (size_t r = 0; r < rounds; r++) {
                        struct ran_calibration c = {0};
                        struct ran_error err = {0};
                        float cut = 0;

                        make(&c, &dice, n);
                        CHECK_OK(ran_calibration_cut(&c, want, &cut, &err), err);
                        sum += (1 - (double)cut) / (double)rounds;
                        ran_calibration_release(&c);
                }
                /* Four standard errors below; above, one rank of those kept, too. */
                double error = 0.3 / 447.0; /* sqrt(0.09 / n / rounds) */
                double rank = 1.0 / (double)(n < RAN_CALIBRATION_KEPT ? n : RAN_CALIBRATION_KEPT);
                CHECK(sum > want - 4 * error);
                CHECK(sum < want + 4 * error + rank);
        }
}

/* Of many documents every rank kept is that of a document, and none is promised too much. */
/* The coverage of a cut at rank k of n is the k-th of n uniform numbers. */
TEST(calibration_says_how_exact_it_is)
{
        struct ran_calibration c = {0};
        struct dice dice = {.key = 5};
        const size_t sizes[] = {24, 100, 1000};
        const double exact[] = {0.8827, 0.9108, 0.9382}; /* quantiles of Beta(k, n + 1 - k) */

        for (size_t i = 0; i < 3; i++) {
                make(&c, &dice, sizes[i]);
                CHECK_NEAR(ran_calibration_floor(&c, 0.95), exact[i], 0.002);
                CHECK(ran_calibration_floor(&c, 0.9999) == 0);
                ran_calibration_release(&c);
        }
        CHECK(ran_calibration_floor(&c, 0.5) == 0);
}

TEST(calibration_of_many_documents_errs_on_the_safe_side)
{
        struct dice dice = {.key = 12};
        struct ran_error err = {0};

        for (size_t n = 1020; n < 5000; n += n < 1030 ? 1 : 397) {
                float cut = 0, *p = ran_alloc(n, sizeof *p, &err);
                struct ran_calibration c = {0};

                make(&c, &dice, n);
                CHECK_SIZE(c.n, n < RAN_CALIBRATION_KEPT ? n : RAN_CALIBRATION_KEPT);
                dice.at -= n; /* the same again */
                for (size_t i = 0; i < n; i++)
                        p[i] = (float)dice_real(&dice, 0, 1);
                for (size_t i = 0; i < n; i++) /* falling, by insertion */
                        for (size_t j = i; j > 0 && p[j] > p[j - 1]; j--) {
                                float t = p[j];
                                p[j] = p[j - 1];
                                p[j - 1] = t;
                        }
                for (double share = 0.01; share < 0.995; share += 0.0371) {
                        size_t rank = 1;
                        while ((double)rank < (double)(n + 1) * share - 1e-6)
                                rank++;
                        CHECK_OK(ran_calibration_cut(&c, share, &cut, &err), err);
                        CHECK(cut <= p[rank - 1]);
                        CHECK(cut >= p[rank - 1 + n / RAN_CALIBRATION_KEPT] * (1 - 2e-5f));
                }
                for (size_t i = 1; i <= c.n; i++) /* the ranks that man 5 ran-model names */
                        CHECK(c.p[i - 1] == p[(i * n + c.n - 1) / c.n - 1]);
                free(p);
                ran_calibration_release(&c);
        }
}

TEST(calibration_comes_back_from_a_file)
{
        struct dice dice = {.key = 13};

        for (size_t n = 1; n < 2500; n = n * 3 + 1) {
                struct ran_calibration c = {0}, back = {0};
                struct ran_error err = {0};
                struct ran_buf json = {0};

                make(&c, &dice, n);
                ran_buf_char(&json, '{');
                ran_calibration_json(&c, &json);
                ran_buf_add(&json, "}", 2);
                CHECK_OK(read_json(&back, json.data, &err), err);
                CHECK(back.documents == n && back.n == c.n);
                CHECK(back.n == c.n && memcmp(back.p, c.p, c.n * sizeof *c.p) == 0);
                ran_calibration_release(&c);
                ran_calibration_release(&back);
                ran_buf_release(&json);
        }
}

TEST(calibration_of_hostile_files_is_refused)
{
        static const char *const bad[] = {
                "{\"calibration\":3}",
                "{\"calibration\":{}}",
                "{\"calibration\":{\"documents\":0,\"probabilities\":[]}}",
                "{\"calibration\":{\"documents\":1.5,\"probabilities\":[1]}}",
                "{\"calibration\":{\"documents\":1e300,\"probabilities\":[1]}}",
                "{\"calibration\":{\"documents\":2,\"probabilities\":[1]}}",
                "{\"calibration\":{\"documents\":1}}",
                "{\"calibration\":{\"documents\":1,\"probabilities\":[1,0.5]}}",
                "{\"calibration\":{\"documents\":2,\"probabilities\":[0.5,0.6]}}",
                "{\"calibration\":{\"documents\":2,\"probabilities\":[0.5,-0.1]}}",
                "{\"calibration\":{\"documents\":2,\"probabilities\":[1.5,0.1]}}",
                "{\"calibration\":{\"documents\":2,\"probabilities\":[0.5,\"x\"]}}",
                "{\"calibration\":{\"documents\":9007199254740992,\"probabilities\":[0.5]}}",
        };
        struct ran_error err;

        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct ran_calibration c = {0};

                CHECK(read_json(&c, bad[i], &err) == RAN_EFORMAT);
                ran_calibration_release(&c);
        }
        struct ran_calibration none = {0};
        CHECK_OK(read_json(&none, "{\"seed\":1}", &err), err);
        CHECK(none.n == 0);
}

/* Three documents of two classes: the last one's label is a guess, the second's is unknown. */
TEST(calibration_is_by_labels_that_are_known)
{
        const float p[] = {0.75f, 0.25f, 0.5f, 0.5f, 0.125f, 0.875f};
        const uint32_t id = 0, label[] = {1, RAN_LABEL_UNKNOWN, 0};
        char *names[] = {"a", "b"};
        struct ran_calibration c = {0};
        struct ran_dataset d = {0};
        struct ran_error err = {0};

        CHECK_OK(ran_dataset_set_classes(&d, names, 2, &err), err);
        for (size_t b = 0; b < 3; b++) {
                CHECK_OK(ran_dataset_add(&d, &id, 1, &label[b], 1, 1, &err), err);
                CHECK_OK(ran_dataset_soft_target(&d, NULL, NULL, 0, b == 2, &err), err);
        }
        CHECK_OK(ran_dataset_finish(&d, &err), err);
        ran_rates_calibrate(&c, &d, p);
        REQUIRE(CHECK_SIZE(c.documents, 2));
        CHECK(c.p[0] == 0.25f && c.p[1] == 0);
        ran_calibration_release(&c);
        d.guessed[0] = d.guessed[1] = true;
        ran_rates_calibrate(&c, &d, p);
        CHECK_SIZE(c.n, 0);
        ran_calibration_release(&c);
        ran_dataset_release(&d);
}
