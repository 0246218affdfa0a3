/* open.c - opens a model: a file, or a folder that is made a model in memory. */
#include "file/model.h"
#include "hf/folder.h"
#include "ran/model.h"

#include <sys/stat.h>

struct ran_model *ran_model_open(const char *path, bool verify, struct ran_error *err)
{
        struct ran_model *m = ran_alloc(1, sizeof *m, err);
        struct ran_error why = {0};
        struct stat st;
        const bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);

        if (m == NULL)
                return NULL;
        if (!folder && ran_bytes_open(&m->file, path, err) != RAN_OK) {
                ran_model_free(m);
                return NULL;
        }
        m->in_memory = folder; /* made a model there; its digest is right by making */
        if ((folder && ran_hf_folder_bytes(&m->file, path, &why) != RAN_OK) ||
            ran_model_read(m, verify && !folder, &why) != RAN_OK) {
                ran_fail(err, why.code, "%s: %s", path, why.text);
                ran_model_free(m);
                return NULL;
        }
        return m;
}
