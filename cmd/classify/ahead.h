/* ahead.h - records whose documents are scored together: short ones take half the time of a
 * pretrained encoder that they take one by one. */
#ifndef CMD_CLASSIFY_AHEAD_H
#define CMD_CLASSIFY_AHEAD_H

#include "cmd/classify/predict.h"
#include "cmd/content/document.h"
#include "cmd/records/loop.h"

enum { AHEAD_RECORDS = 64 }; /* at once, at most */

/* Zero-initialise. */
struct ahead {
        struct ran_document document[AHEAD_RECORDS]; /* those that could be read, */
        size_t first[AHEAD_RECORDS];                 /* where their ids begin, */
        size_t of[AHEAD_RECORDS]; /* and their place among the items + 1; 0: none */
        size_t n;
        uint32_t *ids;
        float *logits, *embedding; /* (n, C), (n, D) */
        size_t ids_n, ids_cap, logits_cap, embedding_cap;
};

/* Scores the documents of n items, read into `document` one by one. Nothing is known of those that
 * cannot be read or scored: they fail again alone, with their message. */
void ahead_score(struct ahead *a, const struct classifier *c, struct ran_state *state,
                 struct cmd_document *document, const struct cmd_item *items, size_t n);
/* The place of item i among the documents that were scored; SIZE_MAX: it was not. */
size_t ahead_place(const struct ahead *a, size_t i);
/* Copies the results of item i; false: they are not known. */
bool ahead_take(const struct ahead *a, const struct classifier *c, size_t i, float *logits,
                float *embedding);
void ahead_release(struct ahead *a);

#endif
