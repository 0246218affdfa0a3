/* cells.c - cells of a table as the numbers and lists that they are. A reader gets strings of all
 * of them, and would take ["a", "b"] for a label. */
#include "cmd/records/cells.h"

#include <string.h>

#include "cmd/formats/literal.h"

bool cells_are_lists(const char *name, size_t n)
{
        static const char *const lists[] = {
                "tokens",      "ids",        "tags",    "ner_tags", "spans",     "entities",
                "annotations", "accept",     "options", "cats",     "encoding",  "segments",
                "masked_at",   "masked_ids", "labels",  "label",    "prediction"};

        for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
                if (strlen(lists[i]) == n && memcmp(lists[i], name, n) == 0)
                        return true;
        return false;
}

int cells_read_list(struct ran_record *r, struct ran_member *cell, struct ran_buf *line,
                    struct ran_error *err)
{
        const size_t begin = cell->value.begin, end = cell->value.end;
        struct ran_buf text = {0};
        bool is = false;

        if (cell->type != 's' || !literal_begins(r->line + begin + 1, end - begin - 2))
                return RAN_OK;
        int rc = ran_json_decode(r->line, cell->value, &text, err);
        const size_t from = line->len;
        if (rc == RAN_OK)
                rc = literal_json(text.data, text.len, line, &is, err);
        ran_buf_release(&text);
        if (rc == RAN_OK && line->failed)
                rc = ran_fail(err, RAN_ENOMEM, "no memory for a cell of %zu bytes", end - begin);
        if (rc != RAN_OK || !is)
                return rc;
        r->line = line->data; /* it may have moved */
        cell->value = (struct ran_span){from, line->len};
        cell->type = line->data[from] == '[' ? 'a' : 'o';
        return RAN_OK;
}

void cells_read_number(const struct ran_record *r, struct ran_member *cell)
{
        const char *s = r->line + cell->value.begin + 1;
        size_t n = cell->value.end - cell->value.begin - 2, x;

        if (cell->type == 's' && n > 0 &&
            ((ran_parse_size(s, n, &x) && (n == 1 || *s != '0')) ||
             (n == 2 && memcmp(s, "-1", 2) == 0))) {
                cell->type = 'n';
                cell->value = (struct ran_span){cell->value.begin + 1, cell->value.end - 1};
        }
}
