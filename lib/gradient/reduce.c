/* reduce.c - the sum of a batch's gradients over several processes (ranks.h).
 *
 * Each rank has neighbouring shards, and sums the subtrees of grad.h that they complete. Ranks send
 * these sums to a neighbour, which adds them wherever both halves of a larger subtree are there,
 * until rank 0 has the whole:
 *
 *     shards  0 1 2 | 3 4 | 5 6 7      three ranks
 *             (01)2   3 4   5(67)      what each can sum up
 *             ((01)(23)) 4  5(67)      rank 1 has sent 3 and 4 to rank 0
 *             (((01)(23))((45)(67)))   rank 2 has sent 5 and (67)
 *
 * So every addition has the same operands as in one process, and the same result. Only the non-zero
 * rows of tables are sent.
 */
#include "gradient/batch.h"
#include "ran/train.h"

#include <string.h>

/* The message of a gradient: this head, the block, ids of rows, the rows. */
struct head {
        uint64_t at, span, rows;
};

/* ---- rows that are not zero ------------------------------------------------------------------ */

static bool is_zero(const float *row, size_t n)
{
        uint32_t bits = 0, x;

        for (size_t i = 0; i < n; i++) {
                memcpy(&x, &row[i], sizeof x);
                bits |= x; /* -0 counts as a value: one process would add it, too */
        }
        return bits == 0;
}

/* Copies the non-zero rows of a dense gradient to the front of `to`, which may be the same
 * array, and their ids to t->touched. Returns their number. */
static size_t pack(struct ran_tree *t, float *to, const float *from)
{
        const size_t D = t->c->dim;
        size_t n = 0;

        RAN_ROOM(t->touched, t->touched_cap, t->V);
        for (size_t id = 0; id < t->V; id++)
                if (!is_zero(from + id * D, D)) {
                        memmove(to + n * D, from + id * D, D * sizeof *to);
                        t->touched[n++] = (uint32_t)id;
                }
        return n;
}

/* The inverse: moves n rows from the front of an otherwise zero array to the ids in t->touched. */
static int unpack(struct ran_tree *t, float *rows, size_t n, struct ran_error *err)
{
        size_t D = t->c->dim;

        for (size_t i = n; i-- > 0;) {
                size_t id = t->touched[i];

                if (id < i || id >= t->V)
                        return ran_fail(err, RAN_EFORMAT,
                                        "another rank sent rows that do not exist");
                if (id == i)
                        continue;
                memcpy(rows + id * D, rows + i * D, D * sizeof *rows);
                memset(rows + i * D, 0, D * sizeof *rows);
        }
        return RAN_OK;
}

static size_t trained_bytes(const struct ran_tree *t)
{
        return (t->size - t->from) * sizeof(float);
}

/* ---- one gradient ---------------------------------------------------------------------------- */

static int send_grad(struct ran_tree *t, struct ran_ranks *r, size_t to, size_t at, size_t span,
                     struct ran_grad *g, struct ran_error *err)
{
        struct head head = {.at = at, .span = span, .rows = g->rows.n};
        const uint32_t *ids = g->rows.ids;

        if (t->V > 0) {
                head.rows = pack(t, g->rows.rows, g->rows.rows);
                ids = t->touched;
        }
        RAN_TRY(ran_ranks_send(r, to, &head, sizeof head, err));
        RAN_TRY(ran_ranks_send(r, to, g->p.block + t->from, trained_bytes(t), err));
        RAN_TRY(ran_ranks_send(r, to, ids, head.rows * sizeof *ids, err));
        return ran_ranks_send(r, to, g->rows.rows, head.rows * t->c->dim * sizeof(float), err);
}

/* Makes room for rows to receive, and for their ids, in *ids. */
static int make_room(struct ran_tree *t, struct ran_grad *g, size_t n, uint32_t **ids,
                     struct ran_error *err)
{
        if (n > (t->V > 0 ? t->V : SIZE_MAX / sizeof(float) / t->c->dim))
                return ran_fail(err, RAN_EFORMAT, "another rank sent more rows than there are");
        if (t->V > 0)
                RAN_ROOM(t->touched, t->touched_cap, t->V);
        else if (n > 0)
                ran_grad_room(&g->rows, n, t->c->dim);
        if (t->V == 0)
                g->rows.n = n;
        *ids = t->V > 0 ? t->touched : g->rows.ids;
        return RAN_OK;
}

static int receive_into(struct ran_tree *t, struct ran_ranks *r, size_t from, struct head *head,
                        struct ran_grad *g, struct ran_error *err)
{
        uint32_t *ids;

        RAN_TRY(ran_ranks_receive(r, from, head, sizeof *head, err));
        if (head->at >= t->shards || head->span == 0 || head->at % head->span != 0)
                return ran_fail(err, RAN_EFORMAT, "another rank sent a sum of other shards");
        RAN_TRY(ran_ranks_receive(r, from, g->p.block + t->from, trained_bytes(t), err));
        RAN_TRY(make_room(t, g, head->rows, &ids, err));
        RAN_TRY(ran_ranks_receive(r, from, ids, head->rows * sizeof *ids, err));
        RAN_TRY(ran_ranks_receive(r, from, g->rows.rows, head->rows * t->c->dim * sizeof(float),
                                  err));
        return t->V > 0 ? unpack(t, g->rows.rows, head->rows, err) : RAN_OK;
}

static int receive_grad(struct ran_tree *t, struct ran_ranks *r, size_t from, struct ran_error *err)
{
        struct ran_grad *g = ran_tree_take(t);
        struct head head;

        const int rc = receive_into(t, r, from, &head, g, err);
        if (rc == RAN_OK)
                ran_tree_join(t, head.at, head.span, g);
        else
                ran_tree_give(t, g);
        return ran_ranks_break(r, rc);
}

/* ---- subtrees, towards rank 0 ---------------------------------------------------------------- */

/* Sends all sums that wait among shards [from, to), and the losses of these shards. */
static int send_subtrees(struct ran_tree *t, struct ran_ranks *r, size_t rank, size_t from,
                         size_t to, const double *loss, struct ran_error *err)
{
        uint64_t n = 0;

        for (size_t at = from; at < to; at++)
                n += t->ready[at].sum != NULL;
        RAN_TRY(ran_ranks_send(r, rank, &n, sizeof n, err));
        RAN_TRY(ran_ranks_send(r, rank, loss + from, (to - from) * sizeof *loss, err));
        for (size_t at = from; at < to; at++) {
                struct ran_subtree *s = &t->ready[at];

                if (s->sum == NULL)
                        continue;
                RAN_TRY(send_grad(t, r, rank, at, s->span, s->sum, err));
                ran_tree_give(t, s->sum);
                s->sum = NULL;
        }
        return RAN_OK;
}

static int receive_subtrees(struct ran_tree *t, struct ran_ranks *r, size_t rank, size_t from,
                            size_t to, double *loss, struct ran_error *err)
{
        uint64_t n;

        RAN_TRY(ran_ranks_receive(r, rank, &n, sizeof n, err));
        RAN_TRY(ran_ranks_receive(r, rank, loss + from, (to - from) * sizeof *loss, err));
        while (n-- > 0)
                RAN_TRY(receive_grad(t, r, rank, err));
        return RAN_OK;
}

static int collect(struct ran_tree *t, struct ran_ranks *r, const size_t *bound, double *loss,
                   struct ran_error *err)
{
        for (size_t step = 1; step < r->n; step *= 2) {
                size_t other = r->rank + step, end = other + step < r->n ? other + step : r->n;

                if (r->rank & step)
                        return send_subtrees(t, r, r->rank - step, bound[r->rank],
                                             bound[other < r->n ? other : r->n], loss, err);
                if (other < r->n &&
                    receive_subtrees(t, r, other, bound[other], bound[end], loss, err) != RAN_OK)
                        return err->code;
        }
        return RAN_OK;
}

/* ---- the sum, from rank 0 -------------------------------------------------------------------- */

/* Broadcasts the non-zero rows of g, which rank 0 packs. */
static int broadcast_packed(struct ran_tree *t, struct ran_ranks *r, const struct ran_grad *g,
                            struct ran_grad *packed, uint64_t *rows, struct ran_error *err)
{
        RAN_ROOM(t->touched, t->touched_cap, t->V);
        *rows = r->rank == 0 ? pack(t, packed->rows.rows, g->rows.rows) : 0;
        RAN_TRY(ran_ranks_broadcast(r, rows, sizeof *rows, err));
        RAN_TRY(ran_ranks_broadcast(r, t->touched, *rows * sizeof *t->touched, err));
        return ran_ranks_broadcast(r, packed->rows.rows, *rows * t->c->dim * sizeof(float), err);
}

/* Rows of a dense gradient are received into a second one, which has only the non-zero ones. */
static int broadcast_dense(struct ran_tree *t, struct ran_ranks *r, struct ran_grad *g,
                           struct ran_error *err)
{
        struct ran_grad *packed = r->rank == 0 ? ran_tree_take(t) : g;
        uint64_t rows = 0;

        int rc = broadcast_packed(t, r, g, packed, &rows, err);
        if (r->rank == 0)
                ran_tree_give(t, packed);
        else if (rc == RAN_OK)
                rc = unpack(t, g->rows.rows, rows, err);
        return ran_ranks_break(r, rc);
}

static int broadcast_sparse(struct ran_tree *t, struct ran_ranks *r, struct ran_grad *g,
                            struct ran_error *err)
{
        uint64_t rows = g->rows.n;
        uint32_t *ids;

        RAN_TRY(ran_ranks_broadcast(r, &rows, sizeof rows, err));
        if (r->rank > 0 && make_room(t, g, rows, &ids, err) != RAN_OK)
                return ran_ranks_break(r, err->code);
        RAN_TRY(ran_ranks_broadcast(r, g->rows.ids, rows * sizeof *g->rows.ids, err));
        return ran_ranks_broadcast(r, g->rows.rows, rows * t->c->dim * sizeof(float), err);
}

static int broadcast(struct ran_tree *t, struct ran_ranks *r, struct ran_grad *g, double *loss,
                     struct ran_error *err)
{
        RAN_TRY(ran_ranks_broadcast(r, loss, sizeof *loss, err));
        RAN_TRY(ran_ranks_broadcast(r, g->p.block + t->from, trained_bytes(t), err));
        return t->V > 0 ? broadcast_dense(t, r, g, err) : broadcast_sparse(t, r, g, err);
}

int ran_reduce(struct ran_tree *t, struct ran_ranks *ranks, const size_t *bound, double *loss,
               double *total, struct ran_grad **sum, struct ran_error *err)
{
        if (t->error.code != RAN_OK)
                return ran_ranks_break(ranks, ran_fail(err, t->error.code, "%s", t->error.text));
        if (ranks != NULL && collect(t, ranks, bound, loss, err) != RAN_OK)
                return err->code;
        *sum = ran_ranks_leads(ranks) ? ran_tree_sum(t) : ran_tree_take(t);
        if (*sum == NULL)
                return ran_ranks_break(
                        ranks, ran_fail(err, RAN_EFORMAT, "other ranks did not send all sums"));
        *total = 0;
        for (size_t s = 0; s < t->shards && ran_ranks_leads(ranks); s++)
                *total += loss[s];
        if (ranks == NULL || broadcast(t, ranks, *sum, total, err) == RAN_OK)
                return RAN_OK;
        ran_tree_give(t, *sum);
        return err->code;
}
