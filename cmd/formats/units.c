/* units.c - divides what has arrived of a file into its units: lines, sentences, rows, values. */
#include "cmd/formats/lines.h"

#include <string.h>

bool units_begun_array(const struct lines *l)
{
        size_t at = l->begin + ran_utf8_mark(l->data + l->begin, l->end - l->begin);
        size_t brackets = 0;

        while (l->peeking && at < l->end && l->data[at] != '\0' &&
               strchr(" \t\r\n[", l->data[at]) != NULL)
                brackets += l->data[at++] == '[';
        return brackets > 0 && at < l->end && l->data[at] == '{' &&
               memchr(l->data + at, '}', l->end - at) != NULL;
}

/* ---- lines ---------------------------------------------------------------------------------- */

void units_strip(const char **s, size_t *n)
{
        size_t mark = ran_utf8_mark(*s, *n);

        *s += mark;
        *n -= mark;
        if (*n > 0 && (*s)[*n - 1] == '\r')
                --*n;
}

size_t units_count_feeds(const char *s, size_t n)
{
        size_t feeds = 0;

        for (const char *end = s + n; (s = memchr(s, '\n', (size_t)(end - s))) != NULL; s++)
                feeds++;
        return feeds;
}

void units_add(struct lines *l, struct text_line text)
{
        RAN_ROOM(l->line, l->line_cap, l->count + 1);
        text.file = l->file;
        if (l->unit != LINES_FILE && l->most > 0 && text.n > l->most) {
                text.n = 0;
                text.why = l->too_long;
        }
        if (text.s != NULL && !l->packed)
                text.offset = l->offset + (size_t)(text.s - l->data);
        l->line[l->count++] = text;
        l->more = l->count >= UNITS_MOST && l->unit != LINES_FILE;
}

void units_next_beside(struct lines *l, struct text_line *line)
{
        struct lines_beside *b = &l->beside;

        if (b->s == NULL)
                return;
        line->beside = b->s + b->at;
        const char *feed = memchr(line->beside, '\n', b->n - b->at);
        line->beside_n = feed != NULL ? (size_t)(feed - line->beside) : b->n - b->at;
        b->at += line->beside_n + (feed != NULL);
        units_strip(&line->beside, &line->beside_n);
}

static void add_line(struct lines *l, const char *s, size_t n)
{
        struct text_line line = {.number = l->at.number + 1, .before = l->at};

        units_strip(&s, &n);
        line.s = s;
        line.n = n;
        units_next_beside(l, &line);
        l->at.number++;
        if (l->beside.there ? n + line.beside_n == 0 && !l->beside.all : sample_is_blank(s, n))
                l->at.blank++;
        else
                units_add(l, line);
}

bool units_line(const struct lines *l, size_t from, size_t *n, size_t *next)
{
        const char *s = l->data + from;
        const char *feed = from < l->end ? memchr(s, '\n', l->end - from) : NULL;

        if (from == l->end || (feed == NULL && !l->ended && !units_begun_array(l)))
                return false;
        *n = feed != NULL ? (size_t)(feed - s) : l->end - from;
        *next = from + *n + (feed != NULL);
        return true;
}

static void split_each(struct lines *l)
{
        size_t n, next;

        while (!l->more && units_line(l, l->begin, &n, &next)) {
                add_line(l, l->data + l->begin, n);
                l->begin = next;
        }
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* The block ends before the byte `end`; the next one begins at `next`. */
static void end_block(struct lines *l, size_t end, size_t next)
{
        struct text_line block = {.s = l->data + l->begin,
                                  .n = end - l->begin,
                                  .number = l->first,
                                  .doc = l->at.doc,
                                  .before = l->began};

        units_strip(&block.s, &block.n);
        if (l->first > 0)
                units_add(l, block);
        l->began = l->at;
        l->begin = next;
        l->first = l->scanned = 0;
}

/* One line of a block. A line that begins a document belongs to the sentence after it, and ends the
 * one before it if no blank line does. */
static void scan_line(struct lines *l, const char *s, size_t n, size_t from, size_t next)
{
        units_strip(&s, &n);
        const enum lines_role role = l->role != NULL ? l->role(s, n) : LINES_WORD;
        const bool begins = role == LINES_DOCUMENT;
        if (begins && l->first > 0) {
                end_block(l, from - (from > l->begin), from);
                return;
        }
        l->at.number++;
        l->at.doc += begins;
        l->scanned = next - l->begin;
        if (!sample_is_blank(s, n)) {
                if (role == LINES_WORD && l->first == 0)
                        l->first = l->at.number;
                return;
        }
        l->at.blank++;
        if (l->first > 0) {
                end_block(l, from - 1, next);
        } else if (from == l->begin) { /* only blank lines precede it */
                l->began = l->at;
                l->begin = next;
                l->scanned = 0;
        }
}

static void split_blocks(struct lines *l)
{
        size_t n, next;

        while (!l->more && units_line(l, l->begin + l->scanned, &n, &next)) {
                size_t from = l->begin + l->scanned;
                scan_line(l, l->data + from, n, from, next);
        }
        if (l->ended && !l->more)
                end_block(l, l->end - (l->end > l->begin && l->data[l->end - 1] == '\n'), l->end);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* A row of nothing but delimiters, as spreadsheets leave them at the end, is blank. */
static bool is_blank_row(const struct lines *l, const char *s, size_t n)
{
        while (n > 0 && (sample_is_blank(s + n - 1, 1) || s[n - 1] == l->table.delimiter))
                n--;
        return n == 0;
}

static void add_row(struct lines *l, const char *s, size_t n)
{
        const size_t mark = ran_utf8_mark(s, n);
        const struct text_line row = {
                .s = s + mark, .n = n - mark, .number = l->at.number + 1, .before = l->at};

        l->at.number += 1 + table_line_ends(s, n);
        if (is_blank_row(l, row.s, row.n))
                l->at.blank++;
        else
                units_add(l, row);
}

/* A mark before a quote must not hide it. False if more bytes must tell. */
static bool pass_mark(struct lines *l)
{
        const size_t n = l->end - l->begin;

        if (l->scanned > 0)
                return true;
        if (n < 3 && !l->ended && memcmp(l->data + l->begin, "\xef\xbb\xbf", n) == 0)
                return false;
        l->scanned = ran_utf8_mark(l->data + l->begin, n);
        return true;
}

static void split_rows(struct lines *l)
{
        size_t end, next;

        if (l->begin < l->end && l->table.returned) {
                l->begin += l->data[l->begin] == '\n';
                l->table.returned = false;
        }
        while (!l->more && l->begin < l->end && pass_mark(l) &&
               table_row_end(&l->table, l->data + l->begin, l->end - l->begin, l->ended,
                             &l->scanned, &end, &next)) {
                add_row(l, l->data + l->begin, end);
                l->begin += next;
                l->scanned = 0;
        }
}

/* ---- JSON values ---------------------------------------------------------------------------- */

static void split_values(struct lines *l)
{
        while (!l->more) {
                if (l->scanned == 0) { /* at.number: the lines that have ended */
                        const bool first = l->offset + l->begin == 0;
                        const size_t mark = first ? ran_utf8_mark(l->data, l->end) : 0;
                        const size_t to = values_skip(&l->values, l->data, l->end, l->begin + mark);
                        l->at.number += units_count_feeds(l->data + l->begin, to - l->begin);
                        l->begin = to;
                }
                const char *s = l->data + l->begin;
                if (l->begin == l->end ||
                    !values_end(&l->values, s, l->end - l->begin, l->ended, &l->scanned))
                        break;
                /* Values on one line are numbered one by one. */
                l->last = l->at.number + 1 > l->last ? l->at.number + 1 : l->last + 1;
                units_add(l, (struct text_line){
                                     .s = s, .n = l->scanned, .number = l->last, .before = l->at});
                l->at.number += units_count_feeds(s, l->scanned);
                l->begin += l->scanned;
                l->scanned = 0;
        }
}

/* ---- any ------------------------------------------------------------------------------------ */

void units_split(struct lines *l)
{
        switch (l->unit) {
        case LINES_SENTENCE:
                split_blocks(l);
                break;
        case LINES_ROW:
                split_rows(l);
                break;
        case LINES_VALUE:
                split_values(l);
                break;
        default:
                split_each(l);
        }
        l->kept = l->scanned;
}
