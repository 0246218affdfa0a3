/* table.c - the option table of a program: its fields one by one, their names, and mistakes in it.
 */
#include "cmd/options/common.h"
#include "cmd/options/table.h"
#include "cmd/options/synonyms.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

const struct cmd_group *cmd_group_at(const struct cmd_program *program, size_t i)
{
        size_t n = 0;

        while (program->groups != NULL && program->groups[n].title != NULL)
                n++;
        return i < n ? &program->groups[i] : i == n ? &cmd_common_group : NULL;
}

/* ---- fields --------------------------------------------------------------------------------- */

bool cmd_option_next(const struct cmd_program *program, struct cmd_option *o)
{
        const struct cmd_group *g;

        if (o->field != NULL)
                o->at++;
        while ((g = cmd_group_at(program, o->group)) != NULL && g->fields[o->at].name == NULL) {
                o->group++;
                o->at = 0;
        }
        if (g == NULL)
                return false;
        o->field = &g->fields[o->at];
        o->base = g->base;
        return true;
}

bool cmd_option_find(const struct cmd_program *program, const char *name, size_t n,
                     struct cmd_option *o)
{
        for (*o = (struct cmd_option){0}; cmd_option_next(program, o);) {
                if (strlen(o->field->name) == n && memcmp(o->field->name, name, n) == 0)
                        return true;
        }
        return false;
}

struct cmd_option_name cmd_option_name(const struct ran_field *field)
{
        struct cmd_option_name name;

        snprintf(name.text, sizeof(name.text), "%s", field->name);
        for (char *c = name.text; *c != '\0'; c++) {
                if (*c == '_')
                        *c = '-';
        }
        return name;
}

const char *cmd_option_value(const struct ran_field *field)
{
        static const char *const usual[] = {
                [RAN_FIELD_SIZE] = "N",      [RAN_FIELD_REAL] = "X",
                [RAN_FIELD_CHOICE] = "WORD", [RAN_FIELD_CHOICES] = "WORD",
                [RAN_FIELD_TEXT] = "TEXT",   [RAN_FIELD_LIST] = "TEXT",
        };

        return field->value != NULL ? field->value : usual[field->type];
}

bool cmd_option_negates(const struct ran_field *field)
{
        return (field->type == RAN_FIELD_BOOL || field->switches) && !field->local;
}

const char *cmd_option_without_prefix(const struct cmd_program *program, const char *name)
{
        size_t n = program->prefix != NULL ? strlen(program->prefix) : 0;

        return n > 0 && strncmp(name, program->prefix, n) == 0 ? name + n : NULL;
}

/* Whether a, without its prefix rest, and b could be the same option on the command line. */
static bool clash(const struct ran_field *a, const char *rest, const struct ran_field *b)
{
        return (a->letter != 0 && a->letter == b->letter) || strcmp(a->name, b->name) == 0 ||
               (rest != NULL && strcmp(rest, cmd_option_name(b).text) == 0) ||
               (cmd_option_negates(a) && strncmp(b->name, "no_", 3) == 0 &&
                strcmp(a->name, b->name + 3) == 0);
}

const struct ran_field *cmd_table_clash(const struct cmd_program *program)
{
        for (struct cmd_option a = {0}; cmd_option_next(program, &a);) {
                const struct cmd_option_name name = cmd_option_name(a.field);
                const char *rest = cmd_option_without_prefix(program, name.text);

                for (struct cmd_option b = {0}; cmd_option_next(program, &b);) {
                        if ((a.group != b.group || a.at != b.at) && clash(a.field, rest, b.field))
                                return a.field;
                }
        }
        return NULL;
}

/* ---- misspelt names ------------------------------------------------------------------------- */

enum { LONGEST_NAME = 63 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
        unsigned m = a < b ? a : b;

        return m < c ? m : c;
}

unsigned cmd_distance(const char *a, const char *b)
{
        unsigned char d[LONGEST_NAME + 1][LONGEST_NAME + 1]; /* of the first i and j letters */
        size_t n = strlen(a), m = strlen(b);

        if (n > LONGEST_NAME || m > LONGEST_NAME)
                return UINT_MAX;
        for (size_t i = 0; i <= n; i++) {
                for (size_t j = 0; j <= m; j++) {
                        if (i == 0 || j == 0) {
                                d[i][j] = (unsigned char)(i + j);
                                continue;
                        }
                        unsigned best = min3(d[i - 1][j] + 1, d[i][j - 1] + 1,
                                             d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                best = min3(best, best, d[i - 2][j - 2] + 1);
                        d[i][j] = (unsigned char)best;
                }
        }
        return d[n][m];
}

const struct ran_field *cmd_option_nearest(const struct cmd_program *program, const char *name)
{
        const struct ran_field *best = NULL;
        const char *ours;
        unsigned at = 0;

        while ((ours = cmd_synonym_next(name, &at)) != NULL)
                for (struct cmd_option o = {0}; cmd_option_next(program, &o);)
                        if (strcmp(cmd_option_name(o.field).text, ours) == 0)
                                return o.field;
        unsigned limit = (unsigned)strlen(name) / 3 + 1;

        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                unsigned d = cmd_distance(name, cmd_option_name(o.field).text);
                if (d < limit || (d == limit && best == NULL)) {
                        best = o.field;
                        limit = d;
                }
        }
        return best;
}
