/* lm-score.c - how likely a language model finds the text of each record. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "figures.h"
#include "lm.h"
#include "ran.h"

/* ---- options -------------------------------------------------------------------------------- */

static struct lm_options model_options;
static struct score_options {
        bool per_token, logits, total, end;
} options;
static struct cmd_input input;
static struct cmd_output output;

#define OPTION(member) offsetof(struct score_options, member)

static const struct ran_field score_fields[] = {
        {"end", 0, RAN_FIELD_BOOL, OPTION(end), .initial = "true",
         .help = "predict the end of each document, too; not while a document goes on"},
        {"total", 0, RAN_FIELD_BOOL, OPTION(total), .initial = "false",
         .help = "write one object with the figures of all records together, and no records"},
        {"per_token", 0, RAN_FIELD_BOOL, OPTION(per_token), .initial = "false",
         .help = "add each token that was predicted, and its share of the nll"},
        {"logits", 0, RAN_FIELD_BOOL, OPTION(logits), .initial = "false",
         .help = "add a number for each token that was read and each that could follow: what the "
                 "probabilities are made of"},
        {0},
};
static const struct cmd_group groups[] = {
        {"Model", lm_model_fields, &model_options}, {"Scores", score_fields, &options},
        {"State", lm_state_fields, &model_options}, {"Input", cmd_input_fields, &input},
        {"Output", cmd_output_fields, &output},     {0},
};
static const struct cmd_program program = {
        .name = "ran-lm score",
        .usage = "-m MODEL [option...] [file...]",
        .summary = "Adds to each JSON record how likely the model finds its text, or its target "
                   "after its source, as the member \"lm\": nll, in nats, and perplexity by token "
                   "and by word, bits by byte.",
        .notes = "Without a file, or for the file -, records come from standard input. Exit "
                 "status: 0, all records good; 1, some failed; 2, usage; 3, something could not be "
                 "read, written or held in memory.",
        .groups = groups,
};

/* ---- scoring -------------------------------------------------------------------------------- */

struct scorer {
        struct lm lm;
        struct figures total; /* with --total */
};

/* What one thread needs. */
struct scratch {
        struct ran_state *state;
        struct cmd_sequence sequence;
        size_t read; /* tokens of it that the model read, but for [END] */
        uint32_t *gold;
        float *nll, *logits; /* (read), (read, V): only if asked for */
        size_t gold_cap, nll_cap, logits_cap;
        struct ran_buf text;
};

static void free_scratch(void *arg)
{
        struct scratch *s = arg;

        ran_state_free(s->state);
        cmd_sequence_release(&s->sequence);
        free(s->gold);
        free(s->nll);
        free(s->logits);
        ran_buf_release(&s->text);
        free(s);
}

static void *make_scratch(void *arg, struct ran_error *err)
{
        const struct lm *lm = &((const struct scorer *)arg)->lm;
        struct scratch *s = ran_alloc(1, sizeof *s, err);

        if (s == NULL)
                return NULL;
        s->state = ran_state_new(lm->model, lm->pool, err);
        if (s->state != NULL)
                return s;
        free_scratch(s);
        return NULL;
}

static int fit(struct scratch *s, size_t n, size_t V, struct ran_error *err)
{
        size_t floats;
        uint32_t *gold = ran_grow(s->gold, &s->gold_cap, n, sizeof *gold, err);

        if (gold == NULL)
                return RAN_ENOMEM;
        s->gold = gold;
        float *nll = ran_grow(s->nll, &s->nll_cap, n, sizeof *nll, err);
        if (nll == NULL)
                return RAN_ENOMEM;
        s->nll = nll;
        if (!options.logits)
                return RAN_OK;
        if (__builtin_mul_overflow(n, V, &floats))
                return ran_fail(err, RAN_ENOMEM, "no memory for the logits of %zu tokens", n);
        float *logits = ran_grow(s->logits, &s->logits_cap, floats, sizeof *logits, err);
        if (logits == NULL)
                return RAN_ENOMEM;
        s->logits = logits;
        return RAN_OK;
}

/* The last token has nothing to predict, and is read for its logits only; or, behind a source,
 * because its window then holds more than the source, which decides who sees that. While a document
 * goes on it is read when the next piece is there. */
static size_t tokens_to_read(const struct lm *lm, const struct cmd_sequence *q)
{
        bool logits = options.logits && !q->ended;

        return lm->past == NULL && (logits || q->sources > 0) ? q->L : q->L - 1;
}

/* Reads the record and fills gold, nll and logits: of token t, what it says about token t + 1. */
static int score(struct lm *lm, struct scratch *s, const struct ran_record *record,
                 struct ran_error *err)
{
        struct cmd_sequence *q = &s->sequence;
        struct cmd_sequence_how how = lm_how(lm);

        how.end = options.end && lm->past == NULL;
        int code = cmd_sequence_read(q, &how, record, err);
        if (code != RAN_OK)
                return code;
        size_t n = tokens_to_read(lm, q);
        s->read = q->ended ? q->L - 1 : n;
        code = fit(s, n, lm->V, err);
        if (code != RAN_OK)
                return code;
        for (size_t t = 0; t < n; t++)
                s->gold[t] = t + 1 >= q->first && t + 1 < q->L ? q->ids[t + 1] : RAN_NO_ID;
        const struct ran_lm_out out = {
                .gold = s->gold, .nll = s->nll, .logits = options.logits ? s->logits : NULL};
        if (n > 0)
                code = ran_lm_read(lm->model, s->state, lm->past, q->ids, n,
                                   q->sources < n ? q->sources : n, &out, err);
        if (code == RAN_OK && lm->past != NULL)
                ran_past_set_pending(lm->past, q->ids[q->L - 1]);
        return code;
}

/* ---- the figures of a record ---------------------------------------------------------------- */

static int sum_up(const struct lm *lm, struct scratch *s, const struct ran_record *record,
                  struct figures *f, struct ran_error *err)
{
        const struct cmd_sequence *q = &s->sequence;

        *f = (struct figures){.records = 1};
        for (size_t i = q->first; i < q->L; i++)
                figures_add_token(f, (double)s->nll[i - 1], q->ids[i] == lm->reserved.unk);
        return figures_count(f, &q->document, record,
                             lm->mask == RAN_MASK_PREFIX ? "target" : "tokens", q->ended, &s->text,
                             err);
}

/* [END] stands behind the last character of a text, or the last word. */
static void add_offsets(struct ran_buf *out, const struct cmd_sequence *q)
{
        const struct ran_encoding *e = &q->document.encoding;
        size_t end = q->document.from == CMD_FROM_TEXT ? figures_points(&q->document.text) : 0;

        ran_buf_str(out, ",\"offsets\":[");
        for (size_t i = q->first; i < q->L; i++) {
                size_t at = i - q->shown;
                bool piece = at < q->document.L;
                ran_buf_printf(out, "%s[%zu,%zu]", i == q->first ? "" : ",",
                               piece ? e->start[at] : end, piece ? e->end[at] : end);
        }
        ran_buf_char(out, ']');
}

static void add_words(struct ran_buf *out, const struct cmd_sequence *q)
{
        const struct ran_encoding *e = &q->document.encoding;

        ran_buf_str(out, ",\"words\":[");
        for (size_t i = q->first; i < q->L; i++) {
                size_t at = i - q->shown;
                ran_buf_printf(out, "%s%zu", i == q->first ? "" : ",",
                               at < q->document.L ? e->word[at] : e->words);
        }
        ran_buf_char(out, ']');
}

static void add_per_token(struct ran_buf *out, const struct lm *lm, const struct scratch *s)
{
        const struct cmd_sequence *q = &s->sequence;
        int from = q->document.from;

        ran_buf_str(out, ",\"per_token\":{");
        lm_add_tokens(out, lm, q->ids + q->first, s->nll + q->first - 1, q->L - q->first);
        if (from == CMD_FROM_TOKENS)
                add_words(out, q);
        if (from == CMD_FROM_TOKENS || from == CMD_FROM_TEXT)
                add_offsets(out, q);
        ran_buf_char(out, '}');
}

static int score_record(void *arg, void *scratch, const struct cmd_line *line, struct ran_buf *out,
                        struct ran_error *err)
{
        struct lm *lm = &((struct scorer *)arg)->lm;
        struct scratch *s = scratch;
        struct figures f;
        int code = score(lm, s, &line->record, err);

        if (code == RAN_OK)
                code = sum_up(lm, s, &line->record, &f, err);
        if (code != RAN_OK)
                return code;
        if (options.total) {
                ran_buf_add(out, &f, sizeof f);
                return RAN_OK;
        }
        ran_buf_char(out, '{');
        figures_json(&f, out);
        if (options.per_token)
                add_per_token(out, lm, s);
        if (options.logits) {
                ran_buf_str(out, ",\"logits\":");
                lm_add_rows(out, s->logits, s->read, lm->V);
        }
        ran_buf_char(out, '}');
        return RAN_OK;
}

/* ---- the total ------------------------------------------------------------------------------ */

static int add_up(void *arg, const struct cmd_line *line, const struct ran_buf *result,
                  struct ran_error *err)
{
        struct scorer *c = arg;
        struct figures f;

        (void)line;
        (void)err;
        memcpy(&f, result->data, sizeof f);
        figures_merge(&c->total, &f);
        return RAN_OK;
}

static void write_total(const struct scorer *c)
{
        struct ran_buf out = {0};

        ran_buf_printf(&out, "{\"records\":%zu,", c->total.records);
        figures_json(&c->total, &out);
        ran_buf_str(&out, "}\n");
        cmd_write_file(output.output, &out);
        ran_buf_release(&out);
}

/* ---- the program ---------------------------------------------------------------------------- */

static const char *const reads[] = {"id", "ran_error", CMD_SEQUENCE_MEMBERS, NULL};

static int run(struct scorer *c, char **files)
{
        struct cmd_loop loop = {
                .input = &input,
                .output = options.total ? NULL : &output,
                .into = "lm",
                .reads = reads,
                .pool = lm_loop_pool(&c->lm),
                .make_scratch = make_scratch,
                .free_scratch = free_scratch,
                .work = score_record,
                .take = options.total ? add_up : NULL,
                .arg = c,
        };

        if (options.total && output.output != NULL)
                cmd_check_writable(output.output);
        int status = cmd_records(&loop, files, NULL);
        if (options.total)
                write_total(c);
        return status;
}

int lm_score(int argc, char **argv)
{
        struct scorer c = {.total = {0}};
        int first = cmd_parse(&program, argc, argv);

        if (options.total && (options.per_token || options.logits))
                cmd_usage("--total writes sums: it takes no --per-token and no --logits");
        lm_open(&c.lm, &model_options, RAN_TASK_LM, argv + first);
        int status = run(&c, argv + first);
        lm_keep(&c.lm, &model_options);
        lm_close(&c.lm);
        return cmd_finish(status);
}
