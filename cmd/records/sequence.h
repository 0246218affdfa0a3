/* sequence.h - the document of a record as a language model (task lm) reads it.
 *
 *      mask causal     [START] text [END]        the text, [END] too, is predicted
 *      mask prefix     source [SEP] target [END] the target, [END] too, is predicted
 *      bare ids        as they stand; of the source, which `segments` tells, none is predicted
 *
 * Each token is predicted from those before it, so that the first one of a document never is.
 */
#ifndef CMD_RECORDS_SEQUENCE_H
#define CMD_RECORDS_SEQUENCE_H

#include "cmd/records/document.h"
#include "ran.h"

/* The ids of the reserved tokens in a vocabulary; RAN_NO_ID: it has no such token. */
struct cmd_reserved {
        uint32_t unk, mask, sep, start, end;
};
/* RAN_EINVAL when the vocabulary lacks one that a model of this task and mask needs. tokenizer
 * NULL: there are none. */
int cmd_reserved_find(struct cmd_reserved *r, const struct ran_tokenizer *tokenizer, int task,
                      int mask, struct ran_error *err);

/* How to read. */
struct cmd_sequence_how {
        const struct ran_tokenizer *tokenizer; /* NULL: ids only */
        size_t V;
        int mask; /* RAN_MASK_CAUSAL or RAN_MASK_PREFIX */
        struct cmd_reserved reserved;
        bool end;        /* put [END] behind a text or a target */
        bool ask;        /* leave the target out: it is to be found; ids are all source unless
                            segments say otherwise */
        uint32_t before; /* the document goes on after this token; RAN_NO_ID: it begins here */
};

/* Zero-initialise; reused from record to record, one a thread. */
struct cmd_sequence {
        struct cmd_document document; /* the text, or the target (of a question, the source) */
        uint32_t *ids; /* (L) all that is read, and at its end what is only predicted */
        size_t L, cap;
        size_t sources; /* leading ids that are source */
        size_t first;   /* the first id that is predicted: at least 1, at most L */
        size_t shown; /* where the ids of `document` begin; all from first on, but [END], are its */
        bool ended;   /* the last id is [END] */
};
void cmd_sequence_release(struct cmd_sequence *s);

/* Members read here, for cmd_loop.reads. */
#define CMD_SEQUENCE_MEMBERS CMD_DOCUMENT_MEMBERS, "segments", "source", "target"

/* RAN_EFORMAT when the record is none for this model, or its text or source has no token; then
 * document.empty is set. */
int cmd_sequence_read(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                      const struct ran_record *record, struct ran_error *err);
/* The same for a text without a record: what a document goes on from. It may have no token. */
int cmd_sequence_read_text(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                           const char *text, size_t n, struct ran_error *err);

#endif
