/* document.h - the ids of a record's document, from any of its members. */
#ifndef CMD_CONTENT_DOCUMENT_H
#define CMD_CONTENT_DOCUMENT_H

#include "cmd/formats/record.h"

enum { CMD_TRUNCATE_HEAD, CMD_TRUNCATE_TAIL, CMD_TRUNCATE_HEAD_TAIL, CMD_TRUNCATE_ERROR };

struct cmd_document_options {
        size_t max_tokens; /* 0: no limit */
        int truncate;
};
extern const struct ran_field cmd_document_fields[];

enum { CMD_FROM_ENCODING, CMD_FROM_IDS, CMD_FROM_TOKENS, CMD_FROM_TEXT };

/* Zero-initialise; reused from record to record, one a thread. */
struct cmd_document {
        /* Set by the caller. */
        bool by_words;       /* read by words, with positions */
        bool with_positions; /* with positions, though read by tokens */
        size_t spelling;     /* buckets of the spelling of words; 0: without spelling */
        int unit;            /* of offsets: RAN_UNIT_... */
        int split;           /* words and sentences of a text: 0 as the vocabulary splits, or 1 +
                              * RAN_SEGMENT_... */
        bool trim, each;     /* without split: words begin after their space; each token is one */
        struct ran_marks marks; /* with split, to write the words with */
        bool with_fingerprint;
        /* Filled by a read. */
        const uint32_t *ids;  /* (L) */
        size_t L;             /* at least 1 after a successful read */
        size_t uncut;         /* tokens before truncation */
        size_t head, tail;    /* by words, ids are not truncated: use the first `head` and the
                               * last `tail` */
        int from;             /* the member: CMD_FROM_... */
        uint32_t fingerprint; /* of the text or its words, else of ids, if wanted */
        uint32_t *positions;  /* (words) the first token of each word */
        size_t words, positions_cap;
        size_t *sentence; /* (sentences) with split, the token that begins each */
        size_t sentences, sentence_cap;
        /* From tokens or text: ids points into it. */
        struct ran_encoding encoding;
        uint32_t *given; /* of encoding and ids: the same */
        size_t given_cap;
        struct ran_sha256 print;
        bool empty;          /* the read failed because the document has no token */
        struct ran_buf text; /* of text: the text; else scratch */
};
void cmd_document_release(struct cmd_document *d);

/* Reads the first present member of encoding, ids, tokens and text. Without a tokenizer: ids only.
 * Every id is below V. RAN_EFORMAT for an encoding of another vocabulary, a record with none of
 * these members, a document without a token, and one that is too long under --truncate=error.
 * options may be NULL.
 *
 * By words, options set head and tail, each of `ids` is a word, and `encoding` is ignored: it
 * lacks word positions. With spelling, `encoding` is ignored and `ids` are RAN_EFORMAT: neither
 * has spellings. */
int cmd_document_read(struct cmd_document *d, const struct record *record,
                      const struct ran_tokenizer *tokenizer, size_t V,
                      const struct cmd_document_options *options, struct ran_error *err);
/* Reads tokens, else text; ignores other members. The document may have no token. */
int cmd_document_read_words(struct cmd_document *d, const struct record *record,
                            const struct ran_tokenizer *tokenizer, struct ran_error *err);
/* Reads the member of this name, a string or a list of words, which may have no token. RAN_EFORMAT
 * for a record without it. */
int cmd_document_read_member(struct cmd_document *d, const struct record *record, const char *name,
                             const struct ran_tokenizer *tokenizer, struct ran_error *err);
/* The document for the library; points into d. */
struct ran_document cmd_document_view(const struct cmd_document *d);
/* Appends `"truncated":{"kept":k,"of":n}` after a comma when the document was truncated. */
void cmd_document_truncated(const struct cmd_document *d, struct ran_buf *out);

/* The units of n bytes of UTF-8. */
size_t cmd_units(const char *s, size_t n, int unit);

/* For a text read by words: start and end of word i, in code points. */
void cmd_document_word(const struct cmd_document *d, size_t i, size_t *start, size_t *end);

/* ---- spans.c ----------------------------------------------------------------------------------
 */

/* A walk over a document that was read by words, from left to right. */
struct cmd_spans {
        const struct cmd_document *document;
        struct ran_items tokens; /* and the number of the next one: */
        size_t word;
        /* Of a text, which has a unit of offsets: the current place in code points, bytes and
         * units. */
        enum ran_unit unit;
        size_t point, byte, offset;
};
void cmd_spans_begin(struct cmd_spans *s, const struct cmd_document *document,
                     const struct record *record, enum ran_unit unit);

/* Finds *start and *end of the words [first, last), in units of a text, else in words. Appends
 * their text (tokens and ids with spaces between). first is at least the last of the previous call.
 */
int cmd_spans_next(struct cmd_spans *s, size_t first, size_t last, size_t *start, size_t *end,
                   struct ran_buf *text, struct ran_error *err);

/* ---- shown.c ----------------------------------------------------------------------------------
 */

/* Zero-initialise; reused from record to record. */
struct cmd_shown {
        struct ran_buf text; /* tokens and ids have a space between them */
        bool placed;         /* offsets of words are known */
        /* Where words of tokens or ids end in the text. */
        size_t *end;
        size_t n, cap;
};
void cmd_shown_release(struct cmd_shown *s);
/* Takes over the text of a document that was read from the record. */
int cmd_shown_read(struct cmd_shown *s, const struct cmd_document *d, const struct record *record,
                   struct ran_error *err);
/* Converts offsets of the record to bytes of the text: of a text, they are bytes already; else
 * words. False for offsets outside of it. */
bool cmd_shown_place(const struct cmd_shown *s, size_t *start, size_t *end);

#endif
