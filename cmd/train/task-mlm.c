/* task-mlm.c - ran-train mlm: texts whose words are masked in training, or ids that are masked
 * already. */
#include "cmd/formats/json.h"
#include "cmd/train/check/check.h"
#include "cmd/train/tasks.h"

/* ---- ids that are masked already ------------------------------------------------------------ */

/* Requirements for an array of numbers. */
struct numbers {
        const char *name;
        size_t limit; /* all are below */
        bool ascending;
};

/* Reads the numbers into *list; RAN_EFORMAT otherwise. */
static int read_numbers(const struct numbers *want, const struct record *record, uint32_t **list,
                        size_t *cap, size_t *n, struct ran_error *err)
{
        const struct ran_member *m = ran_record_find(&record->json, want->name, NULL);
        struct ran_span item;
        size_t pos = 0, x;
        char type;
        bool good = m != NULL && m->type == 'a';

        *n = 0;
        while (good && ran_json_next(record->json.line, m->value, &pos, NULL, &item, &type)) {
                good = type == 'n' &&
                       ran_parse_size(record->json.line + item.begin, item.end - item.begin, &x) &&
                       x < want->limit && !(want->ascending && *n > 0 && x <= (*list)[*n - 1]);
                RAN_ROOM(*list, *cap, *n + 1);
                if (good)
                        (*list)[(*n)++] = (uint32_t)x;
        }
        return good ? RAN_OK
                    : ran_fail(err, RAN_EFORMAT, "\"%s\" must be an array of numbers below %zu%s",
                               want->name, want->limit,
                               want->ascending ? ", in ascending order" : "");
}

/* `masked_at` and `masked_ids` of a record of ids; without them s->masked is 0. */
static int read_masked(struct train_scratch *s, const struct train_source *source,
                       const struct record *record, struct ran_error *err)
{
        const struct numbers at = {"masked_at", s->document.L, true};
        const struct numbers ids = {"masked_ids", source->V, false};
        bool has_at = json_member(&record->json, at.name),
             has_ids = json_member(&record->json, ids.name);
        size_t n;

        if (s->document.from != CMD_FROM_IDS || !(has_at || has_ids))
                return RAN_OK;
        if (!(has_at && has_ids))
                return ran_fail(err, RAN_EFORMAT, "there is \"%s\", but no \"%s\"",
                                has_at ? at.name : ids.name, has_at ? ids.name : at.name);
        RAN_TRY(read_numbers(&at, record, &s->masked_at, &s->masked_at_cap, &s->masked, err));
        RAN_TRY(read_numbers(&ids, record, &s->masked_ids, &s->masked_ids_cap, &n, err));
        if (n != s->masked || n == 0)
                return ran_fail(err, RAN_EFORMAT,
                                "%zu positions in \"masked_at\", but %zu ids in \"masked_ids\"",
                                s->masked, n);
        return RAN_OK;
}

/* ---- documents ------------------------------------------------------------------------------ */

static int encode(struct train_scratch *s, const struct train_source *source,
                  const struct record *record, struct ran_buf *result, struct ran_error *err)
{
        s->document.by_words = true;
        s->masked = 0;
        RAN_TRY(train_document_read(s, source, record, err));
        if (!s->document.empty)
                RAN_TRY(read_masked(s, source, record, err));
        train_pack(s, source, result);
        return RAN_OK;
}

/* Words that may be masked, or the masked ids that the record has. */
static int add(struct train_reader *r, const struct train_document *d, struct ran_error *err)
{
        const struct train_packed *head = d->head;
        struct ran_dataset *set = &r->data->set;

        if (set->B > 0 && set->given != (head->masked > 0))
                return ran_fail(err, RAN_EFORMAT,
                                "some records have \"masked_at\" and some have not");
        set->given = head->masked > 0;
        RAN_ROOM(r->labels, r->labels_cap, head->words);
        uint32_t *labels = r->labels;
        for (size_t i = 0; i < head->words; i++) {
                labels[i] = head->masked > 0 ? d->masked_ids[i] : 0;
                if (labels[i] >= r->data->V)
                        r->data->V = (size_t)labels[i] + 1;
        }
        return ran_dataset_add_words(set, d->ids, head->L, d->words, labels, head->words,
                                     head->weight, err);
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
        .reads = FIELDS_OF_DOCUMENT | FIELD(MASKED_AT) | FIELD(MASKED_IDS),
        .encode = encode,
        .add = add,
        .begin = begin,
        .check = check,
};
