/* ran.h - long-document text models: the public interface of libran. Conventions are on this page,
 * declarations in the headers by subject below, which may also be included one by one.
 *
 * Errors. The library never prints, exits, or asserts about input. A function that can fail takes a
 * `struct ran_error *` last. On failure it fills in a sentence for people and returns its code, or
 * NULL where it returns a pointer; RAN_OK is 0. On success it leaves the error untouched. The error
 * may be NULL.
 *
 * Memory. When it runs out, the library calls a handler that ends the process: one sentence, status
 * 3. A program may set its own (ran_memory_handler in ran/base.h). Where a file, a line or an
 * option gives a size, the call fails with RAN_ENOMEM instead. Files that were being written are as
 * before.
 *
 * Life cycle. _init and _release are for structs the caller owns; _new, _open or _load and _free
 * for structs allocated here. _free(NULL) does nothing; _release accepts a struct that is all zero,
 * that was released before, or whose _init or _open failed. After any failure, arguments can be
 * released. A returned pointer without such a verb is valid until the object it came from is freed.
 *
 * Names. Every global name begins with ran_ or RAN_, then the name of its module.
 *
 * Begin with these; share/examples/label.c uses them:
 *
 *      open       ran_model_open, ran_model_free, ran_model_label, ran_model_classes
 *      label      ran_state_new, ran_classify_text; ran_tokenizer_encode and ran_classify
 *      tag        ran_tag
 *      score      ran_lm_read, ran_lm_fill
 *      embed      ran_embedder_new, ran_embed
 *      train      ran_dataset_add, ran_dataset_finish, ran_train
 *
 * Dimension letters, the same everywhere: B documents, L tokens of a document, W window, m windows,
 * D model width, h heads, d_k width of a head, E = h d_k, V vocabulary, C classes, N layers.
 */
#ifndef RAN_H
#define RAN_H

#include "ran/base.h"
#include "ran/math.h"
#include "ran/record.h"
#include "ran/text.h"
#include "ran/mask.h"
#include "ran/model.h"
#include "ran/eval.h"
#include "ran/train.h"
#include "ran/distil.h"

#endif
