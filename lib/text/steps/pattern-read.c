/* pattern-read.c - compiles regular expressions, by recursive descent. */
#include <stdlib.h>
#include <string.h>

#include "text/steps/pattern-code.h"

enum {
        MOST_BYTES = 4000,         /* of an expression, */
        MOST_INSTRUCTIONS = 20000, /* of its program, */
        MOST_NESTED = 50,          /* groups and classes within each other, */
        MOST_REPEATED = 1000,      /* times that {n} says */
};

/* ---- compiling ------------------------------------------------------------------------------ */

struct reader {
        struct ran_pattern *p;
        const char *s;
        size_t pos, n;
        int nested;
        bool any_case;
        struct ran_error *err;
};

static int refuse(struct reader *r, const char *what)
{
        return ran_fail(r->err, RAN_EFORMAT, "%s at byte %zu is not supported", what, r->pos + 1);
}

static bool next_is(const struct reader *r, const char *what)
{
        size_t n = strlen(what);

        return r->n - r->pos >= n && memcmp(r->s + r->pos, what, n) == 0;
}

static bool take(struct reader *r, const char *what)
{
        bool there = next_is(r, what);

        r->pos += there ? strlen(what) : 0;
        return there;
}

static int emit(struct reader *r, enum operation op, size_t x, size_t y)
{
        struct ran_pattern *p = r->p;

        if (p->n >= MOST_INSTRUCTIONS)
                return ran_fail(r->err, RAN_EFORMAT, "the regular expression is too large");
        RAN_ROOM(p->code, p->cap, p->n + 1);
        p->code[p->n++] = (struct instruction){op, (uint32_t)x, (uint32_t)y};
        return RAN_OK;
}

/* Makes room for an instruction at `at`: what was there and behind moves, jumps and all. */
static int insert(struct reader *r, size_t at, enum operation op, size_t x, size_t y)
{
        RAN_TRY(emit(r, op, x, y));
        struct instruction *code = r->p->code, in = code[r->p->n - 1];
        memmove(code + at + 1, code + at, (r->p->n - 1 - at) * sizeof *code);
        code[at] = in;
        return RAN_OK;
}

static int read_char(struct reader *r, int32_t *c)
{
        size_t length;

        *c = ran_unicode_get(r->s + r->pos, r->n - r->pos, &length);
        if (*c < 0)
                return refuse(r, "what is not UTF-8");
        r->pos += length;
        return RAN_OK;
}

/* \x41, \x{2581}, \u2581: behind the letter. */
static int read_code(struct reader *r, size_t digits, int32_t *c)
{
        bool braces = take(r, "{");
        size_t n = 0;

        *c = 0;
        for (; r->pos < r->n && n < (braces ? 6 : digits); n++, r->pos++) {
                const char *hex = "0123456789abcdef", *at;
                char digit = r->s[r->pos];
                digit = digit >= 'A' && digit <= 'F' ? (char)(digit | 0x20) : digit;
                at = digit != '\0' ? strchr(hex, digit) : NULL;
                if (at == NULL)
                        break;
                *c = *c * 16 + (int32_t)(at - hex);
        }
        if (n == 0 || (braces && !take(r, "}")) || *c > 0x10ffff)
                return refuse(r, "a character by its number");
        return RAN_OK;
}

/* What stands for a class behind a backslash; otherwise *c is one character. */
static int read_escape(struct reader *r, struct class_part *part, int32_t *c)
{
        static const char names[] = "nrtfvae", codes[] = "\n\r\t\f\v\a\033";
        const char *at;
        char letter;

        *c = -1;
        if (r->pos == r->n)
                return refuse(r, "a backslash at the end");
        letter = r->s[r->pos];
        if (take(r, "p{") || take(r, "P{")) {
                const char *end = memchr(r->s + r->pos, '}', r->n - r->pos);
                if (end == NULL)
                        return refuse(r, "an unterminated property");
                size_t n = (size_t)(end - r->s) - r->pos;
                RAN_TRY(ran_class_category(r->s + r->pos, n, part, r->err));
                part->negated ^= letter == 'P';
                r->pos += n + 1;
                return RAN_OK;
        }
        r->pos++;
        switch (letter) {
        case 's':
        case 'S':
                *part = (struct class_part){CLASS_SPACE, letter == 'S', 0, 0};
                return RAN_OK;
        case 'w':
        case 'W':
                *part = (struct class_part){CLASS_WORD, letter == 'W', 0, 0};
                return RAN_OK;
        case 'd':
        case 'D':
                RAN_TRY(ran_class_category("Nd", 2, part, r->err));
                part->negated = letter == 'D';
                return RAN_OK;
        case 'x':
                return read_code(r, 2, c);
        case 'u':
                return read_code(r, 4, c);
        default:
                break;
        }
        at = letter != '\0' ? strchr(names, letter) : NULL;
        if (at != NULL) {
                *c = (unsigned char)codes[at - names];
                return RAN_OK;
        }
        r->pos--;
        if ((letter >= '0' && letter <= '9') || ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z'))
                return refuse(r, "this letter or digit behind a backslash");
        return read_char(r, c);
}

static int read_class(struct reader *r, size_t *id);

/* A member of a class: a range, a character, an escape, or a class. */
static int read_member(struct reader *r, size_t id)
{
        struct class_part part = {CLASS_NESTED, false, 0, 0};
        int32_t c = -1;

        if (next_is(r, "[:"))
                return refuse(r, "a POSIX class");
        if (take(r, "[")) {
                size_t inner = 0;

                RAN_TRY(read_class(r, &inner));
                part.low = (int32_t)inner;
                ran_class_add(&r->p->classes, id, part);
                return RAN_OK;
        }
        if (take(r, "\\"))
                RAN_TRY(read_escape(r, &part, &c));
        else
                RAN_TRY(read_char(r, &c));
        if (c >= 0)
                part = (struct class_part){CLASS_RANGE, false, c, c};
        if (c >= 0 && next_is(r, "-") && !next_is(r, "-]") && !next_is(r, "-[")) {
                r->pos++;
                if (take(r, "\\"))
                        RAN_TRY(read_escape(r, &part, &c));
                else
                        RAN_TRY(read_char(r, &c));
                if (c < part.low || part.kind != CLASS_RANGE)
                        return refuse(r, "this range");
                part.high = c;
        }
        ran_class_add(&r->p->classes, id, part);
        return RAN_OK;
}

/* Behind the opening bracket. "&&" divides what a character must be, all of it. */
static int read_class(struct reader *r, size_t *id)
{
        struct ran_classes *all = &r->p->classes;
        size_t left = 0;
        bool divided = false, first = true;

        if (r->nested++ >= MOST_NESTED)
                return refuse(r, "a class nested so deeply");
        const bool negated = take(r, "^");
        *id = ran_classes_add(all, r->any_case);
        for (;; first = false) {
                bool closed = !first && take(r, "]");
                if (closed || take(r, "&&")) {
                        ran_class_finish(all, *id);
                        if (divided)
                                *id = ran_class_of(all, false,
                                                   (struct class_part){CLASS_BOTH, false,
                                                                       (int32_t)left,
                                                                       (int32_t)*id});
                        if (closed)
                                break;
                        divided = true;
                        left = *id;
                        *id = ran_classes_add(all, r->any_case);
                        continue;
                }
                if (r->pos == r->n)
                        return refuse(r, "a class without its end");
                RAN_TRY(read_member(r, *id));
        }
        r->nested--;
        if (negated)
                *id = ran_class_of(all, false,
                                   (struct class_part){CLASS_NESTED, true, (int32_t)*id, 0});
        return RAN_OK;
}

/* One character of the text: a class, an escape, a dot, or itself. */
static int read_single(struct reader *r, size_t *id)
{
        struct class_part part = {CLASS_RANGE, false, 0, 0};
        int32_t c = -1;

        if (take(r, "["))
                return read_class(r, id);
        if (take(r, "\\")) {
                RAN_TRY(read_escape(r, &part, &c));
        } else if (take(r, ".")) {
                part = (struct class_part){CLASS_RANGE, true, '\n', '\n'};
        } else {
                RAN_TRY(read_char(r, &c));
        }
        if (c >= 0)
                part = (struct class_part){CLASS_RANGE, false, c, c};
        *id = ran_class_of(&r->p->classes, r->any_case, part);
        return RAN_OK;
}

static int read_alternatives(struct reader *r);

static int read_look(struct reader *r, enum operation op)
{
        size_t id;

        if (r->pos == r->n || strchr("()*+?{|^$", r->s[r->pos]) != NULL)
                return refuse(r, "a look ahead at this");
        RAN_TRY(read_single(r, &id));
        if (!take(r, ")"))
                return refuse(r, "a lookahead of more than one character");
        return emit(r, op, id, 0);
}

static int read_group(struct reader *r)
{
        const bool before = r->any_case;

        if (take(r, "?!"))
                return read_look(r, OP_NOT);
        if (take(r, "?="))
                return read_look(r, OP_LOOK);
        if (take(r, "?i:"))
                r->any_case = true;
        else if (!take(r, "?:") && next_is(r, "?"))
                return refuse(r, "this kind of group");
        if (r->nested++ >= MOST_NESTED)
                return refuse(r, "a group nested so deeply");
        RAN_TRY(read_alternatives(r));
        r->nested--;
        r->any_case = before;
        return take(r, ")") ? RAN_OK : refuse(r, "a group without its end");
}

/* The numbers of ?, *, + and {n,m}; *most: SIZE_MAX if there is no limit. False: none of them. */
static bool read_count(struct reader *r, size_t *least, size_t *most)
{
        size_t pos = r->pos, value[2] = {0, 0}, digits[2] = {0, 0}, i = 0;

        *least = 0;
        *most = SIZE_MAX;
        if (take(r, "*"))
                return true;
        if (take(r, "?")) {
                *most = 1;
                return true;
        }
        if (take(r, "+")) {
                *least = 1;
                return true;
        }
        if (!take(r, "{"))
                return false;
        for (; r->pos < r->n && r->s[r->pos] != '}'; r->pos++) {
                char c = r->s[r->pos];
                if (c == ',' && i == 0)
                        i = 1;
                else if (c >= '0' && c <= '9' && digits[i]++ < 5)
                        value[i] = value[i] * 10 + (size_t)(c - '0');
                else
                        break;
        }
        if (!take(r, "}") || digits[0] + digits[1] == 0) {
                r->pos = pos; /* a brace by itself */
                return false;
        }
        *least = value[0];
        *most = i == 0 ? value[0] : digits[1] > 0 ? value[1] : SIZE_MAX;
        return true;
}

static int emit_split(struct reader *r, bool lazy, size_t inner, size_t behind)
{
        return emit(r, OP_SPLIT, lazy ? behind : inner, lazy ? inner : behind);
}

/* Repeats what was compiled from `begin` on. */
static int repeat(struct reader *r, size_t begin, size_t least, size_t most, bool lazy)
{
        struct ran_pattern *p = r->p;
        const size_t n = p->n - begin, star = least == 0 && most == SIZE_MAX;

        if (least == 0) {
                const size_t behind = n + 1 + star;

                RAN_TRY(insert(r, begin++, OP_SPLIT, lazy ? behind : 1, lazy ? 1 : behind));
                if (star)
                        return emit(r, OP_JUMP, -(n + 1), 0);
        }
        for (size_t i = 1; i < (most == SIZE_MAX ? least : most); i++) {
                if (i >= least)
                        RAN_TRY(emit_split(r, lazy, 1, n + 1));
                for (size_t k = 0; k < n; k++) {
                        const struct instruction in = p->code[begin + k];

                        RAN_TRY(emit(r, in.op, in.x, in.y));
                }
        }
        return most == SIZE_MAX ? emit_split(r, lazy, -n, 1) : RAN_OK;
}

static int read_repeated(struct reader *r)
{
        const size_t begin = r->p->n;
        size_t least, most, id;

        if (take(r, "(")) {
                RAN_TRY(read_group(r));
        } else if (take(r, "^")) {
                return emit(r, OP_BEGIN, 0, 0);
        } else if (take(r, "$")) {
                return emit(r, OP_END, 0, 0);
        } else if (r->pos < r->n && strchr("*+?", r->s[r->pos]) != NULL) {
                return refuse(r, "a repetition of nothing");
        } else {
                RAN_TRY(read_single(r, &id));
                RAN_TRY(emit(r, OP_CHAR, id, 0));
        }
        if (!read_count(r, &least, &most))
                return RAN_OK;
        if (most == 0 || least > most || least > MOST_REPEATED ||
            (most != SIZE_MAX && most > MOST_REPEATED))
                return refuse(r, "so large a repetition count");
        const bool lazy = take(r, "?");
        if (next_is(r, "+") || next_is(r, "*") || next_is(r, "?"))
                return refuse(r, "a repetition that gives nothing back, or is repeated,");
        return repeat(r, begin, least, most, lazy);
}

static int read_alternatives(struct reader *r)
{
        size_t begin = r->p->n, jumps = 0; /* list of jumps to the end, by their x, until then */

        for (;;) {
                while (r->pos < r->n && r->s[r->pos] != '|' && r->s[r->pos] != ')')
                        RAN_TRY(read_repeated(r));
                if (!take(r, "|"))
                        break;
                RAN_TRY(insert(r, begin, OP_SPLIT, 1, r->p->n - begin + 2));
                RAN_TRY(emit(r, OP_JUMP, jumps, 0));
                jumps = r->p->n;
                begin = r->p->n;
        }
        while (jumps > 0) {
                const size_t at = jumps - 1;
                jumps = r->p->code[at].x;
                r->p->code[at].x = (uint32_t)(r->p->n - at);
        }
        return RAN_OK;
}

static void mark_first(struct ran_pattern *p, size_t id)
{
        const struct ran_class *class = &p->classes.at[id];
        bool ascii = !class->any_case;

        for (size_t i = 0; i < class->n; i++)
                ascii = ascii && class->part[i].kind == CLASS_RANGE && !class->part[i].negated &&
                        class->part[i].high < 0x80;
        for (int c = 0; c < 0x80; c++)
                p->first[c] |= ran_class_has(&p->classes, id, c);
        for (int c = 0x80; c < 0x100; c++)
                p->first[c] |= !ascii;
}

/* Notes how a match may begin; *empty: without a character. */
static void explore(struct ran_pattern *p, bool *empty)
{
        bool *seen = ran_new(p->n, sizeof *seen);
        uint32_t *stack = ran_new(2 * p->n + 1, sizeof *stack);
        size_t depth = 0;

        *empty = false;
        stack[depth++] = 0;
        while (depth > 0) {
                uint32_t pc = stack[--depth];
                const struct instruction *in = &p->code[pc];
                if (seen[pc])
                        continue;
                seen[pc] = true;
                if (in->op == OP_CHAR)
                        mark_first(p, in->x);
                else if (in->op == OP_MATCH)
                        *empty = true;
                else
                        stack[depth++] = pc + (in->op == OP_SPLIT || in->op == OP_JUMP ? in->x : 1);
                if (in->op == OP_SPLIT)
                        stack[depth++] = pc + in->y;
        }
        free(seen);
        free(stack);
}

int ran_pattern_compile(struct ran_pattern *p, const char *text, size_t n, struct ran_error *err)
{
        struct reader r = {.p = p, .s = text, .n = n, .err = err};
        bool empty;

        if (n > MOST_BYTES)
                return ran_fail(err, RAN_EFORMAT, "a regular expression of %zu bytes; at most %d",
                                n, MOST_BYTES);
        RAN_TRY(read_alternatives(&r));
        if (r.pos < n)
                return refuse(&r, "this end of a group");
        RAN_TRY(emit(&r, OP_MATCH, 0, 0));
        explore(p, &empty);
        if (empty)
                return ran_fail(err, RAN_EFORMAT,
                                "an expression that matches an empty text is "
                                "not supported");
        return RAN_OK;
}
