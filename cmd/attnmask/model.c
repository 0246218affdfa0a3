/* model.c - attention and attribution of a model in documents: the model and the records. */
#include "cmd/attnmask/attnmask.h"

#include <stdlib.h>

#include "cmd/content/model.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"

/* ---- a record ------------------------------------------------------------------------------- */

/* Whether options ask for attribution rather than attention. */
static bool maps(const struct attnmask_model *a)
{
        return a->options->map != ATTNMASK_MAP_ATTENTION;
}

static void free_scratch(void *arg)
{
        struct attnmask_scratch *s = arg;

        ran_state_free(s->state);
        ran_explainer_free(s->explainer);
        free(s->value);
        cmd_reading_release(&s->reading);
        free(s->probes);
        free(s->sum);
        free(s->ranked);
        free(s);
}

static void *make_scratch(void *arg)
{
        const struct attnmask_model *a = arg;
        struct attnmask_scratch *s = ran_new(1, sizeof *s);

        s->state = ran_state_new(a->model, a->pool);
        s->reading.whole.with_positions = maps(a) && a->tags;
        if (maps(a))
                s->explainer = ran_explainer_new(a->model, a->pool);
        return s;
}

/* Reads the document of a record. */
static int read_record(const struct attnmask_model *a, struct attnmask_scratch *s,
                       const struct record *record, struct ran_error *err)
{
        RAN_TRY(cmd_reading_read(&s->reading, &a->how, record, err));
        ran_probe_shape(&s->shape, ran_model_config(a->model), s->reading.tokens.L);
        return RAN_OK;
}

static int work(void *arg, void *scratch, const struct cmd_line *line, struct cmd_result *result,
                struct ran_error *err)
{
        const struct attnmask_model *a = arg;

        RAN_TRY(read_record(a, scratch, &line->record, err));
        return (maps(a) ? attnmask_map : attnmask_attention)(a, scratch, &result->out, err);
}

/* ---- a picture ------------------------------------------------------------------------------ */

struct painter {
        struct attnmask_model *model;
        struct attnmask_scratch *scratch;
        struct cmd_sink sink;
        size_t drawn;
};

static int paint(void *arg, const struct cmd_line *line, struct cmd_result *result,
                 struct ran_error *err)
{
        struct painter *p = arg;
        const struct attnmask_model *a = p->model;
        const bool page = a->options->format == PICTURE_HTML;

        (void)result;
        if (p->drawn > 0) /* RAN_EIO ends the program, rather than a message for each record */
                return ran_fail(err, RAN_EIO,
                                "a picture is of one document, and this is a second one: select "
                                "one, with head -n 1 for example");
        RAN_TRY(read_record(a, p->scratch, &line->record, err));
        RAN_TRY((maps(a) ? (page ? attnmask_map_page : attnmask_map_picture)
                 : page  ? attnmask_attention_page
                         : attnmask_attention_picture)(a, p->scratch, line, &p->sink, err));
        p->drawn++;
        return RAN_OK;
}

/* One document after another: a long one uses all threads. */
static int paint_records(struct cmd_loop loop, struct attnmask_model *a,
                         const struct cmd_output *output, char **files)
{
        struct painter p = {.model = a, .scratch = make_scratch(a)};

        cmd_sink_open(&p.sink, output->output);
        loop.work = NULL;
        loop.make_scratch = NULL;
        loop.output = NULL;
        loop.pool = NULL;
        loop.take = paint;
        loop.arg = &p;
        int status = cmd_records(&loop, files, NULL);
        free_scratch(p.scratch);
        if (p.drawn == 0) {
                cmd_sink_abort(&p.sink);
                cmd_die(CMD_FAILED, "there is no document to draw");
        }
        cmd_sink_close(&p.sink);
        return status;
}

/* ---- the model ------------------------------------------------------------------------------ */

/* Attention, and the influence of tokens on each other, are of layers: exits with 2 if there are
 * none, and says what there is to show. */
static void need_layers(const struct attnmask_model *a)
{
        const struct ran_config *c = ran_model_config(a->model);

        if (a->options->map == ATTNMASK_MAP_LABEL || ran_config_has_layers(c))
                return;
        cmd_usage("%s has %s%s, and no layers: it has no attention, and no token influences "
                  "another; %s",
                  a->options->model,
                  ran_config_has_encoder(c) ? "vectors of tokens" : "a linear model",
                  a->labels && ran_config_has_encoder(c) ? " and a linear model" : "",
                  a->labels ? "--map label shows what each token adds to the label"
                            : "ran-classify --embed gives the vectors of documents");
}

/* The caller frees the model. */
static struct ran_model *open_model(struct attnmask_model *a,
                                    const struct cmd_document_options *document)
{
        const struct attnmask_options *o = a->options;
        struct ran_error err;
        struct ran_model *m = cmd_model_load(o->model, o->verify, &err);

        if (m == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        const struct ran_config *c = ran_model_config(m);
        a->model = m;
        a->labels = ran_task_has_labels(c->task);
        a->tags = a->labels && ran_task_reads_words(c->task);
        need_layers(a);
        if (cmd_reading_init(&a->how, m, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s: %s", o->model, err.text);
        if (!a->labels && document->max_tokens > 0)
                cmd_usage("--max-tokens is for models that classify or tag: a language model reads "
                          "whole documents");
        if (a->tags && c->tag.join_sentences > 1)
                cmd_note("ran-tag reads up to %zu records of one document together, ran-attnmask "
                         "each by itself",
                         c->tag.join_sentences);
        a->how.document = document;
        a->how.unit = o->offsets;
        return m;
}

int attnmask_model(const struct attnmask_options *options,
                   const struct cmd_document_options *document, struct cmd_input *input,
                   const struct cmd_output *output, char **files)
{
        struct attnmask_model a = {.options = options};
        struct ran_model *m = open_model(&a, document);
        cmd_input_remember(input, m);
        const bool draws = options->format > PICTURE_JSON;

        if (maps(&a))
                attnmask_map_select(&a);
        else
                attnmask_select(&a.selection, options, ran_model_config(m),
                                options->format == PICTURE_SVG);
        a.pool = cmd_pool();
        const struct cmd_loop loop = {
                .input = input,
                .output = output,
                .into = "attention",
                .reads = FIELD(ID) | FIELD(ERROR) | FIELDS_OF_SEQUENCE | FIELD(MASKED_AT),
                .pool = a.pool,
                .make_scratch = make_scratch,
                .free_scratch = free_scratch,
                .work = work,
                .arg = &a,
        };
        int status =
                draws ? paint_records(loop, &a, output, files) : cmd_records(&loop, files, NULL);
        ran_pool_free(a.pool);
        ran_model_free(m);
        return status;
}
