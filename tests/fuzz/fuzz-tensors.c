/* Any bytes as a safetensors file: refused with a sentence, or read into tensors that lie inside
 * the file. */
#include <stdlib.h>
#include <string.h>

#include "tensors/tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct ran_tensors *t, const struct ran_tensor *tensor)
{
        if (tensor->end > t->size || tensor->begin > tensor->end)
                abort();
        /* A name with a NUL in it cannot be asked for. */
        if (strlen(tensor->name) == tensor->name_n && ran_tensors_find(t, tensor->name) != tensor)
                abort();
        if (tensor->elements > t->size)
                return; /* fewer than 8 bits each, or none: no floats */
        float *x = ran_alloc_floats(tensor->elements, NULL);
        if (x != NULL)
                ran_tensor_floats(t, tensor, x, NULL);
        free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct ran_bytes file = {data, size, false};
        struct ran_error err = {0};
        struct ran_tensors t;

        if (ran_tensors_read(&t, &file, &err) != RAN_OK) {
                if (err.text[0] == '\0' || err.code == RAN_OK)
                        abort();
                return 0;
        }
        for (size_t i = 0; i < t.n; i++)
                use(&t, &t.tensor[i]);
        ran_tensors_release(&t);
        return 0;
}
