/* config-file.c - settings from the JSON object in a file or recipe (--config), and the folders
 * installed beside a program. */
#include "cmd/options/table.h"

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

/* The caller frees it. */
static char *path_of(const char *folder, const char *name, const char *ending)
{
        struct ran_buf path = {0};

        ran_buf_printf(&path, "%s/%s%s%c", folder, name, ending, '\0');
        return path.data;
}

static bool has(const char *folder, const char *name)
{
        char *path = path_of(folder, name, "");
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
                        share = path_of(at, "share/ran", "");
                source = source || (go_up(at) && has(at, "lib/ran.h"));
                if (source) {
                        free(share);
                        share = path_of(at, "share", "");
                }
                found = path_of(share, name, "");
        }
        free(share);
        free(at);
        return found;
}

/* ---- its settings --------------------------------------------------------------------------- */

/* Without this check a misspelt name would silently leave a setting as it is. */
static void check_names(const struct cmd_program *program, const char *path,
                        const struct ran_record *config)
{
        for (size_t i = 0; i < config->count; i++) {
                struct ran_span span = config->members[i].name;
                const char *name = config->names.data + span.begin;
                int n = (int)(span.end - span.begin);
                struct cmd_option o;

                if (!cmd_option_find(program, name, (size_t)n, &o)) {
                        const char *option = ran_copy(name, (size_t)n);
                        const struct ran_field *like = cmd_option_nearest(program, option);

                        cmd_usage("%s: unknown setting \"%s\"%s%s%s", path, option,
                                  like != NULL ? "; did you mean \"" : "",
                                  like != NULL ? like->name : "", like != NULL ? "\"?" : "");
                }
                if (o.field->local)
                        cmd_usage("%s: \"%.*s\" is for the command line only", path, n, name);
                cmd_set_note(o.field, !cmd_option_has_default(&o));
        }
}

/* A file comes before a recipe of the same name. The recipes of the source tree are found by their
 * names there, too, wherever the program runs. */
void cmd_config_file_apply(const struct cmd_program *program, const char *name)
{
        static const char source[] = "share/recipes/";
        const bool in_source = strncmp(name, source, sizeof source - 1) == 0;
        const char *file_name = in_source ? name + sizeof source - 1 : name;
        char *folder = strchr(file_name, '/') == NULL ? cmd_beside_program("recipes") : NULL;
        char *recipe = folder != NULL ? path_of(folder, file_name, "") : NULL;
        const bool here = access(name, F_OK) == 0;
        struct ran_record config = {0};
        const struct cmd_group *g;
        struct ran_bytes file;
        struct ran_error err;

        if (recipe != NULL && access(recipe, R_OK) != 0) {
                free(recipe);
                recipe = path_of(folder, file_name, ".json");
        }
        const bool there = recipe != NULL && access(recipe, R_OK) == 0;
        const char *path = there && !here ? recipe : name;
        if (there && here && !in_source)
                cmd_note("--config %s: the file in this folder, not the recipe %s", name, recipe);
        else if (there && !here)
                cmd_note("--config %s: the recipe %s", name, recipe);
        if (ran_bytes_open_within(&file, path, CONFIG_BYTES, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s%s%s", err.text,
                        here || folder == NULL ? "" : ", and there is no recipe of that name in ",
                        here || folder == NULL ? "" : folder);
        const size_t mark = ran_utf8_mark((const char *)file.data, file.size);
        const char *json = (const char *)file.data + mark;
        const size_t n = file.size - mark;
        for (size_t i = 0; (g = cmd_group_at(program, i)) != NULL; i++)
                if (ran_fields_parse(g->fields, g->base, json, n, true, &err) != RAN_OK)
                        cmd_refuse(path, &err);
        if (ran_record_scan(&config, json, n, &err) != RAN_OK)
                cmd_refuse(path, &err);
        check_names(program, path, &config);
        ran_record_release(&config);
        ran_bytes_release(&file);
        free(recipe);
        free(folder);
}
