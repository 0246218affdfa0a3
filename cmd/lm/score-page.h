/* score-page.h - log likelihoods as a page: how surprising each word of each text is. */
#ifndef CMD_LM_SCORE_PAGE_H
#define CMD_LM_SCORE_PAGE_H

#include "cmd/lm/lm.h"
#include "cmd/lm/perplexity.h"
#include "cmd/pages/documents.h"
#include "cmd/records/loop.h"

/* A text that was scored, for a sum or a page. */
struct lm_scored {
        struct perplexity measures;
        struct page_document document; /* for a page */
};
/* Makes the document of a page from the rest, in any thread: nll has an element for each token from
 * q->first on. Offsets count bytes. */
void lm_score_page_make(const struct lm *lm, const struct cmd_line *line,
                        const struct cmd_sequence *q, const float *nll, double cost,
                        struct lm_scored *scored);
void lm_score_page_write(struct page_documents *documents, const struct perplexity *total,
                         const char *model, double cost, struct cmd_sink *out);

#endif
