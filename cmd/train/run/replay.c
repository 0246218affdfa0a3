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

/* That of a member, or of the member `inner` of that object. */
static struct value value_of(const struct ran_record *r, const char *member, const char *inner)
{
        struct ran_span v;

        if (!ran_json_find(r->line, r->object, member, 0, &v, NULL) ||
            (inner != NULL && !ran_json_find(r->line, v, inner, 0, &v, NULL)))
                return (struct value){"", 0};
        return (struct value){r->line + v.begin, v.end - v.begin};
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
        return value_of(&r->said, member, NULL).n > 0;
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
        const struct value version = value_of(&r->said, "version", NULL);
        const struct value kernels = value_of(&r->said, "kernels", NULL);
        const struct value tried = value_of(&r->said, "tried", NULL);
        const char *converted = ran_model_metadata(r->model, "converted");
        if (version.n == 0)
                cmd_die(CMD_DIVERGED, "%s does not record which version of ran-train made it",
                        path);
        if (!is(version, RAN_VERSION))
                cmd_die(CMD_DIVERGED,
                        "%s was trained by version %.*s, and its file says so: replay it with that "
                        "version (this is " RAN_VERSION ")",
                        path, SHOWN(version));
        if (converted != NULL)
                cmd_die(CMD_DIVERGED,
                        "%s was written by ran-train convert: replay the model that it was "
                        "converted from (%s)",
                        path, converted);
        if (kernels.n == 0)
                cmd_die(CMD_DIVERGED,
                        "%s does not record the kernels of its training: it is a checkpoint, or "
                        "of an older version",
                        path);
        if (!is(kernels, ran_isa()))
                cmd_die(CMD_DIVERGED,
                        "%s was trained with kernels for another kind of processor: %.*s, here "
                        "%s; set RAN_ISA=%.*s if this processor has those",
                        path, SHOWN(kernels), ran_isa(), SHOWN(kernels));
        r->learned = train_replay_has(r, "vocab_type");
        r->config = *ran_model_config(r->model);
        if (tried.n > 0 && ran_fields_parse(ran_config_fields, &r->config, tried.text, tried.n,
                                            false, &err) != RAN_OK)
                cmd_die(CMD_DIVERGED, "%s: the encoder that was tried: %s", path, err.text);
}

void train_replay_restore(const struct train_replay *r, const struct ran_field *fields, void *base,
                          bool all)
{
        struct ran_error err = {0};

        for (const struct ran_field *f = fields; all && f->name != NULL; f++) {
                if (f->local || f->type == RAN_FIELD_TEXT)
                        continue;
                /* A model does not mention a later setting that is as before. */
                if (!(f->later && ran_field_set(f, base, f->initial, NULL) == RAN_OK) &&
                    !train_replay_has(r, f->name))
                        cmd_die(CMD_DIVERGED,
                                "%s does not record \"%s\": its settings cannot be restored",
                                r->path, f->name);
        }
        if (ran_fields_parse(fields, base, r->said.line, r->said.length, true, &err) != RAN_OK)
                cmd_die(CMD_DIVERGED, "%s: its settings cannot be restored: %s", r->path, err.text);
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
        const struct value wanted = bare(value_of(&r->said, "init", "digest"));
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

void train_replay_check_files(const struct train_replay *r, const char *dev, const char *init,
                              const char *vectors)
{
        check_named(r, dev, !train_replay_has(r, "dev_share"), "dev");
        check_named(r, init, train_replay_has(r, "init"), "init");
        check_named(r, vectors, train_replay_has(r, "vectors"), "vectors");
        if (init == NULL)
                return;
        /* The settings of another model could contradict the restored ones. */
        const struct value wanted = value_of(&r->said, "init", "digest");
        struct ran_error err = {0};
        struct ran_model *m = cmd_model_load(init, false, &err);

        if (m == NULL)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        const char *digest = ran_model_metadata(m, "digest");
        if (digest == NULL || !is(wanted, digest))
                cmd_die(CMD_DIVERGED,
                        "%s is not the model that %s was initialised from, with the digest %.*s",
                        init, r->path, SHOWN(wanted));
        ran_model_free(m);
}

static uint64_t steps_of(const struct train_replay *r, const char *which)
{
        const struct value v = value_of(&r->said, "time_limit", which);
        size_t n;

        return ran_parse_size(v.text, v.n, &n) ? n : 0;
}

void train_replay_job(struct train_replay *r, struct ran_train_job *job)
{
        job->limit = (struct ran_train_limit){
                .from = steps_of(r, "from"),
                .steps = steps_of(r, "steps"),
                .last = steps_of(r, "last"),
                .aborted = is(value_of(&r->said, "time_limit", "aborted"), "true")};
        if (job->output != NULL)
                return;
        r->fd = memfd_create("replay", MFD_CLOEXEC);
        if (r->fd < 0)
                cmd_die(CMD_FAILED, "no memory for the model: %s", strerror(errno));
        snprintf(r->output, sizeof r->output, "/dev/fd/%d", r->fd);
        job->output = r->output;
}

/* ---- before anything is computed ------------------------------------------------------------ */

static void check_data(const struct train_replay *r, const struct ran_record *ours,
                       const char *member, const char *what)
{
        const struct value n = value_of(ours, member, "documents");
        const struct value digest = value_of(ours, member, "digest");
        const struct value their_n = value_of(&r->said, member, "documents");
        const struct value their_digest = value_of(&r->said, member, "digest");

        if (!same(n, their_n) || !same(digest, their_digest))
                cmd_die(CMD_DIVERGED,
                        "the %s are not those of %s: %.*s documents with the digest %.*s here, "
                        "%.*s with %.*s there",
                        what, r->path, SHOWN(n), SHOWN(digest), SHOWN(their_n),
                        SHOWN(their_digest));
}

void train_replay_check(const struct train_replay *r, const struct ran_train_job *job)
{
        struct ran_record all = {0}, ours = {0};
        struct ran_buf text = {0};
        struct ran_error err;

        ran_buf_char(&text, '{');
        ran_train_describe(job, &text);
        ran_buf_char(&text, '}');
        if (ran_record_scan(&all, text.data, text.len, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        const struct value training = value_of(&all, "training", NULL);
        if (ran_record_scan(&ours, training.text, training.n, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        check_data(r, &ours, "train", "training data");
        check_data(r, &ours, "dev", "validation documents");
        for (struct ran_items i = ran_items(ours.line, ours.object); ran_items_next(&i);) {
                const struct value here = {ours.line + i.value.begin, i.value.end - i.value.begin};
                char name[64];

                snprintf(name, sizeof name, "%.*s", (int)(i.name.end - i.name.begin - 2),
                         ours.line + i.name.begin + 1);
                const struct value there = value_of(&r->said, name, NULL);
                if (!same(here, there))
                        cmd_die(CMD_DIVERGED, "\"%s\" is %.*s here, but in %s %.*s", name,
                                SHOWN(here), r->path, SHOWN(there));
        }
        ran_record_release(&ours);
        ran_record_release(&all);
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
