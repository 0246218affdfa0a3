/* evidence.h - the passages that decided the label of a document. */
#ifndef CMD_CLASSIFY_EVIDENCE_H
#define CMD_CLASSIFY_EVIDENCE_H

#include "cmd/content/document.h"

struct classify_evidence_options {
        size_t evidence; /* the most passages; 0: none */
        size_t evidence_length;
        int offsets; /* RAN_UNIT_... */
};
extern const struct ran_field classify_evidence_fields[];

/* One a thread. options and model must outlive it. */
struct classify_evidence;
struct classify_evidence *classify_evidence_new(const struct classify_evidence_options *options,
                                                const struct ran_model *m, struct ran_pool *pool,
                                                struct ran_error *err);
void classify_evidence_free(struct classify_evidence *e);

/* Takes a document, read with the positions of its words, for the calls of _add that follow. */
int classify_evidence_read(struct classify_evidence *e, const struct cmd_document *document,
                           const struct record *record, struct ran_error *err);
/* Finds the passages for the probability p of class c; _passage gives the i-th, the most important
 * first, false after the last. */
struct classify_passage {
        size_t start, end; /* as in records */
        float without;     /* the probability without it; NaN: nothing is left */
};
int classify_evidence_find(struct classify_evidence *e, size_t c, float p, struct ran_error *err);
bool classify_evidence_passage(const struct classify_evidence *e, size_t i,
                               struct classify_passage *passage);
/* Appends `,"evidence":[...]` for the probability p of class c. */
int classify_evidence_add(struct classify_evidence *e, size_t c, float p, struct ran_buf *out,
                          struct ran_error *err);

#endif
