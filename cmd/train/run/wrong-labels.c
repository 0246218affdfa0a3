/* wrong-labels.c - --find-wrong-labels: documents whose label is probably wrong. */
#include "cmd/train/run/session.h"

#include <stdlib.h>

#include "cmd/formats/output.h"
#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/options/write.h"

const char *const train_suspects_formats[] = {OUTPUT_FORMATS(OUTPUT_NAME) NULL};
static const struct output_format *const formats[] = {OUTPUT_FORMATS(OUTPUT_ENTRY)};

struct suspects {
        const struct train_session *s;
        const struct ran_dataset *set;
        bool several; /* labels a document: a suspect is one to add or remove */
        float *p;     /* (B, C) out of fold */
        struct ran_suspects found;
        size_t listed; /* so many of them are written */
};

/* ---- the models of the folds ----------------------------------------------------------------- */

static int on_fold(void *arg, size_t fold)
{
        const struct suspects *x = arg;

        cmd_note("fold %zu of %zu", fold + 1, x->s->options->mode.folds);
        return train_run_stopped();
}

/* RAN_OK, or why there is no list. */
static int judge(struct suspects *x, const struct ran_train_job *job, struct ran_error *err)
{
        const struct ran_dataset *set = x->set;
        const size_t B = set->B, C = set->C;
        struct ran_train_job watched = *job;

        watched.report = train_run_watch;
        if (B > SIZE_MAX / sizeof *x->p / C)
                return ran_fail(err, RAN_ENOMEM, "%zu documents of %zu labels are too many", B, C);
        x->p = ran_new_floats(B * C);
        RAN_TRY(ran_train_folds(&watched, x->s->options->mode.folds, on_fold, x, x->p, err));
        return ran_suspects_find(&x->found, x->p, x->several ? set->label_first : NULL, set->labels,
                                 B, C, err);
}

/* ---- a document ------------------------------------------------------------------------------ */

/* A document as it was read. Release line->record. */
static void line_of(const struct suspects *x, size_t b, struct cmd_line *line)
{
        const struct train_data *d = &x->s->train;
        const size_t begin = b > 0 ? d->lines.end[b - 1] : 0;
        struct ran_error err;

        line->file = d->location[b].file;
        line->number = d->location[b].line;
        if (record_scan(&line->record, d->lines.text + begin, d->lines.end[b] - begin, &err) !=
            RAN_OK)
                cmd_die(CMD_FAILED, "%s:%zu: %s", line->file, line->number, err.text);
}

/* Of several labels: which is to be added, or removed. */
static const char *change_of(const struct ran_suspect *k)
{
        return k->label == RAN_NO_LABEL ? "add" : "remove";
}

static uint32_t changed_label(const struct ran_suspect *k)
{
        return k->label == RAN_NO_LABEL ? k->suggested : k->label;
}

static void write_record(const struct suspects *x, size_t rank, const struct cmd_line *line,
                         struct ran_buf *out)
{
        static const struct cmd_output how = {0};
        const struct ran_suspect *k = &x->found.suspect[rank];
        const float *p = x->p + k->document * x->set->C;
        struct ran_buf value = {0};

        json_begin(&value, '{');
        json_put_size(&value, "rank", rank + 1);
        if (x->several) {
                json_put_text(&value, change_of(k), x->set->names[changed_label(k)]);
        } else {
                json_put_text(&value, "label", x->set->names[k->label]);
                json_put_text(&value, "suggested", x->set->names[k->suggested]);
        }
        json_put_float(&value, "margin", (float)k->margin);
        json_put_text(&value, "file", line->file);
        json_put_size(&value, "line", line->number);
        json_name(&value, "probs");
        json_begin(&value, '{');
        for (size_t c = 0; c < x->set->C; c++)
                json_put_float(&value, x->set->names[c], p[c]);
        json_end(&value, '}');
        json_end(&value, '}');
        emit_record(out, line, &how, "suspect", &value);
        ran_buf_release(&value);
}

static int write_row(const struct suspects *x, size_t rank, const struct cmd_line *line,
                     struct cmd_row *row, struct ran_buf *scratch, struct ran_error *err)
{
        const struct ran_suspect *k = &x->found.suspect[rank];
        const float *p = x->p + k->document * x->set->C;

        cmd_row_size(row, rank + 1);
        RAN_TRY(cmd_row_id(row, line, err));
        cmd_row_text(row, x->several ? change_of(k) : x->set->names[k->label]);
        cmd_row_text(row, x->set->names[x->several ? changed_label(k) : k->suggested]);
        cmd_row_float(row, (float)k->margin);
        cmd_row_float(row, p[x->several ? changed_label(k) : k->label]);
        if (!x->several)
                cmd_row_float(row, p[k->suggested]);
        RAN_TRY(cmd_row_document(row, line, scratch, err));
        cmd_row_end(row);
        return RAN_OK;
}

/* ---- the list -------------------------------------------------------------------------------- */

static void write_list(const struct suspects *x)
{
        static const char *const one[] = {"rank",    "id",          "label", "suggested", "margin",
                                          "p_label", "p_suggested", "text",  NULL};
        static const char *const several[] = {"rank",   "id",      "change", "label",
                                              "margin", "p_label", "text",   NULL};
        const struct output_format *format = formats[x->s->options->mode.suspects_format];
        struct ran_buf scratch = {0};
        struct cmd_line line = {0};
        struct cmd_sink out;
        struct ran_error err;
        int rc = RAN_OK;

        cmd_sink_open(&out, NULL);
        struct cmd_row row = {.format = format, .out = &out.buf};
        if (format->kind == OUTPUT_ROWS) {
                cmd_row_names(&row, x->several ? several : one);
                cmd_row_end(&row);
        }
        for (size_t rank = 0; rank < x->listed && rc == RAN_OK; rank++) {
                line_of(x, x->found.suspect[rank].document, &line);
                if (format->kind == OUTPUT_RECORDS)
                        write_record(x, rank, &line, &out.buf);
                else
                        rc = write_row(x, rank, &line, &row, &scratch, &err);
                cmd_sink_flush(&out);
        }
        if (rc != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s:%zu: %s", line.file, line.number, err.text);
        cmd_sink_close(&out);
        ran_buf_release(&scratch);
        record_release(&line.record);
}

int train_find_wrong_labels(const struct train_session *s, const struct ran_train_job *job)
{
        const size_t asked = s->options->mode.suspects;
        struct suspects x = {
                .s = s, .set = &s->train.set, .several = s->config.classify.multilabel};
        struct ran_error err = {0};
        int status = CMD_OK;

        train_run_catch_signals();
        if (judge(&x, job, &err) == RAN_OK) {
                x.listed = asked > 0 ? asked : x.found.wrong;
                x.listed = x.listed < x.found.n ? x.listed : x.found.n;
                if (x.several)
                        cmd_note("about %zu labels of %zu documents are wrong or missing; the %zu "
                                 "most suspicious are listed",
                                 x.found.wrong, x.set->B, x.listed);
                else
                        cmd_note("about %zu of %zu labels are wrong; the %zu most suspicious are "
                                 "listed",
                                 x.found.wrong, x.set->B, x.listed);
                write_list(&x);
        } else {
                status = train_run_ended(&err, "interrupted");
        }
        free(x.p);
        ran_suspects_release(&x.found);
        return status;
}
