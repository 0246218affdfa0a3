/* What a model says of its training, edited, where that is to be repeated: the program ends with 3
 * or 4, or the settings are those of a training. The first byte says which model. */
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/train/run/replay.h"
#include "tiny.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
        struct tiny run;
        struct ran_bytes model;
} subject[TINY_KINDS];

static void prepare(void)
{
        for (int kind = 0; kind < TINY_KINDS; kind++) {
                struct tiny *t = &subject[kind].run;

                tiny_init(t, kind);
                t->job.training = "\"vocab_type\":\"word\",\"dev_share\":0.5";
                subject[kind].model = tiny_model(t);
        }
}

/* A replay, as ran-train goes about it. */
struct replay {
        const struct tiny *t;
        const char *path;
        struct train_replay r;
        struct ran_train_settings settings;
        struct ran_vocab_settings vocabulary;
        bool restored;
        const char *again; /* what the training gave */
};

static void replay(void *arg)
{
        struct replay *k = arg;
        struct ran_train_job job = k->t->job;

        train_replay_open(&k->r, k->path, k->t->c.task);
        train_replay_check_files(&k->r, NULL, NULL, NULL);
        train_replay_restore(&k->r, ran_train_fields, &k->settings, true);
        train_replay_restore(&k->r, ran_vocab_fields, &k->vocabulary, false);
        k->restored = true;
        job.settings = &k->settings;
        train_replay_check(&k->r, &job);
        train_replay_compare(&k->r, k->again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct replay k = {0};
        struct tiny_file f, again;

        if (subject[0].model.data == NULL)
                prepare();
        if (size < 1)
                return -1;
        int kind = data[0] % TINY_KINDS;
        struct ran_bytes edited = tiny_edit(&subject[kind].model, data + 1, size - 1);
        tiny_open(&f, edited.data, edited.size);
        ran_bytes_release(&edited);
        k.t = &subject[kind].run;
        tiny_open(&again, subject[kind].model.data, subject[kind].model.size);
        k.path = f.path;
        k.again = again.path;
        if (ran_fields_init(ran_train_fields, &k.settings, NULL) != RAN_OK ||
            ran_fields_init(ran_vocab_fields, &k.vocabulary, NULL) != RAN_OK)
                abort();
        int status = tiny_run(replay, &k);
        if (status != -1 && status != CMD_FAILED && status != CMD_DIVERGED && status != CMD_USAGE)
                abort();
        if (k.restored)
                ran_train_settings_check(&k.settings, &k.t->c, NULL);
        train_replay_release(&k.r);
        ran_fields_release(ran_train_fields, &k.settings);
        ran_fields_release(ran_vocab_fields, &k.vocabulary);
        tiny_close(&f);
        tiny_close(&again);
        return 0;
}
