/* row.h - results as rows of a table. */
#ifndef CMD_FORMATS_ROW_H
#define CMD_FORMATS_ROW_H

#include "cmd/formats/output.h"
#include "ran.h"

/* How tables are written, for all rows. */
struct cmd_table {
        bool escape_formulas;
};
extern struct cmd_table cmd_table;
extern const struct ran_field cmd_table_fields[];

/* The cells of a row, one after another. */
void cmd_row_string(struct cmd_row *row, const char *s, size_t n);
void cmd_row_text(struct cmd_row *row, const char *s);
void cmd_row_size(struct cmd_row *row, size_t x);
void cmd_row_float(struct cmd_row *row, float x);
void cmd_row_double(struct cmd_row *row, double x); /* NaN: empty */
void cmd_row_end(struct cmd_row *row);
/* A cell for each of them, NULL at the end. */
void cmd_row_names(struct cmd_row *row, const char *const *names);

/* The id of a record, or file and line without one. RAN_EFORMAT for one that cannot be decoded. */
int cmd_row_id(struct cmd_row *row, const struct cmd_line *line, struct ran_error *err);
/* Its text, or its tokens with a space between; scratch: for the text. */
int cmd_row_document(struct cmd_row *row, const struct cmd_line *line, struct ran_buf *scratch,
                     struct ran_error *err);

#endif
