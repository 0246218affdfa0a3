/* estimate.c - the size of a training: its parameters, and the arithmetic of an epoch. */
#include "nn/part.h"
#include "ran/train.h"
#include "task/lm-output.h"
#include "task/train.h"

int ran_train_estimate(const struct ran_train_job *job, struct ran_train_estimate *e,
                       struct ran_error *err)
{
        const struct ran_dataset *d = job->train;
        const struct ran_config *c = job->config;
        const size_t V = job->tokenizer != NULL ? ran_tokenizer_size(job->tokenizer) : job->V;
        const size_t C = ran_task_is_tied(c) ? V : d->C;
        struct ran_layout layout;
        struct ran_table table;

        err = ran_error_or_spare(err);
        RAN_TRY(ran_config_check(c, err));
        RAN_TRY(ran_train_settings_check(job->settings, c, err));
        if (!ran_table_shape(&table, c, V))
                return ran_fail(err, RAN_EINVAL, "the vocabulary is too large");
        RAN_TRY(ran_layout_init(&layout, c, C, err));
        *e = (struct ran_train_estimate){.parameters = layout.size,
                                         .embedding_parameters =
                                                 table.rows * table.width + ran_parts_rows(c) * C};
        ran_layout_release(&layout);
        /* Layers that stay read each document once, which is no part of an epoch. */
        const double below = (double)ran_train_below(job->settings, c);
        const double share = 1 - below / (double)c->layers;
        /* The mean operations of a token's output: a predicted one needs products with all rows of
         * the first softmax. */
        const double rows = (double)(ran_lm_first(c, V) + ran_lm_tails(c, V));
        const bool masked = c->task == RAN_TASK_MLM && job->settings->mask_share > 0;
        const double predicted = masked ? job->settings->mask_share : ran_train_task_of(c)->outputs;
        const double outputs = ran_task_is_tied(c) ? predicted * 2 * (double)c->dim * rows : 0;
        for (size_t b = 0; b < d->B; b++) {
                const size_t L = d->first[b + 1] - d->first[b];

                if (L == 0)
                        return ran_fail(err, RAN_EINVAL, "a document without tokens");
                const double flops =
                        ran_encoder_flops(c, L, d->sources != NULL ? d->sources[b] : 0);
                e->flops += 3 * (share * flops + (double)L * outputs);
        }
        return RAN_OK;
}
