/* select.c - --select: the records to label next. */
#include "cmd/classify/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/options/outputs.h"

/* What a thread found about a record. */
struct found {
        double margin;
        struct ran_buf words;
        bool known; /* the model was trained on it */
};

/* A record, kept until the choice. */
struct kept {
        const char *file;
        size_t line;
        size_t record, result; /* where they end */
        double margin;
};

struct selecting {
        struct classifier classifier;
        struct ran_selection *selection;
        struct ran_counter *counter;             /* how words are read */
        struct ran_spool kept, records, results; /* kept (n) */
        size_t n, known;
};

/* ---- in any thread --------------------------------------------------------------------------- */

/* How sure the model is: by how much the most probable label is ahead of the next, or, with several
 * labels, how far the nearest is from its threshold. */
static double margin_of(const struct classifier *c, const float *p)
{
        float first = -1, second = -1;
        double least = 1;

        for (size_t i = 0; i < c->C; i++) {
                if (c->thresholds != NULL)
                        least = fmin(least, fabs((double)p[i] - (double)c->thresholds[i]));
                if (p[i] > first) {
                        second = first;
                        first = p[i];
                } else if (p[i] > second) {
                        second = p[i];
                }
        }
        return c->thresholds != NULL ? least : (double)first - (double)second;
}

/* Of a document of ids each id is a word. */
static int read_words(const struct selecting *x, struct classify_scratch *s,
                      const struct record *record, const struct cmd_document *d,
                      struct ran_buf *words, struct ran_error *err)
{
        const uint32_t size = sizeof *d->ids;

        if (d->from == CMD_FROM_TEXT || d->from == CMD_FROM_TOKENS)
                return cmd_vocab_words_read(&s->words, record, x->counter, words, err);
        for (size_t t = 0; t < d->L; t++) {
                ran_buf_add(words, (const char *)&size, sizeof size);
                ran_buf_add(words, (const char *)&d->ids[t], size);
        }
        return RAN_OK;
}

static int work(void *arg, void *scratch, const struct cmd_line *line, struct cmd_result *result,
                struct ran_error *err)
{
        struct selecting *x = arg;
        const struct classifier *c = &x->classifier;
        struct found *f = result->found;
        struct classify_scratch *s = scratch;

        RAN_TRY(classify_predict(x, s, line, result, err));
        f->margin = margin_of(c, s->p);
        f->known = ran_model_fingerprints(c->model) > 0 &&
                   ran_model_knows(c->model, s->document.fingerprint);
        return f->known ? RAN_OK : read_words(x, s, &line->record, &s->document, &f->words, err);
}

static void release(void *found)
{
        ran_buf_release(&((struct found *)found)->words);
}

/* ---- in order -------------------------------------------------------------------------------- */

static int append(struct ran_spool *to, size_t *end, size_t at, const char *s, size_t n,
                  struct ran_error *err)
{
        char *bytes;

        RAN_TRY(RAN_SPOOL(*to, bytes, at + n + 1, err));
        memcpy(bytes + at, s, n);
        *end = at + n;
        return RAN_OK;
}

static int take(void *arg, const struct cmd_line *line, struct cmd_result *result,
                struct ran_error *err)
{
        struct selecting *x = arg;
        const struct found *f = result->found;

        if (f->known) {
                x->known++;
                return RAN_OK;
        }
        struct kept *kept;
        RAN_TRY(RAN_SPOOL(x->kept, kept, x->n + 1, err));
        const struct kept before = x->n > 0 ? kept[x->n - 1] : (struct kept){0};
        struct kept *k = &kept[x->n];
        *k = (struct kept){.file = line->file, .line = line->number, .margin = f->margin};
        RAN_TRY(append(&x->records, &k->record, before.record, line->record.json.line,
                       line->record.json.length, err));
        RAN_TRY(append(&x->results, &k->result, before.result, result->out.data, result->out.len,
                       err));
        RAN_TRY(ran_selection_add(x->selection, 1 - f->margin, f->words.data, f->words.len, err));
        x->n++;
        return RAN_OK;
}

/* ---- the chosen ones ------------------------------------------------------------------------- */

/* The prediction of Label Studio: what its annotators see first. */
static void add_prediction(struct ran_buf *out, const struct selecting *x,
                           const struct ran_buf *prediction)
{
        struct ran_record r = {0};
        struct ran_error err;

        if (ran_record_scan(&r, prediction->data, prediction->len, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        const struct ran_member *label = json_member(&r, "label"), *labels, *score;
        labels = json_member(&r, "labels");
        score = json_member(&r, "score");
        const char *comma = "";
        const char *model = x->classifier.options->model;

        ran_buf_str(out, ",\"predictions\":[{\"model_version\":");
        ran_buf_json(out, model, strlen(model));
        if (score != NULL) {
                ran_buf_str(out, ",\"score\":");
                ran_buf_add(out, r.line + score->value.begin,
                            score->value.end - score->value.begin);
        }
        ran_buf_str(
                out,
                ",\"result\":[{\"from_name\":\"label\",\"to_name\":\"text\",\"type\":\"choices\","
                "\"value\":{\"choices\":[");
        if (label != NULL)
                ran_buf_add(out, r.line + label->value.begin,
                            label->value.end - label->value.begin);
        struct ran_items each = ran_items(r.line, labels != NULL ? labels->value : r.object);
        while (labels != NULL && ran_items_next(&each)) {
                struct ran_items i = ran_items(r.line, each.value); /* "label": ..., "score": ... */
                if (!ran_items_next(&i))
                        continue;
                ran_buf_str(out, comma);
                ran_buf_add(out, r.line + i.value.begin, i.value.end - i.value.begin);
                comma = ",";
        }
        ran_buf_str(out, "]}}]}]");
        ran_record_release(&r);
}

static void write_one(const struct selecting *x, size_t number, size_t rank, struct cmd_sink *out)
{
        const struct kept *kept = x->kept.data, *k = &kept[number];
        const struct kept before = number > 0 ? kept[number - 1] : (struct kept){0};
        const struct cmd_output *how = &x->classifier.options->output;
        const char *record = (const char *)x->records.data + before.record;
        struct cmd_line line = {.file = k->file, .number = k->line};
        struct ran_buf result = {0};
        struct ran_error err;

        ran_buf_add(&result, (const char *)x->results.data + before.result,
                    k->result - before.result);
        if (record_scan(&line.record, record, k->record - before.record, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s:%zu: %s", k->file, k->line, err.text);
        if (how->format->kind == OUTPUT_RECORDS) {
                /* "rank" and "margin" are further members of the prediction. */
                result.len--; /* its closing brace */
                json_put_size(&result, "rank", rank);
                json_put_float(&result, "margin", (float)k->margin);
                json_end(&result, '}');
                how->format->record(&out->buf, &line, how,
                                    how->into != NULL ? how->into : "prediction", &result);
        } else if (how->format->kind == OUTPUT_TASKS) {
                struct ran_buf task = {0}; /* it has the record as its data */

                json_begin(&task, '{');
                json_put_raw(&task, "data", line.record.json.line + line.record.json.object.begin,
                             line.record.json.object.end - line.record.json.object.begin);
                add_prediction(&task, x, &result);
                json_end(&task, '}');
                ran_buf_str(&out->buf, rank > 1 ? ",\n" : "");
                ran_buf_add(&out->buf, task.data, task.len);
                ran_buf_release(&task);
        } else {
                ran_buf_add(&out->buf, result.data, result.len);
        }
        cmd_sink_flush(out);
        ran_buf_release(&result);
        record_release(&line.record);
}

static void write_chosen(struct selecting *x, const size_t *chosen, size_t n)
{
        const struct cmd_output *how = &x->classifier.options->output;
        struct cmd_sink out;

        cmd_sink_open(&out, how->output);
        if (how->format->kind == OUTPUT_ROWS) {
                struct cmd_row row = {.format = how->format, .out = &out.buf};
                classify_columns(&x->classifier, &row);
                cmd_row_end(&row);
        }
        ran_buf_str(&out.buf, how->format->kind == OUTPUT_TASKS ? "[\n" : "");
        for (size_t i = 0; i < n; i++)
                write_one(x, chosen[i], i + 1, &out);
        ran_buf_str(&out.buf, how->format->kind == OUTPUT_TASKS ? "\n]\n" : "");
        cmd_sink_close(&out);
}

static void choose(struct selecting *x)
{
        const size_t wanted = x->classifier.options->select, most = wanted < x->n ? wanted : x->n;
        struct ran_error err;
        size_t *chosen = ran_new(most + 1, sizeof *chosen), n = 0;

        if (ran_selection_choose(x->selection, most, chosen, &n, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        if (x->known > 0)
                cmd_note("%zu records are passed over: %s was trained on them", x->known,
                         x->classifier.options->model);
        cmd_note("%zu of %zu records are chosen%s", n, x->n,
                 n < most ? ": all others are near-duplicates of these" : "");
        write_chosen(x, chosen, n);
        free(chosen);
}

int classify_select(const struct classifier *c, struct cmd_loop loop, char **files)
{
        const char *output = c->options->output.output;
        struct selecting x = {.classifier = *c};
        struct ran_vocab_settings settings = {0};
        struct ran_error err;

        cmd_check_output(output, files);
        x.selection = ran_selection_new();
        if (ran_fields_init(ran_vocab_fields, &settings, &err) != RAN_OK ||
            (x.counter = ran_counter_new(&settings, &err)) == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        ran_fields_release(ran_vocab_fields, &settings);
        loop.output = NULL;
        loop.work = x.classifier.work = work;
        loop.take = take;
        loop.columns = NULL;
        loop.result_size = sizeof(struct found);
        loop.release = release;
        loop.arg = &x;
        const int status = cmd_records(&loop, files, NULL);
        choose(&x);
        ran_selection_free(x.selection);
        ran_counter_free(x.counter);
        ran_spool_release(&x.kept);
        ran_spool_release(&x.records);
        ran_spool_release(&x.results);
        return status;
}
