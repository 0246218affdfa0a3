/* train.c - see train.h. */
#include "task/train.h"
#include "ran/train.h"

#define STRUCT(number, name) [RAN_TASK_##number] = &ran_train_##name,

static const struct ran_train_task *const tasks[] = {RAN_TASKS(STRUCT)};

const struct ran_train_task *ran_train_task_of(const struct ran_config *c)
{
        return tasks[c->task];
}

double ran_task_weight(const struct ran_task_batch *k, size_t b, size_t i)
{
        const struct ran_dataset *d = k->data;
        double weight = (double)d->weight[b];

        if (k->class_weight != NULL && !k->c->classify.multilabel && !k->c->tag.crf)
                weight *= k->class_weight[d->labels[d->label_first[b] + i]];
        return weight;
}
