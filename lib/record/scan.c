/* scan.c - checks a line against RFC 8259 and notes where the members of its object stand.
 *
 * Records are passed on byte for byte, so nothing is copied or converted here: a member is a pair
 * of positions. Nesting is kept as one bit a level on the heap (1: object), so that a line of a
 * million brackets costs memory, not the stack.
 */
#include "base/utf8.h"
#include "ran/record.h"

#include <stdlib.h>
#include <string.h>

struct scan {
        const unsigned char *s;
        size_t n, pos;
        struct ran_buf nesting; /* bits, the outermost level first */
        size_t depth;
        struct ran_span name; /* the one that skip_name passed last, quotes included */
        struct ran_error *err;
};

/* ---- errors --------------------------------------------------------------------------------- */

/* Always false, so that callers can return it. */
static bool fail(struct scan *s, const char *what)
{
        ran_fail(s->err, RAN_EFORMAT, "column %zu: %s", s->pos + 1, what);
        return false;
}

static bool fail_expected(struct scan *s, const char *expected)
{
        if (s->pos == s->n)
                ran_fail(s->err, RAN_EFORMAT, "column %zu: expected %s, but the line ends here",
                         s->pos + 1, expected);
        else if (s->s[s->pos] > 0x20 && s->s[s->pos] < 0x7f)
                ran_fail(s->err, RAN_EFORMAT, "column %zu: expected %s, found '%c'", s->pos + 1,
                         expected, s->s[s->pos]);
        else
                ran_fail(s->err, RAN_EFORMAT, "column %zu: expected %s, found byte 0x%02X",
                         s->pos + 1, expected, s->s[s->pos]);
        return false;
}

/* ---- helpers ------------------------------------------------------------------------------ */

static void skip_space(struct scan *s)
{
        while (s->pos < s->n && (s->s[s->pos] == ' ' || s->s[s->pos] == '\t' ||
                                 s->s[s->pos] == '\n' || s->s[s->pos] == '\r'))
                s->pos++;
}

static bool next_is(const struct scan *s, char c)
{
        return s->pos < s->n && s->s[s->pos] == (unsigned char)c;
}

static bool skip_char(struct scan *s, char c)
{
        if (!next_is(s, c))
                return false;
        s->pos++;
        return true;
}

static size_t skip_digits(struct scan *s)
{
        size_t begin = s->pos;

        while (s->pos < s->n && s->s[s->pos] >= '0' && s->s[s->pos] <= '9')
                s->pos++;
        return s->pos - begin;
}

static bool skip_number(struct scan *s)
{
        skip_char(s, '-');
        if (skip_char(s, '0')) {
                if (skip_digits(s) > 0) {
                        s->pos--;
                        return fail(s, "a number must not begin with 0");
                }
        } else if (skip_digits(s) == 0) {
                return fail_expected(s, "a digit");
        }
        if (skip_char(s, '.') && skip_digits(s) == 0)
                return fail_expected(s, "a digit after the decimal point");
        if (skip_char(s, 'e') || skip_char(s, 'E')) {
                if (!skip_char(s, '+'))
                        skip_char(s, '-');
                if (skip_digits(s) == 0)
                        return fail_expected(s, "a digit in the exponent");
        }
        return true;
}

/* ---- strings -------------------------------------------------------------------------------- */

#define EACH_BYTE(c) (UINT64_C(0x0101010101010101) * (c))

/* Eight bytes, the first one lowest. */
static uint64_t load(const unsigned char *s)
{
        uint64_t x;

        memcpy(&x, s, sizeof x);
        return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? x : __builtin_bswap64(x);
}

/* The lowest bit set is in the first of 8 bytes that is a quote, a backslash, a control character
 * or not ASCII; 0: none is. Bits above may be wrong (subtraction borrows). */
static uint64_t special(uint64_t x)
{
        uint64_t quote = (x ^ EACH_BYTE('"')) - EACH_BYTE(1);
        uint64_t backslash = (x ^ EACH_BYTE('\\')) - EACH_BYTE(1);
        uint64_t control = x - EACH_BYTE(0x20);

        return (x | quote | backslash | control) & EACH_BYTE(0x80);
}

/* Texts are long: plain characters go by eight at a time. */
static void skip_plain(struct scan *s)
{
        for (; s->n - s->pos >= sizeof(uint64_t); s->pos += sizeof(uint64_t)) {
                uint64_t found = special(load(s->s + s->pos));

                if (found != 0) {
                        s->pos += (size_t)__builtin_ctzll(found) / 8;
                        return;
                }
        }
        while (s->pos < s->n) {
                unsigned char c = s->s[s->pos];
                if (c == '"' || c == '\\' || c < 0x20 || c >= 0x80)
                        break;
                s->pos++;
        }
}

static bool is_hex(unsigned char c)
{
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* At a backslash. Surrogates are not paired here: that is for those who decode. */
static bool skip_escape(struct scan *s)
{
        s->pos++;
        if (s->pos == s->n)
                return fail_expected(s, "the rest of an escape");
        if (s->s[s->pos] != 'u') {
                if (s->s[s->pos] == '\0' || strchr("\"\\/bfnrt", s->s[s->pos]) == NULL)
                        return fail_expected(s, "one of \"\\/bfnrtu after a backslash");
                s->pos++;
                return true;
        }
        s->pos++;
        for (int i = 0; i < 4; i++, s->pos++) {
                if (s->pos == s->n || !is_hex(s->s[s->pos]))
                        return fail_expected(s, "four hexadecimal digits after \\u");
        }
        return true;
}

/* At a character that is not ASCII; goes on as long as there are such. */
static bool skip_wide(struct scan *s)
{
        while (s->pos < s->n && s->s[s->pos] >= 0x80) {
                size_t length = ran_utf8_sequence(s->s + s->pos, s->n - s->pos);
                if (length == 0)
                        return fail(s, "this is not valid UTF-8");
                s->pos += length;
        }
        return true;
}

static bool skip_string(struct scan *s)
{
        if (!skip_char(s, '"'))
                return fail_expected(s, "a string");
        for (;;) {
                skip_plain(s);
                if (s->pos == s->n)
                        return fail(s, "a string has no closing quote");
                unsigned char c = s->s[s->pos];
                if (c == '"') {
                        s->pos++;
                        return true;
                }
                if (c == '\\') {
                        if (!skip_escape(s))
                                return false;
                } else if (c >= 0x80) {
                        if (!skip_wide(s))
                                return false;
                } else {
                        return fail(s, "a control character in a string must be escaped");
                }
        }
}

/* ---- values --------------------------------------------------------------------------------- */

/* Goes into an object or array, and says of the innermost one whether it is an object. */
static void push(struct scan *s, bool object)
{
        unsigned bit = 1u << (s->depth % 8);

        if (s->depth % 8 == 0)
                ran_buf_char(&s->nesting, 0);
        char *byte = &s->nesting.data[s->depth / 8];
        *byte = (char)(object ? *byte | bit : *byte & ~bit);
        s->depth++;
}

/* A name and its colon. */
static bool skip_name(struct scan *s)
{
        skip_space(s);
        if (!next_is(s, '"'))
                return fail_expected(s, "a name in quotes");
        s->name.begin = s->pos;
        if (!skip_string(s))
                return false;
        s->name.end = s->pos;
        skip_space(s);
        if (!skip_char(s, ':'))
                return fail_expected(s, "':'");
        return true;
}

/* A value that holds no other. */
static bool skip_scalar(struct scan *s)
{
        const unsigned char c = s->pos < s->n ? s->s[s->pos] : 0;

        if (c == '"')
                return skip_string(s);
        if (c == '-' || (c >= '0' && c <= '9'))
                return skip_number(s);
        const char *word = c == 't' ? "true" : c == 'f' ? "false" : c == 'n' ? "null" : NULL;
        const size_t n = word != NULL ? strlen(word) : 0;
        if (n == 0 || s->n - s->pos < n || memcmp(s->s + s->pos, word, n) != 0)
                return fail_expected(s, "a value");
        s->pos += n;
        return true;
}

static bool skip_value(struct scan *s)
{
        for (;;) {
                skip_space(s);
                const bool object = next_is(s, '{');
                if (object || next_is(s, '[')) {
                        s->pos++;
                        skip_space(s);
                        if (!skip_char(s, object ? '}' : ']')) {
                                push(s, object);
                                if (object && !skip_name(s))
                                        return false;
                                continue;
                        }
                } else if (!skip_scalar(s)) {
                        return false;
                }
                /* Behind a value: on to the next one, or out. */
                for (;; s->depth--, s->nesting.len -= s->depth % 8 == 0) {
                        if (s->depth == 0)
                                return true;
                        const size_t level = s->depth - 1;
                        const bool in = s->nesting.data[level / 8] >> level % 8 & 1;
                        skip_space(s);
                        if (skip_char(s, ',')) {
                                if (in && !skip_name(s))
                                        return false;
                                break;
                        }
                        if (!skip_char(s, in ? '}' : ']'))
                                return fail_expected(s, in ? "',' or '}'" : "',' or ']'");
                }
        }
}

/* ---- the record ----------------------------------------------------------------------------- */

static bool scan_member(struct scan *s, struct ran_record *r)
{
        struct ran_member m = {0};

        skip_space(s);
        m.whole.begin = s->pos;
        if (!skip_name(s))
                return false;
        const struct ran_span name = s->name;
        skip_space(s);
        m.value.begin = s->pos;
        if (!skip_value(s))
                return false;
        m.value.end = m.whole.end = s->pos;
        m.type = ran_json_type(r->line[m.value.begin]);
        /* Names with a lone surrogate cannot be decoded and are nobody's we look for: they are kept
         * as written, quotes included, and so match nothing. */
        m.name.begin = r->names.len;
        if (ran_json_decode(r->line, name, &r->names, NULL) == RAN_EFORMAT)
                ran_buf_add(&r->names, r->line + name.begin, name.end - name.begin);
        m.name.end = r->names.len;
        RAN_ROOM(r->members, r->cap, r->count + 1);
        r->members[r->count++] = m;
        return true;
}

static bool scan_object(struct scan *s, struct ran_record *r)
{
        skip_space(s);
        r->object.begin = s->pos;
        if (!skip_char(s, '{'))
                return fail_expected(s, "an object, '{'");
        skip_space(s);
        if (!skip_char(s, '}')) {
                do {
                        if (!scan_member(s, r))
                                return false;
                        skip_space(s);
                } while (skip_char(s, ','));
                if (!skip_char(s, '}'))
                        return fail_expected(s, "',' or '}'");
        }
        r->object.end = s->pos;
        skip_space(s);
        if (s->pos < s->n)
                return fail_expected(s, "the end of the line after the object");
        return true;
}

int ran_record_scan(struct ran_record *r, const char *line, size_t length, struct ran_error *err)
{
        struct ran_error local = {.code = RAN_OK};
        struct scan s = {.s = (const unsigned char *)line, .n = length, .err = &local};

        r->line = line;
        r->length = length;
        r->count = 0;
        r->names.len = 0;
        r->object = (struct ran_span){0, 0};
        scan_object(&s, r);
        ran_buf_release(&s.nesting);
        if (local.code != RAN_OK && err != NULL)
                *err = local;
        return local.code;
}

void ran_record_release(struct ran_record *r)
{
        free(r->members);
        ran_buf_release(&r->names);
        *r = (struct ran_record){0};
}

const struct ran_member *ran_record_find(const struct ran_record *r, const char *name, bool *twice)
{
        const struct ran_member *found = NULL;
        size_t n = strlen(name);

        if (twice != NULL)
                *twice = false;
        for (size_t i = 0; i < r->count; i++) {
                const struct ran_span *span = &r->members[i].name;
                if (span->end - span->begin != n ||
                    (n > 0 && memcmp(r->names.data + span->begin, name, n) != 0))
                        continue;
                if (found == NULL)
                        found = &r->members[i];
                else if (twice != NULL)
                        *twice = true;
        }
        return found;
}
