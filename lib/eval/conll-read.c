/* conll-read.c - files of columns, as the script conlleval reads them.
 *
 * Perl's split at single spaces: two in a row have an empty field between them, but empty fields at
 * the end of a line are dropped, so that a line of spaces is an empty one. Tabs and carriage
 * returns are characters like any other.
 */
#include "ran/eval.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_UNEVEN = 1, STATUS_NARROW = 255 };

void ran_conll_reader_release(struct ran_conll_reader *r)
{
        ran_buf_release(&r->message);
        free(r->line);
        *r = (struct ran_conll_reader){0};
}

/* The field that ends at line + end. Returns where it begins. */
static size_t field_before(const char *line, size_t end)
{
        const char *space = memrchr(line, ' ', end);

        return space != NULL ? (size_t)(space - line) + 1 : 0;
}

static enum ran_conll_line split(struct ran_conll_reader *r, size_t length)
{
        const char *line = r->line;
        size_t n = length;

        while (n > 0 && line[n - 1] == ' ')
                n--;
        size_t fields = n > 0;
        for (size_t i = 0; i < n; i++)
                fields += line[i] == ' ';
        if (r->fields == 0)
                r->fields = fields;
        if (fields != 0 && fields != r->fields) {
                ran_buf_printf(&r->message, "unexpected number of features: %zu (%zu)\n", fields,
                               r->fields);
                r->status = STATUS_UNEVEN;
                return RAN_CONLL_REFUSED;
        }
        const bool boundary = n >= 3 && memcmp(line, "-X-", 3) == 0 && (n == 3 || line[3] == ' ');
        if (fields == 0 || boundary)
                return RAN_CONLL_BREAK;
        if (fields < 2) {
                ran_buf_str(&r->message, "conlleval: unexpected number of features in line ");
                ran_buf_add(&r->message, line, length);
                ran_buf_char(&r->message, '\n');
                r->status = STATUS_NARROW;
                return RAN_CONLL_REFUSED;
        }
        size_t guessed = field_before(line, n), correct = field_before(line, guessed - 1);
        r->guessed = line + guessed;
        r->guessed_n = n - guessed;
        r->correct = line + correct;
        r->correct_n = guessed - 1 - correct;
        return RAN_CONLL_TOKEN;
}

enum ran_conll_line ran_conll_read(struct ran_conll_reader *r, struct ran_error *err)
{
        ssize_t n;

        errno = 0;
        n = getline(&r->line, &r->cap, r->in);
        if (n < 0 && feof(r->in))
                return RAN_CONLL_END;
        if (n < 0) {
                ran_fail(err, RAN_EIO, "cannot read: %s", strerror(errno));
                return RAN_CONLL_FAILED;
        }
        if (r->line[n - 1] == '\n')
                n--;
        return split(r, (size_t)n);
}
