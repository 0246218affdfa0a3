/* Any bytes as the tensors of a folder of vectors: refused with a sentence, or rows of numbers that
 * are finite, one for each token. */
#include <math.h>
#include <stdlib.h>

#include "part/vectors/vector-folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct ran_bytes file = {(unsigned char *)data, size, false};
        struct ran_embedding rows;
        struct ran_error err = {0};
        bool static_embedding;
        size_t V = 4;

        if (ran_vector_folder_rows(&rows, V, &file, &static_embedding, &err) != RAN_OK) {
                if (err.text[0] == '\0' || rows.rows != NULL || rows.given != NULL)
                        abort();
                return 0;
        }
        if (rows.V != V || rows.D == 0)
                abort();
        for (size_t i = 0; i < V * rows.D; i++)
                if (!isfinite(rows.rows[i]) || !rows.given[i / rows.D])
                        abort();
        ran_embedding_release(&rows);
        return 0;
}
