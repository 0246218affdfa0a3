/* tokenizer.c - builds a tokeniser, and looks up its tokens. hf/text.c has its file. */
#include "text/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ran_tokenizer_reserved[RAN_RESERVED] = {
        [RAN_UNK] = "[UNK]",     [RAN_MASK] = "[MASK]", [RAN_SEP] = "[SEP]",
        [RAN_START] = "[START]", [RAN_END] = "[END]",
};

const char *const ran_tokenizer_types[] = {[TOKENIZER_WORD] = "WordLevel",
                                           [TOKENIZER_WORDPIECE] = "WordPiece",
                                           [TOKENIZER_BPE] = "BPE",
                                           [TOKENIZER_UNIGRAM] = "Unigram",
                                           NULL};

static uint64_t serials;

/* ---- putting one together ------------------------------------------------------------------- */

struct ran_tokenizer *ran_tokenizer_new(enum ran_tokenizer_type type)
{
        struct ran_tokenizer *t = ran_new(1, sizeof(*t));

        t->type = type;
        t->most = UINT32_MAX;
        t->bpe = (struct ran_bpe){.unknown = BPE_NONE, .most = BPE_NONE, .fallback = true};
        for (int i = 0; i < RAN_TOKEN_ROLES; i++)
                t->role[i] = RAN_NO_ID;
        t->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
        t->text = ran_new(1, sizeof *t->text);
        pthread_mutex_init(&t->text->lock, NULL);
        return t;
}

int ran_tokenizer_add(struct ran_tokenizer *t, const char *token, size_t n, struct ran_error *err)
{
        const size_t id = t->tokens.n;

        if (n == 0) {
                ran_string_table_skip(&t->tokens);
                return RAN_OK;
        }
        if (ran_utf8_valid(token, n) < n)
                return ran_fail(err, RAN_EFORMAT, "token %zu is not valid UTF-8", id);
        const uint32_t added = ran_string_table_add(&t->tokens, token, n);
        if (added != id)
                return ran_fail(err, RAN_EFORMAT, "the token '%.*s' occurs twice, as %u and %zu",
                                n < 80 ? (int)n : 80, token, (unsigned)added, id);
        return RAN_OK;
}

int ran_tokenizer_add_special(struct ran_tokenizer *t, const struct ran_added_token *token,
                              struct ran_error *err)
{
        size_t length;
        const char *content = ran_string_table_get(&t->tokens, token->id, &length);

        return ran_added_tokens_add(&t->added, content, length, token, err);
}

int ran_tokenizer_set_prefix(struct ran_tokenizer *t, const char *prefix, struct ran_error *err)
{
        size_t n = strlen(prefix);

        if (n > TOKENIZER_TOKEN_MOST)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "the prefix of continuing subwords has %zu bytes; the maximum is %d", n,
                        TOKENIZER_TOKEN_MOST);
        free(t->prefix);
        t->prefix = ran_copy(prefix, n);
        t->prefix_n = n;
        t->prefix_hash = ran_string_table_hash(ran_string_table_seed, prefix, n);
        return RAN_OK;
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

int ran_tokenizer_find_bytes(struct ran_tokenizer *t, bool chars, struct ran_error *err)
{
        struct ran_bpe *b = &t->bpe;

        for (int i = 0; i < 256; i++) {
                const unsigned char byte = (unsigned char)i;
                char token[TOKENIZER_BYTE_LENGTH + 1];
                size_t n = chars ? (size_t)snprintf(token, sizeof token, TOKENIZER_BYTE, byte)
                                 : ran_unicode_put(token, ran_gpt2_char(byte));

                b->byte[i] = BPE_NONE;
                if (ran_tokenizer_find(t, token, n, &b->byte[i]) || t->steps != NULL ||
                    byte == 0xc0 || byte == 0xc1 || byte >= 0xf5) /* never in UTF-8 */
                        continue;
                return ran_fail(err, RAN_EFORMAT,
                                "the vocabulary has no token '%.*s' for the byte 0x%02x", (int)n,
                                token, byte);
        }
        memcpy(b->unit, b->byte, sizeof b->unit);
        if (!chars)
                return RAN_OK;
        b->chars = &t->tokens;
        for (int i = 0; i < 128; i++) {
                b->unit[i] = BPE_NONE;
                ran_tokenizer_find(t, (const char[]){(char)i}, 1, &b->unit[i]);
        }
        return RAN_OK;
}

int ran_tokenizer_finish(struct ran_tokenizer *t, const char *unk, struct ran_error *err)
{
        /* Tokens with a role, where the file does not name them. */
        static const char *const usual[RAN_TOKEN_ROLES][2] = {
                [RAN_TOKEN_UNKNOWN] = {"[UNK]", "<unk>"}, [RAN_TOKEN_PADDING] = {"[PAD]", "<pad>"},
                [RAN_TOKEN_MASK] = {"[MASK]", "<mask>"},  [RAN_TOKEN_FIRST] = {"[CLS]", "<s>"},
                [RAN_TOKEN_LAST] = {"[SEP]", "</s>"},
        };
        const size_t widest = 4; /* bytes of a character */

        if (t->type == TOKENIZER_BPE)
                t->unk = t->bpe.unknown;
        if (unk != NULL && !ran_tokenizer_find(t, unk, strlen(unk), &t->unk))
                return ran_fail(err, RAN_EFORMAT,
                                "the vocabulary has no token '%s' for unknown words", unk);
        t->least = begins_with_reserved(t) && !t->exact ? RAN_RESERVED : 0;
        t->longest = 0;
        for (size_t i = 0, n; i < t->tokens.n; i++) {
                ran_string_table_get(&t->tokens, (uint32_t)i, &n);
                t->longest = n > t->longest ? n : t->longest;
        }
        if (t->type == TOKENIZER_WORDPIECE && t->longest / widest > t->max_chars)
                t->longest = t->max_chars * widest;
        if ((t->type == TOKENIZER_WORDPIECE || t->type == TOKENIZER_UNIGRAM) &&
            t->longest > TOKENIZER_TOKEN_MOST)
                return ran_fail(err, RAN_EFORMAT, "a token has %zu bytes; the maximum for %s is %d",
                                t->longest, ran_tokenizer_types[t->type], TOKENIZER_TOKEN_MOST);
        if (t->type == TOKENIZER_UNIGRAM && t->tokens.bytes_n >= RAN_NO_ID - 1)
                return ran_fail(err, RAN_EFORMAT, "tokens of %zu bytes are too many",
                                t->tokens.bytes_n);
        if (t->type == TOKENIZER_UNIGRAM)
                ran_unigram_prepare(&t->unigram, &t->tokens);
        if (t->unk != RAN_NO_ID)
                t->role[RAN_TOKEN_UNKNOWN] = t->unk;
        for (int i = 0; i < RAN_TOKEN_ROLES; i++)
                for (int k = 0; k < 2 && t->role[i] == RAN_NO_ID; k++)
                        ran_tokenizer_find(t, usual[i][k], strlen(usual[i][k]), &t->role[i]);
        /* If words may have any characters, a merge might spell a reserved token. */
        for (size_t i = 0; i < t->bpe.merges.n; i++)
                if (t->bpe.joined[i] < t->least)
                        return ran_fail(err, RAN_EFORMAT, "merge %zu makes the reserved token '%s'",
                                        i + 1, ran_tokenizer_reserved[t->bpe.joined[i]]);
        ran_text_rules_prepare(&t->rules);
        return RAN_OK;
}

void ran_tokenizer_free(struct ran_tokenizer *t)
{
        if (t == NULL)
                return;
        ran_text_rules_release(&t->rules);
        ran_string_table_release(&t->tokens);
        ran_added_tokens_release(&t->added);
        ran_added_tokens_release(&t->normalized);
        free(t->prefix);
        ran_pairs_release(&t->bpe.merges);
        free(t->bpe.joined);
        free(t->unigram.score);
        free(t->unigram.first);
        free(t->unigram.label);
        free(t->unigram.token);
        ran_steps_free(t->steps);
        free(t->before.id);
        free(t->after.id);
        for (int i = 0; i < KEPT; i++)
                free(t->kept[i]);
        free(t->notice);
        ran_buf_release(&t->text->json);
        free(t->text->quoted);
        pthread_mutex_destroy(&t->text->lock);
        free(t->text);
        free(t);
}

/* ---- asking --------------------------------------------------------------------------------- */

const char *ran_tokenizer_notice(const struct ran_tokenizer *t)
{
        return t->notice;
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

struct ran_surround ran_tokenizer_surround(const struct ran_tokenizer *t)
{
        return (struct ran_surround){t->before.id, t->after.id, t->before.n, t->after.n};
}

bool ran_tokenizer_find(const struct ran_tokenizer *t, const char *token, size_t n, uint32_t *id)
{
        const uint32_t found = ran_string_table_find(&t->tokens, token, n);

        if (found != RAN_STRING_TABLE_NONE)
                *id = found;
        return found != RAN_STRING_TABLE_NONE;
}
