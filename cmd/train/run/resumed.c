/* resumed.c - see resumed.h. */
#include "cmd/train/run/resumed.h"

#include <string.h>

bool train_resumed_config(const char *checkpoint, struct ran_config *config)
{
        struct ran_error err;
        struct ran_model *m = checkpoint != NULL ? ran_model_open(checkpoint, false, &err) : NULL;
        const bool found = m != NULL;

        if (found)
                *config = *ran_model_config(m);
        ran_model_free(m);
        return found;
}

bool train_resumed_scan(const char *checkpoint, struct ran_buf *text, struct ran_record *said)
{
        struct ran_error err;
        struct ran_model *m = checkpoint != NULL ? ran_model_open(checkpoint, false, &err) : NULL;
        const char *training = m != NULL ? ran_model_metadata(m, "training") : NULL;

        if (training != NULL)
                ran_buf_add(text, training, strlen(training));
        ran_model_free(m);
        return training != NULL && !text->failed &&
               ran_record_scan(said, text->data, text->len, &err) == RAN_OK;
}
