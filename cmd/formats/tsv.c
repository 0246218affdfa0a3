/* tsv.c - label, tab, text. A document without a label has an empty field. */
#include <string.h>

#include "cmd/formats/import.h"
#include "cmd/formats/json.h"

/* A first field is taken for a label if it is one word and not too long. */
static bool guess(const char *line, size_t n)
{
        const size_t longest = 64;
        const char *tab = memchr(line, '\t', n < longest ? n : longest);

        return tab != NULL && tab > line && memchr(line, ' ', (size_t)(tab - line)) == NULL;
}

static int import(const struct import *i, const struct text_line *text, struct ran_buf *out,
                  size_t *line, struct ran_error *err)
{
        const char *tab = memchr(text->s, '\t', text->n);

        (void)i;
        (void)line;
        if (tab == NULL)
                return ran_fail(err, RAN_EFORMAT, "no tab: a line must be a label, a tab, a text");
        size_t label = (size_t)(tab - text->s);
        json_begin(out, '{');
        if (label > 0)
                json_put_string(out, "label", text->s, label);
        json_put_string(out, "text", tab + 1, text->n - label - 1);
        json_end(out, '}');
        return RAN_OK;
}

const struct import_format import_tsv = {
        .unit = LINES_EACH,
        .looks_like = "label, tab, text",
        .endings = (const char *const[]){".tsv", NULL},
        .guess = guess,
        .import = import,
};
