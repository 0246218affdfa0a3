/* document.h - the ids of a record's document, whichever member holds them. */
#ifndef CMD_RECORDS_DOCUMENT_H
#define CMD_RECORDS_DOCUMENT_H

#include "ran.h"

enum { CMD_TRUNCATE_HEAD, CMD_TRUNCATE_TAIL, CMD_TRUNCATE_HEAD_TAIL, CMD_TRUNCATE_ERROR };

struct cmd_document_options {
        size_t max_tokens; /* 0: no limit */
        int truncate;
};
extern const struct ran_field cmd_document_fields[];
/* Ends with 2 if one of them was asked for that says nothing without the other. */
void cmd_document_check(const struct cmd_document_options *options);

enum { CMD_FROM_ENCODING, CMD_FROM_IDS, CMD_FROM_TOKENS, CMD_FROM_TEXT };

/* Zero-initialise; reused from record to record, one a thread. */
struct cmd_document {
        bool by_words;       /* set by the caller: `places`, too */
        bool with_positions; /* set by the caller: places of what is read by tokens */
        size_t spelling;     /* set by the caller: buckets for that of words; 0: not wanted */
        int unit;            /* set by the caller: what offsets count, RAN_UNIT_... */
        const uint32_t *ids; /* (L) */
        size_t L;            /* at least 1 after a successful read */
        size_t of;           /* tokens before the cut; equal to L when nothing was cut */
        size_t head, tail;   /* by words nothing is cut off: these are the tokens to be read, from
                                both   ends, head + tail of them */
        int from;            /* the member that was read: CMD_FROM_... */
        uint32_t *positions; /* (words) the token that stands for each word: its first */
        size_t words, positions_cap;
        /* Of tokens and text: what ids points into, cut like them. */
        struct ran_encoding encoding;
        uint32_t *given; /* of encoding and ids: the same */
        size_t given_cap;
        bool empty;          /* a read failed because the document has no token */
        struct ran_buf text; /* of text: the text itself; else scratch */
};
void cmd_document_release(struct cmd_document *d);

/* Members read here, for cmd_loop.reads. */
#define CMD_DOCUMENT_MEMBERS "encoding", "ids", "tokens", "text", "data"

/* Takes the first present of encoding, ids, tokens, text. tokenizer may be NULL: ids only. Every id
 * is below V. An encoding of another vocabulary, a record without any of them, one without a single
 * token, and one that is too long under --truncate=error are RAN_EFORMAT. options may be NULL.
 *
 * By words: options say what head and tail are; of ids each is a word; an encoding is passed over,
 * because it does not say where words begin. With spelling it is passed over, too, and ids are
 * RAN_EFORMAT, because neither says how words are spelled. */
int cmd_document_read(struct cmd_document *d, const struct ran_record *record,
                      const struct ran_tokenizer *tokenizer, size_t V,
                      const struct cmd_document_options *options, struct ran_error *err);
/* The same for tokens, else text, whatever else there is; the document may have no token at all. */
int cmd_document_read_words(struct cmd_document *d, const struct ran_record *record,
                            const struct ran_tokenizer *tokenizer, struct ran_error *err);
/* The same for the member of this name, a string or a list of words, which may have no token at
 * all. A record without it is RAN_EFORMAT. */
int cmd_document_read_member(struct cmd_document *d, const struct ran_record *record,
                             const char *name, const struct ran_tokenizer *tokenizer,
                             struct ran_error *err);
/* What was read, for the library. */
struct ran_document cmd_document_view(const struct cmd_document *d);
/* Appends `,"truncated":{"kept":k,"of":n}` when the document was cut, else nothing. */
void cmd_document_truncated(const struct cmd_document *d, struct ran_buf *out);

/* Of a text that was read by words: the code points of word i. */
void cmd_document_word(const struct cmd_document *d, size_t i, size_t *start, size_t *end);

#endif
