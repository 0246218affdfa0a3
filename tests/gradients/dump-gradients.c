/* dump-gradients.c - loss and gradients of a model on documents, for comparison with other
 * implementations and versions: dump-gradients VERB -m MODEL -o FILE [file...] */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/content/model.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"
#include "cmd/records/loop.h"
#include "cmd/train/check/check.h"
#include "cmd/train/tasks.h"
#include "tests/unit/gradients.h"

static struct options {
        char *model, *output, *soft_label;
        double soft_share;
        size_t documents;
        bool masked;
        struct cmd_input input;
} o;

static const struct ran_field fields[] = {
        {"model", 'm', RAN_FIELD_TEXT, offsetof(struct options, model), .value = "FILE"},
        {"output", 'o', RAN_FIELD_TEXT, offsetof(struct options, output), .value = "FILE"},
        {"soft_label", 0, RAN_FIELD_TEXT, offsetof(struct options, soft_label), .value = "MEMBER"},
        {"soft_share", 0, RAN_FIELD_REAL, offsetof(struct options, soft_share), 0, 1, .value = "X",
         .initial = "0.5"},
        {"masked", 0, RAN_FIELD_BOOL, offsetof(struct options, masked), .initial = "false",
         .help = "the records say which ids are masked, and what stood there"},
        {"documents", 0, RAN_FIELD_SIZE, offsetof(struct options, documents), 0, 1e9, .value = "N",
         .initial = "0", .help = "of the first N; 0: of all"},
        {0},
};
static const struct cmd_group groups[] = {
        {"Files", fields, &o}, {"Input", cmd_input_fields, &o.input}, {0}};
static const struct cmd_program program = {.name = "dump-gradients",
                                           .usage = "VERB -m MODEL -o FILE [file...]",
                                           .summary = "Writes loss and gradients of a model.",
                                           .groups = groups};

#define ENTRY(number, name) [RAN_TASK_##number] = &train_task_##name,
static const struct train_task *const tasks[RAN_TASK_COUNT] = {RAN_VERB_TASKS(ENTRY)};

/* The documents of a file whose records have `ids`, `masked_at` and `masked_ids`. */
static void read_masked(struct ran_dataset *d, const char *file)
{
        FILE *f = fopen(file, "r");
        struct ran_dataset masked = {.given = true};
        struct ran_error err = {0};
        char *line = NULL;
        size_t cap = 0;

        train_must(f != NULL ? RAN_OK : ran_fail(&err, RAN_EIO, "no %s", file), &err);
        train_must(ran_dataset_set_classes(&masked, NULL, 0, &err), &err);
        for (size_t b = 0; getline(&line, &cap, f) > 0; b++) {
                cJSON *record = cJSON_Parse(line), *at, *id, *p, *q;
                uint32_t position[64], label[64];
                size_t n = 0;

                at = cJSON_GetObjectItem(record, "masked_at");
                id = cJSON_GetObjectItem(record, "masked_ids");
                for (p = at->child, q = id->child; p != NULL && q != NULL && n < 64;
                     p = p->next, q = q->next) {
                        position[n] = (uint32_t)p->valueint;
                        label[n++] = (uint32_t)q->valueint;
                }
                train_must(ran_dataset_add_words(&masked, d->ids + d->first[b],
                                                 d->first[b + 1] - d->first[b], position, label, n,
                                                 1, &err),
                           &err);
                cJSON_Delete(record);
        }
        train_must(ran_dataset_finish(&masked, &err), &err);
        ran_dataset_release(d);
        *d = masked;
        free(line);
        fclose(f);
}

int main(int argc, char **argv)
{
        struct train_data data = {0};
        struct cmd_names names = {0};
        struct ran_error err = {0};
        int task = 0;

        while (argc < 2 || strcmp(ran_task_name(task), argv[1]) != 0)
                task++;
        char **files = cmd_files(&o.input, argv + 1 + cmd_parse(&program, argc - 1, argv + 1));
        struct ran_model *m = cmd_model_open(o.model, false, task);
        const struct ran_config *c = ran_model_config(m);
        const struct train_source source = {.task = tasks[task],
                                            .mask = c->mask,
                                            .input = &o.input,
                                            .pool = cmd_pool(),
                                            .tokenizer = ran_model_tokenizer(m),
                                            .V = ran_model_vocabulary(m),
                                            .join = c->tag.join_sentences,
                                            .spelling = c->spelling,
                                            .soft_label = o.soft_label,
                                            .soft_share = o.soft_share,
                                            .several = c->classify.multilabel,
                                            .weight = "weight",
                                            .names = &names};

        for (size_t i = 0; ran_task_has_labels(task) && i < ran_model_classes(m); i++) {
                char *label = (char *)ran_model_label(m, i);
                train_data_set_classes(&data, &label, 1);
        }
        train_data_read(&data, &source, files);
        data.set.multilabel = c->classify.multilabel;
        if (data.counts.bad > 0)
                return CMD_FAILED;
        if (o.masked)
                read_masked(&data.set, files[0]);
        if (data.unknown > 0)
                cmd_die(CMD_FAILED, "the model does not know %zu of the %ss", data.unknown,
                        train_label_word(source.task));
        if (ran_dump_gradients(o.model, &data.set, o.documents > 0 ? o.documents : data.set.B,
                               source.pool, o.output, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        train_data_release(&data);
        ran_pool_free(source.pool);
        ran_model_free(m);
        return cmd_finish(CMD_OK);
}
