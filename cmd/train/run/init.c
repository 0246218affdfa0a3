/* init.c - initial weights from another model, or from word vectors, and the settings that follow
 * from them.
 */
#include "cmd/train/run/init.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/options/message.h"
#include "cmd/options/outputs.h"
#include "cmd/options/options.h"
#include "cmd/content/model.h"

/* ---- which parts a model has, by options ---------------------------------------------------- */

void train_init_tune_nothing(struct ran_config *config, struct ran_train_settings *settings)
{
        const bool documents = config->task == RAN_TASK_CLASSIFY;

        if (config->frozen && settings->tune_layers > 0 && settings->tune_layers < RAN_TUNE_ALL)
                cmd_usage("--frozen tunes no layers: leave out --tune-layers");
        if (!config->frozen && settings->tune_layers > 0)
                return;
        config->frozen = documents;
        settings->tune_layers = documents ? RAN_TUNE_ALL : 0;
}

/* ---- another model -------------------------------------------------------------------------- */

/* Copies one field of the configuration from the model, unless an option set it. must: the
 * option may not differ from the model. */
static void take(const struct ran_field *field, struct ran_config *config,
                 const struct ran_config *from, const char *model, bool must)
{
        struct ran_field one[] = {*field, {0}};
        struct ran_buf json[2] = {{0}, {0}};
        struct ran_error err;

        one[0].later = false;
        for (int i = 0; i < 2; i++) {
                ran_buf_char(&json[i], '{');
                ran_fields_json(one, i == 0 ? config : from, &json[i]);
                ran_buf_add(&json[i], "}", 2); /* with the NUL that ends it */
        }
        const char *ours = json[0].data, *theirs = json[1].data;
        if (must && cmd_was_set(field->name) && strcmp(ours, theirs) != 0)
                cmd_usage("%s was made with %s, not %s: leave that setting out", model, theirs,
                          ours);
        one[0].later = field->later;
        if (!cmd_was_set(field->name) &&
            ran_fields_parse(one, config, theirs, json[1].len - 1, false, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s: %s", model, err.text);
        ran_buf_release(&json[0]);
        ran_buf_release(&json[1]);
}

/* Whether a field says how a pretrained encoder reads a document or makes its vector, or the
 * classifier is best begun with what it says. */
static bool is_of_vectors(const char *name, const struct ran_config *config,
                          const struct ran_config *from)
{
        if (strcmp(name, "cell_pooling") == 0 || strcmp(name, "min_window") == 0)
                return config->encoder == from->encoder && from->ran.cell == RAN_CELL_PUBLISHED &&
                       config->mask == from->mask;
        return config->encoder == RAN_ENCODER_BERT && from->encoder == RAN_ENCODER_BERT &&
               (strcmp(name, "pooling") == 0 ||
                (config->frozen &&
                 (strncmp(name, "dense", 5) == 0 || strcmp(name, "l2_normalize") == 0)));
}

/* The settings of the encoder come from the model. So do those of the head and of the task, if the
 * task is the same and no option sets them. */
static void take_config(struct ran_config *config, const struct ran_config *from, const char *model)
{
        if (!cmd_was_set("encoder") && config->encoder != RAN_ENCODER_STATIC)
                config->encoder = from->encoder;
        bool encodes = ran_config_has_encoder(config);
        for (const struct ran_field *f = ran_config_fields; f->name != NULL; f++) {
                bool of_task = ran_config_is_of_task(f->name);
                bool same =
                        of_task ? config->task == from->task || is_of_vectors(f->name, config, from)
                                : encodes && (config->encoder == from->encoder ||
                                              strcmp(f->name, "dim") == 0);
                /* The verb says what the task is, and the data whether there are several labels. */
                if (same && strcmp(f->name, "encoder") != 0 && strcmp(f->name, "task") != 0 &&
                    strcmp(f->name, "multilabel") != 0)
                        take(f, config, from, model, !of_task);
        }
}

static void open_model(struct train_init *s, struct ran_config *config)
{
        const char *name = s->options->model;
        struct ran_error err = {0};

        if (s->model == NULL) /* else a base model, whose words were looked at */
                s->model = cmd_model_load(name, true, &err);
        if (s->model == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        const struct ran_config *from = ran_model_config(s->model);
        bool encodes = cmd_was_set("encoder") && ran_config_has_encoder(config);
        if (encodes || config->frozen || !ran_task_has_labels(config->task))
                cmd_model_need_encoder(s->model, name);
        if (config->frozen && cmd_was_set("encoder") && config->encoder != from->encoder &&
            config->encoder != RAN_ENCODER_STATIC)
                cmd_usage("--frozen keeps the encoder of %s: leave out --encoder", name);
        const size_t rows = config->linear.wide;
        take_config(config, from, name);
        if (ran_config_has_encoder(config) && !ran_config_has_layers(config) &&
            config->task != RAN_TASK_CLASSIFY)
                cmd_usage("%s has vectors of tokens and no encoder to train: give --init "
                          "english-tags, or --encoder ran as well, to take the vectors alone",
                          name);
        if (config->linear.wide == 0 && config->upper != RAN_UPPER_CERTAIN &&
            (config->frozen || config->encoder == RAN_ENCODER_STATIC))
                config->linear.wide = rows; /* the vectors are features of a linear model */
        if (config->encoder == RAN_ENCODER_BERT && config->linear.wide == 0 &&
            !cmd_was_set("spelling"))
                config->spelling = 0; /* only a linear model would read it */
}

/* ---- word vectors --------------------------------------------------------------------------- */

static void open_vectors(struct train_init *s, struct ran_config *config)
{
        struct ran_error err = {0};
        bool given = cmd_was_set("dim");

        s->file = ran_vectors_open(s->options->vectors, given ? config->dim : 0, &err);
        if (s->file == NULL)
                cmd_die(cmd_status_of(&err), "%s%s", err.text,
                        err.code == RAN_EINVAL ? ", as --dim says" : "");
        config->dim = ran_vectors_width(s->file);
}

bool train_init_is_folder(const struct train_init_options *options)
{
        struct stat st;

        return options->vectors != NULL && stat(options->vectors, &st) == 0 && S_ISDIR(st.st_mode);
}

static void open_folder(struct train_init *s, struct ran_config *config)
{
        static const char *const files[] = {"model.safetensors", "tokenizer.json", "config.json"};
        const char *name = s->options->vectors;
        struct ran_error err = {0};

        if (ran_vector_folder_open(&s->folder, name, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        /* Its files are read, but no option names them. */
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
                struct ran_buf path = {0};

                ran_buf_printf(&path, "%s/%s%c", name, files[i], '\0');
                cmd_check_read(path.data);
                ran_buf_release(&path);
        }
        if (cmd_was_set("dim") && config->dim != s->folder.rows.D)
                cmd_usage("%s: its vectors have %zu numbers each, not %zu, as --dim says", name,
                          s->folder.rows.D, config->dim);
        config->dim = s->folder.rows.D;
        if (ran_tokenizer_notice(s->folder.tokenizer) != NULL)
                cmd_note("%s/tokenizer.json: %s", name, ran_tokenizer_notice(s->folder.tokenizer));
}

const struct ran_tokenizer *train_init_vocabulary(const struct train_init *s)
{
        if (s->extended != NULL)
                return s->extended;
        return s->model != NULL ? ran_model_tokenizer(s->model) : s->folder.tokenizer;
}

size_t train_init_adds(const struct train_init *s, const struct ran_config *config)
{
        if (s->model == NULL || ran_model_tokenizer(s->model) == NULL ||
            config->task != RAN_TASK_CLASSIFY ||
            (!cmd_was_asked("add_words") && config->encoder != RAN_ENCODER_STATIC))
                return 0;
        return s->options->add_words;
}

void train_init_extend(struct train_init *s, const struct ran_config *config,
                       const struct ran_counter *words)
{
        const struct ran_tokenizer *own = ran_model_tokenizer(s->model);
        const size_t least = train_init_adds(s, config);
        struct ran_error err = {0};

        if (least == 0)
                return;
        if (ran_counter_extend(words, own, least, &s->extended, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        if (s->extended != NULL)
                cmd_note("words of the documents added to the vocabulary of %s: %zu",
                         s->options->model,
                         ran_tokenizer_size(s->extended) - ran_tokenizer_size(own));
        else if (cmd_was_asked("add_words"))
                cmd_note("no words of the documents added to the vocabulary of %s",
                         s->options->model);
}

static void read_vectors(struct train_init *s, const struct ran_train_job *job)
{
        const char *name = s->options->vectors;
        struct ran_vectors_report r;
        struct ran_error err = {0};

        if (job->tokenizer == NULL)
                cmd_die(CMD_FAILED,
                        "the documents are ids without a vocabulary: give --vocab to look up words "
                        "in %s",
                        name);
        const size_t V = ran_tokenizer_size(job->tokenizer);
        if (ran_embedding_init(&s->embedding, V, job->config->dim, &err) != RAN_OK ||
            ran_vectors_read(s->file, job->tokenizer, &s->embedding, &r, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        if (r.found == 0)
                cmd_die(CMD_FAILED, "no token of the vocabulary has a vector in %s", name);
        cmd_note("%zu of the %zu tokens of the vocabulary have one of the %zu vectors in %s",
                 r.found, V, r.rows, name);
        /* GloVe does not count its row of unknown words. */
        if (r.header && r.rows != r.promised && r.rows != r.promised + 1)
                cmd_warn("%s: the first line says %zu vectors, but there are %zu", name, r.promised,
                         r.rows);
        else if (!r.header && r.cut)
                cmd_warn("%s: the last line has no end: the file may be truncated", name);
        if (r.not_utf8 > 0)
                cmd_warn("%s: %zu words are not UTF-8 and match no text", name, r.not_utf8);
        if (r.repeated > 0)
                cmd_note("%s: %zu rows repeat a word: the first row counts", name, r.repeated);
}

/* ---- both ----------------------------------------------------------------------------------- */

void train_init_open(struct train_init *s, const struct train_init_options *options,
                     struct ran_config *config)
{
        s->options = options;
        if (options->model != NULL)
                open_model(s, config);
        if (train_init_is_folder(options) && !ran_config_has_encoder(config))
                config->encoder = RAN_ENCODER_STATIC;
        config->frozen |= config->encoder == RAN_ENCODER_STATIC;
        if (options->vectors != NULL && !ran_config_has_encoder(config))
                cmd_usage("--vectors initialises the embedding of an encoder: leave it out with "
                          "--encoder none, or give a folder of vectors");
        if (config->encoder == RAN_ENCODER_STATIC && !train_init_is_folder(options) &&
            options->model == NULL)
                cmd_usage("--encoder static needs vectors: give --vectors FOLDER or --init MODEL");
        if (train_init_is_folder(options))
                open_folder(s, config);
        else if (options->vectors != NULL)
                open_vectors(s, config);
}

void train_init_base(struct train_init *s, const struct train_init_options *options,
                     struct ran_config *config)
{
        const bool documents = config->task == RAN_TASK_CLASSIFY;

        /* What it learned of documents, else of tokens. */
        if (documents && ran_config_has_vector(ran_model_config(s->model)))
                config->frozen = true;
        else if (documents)
                config->encoder = RAN_ENCODER_STATIC;
        train_init_open(s, options, config);
}

void train_init_job(struct train_init *s, struct ran_train_job *job)
{
        if (s->file != NULL) {
                read_vectors(s, job);
                job->vectors = &s->embedding;
        } else if (s->folder.tokenizer != NULL) {
                cmd_note("vocabulary and embedding are those of %s: %zu tokens, vectors of %zu "
                         "numbers",
                         s->options->vectors, s->folder.rows.V, s->folder.rows.D);
                if (job->config->encoder == RAN_ENCODER_STATIC)
                        cmd_note("the mean of a document's vectors is a feature of the linear "
                                 "model");
                job->vectors = &s->folder.rows;
        }
        if (s->model == NULL)
                return;
        job->init = s->model;
        if (job->config->frozen)
                cmd_note("document vectors of %s are features of the linear model%s",
                         s->options->model,
                         ran_train_keeps_head(job) ? ", which is initialised from it, too" : "");
        else if (!ran_config_has_encoder(job->config))
                cmd_note("vocabulary%s initialised from %s",
                         ran_train_keeps_head(job) ? " and linear model are" : " is",
                         s->options->model);
        else if (ran_model_config(s->model)->encoder != job->config->encoder)
                cmd_note("%s has another encoder: only vocabulary and embedding are initialised "
                         "from it",
                         s->options->model);
        else
                cmd_note("vocabulary, embedding and encoder are initialised from %s, the head %s",
                         s->options->model, ran_train_keeps_head(job) ? "too" : "at random");
}

bool train_init_is_pretrained(const struct train_init *s, const struct ran_config *config)
{
        return s->model != NULL && (config->encoder == RAN_ENCODER_BERT ||
                                    (config->encoder == RAN_ENCODER_RAN &&
                                     ran_model_metadata(s->model, "pretrained") != NULL));
}

void train_init_release(struct train_init *s)
{
        ran_model_free(s->model);
        ran_tokenizer_free(s->extended);
        ran_vectors_free(s->file);
        ran_embedding_release(&s->embedding);
        ran_vector_folder_release(&s->folder);
        *s = (struct train_init){0};
}
