/* hf-tokens.c - the vocabulary of a folder, and the special tokens around a window: those that the
 * tokenizer's post-processor puts around a single text. See hf-folder.h. */
#include "model/hf-folder.h"
#include "ran/record.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_AROUND = 64, VOCABULARY_MOST = 1 << 30 };

/* ---- post-processors ------------------------------------------------------------------------- */

/* Puts an id around those that are there: outermost, in front or behind. */
static int add_around(struct ran_hf_around *a, bool behind, const cJSON *id, struct ran_error *err)
{
        const double x = cJSON_IsNumber(id) ? id->valuedouble : -1;
        const size_t n = a->prefix + a->suffix;

        if (!(x >= 0 && x < UINT32_MAX) || x != (double)(uint32_t)x)
                return ran_fail(err, RAN_EFORMAT,
                                "its post_processor names a token that has no id");
        if (n == MOST_AROUND)
                return ran_fail(err, RAN_EFORMAT,
                                "its post_processor adds more than %d tokens", MOST_AROUND);
        if (a->id == NULL)
                a->id = ran_alloc(MOST_AROUND, sizeof *a->id, err);
        if (a->id == NULL)
                return RAN_ENOMEM;
        const size_t at = behind ? n : a->prefix;
        memmove(a->id + at + 1, a->id + at, (n - at) * sizeof *a->id);
        a->id[at] = (uint32_t)x;
        a->prefix += !behind;
        a->suffix += behind;
        return RAN_OK;
}

static const cJSON *member(const cJSON *object, const char *name)
{
        return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* "cls": ["[CLS]", 101], "sep": ["[SEP]", 102] */
static int read_pair(struct ran_hf_around *a, const cJSON *processor, struct ran_error *err)
{
        RAN_TRY(add_around(a, false, cJSON_GetArrayItem(member(processor, "cls"), 1), err));
        return add_around(a, true, cJSON_GetArrayItem(member(processor, "sep"), 1), err);
}

/* {"SpecialToken": {"id": "[CLS]", "type_id": 0}}, whose ids are in special_tokens. */
static int read_special(struct ran_hf_around *a, const cJSON *processor, bool behind,
                        const cJSON *special, struct ran_error *err)
{
        const cJSON *name = member(special, "id");
        const cJSON *known = cJSON_IsString(name) ? member(member(processor, "special_tokens"),
                                                           name->valuestring)
                                                  : NULL;
        const cJSON *ids = member(known, "ids"), *id;

        if (!cJSON_IsArray(ids))
                return ran_fail(err, RAN_EFORMAT,
                                "its post_processor names a token that special_tokens lacks");
        cJSON_ArrayForEach(id, ids) RAN_TRY(add_around(a, behind, id, err));
        return RAN_OK;
}

static int read_template(struct ran_hf_around *a, const cJSON *processor, struct ran_error *err)
{
        const cJSON *item;
        bool behind = false;

        cJSON_ArrayForEach(item, member(processor, "single"))
        {
                const cJSON *special = member(item, "SpecialToken"),
                            *text = member(item, "Sequence"),
                            *type = member(special != NULL ? special : text, "type_id");

                if ((special == NULL) == (text == NULL) || (text != NULL && behind) ||
                    (cJSON_IsNumber(type) && type->valuedouble != 0))
                        return ran_fail(err, RAN_EFORMAT,
                                        "its post_processor does more than to put special tokens "
                                        "of type 0 around a text");
                if (special != NULL)
                        RAN_TRY(read_special(a, processor, behind, special, err));
                behind = behind || text != NULL;
        }
        return behind ? RAN_OK
                      : ran_fail(err, RAN_EFORMAT, "its post_processor has no place for a text");
}

/* One that is no list of others. */
static int read_one(struct ran_hf_around *a, const cJSON *processor, struct ran_error *err)
{
        const cJSON *type = member(processor, "type");
        const char *name = cJSON_IsString(type) ? type->valuestring : "";

        if (strcmp(name, "ByteLevel") == 0) /* offsets only */
                return RAN_OK;
        if (strcmp(name, "BertProcessing") == 0 || strcmp(name, "RobertaProcessing") == 0)
                return read_pair(a, processor, err);
        if (strcmp(name, "TemplateProcessing") == 0)
                return read_template(a, processor, err);
        return ran_fail(err, RAN_EFORMAT, "its post_processor \"%s\" is not known", name);
}

int ran_hf_read_around(struct ran_hf_around *a, const cJSON *processor, struct ran_error *err)
{
        const cJSON *type = member(processor, "type"), *item;

        if (processor == NULL || cJSON_IsNull(processor))
                return RAN_OK;
        if (!cJSON_IsString(type) || strcmp(type->valuestring, "Sequence") != 0)
                return read_one(a, processor, err);
        cJSON_ArrayForEach(item, member(processor, "processors")) RAN_TRY(read_one(a, item, err));
        return RAN_OK;
}

/* ---- tokenizer.json -------------------------------------------------------------------------- */

static int parse_around(struct ran_hf_around *a, const struct ran_record *all,
                        struct ran_error *err)
{
        const struct ran_member *m = ran_record_find(all, "post_processor", NULL);
        cJSON *processor;
        int rc;

        if (m == NULL)
                return RAN_OK;
        processor = ran_cjson_parse(all->line + m->value.begin, m->value.end - m->value.begin,
                                    NULL, &rc);
        if (rc != RAN_OK)
                return ran_fail(err, rc, "its post_processor cannot be read");
        rc = ran_hf_read_around(a, processor, err);
        cJSON_Delete(processor);
        return rc;
}

/* The text with a normalizer that makes lower case first. */
static void add_lower_case(struct ran_buf *to, const struct ran_record *all)
{
        static const char lower[] = "{\"type\":\"Lowercase\"}";
        const struct ran_member *m = ran_record_find(all, "normalizer", NULL);
        const struct ran_span place = m != NULL ? m->value
                                                : (struct ran_span){all->object.begin + 1,
                                                                    all->object.begin + 1};

        ran_buf_add(to, all->line, place.begin);
        ran_buf_str(to, m == NULL ? "\"normalizer\":" : "");
        ran_buf_printf(to, "{\"type\":\"Sequence\",\"normalizers\":[%s", lower);
        if (m != NULL && m->type != '0') {
                ran_buf_char(to, ',');
                ran_buf_add(to, all->line + place.begin, place.end - place.begin);
        }
        ran_buf_str(to, "]}");
        ran_buf_str(to, m == NULL ? "," : "");
        ran_buf_add(to, all->line + place.end, all->length - place.end);
}

static int load(const struct ran_hf *f, const struct ran_record *all,
                struct ran_tokenizer **tokenizer, struct ran_error *err)
{
        struct ran_buf lower = {0};

        err->code = RAN_OK;
        if (f->lower_case)
                add_lower_case(&lower, all);
        if (lower.failed)
                ran_fail(err, RAN_ENOMEM, "out of memory");
        else
                *tokenizer = f->lower_case ? ran_tokenizer_load(lower.data, lower.len, err)
                                           : ran_tokenizer_load(all->line, all->length, err);
        ran_buf_release(&lower);
        return *tokenizer != NULL ? RAN_OK : (int)err->code;
}

static int read_json(const struct ran_hf *f, const struct ran_bytes *file,
                     struct ran_tokenizer **tokenizer, struct ran_hf_around *around,
                     struct ran_error *err)
{
        struct ran_record all = {0};
        int rc = ran_record_scan(&all, (const char *)file->data, file->size, err);

        if (rc == RAN_OK)
                rc = load(f, &all, tokenizer, err);
        if (rc == RAN_OK)
                rc = parse_around(around, &all, err);
        ran_record_release(&all);
        return rc;
}

/* ---- vocab.txt ------------------------------------------------------------------------------- */

static int find_around(struct ran_hf_around *a, const struct ran_tokenizer *t, bool behind,
                       const char *token, struct ran_error *err)
{
        uint32_t id;

        if (!ran_tokenizer_find(t, token, strlen(token), &id))
                return ran_fail(err, RAN_EFORMAT, "it has no token %s", token);
        const cJSON number = {.type = cJSON_Number, .valuedouble = id};
        return add_around(a, behind, &number, err);
}

static int read_lines(const struct ran_hf *f, const struct ran_bytes *file,
                      struct ran_tokenizer **tokenizer, struct ran_hf_around *around,
                      struct ran_error *err)
{
        const bool angles = f->family == RAN_HF_MPNET;

        err->code = RAN_OK;
        *tokenizer = ran_tokenizer_load((const char *)file->data, file->size, err);
        if (*tokenizer == NULL)
                return (int)err->code;
        RAN_TRY(find_around(around, *tokenizer, false, angles ? "<s>" : "[CLS]", err));
        return find_around(around, *tokenizer, true, angles ? "</s>" : "[SEP]", err);
}

/* ---- the folder ------------------------------------------------------------------------------ */

static int no_vocabulary(struct ran_error *err)
{
        return ran_fail(err, RAN_EFORMAT,
                        "it has no tokenizer.json: write one, in that folder, with: python3 -c "
                        "\"from transformers import AutoTokenizer as A; "
                        "A.from_pretrained('.').save_pretrained('.')\"");
}

int ran_hf_tokens(const struct ran_hf *f, const char *folder, struct ran_tokenizer **tokenizer,
                  struct ran_hf_around *around, struct ran_error *err)
{
        const bool pieces = f->family != RAN_HF_ROBERTA && f->family != RAN_HF_MODERNBERT;
        const char *name = "tokenizer.json", *base = f->base != NULL ? f->base : "";
        struct ran_bytes file;
        struct ran_error why = {0};
        bool absent;

        int rc = ran_hf_open(&file, folder, base, name, VOCABULARY_MOST, &absent, err);
        if (absent && pieces) {
                name = "vocab.txt";
                rc = ran_hf_open(&file, folder, base, name, VOCABULARY_MOST, &absent, err);
        }
        if (absent)
                return no_vocabulary(err);
        RAN_TRY(rc);
        rc = (name[0] == 't' ? read_json : read_lines)(f, &file, tokenizer, around, &why);
        ran_bytes_release(&file);
        return rc != RAN_OK ? ran_fail(err, rc, "%s: %s", name, why.text) : RAN_OK;
}
