/* fasttext.c - labels and text on a line, as fastText reads them. */
#include "cmd/formats/fasttext.h"

#include <string.h>

#include "cmd/formats/foreign.h"

bool fasttext_is_space(char c)
{
        return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
}

bool fasttext_has_label(const char *name)
{
        for (const char *c = name; *c != '\0'; c++) {
                if (fasttext_is_space(*c))
                        return false;
        }
        return name[0] != '\0';
}

void fasttext_add_label(struct ran_buf *out, const char *name)
{
        ran_buf_str(out, FASTTEXT_PREFIX);
        ran_buf_str(out, name);
        ran_buf_char(out, ' ');
}

static int add_tokens(struct ran_buf *out, const struct ran_record *record,
                      const struct ran_member *tokens, struct ran_error *err)
{
        struct ran_span item;
        size_t pos = 0, begin = out->len;
        char type;
        int code = RAN_OK;

        while (code == RAN_OK &&
               ran_json_next(record->line, tokens->value, &pos, NULL, &item, &type)) {
                if (out->len > begin)
                        ran_buf_char(out, ' ');
                code = ran_json_decode(record->line, item, out, err);
        }
        return code;
}

/* Makes one line of the text from `begin` on. */
static int flatten(struct ran_buf *out, size_t begin, struct ran_error *err)
{
        const size_t n = sizeof(FASTTEXT_PREFIX) - 1;

        for (size_t i = begin; i < out->len; i++) {
                bool first = i == begin || out->data[i - 1] == ' ';
                if (fasttext_is_space(out->data[i]))
                        out->data[i] = ' ';
                if (first && out->len - i >= n && memcmp(out->data + i, FASTTEXT_PREFIX, n) == 0)
                        return ran_fail(err, RAN_EFORMAT,
                                        "the text has a word that begins with " FASTTEXT_PREFIX
                                        ", which fastText would take for a label");
        }
        return RAN_OK;
}

int fasttext_add_text(struct ran_buf *out, const struct ran_record *record, struct ran_error *err)
{
        const struct ran_member *tokens = foreign_tokens(record), *text = foreign_text(record);
        size_t begin = out->len;
        int code;

        if (text != NULL)
                code = ran_json_decode(record->line, text->value, out, err);
        else if (tokens != NULL)
                code = add_tokens(out, record, tokens, err);
        else
                return ran_fail(err, RAN_EFORMAT,
                                "there is neither \"text\" nor \"tokens\" to write as fastText's "
                                "lines");
        if (code == RAN_OK && !out->failed)
                code = flatten(out, begin, err);
        ran_buf_char(out, '\n');
        return code;
}
