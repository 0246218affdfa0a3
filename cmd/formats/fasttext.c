/* fasttext.c - labels and text on a line: fastText's format.
 *
 * Words that begin with "__label__", wherever they stand, are labels; the rest is the text. One
 * label becomes `label`, any other number of them `labels`; the format fasttext-labels always makes
 * `labels`, for documents with any number of labels.
 */
#include <string.h>

#include "cmd/formats/import.h"
#include "cmd/formats/json.h"
#include "cmd/formats/output.h"

#define FASTTEXT_PREFIX "__label__"
enum { PREFIX = sizeof(FASTTEXT_PREFIX) - 1 };

/* The characters that separate words for fastText; a NUL, too. */
static bool is_space(char c)
{
        return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
}

/* ---- writing -------------------------------------------------------------------------------- */

/* White space would end a label, and an empty one would change its meaning. */
static const char *refuses(const char *label)
{
        bool space = *label == '\0';

        for (; *label != '\0'; label++)
                space |= is_space(*label);
        return space ? "is empty or has white space" : NULL;
}

static void add_label(struct ran_buf *out, const char *name)
{
        ran_buf_str(out, FASTTEXT_PREFIX);
        ran_buf_str(out, name);
        ran_buf_char(out, ' ');
}

/* The text or its tokens with a space between, on one line. */
static int add_text(struct ran_buf *out, const struct record *record, struct ran_error *err)
{
        const size_t begin = out->len;
        int rc = record_add_text(out, record, err);

        for (size_t i = begin; i < out->len && rc == RAN_OK; i++) {
                const bool first = i == begin || out->data[i - 1] == ' ';
                if (is_space(out->data[i]))
                        out->data[i] = ' ';
                if (first && out->len - i >= PREFIX &&
                    memcmp(out->data + i, FASTTEXT_PREFIX, PREFIX) == 0)
                        rc = ran_fail(err, RAN_EFORMAT,
                                      "the text has a word that begins with " FASTTEXT_PREFIX
                                      ", which fastText would take for a label");
        }
        ran_buf_char(out, '\n');
        return rc;
}

const struct output_format output_fasttext = {
        .kind = OUTPUT_LABELS, .refuses = refuses, .label = add_label, .labelled = add_text};

/* ---- reading -------------------------------------------------------------------------------- */

/* The next word [*word, *end) from `at` on; false when no word is left. */
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
        return n >= PREFIX && memcmp(word, FASTTEXT_PREFIX, PREFIX) == 0;
}

/* Labels become JSON strings with a comma between, the rest of the line the text. */
static int import(const struct import *i, const struct text_line *line, struct ran_buf *out,
                  size_t *bad, struct ran_error *err)
{
        struct ran_buf labels = {0}, text = {0};
        size_t count = 0, word, end = 0;

        (void)bad;
        (void)err;
        for (size_t gap = 0; next_word(line->s, line->n, gap, &word, &end); gap = end) {
                if (is_label(line->s + word, end - word)) {
                        count++;
                        json_string(&labels, line->s + word + PREFIX, end - word - PREFIX);
                } else {
                        const size_t begin = text.len == 0 ? word : gap;
                        ran_buf_add(&text, line->s + begin, end - begin);
                }
        }
        const bool several = i->format == &import_fasttext_labels || count > 1;
        json_begin(out, '{');
        if (several || count == 1) {
                json_name(out, several ? "labels" : "label");
                if (several)
                        json_begin(out, '[');
                json_raw(out, labels.data, labels.len);
                if (several)
                        json_end(out, ']');
        }
        json_put_string(out, "text", text.data, text.len);
        json_end(out, '}');
        ran_buf_release(&labels);
        ran_buf_release(&text);
        return RAN_OK;
}

/* A label comes first, or most lines have one somewhere. */
static enum import_match guess(const struct sample *sample)
{
        size_t at = 0, n, word, lines = 0, labelled = 0;
        const char *line;

        while (lines < SAMPLE_LINES && sample_next_full(sample, &at, &line, &n)) {
                size_t end = 0, words = 0;
                bool label = false;
                for (; !label && next_word(line, n, end, &word, &end); words++)
                        label = is_label(line + word, end - word);
                if (label && words == 1 && lines == 0)
                        return IMPORT_CLEAR;
                lines++;
                labelled += label;
                if (lines == 1 && labelled == 0)
                        return IMPORT_UNLIKE;
        }
        return labelled * 2 > lines ? IMPORT_LIKE : IMPORT_UNLIKE;
}

const struct import_format import_fasttext = {
        .unit = LINES_EACH,
        .looks_like = "fastText's format",
        .guess = guess,
        .import = import,
};
const struct import_format import_fasttext_labels = {.unit = LINES_EACH, .import = import};
