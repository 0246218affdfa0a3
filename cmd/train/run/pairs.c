/* pairs.c - defaults for records with a source and a target.
 *
 * Whoever gives --mask gets the defaults of other texts: old commands mean what they meant. An
 * option that is set, on the command line or in a file of --config, stays as it is.
 */
#include "cmd/train/run/session.h"

#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"

/* Subwords, so that no word of either side is unknown; their number suits tens of thousands of
 * pairs, and for less text fewer are learned. */
enum { PAIRS_VOCABULARY = 5000 };
#define PAIRS_SMOOTHING 0.1

/* Whether such records would get defaults of their own. */
static bool have_defaults(const struct train_session *s)
{
        return s->task->task == RAN_TASK_LM && s->source.mask == RAN_MASK_NONE &&
               s->init.model == NULL;
}

bool train_pairs_vocabulary(const struct train_session *s, struct ran_vocab_settings *v)
{
        struct ran_error err;

        if (!have_defaults(s) || s->init.file != NULL)
                return false;
        for (const struct ran_field *f = ran_vocab_fields; f->name != NULL; f++)
                if (cmd_was_set(f->name))
                        return false;
        *v = (struct ran_vocab_settings){.vocab_type = RAN_VOCAB_BPE};
        for (const struct ran_field *f = ran_vocab_fields; f->name != NULL; f++)
                if (strcmp(f->name, "vocab_type") != 0 &&
                    ran_field_init(ran_vocab_fields, f, v, &err) != RAN_OK)
                        cmd_die(CMD_FAILED, "%s", err.text);
        v->vocab_size = PAIRS_VOCABULARY;
        return true;
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
