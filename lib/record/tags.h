/* tags.h - which tag may follow which, for those who decode. */
#ifndef RAN_RECORD_TAGS_H
#define RAN_RECORD_TAGS_H

#include "ran/record.h"

/* Whether `tag` goes on with the entity that `before`, the tag to its left, is in. */
bool ran_tag_goes_on(const struct ran_tag *before, const struct ran_tag *tag);

/* What IOB2 allows with C different tags: start (C), whether a sentence may begin with a tag, which
 * may then come anywhere; open (C), whether the entity of a tag may go on; type (C), a number for
 * each type, less than C. A tag that may not begin a sentence goes on with an open one of its type.
 * RAN_ENOMEM. */
int ran_tags_rules(bool *start, bool *open, uint32_t *type, const struct ran_tag *tags, size_t C,
                   struct ran_error *err);

#endif
