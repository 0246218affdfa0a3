/* foreign.h - finds text, labels and spans in records of other tools: Prodigy, doccano, spaCy,
 * data sets of Hugging Face. To add a member of another tool, add a line to the table of
 * foreign.c, and its name to the lists below. */
#ifndef CMD_FORMATS_FOREIGN_H
#define CMD_FORMATS_FOREIGN_H

#include "ran.h"

/* All possible members, for cmd_loop.reads. */
#define FOREIGN_TEXT   "text", "data"
#define FOREIGN_TOKENS "tokens"
#define FOREIGN_TAGS   "tags", "ner_tags"
#define FOREIGN_SPANS  "spans", "entities", "label", "labels", "annotations"
#define FOREIGN_CHOICE "accept", "options"
#define FOREIGN_MARKS  "annotations"
#define FOREIGN_ANSWER "answer"

/* Each returns the member, or NULL if there is none. */

/* A text; the caller refuses other types than strings. */
const struct ran_member *foreign_text(const struct ran_record *record);
/* The words of a document; not the tokens of Prodigy, objects beside the text. */
const struct ran_member *foreign_tokens(const struct ran_record *record);
/* Its tokens as numbers, and what ran-tokenize writes; not what others call so beside the text. */
const struct ran_member *foreign_ids(const struct ran_record *record);
const struct ran_member *foreign_encoding(const struct ran_record *record);
/* The tags of the words. */
const struct ran_member *foreign_tags(const struct ran_record *record);
/* The spans of a text; *name is the name of the member. */
const struct ran_member *foreign_spans(const struct ran_record *record, const char **name);
/* The list of the `options` that an annotator chose. */
const struct ran_member *foreign_choice(const struct ran_record *record);
/* A list of objects with a `label` each, of the document as a whole; and the label of one. */
const struct ran_member *foreign_marks(const struct ran_record *record);
bool foreign_mark(const char *line, struct ran_span mark, struct ran_span *label, char *type);
/* An object of labels with 1 and 0. */
const struct ran_member *foreign_cats(const struct ran_record *record);
/* `doc`, the document of a sentence. */
const struct ran_member *foreign_group(const struct ran_record *record);

/* Whether a member with a name above, but not of spans, has a value of the right type. */
bool foreign_fits(const struct ran_record *record, const struct ran_member *m, const char *name);

/* Appends the text of a record, or its tokens with a space between. RAN_EFORMAT for a record
 * without either, and for what cannot be decoded. */
int foreign_add_text(struct ran_buf *out, const struct ran_record *record, struct ran_error *err);

/* One of the spans: {"start", "end", "label"}, {"start_offset", "end_offset", "label"}, or
 * [start, end, label]. False unless each of the three occurs once. Ends are exclusive, types
 * those of JSON. */
struct foreign_span {
        struct ran_span start, end, label;
        char start_type, end_type, label_type;
};
bool foreign_span(struct foreign_span *span, const char *line, struct ran_span item, char type);

/* False if an annotator did not accept the record: `answer` is "reject" or "ignore". */
bool foreign_accepted(const struct ran_record *record);

#endif
