/* train-data.c - reads labelled documents into a data set.
 *
 * Every line goes through the record loop: `encode` runs in many threads and packs labels, weight
 * and ids of a document into the result of the line, `take` unpacks them in the order of the input.
 */
#include "train-reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const members[] = {CMD_DOCUMENT_MEMBERS, CMD_LABEL_MEMBERS, "weight", NULL};

/* ---- one line to a packed document, in any thread ------------------------------------------- */

/* How a document travels from encode to take: this head, then n ends of label names (size_t), L ids
 * (uint32_t) and the names. */
struct packed {
        double weight;
        size_t n, L;
        bool several;
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
        cmd_words_release(&s->words);
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

int train_read_labels(struct train_scratch *s, const struct ran_record *record,
                      struct ran_error *err)
{
        if (cmd_labels_read(&s->labels, record, err) != RAN_OK)
                return err->code;
        if (!s->labels.present)
                return ran_fail(err, RAN_EFORMAT, "there is neither \"label\" nor \"labels\"");
        if (s->labels.names.len > 0 &&
            memchr(s->labels.names.data, '\0', s->labels.names.len) != NULL)
                return ran_fail(err, RAN_EFORMAT, "a label cannot hold U+0000");
        return read_weight(record, &s->weight, err);
}

static void pack(const struct train_scratch *s, struct ran_buf *result)
{
        const struct cmd_labels *labels = &s->labels;
        const struct cmd_document *document = &s->document;
        const struct packed head = {s->weight, labels->n, document->L, labels->several};

        ran_buf_add(result, &head, sizeof head);
        ran_buf_add(result, labels->end, labels->n * sizeof *labels->end);
        ran_buf_add(result, document->ids, document->L * sizeof *document->ids);
        ran_buf_add(result, labels->names.data, labels->names.len);
}

/* A document without a token goes on to take, which notes where it is, with L = 0. */
int train_encode(void *arg, void *scratch, const struct cmd_line *line, struct ran_buf *result,
                 struct ran_error *err)
{
        const struct train_source *source = ((struct train_reader *)arg)->source;
        struct train_scratch *s = scratch;

        if (train_read_labels(s, &line->record, err) != RAN_OK)
                return err->code;
        if (cmd_document_read(&s->document, &line->record, source->tokenizer, source->V, NULL,
                              err) != RAN_OK &&
            !s->document.empty)
                return err->code;
        pack(s, result);
        return RAN_OK;
}

/* ---- packed documents to the data set, in order --------------------------------------------- */

struct train_place train_place_of(const struct cmd_line *line)
{
        bool standard_input = strcmp(line->file, "-") == 0;

        return (struct train_place){standard_input ? "standard input" : line->file, line->number};
}

static void note_kind(struct train_data *d, const struct cmd_line *line, bool several)
{
        struct train_place *place = several ? &d->several : &d->one;

        if (place->file == NULL)
                *place = train_place_of(line);
}

static void note_unknown(struct train_data *d, const struct cmd_line *line, const char *name,
                         size_t n)
{
        struct train_place place = train_place_of(line);

        if (++d->unknown <= TRAIN_LISTED)
                cmd_warn("%s:%zu: nothing was trained with the label \"%.*s\": no answer is right",
                         place.file, place.line, (int)(n < 200 ? n : 200), name);
}

int train_place_add(struct train_place **places, size_t *cap, size_t n, const struct cmd_line *line,
                    struct ran_error *err)
{
        struct train_place *place = ran_grow(*places, cap, n + 1, sizeof *place, err);

        if (place == NULL)
                return RAN_ENOMEM;
        *places = place;
        place[n] = train_place_of(line);
        return RAN_OK;
}

/* A bad record, and one that --check lists. */
static int refuse_empty(struct train_data *d, const struct cmd_line *line, struct ran_error *err)
{
        if (train_place_add(&d->empty, &d->empty_cap, d->empties, line, err) != RAN_OK)
                return RAN_ENOMEM;
        d->empties++;
        return ran_fail(err, RAN_EFORMAT, "the document has no tokens");
}

static int number_labels(struct train_reader *r, const struct cmd_line *line, const size_t *end,
                         const char *names, size_t n, struct ran_error *err)
{
        uint32_t *labels = ran_grow(r->labels, &r->labels_cap, n, sizeof *labels, err);

        if (labels == NULL)
                return RAN_ENOMEM;
        r->labels = labels;
        for (size_t i = 0, begin = 0; i < n; begin = end[i++]) {
                size_t length = end[i] - begin;
                if (ran_dataset_label(&r->data->set, names + begin, length, &labels[i], err) !=
                    RAN_OK)
                        return err->code;
                if (labels[i] == RAN_LABEL_UNKNOWN)
                        note_unknown(r->data, line, names + begin, length);
        }
        return RAN_OK;
}

int train_take(void *arg, const struct cmd_line *line, const struct ran_buf *result,
               struct ran_error *err)
{
        const struct packed *head = (const struct packed *)result->data;
        const size_t *end = (const size_t *)(head + 1);
        const uint32_t *ids = (const uint32_t *)(end + head->n);
        struct train_reader *r = arg;
        struct train_data *d = r->data;

        if (head->L == 0)
                return refuse_empty(d, line, err);
        if (number_labels(r, line, end, (const char *)(ids + head->L), head->n, err) != RAN_OK ||
            train_place_add(&d->place, &d->place_cap, d->set.B, line, err) != RAN_OK ||
            ran_dataset_add(&d->set, ids, head->L, r->labels, head->n, head->weight, err) != RAN_OK)
                return err->code;
        note_kind(d, line, head->several);
        for (size_t t = 0; t < head->L; t++)
                if (ids[t] >= d->V)
                        d->V = (size_t)ids[t] + 1;
        ran_sha256_add(&r->digest, line->record.line, line->record.length);
        ran_sha256_add(&r->digest, "\n", 1);
        return RAN_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

void train_finish(struct train_reader *r)
{
        struct train_data *d = r->data;
        struct ran_error err = {0};

        free(r->labels);
        ran_sha256_hex(&r->digest, d->set.digest);
        d->set.multilabel = d->several.file != NULL;
        if (ran_dataset_finish(&d->set, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        if (d->unknown > TRAIN_LISTED)
                cmd_warn("... and %zu more unknown labels", d->unknown - TRAIN_LISTED);
}

struct cmd_loop train_loop(const struct train_source *source)
{
        return (struct cmd_loop){
                .input = source->input,
                .reads = members,
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
        ran_sha256_init(&r.digest);
        cmd_records(&loop, files, &d->counts);
        train_finish(&r);
}

void train_data_release(struct train_data *d)
{
        ran_dataset_release(&d->set);
        free(d->place);
        free(d->empty);
        *d = (struct train_data){0};
}
