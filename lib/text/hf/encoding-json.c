/* encoding-json.c - an encoding as JSON: four numbers and a text for each token, so writing
 * takes longer than encoding. Texts are copied, with their quotes, from the vocabulary's own
 * JSON. */
#include <string.h>

#include "base/size.h"
#include "base/digits.h"
#include "text/hf/text.h"

/* Room is made for this many tokens at a time. */
enum { BLOCK = 256 };

/* Copies n bytes in steps of TOKENIZER_STEP: may read and write up to that many beyond the end. */
static char *put_quoted(char *at, const char *quoted, size_t n)
{
        for (size_t i = 0; i < n; i += TOKENIZER_STEP)
                memcpy(at + i, quoted + i, TOKENIZER_STEP);
        return at + n;
}

static void add_tokens(const struct ran_encoding *e, const struct ran_tokenizer_text *t,
                       struct ran_buf *out)
{
        for (size_t i = 0; i < e->n;) {
                size_t end = i + ran_least(e->n - i, BLOCK), length = TOKENIZER_STEP;
                for (size_t k = i; k < end; k++)
                        length += t->quoted[e->ids[k]].n + 1;
                char *begin = ran_buf_room(out, length), *at = begin;
                for (; i < end; i++) {
                        const struct quoted *q = &t->quoted[e->ids[i]];
                        at = put_quoted(at, t->json.data + q->begin, q->n);
                        *at++ = ',';
                }
                out->len += (size_t)(at - begin);
        }
}

enum { ONE = 1 + RAN_DIGITS_MAX };

static char *put_number(char *at, size_t x)
{
        at += ran_digits_put(at, x);
        *at++ = ',';
        return at;
}

/* The numbers of each token, as the kind of array says. */
enum array { IDS, WORDS, OFFSETS };

static void add_numbers(const struct ran_encoding *e, enum array array, struct ran_buf *out)
{
        for (size_t i = 0; i < e->n;) {
                size_t end = i + ran_least(e->n - i, BLOCK);
                char *begin = ran_buf_room(out, (end - i) * (2 * ONE + 2)), *at = begin;
                for (; i < end; i++) {
                        if (array != OFFSETS) {
                                at = put_number(at, array == IDS ? e->ids[i] : e->word[i]);
                                continue;
                        }
                        *at++ = '[';
                        at = put_number(at, e->start[i]);
                        at = put_number(at, e->end[i]);
                        at[-1] = ']';
                        *at++ = ',';
                }
                out->len += (size_t)(at - begin);
        }
}

/* Closes an array of n members, each followed by a comma, and begins what is behind it. */
static void end_array(struct ran_buf *out, size_t n, const char *next)
{
        if (n > 0)
                out->len--;
        ran_buf_char(out, ']');
        ran_buf_str(out, next);
}

void ran_encoding_json(const struct ran_encoding *e, const struct ran_tokenizer *t, bool words,
                       struct ran_buf *out)
{
        const struct ran_tokenizer_text *text = ran_tokenizer_text(t);

        ran_buf_str(out, "{\"vocab\":\"");
        ran_buf_str(out, text->digest);
        ran_buf_str(out, "\",\"pieces\":[");
        add_tokens(e, text, out);
        end_array(out, e->n, ",\"ids\":[");
        add_numbers(e, IDS, out);
        if (words) {
                end_array(out, e->n, ",\"words\":[");
                add_numbers(e, WORDS, out);
        }
        end_array(out, e->n, ",\"offsets\":[");
        add_numbers(e, OFFSETS, out);
        end_array(out, e->n, "}");
}
