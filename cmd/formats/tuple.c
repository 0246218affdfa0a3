/* tuple.c - JSON of other tools that is no record: spaCy's pairs, and Label Studio's tasks.
 *
 * Each becomes a record with members of ran before those that it has:
 *
 *      ["text", {"entities": ...}]                     {"text": "text", "entities": ...}
 *      {"data": {"text": "a"}, "annotations": ...}     {"text": "a", "label": "x", "data": ...
 */
#include "cmd/formats/import.h"

#include "cmd/formats/json.h"
#include "cmd/formats/record.h"

static void add_raw(const char *line, struct ran_span item, struct ran_buf *out)
{
        json_raw(out, line + item.begin, item.end - item.begin);
}

/* The members of an object behind those that `out` has. */
static void add_members(const char *line, struct ran_span object, struct ran_buf *out)
{
        struct ran_items i = ran_items(line, object);

        if (ran_items_next(&i))
                ran_buf_char(out, ',');
        ran_buf_add(out, line + object.begin + 1, object.end - object.begin - 1);
}

/* ---- spaCy ---------------------------------------------------------------------------------- */

/* A list of two items, a string and an object. */
static void import_pair(const char *s, size_t n, struct ran_buf *out)
{
        struct ran_record r = {0};
        struct ran_buf room = {0};
        struct ran_items text = {0}, members, rest;
        bool pair = json_scan_value(&r, &room, s, n, &text) && ran_items_next(&text) &&
                    text.type == 's';

        members = text;
        pair = pair && ran_items_next(&members) && members.type == 'o';
        rest = members;
        if (pair && !ran_items_next(&rest)) {
                ran_buf_str(out, "{\"text\":");
                add_raw(r.line, text.value, out);
                add_members(r.line, members.value, out);
        }
        ran_record_release(&r);
        ran_buf_release(&room);
}

/* ---- Label Studio --------------------------------------------------------------------------- */

/* The list of annotations of a task; NULL: it is none. */
static const struct ran_member *annotations_of(const struct ran_record *r)
{
        const struct ran_member *data = json_member(r, "data");
        const struct ran_member *list = json_member(r, "annotations");

        return data != NULL && data->type == 'o' && list != NULL && list->type == 'a' ? list : NULL;
}

/* Finds the text of a task: the one with the most usual name, else the first. */
static bool find_text(const char *line, struct ran_span data, struct ran_span *text)
{
        size_t rank, lowest = SIZE_MAX;

        for (struct ran_items i = ran_items(line, data); ran_items_next(&i);) {
                if (i.type != 's')
                        continue;
                if (role_of(line + i.name.begin + 1, i.name.end - i.name.begin - 2, &rank) !=
                    ROLE_TEXT)
                        rank = SIZE_MAX - 1;
                if (rank < lowest) {
                        lowest = rank;
                        *text = i.value;
                }
        }
        return lowest < SIZE_MAX;
}

/* The results of the first annotation that was not cancelled. */
static bool find_results(const char *line, struct ran_span list, struct ran_span *results)
{
        struct ran_span cancelled;

        for (struct ran_items i = ran_items(line, list); ran_items_next(&i);)
                if (!ran_json_find(line, i.value, "was_cancelled", 't', &cancelled, NULL) &&
                    ran_json_find(line, i.value, "result", 'a', results, NULL))
                        return true;
        return false;
}

/* The choices of a result, and its spans: one for each label. */
static int add_result(const char *line, struct ran_span value, struct ran_buf *labels,
                      struct ran_buf *spans, struct ran_error *err)
{
        static const char *const others[] = {"hypertextlabels", "paragraphlabels"};
        struct ran_span list, start, end;

        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
                if (ran_json_find(line, value, others[i], 'a', &list, NULL))
                        return ran_fail(err, RAN_EFORMAT,
                                        "the task has \"%s\", which mark no plain text and are not "
                                        "read: label texts (Text and Labels)",
                                        others[i]);
        if (ran_json_find(line, value, "choices", 'a', &list, NULL))
                for (struct ran_items i = ran_items(line, list); ran_items_next(&i);)
                        add_raw(line, i.value, labels);
        if (!ran_json_find(line, value, "labels", 'a', &list, NULL) ||
            !ran_json_find(line, value, "start", 'n', &start, NULL) ||
            !ran_json_find(line, value, "end", 'n', &end, NULL))
                return RAN_OK;
        for (struct ran_items i = ran_items(line, list); ran_items_next(&i);) {
                json_begin(spans, '{');
                json_name(spans, "start");
                add_raw(line, start, spans);
                json_name(spans, "end");
                add_raw(line, end, spans);
                json_name(spans, "label");
                add_raw(line, i.value, spans);
                json_end(spans, '}');
        }
        return RAN_OK;
}

/* A single choice is a label; without any, a task marks spans, or nothing. */
static int add_results(const char *line, struct ran_span results, struct ran_buf *out,
                       struct ran_error *err)
{
        struct ran_buf labels = {0}, spans = {0};
        struct ran_span value;
        int rc = RAN_OK;

        for (struct ran_items i = ran_items(line, results); rc == RAN_OK && ran_items_next(&i);)
                if (ran_json_find(line, i.value, "value", 'o', &value, NULL))
                        rc = add_result(line, value, &labels, &spans, err);
        if (labels.len > 0) { /* a list of one is a label, where all are */
                json_name(out, "label");
                json_begin(out, '[');
                json_raw(out, labels.data, labels.len);
                json_end(out, ']');
        }
        json_name(out, "spans");
        json_begin(out, '[');
        json_raw(out, spans.data, spans.len);
        json_end(out, ']');
        ran_buf_release(&labels);
        ran_buf_release(&spans);
        return rc;
}

static int import_task(const char *s, size_t n, struct ran_buf *out, struct ran_error *err)
{
        struct ran_record r = {0};
        int rc = RAN_OK;
        struct ran_span text, results;
        const struct ran_member *list = NULL;

        if (ran_record_scan(&r, s, n, NULL) == RAN_OK)
                list = annotations_of(&r);
        if (list != NULL && find_text(s, json_member(&r, "data")->value, &text)) {
                json_begin(out, '{');
                json_name(out, "text");
                add_raw(s, text, out);
                if (find_results(s, list->value, &results))
                        rc = add_results(s, results, out, err);
                add_members(s, r.object, out);
        }
        ran_record_release(&r);
        return rc;
}

bool tuple_is_bare(const struct ran_record *r)
{
        const struct ran_member *list = annotations_of(r);
        struct ran_span results;

        return list != NULL && !find_results(r->line, list->value, &results);
}

/* ---- either --------------------------------------------------------------------------------- */

int tuple_begin(struct import *i, const struct text_line *first, struct ran_error *err)
{
        struct ran_record r = {0};

        (void)err;
        if (ran_record_scan(&r, first->s, first->n, NULL) == RAN_OK && annotations_of(&r) != NULL)
                i->state = ran_new(1, 1);
        ran_record_release(&r);
        return RAN_OK;
}

int tuple_import(const struct import *i, const char *s, size_t n, struct ran_buf *out,
                 struct ran_error *err)
{
        size_t at = 0;

        while (at < n && (s[at] == ' ' || s[at] == '\t'))
                at++;
        if (at < n && s[at] == '[')
                import_pair(s, n, out);
        else if (i->state != NULL)
                return import_task(s, n, out, err);
        return RAN_OK;
}
