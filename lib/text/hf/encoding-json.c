/* encoding-json.c - an encoding as JSON: four numbers and a text for each token, so writing
 * takes longer than encoding. Texts are copied, with their quotes, from the vocabulary's own
 * JSON. */
#include <string.h>

#include "base/digits.h"
#include "text/hf/hf.h"

/* What is said of each token; in the order in which it is written. */
enum array { PIECES, IDS, WORDS, OFFSETS };

/* Has room for two numbers, and for the quoted token and TOKENIZER_STEP bytes. */
static char *put(char *at, enum array array, const struct ran_encoding *e, size_t i,
                 const struct quoted *q, const char *json)
{
        switch (array) {
        case PIECES: /* in steps, which may read and write beyond the end */
                for (size_t k = 0; k < q->n; k += TOKENIZER_STEP)
                        memcpy(at + k, json + q->begin + k, TOKENIZER_STEP);
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

void ran_encoding_json(const struct ran_encoding *e, const struct ran_tokenizer *t, bool words,
                       struct ran_buf *out)
{
        static const char *const names[] = {"pieces", "ids", "words", "offsets"};
        const struct ran_tokenizer_text *text = ran_tokenizer_text(t);

        ran_buf_printf(out, "{\"vocab\":\"%s\"", text->digest);
        for (enum array array = PIECES; array <= OFFSETS; array++) {
                if (array == WORDS && !words)
                        continue;
                ran_buf_printf(out, ",\"%s\":[", names[array]);
                for (size_t i = 0; i < e->n; i++) {
                        const struct quoted *q = &text->quoted[e->ids[i]];
                        char *begin = ran_buf_room(out, q->n + TOKENIZER_STEP + 2 * RAN_DIGITS_MAX),
                             *at = put(begin, array, e, i, q, text->json.data);

                        *at++ = i + 1 < e->n ? ',' : ']';
                        out->len += (size_t)(at - begin);
                }
                if (e->n == 0)
                        ran_buf_char(out, ']');
        }
        ran_buf_char(out, '}');
}
