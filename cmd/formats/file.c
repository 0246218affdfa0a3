/* file.c - all of a file is the text, its path the id; or a line is the text. */
#include <string.h>

#include "cmd/formats/import.h"
#include "cmd/formats/json.h"

/* The name of the folder of a file; empty if the path does not contain it: a.txt, ./a.txt,
 * ../a.txt. */
static struct ran_span folder_of(const char *path)
{
        const char *name = strrchr(path, '/');
        size_t begin = name != NULL ? (size_t)(name - path) + 1 : 0, end;

        do {
                for (end = begin; end > 0 && path[end - 1] == '/';)
                        end--;
                for (begin = end; begin > 0 && path[begin - 1] != '/';)
                        begin--;
        } while (end - begin == 1 && path[begin] == '.');
        if (end - begin == 2 && memcmp(path + begin, "..", 2) == 0)
                return (struct ran_span){0, 0};
        return (struct ran_span){begin, end};
}

/* The record of a bad file has its valid part. */
static int import(const struct import *i, const struct text_line *file, struct ran_buf *out,
                  size_t *line, struct ran_error *err)
{
        size_t n = strlen(file->file), valid = ran_utf8_valid(file->s, file->n);
        struct ran_span folder = folder_of(file->file);
        bool in_folder = folder.begin < folder.end;

        if (ran_utf8_valid(file->file, n) < n)
                return ran_fail(err, RAN_EFORMAT, "the name of the file is not valid UTF-8");
        json_begin(out, '{');
        json_put_string(out, "id", file->file, n);
        if (i->folder_label && in_folder)
                json_put_string(out, "label", file->file + folder.begin, folder.end - folder.begin);
        if (file->why == NULL && valid == file->n)
                json_put_string(out, "text", file->s, file->n);
        json_end(out, '}');
        if (file->why != NULL)
                return ran_fail(err, RAN_EFORMAT, "cannot read the file: %s", file->why);
        const struct kind *kind = kind_of(file->s, file->n);
        if (kind != NULL && (valid < file->n || memchr(file->s, '\0', file->n) != NULL))
                return ran_fail(err, RAN_EFORMAT, "the file is %s: %s", kind->is, kind->advice);
        if (valid < file->n)
                return import_refuse_bytes(file, valid, line, err);
        if (i->folder_label && !in_folder)
                return ran_fail(err, RAN_EFORMAT,
                                "--folder-label: the path of the file has no folder");
        return RAN_OK;
}

const struct import_format import_file = {.unit = LINES_FILE, .any_bytes = true, .import = import};

static int import_line(const struct import *i, const struct text_line *text, struct ran_buf *out,
                       size_t *line, struct ran_error *err)
{
        (void)i;
        (void)line;
        (void)err;
        json_begin(out, '{');
        json_put_string(out, "text", text->s, text->n);
        json_end(out, '}');
        return RAN_OK;
}

const struct import_format import_text = {.unit = LINES_EACH, .import = import_line};
