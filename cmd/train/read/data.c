/* data.c - reads documents with labels or tags, or texts, into a data set.
 *
 * The record loop processes every line: train_encode runs in many threads and packs labels or tags,
 * weight and ids of a document into the result of the line; train_take unpacks them in the order of
 * the input.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/records/loop.h"
#include "cmd/train/read/task.h"

/* ---- where lines stand ---------------------------------------------------------------------- */

struct train_location train_location_of(const struct cmd_line *line)
{
        bool standard_input = strcmp(line->file, "-") == 0;

        return (struct train_location){standard_input ? "standard input" : line->file,
                                       line->number};
}

void train_add_place(struct train_places *p, struct train_location at,
                     const struct train_location *of)
{
        if (p->n < TRAIN_LISTED) {
                p->at[p->n] = at;
                if (of != NULL)
                        p->of[p->n] = *of;
        }
        p->n++;
}

void train_location_note(struct train_location *at, const struct cmd_line *line)
{
        if (at->file == NULL)
                *at = train_location_of(line);
}

struct train_location *train_location_add(struct ran_spool *locations, size_t n,
                                          const struct cmd_line *line, struct ran_error *err)
{
        struct train_location *at;

        if (RAN_SPOOL(*locations, at, n + 1, err) != RAN_OK)
                return NULL;
        at[n] = train_location_of(line);
        return at;
}

const char *train_line_text(const struct cmd_line *line, struct ran_buf *renamed, size_t *length)
{
        *length = line->record.json.length;
        if (!line->renamed)
                return line->record.json.line;
        renamed->len = 0;
        members_write(&line->record.json, renamed);
        *length = renamed->len;
        return renamed->data;
}

int train_lines_add(struct train_lines *l, const char *text, size_t n, struct ran_error *err)
{
        const size_t at = l->n > 0 ? l->end[l->n - 1] : 0;

        RAN_TRY(RAN_SPOOL(l->end_spool, l->end, l->n + 1, err));
        RAN_TRY(RAN_SPOOL(l->text_spool, l->text, at + n, err));
        if (n > 0)
                memcpy(l->text + at, text, n);
        l->end[l->n++] = at + n;
        return RAN_OK;
}

void train_lines_release(struct train_lines *l)
{
        ran_spool_release(&l->text_spool);
        ran_spool_release(&l->end_spool);
}

/* ---- packed documents to the data set, in order --------------------------------------------- */

static struct train_document unpack(const struct ran_buf *packed)
{
        struct train_document d = {.head = (const struct train_packed *)packed->data};
        const struct train_packed *head = d.head;

        d.end = (const size_t *)(head + 1);
        d.ids = (const uint32_t *)(d.end + head->n + head->soft);
        d.words = d.ids + head->L;
        d.spelling = d.words + head->words;
        d.soft = (const float *)(d.spelling + head->spelling);
        d.names = (const char *)(d.soft + head->soft);
        d.group = d.names + head->names;
        return d;
}

/* Appends how a label that is unknown differs from one that looks like it, if there is one. */
static void add_like(struct train_reader *r, const char *name, size_t n, struct ran_buf *out)
{
        const struct ran_dataset *d = &r->data->set;
        char *own = ran_copy(name, n);

        if (r->folded == NULL)
                r->folded = cmd_folded_new(d->names, d->C);
        const char *like = cmd_label_like(r->folded, d->names, d->C, own);
        if (like != NULL) {
                ran_buf_printf(out, "; this and \"%.100s\" ", like);
                cmd_label_difference(out, own, like);
        }
        ran_buf_char(out, '\0');
        free(own);
}

static void note_unknown(struct train_reader *r, const struct cmd_line *line, const char *name,
                         size_t n)
{
        struct train_location at = train_location_of(line);
        struct ran_buf like = {0};

        if (++r->data->unknown > TRAIN_LISTED)
                return;
        add_like(r, name, n, &like);
        cmd_warn("%s:%zu: the training data have no %s \"%.*s\": any answer counts as wrong%s",
                 at.file, at.line, train_label_word(r->source->task), (int)(n < 200 ? n : 200),
                 name, like.data);
        ran_buf_release(&like);
}

/* Classes of the n labels, and of the soft labels behind them, into r->labels. */
static int number_labels(struct train_reader *r, const struct cmd_line *line,
                         const struct train_document *d, struct ran_error *err)
{
        size_t n = d->head->n, soft = d->head->soft;
        const char *names = d->names;
        /* A soft target may add all of the n labels after the others. */
        RAN_ROOM(r->labels, r->labels_cap, 2 * n + soft);
        for (size_t i = 0, begin = 0; i < n + soft; begin = d->end[i++]) {
                if (i == n) { /* the ends of soft r->labels count from the first of them */
                        names += begin;
                        begin = 0;
                }
                size_t length = d->end[i] - begin;
                RAN_TRY(ran_dataset_label(&r->data->set, names + begin, length, &r->labels[i],
                                          err));
                if (r->labels[i] == RAN_LABEL_UNKNOWN && r->source->label_texts != NULL &&
                    !r->source->judge) {
                        struct ran_buf like = {0};

                        add_like(r, names + begin, length, &like);
                        ran_fail(err, RAN_EFORMAT, "%s has no label \"%.*s\"%s",
                                 r->source->label_texts, (int)length, names + begin, like.data);
                        ran_buf_release(&like);
                        return RAN_EFORMAT;
                }
                if (r->labels[i] == RAN_LABEL_UNKNOWN)
                        note_unknown(r, line, names + begin, length);
        }
        return RAN_OK;
}

/* ---- soft targets ---------------------------------------------------------------------------- */

/* The target of a document with probabilities from another model:
 *
 *      target(c) = share * soft(c) + (1 - share) * [c is a label of its own]
 *
 * where share is --soft-share, or 1 without a label of its own. */

/* Adds the labels of the last document, each with that probability, to a target of n classes,
 * which may contain them already. Returns the new number of classes. */
static size_t mix_labels(struct train_reader *r, uint32_t *labels, float *p, size_t n,
                         double probability)
{
        const struct ran_dataset *set = &r->data->set;
        const size_t soft = n, had = r->target_cap;

        RAN_ROOM(r->target_at, r->target_cap, set->C + 1);
        memset(r->target_at + had, 0, (r->target_cap - had) * sizeof *r->target_at);
        for (size_t i = 0; i < soft; i++)
                r->target_at[labels[i]] = (uint32_t)i + 1;
        for (size_t i = set->label_first[set->B - 1]; i < set->label_first[set->B]; i++) {
                const uint32_t label = set->labels[i], at = r->target_at[label];

                if (at == 0) {
                        labels[n] = label;
                        p[n++] = (float)probability;
                } else {
                        p[at - 1] = (float)((double)p[at - 1] + probability);
                }
        }
        for (size_t i = 0; i < soft; i++)
                r->target_at[labels[i]] = 0;
        return n;
}

static int add_soft_target(struct train_reader *r, const struct train_document *d,
                           struct ran_error *err)
{
        const struct train_packed *head = d->head;
        struct ran_dataset *set = &r->data->set;
        bool own = head->soft > 0 && !head->guessed && r->source->soft_share < 1;
        double share = own ? r->source->soft_share : 1;
        uint32_t *labels = r->labels + head->n;
        size_t n = 0;

        RAN_ROOM(r->soft, r->soft_cap, head->soft + head->n);
        float *p = r->soft;
        for (size_t i = 0; i < head->soft; i++) {
                if (!(share * (double)d->soft[i] > 0) || labels[i] == RAN_LABEL_UNKNOWN)
                        continue;
                labels[n] = labels[i];
                p[n++] = (float)(share * (double)d->soft[i]);
        }
        if (own)
                n = mix_labels(r, labels, p, n, 1 - share);
        return ran_dataset_soft_target(set, labels, p, n, head->guessed, err);
}

/* ---- documents ------------------------------------------------------------------------------- */

static int add_document(struct train_reader *r, const struct cmd_line *line,
                        const struct train_document *d, struct ran_error *err)
{
        const struct train_packed *head = d->head;
        struct train_data *data = r->data;
        size_t before = data->set.B;

        RAN_TRY(r->source->task->add(r, d, err));
        if (head->spelling > 0)
                RAN_TRY(ran_dataset_spell(&data->set, d->spelling, head->L, err));
        if (r->source->soft_label != NULL)
                RAN_TRY(add_soft_target(r, d, err));
        RAN_TRY(ran_dataset_fingerprint(&data->set, head->fingerprint, err));
        if (data->set.B == before)
                return RAN_OK;
        if (r->source->group != NULL)
                RAN_TRY(ran_dataset_group(&data->set, d->group, head->group, err));
        data->grouped += head->group > 0;
        struct train_location *at = train_location_add(&data->location_spool, before, line, err);
        if (at == NULL)
                return (int)err->code;
        data->location = at;
        data->quoted += head->quoted;
        return RAN_OK;
}

int train_take(void *arg, const struct cmd_line *line, struct cmd_result *result,
               struct ran_error *err)
{
        const struct train_document d = unpack(&result->out);
        const struct train_packed *head = d.head;
        struct train_reader *r = arg;
        const struct train_task *task = r->source->task;
        struct train_data *data = r->data;
        bool wanted = true;

        if (head->L == 0) {
                train_add_place(&data->empty, train_location_of(line), NULL);
                return ran_fail(err, RAN_EFORMAT, "the document has no tokens");
        }
        if (task->admit != NULL)
                RAN_TRY(task->admit(r, line, &d, &wanted, err));
        if (!wanted)
                return RAN_OK;
        RAN_TRY(number_labels(r, line, &d, err));
        RAN_TRY(add_document(r, line, &d, err));
        data->soft_target += head->soft_target;
        data->weighted += head->weight < 1 || head->weight > 1;
        if (task->note != NULL)
                task->note(data, line, &d);
        for (size_t t = 0; t < head->L; t++)
                if (d.ids[t] >= data->V)
                        data->V = (size_t)d.ids[t] + 1;
        size_t length;
        const char *text = train_line_text(line, &r->renamed, &length);
        if (r->source->keep_lines)
                RAN_TRY(train_lines_add(&data->lines, text, length, err));
        ran_sha256_add(&r->digest, text, length);
        ran_sha256_add(&r->digest, "\n", 1);
        return RAN_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

void train_begin(struct train_reader *r)
{
        struct train_data *d = r->data;

        d->task = r->source->task;
        d->soft_label = r->source->soft_label;
        d->group = r->source->group;
        d->set.keep = d->location_spool.keep = r->source->keep;
        d->lines.text_spool.keep = d->lines.end_spool.keep = r->source->keep;
        ran_sha256_init(&r->digest);
        if (d->task->begin != NULL)
                d->task->begin(d);
}

void train_finish(struct train_reader *r)
{
        struct train_data *d = r->data;
        struct ran_error err = {0};

        free(r->labels);
        free(r->soft);
        free(r->target_at);
        cmd_folded_free(r->folded, r->data->set.C);
        ran_buf_release(&r->renamed);
        sentence_group_release(&r->sentences);
        ran_sha256_hex(&r->digest, d->set.digest);
        d->set.multilabel = d->several.file != NULL;
        if (ran_dataset_finish(&d->set, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        if (d->weighted > 0)
                cmd_note("%zu of %zu documents have another weight than 1, by \"%s\" "
                         "(--weight-member none: all weigh the same)",
                         d->weighted, d->set.B, r->source->weight);
        if (d->lone > TRAIN_LISTED)
                cmd_warn("... and %zu more documents of one id", d->lone - TRAIN_LISTED);
        if (d->unknown > TRAIN_LISTED)
                cmd_warn("... and %zu more unknown %ss", d->unknown - TRAIN_LISTED,
                         train_label_word(d->task));
        if (d->task->finish != NULL)
                d->task->finish(d);
}

static void scratch_free(void *scratch)
{
        train_scratch_release(scratch);
        free(scratch);
}

struct cmd_loop train_loop(struct train_reader *r)
{
        const struct train_source *source = r->source;
        const struct cmd_member also[] = {{source->soft_label, source->judge ? NULL : "soft-label"},
                                          {source->group, source->judge ? NULL : "dev-group"},
                                          {source->weight, NULL}};
        size_t n = 0;

        for (size_t i = 0; i < sizeof also / sizeof *also; i++)
                if (also[i].name != NULL)
                        r->also[n++] = also[i];
        r->also[n] = (struct cmd_member){0};
        return (struct cmd_loop){
                .input = source->input,
                .accepted = source->task->label != NULL,
                .may_lack_label = source->label_texts != NULL && !source->judge,
                .own_progress = true,
                .reads = source->task->reads,
                .also = r->also,
                .pool = source->pool,
                .scratch_size = sizeof(struct train_scratch),
                .free_scratch = scratch_free,
        };
}

void train_data_read(struct train_data *d, const struct train_source *source, char **files)
{
        struct train_reader r = {.source = source, .data = d};
        struct cmd_loop loop = train_loop(&r);

        loop.work = train_encode;
        loop.take = train_take;
        loop.arg = &r;
        train_begin(&r);
        cmd_records(&loop, files, &d->counts);
        train_finish(&r);
}

void train_data_set_classes(struct train_data *d, char *const *names, size_t C)
{
        struct ran_error err = {0};

        if (ran_dataset_set_classes(&d->set, names, C, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
}

void train_data_release(struct train_data *d)
{
        ran_dataset_release(&d->set);
        ran_spool_release(&d->location_spool);
        train_lines_release(&d->lines);
        *d = (struct train_data){0};
}
