/* wordpiece.c - learning WordPiece: the initial characters; merges.c adds the merges. */
#include "text/learn/counter.h"
#include "text/words/unicode.h"

/* The letters of a word as tokens; none if a letter is not a token. */
static size_t spell(const struct ran_tokenizer *t, const char *word, size_t n, uint32_t *row)
{
        size_t length = 0;

        for (size_t pos = 0, size; pos < n; pos += size) {
                size_t head = pos > 0 ? t->prefix_n : 0;
                uint64_t hash = pos > 0 ? t->prefix_hash : ran_string_table_seed;
                size = ran_unicode_length(word + pos, n - pos);
                uint32_t id = ran_string_table_find(&t->tokens,
                                                    ran_string_table_hash(hash, word + pos, size),
                                                    t->prefix, head, word + pos, size);
                if (id == RAN_STRING_TABLE_NONE)
                        return 0;
                row[length++] = id;
        }
        return length;
}

int ran_learn_wordpiece(const struct ran_counter *c, struct ran_tokenizer *t, struct ran_error *err)
{
        size_t before = t->tokens.n;

        RAN_TRY(ran_learn_alphabet(c, t, err));
        if (t->tokens.n == before)
                return ran_fail(err, RAN_EINVAL,
                                "a vocabulary of %zu tokens has no room for a single character",
                                c->settings.vocab_size);
        return ran_learn_merges(c, t, spell, err);
}
