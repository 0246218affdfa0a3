/* foreign.h - the members of a record that hold what we read, whichever tool wrote it: Prodigy,
 * doccano, spaCy, or a data set of Hugging Face. A shape of another tool is a line in the table of
 * foreign.c, and its name in the lists below. */
#ifndef CMD_FORMATS_FOREIGN_H
#define CMD_FORMATS_FOREIGN_H

#include "ran.h"

/* All members that can hold it, for cmd_loop.reads. */
#define FOREIGN_TEXT   "text", "data"
#define FOREIGN_TOKENS "tokens"
#define FOREIGN_TAGS   "tags", "ner_tags"
#define FOREIGN_SPANS  "spans", "entities", "label", "labels", "annotations"
#define FOREIGN_CHOICE "accept", "options"
#define FOREIGN_ANSWER "answer"

/* Each returns the member, or NULL when none holds it. */

/* A text; what is no string is for the caller to refuse. */
const struct ran_member *foreign_text(const struct ran_record *record);
/* The words of a document; not the tokens of Prodigy, objects beside the text. */
const struct ran_member *foreign_tokens(const struct ran_record *record);
/* The tags of the words. */
const struct ran_member *foreign_tags(const struct ran_record *record);
/* The spans of a text; *name is the name of the member. */
const struct ran_member *foreign_spans(const struct ran_record *record, const char **name);
/* The list of those `options` that a person chose. */
const struct ran_member *foreign_choice(const struct ran_record *record);

/* One of the spans: {"start", "end", "label"}, {"start_offset", "end_offset", "label"}, or
 * [start, end, label]. False unless each of the three is there once. Ends are exclusive, types
 * those of JSON. */
struct foreign_span {
        struct ran_span start, end, label;
        char start_type, end_type, label_type;
};
bool foreign_span(struct foreign_span *span, const char *line, struct ran_span item, char type);

/* False when a person saw the record and did not accept it: `answer` is "reject" or "ignore". */
bool foreign_accepted(const struct ran_record *record);

#endif
