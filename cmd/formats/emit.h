/* emit.h - output records: the input, byte for byte, with one more member. */
#ifndef CMD_FORMATS_EMIT_H
#define CMD_FORMATS_EMIT_H

#include "cmd/formats/output.h"

/* Appends the record with value (JSON) as its member `name`, and a newline. The member replaces one
 * of that name, or else comes last. Applies --drop and --only. */
void emit_record(struct ran_buf *out, const struct cmd_line *line, const struct cmd_output *how,
                 const char *name, const struct ran_buf *value);

/* Appends the valid part of a bad line with the object `ran_error` {message, file, line}, and a
 * newline. Drops the member `stale`, the result of an earlier run. */
void emit_error(struct ran_buf *out, const struct cmd_line *line, const struct cmd_output *how,
                const char *stale, const struct ran_error *err);

#endif
