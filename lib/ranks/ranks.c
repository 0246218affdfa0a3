/* ranks.c - see ranks.h. Trees of messages: log2 n steps for n ranks.
 *
 *   to rank 0          from rank 0
 *
 *   0 1 2 3 4 5        0
 *   0   2   4          0       4
 *   0       4          0   2   4
 *   0                  0 1 2 3 4 5
 */
#include "ranks/ranks.h"
#include "ran/math.h"

#include <string.h>
#include <unistd.h>

size_t ran_ranks_me(const struct ran_ranks *r)
{
        return r != NULL ? r->rank : 0;
}

size_t ran_ranks_count(const struct ran_ranks *r)
{
        return r != NULL ? r->n : 1;
}

int ran_ranks_break(struct ran_ranks *r, int rc)
{
        if (r != NULL && rc != RAN_OK)
                r->broken = true;
        return rc;
}

void ran_ranks_close(struct ran_ranks *r, int status)
{
        uint32_t what = RAN_RANKS_END;
        struct ran_error err;

        if (r == NULL)
                return;
        if (r->rank == 0 && !r->broken)
                ran_ranks_broadcast(r, &what, sizeof what, &err);
        r->links->close(r, status);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static int lost(struct ran_ranks *r, struct ran_error *err)
{
        return ran_fail(err, RAN_EIO, "rank %zu has lost the other ranks", r->rank);
}

int ran_ranks_send(struct ran_ranks *r, size_t to, const void *bytes, size_t n,
                   struct ran_error *err)
{
        if (r->broken)
                return lost(r, err);
        r->moved += n;
        return n > 0 && r->links->send(r, to, bytes, n, err) != RAN_OK
                       ? ran_ranks_break(r, err->code)
                       : RAN_OK;
}

int ran_ranks_receive(struct ran_ranks *r, size_t from, void *bytes, size_t n,
                      struct ran_error *err)
{
        if (r->broken)
                return lost(r, err);
        r->moved += n;
        return n > 0 && r->links->receive(r, from, bytes, n, err) != RAN_OK
                       ? ran_ranks_break(r, err->code)
                       : RAN_OK;
}

/* Rank r receives from the one without its lowest bit, and sends to those with a lower one more. */
int ran_ranks_broadcast(struct ran_ranks *r, void *bytes, size_t n, struct ran_error *err)
{
        size_t step = 1;
        int rc = RAN_OK;

        if (r == NULL || r->n == 1 || n == 0)
                return RAN_OK;
        if (r->broken)
                return lost(r, err);
        r->moved += n;
        if (r->links->broadcast != NULL)
                return ran_ranks_break(r, r->links->broadcast(r, bytes, n, err));
        while (step < r->n && (r->rank & step) == 0)
                step *= 2;
        if (r->rank > 0)
                rc = r->links->receive(r, r->rank - step, bytes, n, err);
        for (step /= 2; step > 0 && rc == RAN_OK; step /= 2)
                if (r->rank + step < r->n)
                        rc = r->links->send(r, r->rank + step, bytes, n, err);
        return ran_ranks_break(r, rc);
}

int ran_ranks_max(struct ran_ranks *r, int *value, struct ran_error *err)
{
        int theirs = 0, rc = RAN_OK;

        if (r == NULL)
                return RAN_OK;
        for (size_t step = 1; step < r->n && rc == RAN_OK; step *= 2) {
                if (r->rank & step) {
                        rc = ran_ranks_send(r, r->rank - step, value, sizeof *value, err);
                        break;
                }
                if (r->rank + step >= r->n)
                        continue;
                rc = ran_ranks_receive(r, r->rank + step, &theirs, sizeof theirs, err);
                if (rc == RAN_OK && theirs > *value)
                        *value = theirs;
        }
        return rc == RAN_OK ? ran_ranks_broadcast(r, value, sizeof *value, err) : rc;
}

int ran_ranks_gather(struct ran_ranks *r, void *items, size_t size, const size_t *bound,
                     struct ran_error *err)
{
        char *bytes = items;
        int rc = RAN_OK;

        if (r == NULL)
                return RAN_OK;
        if (r->rank > 0)
                return ran_ranks_send(r, 0, bytes + bound[r->rank] * size,
                                      (bound[r->rank + 1] - bound[r->rank]) * size, err);
        for (size_t i = 1; i < r->n && rc == RAN_OK; i++)
                rc = ran_ranks_receive(r, i, bytes + bound[i] * size,
                                       (bound[i + 1] - bound[i]) * size, err);
        return rc;
}

/* ---- agreement ------------------------------------------------------------------------------ */

int ran_ranks_agree(struct ran_ranks *r, int rc, struct ran_error *err)
{
        struct ran_error said = {.code = RAN_OK};

        if (r == NULL || r->broken)
                return rc;
        if (r->rank == 0 && rc != RAN_OK)
                said = *err;
        RAN_TRY(ran_ranks_broadcast(r, &said, sizeof said, err));
        if (said.code != RAN_OK) {
                *err = said;
                return said.code;
        }
        return ran_ranks_break(r, rc);
}

/* ---- shares --------------------------------------------------------------------------------- */

size_t *ran_ranks_bounds(const struct ran_ranks *r)
{
        return ran_new(ran_ranks_count(r) + 1, sizeof(size_t));
}

/* An item belongs to the rank that contains its middle. */
void ran_ranks_partition(const struct ran_ranks *r, const size_t *first, size_t n, size_t *bound)
{
        size_t ranks = ran_ranks_count(r), begin = first[0], rank = 0;
        double total = (double)(first[n] - begin);

        bound[0] = 0;
        for (size_t i = 0; i < n && total > 0; i++) {
                double middle = 0.5 * ((double)(first[i] - begin) + (double)(first[i + 1] - begin));

                while (rank + 1 < ranks && middle * (double)ranks >= (double)(rank + 1) * total)
                        bound[++rank] = i;
        }
        while (rank < ranks)
                bound[++rank] = n;
}

/* ---- who they are ---------------------------------------------------------------------------- */

struct greeting {
        char version[32], isa[32], host[64];
        uint64_t config, settings; /* sizes of the structs that are sent as they are in memory */
};

static int compare(const struct greeting *me, const struct greeting *other, size_t rank,
                   struct ran_error *err)
{
        if (strcmp(me->version, other->version) != 0 || me->config != other->config ||
            me->settings != other->settings)
                return ran_fail(err, RAN_EINVAL,
                                "rank %zu, on %s, is another version of this program (%s, not "
                                "%s): install the same version everywhere",
                                rank, other->host, other->version, me->version);
        if (strcmp(me->isa, other->isa) != 0)
                return ran_fail(err, RAN_EINVAL,
                                "rank %zu, on %s, would compute with other instructions (%s) than "
                                "rank 0 on %s (%s): results would differ; RAN_ISA=portable, or "
                                "another that both know, must be set on all hosts (mpirun -x "
                                "RAN_ISA=portable)",
                                rank, other->host, other->isa, me->host, me->isa);
        return RAN_OK;
}

int ran_ranks_handshake(struct ran_ranks *r, struct ran_error *err)
{
        struct greeting other = {0}, me = {.config = sizeof(struct ran_config),
                                           .settings = sizeof(struct ran_train_settings)};
        int rc = RAN_OK;

        snprintf(me.version, sizeof me.version, "%s", RAN_VERSION);
        snprintf(me.isa, sizeof me.isa, "%s", ran_isa());
        if (gethostname(me.host, sizeof me.host - 1) != 0)
                me.host[0] = '\0';
        if (r->rank > 0)
                RAN_TRY(ran_ranks_send(r, 0, &me, sizeof me, err));
        for (size_t i = 1; i < r->n && r->rank == 0; i++) {
                RAN_TRY(ran_ranks_receive(r, i, &other, sizeof other, err));
                other.version[sizeof other.version - 1] = other.isa[sizeof other.isa - 1] =
                        other.host[sizeof other.host - 1] = '\0';
                if (rc == RAN_OK)
                        rc = compare(&me, &other, i, err);
        }
        return ran_ranks_agree(r, rc, err);
}
