/* units.c - the smallest units of subwords that are learned: bytes, or the most frequent
 * characters, each as it begins a word and as it continues one. merges.c adds the merges. */
#include <stdlib.h>

#include "text/learn/counter.h"

struct letter {
        uint64_t count;
        bool begins, goes_on; /* counts at the beginning of a word, and inside */
        uint32_t index;       /* in the strings that name it */
};
struct alphabet {
        struct ran_string_table names;
        struct letter *letter;
        size_t cap;
};

static void count_letters(const struct ran_counter *c, struct alphabet *all)
{
        for (size_t i = 0; i < c->words.n; i++) {
                size_t n, length;
                const char *word = ran_string_table_get(&c->words, (uint32_t)i, &n);
                for (size_t pos = 0; pos < n; pos += length) {
                        const size_t before = all->names.n;
                        length = ran_unicode_length(word + pos, n - pos);
                        const uint32_t k = ran_string_table_add(&all->names, word + pos, length);
                        RAN_ROOM(all->letter, all->cap, before + 1);
                        if (k == before)
                                all->letter[k] = (struct letter){.index = k};
                        all->letter[k].count += c->count[i];
                        all->letter[k].begins |= pos == 0;
                        all->letter[k].goes_on |= pos > 0;
                }
        }
}

static int by_bytes(const void *a, const void *b, void *arg)
{
        const struct alphabet *all = arg;
        const struct letter *x = a, *y = b;

        return ran_string_table_compare(&all->names, x->index, y->index);
}

static int by_frequency(const void *a, const void *b, void *arg)
{
        const struct letter *x = a, *y = b;

        if (x->count != y->count)
                return x->count > y->count ? -1 : 1;
        return by_bytes(a, b, arg);
}

/* Bytes are in the order of the characters that represent them. Of letters the most frequent, up to
 * the limit and the size of the vocabulary, in the order of their bytes; first the forms that begin
 * a word, then those that continue one. One of them may be there, as the end-of-line token. */
int ran_learn_units(const struct ran_counter *c, struct ran_tokenizer *t, struct ran_error *err)
{
        const size_t before = t->tokens.n;
        struct alphabet all = {0};
        struct ran_buf text = {0};

        for (int32_t i = 0; t->type == TOKENIZER_BPE && i < 0x200; i++) {
                char token[4];

                if (ran_gpt2_byte(i) >= 0)
                        ran_string_table_add(&t->tokens, token, ran_unicode_put(token, i));
        }
        if (t->type == TOKENIZER_BPE)
                return ran_tokenizer_find_bytes(t, false, err);
        count_letters(c, &all);
        size_t room = c->settings.vocab_size - before, kept = 0, n = all.names.n;
        if (n > 0)
                qsort_r(all.letter, n, sizeof(*all.letter), by_frequency, &all);
        for (; kept < n && kept < c->settings.limit_alphabet; kept++) {
                size_t forms = (size_t)all.letter[kept].begins + all.letter[kept].goes_on;
                if (forms > room)
                        break;
                room -= forms;
        }
        if (kept > 0)
                qsort_r(all.letter, kept, sizeof(*all.letter), by_bytes, &all);
        for (size_t i = 0; i < 2 * kept; i++) {
                const struct letter *letter = &all.letter[i % kept];
                const bool goes_on = i >= kept;

                if (!(goes_on ? letter->goes_on : letter->begins))
                        continue;
                const char *s = ran_string_table_get(&all.names, letter->index, &n);
                text.len = 0;
                ran_buf_str(&text, goes_on ? t->prefix : "");
                ran_buf_add(&text, s, n);
                ran_string_table_add(&t->tokens, text.data, text.len);
        }
        ran_buf_release(&text);
        ran_string_table_release(&all.names);
        free(all.letter);
        if (t->tokens.n == before)
                return ran_fail(err, RAN_EINVAL,
                                "a vocabulary of %zu tokens has no room for a single character",
                                c->settings.vocab_size);
        return RAN_OK;
}

size_t ran_learn_spell(const struct ran_tokenizer *t, const char *word, size_t n, uint32_t *row)
{
        size_t length = 0;

        for (size_t pos = 0, size; pos < n; pos += size) {
                size_t head = pos > 0 ? t->prefix_n : 0;
                uint64_t hash = pos > 0 ? t->prefix_hash : ran_string_table_seed;

                if (t->type == TOKENIZER_BPE) {
                        row[length++] = t->bpe.byte[(unsigned char)word[pos]];
                        size = 1;
                        continue;
                }
                size = ran_unicode_length(word + pos, n - pos);
                uint32_t id = ran_string_table_find_joined(
                        &t->tokens, ran_string_table_hash(hash, word + pos, size), t->prefix, head,
                        word + pos, size);
                if (id == RAN_STRING_TABLE_NONE)
                        return 0;
                row[length++] = id;
        }
        return length;
}
