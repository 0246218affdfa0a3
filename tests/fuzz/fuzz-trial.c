/* Any bytes as the file of a trial of a search for settings: refused with a sentence, or a trial
 * that makes sense. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/train/run/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct train_trial t = {0};
        struct ran_error err = {0};
        struct ran_span run = {0, 0};

        const int rc = train_trial_read(&t, (const char *)data, size, &run, &err);
        if (rc != RAN_OK && err.text[0] == '\0')
                abort();
        if (rc == RAN_OK && (t.best_epoch > t.epochs || !(t.seconds >= 0) || isnan(t.best) ||
                             memchr(t.model, '\0', sizeof t.model) == NULL || run.begin > run.end ||
                             run.end > size || (t.end == TRAIN_TRIAL_DONE && t.epochs == 0)))
                abort();
        free(t.dev);
        return 0;
}
