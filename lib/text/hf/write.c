/* write.c - a tokeniser as Hugging Face's tokenizer.json. The text is canonical: equal
 * tokenisers have equal bytes, so its digest identifies them. One token a line, for grep and
 * diff. */
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

static void write_eol(const struct ran_normalizer *z, struct ran_buf *out)
{
        struct ran_buf content = {0};

        ran_buf_char(&content, ' ');
        ran_buf_str(&content, z->eol);
        ran_buf_char(&content, ' ');
        ran_buf_str(out, "{\"type\":\"Replace\",\"pattern\":{\"String\":\"\\n\"},\"content\":");
        if (content.failed)
                out->failed = true;
        else
                ran_buf_json(out, content.data, content.len);
        ran_buf_char(out, '}');
        ran_buf_release(&content);
}

static void write_step(const struct ran_normalizer *z, enum ran_normalizer_step step,
                       struct ran_buf *out)
{
        const struct ran_hf_plain_step *plain = ran_hf_plain_steps;

        if (step == NORMAL_EOL) {
                write_eol(z, out);
        } else if (step == NORMAL_CLEAN_CC_CF) {
                ran_buf_str(out, "{\"type\":\"Replace\",\"pattern\":{\"Regex\":");
                write_text(out, HF_CC_CF_PATTERN);
                ran_buf_str(out, "},\"content\":\"\"}");
        } else {
                while (plain->step != step)
                        plain++;
                ran_buf_printf(out, "{\"type\":\"%s\"}", plain->type);
        }
}

/* Strip at the beginning, at the end, or both: returns the end of the covered steps; i if there
 * is none. */
static size_t write_strip(const struct ran_normalizer *z, size_t i, struct ran_buf *out)
{
        size_t end = i;
        bool left = take(z, &end, NORMAL_STRIP_LEFT), right = take(z, &end, NORMAL_STRIP_RIGHT);

        if (end == i)
                return i;
        ran_buf_str(out, "{\"type\":\"Strip\"");
        write_bool(out, "strip_left", left);
        write_bool(out, "strip_right", right);
        ran_buf_char(out, '}');
        return end;
}

/* Spaces as in tokens of characters, with one in front. Returns the number of steps. */
static size_t write_meta(const struct ran_text_rules *r, struct ran_buf *out)
{
        if (r->split != SPLIT_META)
                return 0;
        if (r->always)
                ran_buf_str(out, "{\"type\":\"Prepend\",\"prepend\":\"" WORDS_META "\"},");
        ran_buf_str(out, "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},"
                         "\"content\":\"" WORDS_META "\"}");
        return r->always ? 2 : 1;
}

static void write_normalizer(const struct ran_text_rules *r, struct ran_buf *out)
{
        const struct ran_normalizer *z = &r->normal;
        struct ran_buf list = {0};
        size_t written = 0;

        for (size_t i = 0; i < z->n; written++) {
                if (written > 0)
                        ran_buf_char(&list, ',');
                size_t end = write_bert(z, i, &list);
                if (end == i)
                        end = write_strip(z, i, &list);
                if (end == i)
                        write_step(z, z->step[end++], &list);
                i = end;
        }
        if (written > 0 && r->split == SPLIT_META)
                ran_buf_char(&list, ',');
        written += write_meta(r, &list);
        ran_buf_str(out, ",\n\"normalizer\":");
        if (written == 0) {
                ran_buf_str(out, "null");
                return;
        }
        if (written > 1)
                ran_buf_str(out, "{\"type\":\"Sequence\",\"normalizers\":[");
        ran_buf_add(out, list.data, list.len);
        if (written > 1)
                ran_buf_str(out, "]}");
        out->failed |= list.failed;
        ran_buf_release(&list);
}

/* ---- the rest ------------------------------------------------------------------------------- */

static void write_added(const struct ran_tokenizer *t, struct ran_buf *out)
{
        ran_buf_str(out, ",\n\"added_tokens\":[");
        for (size_t i = 0; i < t->added.content.n; i++) {
                size_t n;
                const char *content = ran_string_table_get(&t->added.content, (uint32_t)i, &n);
                const struct ran_added_token *token = &t->added.token[i];
                ran_buf_printf(out, "%s\n{\"id\":%u,\"content\":", i > 0 ? "," : "",
                               (unsigned)token->id);
                ran_buf_json(out, content, n);
                write_bool(out, "single_word", false);
                write_bool(out, "lstrip", token->left);
                write_bool(out, "rstrip", token->right);
                write_bool(out, "normalized", false);
                write_bool(out, "special", token->special);
                ran_buf_char(out, '}');
        }
        ran_buf_char(out, ']');
}

/* One object serves as pre-tokenizer, post-processor and decoder; each reads a part of it. */
static void write_byte_level(struct ran_buf *out, bool lead, bool regex)
{
        ran_buf_str(out, "{\"type\":\"ByteLevel\"");
        write_bool(out, "add_prefix_space", lead);
        write_bool(out, "trim_offsets", true);
        write_bool(out, "use_regex", regex);
        ran_buf_char(out, '}');
}

/* Splits before ByteLevel. */
static void write_split(const struct ran_text_rules *r, struct ran_buf *out)
{
        const struct ran_hf_pattern *pattern = ran_hf_patterns;

        if (r->split != SPLIT_GPT4) {
                ran_buf_str(out, "{\"type\":\"Digits\"");
                write_bool(out, "individual_digits", r->digits == 1);
                ran_buf_char(out, '}');
                return;
        }
        while (pattern->split != r->split || pattern->digits != r->digits)
                pattern++;
        ran_buf_str(out, "{\"type\":\"Split\",\"pattern\":{\"Regex\":");
        write_text(out, pattern->regex);
        ran_buf_str(out, "},\"behavior\":\"Isolated\",\"invert\":false}");
}

static void write_pre_tokenizer(const struct ran_text_rules *r, struct ran_buf *out)
{
        bool bytes = r->split >= RAN_SPLIT_GPT2, several = bytes && r->digits > 0;

        ran_buf_str(out, ",\n\"pre_tokenizer\":");
        if (r->split == SPLIT_META) {
                ran_buf_str(out, "null");
                return;
        }
        if (several) {
                ran_buf_str(out, "{\"type\":\"Sequence\",\"pretokenizers\":[");
                write_split(r, out);
                ran_buf_char(out, ',');
        }
        if (bytes)
                write_byte_level(out, r->lead, r->split == RAN_SPLIT_GPT2);
        else
                ran_buf_printf(out, "{\"type\":\"%s\"}",
                               r->split == RAN_SPLIT_SPACES ? "WhitespaceSplit"
                               : r->split == SPLIT_RUNS     ? "Whitespace"
                                                            : "BertPreTokenizer");
        if (several)
                ran_buf_str(out, "]}");
}

/* It excludes spaces at the ends of a token from its offsets, as encode.c does. */
static void write_post_processor(const struct ran_tokenizer *t, struct ran_buf *out)
{
        ran_buf_str(out, ",\n\"post_processor\":");
        if (t->type == TOKENIZER_BPE && t->rules.split != SPLIT_META)
                write_byte_level(out, t->rules.lead, true);
        else
                ran_buf_str(out, "null");
}

static void write_decoder(const struct ran_tokenizer *t, struct ran_buf *out)
{
        ran_buf_str(out, ",\n\"decoder\":");
        if (t->rules.split == SPLIT_META) {
                ran_buf_str(out, "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\","
                                 "\"pattern\":{\"String\":\"" WORDS_META "\"},\"content\":\" \"},"
                                 "{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}");
                ran_buf_str(out, t->rules.always ? ",{\"type\":\"Strip\",\"content\":\" \","
                                                   "\"start\":1,\"stop\":0}]}"
                                                 : "]}");
                return;
        }
        if (t->type == TOKENIZER_BPE) {
                write_byte_level(out, t->rules.lead, true);
                return;
        }
        if (t->type == TOKENIZER_WORD && !t->attach) {
                ran_buf_str(out, "null");
                return;
        }
        ran_buf_str(out, "{\"type\":\"WordPiece\",\"prefix\":");
        write_text(out, t->prefix != NULL ? t->prefix : TOKENIZER_PREFIX);
        write_bool(out, "cleanup", t->attach);
        ran_buf_char(out, '}');
}

/* No merged token contains a space. */
static void write_merges(const struct ran_tokenizer *t, struct ran_buf *out)
{
        struct ran_buf text = {0};

        ran_buf_str(out, ",\"merges\":[");
        for (size_t i = 0; i < t->bpe.merges.n; i++) {
                const struct token_pair *pair = &t->bpe.merges.at[i];
                size_t n;
                text.len = 0;
                const char *token = ran_string_table_get(&t->tokens, pair->a, &n);
                ran_buf_add(&text, token, n);
                ran_buf_char(&text, ' ');
                token = ran_string_table_get(&t->tokens, pair->b, &n);
                ran_buf_add(&text, token, n);
                out->failed |= text.failed;
                if (text.failed)
                        break;
                ran_buf_str(out, i > 0 ? ",\n" : "\n");
                ran_buf_json(out, text.data, text.len);
        }
        ran_buf_str(out, "\n]");
        ran_buf_release(&text);
}

static void write_model(const struct ran_tokenizer *t, struct ran_tokenizer_text *to)
{
        struct ran_buf *out = &to->json;
        size_t n;
        const char *unk = ran_tokenizer_token(t, t->unk, &n);

        ran_buf_printf(
                out, ",\n\"model\":{\"type\":\"%s\",\"unk_token\":", ran_tokenizer_types[t->type]);
        if (unk != NULL)
                ran_buf_json(out, unk, n);
        else
                ran_buf_str(out, "null");
        if (t->type == TOKENIZER_BPE)
                ran_buf_printf(out,
                               ",\"dropout\":null,\"continuing_subword_prefix\":null,"
                               "\"end_of_word_suffix\":null,\"fuse_unk\":false,"
                               "\"byte_fallback\":%s,\"ignore_merges\":%s",
                               t->bpe.chars != NULL ? "true" : "false",
                               t->bpe.whole ? "true" : "false");
        if (t->type == TOKENIZER_WORDPIECE) {
                ran_buf_str(out, ",\"continuing_subword_prefix\":");
                write_text(out, t->prefix);
                ran_buf_printf(out, ",\"max_input_chars_per_word\":%zu", t->max_chars);
        }
        ran_hf_write_vocab(t, to);
        if (t->type == TOKENIZER_BPE)
                write_merges(t, out);
        ran_buf_char(out, '}');
}

static void write_canonical(const struct ran_tokenizer *t, struct ran_tokenizer_text *to)
{
        struct ran_buf *out = &to->json;

        ran_buf_str(out, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null");
        write_added(t, out);
        write_normalizer(&t->rules, out);
        write_pre_tokenizer(&t->rules, out);
        write_post_processor(t, out);
        write_decoder(t, out);
        write_model(t, to);
        ran_buf_str(out, "}\n");
}

int ran_tokenizer_write(const struct ran_tokenizer *t, struct ran_tokenizer_text *to,
                        struct ran_error *err)
{
        struct ran_buf *out = &to->json;

        to->quoted = ran_alloc(t->tokens.n, sizeof(*to->quoted), err);
        if (to->quoted == NULL)
                return RAN_ENOMEM;
        (t->exact ? ran_tokenizer_write_exact : write_canonical)(t, to);
        char *behind = ran_buf_room(out, TOKENIZER_STEP);
        if (behind == NULL)
                return ran_fail(err, RAN_ENOMEM, "no memory to write %zu tokens", t->tokens.n);
        memset(behind, 0, TOKENIZER_STEP);
        return RAN_OK;
}
