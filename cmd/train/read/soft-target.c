/* soft-target.c - the target of a document with probabilities from another model:
 *
 *      target(c) = share * soft(c) + (1 - share) * [c is a label of its own]
 *
 * where share is --soft-share, or 1 without a label of its own.
 */
#include "cmd/train/read/reader.h"

/* Adds the labels of the last document, each with that probability, to a target of n classes,
 * which may contain them already. Returns the new number of classes. */
static size_t mix_labels(struct train_reader *r, uint32_t *labels, float *p, size_t n,
                         double probability)
{
        const struct ran_dataset *set = &r->data->set;
        const size_t soft = n;

        for (size_t i = set->label_first[set->B - 1]; i < set->label_first[set->B]; i++) {
                size_t at = 0;

                while (at < soft && labels[at] != set->labels[i])
                        at++;
                if (at < soft) {
                        p[at] = (float)((double)p[at] + probability);
                } else {
                        labels[n] = set->labels[i];
                        p[n++] = (float)probability;
                }
        }
        return n;
}

int train_add_soft_target(struct train_reader *r, const struct train_document *d,
                          struct ran_error *err)
{
        const struct train_packed *head = d->head;
        struct ran_dataset *set = &r->data->set;
        bool own = head->soft > 0 && !head->guessed && r->source->soft_share < 1;
        double share = own ? r->source->soft_share : 1;
        uint32_t *labels = r->labels + head->n;
        size_t n = 0;

        RAN_ROOM(r->soft, r->soft_cap, head->soft + head->n);
        float *p = r->soft;
        for (size_t i = 0; i < head->soft; i++) {
                if (!(share * (double)d->soft[i] > 0) || labels[i] == RAN_LABEL_UNKNOWN)
                        continue;
                labels[n] = labels[i];
                p[n++] = (float)(share * (double)d->soft[i]);
        }
        if (own)
                n = mix_labels(r, labels, p, n, 1 - share);
        return ran_dataset_soft_target(set, labels, p, n, head->guessed, err);
}
