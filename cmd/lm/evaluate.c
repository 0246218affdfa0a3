/* evaluate.c - texts that are generated, or were generated before, against those of the records:
 * BLEU, chrF and ROUGE as a report; as a page, with the texts that are least like their references.
 *
 * BLEU and chrF have signatures in the form of sacreBLEU, which say how they were computed. */
#include "cmd/lm/lm.h"

#include <stdlib.h>

#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"
#include "cmd/pages/page.h"

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

/* A text that was compared with its reference. */
struct compared {
        bool present; /* the record has a reference */
        struct ran_text_counts counts;
        struct page_document document; /* for a page */
};

struct evaluation {
        const struct lm_evaluate_options *options;
        struct continuation_how *how;
        struct ran_text_score *score;
        struct page_documents worst; /* for a page */
        size_t by_chrf[10];          /* texts with a chrF of 0 to 10, 10 to 20 ... */
        const char *model;           /* NULL with --eval-only */
        size_t compared, skipped;    /* skipped: without a reference */
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

/* ---- the scores ------------------------------------------------------------------------------ */

static void add_signature(struct report *r, const struct ran_text_report *t, const char *name,
                          const char *title, const char *how)
{
        if (t->n > 1)
                report_put(r, name, title, "nrefs:1|bs:%d|seed:%llu|case:mixed|%s|version:ran-%s",
                           RAN_TEXT_SAMPLES, (unsigned long long)t->seed, how, RAN_VERSION);
        else
                report_put(r, name, title, "nrefs:1|case:mixed|%s|version:ran-%s", how,
                           RAN_VERSION);
}

/* For people, who get all scores from 0 to 100. */
static void add_score(struct report *r, const struct ran_text_report *t, const char *title,
                      const struct ran_text_value *v, double unit, const char *counts)
{
        report_score(r, NULL, title, unit * v->value);
        report_note(r, "%s", counts);
        if (t->n > 1)
                report_interval(r, (struct ran_interval){unit * v->low, unit * v->high});
}

/* Begins an object for machines, with a score and its interval. */
static void begin_score(struct report *r, const struct ran_text_report *t, const char *object,
                        const char *name, const struct ran_text_value *v)
{
        report_begin(r, REPORT_OBJECT, object, NULL);
        report_number(r, name, NULL, v->value, 0);
        report_number(r, t->n > 1 ? "low" : NULL, NULL, v->low, 0);
        report_number(r, t->n > 1 ? "high" : NULL, NULL, v->high, 0);
}

static void add_precisions(struct report *r, const struct ran_text_report *t, const char *name,
                           const char *title)
{
        report_begin(r, REPORT_LIST, name, title);
        for (size_t k = 0; k < RAN_BLEU_ORDER; k++)
                report_number(r, "", "", t->precision[k], 1);
        report_end(r);
}

static void add_scores(const struct ran_text_report *t, struct report *r)
{
        static const char bleu[] = "eff:no|tok:13a|smooth:exp",
                          chrf[] = "eff:yes|nc:6|nw:0|space:no";
        static const char *const rouge[RAN_ROUGES][3] = {
                {"rouge_1", "ROUGE-1 F1", "words in common"},
                {"rouge_2", "ROUGE-2 F1", "pairs of words in common"},
                {"rouge_l", "ROUGE-L F1", "the longest common sequence of words"}};

        report_count(r, "records", "texts", t->n);
        add_score(r, t, "BLEU", &t->bleu, 1, "runs of one to four words in common");
        add_score(r, t, "chrF", &t->chrf, 1, "runs of one to six characters in common");
        for (size_t k = 0; k < RAN_ROUGES; k++)
                add_score(r, t, rouge[k][1], &t->rouge[k], 100, rouge[k][2]);
        add_precisions(r, t, NULL, "BLEU: precisions");
        report_number(r, NULL, "BLEU: brevity penalty", t->brevity, 3);
        add_signature(r, t, NULL, "BLEU: signature", bleu);
        add_signature(r, t, NULL, "chrF: signature", chrf);
        report_count(r, NULL, "words generated", (size_t)t->length);
        report_count(r, NULL, "words of the references", (size_t)t->reference_length);
        begin_score(r, t, "bleu", "score", &t->bleu);
        add_precisions(r, t, "precisions", NULL);
        report_number(r, "brevity_penalty", NULL, t->brevity, 0);
        report_count(r, "length", NULL, (size_t)t->length);
        report_count(r, "reference_length", NULL, (size_t)t->reference_length);
        add_signature(r, t, "signature", NULL, bleu);
        report_end(r);
        begin_score(r, t, "chrf", "score", &t->chrf);
        add_signature(r, t, "signature", NULL, chrf);
        report_end(r);
        for (size_t k = 0; k < RAN_ROUGES; k++) {
                begin_score(r, t, rouge[k][0], "f1", &t->rouge[k]);
                report_number(r, "precision", NULL, t->rouge_precision[k], 0);
                report_number(r, "recall", NULL, t->rouge_recall[k], 0);
                report_end(r);
        }
}

/* ---- a page --------------------------------------------------------------------------------- */

/* Texts on a page, and bytes of each that it shows. */
enum { WORST = 200, SHOWN = 4000 };

static void add_text(struct report *r, const char *name, const struct ran_buf *text)
{
        struct ran_buf passage = {0};

        page_put_excerpt(&passage, text->data, text->len, SHOWN);
        report_html(r, name, &passage);
}

static void make_document(const struct scratch *s, const struct cmd_line *line,
                          struct compared *compared)
{
        const double chrf = ran_text_chrf(&compared->counts);
        struct page_document *d = &compared->document;
        struct report r = {0};

        d->doubt = 1 - chrf / 100;
        page_record_name(&d->name, &line->record.json, line->file, line->number);
        page_put(&d->body, "p", "chrF %.1f", chrf);
        if (s->source.len > 0)
                add_text(&r, "source", &s->source);
        add_text(&r, "reference", &s->reference);
        add_text(&r, "generated", &s->text);
        report_page(&r, &d->body);
        report_release(&r);
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
        struct compared *c = result->found;
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
        make_document(s, line, c);
        return RAN_OK;
}

static int add_record(void *arg, const struct cmd_line *line, struct cmd_result *result,
                      struct ran_error *err)
{
        struct evaluation *e = arg;
        const struct compared *c = result->found;

        (void)line;
        (void)err;
        if (!c->present) {
                e->skipped++;
                return RAN_OK;
        }
        ran_text_score_add(e->score, &c->counts);
        e->compared++;
        const int tenth = (int)(ran_text_chrf(&c->counts) / 10);
        e->by_chrf[tenth < 0 ? 0 : tenth > 9 ? 9 : tenth]++;
        e->worst.most = WORST;
        if (e->options->eval_format == EVAL_HTML &&
            page_documents_want(&e->worst, c->document.doubt))
                page_documents_add(&e->worst, &c->document);
        return RAN_OK;
}

static void release(void *found)
{
        page_document_release(&((struct compared *)found)->document);
}

/* ---- the report ----------------------------------------------------------------------------- */

static void write_page(struct evaluation *e, const struct ran_text_report *report,
                       const char *output)
{
        const size_t n = report->n;
        struct ran_buf lead = {0};
        struct report r = {0};
        struct cmd_sink out;

        cmd_sink_open(&out, output);
        if (e->model != NULL)
                ran_buf_printf(&lead, "Model %s; ", e->model);
        ran_buf_printf(&lead, "%zu text%s compared with a reference", n, n == 1 ? "" : "s");
        if (e->skipped > 0)
                ran_buf_printf(&lead, "; %zu records have none", e->skipped);
        ran_buf_char(&lead, '.');
        page_begin(&out.buf, "Evaluation of generated texts", &lead);
        add_scores(report, &r);
        report_begin(&r, REPORT_LIST, NULL, "Texts by their chrF");
        for (size_t i = 0; i < 10; i++) {
                report_begin(&r, REPORT_OBJECT, NULL, "");
                report_put(&r, NULL, "chrF", "%zu to %zu", 10 * i, 10 * i + 10);
                report_count(&r, NULL, "texts", e->by_chrf[i]);
                report_bar(&r, NULL, "share", (double)e->by_chrf[i] / (double)n);
                report_end(&r);
        }
        report_end(&r);
        report_page(&r, &out.buf);
        report_release(&r);
        page_worst_write(&e->worst, "The texts least like their references", n, "texts", &out);
        page_end(&out.buf);
        cmd_sink_close(&out);
        page_documents_release(&e->worst);
}

static void write_report(struct evaluation *e, const char *output)
{
        struct ran_text_report report;
        struct report tree = {0};
        struct ran_buf out = {0};

        ran_text_score_finish(e->score, e->how->options->seed, &report);
        if (e->options->eval_format == EVAL_HTML) {
                write_page(e, &report, output);
                return;
        }
        add_scores(&report, &tree);
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
        loop.result_size = sizeof(struct compared);
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
