/* tensors.h - safetensors files: named tensors and metadata.
 *
 *     offset
 *     0      8      N, the size of the header: unsigned, little-endian
 *     8      N      the header: one JSON object in UTF-8, white space around it allowed
 *                     {"__metadata__": {"key": "text", ...},
 *                      "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *     8 + N         the data: tensors one after another without a hole, little-endian, the last
 *                   index fastest; data_offsets count from here
 *
 * The reader trusts nothing. It accepts only tensors of known types whose shapes, sizes and offsets
 * agree with each other and with the size of the file, and no name twice; shapes have up to
 * RAN_TENSOR_MAX_RANK dimensions. Element values may be any bytes.
 */
#ifndef RAN_MODEL_TENSORS_H
#define RAN_MODEL_TENSORS_H

#include "ran/model.h"

/* X(name, bytes), in the order that the format sorts by: smallest alignment first. Types of fewer
 * than eight bits, and those of eight that are no whole numbers, are none of a model here. */
#define RAN_DTYPE_LIST(X) \
        X(BOOL, 1)        \
        X(U8, 1)          \
        X(I8, 1)          \
        X(I16, 2)         \
        X(U16, 2)         \
        X(F16, 2)         \
        X(BF16, 2)        \
        X(I32, 4)         \
        X(U32, 4)         \
        X(F32, 4)         \
        X(F64, 8)         \
        X(I64, 8)         \
        X(U64, 8)
#define RAN_DTYPE_NUMBER(name, bytes) RAN_DTYPE_##name,
enum ran_dtype { RAN_DTYPE_LIST(RAN_DTYPE_NUMBER) RAN_DTYPES };
const char *ran_dtype_name(enum ran_dtype dtype);
size_t ran_dtype_bytes(enum ran_dtype dtype); /* of an element */

enum { RAN_TENSOR_MAX_RANK = 8 };
/* Elements of a shape, and the bytes they take; RAN_EFORMAT when a number overflows. */
int ran_dtype_size(enum ran_dtype dtype, const size_t *shape, size_t rank, size_t *elements,
                   size_t *bytes, struct ran_error *err);

/* ---- reading (read.c) ------------------------------------------------------------------------ */

/* Names, keys and texts end in a NUL but may contain others: hence the lengths. */
struct ran_tensor {
        const char *name;
        size_t name_n;
        enum ran_dtype dtype;
        size_t rank, shape[RAN_TENSOR_MAX_RANK];
        size_t elements;
        size_t begin, end; /* bytes of the data section */
};
struct ran_metadata {
        const char *key;
        size_t key_n;
        const char *text;
        size_t text_n;
};
struct ran_tensors {
        const unsigned char *data; /* the data section, inside the bytes that were read */
        size_t size;
        struct ran_tensor *tensor; /* (n) ordered by the bytes of their names */
        size_t n;
        struct ran_metadata *metadata; /* (metadata_n) ordered by the bytes of their keys */
        size_t metadata_n;
        struct ran_buf strings; /* the memory of all names, keys and texts */
};
/* Checks and indexes a file. The bytes stay the caller's and must outlive t. On failure t is
 * released; the sentence does not name the file. */
int ran_tensors_read(struct ran_tensors *t, const struct ran_bytes *file, struct ran_error *err);
void ran_tensors_release(struct ran_tensors *t);

/* NULL if no tensor has that name. */
const struct ran_tensor *ran_tensors_find(const struct ran_tensors *t, const char *name);
const struct ran_metadata *ran_tensors_metadata(const struct ran_tensors *t, const char *key);

/* Compares the data section with the SHA-256 digest in the metadata; RAN_EFORMAT when they differ
 * or there is none. */
int ran_tensors_verify(const struct ran_tensors *t, struct ran_error *err);

/* ---- elements (elements.c) ------------------------------------------------------------------- */

/* The elements of a tensor as they lie, if byte order and alignment allow it; otherwise NULL: copy
 * them. _in_place: of an F32 tensor. */
const void *ran_tensor_elements(const struct ran_tensors *t, const struct ran_tensor *tensor);
const float *ran_tensor_in_place(const struct ran_tensors *t, const struct ran_tensor *tensor);
/* The same of a U32 tensor; *copy, which the caller frees, holds them where they cannot be used in
 * place. */
const uint32_t *ran_tensor_integers(const struct ran_tensors *t, const struct ran_tensor *tensor,
                                    uint32_t **copy);
/* A matrix of I8 has a vector of scales, one a row, in the tensor NAME.scale (compact.h). */
#define RAN_SCALE_SUFFIX ".scale"
/* NULL if there is none of that shape; err says so. */
const struct ran_tensor *ran_tensor_scales(const struct ran_tensors *t,
                                           const struct ran_tensor *tensor, struct ran_error *err);
/* Copies the elements of a tensor of F32, F16, BF16, F64 (rounded), or I8 with scales, at any
 * address. */
int ran_tensor_floats(const struct ran_tensors *t, const struct ran_tensor *tensor, float *out,
                      struct ran_error *err);

/* ---- writing (write.c) ----------------------------------------------------------------------- */

struct ran_tensor_source {
        const char *name;
        enum ran_dtype dtype;
        size_t rank, shape[RAN_TENSOR_MAX_RANK];
        const void *data; /* in the byte order of this machine */
};
struct ran_metadata_source {
        const char *key, *text;
};
/* Writes a file whole or not at all (ran_writer). The bytes are a function of the contents: tensors
 * are ordered as the format's own writer does, metadata by key, whatever the order here; the data
 * section starts at a multiple of 64 bytes. `digest`, the SHA-256 of the data section, is added to
 * the metadata.
 * With `to`, the bytes are there instead; the caller releases them. Few ask for the digest, which
 * takes as long as the rest: it is 64 zeros until ran_tensors_close_digest. */
int ran_tensors_write(const char *path, struct ran_bytes *to,
                      const struct ran_tensor_source *tensors, size_t n,
                      const struct ran_metadata_source *metadata, size_t metadata_n,
                      struct ran_error *err);
/* Puts the digest of such bytes, which t was read from, in its place, and returns it. Not for files
 * that others have written, nor for two threads at once. */
const char *ran_tensors_close_digest(const struct ran_tensors *t, const struct ran_bytes *file);

/* ---- bundles (bundle.c) --------------------------------------------------------------------- */

/* A checkpoint of TensorFlow, a "bundle" of two files:
 *
 *   NAME.index                 a sorted table: a header under the empty key, then an entry for each
 *                              tensor under its name: type, shape, place and checksum
 *   NAME.data-00000-of-00001   the elements, little-endian
 *
 * The table is a run of blocks; the last 48 bytes of the file say where the block is that says
 * where the others are:
 *
 *   block    entries | restarts, u32 each | their number, u32 || kind, u8 | checksum, u32
 *   entry    shared, rest, length (varints) | rest of the key | value
 *            the first `shared` bytes of a key are those of the key before
 *   footer   place of the metaindex, of the index (varints, padded to 40 bytes) | magic, u64
 *
 * Checksums are CRC-32C, masked. Header and entries are protocol buffers. Nothing is trusted: sizes
 * and places are compared with the files, keys have to ascend, every checksum is computed.
 */

/* Checks and indexes a checkpoint of one data file, whose bytes stay the caller's and must outlive
 * t; those of the index may go. Tensors that hold no numbers, such as texts, are left out. On
 * failure t is released; the sentence says which of the two files is at fault, without its name. */
int ran_bundle_read(struct ran_tensors *t, const struct ran_bytes *index,
                    const struct ran_bytes *data, struct ran_error *err);

#endif
