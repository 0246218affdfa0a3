/* field.c - settings: values from text, their ranges and defaults. See ran/base.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ran/base.h"

/* "--min-window" for min_window, as sentences name it; names are short identifiers of our own. */
struct option_name {
        char text[64];
};

static struct option_name option_name(const struct ran_field *field)
{
        struct option_name name;

        snprintf(name.text, sizeof(name.text), "--%s", field->name);
        for (char *s = name.text; *s != '\0'; s++)
                *s = *s == '_' ? '-' : *s;
        return name;
}

/* ---- from text ------------------------------------------------------------------------------- */

/* "must be a whole number from 1 to 64, not 'x'"; a bound without meaning is left out. */
static int number_refused(const struct ran_field *field, const char *text, struct ran_error *err)
{
        bool whole = field->type == RAN_FIELD_SIZE;
        double high = whole ? fmin(field->high, (double)RAN_FIELD_LARGEST) : field->high;
        struct ran_buf range = {0};

        if (isfinite(field->low)) {
                ran_buf_str(&range, isfinite(high) ? " from " : " of at least ");
                ran_buf_double(&range, field->low);
        }
        if (isfinite(high)) {
                ran_buf_str(&range, isfinite(field->low) ? " to " : " of at most ");
                ran_buf_double(&range, high);
        }
        ran_buf_char(&range, '\0');
        ran_fail(err, RAN_EINVAL, "%s must be a %snumber%s, not '%s'", option_name(field).text,
                 whole ? "whole " : "", range.data, text);
        ran_buf_release(&range);
        return RAN_EINVAL;
}

static bool in_range(const struct ran_field *field, double x)
{
        const double most = field->type == RAN_FIELD_SIZE ? (double)RAN_FIELD_LARGEST : INFINITY;

        return x >= field->low && x <= field->high && x <= most;
}

/* "must be one, two or three, not 'x'" */
static int choice_refused(const struct ran_field *field, const char *text, size_t n,
                          struct ran_error *err)
{
        struct ran_buf names = {0};

        for (int i = 0; field->choices[i] != NULL; i++) {
                ran_buf_str(&names, i == 0 ? "" : field->choices[i + 1] != NULL ? ", " : " or ");
                ran_buf_str(&names, field->choices[i]);
        }
        if (field->type == RAN_FIELD_CHOICES)
                ran_buf_str(&names, ", or several with commas between");
        ran_buf_char(&names, '\0');
        ran_fail(err, RAN_EINVAL, "%s must be %s, not '%.*s'", option_name(field).text, names.data,
                 n < 64 ? (int)n : 64, text);
        ran_buf_release(&names);
        return RAN_EINVAL;
}

static bool find_choice(const struct ran_field *field, const char *text, size_t n, int *choice)
{
        for (int i = 0; field->choices[i] != NULL; i++) {
                if (strlen(field->choices[i]) == n && memcmp(field->choices[i], text, n) == 0) {
                        *choice = i;
                        return true;
                }
        }
        return false;
}

int ran_field_add_choice(const struct ran_field *field, struct ran_choices *choices,
                         const char *text, size_t n, struct ran_error *err)
{
        int choice;

        if (!find_choice(field, text, n, &choice))
                return choice_refused(field, text, n, err);
        if (choices->n == RAN_CHOICES_MAX)
                return ran_fail(err, RAN_EINVAL, "%s takes %d names at most",
                                option_name(field).text, RAN_CHOICES_MAX);
        choices->item[choices->n++] = (unsigned char)choice;
        return RAN_OK;
}

/* Names with commas between. */
static int set_choices(const struct ran_field *field, struct ran_choices *value, const char *text,
                       struct ran_error *err)
{
        struct ran_choices choices = {0};

        for (;; text++) {
                size_t n = strcspn(text, ",");
                RAN_TRY(ran_field_add_choice(field, &choices, text, n, err));
                text += n;
                if (*text == '\0')
                        break;
        }
        *value = choices;
        return RAN_OK;
}

int ran_field_set(const struct ran_field *field, void *base, const char *text,
                  struct ran_error *err)
{
        void *value = ran_field_at(field, base);
        const size_t n = strlen(text);
        const bool yes = strcmp(text, "true") == 0, truth = yes || strcmp(text, "false") == 0;
        struct ran_list *list = value;
        size_t size;
        double real;
        char *copy;

        /* All but names of files, which may be any bytes: it is written to JSON, and compared with
         * it. */
        if (!field->local && ran_utf8_valid(text, n) != n)
                return ran_fail(err, RAN_EINVAL, "%s is not valid UTF-8", option_name(field).text);
        switch (field->type) {
        case RAN_FIELD_BOOL:
                if (!truth)
                        return ran_fail(err, RAN_EINVAL, "%s must be true or false, not '%s'",
                                        option_name(field).text, text);
                *(bool *)value = yes;
                return RAN_OK;
        case RAN_FIELD_SIZE:
                if (!ran_parse_size(text, n, &size) || !in_range(field, (double)size))
                        return number_refused(field, text, err);
                *(size_t *)value = size;
                return RAN_OK;
        case RAN_FIELD_REAL:
                if (!ran_parse_double(text, n, &real) || !in_range(field, real))
                        return number_refused(field, text, err);
                *(double *)value = real;
                return RAN_OK;
        case RAN_FIELD_CHOICE:
                if (find_choice(field, text, n, value))
                        return RAN_OK;
                if (!field->switches || !truth)
                        return choice_refused(field, text, n, err);
                *(int *)value = yes;
                return RAN_OK;
        case RAN_FIELD_CHOICES:
                return set_choices(field, value, text, err);
        case RAN_FIELD_TEXT:
                copy = ran_copy(text, n); /* which may be the value */
                free(*(char **)value);
                *(char **)value = copy;
                return RAN_OK;
        case RAN_FIELD_LIST:
                RAN_ROOM(list->item, list->cap, list->n + 2);
                list->item[list->n++] = ran_copy(text, n);
                list->item[list->n] = NULL;
                return RAN_OK;
        }
        return RAN_EINVAL; /* not reached: the switch is complete */
}

/* ---- what was set otherwise ------------------------------------------------------------------ */

static bool is_choice(const struct ran_field *field, int value)
{
        int n = 0;

        while (field->choices[n] != NULL)
                n++;
        return value >= 0 && value < n;
}

static int check_number(const struct ran_field *field, double x, struct ran_error *err)
{
        struct ran_buf text = {0};

        if (in_range(field, x))
                return RAN_OK;
        if (field->type == RAN_FIELD_SIZE)
                ran_buf_printf(&text, "%.0f", x);
        else
                ran_buf_double(&text, x);
        ran_buf_char(&text, '\0');
        number_refused(field, text.data, err);
        ran_buf_release(&text);
        return RAN_EINVAL;
}

int ran_fields_check(const struct ran_field *fields, const void *base, struct ran_error *err)
{
        for (const struct ran_field *f = fields; f->name != NULL; f++) {
                const void *value = (const char *)base + f->offset;
                const struct ran_choices *several = value;
                bool good = true;

                if (f->type == RAN_FIELD_SIZE)
                        RAN_TRY(check_number(f, (double)*(const size_t *)value, err));
                if (f->type == RAN_FIELD_REAL)
                        RAN_TRY(check_number(f, *(const double *)value, err));
                if (f->type == RAN_FIELD_CHOICE)
                        good = is_choice(f, *(const int *)value);
                if (f->type == RAN_FIELD_CHOICES) {
                        good = several->n > 0 && several->n <= RAN_CHOICES_MAX;
                        for (size_t i = 0; good && i < several->n; i++)
                                good = is_choice(f, several->item[i]);
                }
                if (!good)
                        return choice_refused(f, "", 0, err);
        }
        return RAN_OK;
}

/* ---- life cycle ------------------------------------------------------------------------------ */

static void clear(const struct ran_field *field, void *base)
{
        static const size_t size[] = {
                [RAN_FIELD_BOOL] = sizeof(bool),
                [RAN_FIELD_SIZE] = sizeof(size_t),
                [RAN_FIELD_REAL] = sizeof(double),
                [RAN_FIELD_CHOICE] = sizeof(int),
                [RAN_FIELD_CHOICES] = sizeof(struct ran_choices),
                [RAN_FIELD_TEXT] = sizeof(char *),
                [RAN_FIELD_LIST] = sizeof(struct ran_list),
        };

        memset(ran_field_at(field, base), 0, size[field->type]);
}

/* Whether the field that an exception depends on has its value. */
static bool holds(const struct ran_exception *unless, const struct ran_field *fields, void *base)
{
        if (unless->field == NULL)
                return false;
        const struct ran_field *f = fields;
        while (strcmp(f->name, unless->field) != 0)
                f++;
        return strcmp(f->choices[*(const int *)ran_field_at(f, base)], unless->value) == 0;
}

int ran_field_init(const struct ran_field *fields, const struct ran_field *field, void *base,
                   struct ran_error *err)
{
        const struct ran_exception *unless = &field->unless;
        const char *initial = holds(unless, fields, base) ? unless->initial : field->initial;

        clear(field, base);
        return initial != NULL ? ran_field_set(field, base, initial, err) : RAN_OK;
}

int ran_fields_init(const struct ran_field *fields, void *base, struct ran_error *err)
{
        for (const struct ran_field *f = fields; f->name != NULL; f++)
                clear(f, base);
        for (const struct ran_field *f = fields; f->name != NULL; f++) {
                int code = ran_field_init(fields, f, base, err);

                if (code != RAN_OK) {
                        ran_fields_release(fields, base);
                        return code;
                }
        }
        return RAN_OK;
}

void ran_fields_release(const struct ran_field *fields, void *base)
{
        for (const struct ran_field *f = fields; f->name != NULL; f++) {
                if (f->type == RAN_FIELD_TEXT) {
                        free(*(char **)ran_field_at(f, base));
                        clear(f, base);
                } else if (f->type == RAN_FIELD_LIST) {
                        struct ran_list *list = ran_field_at(f, base);

                        for (size_t i = 0; i < list->n; i++)
                                free(list->item[i]);
                        free(list->item);
                        clear(f, base);
                }
        }
}
