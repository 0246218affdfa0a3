/* charsmap.h - the precompiled map of characters of SentencePiece: a trie of texts ("double
 * array") and what each becomes. It comes from a file and is not trusted. */
#ifndef RAN_TEXT_CHARSMAP_H
#define RAN_TEXT_CHARSMAP_H

#include "text/words/normalizer.h"

struct ran_charsmap;
/* From base64. NULL: RAN_EFORMAT, RAN_ENOMEM. */
struct ran_charsmap *ran_charsmap_new(const char *base64, size_t n, struct ran_error *err);
void ran_charsmap_free(struct ran_charsmap *m);
/* Replaces what is in the map, as the library of Hugging Face does: a cluster of characters
 * (grapheme) of less than six bytes as a whole, else each character by itself. Ranges are the
 * library's (see ran_glyphs_settle). *changed: whether anything was; if not, `out` is not filled.
 */
int ran_charsmap_apply(const struct ran_charsmap *m, struct ran_glyphs *out,
                       const struct ran_glyphs *in, bool *changed, struct ran_error *err);

#endif
