/* predict.c - labels and their probabilities for a document, and the prediction of its record. */
#include "cmd/classify/classify.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"

/* The most bytes of a text that a page of an evaluation may show. */
enum { SHOWN = 4096 };

/* Bytes of a record that is worth being scored with others: a longer one has none to be scored
 * with, and would be read twice. */
enum { TOGETHER_BYTES = 1 << 14 };

void classify_scratch_free(void *arg)
{
        for (struct classify_scratch *s = arg, *other; s != NULL; s = other) {
                other = s->against;
                ran_state_free(s->state);
                free(s->others.ids);
                free(s->others.logits);
                free(s->others.embedding);
                classify_neighbours_release(&s->others.near);
                cmd_document_release(&s->document);
                cmd_shown_release(&s->shown);
                classify_evidence_free(s->evidence);
                free(s->logits);
                free(s->p);
                free(s->embedding);
                classify_neighbours_release(&s->near);
                ran_buf_release(&s->text);
                free(s->ranked);
                cmd_vocab_words_release(&s->words);
                cmd_labels_release(&s->gold);
                free(s->mark);
                free(s);
        }
}

void *classify_scratch_new(void *arg)
{
        struct classify_scratch *first = NULL, **at = &first;

        for (const struct classifier *c = arg; c != NULL; c = c->other, at = &(*at)->against) {
                const struct classify_options *o = c->options;
                struct classify_scratch *s = *at = ran_new(1, sizeof *s);

                s->document.spelling = ran_model_config(c->model)->spelling;
                s->document.encoding.ids_only =
                        s->document.spelling == 0 && o->evidence.evidence == 0;
                s->document.with_fingerprint = c->known != NULL || o->select > 0;
                s->state = ran_state_new(c->model, c->pool);
                s->logits = ran_new_floats(c->C);
                s->p = ran_new_floats(c->C);
                s->ranked = ran_new(c->C, sizeof *s->ranked);
                s->gold.separator = cmd_input_separator(&o->input);
                if (classify_options_embed(o))
                        s->embedding = ran_new_floats(c->D);
                if (o->evidence.evidence > 0) {
                        s->document.with_positions = true;
                        s->evidence = classify_evidence_new(&o->evidence, c->model, c->pool);
                }
        }
        return first;
}

/* ---- documents that are scored together ------------------------------------------------------ */

/* Reads the items; the next one is read into the same memory. */
static void read_items(const struct classifier *c, struct classify_scratch *s,
                       const struct cmd_item *items, size_t n)
{
        struct classify_together *a = &s->others;
        const struct ran_model *m = c->model;
        struct ran_error err;
        size_t ids = 0;

        a->n = 0;
        for (size_t i = 0; i < n && a->n < CLASSIFY_TOGETHER; i++) {
                if (items[i].line->record.json.length > TOGETHER_BYTES ||
                    cmd_document_read(&s->document, &items[i].line->record, ran_model_tokenizer(m),
                                      ran_model_vocabulary(m), &c->options->document,
                                      &err) != RAN_OK)
                        continue;
                const struct ran_document d = cmd_document_view(&s->document);
                if (d.L == 0)
                        continue;
                RAN_ROOM(a->ids, a->ids_cap, ids + d.L);
                memcpy(a->ids + ids, d.ids, d.L * sizeof *d.ids);
                a->document[a->n] = (struct ran_document){.L = d.L};
                a->of[a->n++] = i;
                ids += d.L;
        }
        for (size_t k = 0, at = 0; k < a->n; at += a->document[k++].L)
                a->document[k].ids = a->ids + at;
}

static int score_items(const struct classifier *c, struct classify_scratch *s,
                       struct ran_error *err)
{
        const bool embed = classify_options_embed(c->options);
        struct classify_together *a = &s->others;

        RAN_ROOM(a->logits, a->logits_cap, a->n * c->C);
        RAN_ROOM(a->embedding, a->embedding_cap, embed ? a->n * c->D : 0);
        if (c->embedder != NULL)
                RAN_TRY(ran_embed_each(c->embedder, s->state, a->document, a->n, a->embedding,
                                       err));
        if (c->C == 0)
                return RAN_OK;
        return ran_classify_each(c->model, s->state, a->document, a->n, a->logits,
                                 embed && c->embedder == NULL ? a->embedding : NULL, err);
}

/* Nothing is known of documents that cannot be read or scored: they fail again alone, with their
 * message. */
void classify_work_all(void *arg, void *scratch, struct cmd_item *items, size_t n)
{
        const struct classifier *c = arg;
        struct classify_scratch *s = scratch;
        struct classify_together *a = &s->others;
        struct ran_error err;

        read_items(c, s, items, n);
        if (a->n > 0 && score_items(c, s, &err) != RAN_OK)
                a->n = 0;
        a->near.n = 0;
        if (c->nearest != NULL && c->nearest->most <= CLASSIFY_NEAREST_TOGETHER && a->n > 0)
                classify_nearest_find(c->nearest, a->embedding, a->n, &a->near);
        for (size_t i = 0, k = 0; i < n; i++) {
                s->place = k < a->n && a->of[k] == i ? ++k : 0;
                items[i].code = c->work(arg, s, items[i].line, items[i].result, items[i].err);
        }
        s->place = 0;
}

/* ---- a document ------------------------------------------------------------------------------ */

/* Fills logits, p and embedding of the scratch. */
static int score(const struct classifier *c, struct classify_scratch *s,
                 const struct record *record, struct ran_error *err)
{
        const struct ran_model *m = c->model;

        RAN_TRY(cmd_document_read(&s->document, record, ran_model_tokenizer(m),
                                  ran_model_vocabulary(m), &c->options->document, err));
        const struct ran_document document = cmd_document_view(&s->document);
        const bool known = s->place > 0;
        const size_t k = known ? s->place - 1 : 0;
        if (known)
                memcpy(s->logits, s->others.logits + k * c->C, c->C * sizeof *s->logits);
        if (known && s->embedding != NULL)
                memcpy(s->embedding, s->others.embedding + k * c->D, c->D * sizeof *s->embedding);
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

int classify_score(const struct classifier *c, struct classify_scratch *s,
                   const struct cmd_line *line, struct ran_error *err)
{
        RAN_TRY(score(c, s, &line->record, err));
        return s->evidence == NULL
                       ? RAN_OK
                       : classify_evidence_read(s->evidence, &s->document, &line->record, err);
}

int classify_vector(const struct classifier *c, struct classify_scratch *s,
                    const struct cmd_line *line, const float **v, struct ran_error *err)
{
        RAN_TRY(score(c, s, &line->record, err));
        /* A document of unknown tokens is near nothing, whatever an encoder makes of them. */
        if (!classify_knows_a_token(c->model, &s->document))
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

int classify_probabilities(const struct classifier *c, struct classify_scratch *s,
                           const struct cmd_line *line, float **p, struct ran_buf *text,
                           struct ran_error *err)
{
        if (!cmd_labels_there(&line->record))
                return RAN_OK;
        RAN_TRY(score(c, s, &line->record, err));
        if (c->known != NULL)
                cmd_known_note(c->known, c->model, s->document.fingerprint);
        *p = ran_new_floats(c->C);
        memcpy(*p, s->p, c->C * sizeof **p);
        if (text == NULL)
                return RAN_OK;
        RAN_TRY(cmd_shown_read(&s->shown, &s->document, &line->record, err));
        ran_buf_add(text, s->shown.text.data,
                    s->shown.text.len < SHOWN ? s->shown.text.len : SHOWN);
        return RAN_OK;
}

/* ---- thresholds ------------------------------------------------------------------------------ */

float *classify_thresholds(const struct ran_model *m, const struct classify_options *o)
{
        size_t C = ran_model_classes(m);

        if (!ran_model_config(m)->classify.multilabel)
                return NULL;
        float *thresholds = ran_new_floats(C);
        for (size_t c = 0; c < C; c++)
                thresholds[c] = o->threshold > 0 ? (float)o->threshold : ran_model_thresholds(m)[c];
        return thresholds;
}

/* ---- predictions ---------------------------------------------------------------------------- */

static void add_label(struct ran_buf *out, const struct classifier *c, size_t class)
{
        const char *label = ran_model_label(c->model, class);

        json_string(out, label, strlen(label));
}

/* Without the closing brace. */
static void add_scored(struct ran_buf *out, const struct classifier *c, size_t class, float p)
{
        json_begin(out, '{');
        json_put_text(out, "label", ran_model_label(c->model, class));
        json_put_float(out, "score", p);
}

/* Abstains if the label is less probable than --threshold, or if the prediction set has several. A
 * label with a threshold of its own has reached it. */
static bool is_given(const struct classifier *c, const float *p, size_t best)
{
        const float *limit = c->decision.limit;
        bool reached = limit != NULL && limit[best] >= 0;
        size_t in_set = 0;

        for (size_t i = 0; i < c->C; i++)
                in_set += p[i] >= c->cut;
        return decision_choose(&c->decision, p) == best &&
               (reached || p[best] >= (float)c->options->threshold) &&
               (!c->options->abstain || in_set == 1);
}

bool classify_gives(const struct classifier *c, const float *p, size_t best, size_t i)
{
        if (c->thresholds != NULL)
                return p[i] >= c->thresholds[i];
        return i == best && is_given(c, p, best);
}

/* One label, or null. */
static void add_single(struct ran_buf *out, const struct classifier *c, const float *p, size_t best)
{
        json_name(out, "label");
        if (is_given(c, p, best))
                add_label(out, c, best);
        else
                json_raw(out, "null", 4);
        json_put_float(out, "score", p[best]);
        if (!(c->options->coverage > 0))
                return;
        json_name(out, "set");
        json_begin(out, '[');
        for (size_t i = 0; i < c->C; i++)
                if (!(p[i] < c->cut))
                        add_label(out, c, i);
        json_end(out, ']');
}

static int add_multiple(struct ran_buf *out, const struct classifier *c, struct classify_scratch *s,
                        struct ran_error *err)
{
        json_name(out, "labels");
        json_begin(out, '[');
        for (size_t i = 0; i < c->C; i++) {
                if (s->p[i] < c->thresholds[i])
                        continue;
                add_scored(out, c, i, s->p[i]);
                if (s->evidence != NULL)
                        RAN_TRY(classify_evidence_add(s->evidence, i, s->p[i], out, err));
                json_end(out, '}');
        }
        json_end(out, ']');
        return RAN_OK;
}

/* The most probable first; equals in the order of the labels. */
static int compare_ranked(const void *a, const void *b)
{
        const struct classify_ranked *x = a, *y = b;

        if (x->p != y->p)
                return x->p > y->p ? -1 : 1;
        return (x->c > y->c) - (x->c < y->c);
}

void classify_rank(const struct classifier *c, struct classify_scratch *s)
{
        for (size_t i = 0; i < c->C; i++)
                s->ranked[i] = (struct classify_ranked){s->p[i], (uint32_t)i};
        qsort(s->ranked, c->C, sizeof *s->ranked, compare_ranked);
}

static void add_top(struct ran_buf *out, const struct classifier *c, struct classify_scratch *s)
{
        size_t k = c->options->top < c->C ? c->options->top : c->C;

        classify_rank(c, s);
        json_name(out, "top");
        json_begin(out, '[');
        for (size_t i = 0; i < k; i++) {
                add_scored(out, c, s->ranked[i].c, s->ranked[i].p);
                json_end(out, '}');
        }
        json_end(out, ']');
}

/* ---- tables --------------------------------------------------------------------------------- */

void classify_columns(const void *arg, struct cmd_row *row)
{
        const struct classifier *c = arg;

        if (row->taken == NULL)
                cmd_row_text(row, "id");
        cmd_row_text(row, "label");
        cmd_row_text(row, "score");
        if (c->options->coverage > 0)
                cmd_row_text(row, "set");
        for (size_t i = 0; c->options->probs && i < c->C; i++)
                cmd_row_text(row, ran_model_label(c->model, i));
        if (row->taken == NULL)
                cmd_row_text(row, "text");
}

/* The labels that are at least as probable as their limits, with bars between; then, if asked for,
 * their scores alike, or the highest if there is none. */
static void add_labels(struct cmd_row *row, const struct classifier *c, const float *p,
                       const float *limits, float limit, bool scored)
{
        struct ran_buf labels = {0}, scores = {0};
        struct cmd_row score = {.out = &scores, .format = row->format};

        for (size_t i = 0; i < c->C; i++) {
                if (p[i] < (limits != NULL ? limits[i] : limit))
                        continue;
                ran_buf_str(&labels, labels.len > 0 ? "|" : "");
                cmd_labels_join(&labels, ran_model_label(c->model, i), '|');
                ran_buf_str(&scores, scores.len > 0 ? "|" : "");
                score.begun = false;
                cmd_row_float(&score, p[i]);
        }
        cmd_row_string(row, labels.data, labels.len);
        if (scored && scores.len > 0)
                cmd_row_string(row, scores.data, scores.len);
        else if (scored)
                cmd_row_float(row, p[decision_best(&c->decision, p)]);
        ran_buf_release(&labels);
        ran_buf_release(&scores);
}

static int write_row(const struct classifier *c, struct classify_scratch *s,
                     const struct cmd_line *line, struct ran_buf *out, struct ran_error *err)
{
        struct cmd_row row = {.out = out, .format = c->options->output.format};
        size_t best = decision_best(&c->decision, s->p);

        if (!line->continued)
                RAN_TRY(cmd_row_id(&row, line, err));
        if (c->thresholds != NULL) {
                add_labels(&row, c, s->p, c->thresholds, 0, true);
        } else {
                cmd_row_text(&row, is_given(c, s->p, best) ? ran_model_label(c->model, best) : "");
                cmd_row_float(&row, s->p[best]);
        }
        if (c->options->coverage > 0)
                add_labels(&row, c, s->p, NULL, c->cut, false);
        for (size_t i = 0; c->options->probs && i < c->C; i++)
                cmd_row_float(&row, s->p[i]);
        if (!line->continued)
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
        struct classify_scratch *s = scratch;

        RAN_TRY(classify_score(c, s, line, err));
        if (o->output.format->kind == OUTPUT_VECTORS) {
                o->output.format->vector(out, s->embedding, c->D);
                return RAN_OK;
        }
        if (o->output.format->kind == OUTPUT_ROWS)
                return write_row(c, s, line, out, err);
        const size_t best = c->C > 0 ? decision_best(&c->decision, s->p) : 0;
        if (o->output.format->kind == OUTPUT_LABELS) {
                for (size_t i = 0; i < c->C; i++)
                        if (classify_gives(c, s->p, best, i))
                                o->output.format->label(out, ran_model_label(c->model, i));
                return o->output.format->labelled(out, &line->record, err);
        }
        json_begin(out, '{');
        if (c->C == 0)
                ; /* no labels */
        else if (c->thresholds != NULL)
                RAN_TRY(add_multiple(out, c, s, err));
        else
                add_single(out, c, s->p, best);
        if (o->top > 0)
                add_top(out, c, s);
        if (o->probs) {
                json_name(out, "probs");
                json_begin(out, '{');
                for (size_t i = 0; i < c->C; i++)
                        json_put_float(out, ran_model_label(c->model, i), s->p[i]);
                json_end(out, '}');
        }
        if (o->logits) {
                json_name(out, "logits");
                json_floats(out, s->logits, c->C);
        }
        if (o->embed) {
                json_name(out, "embedding");
                json_floats(out, s->embedding, c->D);
                json_put_text(out, "embedding_model", c->vectors);
        }
        if (c->nearest != NULL) {
                const bool found = s->place > 0 && s->place <= s->others.near.n,
                           known = classify_knows_a_token(c->model, &s->document);

                if (known && !found)
                        classify_nearest_find(c->nearest, s->embedding, 1, &s->near);
                classify_nearest_add(c->nearest, known ? found ? &s->others.near : &s->near : NULL,
                                     found ? s->place - 1 : 0, out);
        }
        if (s->evidence != NULL && c->thresholds == NULL)
                RAN_TRY(classify_evidence_add(s->evidence, best, s->p[best], out, err));
        cmd_document_truncated(&s->document, out);
        json_end(out, '}');
        return RAN_OK;
}
