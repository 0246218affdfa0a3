/* Any bytes as descriptions of labels: refused with a sentence, or two labels at least, which have
 * names. */
#include <stdlib.h>
#include <string.h>

#include "tiny.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct ran_error err = {0};
        struct tiny_file file;

        tiny_open(&file, data, size);
        struct ran_label_texts *t = ran_label_texts_open(file.path, &err);
        const size_t C = t != NULL ? ran_label_texts_count(t) : 0;
        if (t != NULL ? C < 2 : err.text[0] == '\0')
                abort();
        for (size_t c = 1; c < C; c++)
                if (ran_label_texts_label(t, c)[0] == '\0' ||
                    strcmp(ran_label_texts_label(t, c), ran_label_texts_label(t, c - 1)) == 0)
                        abort();
        ran_label_texts_free(t);
        tiny_close(&file);
        return 0;
}
