/* work.c - runs the program's function on a unit of records, with a scratch. */
#include "cmd/records/run.h"

/* The good slots of [from, to) are items for the program. */
static void work_on(struct cmd_run *run, void *scratch, size_t from, size_t to)
{
        const struct cmd_loop *loop = run->loop;
        struct cmd_item *items = run->items + from;
        size_t n = 0;

        for (struct slot *slot = run->slots + from; slot < run->slots + to; slot++)
                if (slot->status == RECORD_GOOD)
                        items[n++] =
                                (struct cmd_item){&slot->line, &slot->result, &slot->err, RAN_OK};
        if (n > 0 && loop->work_all != NULL)
                loop->work_all(loop->arg, scratch, items, n);
        for (size_t i = 0; i < n && loop->work_all == NULL && loop->work != NULL; i++)
                items[i].code = loop->work(loop->arg, scratch, items[i].line, items[i].result,
                                           items[i].err);
        for (size_t i = from; i < to; i++)
                if (run->slots[i].status == RECORD_GOOD)
                        run->slots[i].status = run_status_of((items++)->code);
}

void run_work(struct cmd_run *run, size_t from, size_t to)
{
        const struct cmd_loop *loop = run->loop;
        const bool needs = loop->make_scratch != NULL || loop->scratch_size > 0;
        void *scratch = NULL;

        for (size_t i = from; i < to; i++) {
                struct slot *slot = &run->slots[i];
                if (!slot->read)
                        run_read(run, slot);
                if (loop->result_size > 0 && slot->result.found == NULL)
                        slot->result.found = ran_new(1, loop->result_size);
        }
        pthread_mutex_lock(&run->scratch_lock);
        if (run->scratch_count > 0)
                scratch = run->scratch[--run->scratch_count];
        pthread_mutex_unlock(&run->scratch_lock);
        if (scratch == NULL && needs)
                scratch = loop->make_scratch != NULL ? loop->make_scratch(loop->arg)
                                                     : ran_new(1, loop->scratch_size);
        work_on(run, scratch, from, to);
        if (scratch == NULL)
                return;
        pthread_mutex_lock(&run->scratch_lock);
        RAN_ROOM(run->scratch, run->scratch_cap, run->scratch_count + 1);
        run->scratch[run->scratch_count++] = scratch;
        pthread_mutex_unlock(&run->scratch_lock);
}
