/* conll-line.c - the fields of a line of columns. */
#include "cmd/formats/conll-line.h"

enum { UNIVERSAL = 10 }; /* columns of CoNLL-U */

static bool separates(bool tabs, char c)
{
        return c == '\t' || (!tabs && c == ' ');
}

bool conll_next_field(bool tabs, const char *line, size_t n, size_t *at, struct ran_span *field)
{
        size_t begin = *at;

        if (!tabs)
                while (begin < n && separates(false, line[begin]))
                        begin++;
        if (tabs ? begin > n : begin == n)
                return false;
        size_t end = begin;
        while (end < n && !separates(tabs, line[end]))
                end++;
        *field = (struct ran_span){begin, end};
        *at = tabs || end < n ? end + 1 : end;
        return true;
}

size_t conll_fields(bool tabs, const char *line, size_t n, struct ran_span *last)
{
        size_t at = 0, fields = 0;

        while (conll_next_field(tabs, line, n, &at, last))
                fields++;
        return fields;
}

bool conll_is_universal(const char *line, size_t n)
{
        struct ran_span last;

        return n > 0 && line[0] >= '0' && line[0] <= '9' &&
               conll_fields(true, line, n, &last) == UNIVERSAL;
}
