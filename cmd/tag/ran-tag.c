/* ran-tag.c - a tag for each word of documents of any length, and the entities that they mark. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/outputs.h"
#include "cmd/options/was-set.h"
#include "cmd/options/write.h"
#include "cmd/records/io.h"
#include "cmd/records/files.h"
#include "cmd/records/loop.h"
#include "cmd/formats/conll.h"
#include "cmd/records/sentence-group.h"
#include "cmd/records/document.h"
#include "cmd/records/labels.h"
#include "cmd/records/model.h"
#include "cmd/records/row.h"
#include "ran.h"
#include "cmd/records/span-tags.h"
#include "cmd/records/spans.h"
#include "cmd/tag/conlleval.h"
#include "cmd/tag/eval.h"
#include "cmd/tag/page.h"
#include "cmd/tag/words.h"

/* ---- options -------------------------------------------------------------------------------- */

static struct tag_options {
        char *model, *label_names, *conll_out;
        bool verify, logits, eval, conlleval;
        int eval_format, output_format, offsets;
} options;

static struct cmd_document_options document_options;

static struct cmd_input input;
static struct cmd_output output;

static const char *const eval_formats[] = {"text", "conlleval", "json", "csv", "tsv", "html", NULL};

enum { OUTPUT_JSONL, OUTPUT_CONLL, OUTPUT_CSV, OUTPUT_TSV, OUTPUT_HTML };
static const char *const output_formats[] = {"jsonl", "conll", "csv", "tsv", "html", NULL};

#define OPTION(member) offsetof(struct tag_options, member)

static const struct ran_field model_fields[] = {
        {"model", 'm', RAN_FIELD_TEXT, OPTION(model), .value = "FILE",
         .help = "the model, written by ran-train tag", .local = true, .first = true},
        {"verify", 0, RAN_FIELD_BOOL, OPTION(verify), .initial = "false",
         .help = "compare the digest of the weights before use"},
        {0},
};
static const struct ran_field prediction_fields[] = {
        {"logits", 0, RAN_FIELD_BOOL, OPTION(logits), .initial = "false",
         .help = "add the logits: a number for each word and tag"},
        {"offsets", 0, RAN_FIELD_CHOICE, OPTION(offsets), .choices = ran_unit_names,
         .value = "UNIT", .initial = "codepoint",
         .help = "unit of the offsets of entities in a text"},
        {"output_format", 0, RAN_FIELD_CHOICE, OPTION(output_format), .choices = output_formats,
         .value = "NAME", .initial = "jsonl",
         .help = "jsonl: records; conll: a line with word and tag for each word, an empty line "
                 "after each record; columns of the input stay, and the tag comes last; csv, tsv: "
                 "a table with a row for each entity: id, start, end, label, text, score; html: a "
                 "page to look at",
         .first = true},
        {0},
};
static const struct ran_field eval_fields[] = {
        {"eval", 0, RAN_FIELD_BOOL, OPTION(eval), .initial = "false",
         .help = "compare predictions with the tags of the records, and write one report instead "
                 "of records",
         .first = true},
        {"eval_format", 0, RAN_FIELD_CHOICE, OPTION(eval_format), .choices = eval_formats,
         .value = "NAME", .initial = "text",
         .help = "text: report of conlleval, then the strict score; conlleval: that report alone; "
                 "json: both; csv, tsv: the strict score as a table; html: a page with the worst "
                 "errors",
         .first = true},
        {"label_names", 0, RAN_FIELD_TEXT, OPTION(label_names), .value = "FILE", .local = true,
         .help = CMD_NAMES_HELP},
        {"conll_out", 0, RAN_FIELD_TEXT, OPTION(conll_out), .value = "FILE", .local = true,
         .help = "with --eval: write word, true tag and predicted tag to FILE, one word a line, "
                 "for conlleval"},
        {"conlleval", 0, RAN_FIELD_BOOL, OPTION(conlleval), .local = true,
         .help = "score column files of other programs, without a model, byte for byte like the "
                 "script conlleval",
         .first = true},
        {0},
};
static const struct cmd_group groups[] = {
        {"Model", model_fields, &options},
        {"Prediction", prediction_fields, &options},
        {"Evaluation", eval_fields, &options},
        {"Documents", cmd_document_fields, &document_options},
        {"Input", cmd_input_fields, &input},
        {"Output", cmd_output_fields, &output},
        {0},
};
static const struct cmd_program program = {
        .name = "ran-tag",
        .usage = "-m MODEL [option...] [file...]\n"
                 "-m MODEL --eval [option...] [file...]\n"
                 "--conlleval [file...]",
        .summary = "Adds the member \"prediction\" to each JSON record with \"tokens\", \"ids\" or "
                   "\"text\": a tag for each word, and the entities, such as names, that the tags "
                   "mark.",
        .notes = "Without files, or for -, it reads standard input. Exit status: 0, all records "
                 "good; 1, some failed; 2, usage; 3, a file could not be read or written, or "
                 "memory ran out.",
        .groups = groups,
};

/* ---- tagging -------------------------------------------------------------------------------- */

struct program_state {
        struct tagger tagger;
        struct tag_eval eval;   /* with --eval */
        struct cmd_names names; /* of the records' tags, with --eval */
        struct tag_page page;   /* with html */
};

/* What one thread needs. */
struct scratch {
        struct tag_scratch *tags;
        struct cmd_labels gold; /* of a record, with --eval or a page */
        struct tag_page_scratch *page;
        struct ran_buf text; /* of an entity */
};

static void free_scratch(void *arg)
{
        struct scratch *s = arg;

        if (s->tags != NULL)
                tag_scratch_free(s->tags);
        tag_page_scratch_free(s->page);
        cmd_labels_release(&s->gold);
        ran_buf_release(&s->text);
        free(s);
}

static void *make_scratch(void *arg, struct ran_error *err)
{
        const struct program_state *p = arg;
        struct scratch *s = ran_alloc(1, sizeof(*s), err);

        if (s == NULL)
                return NULL;
        s->tags = tag_scratch_new(&p->tagger, err);
        s->page = tag_page_scratch_new(err);
        if (s->tags == NULL || s->page == NULL) {
                free_scratch(s);
                return NULL;
        }
        s->gold.called = &p->names;
        return s;
}

/* ---- predictions ---------------------------------------------------------------------------- */

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

static int add_entity(struct ran_buf *out, struct scratch *s, const struct tag_record *r,
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
        ran_buf_float(out, entity_score(s->tags, r, entity));
        ran_buf_char(out, '}');
        return RAN_OK;
}

static int add_entities(struct ran_buf *out, struct scratch *s, const struct tag_record *r,
                        const struct ran_record *record, struct ran_error *err)
{
        size_t n = ran_tags_entities(r->found, r->words, r->entities);
        struct cmd_spans spans;

        cmd_spans_begin(&spans, &r->document, record, (enum ran_unit)options.offsets);
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

static int add_prediction(const struct tagger *t, struct scratch *s, const struct tag_record *r,
                          const struct cmd_item *item)
{
        struct ran_buf *out = item->result;

        ran_buf_char(out, '{');
        add_tags(out, t, s->tags, r);
        if (t->tags != NULL)
                RAN_TRY(add_entities(out, s, r, &item->line->record, item->err));
        if (options.logits)
                add_logits(out, s->tags, r, t->C);
        cmd_document_truncated(&r->document, out);
        ran_buf_char(out, '}');
        return RAN_OK;
}

/* The tag of a word as a field; a truncated word has none. */
static void add_tag(struct ran_buf *out, const struct tagger *t, const struct tag_scratch *s,
                    size_t at)
{
        const char *tag = at != TAG_NOT_READ ? ran_model_label(t->model, s->tags[at]) : "";

        conll_add_field(out, tag, strlen(tag));
        ran_buf_char(out, '\n');
}

static int add_words(struct ran_buf *out, const struct tagger *t, struct scratch *s,
                     const struct tag_record *r, const struct ran_record *record,
                     struct ran_error *err)
{
        struct cmd_spans spans;
        size_t start, end;
        int code = RAN_OK;

        cmd_spans_begin(&spans, &r->document, record, RAN_UNIT_CODEPOINT);
        for (size_t i = 0; i < r->words && code == RAN_OK; i++) {
                s->text.len = 0;
                code = cmd_spans_next(&spans, i, i + 1, &start, &end, &s->text, err);
                conll_add_word(out, s->text.data, s->text.len);
                ran_buf_char(out, ' ');
                add_tag(out, t, s->tags, r->at[i]);
        }
        ran_buf_char(out, '\n');
        return code;
}

/* The record as lines of words and tags. */
static int write_conll(const struct tagger *t, struct scratch *s, const struct tag_record *r,
                       const struct cmd_item *item)
{
        const struct cmd_line *line = item->line;

        if (line->columns == NULL)
                return add_words(item->result, t, s, r, &line->record, item->err);
        s->text.len = 0;
        for (size_t i = 0; i < r->words; i++)
                add_tag(&s->text, t, s->tags, r->at[i]);
        conll_add_column(line->columns, line->raw, line->raw_length, &s->text, item->result);
        return s->text.failed ? ran_fail(item->err, RAN_ENOMEM, "no memory for the tags") : RAN_OK;
}

/* A row for each entity. */
static int write_rows(const struct tagger *t, struct scratch *s, const struct tag_record *r,
                      const struct cmd_item *item)
{
        struct cmd_row row = {.out = item->result, .delimiter = output.delimiter};
        size_t n = ran_tags_entities(r->found, r->words, r->entities), start, end;
        struct cmd_spans spans;

        (void)t;
        cmd_spans_begin(&spans, &r->document, &item->line->record, (enum ran_unit)options.offsets);
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
                cmd_row_float(&row, entity_score(s->tags, r, entity));
                cmd_row_end(&row);
        }
        return RAN_OK;
}

static void predict(void *arg, void *scratch, struct cmd_item *items, size_t n)
{
        const struct tagger *t = &((const struct program_state *)arg)->tagger;
        struct scratch *s = scratch;

        tag_words(t, s->tags, items, n);
        for (size_t i = 0; i < n; i++)
                if (items[i].code == RAN_OK)
                        items[i].code = (output.delimiter != '\0' ? write_rows
                                         : output.lines           ? write_conll
                                                        : add_prediction)(t, s, &s->tags->record[i],
                                                                          &items[i]);
}

/* ---- pages ---------------------------------------------------------------------------------- */

static void predict_page(void *arg, void *scratch, struct cmd_item *items, size_t n)
{
        struct program_state *p = arg;
        struct scratch *s = scratch;

        tag_words(&p->tagger, s->tags, items, n);
        for (size_t i = 0; i < n; i++)
                if (items[i].code == RAN_OK)
                        items[i].code = tag_page_pack(&p->page, s->page, s->tags,
                                                      &s->tags->record[i], &s->gold, &items[i]);
}

static int take_page(void *arg, const struct cmd_line *line, const struct ran_buf *result,
                     struct ran_error *err)
{
        (void)line;
        return tag_page_add(&((struct program_state *)arg)->page, result, err);
}

static void write_page(struct tag_page *page, const struct cmd_counts *counts)
{
        struct cmd_sink out;

        cmd_sink_open(&out, output.output);
        tag_page_write(page, counts->bad + counts->passed, &out);
        cmd_sink_close(&out);
}

static int make_page(struct program_state *p, struct cmd_loop *loop, char **files)
{
        struct cmd_counts counts;

        cmd_check_inputs("output", output.output, files);
        if (output.output == NULL)
                cmd_check_standard_output(files);
        else
                cmd_check_writable(output.output);
        loop->output = NULL;
        loop->work_all = predict_page;
        loop->take = take_page;
        int status = cmd_records(loop, files, &counts);
        write_page(&p->page, &counts);
        return status;
}

/* ---- evaluation ----------------------------------------------------------------------------- */

/* For a page the result is that of tag_eval_pack, that of tag_page_pack, and the size of the first.
 */
static int pack(struct program_state *p, struct scratch *s, size_t i, struct cmd_item *item)
{
        const struct tag_record *r = &s->tags->record[i];

        RAN_TRY(tag_eval_pack(&p->eval, s->tags, r, &s->gold, item));
        if (options.eval_format != TAG_EVAL_HTML)
                return RAN_OK;
        const size_t n = item->result->len;
        RAN_TRY(tag_page_pack(&p->page, s->page, s->tags, r, &s->gold, item));
        ran_buf_add(item->result, &n, sizeof n);
        return RAN_OK;
}

static int compare_for_page(struct program_state *p, const struct cmd_line *line,
                            const struct ran_buf *result, struct ran_error *err)
{
        struct ran_buf eval = *result, page = *result;

        if (result->len == 0)
                return tag_eval_add(&p->eval, line, result, err);
        memcpy(&eval.len, result->data + result->len - sizeof eval.len, sizeof eval.len);
        page.data += eval.len;
        page.len -= eval.len + sizeof eval.len;
        RAN_TRY(tag_eval_add(&p->eval, line, &eval, err));
        return tag_page_add(&p->page, &page, err);
}

/* For take; a record without tags gives nothing. */
static void tag_tagged(void *arg, void *scratch, struct cmd_item *items, size_t n)
{
        struct program_state *p = arg;
        struct scratch *s = scratch;

        tag_words(&p->tagger, s->tags, items, n);
        for (size_t i = 0; i < n; i++)
                if (items[i].code == RAN_OK && tag_eval_tagged(&items[i].line->record))
                        items[i].code = pack(p, s, i, &items[i]);
}

static int compare_tags(void *arg, const struct cmd_line *line, const struct ran_buf *result,
                        struct ran_error *err)
{
        struct program_state *p = arg;

        if (options.eval_format == TAG_EVAL_HTML)
                return compare_for_page(p, line, result, err);
        return tag_eval_add(&p->eval, line, result, err);
}

static void write_report(struct program_state *p, const struct cmd_counts *counts)
{
        struct ran_buf report = {0};

        if (options.conll_out != NULL)
                cmd_write_file(options.conll_out, &p->eval.columns);
        if (options.eval_format == TAG_EVAL_HTML) {
                write_page(&p->page, counts);
                return;
        }
        tag_eval_report(&p->eval, options.eval_format, &report);
        cmd_write_file(output.output, &report);
        ran_buf_release(&report);
}

/* ---- the program ---------------------------------------------------------------------------- */

static const char *const reads[] = {"id",
                                    "ran_error",
                                    CMD_DOCUMENT_MEMBERS,
                                    CMD_LABELS_TAG_MEMBERS,
                                    CMD_SPAN_TAGS_MEMBERS,
                                    SENTENCE_GROUP_MEMBER,
                                    NULL};

static int evaluate(struct program_state *p, struct cmd_loop *loop, char **files)
{
        struct tag_eval *eval = &p->eval;
        struct cmd_counts counts;
        struct ran_error err;

        cmd_check_inputs("output", output.output, files);
        cmd_check_inputs("conll-out", options.conll_out, files);
        if (output.output != NULL)
                cmd_check_writable(output.output);
        if (options.conll_out != NULL)
                cmd_check_writable(options.conll_out);
        if (tag_eval_init(eval, p->tagger.model, p->tagger.tags, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        eval->with_columns = options.conll_out != NULL;
        cmd_names_open(&p->names, options.label_names, true);
        loop->work_all = tag_tagged;
        loop->take = compare_tags;
        loop->accepted = true;
        p->page.eval = eval;
        int status = cmd_records(loop, files, &counts);
        if (eval->compared == 0)
                cmd_die(CMD_FAILED, "no record has tags: there is nothing to compare with");
        if (eval->skipped > 0)
                cmd_note("%zu records have no tags and are left out", eval->skipped);
        write_report(p, &counts);
        tag_eval_release(eval);
        cmd_names_release(&p->names);
        return status;
}

static int run(struct program_state *p, char **files)
{
        struct cmd_loop loop = {
                .input = &input,
                .output = &output,
                .into = "prediction",
                .reads = reads,
                .pool = p->tagger.pool,
                .make_scratch = make_scratch,
                .free_scratch = free_scratch,
                .work_all = predict,
                .together = ran_model_config(p->tagger.model)->join_sentences,
                .arg = p,
        };

        if (options.eval)
                return evaluate(p, &loop, files);
        return options.output_format == OUTPUT_HTML ? make_page(p, &loop, files)
                                                    : cmd_records(&loop, files, NULL);
}

/* --conlleval reads columns and prints a score, without a model or records. */
static void check_conlleval(void)
{
        static const char why[] = "--conlleval reads predictions";
        static const char *const others[] = {"verify",      "logits", "offsets", "output_format",
                                             "eval_format", "into",   "only",    "max_tokens",
                                             "truncate",    "drop",   NULL};

        cmd_excludes(options.conlleval, why, others);
        cmd_excludes_fields(options.conlleval, why, cmd_input_fields);
}

static void check_usage(void)
{
        static const char *const not_in_columns[] = {"eval", "logits", "into",
                                                     "only", "drop",   NULL};
        static const char *const of_eval[] = {"eval_format", NULL};
        const char *const *of_records = not_in_columns + 1;

        if (options.conlleval && (options.model != NULL || options.eval))
                cmd_usage("--conlleval reads predictions: leave out --model and --eval");
        if (!options.conlleval && options.model == NULL)
                cmd_usage("no model: give --model FILE");
        if (options.conll_out != NULL && !options.eval)
                cmd_usage("--conll-out needs --eval");
        if (options.label_names != NULL && !options.eval)
                cmd_usage("--label-names is for --eval: the tags of the model have names");
        bool table = options.output_format == OUTPUT_CSV || options.output_format == OUTPUT_TSV;
        output.lines = options.output_format == OUTPUT_CONLL || table;
        cmd_excludes(options.output_format == OUTPUT_CONLL,
                     "--output-format=conll writes words and tags only", not_in_columns);
        cmd_excludes(table,
                     "a table has a row for each entity (--eval writes one with --eval-format)",
                     not_in_columns);
        cmd_excludes(options.output_format == OUTPUT_HTML,
                     "--output-format=html writes a page and no records", not_in_columns);
        if (table) {
                bool tabs = options.output_format == OUTPUT_TSV;
                output.delimiter = tabs ? '\t' : ',';
                output.header = tabs ? "id\tstart\tend\tlabel\ttext\tscore\n"
                                     : "id,start,end,label,text,score\n";
        }
        cmd_excludes(options.eval, "--eval writes a report and no records", of_records);
        check_conlleval();
        cmd_requires(options.eval, "--eval", of_eval);
        cmd_document_check(&document_options);
}

/* The tags of the model, parsed; NULL if one of them is of no scheme. The caller frees them. */
static struct ran_tag *parse_tags(const struct ran_model *m)
{
        size_t C = ran_model_classes(m);
        struct ran_error err;
        struct ran_tag *tags = ran_alloc(C, sizeof(*tags), &err);

        if (tags == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        for (size_t c = 0; c < C; c++) {
                const char *name = ran_model_label(m, c);
                if (ran_tag_parse(&tags[c], name, strlen(name), &err) != RAN_OK) {
                        free(tags);
                        return NULL;
                }
        }
        return tags;
}

int main(int argc, char **argv)
{
        int first = cmd_parse(&program, argc, argv);

        check_usage();
        if (options.conlleval)
                return cmd_finish(tag_conlleval(argv + first, output.output));
        struct ran_model *model = cmd_model_open(options.model, options.verify, RAN_TASK_TAG);
        struct program_state p = {.tagger = {
                                          .model = model,
                                          .pool = cmd_pool(),
                                          .C = ran_model_classes(model),
                                          .tags = parse_tags(model),
                                          .options = document_options,
                                          .logits = options.logits,
                                  }};
        if (p.tagger.tags == NULL && output.delimiter != '\0')
                cmd_usage("the tags of this model mark no entities: --output-format=conll writes a "
                          "line for each word");
        tag_page_init(&p.page, &p.tagger, options.model);
        int status = run(&p, cmd_files(&input, argv + first));

        tag_page_release(&p.page);
        ran_pool_free(p.tagger.pool);
        free(p.tagger.tags);
        ran_model_free(model);
        return cmd_finish(status);
}
