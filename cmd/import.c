/* import.c - lines of other formats as JSON records.
 *
 * fasttext:  words that begin with "__label__", wherever they stand, are labels; the rest is the
 * text. One label becomes `label`, any other number of them `labels`; fasttext-labels makes it
 * `labels` always, as documents with several labels need. tsv:       label, tab, text. text: the
 * line is the text.
 */
#include "import.h"

#include <string.h>

#include "cmd.h"

static const char prefix[] = "__label__";
enum { PREFIX = sizeof(prefix) - 1 };

/* What separates words for fastText; a NUL, too. */
static bool is_space(char c)
{
        return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
}

/* The next run of white space [*gap, *word) and word [*word, *end) from `at` on; false when no word
 * is left. */
static bool next_word(const char *s, size_t n, size_t at, size_t *word, size_t *end)
{
        while (at < n && is_space(s[at]))
                at++;
        *word = at;
        while (at < n && !is_space(s[at]))
                at++;
        *end = at;
        return *word < *end;
}

static bool is_label(const char *word, size_t n)
{
        return n >= PREFIX && memcmp(word, prefix, PREFIX) == 0;
}

int import_guess(const char *line, size_t n)
{
        size_t word, end = 0;

        if (!next_word(line, n, 0, &word, &end) || line[word] == '{')
                return CMD_FORMAT_JSONL;
        do {
                if (is_label(line + word, end - word))
                        return CMD_FORMAT_FASTTEXT;
        } while (next_word(line, n, end, &word, &end));
        return CMD_FORMAT_JSONL;
}

/* Labels as JSON strings, a comma between, and what is left of the line. */
static void part_fasttext(const char *s, size_t n, struct ran_buf *labels, size_t *count,
                          struct ran_buf *text)
{
        size_t word, end = 0;

        for (size_t gap = 0; next_word(s, n, gap, &word, &end); gap = end) {
                if (is_label(s + word, end - word)) {
                        if ((*count)++ > 0)
                                ran_buf_char(labels, ',');
                        ran_buf_json(labels, s + word + PREFIX, end - word - PREFIX);
                } else if (text->len == 0) {
                        ran_buf_add(text, s + word, end - word);
                } else {
                        ran_buf_add(text, s + gap, end - gap);
                }
        }
}

static void import_fasttext(bool several, const char *s, size_t n, struct ran_buf *out)
{
        struct ran_buf labels = {0}, text = {0};
        size_t count = 0;

        part_fasttext(s, n, &labels, &count, &text);
        ran_buf_char(out, '{');
        several = several || count > 1;
        if (several || count == 1) {
                ran_buf_str(out, several ? "\"labels\":[" : "\"label\":");
                ran_buf_add(out, labels.data, labels.len);
                ran_buf_str(out, several ? "]," : ",");
        }
        ran_buf_str(out, "\"text\":");
        ran_buf_json(out, text.data, text.len);
        ran_buf_char(out, '}');
        out->failed |= labels.failed | text.failed;
        ran_buf_release(&labels);
        ran_buf_release(&text);
}

static int import_tsv(const char *s, size_t n, struct ran_buf *out, struct ran_error *err)
{
        const char *tab = memchr(s, '\t', n);

        if (tab == NULL)
                return ran_fail(err, RAN_EFORMAT, "no tab: a line must be a label, a tab, a text");
        size_t label = (size_t)(tab - s);
        ran_buf_str(out, "{\"label\":");
        ran_buf_json(out, s, label);
        ran_buf_str(out, ",\"text\":");
        ran_buf_json(out, tab + 1, n - label - 1);
        ran_buf_char(out, '}');
        return RAN_OK;
}

static void import_text(const char *s, size_t n, struct ran_buf *out)
{
        ran_buf_str(out, "{\"text\":");
        ran_buf_json(out, s, n);
        ran_buf_char(out, '}');
}

int import_line(int format, const char *line, size_t n, struct ran_buf *out, struct ran_error *err)
{
        size_t valid = ran_utf8_valid(line, n);
        int code = RAN_OK;

        if (valid < n)
                return ran_fail(err, RAN_EFORMAT, "column %zu: this is not valid UTF-8", valid + 1);
        if (format == CMD_FORMAT_TSV)
                code = import_tsv(line, n, out, err);
        else if (format == CMD_FORMAT_TEXT)
                import_text(line, n, out);
        else
                import_fasttext(format == CMD_FORMAT_FASTTEXT_LABELS, line, n, out);
        if (code == RAN_OK && out->failed)
                code = ran_fail(err, RAN_ENOMEM, "no memory for a line of %zu bytes", n);
        return code;
}
