/* tag-eval.h - the tags that a model gives against those that the records have. */
#ifndef CMD_TAG_EVAL_H
#define CMD_TAG_EVAL_H

#include "cmd.h"
#include "labels.h"
#include "ran.h"

enum { TAG_EVAL_TEXT, TAG_EVAL_CONLLEVAL, TAG_EVAL_JSON };

struct tag_eval {
        const struct ran_model *model;
        const struct ran_tag *tags; /* (C) of the model, the caller's */
        struct ran_conll *conll;
        struct ran_strict *strict;
        bool with_columns;        /* set by the caller after _init */
        struct ran_buf columns;   /* with them: the file that conlleval reads */
        size_t compared, skipped; /* records; skipped: those without tags */
        size_t unknown;           /* gold tags that the model does not have */
        struct cmd_labels gold;
        struct ran_tag *found; /* of one record */
        size_t found_cap;
};

int tag_eval_init(struct tag_eval *e, const struct ran_model *model, const struct ran_tag *tags,
                  struct ran_error *err);
void tag_eval_release(struct tag_eval *e);

/* Appends a word, or a tag, as a field of the columns. White space and control characters become
 * '_', and so does no text at all. */
void tag_eval_field(struct ran_buf *out, const char *text, size_t n);

/* What is known of one record: its n tags, and, where columns are written, its words as fields with
 * a line feed after each. */
struct tag_eval_words {
        const uint32_t *tags;
        size_t n;
        const char *text;
};
/* Whether the record has tags to compare with. */
bool tag_eval_tagged(const struct ran_record *record);
/* Compares those of a record with its own. RAN_EFORMAT when they cannot be compared. */
int tag_eval_add(struct tag_eval *e, const struct cmd_line *line,
                 const struct tag_eval_words *words, struct ran_error *err);
/* Appends the report. TEXT: that of conlleval and a table of the strict score. */
void tag_eval_report(struct tag_eval *e, int format, struct ran_buf *out);

#endif
