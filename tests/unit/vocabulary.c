#include "vocabulary.h"

#include <stdlib.h>
#include <string.h>

/* The text that the functions below give out. */
static struct ran_buf shown;

static const char *show(void)
{
        ran_buf_char(&shown, '\0');
        return shown.data;
}

struct ran_vocab_settings default_settings(void)
{
        struct ran_vocab_settings settings;

        if (ran_fields_init(ran_vocab_fields, &settings, NULL) != RAN_OK)
                abort();
        return settings;
}

struct ran_vocab_settings type_settings(int vocab_type)
{
        struct ran_vocab_settings settings = default_settings();

        settings.vocab_type = vocab_type;
        for (const struct ran_field *f = ran_vocab_fields; f->name != NULL; f++) {
                if (f->unless.field != NULL &&
                    ran_field_init(ran_vocab_fields, f, &settings, NULL) != RAN_OK)
                        abort();
        }
        return settings;
}

struct ran_tokenizer *learn_from(const struct ran_vocab_settings *settings,
                                 const char *const *texts, struct ran_error *err)
{
        struct ran_counter *counter = ran_counter_new(settings, err);
        struct ran_encoding e = {0};
        struct ran_buf words = {0};
        struct ran_tokenizer *t = NULL;
        int code = counter != NULL ? RAN_OK : RAN_EINVAL;

        for (; code == RAN_OK && *texts != NULL; texts++) {
                words.len = 0;
                code = ran_counter_words(counter, *texts, strlen(*texts), &e, &words, err);
                if (code == RAN_OK)
                        code = ran_counter_add(counter, words.data, words.len, err);
        }
        if (code == RAN_OK)
                t = ran_counter_learn(counter, err);
        ran_buf_release(&words);
        ran_encoding_release(&e);
        ran_counter_free(counter);
        return t;
}

static const char *encode(const struct ran_tokenizer *t, const char *text, bool offsets)
{
        struct ran_encoding e = {0};
        struct ran_error err;

        shown.len = 0;
        if (ran_tokenizer_encode(t, text, strlen(text), &e, &err) != RAN_OK)
                ran_buf_printf(&shown, "error: %s", err.text);
        for (size_t i = 0; i < e.n; i++) {
                size_t n;
                const char *token = ran_tokenizer_token(t, e.ids[i], &n);
                ran_buf_str(&shown, i > 0 ? "|" : "");
                ran_buf_add(&shown, token, n);
                if (offsets)
                        ran_buf_printf(&shown, "[%zu,%zu)", e.start[i], e.end[i]);
        }
        ran_encoding_release(&e);
        return show();
}

const char *tokens_of(const struct ran_tokenizer *t, const char *text)
{
        return encode(t, text, false);
}

const char *tokens_with_offsets(const struct ran_tokenizer *t, const char *text)
{
        return encode(t, text, true);
}

const char *all_tokens(const struct ran_tokenizer *t, size_t skip)
{
        shown.len = 0;
        for (size_t id = skip; id < ran_tokenizer_size(t); id++) {
                size_t n;
                const char *token = ran_tokenizer_token(t, (uint32_t)id, &n);
                ran_buf_str(&shown, id > skip ? "|" : "");
                ran_buf_add(&shown, token, token != NULL ? n : 0);
        }
        return show();
}
