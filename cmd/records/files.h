/* files.h - the input files: operands, files of folders, and lists of names. */
#ifndef CMD_RECORDS_FILES_H
#define CMD_RECORDS_FILES_H

#include "cmd/records/io.h"

/* The operands and the names in --files-from, NULL at the end; exits with 3 if the list cannot
 * be read or is empty. Call it once, before anything else uses operands. */
char **cmd_files(const struct cmd_input *input, char **operands);

/* The files of an option, NULL at the end. */
char **cmd_files_of(const struct ran_list *list);

struct files {
        char **name;    /* (n + 1) NULL at the end */
        bool *document; /* (n) the file is one document: its format is not guessed */
        size_t n, name_cap, document_cap;
};

/* The operands, NULL at the end (none: standard input). A folder is replaced by its files,
 * sorted by name, without names that begin with a dot. RAN_EIO for a folder that cannot be read
 * or has no file, and for a file that cannot be opened; a document in a folder or of a list
 * fails later, when it is read. The names live until the program ends. */
int files_expand(struct files *f, char **operands, const struct cmd_input *input,
                 struct ran_error *err);
void files_release(struct files *f);

#endif
