/* problems.c - problems of training data: mixed kinds of records, uninformative labels, bad
 * lines. */
#include "cmd/train/check/check.h"

#include <stdarg.h>
#include <stdlib.h>

#include "cmd/options/message.h"
#include "cmd/train/read/task.h"

void train_add_problem(struct train_problems *p, const char *format, ...)
{
        va_list ap;

        RAN_ROOM(p->sentence, p->cap, p->n + 1);
        va_start(ap, format);
        if (vasprintf(&p->sentence[p->n++], format, ap) < 0)
                cmd_die(CMD_FAILED, "out of memory");
        va_end(ap);
}

/* ---- records of two kinds ------------------------------------------------------------------- */

/* What the first and the second are, if there are both. */
static void find_mixed(struct train_problems *p, const struct train_location *a, const char *is_a,
                       const struct train_location *b, const char *is_b)
{
        if (a->file != NULL && b->file != NULL)
                train_add_problem(p, "%s:%zu %s but %s:%zu %s", a->file, a->line, is_a, b->file,
                                  b->line, is_b);
}

static void find_mixed_labels(struct train_problems *p, const struct train_location *one,
                              const struct train_location *several)
{
        find_mixed(p, one, "has one label", several,
                   "has a list of labels: give every document one label, or every document a list "
                   "(--label-separator makes lists of all)");
}

/* ---- labels --------------------------------------------------------------------------------- */

static void find_useless_labels(struct train_problems *p, const struct train_data *d)
{
        const struct ran_dataset *set = &d->set;
        const bool of_words = set->positions != NULL; /* tags */
        /* One label cannot distinguish documents that all have it. */
        const bool everywhere =
                !set->multilabel || (set->soft == NULL && set->label_first[set->B] == set->B);
        double weight = 0;

        for (size_t b = 0; b < set->B; b++)
                weight += (double)set->weight[b];
        if (weight == 0)
                train_add_problem(p, "the \"weight\" of every document is 0");
        if (set->C == 0 && d->task->label != NULL && !of_words)
                train_add_problem(p, "no document has a label");
        if (set->C == 1 && everywhere)
                train_add_problem(p, "all %s have the %s \"%s\": training needs at least two%s",
                                  of_words ? "words" : "documents", train_label_word(d->task),
                                  set->names[0],
                                  set->multilabel ? ", or documents without it" : "");
}

/* Whether no document has a known label: then no epoch is better than another. */
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

/* ---- both data sets ------------------------------------------------------------------------- */

static void find_mixed_kinds(struct train_problems *p, const struct train_data *d)
{
        find_mixed_labels(p, &d->one, &d->several);
        find_mixed(p, &d->plain, "is one text", &d->paired,
                   "has a source and a target: train on one kind");
}

/* of: the name of the data; is: what the documents are for. */
static void find_lacks(struct train_problems *p, const struct train_data *d, const char *of,
                       const char *is, bool bad_ok)
{
        const size_t bad = d->counts.bad + d->counts.passed; /* here, or in an earlier program */
        const char *them = bad == 1 ? "it" : "them", *lines = bad == 1 ? "line" : "lines";

        if (bad > 0 && !bad_ok && d->set.B == 0) /* to skip all of them is no remedy */
                train_add_problem(p, "%zu %s of %s cannot be used", bad, lines, of);
        else if (bad > 0 && !bad_ok)
                train_add_problem(p,
                                  "%zu %s of %s cannot be used: correct %s, or leave %s out "
                                  "with --on-error=skip",
                                  bad, lines, of, them, them);
        if (d->set.B == 0)
                train_add_problem(p, "there is no %sdocument %s%s",
                                  d->task->label != NULL ? "labelled " : "", is,
                                  d->task->of_documents ? cmd_label_advice(&d->counts) : "");
}

void train_find_problems(struct train_problems *p, const struct train_data *train,
                         const struct train_data *dev, bool bad_ok)
{
        const bool any = train->set.B > 0;

        find_lacks(p, train, "the training data", "to train on", bad_ok);
        if (any)
                find_useless_labels(p, train);
        if (any && train->soft_label != NULL && train->soft_target == 0)
                train_add_problem(p, "no document has the member \"%s\" that --soft-label names",
                                  train->soft_label);
        if (any && train->group != NULL && train->grouped == 0)
                train_add_problem(p, "no document has the member \"%s\" that --dev-group names",
                                  train->group);
        find_mixed_kinds(p, train);
        if (dev == NULL)
                return;
        find_lacks(p, dev, "the development data", "in the validation documents", bad_ok);
        if (dev->set.B > 0 && train->set.C > 0 && is_foreign(&dev->set))
                train_add_problem(p, "the validation documents have no %s of the training data",
                                  train_label_word(dev->task));
        find_mixed_kinds(p, dev);
        if (train->several.file == NULL)
                find_mixed_labels(p, &train->one, &dev->several);
        else if (train->one.file == NULL)
                find_mixed_labels(p, &dev->one, &train->several);
}

void train_problems_release(struct train_problems *p)
{
        for (size_t i = 0; i < p->n; i++)
                free(p->sentence[i]);
        free(p->sentence);
        *p = (struct train_problems){0};
}

void train_must(int rc, const struct ran_error *err)
{
        if (rc != RAN_OK)
                cmd_die(cmd_status_of(err), "%s", err->text);
}
