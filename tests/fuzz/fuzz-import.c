/* Any bytes as a line of another format than JSON: refused with a sentence, or a record. */
#include <stdlib.h>
#include <string.h>

#include "../../cmd/cmd.h"
#include "../../cmd/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void import(int format, const char *line, size_t n)
{
        struct ran_buf out = {0};
        struct ran_record r = {0};
        struct ran_error err = {0};
        int rc = import_line(format, line, n, &out, &err);

        if (rc != RAN_OK && err.text[0] == '\0')
                abort();
        if (rc == RAN_OK && ran_record_scan(&r, out.data, out.len, &err) != RAN_OK)
                abort();
        ran_record_release(&r);
        ran_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *line = (const char *)data;

        if (memchr(line, '\n', size) != NULL)
                return 0; /* a line has none */
        import_guess(line, size);
        import(CMD_FORMAT_FASTTEXT, line, size);
        import(CMD_FORMAT_FASTTEXT_LABELS, line, size);
        import(CMD_FORMAT_TSV, line, size);
        import(CMD_FORMAT_TEXT, line, size);
        return 0;
}
