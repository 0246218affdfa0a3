/* tag-rules.h - which sequences of tags a tagger may give. */
#ifndef RAN_MODEL_TAG_RULES_H
#define RAN_MODEL_TAG_RULES_H

#include "ran/model.h"

/* The sequences that IOB2 allows, if the names of the classes are tags. Otherwise everything is
 * allowed, and all members are NULL. */
struct ran_tag_rules {
        bool *start, *open; /* (C), as struct ran_crf_rules has them */
        uint32_t *type;
};
int ran_tag_rules_init(struct ran_tag_rules *r, char *const *names, size_t C,
                       struct ran_error *err);
void ran_tag_rules_release(struct ran_tag_rules *r);

#endif
