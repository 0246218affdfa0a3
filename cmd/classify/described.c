/* described.c - classifiers without training: --labels and --label-texts. */
#include "cmd/classify/classify.h"

#include "cmd/options/message.h"

bool described(const struct classify_options *o)
{
        return o->labels != NULL || o->label_texts != NULL;
}

static const char *option(const struct classify_options *o)
{
        return o->labels != NULL ? "--labels" : "--label-texts";
}

struct ran_model *described_open(const struct classify_options *o)
{
        struct ran_label_words words;
        struct ran_error err;
        struct ran_label_texts *t = o->labels != NULL
                                            ? ran_label_texts_of(o->labels, "--labels", &err)
                                            : ran_label_texts_open(o->label_texts, &err);
        if (t == NULL && o->labels != NULL)
                cmd_refuse(NULL, &err);
        if (t == NULL)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        struct ran_model *m = cmd_model_open_any(o->model, o->verify);
        if (ran_model_config(m)->task == RAN_TASK_CLASSIFY)
                cmd_usage("%s: %s is a classifier and has its labels (%s, ...): give a model that "
                          "makes vectors, such as english",
                          option(o), o->model, ran_model_label(m, 0));
        if (!ran_config_has_encoder(ran_model_config(m)))
                cmd_usage("%s: %s has no encoder, and makes no vectors of documents: give a model "
                          "that does, such as english",
                          option(o), o->model);
        struct ran_model *classifier = ran_label_model(m, t, &words, &err);
        if (classifier == NULL && o->labels != NULL && err.code == RAN_EFORMAT)
                cmd_refuse(NULL, &err);
        if (classifier == NULL)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        /* An encoder reads letters of any language, and makes something of them. */
        if (ran_label_words_are_foreign(&words))
                cmd_caution("%s: %zu of %zu tokens of the descriptions are unknown to %s or parts "
                            "of words: write them in the language that the model has learned, and "
                            "in common words",
                            option(o), words.broken, words.tokens, o->model);
        ran_label_texts_free(t);
        ran_model_free(m);
        return classifier;
}
