/* session.c - opens models and vocabularies, and reads the data. */
#include "cmd/train/run/session.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/content/reading.h"
#include "cmd/content/vocab.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"

/* ---- opening -------------------------------------------------------------------------------- */

static void check_config(const struct train_session *s)
{
        const struct train_task *task = s->task;
        struct ran_error err = {0};

        if (s->config.task != task->task)
                cmd_usage("the verb is the task: leave out --task");
        if (task->not_plain != NULL && s->config.ran.cell == RAN_CELL_PLAIN)
                cmd_usage("with --cell plain all tokens of a document of one window get the same "
                          "vector: %s; use --cell gated",
                          task->not_plain);
        if (ran_config_check(&s->config, &err) != RAN_OK ||
            ran_train_settings_check(&s->settings, &s->config, &err) != RAN_OK)
                cmd_usage("%s", err.text);
}

static void check_outputs(struct train_session *s, char **files)
{
        const struct train_options *o = s->options;
        const struct train_mode_options *mode = &o->mode;

        cmd_check_inputs("output", o->file.output, files);
        cmd_check_inputs("log", o->run.log, files);
        cmd_check_inputs("report", o->run.report, files);
        s->run.options = &o->run;
        s->run.task = s->task;
        s->run.columns = &o->input.columns;
        s->run.replay = mode->replay != NULL;
        if (!mode->check && !mode->dry_run && o->file.output != NULL)
                train_run_prepare(&s->run, o->file.output, &o->program, files);
}

/* The vocabulary that the embedding of --init belongs to; one that is replayed may go on. */
static void take_vocabulary(struct train_session *s)
{
        const struct ran_tokenizer *t = ran_model_tokenizer(s->init.model), *replayed = NULL;
        const struct train_file_options *file = &s->options->file;

        if (s->replay.model != NULL)
                replayed = ran_model_tokenizer(s->replay.model);

        if (s->tokenizer != NULL &&
            (t == NULL || strcmp(ran_tokenizer_digest(t), ran_tokenizer_digest(s->tokenizer)) != 0))
                cmd_usage("%s is not the vocabulary of %s: leave out --vocab", file->vocab,
                          file->init.model);
        if (t != NULL && replayed != NULL && ran_tokenizer_begins_with(replayed, t))
                t = replayed;
        s->source.tokenizer = t;
        s->source.V = t != NULL ? ran_tokenizer_size(t) : ran_model_vocabulary(s->init.model);
}

static void open_vocabulary(struct train_session *s)
{
        const struct ran_model *init = s->init.model, *replayed = s->replay.model;

        if (s->options->file.vocab != NULL)
                s->tokenizer = cmd_vocab_open(s->options->file.vocab);
        if (init != NULL) {
                take_vocabulary(s);
                return;
        }
        if (replayed != NULL && !s->replay.learned && ran_model_tokenizer(replayed) != NULL)
                s->source.tokenizer = ran_model_tokenizer(replayed);
        if (train_init_vocabulary(&s->init) != NULL)
                s->source.tokenizer = train_init_vocabulary(&s->init);
        if (s->tokenizer != NULL)
                s->source.tokenizer = s->tokenizer;
        if (s->source.tokenizer != NULL)
                s->source.V = ran_tokenizer_size(s->source.tokenizer);
}

static bool of_words(const struct train_task *task)
{
        return task->label != NULL && !task->of_documents;
}

/* A pretrained encoder forgets what it knows at the rate of a new head: all of it learns at 3e-5,
 * as its authors tune it. Its last layers alone may learn faster, and a tagger's have to: their
 * task is another one. Measured on development data of CR and WikiGold, see share/experiments. What
 * learns alone, on rows that stay, learns fast. An encoder that was trained with less dropout than
 * a new tagger has suffers from more. */
static void spare_encoder(struct train_session *s)
{
        struct ran_train_settings *to = &s->settings;
        const size_t below = ran_train_below(to, &s->config);
        const bool tags = !s->task->of_documents;
        const struct {
                bool is;
                const char *name;
                double *setting, value;
        } spare[] = {
                {!tags, "init_rate", &to->init_rate, below > 0 ? 0.1 : 0.03},
                {tags, "init_rate", &to->init_rate, below > 0 ? 0.3 : 0.1},
                {tags, "dropout", &to->dropout, 0.1},
                {tags, "embed_dropout", &to->embed_dropout, 0.1},
                {tags && below == s->config.layers, "learning_rate", &to->learning_rate, 0.01},
        };

        if (!train_init_is_pretrained(&s->init, &s->config) ||
            !ran_config_trains_encoder(&s->config))
                return;
        for (size_t i = 0; i < sizeof spare / sizeof *spare; i++)
                if (spare[i].is && !cmd_was_set(spare[i].name))
                        *spare[i].setting = spare[i].value;
}

/* In memory alone unless --vector-cache says otherwise: trials of a search and validation share it.
 */
static void open_vectors(struct train_session *s)
{
        const char *name = s->options->file.vector_cache;
        struct ran_error err;

        if (ran_config_has_features(&s->config) && ran_config_has_vector(&s->config) &&
            !ran_config_trains_encoder(&s->config))
                s->vectors = ran_vector_cache_open(name, SIZE_MAX, SIZE_MAX, &err);
        else if (ran_train_below(&s->settings, &s->config) > 0)
                s->below = ran_vector_cache_open(name, s->options->run.data_memory << 20,
                                                 RAN_VECTOR_CACHE_MOST, &err);
        else if (name != NULL)
                cmd_usage("--vector-cache is for --frozen and --tune-layers with a pretrained "
                          "encoder, and --frozen with a distilled RAN (--init)");
        else
                return;
        if (s->vectors == NULL && s->below == NULL)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        if (name != NULL)
                cmd_check_writable(name);
}

void train_session_open(struct train_session *s, char **files)
{
        const struct train_options *o = s->options;

        s->config = o->config;
        s->settings = o->settings;
        s->vocabulary = o->vocabulary;
        /* Without a vocabulary the data decide the number of ids; an id has 32 bits. */
        s->source = (struct train_source){
                .task = s->task, .input = &o->input, .V = TRAIN_ANY_ID, .names = &s->names};
        train_init_tune_nothing(&s->config, &s->settings);
        train_init_open(&s->init, &o->file.init, &s->config);
        /* What stands above the encoder and learns is trained in place of such a linear model. */
        if (s->config.frozen && s->config.upper == RAN_UPPER_CERTAIN) {
                s->config.frozen = false;
                s->settings.tune_layers = 0;
        }
        if (s->config.ran.review_source && s->config.task == RAN_TASK_LM && !cmd_was_set("mask"))
                s->config.mask = RAN_MASK_PREFIX;
        check_config(s);
        train_base_check(s);
        check_outputs(s, files);
        spare_encoder(s);
        open_vectors(s);
        s->pool = s->source.pool = cmd_pool();
        s->source.keep = o->run.data_memory << 20;
        open_vocabulary(s);
        /* Does the vocabulary have the reserved tokens of the task? Whether it needs [SEP] may
         * depend on the records. */
        const char *name = o->file.init.model != NULL         ? o->file.init.model
                           : s->init.folder.tokenizer != NULL ? o->file.init.vectors
                           : o->mode.replay != NULL           ? o->mode.replay
                                                              : o->file.vocab;
        struct cmd_reserved reserved;
        struct ran_error err = {0};
        if (s->task->reserved && cmd_reserved_find(&reserved, s->source.tokenizer, s->task->task,
                                                   s->config.mask, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s: %s", name, err.text);
        cmd_names_open(&s->names, o->file.label_names, of_words(s->task));
        train_label_texts_open(s);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Without a vocabulary documents are only ids. */
static void drop_spelling(struct train_session *s)
{
        if (s->config.spelling > 0)
                cmd_note("the documents are ids, which have no spelling: give --spelling 0");
        if (s->config.linear.affixes && cmd_was_set("affixes"))
                cmd_note("the documents are ids, which have no affixes: give --no-affixes");
        s->config.spelling = s->source.spelling = 0;
        s->config.linear.affixes = false;
}

static void init_source(struct train_session *s)
{
        const struct train_file_options *file = &s->options->file;
        struct train_source *source = &s->source;

        source->spelling = s->config.spelling;
        if (cmd_was_set("mask") || s->config.mask == RAN_MASK_PREFIX)
                source->mask = s->config.mask;
        source->join = s->config.tag.join_sentences;
        source->soft_label = file->soft_label;
        source->soft_share = file->soft_share;
        source->several = s->config.classify.multilabel;
        source->group = file->dev_group;
        source->weight = file->weight_member == NULL                ? "weight"
                         : strcmp(file->weight_member, "none") == 0 ? NULL
                                                                    : file->weight_member;
        source->keep_lines = s->options->mode.find_wrong_labels;
        source->vectors = s->init.file;
        source->vector_words = file->init.vector_words;
}

/* ---- records with a source and a target ------------------------------------------------------ */

/* Whoever gives --mask gets the defaults of other texts: old commands mean what they meant. An
 * option that is set, on the command line or in a file of --config, stays as it is. */

/* Tokens that suit tens of thousands of pairs; of less text fewer are learned. */
enum { PAIRS_VOCABULARY = 5000 };
#define PAIRS_SMOOTHING 0.1

/* Whether such records would get defaults of their own. */
static bool have_defaults(const struct train_session *s)
{
        return s->task->task == RAN_TASK_LM && s->source.mask == RAN_MASK_NONE &&
               s->init.model == NULL;
}

/* The size of a vocabulary for such records; 0: that of others. */
static size_t pairs_vocabulary(const struct train_session *s)
{
        if (!have_defaults(s) || s->init.file != NULL)
                return 0;
        for (const struct ran_field *f = ran_vocab_fields; f->name != NULL; f++)
                if (cmd_was_set(f->name))
                        return 0;
        return PAIRS_VOCABULARY;
}

/* A field of the encoder that nobody set. */
static bool is_free(const struct train_session *s, const char *name)
{
        return !cmd_was_set(name) && ran_config_uses(&s->config, name);
}

/* Takes over changed settings, where they go with those that were set, and names them. */
static void adopt(struct train_session *s, const struct ran_config *config,
                  const struct ran_train_settings *settings, const char *option,
                  struct ran_buf *said)
{
        struct ran_error err;

        if (ran_config_check(config, &err) != RAN_OK ||
            ran_train_settings_check(settings, config, &err) != RAN_OK)
                return;
        s->config = *config;
        s->settings = *settings;
        ran_buf_printf(said, " %s", option);
}

void train_pairs_adapt(struct train_session *s)
{
        struct ran_config config = s->config;
        struct ran_train_settings settings = s->settings;
        struct ran_buf said = {0};

        ran_buf_str(&said, "the records have a source and a target:");
        config.mask = RAN_MASK_PREFIX;
        adopt(s, &config, &settings, "--mask prefix", &said);
        bool defaults = have_defaults(s);
        config = s->config;
        if (defaults && is_free(s, "review_source")) {
                config.ran.review_source = true;
                adopt(s, &config, &settings, "--review-source", &said);
        }
        config = s->config;
        if (defaults && !cmd_was_set("label_smoothing")) {
                settings.label_smoothing = PAIRS_SMOOTHING;
                adopt(s, &config, &settings, "--label-smoothing 0.1", &said);
        }
        ran_buf_char(&said, '\0');
        cmd_note("%s", said.data);
        ran_buf_release(&said);
}

/* ---- vocabularies of the data -----------------------------------------------------------------
 */

/* For struct train_source. */
static const struct ran_tokenizer *extend(void *arg, const struct train_counted *counted,
                                          size_t *spelling)
{
        struct train_session *s = arg;

        (void)spelling;
        if (counted->encoded)
                cmd_note("documents have an \"encoding\": no words are added to the vocabulary of "
                         "%s",
                         s->options->file.init.model);
        else
                train_init_extend(&s->init, &s->config, counted->words);
        return train_init_vocabulary(&s->init);
}

static bool extends(const struct train_session *s)
{
        return s->init.model != NULL && s->tokenizer == NULL && s->replay.model == NULL &&
               train_init_adds(&s->init, &s->config) > 0;
}

static void learn_vocabulary(struct train_session *s, char **files)
{
        s->source.given_arg = s;
        s->source.pairs_vocabulary = pairs_vocabulary(s);
        if (extends(s))
                s->source.given = extend;
        else if (train_base_may_serve(s))
                s->source.given = train_base_take;
        s->tokenizer = train_data_learn(&s->train, &s->source, &s->vocabulary, files);
        if (s->init.model != NULL) {
                s->source.tokenizer = train_init_vocabulary(&s->init);
                s->source.V = ran_tokenizer_size(s->source.tokenizer);
                check_config(s);
                if (s->vectors == NULL && s->below == NULL)
                        open_vectors(s); /* those of a base model */
                return;
        }
        s->source.tokenizer = s->tokenizer;
        s->learned = s->tokenizer != NULL;
        if (s->learned)
                s->source.V = ran_tokenizer_size(s->tokenizer);
        else
                drop_spelling(s);
}

static void read_dev(struct train_session *s)
{
        char *files[] = {s->options->file.dev, NULL};
        struct cmd_input input =
                cmd_input_beside(s->source.input, "dev", s->options->file.dev_format);
        struct train_source source = s->source;

        input.side_alike = true;
        source.input = &input;
        source.judge = true;
        source.several = s->config.classify.multilabel;
        s->has_dev = true;
        train_data_set_classes(&s->dev, s->train.set.names, s->train.set.C);
        train_data_read(&s->dev, &source, files);
        s->dev.set.multilabel = s->config.classify.multilabel;
}

void train_session_read(struct train_session *s, char **files)
{
        init_source(s);
        if (s->init.model != NULL && s->source.tokenizer == NULL)
                drop_spelling(s);
        if (extends(s) || (s->source.tokenizer == NULL && s->init.model == NULL))
                learn_vocabulary(s, files);
        else {
                if (s->options->file.vocab != NULL)
                        train_base_may_serve(s); /* says why not */
                train_data_read(&s->train, &s->source, files);
        }
        /* A tagger's encoder that was trained before learns its tags in a few epochs. Of 20 it
         * would see but the first, at high learning rates, and the last are the best
         * (share/models/README.md). */
        if (of_words(s->task) && s->init.model != NULL && !cmd_was_set("epochs") &&
            ran_config_has_layers(ran_model_config(s->init.model)) &&
            !train_init_is_pretrained(&s->init, &s->config))
                s->settings.epochs = 8;
        if (s->task->adapt != NULL)
                s->task->adapt(s);
        s->config.classify.multilabel |= s->train.set.multilabel;
        s->train.set.multilabel = s->config.classify.multilabel;
        if (s->options->file.dev != NULL)
                read_dev(s);
}

/* The training is over: whatever happens here, its results stand. */
static void close_cache(struct ran_vector_cache *cache, const char *name)
{
        struct ran_error err;
        size_t found, computed;

        if (cache == NULL)
                return;
        ran_vector_cache_counts(cache, &found, &computed);
        if (ran_vector_cache_close(cache, &err) != RAN_OK)
                cmd_warn("the vectors of %zu documents were not saved: %s", computed, err.text);
        else if (name != NULL)
                cmd_note("%s: %zu vectors were in it, %zu added", name, found, computed);
}

void train_session_release(struct train_session *s)
{
        train_data_release(&s->train);
        train_data_release(&s->dev);
        cmd_names_release(&s->names);
        ran_label_texts_free(s->label_texts);
        free(s->label_vectors);
        free(s->held_out);
        train_init_release(&s->init);
        close_cache(s->vectors, s->options->file.vector_cache);
        close_cache(s->below, s->options->file.vector_cache);
        train_replay_release(&s->replay);
        train_run_release(&s->run);
        ran_tokenizer_free(s->tokenizer);
        ran_pool_free(s->pool);
}
