/* shown.c - the text of a document for people. */
#include "cmd/content/document.h"

#include <stdlib.h>

void cmd_shown_release(struct cmd_shown *s)
{
        ran_buf_release(&s->text);
        free(s->end);
        *s = (struct cmd_shown){0};
}

static void end_word(struct cmd_shown *s)
{
        RAN_ROOM(s->end, s->cap, s->n + 1);
        s->end[s->n++] = s->text.len;
}

int cmd_shown_read(struct cmd_shown *s, const struct cmd_document *d, const struct record *record,
                   struct ran_error *err)
{
        const struct ran_member *text = record->is[FIELD_TEXT], *tokens = record->is[FIELD_TOKENS];
        bool encoded = d->from == CMD_FROM_ENCODING || d->from == CMD_FROM_IDS;

        s->text.len = s->n = 0;
        s->placed = true;
        if (d->from == CMD_FROM_TEXT) {
                ran_buf_add(&s->text, d->text.data, d->text.len);
        } else if (d->from == CMD_FROM_TOKENS && tokens != NULL) {
                struct ran_items i = ran_items(record->json.line, tokens->value);
                while (ran_items_next(&i)) {
                        ran_buf_str(&s->text, s->n > 0 ? " " : "");
                        if (i.type == 's')
                                RAN_TRY(ran_json_decode(i.line, i.value, &s->text, err));
                        end_word(s);
                }
        } else if (encoded && text != NULL && text->type == 's') {
                s->placed = false;
                RAN_TRY(ran_json_decode(record->json.line, text->value, &s->text, err));
        } else {
                for (size_t i = 0; i < d->L; i++) {
                        ran_buf_printf(&s->text, "%s%u", i > 0 ? " " : "", (unsigned)d->ids[i]);
                        end_word(s);
                }
                s->placed = d->uncut == d->L;
        }
        ran_buf_char(&s->text, '\0'); /* never NULL */
        s->text.len--;
        return RAN_OK;
}

bool cmd_shown_place(const struct cmd_shown *s, size_t *start, size_t *end)
{
        if (!s->placed || *start >= *end)
                return false;
        if (s->n == 0)
                return *end <= s->text.len;
        if (*end > s->n)
                return false;
        *end = s->end[*end - 1];
        *start = *start > 0 ? s->end[*start - 1] + 1 : 0;
        return true;
}
