/* Any bytes as the texts of a folder in Hugging Face's form. The first says which file the rest is:
 * c config.json, m modules.json, p and d those of the pooling and the dense layer, s
 * sentence_bert_config.json, t tokenizer_config.json, q prompts, r README.md. Each is refused with
 * a sentence, or read; a configuration that is read has a layout. */
#include <stdlib.h>
#include <string.h>

#include "hf/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
        char letter;
        ran_hf_reader *read;
} readers[] = {
        {'c', ran_hf_read_config},   {'m', ran_hf_read_modules},
        {'p', ran_hf_read_pooling},  {'d', ran_hf_read_dense},
        {'s', ran_hf_read_sentence}, {'t', ran_hf_read_tokenizer_config},
        {'q', ran_hf_read_prompts},
};

/* Every tensor of the model has an origin with a name, is made of others, or is zero. */
static void check_layout(const struct ran_hf *f)
{
        struct ran_layout layout;
        struct ran_hf_origin from;
        struct ran_error err = {0};
        size_t C = f->labels > 0 && f->labels < 1000 ? f->labels : 3;

        if (f->family != RAN_HF_RANNET &&
            (f->config.heads * f->config.head_dim != f->config.dim || f->rows < f->first + 3))
                abort();
        if (f->config.layers > 64 || ran_layout_init(&layout, &f->config, C, &err) != RAN_OK)
                return;
        for (size_t i = 0; i < layout.n; i++) {
                ran_hf_origin(f, &layout.spec[i], &from);
                if (from.part >= from.parts)
                        abort();
        }
        ran_layout_release(&layout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct ran_hf f = {0};
        struct ran_error err = {0};

        f.config.dim = 16;
        for (size_t i = 0; size > 0 && i < sizeof readers / sizeof *readers; i++) {
                if (data[0] != (uint8_t)readers[i].letter)
                        continue;
                cJSON *all;
                int rc = ran_cjson_read(&all, (const char *)data + 1, size - 1, data[0] == 'm',
                                        &err);
                if (rc == RAN_OK)
                        rc = readers[i].read(&f, all, &err);
                cJSON_Delete(all);
                if (rc != RAN_OK && err.text[0] == '\0')
                        abort();
                if (rc == RAN_OK && data[0] == 'c')
                        check_layout(&f);
                if (rc == RAN_OK && data[0] == 'm' && (!f.sentence || f.pooling_folder == NULL))
                        abort();
        }
        if (size > 0 && data[0] == 'r')
                ran_hf_read_readme(&f, (const char *)data + 1, size - 1);
        ran_hf_release(&f);
        return 0;
}
