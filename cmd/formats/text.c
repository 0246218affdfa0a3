/* text.c - a line is the text. */
#include "cmd/formats/import.h"
#include "cmd/formats/json.h"

static int import(const struct import *i, const struct text_line *text, struct ran_buf *out,
                  size_t *line, struct ran_error *err)
{
        (void)i;
        (void)line;
        (void)err;
        json_begin(out, '{');
        json_put_string(out, "text", text->s, text->n);
        json_end(out, '}');
        return RAN_OK;
}

const struct import_format import_text = {.unit = LINES_EACH, .import = import};
