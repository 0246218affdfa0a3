/* static-fit.h - vectors of tokens whose mean is near the vector of a text. */
#ifndef RAN_DISTIL_STATIC_FIT_H
#define RAN_DISTIL_STATIC_FIT_H

#include "ran/base.h"

/* Texts as ids: those of text i are ids[first[i]] to ids[first[i + 1]]. */
struct ran_text_ids {
        const uint32_t *ids;
        const size_t *first; /* (n + 1) */
};
struct ran_static_fit {
        float *rows; /* (V, D) changed by the fit */
        size_t V, D;
        struct ran_text_ids texts;
        const size_t *order; /* (n) the texts to learn from */
        size_t n, epochs, batch, seed;
        double learning_rate;
        /* The teacher's vector of a text (D), of any length. */
        void (*target)(const void *arg, size_t text, float *t);
        const void *target_arg;
        /* After each step; anything but 0 ends the fit with RAN_EINTR. */
        int (*step)(void *arg, size_t texts_done, double loss);
        void *step_arg;
};
int ran_static_fit(const struct ran_static_fit *f, struct ran_error *err);
/* The loss of a text, 1 - cos(y, t), of vectors y and t (D); t becomes dy, its derivative by y. 1
 * and zeros if one of them has no direction. */
double ran_static_loss(const float *y, float *t, size_t D);
/* v (D): the mean of the rows of a text, which has a token or more. */
void ran_static_mean(const float *rows, size_t D, const struct ran_text_ids *texts, size_t text,
                     float *v);

#endif
