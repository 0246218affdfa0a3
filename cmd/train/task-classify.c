/* task-classify.c - ran-train classify: documents with a label, or a list of labels. */
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/train/check/check.h"
#include "cmd/train/run/session.h"
#include "cmd/train/tasks.h"

static int read_labels(struct train_scratch *s, const struct train_source *source,
                       const struct record *record, struct ran_error *err)
{
        const char *soft = source->soft_label;

        RAN_TRY(cmd_labels_read(&s->labels, record, err));
        if (soft != NULL)
                RAN_TRY(cmd_soft_label_read(&s->soft, &s->labels, record, soft, source->several,
                                            err));
        if (s->labels.present || s->soft.present)
                return train_refuse_nul(&s->labels, source, err);
        if (soft == NULL && source->label_texts != NULL && !source->judge)
                return RAN_OK; /* its description gives it one */
        if (soft == NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "there is neither \"label\" nor \"labels\" (an empty cell of a "
                                "table counts as missing)");
        return ran_fail(err, RAN_EFORMAT, "there is neither \"label\" nor \"labels\" nor \"%s\"",
                        soft);
}

static int encode(struct train_scratch *s, const struct train_source *source,
                  const struct record *record, struct ran_buf *result, struct ran_error *err)
{
        RAN_TRY(train_document_read(s, source, record, err));
        train_pack(s, source, result);
        return RAN_OK;
}

/* All have labels, or none. */
static int admit(struct train_reader *r, const struct cmd_line *line,
                 const struct train_document *d, bool *wanted, struct ran_error *err)
{
        const bool none = !d->head->labelled && !d->head->soft_target;
        size_t *without = &r->data->without_label;

        (void)line;
        (void)wanted;
        if (r->data->set.B > 0 && none != (*without > 0))
                return ran_fail(
                        err, RAN_EFORMAT,
                        "the document has %s label, and those before it have %s: leave out those "
                        "without",
                        none ? "no" : "a", none ? "one" : "none");
        *without += none;
        return RAN_OK;
}

static int add(struct train_reader *r, const struct train_document *d, struct ran_error *err)
{
        return ran_dataset_add(&r->data->set, d->ids, d->head->L, r->labels, d->head->n,
                               d->head->weight, err);
}

static void note(struct train_data *data, const struct cmd_line *line,
                 const struct train_document *d)
{
        if ((d->head->labelled || d->head->soft_target) &&
            !d->head->either) /* a list of one label implies neither kind */
                train_location_note(d->head->several ? &data->several : &data->one, line);
}

static void check(struct report *r, const struct train_data *d)
{
        if (d->soft_label != NULL) {
                report_begin(r, REPORT_OBJECT, "soft_labels", "Soft labels");
                report_count(r, "documents", "documents", d->soft_target);
                report_count(r, "without_label", "of these without a label",
                             ran_dataset_guessed(&d->set));
                report_end(r);
        }
        train_report_labels(r, "labels", "Labels", &d->set, d->set.B);
}

/* Where nearly all documents have one label, always answering it is nearly always right: accuracy
 * tells models that find the others from those that do not by little. */
static void adapt(struct train_session *s)
{
        const double nearly_all = 0.9;
        const struct ran_dataset *d = &s->train.set;
        size_t most = 0;

        if (s->config.classify.multilabel || d->multilabel || d->C < 2 || cmd_was_set("metric"))
                return;
        const double share = ran_dataset_baseline(d, &most);
        if (!(share >= nearly_all))
                return;
        s->settings.metric = RAN_METRIC_MACRO_F1;
        cmd_note("%.4g %% of the documents have the label %s: models are chosen by macro F1 "
                 "(--metric macro_f1); --threshold-for LABEL=recall:0.9 says from which "
                 "probability on to give a rare one",
                 100 * share, d->names[most]);
}

/* The defaults that were best on the development data of ten collections, see share/experiments:
 * above all the linear model; and subwords if documents are short, because few words of a new
 * one are known then. */
static const struct train_preset presets[] = {
        {"task", "classify"},
        {"vocab_type", "wordpiece"},
        {"wide", "1048576"},
        {"affixes", "true"},
        {"refit", "true"},
        {"early_stop", "true"},
        {0},
};

const struct train_task train_task_classify = {
        .task = RAN_TASK_CLASSIFY,
        .program = "ran-train classify",
        .summary =
                "Trains a classifier from records with a text and a label, or labels. Documents of "
                "any length are read whole. Without files it reads standard input.",
        .presets = presets,
        .label = "label",
        .of_documents = true,
        .reads = FIELDS_OF_DOCUMENT | FIELDS_OF_LABELS,
        .read = read_labels,
        .encode = encode,
        .admit = admit,
        .add = add,
        .note = note,
        .check = check,
        .adapt = adapt,
};
