/* eval-report.h - scores of generated texts as a report. */
#ifndef CMD_LM_EVAL_REPORT_H
#define CMD_LM_EVAL_REPORT_H

#include "cmd/pages/report.h"

void lm_eval_tree(const struct ran_text_report *t, struct report *r);

#endif
