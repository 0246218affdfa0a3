/* tokenizer.c - putting a tokeniser together, and asking it about its pieces. */
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

/* ---- putting one together ------------------------------------------------------------------- */

struct ran_tokenizer *ran_tokenizer_new(enum ran_tokenizer_type type, struct ran_error *err)
{
        struct ran_tokenizer *t = ran_alloc(1, sizeof(*t), err);

        if (t != NULL)
                t->type = type;
        return t;
}

int ran_tokenizer_add(struct ran_tokenizer *t, const char *piece, size_t n, struct ran_error *err)
{
        uint32_t id;

        if (n == 0) {
                id = ran_string_table_skip(&t->pieces, err);
                return id != RAN_STRING_TABLE_NONE ? RAN_OK : RAN_ENOMEM;
        }
        if (ran_utf8_valid(piece, n) < n)
                return ran_fail(err, RAN_EFORMAT, "token %zu is not valid UTF-8", t->pieces.n);
        if (ran_tokenizer_find(t, piece, n, &id))
                return ran_fail(err, RAN_EFORMAT, "the token '%.*s' occurs twice, as %u and %zu",
                                n < 80 ? (int)n : 80, piece, (unsigned)id, t->pieces.n);
        id = ran_string_table_add(
                &t->pieces, ran_string_table_hash(ran_string_table_seed, piece, n), piece, n, err);
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
        const char *content = ran_string_table_get(&t->pieces, token->id, &length);

        if (length > TOKENIZER_PIECE_MOST)
                return ran_fail(err, RAN_EFORMAT,
                                "the added token '%.40s...' has %zu bytes; the maximum is %d",
                                content, length, TOKENIZER_PIECE_MOST);
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

        if (n > TOKENIZER_PIECE_MOST)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "the prefix of continuing subwords has %zu bytes; the maximum is %d", n,
                        TOKENIZER_PIECE_MOST);
        char *copy = strdup(prefix);
        if (copy == NULL)
                return ran_fail(err, RAN_ENOMEM, "out of memory");
        free(t->prefix);
        t->prefix = copy;
        t->prefix_n = n;
        t->prefix_hash = ran_string_table_hash(ran_string_table_seed, copy, t->prefix_n);
        return RAN_OK;
}

static size_t longest_piece(const struct ran_tokenizer *t)
{
        const size_t widest = 4; /* bytes of a character */
        size_t longest = 0;

        for (size_t i = 0; i < t->pieces.n; i++) {
                size_t n;
                ran_string_table_get(&t->pieces, (uint32_t)i, &n);
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
                char piece[4];
                size_t n = ran_unicode_put(piece, ran_gpt2_char(byte));
                t->bpe.byte[i] = BPE_NONE;
                if (!ran_tokenizer_find(t, piece, n, &t->bpe.byte[i]) && ran_gpt2_byte_occurs(byte))
                        return ran_fail(err, RAN_EFORMAT,
                                        "the vocabulary has no token '%.*s' for the byte 0x%02x",
                                        (int)n, piece, byte);
        }
        return RAN_OK;
}

int ran_tokenizer_find_chars(struct ran_tokenizer *t, struct ran_error *err)
{
        struct ran_bpe *b = &t->bpe;

        b->chars = &t->pieces;
        for (int i = 0; i < 256; i++) {
                char piece[TOKENIZER_BYTE_LENGTH + 1], c = (char)i;
                snprintf(piece, sizeof piece, TOKENIZER_BYTE, (unsigned)i);
                b->byte[i] = BPE_NONE;
                if (!ran_tokenizer_find(t, piece, TOKENIZER_BYTE_LENGTH, &b->byte[i]) &&
                    ran_gpt2_byte_occurs((unsigned char)i))
                        return ran_fail(err, RAN_EFORMAT,
                                        "the vocabulary has no token '%s', which \"byte_fallback\" "
                                        "needs",
                                        piece);
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

/* With words of any kind a merge might spell out a reserved token. */
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
        t->longest = longest_piece(t);
        if (t->type == TOKENIZER_WORDPIECE && t->longest > TOKENIZER_PIECE_MOST)
                return ran_fail(err, RAN_EFORMAT,
                                "a token has %zu bytes; the maximum for WordPiece is %d",
                                t->longest, TOKENIZER_PIECE_MOST);
        RAN_TRY(check_merges(t, err));
        RAN_TRY(ran_text_rules_prepare(&t->rules, err));
        RAN_TRY(ran_tokenizer_write(t, err));

        struct ran_sha256 sha;
        ran_sha256_init(&sha);
        ran_sha256_add(&sha, t->json.data, t->json.len);
        ran_sha256_hex(&sha, t->digest);
        return RAN_OK;
}

void ran_tokenizer_free(struct ran_tokenizer *t)
{
        if (t == NULL)
                return;
        ran_text_rules_release(&t->rules);
        ran_string_table_release(&t->pieces);
        ran_string_table_release(&t->added.content);
        free(t->added.token);
        free(t->prefix);
        ran_bpe_release(&t->bpe);
        free(t->notice);
        ran_buf_release(&t->json);
        free(t->quoted);
        free(t);
}

struct ran_tokenizer *ran_tokenizer_load(const char *data, size_t n, struct ran_error *err)
{
        const size_t mark = ran_utf8_mark(data, n);
        size_t i = mark;

        while (i < n && (data[i] == ' ' || (data[i] >= '\t' && data[i] <= '\r')))
                i++;
        if (i == n) {
                ran_fail(err, RAN_EFORMAT, "the vocabulary is empty");
                return NULL;
        }
        return data[i] == '{' ? ran_tokenizer_read_json(data + mark, n - mark, err)
                              : ran_tokenizer_read_lines(data, n, err);
}

/* ---- asking --------------------------------------------------------------------------------- */

const char *ran_tokenizer_notice(const struct ran_tokenizer *t)
{
        return t->notice;
}

const char *ran_tokenizer_json(const struct ran_tokenizer *t, size_t *n)
{
        *n = t->json.len;
        return t->json.data;
}

const char *ran_tokenizer_digest(const struct ran_tokenizer *t)
{
        return t->digest;
}

size_t ran_tokenizer_size(const struct ran_tokenizer *t)
{
        return t->pieces.n;
}

const char *ran_tokenizer_piece(const struct ran_tokenizer *t, uint32_t id, size_t *n)
{
        if (id >= t->pieces.n)
                return NULL;
        const char *piece = ran_string_table_get(&t->pieces, id, n);
        return *n > 0 ? piece : NULL;
}

uint32_t ran_tokenizer_unknown(const struct ran_tokenizer *t)
{
        return t->unk;
}

bool ran_tokenizer_find(const struct ran_tokenizer *t, const char *piece, size_t n, uint32_t *id)
{
        uint32_t found = ran_string_table_find(
                &t->pieces, ran_string_table_hash(ran_string_table_seed, piece, n), "", 0, piece,
                n);

        if (found != RAN_STRING_TABLE_NONE)
                *id = found;
        return found != RAN_STRING_TABLE_NONE;
}
