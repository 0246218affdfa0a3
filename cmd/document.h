/* document.h - the ids of a record's document, whichever member holds them. */
#ifndef CMD_DOCUMENT_H
#define CMD_DOCUMENT_H

#include "ran.h"

enum { CMD_TRUNCATE_HEAD, CMD_TRUNCATE_TAIL, CMD_TRUNCATE_HEAD_TAIL, CMD_TRUNCATE_ERROR };

struct cmd_document_options {
        size_t max_tokens; /* 0: no limit */
        int truncate;
};
extern const struct ran_field cmd_document_fields[];

/* Zero-initialise; reused from record to record, one a thread. */
struct cmd_document {
        const uint32_t *ids; /* (L) into the encoding below */
        size_t L;            /* at least 1 after a successful read */
        size_t of;           /* tokens before the cut; equal to L when nothing was cut */
        struct ran_encoding
                encoding;    /* of tokens and text: all there is. Of encoding and ids: ids only */
        struct ran_buf text; /* scratch */
};
void cmd_document_release(struct cmd_document *d);

/* Members read here, for cmd_loop.reads. */
#define CMD_DOCUMENT_MEMBERS "encoding", "ids", "tokens", "text"

/* Takes the first present of encoding, ids, tokens, text. tokenizer may be NULL: ids only. Every id
 * is below V. An encoding of another vocabulary, a record without any of them, one without a single
 * token, and one that is too long under --truncate=error are RAN_EFORMAT. options may be NULL. */
int cmd_document_read(struct cmd_document *d, const struct ran_record *record,
                      const struct ran_tokenizer *tokenizer, size_t V,
                      const struct cmd_document_options *options, struct ran_error *err);
/* Appends `,"truncated":{"kept":k,"of":n}` when the document was cut, else nothing. */
void cmd_document_truncated(const struct cmd_document *d, struct ran_buf *out);

/* The gold labels of a record: `label` (text, or a number, taken as it is written) or `labels` (a
 * list of them, perhaps empty). */
#define CMD_LABEL_MEMBERS "label", "labels"
struct cmd_labels {
        struct ran_buf names; /* decoded, one after another */
        size_t *end;          /* (n) where each ends in names */
        size_t n, cap;
        bool present; /* the record has one of the two members, not null */
        bool several; /* it is `labels` */
};
void cmd_labels_release(struct cmd_labels *l);
/* RAN_EFORMAT when both are there, or either is something else. */
int cmd_labels_read(struct cmd_labels *l, const struct ran_record *record, struct ran_error *err);

#endif
