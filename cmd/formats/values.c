/* values.c - JSON that is no JSON lines: records in an array, or with line ends within.
 *
 * Values are found by counting brackets, so that a file of any size is read one value at a time.
 * The scan of each record says whether it is JSON.
 */

#include <string.h>

#include "cmd/formats/import.h"

static bool is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_one_of(char c, const char *bytes)
{
        return c != '\0' && strchr(bytes, c) != NULL;
}

/* ---- where values are ----------------------------------------------------------------------- */

size_t values_skip(struct values_scan *v, const char *s, size_t n, size_t at)
{
        while (at < n && (is_space(s[at]) || s[at] == ',' || (v->array && s[at] == ']') ||
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

void values_flatten(const char *s, size_t n, struct ran_buf *out)
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
                indented = end || (indented && is_space(s[i]));
                if (indented)
                        from = i + 1;
        }
        if (n > from)
                ran_buf_add(out, s + from, n - from);
}

/* ---- what a file is like -------------------------------------------------------------------- */

static size_t skip(const char *s, size_t n, size_t at)
{
        while (at < n && is_space(s[at]))
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

bool values_begin_line(const char *line, size_t n, size_t at)
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

/* The first byte of the next line that is not blank; 0 without one. */
static char next_first(const struct sample *sample, size_t at)
{
        const char *line;
        size_t n;

        if (!sample_next_full(sample, &at, &line, &n))
                return 0;
        return line[skip(line, n, 0)];
}

bool values_guess(const struct sample *sample)
{
        struct values_scan v = {0};
        size_t at = 0, end = 0, n;
        const char *line;

        if (!sample_next(sample, &at, &line, &n))
                return false;
        const size_t begin = skip(line, n, 0);
        if (begin == n || (line[begin] != '[' && line[begin] != '{') ||
            !values_begin_line(line, n, begin))
                return false;
        const size_t first = skip(line, n, begin + 1);
        const char next = next_first(sample, at);
        if (line[begin] == '[' && first < n)
                return line[first] == '{' || line[first] == '[';
        if (line[begin] == '[')
                return next == 0 || is_one_of(next, "{[]");
        if (first == n)
                return next == 0 || next == '"' || next == '}';
        return (next == '"' || next == '}' || next == ']') &&
               !values_end(&v, line + begin, n - begin, false, &end);
}

/* ---- the format ----------------------------------------------------------------------------- */

static enum import_match guess(const struct sample *sample)
{
        return values_guess(sample) ? IMPORT_CLEAR : IMPORT_UNLIKE;
}

static int import(const struct import *i, const struct text_line *text, struct ran_buf *out,
                  size_t *line, struct ran_error *err)
{
        struct ran_buf flat = {0};
        const size_t begin = out->len;

        (void)line;
        (void)err;
        if (memchr(text->s, '\n', text->n) == NULL && memchr(text->s, '\r', text->n) == NULL) {
                tuple_import(i, text->s, text->n, out);
                return RAN_OK;
        }
        values_flatten(text->s, text->n, &flat);
        tuple_import(i, flat.data != NULL ? flat.data : "", flat.len, out);
        if (out->len == begin)
                ran_buf_add(out, flat.data, flat.len);
        ran_buf_release(&flat);
        return RAN_OK;
}

const struct import_format import_json = {
        .unit = LINES_VALUE,
        .any_bytes = true, /* the scan of the record checks them */
        .looks_like = "a JSON array, or JSON with line ends within records",
        .guess = guess,
        .begin = tuple_begin,
        .import = import,
};
