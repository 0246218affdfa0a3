/* eval-page.h - an evaluation as a page: --eval-format html. */
#ifndef CMD_CLASSIFY_EVAL_PAGE_H
#define CMD_CLASSIFY_EVAL_PAGE_H

#include "cmd/classify/eval.h"
#include "cmd/classify/predict.h"
#include "cmd/options/write.h"
#include "cmd/pages/documents.h"
#include "cmd/pages/reliability.h"
#include "cmd/records/loop.h"

/* Counts of documents, for charts; and the worst errors. Zero-initialise. */
struct classify_eval_page {
        /* It counts the most probable label; with several labels, each of them. */
        struct page_reliability reliability;
        size_t errors;
        struct page_documents worst;
};
/* Adds the document that classify_eval_add has added last. */
int classify_eval_page_add(struct classify_eval_page *p, const struct classify_eval *e,
                           const struct cmd_line *line, const struct classify_answer *a,
                           struct ran_error *err);
void classify_eval_page_write(struct classify_eval_page *p, const struct classify_eval *e,
                              const char *model, struct cmd_sink *out);
void classify_eval_page_release(struct classify_eval_page *p);

#endif
