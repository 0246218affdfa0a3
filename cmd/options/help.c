/* help.c - the output of --help, --version, --print-options and --print-config. */
#include "cmd/options/table.h"

#include <string.h>

enum {
        COLUMNS = 80,
        HELP_COLUMN = 27, /* column of an option's explanation */
};

void cmd_wrap(struct ran_buf *out, const char *text, size_t at, size_t indent)
{
        bool first = true;

        while (*text != '\0') {
                size_t n = strcspn(text, " \n");
                const size_t width = ran_shown_width(text, n);
                if (!first && at + 1 + width > COLUMNS) {
                        ran_buf_printf(out, "\n%*s", (int)indent, "");
                        at = indent;
                } else if (!first) {
                        ran_buf_char(out, ' ');
                        at++;
                }
                ran_buf_add(out, text, n);
                at += width;
                text += n;
                first = *text == '\n';
                if (*text == '\n') {
                        ran_buf_printf(out, "\n%*s", (int)indent, "");
                        at = indent;
                }
                text += *text != '\0';
        }
        ran_buf_char(out, '\n');
}

/* Two columns: name, which is released, and explanation. */
static void add_entry(struct ran_buf *out, struct ran_buf *left, const char *right)
{
        ran_buf_add(out, left->data, left->len);
        if (left->len + 2 > HELP_COLUMN)
                ran_buf_printf(out, "\n%*s", HELP_COLUMN, "");
        else
                ran_buf_printf(out, "%*s", (int)(HELP_COLUMN - left->len), "");
        cmd_wrap(out, right, HELP_COLUMN, HELP_COLUMN);
        ran_buf_release(left);
}

/* A default for people; NULL: none to mention. */
static const char *default_of(const struct ran_field *field, const char *initial)
{
        if (field->type == RAN_FIELD_BOOL && !cmd_option_negates(field))
                return NULL;
        if (field->type == RAN_FIELD_BOOL)
                return initial != NULL && strcmp(initial, "true") == 0 ? "yes" : "no";
        if (initial != NULL || field->type > RAN_FIELD_CHOICES)
                return initial;
        return field->choices != NULL ? field->choices[0] : "0";
}

static bool has_word(const char *text, const char *word)
{
        static const char within[] = "abcdefghijklmnopqrstuvwxyz-_";
        const size_t n = strlen(word);

        for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
                if ((at == text || strchr(within, at[-1]) == NULL) &&
                    (at[n] == '\0' || strchr(within, at[n]) == NULL))
                        return true;
        return false;
}

/* Its help, and in parentheses what it needs, its words, unless the help names them all, and its
 * default: "default: nfc; bpe: none". Ends with a NUL. */
static void add_explanation(struct ran_buf *out, const struct cmd_program *program,
                            const struct ran_field *field)
{
        const struct ran_exception *unless = &field->unless;
        const char *initial = default_of(field, field->initial);
        struct ran_buf needs = {0};
        bool named = true;

        for (size_t i = 0; field->choices != NULL && field->choices[i] != NULL; i++)
                named &= has_word(field->help, field->choices[i]);
        cmd_option_add_needs(program, field, &needs);
        ran_buf_str(out, field->help);
        ran_buf_str(out, initial != NULL || needs.len > 0 ? " (" : "");
        if (needs.len > 0)
                ran_buf_printf(out, "with %.*s%s", (int)needs.len, needs.data,
                               initial != NULL ? "; " : ")");
        ran_buf_release(&needs);
        for (size_t i = 0; !named && field->choices[i] != NULL; i++)
                ran_buf_printf(out, "%s%s", field->choices[i],
                               field->choices[i + 1] != NULL ? ", " : "; ");
        if (initial != NULL)
                ran_buf_printf(out, "default: %s", initial);
        if (initial != NULL && unless->field != NULL)
                ran_buf_printf(out, "; %s: %s", unless->value, default_of(field, unless->initial));
        ran_buf_str(out, initial != NULL ? ")" : "");
        ran_buf_char(out, '\0');
}

static void add_option(struct ran_buf *out, const struct cmd_program *program,
                       const struct ran_field *field)
{
        struct ran_buf left = {0}, right = {0};

        if (field->letter != 0)
                ran_buf_printf(&left, "  -%c, ", field->letter);
        else
                ran_buf_str(&left, "      ");
        ran_buf_printf(&left, "--%s%s", cmd_option_negates(field) ? "[no-]" : "",
                       cmd_option_name(field).text);
        if (field->type != RAN_FIELD_BOOL)
                ran_buf_printf(&left, " %s", cmd_option_value(field));
        add_explanation(&right, program, field);
        add_entry(out, &left, right.data);
        ran_buf_release(&right);
}

/* A program with no more options than this shows all of them at once. */
enum { FEW = 32 };

/* Whether --help-all lists an option, or --help, if `marked`. */
static bool is_listed(const struct cmd_program *program, const struct ran_field *f, bool marked)
{
        return !f->key && (f->first || !marked) && cmd_option_applies(program, f);
}

static void add_options(const struct cmd_program *program, bool marked, struct ran_buf *out)
{
        const struct cmd_group *before = NULL;

        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                const struct cmd_group *group = cmd_group_at(program, o.group);

                if (!is_listed(program, o.field, marked))
                        continue;
                if (group != before)
                        ran_buf_printf(out, "\n%s:\n", group->title);
                before = group;
                add_option(out, program, o.field);
        }
}

/* Keys of --config, or those that are options only, as a list: "clip=1", with the default. */
static void add_keys(const struct cmd_program *program, bool local, const char *title,
                     struct ran_buf *out)
{
        struct ran_buf keys = {0};

        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                const struct ran_field *f = o.field;

                if (!f->key || f->local != local || !cmd_option_applies(program, f))
                        continue;
                ran_buf_printf(&keys, "%s%s%s", keys.len > 0 ? " " : "", local ? "--" : "",
                               local ? cmd_option_name(f).text : f->name);
                if (default_of(f, f->initial) != NULL)
                        ran_buf_printf(&keys, "=%s", default_of(f, f->initial));
        }
        if (keys.len > 0) {
                ran_buf_printf(out, "\n%s\n  ", title);
                ran_buf_char(&keys, '\0');
                cmd_wrap(out, keys.data, 2, 2);
        }
        ran_buf_release(&keys);
}

void cmd_help(const struct cmd_program *program, bool all, struct ran_buf *out)
{
        const int n = (int)strcspn(program->name, " ");
        size_t listed = 0, first = 0;

        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                listed += is_listed(program, o.field, false);
                first += is_listed(program, o.field, true);
        }
        const bool marked = !all && listed > FEW;
        for (size_t at = 0, end; at <= strlen(program->usage); at = end + 1) {
                end = at + strcspn(program->usage + at, "\n");
                ran_buf_printf(out, "%s%s %.*s\n", at == 0 ? "Usage: " : "       ", program->name,
                               (int)(end - at), program->usage + at);
        }
        ran_buf_char(out, '\n');
        cmd_wrap(out, program->summary, 0, 0);
        if (program->verbs != NULL) {
                ran_buf_str(out, "\nVerbs:\n");
                for (const struct cmd_verb *v = program->verbs; v->name != NULL; v++) {
                        struct ran_buf left = {0};
                        ran_buf_printf(&left, "  %s", v->name);
                        add_entry(out, &left, v->summary);
                }
                ran_buf_printf(out, "'%s VERB --help' lists the options of a verb.\n",
                               program->name);
        }
        add_options(program, marked, out);
        if (!marked) {
                add_keys(program, false,
                         "Few need these, as options (--NAME VALUE) or keys of --config; their "
                         "defaults:",
                         out);
                add_keys(program, true, "Few need these, as options only; their defaults:", out);
        }
        if (program->notes != NULL) {
                ran_buf_char(out, '\n');
                cmd_wrap(out, program->notes, 0, 0);
        }
        if (marked)
                ran_buf_printf(out, "\n%s --help-all lists %zu more options.", program->name,
                               listed - first);
        ran_buf_printf(out, "\nThe manual: man %.*s\n", n, program->name);
}

void cmd_version(const struct cmd_program *program, struct ran_buf *out)
{
        ran_buf_printf(out,
                       "%.*s (ran) %s\n"
                       "Copyright (c) 2026 the ran authors\n"
                       "MIT License: free to use, change and pass on; there is no warranty.\n"
                       "Kernels: %s\n",
                       (int)strcspn(program->name, " "), program->name, RAN_VERSION, ran_isa());
}

/* A line for each: name, letter, name of the value, its words, help. */
void cmd_print_options(const struct cmd_program *program, struct ran_buf *out)
{
        const struct cmd_verb *v = program->verbs;

        for (; v != NULL && v->name != NULL; v++)
                ran_buf_printf(out, "%s\t\t\t\t%s\n", v->name, v->summary);
        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                if (!is_listed(program, o.field, false))
                        continue;
                const struct ran_field *f = o.field;
                const struct cmd_option_name name = cmd_option_name(f);
                ran_buf_printf(out, "--%s\t", name.text);
                if (f->letter != 0)
                        ran_buf_printf(out, "-%c", f->letter);
                ran_buf_printf(out, "\t%s\t", f->type != RAN_FIELD_BOOL ? cmd_option_value(f) : "");
                for (size_t i = 0; f->choices != NULL && f->choices[i] != NULL; i++)
                        ran_buf_printf(out, "%s%s", i > 0 ? "," : "", f->choices[i]);
                if (f->type == RAN_FIELD_CHOICES)
                        ran_buf_str(out, ",...");
                ran_buf_printf(out, "\t%s\n", f->help);
                if (cmd_option_negates(f))
                        ran_buf_printf(out, "--no-%s\t\t\t\tturn --%s off\n", name.text, name.text);
        }
}

void cmd_print_config(const struct cmd_program *program, bool all, struct ran_buf *out)
{
        const char *before = "{\n  ";

        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                struct ran_field one[] = {*o.field, {0}};
                struct ran_buf pair = {0};

                one[0].later = false; /* people see every setting */
                if (cmd_option_applies(program, o.field) && (all || cmd_was_set(o.field->name)))
                        ran_fields_json(one, o.base, &pair);
                if (pair.len > 0) {
                        ran_buf_str(out, before);
                        ran_buf_add(out, pair.data, pair.len);
                        before = ",\n  ";
                }
                ran_buf_release(&pair);
        }
        ran_buf_str(out, before[0] == '{' ? "{}\n" : "\n}\n");
}
