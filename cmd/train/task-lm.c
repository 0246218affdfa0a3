/* task-lm.c - ran-train lm: reads texts, or pairs of source and target. */
#include "cmd/formats/record.h"
#include "cmd/options/message.h"
#include "cmd/train/check/check.h"
#include "cmd/train/run/session.h"
#include "cmd/train/tasks.h"

/* Many records have a "source" that names their origin: with a text, it is ignored. */
static bool is_pair(const struct train_source *source, const struct record *record)
{
        if (record->is[FIELD_IDS])
                return false;
        return source->mask == RAN_MASK_PREFIX ||
               ((record->is[FIELD_SOURCE] || record->is[FIELD_TARGET]) &&
                !record->is[FIELD_ENCODING] && record->is[FIELD_TOKENS] == NULL &&
                record->is[FIELD_TEXT] == NULL);
}

/* Sets s->mask for the texts of the record. A source needs a target, and vice versa. */
static int read_kind(struct train_scratch *s, const struct train_source *source,
                     const struct record *record, struct ran_error *err)
{
        bool pair = is_pair(source, record), from = record->is[FIELD_SOURCE];

        if (pair && !from && !record->is[FIELD_TARGET])
                return ran_fail(err, RAN_EFORMAT, "there is neither \"source\" nor \"target\"");
        if (pair && !(from && record->is[FIELD_TARGET]))
                return ran_fail(err, RAN_EFORMAT,
                                "there is a \"%s\", but no \"%s\" (--text-member names another "
                                "member, as a text)",
                                from ? "source" : "target", from ? "target" : "source");
        s->mask = source->mask;
        if (s->mask == RAN_MASK_NONE)
                s->mask = pair || (record->is[FIELD_IDS] && record->is[FIELD_SEGMENTS])
                                  ? RAN_MASK_PREFIX
                                  : RAN_MASK_CAUSAL;
        s->words.pairs = pair;
        return RAN_OK;
}

static int read_text(struct train_scratch *s, const struct train_source *source,
                     const struct record *record, struct ran_error *err)
{
        struct cmd_sequence *q = &s->sequence;
        struct cmd_sequence_how how = {.tokenizer = source->tokenizer,
                                       .V = source->V,
                                       .mask = s->mask,
                                       .end = true,
                                       .before = RAN_NO_ID};

        q->document.with_fingerprint = true;
        RAN_TRY(cmd_reserved_find(&how.reserved, source->tokenizer, source->task->task, s->mask,
                                  err));
        RAN_TRY(cmd_sequence_read(q, &how, record, err));
        if (q->L > 1 && q->first >= q->L)
                return ran_fail(err, RAN_EFORMAT, "all ids are source: there is no target");
        return RAN_OK;
}

static int encode(struct train_scratch *s, const struct train_source *source,
                  const struct record *record, struct ran_buf *result, struct ran_error *err)
{
        int rc = read_text(s, source, record, err);

        if (rc != RAN_OK && !s->sequence.document.empty)
                return rc;
        train_pack_text(s, rc == RAN_OK ? s->sequence.L : 0, result);
        return RAN_OK;
}

/* A single id has no loss, but is not a bad line. */
static int admit(struct train_reader *r, const struct cmd_line *line,
                 const struct train_document *d, bool *wanted, struct ran_error *err)
{
        struct train_location at = train_location_of(line);

        (void)err;
        *wanted = d->head->L > 1;
        if (!*wanted && ++r->data->lone <= TRAIN_LISTED)
                cmd_warn("%s:%zu: left out: one id alone has nothing to predict", at.file, at.line);
        return RAN_OK;
}

static int add(struct train_reader *r, const struct train_document *d, struct ran_error *err)
{
        return ran_dataset_add_text(&r->data->set, d->ids, d->head->L, d->head->sources,
                                    d->head->weight, err);
}

static void note(struct train_data *data, const struct cmd_line *line,
                 const struct train_document *d)
{
        train_location_note(d->head->paired ? &data->paired : &data->plain, line);
}

static void check(struct report *r, const struct train_data *d)
{
        const struct ran_dataset *set = &d->set;
        size_t predicted = set->first[set->B];

        for (size_t b = 0; set->sources != NULL && b < set->B; b++)
                predicted -= set->sources[b] > 0 ? set->sources[b] : 1;
        report_count(r, "predicted", "predicted tokens", predicted);
        report_count(r, "one_id", d->lone > 0 ? "left out, one id alone" : NULL, d->lone);
        train_check_pairs(r, d);
}

static void adapt(struct train_session *s)
{
        /* An initial model has its mask already. */
        if (s->source.mask == RAN_MASK_NONE && s->train.paired.file != NULL)
                train_pairs_adapt(s);
        if (s->source.mask == RAN_MASK_NONE)
                s->source.mask = s->config.mask;
        if (s->settings.metric != RAN_METRIC_LOSS && s->train.paired.file == NULL)
                cmd_die(CMD_USAGE, "--metric bleu and chrf compare generated targets: they need "
                                   "records with a source and a target");
}

static const struct train_preset presets[] = {
        {"task", "lm"},
        {"mask", "causal"},
        {"min_window", "1"}, /* a window must not depend on what follows */
        {"metric", "loss"},
        {"vocab_type", "bpe"}, /* no word is unknown, and texts come back as they were */
        {0},
};

const struct train_task train_task_lm = {
        .task = RAN_TASK_LM,
        .program = "ran-train lm",
        .summary = "Trains a language model from JSON lines with \"text\" (or \"tokens\", \"ids\", "
                   "\"encoding\"); with \"source\" and \"target\", the model learns to generate "
                   "the target. Texts of any length are read whole. Without files it reads "
                   "standard input.",
        .presets = presets,
        .not_plain = "the next token cannot be predicted",
        .reserved = true,
        .reads = FIELDS_OF_SEQUENCE,
        .read = read_kind,
        .encode = encode,
        .admit = admit,
        .add = add,
        .note = note,
        .check = check,
        .adapt = adapt,
};
