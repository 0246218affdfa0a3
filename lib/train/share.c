/* share.c - see share.h. One list of broadcasts serves both sides: rank 0 sends, the
 * others receive. */
#include "train/share.h"
#include "ran/train.h"

#include <stdlib.h>
#include <string.h>

static int broadcast(struct ran_ranks *r, void *bytes, size_t n, struct ran_error *err)
{
        return ran_ranks_broadcast(r, bytes, n, err);
}

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
        RAN_TRY(broadcast(r, &there, sizeof there, err));
        if (!there)
                return RAN_OK;
        if (r->rank > 0) {
                spool->keep = keep;
                data = ran_spool_reserve(spool, n + 1, size, err);
                if (data == NULL)
                        return ran_ranks_break(r, err->code);
                memcpy(array, &data, sizeof data);
        }
        return broadcast(r, data, n * size, err);
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
static int pack_names(const struct ran_dataset *d, struct ran_buf *out, struct ran_error *err)
{
        for (size_t c = 0; c < d->C; c++)
                ran_buf_add(out, d->names[c], strlen(d->names[c]) + 1);
        return out->failed ? ran_fail(err, RAN_ENOMEM, "out of memory") : RAN_OK;
}

static int unpack_names(struct ran_dataset *d, char *names, size_t C, struct ran_error *err)
{
        char **name = ran_alloc(C, sizeof *name, err);

        if (name == NULL)
                return RAN_ENOMEM;
        for (size_t c = 0; c < C; c++, names += strlen(names) + 1)
                name[c] = names;
        int rc = ran_dataset_set_classes(d, name, C, err);
        free(name);
        return rc;
}

static int broadcast_packed(struct ran_ranks *r, struct ran_dataset *d, struct ran_buf *names,
                            struct ran_error *err)
{
        if (r->rank == 0)
                RAN_TRY(pack_names(d, names, err));
        uint64_t head[] = {d->C, names->len};
        RAN_TRY(broadcast(r, head, sizeof head, err));
        if (r->rank > 0 && (names->data = ran_alloc(head[1], 1, err)) == NULL)
                return RAN_ENOMEM;
        RAN_TRY(broadcast(r, names->data, head[1], err));
        return r->rank > 0 ? unpack_names(d, names->data, head[0], err) : RAN_OK;
}

static int broadcast_names(struct ran_ranks *r, struct ran_dataset *d, struct ran_error *err)
{
        struct ran_buf names = {0};
        const int rc = broadcast_packed(r, d, &names, err);

        free(names.data);
        return ran_ranks_break(r, rc);
}

static int broadcast_dataset(struct ran_ranks *r, struct ran_dataset *d, struct ran_error *err)
{
        uint64_t head[] = {d->B, d->keep, d->multilabel, d->given};

        RAN_TRY(broadcast(r, head, sizeof head, err));
        RAN_TRY(broadcast(r, d->digest, sizeof d->digest, err));
        d->B = head[0];
        d->keep = head[1];
        d->multilabel = head[2] != 0;
        d->given = head[3] != 0;
        if (d->B > 0)
                RAN_TRY(broadcast_arrays(r, d, err));
        return broadcast_names(r, d, err);
}

/* ---- vocabularies --------------------------------------------------------------------------- */

static int broadcast_tokenizer(struct ran_ranks *r, const struct ran_tokenizer *from,
                               struct ran_tokenizer **to, struct ran_error *err)
{
        size_t n = 0;
        const char *text = from != NULL ? ran_tokenizer_json(from, &n) : NULL;
        uint64_t bytes = n;

        RAN_TRY(broadcast(r, &bytes, sizeof bytes, err));
        if (bytes == 0)
                return RAN_OK;
        if (r->rank == 0)
                return broadcast(r, (char *)text, bytes, err);
        char *copy = ran_alloc(bytes, 1, err);
        if (copy == NULL)
                return ran_ranks_break(r, RAN_ENOMEM);
        int rc = broadcast(r, copy, bytes, err);
        if (rc == RAN_OK && (*to = ran_tokenizer_load(copy, bytes, err)) == NULL)
                rc = ran_ranks_break(r, err->code);
        free(copy);
        return rc;
}

/* ---- jobs ----------------------------------------------------------------------------------- */

/* The parts of a job that other ranks need; the rest concerns rank 0 alone. */
struct order {
        uint64_t V, threads, documents;
        int resume, dev, held_out, storage;
};

int ran_share_job(const struct ran_train_job *job, struct ran_error *err)
{
        struct ran_ranks *r = job->ranks;
        uint32_t what = RAN_RANKS_TRAIN;
        struct order order = {.V = job->V,
                              .threads = job->threads,
                              .documents = job->train->B,
                              .dev = job->dev != NULL,
                              .held_out = job->held_out != NULL,
                              .storage = job->storage};

        if (r == NULL)
                return RAN_OK;
        struct ran_dataset train = *job->train, dev = {0};
        if (job->dev != NULL)
                dev = *job->dev;
        RAN_TRY(broadcast(r, &what, sizeof what, err));
        RAN_TRY(broadcast(r, &order, sizeof order, err));
        RAN_TRY(broadcast(r, (void *)job->config, sizeof *job->config, err));
        RAN_TRY(broadcast(r, (void *)job->settings, sizeof *job->settings, err));
        RAN_TRY(broadcast_tokenizer(r, job->tokenizer, NULL, err));
        RAN_TRY(broadcast_dataset(r, &train, err));
        if (order.dev)
                RAN_TRY(broadcast_dataset(r, &dev, err));
        if (order.held_out)
                return broadcast(r, (void *)job->held_out, order.documents * sizeof *job->held_out,
                                 err);
        return RAN_OK;
}

static int receive_flags(struct ran_ranks *r, struct ran_spool *flags, size_t n,
                         struct ran_error *err)
{
        if (ran_spool_reserve(flags, n, sizeof(bool), err) == NULL)
                return ran_ranks_break(r, err->code);
        return broadcast(r, flags->data, n * sizeof(bool), err);
}

static int receive(struct ran_share_job_copy *s, struct ran_ranks *r, const struct order *order,
                   struct ran_error *err)
{
        size_t n = order->documents;

        RAN_TRY(broadcast(r, &s->config, sizeof s->config, err));
        RAN_TRY(broadcast(r, &s->settings, sizeof s->settings, err));
        RAN_TRY(broadcast_tokenizer(r, NULL, &s->tokenizer, err));
        RAN_TRY(broadcast_dataset(r, &s->train, err));
        if (order->dev)
                RAN_TRY(broadcast_dataset(r, &s->dev, err));
        if (order->held_out)
                return receive_flags(r, &s->held_out, n, err);
        return RAN_OK;
}

bool ran_share_receive(struct ran_share_job_copy *s, struct ran_ranks *ranks,
                       struct ran_pool **pool, struct ran_error *err)
{
        struct order order;
        uint32_t what;

        *s = (struct ran_share_job_copy){0};
        *err = (struct ran_error){0};
        if (broadcast(ranks, &what, sizeof what, err) != RAN_OK || what != RAN_RANKS_TRAIN ||
            broadcast(ranks, &order, sizeof order, err) != RAN_OK ||
            receive(s, ranks, &order, err) != RAN_OK)
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

int ran_whole(const struct ran_trainer *t, int rc)
{
        return ran_ranks_break(t->job->ranks, rc);
}

/* ---- states --------------------------------------------------------------------------------- */

int ran_share_numbers(struct ran_trainer *t, struct ran_error *err)
{
        return broadcast(t->job->ranks, &t->at, sizeof t->at, err);
}

static int broadcast_recurrent(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_ranks *r = t->job->ranks;
        size_t n = ran_plan_floats(&t->loop.plan);
        float *data = ran_alloc_floats(n, err);

        if (data == NULL)
                return RAN_ENOMEM;
        if (r->rank == 0)
                ran_plan_pack(&t->loop.plan, data);
        int rc = broadcast(r, data, n * sizeof *data, err);
        if (rc == RAN_OK)
                rc = ran_plan_unpack(&t->loop.plan, data, err);
        free(data);
        return rc;
}

static int broadcast_state(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_extra x[RAN_EXTRAS];
        const size_t n = ran_trainer_extras(t, RAN_FOR_RANKS, x);

        for (size_t i = 0; i < n; i++) {
                const size_t size = x[i].dtype == RAN_DTYPE_F64 ? sizeof(double) : sizeof(float);

                RAN_TRY(broadcast(t->job->ranks, x[i].data, x[i].n * size, err));
        }
        RAN_TRY(ran_trainer_resume(t, err));
        return t->loop.plan.recurrent != NULL ? broadcast_recurrent(t, err) : RAN_OK;
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
                struct ran_error lost;

                if (ran_ranks_receive(r, i, &theirs, sizeof theirs, &lost) != RAN_OK) {
                        *err = lost;
                        return err->code;
                }
                if (theirs != ours && rc == RAN_OK)
                        rc = ran_fail(err, RAN_EINVAL,
                                      "rank %zu has other weights than rank 0: its processor "
                                      "computes differently; set RAN_ISA=portable on all "
                                      "hosts (mpirun -x RAN_ISA=portable)",
                                      i);
        }
        return ran_ranks_agree(r, rc, err);
}
