/* student.h - a RAN that learns the teacher's vectors of texts, by the training loop of all models
 * (train/train.c). It begins with static vectors, and makes their vectors at first. */
#ifndef RAN_DISTIL_STUDENT_H
#define RAN_DISTIL_STUDENT_H

#include "distil/static-fit.h"
#include "ran/distil.h"

struct ran_student {
        const struct ran_distil_job *job;
        size_t V, D;
        const float *rows; /* (V, D) static vectors */
        struct ran_text_ids texts;
        const bool *learns;  /* (job->n) whether a text, which has tokens, is learned from */
        const float *target; /* (job->n, D) */
};
/* Trains it and writes its model to `path`, with weights in f32. The job's checkpoint stays, for
 * the caller to remove once the model is where it belongs. */
int ran_student_train(const struct ran_student *s, const char *path, struct ran_error *err);

#endif
