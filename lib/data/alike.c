/* alike.c - documents that are nearly the same are a group, which a split does not separate. */
#include "base/error.h"
#include "ran/text.h"
#include "ran/train.h"

static int group_all(struct ran_dataset *d, struct ran_near_duplicates *known,
                     struct ran_shingles *s, struct ran_error *err)
{
        for (size_t b = 0; b < d->B; b++) {
                double similarity;
                size_t like;

                RAN_TRY(ran_shingles_of_ids(s, d->ids + d->first[b], d->first[b + 1] - d->first[b],
                                            err));
                RAN_TRY(ran_near_duplicates_find(known, s, &like, &similarity, err));
                RAN_TRY(ran_near_duplicates_add(known, s, err));
                d->group[b] = like == RAN_NO_TEXT ? b : d->group[like];
        }
        return RAN_OK;
}

int ran_dataset_group_alike(struct ran_dataset *d, double least, struct ran_error *err)
{
        struct ran_shingles s = {0};

        err = ran_error_or_spare(err);
        d->group = ran_spool_reserve(&d->spool.group, d->B, sizeof *d->group, err);
        if (d->group == NULL)
                return (int)err->code;
        struct ran_near_duplicates *known = ran_near_duplicates_new(least, err);
        const int rc = known == NULL ? (int)err->code : group_all(d, known, &s, err);
        ran_near_duplicates_free(known);
        ran_shingles_release(&s);
        return rc;
}
