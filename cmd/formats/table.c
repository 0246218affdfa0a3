/* table.c - rows and cells of CSV and TSV, by RFC 4180. */
#include "cmd/formats/lines.h"

#include <string.h>

/* ---- rows ----------------------------------------------------------------------------------- */

static bool ends_line(char c)
{
        return c == '\n' || c == '\r';
}

/* The state behind a byte that ends no line. */
static void step(struct table_scan *t, char c)
{
        bool opens = t->state == TABLE_START || t->state == TABLE_CLOSED;

        if (c == ' ' && t->spaces && t->state == TABLE_START)
                return;
        if (c == '"' && opens && !t->no_quotes)
                t->state = TABLE_QUOTED;
        else
                t->state = c == t->delimiter ? TABLE_START : TABLE_PLAIN;
}

/* On to the next byte that may have a meaning; texts are long. */
static size_t skip(struct table_scan *t, const char *s, size_t n, size_t i)
{
        if (t->state == TABLE_QUOTED) {
                const char *quote = memchr(s + i, '"', n - i);
                if (quote == NULL)
                        return n;
                t->state = TABLE_CLOSED;
                return (size_t)(quote - s) + 1;
        }
        while (t->state == TABLE_PLAIN && i < n && s[i] != t->delimiter && !ends_line(s[i]))
                i++;
        return i;
}

bool table_row_end(struct table_scan *t, const char *s, size_t n, bool last, size_t *at,
                   size_t *end, size_t *next)
{
        size_t i = skip(t, s, n, *at);

        while (i < n && !(t->state != TABLE_QUOTED && ends_line(s[i]))) {
                if (t->state != TABLE_QUOTED)
                        step(t, s[i++]);
                i = skip(t, s, n, i);
        }
        *at = i;
        if (i == n && !(last && n > 0))
                return false;
        t->state = TABLE_START;
        t->returned = i + 1 == n && s[i] == '\r';
        *end = i;
        *next = i + (i < n);
        *next += *next < n && s[i] == '\r' && s[*next] == '\n';
        return true;
}

size_t table_line_ends(const char *s, size_t n)
{
        const char *feed = s, *end = s + n;
        size_t count = 0;

        for (; (feed = memchr(feed, '\n', (size_t)(end - feed))) != NULL; feed++)
                count++;
        for (feed = s; (feed = memchr(feed, '\r', (size_t)(end - feed))) != NULL; feed++)
                count += feed + 1 == end || feed[1] != '\n';
        return count;
}

/* ---- cells ---------------------------------------------------------------------------------- */

/* The end of the cell from `at` on, where no quote has a meaning. */
static size_t end_plain(const struct table_scan *t, const char *s, size_t n, size_t at)
{
        const char *delimiter = at < n ? memchr(s + at, t->delimiter, n - at) : NULL;

        return delimiter != NULL ? (size_t)(delimiter - s) : n;
}

/* A cell whose opening quote is at `at`; returns where it ends. */
static size_t read_quoted(const struct table_scan *t, const char *s, size_t n, size_t at,
                          struct table_cell *cell)
{
        size_t i = at + 1;

        for (;;) {
                const char *quote = i < n ? memchr(s + i, '"', n - i) : NULL;
                if (quote == NULL) {
                        *cell = (struct table_cell){{at, n}, true, true};
                        return n;
                }
                i = (size_t)(quote - s) + 1;
                if (i == n || s[i] != '"')
                        break;
                cell->escaped = true;
                i++;
        }
        size_t end = end_plain(t, s, n, i);
        cell->escaped |= end > i;
        cell->span = cell->escaped ? (struct ran_span){at, end} : (struct ran_span){at + 1, i - 1};
        return end;
}

bool table_next_cell(const struct table_scan *t, const char *s, size_t n, size_t *at,
                     struct table_cell *cell)
{
        size_t begin = *at, end;

        if (begin > n)
                return false;
        *cell = (struct table_cell){0};
        while (t->spaces && begin < n && s[begin] == ' ')
                begin++;
        if (begin < n && s[begin] == '"' && !t->no_quotes) {
                end = read_quoted(t, s, n, begin, cell);
        } else {
                end = end_plain(t, s, n, begin);
                cell->span = (struct ran_span){begin, end};
        }
        *at = end + 1;
        return true;
}

/* Appends the text of an escaped cell. */
static void decode(const char *s, const struct table_cell *cell, struct ran_buf *out)
{
        size_t at = cell->span.begin + 1, end = cell->span.end;

        while (at < end) {
                const char *quote = memchr(s + at, '"', end - at);
                size_t stop = quote != NULL ? (size_t)(quote - s) : end;
                ran_buf_add(out, s + at, stop - at);
                at = stop + 1;
                if (at >= end || s[at] != '"')
                        break; /* it is closed */
                ran_buf_char(out, '"');
                at++;
        }
        if (at < end)
                ran_buf_add(out, s + at, end - at);
}

const char *table_text(const char *s, const struct table_cell *cell, struct ran_buf *room,
                       size_t *n)
{
        *n = cell->span.end - cell->span.begin;
        if (!cell->escaped)
                return s + cell->span.begin;
        room->len = 0;
        decode(s, cell, room);
        *n = room->len;
        return *n > 0 ? room->data : "";
}

/* ---- delimiters ----------------------------------------------------------------------------- */

char table_delimiter(const char *text)
{
        static const struct {
                const char *word;
                char delimiter;
        } words[] = {{"tab", '\t'},      {"\\t", '\t'}, {"comma", ','},
                     {"semicolon", ';'}, {"pipe", '|'}, {"space", ' '}};

        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
                if (strcmp(text, words[i].word) == 0)
                        return words[i].delimiter;
        bool one = text[0] != '\0' && text[1] == '\0' && (unsigned char)text[0] < 0x80;
        return one && text[0] != '"' && !ends_line(text[0]) ? text[0] : '\0';
}

char table_guess_delimiter(const char *line, size_t n)
{
        static const char delimiters[] = ",;\t|";
        size_t count[sizeof delimiters] = {0}, best = 0;
        bool quoted = false;

        for (size_t i = 0; i < n; i++) {
                const char *found = line[i] != '\0' ? strchr(delimiters, line[i]) : NULL;
                quoted ^= line[i] == '"';
                if (found != NULL && !quoted)
                        count[found - delimiters]++;
        }
        for (size_t i = 1; delimiters[i] != '\0'; i++)
                if (count[i] > count[best])
                        best = i;
        return delimiters[best];
}
