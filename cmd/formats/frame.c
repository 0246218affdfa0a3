/* frame.c - a table in one JSON object, as pandas' to_json writes it by default: as JSON lines.
 *
 *      columns   {"text": {"0": "a", "1": "b"}, "label": {"0": "x", "1": "y"}}
 *      index     {"0": {"text": "a", "label": "x"}, "1": {"text": "b", "label": "y"}}
 *      split     {"columns": ["text", "label"], "index": [0, 1], "data": [["a", "x"], ["b", "y"]]}
 *      table     {"schema": {"fields": ...}, "data": [{"index": 0, "text": "a", "label": "x"},
 * ...]}
 *
 * Columns have to be in memory to be rows, so this reads a whole file.
 */
#include "cmd/formats/frame.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/formats/values.h"

/* ---- the beginning -------------------------------------------------------------------------- */

static size_t skip(const char *s, size_t n, size_t at)
{
        while (at < n && s[at] != '\0' && strchr(" \t\r\n", s[at]) != NULL)
                at++;
        return at;
}

/* Passes `c` and white space. */
static bool pass(const char *s, size_t n, size_t *at, char c)
{
        if (*at == n || s[*at] != c)
                return false;
        *at = skip(s, n, *at + 1);
        return true;
}

/* Passes a name and its colon. */
static bool pass_name(const char *s, size_t n, size_t *at, struct ran_span *name)
{
        if (*at == n || s[*at] != '"')
                return false;
        name->begin = ++*at;
        while (*at < n && s[*at] != '"')
                *at += 1 + (s[*at] == '\\');
        if (*at >= n)
                return false;
        name->end = *at;
        *at = skip(s, n, *at + 1);
        return pass(s, n, at, ':');
}

static bool is(const char *s, struct ran_span name, const char *text)
{
        return name.end - name.begin == strlen(text) &&
               memcmp(s + name.begin, text, strlen(text)) == 0;
}

static bool is_number(const char *s, struct ran_span name)
{
        size_t x;

        return ran_parse_size(s + name.begin, name.end - name.begin, &x);
}

bool frame_begins(const char *s, size_t n)
{
        struct ran_span name, inner;
        size_t at = skip(s, n, 0);

        if (!pass(s, n, &at, '{') || !pass_name(s, n, &at, &name))
                return false;
        if (is(s, name, "columns") || is(s, name, "data"))
                return pass(s, n, &at, '[') && at < n && (s[at] == '"' || s[at] == '{');
        if (!pass(s, n, &at, '{') || !pass_name(s, n, &at, &inner))
                return false;
        return is_number(s, inner) || is_number(s, name) ||
               (is(s, name, "schema") && is(s, inner, "fields"));
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* A column, or the names of the columns: how far it was read. */
struct cursor {
        struct ran_span name, values;
        size_t pos;
};

/* Objects, each a row: those of a list, or the members of an object. */
static bool add_objects(const char *line, struct ran_span list, struct ran_buf *out)
{
        struct ran_span name, item;
        const bool object = line[list.begin] == '{';
        size_t pos = 0;
        char type;

        while (ran_json_next(line, list, &pos, object ? &name : NULL, &item, &type)) {
                if (type != 'o')
                        return false;
                ran_buf_add(out, line + item.begin, item.end - item.begin);
                ran_buf_char(out, '\n');
        }
        return true;
}

/* The values of a list under the names of another one. */
static bool add_row(const char *line, struct ran_span names, struct ran_span row,
                    struct ran_buf *out)
{
        struct ran_span name, value;
        size_t at = 0, pos = 0;
        char type;

        ran_buf_char(out, '{');
        while (ran_json_next(line, row, &pos, NULL, &value, &type)) {
                if (!ran_json_next(line, names, &at, NULL, &name, &type) || type != 's')
                        return false;
                ran_buf_str(out, out->data[out->len - 1] == '{' ? "" : ",");
                ran_buf_add(out, line + name.begin, name.end - name.begin);
                ran_buf_char(out, ':');
                ran_buf_add(out, line + value.begin, value.end - value.begin);
        }
        ran_buf_str(out, "}\n");
        return !out->failed && !ran_json_next(line, names, &at, NULL, &name, &type);
}

static bool add_split(const char *line, struct ran_span names, struct ran_span rows,
                      struct ran_buf *out)
{
        struct ran_span row;
        size_t pos = 0;
        char type;

        while (ran_json_next(line, rows, &pos, NULL, &row, &type))
                if (type != 'a' || !add_row(line, names, row, out))
                        return false;
        return true;
}

/* Column by column, from left to right in all of them at once. Each has the same keys. */
static bool add_columns(const char *line, struct cursor *columns, size_t n, struct ran_buf *out)
{
        struct ran_span key, first = {0, 0}, value;
        char type;

        while (!out->failed) {
                for (size_t i = 0; i < n; i++) {
                        struct cursor *c = &columns[i];
                        if (!ran_json_next(line, c->values, &c->pos, &key, &value, &type))
                                return i == 0;
                        if (i == 0)
                                first = key;
                        if (key.end - key.begin != first.end - first.begin ||
                            memcmp(line + key.begin, line + first.begin, key.end - key.begin) != 0)
                                return false;
                        ran_buf_char(out, i == 0 ? '{' : ',');
                        ran_buf_add(out, line + c->name.begin, c->name.end - c->name.begin);
                        ran_buf_char(out, ':');
                        ran_buf_add(out, line + value.begin, value.end - value.begin);
                }
                ran_buf_str(out, "}\n");
        }
        return false;
}

/* ---- the table ------------------------------------------------------------------------------ */

static const struct ran_member *find(const struct ran_record *r, const char *name, char type)
{
        const struct ran_member *m = json_member(r, name);

        return m != NULL && m->type == type ? m : NULL;
}

static bool add_by_column(const struct ran_record *r, struct ran_buf *out, struct ran_error *err)
{
        struct cursor *columns = ran_alloc(r->count, sizeof *columns, err);
        struct ran_span name, item;
        size_t pos = 0, n = 0;
        char type;

        if (columns == NULL)
                return false;
        while (n < r->count && ran_json_next(r->line, r->object, &pos, &name, &item, &type) &&
               type == 'o')
                columns[n++] = (struct cursor){.name = name, .values = item};
        const bool good = n > 0 && n == r->count && add_columns(r->line, columns, n, out);
        free(columns);
        return good;
}

static bool add_lines(const struct ran_record *r, struct ran_buf *out, struct ran_error *err)
{
        const struct ran_member *names = find(r, "columns", 'a'), *data = find(r, "data", 'a');
        struct ran_span name, item;
        size_t pos = 0;
        char type;

        if (names != NULL && data != NULL)
                return add_split(r->line, names->value, data->value, out);
        if (data != NULL)
                return add_objects(r->line, data->value, out);
        if (ran_json_next(r->line, r->object, &pos, &name, &item, &type) && type == 'o' &&
            is_number(r->line, (struct ran_span){name.begin + 1, name.end - 1}))
                return add_objects(r->line, r->object, out);
        return add_by_column(r, out, err);
}

int frame_lines(const char *s, size_t n, struct ran_buf *out, bool *is, struct ran_error *err)
{
        struct ran_buf flat = {0};
        struct ran_record r = {0};
        const size_t begin = out->len;

        *is = false;
        values_flatten(s, n, &flat);
        int rc = flat.failed ? ran_fail(err, RAN_ENOMEM, "no memory for a file of %zu bytes", n)
                             : ran_record_scan(&r, flat.data, flat.len, err);
        if (rc == RAN_OK)
                *is = r.line != NULL && add_lines(&r, out, err);
        if (rc == RAN_OK && out->failed)
                rc = ran_fail(err, RAN_ENOMEM, "no memory for the rows of %zu bytes", n);
        if (!*is)
                out->len = begin;
        ran_record_release(&r);
        ran_buf_release(&flat);
        return rc == RAN_EFORMAT ? RAN_OK : rc;
}
