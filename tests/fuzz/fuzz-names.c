/* Any bytes as the names of labels or tags that records give as numbers: refused with a sentence,
 * or names of which each has its number. The first byte says which of them. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/content/labels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const struct cmd_names *names, size_t i)
{
        const char *name;
        char number[32];
        size_t n;
        int length = snprintf(number, sizeof number, "%zu", i);

        if (cmd_names_find(names, number, (size_t)length, &name, &n, NULL) != RAN_OK ||
            name == NULL || (n > 0 && name + n > names->text.data + names->text.len))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct cmd_names names = {.file = "names"};
        struct ran_error err = {0};
        const char *name;
        size_t n;

        if (size < 1)
                return -1;
        int rc = cmd_names_read(&names, (const char *)data + 1, size - 1, data[0] & 1, &err);
        if (rc != RAN_OK && err.text[0] == '\0')
                abort();
        for (size_t i = 0; rc == RAN_OK && i < names.n; i++)
                check_name(&names, i);
        if (rc == RAN_OK && (names.n == 0 || cmd_names_find(&names, "99999999999999999999", 20,
                                                            &name, &n, &err) == RAN_OK))
                abort();
        cmd_names_release(&names);
        return 0;
}
