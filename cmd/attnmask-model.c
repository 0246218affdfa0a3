/* attnmask-model.c - what a model attended to in documents: the model, and the records. */
#include <stdlib.h>

#include "attnmask.h"

/* ---- a record ------------------------------------------------------------------------------- */

static void free_scratch(void *arg)
{
        struct attnmask_scratch *s = arg;

        ran_state_free(s->state);
        cmd_reading_release(&s->reading);
        free(s);
}

static void *make_scratch(void *arg, struct ran_error *err)
{
        const struct attnmask_model *a = arg;
        struct attnmask_scratch *s = ran_alloc(1, sizeof *s, err);

        if (s == NULL)
                return NULL;
        s->state = ran_state_new(a->model, a->pool, err);
        if (s->state != NULL)
                return s;
        free_scratch(s);
        return NULL;
}

static int work(void *arg, void *scratch, const struct cmd_line *line, struct ran_buf *result,
                struct ran_error *err)
{
        const struct attnmask_model *a = arg;
        struct attnmask_scratch *s = scratch;
        int code = cmd_reading_read(&s->reading, &a->how, &line->record, err);

        if (code != RAN_OK)
                return code;
        ran_buf_printf(result, "{\"tokens\":%zu}", s->reading.tokens.L);
        return RAN_OK;
}

/* ---- the model ------------------------------------------------------------------------------ */

static struct ran_model *open_model(struct attnmask_model *a,
                                    const struct cmd_document_options *document)
{
        const struct attnmask_options *o = a->options;
        struct ran_error err;
        struct ran_model *m = ran_model_open(o->model, o->verify, &err);

        if (m == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        if (cmd_reading_of(&a->how, m, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s: %s", o->model, err.text);
        a->how.document = document;
        a->how.unit = o->offsets;
        a->model = m;
        return m;
}

int attnmask_model(const struct attnmask_options *options,
                   const struct cmd_document_options *document, const struct cmd_input *input,
                   const struct cmd_output *output, char **files)
{
        static const char *const reads[] = {"id", "ran_error", CMD_READING_MEMBERS, NULL};
        struct attnmask_model a = {.options = options};
        struct ran_model *m = open_model(&a, document);
        struct cmd_loop loop = {
                .input = input,
                .output = output,
                .into = "attention",
                .reads = reads,
                .make_scratch = make_scratch,
                .free_scratch = free_scratch,
                .work = work,
                .arg = &a,
        };

        loop.pool = a.pool = cmd_pool();
        int status = cmd_records(&loop, files, NULL);
        ran_pool_free(a.pool);
        ran_model_free(m);
        return status;
}
