/* files.c - the input files: operands, files of folders, and lists of names. */
#include "cmd/records/loop.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/options/message.h"

/* ---- --files-from --------------------------------------------------------------------------- */

/* The listed names point into it. */
static struct ran_buf list;

static bool is_listed(const char *name)
{
        uintptr_t at = (uintptr_t)name, begin = (uintptr_t)list.data;

        return list.data != NULL && at >= begin && at < begin + list.len;
}

/* Each name ends with a NUL. If the list has any NUL already, line feeds are part of names. */
static void read_list(char *file)
{
        struct ran_error err;
        struct lines l;

        lines_open_files(&l, &file, 1);
        if (lines_next(&l, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        if (l.line[0].why != NULL)
                cmd_die(CMD_FAILED, "cannot open %s: %s", file, l.line[0].why);
        ran_buf_add(&list, l.line[0].s, l.line[0].n);
        ran_buf_char(&list, '\0');
        lines_close(&l);
        const bool split = memchr(list.data, '\0', list.len - 1) != NULL;
        for (size_t i = 0; i < list.len && !split; i++) {
                bool return_too = i > 0 && list.data[i] == '\n' && list.data[i - 1] == '\r';
                if (list.data[i] == '\n')
                        list.data[i - return_too] = list.data[i] = '\0';
        }
}

/* The name from *at on; NULL behind the last. */
static char *next_name(size_t *at)
{
        while (*at < list.len && list.data[*at] == '\0')
                ++*at;
        if (*at == list.len)
                return NULL;
        char *name = list.data + *at;
        *at += strlen(name);
        return name;
}

char **cmd_files(const struct cmd_input *input, char **operands)
{
        size_t n = 0, names = 0;
        static char **all;

        if (input->files_from == NULL)
                return operands;
        read_list(input->files_from);
        for (size_t at = 0; next_name(&at) != NULL;)
                names++;
        if (names == 0)
                cmd_die(CMD_FAILED, "%s lists no file", input->files_from);
        while (operands[n] != NULL)
                n++;
        all = ran_new(n + names + 1, sizeof *all);
        memcpy(all, operands, n * sizeof *all);
        for (size_t at = 0; (all[n] = next_name(&at)) != NULL;)
                n++;
        return all;
}

/* ---- folders -------------------------------------------------------------------------------- */

/* Names in folders; messages and records use them until the program ends. */
static struct ran_list found;

/* A file that cannot be opened fails before the work begins, not hours into it. But one bad
 * document of many must not stop the others. */
static int add(struct files *f, char *name, bool document, bool among_others, struct ran_error *err)
{
        if (!(document && among_others) && strcmp(name, "-") != 0 && access(name, R_OK) != 0)
                return ran_fail(err, RAN_EIO, "cannot open %s: %s", name, strerror(errno));
        RAN_ROOM(f->name, f->name_cap, f->n + 2);
        RAN_ROOM(f->document, f->document_cap, f->n + 1);
        f->document[f->n] = document;
        f->name[f->n++] = name;
        f->name[f->n] = NULL;
        return RAN_OK;
}

/* Whether a file is one document. by_itself: unless its name or an option says more. */
static bool is_document(const char *name, const struct cmd_input *input, bool by_itself)
{
        const bool detects = input->side != NULL && input->side_format == 0;
        const struct import_format *format =
                import_choice(input->side_format > 0 ? input->side_format : input->input_format);
        const bool whole = format == NULL || format->unit == LINES_FILE;

        return whole && ((format != NULL && !detects) || (by_itself && !import_has_ending(name)));
}

/* A folder, and those around it. */
struct folder {
        const struct folder *above;
        dev_t device;
        ino_t number;
};

static int by_name(const struct dirent **a, const struct dirent **b)
{
        return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_shown(const struct dirent *entry)
{
        return entry->d_name[0] != '.';
}

static int cannot_read(const char *path, const char *why, struct ran_error *err)
{
        return ran_fail(err, RAN_EIO, "cannot read %s: %s", path, why);
}

static int add_folder(struct files *f, const char *path, const struct cmd_input *input,
                      const struct folder *above, struct ran_error *err);

/* A file of a folder, or a folder in it. If stat fails, as for a dangling link, the file is
 * unreadable. Names live as long as the program. */
static int add_found(struct files *f, char *path, const struct cmd_input *input,
                     const struct folder *above, struct ran_error *err)
{
        struct stat status = {.st_mode = S_IFREG};

        stat(path, &status);
        if (S_ISDIR(status.st_mode))
                return add_folder(f, path, input, above, err);
        if (S_ISREG(status.st_mode)) {
                RAN_ROOM(found.item, found.cap, found.n + 1);
                found.item[found.n] = ran_copy(path, strlen(path));
                return add(f, found.item[found.n++], is_document(path, input, true), true, err);
        }
        cmd_note("skipping %s: not a file", path);
        return RAN_OK;
}

static int add_folder(struct files *f, const char *path, const struct cmd_input *input,
                      const struct folder *above, struct ran_error *err)
{
        const size_t length = strlen(path);
        const char *slash = length > 0 && path[length - 1] == '/' ? "" : "/";
        struct folder here = {.above = above};
        struct dirent **entry;
        struct ran_buf name = {0};
        struct stat status;
        int rc = RAN_OK;

        if (stat(path, &status) != 0)
                return cannot_read(path, strerror(errno), err);
        here.device = status.st_dev;
        here.number = status.st_ino;
        for (; above != NULL; above = above->above)
                if (above->device == here.device && above->number == here.number)
                        return cannot_read(path, "a link leads back to this folder", err);
        const int n = scandir(path, &entry, is_shown, by_name);
        if (n < 0)
                return cannot_read(path, strerror(errno), err);
        for (int i = 0; i < n; i++) {
                name.len = 0;
                ran_buf_printf(&name, "%s%s%s%c", path, slash, entry[i]->d_name, '\0');
                if (rc == RAN_OK)
                        rc = add_found(f, name.data, input, &here, err);
                free(entry[i]);
        }
        free(entry);
        ran_buf_release(&name);
        return rc;
}

int files_expand(struct files *f, char **operands, const struct cmd_input *input,
                 struct ran_error *err)
{
        static char *standard_input[] = {"-", NULL};
        int rc = RAN_OK;

        *f = (struct files){0};
        if (operands[0] == NULL)
                operands = standard_input;
        for (; *operands != NULL && rc == RAN_OK; operands++) {
                const bool file = strcmp(*operands, "-") != 0;
                struct stat status;
                if (file && stat(*operands, &status) == 0 && S_ISDIR(status.st_mode)) {
                        const size_t before = f->n;
                        rc = add_folder(f, *operands, input, NULL, err);
                        if (rc == RAN_OK && f->n == before)
                                rc = ran_fail(err, RAN_EIO, "%s: no file in this folder",
                                              *operands);
                        continue;
                }
                rc = add(f, *operands,
                         is_document(*operands, input,
                                     is_listed(*operands) || (input->folder_label && file)),
                         is_listed(*operands), err);
        }
        return rc;
}

void files_release(struct files *f)
{
        free(f->name);
        free(f->document);
        *f = (struct files){0};
}
