/* vector-folder.h - the tensors of a folder of vectors. The folder: ran_vector_folder_open. */
#ifndef RAN_MODEL_VECTOR_FOLDER_H
#define RAN_MODEL_VECTOR_FOLDER_H

#include "ran/model.h"

/* The rows of the V tokens of a vocabulary, from the bytes of a model.safetensors. On failure
 * `rows` is released, and the sentence does not name the file. *static_embedding: the tensor is
 * called embedding.weight. */
int ran_vector_folder_rows(struct ran_embedding *rows, size_t V, const struct ran_bytes *file,
                           bool *static_embedding, struct ran_error *err);

#endif
