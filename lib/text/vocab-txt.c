/* vocab-txt.c - BERT's vocab.txt: a piece a line, its number from zero is the id. */
#include <stdlib.h>
#include <string.h>

#include "text/tokenizer.h"

static int add_lines(struct ran_tokenizer *t, const char *data, size_t n, struct ran_error *err)
{
        for (size_t pos = 0; pos < n;) {
                const char *newline = memchr(data + pos, '\n', n - pos);
                size_t end = newline != NULL ? (size_t)(newline - data) : n;
                size_t length = end - pos;
                struct ran_error why;

                if (length > 0 && data[end - 1] == '\r')
                        length--;
                if (memchr(data + pos, 0, length) != NULL)
                        return ran_fail(err, RAN_EFORMAT, "line %zu holds U+0000", t->pieces.n + 1);
                int code = tokenizer_add(t, data + pos, length, &why);
                if (code != RAN_OK)
                        return ran_fail(err, code, "line %zu: %s", t->pieces.n + 1, why.text);
                pos = end + (newline != NULL);
        }
        return RAN_OK;
}

/* The five that BERT's own code looks for in a text. */
static int mark_special(struct ran_tokenizer *t, struct ran_error *err)
{
        static const char *const names[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
        int code = RAN_OK;

        for (size_t id = 0; id < t->pieces.n && code == RAN_OK; id++) {
                size_t n;
                const char *piece = ran_tokenizer_piece(t, (uint32_t)id, &n);
                for (size_t i = 0; piece != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
                        if (n == strlen(names[i]) && memcmp(piece, names[i], n) == 0)
                                code = tokenizer_add_special(t, (uint32_t)id, true, err);
                }
        }
        return code;
}

static int fill(struct ran_tokenizer *t, const char *data, size_t n,
                const struct ran_vocab_settings *settings, bool special, struct ran_error *err)
{
        int code = text_rules_set(&t->rules, settings, err);

        t->max_chars = settings->max_word;
        t->attach = settings->split_at == RAN_SPLIT_PUNCTUATION;
        if (code == RAN_OK)
                code = tokenizer_set_prefix(t, TOKENIZER_PREFIX, err);
        if (code == RAN_OK)
                code = add_lines(t, data, n, err);
        if (code == RAN_OK && special)
                code = mark_special(t, err);
        return code == RAN_OK ? tokenizer_finish(t, tokenizer_reserved[RAN_UNK], err) : code;
}

struct ran_tokenizer *ran_tokenizer_import(const char *vocab_txt, size_t n,
                                           const struct ran_vocab_settings *settings, bool special,
                                           struct ran_error *err)
{
        struct ran_tokenizer *t = tokenizer_new(TOKENIZER_WORDPIECE, err);

        if (t != NULL && fill(t, vocab_txt, n, settings, special, err) != RAN_OK) {
                ran_tokenizer_free(t);
                t = NULL;
        }
        return t;
}

/* A capital ASCII letter in a piece that is not, like "[CLS]" or "[unused1]", a name in brackets.
 */
static bool has_capitals(const char *data, size_t n)
{
        bool line_begins = true, name = false;

        for (size_t i = 0; i < n; i++) {
                if (line_begins)
                        name = data[i] == '[';
                line_begins = data[i] == '\n';
                if (!name && data[i] >= 'A' && data[i] <= 'Z')
                        return true;
        }
        return false;
}

struct ran_tokenizer *tokenizer_read_lines(const char *data, size_t n, struct ran_error *err)
{
        bool cased = has_capitals(data, n);
        struct ran_vocab_settings bert = {
                .max_word = 100,
                .normalize = RAN_NORMALIZE_NONE,
                .lowercase = !cased,
                .strip_accents = !cased,
                .clean = RAN_CLEAN_ALL,
                .cjk = true,
                .split_at = RAN_SPLIT_PUNCTUATION,
        };

        return ran_tokenizer_import(data, n, &bert, false, err);
}
