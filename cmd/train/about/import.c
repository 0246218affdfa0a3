/* import.c - a pretrained encoder in Hugging Face's form as a model file. */
#include "cmd/train/about/about.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/content/model.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"

struct train_import {
        char *output, *prompt;
        int weights; /* RAN_STORAGE_... */
};

#define IMPORT(member) offsetof(struct train_import, member)
static const struct ran_field fields[] = {
        {"output", 'o', RAN_FIELD_TEXT, IMPORT(output), .value = "FILE", .local = true,
         .help = "write the model to FILE; required"},
        {"prompt", 0, RAN_FIELD_TEXT, IMPORT(prompt), .value = "NAME|TEXT", .local = true,
         .help = "begin each window with a prompt of the folder, by name, or with a text; \"\": "
                 "with none (default: the folder's default_prompt_name)"},
        {"weights", 0, RAN_FIELD_CHOICE, IMPORT(weights), .choices = ran_storage_names,
         .value = "TYPE", .initial = "f32", .help = TRAIN_WEIGHTS_HELP},
        {0},
};

/* A file of the folder must not be replaced by what is made of it: only a model that was imported
 * into it before. */
static void check_output(const char *output, const char *folder)
{
        char *file = realpath(output, NULL), *inside = realpath(folder, NULL);
        const size_t n = inside != NULL ? strlen(inside) : 0;
        const bool is = file != NULL && inside != NULL && strncmp(file, inside, n) == 0 &&
                        file[n] == '/' &&
                        (strlen(file) < 4 || strcmp(file + strlen(file) - 4, ".ran") != 0);

        free(file);
        free(inside);
        if (is)
                cmd_usage("%s is a file of the folder that is read: give another output", output);
}

int train_import(int argc, char **argv)
{
        static struct train_import k;
        const struct cmd_group groups[] = {
                {"Output", fields, &k},
                {NULL, NULL, NULL},
        };
        const struct cmd_program program = {
                .name = "ran-train import",
                .usage = "[--prompt NAME] [--weights TYPE] -o FILE FOLDER",
                .summary = "Makes a model of a pretrained encoder: of a folder in Hugging Face's "
                           "form, with config.json, model.safetensors and tokenizer.json, or of "
                           "the package rannet.",
                .notes = "Types: bert, distilbert, roberta, camembert, xlm-roberta, mpnet, "
                         "modernbert; with the heads of classifiers, taggers and masked language "
                         "models, and the modules of Sentence Transformers. Programs read such a "
                         "folder as it is, too: -m FOLDER. Nothing is fetched.",
                .groups = groups,
        };
        int first = cmd_parse(&program, argc, argv);
        const char *folder = argv[first];
        struct ran_error err = {0};
        struct ran_buf what = {0};
        struct about a;
        struct stat st;

        if (first + 1 != argc)
                cmd_usage("give one folder to import");
        if (k.output == NULL)
                cmd_usage("no output file: give -o FILE");
        check_output(k.output, folder);
        cmd_check_writable(k.output);
        if (stat(folder, &st) == 0 && !S_ISDIR(st.st_mode))
                cmd_die(CMD_FAILED,
                        "%s is a file: give the folder with config.json and model.safetensors "
                        "(ran-train convert reads models)",
                        folder);
        if (ran_hf_folder_write(folder, k.prompt, k.weights, k.output, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        train_about_open(&a, k.output);
        train_pretrained_say(&a, &what);
        ran_buf_char(&what, '\0');
        cmd_note("%s: %s", a.path, what.data);
        cmd_model_say_notes(a.model, folder);
        ran_buf_release(&what);
        train_about_release(&a);
        return cmd_finish(CMD_OK);
}
