/* field-json.c - settings from JSON and to JSON. See ran/base.h. */
#include <math.h>
#include <string.h>

#include "base/cjson.h"

/* ---- from JSON ------------------------------------------------------------------------------- */

static int wrong_type(const struct ran_field *field, const char *right, struct ran_error *err)
{
        return ran_fail(err, RAN_EINVAL, "\"%s\" must be %s", field->name, right);
}

/* cJSON keeps numbers as doubles; written out again as the shortest text they are set like text. */
static int set_number(const struct ran_field *field, void *base, double x, struct ran_error *err)
{
        struct ran_buf text = {0};

        if (field->type == RAN_FIELD_SIZE && x >= 0 && x <= (double)RAN_FIELD_LARGEST &&
            x == floor(x))
                ran_buf_printf(&text, "%.0f", x);
        else
                ran_buf_double(&text, x);
        ran_buf_char(&text, '\0');
        int code = ran_field_set(field, base, text.data, err);
        ran_buf_release(&text);
        return code;
}

/* ["one", "two"], or "one" of several choices. */
static int set_strings(const struct ran_field *field, void *base, const cJSON *value,
                       struct ran_error *err)
{
        const bool list = field->type == RAN_FIELD_LIST;
        const char *right = list ? "an array of strings" : "a string or an array of strings";
        struct ran_choices choices = {0};
        const cJSON *item;

        if (cJSON_IsString(value) && !list)
                return ran_field_set(field, base, value->valuestring, err);
        if (!cJSON_IsArray(value) || (value->child == NULL && !list))
                return wrong_type(field, right, err);
        cJSON_ArrayForEach(item, value)
        {
                if (!cJSON_IsString(item))
                        return wrong_type(field, right, err);
                if (list)
                        RAN_TRY(ran_field_set(field, base, item->valuestring, err));
                else
                        RAN_TRY(ran_field_add_choice(field, &choices, item->valuestring,
                                                     strlen(item->valuestring), err));
        }
        if (!list)
                *(struct ran_choices *)ran_field_at(field, base) = choices;
        return RAN_OK;
}

static int set_json(const struct ran_field *field, void *base, const cJSON *value,
                    struct ran_error *err)
{
        switch (field->type) {
        case RAN_FIELD_BOOL:
                if (!cJSON_IsBool(value))
                        return wrong_type(field, "true or false", err);
                return ran_field_set(field, base, cJSON_IsTrue(value) ? "true" : "false", err);
        case RAN_FIELD_SIZE:
        case RAN_FIELD_REAL:
                if (!cJSON_IsNumber(value))
                        return wrong_type(field, "a number", err);
                return set_number(field, base, value->valuedouble, err);
        case RAN_FIELD_CHOICE:
        case RAN_FIELD_TEXT:
                if (field->switches && cJSON_IsBool(value))
                        return ran_field_set(field, base, cJSON_IsTrue(value) ? "true" : "false",
                                             err);
                if (!cJSON_IsString(value))
                        return wrong_type(field,
                                          field->switches ? "true, false or a string" : "a string",
                                          err);
                return ran_field_set(field, base, value->valuestring, err);
        case RAN_FIELD_CHOICES:
        case RAN_FIELD_LIST:
                return set_strings(field, base, value, err);
        }
        return RAN_EINVAL; /* not reached: the switch is complete */
}

static int set_members(const struct ran_field *fields, void *base, const cJSON *object,
                       bool ignore_unknown, struct ran_error *err)
{
        const cJSON *member;

        cJSON_ArrayForEach(member, object)
        {
                const char *name = member->string;
                const struct ran_field *f = fields;

                while (f->name != NULL && (f->local || strcmp(f->name, name) != 0))
                        f++;
                if (f->name == NULL && ignore_unknown)
                        continue;
                if (f->name == NULL)
                        return ran_fail(err, RAN_EINVAL, "unknown setting \"%s\"", name);
                if (cJSON_GetObjectItemCaseSensitive(object, name) != member)
                        return ran_fail(err, RAN_EINVAL, "\"%s\" is given twice", name);
                RAN_TRY(set_json(f, base, member, err));
        }
        return RAN_OK;
}

/* Line of `where` in the text, from 1: what a reader needs to find a mistake. */
static size_t line_of(const char *json, const char *where)
{
        size_t line = 1;

        for (const char *s = json; s < where; s++)
                line += *s == '\n';
        return line;
}

int ran_fields_parse(const struct ran_field *fields, void *base, const char *json, size_t n,
                     bool ignore_unknown, struct ran_error *err)
{
        const char *end = json, *nul = ran_cjson_nul(json, n);
        int code;

        if (nul != NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "line %zu contains U+0000, which no setting can contain",
                                line_of(json, nul));
        cJSON *object = ran_cjson_parse(json, n, &end);

        if (object == NULL)
                return ran_fail(err, RAN_EFORMAT, "line %zu is not JSON", line_of(json, end));
        while (end < json + n && strchr(" \t\r\n", *end) != NULL && *end != '\0')
                end++;
        if (end < json + n)
                code = ran_fail(err, RAN_EFORMAT, "line %zu: unexpected text after the JSON object",
                                line_of(json, end));
        else if (!cJSON_IsObject(object))
                code = ran_fail(err, RAN_EFORMAT, "expected a JSON object: {\"name\": value, ...}");
        else
                code = set_members(fields, base, object, ignore_unknown, err);
        cJSON_Delete(object);
        return code;
}

/* ---- to JSON --------------------------------------------------------------------------------- */

static void add_string(struct ran_buf *out, const char *s)
{
        ran_buf_json(out, s, strlen(s));
}

/* An array of strings; one choice alone stands without brackets. */
static void add_strings(struct ran_buf *out, const struct ran_field *field, const void *value)
{
        const bool is_list = field->type == RAN_FIELD_LIST;
        const struct ran_list *list = value;
        const struct ran_choices *choices = value;
        const size_t n = is_list ? list->n : choices->n;
        const bool brackets = is_list || n != 1;

        ran_buf_str(out, brackets ? "[" : "");
        for (size_t i = 0; i < n; i++) {
                ran_buf_str(out, i > 0 ? "," : "");
                add_string(out, is_list ? list->item[i] : field->choices[choices->item[i]]);
        }
        ran_buf_str(out, brackets ? "]" : "");
}

static void add_value(struct ran_buf *out, const struct ran_field *field, const void *value)
{
        switch (field->type) {
        case RAN_FIELD_BOOL:
                ran_buf_str(out, *(const bool *)value ? "true" : "false");
                break;
        case RAN_FIELD_SIZE:
                ran_buf_printf(out, "%zu", *(const size_t *)value);
                break;
        case RAN_FIELD_REAL:
                ran_buf_double(out, *(const double *)value);
                break;
        case RAN_FIELD_CHOICE:
                /* Where a choice is a switch, its first two names are those of programs before it
                 * had others. */
                if (field->switches && *(const int *)value < 2)
                        ran_buf_str(out, *(const int *)value > 0 ? "true" : "false");
                else
                        add_string(out, field->choices[*(const int *)value]);
                break;
        case RAN_FIELD_TEXT:
                add_string(out, *(char *const *)value);
                break;
        case RAN_FIELD_CHOICES:
        case RAN_FIELD_LIST:
                add_strings(out, field, value);
                break;
        }
}

static bool is_set(const struct ran_field *field, const void *base)
{
        return field->type != RAN_FIELD_TEXT ||
               *(char *const *)((const char *)base + field->offset) != NULL;
}

/* Appends a field that is set, with what goes before it; what_if: unless it is the same there. */
static bool add_field(struct ran_buf *out, const char *before, const struct ran_field *field,
                      const void *base, const void *what_if)
{
        struct ran_buf value = {0}, other = {0};

        if (field->local || !is_set(field, base))
                return false;
        add_value(&value, field, (const char *)base + field->offset);
        if (what_if != NULL && is_set(field, what_if))
                add_value(&other, field, (const char *)what_if + field->offset);
        if (value.data == NULL)
                return false; /* a value is never empty */
        /* A later setting that has its default may be left out. A choice stands in quotes. */
        const size_t quote = field->type == RAN_FIELD_CHOICE, n = value.len - 2 * quote;
        const bool same = what_if != NULL
                                  ? value.len == other.len && other.data != NULL &&
                                            memcmp(value.data, other.data, value.len) == 0
                                  : field->later && n == strlen(field->initial) &&
                                            memcmp(value.data + quote, field->initial, n) == 0;
        if (!same) {
                ran_buf_printf(out, "%s\"%s\":", before, field->name);
                ran_buf_add(out, value.data, value.len);
        }
        ran_buf_release(&value);
        ran_buf_release(&other);
        return !same;
}

void ran_fields_changes(const struct ran_field *fields, const void *base, const void *other,
                        struct ran_buf *out)
{
        const char *before = "";

        for (const struct ran_field *f = fields; f->name != NULL; f++)
                if (add_field(out, before, f, base, other))
                        before = ",";
}

void ran_fields_json(const struct ran_field *fields, const void *base, struct ran_buf *out)
{
        ran_fields_changes(fields, base, NULL, out);
}
