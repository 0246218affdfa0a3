/* page.h - attention or attribution in a document as a page: --format html. */
#ifndef CMD_ATTNMASK_PAGE_H
#define CMD_ATTNMASK_PAGE_H

#include "cmd/attnmask/model.h"
#include "cmd/records/loop.h"

/* The attention in the current document (page.c). */
int attnmask_page(const struct attnmask_model *a, struct attnmask_scratch *s,
                  const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err);
/* The same for the other maps: the text, coloured (page-map.c). */
int attnmask_map_page(const struct attnmask_model *a, struct attnmask_scratch *s,
                      const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err);
/* Begins the page: title, name of the document, the model. */
void attnmask_page_begin(const struct attnmask_model *a, const struct attnmask_scratch *s,
                         const struct cmd_line *line, const char *title, struct ran_buf *out);

#endif
