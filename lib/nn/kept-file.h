/* kept-file.h - a file that keeps what a pretrained encoder makes of texts, from run to run:
 * vectors of documents, or rows of tokens. It is a safetensors file whose metadata have its format,
 * a digest of the encoder and a digest of the data. */
#ifndef RAN_NN_KEPT_FILE_H
#define RAN_NN_KEPT_FILE_H

#include "tensors/tensors.h"

#include <stdbool.h>

enum ran_kept { RAN_KEPT_VECTORS, RAN_KEPT_ROWS };

struct ran_kept_file {
        struct ran_bytes bytes;
        struct ran_tensors tensors;
};

/* The format that the metadata have. */
const char *ran_kept_format(enum ran_kept kind);

/* A copy of the path, which the caller frees; *is_there: whether it can be read. */
char *ran_kept_path(const char *path, bool *is_there, struct ran_error *err);

/* Reads a file of that kind, whose data have the digest that is written in it, and copies the
 * digest of its encoder. RAN_EFORMAT: it is none, it is of the other kind, or it is damaged. The
 * file needs ran_kept_file_release in any case. */
int ran_kept_file_read(struct ran_kept_file *f, const char *path, enum ran_kept kind,
                       char encoder[65], struct ran_error *err);
void ran_kept_file_release(struct ran_kept_file *f);

/* The text of a member of the metadata; empty: there is none. */
const char *ran_kept_file_metadata(const struct ran_kept_file *f, const char *key);

/* RAN_EFORMAT, with a sentence. */
int ran_kept_file_damaged(const char *path, enum ran_kept kind, struct ran_error *err);

#endif
