/* spans.c - offsets and text of words in a record. */
#include "cmd/content/document.h"

void cmd_spans_begin(struct cmd_spans *s, const struct cmd_document *document,
                     const struct record *record, enum ran_unit unit)
{
        *s = (struct cmd_spans){.document = document, .unit = unit};
        if (document->from == CMD_FROM_TOKENS)
                s->tokens = ran_items(record->json.line, record->is[FIELD_TOKENS]->value);
}

/* Moves on in the text, which is valid UTF-8, to this code point; returns the offset in units. */
static size_t move_to(struct cmd_spans *s, size_t point)
{
        const struct ran_buf *text = &s->document->text;
        const size_t from = s->byte;

        for (; s->point < point && s->byte < text->len; s->point++)
                do {
                        s->byte++;
                } while (s->byte < text->len && (text->data[s->byte] & 0xc0) == 0x80);
        s->offset += cmd_units(text->data + from, s->byte - from, s->unit);
        return s->offset;
}

int cmd_spans_next(struct cmd_spans *s, size_t first, size_t last, size_t *start, size_t *end,
                   struct ran_buf *text, struct ran_error *err)
{
        const struct cmd_document *d = s->document;

        *start = first;
        *end = last;
        if (d->from == CMD_FROM_TOKENS) {
                for (; s->word < last && ran_items_next(&s->tokens); s->word++) {
                        if (s->word < first)
                                continue;
                        ran_buf_str(text, s->word > first ? " " : "");
                        RAN_TRY(ran_json_decode(s->tokens.line, s->tokens.value, text, err));
                }
        } else if (d->from == CMD_FROM_IDS || d->from == CMD_FROM_ENCODING) {
                for (size_t i = first; i < last; i++)
                        ran_buf_printf(text, "%s%u", i == first ? "" : " ", (unsigned)d->ids[i]);
        } else {
                size_t inner;
                cmd_document_word(d, first, start, &inner);
                cmd_document_word(d, last - 1, &inner, end);
                *start = move_to(s, *start);
                const size_t begin = s->byte;
                *end = move_to(s, *end);
                ran_buf_add(text, d->text.data + begin, s->byte - begin);
        }
        return RAN_OK;
}
