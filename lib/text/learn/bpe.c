/* bpe-learn.c - learning byte pairs: the 256 bytes; merges.c adds the merges. */
#include "text/learn/counter.h"
#include "text/words/unicode.h"

static size_t spell(const struct ran_tokenizer *t, const char *word, size_t n, uint32_t *row)
{
        for (size_t i = 0; i < n; i++)
                row[i] = t->bpe.byte[(unsigned char)word[i]];
        return n;
}

/* A token for each byte, in the order of the characters that represent them. */
static int add_bytes(struct ran_tokenizer *t, struct ran_error *err)
{
        for (int32_t c = 0; c < 0x200; c++) {
                char token[4];
                if (ran_gpt2_byte(c) >= 0)
                        RAN_TRY(ran_tokenizer_add(t, token, ran_unicode_put(token, c), err));
        }
        return ran_tokenizer_find_bytes(t, err);
}

int ran_learn_bpe(const struct ran_counter *c, struct ran_tokenizer *t, struct ran_error *err)
{
        RAN_TRY(add_bytes(t, err));
        return ran_learn_merges(c, t, spell, err);
}
