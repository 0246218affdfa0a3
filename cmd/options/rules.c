/* rules.c - which options of a program go together, as its table says. */
#include "cmd/options/rules.h"

#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/table.h"
#include "cmd/options/was-set.h"

/* NULL, or empty after the last. */
static bool is_rule(const struct ran_rule *r)
{
        return r != NULL && (r->needs != NULL || r->excludes != NULL);
}

/* ---- lists of names ------------------------------------------------------------------------- */

/* An item of a list: "name", "name=word,word", "name=0", "name>0" or "[Title]". */
struct item {
        const char *name, *words;
        size_t name_size, words_size; /* words_size 0: none */
        bool group;
};

/* Reads the next item, and moves the text behind it; false: there is none. */
static bool next_item(const char **text, struct item *item)
{
        const char *s = *text + strspn(*text, " ");
        const bool group = *s == '[';

        *item = (struct item){.group = group, .name = s + group};
        if (*s == '\0')
                return false;
        item->name_size = strcspn(item->name, group ? "]" : " =>");
        s = item->name + item->name_size + group;
        if (*s == '=' || *s == '>') {
                item->words = s + (*s == '=');
                item->words_size = strcspn(item->words, " ");
                s = item->words + item->words_size;
        }
        *text = s;
        return true;
}

static bool is_among(const char *word, const char *words, size_t n)
{
        for (const char *end = words + n; words < end;) {
                const size_t m = strcspn(words, ", ");
                if (strlen(word) == m && memcmp(word, words, m) == 0)
                        return true;
                words += m + 1;
        }
        return false;
}

/* ---- values --------------------------------------------------------------------------------- */

static bool is_on(const struct cmd_option *o)
{
        const void *value = (const char *)o->base + o->field->offset;

        switch (o->field->type) {
        case RAN_FIELD_BOOL:
                return *(const bool *)value;
        case RAN_FIELD_SIZE:
                return *(const size_t *)value > 0;
        case RAN_FIELD_REAL:
                return *(const double *)value > 0;
        case RAN_FIELD_TEXT:
                return *(char *const *)value != NULL;
        case RAN_FIELD_LIST:
                return ((const struct ran_list *)value)->n > 0;
        default:
                return cmd_was_asked(o->field->name);
        }
}

/* Whether the value of an option is one of the words; of a number, "0" or ">0". */
static bool has_word(const struct cmd_option *o, const char *words, size_t n)
{
        const void *value = (const char *)o->base + o->field->offset;
        const struct ran_choices *several = value;

        if (o->field->type == RAN_FIELD_CHOICE)
                return is_among(o->field->choices[*(const int *)value], words, n);
        if (o->field->type != RAN_FIELD_CHOICES)
                return is_on(o) == (words[0] == '>');
        for (size_t i = 0; i < several->n; i++)
                if (is_among(o->field->choices[several->item[i]], words, n))
                        return true;
        return false;
}

static bool is_off_by_default(const struct ran_field *f)
{
        return f->type <= RAN_FIELD_REAL && (f->initial == NULL || strcmp(f->initial, "0") == 0 ||
                                             strcmp(f->initial, "false") == 0);
}

/* Whether the user asks for something with it. */
static bool is_in_use(const struct cmd_option *o)
{
        return cmd_was_asked(o->field->name) && (is_on(o) || !is_off_by_default(o->field));
}

static bool matches(const struct cmd_option *o, const struct item *item)
{
        return item->words_size == 0 || has_word(o, item->words, item->words_size);
}

/* ---- mistakes in the table ------------------------------------------------------------------ */

static bool is_title(const struct cmd_program *program, const struct item *item, size_t group)
{
        const char *title = cmd_group_at(program, group)->title;

        return strlen(title) == item->name_size && memcmp(title, item->name, item->name_size) == 0;
}

static bool has_title(const struct cmd_program *program, const char *title, size_t n)
{
        const struct item item = {.name = title, .name_size = n};

        for (size_t i = 0; cmd_group_at(program, i) != NULL; i++)
                if (is_title(program, &item, i))
                        return true;
        return false;
}

/* Whether a rule of the program is for the option's title. */
static bool is_of_title(const struct cmd_program *program, const struct cmd_option *o,
                        const struct ran_rule *r)
{
        return strcmp(cmd_group_at(program, o->group)->title, r->words) == 0;
}

/* Whether the field has each of the words. */
static bool knows(const struct ran_field *f, const char *words, size_t n)
{
        for (const char *end = words + n; f->choices != NULL && words < end;) {
                const size_t m = strcspn(words, ", ");
                const char *const *choice = f->choices;
                while (*choice != NULL && (strlen(*choice) != m || memcmp(*choice, words, m) != 0))
                        choice++;
                if (*choice == NULL)
                        return false;
                words += m + 1;
        }
        return true;
}

static void verify_names(const struct cmd_program *program, const char *names)
{
        struct cmd_option o;
        struct item item;

        while (names != NULL && next_item(&names, &item)) {
                if (!(item.group ? has_title(program, item.name, item.name_size)
                                 : cmd_option_find(program, item.name, item.name_size, &o)))
                        cmd_bug("bug: no option is called \"%.*s\"", (int)item.name_size,
                                item.name);
                if (!item.group && !knows(o.field, item.words, item.words_size))
                        cmd_bug("bug: --%s has no word \"%.*s\"", cmd_option_name(o.field).text,
                                (int)item.words_size, item.words);
        }
}

static void verify(const struct cmd_program *program, const struct ran_field *f)
{
        for (const struct ran_rule *r = f->rules; is_rule(r); r++) {
                if (r->words != NULL && !knows(f, r->words, strlen(r->words)))
                        cmd_bug("bug: --%s has no word \"%s\"", cmd_option_name(f).text, r->words);
                verify_names(program, r->needs);
                verify_names(program, r->excludes);
        }
}

static void verify_title(const struct cmd_program *program, const struct ran_rule *r)
{
        if (!has_title(program, r->words, strlen(r->words)))
                cmd_bug("bug: no options have the title \"%s\"", r->words);
        verify_names(program, r->needs);
        verify_names(program, r->excludes);
}

/* ---- what is needed ------------------------------------------------------------------------- */

/* "--beam N", "--output-format csv or tsv". */
static void add_item(struct ran_buf *out, const struct cmd_option *o, const struct item *item)
{
        ran_buf_printf(out, "--%s", cmd_option_name(o->field).text);
        if (o->field->type != RAN_FIELD_BOOL && item->words_size == 0)
                ran_buf_printf(out, " %s", cmd_option_value(o->field));
        for (size_t i = 0; i < item->words_size; i += strcspn(item->words + i, ", ") + 1)
                ran_buf_printf(out, "%s%.*s", i == 0 ? " " : " or ",
                               (int)strcspn(item->words + i, ", "), item->words + i);
}

/* Whether an item is a fixed field: of these words, or of others. */
enum fixed { OPTION, FIXED_SO, FIXED_OTHERWISE };

static enum fixed fixed(const struct cmd_option *o, const struct item *item)
{
        return !o->field->fixed ? OPTION : matches(o, item) ? FIXED_SO : FIXED_OTHERWISE;
}

/* Whether all that a rule needs are fixed fields with other words. */
static bool is_hopeless(const struct cmd_program *program, const struct ran_rule *r)
{
        const char *names = r->needs;
        struct cmd_option o;
        struct item item;

        if (names == NULL || r->words != NULL)
                return false;
        while (next_item(&names, &item))
                if (cmd_option_find(program, item.name, item.name_size, &o) &&
                    fixed(&o, &item) != FIXED_OTHERWISE)
                        return false;
        return true;
}

static bool is_of_another_verb(const struct cmd_program *program, const struct cmd_option *o)
{
        for (const struct ran_rule *r = o->field->rules; is_rule(r); r++)
                if (is_hopeless(program, r))
                        return true;
        for (const struct ran_rule *r = program->rules; is_rule(r); r++)
                if (is_of_title(program, o, r) &&
                    is_hopeless(program, &(struct ran_rule){.needs = r->needs}))
                        return true;
        return false;
}

/* Appends those options of a rule that there are, or none if it is met whatever the user says;
 * false: there are none, and it is not met. */
static bool add_possible(const struct cmd_program *program, const struct ran_rule *r,
                         struct ran_buf *out)
{
        const char *names = r->needs;
        const size_t before = out->len;
        struct cmd_option o;
        struct item item;

        while (next_item(&names, &item)) {
                if (!cmd_option_find(program, item.name, item.name_size, &o))
                        continue;
                if (fixed(&o, &item) == FIXED_SO) {
                        out->len = before;
                        return true;
                }
                if (o.field->fixed || is_of_another_verb(program, &o))
                        continue;
                ran_buf_str(out, out->len > before ? " or " : "");
                add_item(out, &o, &item);
        }
        return out->len > before || out->failed;
}

bool cmd_rules_add_needs(const struct cmd_program *program, const struct cmd_option *o,
                         struct ran_buf *out)
{
        if (o->field->fixed || is_of_another_verb(program, o))
                return false;
        for (const struct ran_rule *r = o->field->rules; is_rule(r); r++)
                if (r->needs != NULL && r->words == NULL && !add_possible(program, r, out))
                        return false;
        return true;
}

bool cmd_rules_apply(const struct cmd_program *program, const struct cmd_option *o)
{
        struct ran_buf needs = {0};
        const bool applies = cmd_rules_add_needs(program, o, &needs);

        ran_buf_release(&needs);
        return applies;
}

static _Noreturn void refuse_alone(const struct cmd_program *program, const struct ran_field *f,
                                   const struct ran_rule *rule)
{
        struct ran_buf names = {0};

        if (rule->why != NULL)
                cmd_usage("--%s %s", cmd_option_name(f).text, rule->why);
        add_possible(program, rule, &names);
        ran_buf_char(&names, '\0');
        cmd_usage("--%s is for %s", cmd_option_name(f).text,
                  names.failed ? "another option" : names.data);
}

static void check_needs(const struct cmd_program *program, const struct ran_field *f,
                        const struct ran_rule *rule)
{
        const char *names = rule->needs;
        struct cmd_option o;
        struct item item;

        while (next_item(&names, &item))
                if (cmd_option_find(program, item.name, item.name_size, &o) &&
                    (item.words_size > 0 ? matches(&o, &item) : is_on(&o)))
                        return;
        refuse_alone(program, f, rule);
}

/* ---- what is excluded ----------------------------------------------------------------------- */

static bool is_named(const struct cmd_program *program, const struct cmd_option *o,
                     const struct item *item)
{
        return item->group ? is_title(program, item, o->group)
                           : strlen(o->field->name) == item->name_size &&
                                     memcmp(o->field->name, item->name, item->name_size) == 0;
}

static void add_option(struct ran_buf *out, const char *before, const struct ran_field *f)
{
        if (f != NULL)
                ran_buf_printf(out, "%s--%s", out->len > 0 ? before : "", cmd_option_name(f).text);
}

/* Appends the options in use among the names, "--a, --b and --c", but not `own`, which excludes
 * them. */
static void add_excluded(const struct cmd_program *program, const struct ran_field *own,
                         const char *names, struct ran_buf *out)
{
        const struct ran_field *last = NULL;
        struct item item;

        while (next_item(&names, &item))
                for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                        if (o.field == own || !is_named(program, &o, &item) || !is_in_use(&o) ||
                            !matches(&o, &item))
                                continue;
                        add_option(out, ", ", last);
                        last = o.field;
                }
        add_option(out, " and ", last);
}

/* own: see above, or NULL. why NULL: they exclude each other. */
static void exclude(const struct cmd_program *program, const struct ran_field *own,
                    const char *names, const char *why)
{
        struct ran_buf found = {0};

        add_excluded(program, own, names, &found);
        if (found.len == 0 && !found.failed)
                return;
        ran_buf_char(&found, '\0');
        if (found.failed)
                cmd_die(CMD_FAILED, "out of memory");
        if (why == NULL)
                cmd_usage("--%s and %s exclude each other", cmd_option_name(own).text, found.data);
        cmd_usage("%s: leave out %s", why, found.data);
}

void cmd_excludes(const struct cmd_program *program, bool given, const char *why, const char *names)
{
        verify_names(program, names);
        if (given)
                exclude(program, NULL, names, why);
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Whether the rule of an option is in force. */
static bool is_met(const struct cmd_option *o, const struct ran_rule *r)
{
        if (r->words != NULL && !has_word(o, r->words, strlen(r->words)))
                return false;
        if (r->needs != NULL)
                return is_in_use(o);
        return r->words != NULL || (is_on(o) && is_in_use(o));
}

static void check_excluded(const struct cmd_program *program, const struct cmd_option *o)
{
        for (const struct ran_rule *r = o->field->rules; is_rule(r); r++)
                if (r->excludes != NULL && is_met(o, r))
                        exclude(program, o->field, r->excludes, r->why);
}

static void check_needed(const struct cmd_program *program, const struct cmd_option *o)
{
        for (const struct ran_rule *r = o->field->rules; is_rule(r); r++)
                if (r->needs != NULL && is_met(o, r))
                        check_needs(program, o->field, r);
        for (const struct ran_rule *r = program->rules; is_rule(r); r++)
                if (r->needs != NULL && is_of_title(program, o, r) && is_in_use(o))
                        check_needs(program, o->field, r);
}

void cmd_rules_check(const struct cmd_program *program)
{
        for (struct cmd_option o = {0}; cmd_option_next(program, &o);)
                verify(program, o.field);
        for (const struct ran_rule *r = program->rules; is_rule(r); r++)
                verify_title(program, r);
        for (struct cmd_option o = {0}; cmd_option_next(program, &o);)
                check_excluded(program, &o);
        for (struct cmd_option o = {0}; cmd_option_next(program, &o);)
                check_needed(program, &o);
}
