/* names.h - what the labels or tags are called that records give as numbers: --label-names. */
#ifndef CMD_RECORDS_NAMES_H
#define CMD_RECORDS_NAMES_H

#include "ran.h"

/* The name of 0, then that of 1, and so on. Zero-initialise: then there are none. */
struct cmd_names {
        const char
                *file; /* as given; NULL: there are none, and numbers count as they are written */
        struct ran_buf text; /* one after another */
        size_t *end;         /* (n) where each ends in text */
        size_t n, cap;
};
void cmd_names_release(struct cmd_names *names);

/* Reads a file, NULL for none, or dies: a name a line; or JSON, a list of names, or an object that
 * has them as `names`, as `id2label` (the config.json of a model of Hugging Face), or in `features`
 * (dataset_info.json of a data set), there as those of the tags if tags is set, else of the label.
 */
void cmd_names_open(struct cmd_names *names, const char *file, bool tags);
/* The same of the bytes of the file, for names with its name and nothing else yet, to be released
 * in any case. */
int cmd_names_read(struct cmd_names *names, const char *s, size_t n, bool tags,
                   struct ran_error *err);

/* The name of the number that is written [s, s+n); RAN_EFORMAT for one that has none. */
int cmd_names_find(const struct cmd_names *names, const char *s, size_t n, const char **name,
                   size_t *length, struct ran_error *err);

/* Of the option that names the file. */
#define CMD_NAMES_HELP                                                                             \
        "names of labels or tags that records give as numbers: a name a line, the first is 0; or " \
        "JSON, a list, or what a model or data set of Hugging Face has (id2label, features)"

#endif
