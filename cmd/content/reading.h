/* reading.h - reads the document of a record for a model of any task. */
#ifndef CMD_CONTENT_READING_H
#define CMD_CONTENT_READING_H

#include "cmd/content/document.h"

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
        bool end;        /* append [END] to a text or a target */
        bool ask;        /* without the target, which will be generated; ids are all source
                          * unless `segments` say otherwise */
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

/* ---- masked.c --------------------------------------------------------------------------------
 *
 * reads a document with masked tokens for a masked language model (task mlm).
 */

/* How to read. */
struct cmd_masked_how {
        const struct ran_tokenizer *tokenizer; /* NULL: ids only */
        size_t V;
        uint32_t mask;          /* the id of a masked token */
        const char *mask_token; /* "[MASK]", in a text or as a word */
        bool none;              /* accept a document without masked tokens */
};

/* Zero-initialise; reused from record to record, one a thread. */
struct cmd_masked {
        uint32_t *ids; /* (L) */
        size_t L;
        uint32_t *positions; /* (n) of the masked tokens, ascending */
        size_t *start, *end; /* (n) the same in code points of the text, in words, or in ids */
        size_t n;
        size_t ids_cap, positions_cap, start_cap, end_cap;
        struct cmd_document document; /* of ids; else scratch */
        struct ran_encoding encoding; /* scratch */
};
void cmd_masked_release(struct cmd_masked *g);

/* Reads the first present member of encoding, ids, tokens and text. For ids, `masked_at` lists
 * the masked positions; without it, ids equal to [MASK] are masked. RAN_EFORMAT without any,
 * unless how->none. */
int cmd_masked_read(struct cmd_masked *g, const struct cmd_masked_how *how,
                    const struct record *record, struct ran_error *err);

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
