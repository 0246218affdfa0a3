/* labels.h - the gold labels of a record, or the gold tags of its words. */
#ifndef CMD_CONTENT_LABELS_H
#define CMD_CONTENT_LABELS_H

#include "cmd/formats/record.h"
#include "cmd/content/names.h"
#include "ran.h"

/* The gold labels of a record are in `label` (a string or a number; a number stays as written
 * unless numbers have names, and then -1 is no label) or in `labels` (a list of them, perhaps
 * empty). Other tools have a list `label`, a list `accept` of the chosen `options`, or an object
 * `cats` of 1 and 0. With a separator a text is a list, too. */
/* Kinds of tags. A data set has tags of schemes (and outside), or numbers, or other names (and "O"
 * among them). */
enum cmd_tag_kind {
        CMD_TAGS_SCHEME, /* IOB2 and its like */
        CMD_TAGS_NAMES,  /* names that mark no entities, such as parts of speech */
        CMD_TAGS_NUMBERS,
        CMD_TAGS_OUTSIDE, /* nothing but "O" */
        CMD_TAG_KINDS
};
struct cmd_labels {
        const struct cmd_names
                *called;      /* set by the caller: names of numbers; NULL or empty: none */
        char separator;       /* set by the caller: of several labels in one text; NUL: none */
        struct ran_buf names; /* decoded, one after another */
        size_t *end;          /* (n) where each ends in names */
        size_t n, cap;
        bool present; /* the record has one of the members, not null */
        bool several; /* it is `labels`, or another list without exactly one label */
        bool either;  /* a list with exactly one label, and not `labels` */
        /* Tags have these. */
        enum cmd_tag_kind kind;
        struct ran_tag *tags; /* scratch */
        size_t tags_cap;
        struct ran_tag_census census;
};
void cmd_labels_release(struct cmd_labels *l);
/* Appends a label so that it comes back from a text of several with this separator: a backslash
 * stands before the separator, before a space at either end, and before a backslash that would
 * otherwise do that. */
void cmd_labels_join(struct ran_buf *out, const char *name, char separator);
/* Whether a record has labels, perhaps an empty list. */
bool cmd_labels_there(const struct record *record);
/* RAN_EFORMAT when two members contradict each other, or one has another type. */
int cmd_labels_read(struct cmd_labels *l, const struct record *record, struct ran_error *err);

/* Appends the text of a label or tag: the name of a number, if numbers have names. what: "label"
 * or "tag", for messages. RAN_EFORMAT for a value of another type, or a number without a name. */
int cmd_labels_add_name(const struct cmd_names *called, const char *what, const char *line,
                        struct ran_span value, char type, struct ran_buf *out,
                        struct ran_error *err);

/* Reads the gold tags of a record, one a word. Numbers become their names. Tags of any scheme
 * become IOB2, counted in the census of this record; other tags are unchanged. RAN_EFORMAT for a
 * mix of kinds. */
int cmd_labels_read_tags(struct cmd_labels *l, const struct record *record, struct ran_error *err);

/* Whether tags of these kinds may be in one data set. */
bool cmd_labels_tags_agree(enum cmd_tag_kind a, enum cmd_tag_kind b);

#endif
