/* added.c - finds added tokens in a text: from left to right, the longest first. */
#include <stdlib.h>

#include "text/tokenizer.h"

static size_t pair_of(unsigned char a, unsigned char b)
{
        return (size_t)a << 8 | b;
}

void ran_added_tokens_release(struct ran_added_tokens *a)
{
        ran_string_table_release(&a->content);
        free(a->token);
        free(a->pair);
        *a = (struct ran_added_tokens){0};
}

int ran_added_tokens_add(struct ran_added_tokens *a, const char *content, size_t n,
                         const struct ran_added_token *token, struct ran_error *err)
{
        const size_t count = a->content.n;

        if (n > TOKENIZER_TOKEN_MOST)
                return ran_fail(err, RAN_EFORMAT,
                                "the added token '%.40s...' has %zu bytes; the maximum is %d",
                                content, n, TOKENIZER_TOKEN_MOST);
        const uint32_t same =
                n > 0 ? ran_string_table_find(&a->content, content, n) : RAN_STRING_TABLE_NONE;
        const bool found = n > 0 && same == RAN_STRING_TABLE_NONE;

        if (a->pair == NULL)
                a->pair = ran_new(ADDED_PAIRS / 8, 1);
        RAN_ROOM(a->token, a->cap, count + 1);
        if (!found)
                ran_string_table_skip(&a->content);
        a->token[count] = *token;
        if (same != RAN_STRING_TABLE_NONE) {
                a->token[count] = a->token[same];
                a->token[same] = *token;
        }
        if (!found)
                return RAN_OK;
        ran_string_table_add(&a->content, content, n);
        a->longest = n > a->longest ? n : a->longest;
        /* The pairs of bytes that it may begin with: of one byte, with any behind it. */
        for (unsigned second = 0; second < 256; second++) {
                const size_t pair = pair_of((unsigned char)content[0], (unsigned char)second);

                if (n == 1 || second == (unsigned char)content[1])
                        a->pair[pair / 8] |= (unsigned char)(1 << pair % 8);
        }
        return RAN_OK;
}

/* Whether there is a letter, mark or digit right before `begin` or at `end`. */
static bool is_inside_word(const char *text, size_t n, size_t begin, size_t end)
{
        size_t length;

        if (end < n && ran_unicode_is_word(ran_unicode_get(text + end, n - end, &length)))
                return true;
        if (begin == 0)
                return false;
        const size_t before = ran_unicode_last(text, begin);
        return ran_unicode_is_word(ran_unicode_get(text + before, begin - before, &length));
}

struct ran_found ran_added_tokens_find(const struct ran_added_tokens *a, const char *text, size_t n,
                                       size_t from, size_t taken)
{
        for (size_t pos = from; a->content.n > 0 && pos < n; pos++) {
                const unsigned char *s = (const unsigned char *)text + pos;
                const size_t pair = pair_of(s[0], pos + 1 < n ? s[1] : 0);
                size_t length;

                if ((a->pair[pair / 8] >> pair % 8 & 1) == 0)
                        continue;
                uint32_t i = ran_string_table_longest(&a->content, 0, ran_string_table_seed, "", 0,
                                                      text + pos, n - pos, a->longest, &length);
                if (i == RAN_STRING_TABLE_NONE)
                        continue;
                const struct ran_added_token *token = &a->token[i];
                const size_t end = pos + length;
                if (token->single && is_inside_word(text, n, pos, end)) {
                        pos = end - 1;
                        continue;
                }
                const size_t before =
                        token->left && pos > taken
                                ? ran_unicode_trailing_space(text + taken, pos - taken)
                                : 0;
                const size_t behind = token->right ? ran_unicode_space(text + end, n - end) : 0;
                return (struct ran_found){token, pos - before, end + behind, end};
        }
        return (struct ran_found){NULL, n, n, n};
}
