/* eval.h - predicted tags against those of the records. */
#ifndef CMD_TAG_EVAL_H
#define CMD_TAG_EVAL_H

#include "cmd/records/loop.h"
#include "cmd/content/labels.h"
#include "cmd/pages/report.h"
#include "ran.h"
#include "cmd/tag/words.h"

enum {
        TAG_EVAL_TEXT,
        TAG_EVAL_CONLLEVAL,
        TAG_EVAL_JSON,
        TAG_EVAL_CSV,
        TAG_EVAL_TSV,
        TAG_EVAL_HTML
};

struct tag_eval {
        const struct ran_model *model;
        const struct ran_tag
                *tags; /* (C) of the model, the caller's; NULL: they are of no scheme */
        struct ran_conll *conll;
        struct ran_strict *strict;
        bool with_columns;            /* set by the caller after _init */
        struct ran_buf columns;       /* with them: the file that conlleval reads */
        size_t compared, skipped;     /* records; skipped: those without tags */
        size_t unknown;               /* gold tags that the model does not have */
        size_t *words;                /* (C) by gold tag */
        struct ran_tag *gold, *found; /* of one record */
        size_t gold_cap, found_cap;
};

int tag_eval_init(struct tag_eval *e, const struct ran_model *model, const struct ran_tag *tags,
                  struct ran_error *err);
void tag_eval_release(struct tag_eval *e);

/* Whether the record has tags, or spans, to compare with. */
bool tag_eval_tagged(const struct record *record);
/* Predicted and gold tags of a record. */
struct tag_pairs {
        bool present;         /* the record has tags */
        size_t n;             /* words */
        size_t *end;          /* (n) of the gold tags in `names` */
        uint32_t *found;      /* (n) predicted tags; RAN_LABEL_UNKNOWN for a truncated word */
        struct ran_buf names; /* gold tags, one after another */
        struct ran_buf words; /* with columns: the words, a line feed after each */
};
void tag_pairs_release(struct tag_pairs *p);
/* In any thread: reads them (the record is that of the item). RAN_EFORMAT when they cannot be
 * compared. */
int tag_eval_read(const struct tag_eval *e, const struct tag_scratch *s, const struct tag_record *r,
                  struct cmd_labels *gold, const struct cmd_item *item, struct tag_pairs *pairs);
/* In order: compares them. */
int tag_eval_add(struct tag_eval *e, const struct cmd_line *line, const struct tag_pairs *pairs,
                 struct ran_error *err);
/* Adds the figures to a report; page: those of conlleval, too, for people. */
void tag_eval_tree(struct tag_eval *e, bool page, struct report *r);
/* Appends the report. TEXT: that of conlleval, then the other figures. */
void tag_eval_report(struct tag_eval *e, int format, struct ran_buf *out);

#endif
