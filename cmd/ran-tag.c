/* ran-tag.c - a tag for each word of documents of any length, and the entities that they mark. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "document.h"
#include "labels.h"
#include "model.h"
#include "ran.h"
#include "spans.h"
#include "tag-conlleval.h"
#include "tag-eval.h"

/* ---- options -------------------------------------------------------------------------------- */

static struct tag_options {
        char *model, *conll_out;
        bool verify, logits, eval, conlleval;
        int eval_format;
} options;

static struct cmd_input input;
static struct cmd_output output;

static const char *const eval_formats[] = {"text", "conlleval", "json", NULL};

#define OPTION(member) offsetof(struct tag_options, member)

static const struct ran_field model_fields[] = {
        {"model", 'm', RAN_FIELD_TEXT, OPTION(model), .value = "FILE",
         .help = "the model, as ran-train tag wrote it", .local = true},
        {"verify", 0, RAN_FIELD_BOOL, OPTION(verify), .initial = "false",
         .help = "check the digest of the weights before they are used"},
        {0},
};
static const struct ran_field prediction_fields[] = {
        {"logits", 0, RAN_FIELD_BOOL, OPTION(logits), .initial = "false",
         .help = "add a number for each word and tag: what the tags are chosen by"},
        {0},
};
static const struct ran_field eval_fields[] = {
        {"eval", 0, RAN_FIELD_BOOL, OPTION(eval), .initial = "false",
         .help = "compare with the tags of the records and write one report instead"},
        {"eval_format", 0, RAN_FIELD_CHOICE, OPTION(eval_format), .choices = eval_formats,
         .value = "NAME", .initial = "text",
         .help = "what conlleval prints and the strict score for people, the first alone, or both "
                 "for machines"},
        {"conll_out", 0, RAN_FIELD_TEXT, OPTION(conll_out), .value = "FILE", .local = true,
         .help = "with --eval, write word, gold tag and found tag to FILE, a line a word, for "
                 "conlleval to read"},
        {"conlleval", 0, RAN_FIELD_BOOL, OPTION(conlleval), .local = true,
         .help = "without a model, score such files as the script conlleval does, to the byte and "
                 "with its exit statuses"},
        {0},
};
static const struct cmd_group groups[] = {
        {"Model", model_fields, &options},      {"Prediction", prediction_fields, &options},
        {"Evaluation", eval_fields, &options},  {"Input", cmd_input_fields, &input},
        {"Output", cmd_output_fields, &output}, {0},
};
static const struct cmd_program program = {
        .name = "ran-tag",
        .usage = "-m MODEL [option...] [file...]\n"
                 "--conlleval [file...]",
        .summary = "Adds to each JSON record a tag for each word of its \"tokens\" (or \"ids\", or "
                   "\"text\") and the entities that the tags mark, as the member \"prediction\".",
        .notes = "Without a file, or for the file -, records come from standard input. Exit "
                 "status: 0, all records good; 1, some failed; 2, usage; 3, something could not be "
                 "read, written or held in memory.",
        .groups = groups,
};

/* ---- tagging -------------------------------------------------------------------------------- */

struct tagger {
        const struct ran_model *model;
        struct ran_pool *pool;
        size_t C;
        struct ran_tag
                *tags; /* (C) taken apart; NULL: they are of no scheme, and mark no entities */
        struct tag_eval eval; /* with --eval */
};

/* What one thread needs. */
struct scratch {
        struct ran_state *state;
        struct cmd_document document;
        size_t room; /* words that the arrays have room for */
        uint32_t *tags;
        float *score;
        float *logits; /* (room, C), NULL unless asked for */
        struct ran_tag *found;
        struct ran_entity *entities;
        struct ran_buf text; /* of an entity or a word */
};

static void free_words(struct scratch *s)
{
        free(s->tags);
        free(s->score);
        free(s->logits);
        free(s->found);
        free(s->entities);
        s->tags = NULL;
        s->score = s->logits = NULL;
        s->found = NULL;
        s->entities = NULL;
        s->room = 0;
}

static void free_scratch(void *arg)
{
        struct scratch *s = arg;

        ran_state_free(s->state);
        cmd_document_release(&s->document);
        free_words(s);
        ran_buf_release(&s->text);
        free(s);
}

static void *make_scratch(void *arg, struct ran_error *err)
{
        const struct tagger *t = arg;
        struct scratch *s = ran_alloc(1, sizeof(*s), err);

        if (s == NULL)
                return NULL;
        s->document.by_words = true;
        s->document.spelling = ran_model_config(t->model)->spelling;
        s->state = ran_state_new(t->model, t->pool, err);
        if (s->state == NULL) {
                free_scratch(s);
                return NULL;
        }
        return s;
}

/* Makes room for the n words of a document; what the arrays held is of no use any more. */
static int fit(struct scratch *s, size_t n, size_t C, struct ran_error *err)
{
        if (n <= s->room)
                return RAN_OK;
        free_words(s);
        s->tags = ran_alloc(n, sizeof(*s->tags), err);
        s->score = ran_alloc_floats(n, err);
        s->found = ran_alloc(n, sizeof(*s->found), err);
        s->entities = ran_alloc(n, sizeof(*s->entities), err);
        if (options.logits)
                s->logits = ran_alloc(n, C * sizeof(*s->logits), err);
        if (s->tags == NULL || s->score == NULL || s->found == NULL || s->entities == NULL ||
            (options.logits && s->logits == NULL)) {
                free_words(s);
                return RAN_ENOMEM;
        }
        s->room = n;
        return RAN_OK;
}

/* Fills tags, score and logits of the scratch. */
static int tag_words(const struct tagger *t, struct scratch *s, const struct ran_record *record,
                     struct ran_error *err)
{
        const struct ran_model *m = t->model;
        struct cmd_document *d = &s->document;
        int code = cmd_document_read(d, record, ran_model_tokenizer(m), ran_model_vocabulary(m),
                                     NULL, err);

        if (code == RAN_OK)
                code = fit(s, d->words, t->C, err);
        const struct ran_document document = cmd_document_of(d);
        if (code == RAN_OK)
                code = ran_tag(m, s->state, &document, s->tags, s->score, s->logits, err);
        for (size_t i = 0; code == RAN_OK && t->tags != NULL && i < d->words; i++)
                s->found[i] = t->tags[s->tags[i]];
        return code;
}

/* ---- predictions ---------------------------------------------------------------------------- */

static void add_tags(struct ran_buf *out, const struct tagger *t, const struct scratch *s)
{
        ran_buf_str(out, "\"tags\":[");
        for (size_t i = 0; i < s->document.words; i++) {
                const char *tag = ran_model_label(t->model, s->tags[i]);
                ran_buf_str(out, i == 0 ? "" : ",");
                ran_buf_json(out, tag, strlen(tag));
        }
        ran_buf_char(out, ']');
}

/* An entity is as probable as the least probable of its tags, at most. */
static float entity_score(const struct scratch *s, const struct ran_entity *entity)
{
        float score = 1;

        for (size_t i = entity->start; i < entity->end; i++)
                score = s->score[i] < score ? s->score[i] : score;
        return score;
}

static int add_entity(struct ran_buf *out, struct scratch *s, struct cmd_spans *spans,
                      const struct ran_entity *entity, struct ran_error *err)
{
        size_t start, end;

        s->text.len = 0;
        int code = cmd_spans_next(spans, entity->start, entity->end, &start, &end, &s->text, err);
        if (code != RAN_OK)
                return code;
        ran_buf_printf(out, "{\"start\":%zu,\"end\":%zu,\"label\":", start, end);
        ran_buf_json(out, entity->type, entity->length);
        if (s->document.from != CMD_FROM_IDS) {
                ran_buf_str(out, ",\"text\":");
                ran_buf_json(out, s->text.data, s->text.len);
        }
        ran_buf_str(out, ",\"score\":");
        ran_buf_float(out, entity_score(s, entity));
        ran_buf_char(out, '}');
        return RAN_OK;
}

static int add_entities(struct ran_buf *out, struct scratch *s, const struct ran_record *record,
                        struct ran_error *err)
{
        size_t n = ran_tags_entities(s->found, s->document.words, s->entities);
        struct cmd_spans spans;

        cmd_spans_begin(&spans, &s->document, record);
        ran_buf_str(out, ",\"entities\":[");
        for (size_t i = 0; i < n; i++) {
                ran_buf_str(out, i == 0 ? "" : ",");
                int code = add_entity(out, s, &spans, &s->entities[i], err);
                if (code != RAN_OK)
                        return code;
        }
        ran_buf_char(out, ']');
        return RAN_OK;
}

static void add_logits(struct ran_buf *out, const struct scratch *s, size_t C)
{
        ran_buf_str(out, ",\"logits\":[");
        for (size_t i = 0; i < s->document.words; i++) {
                for (size_t c = 0; c < C; c++) {
                        ran_buf_str(out, c > 0 ? "," : i > 0 ? ",[" : "[");
                        ran_buf_float(out, s->logits[i * C + c]);
                }
                ran_buf_char(out, ']');
        }
        ran_buf_char(out, ']');
}

static int predict(void *arg, void *scratch, const struct cmd_line *line, struct ran_buf *out,
                   struct ran_error *err)
{
        const struct tagger *t = arg;
        struct scratch *s = scratch;
        int code = tag_words(t, s, &line->record, err);

        if (code != RAN_OK)
                return code;
        ran_buf_char(out, '{');
        add_tags(out, t, s);
        if (t->tags != NULL)
                code = add_entities(out, s, &line->record, err);
        if (options.logits)
                add_logits(out, s, t->C);
        ran_buf_char(out, '}');
        return code;
}

/* ---- evaluation ----------------------------------------------------------------------------- */

/* The words of the document as fields, a line feed after each. */
static int add_fields(struct ran_buf *out, struct scratch *s, const struct ran_record *record,
                      struct ran_error *err)
{
        struct cmd_spans spans;
        size_t start, end;

        cmd_spans_begin(&spans, &s->document, record);
        for (size_t i = 0; i < s->document.words; i++) {
                s->text.len = 0;
                int code = cmd_spans_next(&spans, i, i + 1, &start, &end, &s->text, err);
                if (code != RAN_OK)
                        return code;
                tag_eval_field(out, s->text.data, s->text.len);
                ran_buf_char(out, '\n');
        }
        return RAN_OK;
}

/* For take: how many words there are, their tags, and with --conll-out the words; nothing for a
 * record without tags. */
static int tag_tagged(void *arg, void *scratch, const struct cmd_line *line, struct ran_buf *result,
                      struct ran_error *err)
{
        struct scratch *s = scratch;

        if (!tag_eval_tagged(&line->record))
                return RAN_OK;
        int code = tag_words(arg, s, &line->record, err);
        if (code != RAN_OK)
                return code;
        ran_buf_add(result, &s->document.words, sizeof(s->document.words));
        ran_buf_add(result, s->tags, s->document.words * sizeof(*s->tags));
        return options.conll_out != NULL ? add_fields(result, s, &line->record, err) : RAN_OK;
}

static int compare_tags(void *arg, const struct cmd_line *line, const struct ran_buf *result,
                        struct ran_error *err)
{
        struct tagger *t = arg;

        if (result->len == 0) {
                t->eval.skipped++;
                return RAN_OK;
        }
        const size_t *n = (const size_t *)(const void *)result->data;
        const uint32_t *tags = (const uint32_t *)(n + 1);
        const struct tag_eval_words words = {tags, *n, (const char *)(tags + *n)};
        return tag_eval_add(&t->eval, line, &words, err);
}

static void write_report(struct tagger *t)
{
        struct ran_buf report = {0};

        tag_eval_report(&t->eval, options.eval_format, &report);
        if (options.conll_out != NULL)
                cmd_write_file(options.conll_out, &t->eval.columns);
        cmd_write_file(output.output, &report);
        ran_buf_release(&report);
}

/* ---- the program ---------------------------------------------------------------------------- */

static const char *const reads[] = {"id", "ran_error", CMD_DOCUMENT_MEMBERS, CMD_TAG_MEMBERS, NULL};

static int evaluate(struct tagger *t, struct cmd_loop *loop, char **files)
{
        struct ran_error err;

        if (t->tags == NULL)
                cmd_die(CMD_FAILED, "%s: its tags are not of a scheme like IOB2: nothing to score",
                        options.model);
        if (output.output != NULL)
                cmd_check_writable(output.output);
        if (options.conll_out != NULL)
                cmd_check_writable(options.conll_out);
        if (tag_eval_init(&t->eval, t->model, t->tags, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        t->eval.with_columns = options.conll_out != NULL;
        loop->work = tag_tagged;
        loop->take = compare_tags;
        int status = cmd_records(loop, files, NULL);
        if (t->eval.compared == 0)
                cmd_die(CMD_FAILED, "no record has tags: there is nothing to compare with");
        if (t->eval.skipped > 0)
                cmd_note("%zu records have no tags and were left out", t->eval.skipped);
        write_report(t);
        tag_eval_release(&t->eval);
        return status;
}

static int run(struct tagger *t, char **files)
{
        struct cmd_loop loop = {
                .input = &input,
                .output = &output,
                .into = "prediction",
                .reads = reads,
                .pool = t->pool,
                .make_scratch = make_scratch,
                .free_scratch = free_scratch,
                .work = predict,
                .arg = t,
        };

        return options.eval ? evaluate(t, &loop, files) : cmd_records(&loop, files, NULL);
}

static void check_usage(void)
{
        if (options.conlleval && (options.model != NULL || options.eval))
                cmd_usage(
                        "--conlleval reads what a model found; it takes no --model and no --eval");
        if (!options.conlleval && options.model == NULL)
                cmd_usage("which model? give --model FILE");
        if (options.conll_out != NULL && !options.eval)
                cmd_usage("--conll-out is for --eval");
}

/* The model's tags taken apart; NULL when one of them is of no scheme. The caller frees them. */
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
                return cmd_finish(tag_conlleval(argv + first));
        struct ran_model *model = cmd_model_open(options.model, options.verify, RAN_TASK_TAG);
        struct tagger t = {
                .model = model,
                .pool = cmd_pool(),
                .C = ran_model_classes(model),
                .tags = parse_tags(model),
        };
        int status = run(&t, argv + first);

        ran_pool_free(t.pool);
        free(t.tags);
        ran_model_free(model);
        return cmd_finish(status);
}
