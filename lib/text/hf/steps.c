/* steps.c - reads any normalizer and pre_tokenizer of a tokenizer.json that the library of
 * Hugging Face has, as steps. */
#include <string.h>

#include "text/hf/hf.h"

enum {
        MOST_NESTED = 20, /* Sequences within each other */
        MOST_STEPS = 100, /* more make no sense */
};

const struct ran_hf_plain_step ran_hf_plain_steps[] = {
        {"NFC", NORMAL_NFC},
        {"NFD", NORMAL_NFD},
        {"NFKC", NORMAL_NFKC},
        {"NFKD", NORMAL_NFKD},
        {"StripAccents", NORMAL_STRIP_MARKS},
        {"Lowercase", NORMAL_LOWERCASE},
        {"Nmt", NORMAL_NMT},
        {NULL, 0},
};

#define GPT4_PATTERN(digits)                                                 \
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits \
        "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
/* Regular expressions that are found without a search: that of ByteLevel itself, and GPT-4's. */
static const struct {
        const char *regex;
        enum ran_step_kind kind;
        size_t digits;
} known_patterns[] = {
        {GPT4_PATTERN("\\p{N}{1,3}"), STEP_GPT4, 3},
        {GPT4_PATTERN("\\p{N}"), STEP_GPT4, 1},
        {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
         STEP_GPT2, 0},
};

const char *ran_hf_type(const cJSON *object)
{
        const char *type = ran_cjson_text(object, "type");

        if (type != NULL)
                return type;
        return object == NULL || cJSON_IsNull(object) ? "null" : "(without a type)";
}

/* A text member; RAN_EFORMAT without it. */
static int need_text(const cJSON *object, const char *name, const char **text,
                     struct ran_error *err)
{
        *text = ran_cjson_text(object, name);
        return *text != NULL ? RAN_OK
                             : ran_fail(err, RAN_EFORMAT, "'%s' has no text '%s'",
                                        ran_hf_type(object), name);
}

/* The member "pattern": {"String": ...} or {"Regex": ...}. */
static int set_pattern(struct ran_step *step, const cJSON *object, struct ran_error *err)
{
        const cJSON *pattern = ran_cjson_member(object, "pattern");
        const char *string = ran_cjson_text(pattern, "String"),
                   *regex = ran_cjson_text(pattern, "Regex");
        struct ran_error why;

        if (string == NULL && regex == NULL)
                string = cJSON_GetStringValue(pattern);
        if (string == NULL && regex == NULL)
                return ran_fail(err, RAN_EFORMAT, "'%s' has no String or Regex as its 'pattern'",
                                ran_hf_type(object));
        const char *text = string != NULL ? string : regex;
        step->pattern = ran_pattern_new(text, strlen(text), string != NULL, &why);
        if (step->pattern == NULL)
                return ran_fail(err, why.code, "the pattern \"%.200s\" of '%s': %s", text,
                                ran_hf_type(object), why.text);
        return RAN_OK;
}

/* ---- normalizers ---------------------------------------------------------------------------- */

static void add_plain(struct ran_steps *s, enum ran_normalizer_step plain, bool wanted)
{
        if (wanted)
                ran_steps_add(s, (struct ran_step){.kind = STEP_PLAIN, .plain = plain});
}

static int read_bert(struct ran_steps *s, const cJSON *object, struct ran_error *err)
{
        bool clean, cjk, lower, strip;

        RAN_TRY(ran_cjson_bool(object, "clean_text", true, &clean, err));
        RAN_TRY(ran_cjson_bool(object, "handle_chinese_chars", true, &cjk, err));
        RAN_TRY(ran_cjson_bool(object, "lowercase", true, &lower, err));
        RAN_TRY(ran_cjson_bool(object, "strip_accents", lower, &strip, err));
        add_plain(s, NORMAL_CLEAN, clean);
        add_plain(s, NORMAL_CJK, cjk);
        add_plain(s, NORMAL_NFD, strip);
        add_plain(s, NORMAL_STRIP_NONSPACING, strip);
        add_plain(s, NORMAL_LOWERCASE, lower);
        return RAN_OK;
}

static int read_strip(struct ran_steps *s, const cJSON *object, struct ran_error *err)
{
        bool left, right;

        RAN_TRY(ran_cjson_bool(object, "strip_left", true, &left, err));
        RAN_TRY(ran_cjson_bool(object, "strip_right", true, &right, err));
        add_plain(s, NORMAL_STRIP_LEFT, left);
        add_plain(s, NORMAL_STRIP_RIGHT, right);
        return RAN_OK;
}

static int read_charsmap(struct ran_steps *s, const cJSON *object, struct ran_error *err)
{
        struct ran_step *step = ran_steps_add(s, (struct ran_step){.kind = STEP_CHARSMAP});
        const char *text;

        RAN_TRY(need_text(object, "precompiled_charsmap", &text, err));
        step->map = ran_charsmap_new(text, strlen(text), err);
        return step->map != NULL ? RAN_OK : RAN_EFORMAT;
}

/* ---- pre-tokenizers ------------------------------------------------------------------------- */

static int read_behavior(const cJSON *object, enum ran_behavior *behavior, struct ran_error *err)
{
        static const char *const names[] = {
                [SPLIT_REMOVED] = "Removed",
                [SPLIT_ISOLATED] = "Isolated",
                [SPLIT_WITH_PREVIOUS] = "MergedWithPrevious",
                [SPLIT_WITH_NEXT] = "MergedWithNext",
                [SPLIT_CONTIGUOUS] = "Contiguous",
        };
        const char *name = ran_cjson_text(object, "behavior");

        *behavior = SPLIT_ISOLATED;
        if (!ran_cjson_said(object, "behavior"))
                return RAN_OK;
        for (size_t i = 0; name != NULL && i < sizeof names / sizeof names[0]; i++) {
                if (strcmp(name, names[i]) == 0) {
                        *behavior = (enum ran_behavior)i;
                        return RAN_OK;
                }
        }
        return ran_fail(err, RAN_EFORMAT, "the behavior '%s' of '%s' is not supported",
                        name != NULL ? name : "(no text)", ran_hf_type(object));
}

/* A member of one character. */
static int read_char(const cJSON *object, const char *name, int32_t *c, struct ran_error *err)
{
        const char *text = ran_cjson_text(object, name);
        size_t length = 0;

        if (text != NULL && *text != '\0')
                *c = ran_unicode_get(text, strlen(text), &length);
        if (length == 0 || text[length] != '\0' || *c < 0)
                return ran_fail(err, RAN_EFORMAT, "'%s' of '%s' must be one character", name,
                                ran_hf_type(object));
        return RAN_OK;
}

static int read_split(struct ran_steps *s, const cJSON *object, struct ran_error *err)
{
        const char *regex = ran_cjson_text(ran_cjson_member(object, "pattern"), "Regex");
        struct ran_step *step = ran_steps_add(s, (struct ran_step){.kind = STEP_PATTERN});

        RAN_TRY(read_behavior(object, &step->behavior, err));
        RAN_TRY(ran_cjson_bool(object, "invert", false, &step->invert, err));
        for (size_t i = 0; i < sizeof known_patterns / sizeof *known_patterns; i++) {
                if (regex != NULL && strcmp(known_patterns[i].regex, regex) == 0) {
                        step->kind = known_patterns[i].kind;
                        step->digits = known_patterns[i].digits;
                        return RAN_OK;
                }
        }
        return set_pattern(step, object, err);
}

static int read_meta(struct ran_steps *s, const cJSON *object, struct ran_error *err)
{
        static const char *const schemes[] = {
                [LEAD_ALWAYS] = "always", [LEAD_FIRST] = "first", [LEAD_NEVER] = "never"};
        struct ran_step step = {.kind = STEP_META};
        const char *scheme = ran_cjson_text(object, "prepend_scheme");
        bool prefix, splits;
        size_t lead = 0;

        RAN_TRY(read_char(object, "replacement", &step.c, err));
        RAN_TRY(ran_cjson_bool(object, "add_prefix_space", true, &prefix, err));
        RAN_TRY(ran_cjson_bool(object, "split", true, &splits, err));
        while (scheme != NULL && lead <= LEAD_NEVER && strcmp(scheme, schemes[lead]) != 0)
                lead++;
        if (lead > LEAD_NEVER)
                return ran_fail(err, RAN_EFORMAT,
                                "the prepend_scheme '%s' of Metaspace is not supported", scheme);
        step.lead = prefix ? (enum ran_lead)lead : LEAD_NEVER;
        ran_steps_add(s, step);
        if (splits)
                ran_steps_add(s, (struct ran_step){.kind = STEP_CHAR,
                                                   .c = step.c,
                                                   .behavior = SPLIT_WITH_NEXT});
        return RAN_OK;
}

static int read_byte_level(struct ran_steps *s, const cJSON *object, struct ran_error *err)
{
        bool prefix, regex;

        s->bytes = true;
        RAN_TRY(ran_cjson_bool(object, "add_prefix_space", true, &prefix, err));
        RAN_TRY(ran_cjson_bool(object, "use_regex", true, &regex, err));
        if (prefix)
                ran_steps_add(s,
                              (struct ran_step){.kind = STEP_LEAD, .c = ' ', .lead = LEAD_ALWAYS});
        if (regex)
                ran_steps_add(s, (struct ran_step){.kind = STEP_GPT2, .behavior = SPLIT_ISOLATED});
        return RAN_OK;
}

static int read_digits(struct ran_steps *s, const cJSON *object, struct ran_error *err)
{
        bool single;

        RAN_TRY(ran_cjson_bool(object, "individual_digits", false, &single, err));
        ran_steps_add(s, (struct ran_step){.kind = STEP_NUMBERS,
                                           .behavior = single ? SPLIT_ISOLATED : SPLIT_CONTIGUOUS});
        return RAN_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* A type: its own reader, or a step, with members that it has. */
struct part {
        const char *type;
        int (*read)(struct ran_steps *s, const cJSON *object, struct ran_error *err);
        struct ran_step step, then;   /* `then` may be none, of kind STEP_PLAIN */
        const char *text, *character; /* their names; NULL: none */
        bool pattern, behavior;
};
static const struct part normalizers[] = {
        {.type = "BertNormalizer", .read = read_bert},
        {.type = "Strip", .read = read_strip},
        {.type = "Replace", .step = {.kind = STEP_REPLACE}, .pattern = true, .text = "content"},
        {.type = "Prepend", .step = {.kind = STEP_PREPEND}, .text = "prepend"},
        {.type = "Precompiled", .read = read_charsmap},
        {.type = NULL},
};
static const struct part pre_tokenizers[] = {
        {.type = "BertPreTokenizer",
         .step = {.kind = STEP_SPACES},
         .then = {.kind = STEP_PUNCTUATION, .behavior = SPLIT_ISOLATED}},
        {.type = "WhitespaceSplit", .step = {.kind = STEP_SPACES}},
        {.type = "Whitespace", .step = {.kind = STEP_RUNS}},
        {.type = "Punctuation", .step = {.kind = STEP_PUNCTUATION}, .behavior = true},
        {.type = "Digits", .read = read_digits},
        {.type = "Split", .read = read_split},
        {.type = "CharDelimiterSplit", .step = {.kind = STEP_CHAR}, .character = "delimiter"},
        {.type = "Metaspace", .read = read_meta},
        {.type = "ByteLevel", .read = read_byte_level},
        {.type = NULL},
};

static int read_part(struct ran_steps *s, const struct part *part, const cJSON *object,
                     struct ran_error *err)
{
        const char *text;

        if (part->read != NULL)
                return part->read(s, object, err);
        struct ran_step *step = ran_steps_add(s, part->step);
        if (part->pattern)
                RAN_TRY(set_pattern(step, object, err));
        if (part->text != NULL) {
                RAN_TRY(need_text(object, part->text, &text, err));
                step->n = strlen(text);
                step->text = ran_copy(text, step->n);
        }
        if (part->character != NULL)
                RAN_TRY(read_char(object, part->character, &step->c, err));
        if (part->behavior)
                RAN_TRY(read_behavior(object, &step->behavior, err));
        if (part->then.kind != STEP_PLAIN)
                ran_steps_add(s, part->then);
        return RAN_OK;
}

/* The two kinds of parts of a document, and the list that a Sequence of them has. */
static const struct kind {
        const char *name, *list;
        const struct part *parts;
} normalizer = {"normalizer", "normalizers", normalizers},
  pre_tokenizer = {"pre_tokenizer", "pretokenizers", pre_tokenizers};

static int read_parts(struct ran_steps *s, const struct kind *kind, const cJSON *object, int nested,
                      struct ran_error *err)
{
        const char *type = ran_hf_type(object);
        const cJSON *list = ran_cjson_member(object, kind->list), *item;
        const struct part *part = kind->parts;

        if (ran_cjson_is_null(object))
                return RAN_OK;
        if (strcmp(type, "Sequence") == 0) {
                if (!cJSON_IsArray(list))
                        return ran_fail(err, RAN_EFORMAT, "the %s Sequence has no list '%s'",
                                        kind->name, kind->list);
                if (nested >= MOST_NESTED)
                        return ran_fail(err, RAN_EFORMAT, "the %s Sequence is nested too deeply",
                                        kind->name);
                s->nested |= nested > 0;
                cJSON_ArrayForEach(item, list)
                {
                        RAN_TRY(read_parts(s, kind, item, nested + 1, err));
                }
                return RAN_OK;
        }
        if (s->bytes)
                return ran_fail(err, RAN_EFORMAT,
                                "the pre_tokenizer '%s' is not supported behind ByteLevel", type);
        if (s->n >= MOST_STEPS)
                return ran_fail(err, RAN_EFORMAT, "more than %d normalizers and pre-tokenizers",
                                MOST_STEPS);
        for (const struct ran_hf_plain_step *plain = ran_hf_plain_steps;
             plain->type != NULL && kind == &normalizer; plain++)
                if (strcmp(type, plain->type) == 0) {
                        add_plain(s, plain->step, true);
                        return RAN_OK;
                }
        while (part->type != NULL && strcmp(type, part->type) != 0)
                part++;
        if (part->type == NULL)
                return ran_fail(err, RAN_EFORMAT, "the %s '%s' is not supported", kind->name, type);
        return read_part(s, part, object, err);
}

int ran_hf_read_steps(struct ran_tokenizer *t, const cJSON *document, struct ran_error *err)
{
        t->steps = ran_new(1, sizeof *t->steps);
        RAN_TRY(read_parts(t->steps, &normalizer, ran_cjson_member(document, "normalizer"), 0,
                           err));
        t->steps->normal_n = t->steps->n;
        RAN_TRY(read_parts(t->steps, &pre_tokenizer, ran_cjson_member(document, "pre_tokenizer"), 0,
                           err));
        if (t->steps->bytes && t->type != TOKENIZER_BPE)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "the pre_tokenizer 'ByteLevel' is supported for the model BPE only");
        return RAN_OK;
}
