/* task-tag.c - ran-train tag: documents with a tag for each word, or with spans of their text. */
#include "cmd/content/labels.h"
#include "cmd/options/message.h"
#include "cmd/train/check/check.h"
#include "cmd/train/run/session.h"
#include "cmd/train/tasks.h"

/* ---- one record, in any thread -------------------------------------------------------------- */

/* Counts the raw words, which needs no vocabulary. A text with spans has no tags yet. */
static int read_tags(struct train_scratch *s, const struct train_source *source,
                     const struct record *record, struct ran_error *err)
{
        struct cmd_labels *tags = &s->labels;
        const struct ran_member *m = record->is[FIELD_IDS];
        const char *words_name = "ids";
        const struct ran_member *spans = record->is[FIELD_SPANS];

        if (m == NULL) {
                m = record->is[FIELD_TOKENS];
                words_name = "tokens";
        }
        RAN_TRY(cmd_labels_read_tags(tags, record, err));
        if (!tags->present && spans != NULL)
                return train_refuse_nul(tags, source, err); /* spans wait until words are known */
        if (!tags->present)
                return ran_fail(err, RAN_EFORMAT,
                                "there are no \"tags\", and no \"spans\" of a \"text\"");
        if (m == NULL || m->type != 'a')
                return ran_fail(err, RAN_EFORMAT,
                                "the \"tags\" need an array of \"tokens\"; for a \"text\", give "
                                "\"spans\"");
        size_t words = record_items(record, m);
        if (words != tags->n)
                return ran_fail(err, RAN_EFORMAT, "%zu \"%s\" but %zu \"tags\"", words, words_name,
                                tags->n);
        return train_refuse_nul(tags, source, err);
}

/* Notes which convention split the words of the record, for texts that are tagged later. */
static int note_split(struct train_scratch *s, const struct record *record, struct ran_error *err)
{
        const struct ran_member *m = record->is[FIELD_TOKENS];
        struct ran_buf *word = &s->document.text;

        s->segments = (struct ran_segment_count){0};
        if (s->document.from != CMD_FROM_TOKENS || m == NULL)
                return RAN_OK;
        ran_segment_fit_begin(&s->fit);
        for (struct ran_items i = ran_items(record->json.line, m->value); ran_items_next(&i);) {
                word->len = 0;
                RAN_TRY(ran_json_decode(i.line, i.value, word, err));
                ran_segment_fit_word(&s->fit, word->data, word->len);
        }
        ran_segment_fit_end(&s->fit, &s->segments);
        return RAN_OK;
}

static int encode(struct train_scratch *s, const struct train_source *source,
                  const struct record *record, struct ran_buf *result, struct ran_error *err)
{
        s->document.by_words = true;
        RAN_TRY(train_document_read(s, source, record, err));
        if (!s->document.empty && !s->labels.present)
                RAN_TRY(cmd_span_tags_read(&s->labels, &s->document, record, err));
        if (!s->document.empty)
                RAN_TRY(train_refuse_nul(&s->labels, source, err));
        RAN_TRY(note_split(s, record, err));
        train_pack(s, source, result);
        return RAN_OK;
}

/* ---- in order ------------------------------------------------------------------------------- */

static const char *const kinds[CMD_TAG_KINDS] = {
        [CMD_TAGS_SCHEME] = "of a scheme like IOB2",
        [CMD_TAGS_NAMES] = "names of no scheme",
        [CMD_TAGS_NUMBERS] = "numbers",
        [CMD_TAGS_OUTSIDE] = "nothing but \"O\"",
};

/* Whether the record is the next sentence of the document before it, into r->joined. A record that
 * cannot be leaves no trace. */
static int join(struct train_reader *r, const struct cmd_line *line,
                const struct train_packed *head, struct ran_error *err)
{
        const struct ran_dataset *set = &r->data->set;

        r->joined =
                sentence_group_goes_on(&r->sentences, line->file, &line->record, r->source->join) &&
                set->B > 0;
        if (!r->joined || set->weight[set->B - 1] == (float)head->weight)
                return RAN_OK;
        r->sentences.n--;
        return ran_fail(err, RAN_EFORMAT,
                        "its \"weight\" differs from that of the sentence before it, which has the "
                        "same \"doc\"");
}

static int admit(struct train_reader *r, const struct cmd_line *line,
                 const struct train_document *d, bool *wanted, struct ran_error *err)
{
        const struct train_packed *head = d->head;
        struct train_data *data = r->data;

        (void)wanted;
        /* Tags are of one kind throughout. */
        for (int kind = 0; kind < CMD_TAG_KINDS; kind++)
                if (data->tagged[kind].file != NULL && !cmd_labels_tags_agree(head->kind, kind))
                        return ran_fail(err, RAN_EFORMAT, "the tags are %s, but %s at %s:%zu",
                                        kinds[head->kind], kinds[kind], data->tagged[kind].file,
                                        data->tagged[kind].line);
        RAN_TRY(join(r, line, head, err));
        train_location_note(&data->tagged[head->kind], line);
        ran_segment_count_add(&data->segments, &head->segments);
        data->texts += head->segments.words == 0;
        data->census.opens += head->census.opens;
        data->census.needless += head->census.needless;
        data->census.unclosed += head->census.unclosed;
        data->census.iobes += head->census.iobes;
        data->census.bilou += head->census.bilou;
        return RAN_OK;
}

static int add(struct train_reader *r, const struct train_document *d, struct ran_error *err)
{
        const struct train_packed *head = d->head;
        struct ran_dataset *set = &r->data->set;

        if (r->joined)
                return ran_dataset_continue(set, d->ids, head->L, d->words, r->labels, head->n,
                                            err);
        return ran_dataset_add_words(set, d->ids, head->L, d->words, r->labels, head->n,
                                     head->weight, err);
}

/* Tags of another scheme than IOB2 have been converted by now. */
static void tell_scheme(const struct train_data *d)
{
        const char *file = d->tagged[CMD_TAGS_SCHEME].file;
        struct ran_error err = {0};
        enum ran_tag_scheme scheme;
        size_t wrong;

        if (d->tagged[CMD_TAGS_NUMBERS].file != NULL)
                cmd_note("%s: the tags are numbers, which mark no entities; name them with "
                         "--label-names",
                         d->tagged[CMD_TAGS_NUMBERS].file);
        if (file == NULL)
                return;
        if (ran_tag_census_scheme(&d->census, &scheme, &wrong, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s: %s", file, err.text);
        if (scheme != RAN_TAGS_IOB2)
                cmd_note("%s: the tags are %s; they are converted to IOB2", file,
                         ran_tag_scheme_names[scheme]);
        if (wrong > 0)
                cmd_warn("%s: %zu tags break the rules of %s; they are corrected", file, wrong,
                         ran_tag_scheme_names[scheme]);
}

/* ---- what --check says ---------------------------------------------------------------------- */

/* Without a document it is unknown whether labels or tags were meant. */
static void check(struct report *r, const struct train_data *d)
{
        const struct ran_dataset *set = &d->set;
        const size_t words = set->label_first[set->B];
        const bool tags = set->positions != NULL;

        if (tags)
                report_count(r, NULL, "words", words);
        train_report_labels(r, tags ? "tags" : "labels", tags ? "Tags" : "Labels", set, words);
}

/* ---- settings ------------------------------------------------------------------------------- */

/* A CRF scores each pair of tags for each word. */
static void adapt_to_dev(struct train_session *s)
{
        const size_t many = 200, C = s->train.set.C;

        /* Without entities their F1 is always 0, and the first epoch would be the best. */
        const bool is_f1 = s->settings.metric == RAN_METRIC_MICRO_F1 ||
                           s->settings.metric == RAN_METRIC_MACRO_F1;
        if (s->train.tagged[CMD_TAGS_SCHEME].file == NULL && s->has_dev && is_f1) {
                s->settings.metric = RAN_METRIC_ACCURACY;
                cmd_note("the tags mark no entities: accuracy decides which epoch is best");
        }
        if (C > many && s->config.tag.crf)
                cmd_note("%zu tags: the time of the CRF grows with the square of their number; "
                         "--no-crf does without it",
                         C);
}

/* The defaults that were best on the development data of CoNLL-2003, see share/recipes. */
static const struct train_preset presets[] = {
        {"task", "tag"},          {"crf", "true"},
        {"spelling", "16384"},    {"dropout", "0.3"},
        {"embed_dropout", "0.3"}, {"epochs", "20"},
        {"refit", "true"},        {"early_stop", "true"},
        {"wide", "262144"},       {0},
};

const struct train_task train_task_tag = {
        .task = RAN_TASK_TAG,
        .program = "ran-train tag",
        .summary = "Trains a tagger from JSON lines with \"tokens\" (or \"ids\") and as many "
                   "\"tags\", or with \"text\" and \"spans\". Tags are IOB2; IOB1, IOBES and BILOU "
                   "are converted. Documents of any length are read whole. Without files it reads "
                   "standard input.",
        .presets = presets,
        .label = "tag",
        .not_plain = "its words cannot be tagged",
        .reads = FIELDS_OF_DOCUMENT | FIELDS_OF_TAGS | FIELD(GROUP),
        .read = read_tags,
        .encode = encode,
        .admit = admit,
        .add = add,
        .finish = tell_scheme,
        .check = check,
        .adapt_to_dev = adapt_to_dev,
};
