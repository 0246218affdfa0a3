/* generate.c - ran-lm generate: its options, and continuations of records or of a prompt. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"
#include "cmd/records/loop.h"
#include "cmd/lm/lm.h"

/* ---- options -------------------------------------------------------------------------------- */

static struct lm_options model_options;
static struct generate_options {
        struct continuation_options how;
        char *prompt;
} options;
static struct lm_evaluate_options evaluation;
static struct cmd_parallel parallel;
static struct cmd_input input;
static struct cmd_output output;

#define OPTION(member) offsetof(struct generate_options, member)

static const struct ran_field text_fields[] = {
        {"prompt", 0, RAN_FIELD_TEXT, OPTION(prompt), .value = "TEXT", .local = true, .first = true,
         .help = "continue TEXT, or generate its target, and write plain text, token by token; no "
                 "records are read"},
        {"max_new_tokens", 0, RAN_FIELD_SIZE, OPTION(how.max_new_tokens), 1, INFINITY, .value = "N",
         .initial = "100", .first = true,
         .help = "end a text after N tokens, unless the model ends it before"},
        {"min_new_tokens", 0, RAN_FIELD_SIZE, OPTION(how.min_new_tokens), 0, INFINITY, .value = "N",
         .initial = "0", .help = "do not let the model end a text before N tokens"},
        {"no_repeat_ngram", 0, RAN_FIELD_SIZE, OPTION(how.no_repeat_ngram), 0, INFINITY,
         .value = "N", .initial = "0",
         .help = "generate no N adjacent tokens twice in a text; 0: no limit"},
        {"stop", 0, RAN_FIELD_LIST, OPTION(how.stop), .value = "STRING", .first = true,
         .help = "end a text before STRING (repeatable)"},
        {0},
};
static const struct ran_field sampling_fields[] = {
        {"temperature", 0, RAN_FIELD_REAL, OPTION(how.temperature), 0, 1e6, .value = "T",
         .initial = "1", .first = true,
         .help = "divide the logits by T: below 1 favours probable tokens; 0: always the most "
                 "probable one"},
        {"top_k", 0, RAN_FIELD_SIZE, OPTION(how.top_k), 0, INFINITY, .value = "K", .initial = "0",
         .first = true, .help = "sample from the K most probable tokens; 0: all"},
        {"top_p", 0, RAN_FIELD_REAL, OPTION(how.top_p), 0, 1, .value = "P", .initial = "1",
         .first = true,
         .help = "sample from the most probable tokens that together have the probability P; 1: "
                 "all"},
        {"seed", 0, RAN_FIELD_SIZE, OPTION(how.seed), 0, 9007199254740991.0, .value = "N",
         .initial = "1", .first = true, .help = "random seed; another seed gives other texts"},
        {"unknown", 0, RAN_FIELD_BOOL, OPTION(how.unknown), .initial = "false",
         .help = "allow [UNK] where the model expects a word outside the vocabulary"},
        {"per_token", 0, RAN_FIELD_BOOL, OPTION(how.per_token), .initial = "false",
         .help = "add each generated token and its nll"},
        {0},
};
static const struct ran_field beam_fields[] = {
        {"beam", 0, RAN_FIELD_SIZE, OPTION(how.beam), 0, 1 << 20, .value = "N", .initial = "0",
         .first = true,
         .help = "search for the most probable text, with the N best beginnings at each step, "
                 "instead of sampling; 0: sample"},
        {"length_penalty", 0, RAN_FIELD_REAL, OPTION(how.length_penalty), 0, 100, .value = "A",
         .initial = "1",
         .help = "score of a text: its log probability divided by its number of tokens to the "
                 "power A; 0 favours short texts",
         .needs = "beam"},
        {"n_best", 0, RAN_FIELD_SIZE, OPTION(how.n_best), 0, 1 << 20, .value = "N", .initial = "0",
         .help = "add the member \"n_best\": a list of the N best texts, at most as many as the "
                 "beam has",
         .needs = "beam"},
        {0},
};
static const struct cmd_group groups[] = {
        {"Model", lm_model_fields, &model_options},      {"Text", text_fields, &options},
        {"Sampling", sampling_fields, &options},         {"Beam search", beam_fields, &options},
        {"Evaluation", lm_evaluate_fields, &evaluation}, {"State", lm_state_fields, &model_options},
        {"Plain files", cmd_parallel_fields, &parallel}, {"Input", cmd_input_fields, &input},
        {"Output", cmd_output_fields, &output},          {0},
};
static void check_together(void *unused)
{
        const struct continuation_options *how = &options.how;
        const bool only = evaluation.eval_only != NULL;

        (void)unused;
        cmd_excludes(options.prompt != NULL, "--prompt reads no records",
                     "into only drop per_token n_best [Input] "
                     "[Plain files]");
        cmd_excludes(how->beam > 0, "--beam searches for the most probable text",
                     "temperature top_k top_p seed");
        cmd_excludes(how->beam > 0, "--beam follows several texts at once",
                     "stop state_in state_out");
        cmd_excludes(evaluation.eval || only, "the report has no texts",
                     "prompt into only drop per_token n_best state_in state_out");
        cmd_excludes(only, "--eval-only generates nothing",
                     "model verify beam temperature top_k top_p max_new_tokens min_new_tokens stop "
                     "no_repeat_ngram unknown eval");
}

static const struct cmd_program program = {
        .name = "ran-lm generate",
        .usage = "-m MODEL --prompt TEXT [option...]\n"
                 "-m MODEL [option...] [file...]\n"
                 "--eval-only MEMBER [option...] [file...]",
        .summary = "Generates a continuation of a prompt or of the text of each JSON record, or "
                   "the target of its source, and adds it as the member \"lm\".",
        .notes = "Without --prompt, it reads records from the files, or without files, or for -, "
                 "from standard input. Exit status: 0, all records good; 1, some failed; 2, usage; "
                 "3, a file could not be read or written, or memory ran out.",
        .groups = groups,
        .check = check_together,
};

/* ---- records -------------------------------------------------------------------------------- */

static int generate_record(void *arg, void *scratch, const struct cmd_line *line,
                           struct cmd_result *result, struct ran_error *err)
{
        struct continuation *k = scratch;
        struct ran_buf *out = &result->out;

        (void)arg;
        int rc = continuation_read(k, &line->record, err);
        if (rc == RAN_EFORMAT && parallel.source_file != NULL && k->sequence.document.empty) {
                /* Empty lines are no mistakes of a plain file: their targets are empty, too. */
                ran_buf_str(out, "{\"text\":\"\",\"tokens\":0,\"finish\":\"end\",\"nll\":0}");
                return RAN_OK;
        }
        RAN_TRY(rc);
        RAN_TRY(continuation_make(k, &line->record, NULL, NULL, err));
        return continuation_json(k, out, err);
}

/* With --eval-only the texts are in the records, and g has no model. */
static int generate_records(struct continuation_how *g, char **files)
{
        const bool only = evaluation.eval_only != NULL, evaluates = only || evaluation.eval;
        struct cmd_member member[3] = {{NULL, NULL}};
        size_t n = 0;

        if (only)
                member[n++].name = evaluation.eval_only;
        if (evaluates)
                member[n].name = evaluation.reference;
        const struct cmd_loop loop = {
                .input = &input,
                .output = &output,
                .into = "lm",
                .reads = FIELD(ID) | FIELD(ERROR) | (only ? FIELD(SOURCE) : FIELDS_OF_SEQUENCE),
                .also = member,
                .pool = g->lm.loop_pool,
                .make_scratch = continuation_new,
                .free_scratch = continuation_free,
                .work = generate_record,
                .arg = g,
        };

        return evaluates ? lm_evaluate(&evaluation, loop, g, model_options.model, output.output,
                                       files)
                         : cmd_records(&loop, files, NULL);
}

/* ---- a prompt ------------------------------------------------------------------------------- */

struct stream {
        size_t shown; /* bytes of the text */
        struct ran_buf out;
};

/* To standard output at once, or in the end to --output. */
static void show_text(void *arg, const struct lm_text *text)
{
        struct stream *stream = arg;

        stream->shown = lm_text_show(text, stream->shown, &stream->out);
        if (output.output != NULL || stream->out.len == 0)
                return;
        cmd_write(STDOUT_FILENO, "standard output", stream->out.data, stream->out.len);
        stream->out.len = 0;
}

static int generate_from_prompt(struct continuation_how *g)
{
        struct ran_error err;
        struct stream stream = {0};
        struct cmd_sequence_how how = lm_how(&g->lm);

        if (g->lm.tokenizer == NULL)
                cmd_die(CMD_FAILED,
                        "%s: this model has no vocabulary: it continues records with \"ids\"",
                        model_options.model);
        if (output.output != NULL)
                cmd_check_writable(output.output);
        struct continuation *s = continuation_new(g);
        int rc = cmd_sequence_read_text(&s->sequence, &how, options.prompt, strlen(options.prompt),
                                        &err);
        if (rc == RAN_OK)
                rc = continuation_make(s, NULL, show_text, &stream, &err);
        if (rc == RAN_OK) {
                show_text(&stream, &s->text); /* the rest, which is certain now */
                ran_buf_char(&stream.out, '\n');
                cmd_write_file(output.output, &stream.out);
                if (cmd_common.verbose)
                        cmd_note("%zu tokens, finish: %s", s->n_new, s->finish);
        }
        ran_buf_release(&stream.out);
        continuation_free(s);
        if (rc != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        return CMD_OK;
}

/* ---- the program ---------------------------------------------------------------------------- */

static void check_usage(char **files)
{
        const struct continuation_options *how = &options.how;

        if (how->n_best > how->beam)
                cmd_usage("--n-best %zu is more than --beam %zu finds", how->n_best, how->beam);
        if (how->min_new_tokens > how->max_new_tokens)
                cmd_usage("--min-new-tokens %zu is more than --max-new-tokens %zu",
                          how->min_new_tokens, how->max_new_tokens);
        for (size_t i = 0; i < how->stop.n; i++)
                if (how->stop.item[i][0] == '\0')
                        cmd_usage("--stop needs a text that is not empty");
        if (options.prompt == NULL)
                return;
        if (files[0] != NULL)
                cmd_usage("--prompt reads no records: leave out %s", files[0]);
        if (ran_utf8_valid(options.prompt, strlen(options.prompt)) < strlen(options.prompt))
                cmd_usage("--prompt needs a text in UTF-8");
}

static void open_model(struct continuation_how *g, char **files)
{
        const char *model = model_options.model;
        struct lm *lm = &g->lm;

        lm_open(lm, &model_options, RAN_TASK_LM, files);
        cmd_input_remember(&input, lm->model);
        if (lm->tokenizer == NULL && options.how.stop.n > 0)
                cmd_die(CMD_USAGE,
                        "%s: this model has no vocabulary: without a text there is nothing to "
                        "--stop",
                        model);
        if (options.how.beam > lm->V)
                cmd_note("--beam %zu is wider than the vocabulary of %zu tokens: a beam of 4 to 10 "
                         "is faster, and mostly finds the same",
                         options.how.beam, lm->V);
        g->never = lm_never(lm, options.how.unknown, model_options.state_out == NULL);
}

int lm_generate(int argc, char **argv)
{
        struct continuation_how g = {.options = &options.how};
        char **files = cmd_files(&input, argv + cmd_parse(&program, argc, argv));

        check_usage(files);
        cmd_parallel_check_output(&parallel, "output", output.output);
        files = cmd_parallel_begin(&parallel, false, !evaluation.eval, files);
        if (evaluation.eval && !cmd_was_asked("temperature") && !cmd_was_asked("top_k") &&
            !cmd_was_asked("top_p"))
                options.how.temperature = 0;
        if (evaluation.eval_only == NULL)
                open_model(&g, files);
        else
                g.lm.loop_pool = g.lm.pool = cmd_pool();
        int status =
                options.prompt != NULL ? generate_from_prompt(&g) : generate_records(&g, files);
        lm_save_state(&g.lm, &model_options);
        free(g.never);
        lm_close(&g.lm);
        return cmd_finish(status);
}
