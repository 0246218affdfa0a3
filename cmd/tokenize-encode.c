/* tokenize-encode.c - text to pieces, and back. */
#include "tokenize.h"

#include <stdlib.h>

#include "cmd.h"
#include "document.h"
#include "vocab.h"

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
         .help = "the vocabulary: a tokenizer.json (WordPiece or WordLevel), or a vocab.txt of "
                 "BERT",
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

static const char *const unit_names[] = {"codepoint", "byte", "utf16", NULL};

static const struct ran_field encode_fields[] = {
        {.name = "offsets",
         .type = RAN_FIELD_CHOICE,
         .offset = offsetof(struct task, unit),
         .choices = unit_names,
         .initial = "codepoint",
         .help = "what the offsets count"},
        {.name = NULL},
};

static int encode_tokens(struct cmd_words *w, const struct task *c, const char *line,
                         const struct ran_member *m, struct ran_error *err)
{
        struct ran_encoding *e = &w->encoding;
        struct ran_span item;
        size_t pos = 0;
        char type;
        int code = RAN_OK;

        if (m->type != 'a')
                return ran_fail(err, RAN_EFORMAT, "\"tokens\" must be an array of strings");
        while (code == RAN_OK && ran_json_next(line, m->value, &pos, NULL, &item, &type)) {
                size_t before = e->n;
                if (type != 's')
                        return ran_fail(err, RAN_EFORMAT, "\"tokens\" must be an array of strings");
                w->text.len = 0;
                code = ran_json_decode(line, item, &w->text, err);
                if (code == RAN_OK)
                        code = ran_tokenizer_encode_word(c->tokenizer, w->text.data, w->text.len, e,
                                                         err);
                if (code == RAN_OK)
                        code = ran_encoding_convert(e, before, w->text.data, w->text.len, c->unit,
                                                    err);
        }
        return code;
}

static int encode_text(struct cmd_words *w, const struct task *c, const char *line,
                       const struct ran_member *m, struct ran_error *err)
{
        if (m->type != 's')
                return ran_fail(err, RAN_EFORMAT, "\"text\" must be a string");
        w->text.len = 0;
        int code = ran_json_decode(line, m->value, &w->text, err);
        if (code == RAN_OK)
                code = ran_tokenizer_encode(c->tokenizer, w->text.data, w->text.len, &w->encoding,
                                            err);
        if (code == RAN_OK)
                code = ran_encoding_convert(&w->encoding, 0, w->text.data, w->text.len, c->unit,
                                            err);
        return code;
}

/* printf is too slow for four numbers a word. */
static void add_number(struct ran_buf *out, size_t x)
{
        char digits[24];
        size_t at = sizeof(digits);

        do {
                digits[--at] = (char)('0' + x % 10);
                x /= 10;
        } while (x > 0);
        ran_buf_add(out, digits + at, sizeof(digits) - at);
}

static void add_comma(struct ran_buf *out, size_t i)
{
        if (i > 0)
                ran_buf_char(out, ',');
}

static void write_encoding(const struct task *c, const struct ran_encoding *e, bool words,
                           struct ran_buf *out)
{
        ran_buf_printf(out, "{\"vocab\":\"%s\",\"pieces\":[", ran_tokenizer_digest(c->tokenizer));
        for (size_t i = 0; i < e->n; i++) {
                size_t n;
                const char *piece = ran_tokenizer_piece(c->tokenizer, e->ids[i], &n);
                add_comma(out, i);
                ran_buf_json(out, piece, n);
        }
        ran_buf_str(out, "],\"ids\":[");
        for (size_t i = 0; i < e->n; i++) {
                add_comma(out, i);
                add_number(out, e->ids[i]);
        }
        ran_buf_str(out, words ? "],\"words\":[" : "");
        for (size_t i = 0; words && i < e->n; i++) {
                add_comma(out, i);
                add_number(out, e->word[i]);
        }
        ran_buf_str(out, "],\"offsets\":[");
        for (size_t i = 0; i < e->n; i++) {
                add_comma(out, i);
                ran_buf_char(out, '[');
                add_number(out, e->start[i]);
                ran_buf_char(out, ',');
                add_number(out, e->end[i]);
                ran_buf_char(out, ']');
        }
        ran_buf_str(out, "]}");
}

static void *make_words(void *arg, struct ran_error *err)
{
        (void)arg;
        return ran_alloc(1, sizeof(struct cmd_words), err);
}

static void free_words(void *scratch)
{
        cmd_words_release(scratch);
        free(scratch);
}

static int encode_record(void *arg, void *scratch, const struct cmd_line *line,
                         struct ran_buf *result, struct ran_error *err)
{
        const struct task *c = arg;
        struct cmd_words *w = scratch;
        const struct ran_member *tokens = ran_record_find(&line->record, "tokens", NULL);
        const struct ran_member *text = ran_record_find(&line->record, "text", NULL);
        bool words = tokens != NULL && tokens->type != '0';
        int code;

        w->encoding.n = w->encoding.words = 0;
        if (words)
                code = encode_tokens(w, c, line->record.line, tokens, err);
        else if (text != NULL && text->type != '0')
                code = encode_text(w, c, line->record.line, text, err);
        else
                code = ran_fail(err, RAN_EFORMAT, "no text: one of tokens and text is needed");
        if (code == RAN_OK && w->encoding.n == 0)
                code = ran_fail(err, RAN_EFORMAT, "the document has no tokens");
        if (code == RAN_OK)
                write_encoding(c, &w->encoding, words, result);
        return code;
}

int tokenize_encode(int argc, char **argv)
{
        static const char *const reads[] = {"tokens", "text", NULL};
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
                .make_scratch = make_words,
                .free_scratch = free_words,
                .work = encode_record,
        };
        int first = cmd_parse(&program, argc, argv);

        return run(&task, &loop, argv + first);
}

/* ---- decode --------------------------------------------------------------------------------- */

struct decode_scratch {
        struct cmd_document document;
        struct ran_buf text;
};

static void *make_decode_scratch(void *arg, struct ran_error *err)
{
        (void)arg;
        return ran_alloc(1, sizeof(struct decode_scratch), err);
}

static void free_decode_scratch(void *scratch)
{
        struct decode_scratch *s = scratch;

        cmd_document_release(&s->document);
        ran_buf_release(&s->text);
        free(s);
}

static int decode_record(void *arg, void *scratch, const struct cmd_line *line,
                         struct ran_buf *result, struct ran_error *err)
{
        const struct task *c = arg;
        struct decode_scratch *s = scratch;

        if (ran_record_find(&line->record, "encoding", NULL) == NULL &&
            ran_record_find(&line->record, "ids", NULL) == NULL)
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
                .make_scratch = make_decode_scratch,
                .free_scratch = free_decode_scratch,
                .work = decode_record,
        };
        int first = cmd_parse(&program, argc, argv);

        return run(&task, &loop, argv + first);
}
