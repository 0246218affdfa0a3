/* files.c - the files of a folder, and those that cannot be read. See folder.h. */
#include "hf/folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

int ran_hf_blame(int rc, const char *base, const char *name, const struct ran_error *why,
                 struct ran_error *err)
{
        return ran_fail(err, rc, "%s%s%s: %s", base, base[0] != '\0' ? "/" : "", name, why->text);
}

int ran_hf_read_file(struct ran_hf *f, const char *base, const char *name, bool optional,
                     ran_hf_reader *read, struct ran_error *err)
{
        struct ran_bytes file;
        struct ran_error why = {0};
        bool absent;
        cJSON *all;
        int rc = ran_folder_open(&file, f->folder, base, name, RAN_HF_TEXT_MOST, &absent, err);

        if (absent && optional)
                return RAN_OK;
        RAN_TRY(rc);
        rc = ran_cjson_read(&all, (const char *)file.data, file.size,
                            strcmp(name, "modules.json") == 0, &why);
        if (rc == RAN_OK)
                rc = read(f, all, &why);
        cJSON_Delete(all);
        ran_bytes_release(&file);
        return rc == RAN_OK ? RAN_OK : ran_hf_blame(rc, base, name, &why, err);
}

void ran_hf_copy(char **to, const char *text)
{
        char *copy = ran_copy(text, strlen(text));

        free(*to);
        *to = copy;
}

bool ran_hf_look_up(const struct ran_hf_word *table, const char *name, int *value)
{
        for (; table->name != NULL; table++)
                if (strcmp(name, table->name) == 0) {
                        *value = table->value;
                        return true;
                }
        return false;
}

/* ---- what cannot be read --------------------------------------------------------------------- */

/* Weights in other forms, by the end of their names. */
static const char pickle[] = "a pickle, which is a program and is not run",
                  made_from[] = "get the folder with model.safetensors that it was made from",
                  save[] = "save it as safetensors first";
static const struct other {
        const char *end, *what, *remedy;
} others[] = {
        {".bin", pickle,
         "convert it, in that folder, with: python3 -c \"import glob,torch,safetensors.torch as s;"
         "s.save_file({k:v.contiguous().clone() for f in glob.glob('pytorch_model*.bin') for k,v "
         "in "
         "torch.load(f,'cpu',weights_only=True).items()},'model.safetensors')\""},
        {".gguf", "GGUF", made_from},
        {".onnx", "ONNX", made_from},
        {".h5", "Keras or TensorFlow",
         "save it as safetensors first, with from_pretrained(..., from_tf=True) of version 4 of "
         "the library transformers"},
        {".keras", "Keras", made_from},
        {".msgpack", "Flax",
         "save it as safetensors first, with from_pretrained(..., from_flax=True) of version 4 of "
         "the library transformers"},
        {".ckpt.index", "the table of a checkpoint of TensorFlow", save},
        {".ckpt", "a checkpoint of PyTorch or TensorFlow", save},
        {".pt", pickle, save},
        {".pth", pickle, save},
        {".ot", "rust-bert", made_from},
};

size_t ran_hf_find_files(const char *folder, const char *end, struct ran_buf *name)
{
        DIR *d = opendir(folder);
        const struct dirent *entry;
        size_t found = 0;

        while (d != NULL && (entry = readdir(d)) != NULL) {
                const size_t n = strlen(entry->d_name), m = strlen(end);

                if (n <= m || strcmp(entry->d_name + n - m, end) != 0 ||
                    strcmp(entry->d_name, "training_args.bin") == 0)
                        continue;
                if (found++ > 0 && strcmp(entry->d_name, name->data) > 0)
                        continue;
                name->len = 0;
                ran_buf_add(name, entry->d_name, n + 1);
        }
        if (d != NULL)
                closedir(d);
        return found;
}

int ran_hf_refuse(const struct ran_hf *f, const char *base, const char *missing,
                  struct ran_error *err)
{
        struct ran_buf path = {0}, name = {0};

        ran_buf_printf(&path, "%s/%s", f->folder, base); /* and a NUL */
        const struct other *found = others, *const end = others + sizeof others / sizeof *others;
        int rc;

        while (found < end && ran_hf_find_files(path.data, found->end, &name) == 0)
                found++;
        if (found == end && ran_folder_has(f->folder, base, "onnx/model.onnx")) {
                ran_buf_add(&name, "onnx/model.onnx", sizeof "onnx/model.onnx");
                for (found = others; strcmp(found->end, ".onnx") != 0;)
                        found++;
        }
        if (ran_folder_has(f->folder, base, "adapter_config.json"))
                rc = ran_fail(err, RAN_EFORMAT,
                              "it holds an adapter (PEFT), not a whole model: merge the two first, "
                              "with merge_and_unload() of the library peft");
        else if (found < end)
                rc = ran_fail(err, RAN_EFORMAT, "it has no %s; %s is %s: %s", missing, name.data,
                              found->what, found->remedy);
        else
                rc = ran_fail(err, RAN_EFORMAT,
                              "it has no %s: a folder in Hugging Face's form has config.json, "
                              "model.safetensors and tokenizer.json",
                              missing);
        ran_buf_release(&path);
        ran_buf_release(&name);
        return rc;
}
