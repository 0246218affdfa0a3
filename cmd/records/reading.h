/* reading.h - the document of a record as a model reads it, whatever its task. */
#ifndef CMD_RECORDS_READING_H
#define CMD_RECORDS_READING_H

#include "cmd/records/masked.h"
#include "ran.h"
#include "cmd/records/sequence.h"

/* How to read. Fill it with cmd_reading_init. */
struct cmd_reading_how {
        const struct ran_model *model;
        struct cmd_reserved reserved;                /* of language models */
        const struct cmd_document_options *document; /* of classifiers and taggers; may be NULL */
        int unit;                                    /* what offsets count, RAN_UNIT_... */
};
/* RAN_EINVAL when the vocabulary lacks a piece that the model's task needs. */
int cmd_reading_init(struct cmd_reading_how *how, const struct ran_model *m, struct ran_error *err);

/* Zero-initialise; reused from record to record, one a thread. */
struct cmd_reading {
        struct ran_document tokens; /* all that the model reads: its ids, and their spelling */
        size_t sources;             /* under the mask prefix: leading tokens that are source */
        /* Tokens [first, end) are those of `document`, where it knows more than ids. */
        const struct cmd_document *document;
        size_t first, end;
        /* What holds them. */
        struct cmd_sequence sequence;
        struct cmd_masked masked;
        struct cmd_document whole;
};
void cmd_reading_release(struct cmd_reading *r);

/* Members read here, for cmd_loop.reads. */
#define CMD_READING_MEMBERS CMD_DOCUMENT_MEMBERS, "segments", "source", "target", "masked_at"

/* Reads what ran-classify, ran-tag, ran-lm score or ran-lm fill would read of the record: for task
 * lm with [START] before it, and nothing that is only predicted; a text without gaps, too, for task
 * mlm. RAN_EFORMAT when the record is none for the model, or has no token. */
int cmd_reading_read(struct cmd_reading *r, const struct cmd_reading_how *how,
                     const struct ran_record *record, struct ran_error *err);

/* `"token":5,"piece":"rain"`, with "start" and "end" of a text; of words "word", too, and start and
 * end within it. Without a vocabulary "id" stands in the place of "piece". */
void cmd_reading_add_token(const struct cmd_reading *r, const struct cmd_reading_how *how, size_t t,
                           struct ran_buf *out);

/* `"tokens":[512,600]`, the run [from, to), which is not empty, with "start" and "end" of a text.
 */
void cmd_reading_add_run(const struct cmd_reading *r, size_t from, size_t to, struct ran_buf *out);

#endif
