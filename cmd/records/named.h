/* named.h - members that options name, and how many records have them: a misspelt one would go
 * unnoticed. Only for the files of the loop. */
#ifndef CMD_RECORDS_NAMED_H
#define CMD_RECORDS_NAMED_H

#include "cmd/records/loop.h"
#include "ran.h"

enum { NAMED_MOST = 64 }; /* further ones are not counted */

/* Zero-initialise. */
struct named {
        struct named_member {
                const char *option; /* "text-member" */
                char *name;
                size_t n;       /* bytes of it */
                size_t records; /* that have it */
                enum cmd_named_if absent;
        } member[NAMED_MOST];
        size_t n;
        struct ran_buf first; /* names of the members of the first record, for people */
        size_t records;       /* all of them */
};
void named_release(struct named *d);

/* A name of n bytes that an option gave; once for each, whatever the number of files. */
void named_add(struct named *d, const char *option, const char *name, size_t n,
               enum cmd_named_if absent);
/* The first record, once. */
void named_note_first(struct named *d, const struct ran_record *record);
/* Which of them a record has, a bit for each; in any thread. */
uint64_t named_in(const struct named *d, const struct ran_record *record);
/* Counts a record, in order. */
void named_count(struct named *d, uint64_t has);
/* At the end: exits if no record has a member that is not CMD_MAY_LACK; warns of one that few have.
 * part: there may be more records, elsewhere. */
void named_report(const struct named *d, bool part);

#endif
