/* Any bytes as a record: refused with a sentence, or members that lie inside the line and can be
 * decoded, walked and written again; numbers are those that the C library reads. */
#include <math.h>
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

static void check_number(const char *s, size_t n)
{
        char *text = strndup(s, n);
        struct ran_buf shortest = {0};
        double x, y = text != NULL ? strtod(text, NULL) : NAN; /* the locale is C here */

        free(text);
        if (ran_parse_double(s, n, &x) != isfinite(y))
                abort();
        if (!isfinite(y))
                return;
        if (memcmp(&x, &y, sizeof x) != 0)
                abort();
        ran_buf_double(&shortest, x);
        if (!ran_parse_double(shortest.data, shortest.len, &y) || y != x)
                abort();
        shortest.len = 0;
        ran_buf_float(&shortest, (float)x);
        if (isfinite((float)x) &&
            (!ran_parse_double(shortest.data, shortest.len, &y) || (float)y != (float)x))
                abort();
        ran_buf_release(&shortest);
}

static void check_value(const char *line, struct ran_span value, char type)
{
        if (type == 's')
                check_string(line, value);
        if (type == 'n')
                check_number(line + value.begin, value.end - value.begin);
        if (type != 'o' && type != 'a')
                return;
        for (struct ran_items i = ran_items(line, value); ran_items_next(&i);) {
                const struct ran_span item = i.value;
                if (item.begin < value.begin || item.end > value.end || item.begin >= item.end)
                        abort();
                if (i.type == 's')
                        check_string(line, item);
                if (i.type == 'n')
                        check_number(line + item.begin, item.end - item.begin);
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
