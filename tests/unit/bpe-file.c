#include <stdio.h>
#include <string.h>

#include "bpe-file.h"
#include "test.h"
#include "text/tokenizer.h"

static void add_token(struct ran_buf *vocab, size_t *id, const char *token, size_t n)
{
        ran_buf_str(vocab, *id > 0 ? "," : "");
        ran_buf_json(vocab, token, n);
        ran_buf_printf(vocab, ":%zu", (*id)++);
}

struct ran_tokenizer *bpe_file(const struct bpe_parts *p, struct ran_error *err)
{
        struct ran_buf vocab = {0}, json = {0};
        const char *merges = p->merges != NULL ? p->merges : "";
        size_t id = 0;

        for (size_t i = 0; p->reserved && i < RAN_RESERVED; i++)
                add_token(&vocab, &id, ran_tokenizer_reserved[i],
                          strlen(ran_tokenizer_reserved[i]));
        for (int byte = 0; byte < 256; byte++) {
                char token[4];
                if (p->without == 0 || byte != p->without)
                        add_token(&vocab, &id, token,
                                  ran_unicode_put(token, ran_gpt2_char((unsigned char)byte)));
        }
        /* What merges make: texts with one space, which is left out. */
        for (const char *s = merges; (s = strchr(s, '"')) != NULL;) {
                size_t n = strcspn(++s, "\""), left = strcspn(s, " \"");
                char token[64];
                snprintf(token, sizeof(token), "%.*s%.*s", (int)left, s, (int)(n - left) - 1,
                         s + left + 1);
                if (n < sizeof(token) && left < n)
                        add_token(&vocab, &id, token, n - 1);
                s += n + 1;
        }
        ran_buf_printf(&json, "{\"added_tokens\":[%s],\"normalizer\":%s,\"pre_tokenizer\":",
                       p->added != NULL ? p->added : "",
                       p->normalizer != NULL ? p->normalizer : "null");
        if (p->pre_tokenizer != NULL)
                ran_buf_str(&json, p->pre_tokenizer);
        else
                ran_buf_printf(&json, "{\"type\":\"ByteLevel\"%s}",
                               p->byte_level != NULL ? p->byte_level
                                                     : ",\"add_prefix_space\":false");
        ran_buf_printf(&json, ",\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{%s\"vocab\":{",
                       p->more != NULL ? p->more : "");
        ran_buf_add(&json, vocab.data, vocab.len);
        ran_buf_str(&json, p->tokens != NULL ? p->tokens : "");
        ran_buf_printf(&json, "},\"merges\":[%s]}}", merges);
        struct ran_tokenizer *t = ran_tokenizer_load(json.data, json.len, err);
        ran_buf_release(&vocab);
        ran_buf_release(&json);
        return t;
}

struct ran_tokenizer *bpe_with_merges(const char *merges)
{
        const struct bpe_parts p = {.merges = merges};
        struct ran_error err;
        struct ran_tokenizer *t = bpe_file(&p, &err);

        if (t == NULL)
                CHECK_STR(err.text, NULL);
        return t;
}
