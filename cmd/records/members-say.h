/* members-say.h - which members have values that can be meant, and what is said of those of a file;
 * only for members.c. */
#ifndef CMD_RECORDS_MEMBERS_SAY_H
#define CMD_RECORDS_MEMBERS_SAY_H

#include "cmd/records/members.h"

/* Whether a name is in a list with NULL at its end. */
bool members_listed(const char *const *list, const char *name);
/* Whether the value of a member with one of our names can be meant. Cells are strings; an empty one
 * may be anything. */
bool members_fit(const struct members *m, const struct ran_record *record,
                 const struct ran_member *member, const char *name);
/* Says what was chosen without being asked for, and what is not read, once for files alike. */
void members_say(const struct members *m, const struct cmd_loop *loop, const struct import *import,
                 const struct ran_record *first, const char *file, struct ran_buf *said);

#endif
