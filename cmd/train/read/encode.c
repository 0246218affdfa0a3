/* encode.c - one line to a packed document, in any thread. */
#include <math.h>
#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/train/read/task.h"

void train_scratch_release(struct train_scratch *s)
{
        cmd_document_release(&s->document);
        cmd_labels_release(&s->labels);
        cmd_soft_label_release(&s->soft);
        cmd_vocab_words_release(&s->words);
        cmd_sequence_release(&s->sequence);
        ran_segment_fit_release(&s->fit);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* A weight that is absent, null or an empty cell is 1. Tables have numbers as strings. */
static int read_weight(const struct train_source *source, const struct record *record,
                       double *weight, struct ran_error *err)
{
        const char *name = source->weight;
        const struct ran_member *m = name != NULL ? json_member(&record->json, name) : NULL;

        *weight = 1;
        if (m == NULL)
                return RAN_OK;
        const size_t quote = m->type == 's', n = m->value.end - m->value.begin - 2 * quote;
        const char *text = record->json.line + m->value.begin + quote;
        if (quote > 0 && n == 0)
                return RAN_OK;
        if ((m->type != 'n' && m->type != 's') || !ran_parse_double(text, n, weight) ||
            !isfinite(*weight) || *weight < 0 || *weight > 1e6)
                return ran_fail(err, RAN_EFORMAT,
                                "\"%s\" is not a number from 0 to 1e6: if it is no weight in "
                                "training, give --weight-member none",
                                name);
        return RAN_OK;
}

/* The value counts as it is written: 1 and "1" are two. */
static void read_group(struct train_scratch *s, const struct train_source *source,
                       const struct record *record)
{
        const struct ran_member *m = NULL;

        if (source->group != NULL && !source->judge)
                m = json_member(&record->json, source->group);
        s->group = m != NULL ? record->json.line + m->value.begin : NULL;
        s->group_n = s->group != NULL ? m->value.end - m->value.begin : 0;
}

int train_read_labels(struct train_scratch *s, const struct train_source *source,
                      const struct record *record, struct ran_error *err)
{
        read_group(s, source, record);
        s->labels.called = source->names;
        s->labels.separator = cmd_input_separator(source->input);
        if (source->task->read != NULL)
                RAN_TRY(source->task->read(s, source, record, err));
        return read_weight(source, record, &s->weight, err);
}

int train_refuse_nul(const struct cmd_labels *labels, const struct train_source *source,
                     struct ran_error *err)
{
        if (labels->names.len > 0 && memchr(labels->names.data, '\0', labels->names.len) != NULL)
                return ran_fail(err, RAN_EFORMAT, "a %s cannot hold U+0000",
                                train_label_word(source->task));
        return RAN_OK;
}

int train_document_read(struct train_scratch *s, const struct train_source *source,
                        const struct record *record, struct ran_error *err)
{
        s->document.with_fingerprint = true;
        s->document.spelling = source->spelling;
        int rc = cmd_document_read(&s->document, record, source->tokenizer, source->V, NULL, err);

        return rc != RAN_OK && s->document.empty ? RAN_OK : rc;
}

/* ---- packing -------------------------------------------------------------------------------- */

static bool is_quoted(const struct cmd_document *d)
{
        const char *s = d->text.data;
        size_t n = d->from == CMD_FROM_TEXT ? d->text.len : 0;

        while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\n'))
                n--;
        return n > 1 && s[0] == '"' && s[n - 1] == '"';
}

void train_pack(const struct train_scratch *s, const struct train_source *source,
                struct ran_buf *result)
{
        const struct cmd_soft_label *soft = &s->soft;
        const struct cmd_labels *labels = &s->labels;
        const struct cmd_document *document = &s->document;
        size_t n_soft = source->judge ? 0 : soft->n;
        size_t soft_names = n_soft > 0 ? soft->names.len : 0;
        const struct train_packed head = {
                .weight = s->weight,
                .fingerprint = document->fingerprint,
                .n = labels->n,
                .L = document->L,
                .words = document->words,
                .spelling = document->spelling > 0 ? document->L * RAN_SPELLING : 0,
                .several = labels->several,
                .either = labels->either,
                .soft = n_soft,
                .names = labels->names.len + soft_names,
                .group = s->group_n,
                .soft_target = soft->present,
                .guessed = soft->guessed,
                .labelled = labels->present,
                .kind = labels->kind,
                .census = labels->census,
                .quoted = is_quoted(document),
                .segments = s->segments,
        };

        ran_buf_add(result, &head, sizeof head);
        ran_buf_add(result, labels->end, labels->n * sizeof *labels->end);
        ran_buf_add(result, soft->end, head.soft * sizeof *soft->end);
        ran_buf_add(result, document->ids, document->L * sizeof *document->ids);
        ran_buf_add(result, document->positions, head.words * sizeof *document->positions);
        ran_buf_add(result, document->encoding.spelling, head.spelling * sizeof(uint32_t));
        ran_buf_add(result, soft->p, head.soft * sizeof *soft->p);
        ran_buf_add(result, labels->names.data, labels->names.len);
        ran_buf_add(result, soft->names.data, soft_names);
        ran_buf_add(result, s->group, s->group_n);
}

void train_pack_text(const struct train_scratch *s, size_t L, struct ran_buf *result)
{
        const struct cmd_sequence *q = &s->sequence;
        const struct train_packed head = {.weight = s->weight,
                                          .fingerprint = q->fingerprint,
                                          .L = L,
                                          .sources = q->sources,
                                          .group = s->group_n,
                                          .paired = s->mask == RAN_MASK_PREFIX};

        ran_buf_add(result, &head, sizeof head);
        ran_buf_add(result, q->ids, L * sizeof *q->ids);
        ran_buf_add(result, s->group, s->group_n);
}

int train_encode(void *arg, void *scratch, const struct cmd_line *line, struct cmd_result *result,
                 struct ran_error *err)
{
        const struct train_source *source = ((struct train_reader *)arg)->source;

        RAN_TRY(train_read_labels(scratch, source, &line->record, err));
        return source->task->encode(scratch, source, &line->record, &result->out, err);
}
