/* labels.c - the names of labels: no two are the same. */
#include "base/string-table.h"
#include "file/model.h"
#include "ran/model.h"

#include <string.h>

int ran_labels_check(char *const *label, size_t C, struct ran_error *err)
{
        struct ran_string_table names = {0};
        int rc = ran_string_table_reserve(&names, C, err);

        for (size_t c = 0; rc == RAN_OK && c < C; c++) {
                const char *name = label[c];
                size_t n = strlen(name);
                uint64_t hash = ran_string_table_hash(ran_string_table_seed, name, n);

                if (ran_string_table_find(&names, hash, "", 0, name, n) != RAN_STRING_TABLE_NONE)
                        rc = ran_fail(err, RAN_EFORMAT, "two labels have the name \"%s\"", name);
                else if (ran_string_table_add(&names, hash, name, n, err) == RAN_STRING_TABLE_NONE)
                        rc = RAN_ENOMEM;
        }
        ran_string_table_release(&names);
        return rc;
}
