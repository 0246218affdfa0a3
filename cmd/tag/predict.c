/* predict.c - the prediction of a record: as JSON, as lines of words and tags, as rows. */
#include "cmd/tag/predict.h"

#include <string.h>

#include "cmd/formats/row.h"
#include "cmd/content/spans.h"
#include "cmd/tag/options.h"

static bool begins_sentence(const struct tag_record *r, size_t i)
{
        return r->at[i] != TAG_NOT_READ && r->begins[r->at[i]];
}

/* null for a truncated word. */
static void add_tags(struct ran_buf *out, const struct tagger *t, const struct tag_scratch *s,
                     const struct tag_record *r)
{
        ran_buf_str(out, "\"tags\":[");
        for (size_t i = 0; i < r->words; i++) {
                ran_buf_str(out, i == 0 ? "" : ",");
                if (r->at[i] == TAG_NOT_READ) {
                        ran_buf_str(out, "null");
                        continue;
                }
                const char *tag = ran_model_label(t->model, s->tags[r->at[i]]);
                ran_buf_json(out, tag, strlen(tag));
        }
        ran_buf_char(out, ']');
}

/* An entity's probability: that of its least probable tag, an upper bound. */
static float entity_score(const struct tag_scratch *s, const struct tag_record *r,
                          const struct ran_entity *entity)
{
        float score = 1;

        for (size_t i = entity->start; i < entity->end; i++)
                score = s->score[r->at[i]] < score ? s->score[r->at[i]] : score;
        return score;
}

static int add_entity(struct ran_buf *out, struct tag_scratch *s, const struct tag_record *r,
                      struct cmd_spans *spans, const struct ran_entity *entity,
                      struct ran_error *err)
{
        size_t start, end;

        s->text.len = 0;
        RAN_TRY(cmd_spans_next(spans, entity->start, entity->end, &start, &end, &s->text, err));
        ran_buf_printf(out, "{\"start\":%zu,\"end\":%zu,\"label\":", start, end);
        ran_buf_json(out, entity->type, entity->length);
        if (r->document.from != CMD_FROM_IDS) {
                ran_buf_str(out, ",\"text\":");
                ran_buf_json(out, s->text.data, s->text.len);
        }
        ran_buf_str(out, ",\"score\":");
        ran_buf_float(out, entity_score(s, r, entity));
        ran_buf_char(out, '}');
        return RAN_OK;
}

static int add_entities(struct ran_buf *out, struct tag_scratch *s, const struct tag_record *r,
                        const struct record *record, struct ran_error *err)
{
        size_t n = ran_tags_entities(r->found, r->words, r->entities);
        struct cmd_spans spans;

        cmd_spans_begin(&spans, &r->document, record, (enum ran_unit)tag_options.offsets);
        ran_buf_str(out, ",\"entities\":[");
        for (size_t i = 0; i < n; i++) {
                ran_buf_str(out, i == 0 ? "" : ",");
                RAN_TRY(add_entity(out, s, r, &spans, &r->entities[i], err));
        }
        ran_buf_char(out, ']');
        return RAN_OK;
}

static void add_logits(struct ran_buf *out, const struct tag_scratch *s, const struct tag_record *r,
                       size_t C)
{
        ran_buf_str(out, ",\"logits\":[");
        for (size_t i = 0; i < r->words; i++) {
                ran_buf_str(out, i == 0 ? "" : ",");
                if (r->at[i] == TAG_NOT_READ) {
                        ran_buf_str(out, "null");
                        continue;
                }
                for (size_t c = 0; c < C; c++) {
                        ran_buf_char(out, c == 0 ? '[' : ',');
                        ran_buf_float(out, s->logits[r->at[i] * C + c]);
                }
                ran_buf_char(out, ']');
        }
        ran_buf_char(out, ']');
}

/* Where the words of a text stand, and which words begin a sentence. */
static int add_words_of_text(struct ran_buf *out, struct tag_scratch *s, const struct tag_record *r,
                             const struct record *record, struct ran_error *err)
{
        const char *before = "";
        struct cmd_spans spans;
        size_t start, end;

        cmd_spans_begin(&spans, &r->document, record, (enum ran_unit)tag_options.offsets);
        ran_buf_str(out, ",\"offsets\":[");
        for (size_t i = 0; i < r->words; i++) {
                s->text.len = 0;
                RAN_TRY(cmd_spans_next(&spans, i, i + 1, &start, &end, &s->text, err));
                ran_buf_printf(out, "%s[%zu,%zu]", i == 0 ? "" : ",", start, end);
        }
        ran_buf_str(out, "],\"sentences\":[");
        for (size_t i = 0; i < r->words; i++) {
                if (!begins_sentence(r, i))
                        continue;
                ran_buf_printf(out, "%s%zu", before, i);
                before = ",";
        }
        ran_buf_char(out, ']');
        return RAN_OK;
}

static int add_prediction(const struct tagger *t, struct tag_scratch *s, const struct tag_record *r,
                          const struct cmd_item *item)
{
        struct ran_buf *out = &item->result->out;

        ran_buf_char(out, '{');
        add_tags(out, t, s, r);
        if (t->tags != NULL)
                RAN_TRY(add_entities(out, s, r, &item->line->record, item->err));
        if (r->document.split > 0 && r->document.from == CMD_FROM_TEXT)
                RAN_TRY(add_words_of_text(out, s, r, &item->line->record, item->err));
        if (tag_options.logits)
                add_logits(out, s, r, t->C);
        cmd_document_truncated(&r->document, out);
        ran_buf_char(out, '}');
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
                if (i > 0 && r->document.split > 0 && begins_sentence(r, i))
                        format->sentence(&w);
                format->word(&w, s->text.data, s->text.len, tag);
        }
        format->tagged(&w);
        return RAN_OK;
}

/* A row for each entity. */
static int write_rows(const struct tagger *t, struct tag_scratch *s, const struct tag_record *r,
                      const struct cmd_item *item)
{
        struct cmd_row row = {.out = &item->result->out, .format = tag_output.format};
        size_t n = ran_tags_entities(r->found, r->words, r->entities), start, end;
        struct cmd_spans spans;

        (void)t;
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
                cmd_row_float(&row, entity_score(s, r, entity));
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
                return write_rows(t, s, r, item);
        default:
                return add_prediction(t, s, r, item);
        }
}
