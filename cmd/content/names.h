/* names.h - names of labels or tags that are numbers in records: --label-names. */
#ifndef CMD_CONTENT_NAMES_H
#define CMD_CONTENT_NAMES_H

#include "ran.h"

/* The name of 0, then that of 1, and so on. Zero-initialise: then there are none. */
struct cmd_names {
        const char *file;    /* as given; NULL: no names, numbers stay as they are written */
        struct ran_buf text; /* one after another */
        size_t *end;         /* (n) where each ends in text */
        size_t n, cap;
};
void cmd_names_release(struct cmd_names *names);

/* Reads a file, NULL for none; exits with 3 on failure. The file has a name a line, or JSON: a list
 * of names, or an object with `names`, `id2label` (config.json of a model of Hugging Face) or
 * `features` (dataset_info.json of a data set: the names of its tags if `tags` is set, else of its
 * label). */
void cmd_names_open(struct cmd_names *names, const char *file, bool tags);
/* Reads the bytes of a file. names has only the name of the file; release it in any case. */
int cmd_names_read(struct cmd_names *names, const char *s, size_t n, bool tags,
                   struct ran_error *err);

/* The name of the number with the digits [s, s+n); RAN_EFORMAT if it has none. */
int cmd_names_find(const struct cmd_names *names, const char *s, size_t n, const char **name,
                   size_t *length, struct ran_error *err);

/* Help of the option --label-names. */
#define CMD_NAMES_HELP                                                   \
        "names of numeric labels or tags: a file with one a line, from " \
        "0, or JSON (a list, id2label or features)"

#endif
