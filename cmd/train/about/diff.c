/* diff.c - `ran-train diff`: how two models differ in settings, labels, results and weights. */
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"
#include "cmd/train/about/about.h"

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

enum { VALUE_SHOWN = 45 };

/* A setting, whose values are JSON; n 0: that model has none. Results have a table of their own. */
static void add_setting(struct report *r, const char *before, const char *name, size_t name_n,
                        const char *const value[2], const size_t n[2], const char *const path[2])
{
        static const char *const results[] = {"dev_metric", "dev_baseline", "calibration"};
        bool shown = true;

        for (size_t i = 0; i < sizeof results / sizeof *results; i++)
                shown &= strlen(results[i]) != name_n || memcmp(results[i], name, name_n) != 0;
        report_begin(r, REPORT_OBJECT, "", shown ? "" : NULL);
        report_string(r, "of", "of", before);
        report_bytes(r, REPORT_TEXT, "name", "setting", name, name_n);
        report_begin(r, REPORT_LIST, "values", NULL);
        for (size_t i = 0; i < 2; i++)
                report_bytes(r, REPORT_RAW, "", NULL, n[i] > 0 ? value[i] : "null",
                             n[i] > 0 ? n[i] : 4);
        report_end(r);
        for (size_t i = 0; i < 2; i++) {
                const size_t some =
                        n[i] <= VALUE_SHOWN ? n[i] : ran_utf8_valid(value[i], VALUE_SHOWN);

                report_put(r, NULL, path[i], "%.*s%s", (int)some, n[i] > 0 ? value[i] : "",
                           n[i] == 0     ? "(none)"
                           : some < n[i] ? "..."
                                         : "");
        }
        report_end(r);
}

/* Members that differ. Names of b that a lacks come last. */
static void add_settings(struct report *r, const char *before, const struct ran_record *a,
                         const struct ran_record *b, const char *const path[2])
{
        const struct ran_record *const of[] = {a, b};

        for (size_t i = 0; i < a->count + b->count; i++) {
                const bool first = i < a->count;
                const struct ran_record *in = first ? a : b;
                const struct ran_member *m = &in->members[first ? i : i - a->count];
                const struct ran_member *other = find(first ? b : a, in, m);
                const struct ran_member *const member[] = {first ? m : other, first ? other : m};
                const char *value[2] = {NULL};
                size_t n[2] = {0};

                if (!first && other != NULL)
                        continue;
                for (size_t k = 0; k < 2; k++)
                        if (member[k] != NULL) {
                                value[k] = of[k]->line + member[k]->value.begin;
                                n[k] = member[k]->value.end - member[k]->value.begin;
                        }
                if (n[0] != n[1] || (n[0] > 0 && memcmp(value[0], value[1], n[0]) != 0))
                        add_setting(r, before, name_of(in, m), m->name.end - m->name.begin, value,
                                    n, path);
        }
}

/* ---- labels ---------------------------------------------------------------------------------- */

static int compare_labels(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* (*n) sorted; the caller frees them. */
static const char **labels_of(const struct ran_model *m, size_t *n)
{
        *n = ran_task_has_labels(ran_model_config(m)->task) ? ran_model_classes(m) : 0;
        const char **label = ran_new(*n, sizeof *label);
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
        const char *const path[] = {a->path, b->path};

        report_bool(r, "same", NULL, same);
        report_begin(r, REPORT_LIST, "settings", "Settings");
        add_settings(r, "model", &a->config, &b->config, path);
        add_settings(r, "training", &a->training, &b->training, path);
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
        cmd_write_file(NULL, &out);
        ran_buf_release(&out);
        ran_buf_release(&what);
        train_about_release(&a);
        train_about_release(&b);
        return cmd_finish(same ? CMD_OK : CMD_SOME_FAILED);
}
