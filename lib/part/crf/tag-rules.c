/* tag-rules.c - see tag-rules.h. */
#include "part/crf/tag-rules.h"
#include "record/tags.h"

#include <stdlib.h>
#include <string.h>

int ran_tag_rules_init(struct ran_tag_rules *r, char *const *names, size_t C, struct ran_error *err)
{
        struct ran_tag *tags = ran_alloc(C, sizeof *tags, err);
        bool all = true;

        *r = (struct ran_tag_rules){0};
        if (tags == NULL)
                return RAN_ENOMEM;
        for (size_t c = 0; c < C && all; c++)
                all = ran_tag_parse(&tags[c], names[c], strlen(names[c]), NULL) == RAN_OK;
        if (!all) { /* numbers, for example: any order is allowed */
                free(tags);
                return RAN_OK;
        }
        r->start = ran_alloc(C, sizeof *r->start, err);
        r->open = ran_alloc(C, sizeof *r->open, err);
        r->type = ran_alloc(C, sizeof *r->type, err);
        int rc = r->start != NULL && r->open != NULL && r->type != NULL
                         ? ran_tags_rules(r->start, r->open, r->type, tags, C, err)
                         : RAN_ENOMEM;
        free(tags);
        if (rc != RAN_OK)
                ran_tag_rules_release(r);
        return rc;
}

void ran_tag_rules_release(struct ran_tag_rules *r)
{
        free(r->start);
        free(r->open);
        free(r->type);
        *r = (struct ran_tag_rules){0};
}
