/* diff.c - `ran-train diff`: how two models differ in settings, labels, results and weights. */
#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"
#include "cmd/train/about/about.h"
#include "cmd/train/about/info.h"

static struct diff_options {
        int format;
} options;

static const struct ran_field fields[] = {
        {"format", 0, RAN_FIELD_CHOICE, offsetof(struct diff_options, format),
         .choices = train_info_formats, .value = "FORMAT", .initial = "text",
         .help = "text: for people; json: one object"},
        {0},
};
static const struct cmd_group groups[] = {{"Output", fields, &options}, {0}};
static const struct cmd_program program = {
        .name = "ran-train diff",
        .usage = "[option...] model model",
        .summary = "Says how two models differ: settings, labels, results, weights.",
        .notes = "Exit status: 0, the files are the same; 1, they differ; 2, usage; 3, a file "
                 "could not be read.",
        .groups = groups,
};

/* ---- settings -------------------------------------------------------------------------------- */

/* A setting that differs: its name as a path ("train.digest") and both values as JSON; n 0: that
 * model has none. */
struct difference {
        const char *before, *name; /* "training", "dim" */
        size_t name_n;
        struct {
                const char *text;
                size_t n;
        } value[2];
};
typedef void take_difference(void *arg, const struct difference *d);

static void set_value(struct difference *d, size_t side, const struct ran_record *r,
                      const struct ran_member *m)
{
        if (m != NULL) {
                d->value[side].text = r->line + m->value.begin;
                d->value[side].n = m->value.end - m->value.begin;
        }
}

static const char *name_of(const struct ran_record *r, const struct ran_member *m)
{
        return r->names.data + m->name.begin;
}

static const struct ran_member *find(const struct ran_record *r, const struct ran_record *in,
                                     const struct ran_member *m)
{
        size_t n = m->name.end - m->name.begin;

        for (size_t i = 0; i < r->count; i++)
                if (r->members[i].name.end - r->members[i].name.begin == n &&
                    memcmp(name_of(r, &r->members[i]), name_of(in, m), n) == 0)
                        return &r->members[i];
        return NULL;
}

/* Names of b that a lacks come last. */
static void each_difference(const struct ran_record *a, const struct ran_record *b,
                            const char *before, take_difference *take, void *arg)
{
        for (size_t i = 0; i < a->count + b->count; i++) {
                bool first = i < a->count;
                const struct ran_record *in = first ? a : b;
                const struct ran_member *m = &in->members[first ? i : i - a->count];
                const struct ran_member *other = find(first ? b : a, in, m);
                struct difference d = {.before = before,
                                       .name = name_of(in, m),
                                       .name_n = m->name.end - m->name.begin};

                if (!first && other != NULL)
                        continue;
                set_value(&d, first ? 0 : 1, in, m);
                set_value(&d, first ? 1 : 0, first ? b : a, other);
                if (d.value[0].n != d.value[1].n ||
                    (d.value[0].n > 0 &&
                     memcmp(d.value[0].text, d.value[1].text, d.value[0].n) != 0))
                        take(arg, &d);
        }
}

static void each_setting(const struct about *a, const struct about *b, take_difference *take,
                         void *arg)
{
        each_difference(&a->config, &b->config, "model", take, arg);
        each_difference(&a->training, &b->training, "training", take, arg);
}

/* ---- labels ---------------------------------------------------------------------------------- */

static int compare_labels(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* (*n) sorted; the caller frees them. */
static const char **labels_of(const struct ran_model *m, size_t *n)
{
        struct ran_error err;

        *n = ran_task_has_labels(ran_model_config(m)->task) ? ran_model_classes(m) : 0;
        const char **label = ran_alloc(*n, sizeof *label, &err);
        if (label == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        for (size_t i = 0; i < *n; i++)
                label[i] = ran_model_label(m, i);
        qsort(label, *n, sizeof *label, compare_labels);
        return label;
}

/* The labels of a that b lacks, as a JSON array; their number. */
static size_t only_in(const struct ran_model *a, const struct ran_model *b, struct ran_buf *out)
{
        size_t a_n, b_n, found = 0, k = 0;
        const char **of_a = labels_of(a, &a_n), **of_b = labels_of(b, &b_n);

        json_begin(out, '[');
        for (size_t i = 0; i < a_n; i++) {
                while (k < b_n && strcmp(of_b[k], of_a[i]) < 0)
                        k++;
                if (k < b_n && strcmp(of_b[k], of_a[i]) == 0)
                        continue;
                json_string(out, of_a[i], strlen(of_a[i]));
                found++;
        }
        json_end(out, ']');
        free(of_a);
        free(of_b);
        return found;
}

/* ---- text ------------------------------------------------------------------------------------ */

enum { VALUE_SHOWN = 48 };

static void add_value(struct ran_buf *out, const char *text, size_t n)
{
        size_t shown = n <= VALUE_SHOWN ? n : ran_utf8_valid(text, VALUE_SHOWN);

        if (n == 0)
                ran_buf_str(out, "(none)");
        ran_buf_shown(out, text, shown);
        ran_buf_str(out, shown < n ? "..." : "");
}

/* Results have lines of their own. */
static bool is_result(const struct difference *d)
{
        static const char *const results[] = {"dev_metric", "dev_baseline", "calibration", NULL};

        for (const char *const *name = results; *name != NULL; name++)
                if (strlen(*name) == d->name_n && memcmp(*name, d->name, d->name_n) == 0)
                        return true;
        return false;
}

static void add_setting(void *arg, const struct difference *d)
{
        struct ran_buf *out = arg;

        if (is_result(d))
                return;

        ran_buf_printf(out, "  %s, ", d->before);
        ran_buf_shown(out, d->name, d->name_n);
        ran_buf_str(out, ": ");
        add_value(out, d->value[0].text, d->value[0].n);
        ran_buf_str(out, " and ");
        add_value(out, d->value[1].text, d->value[1].n);
        ran_buf_char(out, '\n');
}

static void add_figure(struct ran_buf *out, const struct about *a)
{
        const struct about_figure *f = &a->figure;

        ran_buf_str(out, "  result of ");
        ran_buf_shown(out, a->path, strlen(a->path));
        if (f->metric == NULL) {
                ran_buf_str(out, ": not measured\n");
                return;
        }
        if (strcmp(f->metric, "loss") == 0)
                ran_buf_printf(out, ": loss %.4f", f->value);
        else
                ran_buf_printf(out, ": %s %.2f%%", f->metric, 100 * f->value);
        ran_buf_printf(out, " on %zu validation documents", f->n);
        if (f->has_interval)
                ran_buf_printf(out, " (95 %% interval: %.1f to %.1f)", 100 * f->interval.low,
                               100 * f->interval.high);
        ran_buf_char(out, '\n');
}

static void add_verdict(struct ran_buf *out, const struct about_figure *a,
                        const struct about_figure *b)
{
        if (a->has_interval && b->has_interval && a->interval.low <= b->interval.high &&
            b->interval.low <= a->interval.high)
                ran_buf_str(out, "  the intervals overlap: these figures alone do not show that "
                                 "one is better\n");
}

static void add_only(struct ran_buf *out, const struct about *a, const struct about *b)
{
        struct ran_buf list = {0};

        if (only_in(a->model, b->model, &list) > 0) {
                ran_buf_str(out, "  labels only in ");
                ran_buf_shown(out, a->path, strlen(a->path));
                ran_buf_str(out, ": ");
                ran_buf_shown(out, list.data, list.len);
                ran_buf_char(out, '\n');
        }
        out->failed |= list.failed;
        ran_buf_release(&list);
}

static void write_text(const struct about *a, const struct about *b, const struct ran_buf *what,
                       struct ran_buf *out)
{
        ran_buf_shown(out, a->path, strlen(a->path));
        ran_buf_str(out, " and ");
        ran_buf_shown(out, b->path, strlen(b->path));
        ran_buf_str(out, " differ:\n");
        each_setting(a, b, add_setting, out);
        add_only(out, a, b);
        add_only(out, b, a);
        add_figure(out, a);
        add_figure(out, b);
        add_verdict(out, &a->figure, &b->figure);
        ran_buf_printf(out, "  size: %zu and %zu bytes\n  ", a->bytes, b->bytes);
        ran_buf_shown(out, what->data, what->len);
        ran_buf_char(out, '\n');
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_setting(void *arg, const struct difference *d)
{
        struct ran_buf *out = arg;

        json_begin(out, '{');
        json_put_string(out, "of", d->before, strlen(d->before));
        json_put_string(out, "name", d->name, d->name_n);
        json_name(out, "values");
        json_begin(out, '[');
        for (size_t i = 0; i < 2; i++)
                if (d->value[i].n > 0)
                        json_raw(out, d->value[i].text, d->value[i].n);
                else
                        json_raw(out, "null", 4);
        json_end(out, ']');
        json_end(out, '}');
}

static void put_figure(struct ran_buf *out, const struct about_figure *f)
{
        json_begin(out, '{');
        json_put_size(out, "documents", f->n);
        if (f->metric != NULL) {
                json_put_string(out, "metric", f->metric, strlen(f->metric));
                json_name(out, "value");
                ran_buf_double(out, f->value);
        }
        if (f->has_interval) {
                json_name(out, "interval");
                ran_buf_char(out, '[');
                ran_buf_double(out, f->interval.low);
                ran_buf_char(out, ',');
                ran_buf_double(out, f->interval.high);
                ran_buf_char(out, ']');
        }
        json_end(out, '}');
}

static void write_json(const struct about *a, const struct about *b, bool same,
                       const struct ran_buf *what, struct ran_buf *out)
{
        json_begin(out, '{');
        json_put_bool(out, "same", same);
        json_name(out, "settings");
        json_begin(out, '[');
        each_setting(a, b, put_setting, out);
        json_end(out, ']');
        json_name(out, "labels_only");
        json_begin(out, '[');
        only_in(a->model, b->model, out);
        only_in(b->model, a->model, out);
        json_end(out, ']');
        json_name(out, "validation");
        json_begin(out, '[');
        put_figure(out, &a->figure);
        put_figure(out, &b->figure);
        json_end(out, ']');
        json_name(out, "bytes");
        json_begin(out, '[');
        json_size(out, a->bytes);
        json_size(out, b->bytes);
        json_end(out, ']');
        if (!same)
                json_put_string(out, "first_difference", what->data, what->len);
        json_end(out, '}');
        ran_buf_char(out, '\n');
}

/* ---- the verb -------------------------------------------------------------------------------- */

static void open_model(struct about *a, const char *path)
{
        train_about_open(a, path);
        if (a->model == NULL)
                cmd_die(CMD_FAILED, "%s is a vocabulary: diff compares models", path);
}

int train_diff(int argc, char **argv)
{
        char **files = argv + cmd_parse(&program, argc, argv);
        struct ran_buf out = {0}, what = {0};
        struct about a, b;

        if (files[0] == NULL || files[1] == NULL || files[2] != NULL)
                cmd_usage("give two models");
        open_model(&a, files[0]);
        open_model(&b, files[1]);
        bool same = ran_model_same(a.model, b.model, &what);
        if (options.format == TRAIN_INFO_JSON)
                write_json(&a, &b, same, &what, &out);
        else if (!same)
                write_text(&a, &b, &what, &out);
        if (out.failed || what.failed)
                cmd_die(CMD_FAILED, "out of memory");
        cmd_write_file(NULL, &out);
        ran_buf_release(&out);
        ran_buf_release(&what);
        train_about_release(&a);
        train_about_release(&b);
        return cmd_finish(same ? CMD_OK : CMD_SOME_FAILED);
}
