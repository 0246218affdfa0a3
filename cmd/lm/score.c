/* score.c - log likelihood and perplexity of the text of each record. */
#include <math.h>
#include <stdlib.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"
#include "cmd/records/loop.h"
#include "cmd/content/model.h"
#include "cmd/formats/json.h"
#include "cmd/lm/lm.h"

/* ---- options -------------------------------------------------------------------------------- */

static struct lm_options model_options;
static struct score_options {
        bool per_token, logits, total, end;
        double unknown_cost; /* bits a byte */
        size_t history, stride;
        int output_format;
        struct ran_cache_settings cache; /* positions 0: none */
} options;
/* The program gives this of a record, for the formats. */
#define GIVES_RECORDS(...) __VA_ARGS__
#define GIVES_LABELS(...)
#define GIVES_TAGS(...)
#define GIVES_TASKS(...)
#define GIVES_ROWS(...)
#define GIVES_VECTORS(...)
#define GIVES_PAGE(...) __VA_ARGS__
static const char *const output_names[] = {OUTPUT_FORMATS(OUTPUT_NAME) NULL};
static const struct output_format *const output_formats[] = {OUTPUT_FORMATS(OUTPUT_ENTRY)};
static struct cmd_parallel parallel;
static struct cmd_input input;
static struct cmd_output output;

#define OPTION(member) offsetof(struct score_options, member)

static const struct ran_field score_fields[] = {
        {"end", 0, RAN_FIELD_BOOL, OPTION(end), .initial = "true",
         .help = "predict the end of each document, too, except with a state"},
        {"total", 0, RAN_FIELD_BOOL, OPTION(total), .initial = "false", .first = true,
         .help = "write one object with the measures of all records together, instead of records"},
        {"output_format", 0, RAN_FIELD_CHOICE, OPTION(output_format), .choices = output_names,
         .value = "NAME", .initial = "jsonl",
         .help = "format of the output" OUTPUT_FORMATS(
                 OUTPUT_HELP) ": the measures of all "
                              "records, and each text with its most surprising words in colour"},
        {"per_token", 0, RAN_FIELD_BOOL, OPTION(per_token), .initial = "false", .first = true,
         .help = "add each predicted token and its nll"},
        {"unknown_cost", 0, RAN_FIELD_REAL, OPTION(unknown_cost), 0, INFINITY, .value = "BITS",
         .initial = "0",
         .help = "in perplexity per word and bits per byte, count N bits for each byte of an "
                 "unknown word and for its end; 8.006 compares any models"},
        {"logits", 0, RAN_FIELD_BOOL, OPTION(logits), .initial = "false",
         .help = "add the logits: for each token read, one number for each token of the "
                 "vocabulary"},
        {0},
};
static const struct ran_field history_fields[] = {
        {"history", 0, RAN_FIELD_SIZE, OPTION(history), 0, INFINITY, .value = "N", .initial = "0",
         .first = true, .help = "predict each token from at most N tokens before it; 0: no limit"},
        {"stride", 0, RAN_FIELD_SIZE, OPTION(stride), 0, INFINITY, .value = "S", .initial = "0",
         .help = "step from chunk to chunk: more than N - S tokens of context, at N / S times the "
                 "cost; 0: half of N",
         .needs = "history", .why = "needs --history N"},
        {0},
};
static const struct ran_field cache_fields[] = {
        {"cache", 0, RAN_FIELD_SIZE, OPTION(cache.positions), 0, 1e9, .value = "N", .initial = "0",
         .first = true,
         .help = "raise the probability of tokens that followed similar positions among the last N "
                 "of the document; 0: no cache"},
        {"cache_weight", 0, RAN_FIELD_REAL, OPTION(cache.weight), 0, 0.999, .value = "P",
         .initial = "0.12", .help = "weight of the cache in the probabilities", .needs = "cache"},
        {"cache_theta", 0, RAN_FIELD_REAL, OPTION(cache.theta), 0, RAN_CACHE_THETA, .value = "T",
         .initial = "8",
         .help = "how strongly the most similar positions dominate; 0: all count the same",
         .needs = "cache"},
        {0},
};
static const struct cmd_group groups[] = {
        {"Model", lm_model_fields, &model_options},
        {"Measures", score_fields, &options},
        {"History", history_fields, &options},
        {"Cache", cache_fields, &options},
        {"State", lm_state_fields, &model_options},
        {"Plain files", cmd_parallel_fields, &parallel},
        {"Input", cmd_input_fields, &input},
        {"Output", cmd_output_fields, &output},
        {0},
};
static bool is_page(void)
{
        return output_formats[options.output_format]->kind == OUTPUT_PAGE;
}

static void check_together(void *unused)
{
        (void)unused;
        cmd_excludes(options.total, "--total writes sums", "per_token logits");
        cmd_excludes(options.total, "--total writes sums and no records", "into only drop");
        cmd_excludes(is_page(), "--output-format=html writes a page and no records",
                     "into only drop per_token logits total");
        cmd_excludes(options.unknown_cost > 0,
                     "--unknown-cost is for sums, and --per-token has the nll of [UNK] alone",
                     "per_token");
        cmd_excludes(options.history > 0, "--history has no state, which holds the whole history",
                     "state_in state_out");
        cmd_excludes(options.cache.positions > 0, "--cache begins anew with each record",
                     "state_in state_out");
}

static const struct cmd_program program = {
        .name = "ran-lm score",
        .usage = "-m MODEL [option...] [file...]",
        .summary = "Adds the member \"lm\" to each JSON record: the negative log likelihood (nll, "
                   "in nats) of its text, or of its target after its source, with perplexity per "
                   "token and per word, and bits per byte.",
        .notes = "Without files, or for -, it reads standard input. Exit status: 0, all records "
                 "good; 1, some failed; 2, usage; 3, a file could not be read or written, or "
                 "memory ran out.",
        .groups = groups,
        .check = check_together,
};

/* ---- scoring -------------------------------------------------------------------------------- */

struct scorer {
        struct lm lm;
        struct perplexity total;    /* with --total, or a page */
        struct cmd_known known;     /* with --total */
        struct page_documents page; /* with --output-format html */
};

/* Each thread has one. */
struct scratch {
        struct ran_state *state;
        struct ran_cache *cache; /* NULL: none */
        struct cmd_sequence sequence;
        size_t read; /* its tokens that the model read, without [END] */
        uint32_t *gold;
        float *nll, *logits; /* (read), (read, V): logits with --logits only */
        size_t gold_cap, nll_cap, logits_cap;
        struct ran_buf text;
        struct report measures;
};

static void free_scratch(void *arg)
{
        struct scratch *s = arg;

        report_release(&s->measures);
        ran_state_free(s->state);
        ran_cache_free(s->cache);
        cmd_sequence_release(&s->sequence);
        free(s->gold);
        free(s->nll);
        free(s->logits);
        ran_buf_release(&s->text);
        free(s);
}

static void *make_scratch(void *arg)
{
        const struct lm *lm = &((const struct scorer *)arg)->lm;
        struct scratch *s = ran_new(1, sizeof *s);

        if (is_page() || options.unknown_cost > 0)
                s->sequence.document.unit = RAN_UNIT_BYTE;
        s->sequence.document.with_fingerprint = options.total;
        if (options.cache.positions > 0)
                s->cache = ran_cache_new(ran_model_config(lm->model), &options.cache, NULL);
        s->state = ran_state_new(lm->model, lm->pool);
        return s;
}

/* Chunks of `history` tokens start every `stride` tokens, each without context. Each scores the
 * tokens that the chunk before it did not contain. */
static int read_chunks(struct lm *lm, struct scratch *s, size_t n, struct ran_error *err)
{
        const struct cmd_sequence *q = &s->sequence;
        size_t history = options.history > 0 ? options.history : n, scored = 0;
        size_t stride = options.stride > 0 ? options.stride : history - history / 2;

        if (s->cache != NULL)
                ran_cache_clear(s->cache);
        for (size_t from = 0; scored < n; from += stride) {
                const size_t end = n - from < history ? n : from + history;
                const struct ran_lm_out out = {
                        .skip = scored - from,
                        .gold = s->gold + scored,
                        .nll = s->nll + scored,
                        .logits = options.logits ? s->logits + scored * lm->V : NULL,
                        .cache = s->cache,
                };

                RAN_TRY(ran_lm_read(lm->model, s->state, lm->context, q->ids + from, end - from,
                                    q->sources < end ? q->sources : end, &out, err));
                scored = end;
        }
        return RAN_OK;
}

/* Reads the record and fills gold, nll and logits: element t belongs to token t + 1. */
static int score(struct lm *lm, struct scratch *s, const struct record *record,
                 struct ran_error *err)
{
        struct cmd_sequence *q = &s->sequence;
        struct cmd_sequence_how how = lm_how(lm);

        how.end = options.end && lm->context == NULL;
        RAN_TRY(cmd_sequence_read(q, &how, record, err));
        /* The last token predicts nothing. It is read for its logits; or, after a source, because
         * its window then contains more than the source, which affects the mask. In a continued
         * document it is read with the next text. */
        const bool last = (options.logits && !q->ended) || q->sources > 0;
        const size_t n = lm->context == NULL && last ? q->L : q->L - 1;
        s->read = q->ended ? q->L - 1 : n;
        RAN_ROOM(s->gold, s->gold_cap, n);
        RAN_ROOM(s->nll, s->nll_cap, n);
        size_t floats = 0;
        if (options.logits && __builtin_mul_overflow(n, lm->V, &floats))
                return ran_fail(err, RAN_ENOMEM, "no memory for the logits of %zu tokens", n);
        RAN_TRY(RAN_GROW(s->logits, s->logits_cap, floats, err));
        for (size_t t = 0; t < n; t++)
                s->gold[t] = t + 1 >= q->first && t + 1 < q->L ? q->ids[t + 1] : RAN_NO_ID;
        RAN_TRY(read_chunks(lm, s, n, err));
        if (lm->context != NULL)
                ran_lm_context_set_pending(lm->context, q->ids[q->L - 1]);
        return RAN_OK;
}

/* ---- the measures of a record --------------------------------------------------------------- */

static int measure(const struct lm *lm, struct scratch *s, const struct record *record,
                   struct perplexity *p, struct ran_error *err)
{
        const struct cmd_sequence *q = &s->sequence;
        const struct cmd_document *d = &q->document;
        const bool has_text = d->from == CMD_FROM_TEXT || d->from == CMD_FROM_TOKENS;

        *p = (struct perplexity){.records = 1};
        for (size_t i = q->first; i < q->L; i++) {
                const size_t at = i - q->shown;

                p->nll += (double)s->nll[i - 1];
                p->tokens++;
                if (q->ids[i] != lm->reserved.unk)
                        continue;
                p->nll_unknown += (double)s->nll[i - 1];
                p->unknown++;
                p->spelled += 1;
                if (has_text && at < d->L)
                        p->spelled += d->encoding.end[at] - d->encoding.start[at];
        }
        return perplexity_count(p, d, record, lm->mask == RAN_MASK_PREFIX ? "target" : "tokens",
                                q->ended, &s->text, err);
}

/* The tokens; of words also their numbers, and offsets. [END] comes after the last character of a
 * text, or the last word. */
static void add_per_token(struct ran_buf *out, const struct lm *lm, const struct scratch *s)
{
        const struct cmd_sequence *q = &s->sequence;
        const struct cmd_document *d = &q->document;
        const struct ran_encoding *e = &d->encoding;
        const size_t first = q->first - q->shown, n = q->L - q->first;
        size_t end = 0;

        json_name(out, "per_token");
        json_begin(out, '{');
        lm_add_tokens(out, lm, q->ids + q->first, s->nll + q->first - 1, n);
        if (d->from == CMD_FROM_TOKENS) {
                json_name(out, "words");
                json_begin(out, '[');
                for (size_t i = first; i < first + n; i++)
                        json_size(out, i < d->L ? e->word[i] : e->words);
                json_end(out, ']');
        }
        for (size_t i = 0; d->from == CMD_FROM_TEXT && i < d->text.len; i++)
                end += (d->text.data[i] & 0xc0) != 0x80;
        if (d->from == CMD_FROM_TOKENS || d->from == CMD_FROM_TEXT) {
                json_name(out, "offsets");
                json_begin(out, '[');
                for (size_t i = first; i < first + n; i++) {
                        json_begin(out, '[');
                        json_size(out, i < d->L ? e->start[i] : end);
                        json_size(out, i < d->L ? e->end[i] : end);
                        json_end(out, ']');
                }
                json_end(out, ']');
        }
        json_end(out, '}');
}

static int score_record(void *arg, void *scratch, const struct cmd_line *line,
                        struct cmd_result *result, struct ran_error *err)
{
        struct scorer *c = arg;
        struct lm *lm = &c->lm;
        struct scratch *s = scratch;
        struct lm_scored *scored = result->found;
        struct ran_buf *out = &result->out;
        struct perplexity p;

        RAN_TRY(score(lm, s, &line->record, err));
        RAN_TRY(measure(lm, s, &line->record, &p, err));
        if (scored != NULL)
                scored->measures = p;
        if (options.total) {
                cmd_known_note(&c->known, lm->model, s->sequence.fingerprint);
                return RAN_OK;
        }
        if (is_page()) {
                lm_score_page_make(lm, line, &s->sequence, s->nll + s->sequence.first - 1,
                                   options.unknown_cost, scored);
                return RAN_OK;
        }
        perplexity_tree(&p, options.unknown_cost, false, &s->measures);
        ran_buf_char(out, '{');
        report_members(&s->measures, out);
        report_clear(&s->measures);
        if (options.per_token)
                add_per_token(out, lm, s);
        if (options.logits) {
                json_name(out, "logits");
                json_begin(out, '[');
                for (size_t i = 0; i < s->read; i++)
                        json_floats(out, s->logits + i * lm->V, lm->V);
                json_end(out, ']');
        }
        json_end(out, '}');
        return RAN_OK;
}

/* ---- the total ------------------------------------------------------------------------------ */

static int add_up(void *arg, const struct cmd_line *line, struct cmd_result *result,
                  struct ran_error *err)
{
        struct scorer *c = arg;
        const struct lm_scored *scored = result->found;

        (void)line;
        perplexity_merge(&c->total, &scored->measures);
        (void)err;
        if (is_page())
                page_documents_add(&c->page, &scored->document);
        return RAN_OK;
}

static void release(void *found)
{
        page_document_release(&((struct lm_scored *)found)->document);
}

/* ---- the program ---------------------------------------------------------------------------- */

static int run(struct scorer *c, char **files)
{
        const bool page = is_page(), all = options.total || page;
        struct report sums = {0};
        struct ran_buf out = {0};
        struct cmd_loop loop = {
                .input = &input,
                .output = all ? NULL : &output,
                .into = "lm",
                .reads = FIELD(ID) | FIELD(ERROR) | FIELDS_OF_SEQUENCE,
                .pool = c->lm.loop_pool,
                .make_scratch = make_scratch,
                .free_scratch = free_scratch,
                .work = score_record,
                .take = all ? add_up : NULL,
                .result_size = all ? sizeof(struct lm_scored) : 0,
                .release = release,
                .arg = c,
        };

        if (all)
                cmd_check_output(output.output, files);
        int status = cmd_records(&loop, files, NULL);
        if (options.total) {
                cmd_known_warn(&c->known, c->total.records, model_options.model);
                report_count(&sums, "records", NULL, c->total.records);
                perplexity_tree(&c->total, options.unknown_cost, true, &sums);
                report_finish(&sums, false, &out);
                cmd_write_file(output.output, &out);
                ran_buf_release(&out);
        }
        if (page)
                lm_score_page_write(&c->page, &c->total, model_options.model, options.unknown_cost,
                                    output.output);
        page_documents_release(&c->page);
        return status;
}

int lm_score(int argc, char **argv)
{
        struct scorer c = {.total = {0}};
        char **files = cmd_files(&input, argv + cmd_parse(&program, argc, argv));

        output.format = output_formats[options.output_format];
        if (options.stride > options.history)
                cmd_usage("--stride %zu would skip tokens: it must be at most %zu, as --history is",
                          options.stride, options.history);
        cmd_parallel_check_output(&parallel, "output", output.output);
        files = cmd_parallel_begin(&parallel, true, !options.total && !is_page(), files);
        lm_open(&c.lm, &model_options, RAN_TASK_LM, files);
        cmd_input_remember(&input, c.lm.model);
        if (options.history > 0 && c.lm.mask == RAN_MASK_PREFIX)
                cmd_die(CMD_FAILED,
                        "%s: this model has sources and targets and reads each source whole: it "
                        "takes no --history",
                        model_options.model);
        int status = run(&c, files);
        lm_save_state(&c.lm, &model_options);
        lm_close(&c.lm);
        return cmd_finish(status);
}
