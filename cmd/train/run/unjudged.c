/* unjudged.c - an encoder beside a linear model must show on validation documents that it helps.
 * Without such documents a classifier has none, unless an option asks for one. A pretrained encoder
 * has shown what it knows: where few documents could be held out, all teach it. */
#include "cmd/train/run/session.h"

#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"

/* Settings of training that do not ask for an encoder. */
static bool is_of_any_classifier(const char *name)
{
        static const char *const any[] = {"seed",      "refit",       "metric",
                                          "wide_cost", "wide_ratios", "class_weights"};

        for (size_t i = 0; i < sizeof any / sizeof *any; i++)
                if (strcmp(any[i], name) == 0)
                        return true;
        return false;
}

bool train_encoder_setting(const struct train_session *s, const struct ran_field **setting)
{
        const struct train_options *o = s->options;
        const bool documents = s->task->of_documents;
        const struct ran_field *none = NULL;

        setting = setting != NULL ? setting : &none;
        *setting = NULL;
        if (o->file.init.model != NULL || o->file.init.vectors != NULL || o->mode.replay != NULL ||
            o->run.tune > 0 || cmd_was_asked("frozen") || cmd_was_asked("pooling") ||
            !ran_config_has_predictor(&s->config))
                return true;
        for (const struct ran_field *f = ran_config_fields; f->name != NULL; f++)
                if (cmd_was_asked(f->name) && !ran_config_is_of_task(f->name)) {
                        *setting = strcmp(f->name, "encoder") != 0 ? f : NULL;
                        return true;
                }
        for (const struct ran_field *f = ran_train_fields; documents && f->name != NULL; f++)
                if (cmd_was_asked(f->name) && !is_of_any_classifier(f->name)) {
                        *setting = f;
                        return true;
                }
        return false;
}

/* Options that speak of validation documents, or need some. */
static bool asks_for_validation(const struct train_session *s)
{
        return cmd_was_set("dev_share") || cmd_was_set("dev_group") || cmd_was_set("dev_alike") ||
               s->options->mode.replay != NULL || s->options->run.tune > 0 ||
               s->options->run.minutes > 0;
}

void train_choose_dev_share(struct train_session *s)
{
        const double share = s->options->file.dev_share;
        const bool few = share * (double)s->train.set.B < TRAIN_FEW;

        s->dev_share =
                s->train.without_label > 0 ||
                                (few && s->config.task == RAN_TASK_CLASSIFY &&
                                 !s->config.classify.multilabel &&
                                 train_init_is_pretrained(&s->init, &s->config) &&
                                 ran_config_trains_encoder(&s->config) && !asks_for_validation(s))
                        ? 0
                        : share;
}

/* A training that began with one goes on with it. */
static bool continues_with(const struct train_session *s)
{
        struct ran_error err;
        struct ran_model *m = s->run.resume ? ran_model_open(s->run.checkpoint, false, &err) : NULL;
        const bool with = m != NULL && ran_config_has_encoder(ran_model_config(m));

        ran_model_free(m);
        return with;
}

void train_unjudged_leave_out(struct train_session *s)
{
        if (s->has_dev || s->config.task != RAN_TASK_CLASSIFY ||
            !ran_config_trains_encoder(&s->config) || s->options->run.minutes > 0 ||
            train_encoder_setting(s, NULL) || continues_with(s))
                return;
        ran_config_drop_encoder(&s->config);
        cmd_note("linear model only: without validation documents nothing shows whether an encoder "
                 "helps; --encoder ran trains one all the same");
}
