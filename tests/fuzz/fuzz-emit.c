/* Any bytes as a line that goes out again with a result: every member that was there is there
 * still, byte for byte and in order, but for those to be dropped; and of a bad line what could be
 * read of it, as a record that can be read. The first byte says how. */
#include <stdlib.h>
#include <string.h>

#include "cmd/formats/output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char into[] = "lm";

static bool is_named(const struct ran_record *r, const struct ran_member *m, const char *name)
{
        return m->name.end - m->name.begin == strlen(name) &&
               memcmp(r->names.data + m->name.begin, name, strlen(name)) == 0;
}

static void check_same(const struct ran_record *a, struct ran_span x, const struct ran_record *b,
                       struct ran_span y)
{
        if (x.end - x.begin != y.end - y.begin ||
            memcmp(a->line + x.begin, b->line + y.begin, x.end - x.begin) != 0)
                abort();
}

/* value: what member `into` is to be. */
static void check_members(const struct ran_record *was, const struct ran_record *is,
                          const char *dropped, const struct ran_buf *value)
{
        const struct ran_record expected = {.line = value->data};
        size_t at = 0;
        bool placed = false;

        for (size_t i = 0; i < was->count; i++) {
                const struct ran_member *m = &was->members[i];
                bool result = is_named(was, m, into);

                if (result ? placed : dropped != NULL && is_named(was, m, dropped))
                        continue;
                if (at == is->count)
                        abort();
                if (result)
                        check_same(&expected, (struct ran_span){0, value->len}, is,
                                   is->members[at++].value);
                else
                        check_same(was, m->whole, is, is->members[at++].whole);
                placed |= result;
        }
        if (!placed && (at == is->count || !is_named(is, &is->members[at++], into)))
                abort();
        if (at != is->count)
                abort();
}

static void scan(struct ran_record *r, const struct ran_buf *out)
{
        if (out->len == 0 || out->data[out->len - 1] != '\n' ||
            memchr(out->data, '\n', out->len - 1) != NULL ||
            ran_record_scan(r, out->data, out->len - 1, NULL) != RAN_OK)
                abort();
}

static void check_good(const struct cmd_line *line, const struct cmd_output *how)
{
        struct ran_buf value = {0}, out = {0}, again = {0};
        struct cmd_line next = *line;

        next.record = (struct record){0};
        ran_buf_str(&value, "{\"nll\":[0.5]}");
        emit_record(&out, line, how, into, &value);
        scan(&next.record.json, &out);
        if (!how->only) {
                check_members(&line->record.json, &next.record.json,
                              how->drop.n > 0 ? how->drop.item[0] : NULL, &value);
                emit_record(&again, &next, how, into, &value);
                if (again.len != out.len || memcmp(again.data, out.data, out.len) != 0)
                        abort();
        }
        record_release(&next.record);
        ran_buf_release(&value);
        ran_buf_release(&out);
        ran_buf_release(&again);
}

static void check_bad(const struct cmd_line *line, const struct cmd_output *how,
                      const struct ran_error *err)
{
        struct ran_record again = {0};
        struct ran_buf out = {0};

        emit_error(&out, line, how, into, err);
        scan(&again, &out);
        const struct ran_member *error = ran_record_find(&again, "ran_error", NULL);
        if (error == NULL || error->type != 'o' || again.count > line->record.json.count + 2 ||
            (!how->only && !ran_json_decodable(again.line, again.object)))
                abort();
        ran_record_release(&again);
        ran_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char *dropped[] = {"text"};
        struct cmd_line line = {.file = "caf\xc3\xa9 \"1\"\n", .number = 7};
        struct ran_error err = {0};

        if (size < 1 || memchr(data + 1, '\n', size - 1) != NULL)
                return -1; /* a line has none */
        const struct cmd_output how = {.only = data[0] & 1,
                                       .drop = {.item = dropped, .n = data[0] >> 1 & 1}};
        int rc = record_scan(&line.record, (const char *)data + 1, size - 1, &err);
        if (rc == RAN_OK)
                check_good(&line, &how);
        else if (err.text[0] == '\0')
                abort();
        if (rc != RAN_OK || data[0] & 4)
                check_bad(&line, &how, &err);
        record_release(&line.record);
        return 0;
}
