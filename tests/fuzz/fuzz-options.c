/* Any words as a command line, and any bytes as its configuration file: the program ends with 0
 * (help and the like), 2 or 3, or its settings are in their bounds, and what --print-config writes
 * of them gives the same settings. The first byte is how many bytes the configuration has; the
 * words are separated by NUL. */
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/table.h"
#include "cmd/records/loop.h"
#include "tiny.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- a program with options of every kind ---------------------------------------------------- */

static struct {
        struct ran_list list;
        struct ran_choices choices;
        char *text, *init, *vectors;
        double real;
        int format;
} others;
static struct ran_config config;
static struct ran_train_settings settings;
static struct ran_vocab_settings vocabulary;
static struct cmd_input input;
static struct cmd_output output;

static const char *const names[] = {"one", "two", "three", NULL};
static const char *const formats[] = {"csv", "tsv", NULL};
static const struct ran_field other_fields[] = {
        {"pile", 0, RAN_FIELD_LIST, 0, .help = "several"},
        {"several", 's', RAN_FIELD_CHOICES, offsetof(__typeof__(others), choices), .choices = names,
         .initial = "one", .help = "some"},
        {"any_text", 't', RAN_FIELD_TEXT, offsetof(__typeof__(others), text), .help = "words"},
        {"real", 'x', RAN_FIELD_REAL, offsetof(__typeof__(others), real), -1, 2.5, .initial = "0.5",
         .help = "a number"},
        /* What options of training and of tables say that they need. */
        {"output_format", 0, RAN_FIELD_CHOICE, offsetof(__typeof__(others), format),
         .choices = formats, .initial = "csv", .help = "a table"},
        {"eval_format", 0, RAN_FIELD_CHOICE, offsetof(__typeof__(others), format),
         .choices = formats, .initial = "csv", .help = "a table"},
        {"init", 0, RAN_FIELD_TEXT, offsetof(__typeof__(others), init), .help = "a model"},
        {"vectors", 0, RAN_FIELD_TEXT, offsetof(__typeof__(others), vectors), .help = "vectors"},
        {0},
};
static const struct cmd_group groups[] = {
        {"Others", other_fields, &others},
        {"Model", ran_config_fields, &config},
        {"Training", ran_train_fields, &settings},
        {"Vocabulary", ran_vocab_fields, &vocabulary},
        {"Reading", cmd_input_fields, &input},
        {"Writing", cmd_output_fields, &output},
        {0},
};
static const struct cmd_program program = {.name = "ran-test run",
                                           .usage = "[option...]",
                                           .summary = "Tries options.",
                                           .groups = groups,
                                           .prefix = "vocab-"};

/* ---- one command line ------------------------------------------------------------------------ */

enum { WORDS = 20 };

static void check(int first, int argc)
{
        if (first < 1 || first > argc || cmd_common.jobs < 1 || cmd_common.jobs > 4096 ||
            !(others.real >= -1 && others.real <= 2.5) || others.choices.n > RAN_CHOICES_MAX)
                abort();
        if (ran_config_check(&config, NULL) == RAN_OK)
                ran_train_settings_check(&settings, &config, NULL);
}

struct line {
        int argc;
        char **argv;
        struct ran_buf settings; /* as --print-config writes them */
};

static void parse(void *arg)
{
        struct line *line = arg;

        check(cmd_parse(&program, line->argc, line->argv), line->argc);
        cmd_print_config(&program, true, &line->settings);
}

static void release_fields(void)
{
        for (const struct cmd_group *g = groups; g->title != NULL; g++)
                ran_fields_release(g->fields, g->base);
        free(cmd_common.config);
        cmd_common.config = NULL;
}

static void check_again(const struct ran_buf *settings)
{
        struct tiny_file file;

        tiny_open(&file, settings->data, settings->len);
        struct line again = {3, (char *[]){"run", "-c", file.path, NULL}, {0}};
        if (tiny_run(parse, &again) != -1 || again.settings.len != settings->len ||
            memcmp(again.settings.data, settings->data, settings->len) != 0)
                abort();
        release_fields();
        ran_buf_release(&again.settings);
        tiny_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        size_t n = size > 0 ? data[0] : 0;
        char *argv[WORDS + 4] = {"run"}, *words;
        struct tiny_file file;
        int argc = 1;

        if (size < 1 + n)
                return -1;
        tiny_open(&file, data + 1, n);
        if (n > 0) {
                argv[argc++] = "-c";
                argv[argc++] = file.path;
        }
        words = calloc(size - n + 1, 1);
        memcpy(words, data + 1 + n, size - 1 - n);
        for (char *w = words, *end = words + size - 1 - n; w < end && argc < WORDS + 3;
             w += strlen(w) + 1)
                argv[argc++] = w;
        struct line line = {argc, argv, {0}};
        int status = tiny_run(parse, &line);
        if (status != -1 && status != CMD_OK && status != CMD_USAGE && status != CMD_FAILED)
                abort();
        release_fields();
        if (status == -1)
                check_again(&line.settings);
        ran_buf_release(&line.settings);
        free(words);
        tiny_close(&file);
        return 0;
}
