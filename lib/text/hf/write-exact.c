/* hf-write-exact.c - a tokeniser that is read exactly, as a tokenizer.json: the parts that say how
 * are those of its file, in a fixed order and without white space. */
#include <string.h>

#include "text/hf/hf.h"
#include "text/tokenizer.h"

/* An id without a token gets an empty string. */
void ran_hf_write_vocab(const struct ran_tokenizer *t, struct ran_tokenizer_text *to)
{
        struct ran_buf *out = &to->json;
        const char *between = "\n";

        ran_buf_str(out, ",\"vocab\":{");
        for (size_t id = 0; id < t->tokens.n && id < t->most; id++) {
                size_t n;
                const char *token = ran_tokenizer_token(t, (uint32_t)id, &n);
                if (token == NULL)
                        continue;
                ran_buf_str(out, between);
                size_t begin = out->len;
                ran_buf_json(out, token, n);
                to->quoted[id] = (struct quoted){begin, out->len - begin};
                ran_buf_char(out, ':');
                ran_buf_size(out, id);
                between = ",\n";
        }
        ran_buf_str(out, "\n}");
}

static void write_bool(struct ran_buf *out, const char *name, bool value)
{
        ran_buf_printf(out, ",\"%s\":%s", name, value ? "true" : "false");
}

/* Notes where a token stands, unless the vocabulary has it, too. */
static void quote(struct ran_tokenizer_text *to, const struct ran_tokenizer *t, uint32_t id)
{
        struct ran_buf *out = &to->json;
        const size_t begin = out->len;
        size_t n;
        const char *token = ran_tokenizer_token(t, id, &n);

        ran_buf_json(out, token != NULL ? token : "", token != NULL ? n : 0);
        to->quoted[id] = (struct quoted){begin, out->len - begin};
}

static void write_added(const struct ran_tokenizer *t, const struct ran_added_tokens *a,
                        bool normalized, const char **between, struct ran_tokenizer_text *to)
{
        struct ran_buf *out = &to->json;

        for (size_t i = 0; i < a->content.n; i++) {
                const struct ran_added_token *token = &a->token[i];
                ran_buf_printf(out, "%s{\"id\":%u,\"content\":", *between, (unsigned)token->id);
                quote(to, t, token->id);
                write_bool(out, "single_word", token->single);
                write_bool(out, "lstrip", token->left);
                write_bool(out, "rstrip", token->right);
                write_bool(out, "normalized", normalized);
                write_bool(out, "special", token->special);
                ran_buf_char(out, '}');
                *between = ",\n";
        }
}

static void write_roles(const struct ran_tokenizer *t, struct ran_buf *out)
{
        const char *between = "";

        ran_buf_str(out, ",\n\"" HF_ROLES "\":{");
        for (int i = 0; ran_token_roles[i] != NULL; i++) {
                size_t n;
                const char *token = ran_tokenizer_token(t, t->role[i], &n);
                if (token == NULL || memchr(token, '\0', n) != NULL)
                        continue;
                ran_buf_printf(out, "%s\"%s\":", between, ran_token_roles[i]);
                ran_buf_json(out, token, n);
                between = ",";
        }
        ran_buf_char(out, '}');
}

static void write_scores(const struct ran_tokenizer *t, struct ran_tokenizer_text *to)
{
        struct ran_buf *out = &to->json;

        ran_buf_str(out, ",\"vocab\":[");
        for (size_t i = 0; i < t->unigram.n; i++) {
                ran_buf_str(out, i > 0 ? ",\n[" : "\n[");
                quote(to, t, (uint32_t)i);
                ran_buf_char(out, ',');
                ran_buf_double(out, t->unigram.score[i]);
                ran_buf_char(out, ']');
        }
        ran_buf_str(out, "\n]");
}

/* Pairs, since a token may contain a space. */
static void write_merges(const struct ran_tokenizer *t, struct ran_buf *out)
{
        ran_buf_str(out, ",\"merges\":[");
        for (size_t i = 0; i < t->bpe.merges.n; i++) {
                const struct token_pair *pair = &t->bpe.merges.at[i];
                size_t n;
                const char *token = ran_string_table_get(&t->tokens, pair->a, &n);
                ran_buf_str(out, i > 0 ? ",\n[" : "\n[");
                ran_buf_json(out, token, n);
                ran_buf_char(out, ',');
                token = ran_string_table_get(&t->tokens, pair->b, &n);
                ran_buf_json(out, token, n);
                ran_buf_char(out, ']');
        }
        ran_buf_str(out, "\n]");
}

void ran_tokenizer_write_exact(const struct ran_tokenizer *t, struct ran_tokenizer_text *to)
{
        struct ran_buf *out = &to->json;
        const char *between = "\n";

        ran_buf_str(out, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null");
        write_roles(t, out);
        ran_buf_str(out, ",\n\"added_tokens\":[");
        write_added(t, &t->added, false, &between, to);
        write_added(t, &t->normalized, true, &between, to);
        ran_buf_str(out, "],\n\"normalizer\":");
        ran_buf_str(out, t->kept[KEPT_NORMALIZER]);
        ran_buf_str(out, ",\n\"pre_tokenizer\":");
        ran_buf_str(out, t->kept[KEPT_PRE_TOKENIZER]);
        ran_buf_str(out, ",\n\"post_processor\":");
        ran_buf_str(out, t->kept[KEPT_POST_PROCESSOR]);
        ran_buf_str(out, ",\n\"decoder\":");
        ran_buf_str(out, t->kept[KEPT_DECODER]);
        ran_buf_str(out, ",\n\"model\":{");
        ran_buf_str(out, t->kept[KEPT_MODEL]);
        if (t->type == TOKENIZER_UNIGRAM)
                write_scores(t, to);
        else
                ran_hf_write_vocab(t, to);
        if (t->type == TOKENIZER_BPE)
                write_merges(t, out);
        ran_buf_str(out, "}}\n");
}
