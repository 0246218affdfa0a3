/* labels.c - the names of labels: no two are the same. */
#include "base/string-table.h"
#include "file/model.h"
#include "ran/model.h"

#include <string.h>

int ran_labels_check(char *const *label, size_t C, struct ran_error *err)
{
        struct ran_string_table names = {0};
        int rc = RAN_OK;

        ran_string_table_reserve(&names, C);
        for (size_t c = 0; rc == RAN_OK && c < C; c++) {
                const uint32_t i = ran_string_table_add(&names, label[c], strlen(label[c]));

                if (i != c)
                        rc = ran_fail(err, RAN_EFORMAT, "two labels have the name \"%s\"",
                                      label[c]);
        }
        ran_string_table_release(&names);
        return rc;
}
