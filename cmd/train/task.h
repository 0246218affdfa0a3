/* task.h - the tasks of ran-train, a table entry each: its verb and presets, the records that it
 * reads, how one becomes a document, and what --check says of them.
 *
 * A new task is a file task-NAME.c with its entry, and its name in train_tasks (task.c). All else
 * in this folder asks the entry.
 */
#ifndef CMD_TRAIN_TASK_H
#define CMD_TRAIN_TASK_H

#include "cmd/train/reader.h"

struct train_session;
struct train_summary;

/* A default that a verb has of its own, wherever its option comes from. */
struct train_preset {
        const char *name, *initial;
};

struct train_task {
        int task; /* RAN_TASK_... */
        /* The verb, "ran-train VERB", its line in `ran-train --help`, the summary of its own. */
        const char *verb, *program, *help, *summary;
        const struct train_preset *presets; /* to a name of NULL */

        /* What messages call the thing that is learned: "label", "tag". NULL: the texts themselves,
         * which need no label; records that annotators rejected are then left in. */
        const char *label;
        /* What --cell plain makes impossible, for a message; NULL: it does. */
        const char *not_plain;
        bool of_documents; /* labels are of whole documents: --soft-label and folders may give them
                            */
        bool reserved;     /* the vocabulary needs reserved tokens, such as [START] */

        /* Members of a record that are read, NULL at the end. */
        const char *const *members;
        /* In any thread: what can be read of a record before there is a vocabulary, into the
         * scratch; RAN_EFORMAT when it is missing. NULL: nothing. */
        int (*read)(struct train_scratch *s, const struct train_source *source,
                    const struct ran_record *record, struct ran_error *err);
        /* In any thread: the document, packed (train_pack, train_pack_text). */
        int (*encode)(struct train_scratch *s, const struct train_source *source,
                      const struct ran_record *record, struct ran_buf *result,
                      struct ran_error *err);
        /* In order: whether the document may be added at all; *wanted false leaves it out without
         * an error. NULL: yes. */
        int (*admit)(struct train_reader *r, const struct cmd_line *line,
                     const struct train_document *d, bool *wanted, struct ran_error *err);
        /* In order: adds it to the data set; its labels have numbers (r->labels). */
        int (*add)(struct train_reader *r, const struct train_document *d, struct ran_error *err);
        /* In order: remembers what kind of record it was, once it is added; or NULL. */
        void (*note)(struct train_data *data, const struct cmd_line *line,
                     const struct train_document *d);
        /* Before the first record, and after the last; or NULL. Die when that is not possible. */
        void (*begin)(struct train_data *data);
        void (*finish)(const struct train_data *data);

        /* What --check says of that which is learned: further members, further lines. */
        void (*check_json)(struct ran_buf *out, const struct train_summary *s);
        void (*check_text)(struct ran_buf *out, const struct train_summary *s);

        /* Settings that the training data decide on, once they are read; and again, once the
         * development data are known. Or NULL. */
        void (*adapt)(struct train_session *s);
        void (*adapt_to_dev)(struct train_session *s);
};
extern const struct train_task train_task_classify, train_task_tag, train_task_lm, train_task_mlm;

/* All of them, NULL at the end, in the order of --help (task.c). */
enum { TRAIN_TASKS = 4 };
extern const struct train_task *const train_tasks[TRAIN_TASKS + 1];
const struct train_task *train_task_of_verb(const char *name);
const struct train_task *train_task_of(int task); /* RAN_TASK_... */

/* "label" or "tag"; of texts "label", too, which no message needs. */
static inline const char *train_label_word(const struct train_task *task)
{
        return task->label != NULL ? task->label : "label";
}

#endif
