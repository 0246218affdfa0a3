/* tokenizer-folder.c - the tokeniser of a folder in Hugging Face's form. Without a tokenizer.json,
 * the older files are turned into one: what their Python classes would make of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/cjson.h"
#include "record/json.h"
#include "text/hf/hf.h"
#include "text/tokenizer.h"

struct folder {
        const char *path;
        cJSON *config; /* tokenizer_config.json, or NULL */
        cJSON *names;  /* special_tokens_map.json, or NULL */
        struct ran_error *err;
};

/* ---- files ---------------------------------------------------------------------------------- */

static bool has(const struct folder *f, const char *name)
{
        struct ran_buf path = {0};
        struct stat st;

        ran_buf_printf(&path, "%s/%s", f->path, name);
        ran_buf_char(&path, '\0');
        bool there = !path.failed && stat(path.data, &st) == 0 && S_ISREG(st.st_mode);
        ran_buf_release(&path);
        return there;
}

static int open_file(const struct folder *f, const char *name, struct ran_bytes *file)
{
        struct ran_buf path = {0};
        int rc;

        *file = (struct ran_bytes){0};
        ran_buf_printf(&path, "%s/%s", f->path, name);
        ran_buf_char(&path, '\0');
        rc = path.failed ? ran_fail(f->err, RAN_ENOMEM, "out of memory")
                         : ran_bytes_open(file, path.data, f->err);
        ran_buf_release(&path);
        return rc;
}

/* Says which file of the folder it was. */
static int fail_in(const struct folder *f, const char *name, const struct ran_error *why)
{
        return ran_fail(f->err, why->code, "%s/%s: %s", f->path, name, why->text);
}

/* A file that may be missing. */
static int read_json(const struct folder *f, const char *name, cJSON **json)
{
        struct ran_bytes file;
        struct ran_error why = {.text = "not valid JSON"};
        int rc;

        *json = NULL;
        if (!has(f, name))
                return RAN_OK;
        RAN_TRY(open_file(f, name, &file));
        *json = ran_cjson_parse((const char *)file.data, file.size, NULL, &rc);
        why.code = (enum ran_code)rc;
        ran_bytes_release(&file);
        if (*json == NULL)
                return fail_in(f, name, &why);
        return RAN_OK;
}

/* ---- settings ------------------------------------------------------------------------------- */

/* A special token is a text, or an object with its content. */
static const char *token_in(const cJSON *object, const char *role)
{
        const cJSON *item = ran_cjson_member(object, role);

        return cJSON_IsObject(item) ? ran_cjson_text(item, "content") : cJSON_GetStringValue(item);
}

static const char *token_of(const struct folder *f, const char *role, const char *otherwise)
{
        const char *name = token_in(f->config, role);

        if (name == NULL)
                name = token_in(f->names, role);
        return name != NULL && *name != '\0' ? name : otherwise;
}

static bool flag(const struct folder *f, const char *name, bool otherwise)
{
        const cJSON *item = ran_cjson_member(f->config, name);

        return cJSON_IsBool(item) ? cJSON_IsTrue(item) : otherwise;
}

static const char *boolean(bool value)
{
        return value ? "true" : "false";
}

static void put_text(struct ran_buf *out, const char *s)
{
        ran_buf_json(out, s, strlen(s));
}

/* The role of each special token, as tokenizer_config.json names it. `names`: what it is without
 * that, by enum ran_token_role. */
static void put_roles(const struct folder *f, const char *const names[], struct ran_buf *out)
{
        ran_buf_str(out, ",\"" HF_ROLES "\":{");
        for (int i = 0; ran_token_roles[i] != NULL; i++) {
                ran_buf_printf(out, "%s\"%s\":", i > 0 ? "," : "", ran_token_roles[i]);
                put_text(out, token_of(f, ran_token_roles[i], names[i]));
        }
        ran_buf_char(out, '}');
}

/* ---- older files ---------------------------------------------------------------------------- */

/* The ids of tokens while a document is made of them. */
struct tokens {
        struct ran_string_table table;
        uint32_t special[RAN_TOKEN_ROLES];
};

static int find_special(const struct folder *f, struct tokens *t, const char *const names[],
                        const char *file)
{
        for (int i = 0; i < RAN_TOKEN_ROLES; i++) {
                const char *name = token_of(f, ran_token_roles[i], names[i]);
                size_t n = strlen(name);
                t->special[i] = ran_string_table_find(
                        &t->table, ran_string_table_hash(ran_string_table_seed, name, n), "", 0,
                        name, n);
                if (t->special[i] == RAN_STRING_TABLE_NONE)
                        return ran_fail(f->err, RAN_EFORMAT, "%s/%s: the %s '%.80s' is not in it",
                                        f->path, file, ran_token_roles[i], name);
        }
        return RAN_OK;
}

/* Whether the mask takes the white space before it, where the settings do not say: as in the files
 * that RoBERTa and MPNet were published with, and not in BERT's. */
static bool mask_strips(const struct folder *f, bool otherwise)
{
        const cJSON *settings =
                ran_cjson_member(ran_cjson_member(f->config, "mask_token"), "lstrip");

        if (!cJSON_IsBool(settings))
                settings = ran_cjson_member(ran_cjson_member(f->names, "mask_token"), "lstrip");
        return cJSON_IsBool(settings) ? cJSON_IsTrue(settings) : otherwise;
}

static void put_added_token(struct ran_buf *out, uint32_t id, const char *name, bool strips)
{
        ran_buf_printf(out, "{\"id\":%u,\"content\":", (unsigned)id);
        put_text(out, name);
        ran_buf_printf(out,
                       ",\"single_word\":false,\"lstrip\":%s,\"rstrip\":false,"
                       "\"normalized\":false,\"special\":true}",
                       boolean(strips));
}

/* The special tokens, each once. strips: see mask_strips. */
static void put_added(const struct folder *f, const struct tokens *t, const char *const names[],
                      bool strips, struct ran_buf *out)
{
        const char *between = "";

        strips = mask_strips(f, strips);
        ran_buf_str(out, ",\"added_tokens\":[");
        for (int i = 0; i < RAN_TOKEN_ROLES; i++) {
                bool again = false;
                for (int k = 0; k < i; k++)
                        again |= t->special[k] == t->special[i];
                if (again)
                        continue;
                ran_buf_str(out, between);
                put_added_token(out, t->special[i], token_of(f, ran_token_roles[i], names[i]),
                                strips && i == RAN_TOKEN_MASK);
                between = ",";
        }
        ran_buf_char(out, ']');
}

static void put_pair(const struct folder *f, const struct tokens *t, const char *const names[],
                     struct ran_buf *out)
{
        ran_buf_str(out, "\"sep\":[");
        put_text(out, token_of(f, "sep_token", names[RAN_TOKEN_LAST]));
        ran_buf_printf(out, ",%u],\"cls\":[", (unsigned)t->special[RAN_TOKEN_LAST]);
        put_text(out, token_of(f, "cls_token", names[RAN_TOKEN_FIRST]));
        ran_buf_printf(out, ",%u]", (unsigned)t->special[RAN_TOKEN_FIRST]);
}

/* The lines of vocab.txt: a token each. */
static int read_lines(const struct folder *f, const struct ran_bytes *file, struct tokens *t,
                      struct ran_buf *vocab)
{
        const char *data = (const char *)file->data;

        for (size_t pos = 0, line = 1; pos < file->size; line++) {
                const char *newline = memchr(data + pos, '\n', file->size - pos);
                size_t end = newline != NULL ? (size_t)(newline - data) : file->size;
                size_t n = end - pos - (end > pos && data[end - 1] == '\r');
                const uint64_t hash = ran_string_table_hash(ran_string_table_seed, data + pos, n);

                if (ran_utf8_valid(data + pos, n) < n || memchr(data + pos, '\0', n) != NULL)
                        return ran_fail(f->err, RAN_EFORMAT,
                                        "%s/vocab.txt: line %zu is not a token in UTF-8", f->path,
                                        line);
                if (n == 0) {
                        if (ran_string_table_skip(&t->table, f->err) == RAN_STRING_TABLE_NONE)
                                return RAN_ENOMEM;
                } else if (ran_string_table_find(&t->table, hash, "", 0, data + pos, n) !=
                           RAN_STRING_TABLE_NONE) {
                        return ran_fail(f->err, RAN_EFORMAT,
                                        "%s/vocab.txt: line %zu has the token '%.*s' again",
                                        f->path, line, n < 80 ? (int)n : 80, data + pos);
                } else {
                        ran_buf_str(vocab, t->table.used > 0 ? ",\n" : "\n");
                        ran_buf_json(vocab, data + pos, n);
                        ran_buf_printf(vocab, ":%zu", t->table.n);
                        if (ran_string_table_add(&t->table, hash, data + pos, n, f->err) ==
                            RAN_STRING_TABLE_NONE)
                                return RAN_ENOMEM;
                }
                pos = end + (newline != NULL);
        }
        return RAN_OK;
}

static uint32_t find_token(const struct tokens *t, const char *name)
{
        const size_t n = strlen(name);

        return ran_string_table_find(
                &t->table, ran_string_table_hash(ran_string_table_seed, name, n), "", 0, name, n);
}

/* Those that the package rannet knows and the vocabulary has. */
static void put_rannet_added(const struct tokens *t, struct ran_buf *out)
{
        enum { UNUSED = 1000 };
        static const char *const names[] = {"[PAD]", "[UNK]",   "[MASK]",
                                            "[SEP]", "[START]", "[END]"};
        const size_t named = sizeof names / sizeof *names;
        const char *between = "";

        ran_buf_str(out, ",\"added_tokens\":[");
        for (size_t i = 0; i < named + UNUSED; i++) {
                char name[24];

                snprintf(name, sizeof name, "[unused%zu]", i - named);
                const char *text = i < named ? names[i] : name;
                const uint32_t id = find_token(t, text);
                if (id == RAN_STRING_TABLE_NONE)
                        continue;
                ran_buf_str(out, between);
                put_added_token(out, id, text, false);
                between = ",";
        }
        ran_buf_char(out, ']');
}

/* BERT; MPNet, which calls its special tokens as RoBERTa does; and the package rannet, which puts
 * none around a text. */
static int make_wordpiece(const struct folder *f, struct tokens *t, struct ran_buf *vocab,
                          struct ran_buf *out)
{
        static const char *const bert[] = {"[UNK]", "[PAD]", "[MASK]", "[CLS]", "[SEP]"};
        static const char *const mpnet[] = {"[UNK]", "<pad>", "<mask>", "<s>", "</s>"};
        static const char *const rannet[] = {"[UNK]", "[PAD]", "[MASK]", "[SEP]", "[SEP]"};
        const bool is_bert = find_token(t, "[CLS]") != RAN_STRING_TABLE_NONE;
        const bool is_rannet = !is_bert && find_token(t, "[SEP]") != RAN_STRING_TABLE_NONE;
        const char *const *names = is_bert ? bert : is_rannet ? rannet : mpnet;
        const bool lower = flag(f, "do_lower_case", true);

        RAN_TRY(find_special(f, t, names, "vocab.txt"));
        ran_buf_str(out, "{\"version\":\"1.0\"");
        put_roles(f, names, out);
        if (is_rannet)
                put_rannet_added(t, out);
        else
                put_added(f, t, names, !is_bert, out);
        ran_buf_printf(out,
                       ",\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
                       "\"handle_chinese_chars\":%s,\"strip_accents\":%s,\"lowercase\":%s},"
                       "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"
                       "\"post_processor\":%s",
                       boolean(flag(f, "tokenize_chinese_chars", true)),
                       boolean(flag(f, "strip_accents", lower)), boolean(lower),
                       is_rannet ? "null" : "{\"type\":\"BertProcessing\",");
        if (!is_rannet) {
                put_pair(f, t, names, out);
                ran_buf_char(out, '}');
        }
        ran_buf_str(out, ",\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\","
                         "\"cleanup\":true},\"model\":{\"type\":\"WordPiece\",\"unk_token\":");
        put_text(out, token_of(f, "unk_token", names[RAN_TOKEN_UNKNOWN]));
        ran_buf_str(out, ",\"continuing_subword_prefix\":\"##\","
                         "\"max_input_chars_per_word\":100,\"vocab\":{");
        ran_buf_add(out, vocab->data, vocab->len);
        ran_buf_str(out, "}}}");
        return RAN_OK;
}

static int from_vocab_txt(const struct folder *f, struct ran_buf *out)
{
        struct tokens t = {0};
        struct ran_buf vocab = {0};
        struct ran_bytes file;

        RAN_TRY(open_file(f, "vocab.txt", &file));
        int rc = read_lines(f, &file, &t, &vocab);
        ran_bytes_release(&file);
        if (rc == RAN_OK)
                rc = make_wordpiece(f, &t, &vocab, out);
        out->failed |= vocab.failed;
        ran_buf_release(&vocab);
        ran_string_table_release(&t.table);
        return rc;
}

/* The lines of merges.txt, behind "#version", as a list. */
static int put_merges(const struct folder *f, struct ran_buf *out)
{
        struct ran_bytes file;
        const char *between = "\n";

        RAN_TRY(open_file(f, "merges.txt", &file));
        const char *data = (const char *)file.data;
        ran_buf_str(out, "[");
        for (size_t pos = 0; pos < file.size;) {
                const char *newline = memchr(data + pos, '\n', file.size - pos);
                size_t end = newline != NULL ? (size_t)(newline - data) : file.size;
                size_t n = end - pos - (end > pos && data[end - 1] == '\r');

                if (n > 0 && !(n >= 8 && memcmp(data + pos, "#version", 8) == 0)) {
                        ran_buf_str(out, between);
                        ran_buf_json(out, data + pos, n);
                        between = ",\n";
                }
                pos = end + (newline != NULL);
        }
        ran_buf_str(out, "]");
        ran_bytes_release(&file);
        return RAN_OK;
}

/* Only the special tokens have to be known. */
static int find_ids(const struct folder *f, const cJSON *vocab, struct tokens *t,
                    const char *const names[])
{
        for (int i = 0; i < RAN_TOKEN_ROLES; i++) {
                const char *name = token_of(f, ran_token_roles[i], names[i]);
                size_t id;
                if (!ran_cjson_whole(ran_cjson_member(vocab, name), 0, UINT32_MAX - 1.0, &id))
                        return ran_fail(f->err, RAN_EFORMAT,
                                        "%s/vocab.json: the %s '%.80s' is not in it", f->path,
                                        ran_token_roles[i], name);
                t->special[i] = (uint32_t)id;
        }
        return RAN_OK;
}

/* RoBERTa. */
static int make_bytes(const struct folder *f, const struct tokens *t, const struct ran_bytes *vocab,
                      const char *const names[], struct ran_buf *out)
{
        const char *prefix = boolean(flag(f, "add_prefix_space", false));
        const char *trim = boolean(flag(f, "trim_offsets", true));

        ran_buf_str(out, "{\"version\":\"1.0\"");
        put_roles(f, names, out);
        put_added(f, t, names, true, out);
        ran_buf_printf(out,
                       ",\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\","
                       "\"add_prefix_space\":%s,\"trim_offsets\":%s,\"use_regex\":true},"
                       "\"post_processor\":{\"type\":\"RobertaProcessing\",",
                       prefix, trim);
        put_pair(f, t, names, out);
        ran_buf_printf(out,
                       ",\"trim_offsets\":%s,\"add_prefix_space\":%s},"
                       "\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":%s,"
                       "\"trim_offsets\":%s,\"use_regex\":true},"
                       "\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,"
                       "\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,"
                       "\"fuse_unk\":false,\"byte_fallback\":false,\"vocab\":",
                       trim, prefix, prefix, trim);
        ran_buf_add(out, (const char *)vocab->data, vocab->size);
        ran_buf_str(out, ",\"merges\":");
        RAN_TRY(put_merges(f, out));
        ran_buf_str(out, "}}");
        return RAN_OK;
}

static int from_vocab_json(const struct folder *f, struct ran_buf *out)
{
        static const char *const names[] = {"<unk>", "<pad>", "<mask>", "<s>", "</s>"};
        struct tokens t = {0};
        struct ran_bytes file;
        cJSON *vocab;

        RAN_TRY(read_json(f, "vocab.json", &vocab));
        int rc = find_ids(f, vocab, &t, names);
        cJSON_Delete(vocab);
        RAN_TRY(rc);
        RAN_TRY(open_file(f, "vocab.json", &file));
        rc = make_bytes(f, &t, &file, names, out);
        ran_bytes_release(&file);
        return rc;
}

/* ---- the folder ----------------------------------------------------------------------------- */

/* The tokeniser of tokenizer.json, with the roles of the folder's settings. */
static struct ran_tokenizer *from_tokenizer_json(const struct folder *f)
{
        struct ran_tokenizer *t;
        struct ran_bytes file;
        struct ran_error why;

        if (open_file(f, "tokenizer.json", &file) != RAN_OK)
                return NULL;
        const char *data = (const char *)file.data;
        const size_t mark = ran_utf8_mark(data, file.size);
        t = ran_tokenizer_read_json(data + mark, file.size - mark, true, true, &why);
        ran_bytes_release(&file);
        if (t == NULL)
                fail_in(f, "tokenizer.json", &why);
        for (int i = 0; t != NULL && ran_token_roles[i] != NULL; i++) {
                const char *name = token_of(f, ran_token_roles[i], NULL);
                if (name != NULL)
                        ran_tokenizer_find(t, name, strlen(name), &t->role[i]);
        }
        return t;
}

static int refuse(const struct folder *f)
{
        static const char *const pieces[] = {"sentencepiece.bpe.model", "spiece.model",
                                             "tokenizer.model", "spm.model", NULL};

        for (int i = 0; pieces[i] != NULL; i++) {
                if (has(f, pieces[i]))
                        return ran_fail(
                                f->err, RAN_EFORMAT,
                                "%s has %s, which is not supported, and no tokenizer.json; make "
                                "one: python3 -c \"from transformers import AutoTokenizer as T; "
                                "T.from_pretrained('%s').save_pretrained('%s')\"",
                                f->path, pieces[i], f->path, f->path);
        }
        return ran_fail(f->err, RAN_EFORMAT,
                        "%s has no vocabulary: tokenizer.json, or vocab.txt, or vocab.json and "
                        "merges.txt",
                        f->path);
}

static struct ran_tokenizer *read_folder(const struct folder *f)
{
        struct ran_buf document = {0};
        struct ran_tokenizer *t = NULL;
        struct ran_error why;
        const char *name = "vocab.txt";
        int rc;

        if (has(f, "tokenizer.json"))
                return from_tokenizer_json(f);
        if (has(f, name)) {
                rc = from_vocab_txt(f, &document);
        } else if (has(f, "vocab.json") && has(f, "merges.txt")) {
                name = "vocab.json";
                rc = from_vocab_json(f, &document);
        } else {
                rc = refuse(f);
        }
        if (rc == RAN_OK && document.failed)
                rc = ran_fail(f->err, RAN_ENOMEM, "no memory for the vocabulary of %s", f->path);
        if (rc == RAN_OK) {
                t = ran_tokenizer_load_encoder(document.data, document.len, &why);
                if (t == NULL)
                        fail_in(f, name, &why);
        }
        ran_buf_release(&document);
        return t;
}

struct ran_tokenizer *ran_tokenizer_open_folder(const char *folder, struct ran_error *err)
{
        struct folder f = {.path = folder, .err = ran_error_or_spare(err)};
        struct ran_tokenizer *t = NULL;

        if (read_json(&f, "tokenizer_config.json", &f.config) == RAN_OK &&
            read_json(&f, "special_tokens_map.json", &f.names) == RAN_OK)
                t = read_folder(&f);
        cJSON_Delete(f.config);
        cJSON_Delete(f.names);
        return t;
}
