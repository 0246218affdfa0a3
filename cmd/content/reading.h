/* reading.h - reads the document of a record for a model of any task. */
#ifndef CMD_CONTENT_READING_H
#define CMD_CONTENT_READING_H

#include "cmd/content/masked.h"
#include "ran.h"
#include "cmd/content/sequence.h"

/* How to read: fill it with cmd_reading_init. */
struct cmd_reading_how {
        const struct ran_model *model;
        struct cmd_reserved reserved;                /* of language models */
        const struct cmd_document_options *document; /* for classifiers and taggers; may be NULL */
        int unit;                                    /* unit of offsets, RAN_UNIT_... */
};
/* RAN_EINVAL when the vocabulary lacks a reserved token that the model's task needs. */
int cmd_reading_init(struct cmd_reading_how *how, const struct ran_model *m, struct ran_error *err);

/* Zero-initialise; reused from record to record, one a thread. */
struct cmd_reading {
        struct ran_document tokens; /* the input of the model: ids and spelling */
        size_t sources;             /* under the mask prefix: leading tokens that are source */
        /* Tokens [first, end) are those of `document`, if it has more than ids. */
        const struct cmd_document *document;
        size_t first, end;
        /* These hold them. */
        struct cmd_sequence sequence;
        struct cmd_masked masked;
        struct cmd_document whole;
};
void cmd_reading_release(struct cmd_reading *r);

/* Reads the record as ran-classify, ran-tag, ran-lm score or ran-lm fill does: for task lm, with
 * [START] and without a last token that is only predicted; for task mlm, masked tokens are
 * optional. RAN_EFORMAT if the model cannot read the record, or it has no token. */
int cmd_reading_read(struct cmd_reading *r, const struct cmd_reading_how *how,
                     const struct record *record, struct ran_error *err);

/* Appends `"token":5,"piece":"rain"`; of a text also "start" and "end"; of words also "word", and
 * start and end within it. Without a vocabulary, "id" instead of "piece". */
void cmd_reading_add_token(const struct cmd_reading *r, const struct cmd_reading_how *how, size_t t,
                           struct ran_buf *out);

/* Appends `"tokens":[512,600]` for [from, to), not empty; of a text also "start" and "end". */
void cmd_reading_add_run(const struct cmd_reading *r, size_t from, size_t to, struct ran_buf *out);

#endif
