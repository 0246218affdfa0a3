/* plan.c - see plan.h. */
#include "gradient/plan.h"
#include "nn/part.h"
#include "ran/train.h"

#include <stdlib.h>
#include <string.h>

int ran_plan_init(struct ran_plan *p, const struct ran_config *c, const struct ran_dataset *d,
                  size_t streams, size_t bptt, struct ran_error *err)
{
        *p = (struct ran_plan){.c = c, .d = d, .streams = streams < d->B ? streams : d->B};
        if (bptt > 0 && bptt > SIZE_MAX / c->window)
                return ran_fail(err, RAN_EINVAL, "a chunk of %zu windows is too large", bptt);
        p->span = bptt > 0 ? bptt * c->window : SIZE_MAX;
        p->stream = ran_new(p->streams, sizeof *p->stream);
        p->chunk = ran_new(p->streams, sizeof *p->chunk);
        p->holder = ran_new(p->streams, sizeof *p->holder);
        if (bptt == 0)
                return RAN_OK;
        p->recurrent = ran_new(p->streams, sizeof *p->recurrent);
        for (size_t i = 0; i < p->streams; i++)
                ran_encoder_state_init(&p->recurrent[i], c);
        return RAN_OK;
}

void ran_plan_release(struct ran_plan *p)
{
        for (size_t i = 0; i < p->streams && p->recurrent != NULL; i++)
                ran_recurrent_state_release(&p->recurrent[i]);
        free(p->recurrent);
        free(p->holder);
        free(p->stream);
        free(p->chunk);
        *p = (struct ran_plan){0};
}

static size_t length(const struct ran_dataset *d, size_t b)
{
        return d->first[b + 1] - d->first[b];
}

void ran_plan_begin(struct ran_plan *p, const size_t *order, size_t documents)
{
        p->order = order;
        p->documents = documents;
        p->begun = p->n = 0;
        memset(p->stream, 0, p->streams * sizeof *p->stream);
}

/* The source of a document lies within its first chunk: its tokens see each other. A last token
 * alone, which predicts none, is no chunk. */
static size_t end_of(const struct ran_plan *p, size_t b, size_t from)
{
        size_t left = length(p->d, b) - from, n = p->span;

        if (from == 0 && p->d->sources != NULL && n < p->d->sources[b])
                n = (p->d->sources[b] - 1) / n * n + n;
        return n < left - 1 ? from + n : from + left;
}

static bool goes_on(const struct ran_plan *p, const struct ran_chunk *last)
{
        return last->to > 0 && last->to < length(p->d, last->document);
}

/* The stream's next chunk; it ends at 0 if nothing is left. */
static struct ran_chunk next_of(struct ran_plan *p, const struct ran_chunk *last)
{
        struct ran_chunk next = {0};

        if (goes_on(p, last))
                next = (struct ran_chunk){last->document,   last->to, 0,
                                          last->number + 1, NULL,     NULL};
        else if (p->begun < p->documents)
                next.document = p->order[p->begun++];
        else
                return next;
        next.to = end_of(p, next.document, next.from);
        return next;
}

bool ran_plan_next(struct ran_plan *p)
{
        p->n = 0;
        for (size_t i = 0; i < p->streams; i++) {
                p->stream[i] = next_of(p, &p->stream[i]);
                p->stream[i].recurrent = p->recurrent != NULL ? &p->recurrent[i] : NULL;
                p->stream[i].holder = p->recurrent != NULL ? &p->holder[i] : NULL;
                if (p->stream[i].to > 0)
                        p->chunk[p->n++] = p->stream[i];
        }
        return p->n > 0;
}

size_t ran_plan_steps(struct ran_plan *p, const size_t *order, size_t documents)
{
        size_t steps = 0;

        ran_plan_begin(p, order, documents);
        while (ran_plan_next(p))
                steps++;
        ran_plan_begin(p, order, documents);
        return steps;
}

/* ---- recurrent states of streams ---------------------------------------------------------- */

static size_t states_of(const struct ran_plan *p, size_t stream)
{
        return ran_encoder_states(p->c, p->stream[stream].to);
}

static size_t floats_of(const struct ran_plan *p, size_t stream)
{
        if (p->recurrent == NULL || !goes_on(p, &p->stream[stream]))
                return 0;
        return ran_recurrent_state_floats(&p->recurrent[stream], states_of(p, stream));
}

size_t ran_plan_floats(const struct ran_plan *p)
{
        size_t n = 0;

        for (size_t i = 0; i < p->streams; i++)
                n += floats_of(p, i);
        return n;
}

void ran_plan_pack(const struct ran_plan *p, float *out)
{
        for (size_t i = 0; i < p->streams; i++) {
                if (floats_of(p, i) > 0)
                        ran_recurrent_state_pack(&p->recurrent[i], out);
                out += floats_of(p, i);
        }
}

int ran_plan_unpack(struct ran_plan *p, const float *in, struct ran_error *err)
{
        for (size_t i = 0; i < p->streams; i++) {
                size_t n = floats_of(p, i);

                if (n > 0 && ran_recurrent_state_unpack(&p->recurrent[i], in, p->stream[i].to,
                                                        states_of(p, i), err) != RAN_OK)
                        return err->code;
                p->holder[i] = RAN_EVERY_RANK;
                in += n;
        }
        return RAN_OK;
}

/* The state of a document after so many tokens. */
static int move(struct ran_recurrent_state *recurrent, size_t states, size_t tokens, size_t from,
                size_t to, struct ran_ranks *r, struct ran_error *err)
{
        const size_t n = ran_recurrent_state_floats(recurrent, states);

        if (from == to || from == RAN_EVERY_RANK || (r->rank != from && r->rank != to))
                return RAN_OK;
        float *data = ran_new_floats(n);
        int rc;
        if (r->rank == from) {
                ran_recurrent_state_pack(recurrent, data);
                rc = ran_ranks_send(r, to, data, n * sizeof *data, err);
        } else {
                rc = ran_ranks_receive(r, from, data, n * sizeof *data, err);
                if (rc == RAN_OK &&
                    ran_recurrent_state_unpack(recurrent, data, tokens, states, err) != RAN_OK)
                        rc = ran_ranks_break(r, err->code);
        }
        free(data);
        return rc;
}

int ran_plan_move(const struct ran_chunk *chunk, const struct ran_config *c, size_t to,
                  struct ran_ranks *ranks, struct ran_error *err)
{
        int rc = RAN_OK;

        if (ranks == NULL || chunk->recurrent == NULL)
                return RAN_OK;
        if (chunk->from > 0)
                rc = move(chunk->recurrent, ran_encoder_states(c, chunk->from), chunk->from,
                          *chunk->holder, to, ranks, err);
        *chunk->holder = to;
        return rc;
}

int ran_plan_collect(struct ran_plan *p, struct ran_ranks *ranks, struct ran_error *err)
{
        for (size_t i = 0; i < p->streams && ranks != NULL; i++)
                if (floats_of(p, i) > 0)
                        RAN_TRY(move(&p->recurrent[i], states_of(p, i), p->stream[i].to,
                                     p->holder[i], 0, ranks, err));
        return RAN_OK;
}
