/* record-name.c - what a page calls a record. */
#include "cmd/pages/record-name.h"

#include <string.h>

#include "cmd/pages/page.h"

enum { LONGEST = 200 };

/* A string or a number; false for all else. */
static bool add_id(struct ran_buf *out, const struct ran_record *record)
{
        const struct ran_member *id = ran_record_find(record, "id", NULL);
        struct ran_buf text = {0};
        struct ran_error err;
        bool there = false;

        if (id != NULL && id->type == 's') {
                there = ran_json_decode(record->line, id->value, &text, &err) == RAN_OK &&
                        text.len > 0;
        } else if (id != NULL && id->type == 'n') {
                ran_buf_add(&text, record->line + id->value.begin, id->value.end - id->value.begin);
                there = true;
        }
        if (there)
                page_excerpt(out, text.data, text.len, LONGEST);
        ran_buf_release(&text);
        return there;
}

void page_record_name(struct ran_buf *out, const struct ran_record *record, const char *file,
                      size_t number)
{
        bool input = strcmp(file, "-") == 0;

        if (add_id(out, record))
                return;
        if (!input)
                page_excerpt(out, file, strlen(file), LONGEST);
        ran_buf_printf(out, input ? "line %zu" : ":%zu", number);
}
