/* emit.c - output records: the input, byte for byte, with one more member. The format jsonl. */
#include "cmd/formats/output.h"

#include <string.h>

#include "cmd/formats/json.h"

/* By the name in the line, since members.c may have given the member another one; a name with an
 * escape by its decoded form. */
static bool is_named(const struct ran_record *r, const struct ran_member *m, const char *name)
{
        const char *s = r->line + m->whole.begin + 1;
        size_t n = name != NULL ? strlen(name) : 0, size = m->whole.end - m->whole.begin;

        if (name == NULL)
                return false;
        if (size > n + 1 && s[n] == '"' && memcmp(s, name, n) == 0)
                return memchr(s, '\\', n) == NULL;
        const char *quote = memchr(s, '"', size - 1);
        if (quote == NULL || memchr(s, '\\', (size_t)(quote - s)) == NULL)
                return false;
        return m->name.end - m->name.begin == n &&
               (n == 0 || memcmp(r->names.data + m->name.begin, name, n) == 0);
}

/* stale: NULL, or for an error record the name of an earlier result. An error record also drops
 * strings that cannot be decoded, so that other tools can read it. */
static bool is_dropped(const struct ran_record *r, const struct ran_member *m,
                       const struct cmd_output *how, const char *stale)
{
        for (size_t i = 0; i < how->drop.n; i++) {
                if (is_named(r, m, how->drop.item[i]))
                        return true;
        }
        return stale != NULL && (is_named(r, m, stale) || !ran_json_decodable(r->line, m->whole));
}

static void add_span(struct ran_buf *out, const struct ran_record *r, struct ran_span span)
{
        ran_buf_add(out, r->line + span.begin, span.end - span.begin);
}

/* Keeps white space, too: each member comes with the bytes before it, and the first one kept with
 * the bytes after the opening brace. */
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
                const size_t at = kept++ == 0 ? 0 : i;
                add_span(out, r,
                         (struct ran_span){at == 0 ? r->object.begin + 1 : m[-1].whole.end,
                                           r->members[at].whole.begin});
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
                ran_buf_json(out, name, strlen(name));
                ran_buf_char(out, ':');
                ran_buf_add(out, value->data, value->len);
        }
        if (r->object.end > end && end > 0)
                add_span(out, r, (struct ran_span){end, r->object.end});
        else
                ran_buf_char(out, '}');
}

static void emit(struct ran_buf *out, const struct cmd_line *line, const struct cmd_output *how,
                 const char *name, const struct ran_buf *value, const char *stale)
{
        if (how->only) {
                json_begin(out, '{');
                json_name(out, "id");
                cmd_line_id(line, stale != NULL, out);
                json_put_raw(out, name, value->data, value->len);
                json_end(out, '}');
        } else {
                emit_whole(out, &line->record.json, how, name, value, stale);
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

        json_begin(&error, '{');
        json_put_string(&error, "message", err->text, strlen(err->text));
        json_put_string(&error, "file", line->file, strlen(line->file));
        json_put_size(&error, "line", line->number);
        json_end(&error, '}');
        emit(out, line, how, "ran_error", &error, stale);
        ran_buf_release(&error);
}

const struct output_format output_jsonl = {
        .kind = OUTPUT_RECORDS, .record = emit_record, .error = emit_error};

/* ---- the table --------------------------------------------------------------------------------
 */

const struct output_format output_label_studio = {.kind = OUTPUT_TASKS};
const struct output_format output_html = {.kind = OUTPUT_PAGE};

const struct output_format *output_format_of(const struct cmd_output *output)
{
        return output->format != NULL ? output->format : &output_jsonl;
}
