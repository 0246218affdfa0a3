/* write.c - a tokeniser as Hugging Face's tokenizer.json. The text is canonical: equal tokenisers
 * have equal bytes, so its digest identifies them. One token a line, for grep and diff. The parts
 * of a file that is read exactly are those of the file, in a fixed order and without white space.
 */
#include <string.h>

#include "text/hf/hf.h"
#include "text/tokenizer.h"

static void write_text(struct ran_buf *out, const char *s)
{
        ran_buf_json(out, s, strlen(s));
}

static void write_bool(struct ran_buf *out, const char *name, bool value)
{
        ran_buf_printf(out, ",\"%s\":%s", name, value ? "true" : "false");
}

/* A token, or nothing for an id without one; its place is noted, of several the last. */
static void write_token(const struct ran_tokenizer *t, size_t id, struct ran_tokenizer_text *to)
{
        const size_t begin = to->json.len;
        size_t n = 0;
        const char *token = ran_tokenizer_token(t, (uint32_t)id, &n);

        ran_buf_json(&to->json, token != NULL ? token : "", n);
        to->quoted[id] = (struct quoted){begin, to->json.len - begin};
}

/* ---- normalizer ----------------------------------------------------------------------------- */

static bool take(const struct ran_normalizer *z, size_t *i, enum ran_normalizer_step step)
{
        bool there = *i < z->n && z->step[*i] == step;

        *i += there;
        return there;
}

/* BertNormalizer does up to four steps in a fixed order: covers as many from step i on as match.
 * Only it can do the first two, and strip nonspacing marks after NFD. Returns the end of the
 * covered steps; i if it is not needed. */
static size_t write_bert(const struct ran_normalizer *z, size_t i, struct ran_buf *out)
{
        size_t end = i;
        bool clean = take(z, &end, NORMAL_CLEAN);
        bool cjk = take(z, &end, NORMAL_CJK);
        bool strip = end + 1 < z->n && z->step[end] == NORMAL_NFD &&
                     z->step[end + 1] == NORMAL_STRIP_NONSPACING;

        end += strip ? 2 : 0;
        if (end == i)
                return i;
        bool lower = take(z, &end, NORMAL_LOWERCASE);
        ran_buf_str(out, "{\"type\":\"BertNormalizer\"");
        write_bool(out, "clean_text", clean);
        write_bool(out, "handle_chinese_chars", cjk);
        write_bool(out, "strip_accents", strip);
        write_bool(out, "lowercase", lower);
        ran_buf_char(out, '}');
        return end;
}

static void write_step(const struct ran_normalizer *z, enum ran_normalizer_step step,
                       struct ran_buf *out)
{
        const struct ran_hf_plain_step *plain = ran_hf_plain_steps;

        if (step == NORMAL_EOL) {
                char content[NORMAL_EOL_MOST + 3];

                snprintf(content, sizeof content, " %s ", z->eol);
                ran_buf_str(out, "{\"type\":\"Replace\",\"pattern\":{\"String\":\"\\n\"},"
                                 "\"content\":");
                write_text(out, content);
                ran_buf_char(out, '}');
        } else {
                while (plain->step != step)
                        plain++;
                ran_buf_printf(out, "{\"type\":\"%s\"}", plain->type);
        }
}

static void write_normalizer(const struct ran_tokenizer *t, struct ran_buf *out)
{
        const struct ran_normalizer *z = &t->rules.normal;
        struct ran_buf list = {0};
        size_t written = 0;

        for (size_t i = 0, end; i < z->n; i = end, written++) {
                ran_buf_str(&list, written > 0 ? "," : "");
                end = write_bert(z, i, &list);
                if (end == i)
                        write_step(z, z->step[end++], &list);
        }
        ran_buf_str(out, written > 1    ? "{\"type\":\"Sequence\",\"normalizers\":["
                         : written == 0 ? "null"
                                        : "");
        ran_buf_add(out, list.data, list.len);
        ran_buf_str(out, written > 1 ? "]}" : "");
        ran_buf_release(&list);
}

/* ---- the parts behind it --------------------------------------------------------------------- */

static void write_decoder(const struct ran_tokenizer *t, struct ran_buf *out)
{
        if (t->type == TOKENIZER_BPE) {
                ran_buf_str(out, HF_BYTE_LEVEL);
        } else if (t->type == TOKENIZER_WORD && !t->attach) {
                ran_buf_str(out, "null");
        } else {
                ran_buf_str(out, "{\"type\":\"WordPiece\",\"prefix\":");
                write_text(out, t->prefix != NULL ? t->prefix : TOKENIZER_PREFIX);
                write_bool(out, "cleanup", t->attach);
                ran_buf_char(out, '}');
        }
}

static void write_model(const struct ran_tokenizer *t, struct ran_buf *out)
{
        size_t n;
        const char *unk = ran_tokenizer_token(t, t->unk, &n);

        ran_buf_printf(out, "\"type\":\"%s\",\"unk_token\":", ran_tokenizer_types[t->type]);
        if (unk != NULL)
                ran_buf_json(out, unk, n);
        else
                ran_buf_str(out, "null");
        if (t->type == TOKENIZER_BPE)
                ran_buf_printf(out,
                               ",\"dropout\":null,\"continuing_subword_prefix\":null,"
                               "\"end_of_word_suffix\":null,\"fuse_unk\":false,"
                               "\"byte_fallback\":false,\"ignore_merges\":%s",
                               t->bpe.whole ? "true" : "false");
        if (t->type == TOKENIZER_WORDPIECE) {
                ran_buf_str(out, ",\"continuing_subword_prefix\":");
                write_text(out, t->prefix);
                ran_buf_printf(out, ",\"max_input_chars_per_word\":%zu", t->max_chars);
        }
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static void write_added(const struct ran_tokenizer *t, const struct ran_added_tokens *a,
                        bool normalized, const char **between, struct ran_tokenizer_text *to)
{
        struct ran_buf *out = &to->json;

        for (size_t i = 0; i < a->content.n; i++) {
                const struct ran_added_token *token = &a->token[i];
                ran_buf_printf(out, "%s{\"id\":%u,\"content\":", *between, (unsigned)token->id);
                write_token(t, token->id, to);
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

/* Unigram has a list of tokens with their scores. */
static void write_vocab(const struct ran_tokenizer *t, struct ran_tokenizer_text *to)
{
        struct ran_buf *out = &to->json;
        const bool scores = t->type == TOKENIZER_UNIGRAM;
        const char *between = "\n";
        size_t n;

        ran_buf_str(out, scores ? ",\"vocab\":[" : ",\"vocab\":{");
        for (size_t id = 0; id < t->tokens.n && id < t->most; id++) {
                if (!scores && ran_tokenizer_token(t, (uint32_t)id, &n) == NULL)
                        continue;
                ran_buf_str(out, between);
                ran_buf_str(out, scores ? "[" : "");
                write_token(t, id, to);
                ran_buf_char(out, scores ? ',' : ':');
                if (scores)
                        ran_buf_double(out, t->unigram.score[id]);
                else
                        ran_buf_size(out, id);
                ran_buf_str(out, scores ? "]" : "");
                between = ",\n";
        }
        ran_buf_str(out, scores ? "\n]" : "\n}");
}

/* Each as "left right", unless the file is read exactly: then a token may have a space in it. */
static void write_merges(const struct ran_tokenizer *t, struct ran_buf *out)
{
        struct ran_buf text = {0};

        ran_buf_str(out, ",\"merges\":[");
        for (size_t i = 0; i < t->bpe.merges.n; i++) {
                const struct token_pair *pair = &t->bpe.merges.at[i];
                size_t n, m;
                const char *left = ran_string_table_get(&t->tokens, pair->a, &n);
                const char *right = ran_string_table_get(&t->tokens, pair->b, &m);

                ran_buf_str(out, i > 0 ? ",\n" : "\n");
                if (t->exact) {
                        ran_buf_char(out, '[');
                        ran_buf_json(out, left, n);
                        ran_buf_char(out, ',');
                        ran_buf_json(out, right, m);
                        ran_buf_char(out, ']');
                        continue;
                }
                text.len = 0;
                ran_buf_add(&text, left, n);
                ran_buf_char(&text, ' ');
                ran_buf_add(&text, right, m);
                ran_buf_json(out, text.data, text.len);
        }
        ran_buf_str(out, "\n]");
        ran_buf_release(&text);
}

/* ---- the document ---------------------------------------------------------------------------- */

static void write_part(const struct ran_tokenizer *t, int part, struct ran_buf *out)
{
        const int split = t->rules.split;

        if (part == KEPT_NORMALIZER)
                write_normalizer(t, out);
        else if (part == KEPT_PRE_TOKENIZER)
                ran_buf_str(out, split == RAN_SPLIT_GPT2     ? HF_BYTE_LEVEL
                                 : split == RAN_SPLIT_SPACES ? "{\"type\":\"WhitespaceSplit\"}"
                                                             : "{\"type\":\"BertPreTokenizer\"}");
        else if (part == KEPT_POST_PROCESSOR)
                /* spaces at the ends of a token are not in its offsets, as in encode.c */
                ran_buf_str(out, t->type == TOKENIZER_BPE ? HF_BYTE_LEVEL : "null");
        else if (part == KEPT_DECODER)
                write_decoder(t, out);
        else
                write_model(t, out);
}

static void write_document(const struct ran_tokenizer *t, struct ran_tokenizer_text *to)
{
        struct ran_buf *out = &to->json;
        const char *between = "\n";

        ran_buf_str(out, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null");
        if (t->exact)
                write_roles(t, out);
        ran_buf_str(out, ",\n\"added_tokens\":[");
        write_added(t, &t->added, false, &between, to);
        write_added(t, &t->normalized, true, &between, to);
        ran_buf_char(out, ']');
        for (int i = 0; i < KEPT; i++) {
                ran_buf_printf(out, ",\n\"%s\":%s", ran_hf_parts[i], i == KEPT_MODEL ? "{" : "");
                if (t->exact)
                        ran_buf_str(out, t->kept[i]);
                else
                        write_part(t, i, out);
        }
        write_vocab(t, to);
        if (t->type == TOKENIZER_BPE)
                write_merges(t, out);
        ran_buf_str(out, "}}\n");
}

/* ---- when somebody first asks for it --------------------------------------------------------- */

static void make_text(const struct ran_tokenizer *t)
{
        struct ran_tokenizer_text *text = t->text;
        struct ran_sha256 sha;

        text->quoted = ran_new(t->tokens.n, sizeof *text->quoted);
        write_document(t, text);
        memset(ran_buf_room(&text->json, TOKENIZER_STEP), 0, TOKENIZER_STEP);
        ran_sha256_init(&sha);
        ran_sha256_add(&sha, text->json.data, text->json.len);
        ran_sha256_hex(&sha, text->digest);
        __atomic_store_n(&text->written, true, __ATOMIC_RELEASE);
}

const struct ran_tokenizer_text *ran_tokenizer_text(const struct ran_tokenizer *t)
{
        struct ran_tokenizer_text *text = t->text;

        if (__atomic_load_n(&text->written, __ATOMIC_ACQUIRE))
                return text;
        pthread_mutex_lock(&text->lock);
        if (!text->written)
                make_text(t);
        pthread_mutex_unlock(&text->lock);
        return text;
}

const char *ran_tokenizer_json(const struct ran_tokenizer *t, size_t *n)
{
        const struct ran_tokenizer_text *text = ran_tokenizer_text(t);

        *n = text->json.len;
        return text->json.data;
}

const char *ran_tokenizer_digest(const struct ran_tokenizer *t)
{
        return ran_tokenizer_text(t)->digest;
}
