/* emit.h - records as they go out: what came in, byte for byte, and one member more. */
#ifndef CMD_EMIT_H
#define CMD_EMIT_H

#include "cmd.h"

/* Appends the record and a newline, with value (JSON, n bytes) as its member `name`: in place of
 * the member of that name if there is one, else last. --drop and --only are heeded; `stale` (or
 * NULL) is left out as if dropped. What was read of a broken record is written, too, as an object.
 */
void emit_record(struct ran_buf *out, const struct cmd_line *line, const struct cmd_output *how,
                 const char *name, const char *value, size_t n, const char *stale);

/* Appends the object `ran_error`, {message, file, line}. */
void emit_error(struct ran_buf *out, const struct cmd_line *line, const struct ran_error *err);

#endif
