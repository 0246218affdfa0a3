/* rules.c - which options the user set, which a verb has, and which go together. */
#include "cmd/options/table.h"

#include <string.h>

#include "cmd/options/message.h"

/* ---- what was set ---------------------------------------------------------------------------- */

/* The running program, and the fields that the user set. */
static struct {
        const struct cmd_program *program;
        struct set_field {
                const struct ran_field *field;
                bool asked;
        } * item;
        size_t n, cap;
} was_set;

void cmd_set_begin(const struct cmd_program *program)
{
        was_set.program = program;
        was_set.n = 0;
}

void cmd_set_note(const struct ran_field *field, bool asked)
{
        RAN_ROOM(was_set.item, was_set.cap, was_set.n + 1);
        was_set.item[was_set.n++] = (struct set_field){field, asked};
}

/* Aborts for an unknown name: a misspelt one would never be set. */
static bool is_noted(const char *name, bool asked)
{
        struct cmd_option o;

        if (was_set.program == NULL || !cmd_option_find(was_set.program, name, strlen(name), &o))
                cmd_bug("bug: no option is called \"%s\"", name);
        for (size_t i = 0; i < was_set.n; i++)
                if (strcmp(was_set.item[i].field->name, name) == 0 &&
                    (was_set.item[i].asked || !asked))
                        return true;
        return false;
}

bool cmd_was_set(const char *name)
{
        return is_noted(name, false);
}

bool cmd_was_asked(const char *name)
{
        return is_noted(name, true);
}

void cmd_set_changes(const struct ran_field *fields, const void *base, const void *other)
{
        for (const struct ran_field *f = fields; f->name != NULL; f++) {
                const struct ran_field one[] = {*f, {0}};
                struct ran_buf change = {0};

                ran_fields_changes(one, base, other, &change);
                if (change.len > 0)
                        cmd_set_note(f, false);
                ran_buf_release(&change);
        }
}

void cmd_set_all(const struct ran_field *fields)
{
        for (const struct ran_field *f = fields; f->name != NULL; f++)
                if (!f->local)
                        cmd_set_note(f, false);
}

/* ---- options in use -------------------------------------------------------------------------- */

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
        default:
                return cmd_was_asked(o->field->name);
        }
}

/* Whether the user asks for something with it: what is off by default, and switched off, asks for
 * nothing. */
static bool is_in_use(const struct cmd_option *o)
{
        const struct ran_field *f = o->field;
        const bool off =
                f->type <= RAN_FIELD_REAL && (f->initial == NULL || strcmp(f->initial, "0") == 0 ||
                                              strcmp(f->initial, "false") == 0);

        return cmd_was_asked(f->name) && (is_on(o) || !off);
}

/* ---- what is needed -------------------------------------------------------------------------- */

/* The next option of a list of names. */
static bool next_needed(const struct cmd_program *program, const char **names,
                        struct cmd_option *option)
{
        const char *name = *names + strspn(*names, " ");
        const size_t n = strcspn(name, " ");

        *names = name + n;
        if (n > 0 && !cmd_option_find(program, name, n, option))
                cmd_bug("bug: no option is called \"%.*s\"", (int)n, name);
        return n > 0;
}

bool cmd_option_is_among(const char *names, const char *name)
{
        const size_t n = strlen(name);

        for (const char *s = names; (s = strstr(s, name)) != NULL; s += n)
                if ((s == names || s[-1] == ' ') && strchr(" ,", s[n]) != NULL)
                        return true;
        return false;
}

/* The verb is the second word of the program's name. */
static bool is_of_verb(const struct cmd_program *program, const struct ran_field *f)
{
        const char *verb = strchr(program->name, ' ');

        return f->verbs == NULL || (verb != NULL && cmd_option_is_among(f->verbs, verb + 1));
}

bool cmd_option_add_needs(const struct cmd_program *program, const struct ran_field *f,
                          struct ran_buf *out)
{
        const char *names = f->needs, *before = "";
        struct cmd_option other;

        if (f->fixed || !is_of_verb(program, f))
                return false;
        while (names != NULL && next_needed(program, &names, &other)) {
                if (!is_of_verb(program, other.field))
                        continue;
                ran_buf_printf(out, "%s--%s", before, cmd_option_name(other.field).text);
                if (other.field->type != RAN_FIELD_BOOL)
                        ran_buf_printf(out, " %s", cmd_option_value(other.field));
                before = " or ";
        }
        return f->needs == NULL || before[0] != '\0';
}

bool cmd_option_applies(const struct cmd_program *program, const struct ran_field *f)
{
        struct ran_buf needs = {0};
        const bool applies = cmd_option_add_needs(program, f, &needs);

        ran_buf_release(&needs);
        return applies;
}

void cmd_rules_check(const struct cmd_program *program)
{
        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                const char *verbs = o.field->verbs,
                           *last = verbs != NULL ? strrchr(verbs, ' ') : NULL;

                if (!is_of_verb(program, o.field) && is_in_use(&o))
                        cmd_usage("--%s is for %.*s %.*s%s%s", cmd_option_name(o.field).text,
                                  (int)strcspn(program->name, " "), program->name,
                                  last != NULL ? (int)(last - verbs) : (int)strlen(verbs), verbs,
                                  last != NULL ? " and " : "", last != NULL ? last + 1 : "");
        }
        if (program->check != NULL)
                program->check(program->options);
        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                const struct ran_field *f = o.field;
                const char *needs = f->needs;
                struct ran_buf names = {0};
                struct cmd_option other;
                bool met = needs == NULL;

                while (needs != NULL && next_needed(program, &needs, &other))
                        met |= is_on(&other);
                if (met || !is_in_use(&o))
                        continue;
                if (f->why != NULL)
                        cmd_usage("--%s %s", cmd_option_name(f).text, f->why);
                cmd_option_add_needs(program, f, &names);
                ran_buf_char(&names, '\0');
                cmd_usage("--%s is for %s", cmd_option_name(f).text, names.data);
        }
}

/* ---- what is excluded ------------------------------------------------------------------------ */

/* Appends the options in use among the names, "--a, --b and --c"; returns their number. */
static size_t add_used(const char *names, struct ran_buf *out)
{
        const struct cmd_program *program = was_set.program;
        const struct ran_field *last = NULL;
        size_t count = 0;

        for (const char *s = names; *(s += strspn(s, " ]")) != '\0';) {
                const bool title = *s == '[';
                const size_t n = strcspn(s += title, title ? "]" : " ");
                bool known = false;
                for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                        const char *name =
                                title ? cmd_group_at(program, o.group)->title : o.field->name;
                        if (strlen(name) != n || memcmp(name, s, n) != 0)
                                continue;
                        known = true;
                        if (!is_in_use(&o))
                                continue;
                        if (last != NULL)
                                ran_buf_printf(out, "%s--%s", count > 1 ? ", " : "",
                                               cmd_option_name(last).text);
                        last = o.field;
                        count++;
                }
                if (!known)
                        cmd_bug("bug: no option is called \"%.*s\"", (int)n, s);
                s += n;
        }
        if (last != NULL)
                ran_buf_printf(out, "%s--%s", count > 1 ? " and " : "", cmd_option_name(last).text);
        ran_buf_char(out, '\0');
        return count;
}

void cmd_excludes(bool given, const char *why, const char *names)
{
        struct ran_buf used = {0};

        if (add_used(names, &used) > 0 && given)
                cmd_usage("%s: leave out %s", why, used.data);
        ran_buf_release(&used);
}

void cmd_exclude_each_other(const char *names)
{
        struct ran_buf used = {0};

        if (add_used(names, &used) > 1)
                cmd_usage("%s exclude each other", used.data);
        ran_buf_release(&used);
}

void cmd_is_for(const char *other, bool given, const char *names)
{
        struct ran_buf used = {0};

        if (add_used(names, &used) > 0 && !given)
                cmd_usage("%.*s is for %s", (int)strcspn(used.data, ", "), used.data, other);
        ran_buf_release(&used);
}
