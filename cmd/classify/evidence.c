/* evidence.c - the passages that decided the label of a document: gains of tokens propose them, and
 * classifying the document without each of them confirms it (ablation). */
#include "cmd/classify/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"

/* Candidate passages for each requested one: gains do not say what is left without them. */
enum { TRIALS = 2 };

#define OPTION(member) offsetof(struct classify_evidence_options, member)

const struct ran_field classify_evidence_fields[] = {
        {"evidence", 0, RAN_FIELD_SIZE, OPTION(evidence), 0, INFINITY, .value = "K", .initial = "0",
         .help = "add the K most important passages of the document, each with the probability of "
                 "the label without it; 0: none",
         .first = true},
        {"evidence_length", 0, RAN_FIELD_SIZE, OPTION(evidence_length), 1, INFINITY, .value = "N",
         .initial = "24",
         .help = "longest passage, in tokens; never more than half of the document",
         .needs = "evidence"},
        {"offsets", 0, RAN_FIELD_CHOICE, OPTION(offsets), .choices = ran_unit_names,
         .value = "UNIT", .initial = "codepoint",
         .help = "unit of the offsets of passages in a text", .needs = "evidence"},
        {0},
};

struct classify_evidence {
        const struct classify_evidence_options *options;
        const struct ran_model *m;
        struct ran_explainer *explainer;
        struct ran_state *state;
        const struct cmd_document *document;
        const struct record *record;
        double *value;            /* (L); then, in value[t], the sum before t; (L+1) */
        bool *taken;              /* (words) */
        uint32_t *ids, *spelling; /* what is left of a document */
        size_t value_cap, taken_cap, ids_cap, spelling_cap;
        struct classify_passage *passage;
        size_t n, passage_cap, proposed;
        float *logits, *p; /* (C) */
        struct ran_buf text;
};

struct classify_evidence *classify_evidence_new(const struct classify_evidence_options *options,
                                                const struct ran_model *m, struct ran_pool *pool)
{
        struct classify_evidence *e = ran_new(1, sizeof *e);

        e->options = options;
        e->m = m;
        e->explainer = ran_explainer_new(m, pool);
        e->state = ran_state_new(m, pool);
        e->logits = ran_new_floats(ran_model_classes(m));
        e->p = ran_new_floats(ran_model_classes(m));
        return e;
}

void classify_evidence_free(struct classify_evidence *e)
{
        if (e == NULL)
                return;
        ran_explainer_free(e->explainer);
        ran_state_free(e->state);
        ran_buf_release(&e->text);
        free(e->value);
        free(e->taken);
        free(e->ids);
        free(e->spelling);
        free(e->passage);
        free(e->logits);
        free(e->p);
        free(e);
}

int classify_evidence_read(struct classify_evidence *e, const struct cmd_document *document,
                           const struct record *record, struct ran_error *err)
{
        const struct ran_document d = cmd_document_view(document);

        e->document = document;
        e->record = record;
        e->n = e->proposed = 0;
        return ran_explain_read(e->explainer, &d, 0, err);
}

/* ---- finding -------------------------------------------------------------------------------- */

/* The end of word i's tokens: the next word, or the point of truncation. */
static size_t end_of(const struct cmd_document *d, size_t i)
{
        size_t end = i + 1 < d->words ? d->positions[i + 1] : d->L;

        return d->positions[i] < d->head && end > d->head ? d->head : end;
}

/* The passage with the largest gain among free words: from each word on, as many words as fit
 * into the length. */
static struct classify_passage best_passage(const struct classify_evidence *e, size_t length)
{
        const struct cmd_document *d = e->document;
        struct classify_passage most = {0};

        for (size_t first = 0, last = 0; first < d->words; first++) {
                size_t from = d->positions[first];

                if (e->taken[first])
                        continue;
                for (last = last > first ? last : first + 1; last < d->words; last++)
                        if (e->taken[last] || end_of(d, last) - from > length ||
                            (from < d->head && d->positions[last] >= d->head))
                                break;
                double gain = e->value[end_of(d, last - 1)] - e->value[from];
                if (gain > most.gain)
                        most = (struct classify_passage){
                                .first = first, .last = last, .gain = gain};
        }
        return most;
}

static int by_position(const void *a, const void *b)
{
        const struct classify_passage *x = a, *y = b;

        return (x->first > y->first) - (x->first < y->first);
}

/* The passages with the largest gains, in the order of the document. */
static int propose(struct classify_evidence *e, size_t c, struct ran_error *err)
{
        const struct cmd_document *d = e->document;
        size_t L = d->L, length = e->options->evidence_length, most = e->options->evidence;
        double sum = 0;

        RAN_ROOM(e->value, e->value_cap, L + 1);
        RAN_ROOM(e->taken, e->taken_cap, d->words + 1);
        RAN_TRY(ran_explain_label(e->explainer, 0, c, RAN_EXPLAIN_BEST, e->value, err));
        for (size_t t = 0; t <= L; t++) {
                double value = t < L ? e->value[t] : 0;

                e->value[t] = sum;
                sum += value;
        }
        memset(e->taken, 0, d->words * sizeof *e->taken);
        length = length < L / 2 ? length : L / 2;
        for (e->n = 0; e->n / TRIALS < most; e->n++) {
                const struct classify_passage p = best_passage(e, length);

                if (!(p.gain > 0))
                        break;
                RAN_ROOM(e->passage, e->passage_cap, e->n + 1);
                e->passage[e->n] = p;
                for (size_t i = p.first; i < p.last; i++)
                        e->taken[i] = true;
        }
        if (e->n > 0)
                qsort(e->passage, e->n, sizeof *e->passage, by_position);
        return RAN_OK;
}

/* ---- confirming ----------------------------------------------------------------------------- */

static void copy_without(void *to, const void *from, size_t size, size_t L, size_t first,
                         size_t end)
{
        memcpy(to, from, first * size);
        memcpy((char *)to + first * size, (const char *)from + end * size, (L - end) * size);
}

static int remove_passage(struct classify_evidence *e, struct classify_passage *p, size_t c,
                          struct ran_error *err)
{
        struct ran_document d = cmd_document_view(e->document);
        size_t first = e->document->positions[p->first], end = end_of(e->document, p->last - 1);

        p->without = NAN;
        if (end - first == d.L)
                return RAN_OK;
        RAN_ROOM(e->ids, e->ids_cap, d.L);
        copy_without(e->ids, d.ids, sizeof *d.ids, d.L, first, end);
        d.ids = e->ids;
        if (d.spelling != NULL) {
                RAN_ROOM(e->spelling, e->spelling_cap, d.L * RAN_SPELLING);
                copy_without(e->spelling, d.spelling, RAN_SPELLING * sizeof *d.spelling, d.L, first,
                             end);
                d.spelling = e->spelling;
        }
        d.L -= end - first;
        RAN_TRY(ran_classify(e->m, e->state, &d, e->logits, NULL, err));
        ran_probabilities(ran_model_config(e->m), e->logits, ran_model_classes(e->m), e->p);
        p->without = e->p[c];
        return RAN_OK;
}

/* The most important first. A passage that is the whole document is alone. */
static int by_score(const void *a, const void *b)
{
        const struct classify_passage *x = a, *y = b;

        if (x->without != y->without)
                return x->without < y->without ? -1 : 1;
        return by_position(a, b);
}

/* ---- output -------------------------------------------------------------------------- */

/* Offsets and text of the passages, which are in the order of the record. */
static int locate(struct classify_evidence *e, struct ran_error *err)
{
        const struct cmd_document *d = e->document;
        struct cmd_spans spans;

        cmd_spans_begin(&spans, d, e->record, (enum ran_unit)e->options->offsets);
        e->text.len = 0;
        for (size_t i = 0; i < e->n; i++) {
                struct classify_passage *p = &e->passage[i];
                size_t first = p->first, last = p->last;

                if (d->from == CMD_FROM_TOKENS) {
                        first = d->encoding.word[d->positions[first]];
                        last = d->encoding.word[d->positions[last - 1]] + 1;
                }
                p->text.begin = e->text.len;
                RAN_TRY(cmd_spans_next(&spans, first, last, &p->start, &p->end, &e->text, err));
                p->text.end = e->text.len;
                if (d->ids != d->encoding.ids) { /* as they are in the record, before truncation */
                        p->start = first < d->head ? first : first + d->uncut - d->L;
                        p->end = last - 1 < d->head ? last : last + d->uncut - d->L;
                }
        }
        return RAN_OK;
}

int classify_evidence_find(struct classify_evidence *e, size_t c, float p,
                           const struct classify_passage **passage, size_t *n,
                           struct ran_error *err)
{
        size_t kept = 0;

        RAN_TRY(propose(e, c, err));
        e->proposed = e->n;
        /* Those stay without which the label is less probable. */
        for (size_t i = 0; i < e->n; i++) {
                RAN_TRY(remove_passage(e, &e->passage[i], c, err));
                if (!(e->passage[i].without >= p))
                        e->passage[kept++] = e->passage[i];
        }
        e->n = kept;
        RAN_TRY(locate(e, err));
        if (e->n > 0)
                qsort(e->passage, e->n, sizeof *e->passage, by_score);
        *passage = e->passage;
        *n = ran_least(e->n, e->options->evidence);
        return RAN_OK;
}

bool classify_knows_a_token(const struct ran_model *m, const struct cmd_document *document)
{
        const struct ran_tokenizer *t = ran_model_tokenizer(m);
        const uint32_t unknown = t != NULL ? ran_tokenizer_unknown(t) : RAN_NO_ID;
        const struct ran_document d = cmd_document_view(document);

        for (size_t i = 0; i < d.L; i++)
                if (d.ids[i] != unknown)
                        return true;
        return false;
}

const char *classify_evidence_lacking(const struct classify_evidence *e)
{
        if (!classify_knows_a_token(e->m, e->document))
                return "the model knows none of its words";
        return e->proposed > 0 ? "without any one of its passages the label is as probable"
                               : "no passage speaks for the label";
}

int classify_evidence_add(struct classify_evidence *e, size_t c, float p, struct ran_buf *out,
                          struct ran_error *err)
{
        const struct classify_passage *k;
        size_t n;

        RAN_TRY(classify_evidence_find(e, c, p, &k, &n, err));
        json_name(out, "evidence");
        json_begin(out, '[');
        for (size_t i = 0; i < n; i++, k++) {
                json_begin(out, '{');
                json_put_size(out, "start", k->start);
                json_put_size(out, "end", k->end);
                json_put_string(out, "text", e->text.data + k->text.begin,
                                k->text.end - k->text.begin);
                json_put_float(out, "gain", (float)k->gain);
                json_put_float(out, "without", k->without);
                json_end(out, '}');
        }
        json_end(out, ']');
        if (n == 0)
                json_put_text(out, "no_evidence", classify_evidence_lacking(e));
        return RAN_OK;
}
