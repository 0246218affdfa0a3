/* encode.c - a text to words and tokens. */
#include <string.h>

#include "text/tokenizer.h"

/* Encodes the words of a text without added tokens. *points grows by its code points. numbered:
 * each word gets its own number. */
static int encode_plain(const struct ran_tokenizer *t, const char *text, size_t n, bool numbered,
                        size_t *points, struct ran_encoding *e, struct ran_error *err)
{
        struct ran_encoding_scratch *scratch = e->scratch;
        struct ran_words words;
        struct ran_word word;

        ran_words_begin(&words, &t->rules, &scratch->words, text, n, *points);
        words.lead |= !numbered && e->words > 0;
        while (ran_words_next(&words, &word, err)) {
                RAN_TRY(ran_tokenizer_add_word(t, &word, e, err));
                e->words += numbered;
        }
        *points = words.points;
        return words.code;
}

static int encode(const struct ran_tokenizer *t, const char *text, size_t n, bool numbered,
                  size_t *points, struct ran_encoding *e, struct ran_error *err)
{
        struct ran_encoding_scratch *scratch = ran_encoding_scratch(e);

        ran_word_cache_use(&scratch->cached, t->serial);
        scratch->passage.led = false;
        *points = 0;
        for (size_t taken = 0, from = 0; taken < n;) {
                const struct ran_found found =
                        ran_added_tokens_find(&t->added, text, n, from, taken);

                if (found.begin > taken)
                        RAN_TRY((t->steps != NULL ? ran_tokenizer_add_passage : encode_plain)(
                                t, text + taken, found.begin - taken, numbered, points, e, err));
                else
                        *points -= ran_unicode_count(text + found.begin, taken - found.begin);
                if (found.token == NULL)
                        break;
                const size_t end =
                        *points + ran_unicode_count(text + found.begin, found.end - found.begin);
                ran_encoding_add(e, found.token->id, *points, end);
                ran_encoding_trim_added(t, e, text + found.begin, found.end - found.begin);
                e->words += numbered;
                *points = end;
                taken = found.end;
                from = found.next;
        }
        return RAN_OK;
}

int ran_tokenizer_encode(const struct ran_tokenizer *t, const char *text, size_t n,
                         struct ran_encoding *e, struct ran_error *err)
{
        size_t points;

        e->n = e->words = 0;
        return encode(t, text, n, true, &points, e, err);
}

/* The token of a word of which nothing is left: unknown; with byte pairs, which know no such token,
 * the prefix of a word. */
static uint32_t nothing(const struct ran_tokenizer *t)
{
        const struct ran_bpe *b = &t->bpe;

        if (t->type != TOKENIZER_BPE || (t->steps != NULL && t->unk != RAN_NO_ID))
                return t->unk;
        uint32_t id = b->unit[' '] != BPE_NONE ? b->unit[' '] : b->byte[' '];
        return id != BPE_NONE ? id : 0;
}

int ran_tokenizer_encode_word(const struct ran_tokenizer *t, const char *word, size_t n,
                              struct ran_encoding *e, struct ran_error *err)
{
        size_t before = e->n, points;

        int code = encode(t, word, n, false, &points, e, err);

        if (code == RAN_OK && e->n == before)
                ran_encoding_add(e, nothing(t), 0, points);
        if (code == RAN_OK)
                e->words++;
        else
                e->n = before;
        return code;
}
