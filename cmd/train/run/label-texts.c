/* label-texts.c - --label-texts: descriptions of labels are evidence. */
#include "cmd/train/run/session.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"

static bool is_file(const struct train_session *s)
{
        const char *name = s->options->file.label_texts;

        return name != NULL && strcmp(name, "none") != 0;
}

/* Labels are in the order of their bytes. */
static int compare(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

void train_label_texts_open(struct train_session *s)
{
        struct ran_label_texts *t;
        struct ran_error err;

        if (!is_file(s))
                return;
        t = s->label_texts = ran_label_texts_open(s->options->file.label_texts, &err);
        if (t == NULL)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        const size_t C = ran_label_texts_count(t);
        char **names = ran_new(C, sizeof *names);
        for (size_t c = 0; c < C; c++)
                names[c] = (char *)ran_label_texts_label(t, c);
        qsort(names, C, sizeof *names, compare);
        train_data_set_classes(&s->train, names, C);
        free(names);
        s->source.label_texts = s->options->file.label_texts;
}

/* Names that say nothing are no mistake. */
static void read_vectors(struct train_session *s, const struct ran_label_texts *t)
{
        const struct ran_model *m = s->init.model;
        struct ran_label_words words = {0};
        struct ran_error err = {0};
        double length;
        struct ran_embedder *e = ran_embedder_new(m, &err);
        const size_t width = e != NULL ? ran_embedder_width(e) : 0;
        const size_t C = ran_label_texts_count(t);
        float *v = ran_new_floats(C * width);

        const bool read =
                e != NULL && ran_label_texts_vectors(t, m, e, v, &length, &words, &err) == RAN_OK;
        if (!read && is_file(s))
                cmd_die(cmd_status_of(&err), "%s", err.text);
        const bool broken = ran_label_words_are_foreign(&words);
        if (broken && is_file(s))
                cmd_warn("%s: %zu of %zu tokens of the descriptions are unknown to the base model "
                         "or parts of words: write them in its language, and in common words",
                         s->options->file.label_texts, words.broken, words.tokens);
        if (read && (is_file(s) || !broken)) {
                /* in the order of the data's labels */
                s->label_vectors = ran_new_floats(s->train.set.C * width);
                for (size_t c = 0; c < s->train.set.C; c++) {
                        size_t at = 0;

                        while (strcmp(ran_label_texts_label(t, at), s->train.set.names[c]) != 0)
                                at++;
                        memcpy(s->label_vectors + c * width, v + at * width, width * sizeof *v);
                }
        }
        free(v);
        ran_embedder_free(e);
}

void train_label_texts_job(struct train_session *s, struct ran_train_job *job)
{
        const char *name = s->options->file.label_texts;
        const bool none = name != NULL && !is_file(s);
        /* documents have vectors that a model has learned to make */
        const bool vectors = s->init.model != NULL && s->config.frozen &&
                             ran_config_has_vector(&s->config) &&
                             ran_model_tokenizer(s->init.model) != NULL;
        struct ran_label_texts *names = NULL;
        struct ran_error err = {0};

        if (!vectors && is_file(s))
                cmd_die(CMD_USAGE,
                        "--label-texts %s: this training has no vectors of documents that it could "
                        "compare with descriptions: give --init english --frozen",
                        name);
        if (s->task->task != RAN_TASK_CLASSIFY || none || !vectors || s->train.set.C < 2)
                return;
        if (s->label_texts == NULL)
                names = ran_label_texts_of_names(s->train.set.names, s->train.set.C, "labels",
                                                 NULL);
        bool have_words = names != NULL;
        /* A word has three letters at least: numbers and codes say nothing. */
        for (size_t c = 0; have_words && c < ran_label_texts_count(names); c++) {
                const char *name = ran_label_texts_label(names, c);
                size_t letters = 0;

                for (; *name != '\0' && letters < 3; name++)
                        letters = isalpha((unsigned char)*name) || (unsigned char)*name >= 0x80
                                          ? letters + 1
                                          : 0;
                have_words = letters == 3;
        }
        if (s->label_texts != NULL || have_words)
                read_vectors(s, s->label_texts != NULL ? s->label_texts : names);
        ran_label_texts_free(names);
        job->label_vectors = s->label_vectors;
        job->label_names = !is_file(s);
        if (s->train.without_label == 0)
                return;
        train_must(ran_dataset_label_all(&s->train.set, &err), &err);
        job->guessed_labels = s->train.set.labels;
}

/* ---- documents without labels ---------------------------------------------------------------- */

void train_label_texts_find_problems(struct train_problems *problems, const struct train_session *s)
{
        const struct train_options *o = s->options;
        const size_t n = s->train.without_label, C = s->train.set.C;
        const struct {
                bool is;
                const char *option, *why;
        } excluded[] = {
                {s->config.classify.multilabel, "--multilabel", "descriptions give one label each"},
                {o->mode.find_wrong_labels, "--find-wrong-labels", "there are no labels to doubt"},
                {o->file.threshold_for.n > 0, "--threshold-for", "it counts labels that are known"},
                {s->settings.class_weights != RAN_WEIGHTS_NONE, "--class-weights",
                 "nobody knows how frequent labels are"},
        };

        for (size_t i = 0; i < sizeof excluded / sizeof *excluded && n > 0; i++)
                if (excluded[i].is)
                        train_add_problem(problems, "no document has a label: leave out %s (%s)",
                                          excluded[i].option, excluded[i].why);
        if (n > 0 && n < C)
                train_add_problem(problems,
                                  "%zu document%s without labels cannot show what %zu labels are: "
                                  "give more",
                                  n, n == 1 ? "" : "s", C);
}

void train_label_texts_tell(const struct train_session *s)
{
        const struct ran_dataset *d = &s->train.set;
        struct ran_buf line = {0};

        if (s->train.without_label == 0 || s->run.resume) /* or they may be guessed before */
                return;
        for (size_t c = 0; c < d->C; c++) {
                size_t n = 0;

                for (size_t b = 0; b < d->B; b++)
                        n += d->labels[b] == c;
                ran_buf_printf(&line, "%s%s %zu", c > 0 ? ", " : "", d->names[c], n);
        }
        ran_buf_char(&line, '\0');
        cmd_note("no document has a label: by the descriptions they are %s%s", line.data,
                 s->has_dev ? ""
                            : "; nothing shows how often that is right (--dev FILE, with labels)");
        ran_buf_release(&line);
}
