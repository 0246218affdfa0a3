/* eval-page.h - an evaluation as a page: --eval-format html. */
#ifndef CMD_CLASSIFY_EVAL_PAGE_H
#define CMD_CLASSIFY_EVAL_PAGE_H

#include "cmd/classify/eval.h"
#include "cmd/options/write.h"
#include "cmd/pages/documents.h"
#include "cmd/records/loop.h"

enum { EVAL_PAGE_BINS = 10, EVAL_PAGE_STEPS = 100 };

/* Sums over documents, for charts; and the worst errors. Zero-initialise. */
struct classify_eval_page {
        /* By probability: of the most probable label; with several labels, of each of them. */
        struct eval_page_bin {
                double p;
                size_t n, right;
        } bin[EVAL_PAGE_BINS];
        /* The same by p, in steps from 0 to 1: right ones, and all. */
        size_t step_right[EVAL_PAGE_STEPS + 1], step_all[EVAL_PAGE_STEPS + 1];
        size_t gold; /* labels to be found */
        size_t errors;
        struct page_documents worst;
};
/* Adds the document that classify_eval_add has added last, with its probabilities and its text. */
int classify_eval_page_add(struct classify_eval_page *p, const struct classify_eval *e,
                           const struct cmd_line *line, const float *probability, const char *text,
                           size_t n, struct ran_error *err);
void classify_eval_page_write(struct classify_eval_page *p, const struct classify_eval *e,
                              const char *model, struct cmd_sink *out);
void classify_eval_page_release(struct classify_eval_page *p);

#endif
