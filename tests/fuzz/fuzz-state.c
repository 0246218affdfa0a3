/* States of ran-lm, edited: refused with a sentence, or read on from, and kept again. The first
 * byte says which one, and what it is read with. */
#include <math.h>
#include <stdlib.h>

#include "tiny.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MODELS = 2, STATES = 3 };
static struct {
        struct ran_model *model;
        struct ran_state *scratch;
        /* within a window, at its end, and before the first token */
        struct ran_bytes state[STATES];
} subject[MODELS];

static int read_on(const struct ran_model *m, struct ran_state *s, struct ran_lm_context *past,
                   size_t n, struct ran_error *err)
{
        static const uint32_t ids[] = {1, 5, 2, 5, 3, 1, 4}, gold[] = {5, 2, 5, 3, 1, 4, 4};
        float nll[7];
        const struct ran_lm_out out = {.gold = gold, .nll = nll};
        int rc = ran_lm_read(m, s, past, ids, n, 0, &out, err);

        for (size_t i = 0; rc == RAN_OK && i < n; i++)
                if (!isfinite(nll[i]))
                        abort();
        return rc;
}

static struct ran_bytes state_of(const struct ran_model *m, struct ran_state *s, size_t n,
                                 bool pending)
{
        struct ran_lm_context *past = ran_lm_context_new(m);
        struct ran_bytes b;
        struct tiny_file f;

        tiny_open(&f, "", 0);
        if (past == NULL || (n > 0 && read_on(m, s, past, n, NULL) != RAN_OK))
                abort();
        if (pending)
                ran_lm_context_set_pending(past, 7);
        if (ran_lm_context_save(past, f.path, NULL) != RAN_OK)
                abort();
        ran_lm_context_free(past);
        b = tiny_read(&f);
        tiny_close(&f);
        return b;
}

static void prepare(void)
{
        for (int i = 0; i < MODELS; i++) {
                struct tiny t;
                struct tiny_file f;

                tiny_init(&t, i == 0 ? TINY_LM : TINY_TRANSFORMER);
                struct ran_bytes model = tiny_model(&t);
                tiny_release(&t);
                tiny_open(&f, model.data, model.size);
                ran_bytes_release(&model);
                struct ran_model *m = ran_model_open(f.path, true, NULL);
                struct ran_state *s = m != NULL ? ran_state_new(m, NULL) : NULL;
                if (s == NULL)
                        abort();
                tiny_close(&f);
                subject[i].model = m;
                subject[i].scratch = s;
                subject[i].state[0] = state_of(m, s, 7, true);
                subject[i].state[1] = state_of(m, s, 6, false);
                subject[i].state[2] = state_of(m, s, 0, true);
        }
}

static void go_on(const struct ran_model *m, struct ran_state *s, const char *path)
{
        struct ran_error err = {0};
        struct ran_lm_context *past = ran_lm_context_load(m, path, &err);
        struct tiny_file again;
        int rc = past != NULL ? RAN_OK : err.code;

        if (past == NULL && err.code == RAN_OK)
                abort();
        tiny_open(&again, "", 0);
        if (rc == RAN_OK)
                rc = read_on(m, s, past, 5, &err);
        if (rc == RAN_OK)
                rc = ran_lm_context_save(past, again.path, &err);
        if (rc != RAN_OK && err.text[0] == '\0')
                abort();
        tiny_close(&again);
        ran_lm_context_free(past);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct ran_bytes edited;
        struct tiny_file f;

        if (subject[0].model == NULL)
                prepare();
        if (size < 1)
                return 0;
        int i = data[0] % MODELS;
        edited = tiny_edit(&subject[i].state[data[0] / MODELS % STATES], data + 1, size - 1);
        tiny_open(&f, edited.data, edited.size);
        ran_bytes_release(&edited);
        go_on(subject[i].model, subject[i].scratch, f.path);
        tiny_close(&f);
        return 0;
}
