/* text.c - the file of a tokeniser, written when somebody first asks for it. */
#include "text/hf/text.h"

static int write_text(const struct ran_tokenizer *t, struct ran_error *err)
{
        struct ran_tokenizer_text *text = t->text;
        struct ran_sha256 sha;
        int rc = ran_tokenizer_write(t, text, err);

        if (rc != RAN_OK) {
                ran_tokenizer_text_release(text);
                return rc;
        }
        ran_sha256_init(&sha);
        ran_sha256_add(&sha, text->json.data, text->json.len);
        ran_sha256_hex(&sha, text->digest);
        __atomic_store_n(&text->written, true, __ATOMIC_RELEASE);
        return RAN_OK;
}

const struct ran_tokenizer_text *ran_tokenizer_text(const struct ran_tokenizer *t,
                                                    struct ran_error *err)
{
        struct ran_tokenizer_text *text = t->text;
        int rc = RAN_OK;

        if (__atomic_load_n(&text->written, __ATOMIC_ACQUIRE))
                return text;
        pthread_mutex_lock(&text->lock);
        if (!text->written)
                rc = write_text(t, err);
        pthread_mutex_unlock(&text->lock);
        return rc == RAN_OK ? text : NULL;
}

int ran_tokenizer_finish(struct ran_tokenizer *t, const char *unk, struct ran_error *err)
{
        RAN_TRY(ran_tokenizer_derive(t, unk, err));
        return t->later || ran_tokenizer_text(t, err) != NULL ? RAN_OK : RAN_ENOMEM;
}

const char *ran_tokenizer_json(const struct ran_tokenizer *t, size_t *n)
{
        const struct ran_tokenizer_text *text = ran_tokenizer_text(t, NULL);

        *n = text != NULL ? text->json.len : 0;
        return text != NULL ? text->json.data : NULL;
}

const char *ran_tokenizer_digest(const struct ran_tokenizer *t)
{
        const struct ran_tokenizer_text *text = ran_tokenizer_text(t, NULL);

        return text != NULL ? text->digest : "";
}
