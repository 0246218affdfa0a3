/* members.h - which members, or columns of a table, are the text, the label and the id. */
#ifndef CMD_RECORDS_MEMBERS_H
#define CMD_RECORDS_MEMBERS_H

#include "cmd/formats/record.h"
#include "cmd/records/loop.h"
#include "ran.h"

struct import;

/* The members of a file's records. Zero-initialise. */
struct members {
        struct members_name {
                enum role role; /* texts come first, then one label, then one id */
                char *s;        /* (n) */
                size_t n;
                bool asked; /* an option chose it */
        } * name;
        size_t n, cap;
        size_t texts;            /* of them */
        bool asked, label_asked; /* --text-member chose the text, --label-member the label */
        bool table;              /* all values are strings */
        bool separated;          /* --label-separator: no label is a label, too */
        bool tags;               /* the label member holds tags or spans */
};
/* The option that chooses the members of a role: "text-member". */
const char *members_option(enum role role);
void members_release(struct members *m);

/* Chooses, for an m that is all zero, by the options of the loop, else by the usual names in the
 * first record of a file, unless it has the members that the program reads anyway; says on stderr
 * what names were chosen if they differ from those in `said`, and remembers them there.
 * RAN_EFORMAT: a table without such a column. */
int members_choose(struct members *m, const struct cmd_loop *loop, const struct import *import,
                   const struct record *first, const char *file, struct ran_buf *said,
                   struct ran_error *err);

/* Renames the members of a record for all readers: its line stays as it is, but for a joined text,
 * which follows the record in `line`. RAN_EFORMAT for a record without a text that was asked for.
 */
int members_rename(const struct members *m, struct ran_record *record, struct ran_buf *line,
                   struct ran_error *err);

/* Appends a renamed record as an object that has the new names and no hidden members. */
void members_write(const struct ran_record *record, struct ran_buf *out);

#endif
