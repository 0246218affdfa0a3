/* json.c - a JSON writer that inserts commas; and lookup of members that are not null. */
#include "cmd/formats/json.h"

#include <string.h>

static void separate(struct ran_buf *out)
{
        if (out->len > 0 && strchr("{[:,\n", out->data[out->len - 1]) == NULL)
                ran_buf_char(out, ',');
}

void json_begin(struct ran_buf *out, char bracket)
{
        separate(out);
        ran_buf_char(out, bracket);
}

void json_end(struct ran_buf *out, char bracket)
{
        ran_buf_char(out, bracket);
}

void json_name(struct ran_buf *out, const char *name)
{
        separate(out);
        ran_buf_json(out, name, strlen(name));
        ran_buf_char(out, ':');
}

void json_string(struct ran_buf *out, const char *s, size_t n)
{
        separate(out);
        ran_buf_json(out, s, n);
}

void json_size(struct ran_buf *out, size_t x)
{
        separate(out);
        ran_buf_size(out, x);
}

void json_floats(struct ran_buf *out, const float *x, size_t n)
{
        json_begin(out, '[');
        for (size_t i = 0; i < n; i++) {
                ran_buf_str(out, i == 0 ? "" : ",");
                ran_buf_float(out, x[i]);
        }
        json_end(out, ']');
}

void json_raw(struct ran_buf *out, const char *json, size_t n)
{
        if (n > 0)
                separate(out);
        ran_buf_add(out, json, n);
}

void json_put_string(struct ran_buf *out, const char *name, const char *s, size_t n)
{
        json_name(out, name);
        json_string(out, s, n);
}

void json_put_text(struct ran_buf *out, const char *name, const char *text)
{
        json_put_string(out, name, text, strlen(text));
}

void json_put_double(struct ran_buf *out, const char *name, double x)
{
        json_name(out, name);
        ran_buf_double(out, x);
}

void json_put_doubles(struct ran_buf *out, const char *name, const double *x, size_t n)
{
        json_name(out, name);
        json_begin(out, '[');
        for (size_t i = 0; i < n; i++) {
                separate(out);
                ran_buf_double(out, x[i]);
        }
        json_end(out, ']');
}

void json_put_float(struct ran_buf *out, const char *name, float x)
{
        json_name(out, name);
        ran_buf_float(out, x);
}

void json_put_bool(struct ran_buf *out, const char *name, bool x)
{
        json_name(out, name);
        ran_buf_str(out, x ? "true" : "false");
}

void json_put_size(struct ran_buf *out, const char *name, size_t x)
{
        json_name(out, name);
        json_size(out, x);
}

void json_put_raw(struct ran_buf *out, const char *name, const char *json, size_t n)
{
        json_name(out, name);
        json_raw(out, json, n);
}

const struct ran_member *json_member(const struct ran_record *record, const char *name)
{
        const struct ran_member *m = ran_record_find(record, name, NULL);

        return m != NULL && m->type != '0' ? m : NULL;
}

int json_refuse(const char *line, const struct ran_member *m, const char *why,
                struct ran_error *err)
{
        const char *name = line + m->whole.begin;
        size_t n = 1;

        while (name[n] != '"')
                n += name[n] == '\\' ? 2 : 1;
        return ran_fail(err, RAN_EFORMAT, "%.*s %s", (int)(n < 100 ? n + 1 : 100), name, why);
}

bool json_scan_value(struct ran_record *r, struct ran_buf *room, const char *s, size_t n,
                     struct ran_items *value)
{
        ran_buf_str(room, "{\"\":");
        ran_buf_add(room, s, n);
        ran_buf_char(room, '}');
        if (ran_record_scan(r, room->data, room->len, NULL) != RAN_OK || r->count != 1)
                return false;
        const struct ran_member *m = &r->members[0];
        *value = (struct ran_items){
                .line = r->line, .in = m->value, .value = m->value, .type = m->type};
        return true;
}
