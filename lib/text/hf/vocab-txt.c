/* vocab-txt.c - BERT's vocab.txt: a token on each line; its line number, from zero, is the id. */
#include <string.h>

#include "text/hf/hf.h"

int ran_tokenizer_add_lines(struct ran_tokenizer *t, const char *data, size_t n,
                            struct ran_error *err)
{
        for (size_t pos = ran_utf8_mark(data, n); pos < n;) {
                const char *newline = memchr(data + pos, '\n', n - pos);
                size_t end = newline != NULL ? (size_t)(newline - data) : n;
                size_t length = end - pos;
                struct ran_error why;

                if (length > 0 && data[end - 1] == '\r')
                        length--;
                if (memchr(data + pos, 0, length) != NULL)
                        return ran_fail(err, RAN_EFORMAT, "line %zu contains U+0000",
                                        t->tokens.n + 1);
                int code = ran_tokenizer_add(t, data + pos, length, &why);
                if (code != RAN_OK)
                        return ran_fail(err, code, "line %zu: %s", t->tokens.n + 1, why.text);
                pos = end + (newline != NULL);
        }
        return RAN_OK;
}

struct ran_tokenizer *ran_tokenizer_import(const char *data, size_t n,
                                           const struct ran_vocab_settings *settings,
                                           struct ran_error *err)
{
        struct ran_tokenizer *t = ran_tokenizer_new(TOKENIZER_WORDPIECE);

        t->max_chars = settings->max_word;
        t->attach = settings->split_at == RAN_SPLIT_PUNCTUATION;
        if (ran_text_rules_set(&t->rules, settings, err) == RAN_OK &&
            ran_tokenizer_set_prefix(t, TOKENIZER_PREFIX, err) == RAN_OK &&
            ran_tokenizer_add_lines(t, data, n, err) == RAN_OK &&
            ran_tokenizer_finish(t, ran_tokenizer_reserved[RAN_UNK], err) == RAN_OK)
                return t;
        ran_tokenizer_free(t);
        return NULL;
}

static bool is_cased(const char *data, size_t n)
{
        bool line_begins = true, name = false;

        for (size_t i = ran_utf8_mark(data, n); i < n; i++) {
                if (line_begins)
                        name = data[i] == '['; /* like "[CLS]" or "[unused1]" */
                line_begins = data[i] == '\n';
                if (!name && data[i] >= 'A' && data[i] <= 'Z')
                        return true;
        }
        return false;
}

struct ran_tokenizer *ran_tokenizer_read_lines(const char *data, size_t n, struct ran_error *err)
{
        bool cased = is_cased(data, n);
        struct ran_vocab_settings bert = {
                .max_word = 100,
                .normalize = RAN_NORMALIZE_NONE,
                .lowercase = !cased,
                .strip_accents = !cased,
                .clean = RAN_CLEAN_ALL,
                .cjk = true,
                .split_at = RAN_SPLIT_PUNCTUATION,
        };
        struct ran_tokenizer *t = ran_tokenizer_import(data, n, &bert, err);

        if (t == NULL)
                return NULL;
        const char *notice =
                cased ? "taken for a cased vocabulary: a token has a capital letter"
                      : "taken for an uncased vocabulary: no token has a capital letter";
        t->notice = ran_copy(notice, strlen(notice));
        return t;
}
