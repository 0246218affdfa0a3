/* task-mlm.c - ran-train mlm: texts whose words are masked in training. */
#include "cmd/train/tasks.h"

#include <string.h>

static int encode(struct train_scratch *s, const struct train_source *source,
                  const struct record *record, struct ran_buf *result, struct ran_error *err)
{
        s->document.by_words = true;
        RAN_TRY(train_document_read(s, source, record, err));
        train_pack(s, source, result);
        return RAN_OK;
}

/* Words that may be masked, which have no labels. */
static int add(struct train_reader *r, const struct train_document *d, struct ran_error *err)
{
        const struct train_packed *head = d->head;

        RAN_ROOM(r->labels, r->labels_cap, head->words);
        memset(r->labels, 0, head->words * sizeof *r->labels);
        return ran_dataset_add_words(&r->data->set, d->ids, head->L, d->words, r->labels,
                                     head->words, head->weight, err);
}

/* Outputs are ids of the vocabulary, not classes of the data. */
static void begin(struct train_data *data)
{
        train_data_set_classes(data, NULL, 0);
}

static void check(struct report *r, const struct train_data *d)
{
        report_count(r, "words", d->set.positions != NULL ? "words" : NULL,
                     d->set.label_first[d->set.B]);
}

static const struct train_preset presets[] = {
        {"task", "mlm"},
        {"metric", "loss"},
        /* Each epoch masks other words, so the model does not memorise them. */
        {"dropout", "0"},
        {"embed_dropout", "0"},
        {"learning_rate", "0.002"},
        {"batch", "8"},
        {"shortlist", "4000"},
        {0},
};

const struct train_task train_task_mlm = {
        .task = RAN_TASK_MLM,
        .program = "ran-train mlm",
        .summary = "Trains a masked language model from JSON lines with \"text\" (or \"tokens\", "
                   "\"ids\"), for ran-lm fill and as initial weights of other models (--init). It "
                   "masks 15 % of the words and learns to predict them. Texts of any length are "
                   "read whole. Without files it reads standard input.",
        .presets = presets,
        .not_plain = "masked tokens cannot be predicted",
        .reserved = true,
        .reads = FIELDS_OF_DOCUMENT,
        .encode = encode,
        .add = add,
        .begin = begin,
        .check = check,
};
