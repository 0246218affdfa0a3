/* convert.c - a model with its weights stored in another way. */
#include "cmd/train/about/about.h"

#include <sys/stat.h>

#include "cmd/options/message.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"
#include "cmd/content/model.h"

struct convert {
        char *output;
        int weights; /* RAN_STORAGE_... */
        bool fingerprints;
};

#define CONVERT(member) offsetof(struct convert, member)
static const struct ran_field fields[] = {
        {"output", 'o', RAN_FIELD_TEXT, CONVERT(output), .value = "FILE", .local = true,
         .help = "write the converted model to FILE; required"},
        {"weights", 0, RAN_FIELD_CHOICE, CONVERT(weights), .choices = ran_storage_names,
         .value = "TYPE", .initial = "i8", .help = TRAIN_WEIGHTS_HELP},
        {"fingerprints", 0, RAN_FIELD_BOOL, CONVERT(fingerprints), .initial = "true",
         .help = "keep the fingerprints by which the model knows its training documents"},
        {0},
};

static void convert(const struct convert *k, const char *path)
{
        struct stat file;
        char before[32], after[32];
        struct ran_error err = {0};
        struct ran_model *m = cmd_model_load(path, true, &err);

        if (m == NULL ||
            ran_model_convert(m, k->weights, k->fingerprints, k->output, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        const double bytes = (double)ran_model_bytes(m);
        ran_model_free(m);
        train_amount(before, bytes);
        if (stat(k->output, &file) == 0 && S_ISREG(file.st_mode))
                cmd_note("%s has %sB, %s %sB", path, before, k->output,
                         train_amount(after, (double)file.st_size));
        else
                cmd_note("%s has %sB", path, before);
}

int train_convert(int argc, char **argv)
{
        static struct convert k;
        const struct cmd_group groups[] = {
                {"Output", fields, &k},
                {NULL, NULL, NULL},
        };
        const struct cmd_program program = {
                .name = "ran-train convert",
                .usage = "[--weights TYPE] -o FILE MODEL",
                .summary = "Writes a model with its weights stored in fewer bits.",
                .notes = "Nothing is trained: thresholds and calibration stay those of MODEL.",
                .groups = groups,
        };
        int first = cmd_parse(&program, argc, argv);

        if (first + 1 != argc)
                cmd_usage("give one model to convert");
        if (k.output == NULL)
                cmd_usage("no output file: give -o FILE");
        cmd_check_input("output", k.output, argv[first]);
        cmd_check_writable(k.output);
        convert(&k, argv[first]);
        return cmd_finish(CMD_OK);
}
