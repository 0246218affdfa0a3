/* tag.h - the parts of ran-tag: options, words with their tags, predictions, evaluation, pages. */
#ifndef CMD_TAG_TAG_H
#define CMD_TAG_TAG_H

#include <stdatomic.h>

#include "cmd/content/labels.h"
#include "cmd/options/options.h"
#include "cmd/pages/documents.h"
#include "cmd/pages/reliability.h"
#include "cmd/records/loop.h"

/* ---- options (options.c) -------------------------------------------------------------------- */

/* And then 2 + RAN_SEGMENT_... */
enum { TAG_SPLIT_AUTO, TAG_SPLIT_VOCABULARY, TAG_SPLIT_SEGMENT };

struct tag_options {
        char *model, *label_names;
        bool verify, logits, eval, conlleval;
        int eval_format, output_format, offsets, split_at;
};
extern struct tag_options tag_options;
extern struct cmd_document_options tag_document_options;
extern struct cmd_input tag_input;
extern struct cmd_output tag_output;
extern const struct cmd_program tag_program;

/* Exits with 2 if options do not go together. */
void tag_options_check(void);

/* ---- tags for the words of one record, or of several that are one document (words.c) -------- */

struct tagger {
        const struct ran_model *model;
        struct ran_pool *pool;
        size_t C;
        struct ran_tag *tags; /* (C) parsed; NULL: of no scheme, they mark no entities */
        int split;            /* of a text: as in struct cmd_document */
        struct ran_marks marks;
        bool fingerprints; /* wanted, of the document of each record */
};

#define TAG_NOT_READ SIZE_MAX

/* A record, once it is tagged. */
struct tag_record {
        struct cmd_document document;
        size_t words;
        const size_t *at;            /* (words) index in the document; TAG_NOT_READ: truncated */
        struct ran_tag *found;       /* (words) its tags, parsed; a truncated word is outside */
        struct ran_entity *entities; /* (words) room for them */
        const bool *begins;          /* by index in the document: the word begins a sentence */
};

/* Each thread has one. Zero-initialise it, but for the state. */
struct tag_scratch {
        struct ran_state *state;
        struct tag_record *record;
        size_t record_cap;
        /* The tokens and words of all records, one after another. */
        struct ran_document document; /* the document for the model, in the arrays below */
        uint32_t *ids, *spelling, *positions;
        bool *begins;
        size_t ids_cap, spelling_cap, positions_cap, begins_cap;
        size_t *at;
        struct ran_tag *found;
        struct ran_entity *entities;
        size_t words, at_cap, found_cap, entities_cap;
        /* The results of ran_tag for the words of the document. */
        uint32_t *tags;
        float *score, *logits;
        size_t tags_cap, score_cap, logits_cap;
        struct tag_group *group; /* of tag_parts */
        size_t group_cap;
        struct ran_buf text, column; /* scratch: the text of words; their tags */
        bool segmented;              /* a record is a text of several sentences, by tagger.split */
};
void tag_scratch_release(struct tag_scratch *s);

/* Tags the words of the n records of the items, which form one document, into s->record[0..n). A
 * bad record gets a code and an error in its item; the others are tagged without it. */
void tag_words(const struct tagger *t, struct tag_scratch *s, struct cmd_item *items, size_t n);
/* Sets t->split and t->marks by --split-at and by what the model says of its training data. */
void tag_split_choose(struct tagger *t);

/* ---- a text of many sentences, tagged like sentences in training (parts.c) ------------------ */

/* Tags s->document; shifts s->positions. The results do not depend on the threads. */
int tag_parts(const struct tagger *t, struct tag_scratch *s, struct ran_error *err);

/* ---- predictions (predict.c) ---------------------------------------------------------------- */

/* The probability of the words [first, last): that of the least probable tag, an upper bound. */
float tag_score(const struct tag_scratch *s, const struct tag_record *r, size_t first, size_t last);
/* For cmd_loop.columns. */
void tag_columns(const void *arg, struct cmd_row *row);
/* Appends the prediction, as --output-format wants it, to item->result. */
int tag_write(const struct tagger *t, struct tag_scratch *s, const struct tag_record *r,
              const struct cmd_item *item);

/* ---- evaluation (eval.c, conlleval.c) ------------------------------------------------------- */

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
        size_t compared, skipped; /* records; skipped: those without tags */
        size_t unknown;           /* gold tags that the model does not have */
        size_t *words;            /* (C) by gold tag */
};

void tag_eval_init(struct tag_eval *e, const struct ran_model *model, const struct ran_tag *tags);
void tag_eval_release(struct tag_eval *e);

/* Whether the record has tags, or spans, to compare with. */
bool tag_eval_tagged(const struct record *record);
/* Predicted and gold tags of a record. */
struct tag_pairs {
        bool present;         /* the record has tags */
        size_t n;             /* words */
        size_t *end;          /* (n) of the gold tags in `names` */
        struct ran_tag *gold; /* (n) of no scheme: each is B, of its name as type */
        struct ran_tag
                *found;       /* (n) a truncated word is outside; of no scheme: no part, the name */
        struct ran_buf names; /* gold tags, one after another */
};
void tag_pairs_release(struct tag_pairs *p);
/* In any thread: reads them. RAN_EFORMAT when they cannot be compared. */
int tag_eval_read(const struct tagger *t, const struct tag_scratch *s, const struct tag_record *r,
                  struct cmd_labels *gold, const struct record *record, struct tag_pairs *pairs,
                  struct ran_error *err);
/* In order: compares them. */
void tag_eval_add(struct tag_eval *e, const struct cmd_line *line, const struct tag_pairs *p);
/* Adds the figures to a report; page: those of conlleval, too, for people. */
void tag_eval_tree(struct tag_eval *e, bool page, struct report *r);
/* Appends the report. TEXT: that of conlleval, then the other figures. */
void tag_eval_report(struct tag_eval *e, int format, struct ran_buf *out);

/* Reads files of columns (NULL at the end; none: standard input) and writes the score to a file,
 * or to standard output for NULL. Returns the status of the script; refuses the same input with
 * the same message, and then writes nothing. Exits with 3 if a file cannot be read. */
int tag_conlleval(char **files, const char *output);

/* ---- pages (page.c) ------------------------------------------------------------------------- */

/* A type of entity or, if tags are of no scheme, a tag. */
struct tag_page_type {
        const char *name; /* of n bytes */
        size_t n;
        atomic_size_t found, gold, right;
};
struct tag_page {
        const struct tagger *tagger;
        struct tag_eval *eval;      /* of --eval; NULL: predictions */
        const char *model;          /* its file */
        struct tag_page_type *type; /* (types) of the model, then others */
        size_t types;
        struct page_reliability reliability;
        atomic_size_t compared, wrong; /* documents with gold tags, and with an error */
        struct page_documents documents;
};
void tag_page_init(struct tag_page *p, const struct tagger *t, const char *model);
void tag_page_release(struct tag_page *p);

/* One a thread. Zero-initialise it. */
struct tag_page_scratch {
        struct cmd_shown shown;
        struct ran_entity *gold_entity;
        struct page_mark *found_mark, *gold_mark;
        size_t entity_cap, found_cap, gold_mark_cap;
        size_t found_n, gold_n; /* marks */
        struct ran_buf word;
};
void tag_page_scratch_release(struct tag_page_scratch *s);

/* In any thread: makes the document of a tagged record. */
int tag_page_make(struct tag_page *p, struct tag_page_scratch *s, const struct tag_scratch *tags,
                  const struct tag_record *r, const struct tag_pairs *pairs,
                  const struct cmd_item *item, struct page_document *d);
/* In order. */
void tag_page_add(struct tag_page *p, const struct page_document *d);
/* Writes the page to a file, NULL: standard output. */
void tag_page_write(struct tag_page *p, size_t failed, const char *output);

#endif
