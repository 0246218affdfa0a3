/* predict.c - the prediction of a record: as JSON, as lines of words and tags, as rows. */
#include "cmd/tag/tag.h"

#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/formats/output.h"
#include "cmd/content/document.h"

static bool begins_sentence(const struct tag_record *r, size_t i)
{
        return r->at[i] != TAG_NOT_READ && r->begins[r->at[i]];
}

/* null for a truncated word. */
static void add_tags(struct ran_buf *out, const struct tagger *t, const struct tag_scratch *s,
                     const struct tag_record *r)
{
        json_name(out, "tags");
        json_begin(out, '[');
        for (size_t i = 0; i < r->words; i++) {
                if (r->at[i] == TAG_NOT_READ) {
                        json_raw(out, "null", 4);
                        continue;
                }
                const char *tag = ran_model_label(t->model, s->tags[r->at[i]]);
                json_string(out, tag, strlen(tag));
        }
        json_end(out, ']');
}

float tag_score(const struct tag_scratch *s, const struct tag_record *r, size_t first, size_t last)
{
        float score = 1;

        for (size_t i = first; i < last; i++)
                if (r->at[i] != TAG_NOT_READ && s->score[r->at[i]] < score)
                        score = s->score[r->at[i]];
        return score;
}

static int add_entities(struct ran_buf *out, struct tag_scratch *s, const struct tag_record *r,
                        const struct record *record, struct ran_error *err)
{
        size_t n = ran_tags_entities(r->found, r->words, r->entities), start, end;
        struct cmd_spans spans;

        cmd_spans_begin(&spans, &r->document, record, (enum ran_unit)tag_options.offsets);
        json_name(out, "entities");
        json_begin(out, '[');
        for (size_t i = 0; i < n; i++) {
                const struct ran_entity *e = &r->entities[i];

                s->text.len = 0;
                RAN_TRY(cmd_spans_next(&spans, e->start, e->end, &start, &end, &s->text, err));
                json_begin(out, '{');
                json_put_size(out, "start", start);
                json_put_size(out, "end", end);
                json_put_string(out, "label", e->type, e->length);
                if (r->document.from != CMD_FROM_IDS)
                        json_put_string(out, "text", s->text.data, s->text.len);
                json_put_float(out, "score", tag_score(s, r, e->start, e->end));
                json_end(out, '}');
        }
        json_end(out, ']');
        return RAN_OK;
}

static void add_logits(struct ran_buf *out, const struct tag_scratch *s, const struct tag_record *r,
                       size_t C)
{
        json_name(out, "logits");
        json_begin(out, '[');
        for (size_t i = 0; i < r->words; i++) {
                if (r->at[i] == TAG_NOT_READ) {
                        json_raw(out, "null", 4);
                        continue;
                }
                json_floats(out, s->logits + r->at[i] * C, C);
        }
        json_end(out, ']');
}

/* Where the words of a text stand, and which words begin a sentence. */
static int add_words_of_text(struct ran_buf *out, struct tag_scratch *s, const struct tag_record *r,
                             const struct record *record, struct ran_error *err)
{
        struct cmd_spans spans;
        size_t start, end;

        cmd_spans_begin(&spans, &r->document, record, (enum ran_unit)tag_options.offsets);
        json_name(out, "offsets");
        json_begin(out, '[');
        for (size_t i = 0; i < r->words; i++) {
                s->text.len = 0;
                RAN_TRY(cmd_spans_next(&spans, i, i + 1, &start, &end, &s->text, err));
                json_begin(out, '[');
                json_size(out, start);
                json_size(out, end);
                json_end(out, ']');
        }
        json_end(out, ']');
        json_name(out, "sentences");
        json_begin(out, '[');
        for (size_t i = 0; i < r->words; i++)
                if (begins_sentence(r, i))
                        json_size(out, i);
        json_end(out, ']');
        return RAN_OK;
}

static int add_prediction(const struct tagger *t, struct tag_scratch *s, const struct tag_record *r,
                          const struct cmd_item *item)
{
        struct ran_buf *out = &item->result->out;

        json_begin(out, '{');
        add_tags(out, t, s, r);
        if (t->tags != NULL)
                RAN_TRY(add_entities(out, s, r, &item->line->record, item->err));
        if (r->document.split > 0 && r->document.from == CMD_FROM_TEXT)
                RAN_TRY(add_words_of_text(out, s, r, &item->line->record, item->err));
        if (tag_options.logits)
                add_logits(out, s, r, t->C);
        cmd_document_truncated(&r->document, out);
        json_end(out, '}');
        return RAN_OK;
}

/* The record as words with their tags; a truncated word has none. */
static int write_words(const struct tagger *t, struct tag_scratch *s, const struct tag_record *r,
                       const struct cmd_item *item)
{
        const struct output_format *format = tag_output.format;
        struct output_words w = {.line = item->line, .out = &item->result->out, .tags = &s->column};
        struct cmd_spans spans;
        size_t start, end;

        s->column.len = 0;
        cmd_spans_begin(&spans, &r->document, &item->line->record, RAN_UNIT_CODEPOINT);
        for (size_t i = 0; i < r->words; i++) {
                const size_t at = r->at[i];
                const char *tag = at != TAG_NOT_READ ? ran_model_label(t->model, s->tags[at]) : "";

                s->text.len = 0;
                RAN_TRY(cmd_spans_next(&spans, i, i + 1, &start, &end, &s->text, item->err));
                if (start == end) /* a token of white space is no word */
                        continue;
                if (i > 0 && r->document.split > 0 && begins_sentence(r, i))
                        format->sentence(&w);
                format->word(&w, s->text.data, s->text.len, tag);
        }
        format->tagged(&w);
        return RAN_OK;
}

/* A row for each entity. */
static int write_rows(struct tag_scratch *s, const struct tag_record *r,
                      const struct cmd_item *item)
{
        struct cmd_row row = {.out = &item->result->out, .format = tag_output.format};
        size_t n = ran_tags_entities(r->found, r->words, r->entities), start, end;
        struct cmd_spans spans;

        cmd_spans_begin(&spans, &r->document, &item->line->record,
                        (enum ran_unit)tag_options.offsets);
        for (size_t i = 0; i < n; i++) {
                const struct ran_entity *entity = &r->entities[i];
                s->text.len = 0;
                RAN_TRY(cmd_spans_next(&spans, entity->start, entity->end, &start, &end, &s->text,
                                       item->err));
                RAN_TRY(cmd_row_id(&row, item->line, item->err));
                cmd_row_size(&row, start);
                cmd_row_size(&row, end);
                cmd_row_string(&row, entity->type, entity->length);
                cmd_row_string(&row, s->text.data,
                               r->document.from != CMD_FROM_IDS ? s->text.len : 0);
                cmd_row_float(&row, tag_score(s, r, entity->start, entity->end));
                cmd_row_end(&row);
        }
        return RAN_OK;
}

void tag_columns(const void *arg, struct cmd_row *row)
{
        static const char *const names[] = {"id", "start", "end", "label", "text", "score", NULL};

        (void)arg;
        cmd_row_names(row, names);
}

int tag_write(const struct tagger *t, struct tag_scratch *s, const struct tag_record *r,
              const struct cmd_item *item)
{
        switch (tag_output.format->kind) {
        case OUTPUT_TAGS:
                return write_words(t, s, r, item);
        case OUTPUT_ROWS:
                return write_rows(s, r, item);
        default:
                return add_prediction(t, s, r, item);
        }
}
