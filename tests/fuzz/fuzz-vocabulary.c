/* Any bytes as a vocabulary, a tokenizer.json or a vocab.txt: refused with a sentence, or read.
 * Then text becomes pieces that are there, and what is written of it reads back as the same. */
#include <stdlib.h>
#include <string.h>

#include "ran.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct ran_tokenizer *t)
{
        static const char text[] =
                "The caf\xc3\xa9's dogs, 12 of them\n [MASK]\t\xf0\x9f\x90\xb6 \xe4\xb8\xad"
                " e\xcc\x81 WE'RE x\xe2\x80\x8d\xe2\x93\x90_ \xd9\xa3\r\n\n \xe2\x80\xa9  ";
        struct ran_encoding e = {0};
        struct ran_buf back = {0};

        if (ran_tokenizer_encode(t, text, sizeof text - 1, &e, NULL) == RAN_OK) {
                for (size_t i = 0; i < e.n; i++)
                        if (e.ids[i] >= ran_tokenizer_size(t))
                                abort();
                ran_tokenizer_decode(t, e.ids, e.n, &back, NULL);
        }
        ran_encoding_release(&e);
        ran_buf_release(&back);
}

static void check_written(const struct ran_tokenizer *t)
{
        struct ran_error err = {0};
        size_t n;
        const char *json = ran_tokenizer_json(t, &n);
        struct ran_tokenizer *again = ran_tokenizer_load(json, n, &err);

        if (again == NULL || strcmp(ran_tokenizer_digest(again), ran_tokenizer_digest(t)) != 0)
                abort();
        ran_tokenizer_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct ran_error err = {0};
        struct ran_tokenizer *t = ran_tokenizer_load((const char *)data, size, &err);

        if (t == NULL) {
                if (err.code == RAN_OK || err.text[0] == '\0')
                        abort();
                return 0;
        }
        use(t);
        check_written(t);
        ran_tokenizer_free(t);
        return 0;
}
