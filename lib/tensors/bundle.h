/* bundle.h - reading a checkpoint of TensorFlow, a "bundle" of two files:
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
#ifndef RAN_TENSORS_BUNDLE_H
#define RAN_TENSORS_BUNDLE_H

#include "tensors/tensors.h"

/* Checks and indexes a checkpoint of one data file, whose bytes stay the caller's and must outlive
 * t; those of the index may go. Tensors that hold no numbers, such as texts, are left out. On
 * failure t is released; the sentence says which of the two files is at fault, without its name. */
int ran_bundle_read(struct ran_tensors *t, const struct ran_bytes *index,
                    const struct ran_bytes *data, struct ran_error *err);

#endif
