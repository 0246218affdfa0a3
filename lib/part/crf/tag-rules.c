/* tag-rules.c - which sequences of tags a tagger may give. See crf.h. */
#include "part/crf/crf.h"
#include "ran/record.h"

#include <stdlib.h>

void ran_tag_rules_init(struct ran_crf_rules *r, char *const *names, size_t C)
{
        struct ran_tag *tags = ran_tags_of(names, C, false);

        *r = (struct ran_crf_rules){0};
        if (tags != NULL) { /* not numbers, for example, for which any order is allowed */
                r->start = ran_new(C, sizeof *r->start);
                r->open = ran_new(C, sizeof *r->open);
                r->type = ran_new(C, sizeof *r->type);
                ran_tags_rules(r->start, r->open, r->type, tags, C);
        }
        free(tags);
}

void ran_tag_rules_release(struct ran_crf_rules *r)
{
        free(r->start);
        free(r->open);
        free(r->type);
        *r = (struct ran_crf_rules){0};
}
