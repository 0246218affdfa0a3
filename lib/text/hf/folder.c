/* folder.c - the tokeniser of a folder in Hugging Face's form. Without a tokenizer.json,
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
        /* Older files. */
        struct ran_tokenizer *lines; /* the tokens of vocab.txt alone; or NULL, */
        cJSON *vocab;                /* and vocab.json */
        const char *const *usual;    /* the special tokens where nothing names them */
        uint32_t special[RAN_TOKEN_ROLES];
};

/* ---- files ---------------------------------------------------------------------------------- */

static struct ran_buf path_of(const struct folder *f, const char *name)
{
        struct ran_buf path = {0};

        ran_buf_printf(&path, "%s/%s", f->path, name);
        ran_buf_char(&path, '\0');
        return path;
}

static bool has(const struct folder *f, const char *name)
{
        struct ran_buf path = path_of(f, name);
        struct stat st;
        const bool there = stat(path.data, &st) == 0 && S_ISREG(st.st_mode);

        ran_buf_release(&path);
        return there;
}

static int open_file(const struct folder *f, const char *name, struct ran_bytes *file)
{
        struct ran_buf path = path_of(f, name);
        const int rc = ran_bytes_open(file, path.data, f->err);

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
        const struct ran_error why = {RAN_EFORMAT, "not valid JSON"};

        *json = NULL;
        if (!has(f, name))
                return RAN_OK;
        RAN_TRY(open_file(f, name, &file));
        *json = ran_cjson_parse((const char *)file.data, file.size, NULL);
        ran_bytes_release(&file);
        return *json != NULL ? RAN_OK : fail_in(f, name, &why);
}

/* ---- settings ------------------------------------------------------------------------------- */

/* A special token is a text, or an object with its content. */
static const char *token_in(const cJSON *object, const char *role)
{
        const cJSON *item = ran_cjson_member(object, role);

        return cJSON_IsObject(item) ? ran_cjson_text(item, "content") : cJSON_GetStringValue(item);
}

/* The token with a role; NULL: none. */
static const char *token_of(const struct folder *f, int role)
{
        const char *name = token_in(f->config, ran_token_roles[role]);

        if (name == NULL)
                name = token_in(f->names, ran_token_roles[role]);
        return name != NULL && *name != '\0' ? name : f->usual != NULL ? f->usual[role] : NULL;
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

/* ---- older files ---------------------------------------------------------------------------- */

static bool find_id(const struct folder *f, const char *name, uint32_t *id)
{
        size_t x = 0;
        const bool found = f->lines != NULL ? ran_tokenizer_find(f->lines, name, strlen(name), id)
                                            : ran_cjson_whole(ran_cjson_member(f->vocab, name), 0,
                                                              UINT32_MAX - 1.0, &x);

        if (found && f->lines == NULL)
                *id = (uint32_t)x;
        return found;
}

static int find_special(struct folder *f, const char *file)
{
        for (int i = 0; i < RAN_TOKEN_ROLES; i++)
                if (!find_id(f, token_of(f, i), &f->special[i]))
                        return ran_fail(f->err, RAN_EFORMAT, "%s/%s: the %s '%.80s' is not in it",
                                        f->path, file, ran_token_roles[i], token_of(f, i));
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

static void put_added(struct ran_buf *out, const char **between, uint32_t id, const char *name,
                      bool strips)
{
        ran_buf_printf(out, "%s{\"id\":%u,\"content\":", *between, (unsigned)id);
        put_text(out, name);
        ran_buf_printf(out,
                       ",\"single_word\":false,\"lstrip\":%s,\"rstrip\":false,"
                       "\"normalized\":false,\"special\":true}",
                       boolean(strips));
        *between = ",";
}

/* Those that the package rannet knows and the vocabulary has. */
static void put_rannet_added(const struct folder *f, struct ran_buf *out)
{
        enum { UNUSED = 1000 };
        static const char *const names[] = {"[PAD]", "[UNK]",   "[MASK]",
                                            "[SEP]", "[START]", "[END]"};
        const size_t named = sizeof names / sizeof *names;
        const char *between = "";

        for (size_t i = 0; i < named + UNUSED; i++) {
                char name[24];
                uint32_t id;

                snprintf(name, sizeof name, "[unused%zu]", i - named);
                const char *text = i < named ? names[i] : name;
                if (find_id(f, text, &id))
                        put_added(out, &between, id, text, false);
        }
}

/* The beginning of a document: the role of each special token, as tokenizer_config.json names it,
 * and the special tokens, each once. strips: see mask_strips. */
static void put_special(const struct folder *f, bool strips, bool rannet, struct ran_buf *out)
{
        const char *between = "";

        ran_buf_str(out, "{\"version\":\"1.0\",\"" HF_ROLES "\":{");
        for (int i = 0; i < RAN_TOKEN_ROLES; i++) {
                ran_buf_printf(out, "%s\"%s\":", i > 0 ? "," : "", ran_token_roles[i]);
                put_text(out, token_of(f, i));
        }
        ran_buf_str(out, "},\"added_tokens\":[");
        if (rannet)
                put_rannet_added(f, out);
        for (int i = 0, k; i < RAN_TOKEN_ROLES && !rannet; i++) {
                for (k = 0; f->special[k] != f->special[i];)
                        k++;
                if (k == i)
                        put_added(out, &between, f->special[i], token_of(f, i),
                                  i == RAN_TOKEN_MASK && mask_strips(f, strips));
        }
        ran_buf_char(out, ']');
}

static void put_pair(const struct folder *f, struct ran_buf *out)
{
        ran_buf_str(out, "\"sep\":[");
        put_text(out, token_of(f, RAN_TOKEN_LAST));
        ran_buf_printf(out, ",%u],\"cls\":[", (unsigned)f->special[RAN_TOKEN_LAST]);
        put_text(out, token_of(f, RAN_TOKEN_FIRST));
        ran_buf_printf(out, ",%u]", (unsigned)f->special[RAN_TOKEN_FIRST]);
}

static void put_lines(const struct folder *f, struct ran_buf *out)
{
        const char *between = "";

        for (size_t id = 0; id < ran_tokenizer_size(f->lines); id++) {
                size_t n;
                const char *token = ran_tokenizer_token(f->lines, (uint32_t)id, &n);

                if (token == NULL)
                        continue;
                ran_buf_printf(out, "%s\n", between);
                ran_buf_json(out, token, n);
                ran_buf_printf(out, ":%zu", id);
                between = ",";
        }
}

/* BERT; MPNet, which calls its special tokens as RoBERTa does; and the package rannet, which puts
 * none around a text. */
static int make_wordpiece(struct folder *f, struct ran_buf *out)
{
        static const char *const bert[] = {"[UNK]", "[PAD]", "[MASK]", "[CLS]", "[SEP]"};
        static const char *const mpnet[] = {"[UNK]", "<pad>", "<mask>", "<s>", "</s>"};
        static const char *const rannet[] = {"[UNK]", "[PAD]", "[MASK]", "[SEP]", "[SEP]"};
        uint32_t id;
        const bool is_bert = find_id(f, "[CLS]", &id);
        const bool is_rannet = !is_bert && find_id(f, "[SEP]", &id);
        const bool lower = flag(f, "do_lower_case", true);

        f->usual = is_bert ? bert : is_rannet ? rannet : mpnet;
        RAN_TRY(find_special(f, "vocab.txt"));
        put_special(f, !is_bert, is_rannet, out);
        ran_buf_printf(out,
                       ",\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
                       "\"handle_chinese_chars\":%s,\"strip_accents\":%s,\"lowercase\":%s},"
                       "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"
                       "\"post_processor\":%s",
                       boolean(flag(f, "tokenize_chinese_chars", true)),
                       boolean(flag(f, "strip_accents", lower)), boolean(lower),
                       is_rannet ? "null" : "{\"type\":\"BertProcessing\",");
        if (!is_rannet) {
                put_pair(f, out);
                ran_buf_char(out, '}');
        }
        ran_buf_str(out, ",\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\","
                         "\"cleanup\":true},\"model\":{\"type\":\"WordPiece\",\"unk_token\":");
        put_text(out, token_of(f, RAN_TOKEN_UNKNOWN));
        ran_buf_str(out, ",\"continuing_subword_prefix\":\"##\","
                         "\"max_input_chars_per_word\":100,\"vocab\":{");
        put_lines(f, out);
        ran_buf_str(out, "}}}");
        return RAN_OK;
}

static int from_vocab_txt(struct folder *f, struct ran_buf *out)
{
        struct ran_error why;
        struct ran_bytes file;

        f->lines = ran_tokenizer_new(TOKENIZER_WORDPIECE);
        RAN_TRY(open_file(f, "vocab.txt", &file));
        const int rc = ran_tokenizer_add_lines(f->lines, (const char *)file.data, file.size, &why);
        ran_bytes_release(&file);
        return rc == RAN_OK ? make_wordpiece(f, out) : fail_in(f, "vocab.txt", &why);
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

/* RoBERTa. */
static int from_vocab_json(struct folder *f, struct ran_buf *out)
{
        static const char *const names[] = {"<unk>", "<pad>", "<mask>", "<s>", "</s>"};
        const char *prefix = boolean(flag(f, "add_prefix_space", false));
        const char *trim = boolean(flag(f, "trim_offsets", true));
        struct ran_bytes vocab;

        f->usual = names;
        RAN_TRY(read_json(f, "vocab.json", &f->vocab));
        RAN_TRY(find_special(f, "vocab.json"));
        put_special(f, true, false, out);
        ran_buf_printf(out,
                       ",\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\","
                       "\"add_prefix_space\":%s,\"trim_offsets\":%s,\"use_regex\":true},"
                       "\"post_processor\":{\"type\":\"RobertaProcessing\",",
                       prefix, trim);
        put_pair(f, out);
        ran_buf_printf(out,
                       ",\"trim_offsets\":%s,\"add_prefix_space\":%s},"
                       "\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":%s,"
                       "\"trim_offsets\":%s,\"use_regex\":true},"
                       "\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,"
                       "\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,"
                       "\"fuse_unk\":false,\"byte_fallback\":false,\"vocab\":",
                       trim, prefix, prefix, trim);
        RAN_TRY(open_file(f, "vocab.json", &vocab));
        ran_buf_add(out, vocab.data, vocab.size);
        ran_bytes_release(&vocab);
        ran_buf_str(out, ",\"merges\":");
        RAN_TRY(put_merges(f, out));
        ran_buf_str(out, "}}");
        return RAN_OK;
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
        t = ran_tokenizer_read_json(data + mark, file.size - mark, true, &why);
        ran_bytes_release(&file);
        if (t == NULL)
                fail_in(f, "tokenizer.json", &why);
        for (int i = 0; t != NULL && ran_token_roles[i] != NULL; i++) {
                const char *name = token_of(f, i);
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

static struct ran_tokenizer *read_folder(struct folder *f)
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
        cJSON_Delete(f.vocab);
        ran_tokenizer_free(f.lines);
        return t;
}
