/* shown.c - the text of a document for people. */
#include "cmd/content/shown.h"

#include <stdlib.h>

#include "cmd/formats/record.h"

void cmd_shown_release(struct cmd_shown *s)
{
        ran_buf_release(&s->text);
        free(s->end);
        *s = (struct cmd_shown){0};
}

static int end_word(struct cmd_shown *s, struct ran_error *err)
{
        size_t *end = ran_grow(s->end, &s->cap, s->n + 1, sizeof *end, err);

        if (end == NULL)
                return RAN_ENOMEM;
        s->end = end;
        s->end[s->n++] = s->text.len;
        return RAN_OK;
}

static int add_tokens(struct cmd_shown *s, const struct record *r, struct ran_error *err)
{
        const struct ran_member *m = r->is[FIELD_TOKENS];
        struct ran_span item;
        size_t pos = 0;
        char type;

        while (m != NULL && ran_json_next(r->json.line, m->value, &pos, NULL, &item, &type)) {
                ran_buf_str(&s->text, s->n > 0 ? " " : "");
                if (type == 's')
                        RAN_TRY(ran_json_decode(r->json.line, item, &s->text, err));
                RAN_TRY(end_word(s, err));
        }
        return RAN_OK;
}

static int add_ids(struct cmd_shown *s, const struct cmd_document *d, struct ran_error *err)
{
        for (size_t i = 0; i < d->L; i++) {
                ran_buf_printf(&s->text, "%s%u", i > 0 ? " " : "", (unsigned)d->ids[i]);
                RAN_TRY(end_word(s, err));
        }
        return RAN_OK;
}

int cmd_shown_read(struct cmd_shown *s, const struct cmd_document *d, const struct record *record,
                   struct ran_error *err)
{
        const struct ran_member *text = record->is[FIELD_TEXT];
        bool encoded = d->from == CMD_FROM_ENCODING || d->from == CMD_FROM_IDS;

        s->text.len = s->n = 0;
        s->placed = true;
        if (d->from == CMD_FROM_TEXT) {
                ran_buf_add(&s->text, d->text.data, d->text.len);
        } else if (d->from == CMD_FROM_TOKENS) {
                RAN_TRY(add_tokens(s, record, err));
        } else if (encoded && text != NULL && text->type == 's') {
                s->placed = false;
                RAN_TRY(ran_json_decode(record->json.line, text->value, &s->text, err));
        } else {
                RAN_TRY(add_ids(s, d, err));
                s->placed = d->uncut == d->L;
        }
        if (!s->text.failed)
                ran_buf_char(&s->text, '\0'); /* never NULL */
        if (s->text.failed)
                return ran_fail(err, RAN_ENOMEM, "no memory for the text of a document");
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
