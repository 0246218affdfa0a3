/* encode.c - text to pieces, and back. */
#include "cmd/tokenize/tokenize.h"

#include <stdlib.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"
#include "cmd/records/io.h"
#include "cmd/records/files.h"
#include "cmd/records/loop.h"
#include "cmd/records/document.h"
#include "cmd/records/vocab.h"

/* What both verbs know. */
struct task {
        char *vocab, *model;
        int unit; /* RAN_UNIT_..., for encode */
        struct cmd_input input;
        struct cmd_output output;
        const struct ran_tokenizer *tokenizer;
};

static const struct ran_field vocab_fields[] = {
        {.name = "vocab",
         .type = RAN_FIELD_TEXT,
         .offset = offsetof(struct task, vocab),
         .value = "FILE",
         .help = "the vocabulary: a tokenizer.json (WordLevel, WordPiece or BPE), or a vocab.txt "
                 "of BERT",
         .local = true},
        {.name = "model",
         .letter = 'm',
         .type = RAN_FIELD_TEXT,
         .offset = offsetof(struct task, model),
         .value = "FILE",
         .help = "a model file, whose vocabulary it is to be",
         .local = true},
        {.name = NULL},
};

struct scratch {
        struct cmd_document document;
        struct ran_buf text;
};

static void *make_scratch(void *arg, struct ran_error *err)
{
        (void)arg;
        return ran_alloc(1, sizeof(struct scratch), err);
}

static void free_scratch(void *scratch)
{
        struct scratch *s = scratch;

        cmd_document_release(&s->document);
        ran_buf_release(&s->text);
        free(s);
}

static struct ran_model *open_model(const char *path)
{
        struct ran_error err;
        struct ran_model *m = ran_model_open(path, false, &err);

        if (m == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        if (ran_model_tokenizer(m) == NULL)
                cmd_die(CMD_FAILED, "%s: this model has no vocabulary: it takes ids", path);
        return m;
}

/* The rest of a verb: runs the loop, whose input, output and arg are those of the task. */
static int run(struct task *task, struct cmd_loop *loop, char **files)
{
        if ((task->vocab == NULL) == (task->model == NULL))
                cmd_usage("which vocabulary? --vocab FILE, or that of -m MODEL");
        struct ran_tokenizer *t = task->vocab != NULL ? cmd_vocab_open(task->vocab) : NULL;
        struct ran_model *m = task->model != NULL ? open_model(task->model) : NULL;
        task->tokenizer = t != NULL ? t : ran_model_tokenizer(m);
        loop->input = &task->input;
        loop->output = &task->output;
        loop->arg = task;
        loop->pool = cmd_pool();
        int status = cmd_records(loop, files, NULL);
        ran_pool_free(loop->pool);
        ran_tokenizer_free(t);
        ran_model_free(m);
        return cmd_finish(status);
}

/* ---- encode --------------------------------------------------------------------------------- */

static const struct ran_field encode_fields[] = {
        {.name = "offsets",
         .type = RAN_FIELD_CHOICE,
         .offset = offsetof(struct task, unit),
         .choices = ran_unit_names,
         .initial = "codepoint",
         .help = "what the offsets count"},
        {.name = NULL},
};

static int encode_record(void *arg, void *scratch, const struct cmd_line *line,
                         struct ran_buf *result, struct ran_error *err)
{
        const struct task *c = arg;
        struct cmd_document *d = &((struct scratch *)scratch)->document;

        d->unit = c->unit;
        int code = cmd_document_read_words(d, &line->record, c->tokenizer, err);
        if (code == RAN_OK && d->empty)
                code = ran_fail(err, RAN_EFORMAT, "the document has no tokens");
        if (code == RAN_OK)
                ran_encoding_json(&d->encoding, c->tokenizer, d->from == CMD_FROM_TOKENS, result);
        return code;
}

int tokenize_encode(int argc, char **argv)
{
        static const char *const reads[] = {"tokens", "text", "data", NULL};
        static struct task task;
        const struct cmd_group groups[] = {
                {"Vocabulary", vocab_fields, &task},
                {"Encoding", encode_fields, &task},
                {"Input", cmd_input_fields, &task.input},
                {"Output", cmd_output_fields, &task.output},
                {NULL, NULL, NULL},
        };
        const struct cmd_program program = {
                .name = "ran-tokenize encode",
                .usage = "--vocab FILE|-m MODEL [option...] [file...]",
                .summary =
                        "Adds to each record the member encoding: the pieces of its tokens, else "
                        "of its text, their ids, and where each stands in the original.",
                .groups = groups,
        };
        struct cmd_loop loop = {
                .into = "encoding",
                .reads = reads,
                .make_scratch = make_scratch,
                .free_scratch = free_scratch,
                .work = encode_record,
        };
        int first = cmd_parse(&program, argc, argv);

        return run(&task, &loop, cmd_files(&task.input, argv + first));
}

/* ---- decode --------------------------------------------------------------------------------- */

/* Whether the record has a member of that name, and not null. */
static bool has(const struct ran_record *record, const char *name)
{
        const struct ran_member *m = ran_record_find(record, name, NULL);

        return m != NULL && m->type != '0';
}

static int decode_record(void *arg, void *scratch, const struct cmd_line *line,
                         struct ran_buf *result, struct ran_error *err)
{
        const struct task *c = arg;
        struct scratch *s = scratch;

        if (!has(&line->record, "encoding") && !has(&line->record, "ids"))
                return ran_fail(err, RAN_EFORMAT, "no ids: one of encoding and ids is needed");
        int code = cmd_document_read(&s->document, &line->record, c->tokenizer,
                                     ran_tokenizer_size(c->tokenizer), NULL, err);
        s->text.len = 0;
        if (code == RAN_OK)
                code = ran_tokenizer_decode(c->tokenizer, s->document.ids, s->document.L, &s->text,
                                            err);
        if (code == RAN_OK)
                ran_buf_json(result, s->text.data, s->text.len);
        return code;
}

int tokenize_decode(int argc, char **argv)
{
        static const char *const reads[] = {"encoding", "ids", NULL};
        static struct task task;
        const struct cmd_group groups[] = {
                {"Vocabulary", vocab_fields, &task},
                {"Input", cmd_input_fields, &task.input},
                {"Output", cmd_output_fields, &task.output},
                {NULL, NULL, NULL},
        };
        const struct cmd_program program = {
                .name = "ran-tokenize decode",
                .usage = "--vocab FILE|-m MODEL [option...] [file...]",
                .summary = "Turns the ids of each record, those of its encoding or bare ones, into "
                           "the member text.",
                .groups = groups,
        };
        struct cmd_loop loop = {
                .into = "text",
                .reads = reads,
                .make_scratch = make_scratch,
                .free_scratch = free_scratch,
                .work = decode_record,
        };
        int first = cmd_parse(&program, argc, argv);

        return run(&task, &loop, cmd_files(&task.input, argv + first));
}
