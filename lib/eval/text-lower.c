/* text-lower.c - texts in lower case, for scores that ignore case. See eval.h. */
#include "eval/eval.h"
#include "text/words/unicode.h"

#include <utf8proc.h>

enum { SIGMA = 0x3a3, FINAL_SIGMA = 0x3c2, I_DOT = 0x130, DOT_ABOVE = 0x307 };

static bool is_cased(utf8proc_int32_t c)
{
        utf8proc_category_t k = utf8proc_category(c);

        return k == UTF8PROC_CATEGORY_LU || k == UTF8PROC_CATEGORY_LL || k == UTF8PROC_CATEGORY_LT;
}

/* Marks and signs that stand between a letter and the end of its word without ending it. */
static bool is_ignored(utf8proc_int32_t c)
{
        utf8proc_category_t k = utf8proc_category(c);

        return k == UTF8PROC_CATEGORY_MN || k == UTF8PROC_CATEGORY_ME ||
               k == UTF8PROC_CATEGORY_CF || k == UTF8PROC_CATEGORY_LM ||
               k == UTF8PROC_CATEGORY_SK || c == '\'' || c == '.' || c == ':' || c == 0xb7 ||
               c == 0x2019;
}

/* Whether a cased letter follows, but for marks. */
static bool goes_on(const char *s, size_t n)
{
        for (size_t i = 0, length; i < n; i += length) {
                const int32_t c = ran_unicode_get(s + i, n - i, &length);

                if (c < 0 || !is_ignored(c))
                        return c >= 0 && is_cased(c);
        }
        return false;
}

static void add(struct ran_buf *out, int32_t c)
{
        char bytes[4];

        ran_buf_add(out, bytes, ran_unicode_put(bytes, c));
}

void ran_text_lower(struct ran_buf *out, const char *text, size_t n)
{
        bool in_word = false; /* a cased letter was last, but for marks */

        for (size_t i = 0, length; i < n; i += length) {
                const int32_t c = ran_unicode_get(text + i, n - i, &length);

                if (c < 0) {
                        ran_buf_add(out, text + i, length);
                } else if (c == I_DOT) {
                        add(out, 'i');
                        add(out, DOT_ABOVE);
                } else if (c == SIGMA && in_word && !goes_on(text + i + length, n - i - length)) {
                        add(out, FINAL_SIGMA);
                } else {
                        add(out, utf8proc_tolower(c));
                }
                if (c < 0 || !is_ignored(c))
                        in_word = c >= 0 && is_cased(c);
        }
}
