/* eval-page.h - the figures of an evaluation, for a page. */
#ifndef CMD_TAG_EVAL_PAGE_H
#define CMD_TAG_EVAL_PAGE_H

#include "cmd/tag/eval.h"

/* Appends tables of both scores. */
void tag_eval_page_write(const struct tag_eval *e, struct ran_buf *out);

#endif
