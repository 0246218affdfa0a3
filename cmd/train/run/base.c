/* base.c - a base model, unless there is much text to learn from.
 *
 * Unless --base none is set, or an option that asks for another vocabulary, encoder or way to train
 * it, a training on words that a base model knows is initialised from that model, as by --init: a
 * classifier with --frozen, a tagger with its whole encoder. */
#include "cmd/train/run/session.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/message.h"
#include "cmd/options/table.h"
#include "cmd/options/options.h"
#include "cmd/content/model.h"

/* ---- options that ask for an encoder --------------------------------------------------------- */

bool train_encoder_setting(const struct train_session *s, const struct ran_field **setting)
{
        static const char of_any_classifier[] =
                "seed refit metric wide_cost wide_ratios class_weights";
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
                if (cmd_was_asked(f->name) && !cmd_option_is_among(of_any_classifier, f->name)) {
                        *setting = f;
                        return true;
                }
        return false;
}

/* ---- the base model -------------------------------------------------------------------------- */

/* Words of all documents: up to here a base model helps a tagger, and the vectors of a classifier's
 * are worth their time (share/models/README.md). Folds leave vectors out that do not help. */
enum { FEW_WORDS = 2000000, FEW_WORDS_OF_SEVERAL = 200000, FEW_WORDS_OF_TAGGER = 100000 };
/* Words a second and core, about, of a processor with AVX-512. */
static const double words_a_second = 12000;
/* The share of running words that are whole tokens of it: 0.91 to 0.95 of news, reviews and
 * questions, 0.86 of medicine, 0.45 of another language. Medicine gains from vectors, and taggers
 * do not. */
static const double enough_known = 0.75, enough_known_of_tagger = 0.88;

/* NULL: none. A tagger trains a whole encoder: best one that predicted masked tokens. */
static const char *name_of(const struct train_session *s)
{
        const char *asked = s->options->file.base,
                   *name = asked != NULL ? asked : getenv("RAN_BASE");

        if (name == NULL || *name == '\0')
                name = s->task->of_documents ? "english" : "english-tags";
        return strcmp(name, "none") != 0 ? name : NULL;
}

/* Whether an option asks for what a base model would replace. option: as the user may have missed
 * it, or empty. */
static bool is_asked_otherwise(const struct train_session *s, struct cmd_option_name *option)
{
        const struct train_options *o = s->options;
        const struct ran_field *setting = NULL;
        bool is = train_encoder_setting(s, &setting);

        *option = (struct cmd_option_name){0};
        if (o->run.tune > 0 && o->file.init.model == NULL)
                snprintf(option->text, sizeof option->text, "tune");
        for (const struct ran_field *f = ran_vocab_fields; f->name != NULL && !is; f++)
                if (cmd_was_asked(f->name)) {
                        setting = f;
                        is = true;
                }
        if (setting != NULL)
                *option = cmd_option_name(setting);
        else if (!is && o->file.vocab != NULL)
                snprintf(option->text, sizeof option->text, "vocab");
        return is || o->file.vocab != NULL;
}

/* Whether --base names it, and not RAN_BASE. */
static bool is_wanted(const struct train_session *s)
{
        return s->options->file.base != NULL && name_of(s) != NULL;
}

/* NULL: it cannot be opened, and nobody asked for it. */
static struct ran_model *load(const struct train_session *s, const char *name)
{
        struct ran_error err = {0};
        struct ran_model *m = cmd_model_load(name, true, &err);

        if (m == NULL && is_wanted(s))
                cmd_die(CMD_FAILED, "%s", err.text);
        if (m == NULL)
                cmd_warn("not initialised from the base model: %s", err.text);
        return m;
}

void train_base_check(const struct train_session *s)
{
        const char *name = s->options->file.base;
        struct cmd_option_name option;

        if (!is_wanted(s) || s->replay.model != NULL) /* a replay knows whether it served */
                return;
        if (s->task->label == NULL)
                cmd_usage("--base is for ran-train classify and tag: give --init %s", name);
        if (is_asked_otherwise(s, &option))
                cmd_usage("--base initialises from %s only without options for another vocabulary, "
                          "encoder or training of it: give --init %s",
                          name, name);
}

/* Whether --resume continues a training that was not initialised from a model. */
static bool continues_without(const struct train_session *s)
{
        struct ran_record said = {0};
        struct ran_error err;
        struct ran_model *m = s->run.resume ? ran_model_open(s->run.checkpoint, false, &err) : NULL;
        const char *training = m != NULL ? ran_model_metadata(m, "training") : NULL;
        const bool without = training != NULL &&
                             ran_record_scan(&said, training, strlen(training), &err) == RAN_OK &&
                             ran_record_find(&said, "init", NULL) == NULL;

        ran_record_release(&said);
        ran_model_free(m);
        return without;
}

bool train_base_may_serve(const struct train_session *s)
{
        const char *name = name_of(s);
        struct ran_buf path = {0};
        struct cmd_option_name option;

        if (name == NULL || s->task->label == NULL || continues_without(s))
                return false;
        const bool otherwise = is_asked_otherwise(s, &option);
        if (otherwise && option.text[0] == '\0')
                return false;
        cmd_model_find(name, &path);
        bool found = access(path.data, F_OK) == 0;
        ran_buf_release(&path);
        if (otherwise && found)
                cmd_note(
                        "--%s: not initialised from the base model %s, as it might be without that "
                        "option",
                        option.text, name);
        if (otherwise)
                return false;
        const char *named = getenv("RAN_BASE");
        if (!found && (s->options->file.base != NULL || (named != NULL && *named != '\0')))
                ran_model_free(load(s, name)); /* says where it looked */
        return found;
}

/* Whether it has the vocabulary of these words, and an encoder. */
static bool suits(const struct train_session *s, const struct ran_model *m, const char *name,
                  const struct ran_counter *words)
{
        const struct ran_tokenizer *t = ran_model_tokenizer(m);
        const double known = t != NULL ? ran_counter_share(words, t) : 0;
        const double enough = s->task->of_documents ? enough_known : enough_known_of_tagger;
        const struct ran_config *c = ran_model_config(m);
        /* A tagger trains what computes; a classifier reads rows of tokens. */
        const bool encodes =
                s->task->of_documents ? ran_config_has_encoder(c) : ran_config_has_layers(c);

        if (is_wanted(s) && !encodes)
                cmd_note("not initialised from %s: it has no encoder%s", name,
                         ran_config_has_encoder(c) ? " to train" : "");
        else if (is_wanted(s) && known < enough)
                cmd_note("not initialised from %s: it knows %.0f %% of the words, and %.0f %% are "
                         "needed",
                         name, 100 * known, 100 * enough);
        return encodes && known >= enough;
}

const struct ran_tokenizer *train_base_take(void *arg, const struct train_counted *counted,
                                            size_t *spelling)
{
        struct train_session *s = arg;
        const char *name = name_of(s);
        const struct ran_counter *words = counted->words;
        struct ran_counter_report count;

        ran_counter_report(words, &count);
        const uint64_t own = count.words;
        const double seconds = (double)own / words_a_second;
        const bool several = counted->several || s->config.classify.multilabel;
        /* With several labels a document, n-grams alone are as good from there on. */
        const size_t few = !s->task->of_documents ? FEW_WORDS_OF_TAGGER
                           : several              ? FEW_WORDS_OF_SEVERAL
                                                  : FEW_WORDS;
        if (own > few && !(s->task->of_documents && is_wanted(s))) {
                if (s->task->of_documents)
                        cmd_note("not initialised from the base model %s, which would take about "
                                 "%.0f s of CPU time for %" PRIu64 " words; --base %s does so",
                                 name, seconds, own, name);
                else if (is_wanted(s))
                        cmd_note("not initialised from %s: there are more than %zu words", name,
                                 few);
                return NULL;
        }
        struct ran_model *m = load(s, name);
        if (m == NULL || !suits(s, m, name, words)) {
                ran_model_free(m);
                return NULL;
        }
        s->init.model = m;
        s->base = (struct train_init_options){.model = (char *)name,
                                              .add_words = s->options->file.init.add_words};
        train_init_base(&s->init, &s->base, &s->config);
        *spelling = s->source.spelling = s->config.spelling;
        s->config.tag.join_sentences = s->source.join; /* sentences are joined already */
        if (ran_config_has_vector(&s->config))
                cmd_note("initialised from the base model %s (--init %s --frozen), which takes "
                         "about "
                         "%.0f s of CPU time for %" PRIu64 " words; --base none leaves it out",
                         name, name, ceil(seconds), own);
        else
                cmd_note("only %" PRIu64
                         " words: initialised from the base model %s (--init %s%s); "
                         "--base none leaves it out",
                         own, name, name, s->task->of_documents ? " --encoder static" : "");
        if (s->task->of_documents)
                train_init_extend(&s->init, &s->config, words);
        return train_init_vocabulary(&s->init);
}
