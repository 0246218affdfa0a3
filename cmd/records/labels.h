/* labels.h - the gold labels of a record, or the gold tags of its words. */
#ifndef CMD_RECORDS_LABELS_H
#define CMD_RECORDS_LABELS_H

#include "cmd/records/names.h"
#include "ran.h"

/* The gold labels of a record: `label` (text, or a number, taken as it is written unless numbers
 * have names; then -1 is no label) or `labels` (a list of them, perhaps empty); or, of other tools,
 * a list as `label`, a list `accept` of what was chosen among `options`, or an object `cats` of 1
 * and 0. */
#define CMD_LABELS_MEMBERS "label", "labels", "accept", "options", "cats"
/* What tags are like. In one data set they are either of schemes (and outside), or numbers, or
 * anything else (and "O" among it). */
enum cmd_tag_kind {
        CMD_TAGS_SCHEME, /* IOB2 and its like */
        CMD_TAGS_NAMES,  /* names that mark no entities: parts of speech, say */
        CMD_TAGS_NUMBERS,
        CMD_TAGS_OUTSIDE, /* nothing but "O" */
        CMD_TAG_KINDS
};
struct cmd_labels {
        const struct cmd_names
                *called;      /* set by the caller: names of numbers; NULL or empty: none */
        struct ran_buf names; /* decoded, one after another */
        size_t *end;          /* (n) where each ends in names */
        size_t n, cap;
        bool present; /* the record has one of the members, not null */
        bool several; /* it is `labels`, or does not say one label */
        bool either;  /* it is one label where there could be several, or was none but one */
        /* Of tags. */
        enum cmd_tag_kind kind;
        struct ran_tag *tags; /* scratch */
        size_t tags_cap;
        struct ran_tag_census census;
};
void cmd_labels_release(struct cmd_labels *l);
/* Whether a record has members that say some. */
bool cmd_labels_there(const struct ran_record *record);
/* RAN_EFORMAT when two are there, or either is something else. */
int cmd_labels_read(struct cmd_labels *l, const struct ran_record *record, struct ran_error *err);

/* Appends the label, tag or the like to a text, by its name if it is a number that has one. what:
 * for messages. RAN_EFORMAT for what is neither string nor number, or for a number without a name.
 */
int cmd_labels_add_name(const struct cmd_names *called, const char *what, const char *line,
                        struct ran_span value, char type, struct ran_buf *out,
                        struct ran_error *err);

/* The gold tags of a record: `tags` (or `ner_tags`), one a word. Numbers that have names are names.
 * Names of any scheme become IOB2, and the census is of this record; what is of no scheme is taken
 * as it is written. RAN_EFORMAT for kinds that do not go together. */
#define CMD_LABELS_TAG_MEMBERS "tags", "ner_tags"
int cmd_labels_read_tags(struct cmd_labels *l, const struct ran_record *record,
                         struct ran_error *err);

/* Whether tags of these kinds may be in one data set. */
bool cmd_labels_tags_agree(enum cmd_tag_kind a, enum cmd_tag_kind b);

#endif
