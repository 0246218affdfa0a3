/* encoding.c - the tokens of a text: their memory, and offsets without spaces. */
#include <stdlib.h>

#include "text/tokenizer.h"

void ran_encoding_release(struct ran_encoding *e)
{
        free(e->ids);
        free(e->start);
        free(e->end);
        free(e->word);
        free(e->spelling);
        struct ran_encoding_scratch *scratch = e->scratch;
        if (scratch != NULL) {
                ran_words_scratch_release(&scratch->words);
                ran_passage_release(&scratch->passage);
                ran_bpe_scratch_release(&scratch->bpe);
                free(scratch->unigram.end);
                ran_word_cache_release(&scratch->cached);
                ran_buf_release(&scratch->spelled);
                free(scratch->parts.at);
        }
        free(scratch);
        *e = (struct ran_encoding){0};
}

void ran_encoding_add(struct ran_encoding *e, uint32_t id, size_t start, size_t end)
{
        if (e->n == e->cap) {
                size_t caps[] = {e->cap, e->cap, e->cap};

                RAN_ROOM(e->ids, e->cap, e->n + 1);
                if (!e->ids_only) {
                        RAN_ROOM(e->start, caps[0], e->n + 1);
                        RAN_ROOM(e->end, caps[1], e->n + 1);
                        RAN_ROOM(e->word, caps[2], e->n + 1);
                }
        }
        e->ids[e->n] = id;
        if (!e->ids_only) {
                e->start[e->n] = start;
                e->end[e->n] = end;
                e->word[e->n] = e->words;
        }
        e->n++;
}

struct ran_encoding_scratch *ran_encoding_scratch(struct ran_encoding *e)
{
        if (e->scratch == NULL)
                e->scratch = ran_new(1, sizeof(struct ran_encoding_scratch));
        return e->scratch;
}

/* ---- offsets -------------------------------------------------------------------------------- */

void ran_encoding_trim(const struct ran_tokenizer *t, struct ran_encoding *e, size_t leading,
                       size_t trailing)
{
        const struct ran_encoding_scratch *scratch = e->scratch;

        if (e->ids_only)
                return;
        size_t *start = &e->start[e->n - 1], *end = &e->end[e->n - 1];
        if ((t->keep || scratch->passage.led) && leading == 1 && (e->n == 1 || *start == 0))
                leading = 0; /* it was put there */
        if (leading > 0)
                *start = leading < *end - *start ? *start + leading : *end;
        if (trailing > 0 && *end >= trailing)
                *end = trailing < *end - *start ? *end - trailing : *start;
}

void ran_encoding_trim_added(const struct ran_tokenizer *t, struct ran_encoding *e, const char *s,
                             size_t n)
{
        const int32_t byte_of_space = 0x120; /* stands for it in tokens of bytes */
        size_t leading = 0, trailing = 0, chars = 0, length;

        for (size_t pos = 0; pos < n && t->trim; pos += length, chars++) {
                const int32_t c = ran_unicode_get(s + pos, n - pos, &length);
                const bool space = c == byte_of_space || ran_unicode_is_space(c);
                leading += space && leading == chars;
                trailing = space ? trailing + 1 : 0;
        }
        if (leading + trailing > 0)
                ran_encoding_trim(t, e, leading, trailing);
}
