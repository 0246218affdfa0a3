/* Settings of training that contradict the model, or say nothing of it: refused, with a sentence.
 */
#include <stdio.h>
#include <string.h>

#include "ran.h"
#include "test.h"

/* Whether settings are refused beside a configuration, both given as JSON; err says why. */
static bool is_refused(const char *config, const char *settings, struct ran_error *err)
{
        struct ran_train_settings s;
        struct ran_config c;
        bool refused;

        CHECK_OK(ran_fields_init(ran_config_fields, &c, err), *err);
        CHECK_OK(ran_fields_init(ran_train_fields, &s, err), *err);
        CHECK_OK(ran_fields_parse(ran_config_fields, &c, config, strlen(config), false, err), *err);
        CHECK_OK(ran_fields_parse(ran_train_fields, &s, settings, strlen(settings), false, err),
                 *err);
        refused = ran_train_settings_check(&s, &c, err) == RAN_EINVAL;
        ran_fields_release(ran_train_fields, &s);
        ran_fields_release(ran_config_fields, &c);
        return refused;
}

TEST(settings_that_do_not_suit_the_model_are_refused)
{
        static const struct {
                const char *config, *settings, *sentence;
        } bad[] = {
                {"{\"task\":\"classify\"}", "{\"bptt\":1}", "bptt must be 0"},
                {"{\"task\":\"lm\"}", "{\"metric\":\"accuracy\"}", "metric must be 'loss'"},
                {"{\"task\":\"lm\",\"shortlist\":5}",
                 "{\"metric\":\"loss\",\"label_smoothing\":0.1}", "shortlist must be 0"},
                {"{}", "{\"metric\":\"bleu\"}", "are for language models (lm)"},
                {"{\"task\":\"mlm\"}", "{\"metric\":\"loss\",\"class_weights\":\"balanced\"}",
                 "a language model has no classes"},
                {"{\"task\":\"tag\",\"crf\":true}", "{\"label_smoothing\":0.1}", "crf must be off"},
                {"{\"task\":\"tag\",\"crf\":true}", "{\"class_weights\":\"balanced\"}",
                 "crf must be off"},
                {"{\"task\":\"mlm\"}", "{\"metric\":\"loss\",\"word_dropout\":0.1}",
                 "word_dropout must be 0"},
        };
        struct ran_error err = {0};

        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                bool refused = is_refused(bad[i].config, bad[i].settings, &err);

                if (!CHECK(refused && strstr(err.text, bad[i].sentence) != NULL))
                        printf("  %s, %s: %s\n", bad[i].config, bad[i].settings, err.text);
        }
        CHECK(!is_refused("{\"task\":\"lm\"}", "{\"metric\":\"loss\",\"bptt\":1}", &err));
        CHECK(!is_refused("{\"task\":\"tag\",\"crf\":false}",
                          "{\"label_smoothing\":0.1,\"class_weights\":\"balanced\"}", &err));
        CHECK(!is_refused("{\"task\":\"classify\"}", "{\"word_dropout\":0.1}", &err));
}
