/* emit.c - records as they go out: what came in, byte for byte, and one member more. */
#include "cmd/records/emit.h"

#include <string.h>

static bool is_named(const struct ran_record *r, const struct ran_member *m, const char *name)
{
        size_t n = m->name.end - m->name.begin;

        return name != NULL && strlen(name) == n &&
               (n == 0 || memcmp(r->names.data + m->name.begin, name, n) == 0);
}

/* stale: NULL, or in an error record the result that would be out of date. What cannot be decoded
 * is left out of an error record, too, so that whoever looks into it can. */
static bool is_dropped(const struct ran_record *r, const struct ran_member *m,
                       const struct cmd_output *how, const char *stale)
{
        for (size_t i = 0; i < how->drop.n; i++) {
                if (is_named(r, m, how->drop.item[i]))
                        return true;
        }
        return stale != NULL && (is_named(r, m, stale) || !ran_json_decodable(r->line, m->whole));
}

static void add_member(struct ran_buf *out, const char *name, const struct ran_buf *value)
{
        ran_buf_json(out, name, strlen(name));
        ran_buf_char(out, ':');
        ran_buf_add(out, value->data, value->len);
}

static void add_span(struct ran_buf *out, const struct ran_record *r, struct ran_span span)
{
        ran_buf_add(out, r->line + span.begin, span.end - span.begin);
}

/* What stands before the i-th member: white space and, after the first, a comma. */
static struct ran_span gap_before(const struct ran_record *r, size_t i)
{
        return (struct ran_span){i == 0 ? r->object.begin + 1 : r->members[i - 1].whole.end,
                                 r->members[i].whole.begin};
}

/* White space stays, too: a member brings along what stands before it, the first that is kept what
 * stands behind the opening brace. */
static void emit_whole(struct ran_buf *out, const struct ran_record *r,
                       const struct cmd_output *how, const char *name, const struct ran_buf *value,
                       const char *stale)
{
        size_t kept = 0, end = 0;
        bool placed = false;

        ran_buf_char(out, '{');
        for (size_t i = 0; i < r->count; i++) {
                const struct ran_member *m = &r->members[i];
                bool result = is_named(r, m, name);

                end = m->whole.end;
                if (result ? placed : is_dropped(r, m, how, stale))
                        continue;
                add_span(out, r, gap_before(r, kept++ == 0 ? 0 : i));
                if (result) {
                        add_span(out, r, (struct ran_span){m->whole.begin, m->value.begin});
                        ran_buf_add(out, value->data, value->len);
                        placed = true;
                } else {
                        add_span(out, r, m->whole);
                }
        }
        if (!placed) {
                ran_buf_str(out, kept > 0 ? "," : "");
                add_member(out, name, value);
        }
        if (r->object.end > end && end > 0)
                add_span(out, r, (struct ran_span){end, r->object.end});
        else
                ran_buf_char(out, '}');
}

/* A record without an id is called by its place; null is none, and in an error record (readable),
 * what cannot be decoded. */
static void emit_id(struct ran_buf *out, const struct cmd_line *line, bool readable)
{
        const struct ran_record *r = &line->record;
        const struct ran_member *id = ran_record_find(r, "id", NULL);
        struct ran_buf place = {0};

        ran_buf_str(out, "\"id\":");
        if (id != NULL && id->type != '0' &&
            !(readable && !ran_json_decodable(r->line, id->value))) {
                add_span(out, r, id->value);
                return;
        }
        ran_buf_printf(&place, "%s:%zu", line->file, line->number);
        ran_buf_json(out, place.data, place.len);
        out->failed |= place.failed;
        ran_buf_release(&place);
}

static void emit(struct ran_buf *out, const struct cmd_line *line, const struct cmd_output *how,
                 const char *name, const struct ran_buf *value, const char *stale)
{
        if (how->only) {
                ran_buf_char(out, '{');
                emit_id(out, line, stale != NULL);
                ran_buf_char(out, ',');
                add_member(out, name, value);
                ran_buf_char(out, '}');
        } else {
                emit_whole(out, &line->record, how, name, value, stale);
        }
        ran_buf_char(out, '\n');
}

void emit_record(struct ran_buf *out, const struct cmd_line *line, const struct cmd_output *how,
                 const char *name, const struct ran_buf *value)
{
        emit(out, line, how, name, value, NULL);
}

void emit_error(struct ran_buf *out, const struct cmd_line *line, const struct cmd_output *how,
                const char *stale, const struct ran_error *err)
{
        struct ran_buf error = {0};

        ran_buf_str(&error, "{\"message\":");
        ran_buf_json(&error, err->text, strlen(err->text));
        ran_buf_str(&error, ",\"file\":");
        ran_buf_json(&error, line->file, strlen(line->file));
        ran_buf_printf(&error, ",\"line\":%zu}", line->number);
        emit(out, line, how, "ran_error", &error, stale);
        out->failed |= error.failed;
        ran_buf_release(&error);
}
