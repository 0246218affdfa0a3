/* job.c - runs a job on the data: training, search, replay or measurement. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/options/options.h"
#include "cmd/options/message.h"
#include "cmd/train/run/session.h"

/* ---- settings that the data decide on ------------------------------------------------------- */

static void split(struct train_session *s, const bool *known)
{
        struct ran_error err = {0};

        ran_dataset_release(&s->dev.set);
        train_must(ran_dataset_split(&s->train.set, s->dev_share, s->settings.seed, known,
                                     s->held_out, &s->dev.set, &err),
                   &err);
}

/* Documents that the model of --init was trained on do not judge its successor, if others can. */
void train_job_hold_out(struct train_session *s)
{
        struct ran_dataset *d = &s->train.set;
        struct ran_error err = {0};

        if (s->options->file.dev_alike && d->group == NULL)
                train_must(ran_dataset_group_alike(d, TRAIN_ALIKE, &err), &err);
        if (s->has_dev || s->dev_share == 0)
                return;
        s->held_out = ran_new(d->B, sizeof *s->held_out);
        bool *known = ran_new(d->B, sizeof *known);
        s->known = ran_train_find_known(d, s->init.model, s->config.task, known);
        split(s, s->known > 0 ? known : NULL);
        free(known);
        /* Fewer say nothing, unless no more were wanted. */
        s->judged_by_known =
                s->known > 0 && (double)s->dev.set.B < fmin(10, floor(s->dev_share * (double)d->B));
        if (s->judged_by_known)
                split(s, NULL);
}

static void tell_held_out(struct train_session *s)
{
        const size_t all = s->train.set.B, own = all - ran_dataset_guessed(&s->train.set);

        if (s->has_dev)
                return;
        if (s->dev_share == 0) {
                if (s->options->file.dev_share > 0 && s->train.without_label == 0)
                        cmd_note("no documents are held out for validation: fewer than %d could "
                                 "not tell what a pretrained encoder is worth (--dev-share %g "
                                 "holds some out)",
                                 TRAIN_FEW, s->options->file.dev_share);
                return;
        }
        if (s->judged_by_known)
                cmd_caution("%s was trained on %zu of the %zu documents, and too few others are "
                            "left for validation: its figures will be far too good, and the "
                            "prediction sets of --coverage too small; give new documents with "
                            "--dev FILE",
                            s->init.options->model, s->known, all);
        else if (s->known > 0)
                cmd_note("%zu of %zu documents are not held out: %s was trained on them", s->known,
                         all, s->init.options->model);
        s->has_dev = s->dev.set.B > 0;
        if (s->has_dev && own > 0 && own < all)
                cmd_note("%zu of the %zu documents with a label of their own are held out for "
                         "validation",
                         s->dev.set.B, own);
        else if (s->has_dev)
                cmd_note("%zu of %zu documents are held out for validation", s->dev.set.B, all);
        else
                cmd_note("too few %s for validation",
                         s->train.set.group != NULL ? "groups of documents" : "documents");
}

/* ---- an encoder that nothing would judge ----------------------------------------------------- */

/* An encoder beside a linear model must show on validation documents that it helps. Without such
 * documents a classifier has none, unless an option asks for one. A pretrained encoder has shown
 * what it knows: where few documents could be held out, all teach it. */

void train_choose_dev_share(struct train_session *s)
{
        const struct train_options *o = s->options;
        const double share = o->file.dev_share;
        /* Options that speak of validation documents, or need some. */
        const bool asks = cmd_was_set("dev_share") || cmd_was_set("dev_group") ||
                          cmd_was_set("dev_alike") || o->mode.replay != NULL || o->run.tune > 0 ||
                          o->run.minutes > 0;
        const bool few = share * (double)s->train.set.B < TRAIN_FEW && !asks &&
                         s->config.task == RAN_TASK_CLASSIFY && !s->config.classify.multilabel &&
                         train_init_is_pretrained(&s->init, &s->config) &&
                         ran_config_trains_encoder(&s->config);

        s->dev_share = s->train.without_label > 0 || few ? 0 : share;
}

static void leave_out_unjudged(struct train_session *s)
{
        if (s->has_dev || s->config.task != RAN_TASK_CLASSIFY ||
            !ran_config_trains_encoder(&s->config) || s->options->run.minutes > 0 ||
            train_encoder_setting(s, NULL))
                return;
        /* A training that began with one goes on with it. */
        struct ran_error err;
        struct ran_model *m = s->run.resume ? ran_model_open(s->run.checkpoint, false, &err) : NULL;
        const bool with = m != NULL && ran_config_has_encoder(ran_model_config(m));
        ran_model_free(m);
        if (with)
                return;
        ran_config_drop_encoder(&s->config);
        cmd_note("linear model only: without validation documents nothing shows whether an encoder "
                 "helps; --encoder ran trains one all the same");
}

/* Fits the rows of the linear model to the data. Its table has a column for each of C classes: with
 * many classes it gets fewer rows, to limit memory. With few classes and much text it gets more: in
 * a crowded table rare n-grams share rows. */
static void fit_rows(struct ran_config *config, size_t C, size_t tokens)
{
        const size_t most = (size_t)1 << 24, fewest = 1024;
        size_t *rows = &config->linear.wide;

        while (*rows > fewest && *rows > most / C)
                *rows /= 2;
        while (*rows > 0 && config->task == RAN_TASK_CLASSIFY && *rows < tokens &&
               *rows <= most / C / 2)
                *rows *= 2;
}

/* ---- the job -------------------------------------------------------------------------------- */

/* A frozen encoder is stored as it was, which loses nothing. */
static int storage_of(const struct train_session *s)
{
        struct ran_model_part part[RAN_MODEL_PARTS];
        const size_t n = s->init.model != NULL ? ran_model_parts(s->init.model, part) : 0;

        if (!ran_config_has_features(&s->config) || ran_config_trains_encoder(&s->config) ||
            cmd_was_set("weights"))
                return s->options->file.weights;
        for (size_t i = 0; i < n; i++)
                if (strcmp(part[i].name, "embedding") == 0)
                        return strcmp(part[i].dtype, "I8") == 0    ? RAN_STORAGE_I8
                               : strcmp(part[i].dtype, "F16") == 0 ? RAN_STORAGE_F16
                                                                   : RAN_STORAGE_F32;
        return RAN_STORAGE_F32;
}

static void put_list(struct ran_buf *out, const char *name, const struct ran_list *list)
{
        if (list->n == 0)
                return;
        json_name(out, name);
        json_begin(out, '[');
        for (size_t i = 0; i < list->n; i++)
                json_string(out, list->item[i], strlen(list->item[i]));
        json_end(out, ']');
}

/* Settings outside the library that can change the model, and what it remembers of its data: a
 * replay writes that again, whatever it is called now. */
static void describe_data(const struct train_session *s, struct ran_buf *out)
{
        const struct train_file_options *file = &s->options->file;
        const struct import_columns *columns = &s->options->input.columns;

        if (file->dev == NULL)
                json_put_double(out, "dev_share", s->dev_share);
        if (s->train.without_label > 0)
                json_put_bool(out, "labels_guessed", true);
        if (file->dev_group != NULL)
                json_put_text(out, "dev_group", file->dev_group);
        if (file->dev_alike)
                json_put_bool(out, "dev_alike", true);
        if (s->learned) {
                ran_buf_str(out, out->len > 0 ? "," : "");
                ran_fields_json(ran_vocab_fields, &s->vocabulary, out);
        }
        if (s->learned && file->init.vector_words > 0)
                json_put_size(out, "vector_words", file->init.vector_words);
        if (file->soft_label != NULL) {
                json_put_text(out, "soft_label", file->soft_label);
                json_put_double(out, "soft_share", file->soft_share);
        }
        if (file->weight_member != NULL)
                json_put_text(out, "weight_member", file->weight_member);
        put_list(out, "threshold_for", &file->threshold_for);
        if (file->threshold_for.n > 0 && train_thresholds_train_encoder(s))
                json_put_bool(out, "threshold_encoder", true);
        if (columns->remembered != NULL)
                columns = columns->remembered;
        put_list(out, "text_member", &columns->text_member);
        if (columns->label_member != NULL)
                json_put_text(out, "label_member", columns->label_member);
        if (storage_of(s) != RAN_STORAGE_F32)
                json_put_text(out, "weights", ran_storage_names[storage_of(s)]);
        ran_buf_char(out, '\0');
}

static struct ran_train_job job_of(const struct train_session *s)
{
        const struct train_options *o = s->options;
        size_t V = s->train.V > s->dev.V ? s->train.V : s->dev.V;

        return (struct ran_train_job){
                .config = &s->config,
                .settings = &s->settings,
                .train = &s->train.set,
                .dev = s->has_dev ? &s->dev.set : NULL,
                .held_out = s->held_out,
                .tokenizer = s->source.tokenizer,
                .V = s->source.V == TRAIN_ANY_ID ? V : s->source.V,
                .output = o->file.output,
                .storage = storage_of(s),
                .checkpoint = s->run.checkpoint,
                .seconds = 60 * o->run.minutes,
                .checkpoint_seconds = 60 * o->run.checkpoint_minutes,
                .pool = s->pool,
                .ranks = train_ranks(),
                .threads = cmd_was_set("jobs") ? cmd_common.jobs : 0,
        };
}

/* ---- what is done with it ------------------------------------------------------------------- */

/* Searches for settings, and writes them with the given ones. */
static int tune(struct train_session *s, const struct ran_train_job *job)
{
        struct train_options found = *s->options;

        if (job->dev == NULL)
                cmd_die(CMD_FAILED,
                        "--tune compares settings on validation documents, and there are "
                        "too few documents to hold some out: give --dev FILE");
        int status = train_tune(job, &s->run, &found.config, &found.settings);
        if (status != CMD_OK)
                return status;
        cmd_set_changes(ran_train_fields, &found.settings, &s->settings);
        cmd_set_changes(ran_config_fields, &found.config, &s->config);
        train_options_rebase(&found);
        cmd_write_set(&found.program);
        return status;
}

static int replay(struct train_session *s, struct ran_train_job *job)
{
        train_replay_job(&s->replay, job);
        int status = train_run(job, &s->run);
        return status == CMD_OK ? train_replay_compare(&s->replay, job->output) : status;
}

/* How the words of the data were split and their marks written, for texts that a tagger meets
 * later. Where each mark is a word the vocabulary splits as well; texts were not split. */
static void describe_split(const struct train_session *s, struct ran_buf *out)
{
        const struct ran_segment_count *count = &s->train.segments;
        const int best = ran_segment_count_best(count);
        const char *mark[RAN_MARK_COUNT];
        const size_t marks = ran_marks_list(count->marks, mark);

        if (s->train.texts == 0 && count->words > 0 && best != RAN_SEGMENT_PUNCTUATION) {
                ran_buf_printf(out, "\"text_split\":\"%s\"", ran_segment_names[best]);
                for (size_t i = 0; i < marks; i++) {
                        ran_buf_str(out, i == 0 ? ",\"text_marks\":[" : ",");
                        ran_buf_json(out, mark[i], strlen(mark[i]));
                }
                ran_buf_str(out, marks > 0 ? "]" : "");
        }
        ran_buf_char(out, '\0');
}

int train_job_run(struct train_session *s)
{
        const struct train_mode_options *mode = &s->options->mode;
        struct ran_buf training = {0}, about = {0};

        tell_held_out(s);
        leave_out_unjudged(s);
        if (s->task->adapt_to_dev != NULL)
                s->task->adapt_to_dev(s);
        if (s->task->label != NULL && !cmd_was_asked("wide") && s->replay.model == NULL)
                fit_rows(&s->config, s->train.set.C, s->train.set.first[s->train.set.B]);
        struct ran_train_job job = job_of(s);
        describe_data(s, &training);
        job.training = training.data;
        train_init_job(&s->init, &job);
        job.vector_cache = s->vectors;
        train_label_texts_job(s, &job);
        job.below = s->below;
        int status = train_thresholds_find(s, &job, &about);
        describe_split(s, &about);
        job.about = about.data;
        if (mode->replay != NULL)
                train_replay_check(&s->replay, &job);
        status = status != CMD_OK           ? status
                 : mode->find_wrong_labels  ? train_find_wrong_labels(s, &job)
                 : mode->dry_run            ? train_dry_run(&job)
                 : mode->replay != NULL     ? replay(s, &job)
                 : s->options->run.tune > 0 ? tune(s, &job)
                                            : train_run(&job, &s->run);
        if (status == CMD_OK && !mode->dry_run)
                train_label_texts_tell(s);
        ran_buf_release(&training);
        ran_buf_release(&about);
        return status;
}
