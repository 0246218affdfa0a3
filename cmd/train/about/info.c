/* info.c - the verb info: what a model is, what it was trained on, how well it did. */
#include "cmd/train/about/about.h"

#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"

static struct info_options {
        int format;
        struct train_top_options top;
} options;

const char *const train_info_formats[] = {"text", "json", NULL};

static const struct ran_field fields[] = {
        {"format", 0, RAN_FIELD_CHOICE, offsetof(struct info_options, format),
         .choices = train_info_formats, .value = "FORMAT", .initial = "text",
         .help = "text: for people; json: an object a line for each file"},
        {0},
};
static const struct ran_field top_fields[] = {
        {"top", 0, RAN_FIELD_SIZE, offsetof(struct train_top_options, top), 0, 1000000,
         .value = "N", .initial = "0",
         .help = "add the N words that speak most for each label of the linear model",
         .first = true},
        {"texts", 0, RAN_FIELD_LIST, offsetof(struct train_top_options, texts), .value = "FILE",
         .local = true, .first = true,
         .help = "n-grams of all lengths, those of the records in FILE, such as the "
                 "training data; may be given again",
         .needs = "top"},
        {0},
};
static const struct cmd_group groups[] = {
        {"Output", fields, &options},
        {"N-grams", top_fields, &options.top},
        {"Input of --texts", cmd_input_fields, &options.top.input},
        {0},
};
static const struct cmd_program program = {
        .name = "ran-train info",
        .usage = "[option...] file...",
        .summary = "Says what a model, a checkpoint or a vocabulary is: its task and parts, their "
                   "sizes, its labels, what it was trained on and how well it did.",
        .groups = groups,
};

int train_info(int argc, char **argv)
{
        char **files = argv + cmd_parse(&program, argc, argv);
        struct ran_buf out = {0};
        static const char *const kinds[] = {"a model", "a checkpoint of an interrupted training",
                                            "a vocabulary"};
        const bool text = options.format == TRAIN_INFO_TEXT;
        struct report r = {0};
        int status = CMD_OK;
        struct about a;

        if (files[0] == NULL)
                cmd_usage("no file: give a model, a checkpoint or a vocabulary");
        for (size_t i = 0; files[i] != NULL; i++) {
                train_about_open(&a, files[i]);
                if (options.top.top > 0 && a.model == NULL)
                        cmd_die(CMD_FAILED, "%s: --top: a vocabulary has no labels", files[i]);
                ran_buf_str(&out, i > 0 && text ? "\n" : "");
                train_info_rows(&a, &r);
                train_info_members(&a, &r);
                if (options.top.top > 0)
                        train_top_add(&options.top, a.model, a.path, &r, &status);
                if (text) {
                        ran_buf_shown(&out, files[i], strlen(files[i]));
                        ran_buf_printf(&out, ": %s\n", kinds[a.kind]);
                }
                report_finish(&r, text, &out);
                train_about_release(&a);
        }
        cmd_write_file(NULL, &out);
        ran_buf_release(&out);
        return cmd_finish(status);
}
