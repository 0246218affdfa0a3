/* folder.c - the tokeniser of a folder in Hugging Face's form, as the library would make it:
 * without a tokenizer.json the older files are turned into one; the settings of the folder's class
 * replace those of the file; and tokens that other files name are added. */
#include <stdlib.h>
#include <string.h>

#include "base/cjson.h"
#include "text/hf/hf.h"
#include "text/tokenizer.h"

enum { TEXT_MOST = 1 << 30 }; /* bytes of a file */

struct folder {
        const char *path, *base;
        cJSON *config; /* tokenizer_config.json, or NULL */
        cJSON *names;  /* special_tokens_map.json, unless the configuration has a list of tokens */
        cJSON *added;  /* added_tokens.json, likewise */
        cJSON *model;  /* config.json of the encoder, or NULL */
        struct ran_error *err;
        const char *at;                 /* the file that a sentence is about; NULL: it says so */
        struct ran_bytes file;          /* tokenizer.json, */
        struct ran_buf text;            /* or an older vocabulary in the form of one; */
        const char *json;               /* one of them, */
        struct ran_span vocab;          /* its vocabulary, */
        cJSON *document;                /* and the rest, read or made */
        struct ran_string_table tokens; /* of the vocabulary, once somebody asks for an id, */
        size_t *id, id_cap;             /* (tokens.n) and their ids */
        const char *const *usual;       /* the special tokens where nothing names them */
};

/* The special tokens where nothing names them, by their roles. */
static const char *const of_bert[] = {"[UNK]", "[PAD]", "[MASK]", "[CLS]", "[SEP]"};
static const char *const of_mpnet[] = {"[UNK]", "<pad>", "<mask>", "<s>", "</s>"};
static const char *const of_rannet[] = {"[UNK]", "[PAD]", "[MASK]", "[SEP]", "[SEP]"};
static const char *const of_roberta[] = {"<unk>", "<pad>", "<mask>", "<s>", "</s>"};

/* ---- files ---------------------------------------------------------------------------------- */

static bool has(const struct folder *f, const char *name)
{
        return ran_folder_has(f->path, f->base, name);
}

static int open_file(struct folder *f, const char *name, struct ran_bytes *file)
{
        f->at = NULL;
        RAN_TRY(ran_folder_open(file, f->path, f->base, name, TEXT_MOST, NULL, f->err));
        f->at = name;
        return RAN_OK;
}

/* A file that may be missing. */
static int read_json(struct folder *f, const char *name, cJSON **json)
{
        struct ran_bytes file;

        if (!has(f, name))
                return RAN_OK;
        RAN_TRY(open_file(f, name, &file));
        const int rc = ran_cjson_read(json, (const char *)file.data, file.size, false, f->err);
        ran_bytes_release(&file);
        return rc;
}

/* ---- settings ------------------------------------------------------------------------------- */

/* A special token is a text, or an object with its content. */
static const char *content_of(const cJSON *item)
{
        return cJSON_IsObject(item) ? ran_cjson_text(item, "content") : cJSON_GetStringValue(item);
}

/* The token of a name like "mask_token"; NULL: none. */
static const char *named(const struct folder *f, const char *role)
{
        const char *name = content_of(ran_cjson_member(f->names, role));

        return name != NULL ? name : content_of(ran_cjson_member(f->config, role));
}

/* The token with a role; NULL: none. */
static const char *token_of(const struct folder *f, int role)
{
        const char *name = named(f, ran_token_roles[role]);

        return name != NULL && *name != '\0' ? name : f->usual != NULL ? f->usual[role] : NULL;
}

static bool is_true(const cJSON *object, const char *name, bool otherwise)
{
        const cJSON *item = ran_cjson_member(object, name);

        return cJSON_IsBool(item) ? cJSON_IsTrue(item) : otherwise;
}

static bool flag(const struct folder *f, const char *name, bool otherwise)
{
        return is_true(f->config, name, otherwise);
}

static const char *boolean(bool value)
{
        return value ? "true" : "false";
}

/* ---- parts of the document ------------------------------------------------------------------ */

/* Sets a part, whose text is released. */
static void set_part(const struct folder *f, const char *name, struct ran_buf *json)
{
        cJSON *value = ran_cjson_parse(json->data, json->len, NULL);

        cJSON_DeleteItemFromObjectCaseSensitive(f->document, name);
        if (!cJSON_AddItemToObject(f->document, name, value))
                ran_out_of_memory(1, sizeof *value);
        ran_buf_release(json);
}

static void put_text(struct ran_buf *out, const char *s)
{
        ran_buf_json(out, s, strlen(s));
}

/* The roles of tokens: the folder's settings, else what the document says. */
static void set_roles(const struct folder *f)
{
        const cJSON *said = ran_cjson_member(f->document, HF_ROLES);
        struct ran_buf out = {0};

        for (int i = 0; i < RAN_TOKEN_ROLES; i++) {
                const char *name = token_of(f, i);

                if (name == NULL)
                        name = ran_cjson_text(said, ran_token_roles[i]);
                if (name == NULL)
                        continue;
                ran_buf_printf(&out, "%c\"%s\":", out.len > 0 ? ',' : '{', ran_token_roles[i]);
                put_text(&out, name);
        }
        ran_buf_str(&out, out.len > 0 ? "}" : "{}");
        set_part(f, HF_ROLES, &out);
}

static void add_id(struct folder *f, const char *token, size_t n, size_t id)
{
        const uint32_t at = ran_string_table_add(&f->tokens, n > 0 ? token : "", n);

        RAN_ROOM(f->id, f->id_cap, f->tokens.n);
        f->id[at] = id;
}

/* The tokens of the vocabulary, an object with their ids or a list with their scores. */
static void index_tokens(struct folder *f)
{
        struct ran_buf token = {0};
        size_t position = 0;

        for (struct ran_items i = ran_items(f->json, f->vocab); ran_items_next(&i); position++) {
                struct ran_items pair = ran_items(f->json, i.value);
                struct ran_span name = i.name;
                size_t id = position;

                token.len = 0;
                if (i.type == 'a' && ran_items_next(&pair) && pair.type == 's')
                        name = pair.value;
                else if (i.type != 'n' ||
                         !ran_parse_size(f->json + i.value.begin, i.value.end - i.value.begin, &id))
                        continue;
                if (ran_json_decode(f->json, name, &token, NULL) != RAN_OK)
                        continue;
                add_id(f, token.data, token.len, id);
        }
        ran_buf_release(&token);
}

static bool find_id(struct folder *f, const char *name, uint32_t *id)
{
        if (f->id == NULL && f->vocab.end > 0)
                index_tokens(f);
        const uint32_t found = ran_string_table_find(&f->tokens, name, strlen(name));
        if (f->id == NULL || found == RAN_STRING_TABLE_NONE)
                return false;
        *id = (uint32_t)f->id[found];
        return true;
}

/* ---- added tokens ---------------------------------------------------------------------------- */

/* The added token of this text; NULL: none. */
static cJSON *find_added(const struct folder *f, const char *content)
{
        cJSON *item;

        cJSON_ArrayForEach(item, ran_cjson_member(f->document, "added_tokens"))
        {
                const char *text = ran_cjson_text(item, "content");

                if (text != NULL && strcmp(text, content) == 0)
                        return item;
        }
        return NULL;
}

/* Adds a token to the document, in the place of one of the same text. flags: an object with some
 * of them, or NULL. */
static void add_token(struct folder *f, const char *content, size_t id, const cJSON *flags,
                      bool strips, bool special)
{
        cJSON *list = cJSON_GetObjectItemCaseSensitive(f->document, "added_tokens"),
              *old = find_added(f, content);
        struct ran_buf out = {0};

        if (!cJSON_IsArray(list)) {
                ran_buf_str(&out, "[]");
                set_part(f, "added_tokens", &out);
                list = cJSON_GetObjectItemCaseSensitive(f->document, "added_tokens");
        }
        special = is_true(flags, "special", special);
        ran_buf_printf(&out, "{\"id\":%zu,\"content\":", id);
        put_text(&out, content);
        ran_buf_printf(&out,
                       ",\"single_word\":%s,\"lstrip\":%s,\"rstrip\":%s,\"normalized\":%s,"
                       "\"special\":%s}",
                       boolean(is_true(flags, "single_word", false)),
                       boolean(is_true(flags, "lstrip", strips)),
                       boolean(is_true(flags, "rstrip", false)),
                       boolean(is_true(flags, "normalized", !special)), boolean(special));
        cJSON *value = ran_cjson_parse(out.data, out.len, NULL);
        if (old != NULL ? !cJSON_ReplaceItemViaPointer(list, old, value)
                        : !cJSON_AddItemToArray(list, value))
                ran_out_of_memory(1, sizeof *value);
        ran_buf_release(&out);
}

/* The special tokens of an older vocabulary, which have to be in it. strips: whether the mask takes
 * the white space before it, where the settings do not say: as in the files that RoBERTa and MPNet
 * were published with, and not in BERT's. */
static int add_special(struct folder *f, bool strips)
{
        const cJSON *mask = ran_cjson_member(f->names, "mask_token");
        uint32_t id;

        if (!cJSON_IsBool(ran_cjson_member(mask, "lstrip")))
                mask = ran_cjson_member(f->config, "mask_token");
        strips = is_true(mask, "lstrip", strips);
        for (int i = 0; i < RAN_TOKEN_ROLES; i++) {
                if (!find_id(f, token_of(f, i), &id))
                        return ran_fail(f->err, RAN_EFORMAT, "the %s '%.80s' is not in it",
                                        ran_token_roles[i], token_of(f, i));
                if (find_added(f, token_of(f, i)) == NULL)
                        add_token(f, token_of(f, i), id, NULL, i == RAN_TOKEN_MASK && strips, true);
        }
        return RAN_OK;
}

/* Those that the package rannet knows and the vocabulary has. */
static void add_rannet_special(struct folder *f)
{
        static const char *const names[] = {"[PAD]", "[UNK]",   "[MASK]",
                                            "[SEP]", "[START]", "[END]"};
        enum { UNUSED = 1000, NAMED = sizeof names / sizeof *names };
        uint32_t id;

        for (size_t i = 0; i < NAMED + UNUSED; i++) {
                char name[24];

                snprintf(name, sizeof name, "[unused%zu]", i - NAMED);
                const char *text = i < NAMED ? names[i] : name;
                if (find_id(f, text, &id))
                        add_token(f, text, id, NULL, false, true);
        }
}

/* Adds a special token that has an id. */
static void add_name(struct folder *f, const char *name, bool strips)
{
        uint32_t id;

        if (name != NULL && *name != '\0' && find_added(f, name) == NULL && find_id(f, name, &id))
                add_token(f, name, id, NULL, strips, true);
}

/* Those that a member names: a text, an object with one, or a list of such. */
static void add_named(struct folder *f, const cJSON *member)
{
        const cJSON *item;

        add_name(f, content_of(member), false);
        if (!cJSON_IsArray(member))
                return;
        cJSON_ArrayForEach(item, member)
        {
                add_name(f, content_of(item), false);
        }
}

/* Tokens of other files than the vocabulary's: the list of the configuration, or in its place that
 * of an older file; and special tokens that have a name. */
static void add_others(struct folder *f)
{
        static const char *const names[] = {
                "bos_token",           "eos_token", "unk_token",  "sep_token",
                "pad_token",           "cls_token", "mask_token", "additional_special_tokens",
                "extra_special_tokens"};
        const cJSON *item;
        uint32_t id;
        size_t given;

        cJSON_ArrayForEach(item, ran_cjson_member(f->config, "added_tokens_decoder"))
        {
                const char *content = content_of(item);

                if (content != NULL && *content != '\0' &&
                    ran_parse_size(item->string, strlen(item->string), &given))
                        add_token(f, content, find_id(f, content, &id) ? id : given, item, false,
                                  false);
        }
        cJSON_ArrayForEach(item, f->added)
        {
                if (!find_id(f, item->string, &id) &&
                    ran_cjson_whole(item, 0, UINT32_MAX - 1.0, &given))
                        add_id(f, item->string, strlen(item->string), given);
        }
        for (int i = 0; f->usual != NULL && i < RAN_TOKEN_ROLES; i++)
                add_name(f, token_of(f, i), i == RAN_TOKEN_MASK && f->usual != of_bert);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                add_named(f, ran_cjson_member(f->names, names[i]));
                add_named(f, ran_cjson_member(f->config, names[i]));
        }
        cJSON_ArrayForEach(item, f->added)
        {
                if (find_added(f, item->string) == NULL && find_id(f, item->string, &id))
                        add_token(f, item->string, id, NULL, false, false);
        }
}

/* The tokens around a text; more: further members of the post-processor. */
static void set_around(struct folder *f, const char *type, const char *more)
{
        static const struct {
                const char *name;
                int role;
        } sides[] = {{"sep", RAN_TOKEN_LAST}, {"cls", RAN_TOKEN_FIRST}};
        struct ran_buf out = {0};
        uint32_t id = 0;

        ran_buf_printf(&out, "{\"type\":\"%s\"", type);
        for (int i = 0; i < 2 && find_id(f, token_of(f, sides[i].role), &id); i++) {
                ran_buf_printf(&out, ",\"%s\":[", sides[i].name);
                put_text(&out, token_of(f, sides[i].role));
                ran_buf_printf(&out, ",%u]", (unsigned)id);
        }
        ran_buf_printf(&out, "%s}", more);
        set_part(f, "post_processor", &out);
}

/* ---- older files ---------------------------------------------------------------------------- */

static int parse(struct folder *f, const char *json, size_t n)
{
        f->json = json;
        return ran_hf_parse(&f->document, &f->vocab, json, n, f->err);
}

/* BERT; MPNet, which calls its special tokens as RoBERTa does; and the package rannet, which puts
 * none around a text. */
static int from_vocab_txt(struct folder *f)
{
        struct ran_tokenizer *t = ran_tokenizer_new(TOKENIZER_WORDPIECE);
        const char *between = "";
        struct ran_bytes file;
        uint32_t id;
        int rc = open_file(f, "vocab.txt", &file);

        if (rc == RAN_OK) {
                rc = ran_tokenizer_add_lines(t, (const char *)file.data, file.size, f->err);
                ran_bytes_release(&file);
        }
        const bool is_bert = ran_tokenizer_find(t, "[CLS]", 5, &id);
        const bool is_rannet = !is_bert && ran_tokenizer_find(t, "[SEP]", 5, &id);
        f->usual = is_bert ? of_bert : is_rannet ? of_rannet : of_mpnet;
        ran_buf_str(&f->text, "{\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
                              "\"handle_chinese_chars\":true,\"strip_accents\":true,"
                              "\"lowercase\":true},"
                              "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"
                              "\"post_processor\":null,\"decoder\":{\"type\":\"WordPiece\","
                              "\"prefix\":\"##\",\"cleanup\":true},"
                              "\"model\":{\"type\":\"WordPiece\",\"unk_token\":");
        put_text(&f->text, token_of(f, RAN_TOKEN_UNKNOWN));
        ran_buf_str(&f->text, ",\"continuing_subword_prefix\":\"##\","
                              "\"max_input_chars_per_word\":100,\"vocab\":{");
        for (size_t i = 0; i < ran_tokenizer_size(t); i++) {
                size_t n;
                const char *token = ran_tokenizer_token(t, (uint32_t)i, &n);

                if (token == NULL)
                        continue;
                ran_buf_str(&f->text, between);
                ran_buf_json(&f->text, token, n);
                ran_buf_printf(&f->text, ":%zu", i);
                between = ",\n";
        }
        ran_buf_str(&f->text, "}}}");
        ran_tokenizer_free(t);
        RAN_TRY(rc);
        RAN_TRY(parse(f, f->text.data, f->text.len));
        RAN_TRY(add_special(f, !is_bert && !is_rannet));
        if (is_rannet)
                add_rannet_special(f);
        else
                set_around(f, "BertProcessing", "");
        return RAN_OK;
}

/* The lines of merges.txt, behind "#version", as a list. */
static int put_merges(struct folder *f, struct ran_buf *out)
{
        struct ran_bytes file;
        const char *between = "[";

        RAN_TRY(open_file(f, "merges.txt", &file));
        const char *data = (const char *)file.data;
        for (size_t pos = 0; pos < file.size;) {
                const char *newline = memchr(data + pos, '\n', file.size - pos);
                size_t end = newline != NULL ? (size_t)(newline - data) : file.size;
                size_t n = end - pos - (end > pos && data[end - 1] == '\r');

                if (n > 0 && !(n >= 8 && memcmp(data + pos, "#version", 8) == 0)) {
                        ran_buf_str(out, between);
                        ran_buf_json(out, data + pos, n);
                        between = ",";
                }
                pos = end + (newline != NULL);
        }
        ran_buf_str(out, *between == '[' ? "[]" : "]");
        ran_bytes_release(&file);
        return RAN_OK;
}

/* RoBERTa. */
static int from_vocab_json(struct folder *f)
{
        struct ran_bytes vocab;

        f->usual = of_roberta;
        RAN_TRY(open_file(f, "vocab.json", &vocab));
        ran_buf_str(&f->text, "{\"pre_tokenizer\":" HF_BYTE_LEVEL ",\"decoder\":" HF_BYTE_LEVEL ","
                              "\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,"
                              "\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,"
                              "\"fuse_unk\":false,\"byte_fallback\":false,\"vocab\":");
        ran_buf_add(&f->text, vocab.data, vocab.size);
        ran_bytes_release(&vocab);
        ran_buf_str(&f->text, ",\"merges\":");
        RAN_TRY(put_merges(f, &f->text));
        ran_buf_str(&f->text, "}}");
        f->at = "vocab.json";
        RAN_TRY(parse(f, f->text.data, f->text.len));
        RAN_TRY(add_special(f, true));
        set_around(f, "RobertaProcessing", ",\"trim_offsets\":true,\"add_prefix_space\":false");
        return RAN_OK;
}

/* ---- classes -------------------------------------------------------------------------------- */

/* What a class makes of the settings: nothing, BERT's normalizer, or bytes. */
enum rules { RULES_NONE, RULES_BERT, RULES_BYTES };
static const struct {
        const char *name; /* without Tokenizer */
        enum rules rules;
        const char *const *usual;
        const char *type; /* of models whose class it is, unless they name another */
} classes[] = {
        {"Bert", RULES_BERT, of_bert, "bert"},
        {"DistilBert", RULES_BERT, of_bert, "distilbert"},
        {"MPNet", RULES_BERT, of_mpnet, "mpnet"},
        {"Electra", RULES_BERT, of_bert, ""},
        {"MobileBert", RULES_BERT, of_bert, ""},
        {"SqueezeBert", RULES_BERT, of_bert, ""},
        {"ConvBert", RULES_BERT, of_bert, ""},
        {"Roberta", RULES_BYTES, of_roberta, "roberta"},
        {"Longformer", RULES_BYTES, of_roberta, ""},
};

/* Those whose tokens a package of Python makes. */
static const char *const of_python[] = {"BertJapanese", "Bertweet", "BioGpt",   "ByT5",
                                        "Canine",       "Esm",      "Flaubert", "Phobert",
                                        "ProphetNet",   "RoCBert",  "Tapas",    "XLM"};

/* The rules of the folder's class; older: it has no tokenizer.json, which any class may read. */
static int find_rules(struct folder *f, bool older, enum rules *rules)
{
        const char *type = ran_cjson_text(f->model, "model_type");
        const char *class = ran_cjson_text(f->config, "tokenizer_class");

        *rules = RULES_NONE;
        if (class == NULL)
                class = ran_cjson_text(f->model, "tokenizer_class");
        if (type != NULL && strcmp(type, "modernbert") == 0) /* any class, as it is */
                return RAN_OK;
        const char *is = class != NULL ? class : type != NULL ? type : "";
        const char *end = class != NULL ? strstr(class, "Tokenizer") : is + strlen(is);
        const size_t n = end != NULL ? (size_t)(end - is) : 0;
        for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
                const char *name = class != NULL ? classes[i].name : classes[i].type;

                if (n == 0 || strlen(name) != n || memcmp(is, name, n) != 0)
                        continue;
                *rules = classes[i].rules;
                f->usual = classes[i].usual;
        }
        const char *why = older && class != NULL && *rules == RULES_NONE
                                  ? "save the folder again with its own library, so that it has a "
                                    "tokenizer.json"
                                  : NULL;
        for (size_t i = 0; i < sizeof of_python / sizeof *of_python; i++)
                if (class != NULL && n == strlen(of_python[i]) && memcmp(is, of_python[i], n) == 0)
                        why = "a package of Python makes its tokens";
        if (why != NULL)
                return ran_fail(f->err, RAN_EFORMAT,
                                "tokenizer_config.json: the tokenizer_class \"%s\" is not known: "
                                "%s",
                                class, why);
        return RAN_OK;
}

static void set_bool(const cJSON *object, const char *name, bool value)
{
        cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

        if (item != NULL)
                item->type = value ? cJSON_True : cJSON_False;
}

/* The settings of a class replace those of the file, where its parts are the class's. */
static void apply_settings(const struct folder *f, enum rules rules)
{
        const cJSON *normalizer = ran_cjson_member(f->document, "normalizer");

        if (rules == RULES_BERT && strcmp(ran_hf_type(normalizer), "BertNormalizer") == 0) {
                const bool lower = flag(f, "do_lower_case", true);
                const bool strips = flag(f, "strip_accents", lower);

                if (is_true(normalizer, "strip_accents", lower) != strips)
                        set_bool(normalizer, "strip_accents", strips);
                set_bool(normalizer, "lowercase", lower);
                set_bool(normalizer, "handle_chinese_chars",
                         flag(f, "tokenize_chinese_chars", true));
        }
        if (rules != RULES_BYTES ||
            strcmp(ran_hf_type(ran_cjson_member(f->document, "pre_tokenizer")), "ByteLevel") != 0)
                return;
        for (int i = KEPT_PRE_TOKENIZER; i <= KEPT_DECODER; i++) {
                const cJSON *part = ran_cjson_member(f->document, ran_hf_parts[i]);

                set_bool(part, "add_prefix_space", flag(f, "add_prefix_space", false));
                set_bool(part, "trim_offsets", flag(f, "trim_offsets", true));
        }
}

/* ---- the folder ----------------------------------------------------------------------------- */

static int from_tokenizer_json(struct folder *f)
{
        RAN_TRY(open_file(f, "tokenizer.json", &f->file));
        const size_t mark = ran_utf8_mark((const char *)f->file.data, f->file.size);
        return parse(f, (const char *)f->file.data + mark, f->file.size - mark);
}

static int refuse(const struct folder *f)
{
        static const char *const pieces[] = {"sentencepiece.bpe.model", "spiece.model",
                                             "tokenizer.model", "spm.model"};

        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
                if (has(f, pieces[i]))
                        return ran_fail(
                                f->err, RAN_EFORMAT,
                                "it has %s, which is not supported, and no tokenizer.json; make "
                                "one: python3 -c \"from transformers import AutoTokenizer as T; "
                                "T.from_pretrained('%s').save_pretrained('%s')\"",
                                pieces[i], f->path, f->path);
        return ran_fail(f->err, RAN_EFORMAT,
                        "it has no vocabulary: tokenizer.json, or vocab.txt, or vocab.json and "
                        "merges.txt");
}

/* What Sentence Transformers do before the tokenizer. */
static void set_lower(const struct folder *f)
{
        const cJSON *normalizer = ran_cjson_member(f->document, "normalizer");
        struct ran_buf out = {0};

        ran_buf_str(&out, "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Lowercase\"}");
        if (!ran_cjson_is_null(normalizer)) {
                char *text = ran_cjson_print(normalizer);

                ran_buf_char(&out, ',');
                ran_buf_str(&out, text);
                cJSON_free(text);
        }
        ran_buf_str(&out, "]}");
        set_part(f, "normalizer", &out);
}

static struct ran_tokenizer *read_folder(struct folder *f, bool lower)
{
        static const struct {
                const char *name;
                int (*read)(struct folder *f);
        } files[] = {{"tokenizer.json", from_tokenizer_json},
                     {"vocab.txt", from_vocab_txt},
                     {"vocab.json", from_vocab_json}};
        enum rules rules = RULES_NONE;
        size_t i = 0;

        if (read_json(f, "tokenizer_config.json", &f->config) != RAN_OK ||
            read_json(f, "config.json", &f->model) != RAN_OK)
                return NULL;
        if (!ran_cjson_said(f->config, "added_tokens_decoder") &&
            (read_json(f, "special_tokens_map.json", &f->names) != RAN_OK ||
             read_json(f, "added_tokens.json", &f->added) != RAN_OK))
                return NULL;
        f->at = NULL;
        while (i < 3 && !(has(f, files[i].name) && (i < 2 || has(f, "merges.txt"))))
                i++;
        if ((i < 3 && find_rules(f, i > 0, &rules) != RAN_OK) ||
            (i < 3 ? files[i].read(f) : refuse(f)) != RAN_OK)
                return NULL;
        apply_settings(f, i == 1 ? RULES_BERT : i == 2 ? RULES_BYTES : rules);
        add_others(f);
        set_roles(f);
        if (lower)
                set_lower(f);
        return ran_hf_make(f->document, f->json, f->vocab, true, f->err);
}

struct ran_tokenizer *ran_tokenizer_read_folder(const char *folder, const char *base, bool lower,
                                                struct ran_error *err)
{
        struct folder f = {.path = folder, .base = base, .err = ran_error_or_spare(err)};
        struct ran_tokenizer *t = read_folder(&f, lower);

        if (t == NULL && f.at != NULL)
                ran_fail(f.err, f.err->code, "%s%s%s: %s", base, base[0] != '\0' ? "/" : "", f.at,
                         f.err->text);
        cJSON_Delete(f.config);
        cJSON_Delete(f.names);
        cJSON_Delete(f.added);
        cJSON_Delete(f.model);
        cJSON_Delete(f.document);
        ran_string_table_release(&f.tokens);
        free(f.id);
        ran_buf_release(&f.text);
        ran_bytes_release(&f.file);
        return t;
}

struct ran_tokenizer *ran_tokenizer_open_folder(const char *folder, struct ran_error *err)
{
        struct ran_error why;
        struct ran_tokenizer *t = ran_tokenizer_read_folder(folder, "", false, &why);
        const bool about = t == NULL && strncmp(why.text, "it has ", 7) == 0;

        if (t == NULL)
                ran_fail(err, why.code, about ? "%s%s" : "%s/%s", folder, why.text + 2 * about);
        return t;
}
