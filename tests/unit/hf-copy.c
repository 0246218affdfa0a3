#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hf-copy.h"
#include "ran.h"
#include "test.h"

char *hf_copy(const char *name)
{
        static int number;
        char unique[32], command[1024];

        snprintf(unique, sizeof unique, "copy-%d", number++);
        char *to = test_path(unique);
        snprintf(command, sizeof command, "cp -R " HF_FOLDERS "/%s '%s'", name, to);
        if (system(command) != 0)
                abort();
        return to;
}

char *hf_read(const char *folder, const char *name, size_t *n)
{
        char path[1024];
        struct ran_bytes file;
        struct ran_error err;

        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (ran_bytes_open(&file, path, &err) != RAN_OK)
                abort();
        char *bytes = malloc(file.size + 1);
        memcpy(bytes, file.data, file.size);
        *n = file.size;
        ran_bytes_release(&file);
        return bytes;
}

void hf_write(const char *folder, const char *name, const void *bytes, size_t n)
{
        char path[1024];

        snprintf(path, sizeof path, "%s/%s", folder, name);
        FILE *f = fopen(path, "wb");
        if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
                abort();
}

void hf_replace(const char *folder, const char *name, const char *what, const char *with)
{
        size_t n;
        char *bytes = hf_read(folder, name, &n), *at = memmem(bytes, n, what, strlen(what));
        struct ran_buf out = {0};

        if (at == NULL) {
                printf("%s/%s has no %s\n", folder, name, what);
                abort();
        }
        ran_buf_add(&out, bytes, (size_t)(at - bytes));
        ran_buf_str(&out, with);
        at += strlen(what);
        ran_buf_add(&out, at, n - (size_t)(at - bytes));
        hf_write(folder, name, out.data, out.len);
        ran_buf_release(&out);
        free(bytes);
}

void hf_drop(const char *folder, const char *name)
{
        char path[1024];

        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (unlink(path) != 0)
                abort();
}

void hf_rename_tensors(const char *folder, const char *what, const char *with)
{
        size_t n, found = 0;
        uint64_t header_n;
        char *bytes = hf_read(folder, "model.safetensors", &n);
        struct ran_buf out = {0};

        memcpy(&header_n, bytes, sizeof header_n);
        ran_buf_add(&out, bytes, sizeof header_n);
        for (const char *at = bytes + 8, *end = at + header_n; at < end;) {
                /* A name stands before a colon and an object. */
                if (*at == '"' && (at[-1] == ',' || at[-1] == '{') &&
                    strncmp(at + 1, what, strlen(what)) == 0 && strchr(at, ':')[1] == '{') {
                        ran_buf_printf(&out, "\"%s", with);
                        at += 1 + strlen(what);
                        found++;
                } else {
                        ran_buf_char(&out, *at++);
                }
        }
        if (found == 0)
                abort();
        const uint64_t renamed_n = out.len - sizeof renamed_n;
        memcpy(out.data, &renamed_n, sizeof renamed_n);
        ran_buf_add(&out, bytes + 8 + header_n, n - 8 - header_n);
        hf_write(folder, "model.safetensors", out.data, out.len);
        ran_buf_release(&out);
        free(bytes);
}

void hf_add_tensor(const char *folder, const char *name, size_t rows, size_t cols, float value,
                   const char *of)
{
        size_t n, begin = 0;
        uint64_t header_n = 0;
        char *bytes = hf_read(folder, "model.safetensors", &n);
        struct ran_buf header = {0};

        memcpy(&header_n, bytes, 8);
        const size_t data = n - 8 - header_n, size = rows * cols * sizeof value;
        if (of != NULL) {
                const char *at = memmem(bytes, 8 + header_n, of, strlen(of));
                if (at == NULL || (at = strstr(at, "\"data_offsets\":[")) == NULL)
                        abort();
                begin = strtoul(at + 16, NULL, 10);
        }
        ran_buf_printf(&header, "{\"%s\":{\"dtype\":\"F32\",\"shape\":[%zu,%zu],", name, rows,
                       cols);
        ran_buf_printf(&header, "\"data_offsets\":[%zu,%zu]},", data, data + size);
        ran_buf_add(&header, bytes + 9, header_n - 1);
        header_n = header.len;
        char *out = malloc(8 + header_n + data + size);
        memcpy(out, &header_n, 8);
        memcpy(out + 8, header.data, header_n);
        memcpy(out + 8 + header_n, bytes + n - data, data);
        for (size_t i = 0; i < rows * cols; i++)
                memcpy(out + 8 + header_n + data + i * sizeof value, &value, sizeof value);
        if (of != NULL)
                memcpy(out + 8 + header_n + data, out + 8 + header_n + begin, size);
        hf_write(folder, "model.safetensors", out, 8 + header_n + data + size);
        ran_buf_release(&header);
        free(bytes);
        free(out);
}
