/* conll-guess.c - whether the first lines of a file are columns of words and tags.
 *
 * "please answer my E-mail" ends like a word and its tag, so that one line says little. Several do:
 * they have as many fields each, their tags follow one another as those of a scheme do, and some
 * are O and some are not.
 */
#include <string.h>

#include "cmd/formats/import.h"

enum { UNIVERSAL = 10 }; /* columns of CoNLL-U */

/* ---- fields --------------------------------------------------------------------------------- */

static bool separates(bool tabs, char c)
{
        return c == '\t' || (!tabs && c == ' ');
}

bool conll_next_field(bool tabs, const char *line, size_t n, size_t *at, struct ran_span *field)
{
        size_t begin = *at;

        if (!tabs)
                while (begin < n && separates(false, line[begin]))
                        begin++;
        if (tabs ? begin > n : begin == n)
                return false;
        size_t end = begin;
        while (end < n && !separates(tabs, line[end]))
                end++;
        *field = (struct ran_span){begin, end};
        *at = tabs || end < n ? end + 1 : end;
        return true;
}

size_t conll_fields(bool tabs, const char *line, size_t n, struct ran_span *last)
{
        struct ran_span field;
        size_t at = 0, fields = 0;

        for (; conll_next_field(tabs, line, n, &at, &field); fields++)
                if (fields == 0 || field.end > field.begin)
                        *last = field;
        return fields;
}

bool conll_is_universal(const char *line, size_t n)
{
        struct ran_span last;

        return n > 0 && line[0] >= '0' && line[0] <= '9' &&
               conll_fields(true, line, n, &last) == UNIVERSAL;
}

bool conll_begins_with(const char *s, size_t n, const char *what)
{
        const size_t m = strlen(what);

        return n >= m && memcmp(s, what, m) == 0;
}

bool conll_is_tag(const char *s, size_t n)
{
        if (n == 1)
                return s[0] == 'O';
        return n > 2 && strchr("BIESLU", s[0]) != NULL && s[0] != '\0' && s[1] == '-' &&
               !(s[2] >= '0' && s[2] <= '9');
}

/* ---- comments ------------------------------------------------------------------------------- */

/* How comments of CoNLL-U begin, and of shared tasks: those that leave no doubt come first, and the
 * first of all begins a document. */
enum { CERTAIN = 4 };
static const char *const comments[] = {"# newdoc",  "# sent_id = ", "# global.columns",
                                       "# text = ", "# newpar",     "# id "};

static bool is_known_comment(const char *line, size_t n, size_t known)
{
        for (size_t i = 0; i < known; i++)
                if (conll_begins_with(line, n, comments[i]))
                        return true;
        return false;
}

enum lines_role conll_role(const char *line, size_t n)
{
        if (conll_begins_with(line, n, "-DOCSTART-") || conll_begins_with(line, n, comments[0]))
                return LINES_DOCUMENT;
        if (!conll_begins_with(line, n, "# "))
                return LINES_WORD;
        return is_known_comment(line, n, sizeof comments / sizeof comments[0]) ||
                               memmem(line, n, " = ", 3) != NULL
                       ? LINES_COMMENT
                       : LINES_WORD;
}

/* ---- agreement ------------------------------------------------------------------------------ */

/* This says what the lines so far have in common. */
struct look {
        size_t rows, odd, columns; /* odd: rows that do not agree */
        size_t outside, entities;  /* tags */
        bool tabs, single, unit;   /* tags S- and U- */
        char part;                 /* of the last tag, and its type; O at a sentence's beginning */
        const char *type;
        size_t type_n;
};

/* E- and L- end what B- or I- began; S- and U- are of two schemes. */
static bool follows(struct look *look, const char *tag, size_t n)
{
        const char part = tag[0];
        const char *type = n > 2 ? tag + 2 : "";
        const size_t type_n = n > 2 ? n - 2 : 0;
        const bool open = look->part == 'B' || look->part == 'I';
        const bool same = open && type_n == look->type_n && memcmp(type, look->type, type_n) == 0;

        look->single |= part == 'S' || part == 'E';
        look->unit |= part == 'U' || part == 'L';
        look->outside += part == 'O';
        look->entities += part != 'O';
        look->part = part;
        look->type = type;
        look->type_n = type_n;
        return !(look->single && look->unit) && ((part != 'E' && part != 'L') || same);
}

/* A word of several, with a tab behind it, is a text with a label. */
static bool is_text(const struct look *look, const char *line, size_t n)
{
        const char *tab = look->tabs && look->columns == 2 ? memchr(line, '\t', n) : NULL;
        size_t spaces = 0;

        for (const char *c = line; tab != NULL && c < tab; c++)
                spaces += *c == ' ';
        return spaces > 2;
}

/* Whether a row agrees with the first. */
static bool agrees(struct look *look, const char *line, size_t n)
{
        struct ran_span last = {0, 0};

        if (look->rows == 0) {
                look->tabs = memchr(line, '\t', n) != NULL;
                look->columns = conll_fields(look->tabs, line, n, &last);
        }
        return conll_fields(look->tabs, line, n, &last) == look->columns && look->columns > 1 &&
               conll_is_tag(line + last.begin, last.end - last.begin) && !is_text(look, line, n) &&
               follows(look, line + last.begin, last.end - last.begin);
}

/* Whether the rows say enough together: prose has no tabs, its lines seldom have as many words, and
 * seldom end in both kinds of tags. A few may be damaged. */
static bool is_enough(const struct look *look)
{
        enum { MANY = 5, DAMAGED = 5 };

        if (look->odd * DAMAGED > look->rows)
                return false;
        return look->tabs || look->rows >= MANY ||
               (look->rows > 1 && look->outside > 0 && look->entities > 0);
}

/* Tells what a line is that is no word of a sentence. inside: it follows one. */
static bool is_other(const struct look *look, const char *line, size_t n, bool inside)
{
        if (n == 0 || line[0] != '#')
                return false;
        if (look->tabs && memchr(line, '\t', n) == NULL)
                return true;
        return !inside && (n == 1 || (line[1] != '\0' && strchr(" #\t", line[1]) != NULL));
}

enum import_match conll_guess(const struct sample *sample)
{
        struct look look = {.part = 'O'};
        size_t at = 0, n;
        const char *line;
        bool known = false, inside = false;

        for (size_t i = 0; i < SAMPLE_LINES && sample_next(sample, &at, &line, &n); i++) {
                const bool blank = sample_is_blank(line, n);
                if (blank)
                        look.part = 'O';
                inside &= !blank;
                known |= is_known_comment(line, n, CERTAIN);
                if (blank || is_other(&look, line, n, inside))
                        continue;
                if (conll_begins_with(line, n, "-DOCSTART-") || conll_is_universal(line, n))
                        return IMPORT_CLEAR;
                if (known) /* tags may be any */
                        return conll_fields(false, line, n, &(struct ran_span){0}) > 1
                                       ? IMPORT_CLEAR
                                       : IMPORT_UNLIKE;
                if (agrees(&look, line, n))
                        look.rows++;
                else
                        look.odd++;
                if (look.rows == 0)
                        return IMPORT_UNLIKE;
                inside = true;
        }
        if (look.rows == 0)
                return known ? IMPORT_CLEAR : IMPORT_UNLIKE;
        return is_enough(&look) ? IMPORT_LIKE : IMPORT_UNLIKE;
}
