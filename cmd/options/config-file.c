/* config-file.c - settings from the JSON object in a file: --config. */
#include "cmd/options/config-file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/beside.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/table.h"
#include "cmd/options/was-set.h"

enum { CONFIG_BYTES = 1 << 24 }; /* far more than any has */

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
                cmd_set_note(o.field, !cmd_option_has_default(&o));
        }
}

/* ---- which file ----------------------------------------------------------------------------- */

static bool ends_with(const char *s, const char *end)
{
        const size_t n = strlen(s), m = strlen(end);

        return n > m && strcmp(s + n - m, end) == 0;
}

/* The file of a recipe, or NULL if there is none of this name. The caller frees it. */
static char *find_recipe(const char *name)
{
        char *folder = strchr(name, '/') == NULL ? cmd_beside_program("recipes") : NULL, *file;

        if (folder == NULL)
                return NULL;
        if (asprintf(&file, "%s/%s%s", folder, name, ends_with(name, ".json") ? "" : ".json") < 0)
                cmd_die(CMD_FAILED, "out of memory");
        free(folder);
        if (access(file, R_OK) == 0)
                return file;
        free(file);
        return NULL;
}

/* A file comes before a recipe of the same name. */
static char *choose_file(const char *name)
{
        const bool here = access(name, F_OK) == 0;
        char *recipe = find_recipe(name), *chosen = recipe;

        if (here && recipe != NULL)
                cmd_note("--config %s: the file in this folder, not the recipe %s", name, recipe);
        else if (recipe != NULL)
                cmd_note("--config %s: the recipe %s", name, recipe);
        if (here || recipe == NULL) {
                chosen = strdup(name);
                free(recipe);
        }
        if (chosen == NULL)
                cmd_die(CMD_FAILED, "out of memory");
        return chosen;
}

static _Noreturn void refuse_file(const char *name, const struct ran_error *err)
{
        char *folder = strchr(name, '/') == NULL ? cmd_beside_program("recipes") : NULL;

        if (folder == NULL || access(name, F_OK) == 0)
                cmd_die(CMD_FAILED, "%s", err->text);
        cmd_die(CMD_FAILED, "%s, and there is no recipe of that name in %s", err->text, folder);
}

/* ---- its settings --------------------------------------------------------------------------- */

static void apply(const struct cmd_program *program, const char *path)
{
        struct ran_bytes file;
        struct ran_record config = {0};
        struct ran_error err;

        if (ran_bytes_open_within(&file, path, CONFIG_BYTES, &err) != RAN_OK)
                refuse_file(path, &err);
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

void cmd_config_file_apply(const struct cmd_program *program, const char *name)
{
        char *path = choose_file(name);

        apply(program, path);
        free(path);
}
