/* conll.c - a word a line with columns of annotations, a blank line after each sentence.
 *
 * A block is the lines up to a blank one. Lines that begin a document, and blank lines after them,
 * may precede its first word (lines.c). If the first line of a file has a tab, tabs separate
 * columns, and fields may have spaces or be empty; otherwise runs of spaces separate columns.
 */
#include "cmd/formats/import.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/formats/output.h"

/* ---- fields --------------------------------------------------------------------------------- */

/* Whether field `wanted`, from 1, is a tag of a scheme. */
static bool has_tag(const struct conll *c, const char *line, size_t n, size_t wanted)
{
        struct ran_span field;
        size_t at = 0;

        for (size_t i = 1; conll_next_field(c->tabs, line, n, &at, &field); i++)
                if (i == wanted)
                        return conll_is_tag(line + field.begin, field.end - field.begin);
        return false;
}

/* ---- lines ---------------------------------------------------------------------------------- */

enum line_kind {
        WORD,
        OTHER, /* blank, a comment, or the beginning of a document */
        RANGE, /* CoNLL-U: several words written as one, or a word that is not written */
};

/* Whether a line that begins with # is a comment. Where the columns are those of a word, its tag
 * says whether it is one. Only a comment between sentences may have what words have. */
static bool is_comment(const struct conll *c, const char *line, size_t n, bool inside)
{
        struct ran_span last;

        if (c->tabs && memchr(line, '\t', n) == NULL)
                return true;
        if (c->columns == 0 || inside ||
            !(n == 1 || (line[1] != '\0' && strchr(" #\t", line[1]) != NULL)))
                return false;
        if (conll_fields(c->tabs, line, n, &last) != c->columns)
                return true;
        return c->scheme && !has_tag(c, line, n, c->tag);
}

/* inside: a word of the same sentence precedes it. */
static enum line_kind line_kind(const struct conll *c, const char *line, size_t n, bool inside)
{
        size_t digits = 0, blank = 0;

        while (blank < n && (line[blank] == ' ' || line[blank] == '\t'))
                blank++;
        if (blank == n || (conll_role(line, n) != LINES_WORD && !inside))
                return OTHER;
        if (line[0] == '#' && is_comment(c, line, n, inside))
                return OTHER;
        while (c->universal && digits < n && line[digits] >= '0' && line[digits] <= '9')
                digits++;
        if (digits > 0 && digits < n && (line[digits] == '-' || line[digits] == '.'))
                return RANGE;
        return WORD;
}

/* The lines of a block, one after another. */
struct walk {
        struct sample block;
        const char *line; /* (n) without its end, LF or CR LF, and a byte order mark */
        size_t next, n;
        size_t number; /* of the next line, from 0 */
};

static bool next_line(struct walk *w)
{
        if (!sample_next(&w->block, &w->next, &w->line, &w->n))
                return false;
        w->number++;
        const size_t mark = ran_utf8_mark(w->line, w->n);
        w->line += mark;
        w->n -= mark;
        return true;
}

/* ---- what a file is like -------------------------------------------------------------------- */

static int check_column(size_t column, size_t columns, const char *what, struct ran_error *err)
{
        if (column <= columns)
                return RAN_OK;
        return ran_fail(err, RAN_EFORMAT, "no column %zu: the first line has %zu (--%s)", column,
                        columns, what);
}

/* The first line of a sentence that is no comment, if comments there may be: else the first that is
 * not blank. False without one. */
static bool find_word(struct walk *w)
{
        const struct walk begin = *w;
        const struct conll none = {0};

        while (next_line(w))
                if (w->n > 0 && w->line[0] != '#' &&
                    line_kind(&none, w->line, w->n, false) != OTHER)
                        return true;
        *w = begin;
        while (next_line(w))
                if (line_kind(&none, w->line, w->n, false) != OTHER)
                        return true;
        return false;
}

/* Whether a line and the next one begin with 1 and 2, as in CoNLL-U. */
static bool is_numbered(const struct walk *at)
{
        struct walk w = *at;

        if (!(w.n > 2 && w.line[0] == '1' && w.line[1] == '\t') || !next_line(&w))
                return false;
        return w.n > 2 && w.line[0] == '2' && w.line[1] == '\t';
}

/* The last column that is not empty in all lines of a sentence, from that of a walk on: tabs behind
 * the tags are none. */
static size_t last_column(const struct conll *c, const struct walk *at)
{
        struct walk w = *at;
        size_t last = 1;

        do {
                struct ran_span field;
                size_t next = 0;
                for (size_t i = 1; conll_next_field(c->tabs, w.line, w.n, &next, &field); i++)
                        last = i > last && field.end > field.begin ? i : last;
        } while (next_line(&w));
        return last > 1 && last < c->columns ? last : c->columns;
}

/* Reads the first sentence of a file; word and tag have been set. RAN_EFORMAT: there are no such
 * columns. */
static int begin_file(struct conll *c, const char *block, size_t n, struct ran_error *err)
{
        struct walk w = {.block = {.s = block, .n = n}};
        struct ran_span last;

        c->tabs = c->universal = c->numbered = c->scheme = false;
        c->columns = 0;
        if (find_word(&w)) {
                c->tabs = memchr(w.line, '\t', w.n) != NULL;
                c->universal = conll_is_universal(w.line, w.n);
                c->columns = conll_fields(c->tabs, w.line, w.n, &last);
                c->numbered = c->columns > 2 && is_numbered(&w);
        }
        if (c->word == 0)
                c->word = c->universal || c->numbered ? 2 : 1;
        if (c->tag == 0 && c->numbered && !c->universal) /* the outermost of nested tags */
                c->tag = has_tag(c, w.line, w.n, 3) ? 3 : last_column(c, &w);
        if (c->tag == 0 && c->columns > 1)
                c->tag = c->universal ? 4 : last_column(c, &w);
        RAN_TRY(check_column(c->word, c->columns, "word-column", err));
        RAN_TRY(check_column(c->tag, c->columns, "tag-column", err));
        c->scheme = c->columns > 0 && has_tag(c, w.line, w.n, c->tag);
        return RAN_OK;
}

/* ---- a sentence as a record ----------------------------------------------------------------- */

/* The fields of the words of a block, c->columns each. */
struct rows {
        struct ran_span *field;
        size_t n, cap; /* n: words */
};

/* Lists the words of a block; *line: the line of an error. */
static int list_rows(struct rows *rows, const struct conll *c, const char *block, size_t n,
                     size_t *line, struct ran_error *err)
{
        struct walk w = {.block = {.s = block, .n = n}};

        while (next_line(&w)) {
                const size_t from = (size_t)(w.line - block);
                size_t at = 0, columns = 0;
                struct ran_span field;

                *line = w.number - 1;
                if (line_kind(c, w.line, w.n, rows->n > 0) != WORD)
                        continue;
                RAN_ROOM(rows->field, rows->cap, (rows->n + 1) * c->columns);
                struct ran_span *row = rows->field + rows->n * c->columns;
                for (; conll_next_field(c->tabs, w.line, w.n, &at, &field); columns++)
                        if (columns < c->columns)
                                row[columns] =
                                        (struct ran_span){from + field.begin, from + field.end};
                if (columns != c->columns)
                        return ran_fail(err, RAN_EFORMAT,
                                        "the line has %zu column%s, the first of the file has %zu, "
                                        "separated by %s",
                                        columns, columns == 1 ? "" : "s", c->columns,
                                        c->tabs ? "tabs" : "spaces");
                if (row[c->word - 1].begin == row[c->word - 1].end)
                        return ran_fail(err, RAN_EFORMAT, "the word, in column %zu, is empty",
                                        c->word);
                rows->n++;
        }
        return RAN_OK;
}

/* The field that is read as a tag. In CoNLL-U one with KEY=VALUE and | between has it as a value:
 * "SpaceAfter=No|name=B-PER", "ner=S-PER|start_char=0". */
static struct ran_span tag_of(const struct conll *c, const char *block, struct ran_span field)
{
        struct ran_span value = field;

        for (size_t i = field.begin; c->universal && i < field.end; i = value.end + 1) {
                const char *bar = memchr(block + i, '|', field.end - i);
                value.end = bar != NULL ? (size_t)(bar - block) : field.end;
                const char *is = memchr(block + i, '=', value.end - i);
                value.begin = is != NULL ? (size_t)(is - block) + 1 : value.end;
                if (conll_is_tag(block + value.begin, value.end - value.begin))
                        return value;
        }
        return field;
}

/* A column of all words, from 1, as a JSON array. */
static void add_column(const struct conll *c, const struct rows *rows, const char *block,
                       size_t column, struct ran_buf *out)
{
        json_begin(out, '[');
        for (size_t i = 0; i < rows->n; i++) {
                struct ran_span field = rows->field[i * c->columns + column - 1];
                if (column == c->tag)
                        field = tag_of(c, block, field);
                json_string(out, block + field.begin, field.end - field.begin);
        }
        json_end(out, ']');
}

static int import(const struct import *i, const struct text_line *sentence, struct ran_buf *out,
                  size_t *line, struct ran_error *err)
{
        const struct conll *c = i->state;
        const char *block = sentence->s;
        const size_t tag = c->tag != c->word ? c->tag : 0;
        struct rows rows = {0};
        bool others = false;
        int rc = list_rows(&rows, c, block, sentence->n, line, err);

        if (rc == RAN_OK) {
                json_begin(out, '{');
                if (sentence->doc > 0)
                        json_put_size(out, "doc", sentence->doc);
                json_name(out, "tokens");
                add_column(c, &rows, block, c->word, out);
                if (tag > 0) {
                        json_name(out, "tags");
                        add_column(c, &rows, block, tag, out);
                }
                for (size_t column = 1; column <= c->columns; column++) {
                        if (column == c->word || column == tag)
                                continue;
                        if (!others) {
                                json_name(out, "columns");
                                json_begin(out, '[');
                        }
                        others = true;
                        add_column(c, &rows, block, column, out);
                }
                if (others)
                        json_end(out, ']');
                json_end(out, '}');
        }
        free(rows.field);
        return rc;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void add_field(struct ran_buf *out, const char *text, size_t n)
{
        for (size_t i = 0; i < n; i++)
                ran_buf_char(out, (unsigned char)text[i] <= ' ' || text[i] == 0x7f ? '_' : text[i]);
        if (n == 0)
                ran_buf_char(out, '_');
}

/* The same for a word, first in its line. A word that would begin a document or, for conlleval, end
 * a sentence gets a '_' before it. */
static void add_word(struct ran_buf *out, const char *text, size_t n)
{
        bool boundary = n == 3 && memcmp(text, "-X-", 3) == 0;

        if (boundary || conll_begins_with(text, n, "-DOCSTART-"))
                ran_buf_char(out, '_');
        add_field(out, text, n);
}

/* The next of tags that end with a newline each. */
static void add_tag(const struct ran_buf *tags, size_t *at, struct ran_buf *out)
{
        const char *tag = *at < tags->len ? tags->data + *at : "";
        const char *feed = *at < tags->len ? memchr(tag, '\n', tags->len - *at) : NULL;
        size_t n = feed != NULL ? (size_t)(feed - tag) : 0;

        add_field(out, tag, n);
        *at += n + (feed != NULL);
}

/* Appends the unchanged lines of a sentence with one more column: the tags of the words, in
 * order. Each tag ends with a newline. */
static void add_column_of(const struct conll *c, const char *block, size_t n,
                          const struct ran_buf *tags, struct ran_buf *out)
{
        struct walk w = {.block = {.s = block, .n = n}};
        size_t at = 0;
        bool inside = false;

        while (next_line(&w)) {
                enum line_kind kind = line_kind(c, w.line, w.n, inside);
                inside |= kind == WORD;
                bool begins = kind == OTHER && conll_begins_with(w.line, w.n, "-DOCSTART-");
                ran_buf_add(out, w.line, w.n);
                if (kind != OTHER || begins)
                        ran_buf_char(out, c->tabs ? '\t' : ' ');
                if (kind == WORD)
                        add_tag(tags, &at, out);
                else if (kind == RANGE || begins)
                        ran_buf_char(out, begins ? 'O' : '_');
                ran_buf_char(out, '\n');
        }
        ran_buf_char(out, '\n');
}

/* Columns of the input stay, and the tags wait until they are all there. */
static void write_word(struct output_words *w, const char *word, size_t n, const char *tag)
{
        struct ran_buf *out = w->line->columns != NULL ? w->tags : w->out;

        if (w->line->columns == NULL) {
                add_word(out, word, n);
                ran_buf_char(out, ' ');
        }
        add_field(out, tag, strlen(tag));
        ran_buf_char(out, '\n');
}

static void end_sentence(struct output_words *w)
{
        if (w->line->columns == NULL)
                ran_buf_char(w->out, '\n');
}

static void end_words(struct output_words *w)
{
        const struct cmd_line *line = w->line;

        if (line->columns != NULL)
                add_column_of(line->columns, line->raw, line->raw_length, w->tags, w->out);
        else
                ran_buf_char(w->out, '\n');
}

const struct output_format output_conll = {
        .kind = OUTPUT_TAGS, .word = write_word, .sentence = end_sentence, .tagged = end_words};

/* ---- the format ----------------------------------------------------------------------------- */

/* Where tabs separate columns, a comment needs no look at them. */
static enum lines_role role_with_tabs(const char *line, size_t n)
{
        const enum lines_role role = conll_role(line, n);
        const bool comment = n > 0 && line[0] == '#' && memchr(line, '\t', n) == NULL;

        return role == LINES_WORD && comment ? LINES_COMMENT : role;
}

static void look(struct import *i, const struct sample *sample)
{
        const char *line;
        size_t at = 0, n;

        i->role = conll_role;
        while (sample_next_full(sample, &at, &line, &n))
                if (line[0] != '#' && !conll_begins_with(line, n, "-DOCSTART-")) {
                        if (memchr(line, '\t', n) != NULL)
                                i->role = role_with_tabs;
                        return;
                }
}

static int begin(struct import *i, const struct text_line *first, struct ran_error *err)
{
        struct conll *c = ran_new(1, sizeof *c);

        *c = (struct conll){.word = i->word_column, .tag = i->tag_column};
        i->state = c;
        RAN_TRY(begin_file(c, first->s, first->n, err));
        if (c->numbered && !c->universal && i->word_column == 0)
                i->assumed = c->tag == 3 ? "the second column has the words, the third the tags"
                                         : "the second column has the words, the last the tags";
        return RAN_OK;
}

const struct conll *conll_of(const struct import *i)
{
        return i->format == &import_conll ? i->state : NULL;
}

const struct import_format import_conll = {
        .unit = LINES_SENTENCE,
        .looks_like = "CoNLL columns",
        .endings = (const char *const[]){".conll", ".conllu", ".iob", ".iob2", ".bio", NULL},
        .by_ending = true,
        .guess = conll_guess,
        .look = look,
        .begin = begin,
        .import = import,
};
