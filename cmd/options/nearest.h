/* nearest.h - which name of ours somebody meant who wrote another one. */
#ifndef CMD_OPTIONS_NEAREST_H
#define CMD_OPTIONS_NEAREST_H

/* The names there are: the i-th, or NULL at the end. Names of several words have '-' or '_'
 * between them. */
typedef const char *cmd_names(const void *arg, unsigned i);

/* The name that `given` most probably means, or NULL: what other tools call so, a misspelt name,
 * the beginning of one name only, a name with words more. Rather none than a wrong one. */
const char *cmd_nearest(const char *given, cmd_names *names, const void *arg);

#endif
