/* record-name.h - what a page calls a record. */
#ifndef CMD_PAGES_RECORD_NAME_H
#define CMD_PAGES_RECORD_NAME_H

#include "ran.h"

/* Appends its id, else the place where it was read: bytes from a stranger. */
void record_name(struct ran_buf *out, const struct ran_record *record, const char *file,
                 size_t number);
/* The same for a page, and not too long. */
void page_record_name(struct ran_buf *out, const struct ran_record *record, const char *file,
                      size_t number);

#endif
