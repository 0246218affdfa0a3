/* gain.c - what an encoder gains over the linear model: see trainer.h. */
#include "train/trainer.h"

#include <math.h>

/* Half of them corrected and none broken would be two standard errors. */
enum { ENOUGH_ERRORS = 8 };

struct ran_gain ran_gain_of(const double *before, const double *now, size_t n)
{
        double sum = 0, squares = 0, base = 0;
        struct ran_gain g = {0};

        for (size_t i = 0; i < n; i++) {
                double gain = before[i] - now[i];

                if (isnan(gain))
                        continue;
                base += before[i];
                sum += gain;
                squares += gain * gain;
                g.n++;
        }
        g.few = n < RAN_GAIN_FEW;
        if (g.n == 0)
                return g;
        g.base = base / (double)g.n;
        g.mean = sum / (double)g.n;
        g.error = sqrt(fmax(0, squares / (double)g.n - g.mean * g.mean) / (double)g.n);
        return g;
}

bool ran_gain_is_proven(const struct ran_gain *g)
{
        const double enough = (g->better ? 1 : 2) * g->worth * g->base;

        return g->n == 0 || (g->mean > (g->few ? 3 : 1) * g->error && g->mean > enough);
}

bool ran_gain_may_begin(const struct ran_gain *g)
{
        return g->n == 0 || (g->mean > g->error && g->mean > g->worth / 50 * g->base);
}

bool ran_gain_may_prove(const struct ran_gain *g, double looks)
{
        const double missing = (g->few ? 2 : 1) / looks;
        const double enough = (g->better || looks < 2 ? 0.5 : 2) * g->worth * g->base;

        return g->n == 0 || (g->mean > ((g->few ? 3 : 1) - missing) * g->error && g->mean > enough);
}

bool ran_gain_has_room(size_t errors)
{
        return errors >= ENOUGH_ERRORS;
}

void ran_train_decision_tell(const struct ran_train_decision *d, struct ran_buf *out)
{
        if (d->why == RAN_ENCODER_KEPT)
                return;
        ran_buf_str(out, "linear model only: ");
        if (d->why == RAN_ENCODER_NO_ROOM) {
                ran_buf_printf(out,
                               "it errs on %zu of %zu validation documents, and fewer than %d "
                               "errors cannot show that an encoder helps",
                               d->errors, d->documents, ENOUGH_ERRORS);
                return;
        }
        if (d->why == RAN_ENCODER_NO_GAIN && d->epoch == 0)
                ran_buf_str(out, "the encoder showed no gain in a trial on a part of the "
                                 "documents, which may cost as much as the linear model");
        else
                ran_buf_printf(
                        out,
                        "the encoder did not improve results enough on %zu validation documents",
                        d->documents);
        if (d->why == RAN_ENCODER_NO_GAIN && d->epoch > 0)
                ran_buf_printf(out, " and ended after epoch %zu", d->epoch);
        ran_buf_printf(out, " (gain in loss %.4f of %.4f, standard error %.4f)", d->gain, d->loss,
                       d->error);
}
