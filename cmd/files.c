/* files.c - which files are read: operands, folders among them, and lists of names. */
#include "files.h"

#include <errno.h>
#include <fts.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lines.h"

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

static int add(struct files *f, char *name, bool document, struct ran_error *err)
{
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

static int by_name(const FTSENT **a, const FTSENT **b)
{
        return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int refuse(const FTSENT *entry, struct ran_error *err)
{
        const char *why = entry->fts_info == FTS_DC       ? "this folder is one that it is in"
                          : entry->fts_info == FTS_SLNONE ? "this link leads nowhere"
                                                          : strerror(entry->fts_errno);

        return ran_fail(err, RAN_EIO, "cannot read %s: %s", entry->fts_path, why);
}

static int add_entry(struct files *f, FTS *folder, FTSENT *entry, bool document,
                     struct ran_error *err)
{
        bool hidden = entry->fts_level > 0 && entry->fts_name[0] == '.';

        if (hidden && entry->fts_info == FTS_D)
                fts_set(folder, entry, FTS_SKIP);
        if (hidden || entry->fts_info == FTS_D || entry->fts_info == FTS_DP)
                return RAN_OK;
        if (entry->fts_info != FTS_F && entry->fts_info != FTS_DEFAULT)
                return refuse(entry, err);
        if (entry->fts_info == FTS_DEFAULT) {
                cmd_note("%s is no file, and is left out", entry->fts_path);
                return RAN_OK;
        }
        char *name = strdup(entry->fts_path);
        if (name == NULL)
                return ran_fail(err, RAN_ENOMEM, "out of memory");
        char **grown = ran_grow(found.item, &found.cap, found.n + 1, sizeof(*grown), err);
        if (grown == NULL) {
                free(name);
                return RAN_ENOMEM;
        }
        found.item = grown;
        found.item[found.n++] = name;
        return add(f, name, document, err);
}

static int add_folder(struct files *f, char *path, bool document, struct ran_error *err)
{
        char *roots[] = {path, NULL};
        FTS *folder = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
        size_t before = f->n;
        int code = RAN_OK;
        FTSENT *entry;

        if (folder == NULL)
                return ran_fail(err, RAN_EIO, "cannot read %s: %s", path, strerror(errno));
        errno = 0;
        while (code == RAN_OK && (entry = fts_read(folder)) != NULL)
                code = add_entry(f, folder, entry, document, err);
        if (code == RAN_OK && errno != 0)
                code = ran_fail(err, RAN_EIO, "cannot read %s: %s", path, strerror(errno));
        fts_close(folder);
        if (code == RAN_OK && f->n == before)
                code = ran_fail(err, RAN_EIO, "%s: there is no file in this folder", path);
        return code;
}

int files_expand(struct files *f, char **operands, int format, struct ran_error *err)
{
        static char *standard_input[] = {"-", NULL};
        int code = RAN_OK;

        *f = (struct files){0};
        if (operands[0] == NULL)
                operands = standard_input;
        for (; *operands != NULL && code == RAN_OK; operands++) {
                struct stat status;
                bool automatic = format == CMD_FORMAT_AUTO, whole = format == CMD_FORMAT_FILE;
                if (strcmp(*operands, "-") != 0 && stat(*operands, &status) == 0 &&
                    S_ISDIR(status.st_mode))
                        code = add_folder(f, *operands, whole || automatic, err);
                else
                        code = add(f, *operands, whole || (automatic && is_listed(*operands)), err);
        }
        return code;
}

void files_release(struct files *f)
{
        free(f->name);
        free(f->document);
        *f = (struct files){0};
}
