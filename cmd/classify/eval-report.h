/* eval-report.h - an evaluation as a report. */
#ifndef CMD_CLASSIFY_EVAL_REPORT_H
#define CMD_CLASSIFY_EVAL_REPORT_H

#include "cmd/pages/report.h"

/* Adds the figures of an evaluation, whose names (C) are not NULL. */
void classify_eval_figures(const struct ran_eval_report *e, struct report *r);

#endif
