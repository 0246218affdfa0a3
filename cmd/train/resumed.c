/* resumed.c - see resumed.h. */
#include "cmd/train/resumed.h"

#include <string.h>

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

bool train_resumed_is_of(const char *checkpoint, const char *version)
{
        struct ran_buf training = {0};
        struct ran_record said = {0};
        bool is = false;

        if (train_resumed_scan(checkpoint, &training, &said)) {
                const struct ran_member *v = ran_record_find(&said, "version", NULL);

                is = v != NULL && v->type == 's' &&
                     strncmp(said.line + v->value.begin + 1, version, strlen(version)) == 0;
        }
        ran_record_release(&said);
        ran_buf_release(&training);
        return is;
}
