/* generate.c - continues a text, one token after another.
 *
 * A document is read once: the prompt as a whole, then each generated token. So a token costs its
 * own computation and nothing else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/message.h"
#include "cmd/options/common.h"
#include "cmd/options/options.h"
#include "cmd/options/was-set.h"
#include "cmd/options/write.h"
#include "cmd/records/io.h"
#include "cmd/records/files.h"
#include "cmd/records/loop.h"
#include "cmd/lm/text.h"
#include "cmd/lm/lm.h"
#include "ran.h"

/* ---- options -------------------------------------------------------------------------------- */

static struct lm_options model_options;
static struct generate_options {
        char *prompt;
        size_t max_new_tokens, top_k, seed;
        double temperature, top_p;
        struct ran_list stop;
        bool unknown, per_token;
} options;
static struct cmd_input input;
static struct cmd_output output;

#define OPTION(member) offsetof(struct generate_options, member)

static const struct ran_field text_fields[] = {
        {"prompt", 0, RAN_FIELD_TEXT, OPTION(prompt), .value = "TEXT", .local = true, .first = true,
         .help = "continue TEXT, or generate its target, and write plain text, token by token; no "
                 "records are read"},
        {"max_new_tokens", 0, RAN_FIELD_SIZE, OPTION(max_new_tokens), 1, INFINITY, .value = "N",
         .initial = "100", .first = true,
         .help = "end a text after N tokens, unless the model ends it before"},
        {"stop", 0, RAN_FIELD_LIST, OPTION(stop), .value = "STRING", .first = true,
         .help = "end a text before STRING (repeatable)"},
        {0},
};
static const struct ran_field sampling_fields[] = {
        {"temperature", 0, RAN_FIELD_REAL, OPTION(temperature), 0, 1e6, .value = "T",
         .initial = "1", .first = true,
         .help = "divide the logits by T: below 1 favours probable tokens; 0: always the most "
                 "probable one"},
        {"top_k", 0, RAN_FIELD_SIZE, OPTION(top_k), 0, INFINITY, .value = "K", .initial = "0",
         .first = true, .help = "sample from the K most probable tokens; 0: all"},
        {"top_p", 0, RAN_FIELD_REAL, OPTION(top_p), 0, 1, .value = "P", .initial = "1",
         .first = true,
         .help = "sample from the most probable tokens that together have the probability P; 1: "
                 "all"},
        {"seed", 0, RAN_FIELD_SIZE, OPTION(seed), 0, 9007199254740991.0, .value = "N",
         .initial = "1", .first = true, .help = "random seed; another seed gives other texts"},
        {"unknown", 0, RAN_FIELD_BOOL, OPTION(unknown), .initial = "false",
         .help = "allow [UNK] where the model expects a word outside the vocabulary"},
        {"per_token", 0, RAN_FIELD_BOOL, OPTION(per_token), .initial = "false",
         .help = "add each generated token and its nll"},
        {0},
};
static const struct cmd_group groups[] = {
        {"Model", lm_model_fields, &model_options},
        {"Text", text_fields, &options},
        {"Sampling", sampling_fields, &options},
        {"State", lm_state_fields, &model_options},
        {"Input", cmd_input_fields, &input},
        {"Output", cmd_output_fields, &output},
        {0},
};
static const struct cmd_program program = {
        .name = "ran-lm generate",
        .usage = "-m MODEL --prompt TEXT [option...]\n"
                 "-m MODEL [option...] [file...]",
        .summary = "Generates a continuation of a prompt or of the text of each JSON record, or "
                   "the target of its source, and adds it as the member \"lm\".",
        .notes = "Without --prompt, it reads records from the files, or without files, or for -, "
                 "from standard input. Exit status: 0, all records good; 1, some failed; 2, usage; "
                 "3, a file could not be read or written, or memory ran out.",
        .groups = groups,
};

/* ---- one text ------------------------------------------------------------------------------- */

struct generator {
        struct lm lm;
        bool *never; /* (V) */
};

/* What one thread needs. */
struct scratch {
        struct ran_state *state;
        struct ran_lm_context *context; /* of this document, or the common one of all records */
        bool own;                       /* it is this one's */
        struct ran_sampler sampler;
        struct cmd_sequence sequence;
        float *logits; /* (V) after what was read so far */
        /* What was generated. */
        uint32_t *ids; /* (n_new) */
        float *nll;    /* (n_new) */
        size_t n_new, ids_cap, nll_cap;
        struct lm_text text; /* with a vocabulary */
        const char *finish;
};

static void free_scratch(void *arg)
{
        struct scratch *s = arg;

        ran_state_free(s->state);
        if (s->own)
                ran_lm_context_free(s->context);
        ran_sampler_release(&s->sampler);
        cmd_sequence_release(&s->sequence);
        free(s->logits);
        free(s->ids);
        free(s->nll);
        lm_text_release(&s->text);
        free(s);
}

static void *make_scratch(void *arg, struct ran_error *err)
{
        const struct generator *g = arg;
        struct scratch *s = ran_alloc(1, sizeof *s, err);

        if (s == NULL)
                return NULL;
        s->sampler = (struct ran_sampler){.temperature = options.temperature,
                                          .top_k = options.top_k,
                                          .top_p = options.top_p,
                                          .never = g->never};
        s->state = ran_state_new(g->lm.model, g->lm.pool, err);
        s->logits = ran_alloc_floats(g->lm.V, err);
        s->own = g->lm.context == NULL;
        s->context = s->own ? ran_lm_context_new(g->lm.model, err) : g->lm.context;
        if (s->state != NULL && s->logits != NULL && s->context != NULL)
                return s;
        free_scratch(s);
        return NULL;
}

static int read_tokens(const struct generator *g, struct scratch *s, const uint32_t *ids, size_t n,
                       size_t sources, struct ran_error *err)
{
        const struct ran_lm_out out = {.last = s->logits};

        return ran_lm_read(g->lm.model, s->state, s->context, ids, n, sources, &out, err);
}

/* Sampling depends on the seed, the id of the record, and the text that is continued, but not on
 * other records. */
static uint64_t key_of(const struct scratch *s, const struct ran_record *record)
{
        const struct ran_member *id = record != NULL ? ran_record_find(record, "id", NULL) : NULL;
        uint64_t key = 0;

        for (size_t i = 0; id != NULL && id->type != '0' && i < id->value.end - id->value.begin;
             i++)
                key = ran_random_draw(key, (unsigned char)record->line[id->value.begin + i]);
        for (size_t t = 0; t < s->sequence.L; t++)
                key = ran_random_draw(key, s->sequence.ids[t]);
        return ran_random_key(options.seed, RAN_FOR_SAMPLING, ran_lm_context_tokens(s->context),
                              key);
}

static int append_token(const struct generator *g, struct scratch *s, uint32_t id,
                        struct ran_error *err)
{
        uint32_t *ids = ran_grow(s->ids, &s->ids_cap, s->n_new + 1, sizeof *ids, err);

        if (ids == NULL)
                return RAN_ENOMEM;
        s->ids = ids;
        float *nll = ran_grow(s->nll, &s->nll_cap, s->n_new + 1, sizeof *nll, err);
        if (nll == NULL)
                return RAN_ENOMEM;
        s->nll = nll;
        ids[s->n_new] = id;
        nll[s->n_new++] = (float)ran_nll(s->logits, g->lm.V, id);
        return RAN_OK;
}

/* Samples one more token from the logits, and sets finish if it is the last. */
static int generate_token(const struct generator *g, struct scratch *s, uint64_t key,
                          struct ran_error *err)
{
        uint32_t id = 0;

        RAN_TRY(ran_sampler_draw(&s->sampler, s->logits, g->lm.V, ran_random_uniform(key, s->n_new),
                                 &id, err));
        RAN_TRY(append_token(g, s, id, err));
        if (id == g->lm.reserved.end) {
                s->finish = "end";
                return RAN_OK;
        }
        if (g->lm.tokenizer != NULL)
                RAN_TRY(lm_text_add(&s->text, id, err));
        if (s->text.stopped)
                s->finish = "stop";
        else if (s->n_new == options.max_new_tokens)
                s->finish = "length";
        return RAN_OK;
}

/* The token before the new text, which decides on a space; none after [START] and [SEP]. */
static uint32_t token_before(const struct lm *lm, const struct cmd_sequence *q)
{
        uint32_t id = q->ids[q->L - 1];

        return id == lm->reserved.start || id == lm->reserved.sep || id == lm->reserved.end
                       ? RAN_NO_ID
                       : id;
}

/* Continues the sequence. show, which may be NULL, is called when the text may have grown. */
static int generate_text(const struct generator *g, struct scratch *s, uint64_t key,
                         void (*show)(void *arg, const struct lm_text *text), void *arg,
                         struct ran_error *err)
{
        const struct cmd_sequence *q = &s->sequence;
        const uint32_t *next = q->ids;
        size_t n = q->L, sources = q->sources;
        int code = RAN_OK;

        s->n_new = 0;
        s->finish = NULL;
        lm_text_begin(&s->text, g->lm.tokenizer, &options.stop, token_before(&g->lm, q));
        while (s->finish == NULL) {
                code = read_tokens(g, s, next, n, sources, err);
                if (code == RAN_OK)
                        code = generate_token(g, s, key, err);
                if (code != RAN_OK)
                        break;
                if (show != NULL)
                        show(arg, &s->text);
                next = s->ids + s->n_new - 1;
                n = 1;
                sources = 0;
        }
        lm_text_end(&s->text);
        if (code == RAN_OK && !s->own)
                ran_lm_context_set_pending(s->context, s->ids[s->n_new - 1]);
        return code;
}

/* ---- records -------------------------------------------------------------------------------- */

static void add_result(struct ran_buf *out, const struct generator *g, const struct scratch *s)
{
        double nll = 0;

        for (size_t i = 0; i < s->n_new; i++)
                nll += (double)s->nll[i];
        ran_buf_char(out, '{');
        if (g->lm.tokenizer != NULL) {
                ran_buf_str(out, "\"text\":");
                ran_buf_json(out, s->text.text.data, s->text.text.len);
                ran_buf_char(out, ',');
        }
        if (s->sequence.document.from == CMD_FROM_IDS) {
                ran_buf_str(out, "\"ids\":");
                lm_add_ids(out, s->ids, s->n_new);
                ran_buf_char(out, ',');
        }
        ran_buf_printf(out, "\"tokens\":%zu,\"finish\":\"%s\",\"nll\":", s->n_new, s->finish);
        ran_buf_double(out, nll);
        if (options.per_token) {
                ran_buf_str(out, ",\"per_token\":{");
                lm_add_tokens(out, &g->lm, s->ids, s->nll, s->n_new);
                ran_buf_char(out, '}');
        }
        ran_buf_char(out, '}');
}

static int generate_record(void *arg, void *scratch, const struct cmd_line *line,
                           struct ran_buf *out, struct ran_error *err)
{
        const struct generator *g = arg;
        struct scratch *s = scratch;
        struct cmd_sequence_how how = lm_how(&g->lm);

        how.ask = true;
        RAN_TRY(cmd_sequence_read(&s->sequence, &how, &line->record, err));
        if (s->own)
                ran_lm_context_clear(s->context);
        RAN_TRY(generate_text(g, s, key_of(s, &line->record), NULL, NULL, err));
        add_result(out, g, s);
        return RAN_OK;
}

static const char *const reads[] = {"id", "ran_error", CMD_SEQUENCE_MEMBERS, NULL};

static int generate_records(struct generator *g, char **files)
{
        const struct cmd_loop loop = {
                .input = &input,
                .output = &output,
                .into = "lm",
                .reads = reads,
                .pool = lm_loop_pool(&g->lm),
                .make_scratch = make_scratch,
                .free_scratch = free_scratch,
                .work = generate_record,
                .arg = g,
        };

        return cmd_records(&loop, files, NULL);
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
        if (stream->out.failed)
                cmd_die(CMD_FAILED, "no memory for the text");
        if (output.output != NULL || stream->out.len == 0)
                return;
        cmd_write(STDOUT_FILENO, "standard output", stream->out.data, stream->out.len);
        stream->out.len = 0;
}

static int generate_from_prompt(struct generator *g)
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
        struct scratch *s = make_scratch(g, &err);
        int rc = s == NULL ? RAN_ENOMEM
                           : cmd_sequence_read_text(&s->sequence, &how, options.prompt,
                                                    strlen(options.prompt), &err);
        if (rc == RAN_OK)
                rc = generate_text(g, s, key_of(s, NULL), show_text, &stream, &err);
        if (rc == RAN_OK) {
                show_text(&stream, &s->text); /* the rest, which is certain now */
                ran_buf_char(&stream.out, '\n');
                cmd_write_file(output.output, &stream.out);
                if (cmd_common.verbose)
                        cmd_note("%zu tokens, finish: %s", s->n_new, s->finish);
        }
        ran_buf_release(&stream.out);
        if (s != NULL)
                free_scratch(s);
        if (rc != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        return CMD_OK;
}

/* ---- the program ---------------------------------------------------------------------------- */

static void check_usage(char **files)
{
        static const char *const of_records[] = {"into", "only", "drop", NULL};

        if (options.prompt != NULL && options.per_token)
                cmd_usage("--prompt writes plain text: leave out --per-token");
        for (size_t i = 0; i < options.stop.n; i++)
                if (options.stop.item[i][0] == '\0')
                        cmd_usage("--stop needs a text that is not empty");
        cmd_excludes(options.prompt != NULL, "--prompt reads no records", of_records);
        cmd_excludes_fields(options.prompt != NULL, "--prompt reads no records", cmd_input_fields);
        if (options.prompt == NULL)
                return;
        if (files[0] != NULL)
                cmd_usage("--prompt reads no records: leave out %s", files[0]);
        if (ran_utf8_valid(options.prompt, strlen(options.prompt)) < strlen(options.prompt))
                cmd_usage("--prompt needs a text in UTF-8");
}

int lm_generate(int argc, char **argv)
{
        struct generator g = {.never = NULL};
        struct ran_error err;
        char **files = cmd_files(&input, argv + cmd_parse(&program, argc, argv));

        check_usage(files);
        lm_open(&g.lm, &model_options, RAN_TASK_LM, files);
        if (g.lm.tokenizer == NULL && options.stop.n > 0)
                cmd_die(CMD_USAGE,
                        "%s: this model has no vocabulary: without a text there is nothing to "
                        "--stop",
                        model_options.model);
        g.never = lm_never(&g.lm, options.unknown, model_options.state_out == NULL, &err);
        if (g.never == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        int status =
                options.prompt != NULL ? generate_from_prompt(&g) : generate_records(&g, files);
        lm_save_state(&g.lm, &model_options);
        free(g.never);
        lm_close(&g.lm);
        return cmd_finish(status);
}
