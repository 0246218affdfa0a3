/* kept-file.c - see kept-file.h. */
#include "nn/kept-file.h"
#include "base/error.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
        const char *format, *holds, *name;
} kinds[] = {
        [RAN_KEPT_VECTORS] = {"ran-vectors", "vectors of documents", "vectors"},
        [RAN_KEPT_ROWS] = {"ran-rows", "rows of tokens", "rows"},
};

const char *ran_kept_format(enum ran_kept kind)
{
        return kinds[kind].format;
}

char *ran_kept_path(const char *path, bool *is_there, struct ran_error *err)
{
        const size_t size = strlen(path) + 1;
        char *copy = ran_alloc(size, 1, err);
        struct stat st;

        *is_there = stat(path, &st) == 0 || errno != ENOENT;
        return copy != NULL ? memcpy(copy, path, size) : NULL;
}

int ran_kept_file_damaged(const char *path, enum ran_kept kind, struct ran_error *err)
{
        return ran_fail(err, RAN_EFORMAT,
                        "%s: this is no file of %s that ran wrote, or it is damaged: remove it "
                        "or name another",
                        path, kinds[kind].name);
}

const char *ran_kept_file_metadata(const struct ran_kept_file *f, const char *key)
{
        const struct ran_metadata *found = ran_tensors_metadata(&f->tensors, key);

        return found != NULL && found->text_n == strlen(found->text) ? found->text : "";
}

static int check_format(const struct ran_kept_file *f, const char *path, enum ran_kept kind,
                        struct ran_error *err)
{
        const char *format = ran_kept_file_metadata(f, "format");
        const enum ran_kept other = kind == RAN_KEPT_ROWS ? RAN_KEPT_VECTORS : RAN_KEPT_ROWS;

        if (strcmp(format, kinds[kind].format) == 0)
                return RAN_OK;
        if (strcmp(format, kinds[other].format) == 0)
                return ran_fail(err, RAN_EFORMAT,
                                "%s: holds %s, and %s are needed here: name another file", path,
                                kinds[other].holds, kinds[kind].holds);
        return ran_kept_file_damaged(path, kind, err);
}

int ran_kept_file_read(struct ran_kept_file *f, const char *path, enum ran_kept kind,
                       char encoder[65], struct ran_error *err)
{
        struct ran_error why = {0};

        RAN_TRY(ran_bytes_open(&f->bytes, path, err));
        if (ran_tensors_read(&f->tensors, &f->bytes, &why) != RAN_OK)
                return why.code == RAN_ENOMEM ? ran_fail(err, RAN_ENOMEM, "%s", why.text)
                                              : ran_kept_file_damaged(path, kind, err);
        RAN_TRY(check_format(f, path, kind, err));
        const char *digest = ran_kept_file_metadata(f, "encoder");
        if (strlen(digest) != 64 || ran_tensors_verify(&f->tensors, &why) != RAN_OK)
                return ran_kept_file_damaged(path, kind, err);
        memcpy(encoder, digest, 65);
        return RAN_OK;
}

void ran_kept_file_release(struct ran_kept_file *f)
{
        ran_tensors_release(&f->tensors);
        ran_bytes_release(&f->bytes);
}
