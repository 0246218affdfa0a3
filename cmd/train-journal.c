/* train-journal.c - reads and writes MODEL.tune.
 *
 *     {"ran_tune":1,"search":[...],"training":{...},"config":{...},"vocabulary":"..."}
 *     {"trial":1,"settings":{},"dev":[0.71,0.74],"best":0.74,"best_epoch":2,...}
 *     {"trial":2,"settings":{"dropout":0.3},...}
 *     {"complete":true}
 *
 * The file is as untrusted as any other. What a trial of that number must have tried follows from
 * the trials before it, so that the settings are compared with that, not read.
 */
#include "train-journal.h"
#include "cmd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const ends[] = {"running", "done", "behind", "diverged", NULL};
static const char first_member[] = "\"ran_tune\":1,";

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

static _Noreturn void refuse(const struct train_journal *j, size_t line, const char *what)
{
        cmd_die(CMD_FAILED,
                "%s:%zu: %s: this is no journal of ran-train --tune, or it was damaged; remove it, "
                "or begin anew by --overwrite-checkpoint",
                j->path, line, what);
}

/* The value of a member of that type, or of the other one. */
static struct ran_span member(const struct train_journal *j, size_t line,
                              const struct ran_record *r, const char *name, char type, char other)
{
        bool twice = false;
        const struct ran_member *m = ran_record_find(r, name, &twice);
        struct ran_buf what = {0};

        if (m != NULL && !twice && (m->type == type || m->type == other))
                return m->value;
        ran_buf_printf(&what, "\"%s\" is missing or makes no sense%c", name, '\0');
        refuse(j, line, what.failed ? "out of memory" : what.data);
}

/* null: what is unknown. */
static double number(const struct ran_record *r, struct ran_span v, double unknown)
{
        double x;

        return ran_parse_double(r->line + v.begin, v.end - v.begin, &x) ? x : unknown;
}

static size_t count(const struct train_journal *j, size_t line, const struct ran_record *r,
                    const char *name)
{
        struct ran_span v = member(j, line, r, name, 'n', 'n');
        size_t n;

        if (!ran_parse_size(r->line + v.begin, v.end - v.begin, &n))
                refuse(j, line, "a count is none");
        return n;
}

static char *copy(const struct ran_record *r, struct ran_span v)
{
        return keep(strndup(r->line + v.begin, v.end - v.begin));
}

static void read_dev(const struct train_journal *j, size_t line, const struct ran_record *r,
                     struct train_trial *t)
{
        struct ran_span all = member(j, line, r, "dev", 'a', 'a'), item;
        size_t pos = 0, epoch = 0;
        char type;

        while (ran_json_next(r->line, all, &pos, NULL, &item, &type)) {
                if (type != 'n' && type != '0')
                        refuse(j, line, "\"dev\" holds something that is no number");
                train_trial_reach(t, ++epoch, number(r, item, NAN));
        }
}

static enum train_trial_end read_end(const struct train_journal *j, size_t line,
                                     const struct ran_record *r)
{
        struct ran_span v = member(j, line, r, "end", 's', 's');

        for (int i = 0; ends[i] != NULL; i++)
                if (v.end - v.begin == strlen(ends[i]) + 2 &&
                    memcmp(r->line + v.begin + 1, ends[i], strlen(ends[i])) == 0)
                        return (enum train_trial_end)i;
        refuse(j, line, "\"end\" is none that there is");
}

static void read_model(const struct train_journal *j, size_t line, const struct ran_record *r,
                       struct train_trial *t)
{
        struct ran_span v = member(j, line, r, "model", 's', '0');
        size_t n = v.end - v.begin;

        if (r->line[v.begin] != '"')
                return;
        if (n != sizeof t->model + 1)
                refuse(j, line, "\"model\" is no digest");
        memcpy(t->model, r->line + v.begin + 1, n - 2);
}

static void read_trial(struct train_journal *j, size_t line, const struct ran_record *r)
{
        struct train_trial *t;

        if (count(j, line, r, "trial") != j->n + 1)
                refuse(j, line, "the trials are not in order");
        if (j->n > 0 && j->trial[j->n - 1].end == TRAIN_TRIAL_RUNNING)
                refuse(j, line, "a trial follows one that is not ended");
        t = train_journal_add(j, copy(r, member(j, line, r, "settings", 'o', 'o')));
        read_dev(j, line, r, t);
        t->best = number(r, member(j, line, r, "best", 'n', '0'), -INFINITY);
        t->best_epoch = count(j, line, r, "best_epoch");
        t->seconds = number(r, member(j, line, r, "seconds", 'n', 'n'), 0);
        t->end = read_end(j, line, r);
        read_model(j, line, r, t);
        if (t->seconds < 0 || t->best_epoch > t->epochs)
                refuse(j, line, "a number makes no sense");
        if (t->end == TRAIN_TRIAL_DONE && t->best_epoch == 0)
                refuse(j, line, "a trial is done without an epoch");
}

/* The first line, braces left out, is compared as a whole once there is something to compare. */
static void read_header(struct train_journal *j, const struct ran_record *r)
{
        struct ran_span inside = {r->object.begin + 1, r->object.end - 1};

        if (inside.end - inside.begin < strlen(first_member) ||
            memcmp(r->line + inside.begin, first_member, strlen(first_member)) != 0)
                refuse(j, 1, "\"ran_tune\" is not 1");
        inside.begin += strlen(first_member);
        j->header = copy(r, inside);
}

static void read_line(struct train_journal *j, size_t line, const struct ran_record *r)
{
        if (j->complete)
                refuse(j, line, "something follows the end");
        if (line == 1)
                read_header(j, r);
        else if (ran_record_find(r, "complete", NULL) != NULL)
                j->complete = true;
        else
                read_trial(j, line, r);
}

void train_journal_open(struct train_journal *j, const char *path)
{
        struct ran_record record = {0};
        struct ran_error err = {0};
        struct ran_bytes file;
        size_t line = 0;

        *j = (struct train_journal){.path = keep(strdup(path))};
        if (access(path, F_OK) != 0)
                return;
        if (ran_bytes_open(&file, path, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        const char *s = (const char *)file.data, *end = s + file.size;
        while (s < end) {
                const char *stop = memchr(s, '\n', (size_t)(end - s));

                line++;
                if (stop == NULL)
                        refuse(j, line, "the last line has no end");
                if (ran_record_scan(&record, s, (size_t)(stop - s), &err) != RAN_OK)
                        refuse(j, line, err.text);
                read_line(j, line, &record);
                s = stop + 1;
        }
        if (j->n == 0)
                refuse(j, line > 0 ? line : 1, "there is no trial");
        ran_record_release(&record);
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
        ran_buf_double(out, floor(t->seconds * 1e3) / 1e3);
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
