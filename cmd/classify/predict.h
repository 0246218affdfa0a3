/* predict.h - labels and their probabilities for a document, and the prediction of its record. */
#ifndef CMD_CLASSIFY_PREDICT_H
#define CMD_CLASSIFY_PREDICT_H

#include "cmd/classify/decide.h"
#include "cmd/classify/options.h"
#include "cmd/content/known.h"
#include "cmd/records/loop.h"

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
        struct cmd_known *known; /* with --eval: counts training documents; else NULL */
        float cut;               /* labels at least this probable make the prediction set */
};

/* From the command line, else from the model; NULL with a single label. The caller frees them. */
float *classify_thresholds(const struct ran_model *m, const struct classify_options *o);

/* Scratch of a thread, for cmd_loop; arg is a classifier. */
void *classify_scratch_new(void *arg, struct ran_error *err);
void classify_scratch_free(void *scratch);

/* A document, read and classified; belongs to the scratch. */
struct classify_scored {
        const float *p; /* (C) */
        const struct cmd_document *document;
        struct classify_evidence *evidence; /* of the document; NULL without --evidence */
};
int classify_score(const struct classifier *c, void *scratch, const struct cmd_line *line,
                   struct classify_scored *scored, struct ran_error *err);
/* The document of the last classify_predict. */
struct classify_scored classify_last(void *scratch);
/* The vector (D) to compare the document by, with --embed or --nearest: zeros if it has no known
 * token. It belongs to the scratch. */
int classify_vector(const struct classifier *c, void *scratch, const struct cmd_line *line,
                    const float **v, struct ran_error *err);
/* One label a document: the label to show, which is the most probable one unless an option decides
 * otherwise. */
size_t classify_best(const struct classifier *c, const float *p);
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
int classify_probabilities(const struct classifier *c, void *scratch, const struct cmd_line *line,
                           float **p, struct ran_buf *text, struct ran_error *err);
/* For cmd_loop.columns. */
void classify_columns(const void *arg, struct cmd_row *row);
/* Appends the prediction, a JSON object, a line of fastText or a row. For cmd_loop.work. */
int classify_predict(void *arg, void *scratch, const struct cmd_line *line,
                     struct cmd_result *result, struct ran_error *err);
/* For cmd_loop.work_all, of records whose documents are scored together. */
void classify_predict_all(void *arg, void *scratch, struct cmd_item *items, size_t n);
/* Scores the documents of the items together, and then calls `work` for each. */
void classify_together(const struct classifier *c, void *scratch, struct cmd_item *items, size_t n,
                       int (*work)(void *arg, void *scratch, const struct cmd_line *line,
                                   struct cmd_result *result, struct ran_error *err),
                       void *arg, void *work_scratch);

#endif
