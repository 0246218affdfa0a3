/* config-file.c - settings from the JSON object in a file: --config. */
#include "cmd/options/config-file.h"

#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/table.h"
#include "cmd/options/was-set.h"

static bool has_default(const struct cmd_option *o)
{
        struct ran_field one[] = {*o->field, {0}};
        union {
                bool truth;
                size_t size;
                double real;
                int choice;
                struct ran_choices choices;
                char *text;
                struct ran_list list;
        } initial;
        struct ran_buf change = {0};
        struct ran_error err;

        one->offset = 0;
        one->unless = (struct ran_exception){0};
        if (ran_fields_init(one, &initial, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        ran_fields_changes(one, (const char *)o->base + o->field->offset, &initial, &change);
        bool same = change.len == 0 && !change.failed;
        ran_buf_release(&change);
        ran_fields_release(one, &initial);
        return same;
}

static _Noreturn void refuse_setting(const struct cmd_program *program, const char *path,
                                     const char *name, int n)
{
        struct ran_buf option = {0};
        const struct ran_field *like = NULL;

        ran_buf_printf(&option, "%.*s%c", n, name, '\0');
        if (!option.failed)
                like = cmd_option_nearest(program, option.data);
        if (like == NULL)
                cmd_usage("%s: unknown setting \"%.*s\"", path, n, name);
        cmd_usage("%s: unknown setting \"%.*s\"; did you mean \"%s\"?", path, n, name, like->name);
}

/* Without this check a misspelt name would silently leave a setting as it is. */
static void check_names(const struct cmd_program *program, const char *path,
                        const struct ran_record *config)
{
        for (size_t i = 0; i < config->count; i++) {
                struct ran_span span = config->members[i].name;
                const char *name = config->names.data + span.begin;
                int n = (int)(span.end - span.begin);
                struct cmd_option o;

                if (!cmd_option_find(program, name, (size_t)n, &o))
                        refuse_setting(program, path, name, n);
                if (o.field->local)
                        cmd_usage("%s: \"%.*s\" is for the command line only", path, n, name);
                cmd_set_note(o.field, !has_default(&o));
        }
}

void cmd_config_file_apply(const struct cmd_program *program, const char *path)
{
        struct ran_bytes file;
        struct ran_record config = {0};
        struct ran_error err;

        if (ran_bytes_open(&file, path, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        const size_t mark = ran_utf8_mark((const char *)file.data, file.size);
        const char *json = (const char *)file.data + mark;
        const size_t n = file.size - mark;
        const struct cmd_group *g;
        for (size_t i = 0; (g = cmd_group_at(program, i)) != NULL; i++) {
                if (ran_fields_parse(g->fields, g->base, json, n, true, &err) != RAN_OK)
                        cmd_refuse(path, &err);
        }
        if (ran_record_scan(&config, json, n, &err) != RAN_OK)
                cmd_refuse(path, &err);
        check_names(program, path, &config);
        ran_record_release(&config);
        ran_bytes_release(&file);
}
