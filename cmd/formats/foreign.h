/* foreign.h - where other tools keep in a record what we read: Prodigy, doccano, spaCy, and data
 * sets of Hugging Face. */
#ifndef CMD_FORMATS_FOREIGN_H
#define CMD_FORMATS_FOREIGN_H

#include "ran.h"

/* Each returns the member, or NULL where there is none but null. */

/* `text`, else doccano's `data`, if that is a string. */
const struct ran_member *foreign_text(const struct ran_record *record);
/* `tokens`; not those of Prodigy, which are objects and stand beside the text they are of. */
const struct ran_member *foreign_tokens(const struct ran_record *record);
/* `tags`, else `ner_tags`. */
const struct ran_member *foreign_tags(const struct ran_record *record);
/* `spans`, else whichever of `entities`, `label`, `labels` and `annotations` is a list of objects
 * or of lists, or empty; *name says which. */
const struct ran_member *foreign_spans(const struct ran_record *record, const char **name);

/* `accept`, a list of those of the `options` that were chosen, as Prodigy has it. */
const struct ran_member *foreign_choice(const struct ran_record *record);

/* One of those spans: {"start", "end", "label"}, {"start_offset", "end_offset", "label"}, or
 * [start, end, label]. False where one of the three is not there once; ends are exclusive, and the
 * types those of JSON. */
struct foreign_span {
        struct ran_span start, end, label;
        char start_type, end_type, label_type;
};
bool foreign_span(struct foreign_span *span, const char *line, struct ran_span item, char type);

/* False where somebody has looked at the record and did not accept it: `answer` is "reject" or
 * "ignore", as Prodigy has it. */
#define SHAPE_ANSWER "answer"
bool foreign_accepted(const struct ran_record *record);

#endif
