/* import.c - lines, sentences and files of other formats as JSON records.
 *
 * fasttext:  words that begin with "__label__", wherever they stand, are labels; the rest is the
 * text. One label becomes `label`, any other number of them `labels`; fasttext-labels makes it
 * `labels` always, as documents with several labels need.
 * tsv:       label, tab, text.
 * text:      the line is the text.
 * conll:     a sentence of columns (conll.c).
 * file:      all of a file is the text, its path the id.
 */
#include "cmd/formats/import.h"

#include <string.h>

#include "cmd/formats/fasttext.h"

const char *const import_names[] = {"auto", "jsonl", "fasttext", "fasttext-labels", "conll", "tsv",
                                    "text", "file",  NULL};

enum { PREFIX = sizeof(FASTTEXT_PREFIX) - 1 };

/* The next run of white space [*gap, *word) and word [*word, *end) from `at` on; false when no word
 * is left. */
static bool next_word(const char *s, size_t n, size_t at, size_t *word, size_t *end)
{
        while (at < n && fasttext_is_space(s[at]))
                at++;
        *word = at;
        while (at < n && !fasttext_is_space(s[at]))
                at++;
        *end = at;
        return *word < *end;
}

static bool is_label(const char *word, size_t n)
{
        return n >= PREFIX && memcmp(word, FASTTEXT_PREFIX, PREFIX) == 0;
}

/* Label, tab, text: the label of a word that is not too long for one. */
static bool looks_like_tsv(const char *line, size_t n)
{
        const size_t longest = 64;
        const char *tab = memchr(line, '\t', n < longest ? n : longest);

        return tab != NULL && tab > line && memchr(line, ' ', (size_t)(tab - line)) == NULL;
}

int import_guess(const char *line, size_t n)
{
        size_t word, end = 0;

        if (!next_word(line, n, 0, &word, &end) || line[word] == '{' || line[word] == '[')
                return CMD_FORMAT_JSONL;
        do {
                if (is_label(line + word, end - word))
                        return CMD_FORMAT_FASTTEXT;
        } while (next_word(line, n, end, &word, &end));
        if (conll_guess(line, n))
                return CMD_FORMAT_CONLL;
        return looks_like_tsv(line, n) ? CMD_FORMAT_TSV : CMD_FORMAT_AUTO;
}

int import_unit(int format)
{
        return format == CMD_FORMAT_CONLL  ? LINES_BLOCKS
               : format == CMD_FORMAT_FILE ? LINES_WHOLE
                                           : LINES_EACH;
}

int import_begin(struct import *i, const struct text_line *first, struct ran_error *err)
{
        return i->format == CMD_FORMAT_CONLL ? conll_begin(&i->conll, first->s, first->n, err)
                                             : RAN_OK;
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

/* A document without a label is one with an empty field. */
static int import_tsv(const char *s, size_t n, struct ran_buf *out, struct ran_error *err)
{
        const char *tab = memchr(s, '\t', n);

        if (tab == NULL)
                return ran_fail(err, RAN_EFORMAT, "no tab: a line must be a label, a tab, a text");
        size_t label = (size_t)(tab - s);
        ran_buf_char(out, '{');
        if (label > 0) {
                ran_buf_str(out, "\"label\":");
                ran_buf_json(out, s, label);
                ran_buf_char(out, ',');
        }
        ran_buf_str(out, "\"text\":");
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

/* Where the bytes stop to be UTF-8. */
static int refuse_bytes(const struct text_line *piece, size_t valid, size_t *line,
                        struct ran_error *err)
{
        const char *s = piece->s, *end = s + valid, *feed;

        while ((feed = memchr(s, '\n', (size_t)(end - s))) != NULL) {
                ++*line;
                s = feed + 1;
        }
        return ran_fail(err, RAN_EFORMAT,
                        "column %zu: this is not valid UTF-8, which iconv makes of other encodings",
                        (size_t)(end - s) + 1);
}

/* ---- whole files ---------------------------------------------------------------------------- */

/* The name of the folder that a file is in; empty when its path does not say it, as a.txt, ./a.txt
 * and ../a.txt do not. */
static struct ran_span folder_of(const char *path)
{
        const char *name = strrchr(path, '/');
        size_t begin = name != NULL ? (size_t)(name - path) + 1 : 0, end;

        do {
                for (end = begin; end > 0 && path[end - 1] == '/';)
                        end--;
                for (begin = end; begin > 0 && path[begin - 1] != '/';)
                        begin--;
        } while (end - begin == 1 && path[begin] == '.');
        if (end - begin == 2 && memcmp(path + begin, "..", 2) == 0)
                return (struct ran_span){0, 0};
        return (struct ran_span){begin, end};
}

static void add_member(struct ran_buf *out, const char *name, const char *s, size_t n)
{
        ran_buf_str(out, out->len > 0 ? "," : "{");
        ran_buf_json(out, name, strlen(name));
        ran_buf_char(out, ':');
        ran_buf_json(out, s, n);
}

/* What can be read is there even if the rest cannot be. */
static int import_file(bool folder_label, const struct text_line *file, struct ran_buf *out,
                       size_t *line, struct ran_error *err)
{
        size_t n = strlen(file->file), valid = ran_utf8_valid(file->s, file->n);
        struct ran_span folder = folder_of(file->file);
        bool in_folder = folder.begin < folder.end;

        if (ran_utf8_valid(file->file, n) < n)
                return ran_fail(err, RAN_EFORMAT, "the name of the file is not valid UTF-8");
        add_member(out, "id", file->file, n);
        if (folder_label && in_folder)
                add_member(out, "label", file->file + folder.begin, folder.end - folder.begin);
        if (file->why == 0 && valid == file->n)
                add_member(out, "text", file->s, file->n);
        ran_buf_char(out, '}');
        if (file->why != 0)
                return ran_fail(err, RAN_EFORMAT, "the file cannot be read: %s",
                                strerror(file->why));
        if (valid < file->n)
                return refuse_bytes(file, valid, line, err);
        if (folder_label && !in_folder)
                return ran_fail(err, RAN_EFORMAT,
                                "--folder-label: the name of the file does not say which folder "
                                "it is in");
        return RAN_OK;
}

/* ---- JSON of another shape ------------------------------------------------------------------ */

/* spaCy's ["text", {"entities": ...}] becomes {"text": "text", "entities": ...}; anything else is
 * left as it is, for others to refuse. */
static int import_tuple(const char *s, size_t n, struct ran_buf *out, struct ran_error *err)
{
        struct ran_record r = {0};
        struct ran_buf object = {0};
        struct ran_span text, members, rest;
        char first = 0, second = 0, third;
        size_t pos = 0;

        ran_buf_str(&object, "{\"\":");
        ran_buf_add(&object, s, n);
        ran_buf_char(&object, '}');
        int code = object.failed ? ran_fail(err, RAN_ENOMEM, "no memory for a line of %zu bytes", n)
                                 : ran_record_scan(&r, object.data, object.len, err);
        if (code == RAN_OK && r.count == 1 && r.members[0].type == 'a' &&
            ran_json_next(r.line, r.members[0].value, &pos, NULL, &text, &first) &&
            ran_json_next(r.line, r.members[0].value, &pos, NULL, &members, &second) &&
            !ran_json_next(r.line, r.members[0].value, &pos, NULL, &rest, &third) && first == 's' &&
            second == 'o') {
                pos = 0;
                ran_buf_str(out, "{\"text\":");
                ran_buf_add(out, r.line + text.begin, text.end - text.begin);
                if (ran_json_next(r.line, members, &pos, &rest, &rest, &third))
                        ran_buf_char(out, ',');
                ran_buf_add(out, r.line + members.begin + 1, members.end - members.begin - 1);
        }
        ran_record_release(&r);
        ran_buf_release(&object);
        return code == RAN_ENOMEM ? code : RAN_OK;
}

static int import_json(const char *s, size_t n, struct ran_buf *out, struct ran_error *err)
{
        size_t at = 0;

        while (at < n && (s[at] == ' ' || s[at] == '\t'))
                at++;
        return at < n && s[at] == '[' ? import_tuple(s, n, out, err) : RAN_OK;
}

/* ---- any of them ---------------------------------------------------------------------------- */

static int import_any(const struct import *i, const struct text_line *piece, struct ran_buf *out,
                      size_t *line, struct ran_error *err)
{
        switch (i->format) {
        case CMD_FORMAT_CONLL:
                return conll_import(&i->conll, piece->s, piece->n, piece->doc, out, line, err);
        case CMD_FORMAT_TSV:
                return import_tsv(piece->s, piece->n, out, err);
        case CMD_FORMAT_TEXT:
                import_text(piece->s, piece->n, out);
                return RAN_OK;
        case CMD_FORMAT_FILE:
                return import_file(i->folder_label, piece, out, line, err);
        default:
                import_fasttext(i->format == CMD_FORMAT_FASTTEXT_LABELS, piece->s, piece->n, out);
                return RAN_OK;
        }
}

static const char *const seen[] = {
        [CMD_FORMAT_FASTTEXT] = "fastText's form",
        [CMD_FORMAT_CONLL] = "CoNLL's columns",
        [CMD_FORMAT_TSV] = "label, tab, text",
};

int import_piece(const struct import *i, const struct text_line *piece, struct ran_buf *out,
                 size_t *line, struct ran_error *err)
{
        struct ran_error why;

        *line = 0;
        if (i->format == CMD_FORMAT_JSONL)
                return import_json(piece->s, piece->n, out, err);
        size_t valid = i->format == CMD_FORMAT_FILE ? piece->n : ran_utf8_valid(piece->s, piece->n);
        int code = valid < piece->n ? refuse_bytes(piece, valid, line, &why)
                                    : import_any(i, piece, out, line, &why);
        if (code == RAN_OK && out->failed)
                code = ran_fail(&why, RAN_ENOMEM, "no memory for a line of %zu bytes", piece->n);
        if (code == RAN_EFORMAT && i->guessed)
                return ran_fail(err, code,
                                "%s (the first line of the file looked like %s; --input-format "
                                "says what it is)",
                                why.text, seen[i->format]);
        return code != RAN_OK ? ran_fail(err, code, "%s", why.text) : code;
}
