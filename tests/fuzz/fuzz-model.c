/* Model files, edited: refused with a sentence, or used; what they say is numbers then. The first
 * byte says which one, and whether its digest is asked for. */
#include <math.h>
#include <stdlib.h>

#include "tiny.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ran_bytes model[TINY_KINDS];

static void prepare(void)
{
        for (int kind = 0; kind < TINY_KINDS; kind++) {
                struct tiny t;

                tiny_init(&t, kind);
                t.job.held = NULL;
                model[kind] = tiny_model(&t);
                tiny_release(&t);
        }
}

enum { L = 6 };

static int use_tasks(const struct ran_model *m, struct ran_state *s, float *x,
                     struct ran_error *err)
{
        const struct ran_config *c = ran_model_config(m);
        const uint32_t ids[L] = {0}, places[L] = {0, 1, 2, 3, 4, 5};
        uint32_t spelling[L * RAN_SPELLING] = {0}, tags[L];
        struct ran_document d = {
                .ids = ids, .L = L, .spelling = spelling, .places = places, .words = L};
        float nll[L];
        struct ran_lm_out out = {.gold = ids, .nll = nll, .logits = x};
        int rc;

        switch (c->task) {
        case RAN_TASK_TAG:
                return ran_tag(m, s, &d, tags, NULL, x, err);
        case RAN_TASK_CLASSIFY:
                return ran_classify(m, s, &d, x, NULL, err);
        case RAN_TASK_MLM:
                rc = ran_lm_fill(m, s, ids, L, places, L, ids, nll, x, err);
                break;
        default:
                rc = ran_lm_read(m, s, NULL, ids, L, c->mask == RAN_MASK_PREFIX ? 2 : 0, &out, err);
        }
        for (size_t i = 0; rc == RAN_OK && i < L; i++)
                if (!isfinite(nll[i]))
                        abort();
        return rc;
}

static void use(const struct ran_model *m)
{
        struct ran_error err = {0};
        struct ran_state *s = ran_state_new(m, NULL, &err);
        size_t C = ran_model_classes(m),
               n = ran_model_config(m)->task == RAN_TASK_CLASSIFY ? C : L * C;
        float *x = ran_alloc_floats(n, &err), cut;
        int rc = RAN_ENOMEM;

        if (s != NULL && x != NULL)
                rc = use_tasks(m, s, x, &err);
        if (rc != RAN_OK && err.text[0] == '\0')
                abort();
        for (size_t i = 0; rc == RAN_OK && i < n; i++)
                if (isnan(x[i]))
                        abort();
        ran_model_cut(m, 0.9, &cut, &err);
        free(x);
        ran_state_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct ran_error err = {0};
        struct ran_bytes edited;
        struct tiny_file f;

        if (model[0].data == NULL)
                prepare();
        if (size < 1)
                return 0;
        edited = tiny_edit(&model[data[0] % TINY_KINDS], data + 1, size - 1);
        tiny_open(&f, edited.data, edited.size);
        ran_bytes_release(&edited);
        struct ran_model *m = ran_model_open(f.path, data[0] & 0x80, &err);
        if (m == NULL && (err.code == RAN_OK || err.text[0] == '\0'))
                abort();
        /* What nobody can wait for is no defect. */
        if (m != NULL && ran_model_config(m)->dim <= 64 && ran_model_config(m)->layers <= 8)
                use(m);
        ran_model_free(m);
        tiny_close(&f);
        return 0;
}
