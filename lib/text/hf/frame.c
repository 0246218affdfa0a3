/* frame.c - reads the tokens that surround a text: the post_processor of a tokenizer.json; and
 * those with a role, as [MASK]. */
#include <string.h>

#include "text/hf/hf.h"

enum { MOST_NESTED = 20 };

/* ---- post-processors ------------------------------------------------------------------------ */

/* Adds a token as number `at` of the list. */
static void insert(struct ran_token_list *list, size_t at, uint32_t id)
{
        RAN_ROOM(list->id, list->cap, list->n + 1);
        memmove(list->id + at + 1, list->id + at, (list->n++ - at) * sizeof *list->id);
        list->id[at] = id;
}

/* What a post-processor puts around a text stands outside of what is there: in front of it behind
 * `first` tokens of its own, or behind all. */
static int add_number(struct ran_tokenizer *t, const cJSON *item, bool behind, size_t *first,
                      struct ran_error *err)
{
        size_t id;

        if (!ran_cjson_whole(item, 0, (double)t->tokens.n - 1, &id))
                return ran_fail(err, RAN_EFORMAT,
                                "the post_processor has an id that is not in the vocabulary");
        if (behind)
                insert(&t->after, t->after.n, (uint32_t)id);
        else
                insert(&t->before, (*first)++, (uint32_t)id);
        return RAN_OK;
}

/* TemplateProcessing: what stands on either side of the sequence A in "single". */
static int read_template(struct ran_tokenizer *t, const cJSON *object, struct ran_error *err)
{
        const cJSON *tokens = ran_cjson_member(object, "special_tokens"), *item;
        size_t first = 0;
        int sequences = 0;

        cJSON_ArrayForEach(item, ran_cjson_member(object, "single"))
        {
                const cJSON *special = ran_cjson_member(item, "SpecialToken");
                const char *name = ran_cjson_text(special, "id");
                const char *sequence = ran_cjson_text(ran_cjson_member(item, "Sequence"), "id");

                if (name != NULL) {
                        const cJSON *ids = ran_cjson_member(ran_cjson_member(tokens, name), "ids"),
                                    *id;
                        if (!cJSON_IsArray(ids))
                                return ran_fail(err, RAN_EFORMAT,
                                                "the post_processor TemplateProcessing has no ids "
                                                "for '%.80s'",
                                                name);
                        cJSON_ArrayForEach(id, ids)
                        {
                                RAN_TRY(add_number(t, id, sequences > 0, &first, err));
                        }
                } else if (sequence != NULL && strcmp(sequence, "A") == 0) {
                        sequences++;
                } else {
                        return ran_fail(err, RAN_EFORMAT,
                                        "the post_processor TemplateProcessing has something other "
                                        "than special tokens and one text in 'single'");
                }
        }
        return sequences == 1 ? RAN_OK
                              : ran_fail(err, RAN_EFORMAT,
                                         "the post_processor TemplateProcessing must have one "
                                         "text in 'single', not %d",
                                         sequences);
}

/* ByteLevel and RobertaProcessing may exclude spaces from offsets. */
static int read_trim(struct ran_tokenizer *t, const cJSON *object, struct ran_error *err)
{
        bool trim, prefix;

        RAN_TRY(ran_cjson_bool(object, "trim_offsets", true, &trim, err));
        RAN_TRY(ran_cjson_bool(object, "add_prefix_space", true, &prefix, err));
        if (!trim)
                return RAN_OK;
        if (t->trim)
                return ran_fail(err, RAN_EFORMAT,
                                "two post-processors with trim_offsets are not supported");
        t->trim = true;
        t->keep = prefix;
        return RAN_OK;
}

static int read_processor(struct ran_tokenizer *t, const cJSON *object, int nested,
                          struct ran_error *err)
{
        const char *type = ran_hf_type(object);
        const bool roberta = strcmp(type, "RobertaProcessing") == 0;
        const cJSON *list = ran_cjson_member(object, "processors"), *item;
        size_t first = 0;

        if (ran_cjson_is_null(object))
                return RAN_OK;
        if (strcmp(type, "Sequence") == 0) {
                if (!cJSON_IsArray(list) || nested >= MOST_NESTED)
                        return ran_fail(err, RAN_EFORMAT,
                                        "the post_processor Sequence has no list 'processors', or "
                                        "is nested too deeply");
                cJSON_ArrayForEach(item, list)
                {
                        RAN_TRY(read_processor(t, item, nested + 1, err));
                }
                return RAN_OK;
        }
        if (strcmp(type, "ByteLevel") == 0)
                return read_trim(t, object, err);
        if (strcmp(type, "TemplateProcessing") == 0)
                return read_template(t, object, err);
        if (!roberta && strcmp(type, "BertProcessing") != 0)
                return ran_fail(err, RAN_EFORMAT, "the post_processor '%s' is not supported", type);
        for (int behind = 0; behind < 2; behind++) { /* ["[CLS]", 101] and ["[SEP]", 102] */
                const cJSON *pair = ran_cjson_member(object, behind ? "sep" : "cls");

                RAN_TRY(add_number(t, cJSON_GetArrayItem(pair, 1), behind, &first, err));
        }
        return roberta ? read_trim(t, object, err) : RAN_OK;
}

/* ---- what is kept --------------------------------------------------------------------------- */

/* The members of the model, without its braces and its long lists. */
static char *text_of_model(const struct ran_tokenizer *t, const cJSON *model)
{
        struct ran_buf text = {0};
        const cJSON *item;

        if (ran_cjson_member(model, "type") == NULL)
                ran_buf_printf(&text, "\"type\":\"%s\"", ran_tokenizer_types[t->type]);
        cJSON_ArrayForEach(item, model)
        {
                if (strcmp(item->string, "vocab") == 0 || strcmp(item->string, "merges") == 0)
                        continue;
                char *value = ran_cjson_print(item);
                ran_buf_str(&text, text.len > 0 ? "," : "");
                ran_buf_json(&text, item->string, strlen(item->string));
                ran_buf_char(&text, ':');
                ran_buf_str(&text, value);
                cJSON_free(value);
        }
        ran_buf_char(&text, '\0');
        return text.data;
}

/* ---- names ---------------------------------------------------------------------------------- */

const char *const ran_hf_parts[KEPT] = {
        [KEPT_NORMALIZER] = "normalizer",
        [KEPT_PRE_TOKENIZER] = "pre_tokenizer",
        [KEPT_POST_PROCESSOR] = "post_processor",
        [KEPT_DECODER] = "decoder",
        [KEPT_MODEL] = "model",
};
const char *const ran_token_roles[] = {
        [RAN_TOKEN_UNKNOWN] = "unk_token", [RAN_TOKEN_PADDING] = "pad_token",
        [RAN_TOKEN_MASK] = "mask_token",   [RAN_TOKEN_FIRST] = "cls_token",
        [RAN_TOKEN_LAST] = "sep_token",    NULL,
};

int ran_hf_read_frame(struct ran_tokenizer *t, const cJSON *document, struct ran_error *err)
{
        const cJSON *named = ran_cjson_member(document, HF_ROLES);

        RAN_TRY(read_processor(t, ran_cjson_member(document, "post_processor"), 0, err));
        for (int i = 0; ran_token_roles[i] != NULL; i++) {
                /* A name may be one that the vocabulary lacks: then nothing has that role. */
                const char *name = ran_cjson_text(named, ran_token_roles[i]);
                if (name != NULL)
                        ran_tokenizer_find(t, name, strlen(name), &t->role[i]);
        }
        for (int i = 0; i < KEPT_MODEL; i++) {
                const cJSON *part = ran_cjson_member(document, ran_hf_parts[i]);
                t->kept[i] = part != NULL ? ran_cjson_print(part) : ran_copy("null", 4);
        }
        t->kept[KEPT_MODEL] = text_of_model(t, ran_cjson_member(document, "model"));
        return RAN_OK;
}
