/* jsonl.c - a JSON object a line; or what other tools have instead (tuple.c). */
#include <string.h>

#include "cmd/formats/import.h"

/* Also a line of only white space and NULs, which no other format claims. */
static enum import_match guess(const struct sample *sample)
{
        static const char spaces[] = " \t\n\v\f\r"; /* and NUL */
        size_t begin = 0, at = 0, n;
        const char *line;

        if (!sample_next(sample, &begin, &line, &n))
                return IMPORT_UNLIKE;
        while (at < n && memchr(spaces, line[at], sizeof spaces) != NULL)
                at++;
        if (at == n)
                return IMPORT_CLEAR;
        if ((line[at] != '{' && line[at] != '[') || !values_begin_line(line, n, at))
                return IMPORT_UNLIKE;
        return at + 1 < n && !values_guess(sample) ? IMPORT_CLEAR : IMPORT_UNLIKE;
}

static int import(const struct import *i, const struct text_line *text, struct ran_buf *out,
                  size_t *line, struct ran_error *err)
{
        (void)line;
        (void)err;
        tuple_import(i, text->s, text->n, out);
        return RAN_OK;
}

const struct import_format import_jsonl = {
        .unit = LINES_EACH,
        .any_bytes = true, /* so does the scan of the record */
        .looks_like = "JSON",
        .endings = (const char *const[]){".jsonl", ".ndjson", NULL},
        .guess = guess,
        .begin = tuple_begin,
        .import = import,
};
