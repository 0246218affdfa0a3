/* collection.c - see collection.h. */
#include "cmd/classify/collection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/classify/array.h"
#include "cmd/classify/predict.h"
#include "cmd/options/message.h"
#include "cmd/options/outputs.h"

struct reading {
        const struct classifier *classifier;
        struct classify_nearest *nearest;
        size_t given, computed; /* vectors of records */
};

/* ---- the vector of a record ------------------------------------------------------------------ */

/* The array "embedding" of the record's member "prediction", or that of --into; false: none. model:
 * the string "embedding_model" beside it, empty if there is none. */
static bool find_embedding(const struct ran_record *r, const char *into, struct ran_span *array,
                           struct ran_span *model)
{
        const struct ran_member *m = ran_record_find(r, into != NULL ? into : "prediction", NULL);
        struct ran_span name, item;
        bool found = false;
        size_t pos = 0;
        char type;

        *model = (struct ran_span){0};
        while (m != NULL && m->type == 'o' &&
               ran_json_next(r->line, m->value, &pos, &name, &item, &type)) {
                if (type == 'a' && ran_json_is(r->line, name, "embedding")) {
                        *array = item;
                        found = true;
                } else if (type == 's' && ran_json_is(r->line, name, "embedding_model")) {
                        *model = (struct ran_span){item.begin + 1, item.end - 1};
                }
        }
        return found;
}

static int read_embedding(const struct ran_record *r, struct ran_span array, size_t D, float *v,
                          struct ran_error *err)
{
        struct ran_span item;
        size_t pos = 0, n = 0;
        double x;
        char type;

        while (ran_json_next(r->line, array, &pos, NULL, &item, &type)) {
                if (type != 'n' ||
                    !ran_parse_double(r->line + item.begin, item.end - item.begin, &x) ||
                    !isfinite((float)x))
                        return ran_fail(err, RAN_EFORMAT,
                                        "its embedding has an element that is no "
                                        "number in range");
                if (n < D)
                        v[n] = (float)x;
                n++;
        }
        if (n != D)
                return ran_fail(err, RAN_EFORMAT,
                                "its embedding has %zu numbers, and those of the model have %zu", n,
                                D);
        return RAN_OK;
}

/* A document of the collection. */
struct found {
        float *v;          /* (D) */
        bool computed;     /* from its text */
        struct ran_buf id; /* as JSON */
};

static void release(void *found)
{
        struct found *f = found;

        free(f->v);
        ran_buf_release(&f->id);
}

static void add_id(struct ran_buf *out, const struct cmd_line *line)
{
        const struct ran_member *id = ran_record_find(&line->record.json, "id", NULL);
        struct ran_buf place = {0};

        if (id != NULL && id->type != '0') {
                ran_buf_add(out, line->record.json.line + id->value.begin,
                            id->value.end - id->value.begin);
                return;
        }
        ran_buf_printf(&place, "%s:%zu", line->file, line->number);
        ran_buf_json(out, place.data, place.len);
        out->failed |= place.failed;
        ran_buf_release(&place);
}

static int read_vector(void *arg, void *scratch, const struct cmd_line *line,
                       struct cmd_result *result, struct ran_error *err)
{
        const struct classifier *c = ((struct reading *)arg)->classifier;
        struct found *f = result->found;
        const struct ran_record *r = &line->record.json;
        struct ran_span array, model;
        const float *v;

        f->v = ran_alloc_floats(c->D, err);
        if (f->v == NULL)
                return RAN_ENOMEM;
        f->computed = !find_embedding(r, c->options->output.into, &array, &model);
        if (!f->computed) {
                if (model.end > model.begin)
                        RAN_TRY(classify_nearest_same(r->line + model.begin,
                                                      model.end - model.begin, c->vectors, err));
                RAN_TRY(read_embedding(r, array, c->D, f->v, err));
        } else {
                RAN_TRY(classify_vector(c, scratch, line, &v, err));
                memcpy(f->v, v, c->D * sizeof *v);
        }
        add_id(&f->id, line);
        return f->id.failed ? ran_fail(err, RAN_ENOMEM, "no memory for an id") : RAN_OK;
}

static int take_vector(void *arg, const struct cmd_line *line, const struct cmd_result *result,
                       struct ran_error *err)
{
        const struct found *f = result->found;
        struct reading *r = arg;

        (void)line;
        r->computed += f->computed;
        r->given += !f->computed;
        return classify_nearest_put(r->nearest, f->v, f->id.data, f->id.len, err);
}

/* ---- the collection -------------------------------------------------------------------------- */

/* Reads those that are arrays of vectors; the others, NULL at the end. */
static char **read_arrays(struct reading *r, const struct ran_list *list)
{
        struct ran_error err;
        char **others = ran_alloc(list->n + 1, sizeof *others, &err);
        size_t n = 0;

        if (others == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        for (size_t i = 0; i < list->n; i++) {
                if (!array_is(list->item[i]))
                        others[n++] = list->item[i];
                else if (array_read(r->nearest, list->item[i], r->classifier->D,
                                    r->classifier->vectors, &err) != RAN_OK)
                        cmd_die(CMD_FAILED, "--among %s", err.text);
        }
        return others;
}

static void *make_scratch(void *arg, struct ran_error *err)
{
        return classify_scratch_new((void *)((struct reading *)arg)->classifier, err);
}

static void read_files(struct reading *r)
{
        const struct classify_options *o = r->classifier->options;
        const char *const also[] = {o->output.into != NULL ? o->output.into : "prediction", NULL};
        const struct cmd_input input = cmd_input_beside(&o->input, "among", o->among_format);
        const struct cmd_loop loop = {.input = &input,
                                      .reads = FIELD(ID) | FIELD(ERROR) | FIELDS_OF_DOCUMENT,
                                      .also = also,
                                      .pool = r->classifier->pool,
                                      .make_scratch = make_scratch,
                                      .free_scratch = classify_scratch_free,
                                      .work = read_vector,
                                      .take = take_vector,
                                      .result_size = sizeof(struct found),
                                      .release = release,
                                      .arg = r};

        char **files = read_arrays(r, &o->among);
        if (files[0] != NULL)
                cmd_records(&loop, files, NULL);
        free(files);
        if (r->computed > 0)
                cmd_note("--among: %zu records had a vector, and those of %zu were computed from "
                         "their text",
                         r->given, r->computed);
        if (classify_nearest_count(r->nearest) == 0)
                cmd_die(CMD_FAILED, "--among %s: no document to compare with", o->among.item[0]);
}

struct classify_nearest *classify_collection_read(const struct classifier *c)
{
        const struct classify_options *o = c->options;
        struct ran_error err;
        struct reading r = {.classifier = c,
                            .nearest = classify_nearest_new(c->D, o->nearest, o->least, &err)};

        if (r.nearest == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        cmd_check_inputs("output", o->output.output, o->among.item);
        read_files(&r);
        return r.nearest;
}
