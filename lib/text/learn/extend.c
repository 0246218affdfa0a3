/* extend.c - a vocabulary with the words of a corpus that it lacks. Its own tokens keep their ids,
 * so that a model may go on with it; byte pairs have no words. */
#include "text/hf/hf.h"
#include "text/learn/counter.h"

#include <stdlib.h>
#include <string.h>

/* Whether t reads these n bytes, a word that was counted, as this one word, and as several tokens
 * or none. */
static bool is_missing(const struct ran_tokenizer *t, struct ran_words_scratch *scratch,
                       const char *s, size_t n)
{
        struct ran_words walk;
        struct ran_word word;
        uint32_t id;

        if (n > TOKENIZER_TOKEN_MOST || memchr(s, '\0', n) != NULL ||
            ran_tokenizer_find(t, s, n, &id))
                return false;
        /* Such a token would be the end of other words. */
        if (t->type == TOKENIZER_WORDPIECE && n >= t->prefix_n &&
            memcmp(s, t->prefix, t->prefix_n) == 0)
                return false;
        ran_words_begin(&walk, &t->rules, scratch, s, n, 0);
        return ran_words_next(&walk, &word, NULL) && word.n == n && memcmp(word.s, s, n) == 0 &&
               (t->type != TOKENIZER_WORDPIECE || word.chars <= t->max_chars);
}

int ran_counter_extend(const struct ran_counter *c, const struct ran_tokenizer *of, size_t least,
                       struct ran_tokenizer **to, struct ran_error *err)
{
        struct ran_words_scratch scratch = {0};
        size_t n, added = 0;
        const char *json = ran_tokenizer_json(of, &n);

        *to = NULL;
        if (of->type >= TOKENIZER_BPE || of->exact || c->words.n == 0 ||
            !ran_text_rules_equal(&c->rules, &of->rules))
                return RAN_OK;
        struct ran_tokenizer *t = ran_tokenizer_load(json, n, err);
        if (t == NULL)
                return RAN_EFORMAT;
        uint32_t *order = ran_counter_order(c);
        for (size_t i = 0; i < c->words.n && added < c->settings.vocab_size; i++) {
                const char *word = ran_string_table_get(&c->words, order[i], &n);

                if (c->count[order[i]] < least)
                        break;
                if (is_missing(t, &scratch, word, n)) {
                        ran_string_table_add(&t->tokens, word, n);
                        added++;
                }
        }
        ran_words_scratch_release(&scratch);
        free(order);
        const int rc = added > 0 ? ran_tokenizer_finish(t, NULL, err) : RAN_OK;
        if (added > 0 && rc == RAN_OK)
                *to = t;
        else
                ran_tokenizer_free(t);
        return rc;
}

bool ran_tokenizer_begins_with(const struct ran_tokenizer *t, const struct ran_tokenizer *of)
{
        if (t->type != of->type || t->tokens.n < of->tokens.n)
                return false;
        for (size_t i = 0; i < of->tokens.n; i++) {
                size_t n, m;
                const char *a = ran_string_table_get(&t->tokens, (uint32_t)i, &n);
                const char *b = ran_string_table_get(&of->tokens, (uint32_t)i, &m);

                if (n != m || memcmp(a, b, n) != 0)
                        return false;
        }
        return true;
}
