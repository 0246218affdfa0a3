/* evaluate.c - texts that are generated, or were generated before, against those of the records. */
#include "cmd/lm/lm.h"

#include <stdlib.h>

#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"

enum { EVAL_JSON, EVAL_TEXT, EVAL_HTML };

static const char *const formats[] = {"json", "text", "html", NULL};

#define OPTION(member) offsetof(struct lm_evaluate_options, member)

const struct ran_field lm_evaluate_fields[] = {
        {"eval", 0, RAN_FIELD_BOOL, OPTION(eval), .initial = "false", .first = true,
         .help = "generate texts, compare them with the targets of the records, and write one "
                 "report (BLEU, chrF, ROUGE) instead of records; takes the most probable token "
                 "each time unless you ask for sampling or --beam"},
        {"eval_only", 0, RAN_FIELD_TEXT, OPTION(eval_only), .value = "MEMBER",
         .help = "compare texts that were generated before, in this member of the records; needs "
                 "no model"},
        {"reference", 0, RAN_FIELD_TEXT, OPTION(reference), .value = "MEMBER", .initial = "target",
         .help = "member of the records to compare with", .needs = "eval eval_only"},
        {"eval_format", 0, RAN_FIELD_CHOICE, OPTION(eval_format), .choices = formats,
         .value = "NAME", .initial = "json",
         .help = "format of the report; html: a page with the worst texts beside their references",
         .needs = "eval eval_only"},
        {0},
};

struct evaluation {
        const struct lm_evaluate_options *options;
        struct continuation_how *how;
        struct ran_text_score *score;
        struct lm_eval_page page; /* with html */
        const char *model;        /* NULL with --eval-only */
        size_t compared, skipped; /* skipped: without a reference */
};

struct scratch {
        struct continuation *continuation; /* NULL with --eval-only */
        struct ran_text_counter *counter;
        struct ran_buf text, reference;
        struct ran_buf source; /* for a page */
};

static void free_scratch(void *scratch)
{
        struct scratch *s = scratch;

        continuation_free(s->continuation);
        ran_text_counter_free(s->counter);
        ran_buf_release(&s->text);
        ran_buf_release(&s->reference);
        ran_buf_release(&s->source);
        free(s);
}

static void *make_scratch(void *arg)
{
        const struct evaluation *e = arg;
        struct scratch *s = ran_new(1, sizeof *s);

        if (e->options->eval_only == NULL)
                s->continuation = continuation_new(e->how);
        s->counter = ran_text_counter_new();
        return s;
}

/* ---- texts of members ----------------------------------------------------------------------- */

/* The text of a string, of a list of words with a space between, or of the member "text" of an
 * object, as ran-lm writes it. */
static int read_text(struct ran_buf *out, const char *name, const struct record *record,
                     const struct ran_member *m, struct ran_error *err)
{
        const char *line = record->json.line;
        struct ran_items i = ran_items(line, m->value);
        struct ran_span text;
        bool good = m->type == 'a';

        out->len = 0;
        if (m->type == 's')
                return ran_json_decode(line, m->value, out, err);
        if (ran_json_find(line, m->value, "text", 's', &text, NULL))
                return ran_json_decode(line, text, out, err);
        for (size_t n = 0; good && ran_items_next(&i); n++) {
                good = i.type == 's';
                ran_buf_str(out, n > 0 ? " " : "");
                if (good)
                        RAN_TRY(ran_json_decode(line, i.value, out, err));
        }
        return good ? RAN_OK
                    : ran_fail(err, RAN_EFORMAT,
                               "\"%s\" must be a string, a list of words, or an object with a "
                               "\"text\"",
                               name);
}

/* ---- records -------------------------------------------------------------------------------- */

/* The text to be judged, in s->text. */
static int judged_text(const struct evaluation *e, struct scratch *s, const struct record *record,
                       struct ran_error *err)
{
        const char *name = e->options->eval_only;

        if (name != NULL) {
                const struct ran_member *m = json_member(&record->json, name);

                return m != NULL ? read_text(&s->text, name, record, m, err)
                                 : ran_fail(err, RAN_EFORMAT, "no \"%s\"", name);
        }
        RAN_TRY(continuation_read(s->continuation, record, err));
        RAN_TRY(continuation_make(s->continuation, record, NULL, NULL, err));
        s->text.len = 0; /* as a record would have it: with U+FFFD for what is no character */
        lm_text_show(&s->continuation->text, 0, &s->text);
        return RAN_OK;
}

static int count_record(void *arg, void *scratch, const struct cmd_line *line,
                        struct cmd_result *result, struct ran_error *err)
{
        const struct evaluation *e = arg;
        const struct record *record = &line->record;
        const char *name = e->options->reference;
        const struct ran_member *m = json_member(&record->json, name),
                                *source = record->is[FIELD_SOURCE];
        struct lm_compared *c = result->found;
        struct scratch *s = scratch;

        if (m == NULL)
                return RAN_OK;
        RAN_TRY(read_text(&s->reference, name, record, m, err));
        RAN_TRY(judged_text(e, s, record, err));
        ran_text_count(s->counter, s->text.data, s->text.len, s->reference.data, s->reference.len,
                       &c->counts);
        c->present = true;
        if (e->options->eval_format != EVAL_HTML)
                return RAN_OK;
        s->source.len = 0;
        if (source != NULL && (source->type == 's' || source->type == 'a'))
                RAN_TRY(read_text(&s->source, "source", record, source, err));
        lm_eval_page_make(line, &s->source, &s->reference, &s->text, c);
        return RAN_OK;
}

static int add_record(void *arg, const struct cmd_line *line, struct cmd_result *result,
                      struct ran_error *err)
{
        struct evaluation *e = arg;
        const struct lm_compared *c = result->found;

        (void)line;
        (void)err;
        if (!c->present) {
                e->skipped++;
                return RAN_OK;
        }
        ran_text_score_add(e->score, &c->counts);
        e->compared++;
        if (e->options->eval_format == EVAL_HTML)
                lm_eval_page_add(&e->page, c);
        return RAN_OK;
}

static void release(void *found)
{
        page_document_release(&((struct lm_compared *)found)->document);
}

/* ---- the report ----------------------------------------------------------------------------- */

static void write_report(struct evaluation *e, const char *output)
{
        struct ran_text_report report;
        struct report tree = {0};
        struct ran_buf out = {0};

        ran_text_score_finish(e->score, e->how->options->seed, &report);
        if (e->options->eval_format == EVAL_HTML) {
                lm_eval_page_write(&e->page, &report, e->model, e->skipped, output);
                return;
        }
        lm_eval_tree(&report, &tree);
        report_finish(&tree, e->options->eval_format == EVAL_TEXT, &out);
        cmd_write_file(output, &out);
        ran_buf_release(&out);
}

int lm_evaluate(const struct lm_evaluate_options *options, struct cmd_loop loop,
                struct continuation_how *how, const char *model, const char *output, char **files)
{
        struct evaluation e = {.options = options, .how = how, .model = model};

        cmd_check_output(output, files);
        e.score = ran_text_score_new();
        loop.output = NULL;
        loop.make_scratch = make_scratch;
        loop.free_scratch = free_scratch;
        loop.work = count_record;
        loop.take = add_record;
        loop.result_size = sizeof(struct lm_compared);
        loop.release = release;
        loop.arg = &e;
        int status = cmd_records(&loop, files, NULL);
        if (e.compared == 0 && (e.skipped > 0 || status == CMD_OK))
                cmd_die(CMD_FAILED, "no record has \"%s\": there is nothing to compare with",
                        options->reference);
        if (e.compared == 0)
                cmd_die(CMD_FAILED, "no record is left to compare");
        if (e.skipped > 0)
                cmd_note("%zu %s no \"%s\" and %s left out", e.skipped,
                         e.skipped == 1 ? "record has" : "records have", options->reference,
                         e.skipped == 1 ? "is" : "are");
        write_report(&e, output);
        ran_text_score_free(e.score);
        return status;
}
