/* folder.c - a folder in Hugging Face's form as a model. See folder.h. */
#include "hf/folder.h"
#include "file/model.h"
#include "ran/model.h"
#include "text/hf/hf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- what the folder says -------------------------------------------------------------------- */

/* The licence in the front matter of a README.md: lines between two of "---". */
void ran_hf_read_readme(struct ran_hf *f, const char *text, size_t n)
{
        static const char key[] = "license:";
        const char *end = text + n, *line = text;

        for (size_t i = 0; line < end && i < 1000; i++) {
                const char *feed = memchr(line, '\n', (size_t)(end - line));
                const char *stop = feed != NULL ? feed : end;
                size_t length = (size_t)(stop - line);
                const bool fence = length >= 3 && memcmp(line, "---", 3) == 0;

                if (fence != (i == 0))
                        return;
                if (length > sizeof key && memcmp(line, key, sizeof key - 1) == 0) {
                        for (line += sizeof key - 1; line < stop && strchr(" '\"[", *line); line++)
                                ;
                        while (stop > line && strchr(" '\"]\r", stop[-1]) != NULL)
                                stop--;
                        free(f->license);
                        f->license = stop > line ? ran_copy(line, (size_t)(stop - line)) : NULL;
                        return;
                }
                line = feed != NULL ? feed + 1 : end;
        }
}

/* Files beside the encoder's, of Sentence Transformers. The first has had several names. */
static int read_sentence(struct ran_hf *f, struct ran_error *err)
{
        static const char *const names[] = {
                "sentence_bert_config.json",        "sentence_roberta_config.json",
                "sentence_distilbert_config.json",  "sentence_camembert_config.json",
                "sentence_xlm-roberta_config.json", "sentence_mpnet_config.json"};
        size_t i = 0;

        RAN_TRY(ran_hf_read_file(f, f->pooling_folder, "config.json", false, ran_hf_read_pooling,
                                 err));
        if (f->dense_folder != NULL)
                RAN_TRY(ran_hf_read_file(f, f->dense_folder, "config.json", false,
                                         ran_hf_read_dense, err));
        while (i + 1 < sizeof names / sizeof *names &&
               !ran_folder_has(f->folder, f->base, names[i]))
                i++;
        RAN_TRY(ran_hf_read_file(f, f->base, names[i], true, ran_hf_read_sentence, err));
        return ran_hf_read_file(f, "", "config_sentence_transformers.json", true,
                                ran_hf_read_prompts, err);
}

static int read_texts(struct ran_hf *f, struct ran_error *err)
{
        struct ran_bytes readme;
        bool absent;

        RAN_TRY(ran_hf_read_file(f, "", "modules.json", true, ran_hf_read_modules, err));
        if (!ran_folder_has(f->folder, f->base, "config.json"))
                return ran_hf_refuse(f, f->base, "config.json", err);
        RAN_TRY(ran_hf_read_file(f, f->base, "config.json", false, ran_hf_read_config, err));
        if (f->sentence)
                RAN_TRY(read_sentence(f, err));
        RAN_TRY(ran_hf_read_file(f, f->base, "tokenizer_config.json", true,
                                 ran_hf_read_tokenizer_config, err));
        int rc = ran_folder_open(&readme, f->folder, "", "README.md", RAN_HF_TEXT_MOST, &absent,
                                 err);
        if (rc == RAN_OK)
                ran_hf_read_readme(f, (const char *)readme.data, readme.size);
        ran_bytes_release(&readme);
        return absent ? RAN_OK : rc;
}

/* ---- metadata -------------------------------------------------------------------------------- */

static void put_member(struct ran_buf *out, const char *name, const char *text)
{
        if (text == NULL)
                return;
        ran_buf_printf(out, ",\"%s\":", name);
        ran_buf_json(out, text, strlen(text));
}

/* What of the folder is left out, for people. */
static void put_notes(struct ran_buf *out, const struct ran_hf *f)
{
        struct ran_buf note = {0};
        const char *between = ",\"notes\":[";

        if (f->code != NULL) {
                ran_buf_printf(&note,
                               "its own code (auto_map: %s) is not run: the weights are read as "
                               "those of model_type %s",
                               f->code, f->type);
                ran_buf_str(out, between);
                ran_buf_json(out, note.data, note.len);
                between = ",";
        }
        if (ran_folder_has(f->folder, "", "model_head.pkl")) {
                ran_buf_str(out, between);
                ran_buf_str(out,
                            "\"model_head.pkl, its classifier, is a pickle, which is a program "
                            "and is not run: train the labels again, with ran-train classify "
                            "--init FOLDER --frozen\"");
                between = ",";
        }
        ran_buf_str(out, between[1] == '\0' ? "]" : "");
        ran_buf_release(&note);
}

static void put_pretrained(struct ran_buf *out, const struct ran_hf *f)
{
        static const char *const poolings[] = {"max", "mean", "cls", "last"};
        const bool rannet = f->family == RAN_HF_RANNET;
        const bool documents =
                f->config.task == RAN_TASK_EMBED || f->config.task == RAN_TASK_CLASSIFY;

        ran_buf_str(out, "{\"model_type\":");
        ran_buf_json(out, f->type, strlen(f->type));
        put_member(out, "architecture", f->architecture);
        put_member(out, "name", f->name);
        put_member(out, "license", f->license);
        ran_buf_printf(out, ",\"tokens\":%zu",
                       rannet ? f->config.window : f->config.bert.max_length);
        if (documents)
                put_member(out, "pooling",
                           poolings[rannet ? f->config.ran.cell_pooling : f->config.pooling]);
        if (f->config.task == RAN_TASK_EMBED && !f->sentence && !rannet)
                ran_buf_str(out, ",\"pooling_assumed\":true");
        if (f->other_head)
                ran_buf_str(out, ",\"head_left_out\":true");
        if (!f->include_prompt)
                ran_buf_str(out, ",\"include_prompt\":false");
        put_member(out, "default_prompt", f->default_prompt);
        put_member(out, "prompt", f->prompt);
        put_member(out, "prompt_name", f->prompt_name);
        put_notes(out, f);
        ran_buf_add(out, "}", 2); /* with the NUL that ends it */
}

/* ---- the model ------------------------------------------------------------------------------- */

static int make_params(const struct ran_hf *f, const struct ran_layout *layout, int storage,
                       const char *path, struct ran_bytes *to, struct ran_error *err)
{
        struct ran_params p;
        struct ran_buf pretrained = {0};
        float *copy = NULL;

        RAN_TRY(ran_hf_check_all(f, layout, err));
        RAN_TRY(ran_params_init(&p, &f->config, f->C, err));
        p.embed = ran_hf_table(ran_hf_find(&f->weights, ran_hf_kinds[f->family].embedding),
                               f->V * f->config.dim, &copy, err);
        put_pretrained(&pretrained, f);
        const struct ran_parts parts = {.config = &f->config,
                                        .layout = layout,
                                        .params = &p,
                                        .V = f->V,
                                        .C = f->C,
                                        .labels = f->label,
                                        .tokenizer = f->tokenizer,
                                        .prompts = f->prompts,
                                        .pretrained = pretrained.data,
                                        .storage = storage};
        int rc = p.embed != NULL ? ran_hf_fill(f, layout, &p, err) : (int)err->code;
        if (rc == RAN_OK)
                rc = ran_model_write(path, to, &parts, err);
        ran_buf_release(&pretrained);
        ran_params_release(&p);
        free(copy);
        return rc;
}

static int make(struct ran_hf *f, int storage, const char *path, struct ran_bytes *to,
                struct ran_error *err)
{
        struct ran_layout layout;
        char *real = realpath(f->folder, NULL); /* of links, too: its last part is the name */
        const char *slash = real != NULL ? strrchr(real, '/') : NULL;

        if (slash != NULL && slash[1] != '\0')
                ran_hf_copy(&f->name, slash + 1);
        free(real);
        ran_hf_copy(&f->base, "");
        RAN_TRY(read_texts(f, err));
        if (f->prompts == NULL)
                RAN_TRY(ran_hf_choose_prompt(f, NULL, err));
        RAN_TRY(ran_hf_weights_open(f, err));
        f->tokenizer = ran_tokenizer_read_folder(f->folder, f->base, f->lower_case, err);
        if (f->tokenizer == NULL)
                return (int)err->code;
        RAN_TRY(ran_hf_settle(f, err));
        if (f->label == NULL && ran_task_has_labels(f->config.task)) {
                f->label = ran_new(f->C, sizeof *f->label);
                f->labels = f->C;
                for (size_t c = 0; c < f->C; c++) { /* as the library names those without names */
                        char name[32];

                        snprintf(name, sizeof name, "LABEL_%zu", c);
                        ran_hf_copy(&f->label[c], name);
                }
        }
        RAN_TRY(ran_layout_init(&layout, &f->config, f->C, err));
        int rc = make_params(f, &layout, storage, path, to, err);
        ran_layout_release(&layout);
        return rc;
}

/* To a file, or to bytes. */
static int convert(const char *folder, const char *prompt, int storage, const char *path,
                   struct ran_bytes *to, struct ran_error *err)
{
        struct ran_hf f = {.folder = folder, .asked = prompt};
        const int rc = make(&f, storage, path, to, err);

        ran_hf_release(&f);
        return rc;
}

int ran_hf_folder_write(const char *folder, const char *prompt, int storage, const char *path,
                        struct ran_error *err)
{
        struct ran_error why = {0};
        const int rc = convert(folder, prompt, storage, path, NULL, &why);

        if (rc == RAN_OK)
                return RAN_OK;
        if (strncmp(why.text, "cannot write ", 13) == 0)
                return ran_fail(err, rc, "%s", why.text);
        return ran_fail(err, rc, "%s: %s", folder, why.text);
}

struct ran_model *ran_model_open(const char *path, bool verify, struct ran_error *err)
{
        struct ran_model *m = ran_new(1, sizeof *m);
        struct ran_error why = {0};
        struct stat st;
        const bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);

        if (!folder && ran_bytes_open(&m->file, path, err) != RAN_OK) {
                ran_model_free(m);
                return NULL;
        }
        m->in_memory = folder; /* made a model there; its digest is right by making */
        if ((folder && convert(path, NULL, RAN_STORAGE_F32, NULL, &m->file, &why) != RAN_OK) ||
            ran_model_read(m, verify && !folder, &why) != RAN_OK) {
                ran_fail(err, why.code, "%s: %s", path, why.text);
                ran_model_free(m);
                return NULL;
        }
        return m;
}
