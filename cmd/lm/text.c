/* text.c - the text of a continuation while it is generated, token by token.
 *
 *      |  shown already  |  sure  |  may yet become a stop string, or is half a character  |
 *                                 ^ sure                                                    ^ len
 */
#include "cmd/lm/lm.h"

#include <string.h>

void lm_text_release(struct lm_text *t)
{
        ran_buf_release(&t->text);
        ran_buf_release(&t->scratch);
}

void lm_text_begin(struct lm_text *t, const struct ran_tokenizer *tokenizer,
                   const struct ran_list *stops, uint32_t last)
{
        t->tokenizer = tokenizer;
        t->stops = stops;
        t->last = last;
        t->text.len = t->sure = 0;
        t->stopped = false;
}

/* ---- stop strings --------------------------------------------------------------------------- */

/* The start of the first stop string, which is not before `from`; the length of the text: none. */
static size_t find_stop(const struct lm_text *t, size_t from)
{
        size_t first = t->text.len;

        for (size_t i = 0; i < t->stops->n; i++) {
                const char *stop = t->stops->item[i];
                const char *found =
                        memmem(t->text.data + from, t->text.len - from, stop, strlen(stop));
                if (found != NULL && (size_t)(found - t->text.data) < first)
                        first = (size_t)(found - t->text.data);
        }
        return first;
}

/* Whether the text from `at` on may become a stop string. */
static bool may_stop(const struct lm_text *t, size_t at)
{
        size_t n = t->text.len - at;

        for (size_t i = 0; i < t->stops->n; i++)
                if (strlen(t->stops->item[i]) > n &&
                    memcmp(t->stops->item[i], t->text.data + at, n) == 0)
                        return true;
        return false;
}

/* ---- characters ----------------------------------------------------------------------------- */

/* Whether the text from `at` on is an incomplete character. */
static bool is_half(const struct lm_text *t, size_t at)
{
        const unsigned char *s = (const unsigned char *)t->text.data, first = s[at];
        const size_t width = first < 0xc2   ? 1
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 1;

        if (t->text.len - at >= width)
                return false;
        for (size_t i = at + 1; i < t->text.len; i++)
                if ((s[i] & 0xc0) != 0x80)
                        return false;
        return true;
}

/* ---- tokens --------------------------------------------------------------------------------- */

void lm_text_add_bytes(struct lm_text *t, const char *bytes, size_t n)
{
        ran_buf_add(&t->text, bytes, n);
        if (t->text.len == t->sure)
                return;
        size_t stop = find_stop(t, t->sure);
        t->stopped = stop < t->text.len;
        t->text.len = stop;
        if (t->stopped)
                lm_text_end(t);
        while (t->sure < t->text.len && !may_stop(t, t->sure) && !is_half(t, t->sure))
                t->sure++;
}

/* The text of a token depends on the token before it: with a space, or without. */
int lm_text_add(struct lm_text *t, uint32_t id, struct ran_error *err)
{
        const uint32_t pair[2] = {t->last, id};
        const bool alone = t->last == RAN_NO_ID;

        t->scratch.len = 0;
        if (!alone)
                RAN_TRY(ran_tokenizer_decode(t->tokenizer, pair, 1, &t->scratch, err));
        size_t before = t->scratch.len;
        t->scratch.len = 0;
        RAN_TRY(ran_tokenizer_decode(t->tokenizer, pair + alone, alone ? 1 : 2, &t->scratch, err));
        t->last = id;
        lm_text_add_bytes(t, t->scratch.data + before, t->scratch.len - before);
        return RAN_OK;
}

void lm_text_end(struct lm_text *t)
{
        t->sure = t->text.len;
}

size_t lm_text_show(const struct lm_text *t, size_t from, struct ran_buf *out)
{
        while (from < t->sure) {
                const char *s = t->text.data + from;
                size_t n = t->sure - from, good = ran_utf8_valid(s, n);
                ran_buf_add(out, s, good);
                from += good;
                if (good < n) {
                        ran_buf_str(out, "\xef\xbf\xbd");
                        from += ran_utf8_character(s + good, n - good);
                }
        }
        return from;
}
