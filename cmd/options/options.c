/* options.c - the options of a program: defaults, command line and configuration file.
 *
 * First every option on the command line is recognised and paired with its text. Then they are
 * applied: the common ones, the configuration file, all others. So an option overrides the file in
 * any order. Defaults that depend on other fields come last.
 */
#include "cmd/options/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/command-line.h"
#include "cmd/options/common.h"
#include "cmd/options/config-file.h"
#include "cmd/options/help.h"
#include "cmd/options/message.h"
#include "cmd/options/outputs.h"
#include "cmd/options/process.h"
#include "cmd/options/rules.h"
#include "cmd/options/table.h"
#include "cmd/options/was-set.h"
#include "cmd/options/write.h"

static void apply_settings(const struct cmd_command_line *c, bool common)
{
        struct ran_error err;

        for (size_t i = 0; i < c->count; i++) {
                const struct cmd_setting *s = &c->settings[i];
                if ((s->base == &cmd_common) != common)
                        continue;
                if (ran_field_set(s->field, s->base, s->text, &err) != RAN_OK)
                        cmd_refuse(NULL, &err);
                cmd_set_note(s->field, true);
        }
}

static void init_fields(const struct cmd_program *program)
{
        const struct cmd_group *g;
        struct ran_error err;

        for (size_t i = 0; (g = cmd_group_at(program, i)) != NULL; i++) {
                if (ran_fields_init(g->fields, g->base, &err) != RAN_OK)
                        cmd_die(CMD_FAILED, "%s", err.text);
        }
}

/* Earlier versions had options for fixed fields: their defaults are still taken. */
static void check_fixed(const struct cmd_program *program)
{
        for (struct cmd_option o = {0}; cmd_option_next(program, &o);)
                if (o.field->fixed && !cmd_option_has_default(&o))
                        cmd_usage("%s is no option: the verb or a model sets it; leave it out",
                                  o.field->name);
}

/* Output "-" is standard output, as "-" among files is standard input. */
static void apply_dash(const struct cmd_program *program)
{
        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                char **path = (char **)(void *)((char *)o.base + o.field->offset);
                if (strcmp(o.field->name, "output") == 0 && *path != NULL &&
                    strcmp(*path, "-") == 0) {
                        free(*path);
                        *path = NULL;
                }
        }
}

/* Defaults that depend on other fields, for fields that are not set. */
static void init_dependent_fields(const struct cmd_program *program)
{
        struct ran_error err;

        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                const struct ran_field *table = cmd_group_at(program, o.group)->fields;
                if (o.field->unless.field != NULL && !cmd_was_set(o.field->name) &&
                    ran_field_init(table, o.field, o.base, &err) != RAN_OK)
                        cmd_die(CMD_FAILED, "%s", err.text);
        }
}

static void write_out(const struct cmd_program *program,
                      void (*write)(const struct cmd_program *program, struct ran_buf *out))
{
        struct ran_buf out = {0};

        write(program, &out);
        if (out.failed)
                cmd_die(CMD_FAILED, "out of memory");
        cmd_write(STDOUT_FILENO, "standard output", out.data, out.len);
        ran_buf_release(&out);
}

/* Answers --help and the like, and exits. */
static void answer(const struct cmd_program *program,
                   void (*write)(const struct cmd_program *program, struct ran_buf *out))
{
        write_out(program, write);
        exit(cmd_finish(CMD_OK));
}

void cmd_write_set(const struct cmd_program *program)
{
        write_out(program, cmd_print_set);
}

/* The number of threads without --jobs. */
static size_t default_jobs(const struct ran_field *jobs)
{
        const char *asked = getenv("RAN_THREADS");
        size_t n;

        if (asked != NULL && asked[0] != '\0' &&
            !(ran_parse_size(asked, strlen(asked), &n) && (double)n <= jobs->high))
                cmd_usage("RAN_THREADS=%s: it must be a whole number from 1 to %.0f", asked,
                          jobs->high);
        return ran_threads_default();
}

int cmd_parse(const struct cmd_program *program, int argc, char **argv)
{
        struct cmd_command_line c = {.program = program, .argv = argv, .argc = argc};
        const struct ran_field *clash = cmd_table_clash(program);

        cmd_process_begin();
        cmd_set_program(program->name);
        cmd_set_begin(program);
        if (clash != NULL)
                cmd_bug("bug: two options are called --%s", cmd_option_name(clash).text);
        init_fields(program);
        int first = cmd_command_line_read(&c);
        apply_settings(&c, true);
        cmd_set_quiet(cmd_common.quiet);
        if (cmd_common.help_all)
                answer(program, cmd_help_all);
        if (cmd_common.help)
                answer(program, cmd_help);
        if (cmd_common.version)
                answer(program, cmd_version);
        if (cmd_common.print_options)
                answer(program, cmd_print_options);
        if (cmd_common.config != NULL)
                cmd_config_file_apply(program, cmd_common.config);
        apply_settings(&c, false);
        check_fixed(program);
        apply_dash(program);
        init_dependent_fields(program);
        free(c.settings);
        if (cmd_common.print_config)
                answer(program, cmd_print_config);
        cmd_rules_check(program);
        cmd_check_outputs(program);
        cmd_process_check_isa();
        if (cmd_common.jobs == 0)
                cmd_common.jobs = default_jobs(&cmd_common_group.fields[0]);
        return first;
}

struct ran_pool *cmd_pool(void)
{
        struct ran_error err;
        struct ran_pool *pool = ran_pool_new(cmd_common.jobs, &err);

        if (pool == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        return pool;
}
