/* decode.c - tokens to text. */
#include <string.h>

#include "text/tokenizer.h"

/* Whether English text has no space before a token, by the rules of Hugging Face's WordPiece
 * decoder. */
static bool attaches(const char *token, size_t n)
{
        static const char *const beginnings[] = {".",  "?",  "!",   ",",   "n't",
                                                 "'m", "'s", "'ve", "'re", NULL};

        for (size_t i = 0; beginnings[i] != NULL; i++) {
                size_t length = strlen(beginnings[i]);
                if (n >= length && memcmp(token, beginnings[i], length) == 0)
                        return true;
        }
        return false;
}

/* The tokens of bytes in a vocabulary of characters; NULL: it is one of bytes. */
static const uint32_t *byte_tokens(const struct ran_tokenizer *t)
{
        if (t->type == TOKENIZER_UNIGRAM)
                return t->unigram.byte;
        return t->bpe.chars != NULL ? t->bpe.byte : NULL;
}

/* Appends the text of a token of bytes, or of characters. */
static void add_text(const struct ran_tokenizer *t, uint32_t id, const char *token, size_t n,
                     struct ran_buf *out)
{
        const size_t meta = sizeof STEPS_META - 1;
        const uint32_t *byte = byte_tokens(t);
        unsigned value = 0;

        if (byte == NULL) {
                if (!ran_gpt2_bytes(token, n, out))
                        ran_buf_add(out, token, n); /* an added token, as it is */
                return;
        }
        while (value < 256 && (n != TOKENIZER_BYTE_LENGTH || byte[value] != id))
                value++;
        if (value < 256) {
                ran_buf_char(out, (char)value);
                return;
        }
        for (size_t pos = 0; pos < n;) {
                bool space = n - pos >= meta && memcmp(token + pos, STEPS_META, meta) == 0;
                ran_buf_char(out, space ? ' ' : token[pos]);
                pos += space ? meta : 1;
        }
}

int ran_tokenizer_decode(const struct ran_tokenizer *t, const uint32_t *ids, size_t n,
                         struct ran_buf *out, struct ran_error *err)
{
        const char *eol = t->rules.normal.eol;
        size_t before = out->len;
        bool begin = true; /* of a line */

        for (size_t i = 0; i < n; i++) {
                size_t length;
                const char *token = ran_tokenizer_token(t, ids[i], &length);
                if (token == NULL) {
                        out->len = before;
                        return ran_fail(err, RAN_EFORMAT,
                                        "id %u is not in this vocabulary of %zu tokens",
                                        (unsigned)ids[i], t->tokens.n);
                }
                if (t->type >= TOKENIZER_BPE) {
                        add_text(t, ids[i], token, length, out);
                        continue;
                }
                if (eol != NULL && length == strlen(eol) && memcmp(token, eol, length) == 0) {
                        ran_buf_char(out, '\n');
                        begin = true;
                        continue;
                }
                if (!begin && t->type == TOKENIZER_WORDPIECE && length >= t->prefix_n &&
                    memcmp(token, t->prefix, t->prefix_n) == 0) {
                        token += t->prefix_n;
                        length -= t->prefix_n;
                } else if (!begin && !(t->attach && attaches(token, length))) {
                        ran_buf_char(out, ' ');
                }
                ran_buf_add(out, token, length);
                begin = false;
        }
        /* The space in front of a text that the steps put there. */
        if (t->steps != NULL && t->type >= TOKENIZER_BPE && byte_tokens(t) != NULL &&
            out->len > before && out->data[before] == ' ') {
                out->len--;
                memmove(out->data + before, out->data + before + 1, out->len - before);
        }
        return RAN_OK;
}
