/* hf-rules.c - reads the normalizer and pre_tokenizer of a tokenizer.json: rules to normalise a
 * text and split it into words. */
#include <string.h>

#include "text/hf/hf.h"

/* ---- normalizer ----------------------------------------------------------------------------- */

static int read_bert(struct ran_normalizer *z, const cJSON *object, struct ran_error *err)
{
        bool clean = true, cjk = true, lower = true, strip = true;

        RAN_TRY(ran_hf_bool(object, "clean_text", true, &clean, err));
        RAN_TRY(ran_hf_bool(object, "handle_chinese_chars", true, &cjk, err));
        RAN_TRY(ran_hf_bool(object, "lowercase", true, &lower, err));
        /* null: as lowercase */
        RAN_TRY(ran_hf_bool(object, "strip_accents", lower, &strip, err));
        if (clean)
                RAN_TRY(ran_normalizer_add(z, NORMAL_CLEAN, err));
        if (cjk)
                RAN_TRY(ran_normalizer_add(z, NORMAL_CJK, err));
        if (strip)
                RAN_TRY(ran_normalizer_add(z, NORMAL_NFD, err));
        if (strip)
                RAN_TRY(ran_normalizer_add(z, NORMAL_STRIP_NONSPACING, err));
        if (lower)
                RAN_TRY(ran_normalizer_add(z, NORMAL_LOWERCASE, err));
        return RAN_OK;
}

/* A word between two spaces, as hf-write.c writes it. */
static bool is_spaced_word(const char *s)
{
        size_t n = strlen(s);

        return n > 2 && s[0] == ' ' && s[n - 1] == ' ' && strcspn(s + 1, " \t\n\v\f\r") == n - 2;
}

static int read_replace(struct ran_normalizer *z, const cJSON *object, struct ran_error *err)
{
        const cJSON *pattern = ran_hf_member(object, "pattern");
        const char *string = ran_hf_text(pattern, "String"), *regex = ran_hf_text(pattern, "Regex");
        const char *content = ran_hf_text(object, "content");

        if (regex != NULL && strcmp(regex, HF_CC_CF_PATTERN) == 0 && content != NULL &&
            content[0] == '\0')
                return ran_normalizer_add(z, NORMAL_CLEAN_CC_CF, err);
        if (string == NULL || strcmp(string, "\n") != 0 || content == NULL ||
            !is_spaced_word(content) || z->eol != NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "a normalizer of type Replace is supported only if it turns "
                                "\"\\n\" into one word between spaces");
        return ran_normalizer_add_eol(z, content + 1, strlen(content) - 2, err);
}

/* Without byte pairs words end at white space anyway, so Strip makes no difference, unless white
 * space becomes a word. */
static int read_strip(struct ran_normalizer *z, const cJSON *object, bool bytes,
                      struct ran_error *err)
{
        bool left = true, right = true;

        RAN_TRY(ran_hf_bool(object, "strip_left", true, &left, err));
        RAN_TRY(ran_hf_bool(object, "strip_right", true, &right, err));
        if (!bytes)
                return RAN_OK;
        if (left)
                RAN_TRY(ran_normalizer_add(z, NORMAL_STRIP_LEFT, err));
        if (right)
                RAN_TRY(ran_normalizer_add(z, NORMAL_STRIP_RIGHT, err));
        return RAN_OK;
}

static bool says(const char *text, const char *what)
{
        return text != NULL && strcmp(text, what) == 0;
}

/* With tokens of characters, the last steps replace spaces and prepend one; they are not steps
 * of z, but part of looking tokens up. */
static bool read_meta(struct ran_text_rules *r, const cJSON *object)
{
        const char *type = ran_hf_type(object);

        if (says(type, "Prepend") && says(ran_hf_text(object, "prepend"), WORDS_META)) {
                r->lead = r->always = true;
                return true;
        }
        if (!says(type, "Replace") ||
            !says(ran_hf_text(ran_hf_member(object, "pattern"), "String"), " ") ||
            !says(ran_hf_text(object, "content"), WORDS_META))
                return false;
        r->split = SPLIT_META;
        return true;
}

static int read_step(struct ran_normalizer *z, const cJSON *object, bool bytes,
                     struct ran_error *err)
{
        const char *type = ran_hf_type(object);

        if (strcmp(type, "BertNormalizer") == 0)
                return read_bert(z, object, err);
        if (strcmp(type, "Replace") == 0)
                return read_replace(z, object, err);
        if (strcmp(type, "Strip") == 0)
                return read_strip(z, object, bytes, err);
        for (const struct ran_hf_plain_step *plain = ran_hf_plain_steps; plain->type != NULL;
             plain++) {
                if (strcmp(type, plain->type) == 0)
                        return ran_normalizer_add(z, plain->step, err);
        }
        return ran_fail(
                err, RAN_EFORMAT,
                "the normalizer '%s' is not supported (BertNormalizer, NFC, NFD, NFKC, NFKD, "
                "Lowercase, StripAccents, Strip and a Sequence of them are)",
                type);
}

/* A step of a Sequence. *stripped: an earlier step was Strip. */
static int read_next(struct ran_text_rules *r, const cJSON *step, enum ran_hf_letters letters,
                     bool *stripped, struct ran_error *err)
{
        bool words = r->normal.eol != NULL, meta = r->split == SPLIT_META || r->always;

        if (letters == HF_CHARS && read_meta(r, step))
                return RAN_OK;
        if (meta)
                return ran_fail(err, RAN_EFORMAT,
                                "the normalizer '%s' is not supported after one that writes spaces "
                                "as '" WORDS_META "'",
                                ran_hf_type(step));
        RAN_TRY(read_step(&r->normal, step, letters != HF_WORDS, err));
        *stripped |= strcmp(ran_hf_type(step), "Strip") == 0;
        if (*stripped && letters == HF_WORDS && !words && r->normal.eol != NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "the normalizer 'Strip' is not supported before a Replace "
                                "of line feeds");
        return RAN_OK;
}

static int read_normalizer(struct ran_text_rules *r, const cJSON *object,
                           enum ran_hf_letters letters, struct ran_error *err)
{
        bool stripped = false;

        if (!ran_hf_is_null(object) && strcmp(ran_hf_type(object), "Sequence") != 0) {
                RAN_TRY(read_next(r, object, letters, &stripped, err));
        } else if (!ran_hf_is_null(object)) {
                const cJSON *steps = ran_hf_member(object, "normalizers"), *step;
                if (!cJSON_IsArray(steps))
                        return ran_fail(err, RAN_EFORMAT,
                                        "the normalizer Sequence has no list 'normalizers'");
                cJSON_ArrayForEach(step, steps)
                {
                        RAN_TRY(read_next(r, step, letters, &stripped, err));
                }
        }
        if (letters == HF_CHARS && r->split != SPLIT_META)
                return ran_fail(err, RAN_EFORMAT,
                                "\"byte_fallback\": true of the model BPE is supported only if the "
                                "normalizer is a Replace of spaces by '" WORDS_META "'");
        return RAN_OK;
}

/* ---- pre_tokenizer -------------------------------------------------------------------------- */

static int read_byte_level(struct ran_text_rules *r, const cJSON *object, struct ran_error *err)
{
        bool regex;

        RAN_TRY(ran_hf_bool(object, "add_prefix_space", true, &r->lead, err));
        RAN_TRY(ran_hf_bool(object, "use_regex", true, &regex, err));
        r->split = regex ? RAN_SPLIT_GPT2 : SPLIT_NOWHERE;
        return RAN_OK;
}

static int refuse_pre_tokenizer(const char *type, bool bytes, struct ran_error *err)
{
        if (bytes)
                return ran_fail(err, RAN_EFORMAT,
                                "the pre_tokenizer '%s' is not supported for the model BPE "
                                "(ByteLevel is, by itself or after Digits or one Split)",
                                type);
        return ran_fail(err, RAN_EFORMAT,
                        "the pre_tokenizer '%s' is not supported (BertPreTokenizer, "
                        "WhitespaceSplit, Whitespace and a Sequence of them are)",
                        type);
}

/* The effect of a file's pre-tokenizers, in order. */
struct splits {
        bool spaces, punctuation, runs;
        bool bytes;                           /* ByteLevel, which comes last */
        const struct ran_hf_pattern *pattern; /* of a Split before it */
        size_t digits;                        /* of Digits before it */
};

static bool is_isolating(const cJSON *object)
{
        const char *behavior = ran_hf_text(object, "behavior");

        return behavior == NULL || strcmp(behavior, "Isolated") == 0;
}

/* Reads a Split by one of the supported regular expressions. */
static int read_pattern(struct splits *splits, const cJSON *object, struct ran_error *err)
{
        const char *regex = ran_hf_text(ran_hf_member(object, "pattern"), "Regex");
        const struct ran_hf_pattern *pattern = ran_hf_patterns;
        bool invert;

        RAN_TRY(ran_hf_bool(object, "invert", false, &invert, err));
        while (regex != NULL && pattern->regex != NULL && strcmp(pattern->regex, regex) != 0)
                pattern++;
        if (regex == NULL || pattern->regex == NULL || !is_isolating(object) || invert)
                return ran_fail(err, RAN_EFORMAT,
                                "the pattern of the pre_tokenizer 'Split' is not supported (those "
                                "of GPT-2, and of GPT-4, Llama 3 and Qwen, isolated, are): %.200s",
                                regex != NULL ? regex : "no Regex");
        splits->pattern = pattern;
        return RAN_OK;
}

static int read_digits(struct splits *splits, const cJSON *object, struct ran_error *err)
{
        bool single;

        RAN_TRY(ran_hf_bool(object, "individual_digits", false, &single, err));
        splits->digits = single ? 1 : SIZE_MAX;
        return RAN_OK;
}

/* ByteLevel, and the splits that may precede it. After a split, a prefix space would go before
 * each part, and a regular expression would split only parts: neither is supported. */
static int read_bytes(struct ran_text_rules *r, struct splits *splits, const cJSON *object,
                      struct ran_error *err)
{
        const char *type = ran_hf_type(object);
        bool first = splits->pattern == NULL && splits->digits == 0 && !splits->bytes;

        if (first && strcmp(type, "Split") == 0)
                return read_pattern(splits, object, err);
        if (first && strcmp(type, "Digits") == 0)
                return read_digits(splits, object, err);
        if (splits->bytes || strcmp(type, "ByteLevel") != 0)
                return refuse_pre_tokenizer(type, true, err);
        splits->bytes = true;
        int code = read_byte_level(r, object, err);
        if (code != RAN_OK || first)
                return code;
        if (r->lead || (splits->pattern != NULL && r->split == RAN_SPLIT_GPT2))
                return ran_fail(err, RAN_EFORMAT,
                                "\"%s\": true of the pre_tokenizer ByteLevel is not supported "
                                "after another one",
                                r->lead ? "add_prefix_space" : "use_regex");
        r->split = splits->pattern != NULL ? splits->pattern->split : r->split;
        r->digits = splits->pattern != NULL ? splits->pattern->digits : splits->digits;
        return RAN_OK;
}

static int read_split(struct ran_text_rules *r, struct splits *splits, const cJSON *object,
                      bool bytes, struct ran_error *err)
{
        const char *type = ran_hf_type(object);

        if (bytes)
                return read_bytes(r, splits, object, err);
        if (strcmp(type, "BertPreTokenizer") == 0)
                splits->spaces = splits->punctuation = true;
        else if (strcmp(type, "WhitespaceSplit") == 0)
                splits->spaces = true;
        else if (strcmp(type, "Whitespace") == 0)
                splits->runs = true;
        else if (strcmp(type, "Punctuation") == 0 && is_isolating(object))
                splits->punctuation = true;
        else
                return refuse_pre_tokenizer(type, bytes, err);
        return RAN_OK;
}

static int read_splits(struct ran_text_rules *r, struct splits *splits, const cJSON *object,
                       bool bytes, struct ran_error *err)
{
        const cJSON *list = ran_hf_member(object, "pretokenizers"), *item;

        if (strcmp(ran_hf_type(object), "Sequence") != 0)
                return read_split(r, splits, object, bytes, err);
        if (!cJSON_IsArray(list))
                return ran_fail(err, RAN_EFORMAT,
                                "the pre_tokenizer Sequence has no list 'pretokenizers'");
        cJSON_ArrayForEach(item, list)
        {
                RAN_TRY(read_split(r, splits, item, bytes, err));
        }
        return RAN_OK;
}

/* None, or one that splits at spaces, which no longer occur. */
static int read_no_pre_tokenizer(const cJSON *object, struct ran_error *err)
{
        if (ran_hf_is_null(object) ||
            (says(ran_hf_type(object), "Split") &&
             says(ran_hf_text(ran_hf_member(object, "pattern"), "String"), " ")))
                return RAN_OK;
        return ran_fail(err, RAN_EFORMAT,
                        "the pre_tokenizer '%s' is not supported for the model BPE with "
                        "\"byte_fallback\" (null is)",
                        ran_hf_type(object));
}

/* Without byte pairs each one splits the parts of those before it, so order does not matter; but
 * splitting words of letters and digits at punctuation, too, is not supported. */
static int read_pre_tokenizer(struct ran_text_rules *r, const cJSON *object, bool bytes,
                              struct ran_error *err)
{
        struct splits splits = {0};
        RAN_TRY(read_splits(r, &splits, object, bytes, err));
        if (splits.bytes)
                return RAN_OK;
        if (splits.runs ? splits.punctuation : !splits.spaces)
                return refuse_pre_tokenizer(ran_hf_type(object), bytes, err);
        r->split = splits.runs          ? SPLIT_RUNS
                   : splits.punctuation ? RAN_SPLIT_PUNCTUATION
                                        : RAN_SPLIT_SPACES;
        return RAN_OK;
}

int ran_hf_read_rules(struct ran_text_rules *r, const cJSON *document, enum ran_hf_letters letters,
                      struct ran_error *err)
{
        const cJSON *member = ran_hf_member(document, "pre_tokenizer");
        RAN_TRY(read_normalizer(r, ran_hf_member(document, "normalizer"), letters, err));
        return letters == HF_CHARS ? read_no_pre_tokenizer(member, err)
                                   : read_pre_tokenizer(r, member, letters == HF_BYTES, err);
}
