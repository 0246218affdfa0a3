/* model.h - opening the model of a program. */
#ifndef CMD_CONTENT_MODEL_H
#define CMD_CONTENT_MODEL_H

#include "ran.h"

/* Finds a model by its name: one without a slash (and, if it ends with .ran, one that is no file)
 * is looked up, with .ran added, in the folders of RAN_MODELS (colons between), then in
 * share/ran/models beside the installed program, or share/models of the source tree that the
 * program was built in. Appends the path, or the name if there is none, with its NUL to `path`;
 * returns whether it was found there. */
bool cmd_model_find(const char *name, struct ran_buf *path);

/* Finds the model with the digest among those that a name finds, RAN_MODELS first. Its path (with a
 * NUL) and the folders, for a message, are the caller's to release. */
bool cmd_model_find_digest(const char *digest, struct ran_buf *path, struct ran_buf *looked);

/* ran_model_open of a file or a name; the error says where it looked. */
struct ran_model *cmd_model_load(const char *name, bool verify, struct ran_error *err);

/* Opens a model for this task (RAN_TASK_...). The caller frees it. Exits with 3 on failure; for a
 * model of another task, the message names its program. */
struct ran_model *cmd_model_open(const char *path, bool verify, int task);

/* The same for a model of any task. */
struct ran_model *cmd_model_open_any(const char *path, bool verify);
/* Notes what a model leaves out of the folder of others that it was made from: cmd_model_open_any
 * does, of a folder. */
void cmd_model_say_notes(const struct ran_model *m, const char *path);

/* Exits with 2 unless the model has an encoder; the message says why it has none, and how to train
 * one that does. */
void cmd_model_need_encoder(const struct ran_model *m, const char *path);

/* The program and its verb or option for a model of this kind: "ran-lm score". */
const char *cmd_model_use(const struct ran_config *c);

/* ---- known.c ----------------------------------------------------------------------------------
 */

/* Counts records, from any thread. Zero-initialise. */
struct cmd_known {
        size_t n;
};
/* One with this fingerprint is compared with what m predicts. */
void cmd_known_note(struct cmd_known *k, const struct ran_model *m, uint32_t fingerprint);
/* Warns, of `compared` records, if many were training documents of the model of this name. */
void cmd_known_warn(const struct cmd_known *k, size_t compared, const char *name);

/* Whether so many of `all` documents change the figures. */
bool cmd_are_known(size_t n, size_t all);

#endif
