/* select.h - --select: the records to label next. */
#ifndef CMD_CLASSIFY_SELECT_H
#define CMD_CLASSIFY_SELECT_H

#include "cmd/classify/predict.h"

/* Reads all records with the loop of ran-classify and writes those that were chosen, in the order
 * in which they were chosen. Returns the status of the program. */
int classify_select(const struct classifier *c, struct cmd_loop loop, char **files);

#endif
