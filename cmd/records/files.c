/* files.c - the input files: operands, files of folders, and lists of names. */
#include "cmd/records/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/formats/import.h"
#include "cmd/formats/lines.h"
#include "cmd/options/message.h"

/* ---- --files-from --------------------------------------------------------------------------- */

/* The listed names point into it. */
static struct ran_buf list;

static bool is_listed(const char *name)
{
        uintptr_t at = (uintptr_t)name, begin = (uintptr_t)list.data;

        return list.data != NULL && at >= begin && at < begin + list.len;
}

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
        if (list.failed)
                cmd_die(CMD_FAILED, "no memory for the names in %s", file);
}

/* Ends each name with a NUL. If the list has any NUL already, line feeds are part of names. */
static void split_list(void)
{
        if (memchr(list.data, '\0', list.len - 1) != NULL)
                return;
        for (size_t i = 0; i < list.len; i++) {
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
        struct ran_error err;
        size_t n = 0, names = 0;
        static char **all;

        if (input->files_from == NULL)
                return operands;
        read_list(input->files_from);
        split_list();
        for (size_t at = 0; next_name(&at) != NULL;)
                names++;
        if (names == 0)
                cmd_die(CMD_FAILED, "%s lists no file", input->files_from);
        while (operands[n] != NULL)
                n++;
        all = ran_alloc(n + names + 1, sizeof *all, &err);
        if (all == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        memcpy(all, operands, n * sizeof *all);
        for (size_t at = 0; (all[n] = next_name(&at)) != NULL;)
                n++;
        return all;
}

char **cmd_files_of(const struct ran_list *list)
{
        static char *none[] = {NULL};

        return list->n > 0 ? list->item : none;
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
        char **names = ran_grow(f->name, &f->name_cap, f->n + 2, sizeof *names, err);
        if (names == NULL)
                return RAN_ENOMEM;
        f->name = names;
        bool *documents = ran_grow(f->document, &f->document_cap, f->n + 1, sizeof(bool), err);
        if (documents == NULL)
                return RAN_ENOMEM;
        f->document = documents;
        documents[f->n] = document;
        names[f->n++] = name;
        names[f->n] = NULL;
        return RAN_OK;
}

/* A walk over the files of a folder, with a stack of paths to visit: the last one found is the
 * first one visited. */
struct walk {
        struct waiting {
                char *path;
                size_t depth; /* folders around it */
        } * stack;
        struct folder {
                dev_t device;
                ino_t number;
        } * above; /* (depth) the folders around the current one */
        size_t n, cap, above_cap;
};

static void walk_release(struct walk *w)
{
        while (w->n > 0)
                free(w->stack[--w->n].path);
        free(w->stack);
        free(w->above);
}

static int push(struct walk *w, const char *folder, const char *name, size_t depth,
                struct ran_error *err)
{
        struct waiting *stack = ran_grow(w->stack, &w->cap, w->n + 1, sizeof *stack, err);
        size_t n = strlen(folder), size = n + strlen(name) + 2;
        bool slash = name[0] != '\0' && !(n > 0 && folder[n - 1] == '/');

        if (stack == NULL)
                return RAN_ENOMEM;
        w->stack = stack;
        char *path = ran_alloc(size, 1, err);
        if (path == NULL)
                return RAN_ENOMEM;
        snprintf(path, size, "%s%s%s", folder, slash ? "/" : "", name);
        stack[w->n++] = (struct waiting){path, depth};
        return RAN_OK;
}

/* Descending: they go onto a stack. */
static int by_name(const void *a, const void *b)
{
        const struct waiting *x = a, *y = b;

        return -strcmp(x->path, y->path);
}

static int cannot_read(const char *path, const char *why, struct ran_error *err)
{
        return ran_fail(err, RAN_EIO, "cannot read %s: %s", path, why);
}

static int push_entries(struct walk *w, const char *path, size_t depth, struct ran_error *err)
{
        DIR *folder = opendir(path);
        const struct dirent *entry = NULL;
        size_t before = w->n;
        int rc = RAN_OK;

        if (folder == NULL)
                return cannot_read(path, strerror(errno), err);
        do {
                errno = 0;
                entry = readdir(folder);
                if (entry == NULL && errno != 0)
                        rc = cannot_read(path, strerror(errno), err);
                if (entry != NULL && entry->d_name[0] != '.')
                        rc = push(w, path, entry->d_name, depth + 1, err);
        } while (entry != NULL && rc == RAN_OK);
        closedir(folder);
        if (w->n > before)
                qsort(w->stack + before, w->n - before, sizeof *w->stack, by_name);
        return rc;
}

static int enter(struct walk *w, const char *path, size_t depth, const struct stat *status,
                 struct ran_error *err)
{
        struct folder *above = ran_grow(w->above, &w->above_cap, depth + 1, sizeof *above, err);

        if (above == NULL)
                return RAN_ENOMEM;
        w->above = above;
        above[depth] = (struct folder){status->st_dev, status->st_ino};
        for (size_t i = 0; i < depth; i++)
                if (above[i].device == status->st_dev && above[i].number == status->st_ino)
                        return cannot_read(path, "a link leads back to this folder", err);
        return push_entries(w, path, depth, err);
}

/* The names live as long as the program. */
static int add_found(struct files *f, char *path, bool document, struct ran_error *err)
{
        char **grown = ran_grow(found.item, &found.cap, found.n + 1, sizeof *grown, err);
        char *name = grown != NULL ? strdup(path) : NULL;

        if (grown != NULL)
                found.item = grown;
        if (name == NULL)
                return ran_fail(err, RAN_ENOMEM, "no memory for file names");
        found.item[found.n++] = name;
        return add(f, name, document, true, err);
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

/* If stat fails, as for a dangling link, the file is unreadable. */
static int visit(struct files *f, struct walk *w, const struct waiting *at,
                 const struct cmd_input *input, struct ran_error *err)
{
        bool document = is_document(at->path, input, true);
        struct stat status = {.st_mode = S_IFREG};

        stat(at->path, &status);
        if (S_ISDIR(status.st_mode))
                return enter(w, at->path, at->depth, &status, err);
        if (S_ISREG(status.st_mode))
                return add_found(f, at->path, document, err);
        cmd_note("skipping %s: not a file", at->path);
        return RAN_OK;
}

static int add_folder(struct files *f, const char *path, const struct cmd_input *input,
                      struct ran_error *err)
{
        size_t before = f->n;
        struct walk w = {0};
        int rc = push(&w, path, "", 0, err);

        while (rc == RAN_OK && w.n > 0) {
                struct waiting at = w.stack[--w.n];
                rc = visit(f, &w, &at, input, err);
                free(at.path);
        }
        walk_release(&w);
        if (rc == RAN_OK && f->n == before)
                rc = ran_fail(err, RAN_EIO, "%s: no file in this folder", path);
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
                if (file && stat(*operands, &status) == 0 && S_ISDIR(status.st_mode))
                        rc = add_folder(f, *operands, input, err);
                else
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
