/* model.c - the model of the verbs of ran-lm, and the state of a continued document. */
#include "cmd/lm/lm.h"

#include "cmd/content/model.h"
#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"

#define OPTION(member) offsetof(struct lm_options, member)

const struct ran_field lm_model_fields[] = {
        {"model", 'm', RAN_FIELD_TEXT, OPTION(model), .value = "FILE", .first = true,
         .help = "the model, written by ran-train", .local = true},
        {"verify", 0, RAN_FIELD_BOOL, OPTION(verify), .initial = "false",
         .help = "compare the digest of the weights before use"},
        {0},
};
const struct ran_field lm_state_fields[] = {
        {"state_in", 0, RAN_FIELD_TEXT, OPTION(state_in), .value = "FILE", .local = true,
         .help = "continue from the state in FILE; all records are one document"},
        {"state_out", 0, RAN_FIELD_TEXT, OPTION(state_out), .value = "FILE", .local = true,
         .help = "save the state to FILE, for --state-in; all records are one document"},
        {0},
};

static void open_context(struct lm *lm, const struct lm_options *options, char **files)
{
        struct ran_error err;

        if (options->state_in == NULL && options->state_out == NULL)
                return;
        if (lm->mask == RAN_MASK_PREFIX)
                cmd_die(CMD_FAILED,
                        "%s: this model has sources and targets and reads each source whole: it "
                        "has no state",
                        options->model);
        if (ran_model_metadata(lm->model, "digest") == NULL)
                cmd_die(CMD_FAILED, "%s: the model has no digest, which its state would record",
                        options->model);
        cmd_check_inputs("state-out", options->state_out, files);
        if (options->state_out != NULL)
                cmd_check_writable(options->state_out);
        lm->context = options->state_in != NULL
                              ? ran_lm_context_load(lm->model, options->state_in, &err)
                              : ran_lm_context_new(lm->model);
        if (lm->context == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
}

void lm_open(struct lm *lm, const struct lm_options *options, int task, char **files)
{
        struct ran_error err;

        if (options->model == NULL)
                cmd_usage("no model: give --model FILE");
        *lm = (struct lm){.model = cmd_model_open(options->model, options->verify, task)};
        lm->tokenizer = ran_model_tokenizer(lm->model);
        lm->V = ran_model_vocabulary(lm->model);
        lm->mask = ran_model_config(lm->model)->mask;
        if (cmd_reserved_find(&lm->reserved, lm->tokenizer, task, lm->mask, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s: %s", options->model, err.text);
        open_context(lm, options, files);
        lm->pool = cmd_pool();
        lm->loop_pool = lm->context != NULL ? NULL : lm->pool;
}

void lm_save_state(const struct lm *lm, const struct lm_options *options)
{
        struct ran_error err;

        if (options->state_out != NULL &&
            ran_lm_context_save(lm->context, options->state_out, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
}

void lm_close(struct lm *lm)
{
        ran_lm_context_free(lm->context);
        ran_pool_free(lm->pool);
        ran_model_free(lm->model);
}

struct cmd_sequence_how lm_how(const struct lm *lm)
{
        return (struct cmd_sequence_how){
                .tokenizer = lm->tokenizer,
                .V = lm->V,
                .mask = lm->mask,
                .reserved = lm->reserved,
                .before = lm->context != NULL ? ran_lm_context_pending(lm->context) : RAN_NO_ID,
        };
}

/* ---- parts of the output -------------------------------------------------------------------- */

void lm_add_piece(struct ran_buf *out, const struct lm *lm, uint32_t id)
{
        size_t n;
        const char *token =
                lm->tokenizer != NULL ? ran_tokenizer_token(lm->tokenizer, id, &n) : NULL;

        if (lm->tokenizer == NULL)
                json_size(out, id);
        else if (token != NULL)
                json_string(out, token, n);
        else
                json_raw(out, "null", 4);
}

void lm_add_ids(struct ran_buf *out, const uint32_t *ids, size_t n)
{
        json_name(out, "ids");
        json_begin(out, '[');
        for (size_t i = 0; i < n; i++)
                json_size(out, ids[i]);
        json_end(out, ']');
}

void lm_add_tokens(struct ran_buf *out, const struct lm *lm, const uint32_t *ids, const float *nll,
                   size_t n)
{
        json_name(out, lm->tokenizer != NULL ? "pieces" : "ids");
        json_begin(out, '[');
        for (size_t i = 0; i < n; i++)
                lm_add_piece(out, lm, ids[i]);
        json_end(out, ']');
        json_name(out, "nll");
        json_floats(out, nll, n);
}

bool *lm_never(const struct lm *lm, bool unknown, bool end)
{
        const struct cmd_reserved *r = &lm->reserved;
        const uint32_t never_given[] = {r->mask, r->sep, r->start, unknown ? RAN_NO_ID : r->unk,
                                        end ? RAN_NO_ID : r->end};
        bool *never = ran_new(lm->V, sizeof *never);
        size_t n;

        if (lm->tokenizer == NULL)
                return never;
        for (size_t i = 0; i < lm->V; i++)
                never[i] = ran_tokenizer_token(lm->tokenizer, (uint32_t)i, &n) == NULL;
        for (size_t i = 0; i < sizeof never_given / sizeof *never_given; i++)
                if (never_given[i] < lm->V)
                        never[never_given[i]] = true;
        return never;
}
