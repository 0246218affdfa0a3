/* model.c - opening the model of a program. */
#include "cmd/content/model.h"

#include <string.h>
#include <sys/stat.h>

#include "cmd/formats/import.h"
#include "cmd/options/message.h"

static const struct {
        const char *does, *use;
} tasks[] = {
        [RAN_TASK_CLASSIFY] = {"classifies documents", "ran-classify"},
        [RAN_TASK_TAG] = {"tags words", "ran-tag"},
        [RAN_TASK_LM] = {"generates text", "ran-lm score"},
        [RAN_TASK_MLM] = {"predicts masked tokens", "ran-lm fill"},
        [RAN_TASK_EMBED] = {"gives vectors of documents", "ran-classify --embed"},
};
_Static_assert(sizeof tasks / sizeof *tasks == RAN_TASK_COUNT, "a program for each task");

const char *cmd_model_use(const struct ran_config *c)
{
        if (c->task == RAN_TASK_LM && c->mask == RAN_MASK_PREFIX)
                return "ran-lm generate"; /* a target for each source */
        return tasks[c->task].use;
}

void cmd_model_need_encoder(const struct ran_model *m, const char *path)
{
        const char *training = ran_model_metadata(m, "training");
        struct ran_record said = {0};
        const bool tried = training != NULL &&
                           ran_record_scan(&said, training, strlen(training), NULL) == RAN_OK &&
                           ran_record_find(&said, "tried", NULL) != NULL;

        ran_record_release(&said);
        if (!ran_config_has_encoder(ran_model_config(m)))
                cmd_usage("%s has no encoder (%s): train with --wide 0 to get one", path,
                          tried ? "training found no use for one" : "--encoder none");
}

void cmd_model_say_notes(const struct ran_model *m, const char *path)
{
        const char *text = ran_model_metadata(m, "pretrained");
        struct ran_record said = {0};
        struct ran_buf note = {0};

        if (text != NULL && ran_record_scan(&said, text, strlen(text), NULL) == RAN_OK) {
                const struct ran_member *notes = ran_record_find(&said, "notes", NULL);
                struct ran_items i =
                        ran_items(text, notes != NULL ? notes->value : (struct ran_span){0, 0});

                for (; notes != NULL && notes->type == 'a' && ran_items_next(&i); note.len = 0)
                        if (i.type == 's' && ran_json_decode(text, i.value, &note, NULL) == RAN_OK)
                                cmd_note("%s: %.*s", path, (int)note.len, note.data);
        }
        ran_record_release(&said);
        ran_buf_release(&note);
}

struct ran_model *cmd_model_open_any(const char *path, bool verify)
{
        struct ran_error err;
        struct stat st;
        struct ran_model *m = cmd_model_load(path, verify, &err);

        const struct kind *kind = m == NULL && err.code == RAN_EFORMAT ? kind_of_file(path) : NULL;
        if (kind != NULL && strcmp(kind->is, "a model") != 0)
                cmd_die(CMD_FAILED,
                        "%s is %s, no model: a model is a file that ran-train wrote (-o MODEL), "
                        "or the folder of a pretrained encoder, with config.json and "
                        "model.safetensors",
                        path, kind->is);
        if (m == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
                cmd_model_say_notes(m, path);
        return m;
}

struct ran_model *cmd_model_open(const char *path, bool verify, int task)
{
        struct ran_model *m = cmd_model_open_any(path, verify);
        const int has = ran_model_config(m)->task;
        const char *use = cmd_model_use(ran_model_config(m));
        if (has == task)
                return m;
        ran_model_free(m);
        cmd_die(CMD_FAILED, "%s: this model %s: use %s (a model that %s is needed here)", path,
                tasks[has].does, use, tasks[task].does);
}
