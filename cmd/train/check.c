/* check.c - looks at data before anybody trains on it.
 *
 * The report is gathered once and written twice, for machines and for people.
 */
#include "cmd/train/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void *must_alloc(size_t n, size_t size)
{
        struct ran_error err = {0};
        void *p = ran_alloc(n, size, &err);

        if (p == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        return p;
}

/* ---- problems ------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void add_problem(struct train_problems *p,
                                                              const char *format, ...)
{
        struct ran_error err = {0};
        char **sentence = ran_grow(p->sentence, &p->cap, p->n + 1, sizeof *sentence, &err);
        va_list ap;
        int n = -1;

        va_start(ap, format);
        if (sentence != NULL)
                n = vasprintf(&sentence[p->n], format, ap);
        va_end(ap);
        if (n < 0)
                cmd_die(CMD_FAILED, "out of memory");
        p->sentence = sentence;
        p->n++;
}

static void find_mixed(struct train_problems *p, const struct train_place *one,
                       const struct train_place *several)
{
        if (one->file != NULL && several->file != NULL)
                add_problem(p,
                            "%s:%zu has \"label\" but %s:%zu has \"labels\": either every document "
                            "has one label, or every one has a list of them",
                            one->file, one->line, several->file, several->line);
}

static bool is_tagged(const struct ran_dataset *set)
{
        return set->positions != NULL;
}

/* Texts for a language model have no labels. */
static bool is_text(const struct ran_dataset *set)
{
        return set->sources != NULL;
}

static void find_mixed_texts(struct train_problems *p, const struct train_place *plain,
                             const struct train_place *paired)
{
        if (plain->file != NULL && paired->file != NULL)
                add_problem(p,
                            "%s:%zu is one text but %s:%zu has a source and a target: a model "
                            "learns from one kind",
                            plain->file, plain->line, paired->file, paired->line);
}

/* Whether the one label there is tells no document from another. */
static bool is_everywhere(const struct ran_dataset *set)
{
        return !set->multilabel || (set->soft == NULL && set->label_first[set->B] == set->B);
}

static void find_useless_labels(struct train_problems *p, const struct ran_dataset *set)
{
        double weight = 0;

        for (size_t b = 0; b < set->B; b++)
                weight += (double)set->weight[b];
        if (weight == 0)
                add_problem(p, "the \"weight\" of every document is 0");
        if (set->C == 0 && !is_text(set) && !is_tagged(set))
                add_problem(p, "no document has a label");
        if (set->C == 1 && is_everywhere(set))
                add_problem(
                        p, "all %s have the %s \"%s\": at least two different ones are needed%s",
                        is_tagged(set) ? "words" : "documents", is_tagged(set) ? "tag" : "label",
                        set->names[0], set->multilabel ? ", or documents without it" : "");
}

/* Whether no answer is right for any document: then no epoch is better than another. */
static bool is_foreign(const struct ran_dataset *set)
{
        for (size_t b = 0; b < set->B; b++) {
                if (set->label_first[b] == set->label_first[b + 1])
                        return false; /* none is the answer */
        }
        for (size_t i = 0; i < set->label_first[set->B]; i++) {
                if (set->labels[i] != RAN_LABEL_UNKNOWN)
                        return false;
        }
        return true;
}

static void find_bad_lines(struct train_problems *p, const struct cmd_counts *counts,
                           const char *what)
{
        size_t bad = counts->bad + counts->passed; /* here, or in an earlier program */

        if (bad > 0)
                add_problem(p,
                            "%zu %s of the %s data cannot be used: mend %s, or leave %s out with "
                            "--on-error=skip",
                            bad, bad == 1 ? "line" : "lines", what, bad == 1 ? "it" : "them",
                            bad == 1 ? "it" : "them");
}

static const char *kind_of(const struct train_data *d)
{
        return d->task == RAN_TASK_LM || d->task == RAN_TASK_MLM ? "" : "labelled ";
}

void train_find_problems(struct train_problems *p, const struct train_data *train,
                         const struct train_data *dev, bool bad_ok)
{
        if (!bad_ok)
                find_bad_lines(p, &train->counts, "training");
        if (train->set.B == 0)
                add_problem(p, "there is no %sdocument to train on%s", kind_of(train),
                            train->task == RAN_TASK_CLASSIFY ? cmd_label_advice(&train->counts)
                                                             : "");
        else
                find_useless_labels(p, &train->set);
        if (train->soft_label != NULL && train->softened == 0 && train->set.B > 0)
                add_problem(p, "no document has the member \"%s\" that --soft-label names",
                            train->soft_label);
        if (train->group != NULL && train->grouped == 0 && train->set.B > 0)
                add_problem(p, "no document has the member \"%s\" that --dev-group names",
                            train->group);
        find_mixed(p, &train->one, &train->several);
        find_mixed_texts(p, &train->plain, &train->paired);
        if (dev == NULL)
                return;
        if (!bad_ok)
                find_bad_lines(p, &dev->counts, "development");
        if (dev->set.B == 0)
                add_problem(p, "there is no %sdocument in the development data%s", kind_of(dev),
                            dev->task == RAN_TASK_CLASSIFY ? cmd_label_advice(&dev->counts) : "");
        else if (!is_text(&dev->set) && train->set.C > 0 && is_foreign(&dev->set))
                add_problem(p, "the development data have no %s that the training data have",
                            is_tagged(&dev->set) ? "tag" : "label");
        find_mixed(p, &dev->one, &dev->several);
        find_mixed_texts(p, &dev->plain, &dev->paired);
        if (train->several.file == NULL)
                find_mixed(p, &train->one, &dev->several);
        else if (train->one.file == NULL)
                find_mixed(p, &dev->one, &train->several);
}

void train_problems_release(struct train_problems *p)
{
        for (size_t i = 0; i < p->n; i++)
                free(p->sentence[i]);
        free(p->sentence);
        *p = (struct train_problems){0};
}

/* ---- repeated texts ------------------------------------------------------------------------- */

static const size_t none = SIZE_MAX;

/* A document of the training or the development data, to be sorted by what it says. */
struct key {
        uint64_t hash;
        const uint32_t *ids;
        size_t L, index;
        bool dev;
};

static void make_keys(struct key *keys, const struct ran_dataset *set, bool dev)
{
        for (size_t b = 0; b < set->B; b++) {
                struct key *k = &keys[b];
                *k = (struct key){.ids = set->ids + set->first[b],
                                  .L = set->first[b + 1] - set->first[b],
                                  .index = b,
                                  .dev = dev};
                for (size_t t = 0; t < k->L; t++)
                        k->hash = ran_draw(k->hash, k->ids[t]);
        }
}

static int same_text(const struct key *a, const struct key *b)
{
        if (a->hash != b->hash)
                return a->hash < b->hash ? -1 : 1;
        if (a->L != b->L)
                return a->L < b->L ? -1 : 1;
        return memcmp(a->ids, b->ids, a->L * sizeof *a->ids);
}

/* Training documents before those of development, then in the order of the input. */
static int compare_keys(const void *a, const void *b)
{
        const struct key *x = a, *y = b;
        int text = same_text(x, y);

        if (text != 0)
                return text;
        if (x->dev != y->dev)
                return x->dev ? 1 : -1;
        return (x->index > y->index) - (x->index < y->index);
}

/* twin[b]: the first training document with the tokens of document b, if that is another one. */
static void find_twins(const struct ran_dataset *train, const struct ran_dataset *dev, size_t *twin,
                       size_t *dev_twin)
{
        size_t n = train->B + (dev != NULL ? dev->B : 0);
        struct key *keys = must_alloc(n, sizeof *keys);
        const struct key *leader = NULL;

        make_keys(keys, train, false);
        if (dev != NULL)
                make_keys(keys + train->B, dev, true);
        qsort(keys, n, sizeof *keys, compare_keys);
        for (size_t i = 0; i < n; i++) {
                size_t *mine = keys[i].dev ? &dev_twin[keys[i].index] : &twin[keys[i].index];
                if (leader == NULL || same_text(leader, &keys[i]) != 0)
                        leader = &keys[i];
                *mine = leader == &keys[i] || leader->dev ? none : leader->index;
        }
        free(keys);
}

static bool same_labels(const struct ran_dataset *set, size_t a, size_t b)
{
        size_t n = set->label_first[a + 1] - set->label_first[a];

        return set->label_first[b + 1] - set->label_first[b] == n &&
               memcmp(set->labels + set->label_first[a], set->labels + set->label_first[b],
                      n * sizeof *set->labels) == 0;
}

/* ---- gathering ------------------------------------------------------------------------------ */

enum { PERCENTILES = 7 };
static const struct {
        const char *name;
        double share;
} percentile[PERCENTILES] = {{"min", 0},    {"p5", 0.05},  {"p25", 0.25}, {"median", 0.5},
                             {"p75", 0.75}, {"p95", 0.95}, {"max", 1}};

/* Places, alone or in pairs; the first of them are named. */
struct places {
        size_t n;
        struct train_place a[TRAIN_LISTED], b[TRAIN_LISTED];
};

/* What is known of one of the two sets. */
struct summary {
        const struct train_data *data;
        size_t *label_count; /* (C) */
        size_t tokens, length[PERCENTILES], longer_window, longer_512;
        size_t predicted; /* of texts: tokens that the loss is the mean over */
};

struct report {
        struct summary train, dev; /* dev.data NULL: none */
        size_t window;
        struct places duplicates, contradictions, overlap;
};

static int compare_sizes(const void *a, const void *b)
{
        size_t x = *(const size_t *)a, y = *(const size_t *)b;

        return (x > y) - (x < y);
}

static void summarise_lengths(struct summary *s, size_t window)
{
        const struct ran_dataset *set = &s->data->set;
        size_t *length = must_alloc(set->B, sizeof *length);

        for (size_t b = 0; b < set->B; b++) {
                length[b] = set->first[b + 1] - set->first[b];
                s->longer_window += length[b] > window;
                s->longer_512 += length[b] > 512;
        }
        s->tokens = s->predicted = set->first[set->B];
        for (size_t b = 0; is_text(set) && b < set->B; b++)
                s->predicted -= set->sources[b] > 0 ? set->sources[b] : 1;
        qsort(length, set->B, sizeof *length, compare_sizes);
        for (size_t i = 0; i < PERCENTILES && set->B > 0; i++) { /* the nearest rank */
                size_t rank = (size_t)ceil(percentile[i].share * (double)set->B);
                s->length[i] = length[rank > 0 ? rank - 1 : 0];
        }
        free(length);
}

static void summarise(struct summary *s, const struct train_data *data, size_t window)
{
        const struct ran_dataset *set = &data->set;

        s->data = data;
        s->label_count = must_alloc(set->C, sizeof *s->label_count);
        for (size_t i = 0; i < set->label_first[set->B]; i++)
                if (set->labels[i] != RAN_LABEL_UNKNOWN)
                        s->label_count[set->labels[i]]++;
        summarise_lengths(s, window);
}

static void add_pair(struct places *p, struct train_place a, struct train_place b)
{
        if (p->n < TRAIN_LISTED) {
                p->a[p->n] = a;
                p->b[p->n] = b;
        }
        p->n++;
}

static void gather_repeats(struct report *r, const struct train_data *train,
                           const struct train_data *dev)
{
        size_t *twin = must_alloc(train->set.B, sizeof *twin);
        size_t *dev_twin = must_alloc(dev != NULL ? dev->set.B : 0, sizeof *dev_twin);

        find_twins(&train->set, dev != NULL ? &dev->set : NULL, twin, dev_twin);
        for (size_t b = 0; b < train->set.B; b++) {
                if (twin[b] == none)
                        continue;
                add_pair(&r->duplicates, train->place[b], train->place[twin[b]]);
                if (!same_labels(&train->set, b, twin[b]))
                        add_pair(&r->contradictions, train->place[b], train->place[twin[b]]);
        }
        for (size_t b = 0; dev != NULL && b < dev->set.B; b++)
                if (dev_twin[b] != none)
                        add_pair(&r->overlap, dev->place[b], train->place[dev_twin[b]]);
        free(twin);
        free(dev_twin);
}

/* ---- for machines --------------------------------------------------------------------------- */

static double share_of(size_t part, size_t whole)
{
        return whole > 0 ? (double)part / (double)whole : 0;
}

static void json_place(struct ran_buf *b, struct train_place place)
{
        struct ran_buf text = {0};

        ran_buf_printf(&text, "%s:%zu", place.file, place.line);
        b->failed |= text.failed;
        ran_buf_json(b, text.data, text.len);
        ran_buf_release(&text);
}

static void json_pairs(struct ran_buf *b, const char *name, const struct places *p)
{
        ran_buf_printf(b, ",\"%s\":{\"count\":%zu,\"pairs\":[", name, p->n);
        for (size_t i = 0; i < p->n && i < TRAIN_LISTED; i++) {
                ran_buf_str(b, i == 0 ? "[" : ",[");
                json_place(b, p->a[i]);
                ran_buf_char(b, ',');
                json_place(b, p->b[i]);
                ran_buf_char(b, ']');
        }
        ran_buf_str(b, "]}");
}

/* What is learned: labels, tags, or how many tokens of texts. */
static void json_labels(struct ran_buf *b, const struct summary *s)
{
        const struct train_data *d = s->data;

        if (d->task == RAN_TASK_LM) {
                ran_buf_printf(b, ",\"predicted\":%zu,\"one_id\":%zu", s->predicted, d->lone);
                return;
        }
        if (d->task == RAN_TASK_MLM) {
                ran_buf_printf(b, ",\"words\":%zu", d->set.label_first[d->set.B]);
                return;
        }
        if (d->soft_label != NULL)
                ran_buf_printf(b, ",\"soft_labels\":{\"documents\":%zu,\"without_label\":%zu}",
                               d->softened, ran_dataset_guessed(&d->set));
        ran_buf_printf(b, ",\"%s\":{", is_tagged(&d->set) ? "tags" : "labels");
        for (size_t c = 0; c < d->set.C; c++) {
                ran_buf_str(b, c == 0 ? "" : ",");
                ran_buf_json(b, d->set.names[c], strlen(d->set.names[c]));
                ran_buf_printf(b, ":%zu", s->label_count[c]);
        }
        ran_buf_char(b, '}');
}

static void json_summary(struct ran_buf *b, const struct summary *s, size_t window)
{
        const struct train_data *d = s->data;

        ran_buf_printf(b, "\"documents\":%zu,\"tokens\":%zu,\"blank_lines\":%zu,\"bad_lines\":%zu",
                       d->set.B, s->tokens, d->counts.blank, d->counts.bad);
        ran_buf_printf(b, ",\"empty\":{\"count\":%zu,\"at\":[", d->empties);
        for (size_t i = 0; i < d->empties && i < TRAIN_LISTED; i++) {
                ran_buf_str(b, i == 0 ? "" : ",");
                json_place(b, d->empty[i]);
        }
        ran_buf_str(b, "]}");
        json_labels(b, s);
        ran_buf_str(b, ",\"length\":{");
        for (size_t i = 0; i < PERCENTILES; i++)
                ran_buf_printf(b, "%s\"%s\":%zu", i == 0 ? "" : ",", percentile[i].name,
                               s->length[i]);
        ran_buf_printf(b, "},\"window\":%zu,\"longer_than_window\":", window);
        ran_buf_double(b, share_of(s->longer_window, d->set.B));
        ran_buf_str(b, ",\"longer_than_512\":");
        ran_buf_double(b, share_of(s->longer_512, d->set.B));
}

static void json_report(struct ran_buf *b, const struct report *r,
                        const struct train_problems *problems)
{
        ran_buf_char(b, '{');
        json_summary(b, &r->train, r->window);
        ran_buf_printf(b, ",\"several_labels\":%s",
                       r->train.data->set.multilabel ? "true" : "false");
        json_pairs(b, "duplicates", &r->duplicates);
        json_pairs(b, "contradictions", &r->contradictions);
        if (r->dev.data != NULL) {
                ran_buf_str(b, ",\"dev\":{");
                json_summary(b, &r->dev, r->window);
                ran_buf_printf(b, ",\"unknown_labels\":%zu", r->dev.data->unknown);
                json_pairs(b, "overlap", &r->overlap);
                ran_buf_char(b, '}');
        }
        ran_buf_str(b, ",\"problems\":[");
        for (size_t i = 0; i < problems->n; i++) {
                ran_buf_str(b, i == 0 ? "" : ",");
                ran_buf_json(b, problems->sentence[i], strlen(problems->sentence[i]));
        }
        ran_buf_printf(b, "],\"ok\":%s}\n", problems->n == 0 ? "true" : "false");
}

/* ---- for people ----------------------------------------------------------------------------- */

static void text_pairs(struct ran_buf *b, const char *what, const struct places *p)
{
        if (p->n == 0)
                return;
        ran_buf_printf(b, "%s: %zu\n", what, p->n);
        for (size_t i = 0; i < p->n && i < TRAIN_LISTED; i++)
                ran_buf_printf(b, "  %s:%zu repeats %s:%zu\n", p->a[i].file, p->a[i].line,
                               p->b[i].file, p->b[i].line);
        if (p->n > TRAIN_LISTED)
                ran_buf_printf(b, "  ... and %zu more\n", p->n - TRAIN_LISTED);
}

static void text_empty(struct ran_buf *b, const struct train_data *d)
{
        if (d->empties == 0)
                return;
        ran_buf_printf(b, "  without a token: %zu\n", d->empties);
        for (size_t i = 0; i < d->empties && i < TRAIN_LISTED; i++)
                ran_buf_printf(b, "    %s:%zu\n", d->empty[i].file, d->empty[i].line);
        if (d->empties > TRAIN_LISTED)
                ran_buf_printf(b, "    ... and %zu more\n", d->empties - TRAIN_LISTED);
}

/* As a JSON string: a name may hold what steers a terminal. Of documents or of words, whichever has
 * one. */
static void text_label(struct ran_buf *b, const struct summary *s, size_t c)
{
        const struct ran_dataset *set = &s->data->set;
        size_t all = is_tagged(set) ? set->label_first[set->B] : set->B;
        struct ran_buf name = {0};

        ran_buf_json(&name, set->names[c], strlen(set->names[c]));
        b->failed |= name.failed;
        ran_buf_printf(b, "    %7zu %5.1f%%  ", s->label_count[c],
                       100 * share_of(s->label_count[c], all));
        ran_buf_shown(b, name.data, name.len);
        ran_buf_char(b, '\n');
        ran_buf_release(&name);
}

static void text_labels(struct ran_buf *b, const struct summary *s)
{
        const struct train_data *d = s->data;

        if (d->task == RAN_TASK_LM) {
                ran_buf_printf(b, "  tokens to be predicted: %zu\n", s->predicted);
                if (d->lone > 0)
                        ran_buf_printf(b, "  left out, of one id: %zu\n", d->lone);
                return;
        }
        if (d->soft_label != NULL)
                ran_buf_printf(b, "  soft labels: %zu, %zu of them without a label beside\n",
                               d->softened, ran_dataset_guessed(&d->set));
        if (is_tagged(&d->set))
                ran_buf_printf(b, "  words: %zu\n", d->set.label_first[d->set.B]);
        if (d->task == RAN_TASK_MLM)
                return;
        ran_buf_printf(b, "  %s: %zu\n", is_tagged(&d->set) ? "tags" : "labels", d->set.C);
        for (size_t c = 0; c < d->set.C; c++)
                text_label(b, s, c);
}

static void text_summary(struct ran_buf *b, const struct summary *s, size_t window)
{
        const struct train_data *d = s->data;

        ran_buf_printf(b, "documents %zu, tokens %zu, bad lines %zu, blank lines %zu\n", d->set.B,
                       s->tokens, d->counts.bad, d->counts.blank);
        text_empty(b, d);
        text_labels(b, s);
        ran_buf_str(b, "  tokens of a document:");
        for (size_t i = 0; i < PERCENTILES; i++)
                ran_buf_printf(b, "%s %s %zu", i == 0 ? "" : ",", percentile[i].name, s->length[i]);
        ran_buf_printf(b, "\n  longer than the window (%zu): %.1f%%, than 512 tokens: %.1f%%\n",
                       window, 100 * share_of(s->longer_window, d->set.B),
                       100 * share_of(s->longer_512, d->set.B));
}

static void text_report(struct ran_buf *b, const struct report *r,
                        const struct train_problems *problems)
{
        ran_buf_str(b, "Training data: ");
        text_summary(b, &r->train, r->window);
        if (r->dev.data != NULL) {
                ran_buf_str(b, "Development data: ");
                text_summary(b, &r->dev, r->window);
                if (r->dev.data->unknown > 0)
                        ran_buf_printf(b, "  %s that training has not: %zu\n",
                                       is_tagged(&r->dev.data->set) ? "tags" : "labels",
                                       r->dev.data->unknown);
        }
        text_pairs(b, "repeated texts", &r->duplicates);
        text_pairs(b, "repeated texts with other labels", &r->contradictions);
        text_pairs(b, "development texts that training has too", &r->overlap);
        for (size_t i = 0; i < problems->n; i++)
                ran_buf_printf(b, "PROBLEM: %s\n", problems->sentence[i]);
        if (problems->n == 0)
                ran_buf_str(b, "fit to train on\n");
}

void train_check(const struct train_data *train, const struct train_data *dev, size_t window,
                 const struct train_problems *problems, bool json)
{
        struct report r = {.window = window};
        struct ran_buf out = {0};

        summarise(&r.train, train, window);
        if (dev != NULL)
                summarise(&r.dev, dev, window);
        gather_repeats(&r, train, dev);
        if (json)
                json_report(&out, &r, problems);
        else
                text_report(&out, &r, problems);
        if (out.failed)
                cmd_die(CMD_FAILED, "out of memory for the report");
        fwrite(out.data, 1, out.len, stdout); /* cmd_finish sees whether it arrived */
        ran_buf_release(&out);
        free(r.train.label_count);
        free(r.dev.label_count);
}
