/* Any bytes as a vocabulary, a tokenizer.json or a vocab.txt: refused with a sentence, or read.
 * Then text becomes pieces that are there, and what is written of it reads back as the same. */
#include <stdlib.h>
#include <string.h>

#include "ran.h"
#include "text/hf/hf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct ran_tokenizer *t)
{
        static const char text[] =
                "The caf\xc3\xa9's dogs, 12 of them\n [MASK]\t\xf0\x9f\x90\xb6 \xe4\xb8\xad"
                " e\xcc\x81 WE'RE x\xe2\x80\x8d\xe2\x93\x90_ \xd9\xa3\r\n\n \xe2\x80\xa9  "
                "<mask> <s>\xef\xac\x81 \xef\xbd\xb1\xef\xbe\x9e\xe2\x96\x81"
                "a \xea\xb0\x81\xe1\x86\xa8 "
                "\xcd\x84\xcc\xa3 aaa aaaa \x01\x7f";
        struct ran_encoding e = {0};
        struct ran_buf back = {0};

        if (ran_tokenizer_encode(t, text, sizeof text - 1, &e, NULL) == RAN_OK) {
                for (size_t i = 0; i < e.n; i++)
                        if (e.ids[i] >= ran_tokenizer_size(t) || e.start[i] > e.end[i] ||
                            e.end[i] > sizeof text - 1)
                                abort();
                ran_tokenizer_decode(t, e.ids, e.n, &back, NULL);
        }
        if (ran_tokenizer_encode_word(t, text + 4, 5, &e, NULL) == RAN_OK && e.n == 0)
                abort();
        ran_encoding_release(&e);
        ran_buf_release(&back);
        const struct ran_surround around = ran_tokenizer_surround(t);
        for (size_t i = 0; i < around.before_n; i++)
                if (around.before[i] >= ran_tokenizer_size(t))
                        abort();
        for (size_t i = 0; i < around.after_n; i++)
                if (around.after[i] >= ran_tokenizer_size(t))
                        abort();
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

static void check_tokenizer(struct ran_tokenizer *t, const struct ran_error *err)
{
        if (t == NULL) {
                if (err->code == RAN_OK || err->text[0] == '\0')
                        abort();
                return;
        }
        use(t);
        check_written(t);
        ran_tokenizer_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct ran_error err = {0};

        check_tokenizer(ran_tokenizer_load((const char *)data, size, &err), &err);
        err = (struct ran_error){0};
        check_tokenizer(ran_tokenizer_read_json((const char *)data, size, true, &err), &err);
        return 0;
}
