/* sequence.h - reads the document of a record for a language model (task lm).
 *
 *      mask causal     [START] text [END]          predicts text and [END]
 *      mask prefix     source [SEP] target [END]   predicts target and [END]
 *      ids             as they are                 predicts all but the source, as `segments` tells
 *
 * The model predicts each token from the tokens before it, so never the first one of a document.
 */
#ifndef CMD_CONTENT_SEQUENCE_H
#define CMD_CONTENT_SEQUENCE_H

#include "cmd/content/document.h"
#include "ran.h"

/* ---- reserved.c -------------------------------------------------------------------------------
 */

/* The ids of the reserved tokens in a vocabulary; RAN_NO_ID: it has no such token. */
struct cmd_reserved {
        uint32_t unk, mask, sep, start, end;
};
/* RAN_EINVAL when the vocabulary lacks one that a model of this task and mask needs. Without a
 * tokenizer there are none. */
int cmd_reserved_find(struct cmd_reserved *r, const struct ran_tokenizer *tokenizer, int task,
                      int mask, struct ran_error *err);

/* ---- sequence.c -------------------------------------------------------------------------------
 */

/* How to read. */
struct cmd_sequence_how {
        const struct ran_tokenizer *tokenizer; /* NULL: ids only */
        size_t V;
        int mask; /* RAN_MASK_CAUSAL or RAN_MASK_PREFIX */
        struct cmd_reserved reserved;
        bool end;               /* append [END] to a text or a target */
        bool ask;               /* without the target, which will be generated; ids are all source
                                 * unless `segments` say otherwise */
        const char *begin_with; /* with ask: the target begins with the text of this member, if the
                                 * record has it; NULL: with nothing */
        uint32_t before; /* the document continues after this token; RAN_NO_ID: it begins here */
};

/* Zero-initialise; reused from record to record, one a thread. */
struct cmd_sequence {
        struct cmd_document document; /* the text, or the target (of a question, the source) */
        uint32_t *ids;                /* (L) all that is read or predicted */
        size_t L, cap;
        size_t sources; /* leading ids that are source */
        size_t first;   /* the first id that is predicted: at least 1, at most L */
        size_t shown;   /* where the ids of `document` begin: all from `first` on, except [END] */
        size_t begun;   /* of a question: the last ids, which begin the target */
        bool ended;     /* the last id is [END] */
        uint32_t fingerprint; /* if `document` is to have one: of source and target together */
};
void cmd_sequence_release(struct cmd_sequence *s);

/* RAN_EFORMAT if the model cannot read the record, or its text or source has no token (then
 * document.empty is set). */
int cmd_sequence_read(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                      const struct record *record, struct ran_error *err);
/* Reads a text without a record, as a prompt. It may have no token. */
int cmd_sequence_read_text(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                           const char *text, size_t n, struct ran_error *err);

#endif
