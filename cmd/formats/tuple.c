/* tuple.c - JSON of other tools that is no record: spaCy's pairs, and Label Studio's tasks.
 *
 * Each becomes a record with members of ran before those that it has:
 *
 *      ["text", {"entities": ...}]                     {"text": "text", "entities": ...}
 *      {"data": {"text": "a"}, "annotations": ...}     {"text": "a", "label": "x", "data": ...
 */
#include "cmd/formats/tuple.h"

#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/formats/record.h"

/* ---- spaCy ---------------------------------------------------------------------------------- */

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

/* The members of an object behind those that `out` has. */
static void add_members(const char *line, struct ran_span object, struct ran_buf *out)
{
        struct ran_span name, item;
        size_t pos = 0;
        char type;

        if (ran_json_next(line, object, &pos, &name, &item, &type))
                ran_buf_char(out, ',');
        ran_buf_add(out, line + object.begin + 1, object.end - object.begin - 1);
}

static int import_pair(const char *s, size_t n, struct ran_buf *out, struct ran_error *err)
{
        struct ran_record r = {0};
        struct ran_buf object = {0}; /* only objects can be scanned */
        struct ran_span text, members;

        ran_buf_str(&object, "{\"\":");
        ran_buf_add(&object, s, n);
        ran_buf_char(&object, '}');
        int rc = object.failed ? ran_fail(err, RAN_ENOMEM, "no memory for a line of %zu bytes", n)
                               : ran_record_scan(&r, object.data, object.len, err);
        if (rc == RAN_OK && split_tuple(&r, &text, &members)) {
                ran_buf_str(out, "{\"text\":");
                ran_buf_add(out, r.line + text.begin, text.end - text.begin);
                add_members(r.line, members, out);
        }
        ran_record_release(&r);
        ran_buf_release(&object);
        return rc == RAN_ENOMEM ? rc : RAN_OK;
}

/* ---- Label Studio --------------------------------------------------------------------------- */

static bool is_named(const char *line, struct ran_span name, const char *text)
{
        size_t n = strlen(text);

        return name.end - name.begin == n + 2 && memcmp(line + name.begin + 1, text, n) == 0;
}

/* The first member of that name and type in an object. */
static bool find(const char *line, struct ran_span object, const char *wanted, char type,
                 struct ran_span *value)
{
        struct ran_span name;
        size_t pos = 0;
        char is;

        while (ran_json_next(line, object, &pos, &name, value, &is))
                if (is == type && is_named(line, name, wanted))
                        return true;
        return false;
}

static const struct ran_member *annotations_of(const struct ran_record *r)
{
        const struct ran_member *m = json_member(r, "annotations");

        return m != NULL ? m : json_member(r, "completions");
}

static bool is_task(const struct ran_record *r)
{
        const struct ran_member *data = json_member(r, "data"), *list = annotations_of(r);

        return data != NULL && data->type == 'o' && list != NULL && list->type == 'a';
}

/* Finds the text of a task: the one with the most usual name, else the first. */
static bool find_text(const char *line, struct ran_span data, struct ran_span *text)
{
        size_t pos = 0, rank, lowest = SIZE_MAX;
        struct ran_span name, item;
        bool any = false;
        char type;

        while (ran_json_next(line, data, &pos, &name, &item, &type)) {
                if (type != 's')
                        continue;
                const enum role role =
                        role_of(line + name.begin + 1, name.end - name.begin - 2, &rank);
                if (role != ROLE_TEXT)
                        rank = SIZE_MAX - 1;
                if (!any || rank < lowest) {
                        lowest = rank;
                        *text = item;
                }
                any = true;
        }
        return any;
}

/* The results of the first annotation that was not cancelled. */
static bool find_results(const char *line, struct ran_span list, struct ran_span *results)
{
        struct ran_span item, cancelled;
        size_t pos = 0;
        char type;

        while (ran_json_next(line, list, &pos, NULL, &item, &type))
                if (type == 'o' && !find(line, item, "was_cancelled", 't', &cancelled) &&
                    find(line, item, "result", 'a', results))
                        return true;
        return false;
}

static void add_raw(const char *line, struct ran_span item, struct ran_buf *out)
{
        json_raw(out, line + item.begin, item.end - item.begin);
}

/* The choices of a result, and its spans: one for each label. */
static void add_result(const char *line, struct ran_span value, struct ran_buf *labels,
                       struct ran_buf *spans, size_t *n)
{
        struct ran_span choices, start, end, item;
        size_t pos = 0;
        char type;

        if (find(line, value, "choices", 'a', &choices))
                while (ran_json_next(line, choices, &pos, NULL, &item, &type)) {
                        add_raw(line, item, labels);
                        ++*n;
                }
        if (!find(line, value, "labels", 'a', &choices) ||
            !find(line, value, "start", 'n', &start) || !find(line, value, "end", 'n', &end))
                return;
        for (pos = 0; ran_json_next(line, choices, &pos, NULL, &item, &type);) {
                json_begin(spans, '{');
                json_name(spans, "start");
                add_raw(line, start, spans);
                json_name(spans, "end");
                add_raw(line, end, spans);
                json_name(spans, "label");
                add_raw(line, item, spans);
                json_end(spans, '}');
        }
}

/* A single choice is a label; without any, a task marks spans, or nothing. */
static void add_results(const char *line, struct ran_span results, struct ran_buf *out)
{
        struct ran_buf labels = {0}, spans = {0};
        struct ran_span item, value;
        size_t pos = 0, n = 0;
        char type;

        while (ran_json_next(line, results, &pos, NULL, &item, &type))
                if (type == 'o' && find(line, item, "value", 'o', &value))
                        add_result(line, value, &labels, &spans, &n);
        if (n > 0) { /* a list of one is a label, where all are */
                json_name(out, "label");
                json_begin(out, '[');
                json_raw(out, labels.data, labels.len);
                json_end(out, ']');
        }
        json_name(out, "spans");
        json_begin(out, '[');
        if (spans.len > 0)
                json_raw(out, spans.data, spans.len);
        json_end(out, ']');
        out->failed |= labels.failed | spans.failed;
        ran_buf_release(&labels);
        ran_buf_release(&spans);
}

static int import_task(const char *s, size_t n, struct ran_buf *out, struct ran_error *err)
{
        struct ran_record r = {0};
        struct ran_span text, results;
        int rc = ran_record_scan(&r, s, n, err);

        if (rc == RAN_OK && is_task(&r) && find_text(s, json_member(&r, "data")->value, &text)) {
                json_begin(out, '{');
                json_name(out, "text");
                add_raw(s, text, out);
                if (find_results(s, annotations_of(&r)->value, &results))
                        add_results(s, results, out);
                add_members(s, r.object, out);
        }
        ran_record_release(&r);
        return rc == RAN_ENOMEM ? rc : RAN_OK;
}

/* ---- either --------------------------------------------------------------------------------- */

int tuple_begin(struct import *i, const struct text_line *first, struct ran_error *err)
{
        struct ran_record r = {0};
        int rc = ran_record_scan(&r, first->s, first->n, err);
        const bool task = rc == RAN_OK && is_task(&r);

        ran_record_release(&r);
        if (!task)
                return rc == RAN_ENOMEM ? rc : RAN_OK;
        i->state = ran_alloc(1, 1, err);
        return i->state != NULL ? RAN_OK : RAN_ENOMEM;
}

int tuple_import(const struct import *i, const char *s, size_t n, struct ran_buf *out,
                 struct ran_error *err)
{
        size_t at = 0;

        while (at < n && (s[at] == ' ' || s[at] == '\t'))
                at++;
        if (at < n && s[at] == '[')
                return import_pair(s, n, out, err);
        return i->state != NULL ? import_task(s, n, out, err) : RAN_OK;
}
