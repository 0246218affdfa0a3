/* literal.c - a list or an object in a cell of a table, as JSON.
 *
 * pandas writes lists into cells as Python prints them. A pass over the bytes turns Python's
 * quotes, words and brackets into those of JSON and adds the commas that NumPy leaves out; the scan
 * of records then says whether that is JSON.
 */
#include "cmd/formats/import.h"

#include <string.h>

static bool is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool literal_begins(const char *s, size_t n)
{
        size_t at = 0;

        while (at < n && is_space(s[at]))
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

        while (*at < n && !is_space(s[*at]) &&
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
                if (is_space(c)) {
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

int literal_json(const char *s, size_t n, struct ran_buf *out, bool *is, struct ran_error *err)
{
        struct ran_record r = {0};
        struct ran_buf object = {0};
        int rc = RAN_OK;

        *is = false;
        if (!literal_begins(s, n))
                return RAN_OK;
        ran_buf_str(&object, "{\"\":");
        bool good = convert(s, n, &object);
        ran_buf_char(&object, '}');
        if (good)
                rc = ran_record_scan(&r, object.data, object.len, err);
        if (rc == RAN_OK && good && r.count == 1) {
                const struct ran_span value = r.members[0].value;
                ran_buf_add(out, object.data + value.begin, value.end - value.begin);
                *is = true;
        }
        ran_record_release(&r);
        ran_buf_release(&object);
        return rc == RAN_EFORMAT ? RAN_OK : rc;
}
