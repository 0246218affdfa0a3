/* values.c - JSON: a record a line; records in an array, or with line ends within; tables.
 *
 * Values are found by counting brackets, so that a file of any size is read one value at a time.
 * The scan of each record says whether it is JSON.
 */

#include <stdlib.h>
#include <string.h>

#include "cmd/formats/import.h"
#include "cmd/formats/json.h"

static bool is_one_of(char c, const char *bytes)
{
        return c != '\0' && strchr(bytes, c) != NULL;
}

/* ---- where values are ----------------------------------------------------------------------- */

size_t values_skip(struct values_scan *v, const char *s, size_t n, size_t at)
{
        while (at < n && (json_is_space(s[at]) || s[at] == ',' || (v->array && s[at] == ']') ||
                          (!v->array && s[at] == '['))) {
                if (s[at] == '[' || s[at] == ']')
                        v->array = s[at] == '[';
                at++;
        }
        return at;
}

/* One byte of an object or list; whether it ends there. */
static bool step(struct values_scan *v, char c)
{
        if (v->string) {
                v->string = v->escaped || c != '"';
                v->escaped = !v->escaped && c == '\\';
                return false;
        }
        v->string = c == '"';
        v->depth += c == '{' || c == '[';
        if (c == '}' || c == ']')
                return --v->depth == 0;
        return false;
}

bool values_end(struct values_scan *v, const char *s, size_t n, bool last, size_t *at)
{
        const bool nested = n > 0 && (s[0] == '{' || s[0] == '[');
        bool ended = false;

        if (*at == 0)
                v->depth = v->string = v->escaped = false;
        while (*at < n && !ended) {
                if (!nested && s[*at] == '\n')
                        return true;
                ended = nested && step(v, s[*at]);
                ++*at;
        }
        return ended || (last && n > 0);
}

/* Appends a value without the line ends, and the indentation, outside of its strings. */
static void flatten(const char *s, size_t n, struct ran_buf *out)
{
        bool string = false, escaped = false, indented = false;
        size_t from = 0;

        for (size_t i = 0; i < n; i++) {
                if (string) {
                        string = escaped || s[i] != '"';
                        escaped = !escaped && s[i] == '\\';
                        continue;
                }
                string = s[i] == '"';
                const bool end = s[i] == '\n' || s[i] == '\r';
                if (end && i > from)
                        ran_buf_add(out, s + from, i - from);
                indented = end || (indented && json_is_space(s[i]));
                if (indented)
                        from = i + 1;
        }
        if (n > from)
                ran_buf_add(out, s + from, n - from);
}

/* ---- what a file is like -------------------------------------------------------------------- */

static size_t skip(const char *s, size_t n, size_t at)
{
        while (at < n && json_is_space(s[at]))
                at++;
        return at;
}

/* Behind the string at s[at]. */
static size_t string_end(const char *s, size_t n, size_t at)
{
        for (at++; at < n && s[at] != '"'; at++)
                at += s[at] == '\\';
        return at < n ? at + 1 : n;
}

/* Whether a line begins as JSON does and prose does not; at: its first brace or bracket. */
static bool begins_line(const char *line, size_t n, size_t at)
{
        bool object = false;
        size_t brackets = 0;

        while (at < n && !object && (line[at] == '[' || line[at] == '{')) {
                object = line[at] == '{';
                at = skip(line, n, at + 1);
                brackets++;
        }
        if (at == n)
                return brackets < 3;
        if (line[at] == '"') {
                at = skip(line, n, string_end(line, n, at));
                return at == n || is_one_of(line[at], object ? ":" : ",]");
        }
        if (object)
                return line[at] == '}' || line[at] == '\''; /* Python's, which went wrong */
        return line[at] == ']' && at + 1 == n;
}

/* Whether the first lines are such JSON, not JSON lines. */
static bool is_such(const struct sample *sample)
{
        struct values_scan v = {0};
        size_t end = 0, at = 0, after_n;
        const char *line = sample->s, *after;
        const size_t n = sample->first;
        const size_t begin = skip(line, n, 0);
        if (begin == n || (line[begin] != '[' && line[begin] != '{') ||
            !begins_line(line, n, begin))
                return false;
        const size_t first = skip(line, n, begin + 1);
        (void)sample_next(sample, &at, &after, &after_n);
        const bool more = sample_next_full(sample, &at, &after, &after_n);
        const char next =
                more ? after[skip(after, after_n, 0)] : '\0'; /* the first of the next line */
        if (line[begin] == '[' && first < n)
                return line[first] == '{' || line[first] == '[';
        if (line[begin] == '[')
                return next == 0 || is_one_of(next, "{[]");
        if (first == n)
                return next == 0 || next == '"' || next == '}';
        return (next == '"' || next == '}' || next == ']') &&
               !values_end(&v, line + begin, n - begin, false, &end);
}

/* ---- a table in one object, as pandas' to_json writes it ------------------------------------
 *
 *      columns   {"text": {"0": "a", "1": "b"}, "label": {"0": "x", "1": "y"}}
 *      table     {"schema": {"fields": ...}, "data": [{"index": 0, "text": "a"}, ...]}
 *
 * Columns have to be in memory to be rows, so this reads a whole file. */

/* Passes `c` and white space. */
static bool pass(const char *s, size_t n, size_t *at, char c)
{
        if (*at >= n || s[*at] != c)
                return false;
        *at = skip(s, n, *at + 1);
        return true;
}

/* Passes a name, which has its quotes, and its colon. */
static bool pass_name(const char *s, size_t n, size_t *at, struct ran_span *name)
{
        name->begin = *at;
        if (*at >= n || s[*at] != '"')
                return false;
        name->end = string_end(s, n, *at);
        *at = skip(s, n, name->end);
        return pass(s, n, at, ':');
}

bool frame_begins(const char *s, size_t n)
{
        struct ran_span name, inner;
        size_t at = skip(s, n, 0), x;

        if (!pass(s, n, &at, '{') || !pass_name(s, n, &at, &name))
                return false;
        if (ran_json_is(s, name, "data"))
                return pass(s, n, &at, '[') && at < n && s[at] == '{';
        if (!pass(s, n, &at, '{') || !pass_name(s, n, &at, &inner))
                return false;
        return ran_json_is(s, name, "schema")
                       ? ran_json_is(s, inner, "fields")
                       : ran_parse_size(s + inner.begin + 1, inner.end - inner.begin - 2, &x);
}

static void add(const char *line, struct ran_span part, struct ran_buf *out)
{
        ran_buf_add(out, line + part.begin, part.end - part.begin);
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

static bool add_lines(const struct ran_record *r, struct ran_buf *out)
{
        struct ran_items i = ran_items(r->line, r->object);
        struct ran_span data;
        size_t n = 0;

        if (ran_json_find(r->line, r->object, "data", 'a', &data, NULL)) { /* each a row */
                bool objects = true;
                for (i = ran_items(r->line, data); objects && ran_items_next(&i);) {
                        objects = i.type == 'o';
                        add(r->line, i.value, out);
                        ran_buf_char(out, '\n');
                }
                return objects;
        }
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

bool frame_lines(const char *s, size_t n, struct ran_buf *out)
{
        struct ran_buf flat = {0};
        struct ran_record r = {0};
        const size_t begin = out->len;

        flatten(s, n, &flat);
        const bool is =
                ran_record_scan(&r, flat.data != NULL ? flat.data : "", flat.len, NULL) == RAN_OK &&
                add_lines(&r, out);
        if (!is)
                out->len = begin;
        ran_record_release(&r);
        ran_buf_release(&flat);
        return is;
}

/* ---- the formats ---------------------------------------------------------------------------- */

/* Also a line of only white space and NULs, which no other format claims. */
static enum import_match guess_lines(const struct sample *sample)
{
        static const char spaces[] = " \t\n\v\f\r"; /* and NUL */
        const char *line = sample->s;
        const size_t n = sample->first;
        size_t at = 0;

        while (at < n && memchr(spaces, line[at], sizeof spaces) != NULL)
                at++;
        if (at == n)
                return IMPORT_CLEAR;
        if ((line[at] != '{' && line[at] != '[') || !begins_line(line, n, at))
                return IMPORT_UNLIKE;
        return at + 1 < n && !is_such(sample) ? IMPORT_CLEAR : IMPORT_UNLIKE;
}

static int import_line(const struct import *i, const struct text_line *text, struct ran_buf *out,
                       size_t *line, struct ran_error *err)
{
        (void)line;
        return tuple_import(i, text->s, text->n, out, err);
}

const struct import_format import_jsonl = {
        .unit = LINES_EACH,
        .any_bytes = true, /* so does the scan of the record */
        .looks_like = "JSON",
        .endings = (const char *const[]){".jsonl", ".ndjson", NULL},
        .guess = guess_lines,
        .begin = tuple_begin,
        .import = import_line,
};

static enum import_match guess(const struct sample *sample)
{
        return is_such(sample) ? IMPORT_CLEAR : IMPORT_UNLIKE;
}

static int import(const struct import *i, const struct text_line *text, struct ran_buf *out,
                  size_t *line, struct ran_error *err)
{
        struct ran_buf flat = {0};
        const size_t begin = out->len;

        (void)line;
        if (memchr(text->s, '\n', text->n) == NULL && memchr(text->s, '\r', text->n) == NULL)
                return tuple_import(i, text->s, text->n, out, err);
        flatten(text->s, text->n, &flat);
        const int rc = tuple_import(i, flat.data != NULL ? flat.data : "", flat.len, out, err);
        if (out->len == begin)
                ran_buf_add(out, flat.data, flat.len);
        ran_buf_release(&flat);
        return rc;
}

const struct import_format import_json = {
        .unit = LINES_VALUE,
        .any_bytes = true, /* the scan of the record checks them */
        .looks_like = "a JSON array, or JSON with line ends within records",
        .guess = guess,
        .begin = tuple_begin,
        .import = import,
};
