/* teacher.c - see teacher.h. A vector is rounded to 16 bits, so that it is the same whether it was
 * kept so or computed now; that costs less than a thousandth of its length. */
#include "distil/teacher.h"
#include "base/error.h"
#include "tensors/compact.h"

#include <stdlib.h>

/* Texts of one block that one thread reads. */
struct ran_teacher_worker {
        struct ran_state *state;
        struct ran_encoding encoding;
        uint32_t *ids; /* (of all documents) */
        size_t ids_cap;
        size_t end[RAN_TEACHER_BLOCK];
        float *v;       /* (RAN_TEACHER_BLOCK, F) */
        uint16_t *half; /* (RAN_TEACHER_BLOCK, F) */
        bool empty[RAN_TEACHER_BLOCK];
        size_t n; /* texts of this block */
        int rc;
        struct ran_error err;
};

int ran_teacher_init(struct ran_teacher *t, const struct ran_model *m, struct ran_pool *pool,
                     struct ran_error *err)
{
        err = ran_error_or_spare(err);
        *t = (struct ran_teacher){.m = m, .pool = pool};
        if (!ran_config_has_vector(ran_model_config(m)) || ran_model_tokenizer(m) == NULL)
                return ran_fail(err, RAN_EINVAL,
                                "the teacher must be a pretrained encoder of documents, with its "
                                "vocabulary");
        t->workers = pool != NULL ? ran_pool_threads(pool) : 1;
        t->embedder = ran_embedder_new(m, err);
        if (t->embedder == NULL)
                return (int)err->code;
        t->F = ran_embedder_width(t->embedder);
        t->worker = ran_new(t->workers, sizeof *t->worker);
        for (size_t i = 0; i < t->workers; i++) {
                struct ran_teacher_worker *w = &t->worker[i];

                w->v = ran_new_floats(RAN_TEACHER_BLOCK * t->F);
                w->half = ran_new(RAN_TEACHER_BLOCK * t->F, sizeof *w->half);
                w->state = ran_state_new(m, NULL);
        }
        return RAN_OK;
}

void ran_teacher_release(struct ran_teacher *t)
{
        for (size_t i = 0; t->worker != NULL && i < t->workers; i++) {
                struct ran_teacher_worker *w = &t->worker[i];

                ran_state_free(w->state);
                ran_encoding_release(&w->encoding);
                free(w->ids);
                free(w->v);
                free(w->half);
        }
        free(t->worker);
        ran_embedder_free(t->embedder);
        *t = (struct ran_teacher){0};
}

struct block {
        struct ran_teacher *t;
        const struct ran_teacher_job *job;
        size_t first; /* text of the first worker */
};

/* Appends the ids of text i of the block; it is empty if it has none. */
static int encode(struct ran_teacher_worker *w, const struct block *b, size_t text, size_t i,
                  struct ran_error *err)
{
        const size_t before = i > 0 ? w->end[i - 1] : 0;
        size_t length;
        const char *s = b->job->text(b->job->arg, text, &length);

        RAN_TRY(ran_tokenizer_encode(ran_model_tokenizer(b->t->m), s, length, &w->encoding, err));
        RAN_ROOM(w->ids, w->ids_cap, before + w->encoding.n);
        for (size_t k = 0; k < w->encoding.n; k++)
                w->ids[before + k] = w->encoding.ids[k];
        w->end[i] = before + w->encoding.n;
        w->empty[i] = w->encoding.n == 0;
        return RAN_OK;
}

static int read_texts(struct ran_teacher_worker *w, const struct block *b, size_t first,
                      struct ran_error *err)
{
        struct ran_document d[RAN_TEACHER_BLOCK] = {{0}};
        const size_t F = b->t->F;
        size_t full = 0;

        for (size_t i = 0; i < w->n; i++)
                RAN_TRY(encode(w, b, first + i, i, err));
        for (size_t i = 0; i < w->n; i++) {
                const size_t from = i > 0 ? w->end[i - 1] : 0;

                if (!w->empty[i])
                        d[full++] =
                                (struct ran_document){.ids = w->ids + from, .L = w->end[i] - from};
        }
        RAN_TRY(ran_embed_each(b->t->embedder, w->state, d, full, w->v, err));
        for (size_t i = 0; i < full * F; i++)
                w->half[i] = ran_half_of_float(w->v[i]);
        return RAN_OK;
}

static void read_block(void *arg, size_t i)
{
        struct block *b = arg;
        struct ran_teacher_worker *w = &b->t->worker[i];
        const size_t first = b->first + i * RAN_TEACHER_BLOCK;
        const size_t rest = first < b->job->n ? b->job->n - first : 0;

        w->n = rest < RAN_TEACHER_BLOCK ? rest : RAN_TEACHER_BLOCK;
        w->rc = w->n > 0 ? read_texts(w, b, first, &w->err) : RAN_OK;
}

/* Gives the vectors of a block to the caller, in order. */
static int take_block(const struct block *b, struct ran_error *err)
{
        for (size_t k = 0; k < b->t->workers; k++) {
                const struct ran_teacher_worker *w = &b->t->worker[k];
                const uint16_t *half = w->half;

                if (w->rc != RAN_OK)
                        return ran_fail(err, w->err.code, "%s", w->err.text);
                for (size_t i = 0; i < w->n; i++) {
                        RAN_TRY(b->job->take(b->job->arg, b->first + k * RAN_TEACHER_BLOCK + i,
                                             w->empty[i] ? NULL : half, err));
                        half += w->empty[i] ? 0 : b->t->F;
                }
        }
        return RAN_OK;
}

int ran_teacher_read(struct ran_teacher *t, const struct ran_teacher_job *job,
                     struct ran_error *err)
{
        struct block b = {.t = t, .job = job};
        const size_t step = t->workers * RAN_TEACHER_BLOCK;

        err = ran_error_or_spare(err);
        for (; b.first < job->n; b.first += step) {
                const size_t done = b.first + step < job->n ? b.first + step : job->n;

                ran_parallel(t->pool, t->workers, read_block, &b);
                RAN_TRY(take_block(&b, err));
                RAN_TRY(job->pass(job->arg, done, err));
        }
        return RAN_OK;
}
