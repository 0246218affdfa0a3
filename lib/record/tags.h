/* tags.h - which tag may follow which, for those who decode. */
#ifndef RAN_RECORD_TAGS_H
#define RAN_RECORD_TAGS_H

#include "ran.h"

/* Whether `tag` goes on with the entity that `before`, the tag to its left, is in. */
bool ran_tag_goes_on(const struct ran_tag *before, const struct ran_tag *tag);

/* What IOB2 allows with C different tags: start (C), whether a sentence may begin with a tag;
 * transition (C,C) [from, to], whether the one may come after the other. */
void ran_tags_allowed(bool *start, bool *transition, const struct ran_tag *tags, size_t C);

#endif
