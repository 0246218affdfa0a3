/* journal.c - reads and writes MODEL.tune.
 *
 *     {"ran_tune":1,"search":[...],"training":{...},"config":{...},"vocabulary":"..."}
 *     {"trial":1,"settings":{},"dev":[0.71,0.74],"best":0.74,"best_epoch":2,...}
 *     {"trial":2,"settings":{"dropout":0.3},...}
 *     {"complete":true}
 *
 * The file is untrusted input. The settings of a trial follow from the trials before it: they are
 * compared, not read.
 */
#include "cmd/train/run/journal.h"
#include "cmd/options/message.h"
#include "cmd/options/write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const ends[] = {"running", "done", "behind", "diverged", NULL};
static const char first_member[] = "\"ran_tune\":1,";
static const double most_seconds = 1e12; /* sums of these can be written again */

/* ---- trials --------------------------------------------------------------------------------- */

static void *keep(void *p)
{
        if (p == NULL)
                cmd_die(CMD_FAILED, "out of memory");
        return p;
}

struct train_trial *train_journal_add(struct train_journal *j, char *settings)
{
        struct train_trial *t;

        j->trial = keep(ran_grow(j->trial, &j->cap, j->n + 1, sizeof *j->trial, NULL));
        t = &j->trial[j->n++];
        *t = (struct train_trial){.settings = settings, .best = -INFINITY};
        return t;
}

void train_journal_drop(struct train_journal *j)
{
        j->n--;
        free(j->trial[j->n].settings);
        free(j->trial[j->n].dev);
}

void train_trial_reach(struct train_trial *t, size_t epoch, double metric)
{
        if (epoch > t->cap)
                t->dev = keep(ran_grow(t->dev, &t->cap, epoch, sizeof *t->dev, NULL));
        while (t->epochs < epoch)
                t->dev[t->epochs++] = NAN;
        t->dev[epoch - 1] = metric;
}

void train_journal_clear(struct train_journal *j)
{
        while (j->n > 0)
                train_journal_drop(j);
        free(j->header);
        j->header = NULL;
        j->complete = false;
}

void train_journal_release(struct train_journal *j)
{
        train_journal_clear(j);
        free(j->trial);
        free(j->path);
        *j = (struct train_journal){0};
}

/* ---- reading -------------------------------------------------------------------------------- */

static int refuse(const struct train_journal *j, size_t line, const char *what,
                  struct ran_error *err)
{
        return ran_fail(err, RAN_EFORMAT,
                        "%s:%zu: %s: this is no journal of ran-train --tune, or it is damaged; "
                        "remove it, or start again with --overwrite-checkpoint",
                        j->path, line, what);
}

/* A line that is being read. Its first error goes into *err. */
struct entry {
        const struct train_journal *j;
        const struct ran_record *r;
        size_t line;
        struct ran_error *err;
};

static bool wrong(const struct entry *e, const char *what)
{
        refuse(e->j, e->line, what, e->err);
        return false;
}

/* The value of a member with one of two types. */
static bool member(const struct entry *e, const char *name, char type, char other,
                   struct ran_span *value)
{
        bool twice = false;
        const struct ran_member *m = ran_record_find(e->r, name, &twice);
        char what[64];

        if (m == NULL || twice || (m->type != type && m->type != other)) {
                snprintf(what, sizeof what, "\"%s\" is missing or makes no sense", name);
                return wrong(e, what);
        }
        *value = m->value;
        return true;
}

/* null: what is unknown. */
static double number(const struct entry *e, struct ran_span v, double unknown)
{
        double x;

        return ran_parse_double(e->r->line + v.begin, v.end - v.begin, &x) ? x : unknown;
}

static bool read_number(const struct entry *e, const char *name, char other, double unknown,
                        double *x)
{
        struct ran_span v;

        if (!member(e, name, 'n', other, &v))
                return false;
        *x = number(e, v, unknown);
        return true;
}

static bool read_count(const struct entry *e, const char *name, size_t *n)
{
        struct ran_span v;

        return member(e, name, 'n', 'n', &v) &&
               (ran_parse_size(e->r->line + v.begin, v.end - v.begin, n) ||
                wrong(e, "a count is not a number"));
}

static char *copy(const struct ran_record *r, struct ran_span v)
{
        return keep(strndup(r->line + v.begin, v.end - v.begin));
}

static bool read_dev(const struct entry *e, struct train_trial *t)
{
        struct ran_span all, item;
        size_t pos = 0, epoch = 0;
        char type;

        if (!member(e, "dev", 'a', 'a', &all))
                return false;
        while (ran_json_next(e->r->line, all, &pos, NULL, &item, &type)) {
                if (type != 'n' && type != '0')
                        return wrong(e, "\"dev\" has an item that is not a number");
                train_trial_reach(t, ++epoch, number(e, item, NAN));
        }
        return true;
}

static bool read_end(const struct entry *e, struct train_trial *t)
{
        struct ran_span v;

        if (!member(e, "end", 's', 's', &v))
                return false;
        for (int i = 0; ends[i] != NULL; i++)
                if (v.end - v.begin == strlen(ends[i]) + 2 &&
                    memcmp(e->r->line + v.begin + 1, ends[i], strlen(ends[i])) == 0) {
                        t->end = (enum train_trial_end)i;
                        return true;
                }
        return wrong(e, "\"end\" is unknown");
}

static bool read_model(const struct entry *e, struct train_trial *t)
{
        struct ran_span v;

        if (!member(e, "model", 's', '0', &v))
                return false;
        size_t n = v.end - v.begin;
        if (e->r->line[v.begin] != '"')
                return true;
        if (n != sizeof t->model + 1)
                return wrong(e, "\"model\" is not a digest");
        memcpy(t->model, e->r->line + v.begin + 1, n - 2);
        return true;
}

static bool read_trial(struct train_journal *j, const struct entry *e)
{
        struct ran_span settings;
        struct train_trial *t;
        size_t number;

        if (!read_count(e, "trial", &number))
                return false;
        if (number != j->n + 1)
                return wrong(e, "the trials are not in order");
        if (j->n > 0 && j->trial[j->n - 1].end == TRAIN_TRIAL_RUNNING)
                return wrong(e, "a trial follows one that has not ended");
        if (!member(e, "settings", 'o', 'o', &settings))
                return false;
        t = train_journal_add(j, copy(e->r, settings));
        if (!read_dev(e, t) || !read_number(e, "best", '0', -INFINITY, &t->best) ||
            !read_count(e, "best_epoch", &t->best_epoch) ||
            !read_number(e, "seconds", 'n', 0, &t->seconds) || !read_end(e, t) || !read_model(e, t))
                return false;
        if (!(t->seconds >= 0 && t->seconds <= most_seconds) || t->best_epoch > t->epochs)
                return wrong(e, "a number makes no sense");
        if (t->end == TRAIN_TRIAL_DONE && t->best_epoch == 0)
                return wrong(e, "a trial is done without an epoch");
        return true;
}

/* The first line is kept without its braces, and compared as a whole later. */
static bool read_header(struct train_journal *j, const struct entry *e)
{
        struct ran_span inside = {e->r->object.begin + 1, e->r->object.end - 1};

        if (inside.end - inside.begin < strlen(first_member) ||
            memcmp(e->r->line + inside.begin, first_member, strlen(first_member)) != 0)
                return wrong(e, "\"ran_tune\" is not 1");
        inside.begin += strlen(first_member);
        j->header = copy(e->r, inside);
        return true;
}

static bool read_line(struct train_journal *j, const struct entry *e)
{
        if (j->complete)
                return wrong(e, "something follows the end");
        if (e->line == 1)
                return read_header(j, e);
        j->complete = ran_record_find(e->r, "complete", NULL) != NULL;
        return j->complete || read_trial(j, e);
}

int train_journal_read(struct train_journal *j, const char *text, size_t n, struct ran_error *err)
{
        struct ran_record record = {0};
        const char *end = text + n;
        struct ran_error why;
        size_t line = 0;

        *err = (struct ran_error){0};
        for (const char *stop; text < end && err->code == RAN_OK; text = stop) {
                const char *feed = memchr(text, '\n', (size_t)(end - text));

                stop = feed != NULL ? feed + 1 : end;
                line++;
                if (feed == NULL)
                        refuse(j, line, "the last line has no end", err);
                else if (ran_record_scan(&record, text, (size_t)(feed - text), &why) != RAN_OK)
                        refuse(j, line, why.text, err);
                else
                        read_line(j, &(struct entry){j, &record, line, err});
        }
        ran_record_release(&record);
        if (err->code == RAN_OK && j->n == 0)
                refuse(j, line > 0 ? line : 1, "there is no trial", err);
        return (int)err->code;
}

void train_journal_open(struct train_journal *j, const char *path)
{
        struct ran_error err;
        struct ran_bytes file;

        *j = (struct train_journal){.path = keep(strdup(path))};
        if (access(path, F_OK) != 0)
                return;
        if (ran_bytes_open(&file, path, &err) != RAN_OK ||
            train_journal_read(j, (const char *)file.data, file.size, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        ran_bytes_release(&file);
}

/* ---- writing -------------------------------------------------------------------------------- */

void train_trial_json(const struct train_journal *j, size_t i, struct ran_buf *out)
{
        const struct train_trial *t = &j->trial[i];

        ran_buf_printf(out, "\"trial\":%zu,\"settings\":", i + 1);
        ran_buf_str(out, t->settings);
        ran_buf_str(out, ",\"dev\":[");
        for (size_t e = 0; e < t->epochs; e++) {
                ran_buf_str(out, e > 0 ? "," : "");
                ran_buf_double(out, t->dev[e]);
        }
        ran_buf_str(out, "],\"best\":");
        ran_buf_double(out, t->best);
        ran_buf_printf(out, ",\"best_epoch\":%zu,\"seconds\":", t->best_epoch);
        ran_buf_double(out, round(t->seconds * 1e3) / 1e3);
        ran_buf_printf(out, ",\"end\":\"%s\",\"model\":", ends[t->end]);
        if (t->model[0] != '\0')
                ran_buf_printf(out, "\"%s\"", t->model);
        else
                ran_buf_str(out, "null");
}

void train_journal_write(const struct train_journal *j)
{
        struct ran_buf out = {0};

        ran_buf_printf(&out, "{%s", first_member);
        ran_buf_str(&out, j->header);
        ran_buf_str(&out, "}\n");
        for (size_t i = 0; i < j->n; i++) {
                ran_buf_char(&out, '{');
                train_trial_json(j, i, &out);
                ran_buf_str(&out, "}\n");
        }
        if (j->complete)
                ran_buf_str(&out, "{\"complete\":true}\n");
        cmd_write_file(j->path, &out);
        ran_buf_release(&out);
}
