/* replay.c - trains a model again with the settings that it records, and compares.
 *
 * It compares twice: the record in the model with the description of the job, before the first
 * step, so that no hours are spent on other data; and the two models at the end, byte for byte.
 */
#include "cmd/train/run/replay.h"
#include "cmd/options/message.h"
#include "cmd/options/outputs.h"
#include "cmd/options/options.h"
#include "cmd/content/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the record in a model ------------------------------------------------------------------- */

/* A JSON value as written; n 0: none. */
struct value {
        const char *text;
        size_t n;
};

static struct value at(const struct ran_record *record, struct ran_span span)
{
        return (struct value){record->line + span.begin, span.end - span.begin};
}

static struct value value_of(const struct ran_record *record, const char *member)
{
        const struct ran_member *m = ran_record_find(record, member, NULL);

        return m != NULL ? at(record, m->value) : (struct value){"", 0};
}

/* Member `inner`, with its quotes, of the object `member`. */
static struct value within(const struct ran_record *record, const char *member, const char *inner)
{
        const struct ran_member *m = ran_record_find(record, member, NULL);
        struct ran_span name, item;
        size_t pos = 0;
        char type;

        while (m != NULL && m->type == 'o' &&
               ran_json_next(record->line, m->value, &pos, &name, &item, &type))
                if (name.end - name.begin == strlen(inner) &&
                    memcmp(record->line + name.begin, inner, strlen(inner)) == 0)
                        return at(record, item);
        return (struct value){"", 0};
}

static bool same(struct value a, struct value b)
{
        return a.n == b.n && memcmp(a.text, b.text, a.n) == 0;
}

/* For messages: without its quotes, and not too long. */
static struct value bare(struct value v)
{
        if (v.n >= 2 && v.text[0] == '"' && v.text[v.n - 1] == '"')
                v = (struct value){v.text + 1, v.n - 2};
        return (struct value){v.text, v.n < 80 ? v.n : 80};
}
#define SHOWN(v) (int)bare(v).n, bare(v).text

static bool is(struct value v, const char *text)
{
        v = bare(v);
        return v.n == strlen(text) && memcmp(v.text, text, v.n) == 0;
}

bool train_replay_has(const struct train_replay *r, const char *member)
{
        return value_of(&r->said, member).n > 0;
}

static void check_version(const struct train_replay *r)
{
        struct value version = value_of(&r->said, "version");

        if (version.n == 0)
                cmd_die(CMD_DIVERGED, "%s does not record which version of ran-train made it",
                        r->path);
        if (!is(version, RAN_VERSION))
                cmd_die(CMD_DIVERGED,
                        "%s was trained by version %.*s, and its file says so: replay it with that "
                        "version (this is " RAN_VERSION ")",
                        r->path, SHOWN(version));
}

static void check_converted(const struct train_replay *r)
{
        const char *converted = ran_model_metadata(r->model, "converted");

        if (converted != NULL)
                cmd_die(CMD_DIVERGED,
                        "%s was written by ran-train convert: replay the model that it was "
                        "converted from (%s)",
                        r->path, converted);
}

static void check_kernels(const struct train_replay *r)
{
        struct value kernels = value_of(&r->said, "kernels");

        if (kernels.n == 0)
                cmd_die(CMD_DIVERGED,
                        "%s does not record the kernels of its training: it is a checkpoint, or "
                        "of an older version",
                        r->path);
        if (!is(kernels, ran_isa()))
                cmd_die(CMD_DIVERGED,
                        "%s was trained with kernels for another kind of processor: %.*s, here "
                        "%s; set RAN_ISA=%.*s if this processor has those",
                        r->path, SHOWN(kernels), ran_isa(), SHOWN(kernels));
}

/* Settings that the training changed. */
static void restore_changed(struct train_replay *r, const char *member, const char *what)
{
        struct value was = value_of(&r->said, member);
        struct ran_error err = {0};

        if (was.n > 0 &&
            ran_fields_parse(ran_config_fields, &r->config, was.text, was.n, false, &err) != RAN_OK)
                cmd_die(err.code == RAN_ENOMEM ? CMD_FAILED : CMD_DIVERGED, "%s: %s: %s", r->path,
                        what, err.text);
}

void train_replay_open(struct train_replay *r, const char *path, int task)
{
        struct ran_error err = {0};

        r->path = path;
        r->fd = -1;
        r->model = cmd_model_open(path, true, task);
        const char *training = ran_model_metadata(r->model, "training");
        if (training == NULL)
                cmd_die(CMD_DIVERGED, "%s does not record how it was trained", path);
        if (ran_record_scan(&r->said, training, strlen(training), &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s: the record of its training: %s", path, err.text);
        check_version(r);
        check_converted(r);
        check_kernels(r);
        r->learned = train_replay_has(r, "vocab_type");
        r->config = *ran_model_config(r->model);
        restore_changed(r, "tried", "the encoder that was tried");
}

/* A model does not mention a later setting that is as before. */
static bool is_unsaid(const struct ran_field *f, void *base)
{
        return f->later && ran_field_set(f, base, f->initial, NULL) == RAN_OK;
}

void train_replay_restore(const struct train_replay *r, const struct ran_field *fields, void *base,
                          bool all)
{
        struct ran_error err = {0};

        for (const struct ran_field *f = fields; all && f->name != NULL; f++)
                if (!is_unsaid(f, base) && !f->local && f->type != RAN_FIELD_TEXT &&
                    !train_replay_has(r, f->name))
                        cmd_die(CMD_DIVERGED,
                                "%s does not record \"%s\": its settings cannot be restored",
                                r->path, f->name);
        if (ran_fields_parse(fields, base, r->said.line, r->said.length, true, &err) != RAN_OK)
                cmd_die(err.code == RAN_ENOMEM ? CMD_FAILED : CMD_DIVERGED,
                        "%s: its settings cannot be restored: %s", r->path, err.text);
        cmd_set_all(fields);
}

/* ---- files that must be named again --------------------------------------------------------- */

static void check_named(const struct train_replay *r, const char *given, bool wanted,
                        const char *option)
{
        if (wanted && given == NULL)
                cmd_usage("%s was trained with --%s: give that file again", r->path, option);
        if (!wanted && given != NULL)
                cmd_usage("%s was trained without --%s: leave it out", r->path, option);
}

char *train_replay_find_init(struct train_replay *r, const char *base)
{
        const struct value wanted = bare(within(&r->said, "init", "\"digest\""));
        struct ran_buf looked = {0};
        char digest[81];

        if (wanted.n == 0)
                return NULL;
        if (base != NULL && *base != '\0' && strcmp(base, "none") != 0)
                return (char *)base;
        snprintf(digest, sizeof digest, "%.*s", (int)wanted.n, wanted.text);
        const bool found = cmd_model_find_digest(digest, &r->init, &looked);
        char *other = getenv("RAN_BASE"); /* a file, where it is no name */
        const bool is_file = !found && other != NULL && access(other, R_OK) == 0;
        if (!found && !is_file)
                cmd_usage("%s was trained with --init or from a base model, and no model in %s has "
                          "its digest, %s: give that file with --init",
                          r->path, looked.data, digest);
        ran_buf_release(&looked);
        if (is_file)
                return other;
        cmd_check_read(r->init.data);
        return r->init.data;
}

/* Checked here already, because the settings of another model could contradict the restored
 * ones. */
static void check_init(const struct train_replay *r, const char *init)
{
        struct value wanted = within(&r->said, "init", "\"digest\"");
        struct ran_error err = {0};
        struct ran_model *m = cmd_model_load(init, false, &err);

        if (m == NULL)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        const char *digest = ran_model_metadata(m, "digest");
        bool same = digest != NULL && is(wanted, digest);
        ran_model_free(m);
        if (!same)
                cmd_die(CMD_DIVERGED,
                        "%s is not the model that %s was initialised from, with the digest %.*s",
                        init, r->path, SHOWN(wanted));
}

void train_replay_check_files(const struct train_replay *r, const char *dev, const char *init,
                              const char *vectors)
{
        check_named(r, dev, !train_replay_has(r, "dev_share"), "dev");
        check_named(r, init, train_replay_has(r, "init"), "init");
        check_named(r, vectors, train_replay_has(r, "vectors"), "vectors");
        if (init != NULL)
                check_init(r, init);
}

/* Member `inner` of an object, as a number. */
static uint64_t steps_of(struct value limit, const char *inner)
{
        struct ran_span name, item;
        size_t pos = 0;
        uint64_t n = 0;
        char type;

        while (limit.n > 0 && limit.text[0] == '{' &&
               ran_json_next(limit.text, (struct ran_span){0, limit.n}, &pos, &name, &item, &type))
                if (name.end - name.begin == strlen(inner) &&
                    memcmp(limit.text + name.begin, inner, strlen(inner)) == 0)
                        for (size_t i = item.begin; i < item.end && i < item.begin + 15; i++) {
                                if (limit.text[i] < '0' || limit.text[i] > '9')
                                        return 0;
                                n = 10 * n + (uint64_t)(limit.text[i] - '0');
                        }
        return n;
}

struct ran_train_limit train_replay_limit(const struct train_replay *r)
{
        const struct value limit = value_of(&r->said, "time_limit");

        return (struct ran_train_limit){
                .from = steps_of(limit, "\"from\""),
                .steps = steps_of(limit, "\"steps\""),
                .last = steps_of(limit, "\"last\""),
                .aborted = is(within(&r->said, "time_limit", "\"aborted\""), "true")};
}

/* Makes an in-memory file whose name is written in place. */
const char *train_replay_output(struct train_replay *r)
{
        r->fd = memfd_create("replay", MFD_CLOEXEC);
        if (r->fd < 0)
                cmd_die(CMD_FAILED, "no memory for the model: %s", strerror(errno));
        snprintf(r->output, sizeof r->output, "/dev/fd/%d", r->fd);
        return r->output;
}

/* ---- before anything is computed ------------------------------------------------------------ */

static void check_data(const struct train_replay *r, const struct ran_record *ours,
                       const char *member, const char *what)
{
        struct value n = within(ours, member, "\"documents\"");
        struct value digest = within(ours, member, "\"digest\"");
        struct value their_n = within(&r->said, member, "\"documents\"");
        struct value their_digest = within(&r->said, member, "\"digest\"");

        if (!same(value_of(ours, member), value_of(&r->said, member)))
                cmd_die(CMD_DIVERGED,
                        "the %s are not those of %s: %.*s documents with the digest %.*s here, "
                        "%.*s with %.*s there",
                        what, r->path, SHOWN(n), SHOWN(digest), SHOWN(their_n),
                        SHOWN(their_digest));
}

static void check_settings(const struct train_replay *r, const struct ran_record *ours)
{
        for (size_t i = 0; i < ours->count; i++) {
                struct value value = at(ours, ours->members[i].value), was;
                struct ran_buf name = {0};

                ran_buf_add(&name, ours->names.data + ours->members[i].name.begin,
                            ours->members[i].name.end - ours->members[i].name.begin);
                ran_buf_char(&name, '\0');
                if (name.failed)
                        cmd_die(CMD_FAILED, "out of memory");
                was = value_of(&r->said, name.data);
                if (!same(value, was))
                        cmd_die(CMD_DIVERGED, "\"%s\" is %.*s here, but in %s %.*s", name.data,
                                SHOWN(value), r->path, SHOWN(was));
                ran_buf_release(&name);
        }
}

/* Compares settings that the data decide, and the vocabulary. */
static void check_model(const struct train_replay *r, const struct ran_train_job *job)
{
        const struct ran_tokenizer *t = ran_model_tokenizer(r->model);
        struct ran_buf changes = {0};

        ran_fields_changes(ran_config_fields, job->config, &r->config, &changes);
        if (changes.failed)
                cmd_die(CMD_FAILED, "out of memory");
        if (changes.len > 0)
                cmd_die(CMD_DIVERGED, "these data give the model other settings than %s has: %.*s",
                        r->path, (int)changes.len, changes.data);
        ran_buf_release(&changes);
        if ((job->tokenizer == NULL) != (t == NULL) ||
            (t != NULL &&
             strcmp(ran_tokenizer_digest(t), ran_tokenizer_digest(job->tokenizer)) != 0))
                cmd_die(CMD_DIVERGED, "the vocabulary is not that of %s", r->path);
}

/* The object `training` of a job's description, into a record whose text is in `text`. */
static void describe(const struct ran_train_job *job, struct ran_buf *text, struct ran_record *said)
{
        struct ran_record all = {0};
        struct ran_buf whole = {0};
        struct ran_error err;

        ran_buf_char(&whole, '{');
        ran_train_describe(job, &whole);
        ran_buf_char(&whole, '}');
        if (whole.failed || ran_record_scan(&all, whole.data, whole.len, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "out of memory");
        struct value training = value_of(&all, "training");
        ran_buf_add(text, training.text, training.n);
        if (text->failed || ran_record_scan(said, text->data, text->len, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "out of memory");
        ran_record_release(&all);
        ran_buf_release(&whole);
}

void train_replay_check(const struct train_replay *r, const struct ran_train_job *job)
{
        struct ran_record ours = {0};
        struct ran_buf text = {0};

        describe(job, &text, &ours);
        check_data(r, &ours, "train", "training data");
        check_data(r, &ours, "dev", "validation documents");
        check_model(r, job);
        check_settings(r, &ours);
        ran_record_release(&ours);
        ran_buf_release(&text);
}

/* ---- after ---------------------------------------------------------------------------------- */

int train_replay_compare(const struct train_replay *r, const char *output)
{
        struct ran_error err = {0};
        struct ran_buf what = {0};
        struct ran_model *m = ran_model_open(output, false, &err);

        if (m == NULL)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        bool equal = ran_model_same(r->model, m, &what);
        if (equal)
                cmd_note("%s is reproduced, byte for byte", r->path);
        else if (what.failed)
                cmd_warn("%s is not reproduced", r->path);
        else
                cmd_warn("%s is not reproduced: %.*s (there, and here); perhaps another build "
                         "of " RAN_VERSION " made it",
                         r->path, (int)what.len, what.data);
        ran_buf_release(&what);
        ran_model_free(m);
        return equal ? CMD_OK : CMD_DIVERGED;
}

void train_replay_release(struct train_replay *r)
{
        if (r->model == NULL)
                return;
        if (r->fd >= 0)
                close(r->fd);
        ran_record_release(&r->said);
        ran_buf_release(&r->init);
        ran_model_free(r->model);
        *r = (struct train_replay){0};
}
