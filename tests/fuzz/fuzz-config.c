/* Any bytes as settings, of a model file or of --config: refused with a sentence, or read; what is
 * written of them reads back as the same. */
#include <stdlib.h>
#include <string.h>

#include "ran.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_fields(const struct ran_field *fields, const void *base, struct ran_buf *out)
{
        ran_buf_char(out, '{');
        ran_fields_json(fields, base, out);
        ran_buf_char(out, '}');
}

static void check_written(const struct ran_field *fields, const void *base, void *other)
{
        struct ran_buf one = {0}, two = {0};
        struct ran_error err = {0};

        write_fields(fields, base, &one);
        if (ran_fields_init(fields, other, &err) != RAN_OK ||
            ran_fields_parse(fields, other, one.data, one.len, false, &err) != RAN_OK)
                abort();
        write_fields(fields, other, &two);
        if (one.len != two.len || memcmp(one.data, two.data, one.len) != 0)
                abort();
        ran_fields_release(fields, other);
        ran_buf_release(&one);
        ran_buf_release(&two);
}

static bool read_fields(const struct ran_field *fields, void *base, void *other, const char *json,
                        size_t n)
{
        struct ran_error err = {0};

        if (ran_fields_init(fields, base, &err) != RAN_OK)
                abort();
        bool ok = ran_fields_parse(fields, base, json, n, n % 2 == 0, &err) == RAN_OK;
        if (!ok && (err.code == RAN_OK || err.text[0] == '\0'))
                abort();
        if (ok)
                check_written(fields, base, other);
        return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *json = (const char *)data;
        struct ran_config config, other_config;
        struct ran_train_settings training, other_training;
        struct ran_vocab_settings vocabulary, other_vocabulary;
        bool ok = read_fields(ran_config_fields, &config, &other_config, json, size);

        if (ok)
                ran_config_check(&config, NULL);
        if (read_fields(ran_train_fields, &training, &other_training, json, size) && ok)
                ran_train_settings_check(&training, &config, NULL);
        read_fields(ran_vocab_fields, &vocabulary, &other_vocabulary, json, size);
        ran_fields_release(ran_config_fields, &config);
        ran_fields_release(ran_train_fields, &training);
        ran_fields_release(ran_vocab_fields, &vocabulary);
        return 0;
}
