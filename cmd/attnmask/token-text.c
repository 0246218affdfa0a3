/* token-text.c - the text of a document, token by token. */
#include "cmd/attnmask/token-text.h"

#include <stdio.h>
#include <string.h>

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
static bool place(const struct token_text *x, size_t t, size_t *start, size_t *end)
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

/* Takes the token as the vocabulary has it, or its number. */
static void set_piece(const struct token_text *x, size_t t, struct token_part *part)
{
        uint32_t id = x->reading->tokens.ids[t];

        part->gap = " ";
        part->gap_n = 1;
        part->text = x->tokenizer != NULL ? ran_tokenizer_token(x->tokenizer, id, &part->n) : NULL;
        if (part->text != NULL)
                return;
        part->n = (size_t)snprintf(part->number, sizeof part->number, "%u", (unsigned)id);
        part->text = part->number;
}

void token_text_next(struct token_text *x, size_t t, struct token_part *part)
{
        size_t start, end;

        if (!place(x, t, &start, &end)) {
                set_piece(x, t, part);
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
