/* unlabelled.c - see unlabelled.h. */
#include "cmd/train/run/unlabelled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/options/was-set.h"
#include "cmd/records/files.h"
#include "cmd/train/check/problems.h"
#include "cmd/train/run/ranks.h"
#include "cmd/train/run/session.h"

/* ---- options --------------------------------------------------------------------------------- */

/* Whether an option names an encoder that would be trained. */
static bool wants_encoder(const struct train_session *s)
{
        const struct train_init_options *init = &s->options->file.init;

        return ran_config_trains_encoder(&s->config) &&
               (cmd_was_asked("encoder") || init->model != NULL || init->vectors != NULL);
}

void train_unlabelled_open(struct train_session *s)
{
        const struct train_options *o = s->options;
        const struct ran_list *list = &o->file.unlabelled;
        struct train_unlabelled *u = &s->unlabelled;

        u->wanted = list->n > 0;
        u->files = cmd_files_of(list);
        u->input = cmd_input_beside(&o->input, "unlabelled", o->file.unlabelled_format);
        if (s->replay.model != NULL && train_replay_has(&s->replay, "unlabelled") != u->wanted)
                cmd_usage(u->wanted ? "%s was trained without --unlabelled: leave it out"
                                    : "%s was trained with --unlabelled: give that file again",
                          o->mode.replay);
        if (!u->wanted)
                return;
        if (train_ranks() != NULL)
                cmd_usage("--unlabelled trains linear models, in one process: start it without "
                          "mpirun");
        if (!ran_config_has_predictor(&s->config))
                cmd_usage("--unlabelled trains linear models: leave out --wide 0");
        if (wants_encoder(s))
                cmd_usage(
                        "--unlabelled trains linear models: give --encoder none, or a model whose "
                        "vectors are features with --init MODEL --frozen");
}

void train_unlabelled_adapt(struct train_session *s)
{
        if (s->unlabelled.wanted && ran_config_trains_encoder(&s->config))
                ran_config_drop_encoder(&s->config);
}

/* ---- reading --------------------------------------------------------------------------------- */

void train_unlabelled_read(struct train_session *s)
{
        struct train_unlabelled *u = &s->unlabelled;
        struct train_source source = s->source;

        if (!u->wanted || s->train.set.C == 0)
                return;
        source.task = u->task;
        source.input = &u->input;
        source.group = source.weight = NULL;
        source.keep_lines = false;
        train_data_set_classes(&u->data, s->train.set.names, s->train.set.C);
        train_data_read(&u->data, &source, u->files);
}

/* ---- problems -------------------------------------------------------------------------------- */

/* Near-duplicates of documents, and of each other, count once: what is left is u->texts. */
static void leave_out_alike(struct train_session *s)
{
        struct train_unlabelled *u = &s->unlabelled;
        struct ran_dataset *set = &u->data.set;
        const struct ran_dataset *before[] = {&s->train.set, &s->dev.set};
        const size_t n = s->has_dev ? 2 : 1, own = s->train.set.B;
        bool any = false;
        const size_t known = own + (s->has_dev ? s->dev.set.B : 0);
        size_t *like = train_must_alloc(set->B + 1, sizeof *like);
        bool *out = train_must_alloc(set->B + 1, sizeof *out);
        struct ran_error err = {0};

        train_must(ran_dataset_find_alike(set, before, n, TRAIN_ALIKE, like, &err), &err);
        for (size_t b = 0; b < set->B; b++) {
                out[b] = like[b] != RAN_NO_TEXT;
                if (!out[b])
                        continue;
                any = true;
                u->like_documents += like[b] < own;
                u->like_validation += like[b] >= own && like[b] < known;
                u->like_texts += like[b] >= known;
        }
        u->read = set->B;
        memcpy(u->digest, set->digest, sizeof u->digest);
        if (any) {
                train_must(ran_dataset_without(set, out, &u->texts, &err), &err);
                ran_dataset_release(set);
        } else {
                u->texts = *set;
        }
        *set = (struct ran_dataset){0};
        free(like);
        free(out);
}

/* The share of the words of the documents that occur in the texts: most of them do, unless the
 * texts are in another language. */
static double shared_words(const struct ran_dataset *documents, const struct ran_dataset *texts,
                           size_t V)
{
        bool *there = train_must_alloc(V + 1, sizeof *there);
        size_t n = 0;

        for (size_t i = 0; i < texts->first[texts->B]; i++)
                there[texts->ids[i]] = true;
        for (size_t i = 0; i < documents->first[documents->B]; i++)
                n += there[documents->ids[i]];
        free(there);
        return (double)n / (double)documents->first[documents->B];
}

static void find_oddities(struct train_problems *p, const struct train_session *s)
{
        const double enough = 0.4;
        const struct train_unlabelled *u = &s->unlabelled;
        const size_t V = s->train.V > u->data.V ? s->train.V : u->data.V;
        const double shared = shared_words(&s->train.set, &u->texts, V);

        if (u->data.labelled > 0)
                train_add_problem(p,
                                  "%zu of the %zu texts of --unlabelled have a label, which is not "
                                  "used",
                                  u->data.labelled, u->read);
        if (u->like_validation > 0)
                train_add_problem(p,
                                  "%zu texts of --unlabelled are documents of --dev, or nearly: "
                                  "they are left out",
                                  u->like_validation);
        if (u->texts.B < s->train.set.B)
                train_add_problem(p,
                                  "only %zu texts without labels for %zu documents with labels: "
                                  "self-training needs more text than labels",
                                  u->texts.B, s->train.set.B);
        if (shared < enough)
                train_add_problem(
                        p,
                        "only %.0f %% of the words of the documents occur in the texts of "
                        "--unlabelled: are they in another language?",
                        100 * shared);
}

/* Why no text is left. */
static void tell_none_left(struct train_problems *p, const struct train_unlabelled *u)
{
        const size_t all = u->read;

        if (all == 0)
                train_add_problem(p, "there is no text in the files of --unlabelled");
        else if (u->like_documents == all)
                train_add_problem(p,
                                  "all texts of --unlabelled are documents with labels, or nearly: "
                                  "give other texts");
        else if (u->like_validation == all)
                train_add_problem(p, "all texts of --unlabelled are documents of --dev, or nearly: "
                                     "give other texts");
        else
                train_add_problem(p,
                                  "of %zu texts of --unlabelled %zu are documents with labels, or "
                                  "nearly, %zu documents of --dev, and %zu repeat others: too few "
                                  "are left",
                                  all, u->like_documents, u->like_validation, u->like_texts);
}

void train_unlabelled_find_problems(struct train_problems *problems,
                                    struct train_problems *warnings, struct train_session *s)
{
        struct train_unlabelled *u = &s->unlabelled;
        const size_t fewest = 2;

        if (!u->wanted || s->train.set.B == 0)
                return;
        if (s->config.classify.multilabel)
                train_add_problem(problems,
                                  "--unlabelled is for documents with one label each, and "
                                  "these have \"labels\", a list");
        train_find_bad_lines(problems, &u->data.counts, "--unlabelled",
                             s->options->input.on_error == CMD_ON_ERROR_SKIP);
        leave_out_alike(s);
        if (u->texts.B < fewest)
                tell_none_left(problems, u);
        else
                find_oddities(warnings, s);
}

/* ---- what is said ---------------------------------------------------------------------------- */

/* The label that is found least; C: none has a document. */
static size_t least_found(const struct ran_self_trial *trial, size_t C)
{
        size_t least = C;

        for (size_t c = 0; c < C; c++)
                if (trial->recall[c] >= 0 &&
                    (least == C || trial->recall[c] < trial->recall[least]))
                        least = c;
        return least;
}

/* What its model has, where trials differ. */
static const char *features_of(const struct ran_self_training *x,
                               const struct ran_self_trial *trial)
{
        if (trial->in_domain)
                return trial->vectors ? ", n-grams and in-domain vectors" : ", n-grams";
        if (trial->rounds == 0 || !x->trial[0].vectors)
                return "";
        return trial->vectors ? ", n-grams and vectors" : ", n-grams";
}

static void tell_trial(const struct train_session *s, const struct ran_self_trial *trial)
{
        const struct ran_self_training *x = &s->unlabelled.self;
        const size_t C = s->train.set.C, least = least_found(trial, C);

        cmd_note(
                "self-training, %s%s%s: %zu of %zu right out of fold, log loss %.4f, lowest recall "
                "%.1f %% (%s)%s",
                trial->rounds == 0 ? "documents alone" : "with texts", features_of(x, trial),
                trial->rounds == 2 ? ", second round" : "", trial->right, x->judged, trial->loss,
                least < C ? 100 * trial->recall[least] : 0,
                least < C ? s->train.set.names[least] : "",
                trial->vanishes ? ", and a label is never found" : "");
}

/* The share that differs most. */
static void tell_shift(const struct train_session *s)
{
        const struct ran_self_training *x = &s->unlabelled.self;
        size_t most = 0;

        for (size_t c = 0; c < s->train.set.C; c++)
                if (fabs(x->text[c] - x->labelled[c]) > fabs(x->text[most] - x->labelled[most]))
                        most = c;
        if (x->shifted)
                cmd_caution("labels have other shares in the texts of --unlabelled than in the "
                            "documents: %s about %.0f %%, and %.0f %% of the documents",
                            s->train.set.names[most], 100 * x->text[most], 100 * x->labelled[most]);
}

static void tell_kept(const struct train_session *s, const struct ran_self_trial *kept)
{
        const struct train_unlabelled *u = &s->unlabelled;

        if (kept->rounds > 0)
                cmd_note("self-training is kept: the model learns from %zu documents and %zu "
                         "texts%s",
                         s->train.set.B, u->texts.B,
                         kept->in_domain && kept->vectors ? ", with in-domain vectors"
                         : kept->vectors || !u->self.trial[0].vectors
                                 ? ""
                                 : ", by n-grams without vectors");
        else if (kept->in_domain)
                cmd_note("in-domain vectors are kept: they are features of the linear model; the "
                         "probabilities of the texts did not help");
        else
                cmd_note("self-training is not kept: folds of the documents do not show that the "
                         "texts help");
}

static void tell(const struct train_session *s)
{
        const struct ran_self_training *x = &s->unlabelled.self;

        for (size_t i = 0; i < x->trials; i++)
                tell_trial(s, &x->trial[i]);
        if (x->vectors.V == 0 && x->tokens < RAN_SELF_TOKENS && !ran_config_has_layers(&s->config))
                cmd_note("no in-domain vectors: documents and texts have %zu tokens, and %d are "
                         "needed",
                         x->tokens, RAN_SELF_TOKENS);
        tell_kept(s, &x->trial[x->kept]);
        tell_shift(s);
}

/* ---- the description ------------------------------------------------------------------------- */

static void describe_trial(const struct train_session *s, const struct ran_self_trial *trial,
                           struct ran_buf *out)
{
        const size_t C = s->train.set.C, least = least_found(trial, C);

        json_begin(out, '{');
        json_put_size(out, "rounds", trial->rounds);
        json_put_bool(out, "vectors", trial->vectors);
        if (trial->in_domain)
                json_put_bool(out, "in_domain", true);
        json_put_size(out, "right", trial->right);
        json_put_double(out, "loss", trial->loss);
        if (least < C) {
                json_put_double(out, "lowest_recall", trial->recall[least]);
                json_put_text(out, "of", s->train.set.names[least]);
        }
        json_end(out, '}');
}

static void describe_shares(const struct train_session *s, const char *name, const double *share,
                            struct ran_buf *out)
{
        json_name(out, name);
        json_begin(out, '{');
        for (size_t c = 0; c < s->train.set.C; c++)
                json_put_double(out, s->train.set.names[c], share[c]);
        json_end(out, '}');
}

/* Appends a member to the object `training`, and gives it to the job. */
static void append(const struct train_session *s, struct ran_train_job *job,
                   struct ran_buf *training,
                   void (*describe)(const struct train_session *s, const struct ran_train_job *job,
                                    struct ran_buf *out))
{
        training->len--; /* the NUL at its end */
        describe(s, job, training);
        ran_buf_char(training, '\0');
        if (training->failed)
                cmd_die(CMD_FAILED, "out of memory");
        job->training = training->data;
}

static void describe_texts(const struct train_session *s, const struct ran_train_job *job,
                           struct ran_buf *out)
{
        const struct train_unlabelled *u = &s->unlabelled;

        (void)job;
        json_name(out, "unlabelled");
        json_begin(out, '{');
        json_put_size(out, "documents", u->read);
        json_put_text(out, "digest", u->digest);
        json_put_size(out, "used", u->texts.B);
        json_end(out, '}');
}

void train_unlabelled_describe(const struct train_session *s, struct ran_train_job *job,
                               struct ran_buf *training)
{
        if (s->unlabelled.wanted)
                append(s, job, training, describe_texts);
}

static void describe_self(const struct train_session *s, const struct ran_train_job *job,
                          struct ran_buf *out)
{
        const struct ran_self_training *x = &s->unlabelled.self;

        (void)job;
        json_name(out, "self_training");
        json_begin(out, '{');
        json_put_size(out, "folds", x->folds);
        json_put_size(out, "documents", x->judged);
        json_put_size(out, "texts", x->sampled);
        json_put_size(out, "tokens", x->tokens);
        json_put_size(out, "kept", x->kept);
        json_name(out, "trials");
        json_begin(out, '[');
        for (size_t i = 0; i < x->trials; i++)
                describe_trial(s, &x->trial[i], out);
        json_end(out, ']');
        json_put_bool(out, "shifted", x->shifted);
        describe_shares(s, "shares", x->labelled, out);
        describe_shares(s, "shares_of_texts", x->text, out);
        json_end(out, '}');
}

static void describe_origin(const char *name, const char *digest, struct ran_buf *out)
{
        json_name(out, name);
        json_begin(out, '{');
        json_put_text(out, "digest", digest);
        json_end(out, '}');
}

/* What was before in-domain vectors, so that --replay begins there: the settings that they change,
 * and where the vectors came from whose place they take. */
static void describe_before(const struct train_session *s, const struct ran_train_job *job,
                            struct ran_buf *out)
{
        const struct ran_self_training *x = &s->unlabelled.self;

        if (!x->trial[x->kept].in_domain)
                return;
        json_name(out, "before_vectors");
        json_begin(out, '{');
        ran_fields_changes(ran_config_fields, job->config, &x->config, out);
        json_end(out, '}');
        if (job->init != NULL)
                describe_origin("init", ran_model_metadata(job->init, "digest"), out);
        if (job->vectors != NULL)
                describe_origin("vectors", job->vectors->digest, out);
}

/* ---- learning -------------------------------------------------------------------------------- */

struct watcher {
        struct train_progress progress;
        double began;
};

static int on_progress(void *arg, const struct ran_self_progress *p)
{
        struct watcher *w = arg;
        char what[96];

        if (p->vectors)
                snprintf(what, sizeof what, "in-domain vectors");
        else if (p->fold > 0)
                snprintf(what, sizeof what, "self-training, fold %zu of %zu", p->fold, p->folds);
        else
                snprintf(what, sizeof what, "self-training, all documents");
        train_progress_share(&w->progress, what, p->share, ran_clock() - w->began);
        return train_run_stopped();
}

int train_unlabelled_learn(struct train_session *s, struct ran_train_job *job,
                           struct ran_buf *training)
{
        struct train_unlabelled *u = &s->unlabelled;
        struct watcher w = {.began = ran_clock()};
        struct ran_error err = {0};

        if (!u->wanted)
                return CMD_OK;
        w.progress = (struct train_progress){.when = s->options->run.progress};
        train_progress_begin(&w.progress);
        train_run_catch_signals();
        const int rc = ran_self_train(&u->self, job, &u->texts, on_progress, &w, &err);
        train_progress_clear(&w.progress);
        if (rc != RAN_OK)
                return train_run_ended(
                        &err, "interrupted: nothing of the folds is kept, and the same command "
                              "begins again");
        tell(s);
        append(s, job, training, describe_self);
        append(s, job, training, describe_before);
        ran_self_training_apply(&u->self, job);
        ran_dataset_release(&u->texts); /* what is learned from is in a set of its own */
        return CMD_OK;
}

void train_unlabelled_release(struct train_unlabelled *u)
{
        const struct train_task *task = u->task;

        train_data_release(&u->data);
        ran_dataset_release(&u->texts);
        ran_self_training_release(&u->self);
        *u = (struct train_unlabelled){.task = task};
}
