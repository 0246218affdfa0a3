/* diff.c - `ran-train diff`: how two models differ in settings, labels, results and weights. */
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"
#include "cmd/train/about/about.h"
#include "cmd/train/about/info.h"
#include "cmd/train/about/info-json.h"

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

/* The labels of a that b lacks: a list for machines or, with a title, a line for people. */
static void add_only(struct report *r, const struct ran_model *a, const struct ran_model *b,
                     const char *title)
{
        size_t a_n, b_n, k = 0;
        const char **of_a = labels_of(a, &a_n), **of_b = labels_of(b, &b_n);
        const bool people = title != NULL;

        report_begin(r, people ? REPORT_LINE : REPORT_LIST, people ? NULL : "", title);
        for (size_t i = 0; i < a_n; i++) {
                while (k < b_n && strcmp(of_b[k], of_a[i]) < 0)
                        k++;
                if (k == b_n || strcmp(of_b[k], of_a[i]) != 0)
                        report_string(r, "", "", of_a[i]);
        }
        report_end(r);
        free(of_a);
        free(of_b);
}

/* ---- the report ------------------------------------------------------------------------------ */

enum { VALUE_SHOWN = 45 };

/* Results have a table of their own. */
static bool is_result(const struct difference *d)
{
        static const char *const results[] = {"dev_metric", "dev_baseline", "calibration", NULL};

        for (const char *const *name = results; *name != NULL; name++)
                if (strlen(*name) == d->name_n && memcmp(*name, d->name, d->name_n) == 0)
                        return true;
        return false;
}

struct differences {
        struct report *r;
        const char *path[2];
};

static void add_setting(void *arg, const struct difference *d)
{
        const struct differences *to = arg;
        struct report *r = to->r;

        report_begin(r, REPORT_OBJECT, "", is_result(d) ? NULL : "");
        report_string(r, "of", "of", d->before);
        report_bytes(r, REPORT_TEXT, "name", "setting", d->name, d->name_n);
        report_begin(r, REPORT_LIST, "values", NULL);
        for (size_t i = 0; i < 2; i++)
                report_bytes(r, REPORT_RAW, "", NULL, d->value[i].n > 0 ? d->value[i].text : "null",
                             d->value[i].n > 0 ? d->value[i].n : 4);
        report_end(r);
        for (size_t i = 0; i < 2; i++) {
                const size_t n = d->value[i].n;
                const size_t shown =
                        n <= VALUE_SHOWN ? n : ran_utf8_valid(d->value[i].text, VALUE_SHOWN);

                report_put(r, NULL, to->path[i], "%.*s%s", (int)shown,
                           n > 0 ? d->value[i].text : "",
                           n == 0      ? "(none)"
                           : shown < n ? "..."
                                       : "");
        }
        report_end(r);
}

static void add_figures(struct report *r, const struct about *a, const struct about *b)
{
        const struct ran_interval x = a->figure.interval, y = b->figure.interval;
        const bool overlap = a->figure.has_interval && b->figure.has_interval && x.low <= y.high &&
                             y.low <= x.high;

        report_begin(r, REPORT_LIST, "validation", "Results");
        report_note(r, "%s",
                    overlap ? "the intervals overlap: these figures alone do not show that one is "
                              "better"
                            : "");
        for (size_t i = 0; i < 2; i++) {
                report_begin(r, REPORT_OBJECT, "", "");
                report_string(r, NULL, "model", (i == 0 ? a : b)->path);
                train_info_figure(&(i == 0 ? a : b)->figure, r);
                report_end(r);
        }
        report_end(r);
}

static void add_differences(struct report *r, const struct about *a, const struct about *b,
                            bool same, const struct ran_buf *what)
{
        struct differences to = {r, {a->path, b->path}};

        report_bool(r, "same", NULL, same);
        report_begin(r, REPORT_LIST, "settings", "Settings");
        each_setting(a, b, add_setting, &to);
        report_end(r);
        report_begin(r, REPORT_LIST, "labels_only", NULL);
        add_only(r, a->model, b->model, NULL);
        add_only(r, b->model, a->model, NULL);
        report_end(r);
        add_only(r, a->model, b->model, "labels only in the first");
        add_only(r, b->model, a->model, "labels only in the second");
        add_figures(r, a, b);
        report_begin(r, REPORT_LIST, "bytes", "bytes");
        report_count(r, "", "", a->bytes);
        report_count(r, "", "", b->bytes);
        report_end(r);
        if (!same)
                report_bytes(r, REPORT_TEXT, "first_difference", "first difference", what->data,
                             what->len);
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
        const bool text = options.format == TRAIN_INFO_TEXT;
        struct report r = {0};
        struct about a, b;

        if (files[0] == NULL || files[1] == NULL || files[2] != NULL)
                cmd_usage("give two models");
        open_model(&a, files[0]);
        open_model(&b, files[1]);
        bool same = ran_model_same(a.model, b.model, &what);
        add_differences(&r, &a, &b, same, &what);
        if (text && !same) {
                ran_buf_shown(&out, a.path, strlen(a.path));
                ran_buf_str(&out, " and ");
                ran_buf_shown(&out, b.path, strlen(b.path));
                ran_buf_str(&out, " differ:\n");
        }
        if (!text || !same)
                report_finish(&r, text, &out);
        report_release(&r);
        if (out.failed || what.failed)
                cmd_die(CMD_FAILED, "out of memory");
        cmd_write_file(NULL, &out);
        ran_buf_release(&out);
        ran_buf_release(&what);
        train_about_release(&a);
        train_about_release(&b);
        return cmd_finish(same ? CMD_OK : CMD_SOME_FAILED);
}
