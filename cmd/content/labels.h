/* labels.h - the gold labels of a record, or the gold tags of its words. */
#ifndef CMD_CONTENT_LABELS_H
#define CMD_CONTENT_LABELS_H

#include "cmd/content/document.h"

/* ---- names.c ----------------------------------------------------------------------------------
 */

/* The name of 0, then that of 1, and so on. Zero-initialise: then there are none. */
struct cmd_names {
        const char *file;    /* as given; NULL: no names, numbers stay as they are written */
        struct ran_buf text; /* one after another */
        size_t *end;         /* (n) where each ends in text */
        size_t n, cap;
};
void cmd_names_release(struct cmd_names *names);

/* Reads a file, NULL for none; exits with 3 on failure. The file has a name a line, or JSON: a list
 * of names, or an object with `names`, `id2label` (config.json of a model of Hugging Face) or
 * `features` (dataset_info.json of a data set: the names of its tags if `tags` is set, else of its
 * label). */
void cmd_names_open(struct cmd_names *names, const char *file, bool tags);
/* Reads the bytes of a file. names has only the name of the file; release it in any case. */
int cmd_names_read(struct cmd_names *names, const char *s, size_t n, bool tags,
                   struct ran_error *err);

/* The name of the number with the digits [s, s+n); RAN_EFORMAT if it has none. */
int cmd_names_find(const struct cmd_names *names, const char *s, size_t n, const char **name,
                   size_t *length, struct ran_error *err);

/* Help of the option --label-names. */
#define CMD_NAMES_HELP                                                   \
        "names of numeric labels or tags: a file with one a line, from " \
        "0, or JSON (a list, id2label or features)"

/* ---- alike.c ----------------------------------------------------------------------------------
 */

/* A label without what cannot be seen, or is easily written in two ways. */
struct cmd_folded {
        char *text;
        size_t label;
};
/* (n) Names, folded and sorted by text and label. */
struct cmd_folded *cmd_folded_new(char *const *names, size_t n);
void cmd_folded_free(struct cmd_folded *folded, size_t n);
/* Appends how two labels that look alike differ: "differ in case or spaces only". */
void cmd_label_difference(struct ran_buf *out, const char *a, const char *b);
/* The first of n names, which are folded, that looks like another one; NULL: none does. */
const char *cmd_label_like(const struct cmd_folded *folded, char *const *names, size_t n,
                           const char *name);

/* ---- labels.c ---------------------------------------------------------------------------------
 */

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

/* ---- soft-label.c -----------------------------------------------------------------------------
 */

/* Zero-initialise; reused from record to record, one a thread. */
struct cmd_soft_label {
        struct ran_buf names; /* decoded, one after another */
        size_t *end;          /* (n) where each ends in names */
        float *p;             /* (n); with one label a document, they add up to 1 */
        size_t n, end_cap, p_cap, order_cap;
        bool present;            /* the record has the member, not null */
        bool guessed;            /* the record has no label of its own */
        struct soft_name *order; /* scratch */
};
void cmd_soft_label_release(struct cmd_soft_label *s);
/* Reads the member of that name: a prediction of ran-classify with its "probs", or an object of
 * labels and probabilities. `labels` have been read; if the record has none, they become the
 * most probable label, or, of several, all labels of at least 0.5. several: assume several
 * labels if neither the record nor the prediction decides. RAN_EFORMAT for anything else. */
int cmd_soft_label_read(struct cmd_soft_label *s, struct cmd_labels *labels,
                        const struct record *record, const char *member, bool several,
                        struct ran_error *err);

/* ---- span-tags.c ------------------------------------------------------------------------------
 */

/* Reads the spans of a record, in code points, as tags of its document, which was read
 * by words and has some: in IOB2, as from cmd_labels_read_tags. Without spans, `present` is false.
 * RAN_EFORMAT for spans that overlap, are out of range or do not start and end at words, and for a
 * document that is no text. */
int cmd_span_tags_read(struct cmd_labels *l, const struct cmd_document *d,
                       const struct record *record, struct ran_error *err);

#endif
