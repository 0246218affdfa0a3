/* files.h - which files are read: operands, files of folders, and lists of names. */
#ifndef CMD_RECORDS_FILES_H
#define CMD_RECORDS_FILES_H

#include "cmd/records/io.h"

/* The operands and the names that --files-from lists, NULL at the end; exits with 3 when the list
 * cannot be read or is empty. Call it once, before anything else looks at operands. */
char **cmd_files(const struct cmd_input *input, char **operands);

struct files {
        char **name;    /* (n + 1) NULL at the end */
        bool *document; /* (n) the file is one document, whatever its first line looks like */
        size_t n, name_cap, document_cap;
};

/* The operands, NULL at the end (none: standard input). In place of a folder, its files, sorted by
 * name, without those whose names begin with a dot. RAN_EIO for a folder that cannot be read or has
 * no file, and for a file that cannot be opened; a document in a folder or of a list fails later,
 * at its turn. The names live as long as the program. */
int files_expand(struct files *f, char **operands, const struct cmd_input *input,
                 struct ran_error *err);
void files_release(struct files *f);

#endif
