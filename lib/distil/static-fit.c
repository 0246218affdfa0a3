/* static-fit.c - vectors of tokens whose mean is near the vector of a text.
 *
 *      y = 1/L Σ_t x_t,   loss = 1 - cos(y, t)            x_t the row of token t, t the target
 *      dy = (cos y/|y| - t/|t|) / |y|,   dx_t += dy / L
 *
 * Adam in steps of a few hundred texts, the rate falling to 0. Only rows with a token in the step
 * change: their moments, too, so that a rare token's row moves by what its own texts say. The
 * length of a row is not told by the loss; it grows with what a token says of a text. */
#include "distil/parts.h"
#include "math/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double beta1 = 0.9, beta2 = 0.999;
static const float epsilon = 1e-8f;

/* Row numbers of a step: 1 + the place of a token's gradient, 0 outside a step. */
struct step {
        uint32_t *place; /* (V) */
        uint32_t *token; /* (n) those with a gradient */
        size_t n, token_cap, gradient_cap;
        float *gradient;       /* (n, D) */
        float *m, *v;          /* (V, D) moments */
        float *y, *t;          /* (D) */
        double power1, power2; /* of beta1 and beta2: as many as there were steps */
        double loss;
};

void ran_static_mean(const float *rows, size_t D, const uint32_t *ids, size_t n, float *v)
{
        memset(v, 0, D * sizeof *v);
        for (size_t i = 0; i < n; i++)
                ran_simd->axpy(v, 1 / (float)n, rows + ids[i] * D, D);
}

double ran_static_loss(const float *y, float *t, size_t D)
{
        const double length = sqrt((double)ran_simd->dot(y, y, D)),
                     of_t = sqrt((double)ran_simd->dot(t, t, D));

        if (!(length > 0 && of_t > 0)) {
                memset(t, 0, D * sizeof *t);
                return 1;
        }
        const double cosine = (double)ran_simd->dot(y, t, D) / (length * of_t);
        for (size_t d = 0; d < D; d++)
                t[d] = (float)((cosine * (double)y[d] / length - (double)t[d] / of_t) / length);
        return 1 - cosine;
}

static void add_text(struct step *s, const struct ran_static_fit *f, size_t text)
{
        const size_t D = f->D, from = f->first[text], end = f->first[text + 1];

        ran_static_mean(f->rows, D, f->ids + from, end - from, s->y);
        memcpy(s->t, f->target + text * D, D * sizeof *s->t);
        s->loss += ran_static_loss(s->y, s->t, D);
        for (size_t i = from; i < end; i++) {
                const uint32_t id = f->ids[i];

                if (s->place[id] == 0) {
                        RAN_ROOM(s->token, s->token_cap, s->n + 1);
                        RAN_ROOM(s->gradient, s->gradient_cap, (s->n + 1) * D);
                        memset(s->gradient + s->n * D, 0, D * sizeof *s->gradient);
                        s->token[s->n++] = id;
                        s->place[id] = (uint32_t)s->n;
                }
                ran_simd->axpy(s->gradient + (s->place[id] - 1) * D, 1 / (float)(end - from), s->t,
                               D);
        }
}

/* texts: of this step. */
static void change_rows(struct step *s, const struct ran_static_fit *f, size_t texts, double rate)
{
        const size_t D = f->D;

        s->power1 *= beta1;
        s->power2 *= beta2;
        const float root = (float)(1 / (1 - s->power2));
        const float scaled = (float)(rate / (1 - s->power1));

        for (size_t i = 0; i < s->n; i++) {
                const size_t at = s->token[i] * D;

                ran_simd->adam(f->rows + at, s->m + at, s->v + at, s->gradient + i * D, D,
                               1 / (float)texts, (float)beta1, (float)beta2, scaled, root, epsilon,
                               1);
                s->place[s->token[i]] = 0;
        }
        s->n = 0;
}

static int fit(struct step *s, const struct ran_static_fit *f, size_t *order, struct ran_error *err)
{
        const size_t steps = (f->n + f->batch - 1) / f->batch * f->epochs;
        size_t number = 0, done = 0;

        for (size_t epoch = 0; epoch < f->epochs; epoch++) {
                ran_random_shuffle(order, f->order, f->n, f->seed, epoch);
                for (size_t from = 0; from < f->n; from += f->batch) {
                        const size_t n = f->n - from < f->batch ? f->n - from : f->batch;
                        const double left = 1 - (double)number / (double)steps;

                        s->loss = 0;
                        for (size_t i = from; i < from + n; i++)
                                add_text(s, f, order[i]);
                        change_rows(s, f, n, left * f->learning_rate);
                        number++;
                        done += n;
                        if (f->step != NULL && f->step(f->step_arg, done, s->loss / (double)n) != 0)
                                return ran_fail(err, RAN_EINTR,
                                                "stopped while the vectors of "
                                                "tokens were fitted");
                }
        }
        return RAN_OK;
}

int ran_static_fit(const struct ran_static_fit *f, struct ran_error *err)
{
        struct step s = {.power1 = 1, .power2 = 1};
        size_t *order = ran_new(f->n, sizeof *order);
        s.place = ran_new(f->V, sizeof *s.place);
        s.m = ran_new_floats(f->V * f->D);
        s.v = ran_new_floats(f->V * f->D);
        s.y = ran_new_floats(f->D);
        s.t = ran_new_floats(f->D);
        const int rc = fit(&s, f, order, err);
        free(order);
        free(s.place);
        free(s.token);
        free(s.gradient);
        free(s.m);
        free(s.v);
        free(s.y);
        free(s.t);
        return rc;
}
