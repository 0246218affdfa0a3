/* tags.h - which tag may follow which, for decoders. */
#ifndef RAN_RECORD_TAGS_H
#define RAN_RECORD_TAGS_H

#include "ran/record.h"

/* The C labels of a tagger as tags, which the caller frees; NULL: they mark no entities. foreign:
 * others trained it, and may use any scheme: types without a part, if there is an O, are I-; a
 * label that is none, such as [PAD], is one more O. Else all must be tags of a scheme. */
struct ran_tag *ran_tags_of(char *const *label, size_t C, bool foreign);

/* Whether `tag` continues the entity of `before`, the tag to its left. */
bool ran_tag_goes_on(const struct ran_tag *before, const struct ran_tag *tag);

/* The transitions that IOB2 allows among C tags. start (C): the tag may begin a sentence, and then
 * may follow any tag. open (C): an entity may continue after the tag. type (C): a number < C for
 * each type. A tag that may not begin a sentence must continue an open tag of its type. */
void ran_tags_rules(bool *start, bool *open, uint32_t *type, const struct ran_tag *tags, size_t C);

#endif
