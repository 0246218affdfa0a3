/* json.h - a JSON writer that inserts commas; and lookup of members that are not null.
 *
 *      json_begin(out, '{');
 *      json_put_size(out, "start", 3);
 *      json_name(out, "labels");
 *      json_begin(out, '[');
 *      json_string(out, "x", 1);
 *      json_end(out, ']');
 *      json_end(out, '}');                             {"start":3,"labels":["x"]}
 *
 * A comma precedes a name or value unless it comes first: in the buffer, in a line, behind a
 * bracket or behind a name. So members without braces can be collected in a buffer of their own.
 */
#ifndef CMD_FORMATS_JSON_H
#define CMD_FORMATS_JSON_H

#include "ran.h"

void json_begin(struct ran_buf *out, char bracket); /* '{' or '[' */
void json_end(struct ran_buf *out, char bracket);   /* '}' or ']' */
void json_name(struct ran_buf *out, const char *name);
void json_string(struct ran_buf *out, const char *s, size_t n);
void json_size(struct ran_buf *out, size_t x);
void json_floats(struct ran_buf *out, const float *x, size_t n); /* [1.5,2] */
/* Appends JSON: a value, or members without braces. */
void json_raw(struct ran_buf *out, const char *json, size_t n);

/* A member: name and value. */
void json_put_string(struct ran_buf *out, const char *name, const char *s, size_t n);
void json_put_text(struct ran_buf *out, const char *name, const char *text); /* to a NUL */
void json_put_size(struct ran_buf *out, const char *name, size_t x);
void json_put_double(struct ran_buf *out, const char *name, double x);
void json_put_doubles(struct ran_buf *out, const char *name, const double *x,
                      size_t n); /* a list */
void json_put_float(struct ran_buf *out, const char *name, float x);
void json_put_bool(struct ran_buf *out, const char *name, bool x);
void json_put_raw(struct ran_buf *out, const char *name, const char *json, size_t n);

/* White space between values. */
static inline bool json_is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The member of that name, unless it is absent or null: then NULL. */
const struct ran_member *json_member(const struct ran_record *record, const char *name);

/* RAN_EFORMAT: '"name" must be a string', with the name that the line has: whoever renamed the
 * member, people do not know its other name. */
int json_refuse(const char *line, const struct ran_member *m, const char *why,
                struct ran_error *err);

/* Scans any JSON value: as the member of an object, which is written to `room`. False: it is none.
 * The caller releases r and room in any case, and *value points into them. */
bool json_scan_value(struct ran_record *r, struct ran_buf *room, const char *s, size_t n,
                     struct ran_items *value);

#endif
