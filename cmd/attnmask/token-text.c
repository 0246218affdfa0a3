/* token-text.c - the words of a document for pictures and pages, token by token; its title. */
#include "cmd/attnmask/attnmask.h"

#include <stdio.h>

#include "cmd/pages/page.h"

void token_text_release(struct token_text *x)
{
        cmd_shown_release(&x->shown);
}

int token_text_begin(struct token_text *x, const struct cmd_reading *reading,
                     const struct ran_model *m, const struct record *record, struct ran_error *err)
{
        x->reading = reading;
        x->tokenizer = ran_model_tokenizer(m);
        x->at = 0;
        if (reading->document != NULL)
                return cmd_shown_read(&x->shown, reading->document, record, err);
        x->shown.text.len = 0;
        return RAN_OK;
}

/* Where token t stands in the text; false if it is none of it. */
static bool find_token(const struct token_text *x, size_t t, size_t *start, size_t *end)
{
        const struct cmd_document *d = x->reading->document;
        size_t i = t - x->reading->first, word;

        if (d == NULL || t < x->reading->first || t >= x->reading->end ||
            (d->from != CMD_FROM_TEXT && d->from != CMD_FROM_TOKENS) || d->ids != d->encoding.ids)
                return false;
        *start = d->encoding.start[i];
        *end = d->encoding.end[i];
        if (d->from == CMD_FROM_TOKENS) {
                word = d->encoding.word[i];
                if (word >= x->shown.n)
                        return false;
                size_t begin = word > 0 ? x->shown.end[word - 1] + 1 : 0;
                *start += begin;
                *end += begin;
        }
        return *end <= x->shown.text.len;
}

void token_text_next(struct token_text *x, size_t t, struct token_part *part)
{
        const uint32_t id = x->reading->tokens.ids[t];
        size_t start, end;

        if (!find_token(x, t, &start, &end)) { /* as the vocabulary has it, or its number */
                part->gap = " ";
                part->gap_n = 1;
                part->text = x->tokenizer != NULL ? ran_tokenizer_token(x->tokenizer, id, &part->n)
                                                  : NULL;
                if (part->text != NULL)
                        return;
                part->n = (size_t)snprintf(part->number, sizeof part->number, "%u", (unsigned)id);
                part->text = part->number;
                return;
        }
        /* Tokens that are parts of a character share its place: the first one has it. */
        start = start > x->at ? start : x->at;
        end = end > start ? end : start;
        part->gap = x->shown.text.data + x->at;
        part->gap_n = start - x->at;
        part->text = x->shown.text.data + start;
        part->n = end - start;
        x->at = end;
}

void token_text_rest(const struct token_text *x, struct token_part *part)
{
        part->gap = x->shown.text.data + x->at;
        part->gap_n = x->shown.text.len - x->at;
        part->text = "";
        part->n = 0;
}

/* ---- words beside a picture ----------------------------------------------------------------- */

int attnmask_words(char ***words, const struct attnmask_model *a, const struct attnmask_scratch *s,
                   const struct cmd_line *line, enum ran_axis axis, size_t from, size_t to,
                   struct ran_error *err)
{
        struct token_text text = {0};
        struct token_part part;
        int rc = token_text_begin(&text, &s->reading, a->model, &line->record, err);

        *words = rc == RAN_OK ? ran_new(to - from, sizeof **words) : NULL;
        for (size_t i = from; i < to && rc == RAN_OK; i++) {
                struct ran_buf word = {0};
                size_t token = i;

                if (axis == RAN_AXIS_ROWS && ran_probe_is_cell(&s->shape, i, &token)) {
                        ran_buf_printf(&word, "cell %zu", token);
                } else {
                        token_text_next(&text, token, &part);
                        ran_buf_shown(&word, part.text, part.n);
                }
                (*words)[i - from] = picture_string(&word);
        }
        token_text_release(&text);
        return rc;
}

char *attnmask_title(const char *what, const struct cmd_line *line)
{
        struct ran_buf name = {0}, title = {0};

        ran_buf_printf(&name, "%s: ", what);
        record_name(&name, &line->record.json, line->file, line->number);
        ran_buf_shown(&title, name.data, name.len);
        ran_buf_release(&name);
        return picture_string(&title);
}
