/* texts.c - see texts.h. */
#include "cmd/train/run/texts.h"

#include <stdlib.h>

#include "cmd/options/message.h"
#include "cmd/options/was-set.h"
#include "cmd/records/files.h"
#include "cmd/train/check/problems.h"
#include "cmd/train/run/session.h"

/* ---- options --------------------------------------------------------------------------------- */

static bool is_wanted(const struct train_session *s)
{
        const struct train_options *o = s->options;

        if (s->replay.model != NULL)
                return train_replay_has(&s->replay, "pretrain");
        return o->file.pretrain.n > 0 || o->settings.pretrain_epochs > 0 ||
               o->run.pretrain_minutes > 0;
}

static void check_encoder(const struct train_session *s)
{
        if (!ran_config_has_encoder(&s->config))
                cmd_usage("--pretrain trains an encoder: leave it out with --encoder none");
        if (ran_config_has_features(&s->config) && !ran_config_trains_encoder(&s->config))
                cmd_usage("--frozen leaves the encoder of --init as it is: pretrain it with "
                          "ran-train mlm --init");
        if (s->config.ran.cell == RAN_CELL_PLAIN)
                cmd_usage("with --cell plain all tokens of a document of one window get the same "
                          "vector: %s, as --pretrain must; use --cell gated",
                          s->masked->not_plain);
        /* Enough of a job to ask whether its encoder can predict masked tokens. */
        size_t first = 0;
        const struct ran_dataset empty = {.first = &first};
        const struct ran_train_texts texts = {.train = &empty};
        const struct ran_train_job job = {
                .config = &s->config, .settings = &s->settings, .texts = &texts};
        struct ran_train_phase phase;
        struct ran_error err = {0};
        if (ran_train_first_phase(&job, &phase, &err) != RAN_OK)
                cmd_usage("--pretrain: %s", err.text);
}

void train_texts_open(struct train_session *s)
{
        const struct train_options *o = s->options;
        struct train_texts *t = &s->texts;
        const bool replays = o->mode.replay != NULL;

        t->wanted = o->mode.dump_gradients == NULL && is_wanted(s);
        t->files = cmd_files_of(&o->file.pretrain);
        t->input = cmd_input_beside(&o->input, "pretrain", o->file.pretrain_format);
        if (!t->wanted && o->file.pretrain.n > 0 && replays)
                cmd_usage("%s was trained without --pretrain: leave it out", o->mode.replay);
        if (t->wanted)
                check_encoder(s);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Only what is read as a document counts, whatever else its record has. */
static struct train_source source_of(const struct train_session *s)
{
        const struct train_source *own = &s->source;

        return (struct train_source){.task = s->masked,
                                     .input = &s->texts.input,
                                     .pool = own->pool,
                                     .tokenizer = own->tokenizer,
                                     .V = own->V,
                                     .keep = own->keep};
}

void train_texts_read(struct train_session *s)
{
        struct train_texts *t = &s->texts;

        if (!t->wanted)
                return;
        if (s->source.tokenizer == NULL)
                cmd_die(CMD_FAILED, "the documents are ids without a vocabulary, and --pretrain "
                                    "masks words: give --vocab FILE");
        t->own = t->train.set.B;
        const struct train_source source = source_of(s);
        if (t->files[0] != NULL)
                train_data_read(&t->train, &source, t->files);
        else
                train_text_set_end(&t->train.set);
}

void train_texts_find_problems(struct train_problems *p, const struct train_session *s)
{
        const struct train_texts *t = &s->texts;

        if (!t->wanted)
                return;
        train_find_bad_lines(p, &t->train.counts, "--pretrain",
                             s->options->input.on_error == CMD_ON_ERROR_SKIP);
        if (t->files[0] != NULL && t->train.set.B == t->own)
                train_add_problem(p, "there is no document in the files of --pretrain");
        else if (t->train.set.B == 0)
                train_add_problem(p, "there is no text for --pretrain");
}

/* ---- the job --------------------------------------------------------------------------------- */

static void copy(struct ran_dataset *to, const struct ran_dataset *from, size_t b)
{
        const size_t at = from->first[b], label = from->label_first[b];
        struct ran_error err = {0};

        train_must(ran_dataset_add_words(to, from->ids + at, from->first[b + 1] - at,
                                         from->positions + label, from->labels + label,
                                         from->label_first[b + 1] - label, 1, &err),
                   &err);
}

/* A twentieth of the text is enough to see which epoch is best, and takes little time beside one.
 */
static bool is_enough(const struct ran_dataset *dev, const struct ran_dataset *train)
{
        const size_t least = 10000, part = train->first[train->B] / 20;

        return dev->B > 0 && dev->first[dev->B] >= (part > least ? part : least);
}

static void choose_dev(struct train_session *s)
{
        const struct ran_dataset *train = &s->texts.train.set, *own = &s->texts.own_dev;
        struct ran_dataset *dev = &s->texts.dev;

        train_text_set_begin(dev, s->source.keep);
        for (size_t b = 0; b < own->B && !is_enough(dev, train); b++)
                copy(dev, own, b);
        for (size_t b = 0; s->texts.held_out != NULL && b < s->texts.own && !is_enough(dev, train);
             b++)
                if (s->texts.held_out[b])
                        copy(dev, train, b);
        train_text_set_end(dev);
}

/* Own texts are the documents, in their order. */
static void mark_held_out(struct train_session *s)
{
        struct train_texts *t = &s->texts;
        struct ran_error err = {0};

        if (s->held_out == NULL)
                return;
        t->held_out = ran_alloc(t->train.set.B, sizeof *t->held_out, &err);
        if (t->held_out == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        for (size_t b = 0; b < t->own; b++)
                t->held_out[b] = s->held_out[b];
}

void train_texts_job(struct train_session *s, struct ran_train_job *job)
{
        struct train_texts *t = &s->texts;

        if (!t->wanted)
                return;
        mark_held_out(s);
        choose_dev(s);
        t->job = (struct ran_train_texts){.train = &t->train.set,
                                          .dev = &t->dev,
                                          .held_out = t->held_out,
                                          .seconds = 60 * s->options->run.pretrain_minutes};
        job->texts = &t->job;
}

void train_texts_release(struct train_texts *t)
{
        train_data_release(&t->train);
        ran_dataset_release(&t->own_dev);
        ran_dataset_release(&t->dev);
        free(t->held_out);
        *t = (struct train_texts){0};
}
