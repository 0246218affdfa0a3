/* blend.c - see blend.h. Newton's method; in double, since the sums decide when it ends. */
#include "train/blend.h"
#include "math/elementary.h"
#include "train/loss.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 50, HALVINGS = 30 };

/* As many documents' curvature, roughly, holds the shares where they were. */
static const double pull = 2;

const struct ran_blend ran_blend_unknown = {.deep = 0.3, .wide = 2};

struct fit {
        const struct ran_dataset *d;
        const float *deep, *wide;
        struct ran_blend usual;
        float *logits, *p; /* (C) of a document */
};

/* The loss, its gradient, and its second derivatives: by deep, wide, and both. */
struct slope {
        double loss, g[2], h[3];
};

void ran_blend_add(float *to, const struct ran_blend *blend, const float *deep, const float *wide,
                   size_t n)
{
        for (size_t i = 0; i < n; i++)
                to[i] = (float)(blend->deep * (double)deep[i] + blend->wide * (double)wide[i]);
}

/* One label: the variance of u over the classes. Several: each class by itself. */
static void add_document(const struct fit *k, const struct ran_blend *at, size_t b, struct slope *s)
{
        const size_t C = k->d->C;
        const bool several = k->d->multilabel;
        const float *u = k->deep + b * C, *v = k->wide + b * C;
        const struct ran_target target = ran_target_of(k->d, b);
        double mean[2] = {0}, square[3] = {0}, share = several ? 1.0 / (double)C : 1;

        ran_blend_add(k->logits, at, u, v, C);
        s->loss += ran_loss_classify(k->p, k->logits, C, &target, several, 0, 1);
        for (size_t c = 0; c < C; c++) {
                s->g[0] += (double)k->p[c] * (double)u[c];
                s->g[1] += (double)k->p[c] * (double)v[c];
        }
        ran_probabilities(&(const struct ran_config){.multilabel = several}, k->logits, C, k->p);
        for (size_t c = 0; c < C; c++) {
                double p = (double)k->p[c], x = (double)u[c], y = (double)v[c];
                double weight = several ? share * p * (1 - p) : p;

                mean[0] += p * x;
                mean[1] += p * y;
                square[0] += weight * x * x;
                square[1] += weight * y * y;
                square[2] += weight * x * y;
        }
        if (several)
                mean[0] = mean[1] = 0;
        s->h[0] += square[0] - mean[0] * mean[0];
        s->h[1] += square[1] - mean[1] * mean[1];
        s->h[2] += square[2] - mean[0] * mean[1];
}

static bool is_known(const struct ran_dataset *d, size_t b)
{
        for (size_t i = d->label_first[b]; i < d->label_first[b + 1]; i++)
                if (d->labels[i] == RAN_LABEL_UNKNOWN)
                        return false;
        return true;
}

static struct slope slope_of(const struct fit *k, const struct ran_blend *at)
{
        double a = at->deep - k->usual.deep, b = at->wide - k->usual.wide;
        struct slope s = {.loss = pull / 2 * (a * a + b * b),
                          .g = {pull * a, pull * b},
                          .h = {pull, pull, 0}};

        for (size_t i = 0; i < k->d->B; i++)
                if (is_known(k->d, i))
                        add_document(k, at, i, &s);
        return s;
}

/* Where Newton's step leads, `size` of it. No share is below 0, and one that would be stays there
 * while the other moves. */
static struct ran_blend step(const struct ran_blend *at, const struct slope *s, double size)
{
        double det = s->h[0] * s->h[1] - s->h[2] * s->h[2];
        double a = (s->h[1] * s->g[0] - s->h[2] * s->g[1]) / det;
        double b = (s->h[0] * s->g[1] - s->h[2] * s->g[0]) / det;

        if (at->deep == 0 && s->g[0] > 0)
                a = 0, b = s->g[1] / s->h[1];
        else if (at->wide == 0 && s->g[1] > 0)
                b = 0, a = s->g[0] / s->h[0];
        return (struct ran_blend){fmax(0, at->deep - size * a), fmax(0, at->wide - size * b)};
}

int ran_blend_fit(struct ran_blend *blend, struct ran_blend usual, const struct ran_dataset *d,
                  const float *deep, const float *wide, struct ran_error *err)
{
        struct fit k = {.d = d, .deep = deep, .wide = wide, .usual = usual};
        struct ran_blend at = usual;
        struct slope s;

        k.logits = ran_alloc_floats(d->C, err);
        k.p = ran_alloc_floats(d->C, err);
        if (k.logits == NULL || k.p == NULL) {
                free(k.logits);
                free(k.p);
                return RAN_ENOMEM;
        }
        s = slope_of(&k, &at);
        for (int i = 0; i < STEPS; i++) {
                double size = 1, before = s.loss;

                for (int halvings = 0; halvings < HALVINGS; halvings++, size /= 2) {
                        struct ran_blend next = step(&at, &s, size);
                        struct slope there = slope_of(&k, &next);

                        if (there.loss < s.loss) {
                                at = next;
                                s = there;
                                break;
                        }
                }
                if (!(before - s.loss > 1e-9 * before))
                        break;
        }
        free(k.logits);
        free(k.p);
        *blend = at;
        return RAN_OK;
}
