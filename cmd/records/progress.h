/* progress.h - a live line on the terminal while files are read. */
#ifndef CMD_RECORDS_PROGRESS_H
#define CMD_RECORDS_PROGRESS_H

#include "cmd/formats/lines.h"
#include "cmd/records/files.h"

struct progress {
        bool on;
        double total;       /* bytes of all files */
        double begin, next; /* when it began; when to draw the line again */
};
/* On only where stderr is a terminal and standard output gets no results on one, without --quiet,
 * and where all input is in regular files, whose sizes say how much is left. results: records go to
 * standard output. */
void progress_begin(struct progress *p, const struct files *files, bool results);
/* Draws the line if it is time. before: bytes of the files before this one; records: done so far.
 */
void progress_tell(struct progress *p, const struct lines *lines, uint64_t before, size_t records);
/* The line, below 80 columns, without the name of the program. */
void progress_line(struct ran_buf *out, double share, double seconds, size_t records);
void progress_end(struct progress *p);

#endif
