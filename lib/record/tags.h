/* tags.h - which tag may follow which, for decoders. */
#ifndef RAN_RECORD_TAGS_H
#define RAN_RECORD_TAGS_H

#include "ran/record.h"

/* The C labels of a tagger that others trained, as tags: in any scheme; types without a part, if
 * there is an O, are I-; a label that is none, such as [PAD], is one more O. False: they mark no
 * entities. */
bool ran_tags_guess(struct ran_tag *tags, char *const *label, size_t C);

/* Whether `tag` continues the entity of `before`, the tag to its left. */
bool ran_tag_goes_on(const struct ran_tag *before, const struct ran_tag *tag);

/* The transitions that IOB2 allows among C tags. start (C): the tag may begin a sentence, and then
 * may follow any tag. open (C): an entity may continue after the tag. type (C): a number < C for
 * each type. A tag that may not begin a sentence must continue an open tag of its type. RAN_ENOMEM.
 */
int ran_tags_rules(bool *start, bool *open, uint32_t *type, const struct ran_tag *tags, size_t C,
                   struct ran_error *err);

#endif
