/* verbs.h - the verbs of ran-lm: a main each. */
#ifndef CMD_LM_VERBS_H
#define CMD_LM_VERBS_H

int lm_score(int argc, char **argv);
int lm_generate(int argc, char **argv);
int lm_fill(int argc, char **argv);

#endif
