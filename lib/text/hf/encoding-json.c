/* encoding-json.c - an encoding as JSON: four numbers and a text for each token, so writing
 * takes longer than encoding. Texts are copied, with their quotes, from the vocabulary's own
 * JSON. */
#include <string.h>

#include "base/digits.h"
#include "text/hf/hf.h"

/* What is said of each token. */
enum array { PIECES, IDS, WORDS, OFFSETS };

/* Room is made for this many tokens at a time, and of each for MORE than its quoted text. */
enum { BLOCK = 256, MORE = 2 * RAN_DIGITS_MAX + 4 };

/* Has room for MORE, and for the quoted token and TOKENIZER_STEP bytes. */
static inline char *put(char *at, enum array array, const struct ran_encoding *e, size_t i,
                        const struct ran_tokenizer_text *t)
{
        const struct quoted *q = &t->quoted[e->ids[i]];

        switch (array) {
        case PIECES: /* in steps, which may read and write beyond the end */
                for (size_t k = 0; k < q->n; k += TOKENIZER_STEP)
                        memcpy(at + k, t->json.data + q->begin + k, TOKENIZER_STEP);
                return at + q->n;
        case IDS:
                return at + ran_digits_put(at, e->ids[i]);
        case WORDS:
                return at + ran_digits_put(at, e->word[i]);
        default:
                *at++ = '[';
                at += ran_digits_put(at, e->start[i]);
                *at++ = ',';
                at += ran_digits_put(at, e->end[i]);
                *at++ = ']';
                return at;
        }
}

/* Appends what stands in front of an array, a constant, and its members. */
__attribute__((always_inline)) static inline void add(struct ran_buf *out, const char *begin,
                                                      const enum array array,
                                                      const struct ran_encoding *e,
                                                      const struct ran_tokenizer_text *t)
{
        ran_buf_str(out, begin);
        for (size_t i = 0; i < e->n;) {
                const size_t end = i + ran_least(e->n - i, BLOCK);
                size_t room = TOKENIZER_STEP + (end - i) * MORE;

                for (size_t k = i; k < end && array == PIECES; k++)
                        room += t->quoted[e->ids[k]].n;
                char *from = ran_buf_room(out, room), *at = from;
                for (; i < end; i++) {
                        at = put(at, array, e, i, t);
                        *at++ = ',';
                }
                out->len += (size_t)(at - from);
        }
        out->len -= e->n > 0; /* the last comma */
}

void ran_encoding_json(const struct ran_encoding *e, const struct ran_tokenizer *t, bool words,
                       struct ran_buf *out)
{
        const struct ran_tokenizer_text *text = ran_tokenizer_text(t);

        ran_buf_str(out, "{\"vocab\":\"");
        ran_buf_str(out, text->digest);
        add(out, "\",\"pieces\":[", PIECES, e, text);
        add(out, "],\"ids\":[", IDS, e, text);
        if (words)
                add(out, "],\"words\":[", WORDS, e, text);
        add(out, "],\"offsets\":[", OFFSETS, e, text);
        ran_buf_str(out, "]}");
}
