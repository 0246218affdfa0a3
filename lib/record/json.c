/* json.c - values of a line that has been scanned: decoding strings, walking arrays and objects. */
#include "ran/record.h"

#include <string.h>
#include <utf8proc.h>

/* ---- strings -------------------------------------------------------------------------------- */

static uint32_t hex4(const char *s)
{
        uint32_t x = 0;

        for (int i = 0; i < 4; i++)
                x = x << 4 |
                    (s[i] <= '9' ? (unsigned)(s[i] - '0') : ((unsigned)s[i] & 0xdf) - 'A' + 10);
        return x;
}

/* The code point of \uXXXX, or of a pair of them, at line[pos]. Returns the bytes it takes, 0 for
 * half a pair. */
static size_t read_unicode(const char *line, size_t pos, size_t end, uint32_t *c)
{
        *c = hex4(line + pos + 2);
        if (*c < 0xd800 || *c > 0xdfff)
                return 6;
        if (*c > 0xdbff || end - pos < 12 || line[pos + 6] != '\\' || line[pos + 7] != 'u')
                return 0;
        uint32_t second = hex4(line + pos + 8);
        if (second < 0xdc00 || second > 0xdfff)
                return 0;
        *c = 0x10000 + ((*c - 0xd800) << 10) + (second - 0xdc00);
        return 12;
}

bool ran_json_decodable(const char *line, struct ran_span part)
{
        uint32_t c;

        /* Backslashes stand in strings only, and never at the end of a part. */
        for (size_t pos = part.begin; pos < part.end;) {
                const char *backslash = memchr(line + pos, '\\', part.end - pos);
                if (backslash == NULL)
                        break;
                pos = (size_t)(backslash - line);
                size_t taken = line[pos + 1] == 'u' ? read_unicode(line, pos, part.end, &c) : 2;
                if (taken == 0)
                        return false;
                pos += taken;
        }
        return true;
}

static size_t decode_escape(const char *line, size_t pos, size_t end, struct ran_buf *out)
{
        static const char letters[] = "bfnrt", bytes[] = "\b\f\n\r\t";
        char c = line[pos + 1];
        uint32_t code_point;
        utf8proc_uint8_t bytes_of[4];

        if (c == 'u') {
                size_t taken = read_unicode(line, pos, end, &code_point);
                if (taken > 0)
                        ran_buf_add(out, (char *)bytes_of,
                                    (size_t)utf8proc_encode_char((utf8proc_int32_t)code_point,
                                                                 bytes_of));
                return taken;
        }
        const char *letter = strchr(letters, c);
        ran_buf_char(out, letter != NULL ? bytes[letter - letters] : c);
        return 2;
}

int ran_json_decode(const char *line, struct ran_span value, struct ran_buf *out,
                    struct ran_error *err)
{
        size_t pos = value.begin + 1, end = value.end - 1, before = out->len;

        while (pos < end) {
                const char *backslash = memchr(line + pos, '\\', end - pos);
                size_t plain = (backslash != NULL ? (size_t)(backslash - line) : end) - pos;
                ran_buf_add(out, line + pos, plain);
                pos += plain;
                if (pos == end)
                        break;
                size_t taken = decode_escape(line, pos, end, out);
                if (taken == 0) {
                        out->len = before;
                        return ran_fail(err, RAN_EFORMAT,
                                        "column %zu: \\u%.4s is half of a surrogate pair", pos + 1,
                                        line + pos + 2);
                }
                pos += taken;
        }
        return RAN_OK;
}

/* ---- arrays and objects --------------------------------------------------------------------- */

static size_t skip_space(const char *line, size_t pos)
{
        while (line[pos] == ' ' || line[pos] == '\t' || line[pos] == '\n' || line[pos] == '\r')
                pos++;
        return pos;
}

/* From an opening quote to behind the closing one, which stands before `end`. */
static size_t skip_string(const char *line, size_t pos, size_t end)
{
        for (size_t at = pos + 1;; at++) {
                const char *quote = memchr(line + at, '"', end - at);
                size_t before;

                at = quote != NULL ? (size_t)(quote - line) : end - 1;
                for (before = at; line[before - 1] == '\\'; before--)
                        ;
                if ((at - before) % 2 == 0 || quote == NULL) /* not escaped */
                        return at + 1;
        }
}

/* From an opening bracket to behind its closing one. The line is known to be sound, so that
 * counting is enough. */
static size_t skip_nested(const char *line, size_t pos, size_t end)
{
        size_t depth = 0;

        do {
                char c = line[pos];
                if (c == '"') {
                        pos = skip_string(line, pos, end);
                        continue;
                }
                if (c == '{' || c == '[')
                        depth++;
                else if (c == '}' || c == ']')
                        depth--;
                pos++;
        } while (depth > 0);
        return pos;
}

static size_t skip_value(const char *line, size_t pos, size_t end)
{
        if (line[pos] == '"')
                return skip_string(line, pos, end);
        if (line[pos] == '{' || line[pos] == '[')
                return skip_nested(line, pos, end);
        while (pos < end && line[pos] > ' ' && line[pos] != ',' && line[pos] != ']' &&
               line[pos] != '}')
                pos++;
        return pos;
}

char ran_json_type(char first)
{
        switch (first) {
        case '"':
                return 's';
        case '{':
                return 'o';
        case '[':
                return 'a';
        case 't':
        case 'f':
                return first;
        case 'n':
                return '0';
        default:
                return 'n';
        }
}

bool ran_items_next(struct ran_items *i)
{
        const char *line = i->line, bracket = line[i->in.begin];

        if (bracket != '{' && bracket != '[')
                return false; /* has no items, and its end is not that of a bracket */
        size_t at = skip_space(line, i->pos == 0 ? i->in.begin + 1 : i->pos);

        if (line[at] == ',')
                at = skip_space(line, at + 1);
        i->pos = at;
        if (line[at] == '}' || line[at] == ']')
                return false;
        if (bracket == '{') {
                i->name = (struct ran_span){at, skip_string(line, at, i->in.end)};
                at = skip_space(line, skip_space(line, i->name.end) + 1);
        }
        i->value.begin = at;
        i->pos = i->value.end =
                skip_value(line, at, i->in.end - 1); /* before the closing bracket */
        i->type = ran_json_type(line[at]);
        return true;
}

bool ran_json_is(const char *line, struct ran_span string, const char *text)
{
        size_t n = strlen(text);

        return string.end - string.begin == n + 2 && line[string.begin] == '"' &&
               memcmp(line + string.begin + 1, text, n) == 0;
}

bool ran_json_find(const char *line, struct ran_span object, const char *name, char wanted,
                   struct ran_span *value, char *type)
{
        for (struct ran_items i = ran_items(line, object);
             line[object.begin] == '{' && ran_items_next(&i);) {
                if (!ran_json_is(line, i.name, name) || (wanted != 0 && i.type != wanted))
                        continue;
                *value = i.value;
                if (type != NULL)
                        *type = i.type;
                return true;
        }
        return false;
}
