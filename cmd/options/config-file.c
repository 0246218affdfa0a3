/* config-file.c - settings from the JSON object in a file or recipe (--config), and the folders
 * installed beside a program. */
#include "cmd/options/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/message.h"

enum { CONFIG_BYTES = 1 << 24 }; /* far more than any has */

/* ---- folders beside a program ---------------------------------------------------------------- */

/* Takes the last name off a path; false: none is left. */
static bool go_up(char *path)
{
        char *slash = strrchr(path, '/');

        if (slash == NULL || slash == path)
                return false;
        *slash = '\0';
        return true;
}

/* "FOLDER/NAME"; the caller frees it. */
static char *path_of(const char *folder, const char *name)
{
        char *path;

        if (asprintf(&path, "%s/%s", folder, name) < 0)
                cmd_die(CMD_FAILED, "out of memory");
        return path;
}

static bool has(const char *folder, const char *name)
{
        char *path = path_of(folder, name);
        const bool there = access(path, F_OK) == 0;

        free(path);
        return there;
}

/* PREFIX/bin is installed with PREFIX/share/ran/NAME; BUILD or BUILD/FOLDER is in the source tree,
 * which has share/NAME. */
char *cmd_beside_program(const char *name)
{
        char *at = realpath("/proc/self/exe", NULL), *share = NULL, *found = NULL;

        if (at != NULL && go_up(at) && go_up(at)) {
                bool source = has(at, "lib/ran.h");
                if (!source)
                        share = path_of(at, "share/ran");
                source = source || (go_up(at) && has(at, "lib/ran.h"));
                if (source) {
                        free(share);
                        share = path_of(at, "share");
                }
                found = path_of(share, name);
        }
        free(share);
        free(at);
        return found;
}

/* ---- which file ----------------------------------------------------------------------------- */

/* The file of a recipe, or NULL if there is none of this name. The caller frees it. */
static char *find_recipe(const char *name)
{
        char *folder = strchr(name, '/') == NULL ? cmd_beside_program("recipes") : NULL, *file;
        const size_t n = strlen(name);
        const bool ends = n > 5 && strcmp(name + n - 5, ".json") == 0;

        if (folder == NULL)
                return NULL;
        if (asprintf(&file, "%s/%s%s", folder, name, ends ? "" : ".json") < 0)
                cmd_die(CMD_FAILED, "out of memory");
        free(folder);
        if (access(file, R_OK) == 0)
                return file;
        free(file);
        return NULL;
}

static _Noreturn void refuse_file(const char *name, const struct ran_error *err)
{
        char *folder = strchr(name, '/') == NULL ? cmd_beside_program("recipes") : NULL;

        if (folder == NULL || access(name, F_OK) == 0)
                cmd_die(CMD_FAILED, "%s", err->text);
        cmd_die(CMD_FAILED, "%s, and there is no recipe of that name in %s", err->text, folder);
}

/* ---- its settings --------------------------------------------------------------------------- */

static _Noreturn void refuse_setting(const struct cmd_program *program, const char *path,
                                     const char *name, int n)
{
        struct ran_buf option = {0};

        ran_buf_printf(&option, "%.*s%c", n, name, '\0');
        const struct ran_field *like = cmd_option_nearest(program, option.data);
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

/* A file comes before a recipe of the same name. */
void cmd_config_file_apply(const struct cmd_program *program, const char *name)
{
        const bool here = access(name, F_OK) == 0;
        char *recipe = find_recipe(name);

        if (here && recipe != NULL)
                cmd_note("--config %s: the file in this folder, not the recipe %s", name, recipe);
        else if (recipe != NULL)
                cmd_note("--config %s: the recipe %s", name, recipe);
        apply(program, here || recipe == NULL ? name : recipe);
        free(recipe);
}
