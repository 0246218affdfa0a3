/* synonyms.h - what other tools call options and verbs. */
#ifndef CMD_OPTIONS_SYNONYMS_H
#define CMD_OPTIONS_SYNONYMS_H

/* From *at = 0 on, the next of our names for what other tools call so; NULL at the end. */
const char *cmd_synonym_next(const char *theirs, unsigned *at);

#endif
