/* settings.c - the settings of a distillation: see ran/distil.h. */
#include "base/field.h"
#include "ran/distil.h"

#include <stddef.h>

#define AT(member) .offset = offsetof(struct ran_distil_settings, member)
const struct ran_field ran_distil_fields[] = {
        {.name = "dim",
         .type = RAN_FIELD_SIZE,
         AT(dim),
         .low = 1,
         .high = 4096,
         .value = "N",
         .initial = "256",
         .first = true,
         .help = "numbers of a vector: so many principal components of the teacher's vectors"},
        {.name = "epochs",
         .type = RAN_FIELD_SIZE,
         AT(epochs),
         .low = 0,
         .high = 10000,
         .value = "N",
         .initial = "5",
         .first = true,
         .help = "passes over the texts that fit the static vectors; 0: the vectors of the tokens "
                 "as the teacher gives them"},
        {.name = "batch",
         .type = RAN_FIELD_SIZE,
         AT(batch),
         .low = 1,
         .high = 1 << 20,
         .value = "N",
         .initial = "256",
         .help = "texts in a step"},
        {.name = "learning_rate",
         .type = RAN_FIELD_REAL,
         AT(learning_rate),
         .low = 1e-9,
         .high = 10,
         .value = "X",
         .initial = "0.005",
         .help = "learning rate of the first step; it falls to 0"},
        {.name = "seed",
         .type = RAN_FIELD_SIZE,
         AT(seed),
         .low = 0,
         .high = 9007199254740992.0,
         .value = "N",
         .initial = "1",
         .help = "seed of the order of the texts, and of which are held out"},
        {.name = NULL},
};
