/* classify.h - the parts of ran-classify: options, decisions, predictions, evidence, neighbours,
 * evaluation, pages. */
#ifndef CMD_CLASSIFY_CLASSIFY_H
#define CMD_CLASSIFY_CLASSIFY_H

#include "cmd/content/model.h"
#include "cmd/content/labels.h"
#include "cmd/content/vocab.h"
#include "cmd/options/options.h"
#include "cmd/pages/documents.h"
#include "cmd/pages/reliability.h"
#include "cmd/records/loop.h"

/* ---- options (options.c, described.c) ------------------------------------------------------- */

enum {
        CLASSIFY_EVAL_JSON,
        CLASSIFY_EVAL_TEXT,
        CLASSIFY_EVAL_CSV,
        CLASSIFY_EVAL_TSV,
        CLASSIFY_EVAL_HTML
};

struct classify_evidence_options {
        size_t evidence; /* the most passages; 0: none */
        size_t evidence_length;
        int offsets; /* RAN_UNIT_... */
};
extern const struct ran_field classify_evidence_fields[];

struct classify_options {
        char *model, *labels, *label_texts, *label_names, *against, *vector_cache;
        struct ran_list threshold_for, among;
        size_t top, nearest, select;
        double threshold, coverage, least;
        bool abstain, probs, logits, embed, eval, verify;
        int eval_format;  /* CLASSIFY_EVAL_... */
        int join_windows; /* RAN_UPPER_..., or 0: as the model says */
        int output_format, among_format;
        struct classify_evidence_options evidence;
        struct cmd_document_options document;
        struct cmd_input input;
        struct cmd_output output;
};
extern const struct cmd_program classify_program;

/* The only one there is. */
extern struct classify_options classify_options;
/* Whether vectors of documents are needed. */
bool classify_options_embed(const struct classify_options *o);
/* Exits with 2 if options contradict each other or the model. */
void classify_options_check(struct classify_options *o);
void classify_options_check_model(const struct classify_options *o, const struct ran_model *m);

/* Whether the labels are described (--labels, --label-texts): a classifier without training. */
bool described(const struct classify_options *o);
/* Opens the model, and makes it a classifier of these labels. Exits on failure. */
struct ran_model *described_open(const struct classify_options *o);

/* ---- which label a document of one label gets (decide.c) ------------------------------------ */

/* The most probable one, or by thresholds of labels. */
struct decision {
        const struct ran_model *model;
        size_t C;
        /* --threshold-for: the probability from which a label is given; below 0: none. NULL: no
         * label has one. */
        float *limit; /* (C) */
};
/* Reads "LABEL=X" of each item. own: labels have the thresholds that the model brings, unless an
 * item is "none" or says otherwise. Exits with 2 for what is no such item, or names a label that
 * the model does not have. */
void decision_open(struct decision *d, const struct ran_model *m, const struct ran_list *limits,
                   bool own);
void decision_release(struct decision *d);
/* The label that is given, by its probabilities p (C); C: none. */
size_t decision_choose(const struct decision *d, const float *p);
/* The one to show, which is the most probable one where none is given. */
size_t decision_best(const struct decision *d, const float *p);
/* The class of a label; C: the model has no such label. */
size_t decision_label(const struct decision *d, const char *name, size_t n);

/* ---- evidence (evidence.c) ------------------------------------------------------------------ */

/* The passages that decided the label of a document. One a thread. options and model must outlive
 * it. */
struct classify_evidence;
struct classify_evidence *classify_evidence_new(const struct classify_evidence_options *options,
                                                const struct ran_model *m, struct ran_pool *pool);
void classify_evidence_free(struct classify_evidence *e);

/* Takes a document, read with the positions of its words, for the calls that follow. */
int classify_evidence_read(struct classify_evidence *e, const struct cmd_document *document,
                           const struct record *record, struct ran_error *err);
/* Finds the passages (n) for the probability p of class c, the most important first; valid until
 * the next call. */
struct classify_passage {
        size_t first, last; /* its words, [first, last) */
        double gain;
        float without;        /* the probability without it; NaN: nothing is left */
        size_t start, end;    /* as in records */
        struct ran_span text; /* in that of the evidence */
};
int classify_evidence_find(struct classify_evidence *e, size_t c, float p,
                           const struct classify_passage **passage, size_t *n,
                           struct ran_error *err);
/* Why the last call of _find found none, a sentence without a full stop. */
const char *classify_evidence_lacking(const struct classify_evidence *e);
bool classify_knows_a_token(const struct ran_model *m, const struct cmd_document *document);
/* Appends `,"evidence":[...]` for the probability p of class c; if there is none, also why. */
int classify_evidence_add(struct classify_evidence *e, size_t c, float p, struct ran_buf *out,
                          struct ran_error *err);

/* ---- --nearest (nearest.c, collection.c) ---------------------------------------------------- */

/* A collection: vectors (D) and ids, of which the `most` nearest are asked for, at most n, and none
 * that has a cosine below `least`. */
struct classify_nearest {
        struct ran_nearest *vectors;
        struct ran_buf ids; /* JSON, one after the other */
        size_t *id_end;     /* (n) */
        size_t n, cap, most;
        double least;
};
struct classifier;
/* Reads the files of --among: the vectors that --embed wrote into their records, or as an array of
 * numpy; else their documents. Exits if they cannot be read or have no document. */
void classify_nearest_read(struct classify_nearest *n, const struct classifier *c);
void classify_nearest_release(struct classify_nearest *n);

/* The neighbours of several vectors. Zero-initialise. */
struct classify_neighbours {
        struct ran_neighbour *list; /* (n, most) */
        size_t *found;              /* (n) */
        size_t n, list_cap, found_cap;
};
/* Several vectors are searched for at once if their lists are not longer. */
enum { CLASSIFY_NEAREST_TOGETHER = 1024 };
/* Finds those of `count` vectors v. */
void classify_nearest_find(const struct classify_nearest *n, const float *v, size_t count,
                           struct classify_neighbours *to);
/* Appends the member "nearest": those of vector i; none with `from` NULL. */
void classify_nearest_add(const struct classify_nearest *n, const struct classify_neighbours *from,
                          size_t i, struct ran_buf *out);
void classify_neighbours_release(struct classify_neighbours *n);

/* ---- predictions (predict.c) ---------------------------------------------------------------- */

struct classifier {
        const struct classify_options *options;
        const struct ran_model *model;
        const struct ran_embedder *embedder; /* NULL: the vector of --embed comes with the logits */
        char vectors[17]; /* the name of the vectors of --embed and --nearest; "": not wanted */
        struct ran_pool *pool;
        size_t C, D;                            /* C 0: no classifier, which only embeds */
        const float *thresholds;                /* (C) or, with a single label, NULL */
        struct decision decision;               /* with a single label */
        const struct classify_nearest *nearest; /* NULL without --nearest */
        struct cmd_known *known;        /* with --eval: counts training documents; else NULL */
        float cut;                      /* labels at least this probable make the prediction set */
        const struct classifier *other; /* --against; NULL without */
        /* For records whose documents are scored together, then one by one: that of cmd_loop. */
        int (*work)(void *arg, void *scratch, const struct cmd_line *line,
                    struct cmd_result *result, struct ran_error *err);
};

/* From the command line, else from the model; NULL with a single label. The caller frees them. */
float *classify_thresholds(const struct ran_model *m, const struct classify_options *o);

enum { CLASSIFY_TOGETHER = 64 }; /* records that are scored together, at most */

/* Each thread has one, for cmd_loop. arg is a classifier, or a struct that begins with one. */
struct classify_scratch {
        struct ran_state *state;
        struct cmd_document document;
        float *logits, *p;                  /* (C) */
        float *embedding;                   /* (D), NULL unless asked for */
        struct classify_evidence *evidence; /* NULL unless asked for */
        struct classify_neighbours near;    /* of a record that is alone */
        struct ran_buf text;                /* of a row */
        struct classify_ranked {
                float p;
                uint32_t c;
        } * ranked;                       /* (C) */
        struct classify_scratch *against; /* with --against: of the other model */
        struct cmd_vocab_words words;     /* with --select */
        /* For pages. */
        struct cmd_shown shown;
        struct cmd_labels gold;
        struct page_mark *mark;
        size_t mark_n, mark_cap;
        /* Records that are scored together, and the place of the one at hand among their documents
         * + 1; 0: it is alone. */
        size_t place;
        struct classify_together {
                struct ran_document document[CLASSIFY_TOGETHER]; /* those that could be read, */
                size_t of[CLASSIFY_TOGETHER]; /* and of which items they are, in order */
                size_t n;
                uint32_t *ids;
                float *logits, *embedding; /* (n, C), (n, D) */
                size_t ids_cap, logits_cap, embedding_cap;
                struct classify_neighbours near;
        } others;
};
void *classify_scratch_new(void *arg);
void classify_scratch_free(void *scratch); /* NULL is nothing */

/* Reads and classifies a document: into s->document, logits and p, and what evidence needs. */
int classify_score(const struct classifier *c, struct classify_scratch *s,
                   const struct cmd_line *line, struct ran_error *err);
/* The vector (D) to compare the document by, with --embed or --nearest: zeros if it has no known
 * token. It belongs to the scratch. */
int classify_vector(const struct classifier *c, struct classify_scratch *s,
                    const struct cmd_line *line, const float **v, struct ran_error *err);
/* Sorts s->ranked: the most probable label first, equals in the order of the labels. */
void classify_rank(const struct classifier *c, struct classify_scratch *s);
/* Whether a document gets label i, if `best` is the one to show; of several labels any. */
bool classify_gives(const struct classifier *c, const float *p, size_t best, size_t i);

/* An evaluation needs this of a record. */
struct classify_answer {
        float *p, *other;    /* (C) of this model, and with --against of the other; NULL: the record
                                has no label */
        struct ran_buf text; /* for a page: the begin of its text */
};
void classify_answer_release(void *answer);
/* Copies the probabilities of all labels to *p, which is NULL at first, unless the record has no
 * label; text: for a page, or NULL. */
int classify_probabilities(const struct classifier *c, struct classify_scratch *s,
                           const struct cmd_line *line, float **p, struct ran_buf *text,
                           struct ran_error *err);
/* For cmd_loop.columns. */
void classify_columns(const void *arg, struct cmd_row *row);
/* Appends the prediction, a JSON object, a line of fastText or a row. For cmd_loop.work. */
int classify_predict(void *arg, void *scratch, const struct cmd_line *line,
                     struct cmd_result *result, struct ran_error *err);
/* For cmd_loop.work_all: scores the documents of records together, which takes half the time of a
 * pretrained encoder that short ones take one by one, and then calls work for each. */
void classify_work_all(void *arg, void *scratch, struct cmd_item *items, size_t n);

/* Each runs the loop, and returns the program's status: writes a page instead of records (page.c);
 * those that were chosen to be labelled next, in that order (select.c). */
int classify_page(const struct classifier *c, struct cmd_loop loop, char **files);
int classify_select(const struct classifier *c, struct cmd_loop loop, char **files);

/* ---- evaluation (eval.c, eval-report.c, eval-page.c, against.c) ----------------------------- */

struct classify_eval {
        const float *thresholds;         /* as given to _init */
        const struct decision *decision; /* likewise */
        bool multilabel;
        size_t C;
        const char **names; /* (C) of the model's classes */
        struct ran_eval *eval;
        size_t compared, skipped; /* skipped: records without a label */
        struct cmd_labels labels;
        uint32_t *gold; /* (n_gold) of the last record */
        size_t n_gold, n_unknown;
        struct classify_eval_name {
                const char *text;
                size_t n;
        } * unknown_label; /* its labels that the model does not know */
        size_t gold_cap, unknown_cap;
};
/* thresholds (C): of a model with several labels, else NULL. The caller keeps both. */
void classify_eval_init(struct classify_eval *e, const float *thresholds,
                        const struct decision *decision);
void classify_eval_release(struct classify_eval *e);
/* One record with its probabilities (C), or NULL if it is not classified. RAN_EFORMAT if its
 * labels are not of the model's kind. */
int classify_eval_add(struct classify_eval *e, const struct record *record, const float *p,
                      struct ran_error *err);
/* Add the figures to a report; of an evaluation whose names (C) are not NULL. */
void classify_eval_tree(const struct classify_eval *e, struct report *r);
void classify_eval_figures(const struct ran_eval_report *e, struct report *r);

/* Counts of documents, for charts; and the worst errors. Zero-initialise. */
struct classify_eval_page {
        /* It counts the most probable label; with several labels, each of them. */
        struct page_reliability reliability;
        size_t errors;
        struct page_documents worst;
};
/* Adds the document that classify_eval_add has added last. */
void classify_eval_page_add(struct classify_eval_page *p, const struct classify_eval *e,
                            const struct cmd_line *line, const struct classify_answer *a);
/* Writes the page to a file, NULL: standard output, and releases it. */
void classify_eval_page_write(struct classify_eval_page *p, const struct classify_eval *e,
                              const char *model, const char *output);

/* --against: another model on the same records, and whether it differs by more than chance. */
struct classify_against {
        struct classifier other;   /* with thresholds of its own */
        struct classify_eval eval; /* of the other model */
        struct ran_paired *pairs;
        bool *is_gold[2]; /* (C) of this model, and of the other: scratch */
};
/* Opens the model of --against, for a comparison with c. Exits if it cannot be compared. */
void classify_against_open(struct classify_against *a, const struct classifier *c,
                           const struct cmd_names *names);
void classify_against_close(struct classify_against *a);
/* A record that both models have answered, after classify_eval_add of this one: its evaluation and
 * probabilities, and those of the other, or NULL if it has no label. */
int classify_against_add(struct classify_against *a, const struct classify_eval *e,
                         const struct record *record, const float *p, const float *other,
                         struct ran_error *err);
/* Adds the comparison to the report. */
void classify_against_tree(const struct classify_against *a, struct report *report);

#endif
