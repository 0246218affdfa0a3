/* teacher.h - the vectors that a teacher makes of texts. */
#ifndef RAN_DISTIL_TEACHER_H
#define RAN_DISTIL_TEACHER_H

#include "ran/model.h"

/* So many texts are read between two calls of `pass`, for each thread. */
enum { RAN_TEACHER_BLOCK = 64 };

struct ran_teacher {
        const struct ran_model *m;
        struct ran_embedder *embedder;
        struct ran_teacher_worker *worker; /* (workers) */
        size_t workers, F;
        struct ran_pool *pool;
};
/* RAN_EINVAL if the encoder of m was not trained to make vectors of documents, or m has no
 * vocabulary. */
int ran_teacher_init(struct ran_teacher *t, const struct ran_model *m, struct ran_pool *pool,
                     struct ran_error *err);
void ran_teacher_release(struct ran_teacher *t);
/* Reads the n texts that `text` gives, in blocks. Each vector (F) is rounded to binary16 and given
 * to `take`, in order; NULL for a text without a token. After a block `pass` gets the number of
 * texts done, and may end the reading with its code. */
struct ran_teacher_job {
        size_t n;
        const char *(*text)(void *arg, size_t i, size_t *length);
        int (*take)(void *arg, size_t i, const uint16_t *half, struct ran_error *err);
        int (*pass)(void *arg, size_t done, struct ran_error *err);
        void *arg;
};
int ran_teacher_read(struct ran_teacher *t, const struct ran_teacher_job *job,
                     struct ran_error *err);

#endif
