/* load.c - a tokeniser from the bytes of a tokenizer.json or a vocab.txt. */
#include "text/hf/text.h"

static struct ran_tokenizer *load(const char *data, size_t n, bool exact, bool later,
                                  struct ran_error *err)
{
        const size_t mark = ran_utf8_mark(data, n);
        size_t i = mark;

        while (i < n && (data[i] == ' ' || (data[i] >= '\t' && data[i] <= '\r')))
                i++;
        if (i == n) {
                ran_fail(err, RAN_EFORMAT, "the vocabulary is empty");
                return NULL;
        }
        return data[i] == '{' ? ran_tokenizer_read_json(data + mark, n - mark, exact, later, err)
                              : ran_tokenizer_read_lines(data, n, err);
}

struct ran_tokenizer *ran_tokenizer_load(const char *data, size_t n, struct ran_error *err)
{
        return load(data, n, false, false, err);
}

struct ran_tokenizer *ran_tokenizer_load_quick(const char *data, size_t n, struct ran_error *err)
{
        return load(data, n, false, true, err);
}

struct ran_tokenizer *ran_tokenizer_load_encoder(const char *data, size_t n, struct ran_error *err)
{
        return load(data, n, true, false, err);
}
