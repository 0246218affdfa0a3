/* encode.c - text to tokens, and back. */
#include "cmd/tokenize/tokenize.h"

#include <stdlib.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"
#include "cmd/records/loop.h"
#include "cmd/content/document.h"
#include "cmd/content/vocab.h"
#include "cmd/content/model.h"

/* Both verbs have this. */
struct conversion {
        char *vocab, *model;
        int unit; /* RAN_UNIT_..., for encode */
        struct cmd_input input;
        struct cmd_output output;
        const struct ran_tokenizer *tokenizer;
};

static const struct ran_field vocab_fields[] = {
        {"vocab", 0, RAN_FIELD_TEXT, offsetof(struct conversion, vocab), .value = "FILE",
         .help = "vocabulary: a tokenizer.json (WordLevel, WordPiece, BPE or Unigram), a "
                 "vocab.txt of BERT, or the folder of an encoder",
         .local = true},
        {"model", 'm', RAN_FIELD_TEXT, offsetof(struct conversion, model), .value = "FILE",
         .help = "use the vocabulary of this model", .local = true},
        {0},
};

struct scratch {
        struct cmd_document document;
        struct ran_buf text;
};

static void free_scratch(void *scratch)
{
        struct scratch *s = scratch;

        cmd_document_release(&s->document);
        ran_buf_release(&s->text);
        free(s);
}

/* A verb: the program and the loop lack what both have. more: options of its own, or NULL. */
static int run(struct cmd_program program, const struct ran_field *more, struct cmd_loop loop,
               int argc, char **argv)
{
        static struct conversion c;
        struct cmd_group groups[5] = {{"Vocabulary", vocab_fields, &c}}, *group = groups + 1;
        struct ran_error err;

        if (more != NULL)
                *group++ = (struct cmd_group){"Encoding", more, &c};
        *group++ = (struct cmd_group){"Input", cmd_input_fields, &c.input};
        *group = (struct cmd_group){"Output", cmd_output_fields, &c.output};
        program.groups = groups;
        char **files = cmd_files(&c.input, argv + cmd_parse(&program, argc, argv));
        if ((c.vocab == NULL) == (c.model == NULL))
                cmd_usage("no vocabulary: give --vocab FILE or -m MODEL");
        struct ran_tokenizer *t = c.vocab != NULL ? cmd_vocab_open(c.vocab) : NULL;
        struct ran_model *m = c.model != NULL ? cmd_model_load(c.model, false, &err) : NULL;
        if (c.model != NULL && m == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        if (m != NULL && ran_model_tokenizer(m) == NULL)
                cmd_die(CMD_FAILED, "%s: this model has no vocabulary: it takes ids", c.model);
        c.tokenizer = t != NULL ? t : ran_model_tokenizer(m);
        loop.scratch_size = sizeof(struct scratch);
        loop.free_scratch = free_scratch;
        loop.input = &c.input;
        loop.output = &c.output;
        loop.arg = &c;
        loop.pool = cmd_pool();
        int status = cmd_records(&loop, files, NULL);
        ran_pool_free(loop.pool);
        ran_tokenizer_free(t);
        ran_model_free(m);
        return cmd_finish(status);
}

/* ---- encode --------------------------------------------------------------------------------- */

static const struct ran_field encode_fields[] = {
        {"offsets", 0, RAN_FIELD_CHOICE, offsetof(struct conversion, unit),
         .choices = ran_unit_names, .initial = "codepoint", .help = "unit of the offsets"},
        {0},
};

static int encode_record(void *arg, void *scratch, const struct cmd_line *line,
                         struct cmd_result *result, struct ran_error *err)
{
        const struct conversion *c = arg;
        struct cmd_document *d = &((struct scratch *)scratch)->document;

        d->unit = c->unit;
        RAN_TRY(cmd_document_read_words(d, &line->record, c->tokenizer, err));
        if (d->empty)
                return ran_fail(err, RAN_EFORMAT, "the document has no tokens");
        ran_encoding_json(&d->encoding, c->tokenizer, d->from == CMD_FROM_TOKENS, &result->out);
        return RAN_OK;
}

int tokenize_encode(int argc, char **argv)
{
        const struct cmd_program program = {
                .name = "ran-tokenize encode",
                .usage = "--vocab FILE|-m MODEL [option...] [file...]",
                .summary = "Adds the member \"encoding\" to each record: the subwords of its "
                           "tokens, else of its text, with their ids and offsets.",
        };
        const struct cmd_loop loop = {
                .into = "encoding", .reads = FIELDS_OF_WORDS, .work = encode_record};

        return run(program, encode_fields, loop, argc, argv);
}

/* ---- decode --------------------------------------------------------------------------------- */

static int decode_record(void *arg, void *scratch, const struct cmd_line *line,
                         struct cmd_result *result, struct ran_error *err)
{
        const struct conversion *c = arg;
        struct scratch *s = scratch;

        if (line->record.is[FIELD_ENCODING] == NULL && line->record.is[FIELD_IDS] == NULL)
                return ran_fail(err, RAN_EFORMAT, "no ids: one of encoding and ids is needed");
        RAN_TRY(cmd_document_read(&s->document, &line->record, c->tokenizer,
                                  ran_tokenizer_size(c->tokenizer), NULL, err));
        s->text.len = 0;
        RAN_TRY(ran_tokenizer_decode(c->tokenizer, s->document.ids, s->document.L, &s->text, err));
        ran_buf_json(&result->out, s->text.data, s->text.len);
        return RAN_OK;
}

int tokenize_decode(int argc, char **argv)
{
        const struct cmd_program program = {
                .name = "ran-tokenize decode",
                .usage = "--vocab FILE|-m MODEL [option...] [file...]",
                .summary = "Converts the ids of each record, in its \"encoding\" or its \"ids\", "
                           "to the member \"text\".",
        };
        const struct cmd_loop loop = {
                .into = "text", .reads = FIELD(ENCODING) | FIELD(IDS), .work = decode_record};

        return run(program, NULL, loop, argc, argv);
}
