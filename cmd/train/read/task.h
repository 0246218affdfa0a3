/* task.h - what differs between the tasks of ran-train, a table entry each: its verb and presets,
 * the members of its records, their conversion to documents, and its report for --check.
 *
 * All else asks the entry; the entries are in tasks.h.
 */
#ifndef CMD_TRAIN_READ_TASK_H
#define CMD_TRAIN_READ_TASK_H

#include "cmd/pages/report.h"
#include "cmd/train/read/reader.h"

struct train_session;

/* A verb's own default for any option. */
struct train_preset {
        const char *name, *initial;
};

struct train_task {
        int task; /* RAN_TASK_... */
        /* "ran-train VERB", and its summary. */
        const char *program, *summary;
        const struct train_preset *presets; /* to a name of NULL */

        /* The name of an output in messages: "label", "tag". NULL: texts, which need no label;
         * records that annotators rejected are then kept. */
        const char *label;
        /* For a message: what --cell plain rules out; NULL: nothing. */
        const char *not_plain;
        bool of_documents; /* labels are of whole documents: --soft-label and folders may give them
                            */
        bool reserved;     /* the vocabulary needs reserved tokens, such as [START] */

        uint32_t reads; /* fields of a record */
        /* In any thread: reads the parts of a record that need no vocabulary into the scratch;
         * RAN_EFORMAT if they are missing. NULL: none. */
        int (*read)(struct train_scratch *s, const struct train_source *source,
                    const struct record *record, struct ran_error *err);
        /* In any thread: the document, packed (train_pack, train_pack_text). */
        int (*encode)(struct train_scratch *s, const struct train_source *source,
                      const struct record *record, struct ran_buf *result, struct ran_error *err);
        /* In order: checks the document before it is added; *wanted false skips it without an
         * error. NULL: no check. */
        int (*admit)(struct train_reader *r, const struct cmd_line *line,
                     const struct train_document *d, bool *wanted, struct ran_error *err);
        /* In order: adds it to the data set; its labels have numbers (r->labels). */
        int (*add)(struct train_reader *r, const struct train_document *d, struct ran_error *err);
        /* In order: records the kind of an added record; or NULL. */
        void (*note)(struct train_data *data, const struct cmd_line *line,
                     const struct train_document *d);
        /* Before the first record, and after the last; or NULL. They exit on failure. */
        void (*begin)(struct train_data *data);
        void (*finish)(const struct train_data *data);

        /* Further members and lines for --check about the outputs. */
        void (*check)(struct report *r, const struct train_data *d);

        /* Decides settings from the training data after reading them; and again after reading
         * the development data. Or NULL. */
        void (*adapt)(struct train_session *s);
        void (*adapt_to_dev)(struct train_session *s);
};
/* "label" or "tag"; "label" for texts, too, which no message uses. */
static inline const char *train_label_word(const struct train_task *task)
{
        return task->label != NULL ? task->label : "label";
}

#endif
