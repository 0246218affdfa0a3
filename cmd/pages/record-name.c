/* record-name.c - what a page calls a record. */
#include "cmd/pages/record-name.h"

#include <string.h>

#include "cmd/pages/page.h"

enum { LONGEST = 200 };

/* A string or a number; false for all else. */
static bool add_id(struct ran_buf *out, const struct ran_record *record)
{
        const struct ran_member *id = ran_record_find(record, "id", NULL);
        const size_t before = out->len;
        struct ran_error err;

        if (id != NULL && id->type == 's')
                return ran_json_decode(record->line, id->value, out, &err) == RAN_OK &&
                       out->len > before;
        if (id != NULL && id->type == 'n')
                ran_buf_add(out, record->line + id->value.begin, id->value.end - id->value.begin);
        return id != NULL && id->type == 'n';
}

void record_name(struct ran_buf *out, const struct ran_record *record, const char *file,
                 size_t number)
{
        const size_t before = out->len;

        if (add_id(out, record))
                return;
        out->len = before;
        if (strcmp(file, "-") == 0)
                ran_buf_printf(out, "line %zu", number);
        else
                ran_buf_printf(out, "%s:%zu", file, number);
}

void page_record_name(struct ran_buf *out, const struct ran_record *record, const char *file,
                      size_t number)
{
        struct ran_buf name = {0};

        record_name(&name, record, file, number);
        page_excerpt(out, name.data, name.len, LONGEST);
        out->failed |= name.failed;
        ran_buf_release(&name);
}
