/* report.c - the report of --check, as JSON and as text. */
#include "cmd/train/check/report.h"

#include <string.h>

#include "cmd/train/read/task.h"

const struct train_percentile train_percentiles[TRAIN_PERCENTILES] = {
        {"min", 0},    {"p5", 0.05},  {"p25", 0.25}, {"median", 0.5},
        {"p75", 0.75}, {"p95", 0.95}, {"max", 1}};

/* ---- for machines --------------------------------------------------------------------------- */

static double share_of(size_t part, size_t whole)
{
        return whole > 0 ? (double)part / (double)whole : 0;
}

static void json_location(struct ran_buf *b, struct train_location at)
{
        struct ran_buf text = {0};

        ran_buf_printf(&text, "%s:%zu", at.file, at.line);
        b->failed |= text.failed;
        ran_buf_json(b, text.data, text.len);
        ran_buf_release(&text);
}

static void json_pairs(struct ran_buf *b, const char *name, const struct train_pairs *p)
{
        ran_buf_printf(b, ",\"%s\":{\"count\":%zu,\"pairs\":[", name, p->n);
        for (size_t i = 0; i < p->n && i < TRAIN_LISTED; i++) {
                ran_buf_str(b, i == 0 ? "[" : ",[");
                json_location(b, p->a[i]);
                ran_buf_char(b, ',');
                json_location(b, p->b[i]);
                ran_buf_char(b, ']');
        }
        ran_buf_str(b, "]}");
}

void train_check_labels_json(struct ran_buf *b, const char *name, const struct train_summary *s)
{
        const struct ran_dataset *set = &s->data->set;

        ran_buf_printf(b, ",\"%s\":{", name);
        for (size_t c = 0; c < set->C; c++) {
                ran_buf_str(b, c == 0 ? "" : ",");
                ran_buf_json(b, set->names[c], strlen(set->names[c]));
                ran_buf_printf(b, ":%zu", s->label_count[c]);
        }
        ran_buf_char(b, '}');
}

static void json_summary(struct ran_buf *b, const struct train_summary *s, size_t window)
{
        const struct train_data *d = s->data;

        ran_buf_printf(b, "\"documents\":%zu,\"tokens\":%zu,\"blank_lines\":%zu,\"bad_lines\":%zu",
                       d->set.B, s->tokens, d->counts.blank, d->counts.bad);
        ran_buf_printf(b, ",\"empty\":{\"count\":%zu,\"at\":[", d->empties);
        for (size_t i = 0; i < d->empties && i < TRAIN_LISTED; i++) {
                ran_buf_str(b, i == 0 ? "" : ",");
                json_location(b, d->empty[i]);
        }
        ran_buf_str(b, "]}");
        d->task->check_json(b, s);
        ran_buf_str(b, ",\"length\":{");
        for (size_t i = 0; i < TRAIN_PERCENTILES; i++)
                ran_buf_printf(b, "%s\"%s\":%zu", i == 0 ? "" : ",", train_percentiles[i].name,
                               s->length[i]);
        ran_buf_printf(b, "},\"window\":%zu,\"longer_than_window\":", window);
        ran_buf_double(b, share_of(s->longer_window, d->set.B));
        ran_buf_str(b, ",\"longer_than_512\":");
        ran_buf_double(b, share_of(s->longer_512, d->set.B));
}

static void json_sentences(struct ran_buf *b, const char *name, const struct train_problems *p)
{
        ran_buf_printf(b, ",\"%s\":[", name);
        for (size_t i = 0; i < p->n; i++) {
                ran_buf_str(b, i == 0 ? "" : ",");
                ran_buf_json(b, p->sentence[i], strlen(p->sentence[i]));
        }
        ran_buf_char(b, ']');
}

void train_report_json(struct ran_buf *b, const struct train_report *r)
{
        const struct train_problems *problems = r->problems;

        ran_buf_char(b, '{');
        json_summary(b, &r->train, r->window);
        ran_buf_printf(b, ",\"several_labels\":%s",
                       r->train.data->set.multilabel ? "true" : "false");
        json_pairs(b, "duplicates", &r->duplicates);
        json_pairs(b, "contradictions", &r->contradictions);
        json_pairs(b, "near_duplicates", &r->near_duplicates);
        if (r->dev.data != NULL) {
                ran_buf_str(b, ",\"dev\":{");
                json_summary(b, &r->dev, r->window);
                ran_buf_printf(b, ",\"unknown_labels\":%zu", r->dev.data->unknown);
                json_pairs(b, "overlap", &r->overlap);
                json_pairs(b, "near_overlap", &r->near_overlap);
                ran_buf_char(b, '}');
        }
        if (r->texts != NULL)
                ran_buf_printf(b, ",\"pretrain\":{\"documents\":%zu,\"tokens\":%zu}", r->texts->B,
                               r->texts->first[r->texts->B]);
        json_sentences(b, "problems", problems);
        json_sentences(b, "warnings", r->warnings);
        ran_buf_printf(b, ",\"ok\":%s}\n", problems->n == 0 ? "true" : "false");
}

/* ---- for people ----------------------------------------------------------------------------- */

static void text_pairs(struct ran_buf *b, const char *what, const char *does,
                       const struct train_pairs *p)
{
        if (p->n == 0)
                return;
        ran_buf_printf(b, "%s: %zu\n", what, p->n);
        for (size_t i = 0; i < p->n && i < TRAIN_LISTED; i++)
                ran_buf_printf(b, "  %s:%zu %s %s:%zu\n", p->a[i].file, p->a[i].line, does,
                               p->b[i].file, p->b[i].line);
        if (p->n > TRAIN_LISTED)
                ran_buf_printf(b, "  ... and %zu more\n", p->n - TRAIN_LISTED);
}

static void text_empty(struct ran_buf *b, const struct train_data *d)
{
        if (d->empties == 0)
                return;
        ran_buf_printf(b, "  without tokens: %zu\n", d->empties);
        for (size_t i = 0; i < d->empties && i < TRAIN_LISTED; i++)
                ran_buf_printf(b, "    %s:%zu\n", d->empty[i].file, d->empty[i].line);
        if (d->empties > TRAIN_LISTED)
                ran_buf_printf(b, "    ... and %zu more\n", d->empties - TRAIN_LISTED);
}

/* The name is a JSON string: it may contain control characters, which could steer a terminal. */
static void text_label(struct ran_buf *b, const struct train_summary *s, size_t c, size_t all)
{
        const char *label = s->data->set.names[c];
        struct ran_buf name = {0};

        ran_buf_json(&name, label, strlen(label));
        b->failed |= name.failed;
        ran_buf_printf(b, "    %7zu %5.1f%%  ", s->label_count[c],
                       100 * share_of(s->label_count[c], all));
        ran_buf_shown(b, name.data, name.len);
        ran_buf_char(b, '\n');
        ran_buf_release(&name);
}

void train_check_labels_text(struct ran_buf *b, const char *name, const struct train_summary *s,
                             size_t all)
{
        const struct ran_dataset *set = &s->data->set;

        ran_buf_printf(b, "  %s: %zu\n", name, set->C);
        for (size_t c = 0; c < set->C; c++)
                text_label(b, s, c, all);
}

static void text_summary(struct ran_buf *b, const struct train_summary *s, size_t window)
{
        const struct train_data *d = s->data;

        ran_buf_printf(b, "documents %zu, tokens %zu, bad lines %zu, blank lines %zu\n", d->set.B,
                       s->tokens, d->counts.bad, d->counts.blank);
        text_empty(b, d);
        d->task->check_text(b, s);
        ran_buf_str(b, "  tokens per document:");
        for (size_t i = 0; i < TRAIN_PERCENTILES; i++)
                ran_buf_printf(b, "%s %s %zu", i == 0 ? "" : ",", train_percentiles[i].name,
                               s->length[i]);
        ran_buf_printf(b, "\n  longer than the window (%zu): %.1f%%, than 512 tokens: %.1f%%\n",
                       window, 100 * share_of(s->longer_window, d->set.B),
                       100 * share_of(s->longer_512, d->set.B));
}

void train_report_text(struct ran_buf *b, const struct train_report *r)
{
        const struct train_problems *problems = r->problems;

        ran_buf_str(b, "Training data: ");
        text_summary(b, &r->train, r->window);
        if (r->dev.data != NULL) {
                ran_buf_str(b, "Development data: ");
                text_summary(b, &r->dev, r->window);
                if (r->dev.data->unknown > 0)
                        ran_buf_printf(b, "  %ss unknown to the training data: %zu\n",
                                       train_label_word(r->dev.data->task), r->dev.data->unknown);
        }
        if (r->texts != NULL)
                ran_buf_printf(b, "Texts to learn from first: documents %zu, tokens %zu\n",
                               r->texts->B, r->texts->first[r->texts->B]);
        text_pairs(b, "repeated texts", "repeats", &r->duplicates);
        text_pairs(b, "repeated texts with different labels", "repeats", &r->contradictions);
        text_pairs(b, "development texts also in the training data", "repeats", &r->overlap);
        text_pairs(b, "nearly the same texts", "is like", &r->near_duplicates);
        text_pairs(b, "development texts that are nearly the same as training texts", "is like",
                   &r->near_overlap);
        for (size_t i = 0; i < problems->n; i++)
                ran_buf_printf(b, "PROBLEM: %s\n", problems->sentence[i]);
        for (size_t i = 0; i < r->warnings->n; i++) {
                const char *sentence = r->warnings->sentence[i];
                ran_buf_str(b, "WARNING: ");
                ran_buf_shown(b, sentence, strlen(sentence));
                ran_buf_char(b, '\n');
        }
        if (problems->n == 0)
                ran_buf_str(b, "ready for training\n");
}
