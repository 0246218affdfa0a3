/* bpe.c - reads the parts of a tokenizer.json that only BPE (of bytes or characters) has:
 * merges, and switches that change them. */
#include <string.h>

#include "text/hf/hf.h"

/* Refuses switches that GPT-2's BPE lacks and that would split words differently. */
static int check_bpe(const cJSON *model, struct ran_error *err)
{
        static const char *const texts[] = {"continuing_subword_prefix", "end_of_word_suffix"};
        const cJSON *dropout = ran_cjson_member(model, "dropout");

        for (size_t i = 0; i < 2; i++) {
                const char *text = ran_cjson_text(model, texts[i]);
                if (text != NULL ? text[0] != '\0' : ran_cjson_said(model, texts[i]))
                        return ran_fail(err, RAN_EFORMAT, "'%s' of the model BPE is not supported",
                                        texts[i]);
        }
        if (!ran_cjson_is_null(dropout) && !(cJSON_IsNumber(dropout) && dropout->valuedouble == 0))
                return ran_fail(err, RAN_EFORMAT,
                                "'dropout' of the model BPE is not supported: the same text would "
                                "get different tokens");
        return RAN_OK;
}

/* Whether there is a U+2581 behind another character. */
static bool goes_over_space(const char *s)
{
        const size_t n = sizeof STEPS_META - 1;

        while (strncmp(s, STEPS_META, n) == 0)
                s += n;
        return strstr(s, STEPS_META) != NULL;
}

/* The two tokens of a merge: a list of two, or a text with a space between. */
static bool find_halves(const cJSON *item, const char **left, size_t *left_n, const char **right)
{
        const char *text = cJSON_GetStringValue(item);

        if (text == NULL) {
                *left = cJSON_GetStringValue(cJSON_GetArrayItem(item, 0));
                *right = cJSON_GetStringValue(cJSON_GetArrayItem(item, 1));
                *left_n = *left != NULL ? strlen(*left) : 0;
                return *left != NULL && *right != NULL && cJSON_GetArraySize(item) == 2;
        }
        *left = text;
        *left_n = strcspn(text, " ");
        *right = text + *left_n + 1;
        return text[*left_n] == ' ' && strchr(*right, ' ') == NULL;
}

static int add_merge(struct ran_tokenizer *t, const cJSON *item, struct ran_buf *joined,
                     struct ran_error *err)
{
        const char *left, *right;
        size_t left_n;
        uint32_t a, b, id;

        if (!find_halves(item, &left, &left_n, &right))
                return ran_fail(err, RAN_EFORMAT, "expected two tokens");
        joined->len = 0;
        ran_buf_add(joined, left, left_n);
        ran_buf_str(joined, right);
        ran_buf_char(joined, '\0');
        if (!ran_tokenizer_find(t, left, left_n, &a) ||
            !ran_tokenizer_find(t, right, strlen(right), &b) ||
            !ran_tokenizer_find(t, joined->data, joined->len - 1, &id))
                return ran_fail(err, RAN_EFORMAT,
                                "'%.*s' and '%.80s', or their merge, are not in the vocabulary",
                                left_n < 80 ? (int)left_n : 80, left, right);
        if (t->steps == NULL && !ran_gpt2_bytes(joined->data, joined->len - 1, NULL))
                return ran_fail(err, RAN_EFORMAT, "'%.80s' is not a sequence of bytes",
                                joined->data);
        t->bpe.apart = t->bpe.apart && !goes_over_space(joined->data);
        return ran_bpe_add_merge(&t->bpe, a, b, id, err);
}

int ran_hf_read_bpe(struct ran_tokenizer *t, const cJSON *model, struct ran_error *err)
{
        const char *unk = ran_cjson_text(model, "unk_token");
        const cJSON *merges = ran_cjson_member(model, "merges");
        struct ran_buf joined = {0};
        struct ran_error why;
        uint32_t meta;
        int rc = RAN_OK;

        RAN_TRY(check_bpe(model, err));
        RAN_TRY(ran_cjson_bool(model, "ignore_merges", false, &t->bpe.whole, err));
        if (t->steps != NULL) {
                RAN_TRY(ran_cjson_bool(model, "fuse_unk", false, &t->bpe.fused, err));
                RAN_TRY(ran_cjson_bool(model, "byte_fallback", false, &t->bpe.fallback, err));
                t->bpe.most = t->most;
                if (unk != NULL)
                        ran_tokenizer_find(t, unk, strlen(unk), &t->bpe.unknown);
        }
        RAN_TRY(ran_tokenizer_find_bytes(t, t->steps != NULL && !t->steps->bytes, err));
        /* What is unknown has a token of other characters, and ends before U+2581. */
        t->bpe.apart = t->bpe.chars != NULL && !t->bpe.whole && t->bpe.unknown != BPE_NONE &&
                       unk != NULL && strncmp(unk, STEPS_META, sizeof STEPS_META - 1) != 0 &&
                       ran_tokenizer_find(t, STEPS_META, sizeof STEPS_META - 1, &meta) &&
                       meta < t->bpe.most;
        if (!cJSON_IsArray(merges))
                return ran_fail(err, RAN_EFORMAT, "the model BPE has no list 'merges'");
        for (const cJSON *item = merges->child; item != NULL && rc == RAN_OK; item = item->next) {
                rc = add_merge(t, item, &joined, &why);
                if (rc != RAN_OK)
                        ran_fail(err, rc, "merge %zu: %s", t->bpe.merges.n + 1, why.text);
        }
        ran_buf_release(&joined);
        return rc;
}
