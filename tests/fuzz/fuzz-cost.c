/* Any bytes as a file of costs: refused with a sentence, or costs by which every
 * document gets a label of the model, or none. */
#include <math.h>
#include <stdlib.h>

#include "cmd/classify/classify.h"
#include "tiny.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ran_model *model_of_labels(void)
{
        static struct ran_model *model;
        struct ran_error err = {0};
        struct tiny t;

        if (model != NULL)
                return model;
        tiny_init(&t, TINY_CLASSIFY);
        struct ran_bytes bytes = tiny_model(&t);
        struct tiny_file file;
        tiny_open(&file, bytes.data, bytes.size);
        model = ran_model_open(file.path, false, &err);
        if (model == NULL)
                abort();
        ran_bytes_release(&bytes);
        tiny_release(&t);
        return model;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const struct ran_model *m = model_of_labels();
        struct decision d = {.model = m, .C = ran_model_classes(m)};
        struct ran_error err = {0};
        int rc = decision_read_costs(&d, (const char *)data, size, "cost", &err);

        if (rc != RAN_OK && err.text[0] == '\0')
                abort();
        for (size_t c = 0; rc == RAN_OK && c < d.C; c++) {
                float *p = ran_alloc_floats(d.C, &err);
                if (p == NULL)
                        abort();
                p[c] = 1;
                size_t given = decision_choose(&d, p);
                if (given > d.C || (given == d.C && !d.may_abstain) ||
                    !isfinite(decision_cost_of(&d, (uint32_t)c, given)))
                        abort();
                free(p);
        }
        decision_release(&d);
        return 0;
}
