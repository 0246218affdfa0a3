/* problems.h - what is wrong with data for training. */
#ifndef CMD_TRAIN_PROBLEMS_H
#define CMD_TRAIN_PROBLEMS_H

#include "cmd/train/data.h"

/* What forbids training, a sentence each. Zero-initialise. */
struct train_problems {
        char **sentence;
        size_t n, cap;
};
/* dev: NULL when there is none. bad_ok: bad lines are left out on purpose. */
void train_find_problems(struct train_problems *p, const struct train_data *train,
                         const struct train_data *dev, bool bad_ok);
void train_problems_release(struct train_problems *p);

#endif
