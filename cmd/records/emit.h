/* emit.h - records as they go out: what came in, byte for byte, and one member more. */
#ifndef CMD_RECORDS_EMIT_H
#define CMD_RECORDS_EMIT_H

#include "cmd/records/io.h"
#include "cmd/records/loop.h"

/* Appends the record and a newline, with value (JSON) as its member `name`: in place of the member
 * of that name if there is one, else last. --drop and --only are heeded. */
void emit_record(struct ran_buf *out, const struct cmd_line *line, const struct cmd_output *how,
                 const char *name, const struct ran_buf *value);

/* Appends what could be read of a bad line, and a newline, with the object `ran_error`, {message,
 * file, line}; the member `stale`, the result of an earlier run, is left out. */
void emit_error(struct ran_buf *out, const struct cmd_line *line, const struct cmd_output *how,
                const char *stale, const struct ran_error *err);

#endif
