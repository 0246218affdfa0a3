/* settings.c - the settings of a distillation: see ran/distil.h. */
#include "base/field.h"
#include "ran/distil.h"

#include <stddef.h>

#define AT(member) offsetof(struct ran_distil_settings, member)
const struct ran_field ran_distil_fields[] = {
        {"dim", 0, RAN_FIELD_SIZE, AT(dim), 1, 4096, .value = "N", .initial = "256", .first = true,
         .help = "numbers of a vector: so many principal components of the teacher's vectors"},
        {"epochs", 0, RAN_FIELD_SIZE, AT(epochs), 0, 10000, .value = "N", .initial = "5",
         .first = true,
         .help = "passes over the texts that fit the static vectors; 0: the vectors of the tokens "
                 "as the teacher gives them"},
        {"batch", 0, RAN_FIELD_SIZE, AT(batch), 1, 1 << 20, .value = "N", .initial = "256",
         .help = "texts in a step"},
        {"learning_rate", 0, RAN_FIELD_REAL, AT(learning_rate), 1e-9, 10, .value = "X",
         .initial = "0.005", .help = "learning rate of the first step; it falls to 0"},
        {"seed", 0, RAN_FIELD_SIZE, AT(seed), 0, 9007199254740992.0, .value = "N", .initial = "1",
         .help = "seed of the order of the texts, and of which are held out"},
        {0},
};
