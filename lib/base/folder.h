/* folder.h - the files of folders that others made. */
#ifndef RAN_BASE_FOLDER_H
#define RAN_BASE_FOLDER_H

#include "ran/base.h"

/* Opens FOLDER/BASE/NAME, a regular file of at most `most` bytes, without waiting; BASE may be "".
 * The sentence begins with what follows FOLDER/. RAN_EIO, and *absent unless that is NULL: there is
 * no such file; RAN_EFORMAT: it is a pipe, a device, a folder, or too large. */
int ran_folder_open(struct ran_bytes *file, const char *folder, const char *base, const char *name,
                    size_t most, bool *absent, struct ran_error *err);
bool ran_folder_has(const char *folder, const char *base, const char *name);

#endif
