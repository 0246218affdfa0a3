/* jsonl.c - a JSON object a line; or spaCy's tuple. */
#include <string.h>

#include "cmd/formats/import.h"
#include "cmd/formats/json.h"

/* The length of the prefix made of these bytes. */
static size_t skip(const char *s, size_t n, const char *bytes, size_t kinds)
{
        size_t at = 0;

        while (at < n && memchr(bytes, s[at], kinds) != NULL)
                at++;
        return at;
}

/* Whether a string at s[at] is followed by one of these bytes, or never ends. */
static bool string_before(const char *s, size_t n, size_t at, const char *bytes)
{
        for (at++; at < n && s[at] != '"'; at++)
                at += s[at] == '\\';
        at++;
        at += at < n ? skip(s + at, n - at, " \t", 2) : 0;
        return at >= n || strchr(bytes, s[at]) != NULL;
}

/* Whether a line that begins with a brace or a bracket goes on as JSON does, and prose does not:
 * "[sic]", "[[a link]]", "[ ] to do" and "{{name}}" are prose. Python's quotes are JSON that went
 * wrong. */
static bool goes_on(const char *line, size_t n, size_t at)
{
        bool object = false;

        while (at < n && !object && (line[at] == '[' || line[at] == '{')) {
                object = line[at++] == '{';
                at += skip(line + at, n - at, " \t\r", 3);
        }
        if (at == n)
                return true;
        if (line[at] == '"')
                return string_before(line, n, at, object ? ":" : ",]");
        if (object)
                return line[at] == '}' || line[at] == '\'';
        return line[at] == ']' && at + 1 == n;
}

/* Also a line of only white space and NULs, which no other format claims. */
static enum import_match guess(const struct sample *sample)
{
        static const char spaces[] = " \t\n\v\f\r"; /* and NUL */
        const char *line, *next;
        size_t begin = 0, n, more;

        if (!sample_next(sample, &begin, &line, &n))
                return IMPORT_UNLIKE;
        const size_t at = skip(line, n, spaces, sizeof(spaces));
        if (at == n)
                return IMPORT_CLEAR;
        if ((line[at] != '{' && line[at] != '[') || !goes_on(line, n, at))
                return IMPORT_UNLIKE;
        if (at + 1 < n || !sample_next_full(sample, &begin, &next, &more))
                return IMPORT_CLEAR;
        const size_t first = skip(next, more, spaces, sizeof(spaces)); /* of what is in it */
        return first < more && memchr("\"{[}]", next[first], 5) != NULL ? IMPORT_CLEAR
                                                                         : IMPORT_UNLIKE;
}

/* The two items of a tuple: a string and an object. */
static bool split_tuple(const struct ran_record *r, struct ran_span *text, struct ran_span *members)
{
        struct ran_span rest;
        char first = 0, second = 0, third;
        size_t pos = 0;

        return r->count == 1 && r->members[0].type == 'a' &&
               ran_json_next(r->line, r->members[0].value, &pos, NULL, text, &first) &&
               ran_json_next(r->line, r->members[0].value, &pos, NULL, members, &second) &&
               !ran_json_next(r->line, r->members[0].value, &pos, NULL, &rest, &third) &&
               first == 's' && second == 'o';
}

/* spaCy's ["text", {"entities": ...}] becomes {"text": "text", "entities": ...}. Anything else
 * is unchanged: the scan of the record refuses it. */
static int import_tuple(const char *s, size_t n, struct ran_buf *out, struct ran_error *err)
{
        struct ran_record r = {0};
        struct ran_buf object = {0}; /* only objects can be scanned */
        struct ran_span text, members;

        ran_buf_str(&object, "{\"\":");
        ran_buf_add(&object, s, n);
        ran_buf_char(&object, '}');
        int code = object.failed ? ran_fail(err, RAN_ENOMEM, "no memory for a line of %zu bytes", n)
                                 : ran_record_scan(&r, object.data, object.len, err);
        if (code == RAN_OK && split_tuple(&r, &text, &members)) {
                struct ran_span name, item;
                size_t pos = 0;
                char type;
                ran_buf_str(out, "{\"text\":");
                ran_buf_add(out, r.line + text.begin, text.end - text.begin);
                if (ran_json_next(r.line, members, &pos, &name, &item, &type))
                        ran_buf_char(out, ',');
                ran_buf_add(out, r.line + members.begin + 1, members.end - members.begin - 1);
        }
        ran_record_release(&r);
        ran_buf_release(&object);
        return code == RAN_ENOMEM ? code : RAN_OK;
}

static int import(const struct import *i, const struct text_line *text, struct ran_buf *out,
                  size_t *line, struct ran_error *err)
{
        size_t at = skip(text->s, text->n, " \t", 2);

        (void)i;
        (void)line;
        return at < text->n && text->s[at] == '[' ? import_tuple(text->s, text->n, out, err)
                                                  : RAN_OK;
}

const struct import_format import_jsonl = {
        .unit = LINES_EACH,
        .any_bytes = true, /* so does the scan of the record */
        .looks_like = "JSON",
        .endings = (const char *const[]){".jsonl", ".ndjson", NULL},
        .guess = guess,
        .import = import,
};
