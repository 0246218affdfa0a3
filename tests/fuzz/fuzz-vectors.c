/* Any bytes as a file of word vectors: refused with a sentence, or read into rows of numbers that
 * are finite. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ran.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ran_tokenizer *vocabulary(void)
{
        static const char pieces[] = "[UNK]\n[MASK]\n[SEP]\n[START]\n[END]\na\nb\nthe\n,\n7\n";
        static struct ran_tokenizer *t;

        if (t == NULL)
                t = ran_tokenizer_load(pieces, strlen(pieces), NULL);
        if (t == NULL)
                abort();
        return t;
}

static int read_all(struct ran_vectors *v, const struct ran_tokenizer *t, struct ran_error *err)
{
        struct ran_vectors_report report;
        struct ran_embedding e;
        size_t given = 0;

        if (ran_embedding_init(&e, ran_tokenizer_size(t), ran_vectors_width(v), err) != RAN_OK)
                return err->code;
        int code = ran_vectors_read(v, t, &e, &report, err);
        for (size_t i = 0; code == RAN_OK && i < e.V * e.D; i++)
                if (!isfinite(e.rows[i]))
                        abort();
        for (size_t id = 0; id < e.V; id++)
                given += e.given[id];
        if (code == RAN_OK && given != report.found)
                abort();
        ran_embedding_release(&e);
        return code;
}

/* The words of the first rows change nothing of what is read then. */
static int want_some(struct ran_vectors *v, size_t n, struct ran_error *err)
{
        struct ran_vocab_settings settings;
        size_t wanted;

        if (ran_fields_init(ran_vocab_fields, &settings, err) != RAN_OK)
                abort();
        struct ran_counter *c = ran_counter_new(&settings, err);
        int code = c != NULL ? ran_vectors_want(v, n, c, &wanted, err) : RAN_ENOMEM;
        if (code == RAN_OK && wanted > n)
                abort();
        ran_counter_free(c);
        return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct ran_error err = {0};
        int fd = memfd_create("vectors", 0), code = RAN_OK;
        char path[64];

        if (fd < 0 || write(fd, data, size) != (ssize_t)size)
                abort();
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        struct ran_vectors *v = ran_vectors_open(path, size % 3, &err);
        if (v != NULL && size % 5 > 0)
                code = want_some(v, size % 5, &err);
        if (code == RAN_OK)
                code = v != NULL ? read_all(v, vocabulary(), &err) : (int)err.code;
        if (code != RAN_OK && err.text[0] == '\0')
                abort();
        ran_vectors_free(v);
        close(fd);
        return 0;
}
