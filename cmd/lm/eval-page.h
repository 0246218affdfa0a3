/* eval-page.h - an evaluation of generated texts as a page. */
#ifndef CMD_LM_EVAL_PAGE_H
#define CMD_LM_EVAL_PAGE_H

#include "cmd/pages/documents.h"
#include "cmd/records/loop.h"

/* Zero-initialise. */
struct lm_eval_page {
        struct page_documents worst;
        size_t by_chrf[10]; /* texts with a chrF of 0 to 10, 10 to 20 ... */
};
/* A text that was compared with its reference. */
struct lm_compared {
        bool present; /* the record has a reference */
        struct ran_text_counts counts;
        struct page_document document; /* for a page */
};
/* Makes its document, in any thread. source may be empty. */
void lm_eval_page_make(const struct cmd_line *line, const struct ran_buf *source,
                       const struct ran_buf *reference, const struct ran_buf *text,
                       struct lm_compared *compared);
/* Takes it, in order. RAN_ENOMEM. */
int lm_eval_page_add(struct lm_eval_page *page, const struct lm_compared *compared,
                     struct ran_error *err);
/* model NULL: the texts were generated before. */
void lm_eval_page_write(struct lm_eval_page *page, const struct ran_text_report *report,
                        const char *model, size_t skipped, struct cmd_sink *out);
void lm_eval_page_release(struct lm_eval_page *page);

#endif
