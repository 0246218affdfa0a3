/* ran-classify.c - labels and their probabilities for documents of any length. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/classify/eval.h"
#include "cmd/classify/evidence.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/outputs.h"
#include "cmd/options/was-set.h"
#include "cmd/options/write.h"
#include "cmd/records/io.h"
#include "cmd/records/files.h"
#include "cmd/records/loop.h"
#include "cmd/records/document.h"
#include "cmd/formats/fasttext.h"
#include "cmd/records/labels.h"
#include "cmd/records/model.h"
#include "ran.h"

/* ---- options -------------------------------------------------------------------------------- */

enum { EVAL_JSON, EVAL_TEXT };

static struct classify_options {
        char *model, *label_names;
        size_t top;
        double threshold, coverage;
        bool abstain, probs, logits, embed, eval, verify;
        int eval_format, output_format;
} options;

static struct classify_evidence_options evidence_options;
static struct cmd_document_options document_options;
static struct cmd_input input;
static struct cmd_output output;

static const char *const eval_formats[] = {"json", "text", NULL};

enum { OUTPUT_JSONL, OUTPUT_FASTTEXT };
static const char *const output_formats[] = {"jsonl", "fasttext", NULL};

#define OPTION(member) offsetof(struct classify_options, member)

static const struct ran_field model_fields[] = {
        {"model", 'm', RAN_FIELD_TEXT, OPTION(model), .value = "FILE",
         .help = "the model, as ran-train wrote it", .local = true},
        {"verify", 0, RAN_FIELD_BOOL, OPTION(verify), .initial = "false",
         .help = "check the digest of the weights before they are used"},
        {0},
};
static const struct ran_field prediction_fields[] = {
        {"top", 0, RAN_FIELD_SIZE, OPTION(top), 0, INFINITY, .value = "K", .initial = "0",
         .help = "add the K most probable labels"},
        {"threshold", 0, RAN_FIELD_REAL, OPTION(threshold), 0, 1, .value = "P", .initial = "0",
         .help = "give no label that is less probable than P; 0: a single label always, several by "
                 "the thresholds of the model, which are 0.5 or were tuned in training"},
        {"coverage", 0, RAN_FIELD_REAL, OPTION(coverage), 0, 1, .value = "P", .initial = "0",
         .help = "add the set of labels that holds the right one for this share of documents like "
                 "those held out in training; 0: no set"},
        {"abstain", 0, RAN_FIELD_BOOL, OPTION(abstain), .initial = "false",
         .help = "give no label where that set has not exactly one"},
        {"probs", 0, RAN_FIELD_BOOL, OPTION(probs), .initial = "false",
         .help = "add the probabilities of all labels"},
        {"logits", 0, RAN_FIELD_BOOL, OPTION(logits), .initial = "false",
         .help = "add what the probabilities are made of"},
        {"embed", 0, RAN_FIELD_BOOL, OPTION(embed), .initial = "false",
         .help = "add the vector of the document that the last layer of the model reads"},
        {"output_format", 0, RAN_FIELD_CHOICE, OPTION(output_format), .choices = output_formats,
         .value = "NAME", .initial = "jsonl",
         .help = "write records, or for each a line of labels and text as fastText reads it: an "
                 "empty one where that cannot be had"},
        {0},
};
static const struct ran_field eval_fields[] = {
        {"eval", 0, RAN_FIELD_BOOL, OPTION(eval), .initial = "false",
         .help = "compare with the label or labels of the records and write one report instead"},
        {"eval_format", 0, RAN_FIELD_CHOICE, OPTION(eval_format), .choices = eval_formats,
         .value = "NAME", .initial = "json", .help = "for machines or for people"},
        {"label_names", 0, RAN_FIELD_TEXT, OPTION(label_names), .value = "FILE", .local = true,
         .help = CMD_NAMES_HELP},
        {0},
};
static const struct cmd_group groups[] = {
        {"Model", model_fields, &options},
        {"Prediction", prediction_fields, &options},
        {"Evidence", classify_evidence_fields, &evidence_options},
        {"Evaluation", eval_fields, &options},
        {"Documents", cmd_document_fields, &document_options},
        {"Input", cmd_input_fields, &input},
        {"Output", cmd_output_fields, &output},
        {0},
};
static const struct cmd_program program = {
        .name = "ran-classify",
        .usage = "-m MODEL [option...] [file...]",
        .summary = "Adds to each JSON record the label that a model finds most probable for its "
                   "document, or all that are probable enough, as the member \"prediction\".",
        .notes = "Without a file, or for the file -, records come from standard input. Exit "
                 "status: 0, all records good; 1, some failed; 2, usage; 3, something could not be "
                 "read, written or held in memory.",
        .groups = groups,
};

/* ---- scoring -------------------------------------------------------------------------------- */

struct classifier {
        const struct ran_model *model;
        struct ran_pool *pool;
        size_t C, D;
        const float *thresholds;   /* (C) or, with a single label, NULL */
        float cut;                 /* labels at least so probable are in the set */
        struct classify_eval eval; /* with --eval */
};

/* What one thread needs. */
struct scratch {
        struct ran_state *state;
        struct cmd_document document;
        struct classify_evidence *evidence; /* NULL unless asked for */
        float *logits, *p;                  /* (C) */
        float *embedding;                   /* (D), NULL unless asked for */
        struct ranked {
                float p;
                uint32_t c;
        } * ranked; /* (C) */
};

static void free_scratch(void *arg)
{
        struct scratch *s = arg;

        ran_state_free(s->state);
        cmd_document_release(&s->document);
        classify_evidence_free(s->evidence);
        free(s->logits);
        free(s->p);
        free(s->embedding);
        free(s->ranked);
        free(s);
}

static void *make_scratch(void *arg, struct ran_error *err)
{
        const struct classifier *c = arg;
        struct scratch *s = ran_alloc(1, sizeof(*s), err);

        if (s == NULL)
                return NULL;
        s->document.spelling = ran_model_config(c->model)->spelling;
        s->state = ran_state_new(c->model, c->pool, err);
        s->logits = ran_alloc_floats(c->C, err);
        s->p = ran_alloc_floats(c->C, err);
        s->ranked = ran_alloc(c->C, sizeof(*s->ranked), err);
        if (options.embed)
                s->embedding = ran_alloc_floats(c->D, err);
        if (evidence_options.evidence > 0) {
                s->document.placed = true;
                s->evidence = classify_evidence_new(&evidence_options, c->model, c->pool, err);
        }
        if (s->state == NULL || s->logits == NULL || s->p == NULL || s->ranked == NULL ||
            (options.embed && s->embedding == NULL) ||
            (evidence_options.evidence > 0 && s->evidence == NULL)) {
                free_scratch(s);
                return NULL;
        }
        return s;
}

/* Fills logits, p and embedding of the scratch. */
static int score(const struct classifier *c, struct scratch *s, const struct ran_record *record,
                 struct ran_error *err)
{
        const struct ran_model *m = c->model;
        int code = cmd_document_read(&s->document, record, ran_model_tokenizer(m),
                                     ran_model_vocabulary(m), &document_options, err);

        const struct ran_document document = cmd_document_of(&s->document);
        if (code == RAN_OK)
                code = ran_classify(m, s->state, &document, s->logits, s->embedding, err);
        if (code == RAN_OK)
                ran_probabilities(ran_model_config(m), s->logits, c->C, s->p);
        return code;
}

/* ---- predictions ---------------------------------------------------------------------------- */

static void add_label(struct ran_buf *out, const struct classifier *c, size_t class)
{
        const char *label = ran_model_label(c->model, class);

        ran_buf_json(out, label, strlen(label));
}

/* Without the closing brace. */
static void add_scored(struct ran_buf *out, const struct classifier *c, size_t class, float p)
{
        ran_buf_str(out, "{\"label\":");
        add_label(out, c, class);
        ran_buf_str(out, ",\"score\":");
        ran_buf_float(out, p);
}

static void add_floats(struct ran_buf *out, const char *name, const float *x, size_t n)
{
        ran_buf_printf(out, ",\"%s\":[", name);
        for (size_t i = 0; i < n; i++) {
                ran_buf_str(out, i == 0 ? "" : ",");
                ran_buf_float(out, x[i]);
        }
        ran_buf_char(out, ']');
}

static size_t set_size(const struct classifier *c, const float *p)
{
        size_t n = 0;

        for (size_t i = 0; i < c->C; i++)
                n += p[i] >= c->cut;
        return n;
}

static void add_set(struct ran_buf *out, const struct classifier *c, const float *p)
{
        const char *before = "";

        ran_buf_str(out, ",\"set\":[");
        for (size_t i = 0; i < c->C; i++) {
                if (p[i] < c->cut)
                        continue;
                ran_buf_str(out, before);
                add_label(out, c, i);
                before = ",";
        }
        ran_buf_char(out, ']');
}

/* Not where it would be less probable than --threshold, or one of several. */
static bool is_given(const struct classifier *c, const float *p, size_t best)
{
        return p[best] >= (float)options.threshold && (!options.abstain || set_size(c, p) == 1);
}

/* One label, or null. */
static void add_single(struct ran_buf *out, const struct classifier *c, const float *p)
{
        size_t best = ran_most_probable(p, c->C);

        ran_buf_str(out, "\"label\":");
        if (is_given(c, p, best))
                add_label(out, c, best);
        else
                ran_buf_str(out, "null");
        ran_buf_str(out, ",\"score\":");
        ran_buf_float(out, p[best]);
        if (options.coverage > 0)
                add_set(out, c, p);
}

static int add_multiple(struct ran_buf *out, const struct classifier *c, struct scratch *s,
                        struct ran_error *err)
{
        const char *before = "";
        int code = RAN_OK;

        ran_buf_str(out, "\"labels\":[");
        for (size_t i = 0; i < c->C && code == RAN_OK; i++) {
                if (s->p[i] < c->thresholds[i])
                        continue;
                ran_buf_str(out, before);
                add_scored(out, c, i, s->p[i]);
                if (s->evidence != NULL)
                        code = classify_evidence_add(s->evidence, i, s->p[i], out, err);
                ran_buf_char(out, '}');
                before = ",";
        }
        ran_buf_char(out, ']');
        return code;
}

/* The most probable first; equals in the order of the labels. */
static int compare_ranked(const void *a, const void *b)
{
        const struct ranked *x = a, *y = b;

        if (x->p != y->p)
                return x->p > y->p ? -1 : 1;
        return (x->c > y->c) - (x->c < y->c);
}

static void add_top(struct ran_buf *out, const struct classifier *c, struct scratch *s)
{
        size_t k = options.top < c->C ? options.top : c->C;

        for (size_t i = 0; i < c->C; i++)
                s->ranked[i] = (struct ranked){s->p[i], (uint32_t)i};
        qsort(s->ranked, c->C, sizeof(*s->ranked), compare_ranked);
        ran_buf_str(out, ",\"top\":[");
        for (size_t i = 0; i < k; i++) {
                ran_buf_str(out, i == 0 ? "" : ",");
                add_scored(out, c, s->ranked[i].c, s->ranked[i].p);
                ran_buf_char(out, '}');
        }
        ran_buf_char(out, ']');
}

static void add_probs(struct ran_buf *out, const struct classifier *c, const float *p)
{
        ran_buf_str(out, ",\"probs\":{");
        for (size_t i = 0; i < c->C; i++) {
                ran_buf_str(out, i == 0 ? "" : ",");
                add_label(out, c, i);
                ran_buf_char(out, ':');
                ran_buf_float(out, p[i]);
        }
        ran_buf_char(out, '}');
}

/* The labels that a record would have, and its text. */
static int write_fasttext(const struct classifier *c, const struct scratch *s,
                          const struct ran_record *record, struct ran_buf *out,
                          struct ran_error *err)
{
        size_t best = ran_most_probable(s->p, c->C);

        for (size_t i = 0; c->thresholds != NULL && i < c->C; i++)
                if (s->p[i] >= c->thresholds[i])
                        fasttext_add_label(out, ran_model_label(c->model, i));
        if (c->thresholds == NULL && is_given(c, s->p, best))
                fasttext_add_label(out, ran_model_label(c->model, best));
        return fasttext_add_text(out, record, err);
}

static int predict(void *arg, void *scratch, const struct cmd_line *line, struct ran_buf *out,
                   struct ran_error *err)
{
        const struct classifier *c = arg;
        struct scratch *s = scratch;
        int code = score(c, s, &line->record, err);

        if (code == RAN_OK && s->evidence != NULL)
                code = classify_evidence_read(s->evidence, &s->document, &line->record, err);
        if (code != RAN_OK)
                return code;
        if (output.lines)
                return write_fasttext(c, s, &line->record, out, err);
        ran_buf_char(out, '{');
        if (c->thresholds != NULL)
                code = add_multiple(out, c, s, err);
        else
                add_single(out, c, s->p);
        if (options.top > 0)
                add_top(out, c, s);
        if (options.probs)
                add_probs(out, c, s->p);
        if (options.logits)
                add_floats(out, "logits", s->logits, c->C);
        if (options.embed)
                add_floats(out, "embedding", s->embedding, c->D);
        if (s->evidence != NULL && c->thresholds == NULL && code == RAN_OK) {
                size_t best = ran_most_probable(s->p, c->C);

                code = classify_evidence_add(s->evidence, best, s->p[best], out, err);
        }
        cmd_document_truncated(&s->document, out);
        ran_buf_char(out, '}');
        return code;
}

/* ---- evaluation ----------------------------------------------------------------------------- */

/* Probabilities, for take; nothing for a record that has no label. */
static int score_labelled(void *arg, void *scratch, const struct cmd_line *line,
                          struct ran_buf *result, struct ran_error *err)
{
        const struct classifier *c = arg;
        struct scratch *s = scratch;

        if (!cmd_labels_there(&line->record))
                return RAN_OK;
        int code = score(c, s, &line->record, err);
        if (code == RAN_OK)
                ran_buf_add(result, s->p, c->C * sizeof(*s->p));
        return code;
}

static int compare_labels(void *arg, const struct cmd_line *line, const struct ran_buf *result,
                          struct ran_error *err)
{
        struct classifier *c = arg;
        const float *p = result->len > 0 ? (const float *)(const void *)result->data : NULL;

        return classify_eval_add(&c->eval, &line->record, p, err);
}

static void write_report(const struct classifier *c)
{
        struct ran_buf report = {0};

        classify_eval_report(&c->eval, options.eval_format == EVAL_TEXT, &report);
        cmd_write_file(output.output, &report);
        ran_buf_release(&report);
}

/* ---- the program ---------------------------------------------------------------------------- */

static const char *const reads[] = {"id", "ran_error", CMD_DOCUMENT_MEMBERS, CMD_LABEL_MEMBERS,
                                    NULL};

static int evaluate(struct classifier *c, struct cmd_loop *loop, char **files)
{
        struct cmd_names names;
        struct cmd_counts counts;
        struct ran_error err;

        cmd_check_inputs("output", output.output, files);
        if (output.output != NULL)
                cmd_check_writable(output.output);
        if (classify_eval_init(&c->eval, c->model, c->thresholds, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        if (options.coverage > 0)
                ran_eval_sets(c->eval.eval, c->cut);
        cmd_names_open(&names, options.label_names, false);
        c->eval.labels.called = &names;
        loop->work = score_labelled;
        loop->take = compare_labels;
        loop->accepted = true;
        int status = cmd_records(loop, files, &counts);
        if (c->eval.compared == 0)
                cmd_die(CMD_FAILED, "no record has a label: there is nothing to compare with%s",
                        cmd_label_advice(&counts));
        if (c->eval.skipped > 0)
                cmd_note("%zu records have no label and were left out", c->eval.skipped);
        write_report(c);
        classify_eval_release(&c->eval);
        cmd_names_release(&names);
        return status;
}

static int run(struct classifier *c, char **files)
{
        struct cmd_loop loop = {
                .input = &input,
                .output = &output,
                .into = "prediction",
                .reads = reads,
                .pool = c->pool,
                .make_scratch = make_scratch,
                .free_scratch = free_scratch,
                .work = predict,
                .arg = c,
        };

        return options.eval ? evaluate(c, &loop, files) : cmd_records(&loop, files, NULL);
}

static struct ran_model *open_model(void)
{
        static const char *const of_records[] = {"top",  "probs", "logits", "embed",
                                                 "into", "only",  "drop",   NULL};
        static const char *const of_evidence[] = {"evidence_length", "offsets", NULL};
        static const char *const of_eval[] = {"eval_format", NULL};

        if (options.model == NULL)
                cmd_usage("which model? give --model FILE");
        if (options.eval && evidence_options.evidence > 0)
                cmd_usage("--eval writes a report and no records: nothing to add --evidence to");
        cmd_requires(evidence_options.evidence > 0, "--evidence K", of_evidence);
        cmd_requires(options.eval, "--eval", of_eval);
        cmd_document_check(&document_options);
        if (options.abstain && options.coverage == 0)
                cmd_usage("--abstain goes by the set of --coverage: how sure shall it be?");
        cmd_excludes(options.eval, "--eval writes a report and no records", of_records);
        if (options.eval && options.abstain)
                cmd_usage("--eval writes a report and no records: leave out --abstain; the report "
                          "tells what it would do");
        struct ran_model *m = cmd_model_open(options.model, options.verify, RAN_TASK_CLASSIFY);
        if (options.eval && options.threshold > 0 && !ran_model_config(m)->multilabel)
                cmd_usage("--threshold with --eval is for models that give several labels");
        if (options.label_names != NULL && !options.eval)
                cmd_usage("--label-names is for --eval: the labels of the model have names");
        if (options.coverage > 0 && ran_model_config(m)->multilabel)
                cmd_usage(
                        "--coverage is for models that give one label; what %s gives, several, is "
                        "chosen by --threshold",
                        options.model);
        return m;
}

/* Lines of fastText have labels and text, and labels have no white space. */
static void check_fasttext(const struct ran_model *m)
{
        static const char *const others[] = {"top",  "probs", "logits", "embed", "evidence",
                                             "eval", "into",  "only",   "drop",  NULL};

        cmd_excludes(options.output_format == OUTPUT_FASTTEXT,
                     "--output-format=fasttext writes labels and text only", others);
        if (options.output_format != OUTPUT_FASTTEXT)
                return;
        output.lines = true;
        for (size_t c = 0; c < ran_model_classes(m); c++)
                if (!fasttext_has_label(ran_model_label(m, c)))
                        cmd_die(CMD_FAILED,
                                "the label \"%s\" is empty or has white space, which "
                                "--output-format=fasttext cannot write",
                                ran_model_label(m, c));
}

/* Those of the command line, else of the model; the caller frees them. */
static float *choose_thresholds(const struct ran_model *m)
{
        size_t C = ran_model_classes(m);
        struct ran_error err;
        float *thresholds = ran_alloc_floats(C, &err);

        if (thresholds == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        for (size_t c = 0; c < C; c++)
                thresholds[c] = options.threshold > 0 ? (float)options.threshold
                                                      : ran_model_thresholds(m)[c];
        return thresholds;
}

static float choose_cut(const struct ran_model *m)
{
        struct ran_error err;
        float cut = 0;

        if (options.coverage > 0 && ran_model_cut(m, options.coverage, &cut, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s: %s", options.model, err.text);
        return cut;
}

int main(int argc, char **argv)
{
        char **files = cmd_files(&input, argv + cmd_parse(&program, argc, argv));
        struct ran_model *model = open_model();
        check_fasttext(model);
        bool several = ran_model_config(model)->multilabel;
        float *thresholds = several ? choose_thresholds(model) : NULL;
        struct classifier c = {
                .model = model,
                .pool = cmd_pool(),
                .C = ran_model_classes(model),
                .D = ran_model_config(model)->dim,
                .thresholds = thresholds,
                .cut = choose_cut(model),
        };
        int status = run(&c, files);

        ran_pool_free(c.pool);
        free(thresholds);
        ran_model_free(model);
        return cmd_finish(status);
}
