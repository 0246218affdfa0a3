/* generate.c - texts that go on from a prompt, one token after another.
 *
 * A document is read once: the prompt in one piece, then each token that is made, so that a token
 * costs its own computation and nothing else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/message.h"
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
        {"prompt", 0, RAN_FIELD_TEXT, OPTION(prompt), .value = "TEXT", .local = true,
         .help = "go on from TEXT (answer it, if that is what the model does) and write plain text "
                 "as it is made; reads no records"},
        {"max_new_tokens", 0, RAN_FIELD_SIZE, OPTION(max_new_tokens), 1, INFINITY, .value = "N",
         .initial = "100", .help = "end a text after N tokens"},
        {"stop", 0, RAN_FIELD_LIST, OPTION(stop), .value = "STRING",
         .help = "end a text before STRING (may be given again)"},
        {0},
};
static const struct ran_field chance_fields[] = {
        {"temperature", 0, RAN_FIELD_REAL, OPTION(temperature), 0, 1e6, .value = "T",
         .initial = "1",
         .help = "below 1 makes the probable more probable; 0: always the most probable token"},
        {"top_k", 0, RAN_FIELD_SIZE, OPTION(top_k), 0, INFINITY, .value = "K", .initial = "0",
         .help = "take one of the K most probable tokens; 0: of all"},
        {"top_p", 0, RAN_FIELD_REAL, OPTION(top_p), 0, 1, .value = "P", .initial = "1",
         .help = "take one of the fewest tokens that together have the probability P; 1: of all"},
        {"seed", 0, RAN_FIELD_SIZE, OPTION(seed), 0, 9007199254740991.0, .value = "N",
         .initial = "1", .help = "another seed gives other texts"},
        {"unknown", 0, RAN_FIELD_BOOL, OPTION(unknown), .initial = "false",
         .help = "let [UNK] stand for words that the vocabulary does not have"},
        {"per_token", 0, RAN_FIELD_BOOL, OPTION(per_token), .initial = "false",
         .help = "add each token to the record, and its share of the nll"},
        {0},
};
static const struct cmd_group groups[] = {
        {"Model", lm_model_fields, &model_options},
        {"Text", text_fields, &options},
        {"Chance", chance_fields, &options},
        {"State", lm_state_fields, &model_options},
        {"Input", cmd_input_fields, &input},
        {"Output", cmd_output_fields, &output},
        {0},
};
static const struct cmd_program program = {
        .name = "ran-lm generate",
        .usage = "-m MODEL --prompt TEXT [option...]\n"
                 "-m MODEL [option...] [file...]",
        .summary = "Goes on from a prompt, or from the text of each JSON record, or finds a target "
                   "for its source, and adds that as the member \"lm\".",
        .notes = "Without --prompt, and without a file or for the file -, records come from "
                 "standard input. Exit status: 0, all records good; 1, some failed; 2, usage; 3, "
                 "something could not be read, written or held in memory.",
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
        struct ran_lm_context
                *past; /* the document at work: this one's, or the one that all go on with */
        bool own;      /* it is this one's */
        struct ran_sampler sampler;
        struct cmd_sequence sequence;
        float *logits; /* (V) after what was read so far */
        /* What was made. */
        uint32_t *ids; /* (made) */
        float *nll;    /* (made) */
        size_t made, ids_cap, nll_cap;
        struct lm_text text; /* with a vocabulary */
        const char *finish;
};

static void free_scratch(void *arg)
{
        struct scratch *s = arg;

        ran_state_free(s->state);
        if (s->own)
                ran_lm_context_free(s->past);
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
        s->own = g->lm.past == NULL;
        s->past = s->own ? ran_lm_context_new(g->lm.model, err) : g->lm.past;
        if (s->state != NULL && s->logits != NULL && s->past != NULL)
                return s;
        free_scratch(s);
        return NULL;
}

static int read_on(const struct generator *g, struct scratch *s, const uint32_t *ids, size_t n,
                   size_t sources, struct ran_error *err)
{
        const struct ran_lm_out out = {.last = s->logits};

        return ran_lm_read(g->lm.model, s->state, s->past, ids, n, sources, &out, err);
}

/* What chance depends on: the seed, the id of the record, and what the text goes on from, but not
 * the other records. */
static uint64_t key_of(const struct scratch *s, const struct ran_record *record)
{
        const struct ran_member *id = record != NULL ? ran_record_find(record, "id", NULL) : NULL;
        uint64_t key = 0;

        for (size_t i = 0; id != NULL && id->type != '0' && i < id->value.end - id->value.begin;
             i++)
                key = ran_draw(key, (unsigned char)record->line[id->value.begin + i]);
        for (size_t t = 0; t < s->sequence.L; t++)
                key = ran_draw(key, s->sequence.ids[t]);
        return ran_key(options.seed, RAN_FOR_SAMPLING, ran_lm_context_tokens(s->past), key);
}

static int keep_token(const struct generator *g, struct scratch *s, uint32_t id,
                      struct ran_error *err)
{
        uint32_t *ids = ran_grow(s->ids, &s->ids_cap, s->made + 1, sizeof *ids, err);

        if (ids == NULL)
                return RAN_ENOMEM;
        s->ids = ids;
        float *nll = ran_grow(s->nll, &s->nll_cap, s->made + 1, sizeof *nll, err);
        if (nll == NULL)
                return RAN_ENOMEM;
        s->nll = nll;
        ids[s->made] = id;
        nll[s->made++] = (float)ran_nll(s->logits, g->lm.V, id);
        return RAN_OK;
}

/* Makes one more token of logits, and sets finish if it is the last. */
static int make_token(const struct generator *g, struct scratch *s, uint64_t key,
                      struct ran_error *err)
{
        uint32_t id = 0;
        int code = ran_sampler_draw(&s->sampler, s->logits, g->lm.V, ran_uniform(key, s->made), &id,
                                    err);

        if (code == RAN_OK)
                code = keep_token(g, s, id, err);
        if (code != RAN_OK)
                return code;
        if (id == g->lm.reserved.end) {
                s->finish = "end";
                return RAN_OK;
        }
        if (g->lm.tokenizer != NULL)
                code = lm_text_add(&s->text, id, err);
        if (s->text.stopped)
                s->finish = "stop";
        else if (s->made == options.max_new_tokens)
                s->finish = "length";
        return code;
}

/* The token that the new text stands behind, as far as spaces go: none, after [START] and [SEP]. */
static uint32_t token_before(const struct lm *lm, const struct cmd_sequence *q)
{
        uint32_t id = q->ids[q->L - 1];

        return id == lm->reserved.start || id == lm->reserved.sep || id == lm->reserved.end
                       ? RAN_NO_ID
                       : id;
}

/* Goes on from the sequence. show, which may be NULL, is called when there may be more of the text
 * to show. */
static int make_text(const struct generator *g, struct scratch *s, uint64_t key,
                     void (*show)(void *arg, const struct lm_text *text), void *arg,
                     struct ran_error *err)
{
        const struct cmd_sequence *q = &s->sequence;
        const uint32_t *next = q->ids;
        size_t n = q->L, sources = q->sources;
        int code = RAN_OK;

        s->made = 0;
        s->finish = NULL;
        lm_text_begin(&s->text, g->lm.tokenizer, &options.stop, token_before(&g->lm, q));
        while (s->finish == NULL) {
                code = read_on(g, s, next, n, sources, err);
                if (code == RAN_OK)
                        code = make_token(g, s, key, err);
                if (code != RAN_OK)
                        break;
                if (show != NULL)
                        show(arg, &s->text);
                next = s->ids + s->made - 1;
                n = 1;
                sources = 0;
        }
        lm_text_end(&s->text);
        if (code == RAN_OK && !s->own)
                ran_lm_context_set_pending(s->past, s->ids[s->made - 1]);
        return code;
}

/* ---- records -------------------------------------------------------------------------------- */

static void add_result(struct ran_buf *out, const struct generator *g, const struct scratch *s)
{
        double nll = 0;

        for (size_t i = 0; i < s->made; i++)
                nll += (double)s->nll[i];
        ran_buf_char(out, '{');
        if (g->lm.tokenizer != NULL) {
                ran_buf_str(out, "\"text\":");
                ran_buf_json(out, s->text.text.data, s->text.text.len);
                ran_buf_char(out, ',');
        }
        if (s->sequence.document.from == CMD_FROM_IDS) {
                ran_buf_str(out, "\"ids\":");
                lm_add_ids(out, s->ids, s->made);
                ran_buf_char(out, ',');
        }
        ran_buf_printf(out, "\"tokens\":%zu,\"finish\":\"%s\",\"nll\":", s->made, s->finish);
        ran_buf_double(out, nll);
        if (options.per_token) {
                ran_buf_str(out, ",\"per_token\":{");
                lm_add_tokens(out, &g->lm, s->ids, s->nll, s->made);
                ran_buf_char(out, '}');
        }
        ran_buf_char(out, '}');
}

static int answer_record(void *arg, void *scratch, const struct cmd_line *line, struct ran_buf *out,
                         struct ran_error *err)
{
        const struct generator *g = arg;
        struct scratch *s = scratch;
        struct cmd_sequence_how how = lm_how(&g->lm);

        how.ask = true;
        int code = cmd_sequence_read(&s->sequence, &how, &line->record, err);
        if (code != RAN_OK)
                return code;
        if (s->own)
                ran_lm_context_clear(s->past);
        code = make_text(g, s, key_of(s, &line->record), NULL, NULL, err);
        if (code == RAN_OK)
                add_result(out, g, s);
        return code;
}

static const char *const reads[] = {"id", "ran_error", CMD_SEQUENCE_MEMBERS, NULL};

static int answer_records(struct generator *g, char **files)
{
        const struct cmd_loop loop = {
                .input = &input,
                .output = &output,
                .into = "lm",
                .reads = reads,
                .pool = lm_loop_pool(&g->lm),
                .make_scratch = make_scratch,
                .free_scratch = free_scratch,
                .work = answer_record,
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

static int answer_prompt(struct generator *g)
{
        struct ran_error err;
        struct stream stream = {0};
        struct cmd_sequence_how how = lm_how(&g->lm);

        if (g->lm.tokenizer == NULL)
                cmd_die(CMD_FAILED,
                        "%s: this model has no vocabulary: it goes on from records with "
                        "\"ids\"",
                        model_options.model);
        if (output.output != NULL)
                cmd_check_writable(output.output);
        struct scratch *s = make_scratch(g, &err);
        int rc = s == NULL ? RAN_ENOMEM
                           : cmd_sequence_read_text(&s->sequence, &how, options.prompt,
                                                    strlen(options.prompt), &err);
        if (rc == RAN_OK)
                rc = make_text(g, s, key_of(s, NULL), show_text, &stream, &err);
        if (rc == RAN_OK) {
                show_text(&stream, &s->text); /* what had to wait for the end */
                ran_buf_char(&stream.out, '\n');
                cmd_write_file(output.output, &stream.out);
                if (cmd_common.verbose)
                        cmd_note("%zu tokens, finish: %s", s->made, s->finish);
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
                cmd_usage("--prompt writes plain text: --per-token is for records");
        for (size_t i = 0; i < options.stop.n; i++)
                if (options.stop.item[i][0] == '\0')
                        cmd_usage("--stop needs a text that is not empty");
        cmd_excludes(options.prompt != NULL, "--prompt reads no records", of_records);
        cmd_excludes_fields(options.prompt != NULL, "--prompt reads no records", cmd_input_fields);
        if (options.prompt == NULL)
                return;
        if (files[0] != NULL)
                cmd_usage("--prompt reads no records: %s is one file too many", files[0]);
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
                cmd_die(CMD_USAGE, "%s: this model has no vocabulary, and makes no text to --stop",
                        model_options.model);
        g.never = lm_never(&g.lm, options.unknown, model_options.state_out == NULL, &err);
        if (g.never == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        int status = options.prompt != NULL ? answer_prompt(&g) : answer_records(&g, files);
        lm_keep(&g.lm, &model_options);
        free(g.never);
        lm_close(&g.lm);
        return cmd_finish(status);
}
