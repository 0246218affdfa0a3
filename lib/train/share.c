/* share.c - what several processes tell each other: see trainer.h. One list of broadcasts serves
 * both sides: rank 0 sends, the others receive. */
#include "train/trainer.h"

#include <stdlib.h>
#include <string.h>

/* ---- documents ------------------------------------------------------------------------------ */

/* Broadcasts the n objects that the pointer at `array` points to; other ranks keep them in the
 * spool. NULL at rank 0: none. */
static int broadcast_array(struct ran_ranks *r, size_t keep, struct ran_spool *spool, void *array,
                           size_t n, size_t size, struct ran_error *err)
{
        void *data;
        int there;

        memcpy(&data, array, sizeof data); /* a pointer to some type */
        there = data != NULL;
        RAN_TRY(ran_ranks_broadcast(r, &there, sizeof there, err));
        if (!there)
                return RAN_OK;
        if (r->rank > 0) {
                spool->keep = keep;
                const int rc = ran_spool_reserve(spool, array, n + 1, size, err);
                if (rc != RAN_OK)
                        return ran_ranks_break(r, rc);
                data = spool->data;
        }
        return ran_ranks_broadcast(r, data, n * size, err);
}

#define BROADCAST(member, n) \
        broadcast_array(r, d->keep, &d->spool.member, &d->member, n, sizeof *d->member, err)

static int broadcast_arrays(struct ran_ranks *r, struct ran_dataset *d, struct ran_error *err)
{
        RAN_TRY(BROADCAST(first, d->B + 1));
        RAN_TRY(BROADCAST(label_first, d->B + 1));
        RAN_TRY(BROADCAST(soft_first, d->B + 1));
        size_t tokens = d->first[d->B], labels = d->label_first[d->B];
        size_t soft = d->soft_first != NULL ? d->soft_first[d->B] : 0;
        RAN_TRY(BROADCAST(ids, tokens));
        RAN_TRY(BROADCAST(spelling, tokens * RAN_SPELLING));
        RAN_TRY(BROADCAST(labels, labels));
        RAN_TRY(BROADCAST(positions, labels));
        RAN_TRY(BROADCAST(begins, labels));
        RAN_TRY(BROADCAST(sources, d->B));
        RAN_TRY(BROADCAST(weight, d->B));
        RAN_TRY(BROADCAST(soft_labels, soft));
        RAN_TRY(BROADCAST(soft, soft));
        RAN_TRY(BROADCAST(guessed, d->B));
        RAN_TRY(BROADCAST(group, d->B));
        return RAN_OK;
}

/* Broadcasts names, each with its NUL. */
static int broadcast_names(struct ran_ranks *r, struct ran_dataset *d, struct ran_error *err)
{
        struct ran_buf names = {0};

        for (size_t c = 0; c < d->C && r->rank == 0; c++)
                ran_buf_add(&names, d->names[c], strlen(d->names[c]) + 1);
        uint64_t head[] = {d->C, names.len};
        int rc = ran_ranks_broadcast(r, head, sizeof head, err);
        if (rc == RAN_OK && r->rank > 0)
                names.data = ran_new(head[1], 1);
        if (rc == RAN_OK)
                rc = ran_ranks_broadcast(r, names.data, head[1], err);
        if (rc == RAN_OK && r->rank > 0) {
                char **name = ran_new(head[0], sizeof *name), *at = names.data;

                for (size_t c = 0; c < head[0]; c++, at += strlen(at) + 1)
                        name[c] = at;
                rc = ran_dataset_set_classes(d, name, head[0], err);
                free(name);
        }
        ran_buf_release(&names);
        return ran_ranks_break(r, rc);
}

static int broadcast_dataset(struct ran_ranks *r, struct ran_dataset *d, struct ran_error *err)
{
        uint64_t head[] = {d->B, d->keep, d->multilabel, d->given};

        RAN_TRY(ran_ranks_broadcast(r, head, sizeof head, err));
        RAN_TRY(ran_ranks_broadcast(r, d->digest, sizeof d->digest, err));
        d->B = head[0];
        d->keep = head[1];
        d->multilabel = head[2] != 0;
        d->given = head[3] != 0;
        if (d->B > 0)
                RAN_TRY(broadcast_arrays(r, d, err));
        return broadcast_names(r, d, err);
}

/* ---- vocabularies --------------------------------------------------------------------------- */

static int broadcast_tokenizer(struct ran_ranks *r, struct ran_tokenizer **tokenizer,
                               struct ran_error *err)
{
        size_t n = 0;
        const char *text = *tokenizer != NULL ? ran_tokenizer_json(*tokenizer, &n) : NULL;
        uint64_t bytes = n;

        RAN_TRY(ran_ranks_broadcast(r, &bytes, sizeof bytes, err));
        if (bytes == 0)
                return RAN_OK;
        if (r->rank == 0)
                return ran_ranks_broadcast(r, (char *)text, bytes, err);
        char *copy = ran_new(bytes, 1);
        int rc = ran_ranks_broadcast(r, copy, bytes, err);
        if (rc == RAN_OK && (*tokenizer = ran_tokenizer_load(copy, bytes, err)) == NULL)
                rc = ran_ranks_break(r, err->code);
        free(copy);
        return rc;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* The parts of a job that other ranks need; the rest concerns rank 0 alone. */
struct order {
        uint64_t V, threads;
        int dev, held_out, storage;
};

static int broadcast_job(struct ran_ranks *r, struct order *order, struct ran_share_job_copy *s,
                         struct ran_error *err)
{
        RAN_TRY(ran_ranks_broadcast(r, order, sizeof *order, err));
        RAN_TRY(ran_ranks_broadcast(r, &s->config, sizeof s->config, err));
        RAN_TRY(ran_ranks_broadcast(r, &s->settings, sizeof s->settings, err));
        RAN_TRY(broadcast_tokenizer(r, &s->tokenizer, err));
        RAN_TRY(broadcast_dataset(r, &s->train, err));
        if (order->dev)
                RAN_TRY(broadcast_dataset(r, &s->dev, err));
        if (!order->held_out)
                return RAN_OK;
        bool *held_out = s->held_out.data;
        const int rc = r->rank > 0 ? RAN_SPOOL(s->held_out, held_out, s->train.B, err) : RAN_OK;
        return rc == RAN_OK ? ran_ranks_broadcast(r, held_out, s->train.B * sizeof(bool), err)
                            : ran_ranks_break(r, rc);
}

int ran_share_job(const struct ran_train_job *job, struct ran_error *err)
{
        uint32_t what = RAN_RANKS_TRAIN;

        if (job->ranks == NULL)
                return RAN_OK;
        struct order order = {.V = job->V,
                              .threads = job->threads,
                              .dev = job->dev != NULL,
                              .held_out = job->held_out != NULL,
                              .storage = job->storage};
        /* Nothing of it is released: all is the caller's. */
        struct ran_share_job_copy s = {.config = *job->config,
                                       .settings = *job->settings,
                                       .train = *job->train,
                                       .tokenizer = (struct ran_tokenizer *)job->tokenizer,
                                       .held_out.data = (bool *)job->held_out};
        if (job->dev != NULL)
                s.dev = *job->dev;
        RAN_TRY(ran_ranks_broadcast(job->ranks, &what, sizeof what, err));
        return broadcast_job(job->ranks, &order, &s, err);
}

bool ran_share_receive(struct ran_share_job_copy *s, struct ran_ranks *ranks,
                       struct ran_pool **pool, struct ran_error *err)
{
        struct order order;
        uint32_t what;

        *s = (struct ran_share_job_copy){0};
        *err = (struct ran_error){0};
        if (ran_ranks_broadcast(ranks, &what, sizeof what, err) != RAN_OK ||
            what != RAN_RANKS_TRAIN || broadcast_job(ranks, &order, s, err) != RAN_OK)
                return false;
        if (*pool == NULL)
                *pool = ran_pool_new(order.threads > 0 ? order.threads : ran_threads_default(),
                                     err);
        if (*pool == NULL)
                return ran_ranks_break(ranks, RAN_ENOMEM), false;
        s->job = (struct ran_train_job){.config = &s->config,
                                        .settings = &s->settings,
                                        .train = &s->train,
                                        .dev = order.dev ? &s->dev : NULL,
                                        .held_out = order.held_out ? s->held_out.data : NULL,
                                        .tokenizer = s->tokenizer,
                                        .V = order.V,
                                        .storage = order.storage,
                                        .pool = *pool,
                                        .ranks = ranks};
        return true;
}

void ran_share_release(struct ran_share_job_copy *s)
{
        ran_dataset_release(&s->train);
        ran_dataset_release(&s->dev);
        ran_tokenizer_free(s->tokenizer);
        ran_spool_release(&s->held_out);
        *s = (struct ran_share_job_copy){0};
}

/* ---- agreement ------------------------------------------------------------------------------- */

int ran_lead(struct ran_trainer *t, int (*work)(struct ran_trainer *t, struct ran_error *err),
             struct ran_error *err)
{
        return ran_ranks_agree(t->job->ranks, ran_trainer_leads(t) ? work(t, err) : RAN_OK, err);
}

/* ---- states --------------------------------------------------------------------------------- */

int ran_share_numbers(struct ran_trainer *t, struct ran_error *err)
{
        return ran_ranks_broadcast(t->job->ranks, &t->at, sizeof t->at, err);
}

/* And the recurrent states of chunks. */
static int broadcast_state(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_ranks *r = t->job->ranks;
        struct ran_plan *plan = &t->loop.plan;
        struct ran_extra x[RAN_EXTRAS];
        const size_t n = ran_trainer_extras(t, RAN_FOR_RANKS, x);

        for (size_t i = 0; i < n; i++) {
                const size_t size = x[i].dtype == RAN_DTYPE_F64 ? sizeof(double) : sizeof(float);

                RAN_TRY(ran_ranks_broadcast(r, x[i].data, x[i].n * size, err));
        }
        RAN_TRY(ran_trainer_resume(t, err));
        if (plan->recurrent == NULL)
                return RAN_OK;
        float *data = ran_new_floats(ran_plan_floats(plan));
        if (r->rank == 0)
                ran_plan_pack(plan, data);
        int rc = ran_ranks_broadcast(r, data, ran_plan_floats(plan) * sizeof *data, err);
        if (rc == RAN_OK)
                rc = ran_plan_unpack(plan, data, err);
        free(data);
        return rc;
}

int ran_share_state(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_ranks *r = t->job->ranks;

        if (r == NULL)
                return RAN_OK;
        if (r->rank == 0)
                ran_trainer_note(t);
        return ran_ranks_break(r, broadcast_state(t, err));
}

/* ---- the same everywhere? ------------------------------------------------------------------- */

static uint64_t hash(uint64_t h, const float *x, size_t n) /* FNV-1a, a number at a time */
{
        uint32_t bits;

        for (size_t i = 0; i < n; i++) {
                memcpy(&bits, &x[i], sizeof bits);
                h = (h ^ bits) * 0x100000001b3u;
        }
        return h;
}

int ran_share_compare(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_ranks *r = t->job->ranks;
        uint64_t ours, theirs;
        int rc = RAN_OK;

        if (r == NULL)
                return RAN_OK;
        ours = hash(0xcbf29ce484222325u, t->weights.p.block, t->weights.layout.size);
        ours = hash(ours, t->weights.table.x, t->weights.table.rows * t->weights.table.width);
        if (r->rank > 0 && ran_ranks_send(r, 0, &ours, sizeof ours, err) != RAN_OK)
                return err->code;
        for (size_t i = 1; r->rank == 0 && i < r->n; i++) {
                RAN_TRY(ran_ranks_receive(r, i, &theirs, sizeof theirs, err));
                if (theirs != ours && rc == RAN_OK)
                        rc = ran_fail(err, RAN_EINVAL,
                                      "rank %zu has other weights than rank 0: its processor "
                                      "computes differently; set RAN_ISA=portable on all "
                                      "hosts (mpirun -x RAN_ISA=portable)",
                                      i);
        }
        return ran_ranks_agree(r, rc, err);
}
