/* report.c - the report of --check. */
#include "cmd/train/check/report.h"

#include <string.h>

#include "cmd/train/read/task.h"

const struct train_percentile train_percentiles[TRAIN_PERCENTILES] = {
        {"min", 0},    {"p5", 0.05},  {"p25", 0.25}, {"median", 0.5},
        {"p75", 0.75}, {"p95", 0.95}, {"max", 1}};

static double share_of(size_t part, size_t whole)
{
        return whole > 0 ? (double)part / (double)whole : 0;
}

static void add_location(struct report *r, const char *title, struct train_location at)
{
        report_put(r, "", title, "%s:%zu", at.file, at.line);
}

/* The number of all, and where the first of them are. */
static void begin_places(struct report *r, const char *name, const char *title, size_t n,
                         const char *list)
{
        report_begin(r, REPORT_OBJECT, name, n > 0 ? title : NULL);
        report_note(r, n > TRAIN_LISTED ? "%zu; the first %d:" : "%zu", n, TRAIN_LISTED);
        report_count(r, "count", NULL, n);
        report_begin(r, REPORT_LIST, list, "");
}

static void end_places(struct report *r)
{
        report_end(r);
        report_end(r);
}

void train_report_places(struct report *r, const char *name, const char *title, size_t n,
                         const struct train_location *at)
{
        begin_places(r, name, title, n, "at");
        for (size_t i = 0; i < n && i < TRAIN_LISTED; i++)
                add_location(r, "", at[i]);
        end_places(r);
}

static void add_pairs(struct report *r, const char *name, const char *title, const char *does,
                      const struct train_pairs *p)
{
        begin_places(r, name, title, p->n, "pairs");
        for (size_t i = 0; i < p->n && i < TRAIN_LISTED; i++) {
                report_begin(r, REPORT_LIST, "", "");
                add_location(r, "text", p->a[i]);
                add_location(r, does, p->b[i]);
                report_end(r);
        }
        end_places(r);
}

void train_report_labels(struct report *r, const char *name, const char *title,
                         const struct train_summary *s, size_t all)
{
        const struct ran_dataset *set = &s->data->set;

        report_begin(r, REPORT_OBJECT, name, title);
        report_note(r, "%zu", set->C);
        for (size_t c = 0; c < set->C; c++) {
                report_count(r, set->names[c], set->names[c], s->label_count[c]);
                report_note(r, "%.1f %%", 100 * share_of(s->label_count[c], all));
        }
        report_end(r);
}

static void add_summary(struct report *r, const struct train_summary *s, size_t window)
{
        const struct train_data *d = s->data;

        report_count(r, "documents", "documents", d->set.B);
        report_count(r, "tokens", "tokens", s->tokens);
        report_count(r, "blank_lines", "blank lines", d->counts.blank);
        report_count(r, "bad_lines", "bad lines", d->counts.bad);
        train_report_places(r, "empty", "Without tokens", d->empties, d->empty);
        d->task->check(r, s);
        report_begin(r, REPORT_LINE, "length", "tokens per document");
        for (size_t i = 0; i < TRAIN_PERCENTILES; i++)
                report_count(r, train_percentiles[i].name, train_percentiles[i].name, s->length[i]);
        report_end(r);
        report_count(r, "window", "window", window);
        report_share(r, "longer_than_window", "longer than the window",
                     share_of(s->longer_window, d->set.B));
        report_share(r, "longer_than_512", "longer than 512 tokens",
                     share_of(s->longer_512, d->set.B));
}

static void add_sentences(struct report *r, const char *name, const char *title,
                          const struct train_problems *p)
{
        report_begin(r, REPORT_LIST, name, title);
        for (size_t i = 0; i < p->n; i++)
                report_string(r, "", "", p->sentence[i]);
        report_end(r);
}

void train_report_tree(struct report *r, const struct train_report *c)
{
        static const char like[] = "is like", repeats[] = "repeats";
        const bool ok = c->problems->n == 0;

        report_bool(r, NULL, "ready for training", ok);
        add_summary(r, &c->train, c->window);
        report_bool(r, "several_labels", NULL, c->train.data->set.multilabel);
        add_pairs(r, "duplicates", "Repeated texts", repeats, &c->duplicates);
        add_pairs(r, "contradictions", "Repeated texts with different labels", repeats,
                  &c->contradictions);
        add_pairs(r, "near_duplicates", "Nearly the same texts", like, &c->near_duplicates);
        if (c->dev.data != NULL) {
                const size_t unknown = c->dev.data->unknown;

                report_begin(r, REPORT_OBJECT, "dev", "Development data");
                add_summary(r, &c->dev, c->window);
                report_count(r, "unknown_labels",
                             unknown > 0 ? "unknown to the training data" : NULL, unknown);
                add_pairs(r, "overlap", "Development texts also in the training data", repeats,
                          &c->overlap);
                add_pairs(r, "near_overlap",
                          "Development texts that are nearly the same as training texts", like,
                          &c->near_overlap);
                report_end(r);
        }
        add_sentences(r, "problems", "Problems", c->problems);
        add_sentences(r, "warnings", "Warnings", c->warnings);
        report_bool(r, "ok", NULL, ok);
}
