/* outputs.c - checks that no output file is also an input, or written twice. */
#include "cmd/options/message.h"
#include "cmd/options/outputs.h"
#include "cmd/options/table.h"
#include "cmd/options/write.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Options with output files. All other files are inputs. */
static const char *const written[] = {"output", "rejects", "log", "report", "state_out", NULL};

static bool is_written(const struct ran_field *f)
{
        for (const char *const *name = written; *name != NULL; name++)
                if (strcmp(f->name, *name) == 0)
                        return true;
        return false;
}

static bool is_dash(const char *path)
{
        return strcmp(path, "-") == 0;
}

/* Only regular files can be lost. A pipe or a terminal may have several readers and writers. */
static bool is_file(const char *path, bool read, struct stat *st)
{
        int rc = read && is_dash(path) ? fstat(STDIN_FILENO, st) : stat(path, st);

        return rc == 0 && S_ISREG(st->st_mode);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
        return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static const char *shown(const char *input)
{
        return is_dash(input) ? "standard input" : input;
}

void cmd_check_input(const char *option, const char *path, const char *input)
{
        struct stat out, in;

        if (path == NULL || input == NULL || !is_file(path, false, &out) ||
            !is_file(input, true, &in) || !same_file(&out, &in))
                return;
        if (strcmp(option, "output") == 0)
                cmd_usage("%s is an input: it cannot also be the output", shown(input));
        cmd_usage("%s is an input: --%s cannot write it, too", shown(input), option);
}

void cmd_check_inputs(const char *option, const char *path, char **inputs)
{
        for (; path != NULL && *inputs != NULL; inputs++)
                cmd_check_input(option, path, *inputs);
}

void cmd_check_output(const char *path, char **inputs)
{
        cmd_check_inputs("output", path, inputs);
        if (path != NULL)
                cmd_check_writable(path);
}

void cmd_check_standard_output(char **inputs)
{
        struct stat out, in;

        if (fstat(STDOUT_FILENO, &out) != 0 || !S_ISREG(out.st_mode))
                return;
        for (; *inputs != NULL; inputs++)
                if (is_file(*inputs, true, &in) && same_file(&out, &in))
                        cmd_usage("%s is an input: it cannot also be standard output",
                                  shown(*inputs));
}

/* ---- options, with each other --------------------------------------------------------------- */

/* The file of a field; NULL if it has none. */
static const char *file_of(const struct cmd_option *o)
{
        const struct ran_field *f = o->field;

        if (f->type != RAN_FIELD_TEXT || f->value == NULL ||
            (strcmp(f->value, "FILE") != 0 && strcmp(f->value, "MODEL") != 0))
                return NULL;
        return *(char *const *)(const void *)((const char *)o->base + f->offset);
}

/* own: the field of the path, or NULL. A recurrent state may be updated in its own file. */
static void check_with_all(const struct cmd_program *program, const char *out, const char *path,
                           const struct ran_field *own)
{
        const bool state = own != NULL && strncmp(own->name, "state_", 6) == 0;
        struct stat a, b;

        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                const char *other = file_of(&o);
                if (other == NULL || o.field == own ||
                    (state && strncmp(o.field->name, "state_", 6) == 0))
                        continue;
                if (!is_written(o.field)) {
                        cmd_check_input(out, path, other);
                        continue;
                }
                const bool there = stat(path, &a) == 0, both = stat(other, &b) == 0;
                if (there && both ? S_ISREG(a.st_mode) && same_file(&a, &b)
                                  : !there && !both && strcmp(path, other) == 0)
                        cmd_usage("--%s and --%s would both write %s", out,
                                  cmd_option_name(o.field).text, path);
        }
}

void cmd_check_beside(const struct cmd_program *program, const char *path, char **inputs)
{
        check_with_all(program, "output", path, NULL);
        cmd_check_inputs("output", path, inputs);
}

/* The program whose outputs were checked last. */
static const struct cmd_program *checked;

void cmd_check_read(const char *path)
{
        for (struct cmd_option o = {0}; checked != NULL && cmd_option_next(checked, &o);)
                if (is_written(o.field))
                        cmd_check_input(cmd_option_name(o.field).text, file_of(&o), path);
}

void cmd_check_outputs(const struct cmd_program *program)
{
        checked = program;
        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                const struct cmd_option_name option = cmd_option_name(o.field);
                const char *path = is_written(o.field) ? file_of(&o) : NULL;

                if (path != NULL && is_dash(path))
                        cmd_usage("--%s -: give the name of a file (a file called - is ./-)",
                                  option.text);
                if (path != NULL)
                        check_with_all(program, option.text, path, o.field);
        }
}
