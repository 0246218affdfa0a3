/* page.h - predictions as a page: --output-format html. */
#ifndef CMD_CLASSIFY_PAGE_H
#define CMD_CLASSIFY_PAGE_H

#include "cmd/classify/predict.h"

/* Runs the loop, and writes a page instead of records. Returns the program's status. */
int classify_page(const struct classifier *c, struct cmd_loop loop, char **files);

#endif
