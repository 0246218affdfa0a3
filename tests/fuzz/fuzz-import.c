/* Any bytes as lines of another format than JSON, and as tuples of JSON: refused with a sentence,
 * or records; and what is written of columns are columns again. */
#include <stdlib.h>
#include <string.h>

#include "cmd/formats/import.h"

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

static void import(int format, const struct text_line *piece)
{
        struct import how = {.format = format, .folder_label = piece->n % 2 == 0};
        struct ran_buf out = {0};
        struct ran_error err = {0};
        size_t line;
        int rc = import_begin(&how, piece, &err);

        if (rc == RAN_OK)
                rc = import_piece(&how, piece, &out, &line, &err);
        check(rc, &out, &err);
        if (rc == RAN_OK && format == CMD_FORMAT_CONLL) {
                const struct ran_buf none = {0};
                struct ran_buf written = {0}, again = {0};
                conll_add_column(&how.conll, piece->s, piece->n, &none, &written);
                how.conll.columns++;
                if (conll_import(&how.conll, written.data, written.len, 1, &again, &line, &err) !=
                    RAN_OK)
                        abort();
                ran_buf_release(&written);
                ran_buf_release(&again);
        }
        ran_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *line = (const char *)data;
        const struct text_line piece = {.file = "folder/file", .s = line, .n = size, .doc = 1};

        import(CMD_FORMAT_CONLL, &piece);
        import(CMD_FORMAT_FILE, &piece);
        if (memchr(line, '\n', size) != NULL)
                return 0; /* a line has none */
        import_guess(line, size);
        import(CMD_FORMAT_JSONL, &piece);
        import(CMD_FORMAT_FASTTEXT, &piece);
        import(CMD_FORMAT_FASTTEXT_LABELS, &piece);
        import(CMD_FORMAT_TSV, &piece);
        import(CMD_FORMAT_TEXT, &piece);
        return 0;
}
