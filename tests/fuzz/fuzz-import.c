/* Any bytes as lines of another format than JSON, and as tuples of JSON: refused with a sentence,
 * or records; and what is written of columns are columns again. */
#include <stdlib.h>
#include <string.h>

#include "cmd/formats/import.h"
#include "cmd/formats/output.h"

static struct sample sample_of(const char *s, size_t n, bool all)
{
        struct sample sample = {.s = s, .n = n, .all = all};
        const char *line;
        size_t at = 0;

        (void)sample_next(&sample, &at, &line, &sample.first);
        return sample;
}

/* As a table of pandas, as a cell that is a list, and as the beginning of a file. */
static void whole(const char *s, size_t n)
{
        struct ran_buf out = {0};

        (void)frame_begins(s, n);
        (void)frame_lines(s, n, &out);
        (void)literal_json(s, n, &out);
        const struct sample sample = sample_of(s, n, false);
        import_guess("x", &sample, &(enum import_match){0});
        ran_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int rc, const struct ran_buf *out, struct ran_error *err)
{
        struct ran_record r = {0};

        if (rc != RAN_OK && err->text[0] == '\0')
                abort();
        if (rc == RAN_OK && out->len > 0 && ran_record_scan(&r, out->data, out->len, err) != RAN_OK)
                abort();
        ran_record_release(&r);
}

static void import(const struct import_format *format, const struct text_line *piece)
{
        const struct import_columns columns = {.header = (int)(piece->n % 3),
                                               .quotes = (int)(piece->n / 3 % 3)};
        struct import how = {
                .format = format, .folder_label = piece->n % 2 == 0, .columns = &columns};
        struct ran_buf out = {0};
        struct ran_error err = {0};
        size_t line;

        if (format->look != NULL && piece->n > 0)
                format->look(&how, &(struct sample[]){sample_of(piece->s, piece->n, true)}[0]);
        int rc = format->begin != NULL ? format->begin(&how, piece, &err) : RAN_OK;
        if (rc == RAN_OK && format->unit == LINES_ROW) {
                csv_example(&how, &out);
                check(rc, &out, &err);
                out.len = 0;
        }

        if (rc == RAN_OK)
                rc = import_text_line(&how, piece, &out, &line, &err);
        if (format == &import_json) /* one line of what may be no JSON: the record's scan says so */
                out.len = 0;
        check(rc, &out, &err);
        if (rc == RAN_OK && format == &import_conll) {
                struct ran_buf none = {0};
                struct ran_buf written = {0}, again = {0};
                struct conll *columns = how.state;
                const struct cmd_line read = {
                        .raw = piece->s, .raw_length = piece->n, .columns = columns};
                output_conll.tagged(&(struct output_words){&read, &written, &none});
                columns->columns++;
                const struct text_line text = {.s = written.data, .n = written.len, .doc = 1};
                /* Between spaces a comment of two words looks like a word and what was predicted.
                 */
                const bool clear = columns->tabs || memchr(piece->s, '#', piece->n) == NULL;
                if (clear && import_conll.import(&how, &text, &again, &line, &err) != RAN_OK)
                        abort();
                ran_buf_release(&written);
                ran_buf_release(&again);
        }
        import_end(&how);
        ran_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *line = (const char *)data;
        const struct text_line piece = {.file = "folder/file", .s = line, .n = size, .doc = 1};

        import(&import_conll, &piece);
        import(&import_file, &piece);
        import(&import_csv, &piece);
        import(&import_tsv, &piece);
        import(&import_json, &piece);
        whole(line, size);
        if (memchr(line, '\n', size) != NULL)
                return 0; /* a line has none */
        kind_of(line, size);
        const struct sample all = sample_of(line, size, true);
        import_guess(NULL, &all, &(enum import_match){0});
        for (int i = 1; import_names[i] != NULL; i++)
                if (import_choice(i)->unit == LINES_EACH)
                        import(import_choice(i), &piece);
        return 0;
}
