/* vocab-txt.c - BERT's vocab.txt: a token on each line; its line number, from zero, is the id. */
#include <stdlib.h>
#include <string.h>

#include "text/hf/text.h"

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

/* The five special tokens that BERT's own code finds in a text. */
static int mark_special(struct ran_tokenizer *t, struct ran_error *err)
{
        static const char *const names[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

        for (size_t id = 0; id < t->tokens.n; id++) {
                const struct ran_added_token token = {.id = (uint32_t)id, .special = true};
                size_t n;
                const char *content = ran_tokenizer_token(t, (uint32_t)id, &n);
                for (size_t i = 0; content != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
                        if (n == strlen(names[i]) && memcmp(content, names[i], n) == 0)
                                RAN_TRY(ran_tokenizer_add_special(t, &token, err));
                }
        }
        return RAN_OK;
}

static int fill(struct ran_tokenizer *t, const char *data, size_t n,
                const struct ran_vocab_settings *settings, bool special, struct ran_error *err)
{
        RAN_TRY(ran_text_rules_set(&t->rules, settings, err));
        t->max_chars = settings->max_word;
        t->attach = settings->split_at == RAN_SPLIT_PUNCTUATION;
        RAN_TRY(ran_tokenizer_set_prefix(t, TOKENIZER_PREFIX, err));
        RAN_TRY(ran_tokenizer_add_lines(t, data, n, err));
        if (special)
                RAN_TRY(mark_special(t, err));
        return ran_tokenizer_finish(t, ran_tokenizer_reserved[RAN_UNK], err);
}

struct ran_tokenizer *ran_tokenizer_import(const char *vocab_txt, size_t n,
                                           const struct ran_vocab_settings *settings, bool special,
                                           struct ran_error *err)
{
        struct ran_tokenizer *t = ran_tokenizer_new(TOKENIZER_WORDPIECE);

        if (fill(t, vocab_txt, n, settings, special, err) != RAN_OK) {
                ran_tokenizer_free(t);
                t = NULL;
        }
        return t;
}

bool ran_vocab_txt_is_cased(const char *vocab_txt, size_t n)
{
        bool line_begins = true, name = false;

        for (size_t i = ran_utf8_mark(vocab_txt, n); i < n; i++) {
                if (line_begins)
                        name = vocab_txt[i] == '['; /* like "[CLS]" or "[unused1]" */
                line_begins = vocab_txt[i] == '\n';
                if (!name && vocab_txt[i] >= 'A' && vocab_txt[i] <= 'Z')
                        return true;
        }
        return false;
}

struct ran_tokenizer *ran_tokenizer_read_lines(const char *data, size_t n, struct ran_error *err)
{
        bool cased = ran_vocab_txt_is_cased(data, n);
        struct ran_vocab_settings bert = {
                .max_word = 100,
                .normalize = RAN_NORMALIZE_NONE,
                .lowercase = !cased,
                .strip_accents = !cased,
                .clean = RAN_CLEAN_ALL,
                .cjk = true,
                .split_at = RAN_SPLIT_PUNCTUATION,
        };
        struct ran_tokenizer *t = ran_tokenizer_import(data, n, &bert, false, err);

        if (t == NULL)
                return NULL;
        const char *notice =
                cased ? "taken for a cased vocabulary: a token has a capital letter"
                      : "taken for an uncased vocabulary: no token has a capital letter";
        t->notice = ran_copy(notice, strlen(notice));
        return t;
}
