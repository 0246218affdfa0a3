/* synonyms.h - what other tools call options and verbs. */
#ifndef CMD_OPTIONS_SYNONYMS_H
#define CMD_OPTIONS_SYNONYMS_H

/* The i-th name that other tools use, and ours for the same; NULL at the end. */
const char *cmd_synonym_at(unsigned i, const char **ours);

#endif
