/* tokenizer.c - builds a tokeniser, and looks up its tokens. */
#include "text/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/gpt2.h"
#include "text/unicode.h"

const char *const ran_tokenizer_reserved[RAN_RESERVED] = {
        [RAN_UNK] = "[UNK]",     [RAN_MASK] = "[MASK]", [RAN_SEP] = "[SEP]",
        [RAN_START] = "[START]", [RAN_END] = "[END]",
};

static uint64_t serials;

/* ---- putting one together ------------------------------------------------------------------- */

struct ran_tokenizer *ran_tokenizer_new(enum ran_tokenizer_type type, struct ran_error *err)
{
        struct ran_tokenizer *t = ran_alloc(1, sizeof(*t), err);

        if (t == NULL)
                return NULL;
        t->type = type;
        t->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
        t->text = ran_alloc(1, sizeof *t->text, err);
        if (t->text == NULL) {
                free(t);
                return NULL;
        }
        pthread_mutex_init(&t->text->lock, NULL);
        return t;
}

int ran_tokenizer_add(struct ran_tokenizer *t, const char *token, size_t n, struct ran_error *err)
{
        uint32_t id;

        if (n == 0) {
                id = ran_string_table_skip(&t->tokens, err);
                return id != RAN_STRING_TABLE_NONE ? RAN_OK : RAN_ENOMEM;
        }
        if (ran_utf8_valid(token, n) < n)
                return ran_fail(err, RAN_EFORMAT, "token %zu is not valid UTF-8", t->tokens.n);
        if (ran_tokenizer_find(t, token, n, &id))
                return ran_fail(err, RAN_EFORMAT, "the token '%.*s' occurs twice, as %u and %zu",
                                n < 80 ? (int)n : 80, token, (unsigned)id, t->tokens.n);
        id = ran_string_table_add(
                &t->tokens, ran_string_table_hash(ran_string_table_seed, token, n), token, n, err);
        return id != RAN_STRING_TABLE_NONE ? RAN_OK : RAN_ENOMEM;
}

int ran_tokenizer_add_reserved(struct ran_tokenizer *t, struct ran_error *err)
{
        for (size_t i = 0; i < RAN_RESERVED; i++)
                RAN_TRY(ran_tokenizer_add(t, ran_tokenizer_reserved[i],
                                          strlen(ran_tokenizer_reserved[i]), err));
        return RAN_OK;
}

int ran_tokenizer_add_special(struct ran_tokenizer *t, const struct ran_added_token *token,
                              struct ran_error *err)
{
        struct ran_added_tokens *a = &t->added;
        size_t length, n = a->content.n;
        const char *content = ran_string_table_get(&t->tokens, token->id, &length);

        if (length > TOKENIZER_TOKEN_MOST)
                return ran_fail(err, RAN_EFORMAT,
                                "the added token '%.40s...' has %zu bytes; the maximum is %d",
                                content, length, TOKENIZER_TOKEN_MOST);
        struct ran_added_token *grown = ran_grow(a->token, &a->cap, n + 1, sizeof(*grown), err);
        if (grown == NULL)
                return RAN_ENOMEM;
        a->token = grown;
        if (ran_string_table_add(&a->content,
                                 ran_string_table_hash(ran_string_table_seed, content, length),
                                 content, length, err) == RAN_STRING_TABLE_NONE)
                return RAN_ENOMEM;
        a->token[n] = *token;
        a->first[(unsigned char)content[0]] = true;
        if (length > a->longest)
                a->longest = length;
        return RAN_OK;
}

int ran_tokenizer_set_prefix(struct ran_tokenizer *t, const char *prefix, struct ran_error *err)
{
        size_t n = strlen(prefix);

        if (n > TOKENIZER_TOKEN_MOST)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "the prefix of continuing subwords has %zu bytes; the maximum is %d", n,
                        TOKENIZER_TOKEN_MOST);
        char *copy = strdup(prefix);
        if (copy == NULL)
                return ran_fail(err, RAN_ENOMEM, "out of memory");
        free(t->prefix);
        t->prefix = copy;
        t->prefix_n = n;
        t->prefix_hash = ran_string_table_hash(ran_string_table_seed, copy, t->prefix_n);
        return RAN_OK;
}

static size_t longest_token(const struct ran_tokenizer *t)
{
        const size_t widest = 4; /* bytes of a character */
        size_t longest = 0;

        for (size_t i = 0; i < t->tokens.n; i++) {
                size_t n;
                ran_string_table_get(&t->tokens, (uint32_t)i, &n);
                longest = n > longest ? n : longest;
        }
        if (t->type == TOKENIZER_WORDPIECE && longest / widest > t->max_chars)
                longest = t->max_chars * widest;
        return longest;
}

/* The layout of vocabularies made here. */
static bool begins_with_reserved(const struct ran_tokenizer *t)
{
        for (uint32_t i = 0; i < RAN_RESERVED; i++) {
                const char *name = ran_tokenizer_reserved[i];
                uint32_t id;
                if (!ran_tokenizer_find(t, name, strlen(name), &id) || id != i)
                        return false;
        }
        return true;
}

int ran_tokenizer_find_bytes(struct ran_tokenizer *t, struct ran_error *err)
{
        for (int i = 0; i < 256; i++) {
                unsigned char byte = (unsigned char)i;
                char token[4];
                size_t n = ran_unicode_put(token, ran_gpt2_char(byte));
                t->bpe.byte[i] = BPE_NONE;
                if (!ran_tokenizer_find(t, token, n, &t->bpe.byte[i]) && ran_gpt2_byte_occurs(byte))
                        return ran_fail(err, RAN_EFORMAT,
                                        "the vocabulary has no token '%.*s' for the byte 0x%02x",
                                        (int)n, token, byte);
        }
        return RAN_OK;
}

int ran_tokenizer_find_chars(struct ran_tokenizer *t, struct ran_error *err)
{
        struct ran_bpe *b = &t->bpe;

        b->chars = &t->tokens;
        for (int i = 0; i < 256; i++) {
                char token[TOKENIZER_BYTE_LENGTH + 1], c = (char)i;
                snprintf(token, sizeof token, TOKENIZER_BYTE, (unsigned)i);
                b->byte[i] = BPE_NONE;
                if (!ran_tokenizer_find(t, token, TOKENIZER_BYTE_LENGTH, &b->byte[i]) &&
                    ran_gpt2_byte_occurs((unsigned char)i))
                        return ran_fail(err, RAN_EFORMAT,
                                        "the vocabulary has no token '%s', which \"byte_fallback\" "
                                        "needs",
                                        token);
                if (i >= 128)
                        continue;
                b->ascii[i] = BPE_NONE;
                if (i == ' ')
                        ran_tokenizer_find(t, WORDS_META, sizeof(WORDS_META) - 1, &b->ascii[i]);
                else
                        ran_tokenizer_find(t, &c, 1, &b->ascii[i]);
        }
        return RAN_OK;
}

/* If words may have any characters, a merge might spell a reserved token. */
static int check_merges(const struct ran_tokenizer *t, struct ran_error *err)
{
        for (size_t i = 0; i < t->bpe.merges.n; i++) {
                if (t->bpe.joined[i] < t->least)
                        return ran_fail(err, RAN_EFORMAT, "merge %zu makes the reserved token '%s'",
                                        i + 1, ran_tokenizer_reserved[t->bpe.joined[i]]);
        }
        return RAN_OK;
}

int ran_tokenizer_finish(struct ran_tokenizer *t, const char *unk, struct ran_error *err)
{
        t->unk = RAN_NO_ID;
        if (unk != NULL && !ran_tokenizer_find(t, unk, strlen(unk), &t->unk))
                return ran_fail(err, RAN_EFORMAT,
                                "the vocabulary has no token '%s' for unknown words", unk);
        t->least = begins_with_reserved(t) ? RAN_RESERVED : 0;
        t->longest = longest_token(t);
        if (t->type == TOKENIZER_WORDPIECE && t->longest > TOKENIZER_TOKEN_MOST)
                return ran_fail(err, RAN_EFORMAT,
                                "a token has %zu bytes; the maximum for WordPiece is %d",
                                t->longest, TOKENIZER_TOKEN_MOST);
        RAN_TRY(check_merges(t, err));
        RAN_TRY(ran_text_rules_prepare(&t->rules, err));
        return t->later || ran_tokenizer_text(t, err) != NULL ? RAN_OK : RAN_ENOMEM;
}

static void release_text(struct ran_tokenizer_text *text)
{
        ran_buf_release(&text->json);
        free(text->quoted);
        text->quoted = NULL;
}

void ran_tokenizer_free(struct ran_tokenizer *t)
{
        if (t == NULL)
                return;
        ran_text_rules_release(&t->rules);
        ran_string_table_release(&t->tokens);
        ran_string_table_release(&t->added.content);
        free(t->added.token);
        free(t->prefix);
        ran_bpe_release(&t->bpe);
        free(t->notice);
        release_text(t->text);
        pthread_mutex_destroy(&t->text->lock);
        free(t->text);
        free(t);
}

static struct ran_tokenizer *load(const char *data, size_t n, bool later, struct ran_error *err)
{
        const size_t mark = ran_utf8_mark(data, n);
        size_t i = mark;

        while (i < n && (data[i] == ' ' || (data[i] >= '\t' && data[i] <= '\r')))
                i++;
        if (i == n) {
                ran_fail(err, RAN_EFORMAT, "the vocabulary is empty");
                return NULL;
        }
        return data[i] == '{' ? ran_tokenizer_read_json(data + mark, n - mark, later, err)
                              : ran_tokenizer_read_lines(data, n, err);
}

struct ran_tokenizer *ran_tokenizer_load(const char *data, size_t n, struct ran_error *err)
{
        return load(data, n, false, err);
}

struct ran_tokenizer *ran_tokenizer_load_quick(const char *data, size_t n, struct ran_error *err)
{
        return load(data, n, true, err);
}

/* ---- its text -------------------------------------------------------------------------------- */

static int write_text(const struct ran_tokenizer *t, struct ran_error *err)
{
        struct ran_tokenizer_text *text = t->text;
        struct ran_sha256 sha;
        int rc = ran_tokenizer_write(t, text, err);

        if (rc != RAN_OK) {
                release_text(text);
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

/* ---- asking --------------------------------------------------------------------------------- */

const char *ran_tokenizer_notice(const struct ran_tokenizer *t)
{
        return t->notice;
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

size_t ran_tokenizer_size(const struct ran_tokenizer *t)
{
        return t->tokens.n;
}

const char *ran_tokenizer_token(const struct ran_tokenizer *t, uint32_t id, size_t *n)
{
        if (id >= t->tokens.n)
                return NULL;
        const char *token = ran_string_table_get(&t->tokens, id, n);
        return *n > 0 ? token : NULL;
}

uint32_t ran_tokenizer_unknown(const struct ran_tokenizer *t)
{
        return t->unk;
}

bool ran_tokenizer_find(const struct ran_tokenizer *t, const char *token, size_t n, uint32_t *id)
{
        uint32_t found = ran_string_table_find(
                &t->tokens, ran_string_table_hash(ran_string_table_seed, token, n), "", 0, token,
                n);

        if (found != RAN_STRING_TABLE_NONE)
                *id = found;
        return found != RAN_STRING_TABLE_NONE;
}
