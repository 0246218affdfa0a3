/* open.c - opens a model: a file, or a folder that is made a model in memory. */
#include "file/model.h"
#include "hf/folder.h"
#include "ran/model.h"

#include <sys/stat.h>

/* A folder in Hugging Face's form is made a model in memory; its digest is right by making. */
static int open_folder(struct ran_model *m, const char *path, struct ran_error *err)
{
        RAN_TRY(ran_hf_folder_bytes(&m->file, path, err));
        m->in_memory = true;
        return ran_model_read(m, false, err);
}

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
        if ((folder ? open_folder(m, path, &why) : ran_model_read(m, verify, &why)) != RAN_OK) {
                ran_fail(err, why.code, "%s: %s", path, why.text);
                ran_model_free(m);
                return NULL;
        }
        return m;
}
