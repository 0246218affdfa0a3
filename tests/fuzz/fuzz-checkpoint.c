/* Checkpoints, edited: refused with a sentence, or gone on from. The first byte says which one, and
 * whether it is gone on with to the end. */
#include <stdlib.h>

#include "tiny.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOMENTS = 3 };
static struct {
        struct tiny run;
        struct ran_bytes checkpoint[MOMENTS];
} subject[TINY_KINDS];

static void prepare(void)
{
        for (int kind = 0; kind < TINY_KINDS; kind++) {
                tiny_init(&subject[kind].run, kind);
                const size_t moment[MOMENTS] = {1, 5, kind == TINY_CLASSIFY ? TINY_IN_REFIT : 6};
                for (size_t i = 0; i < MOMENTS; i++)
                        subject[kind].checkpoint[i] =
                                tiny_checkpoint(&subject[kind].run, moment[i]);
        }
}

static void go_on(struct tiny *t, const struct ran_bytes *checkpoint, bool to_the_end)
{
        struct ran_train_job job = t->job;
        struct ran_error err = {0};
        struct tiny_file from, output;
        int rc;

        tiny_open(&from, checkpoint->data, checkpoint->size);
        tiny_open(&output, "", 0);
        job.checkpoint = from.path;
        job.output = output.path;
        job.resume = true;
        t->reports = 0;
        t->stop_at = to_the_end ? 0 : 2;
        rc = ran_train(&job, &err);
        if (rc != RAN_OK && ((int)err.code != rc || err.text[0] == '\0'))
                abort();
        tiny_close(&from);
        tiny_close(&output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct ran_bytes edited;

        if (subject[0].checkpoint[0].data == NULL)
                prepare();
        if (size < 1)
                return 0;
        int kind = data[0] % TINY_KINDS;
        edited = tiny_edit(&subject[kind].checkpoint[data[0] / TINY_KINDS % MOMENTS], data + 1,
                           size - 1);
        go_on(&subject[kind].run, &edited, data[0] & 0x80);
        ran_bytes_release(&edited);
        return 0;
}
