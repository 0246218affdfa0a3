/* data.c - reads documents with labels or tags, or texts, into a data set.
 *
 * Every line goes through the record loop: `encode` runs in many threads and packs labels or
 * tags, weight and ids of a document into the result of the line, `take` unpacks them in the order
 * of the input.
 */
#include "cmd/train/reader.h"
#include "cmd/formats/foreign.h"
#include "cmd/records/span-tags.h"
#include "cmd/options/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two more have names that options give. */
#define NAMED_MEMBERS NULL, NULL
static const char *labelled[] = {CMD_DOCUMENT_MEMBERS, CMD_LABEL_MEMBERS, "weight", NAMED_MEMBERS,
                                 NULL};
static const char *tagged[] = {CMD_DOCUMENT_MEMBERS,
                               CMD_TAG_MEMBERS,
                               CMD_SPAN_MEMBERS,
                               CMD_DOC_MEMBER,
                               "weight",
                               NAMED_MEMBERS,
                               NULL};
static const char *gapped[] = {CMD_DOCUMENT_MEMBERS, "masked_at", "masked_ids", "weight",
                               NAMED_MEMBERS,        NULL};
static const char *texts[] = {CMD_SEQUENCE_MEMBERS, "weight", NAMED_MEMBERS, NULL};

/* ---- one line to a packed document, in any thread ------------------------------------------- */

/* How a document travels from encode to take: this head, then n ends of names of labels or tags and
 * as many of soft labels as there are (size_t), L ids, the places of words and the spelling
 * (uint32_t), the probabilities of soft labels (float), the names of both, and that of a group. */
struct packed {
        double weight;
        size_t n, L, places, spelling, sources, golds, soft, names, group;
        bool several, either, paired, softened, guessed;
        enum cmd_tag_kind kind;
        struct ran_tag_census census;
};

static void *scratch_new(void *arg, struct ran_error *err)
{
        (void)arg;
        return ran_alloc(1, sizeof(struct train_scratch), err);
}

void train_scratch_release(struct train_scratch *s)
{
        cmd_document_release(&s->document);
        cmd_labels_release(&s->labels);
        cmd_soft_label_release(&s->soft);
        cmd_words_release(&s->words);
        cmd_sequence_release(&s->sequence);
        free(s->gap);
        free(s->gold);
}

static void scratch_free(void *scratch)
{
        train_scratch_release(scratch);
        free(scratch);
}

/* A weight that is absent or null is 1. */
static int read_weight(const struct ran_record *record, double *weight, struct ran_error *err)
{
        const struct ran_member *m = ran_record_find(record, "weight", NULL);

        *weight = 1;
        if (m == NULL || m->type == '0')
                return RAN_OK;
        const char *text = record->line + m->value.begin;
        if (m->type != 'n' || !ran_parse_double(text, m->value.end - m->value.begin, weight) ||
            !isfinite(*weight) || *weight < 0 || *weight > 1e6)
                return ran_fail(err, RAN_EFORMAT, "\"weight\" is not a number from 0 to 1e6");
        return RAN_OK;
}

static int read_labels(struct train_scratch *s, const struct train_source *source,
                       const struct ran_record *record, struct ran_error *err)
{
        const char *soft = source->soft_label;

        if (cmd_labels_read(&s->labels, record, err) != RAN_OK)
                return err->code;
        if (soft != NULL &&
            cmd_soft_label_read(&s->soft, &s->labels, record, soft, source->several, err) != RAN_OK)
                return err->code;
        if (s->labels.present || s->soft.present)
                return RAN_OK;
        return soft == NULL
                       ? ran_fail(err, RAN_EFORMAT, "there is neither \"label\" nor \"labels\"")
                       : ran_fail(err, RAN_EFORMAT,
                                  "there is neither \"label\" nor \"labels\" nor \"%s\"", soft);
}

/* The words are counted as they stand, so that this can be found out without a vocabulary. Nothing
 * is present yet of a text with spans. */
static int read_tags(struct cmd_labels *tags, const struct ran_record *record,
                     struct ran_error *err)
{
        const struct ran_member *m = ran_record_find(record, "ids", NULL);
        const char *name, *ids_name = "ids";
        const struct ran_member *spans = foreign_spans(record, &name);
        struct ran_span item;
        size_t pos = 0, words = 0;
        char type;

        if (m == NULL || m->type == '0') {
                m = foreign_tokens(record);
                ids_name = "tokens";
        }
        if (cmd_tags_read(tags, record, err) != RAN_OK)
                return err->code;
        if (!tags->present && spans != NULL)
                return RAN_OK; /* to be read when it is known where words are */
        if (!tags->present)
                return ran_fail(err, RAN_EFORMAT,
                                "there are no \"tags\", and no \"spans\" of a \"text\"");
        if (m == NULL || m->type != 'a')
                return ran_fail(err, RAN_EFORMAT,
                                "the \"tags\" need an array of \"tokens\"; for a \"text\", give "
                                "\"spans\"");
        while (ran_json_next(record->line, m->value, &pos, NULL, &item, &type))
                words++;
        if (words != tags->n)
                return ran_fail(err, RAN_EFORMAT, "%zu \"%s\" but %zu \"tags\"", words, ids_name,
                                tags->n);
        return RAN_OK;
}

static int refuse_nul(const struct cmd_labels *labels, int task, struct ran_error *err)
{
        if (labels->names.len > 0 && memchr(labels->names.data, '\0', labels->names.len) != NULL)
                return ran_fail(err, RAN_EFORMAT, "a %s cannot hold U+0000",
                                task == RAN_TASK_TAG ? "tag" : "label");
        return RAN_OK;
}

/* As it is written, so that 1 and "1" are two. */
static void read_group(struct train_scratch *s, const struct train_source *source,
                       const struct ran_record *record)
{
        const struct ran_member *m = NULL;

        if (source->group != NULL && !source->judge)
                m = ran_record_find(record, source->group, NULL);
        s->group = m != NULL && m->type != '0' ? record->line + m->value.begin : NULL;
        s->group_n = s->group != NULL ? m->value.end - m->value.begin : 0;
}

int train_read_labels(struct train_scratch *s, const struct train_source *source,
                      const struct ran_record *record, struct ran_error *err)
{
        int task = source->task;

        read_group(s, source, record);
        s->labels.called = source->names;
        if (task == RAN_TASK_LM && train_text_kind(s, source, record, err) != RAN_OK)
                return err->code;
        if (task == RAN_TASK_LM || task == RAN_TASK_MLM)
                return read_weight(record, &s->weight, err);
        if ((task == RAN_TASK_TAG ? read_tags(&s->labels, record, err)
                                  : read_labels(s, source, record, err)) != RAN_OK ||
            refuse_nul(&s->labels, task, err) != RAN_OK)
                return err->code;
        return read_weight(record, &s->weight, err);
}

/* The document, and what of its tags could not be known without it. */
static int read_document(struct train_scratch *s, const struct train_source *source,
                         const struct ran_record *record, struct ran_error *err)
{
        s->document.by_words = source->task == RAN_TASK_TAG || source->task == RAN_TASK_MLM;
        s->document.spelling = source->spelling;
        int code = cmd_document_read(&s->document, record, source->tokenizer, source->V, NULL, err);
        if (code != RAN_OK && s->document.empty)
                return RAN_OK;
        if (code == RAN_OK && source->task == RAN_TASK_MLM)
                return train_masked_read(s, source, record, err);
        if (code == RAN_OK && source->task == RAN_TASK_TAG && !s->labels.present)
                code = cmd_span_tags(&s->labels, &s->document, record, err);
        return code == RAN_OK ? refuse_nul(&s->labels, source->task, err) : code;
}

static void pack(const struct train_scratch *s, const struct train_source *source,
                 struct ran_buf *result)
{
        const struct cmd_soft_label *soft = &s->soft;
        const struct cmd_labels *labels = &s->labels;
        const struct cmd_document *document = &s->document;
        size_t n_soft = source->judge ? 0 : soft->n;
        size_t soft_names = n_soft > 0 ? soft->names.len : 0;
        const struct packed head = {.weight = s->weight,
                                    .n = labels->n,
                                    .L = document->L,
                                    .places = s->gaps > 0 ? s->gaps : document->words,
                                    .golds = s->gaps,
                                    .spelling =
                                            document->spelling > 0 ? document->L * RAN_SPELLING : 0,
                                    .several = labels->several,
                                    .either = labels->either,
                                    .soft = n_soft,
                                    .names = labels->names.len + soft_names,
                                    .group = s->group_n,
                                    .softened = soft->present,
                                    .guessed = soft->guessed,
                                    .kind = labels->kind,
                                    .census = labels->census};

        ran_buf_add(result, &head, sizeof head);
        ran_buf_add(result, labels->end, labels->n * sizeof *labels->end);
        ran_buf_add(result, soft->end, head.soft * sizeof *soft->end);
        ran_buf_add(result, document->ids, document->L * sizeof *document->ids);
        ran_buf_add(result, s->gaps > 0 ? s->gap : document->places,
                    head.places * sizeof *document->places);
        ran_buf_add(result, document->encoding.spelling, head.spelling * sizeof(uint32_t));
        ran_buf_add(result, s->gold, s->gaps * sizeof *s->gold);
        ran_buf_add(result, soft->p, head.soft * sizeof *soft->p);
        ran_buf_add(result, labels->names.data, labels->names.len);
        ran_buf_add(result, soft->names.data, soft_names);
        ran_buf_add(result, s->group, s->group_n);
}

static void pack_text(const struct train_scratch *s, size_t L, struct ran_buf *result)
{
        const struct cmd_sequence *q = &s->sequence;
        const struct packed head = {.weight = s->weight,
                                    .L = L,
                                    .sources = q->sources,
                                    .group = s->group_n,
                                    .paired = s->mask == RAN_MASK_PREFIX};

        ran_buf_add(result, &head, sizeof head);
        ran_buf_add(result, q->ids, L * sizeof *q->ids);
        ran_buf_add(result, s->group, s->group_n);
}

static int encode_text(struct train_scratch *s, const struct train_source *source,
                       const struct ran_record *record, struct ran_buf *result,
                       struct ran_error *err)
{
        int code = train_text_read(s, source, record, err);

        if (code != RAN_OK && !s->sequence.document.empty)
                return code;
        pack_text(s, code == RAN_OK ? s->sequence.L : 0, result);
        return RAN_OK;
}

/* A document without a token goes on to take, which notes where it is, with L = 0. */
int train_encode(void *arg, void *scratch, const struct cmd_line *line, struct ran_buf *result,
                 struct ran_error *err)
{
        const struct train_source *source = ((struct train_reader *)arg)->source;
        struct train_scratch *s = scratch;

        if (train_read_labels(s, source, &line->record, err) != RAN_OK)
                return err->code;
        if (source->task == RAN_TASK_LM)
                return encode_text(s, source, &line->record, result, err);
        if (read_document(s, source, &line->record, err) != RAN_OK)
                return err->code;
        pack(s, source, result);
        return RAN_OK;
}

/* ---- packed documents to the data set, in order --------------------------------------------- */

struct train_location train_location_of(const struct cmd_line *line)
{
        bool standard_input = strcmp(line->file, "-") == 0;

        return (struct train_location){standard_input ? "standard input" : line->file,
                                       line->number};
}

static void note(struct train_location *place, const struct cmd_line *line)
{
        if (place->file == NULL)
                *place = train_location_of(line);
}

static void note_kind(struct train_reader *r, const struct cmd_line *line,
                      const struct packed *head)
{
        struct train_data *d = r->data;

        if (r->source->task == RAN_TASK_LM)
                note(head->paired ? &d->paired : &d->plain, line);
        else if (!head->either) /* one of several that there could have been says neither */
                note(head->several ? &d->several : &d->one, line);
}

static const char *const kinds[CMD_TAG_KINDS] = {
        [CMD_TAGS_SCHEME] = "of a scheme like IOB2",
        [CMD_TAGS_NAMES] = "names of no scheme",
        [CMD_TAGS_NUMBERS] = "numbers",
        [CMD_TAGS_OUTSIDE] = "nothing but \"O\"",
};

/* Tags are of one kind throughout. */
static int check_tags(const struct train_data *d, const struct packed *head, struct ran_error *err)
{
        for (int kind = 0; kind < CMD_TAG_KINDS; kind++)
                if (d->tagged[kind].file != NULL && !cmd_tags_agree(head->kind, kind))
                        return ran_fail(err, RAN_EFORMAT, "the tags are %s, but %s at %s:%zu",
                                        kinds[head->kind], kinds[kind], d->tagged[kind].file,
                                        d->tagged[kind].line);
        return RAN_OK;
}

static void note_tags(struct train_data *d, const struct cmd_line *line, const struct packed *head)
{
        note(&d->tagged[head->kind], line);
        d->census.opens += head->census.opens;
        d->census.needless += head->census.needless;
        d->census.unclosed += head->census.unclosed;
        d->census.iobes += head->census.iobes;
        d->census.bilou += head->census.bilou;
}

/* No loss, and no line that anybody must mend. */
static int leave_lone(struct train_data *d, const struct cmd_line *line)
{
        struct train_location place = train_location_of(line);

        if (++d->lone <= TRAIN_LISTED)
                cmd_warn("%s:%zu: after its one id there is none to predict: left out", place.file,
                         place.line);
        return RAN_OK;
}

/* what: "label" or "tag". */
static void note_unknown(struct train_data *d, const struct cmd_line *line, const char *what,
                         const char *name, size_t n)
{
        struct train_location place = train_location_of(line);

        if (++d->unknown <= TRAIN_LISTED)
                cmd_warn("%s:%zu: nothing was trained with the %s \"%.*s\": no answer is right",
                         place.file, place.line, what, (int)(n < 200 ? n : 200), name);
}

struct train_location *train_location_add(struct ran_spool *places, size_t n,
                                          const struct cmd_line *line, struct ran_error *err)
{
        struct train_location *place = ran_spool_reserve(places, n + 1, sizeof *place, err);

        if (place != NULL)
                place[n] = train_location_of(line);
        return place;
}

/* A bad record, and one that --check lists. */
static int refuse_empty(struct train_data *d, const struct cmd_line *line, struct ran_error *err)
{
        struct train_location *empty = train_location_add(&d->empty_spool, d->empties, line, err);

        if (empty == NULL)
                return err->code;
        d->empty = empty;
        d->empties++;
        return ran_fail(err, RAN_EFORMAT, "the document has no tokens");
}

static const char *label_word(const struct train_source *source)
{
        return source->task == RAN_TASK_TAG ? "tag" : "label";
}

/* The n names of labels, and behind them those of soft labels. */
static int number_labels(struct train_reader *r, const struct cmd_line *line, const size_t *end,
                         const char *names, size_t n, size_t soft, struct ran_error *err)
{
        /* soften() may want all of the n behind the others. */
        uint32_t *labels = ran_grow(r->labels, &r->labels_cap, 2 * n + soft, sizeof *labels, err);

        if (labels == NULL)
                return RAN_ENOMEM;
        r->labels = labels;
        for (size_t i = 0, begin = 0; i < n + soft; begin = end[i++]) {
                if (i == n) { /* the ends of soft labels count from the first of them */
                        names += begin;
                        begin = 0;
                }
                size_t length = end[i] - begin;
                if (ran_dataset_label(&r->data->set, names + begin, length, &labels[i], err) !=
                    RAN_OK)
                        return err->code;
                if (labels[i] == RAN_LABEL_UNKNOWN)
                        note_unknown(r->data, line, label_word(r->source), names + begin, length);
        }
        return RAN_OK;
}

/* Room to say for each class where it stands in a target, 1 + that; all 0 between two targets. */
static int fit_places(struct train_reader *r, struct ran_error *err)
{
        size_t had = r->place_cap;
        uint32_t *place = ran_grow(r->place, &r->place_cap, r->data->set.C + 1, sizeof *place, err);

        if (place == NULL)
                return RAN_ENOMEM;
        r->place = place;
        memset(place + had, 0, (r->place_cap - had) * sizeof *place);
        return RAN_OK;
}

/* Adds the labels of the document that was added last, each with that share, to a target of n
 * classes, which may have them already. Returns how many there are then. */
static size_t want_labels(struct train_reader *r, uint32_t *labels, float *p, size_t n,
                          double share)
{
        const struct ran_dataset *set = &r->data->set;
        size_t soft = n;

        for (size_t i = 0; i < soft; i++)
                r->place[labels[i]] = (uint32_t)i + 1;
        for (size_t i = set->label_first[set->B - 1]; i < set->label_first[set->B]; i++) {
                uint32_t label = set->labels[i], place = r->place[label];

                if (place == 0) {
                        labels[n] = label;
                        p[n++] = (float)share;
                } else {
                        p[place - 1] = (float)((double)p[place - 1] + share);
                }
        }
        for (size_t i = 0; i < soft; i++)
                r->place[labels[i]] = 0;
        return n;
}

/* The target of the document that was added last: its soft label, mixed with labels of its own. */
static int soften(struct train_reader *r, const struct packed *head, const float *probability,
                  struct ran_error *err)
{
        struct ran_dataset *set = &r->data->set;
        bool own = head->soft > 0 && !head->guessed && r->source->soft_share < 1;
        double share = own ? r->source->soft_share : 1;
        uint32_t *labels = r->labels + head->n;
        float *p = ran_grow(r->soft, &r->soft_cap, head->soft + head->n, sizeof *p, err);
        size_t n = 0;

        if (p == NULL)
                return RAN_ENOMEM;
        r->soft = p;
        for (size_t i = 0; i < head->soft; i++) {
                if (!(share * (double)probability[i] > 0) || labels[i] == RAN_LABEL_UNKNOWN)
                        continue;
                labels[n] = labels[i];
                p[n++] = (float)(share * (double)probability[i]);
        }
        if (own && fit_places(r, err) != RAN_OK)
                return RAN_ENOMEM;
        if (own)
                n = want_labels(r, labels, p, n, 1 - share);
        return ran_dataset_soft_target(set, labels, p, n, head->guessed, err);
}

/* Whether the record is the next sentence of the document before it, in *joined. A record that
 * cannot be leaves no trace. */
static int join(struct train_reader *r, const struct cmd_line *line, const struct packed *head,
                bool *joined, struct ran_error *err)
{
        const struct ran_dataset *set = &r->data->set;

        *joined = sentence_group_goes_on(&r->doc, line->file, &line->record, r->source->join) &&
                  set->B > 0;
        if (!*joined || set->weight[set->B - 1] == (float)head->weight)
                return RAN_OK;
        r->doc.n--;
        return ran_fail(err, RAN_EFORMAT,
                        "its \"weight\" differs from that of the sentence before it, which has the "
                        "same \"doc\"");
}

static int add_words(struct train_reader *r, const struct packed *head, const uint32_t *ids,
                     bool joined, struct ran_error *err)
{
        struct ran_dataset *set = &r->data->set;
        const uint32_t *places = ids + head->L;

        return joined ? ran_dataset_continue(set, ids, head->L, places, r->labels, head->n, err)
                      : ran_dataset_add_words(set, ids, head->L, places, r->labels, head->n,
                                              head->weight, err);
}

/* Words that may be masked, or the gaps that the record has. */
static int add_gaps(struct train_reader *r, const struct packed *head, const uint32_t *ids,
                    struct ran_error *err)
{
        struct ran_dataset *set = &r->data->set;
        const uint32_t *places = ids + head->L, *golds = places + head->places + head->spelling;

        if (set->B > 0 && set->given != (head->golds > 0))
                return ran_fail(err, RAN_EFORMAT,
                                "some records have \"masked_at\" and some have not");
        set->given = head->golds > 0;
        uint32_t *labels = ran_grow(r->labels, &r->labels_cap, head->places, sizeof *labels, err);
        if (labels == NULL)
                return RAN_ENOMEM;
        r->labels = labels;
        for (size_t i = 0; i < head->places; i++) {
                labels[i] = head->golds > 0 ? golds[i] : 0;
                if (labels[i] >= r->data->V)
                        r->data->V = (size_t)labels[i] + 1;
        }
        return ran_dataset_add_words(set, ids, head->L, places, labels, head->places, head->weight,
                                     err);
}

static int add_document(struct train_reader *r, const struct cmd_line *line,
                        const struct packed *head, const uint32_t *ids, const float *soft,
                        const char *group, bool joined, struct ran_error *err)
{
        struct train_data *d = r->data;
        size_t before = d->set.B;
        int code;

        if (r->source->task == RAN_TASK_LM)
                code = ran_dataset_add_text(&d->set, ids, head->L, head->sources, head->weight,
                                            err);
        else if (r->source->task == RAN_TASK_TAG)
                code = add_words(r, head, ids, joined, err);
        else if (r->source->task == RAN_TASK_MLM)
                code = add_gaps(r, head, ids, err);
        else
                code = ran_dataset_add(&d->set, ids, head->L, r->labels, head->n, head->weight,
                                       err);
        if (code == RAN_OK && head->spelling > 0)
                code = ran_dataset_spell(&d->set, ids + head->L + head->places, head->L, err);
        if (code == RAN_OK && r->source->soft_label != NULL)
                code = soften(r, head, soft, err);
        if (code != RAN_OK || d->set.B == before)
                return code;
        if (r->source->group != NULL &&
            ran_dataset_group(&d->set, group, head->group, err) != RAN_OK)
                return err->code;
        d->grouped += head->group > 0;
        struct train_location *place = train_location_add(&d->location_spool, before, line, err);
        if (place == NULL)
                return err->code;
        d->place = place;
        return RAN_OK;
}

int train_take(void *arg, const struct cmd_line *line, const struct ran_buf *result,
               struct ran_error *err)
{
        const struct packed *head = (const struct packed *)result->data;
        const size_t *end = (const size_t *)(head + 1);
        const uint32_t *ids = (const uint32_t *)(end + head->n + head->soft);
        struct train_reader *r = arg;
        struct train_data *d = r->data;

        if (head->L == 0)
                return refuse_empty(d, line, err);
        if (head->L == 1 && r->source->task == RAN_TASK_LM)
                return leave_lone(d, line);
        const float *soft =
                (const float *)(ids + head->L + head->places + head->spelling + head->golds);
        const char *names = (const char *)(soft + head->soft);
        bool tags = r->source->task == RAN_TASK_TAG, joined = false;
        if (tags &&
            (check_tags(d, head, err) != RAN_OK || join(r, line, head, &joined, err) != RAN_OK))
                return err->code;
        if (tags)
                note_tags(d, line, head);
        if (number_labels(r, line, end, names, head->n, head->soft, err) != RAN_OK)
                return err->code;
        if (add_document(r, line, head, ids, soft, names + head->names, joined, err) != RAN_OK)
                return err->code;
        d->softened += head->softened;
        note_kind(r, line, head);
        for (size_t t = 0; t < head->L; t++)
                if (ids[t] >= d->V)
                        d->V = (size_t)ids[t] + 1;
        ran_sha256_add(&r->digest, line->record.line, line->record.length);
        ran_sha256_add(&r->digest, "\n", 1);
        return RAN_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Tags of another scheme than IOB2 have been converted on the way. */
static void tell_scheme(const struct train_data *d)
{
        const char *file = d->tagged[CMD_TAGS_SCHEME].file;
        struct ran_error err = {0};
        enum ran_tag_scheme scheme;
        size_t wrong;

        if (d->tagged[CMD_TAGS_NUMBERS].file != NULL)
                cmd_note("%s: the tags are numbers, which mark no entities (--label-names gives "
                         "them names)",
                         d->tagged[CMD_TAGS_NUMBERS].file);
        if (file == NULL)
                return;
        if (ran_tag_census_scheme(&d->census, &scheme, &wrong, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s: %s", file, err.text);
        if (scheme != RAN_TAGS_IOB2)
                cmd_note("%s: the tags are %s, and are converted to IOB2", file,
                         ran_tag_scheme_names[scheme]);
        if (wrong > 0)
                cmd_warn(
                        "%s: %zu of the tags are not possible in %s where they stand, and are made "
                        "to fit",
                        file, wrong, ran_tag_scheme_names[scheme]);
}

void train_begin(struct train_reader *r)
{
        struct train_data *d = r->data;

        d->task = r->source->task;
        d->soft_label = r->source->soft_label;
        d->group = r->source->group;
        d->set.keep = d->location_spool.keep = d->empty_spool.keep = r->source->keep;
        ran_sha256_init(&r->digest);
        struct ran_error err = {0};
        if (d->task == RAN_TASK_MLM && ran_dataset_set_classes(&d->set, NULL, 0, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
}

void train_finish(struct train_reader *r)
{
        struct train_data *d = r->data;
        struct ran_error err = {0};

        free(r->labels);
        free(r->soft);
        free(r->place);
        sentence_group_release(&r->doc);
        ran_sha256_hex(&r->digest, d->set.digest);
        d->set.multilabel = d->several.file != NULL;
        if (ran_dataset_finish(&d->set, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        if (d->lone > TRAIN_LISTED)
                cmd_warn("... and %zu more documents of one id", d->lone - TRAIN_LISTED);
        if (d->unknown > TRAIN_LISTED)
                cmd_warn("... and %zu more unknown %ss", d->unknown - TRAIN_LISTED,
                         label_word(r->source));
        tell_scheme(d);
}

/* The members that options name go in front of the end of a list. */
static const char *const *name_members(const char **list, size_t n,
                                       const struct train_source *source)
{
        const char **to = list + n - 3;

        *to = source->soft_label;
        to += source->soft_label != NULL;
        *to = source->group;
        return list;
}
#define NAME_MEMBERS(list, source) name_members(list, sizeof(list) / sizeof *(list), source)

struct cmd_loop train_loop(const struct train_source *source)
{
        return (struct cmd_loop){
                .input = source->input,
                .accepted = source->task == RAN_TASK_CLASSIFY || source->task == RAN_TASK_TAG,
                .reads = source->task == RAN_TASK_TAG   ? NAME_MEMBERS(tagged, source)
                         : source->task == RAN_TASK_LM  ? NAME_MEMBERS(texts, source)
                         : source->task == RAN_TASK_MLM ? NAME_MEMBERS(gapped, source)
                                                        : NAME_MEMBERS(labelled, source),
                .pool = source->pool,
                .make_scratch = scratch_new,
                .free_scratch = scratch_free,
        };
}

void train_data_read(struct train_data *d, const struct train_source *source, char **files)
{
        struct train_reader r = {.source = source, .data = d};
        struct cmd_loop loop = train_loop(source);

        loop.work = train_encode;
        loop.take = train_take;
        loop.arg = &r;
        train_begin(&r);
        cmd_records(&loop, files, &d->counts);
        train_finish(&r);
}

void train_data_release(struct train_data *d)
{
        ran_dataset_release(&d->set);
        ran_spool_release(&d->location_spool);
        ran_spool_release(&d->empty_spool);
        *d = (struct train_data){0};
}
