/* fill.c - the most probable tokens for masked ones. */
#include <math.h>
#include <stdlib.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"
#include "cmd/records/loop.h"
#include "cmd/content/reading.h"
#include "cmd/formats/json.h"
#include "cmd/lm/lm.h"

/* ---- options -------------------------------------------------------------------------------- */

static struct lm_options model_options;
static struct fill_options {
        size_t top;
        char *mask_token;
        bool logits;
} options;
static struct cmd_input input;
static struct cmd_output output;

#define OPTION(member) offsetof(struct fill_options, member)

static const struct ran_field fill_fields[] = {
        {"top", 0, RAN_FIELD_SIZE, OPTION(top), 1, INFINITY, .value = "N", .initial = "5",
         .first = true, .help = "list the N most probable tokens for each mask"},
        {"mask_token", 0, RAN_FIELD_TEXT, OPTION(mask_token), .value = "STRING",
         .initial = "[MASK]",
         .help = "what marks a masked token: a string in a text, a word in a list of words"},
        {"logits", 0, RAN_FIELD_BOOL, OPTION(logits), .initial = "false",
         .help = "add the logits: one number for each masked token and each token of the "
                 "vocabulary"},
        {0},
};
static const struct cmd_group groups[] = {
        {"Model", lm_model_fields, &model_options},
        {"Masked tokens", fill_fields, &options},
        {"Input", cmd_input_fields, &input},
        {"Output", cmd_output_fields, &output},
        {0},
};
static const struct cmd_program program = {
        .name = "ran-lm fill",
        .usage = "-m MODEL [option...] [file...]",
        .summary = "Adds the member \"lm\" to each JSON record: the most probable tokens for each "
                   "[MASK] in its text.",
        .notes = "Without files, or for -, it reads standard input. Exit status: 0, all records "
                 "good; 1, some failed; 2, usage; 3, a file could not be read or written, or "
                 "memory ran out.",
        .groups = groups,
};

/* ---- filling -------------------------------------------------------------------------------- */

struct filler {
        struct lm lm;
        bool *never; /* (V) */
        size_t top;  /* candidates of a mask: at most V */
};

/* Each thread has one. */
struct scratch {
        const struct filler *f;
        struct ran_buf *out; /* of the current record */
        struct ran_state *state;
        struct cmd_masked masked;
        struct ran_sampler sampler;
        uint32_t *best;      /* (top) */
        double *p;           /* (top) */
        struct ran_buf rows; /* of logits, as JSON */
};

static void free_scratch(void *arg)
{
        struct scratch *s = arg;

        ran_state_free(s->state);
        cmd_masked_release(&s->masked);
        ran_sampler_release(&s->sampler);
        free(s->best);
        free(s->p);
        ran_buf_release(&s->rows);
        free(s);
}

static void *make_scratch(void *arg)
{
        const struct filler *f = arg;
        struct scratch *s = ran_new(1, sizeof *s);

        s->f = f;
        s->sampler.never = f->never;
        s->state = ran_state_new(f->lm.model, f->lm.pool);
        s->best = ran_new(f->top, sizeof *s->best);
        s->p = ran_new(f->top, sizeof *s->p);
        return s;
}

static int add_mask(void *arg, size_t i, const float *logits, struct ran_error *err)
{
        struct scratch *s = arg;
        const struct filler *f = s->f;
        struct ran_buf *out = s->out;
        const size_t n = ran_sampler_best(&s->sampler, logits, f->lm.V, f->top, s->best, s->p);

        (void)err;
        json_begin(out, '{');
        json_put_size(out, "start", s->masked.start[i]);
        json_put_size(out, "end", s->masked.end[i]);
        json_name(out, "candidates");
        json_begin(out, '[');
        for (size_t k = 0; k < n; k++) {
                json_begin(out, '{');
                json_name(out, f->lm.tokenizer != NULL ? "piece" : "id");
                lm_add_piece(out, &f->lm, s->best[k]);
                json_put_float(out, "probability", (float)s->p[k]);
                json_end(out, '}');
        }
        json_end(out, ']');
        json_end(out, '}');
        if (options.logits)
                json_floats(&s->rows, logits, f->lm.V);
        return RAN_OK;
}

static int fill_record(void *arg, void *scratch, const struct cmd_line *line,
                       struct cmd_result *result, struct ran_error *err)
{
        const struct filler *f = arg;
        struct scratch *s = scratch;
        const struct cmd_masked *m = &s->masked;
        struct ran_buf *out = &result->out;

        const bool words = f->lm.tokenizer != NULL;
        const struct cmd_masked_how how = {.tokenizer = f->lm.tokenizer,
                                           .V = f->lm.V,
                                           .mask = words ? f->lm.reserved.mask : RAN_MASK,
                                           .mask_token = options.mask_token};

        RAN_TRY(cmd_masked_read(&s->masked, &how, &line->record, err));
        s->out = out;
        s->rows.len = 0;
        json_begin(out, '{');
        json_name(out, "masks");
        json_begin(out, '[');
        RAN_TRY(ran_lm_fill(f->lm.model, s->state, m->ids, m->L, m->positions, m->n, NULL, NULL,
                            add_mask, s, err));
        json_end(out, ']');
        if (options.logits) {
                json_name(out, "logits");
                json_begin(out, '[');
                json_raw(out, s->rows.data, s->rows.len);
                json_end(out, ']');
        }
        json_end(out, '}');
        return RAN_OK;
}

/* ---- the program ---------------------------------------------------------------------------- */

int lm_fill(int argc, char **argv)
{
        struct filler f = {.never = NULL};
        char **files = cmd_files(&input, argv + cmd_parse(&program, argc, argv));

        if (options.mask_token == NULL || options.mask_token[0] == '\0')
                cmd_usage("--mask-token needs a text that is not empty");
        lm_open(&f.lm, &model_options, RAN_TASK_MLM, files);
        cmd_input_remember(&input, f.lm.model);
        f.never = lm_never(&f.lm, false, false);
        f.top = options.top < f.lm.V ? options.top : f.lm.V;
        const struct cmd_loop loop = {
                .input = &input,
                .output = &output,
                .into = "lm",
                .reads = FIELD(ID) | FIELD(ERROR) | FIELDS_OF_DOCUMENT | FIELD(MASKED_AT),
                .pool = f.lm.pool,
                .make_scratch = make_scratch,
                .free_scratch = free_scratch,
                .work = fill_record,
                .arg = &f,
        };
        int status = cmd_records(&loop, files, NULL);
        free(f.never);
        lm_close(&f.lm);
        return cmd_finish(status);
}
