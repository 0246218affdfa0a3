/* frame.c - a table in one JSON object, as pandas' to_json writes it by default: as JSON lines.
 *
 *      columns   {"text": {"0": "a", "1": "b"}, "label": {"0": "x", "1": "y"}}
 *      table     {"schema": {"fields": ...}, "data": [{"index": 0, "text": "a"}, ...]}
 *
 * Columns have to be in memory to be rows, so this reads a whole file.
 */
#include "cmd/formats/import.h"

#include <stdlib.h>
#include <string.h>

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

bool frame_begins(const char *s, size_t n)
{
        struct ran_span name;
        size_t at = skip(s, n, 0), x;

        if (!pass(s, n, &at, '{') || !pass_name(s, n, &at, &name))
                return false;
        const struct ran_span quoted = {name.begin - 1, name.end + 1};
        if (ran_json_is(s, quoted, "data"))
                return pass(s, n, &at, '[') && at < n && s[at] == '{';
        const bool schema = ran_json_is(s, quoted, "schema");
        if (!pass(s, n, &at, '{') || !pass_name(s, n, &at, &name))
                return false;
        return schema ? ran_json_is(s, (struct ran_span){name.begin - 1, name.end + 1}, "fields")
                      : ran_parse_size(s + name.begin, name.end - name.begin, &x);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void add(const char *line, struct ran_span part, struct ran_buf *out)
{
        ran_buf_add(out, line + part.begin, part.end - part.begin);
}

/* Objects, each a row. */
static bool add_objects(const char *line, struct ran_span list, struct ran_buf *out)
{
        for (struct ran_items i = ran_items(line, list); ran_items_next(&i);) {
                if (i.type != 'o')
                        return false;
                add(line, i.value, out);
                ran_buf_char(out, '\n');
        }
        return true;
}

/* Column by column, from left to right in all of them at once. Each has the same keys. */
static bool add_columns(const char *line, struct ran_items *columns, const struct ran_span *names,
                        size_t n, struct ran_buf *out)
{
        for (;;) {
                for (size_t i = 0; i < n; i++) {
                        struct ran_items *c = &columns[i];
                        if (!ran_items_next(c))
                                return i == 0;
                        const struct ran_span first = columns[0].name;
                        if (c->name.end - c->name.begin != first.end - first.begin ||
                            memcmp(line + c->name.begin, line + first.begin,
                                   first.end - first.begin) != 0)
                                return false;
                        ran_buf_char(out, i == 0 ? '{' : ',');
                        add(line, names[i], out);
                        ran_buf_char(out, ':');
                        add(line, c->value, out);
                }
                ran_buf_str(out, "}\n");
        }
}

/* ---- the table ------------------------------------------------------------------------------ */

static bool add_lines(const struct ran_record *r, struct ran_buf *out)
{
        struct ran_items i = ran_items(r->line, r->object);
        struct ran_span data;
        size_t n = 0;

        if (ran_json_find(r->line, r->object, "data", 'a', &data, NULL))
                return add_objects(r->line, data, out);
        struct ran_items *columns = ran_new(r->count, sizeof *columns);
        struct ran_span *name = ran_new(r->count, sizeof *name);
        for (; ran_items_next(&i) && i.type == 'o'; n++) {
                columns[n] = ran_items(r->line, i.value);
                name[n] = i.name;
        }
        const bool good = n > 0 && n == r->count && add_columns(r->line, columns, name, n, out);
        free(columns);
        free(name);
        return good;
}

int frame_lines(const char *s, size_t n, struct ran_buf *out, bool *is, struct ran_error *err)
{
        struct ran_buf flat = {0};
        struct ran_record r = {0};
        const size_t begin = out->len;

        values_flatten(s, n, &flat);
        int rc = ran_record_scan(&r, flat.data != NULL ? flat.data : "", flat.len, err);
        *is = rc == RAN_OK && add_lines(&r, out);
        if (!*is)
                out->len = begin;
        ran_record_release(&r);
        ran_buf_release(&flat);
        return rc == RAN_EFORMAT ? RAN_OK : rc;
}
