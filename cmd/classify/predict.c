/* predict.c - labels and their probabilities for a document, and the prediction of its record. */
#include "cmd/classify/predict.h"
#include "cmd/classify/nearest.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/classify/ahead.h"
#include "cmd/options/message.h"
#include "cmd/content/labels.h"
#include "cmd/formats/row.h"
#include "cmd/content/shown.h"

/* The most bytes of a text that a page of an evaluation may show. */
enum { SHOWN = 4096 };

/* Each thread has one. */
struct scratch {
        struct ran_state *state;
        struct ahead ahead; /* records that are scored together, */
        size_t item; /* and the place of the record at hand among them, + 1; 0: it is alone */
        struct cmd_document document;
        struct classify_evidence *evidence;   /* NULL unless asked for */
        float *logits, *p;                    /* (C) */
        float *embedding;                     /* (D), NULL unless asked for */
        struct classify_neighbours near, own; /* of the records that are scored together; of one */
        struct cmd_shown shown;               /* for a page */
        struct ran_buf text;                  /* of a row */
        struct ranked {
                float p;
                uint32_t c;
        } * ranked; /* (C) */
};

void classify_scratch_free(void *arg)
{
        struct scratch *s = arg;

        ran_state_free(s->state);
        ahead_release(&s->ahead);
        cmd_document_release(&s->document);
        cmd_shown_release(&s->shown);
        classify_evidence_free(s->evidence);
        free(s->logits);
        free(s->p);
        free(s->embedding);
        classify_neighbours_release(&s->near);
        classify_neighbours_release(&s->own);
        ran_buf_release(&s->text);
        free(s->ranked);
        free(s);
}

void *classify_scratch_new(void *arg, struct ran_error *err)
{
        const struct classifier *c = arg;
        const struct classify_options *o = c->options;
        struct scratch *s = ran_alloc(1, sizeof *s, err);

        if (s == NULL)
                return NULL;
        s->document.spelling = ran_model_config(c->model)->spelling;
        s->document.encoding.ids_only = s->document.spelling == 0 && o->evidence.evidence == 0;
        s->document.with_fingerprint = c->known != NULL || o->select > 0;
        s->state = ran_state_new(c->model, c->pool, err);
        s->logits = ran_alloc_floats(c->C, err);
        s->p = ran_alloc_floats(c->C, err);
        s->ranked = ran_alloc(c->C, sizeof *s->ranked, err);
        if (classify_options_embed(o))
                s->embedding = ran_alloc_floats(c->D, err);
        if (o->evidence.evidence > 0) {
                s->document.with_positions = true;
                s->evidence = classify_evidence_new(&o->evidence, c->model, c->pool, err);
        }
        if (s->state == NULL || s->logits == NULL || s->p == NULL || s->ranked == NULL ||
            (classify_options_embed(o) && s->embedding == NULL) ||
            (o->evidence.evidence > 0 && s->evidence == NULL)) {
                classify_scratch_free(s);
                return NULL;
        }
        return s;
}

/* Fills logits, p and embedding of the scratch. */
static int score(const struct classifier *c, struct scratch *s, const struct record *record,
                 struct ran_error *err)
{
        const struct ran_model *m = c->model;

        RAN_TRY(cmd_document_read(&s->document, record, ran_model_tokenizer(m),
                                  ran_model_vocabulary(m), &c->options->document, err));
        const struct ran_document document = cmd_document_view(&s->document);
        const bool known =
                s->item > 0 && ahead_take(&s->ahead, c, s->item - 1, s->logits, s->embedding);
        if (c->embedder != NULL && !known)
                RAN_TRY(ran_embed(c->embedder, s->state, &document, s->embedding, err));
        if (c->C == 0)
                return RAN_OK;
        if (!known)
                RAN_TRY(ran_classify(m, s->state, &document, s->logits,
                                     c->embedder == NULL ? s->embedding : NULL, err));
        ran_probabilities(ran_model_config(m), s->logits, c->C, s->p);
        return RAN_OK;
}

/* The neighbours of the records that are scored together; without memory each is searched for. */
static void find_nearest(const struct classifier *c, struct scratch *s)
{
        struct ran_error err;

        s->near.n = 0;
        if (c->nearest != NULL && classify_nearest_together(c->nearest) && s->ahead.n > 0)
                (void)classify_nearest_find(c->nearest, s->ahead.embedding, s->ahead.n, &s->near,
                                            &err);
}

void classify_together(const struct classifier *c, void *scratch, struct cmd_item *items, size_t n,
                       int (*work)(void *arg, void *scratch, const struct cmd_line *line,
                                   struct cmd_result *result, struct ran_error *err),
                       void *arg, void *work_scratch)
{
        struct scratch *s = scratch;

        ahead_score(&s->ahead, c, s->state, &s->document, items, n);
        find_nearest(c, s);
        for (size_t i = 0; i < n; i++) {
                s->item = i + 1;
                items[i].code =
                        work(arg, work_scratch, items[i].line, items[i].result, items[i].err);
        }
        s->item = 0;
}

int classify_score(const struct classifier *c, void *scratch, const struct cmd_line *line,
                   struct classify_scored *scored, struct ran_error *err)
{
        struct scratch *s = scratch;

        RAN_TRY(score(c, s, &line->record, err));
        if (s->evidence != NULL)
                RAN_TRY(classify_evidence_read(s->evidence, &s->document, &line->record, err));
        *scored = (struct classify_scored){s->p, &s->document, s->evidence};
        return RAN_OK;
}

struct classify_scored classify_last(void *scratch)
{
        struct scratch *s = scratch;

        return (struct classify_scored){s->p, &s->document, s->evidence};
}

/* A document of unknown tokens is near nothing, whatever an encoder makes of them. */
static bool knows_a_token(const struct classifier *c, const struct scratch *s)
{
        const struct ran_tokenizer *t = ran_model_tokenizer(c->model);
        const uint32_t unknown = t != NULL ? ran_tokenizer_unknown(t) : RAN_NO_ID;
        const struct ran_document d = cmd_document_view(&s->document);

        for (size_t i = 0; i < d.L; i++)
                if (d.ids[i] != unknown)
                        return true;
        return false;
}

int classify_vector(const struct classifier *c, void *scratch, const struct cmd_line *line,
                    const float **v, struct ran_error *err)
{
        struct scratch *s = scratch;

        RAN_TRY(score(c, s, &line->record, err));
        if (!knows_a_token(c, s))
                memset(s->embedding, 0, c->D * sizeof *s->embedding);
        *v = s->embedding;
        return RAN_OK;
}

void classify_answer_release(void *answer)
{
        struct classify_answer *a = answer;

        free(a->p);
        free(a->other);
        ran_buf_release(&a->text);
}

int classify_probabilities(const struct classifier *c, void *scratch, const struct cmd_line *line,
                           float **p, struct ran_buf *text, struct ran_error *err)
{
        struct scratch *s = scratch;

        if (!cmd_labels_there(&line->record))
                return RAN_OK;
        RAN_TRY(score(c, s, &line->record, err));
        if (c->known != NULL)
                cmd_known_note(c->known, c->model, s->document.fingerprint);
        *p = ran_alloc_floats(c->C, err);
        if (*p == NULL)
                return RAN_ENOMEM;
        memcpy(*p, s->p, c->C * sizeof **p);
        if (text == NULL)
                return RAN_OK;
        RAN_TRY(cmd_shown_read(&s->shown, &s->document, &line->record, err));
        ran_buf_add(text, s->shown.text.data,
                    s->shown.text.len < SHOWN ? s->shown.text.len : SHOWN);
        return text->failed ? ran_fail(err, RAN_ENOMEM, "no memory for a page") : RAN_OK;
}

/* ---- thresholds ------------------------------------------------------------------------------ */

float *classify_thresholds(const struct ran_model *m, const struct classify_options *o)
{
        size_t C = ran_model_classes(m);
        struct ran_error err;

        if (!ran_model_config(m)->classify.multilabel)
                return NULL;
        float *thresholds = ran_alloc_floats(C, &err);
        if (thresholds == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        for (size_t c = 0; c < C; c++)
                thresholds[c] = o->threshold > 0 ? (float)o->threshold : ran_model_thresholds(m)[c];
        return thresholds;
}

/* ---- predictions ---------------------------------------------------------------------------- */

static void add_label(struct ran_buf *out, const struct classifier *c, size_t class)
{
        const char *label = ran_model_label(c->model, class);

        ran_buf_json(out, label, strlen(label));
}

/* Without the closing brace. */
static void add_scored(struct ran_buf *out, const struct classifier *c, size_t class, float p)
{
        ran_buf_str(out, "{\"label\":");
        add_label(out, c, class);
        ran_buf_str(out, ",\"score\":");
        ran_buf_float(out, p);
}

static void add_floats(struct ran_buf *out, const char *name, const float *x, size_t n)
{
        ran_buf_printf(out, "%s\"%s\":[", out->data[out->len - 1] == '{' ? "" : ",", name);
        for (size_t i = 0; i < n; i++) {
                ran_buf_str(out, i == 0 ? "" : ",");
                ran_buf_float(out, x[i]);
        }
        ran_buf_char(out, ']');
}

static int add_nearest(const struct classifier *c, struct scratch *s, struct ran_buf *out,
                       struct ran_error *err)
{
        const size_t at = s->item > 0 ? ahead_place(&s->ahead, s->item - 1) : SIZE_MAX;
        const bool known = knows_a_token(c, s), found = at < s->near.n;

        if (known && !found)
                RAN_TRY(classify_nearest_find(c->nearest, s->embedding, 1, &s->own, err));
        classify_nearest_add(c->nearest,
                             !known  ? NULL
                             : found ? &s->near
                                     : &s->own,
                             found ? at : 0, out);
        return RAN_OK;
}

static size_t set_size(const struct classifier *c, const float *p)
{
        size_t n = 0;

        for (size_t i = 0; i < c->C; i++)
                n += p[i] >= c->cut;
        return n;
}

static void add_set(struct ran_buf *out, const struct classifier *c, const float *p)
{
        const char *before = "";

        ran_buf_str(out, ",\"set\":[");
        for (size_t i = 0; i < c->C; i++) {
                if (p[i] < c->cut)
                        continue;
                ran_buf_str(out, before);
                add_label(out, c, i);
                before = ",";
        }
        ran_buf_char(out, ']');
}

size_t classify_best(const struct classifier *c, const float *p)
{
        size_t chosen = decision_choose(&c->decision, p);

        return chosen < c->C ? chosen : ran_most_probable(p, c->C);
}

/* Abstains if the label is less probable than --threshold, or if the prediction set has several. A
 * label with a threshold of its own has reached it. */
static bool is_given(const struct classifier *c, const float *p, size_t best)
{
        const float *limit = c->decision.limit;
        bool reached = limit != NULL && limit[best] >= 0;

        return decision_choose(&c->decision, p) == best &&
               (reached || p[best] >= (float)c->options->threshold) &&
               (!c->options->abstain || set_size(c, p) == 1);
}

bool classify_gives(const struct classifier *c, const float *p, size_t best, size_t i)
{
        if (c->thresholds != NULL)
                return p[i] >= c->thresholds[i];
        return i == best && is_given(c, p, best);
}

/* One label, or null. */
static void add_single(struct ran_buf *out, const struct classifier *c, const float *p)
{
        size_t best = classify_best(c, p);

        ran_buf_str(out, "\"label\":");
        if (is_given(c, p, best))
                add_label(out, c, best);
        else
                ran_buf_str(out, "null");
        ran_buf_str(out, ",\"score\":");
        ran_buf_float(out, p[best]);
        if (c->options->coverage > 0)
                add_set(out, c, p);
}

static int add_multiple(struct ran_buf *out, const struct classifier *c, struct scratch *s,
                        struct ran_error *err)
{
        const char *before = "";

        ran_buf_str(out, "\"labels\":[");
        for (size_t i = 0; i < c->C; i++) {
                if (s->p[i] < c->thresholds[i])
                        continue;
                ran_buf_str(out, before);
                add_scored(out, c, i, s->p[i]);
                if (s->evidence != NULL)
                        RAN_TRY(classify_evidence_add(s->evidence, i, s->p[i], out, err));
                ran_buf_char(out, '}');
                before = ",";
        }
        ran_buf_char(out, ']');
        return RAN_OK;
}

/* The most probable first; equals in the order of the labels. */
static int compare_ranked(const void *a, const void *b)
{
        const struct ranked *x = a, *y = b;

        if (x->p != y->p)
                return x->p > y->p ? -1 : 1;
        return (x->c > y->c) - (x->c < y->c);
}

static void add_top(struct ran_buf *out, const struct classifier *c, struct scratch *s)
{
        size_t k = c->options->top < c->C ? c->options->top : c->C;

        for (size_t i = 0; i < c->C; i++)
                s->ranked[i] = (struct ranked){s->p[i], (uint32_t)i};
        qsort(s->ranked, c->C, sizeof *s->ranked, compare_ranked);
        ran_buf_str(out, ",\"top\":[");
        for (size_t i = 0; i < k; i++) {
                ran_buf_str(out, i == 0 ? "" : ",");
                add_scored(out, c, s->ranked[i].c, s->ranked[i].p);
                ran_buf_char(out, '}');
        }
        ran_buf_char(out, ']');
}

static void add_probs(struct ran_buf *out, const struct classifier *c, const float *p)
{
        ran_buf_str(out, ",\"probs\":{");
        for (size_t i = 0; i < c->C; i++) {
                ran_buf_str(out, i == 0 ? "" : ",");
                add_label(out, c, i);
                ran_buf_char(out, ':');
                ran_buf_float(out, p[i]);
        }
        ran_buf_char(out, '}');
}

/* The predicted labels, and the text. */
static int write_labels(const struct classifier *c, const struct scratch *s,
                        const struct record *record, struct ran_buf *out, struct ran_error *err)
{
        const struct output_format *format = c->options->output.format;
        const size_t best = classify_best(c, s->p);

        for (size_t i = 0; i < c->C; i++)
                if (classify_gives(c, s->p, best, i))
                        format->label(out, ran_model_label(c->model, i));
        return format->labelled(out, record, err);
}

/* ---- tables --------------------------------------------------------------------------------- */

void classify_columns(const void *arg, struct cmd_row *row)
{
        const struct classifier *c = arg;

        cmd_row_text(row, "id");
        cmd_row_text(row, "label");
        cmd_row_text(row, "score");
        if (c->options->coverage > 0)
                cmd_row_text(row, "set");
        for (size_t i = 0; c->options->probs && i < c->C; i++)
                cmd_row_text(row, ran_model_label(c->model, i));
        cmd_row_text(row, "text");
}

/* The labels that are at least as probable as their limits, with bars between. */
static void add_labels(struct cmd_row *row, const struct classifier *c, const float *p,
                       const float *limits, float limit)
{
        struct ran_buf labels = {0};

        for (size_t i = 0; i < c->C; i++) {
                if (p[i] < (limits != NULL ? limits[i] : limit))
                        continue;
                ran_buf_str(&labels, labels.len > 0 ? "|" : "");
                cmd_labels_join(&labels, ran_model_label(c->model, i), '|');
        }
        cmd_row_string(row, labels.data, labels.len);
        row->out->failed |= labels.failed;
        ran_buf_release(&labels);
}

static int write_row(const struct classifier *c, struct scratch *s, const struct cmd_line *line,
                     struct ran_buf *out, struct ran_error *err)
{
        struct cmd_row row = {.out = out, .format = c->options->output.format};
        size_t best = classify_best(c, s->p);

        RAN_TRY(cmd_row_id(&row, line, err));
        if (c->thresholds != NULL)
                add_labels(&row, c, s->p, c->thresholds, 0);
        else
                cmd_row_text(&row, is_given(c, s->p, best) ? ran_model_label(c->model, best) : "");
        cmd_row_float(&row, s->p[best]);
        if (c->options->coverage > 0)
                add_labels(&row, c, s->p, NULL, c->cut);
        for (size_t i = 0; c->options->probs && i < c->C; i++)
                cmd_row_float(&row, s->p[i]);
        RAN_TRY(cmd_row_document(&row, line, &s->text, err));
        cmd_row_end(&row);
        return RAN_OK;
}

int classify_predict(void *arg, void *scratch, const struct cmd_line *line,
                     struct cmd_result *result, struct ran_error *err)
{
        struct ran_buf *out = &result->out;
        const struct classifier *c = arg;
        const struct classify_options *o = c->options;
        struct scratch *s = scratch;

        RAN_TRY(score(c, s, &line->record, err));
        if (s->evidence != NULL)
                RAN_TRY(classify_evidence_read(s->evidence, &s->document, &line->record, err));
        if (o->output.format->kind == OUTPUT_VECTORS) {
                o->output.format->vector(out, s->embedding, c->D);
                return RAN_OK;
        }
        if (o->output.format->kind == OUTPUT_ROWS)
                return write_row(c, s, line, out, err);
        if (o->output.format->kind == OUTPUT_LABELS)
                return write_labels(c, s, &line->record, out, err);
        ran_buf_char(out, '{');
        if (c->C == 0)
                ; /* no labels */
        else if (c->thresholds != NULL)
                RAN_TRY(add_multiple(out, c, s, err));
        else
                add_single(out, c, s->p);
        if (o->top > 0)
                add_top(out, c, s);
        if (o->probs)
                add_probs(out, c, s->p);
        if (o->logits)
                add_floats(out, "logits", s->logits, c->C);
        if (o->embed) {
                add_floats(out, "embedding", s->embedding, c->D);
                ran_buf_printf(out, ",\"embedding_model\":\"%s\"", c->vectors);
        }
        if (c->nearest != NULL)
                RAN_TRY(add_nearest(c, s, out, err));
        if (s->evidence != NULL && c->thresholds == NULL) {
                size_t best = classify_best(c, s->p);

                RAN_TRY(classify_evidence_add(s->evidence, best, s->p[best], out, err));
        }
        cmd_document_truncated(&s->document, out);
        ran_buf_char(out, '}');
        return RAN_OK;
}

void classify_predict_all(void *arg, void *scratch, struct cmd_item *items, size_t n)
{
        classify_together(arg, scratch, items, n, classify_predict, arg, scratch);
}
