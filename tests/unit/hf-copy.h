/* hf-copy.h - copies of the folders of pretrained encoders, to be spoiled. All abort if they fail.
 */
#ifndef RAN_TESTS_UNIT_HF_COPY_H
#define RAN_TESTS_UNIT_HF_COPY_H

#include <stddef.h>

#define HF_FOLDERS "tests/encoders"

/* A copy of a folder that is then spoiled. */
char *hf_copy(const char *name);
char *hf_read(const char *folder, const char *name, size_t *n);
void hf_write(const char *folder, const char *name, const void *bytes, size_t n);
/* Replaces the first occurrence in a file; every spoiling must find something. */
void hf_replace(const char *folder, const char *name, const char *what, const char *with);
void hf_drop(const char *folder, const char *name);
/* The same wherever a tensor's name in model.safetensors begins with `what`. */
void hf_rename_tensors(const char *folder, const char *what, const char *with);
/* Adds a matrix of F32 to model.safetensors: of `value`, or a copy of the tensor `of`. */
void hf_add_tensor(const char *folder, const char *name, size_t rows, size_t cols, float value,
                   const char *of);

#endif
