/* cells.h - cells of a table as the numbers and lists that they are. */
#ifndef CMD_RECORDS_CELLS_H
#define CMD_RECORDS_CELLS_H

#include "ran.h"

/* Whether a column of this name has lists or objects. */
bool cells_are_lists(const char *name, size_t n);
/* A cell that is a list or an object becomes one: its JSON is appended to `line`, whose beginning
 * is the record. */
int cells_read_list(struct ran_record *r, struct ran_member *cell, struct ran_buf *line,
                    struct ran_error *err);
/* A cell of digits, or -1, becomes a number, which may have a name. */
void cells_read_number(const struct ran_record *r, struct ran_member *cell);

#endif
