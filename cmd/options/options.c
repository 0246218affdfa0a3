/* options.c - the options of a program: defaults, command line and configuration file.
 *
 * First every option on the command line is recognised and paired with its text. Then they are
 * applied: the common ones, the configuration file, all others. So an option overrides the file in
 * any order. Defaults that depend on other fields come last.
 */
#include "cmd/options/table.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"

static void apply_settings(const struct cmd_settings *c, bool common)
{
        struct ran_error err;

        for (size_t i = 0; i < c->n; i++) {
                const struct cmd_setting *s = &c->item[i];
                if ((s->base == &cmd_common) != common)
                        continue;
                if (ran_field_set(s->field, s->base, s->text, &err) != RAN_OK)
                        cmd_refuse(NULL, &err);
                cmd_set_note(s->field, true);
        }
}

/* What is left when all are set: fixed fields, outputs called "-", and defaults that depend on
 * other fields. */
static void complete(const struct cmd_program *program)
{
        struct ran_error err;

        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                const struct ran_field *f = o.field;
                char **path = (char **)(void *)((char *)o.base + f->offset);

                /* Earlier versions had options for fixed fields: their defaults are still taken. */
                if (f->fixed && !cmd_option_has_default(&o))
                        cmd_usage("%s is no option: the verb or a model sets it; leave it out",
                                  f->name);
                if (strcmp(f->name, "output") == 0 && *path != NULL && strcmp(*path, "-") == 0) {
                        free(*path); /* standard output, as "-" among files is standard input */
                        *path = NULL;
                }
                if (f->unless.field != NULL && !cmd_was_set(f->name) &&
                    ran_field_init(cmd_group_at(program, o.group)->fields, f, o.base, &err) !=
                            RAN_OK)
                        cmd_die(CMD_FAILED, "%s", err.text);
        }
}

void cmd_write_set(const struct cmd_program *program)
{
        struct ran_buf out = {0};

        cmd_print_config(program, false, &out);
        cmd_write_file(NULL, &out);
        ran_buf_release(&out);
}

/* Writes the answer to --help and the like, and exits; not if there is none. */
static void answer(const struct ran_buf *out)
{
        if (out->len == 0)
                return;
        cmd_write_file(NULL, out);
        exit(cmd_finish(CMD_OK));
}

int cmd_parse(const struct cmd_program *program, int argc, char **argv)
{
        struct cmd_settings settings = {0};
        const struct cmd_group *g;
        struct ran_buf out = {0};
        struct ran_error err;

        cmd_process_begin();
        cmd_set_program(program->name);
        cmd_set_begin(program);
        for (size_t i = 0; (g = cmd_group_at(program, i)) != NULL; i++)
                if (ran_fields_init(g->fields, g->base, &err) != RAN_OK)
                        cmd_die(CMD_FAILED, "%s", err.text);
        int first = cmd_command_line_read(program, argc, argv, &settings);
        apply_settings(&settings, true);
        cmd_set_quiet(cmd_common.quiet);
        if (cmd_common.help || cmd_common.help_all)
                cmd_help(program, cmd_common.help_all, &out);
        else if (cmd_common.version)
                cmd_version(program, &out);
        else if (cmd_common.print_options)
                cmd_print_options(program, &out);
        answer(&out);
        if (cmd_common.config != NULL)
                cmd_config_file_apply(program, cmd_common.config);
        apply_settings(&settings, false);
        complete(program);
        free(settings.item);
        if (cmd_common.print_config)
                cmd_print_config(program, true, &out);
        answer(&out);
        cmd_rules_check(program);
        cmd_check_outputs(program);
        const char *known, *refused = ran_isa_refused(&known), *asked = getenv("RAN_THREADS");
        if (refused != NULL)
                cmd_usage("RAN_ISA=%s: this processor and program have %s", refused, known);
        const double most = cmd_common_group.fields[0].high;
        size_t n;
        if (cmd_common.jobs == 0 && asked != NULL && asked[0] != '\0' &&
            !(ran_parse_size(asked, strlen(asked), &n) && (double)n <= most))
                cmd_usage("RAN_THREADS=%s: it must be a whole number from 1 to %.0f", asked, most);
        if (cmd_common.jobs == 0)
                cmd_common.jobs = ran_threads_default();
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

/* ---- verbs ---------------------------------------------------------------------------------- */

static _Noreturn void refuse_verb(const struct cmd_verb *verbs, const char *given)
{
        const char *name[32] = {NULL}, *like = NULL; /* more than any program has */
        struct ran_buf names = {0};

        for (size_t i = 0; verbs[i].name != NULL && i + 1 < sizeof name / sizeof *name; i++) {
                name[i] = verbs[i].name;
                ran_buf_str(&names, i == 0 ? "" : verbs[i + 1].name != NULL ? ", " : " or ");
                ran_buf_str(&names, name[i]);
        }
        ran_buf_char(&names, '\0');
        if (given != NULL)
                like = cmd_nearest(given, name);
        if (like != NULL)
                cmd_warn("unknown verb '%s'; did you mean %s?", given, like);
        else if (given != NULL)
                cmd_warn("unknown verb '%s'", given);
        cmd_usage("give a verb first: %s", names.data);
}

int cmd_run_verb(const char *name, const char *summary, const struct cmd_verb *verbs, int argc,
                 char **argv)
{
        const struct cmd_program program = {
                .name = name, .usage = "VERB [option...]", .summary = summary, .verbs = verbs};

        cmd_set_program(name);
        if (argc < 2 || argv[1][0] != '-') {
                for (const struct cmd_verb *v = verbs; argc >= 2 && v->name != NULL; v++) {
                        if (strcmp(argv[1], v->name) == 0)
                                return v->main(argc - 1, argv + 1);
                }
                refuse_verb(verbs, argc < 2 ? NULL : argv[1]);
        }
        cmd_parse(&program, argc, argv);
        refuse_verb(verbs, NULL);
}
