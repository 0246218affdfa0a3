/* fold.c - what two names that look alike have in common. */
#include "ran/text.h"
#include "text/words/words.h"

#include <string.h>

/* "01", "1" and "1.0" are one number. */
static void fold_number(struct ran_buf *out, size_t from)
{
        const char *s = out->data + from;
        const size_t n = out->len - from, digits = strspn(s, "0123456789");
        size_t zeros = 0;

        if (digits == 0 || (digits < n && (s[digits] != '.' || digits + 1 == n ||
                                           digits + 1 + strspn(s + digits + 1, "0") < n)))
                return;
        while (zeros + 1 < digits && s[zeros] == '0')
                zeros++;
        memmove(out->data + from, s + zeros, digits - zeros);
        out->len = from + digits - zeros;
}

int ran_text_fold(const char *s, size_t n, struct ran_buf *out, struct ran_error *err)
{
        const struct ran_normalizer z = {
                .step = {NORMAL_NFKC, NORMAL_LOWERCASE, NORMAL_NFKC},
                .n = 3,
        };
        struct ran_glyphs glyphs = {0}, spare = {0};
        const size_t from = out->len;
        size_t points;
        const int rc = ran_normalizer_apply(&z, s, n, &glyphs, &spare, &points, err);

        for (size_t i = 0; i < glyphs.n && rc == RAN_OK; i++) {
                const int32_t c = glyphs.at[i].c;
                char utf8[4];

                if (!ran_unicode_is_space(c) && !ran_unicode_is_control(c) && c != '_')
                        ran_buf_add(out, utf8, ran_unicode_put(utf8, c));
        }
        ran_glyphs_release(&glyphs);
        ran_glyphs_release(&spare);
        if (rc != RAN_OK)
                return rc;
        ran_buf_char(out, '\0'); /* for strspn */
        out->len--;
        fold_number(out, from);
        return RAN_OK;
}
