/* roles.h - what columns and members are usually called: which is the text, the label, the id. */
#ifndef CMD_FORMATS_ROLES_H
#define CMD_FORMATS_ROLES_H

#include "ran.h"

/* A usual name of texts that counts only where nothing else has one. */
#define ROLE_LAST_TEXT "data"

enum role { ROLE_NONE, ROLE_TEXT, ROLE_LABEL, ROLE_ID, ROLE_OTHER };

/* Tells what a column or member of this name usually is; case, and '-', '_' and spaces, make no
 * difference. rank: the lower, the more usual. ROLE_OTHER: another member that programs read. */
enum role role_of(const char *name, size_t n, size_t *rank);

#endif
