/* files.h - which files are read: operands, folders among them, and lists of names. */
#ifndef CMD_RECORDS_FILES_H
#define CMD_RECORDS_FILES_H

#include "cmd/records/io.h"

/* The operands and the names that --files-from lists, NULL at the end; dies with 3 when the list
 * cannot be read or is empty. Once, and before anything else looks at operands (files.c). */
char **cmd_files(const struct cmd_input *input, char **operands);

struct files {
        char **name;    /* (n + 1) NULL at the end */
        bool *document; /* (n) all of the file is a document, whatever --input-format=auto thinks */
        size_t n, name_cap, document_cap;
};

/* The operands, NULL at the end (none: standard input), with the files of a folder in its place, in
 * the order of their names; those that begin with a dot are left out. RAN_EIO for a folder that
 * cannot be read or has no file, and for what cannot be opened, except for a document in a folder
 * or of a list: that is found out when its turn comes. The names live as long as the program. */
int files_expand(struct files *f, char **operands, const struct cmd_input *input,
                 struct ran_error *err);
void files_release(struct files *f);

#endif
