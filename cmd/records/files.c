/* files.c - which files are read: operands, folders among them, and lists of names. */
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

/* The names that were listed point into it. */
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

        lines_open_whole(&l, &file, 1);
        if (lines_next(&l, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        if (l.line[0].why != 0)
                cmd_die(CMD_FAILED, "cannot open %s: %s", file, strerror(l.line[0].why));
        ran_buf_add(&list, l.line[0].s, l.line[0].n);
        ran_buf_char(&list, '\0');
        lines_close(&l);
        if (list.failed)
                cmd_die(CMD_FAILED, "no memory for the names in %s", file);
}

/* Ends each name with a NUL; where there is one already, line feeds are part of names. */
static void cut_list(void)
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
        cut_list();
        for (size_t at = 0; next_name(&at) != NULL;)
                names++;
        if (names == 0)
                cmd_die(CMD_FAILED, "%s names no file", input->files_from);
        while (operands[n] != NULL)
                n++;
        all = ran_alloc(n + names + 1, sizeof(*all), &err);
        if (all == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        memcpy(all, operands, n * sizeof(*all));
        for (size_t at = 0; (all[n] = next_name(&at)) != NULL;)
                n++;
        return all;
}

/* ---- folders -------------------------------------------------------------------------------- */

/* Names in folders; messages and records use them for as long as the program runs. */
static struct ran_list found;

/* What cannot be read is found out before the work begins, not hours into it; but a document among
 * others does not keep them from being read. */
static int add(struct files *f, char *name, bool document, bool among_others, struct ran_error *err)
{
        if (!(document && among_others) && strcmp(name, "-") != 0 && access(name, R_OK) != 0)
                return ran_fail(err, RAN_EIO, "cannot open %s: %s", name, strerror(errno));
        char **names = ran_grow(f->name, &f->name_cap, f->n + 2, sizeof(*names), err);
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

/* A walk over the files of a folder. The paths that wait for their turn are a stack: what was found
 * last comes first. */
struct walk {
        struct waiting {
                char *path;
                size_t depth; /* folders that it is in, from the first on */
        } * stack;
        struct place { /* of a folder */
                dev_t device;
                ino_t number;
        } * above; /* those that the folder at hand is in */
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
        struct waiting *stack = ran_grow(w->stack, &w->cap, w->n + 1, sizeof(*stack), err);
        size_t n = strlen(folder);
        bool slash = n > 0 && folder[n - 1] == '/';

        if (stack == NULL)
                return RAN_ENOMEM;
        w->stack = stack;
        char *path = ran_alloc(n + strlen(name) + 2, 1, err);
        if (path == NULL)
                return RAN_ENOMEM;
        memcpy(path, folder, n);
        if (name[0] != '\0' && !slash)
                path[n++] = '/';
        memcpy(path + n, name, strlen(name));
        stack[w->n++] = (struct waiting){path, depth};
        return RAN_OK;
}

/* The last first, as they go onto a stack. */
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
        int code = RAN_OK;

        if (folder == NULL)
                return cannot_read(path, strerror(errno), err);
        do {
                errno = 0;
                entry = readdir(folder);
                if (entry == NULL && errno != 0)
                        code = cannot_read(path, strerror(errno), err);
                if (entry != NULL && entry->d_name[0] != '.')
                        code = push(w, path, entry->d_name, depth + 1, err);
        } while (entry != NULL && code == RAN_OK);
        closedir(folder);
        if (w->n > before)
                qsort(w->stack + before, w->n - before, sizeof(*w->stack), by_name);
        return code;
}

static int enter(struct walk *w, const char *path, size_t depth, const struct stat *status,
                 struct ran_error *err)
{
        struct place *above = ran_grow(w->above, &w->above_cap, depth + 1, sizeof(*above), err);

        if (above == NULL)
                return RAN_ENOMEM;
        w->above = above;
        above[depth] = (struct place){status->st_dev, status->st_ino};
        for (size_t i = 0; i < depth; i++)
                if (above[i].device == status->st_dev && above[i].number == status->st_ino)
                        return cannot_read(path, "this folder is one that it is in", err);
        return push_entries(w, path, depth, err);
}

/* Whether the name of a file says that it holds many records, so that it is not taken whole. */
static bool holds_records(const char *name)
{
        static const char *const ends[] = {".jsonl", ".ndjson", ".conll", ".conllu", ".tsv"};
        size_t n = strlen(name);

        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                size_t m = strlen(ends[i]);
                if (n > m && memcmp(name + n - m, ends[i], m) == 0)
                        return true;
        }
        return false;
}

/* The names live as long as the program. */
static int add_found(struct files *f, char *path, bool document, struct ran_error *err)
{
        char **grown = ran_grow(found.item, &found.cap, found.n + 1, sizeof(*grown), err);
        char *name = grown != NULL ? strdup(path) : NULL;

        if (grown != NULL)
                found.item = grown;
        if (name == NULL)
                return ran_fail(err, RAN_ENOMEM, "no memory for the names of files");
        found.item[found.n++] = name;
        return add(f, name, document, true, err);
}

/* What cannot be looked at, a link to nowhere, say, is a file that cannot be read. */
static int visit(struct files *f, struct walk *w, const struct waiting *at, int format,
                 struct ran_error *err)
{
        bool automatic = format == CMD_FORMAT_AUTO;
        struct stat status = {.st_mode = S_IFREG};

        stat(at->path, &status);
        if (S_ISDIR(status.st_mode))
                return enter(w, at->path, at->depth, &status, err);
        if (S_ISREG(status.st_mode))
                return add_found(
                        f, at->path,
                        format == CMD_FORMAT_FILE || (automatic && !holds_records(at->path)), err);
        cmd_note("%s is no file, and is left out", at->path);
        return RAN_OK;
}

static int add_folder(struct files *f, const char *path, int format, struct ran_error *err)
{
        size_t before = f->n;
        struct walk w = {0};
        int code = push(&w, path, "", 0, err);

        while (code == RAN_OK && w.n > 0) {
                struct waiting at = w.stack[--w.n];
                code = visit(f, &w, &at, format, err);
                free(at.path);
        }
        walk_release(&w);
        if (code == RAN_OK && f->n == before)
                code = ran_fail(err, RAN_EIO, "%s: there is no file in this folder", path);
        return code;
}

/* Whether an operand, or a name that --files-from lists, is a document. */
static bool is_document(const char *name, const struct cmd_input *input)
{
        bool named_whole = is_listed(name) || (input->folder_label && strcmp(name, "-") != 0);

        if (input->input_format == CMD_FORMAT_AUTO)
                return named_whole && !holds_records(name);
        return input->input_format == CMD_FORMAT_FILE;
}

int files_expand(struct files *f, char **operands, const struct cmd_input *input,
                 struct ran_error *err)
{
        static char *standard_input[] = {"-", NULL};
        int code = RAN_OK;

        *f = (struct files){0};
        if (operands[0] == NULL)
                operands = standard_input;
        for (; *operands != NULL && code == RAN_OK; operands++) {
                struct stat status;
                if (strcmp(*operands, "-") != 0 && stat(*operands, &status) == 0 &&
                    S_ISDIR(status.st_mode))
                        code = add_folder(f, *operands, input->input_format, err);
                else
                        code = add(f, *operands, is_document(*operands, input),
                                   is_listed(*operands), err);
        }
        return code;
}

void files_release(struct files *f)
{
        free(f->name);
        free(f->document);
        *f = (struct files){0};
}
