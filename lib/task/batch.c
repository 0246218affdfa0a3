/* batch.c - what the tasks know of a batch: see train.h. */
#include "task/train.h"
#include "nn/part.h"

#include <stdlib.h>

void ran_task_scratch_release(struct ran_task_scratch *s)
{
        ran_workspace_release(&s->work);
        ran_packed_release(&s->packed);
        free(s->document);
        free(s->crf);
        free(s->gold);
        free(s->scale);
        free(s->position);
        ran_masking_release(&s->masking);
}

double ran_task_weight(const struct ran_task_batch *k, size_t b, size_t i)
{
        const struct ran_dataset *d = k->data;
        double weight = (double)d->weight[b];

        if (k->class_weight != NULL && !k->c->classify.multilabel && !k->c->tag.crf)
                weight *= k->class_weight[d->labels[d->label_first[b] + i]];
        return weight;
}

double ran_task_documents(const struct ran_task_batch *k, struct ran_task_scratch *s,
                          struct ran_params *dp,
                          double (*lose)(const struct ran_task_batch *k, size_t b, const float *y,
                                         float *dy, double scale))
{
        const struct ran_head *h = &s->work.head;
        double sum = 0;

        ran_head(&s->work, k->p, k->C);
        for (size_t r = 0; r < s->packed.B; r++) {
                const size_t b = s->document[r];

                sum += lose(k, b, h->logits + r * k->C, h->dlogits + r * k->C,
                            ran_task_weight(k, b, 0) / k->terms);
        }
        ran_head_bwd(&s->work, k->p, dp, k->C);
        return sum;
}
