/* record.h - a record, whatever format it came in: the bytes that go out again, and which of its
 * members are the text, the labels, the tags and so on.
 *
 * Members are found by the names of ran, of Prodigy, doccano, spaCy, Label Studio and data sets of
 * Hugging Face. To add a name, add a line to the table of record.c.
 */
#ifndef CMD_FORMATS_RECORD_H
#define CMD_FORMATS_RECORD_H

#include "ran.h"

enum field {
        FIELD_TEXT,     /* the caller refuses other types than strings */
        FIELD_TOKENS,   /* the words; not the tokens of Prodigy, objects beside the text */
        FIELD_IDS,      /* the tokens as numbers; not what others call so beside the text */
        FIELD_ENCODING, /* what ran-tokenize writes; not what others call so */
        FIELD_SOURCE,
        FIELD_TARGET,
        FIELD_SEGMENTS,
        FIELD_MASKED_AT,
        FIELD_LABEL,
        FIELD_LABELS,
        FIELD_CHOICE,  /* the list of the `options` that an annotator chose */
        FIELD_OPTIONS, /* which they were */
        FIELD_CATS,    /* an object of labels with 1 and 0 */
        FIELD_TAGS,    /* of the words */
        FIELD_SPANS,   /* of the text */
        FIELD_GROUP,   /* the document of a sentence */
        FIELD_ID,
        FIELD_ANSWER, /* of an annotator */
        FIELD_ERROR,  /* of an earlier program */
        FIELDS
};

/* Sets of fields. */
#define FIELD(name)        (UINT32_C(1) << FIELD_##name)
#define FIELDS_OF_WORDS    (FIELD(TEXT) | FIELD(TOKENS))
#define FIELDS_OF_DOCUMENT (FIELDS_OF_WORDS | FIELD(IDS) | FIELD(ENCODING))
#define FIELDS_OF_PAIR     (FIELD(SOURCE) | FIELD(TARGET))
#define FIELDS_OF_SEQUENCE (FIELDS_OF_DOCUMENT | FIELDS_OF_PAIR | FIELD(SEGMENTS))
#define FIELDS_OF_LABELS \
        (FIELD(LABEL) | FIELD(LABELS) | FIELD(CHOICE) | FIELD(OPTIONS) | FIELD(CATS))
#define FIELDS_OF_TAGS (FIELD(TAGS) | FIELD(SPANS))

/* Zero-initialise; it can be reused. */
struct record {
        struct ran_record json;
        const struct ran_member *is[FIELDS]; /* none is null; NULL: the record has none */
        const char *spans_name;              /* of the member with the spans */
        uint64_t twice;                      /* lines of the table whose name is there twice */
};
/* Scans a line as ran_record_scan does, and finds the fields. */
int record_scan(struct record *r, const char *line, size_t n, struct ran_error *err);
/* Finds the fields of the members that r->json has. */
void record_find(struct record *r);
void record_release(struct record *r);

/* A name of such fields that two members have, or NULL. */
const char *record_twice(const struct record *r, uint32_t fields);
/* False if an annotator did not accept the record: `answer` is "reject" or "ignore". */
bool record_accepted(const struct record *r);
/* Whether a member has a value of the right type for a name of n > 0 bytes, but not one of spans.
 */
bool record_fits(const struct record *r, const struct ran_member *m, const char *name, size_t n);

/* The items of a list; 0 for any other value. */
size_t record_items(const struct record *r, const struct ran_member *list);

/* Appends the text of a record, or its tokens with a space between. RAN_EFORMAT for a record
 * without either, and for what cannot be decoded. */
int record_add_text(struct ran_buf *out, const struct record *r, struct ran_error *err);

/* ---- names ---------------------------------------------------------------------------------- */

/* What a name of the table is for. */
enum {
        NAME_OF_TEXT = 1,  /* a text, or what takes its place: hidden where another one is chosen */
        NAME_OF_LABEL = 2, /* the same of labels, tags and spans */
        NAME_DOCUMENT = 4, /* a record with it has a document: no other name is looked for */
        NAME_LABELLED = 8, /* the same of labels; a language model's source has both */
        NAME_LIST = 16,    /* in a cell of a table it may be a list or an object */
        NAME_OF_ID = 32,   /* an id; hidden likewise */
};
/* Whether a member has the name of such a field with such a use. */
bool record_is_named(const struct ran_record *r, const struct ran_member *m, uint32_t fields,
                     unsigned uses);

/* A usual name of texts that counts only where nothing else has one. */
#define ROLE_LAST_TEXT "data"

enum role { ROLE_NONE, ROLE_TEXT, ROLE_LABEL, ROLE_ID, ROLE_OTHER };

/* Tells what a column or member of this name usually is; case, and '-', '_' and spaces, make no
 * difference. rank: the lower, the more usual. ROLE_OTHER: another member that programs read. */
enum role role_of(const char *name, size_t n, size_t *rank);

#endif
