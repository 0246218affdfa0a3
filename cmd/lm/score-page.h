/* score-page.h - log likelihoods as a page: how surprising each word of each text is. */
#ifndef CMD_LM_SCORE_PAGE_H
#define CMD_LM_SCORE_PAGE_H

#include "cmd/lm/lm.h"
#include "cmd/lm/perplexity.h"
#include "cmd/pages/documents.h"
#include "cmd/records/loop.h"

/* Zero-initialise. */
struct lm_score_page {
        struct page_documents documents;
        struct perplexity total;
};
/* Appends a scored text to the result of its record, in any thread: nll has an element for each
 * token from q->first on. Offsets count bytes. RAN_ENOMEM. */
int lm_score_page_pack(const struct lm *lm, const struct cmd_line *line,
                       const struct cmd_sequence *q, const float *nll, const struct perplexity *p,
                       double cost, struct ran_buf *result, struct ran_error *err);
/* Takes it, in order. RAN_ENOMEM. */
int lm_score_page_add(struct lm_score_page *page, const struct ran_buf *result,
                      struct ran_error *err);
void lm_score_page_write(struct lm_score_page *page, const char *model, double cost,
                         struct cmd_sink *out);
void lm_score_page_release(struct lm_score_page *page);

#endif
