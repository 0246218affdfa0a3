/* error.c - a failure as one sentence for people. See ran/base.h. */
#include <string.h>

#include "base/utf8.h"
#include "ran/base.h"

/* A sentence may quote a file name or a record, which may try to steer the reader's terminal, or to
 * show him another name than it is: such characters become codes. size: that of `to`. cut: the
 * sentence had more, perhaps the rest of its last character, which is left out. */
static void disarm(char *to, size_t size, const char *s, bool cut)
{
        size_t length = 0;

        for (size_t pos = 0, n = strlen(s), taken; pos < n; pos += taken) {
                char code[RAN_UTF8_CODE];
                uint32_t c;
                size_t unseen = ran_utf8_unseen(s + pos, n - pos, &c);
                const char *from = unseen > 0 ? code : s + pos;

                taken = unseen > 0 ? unseen : ran_utf8_character(s + pos, n - pos);
                size_t adds = unseen > 0 ? ran_utf8_code(code, c) : taken;
                unsigned char low, high;
                if (length + adds >= size ||
                    (cut && pos + taken == n &&
                     taken < ran_utf8_lead((unsigned char)s[pos], &low, &high)))
                        break;
                memcpy(to + length, from, adds);
                length += adds;
        }
        to[length] = '\0';
}

struct ran_error *ran_error_or_spare(struct ran_error *err)
{
        static _Thread_local struct ran_error spare;

        return err != NULL ? err : &spare;
}

int ran_fail(struct ran_error *err, enum ran_code code, const char *format, ...)
{
        if (err == NULL)
                return code;

        /* Not straight into err->text: it may be among the arguments, when a caller adds a file
         * name to the sentence it was given. */
        char text[sizeof(err->text)];
        va_list ap;
        va_start(ap, format);
        int n = vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);

        if (n < 0)
                text[0] = '\0';
        disarm(err->text, sizeof(err->text), text, n >= (int)sizeof(text));
        err->code = code;
        return code;
}
