/* state.c - see state.h. */
#include "train/state.h"
#include "ran/train.h"

#include <math.h>

enum kind { FLAG, COUNT, SIZE, WEIGHT, NUMBER, ANY };

#define X(field, kind)        kind,
#define S(member, name, list) list(X)
static const unsigned char kinds[] = {RAN_STATES(S)};
#undef S
#undef X
_Static_assert(sizeof kinds * sizeof(double) == sizeof(struct ran_states),
               "the states are numbers and nothing else");

void ran_states_tensors(struct ran_states *s, struct ran_extra x[RAN_STATE_TENSORS])
{
#define S(member, name, list) {name, RAN_DTYPE_F64, &s->member, sizeof s->member / sizeof(double)},
        const struct ran_extra all[RAN_STATE_TENSORS] = {RAN_STATES(S)};
#undef S
        for (size_t i = 0; i < RAN_STATE_TENSORS; i++)
                x[i] = all[i];
}

static bool is_of(enum kind kind, double x)
{
        switch (kind) {
        case FLAG:
                return x == 0 || x == 1;
        case COUNT:
                return x >= 0 && x < 1e15 && x == floor(x);
        case SIZE:
                return x >= 0 && x <= 1e15;
        case WEIGHT:
                return x >= 0 && x <= 1e12;
        case NUMBER:
                return fabs(x) <= 1e15;
        case ANY:
                break;
        }
        return !isnan(x);
}

bool ran_states_are_sane(const struct ran_states *s)
{
        const double *x = (const double *)s;

        for (size_t i = 0; i < sizeof kinds; i++)
                if (!is_of(kinds[i], x[i]))
                        return false;
        return s->decision.why <= RAN_ENCODER_NOT_PROVEN &&
               s->decision.errors <= s->decision.documents;
}
