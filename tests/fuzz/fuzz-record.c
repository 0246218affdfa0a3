/* Any bytes as a record: refused with a sentence, or members that lie inside the line and can be
 * decoded, walked and written again. */
#include <stdlib.h>
#include <string.h>

#include "ran.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was decoded and written must decode to the same. */
static void check_string(const char *line, struct ran_span value)
{
        struct ran_buf text = {0}, again = {0}, back = {0};

        if (ran_json_decode(line, value, &text, NULL) == RAN_OK) {
                ran_buf_json(&again, text.data, text.len);
                if (ran_json_decode(again.data, (struct ran_span){0, again.len}, &back, NULL) !=
                            RAN_OK ||
                    back.len != text.len ||
                    (text.len > 0 && memcmp(back.data, text.data, text.len) != 0))
                        abort();
        }
        ran_buf_release(&text);
        ran_buf_release(&again);
        ran_buf_release(&back);
}

static void check_value(const char *line, struct ran_span value, char type)
{
        struct ran_span name = {0, 0}, item;
        size_t pos = 0;
        double x;

        if (type == 's')
                check_string(line, value);
        if (type == 'n')
                ran_parse_double(line + value.begin, value.end - value.begin, &x);
        if (type != 'o' && type != 'a')
                return;
        while (ran_json_next(line, value, &pos, &name, &item, &type)) {
                if (item.begin < value.begin || item.end > value.end || item.begin >= item.end)
                        abort();
                if (type == 's')
                        check_string(line, item);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *line = (const char *)data;
        struct ran_record r = {0};
        struct ran_error err = {0};

        if (ran_record_scan(&r, line, size, &err) != RAN_OK && err.text[0] == '\0')
                abort();
        for (size_t i = 0; i < r.count; i++) {
                if (r.members[i].whole.end > size || r.members[i].name.end > r.names.len)
                        abort();
                check_value(line, r.members[i].value, r.members[i].type);
        }
        ran_record_release(&r);
        return 0;
}
