/* literal.c - a list or an object in a cell of a table, as JSON.
 *
 * pandas writes lists into cells as Python prints them. A pass over the bytes turns Python's
 * quotes, words and brackets into those of JSON and adds the commas that NumPy leaves out; the scan
 * of records then says whether that is JSON.
 */
#include "cmd/formats/import.h"

#include <string.h>

#include "cmd/formats/json.h"

bool literal_begins(const char *s, size_t n)
{
        size_t at = 0;

        while (at < n && json_is_space(s[at]))
                at++;
        return at < n && s[at] != '\0' && strchr("[({", s[at]) != NULL;
}

/* A character after a backslash. False for one that JSON cannot have. */
static bool add_escaped(const char *s, size_t n, size_t *at, struct ran_buf *out)
{
        const char c = s[*at];

        if (c == 'U' || c == 'N' || (c == 'x' && n - *at < 3))
                return false;
        if (c == 'x') {
                ran_buf_str(out, "\\u00");
                ran_buf_add(out, s + *at + 1, 2);
                *at += 2;
        } else if (c == '\'') {
                ran_buf_char(out, c);
        } else {
                if (c == '\0' || strchr("\"\\/bfnrtu", c) == NULL) /* Python keeps the backslash */
                        ran_buf_char(out, '\\');
                ran_buf_char(out, '\\');
                ran_buf_char(out, c);
        }
        ++*at;
        return true;
}

/* The string whose quote is at *at. */
static bool add_string(const char *s, size_t n, size_t *at, struct ran_buf *out)
{
        const char quote = s[(*at)++];

        ran_buf_char(out, '"');
        while (*at < n && s[*at] != quote) {
                if (s[*at] == '\\' && *at + 1 < n) {
                        ++*at;
                        if (!add_escaped(s, n, at, out))
                                return false;
                } else {
                        ran_buf_json_part(out, s + *at, 1);
                        ++*at;
                }
        }
        ran_buf_char(out, '"');
        return (*at)++ < n;
}

/* A number or a word. */
static bool add_word(const char *s, size_t n, size_t *at, struct ran_buf *out)
{
        static const char *const words[][2] = {
                {"True", "true"}, {"False", "false"}, {"None", "null"}, {"nan", "null"},
                {"true", "true"}, {"false", "false"}, {"null", "null"}, {"NaN", "null"}};
        const size_t begin = *at;
        double x;

        while (*at < n && !json_is_space(s[*at]) &&
               (s[*at] == '\0' || strchr("[](){},:'\"", s[*at]) == NULL))
                ++*at;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
                if (strlen(words[i][0]) == *at - begin &&
                    memcmp(words[i][0], s + begin, *at - begin) == 0) {
                        ran_buf_str(out, words[i][1]);
                        return true;
                }
        }
        if (*at == begin || !ran_parse_double(s + begin, *at - begin, &x))
                return false;
        ran_buf_add(out, s + begin, *at - begin - (s[*at - 1] == '.'));
        return true;
}

static bool convert(const char *s, size_t n, struct ran_buf *out)
{
        bool value = false; /* one has ended */
        const size_t begin = out->len;

        for (size_t at = 0; at < n;) {
                const char c = s[at];
                if (json_is_space(c)) {
                        at++;
                } else if (c == ',' || c == ':') {
                        ran_buf_char(out, c);
                        value = false;
                        at++;
                } else if (c == ']' || c == ')' || c == '}') {
                        if (out->len > begin && out->data[out->len - 1] == ',')
                                out->len--;
                        ran_buf_char(out, c == ')' ? ']' : c);
                        value = true;
                        at++;
                } else {
                        const bool opens = c == '[' || c == '(' || c == '{';
                        if (value)
                                ran_buf_char(out, ',');
                        if (opens)
                                ran_buf_char(out, c == '(' ? '[' : s[at]);
                        at += opens;
                        if (!opens &&
                            !(c == '"' || c == '\'' ? add_string : add_word)(s, n, &at, out))
                                return false;
                        value = !opens;
                }
        }
        return true;
}

bool literal_json(const char *s, size_t n, struct ran_buf *out)
{
        struct ran_record r = {0};
        struct ran_buf text = {0}, room = {0};
        struct ran_items value;
        const bool is = literal_begins(s, n) && convert(s, n, &text) &&
                        json_scan_value(&r, &room, text.data, text.len, &value);

        if (is)
                ran_buf_add(out, value.line + value.in.begin, value.in.end - value.in.begin);
        ran_record_release(&r);
        ran_buf_release(&text);
        ran_buf_release(&room);
        return is;
}
