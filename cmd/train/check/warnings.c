/* warnings.c - what is odd about training data: a header among the records, text and label swapped,
 * labels written in two ways, documents that occur twice, too few to validate. */
#include "cmd/train/check/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/formats/record.h"
#include "cmd/content/labels.h"
#include "cmd/content/model.h"
#include "cmd/train/read/task.h"

enum { SHOWN = 3 };

/* ---- labels that look alike -------------------------------------------------------------------
 */

/* The bytes of a name that a sentence has room for: whole characters. */
static int shown_bytes(const char *name)
{
        size_t n = strlen(name);

        if (n > 100)
                for (n = 100; n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80;)
                        n--;
        return (int)n;
}

/* Adds a sentence for each pair of the first labels that look alike: different case, spaces,
 * characters that cannot be seen, composed letters or not, 1 and 1.0. count (C): how often each
 * occurs; word: "label" or "tag". */
static void find_alike(struct train_problems *w, const struct ran_dataset *set, const size_t *count,
                       const char *word)
{
        struct cmd_folded *folded = cmd_folded_new(set->names, set->C);
        size_t found = 0;

        for (size_t i = 1; i < set->C && found < SHOWN; i++) {
                if (strcmp(folded[i - 1].text, folded[i].text) != 0)
                        continue;
                const size_t a = folded[i - 1].label, b = folded[i].label;
                const char *x = set->names[a], *y = set->names[b];
                struct ran_buf how = {0};

                found++;
                cmd_label_difference(&how, x, y);
                train_add_problem(w,
                                  "the %ss \"%.*s\" (%zu times) and \"%.*s\" (%zu times) %.*s: "
                                  "write them alike in the data",
                                  word, shown_bytes(x), x, count[a], shown_bytes(y), y, count[b],
                                  (int)how.len, how.data);
                ran_buf_release(&how);
        }
        cmd_folded_free(folded, set->C);
}

/* ---- labels --------------------------------------------------------------------------------- */

/* Labels and the documents that have them. */
struct labels {
        const struct ran_dataset *set;
        size_t *count;      /* (C) */
        size_t single;      /* labels of one document */
        size_t first_label; /* of the first document; C: it has none */
};

/* The first line has a label that no other has: the name of a column? */
static bool is_header(const struct labels *l, const struct train_data *d)
{
        const char *name = l->first_label < l->set->C ? l->set->names[l->first_label] : NULL;
        size_t rank;

        if (name == NULL || l->count[l->first_label] != 1 || d->location[0].line != 1)
                return false;
        return role_of(name, strlen(name), &rank) != ROLE_NONE ||
               (l->single == 1 && l->set->B > 10);
}

static void find_single(struct train_problems *w, const struct labels *l,
                        const struct train_data *d)
{
        bool header = is_header(l, d);
        size_t n = l->single - header, shown = 0;
        struct ran_buf names = {0};

        if (n == 0 || l->set->C > l->set->B / 2)
                return;
        for (size_t c = 0; c < l->set->C && shown < SHOWN; c++) {
                if (l->count[c] != 1 || (header && c == l->first_label))
                        continue;
                ran_buf_printf(&names, "%s\"%.60s\"", shown++ > 0 ? ", " : "", l->set->names[c]);
        }
        ran_buf_str(&names, n > SHOWN ? ", ..." : "");
        ran_buf_char(&names, '\0');
        train_add_problem(
                w,
                "%zu label%s one document only: %s; merge it with another label, leave it "
                "out, or add documents",
                n, n == 1 ? " has" : "s have", names.data);
        ran_buf_release(&names);
}

/* ---- several labels in one text ------------------------------------------------------------- */

/* Parts of labels, between separators and without spaces around them. */
struct parts {
        struct part {
                const char *s;
                size_t n;
                size_t at, of; /* which part of its label, and of how many */
        } * part;
        size_t n, cap;
        size_t joint; /* labels that have several parts */
        size_t first; /* one of these; C: none */
};

static void add_part(struct parts *p, const char *s, size_t n, size_t at)
{
        while (n > 0 && *s == ' ')
                s++, n--;
        while (n > 0 && s[n - 1] == ' ')
                n--;
        RAN_ROOM(p->part, p->cap, p->n + 1);
        p->part[p->n++] = (struct part){s, n, at, at + 1};
}

static void split_labels(struct parts *p, const struct ran_dataset *set, char separator)
{
        p->n = p->joint = 0;
        p->first = set->C;
        for (size_t c = 0; c < set->C; c++) {
                const char *s = set->names[c], *end;
                const size_t from = p->n;

                for (; (end = strchr(s, separator)) != NULL; s = end + 1)
                        add_part(p, s, (size_t)(end - s), p->n - from);
                add_part(p, s, strlen(s), p->n - from);
                for (size_t i = from; i < p->n; i++)
                        p->part[i].of = p->n - from;
                if (p->n - from > 1 && p->joint++ == 0)
                        p->first = c;
        }
}

static int by_bytes(const void *a, const void *b)
{
        const struct part *x = a, *y = b;

        return ran_order(x->s, x->n, y->s, y->n);
}

/* Of several labels most parts recur, and not always in the same place, as those of paths and of
 * names of people do. singles: one part of so many may occur once only; 0: each is a label, too. */
static bool are_lists(struct parts *p, size_t C, size_t singles)
{
        const size_t of_joint = p->n - (C - p->joint);
        size_t single = 0, decimal = 0;
        bool moves = false, each = true;

        if (p->joint < 2)
                return false;
        qsort(p->part, p->n, sizeof *p->part, by_bytes);
        for (size_t i = 0, next; i < p->n; i = next) {
                bool alone = false, joint = false;

                for (next = i; next < p->n && by_bytes(&p->part[i], &p->part[next]) == 0; next++) {
                        const struct part *x = &p->part[next];

                        alone |= x->of == 1;
                        joint |= x->of > 1;
                        moves |= x->at != p->part[i].at;
                        /* Labels "1,5" and "2,5" are numbers. */
                        decimal += x->of <= 2 && strspn(x->s, "0123456789") >= x->n;
                }
                if (p->part[i].n == 0)
                        return false;
                single += joint && next == i + 1;
                each &= alone || !joint;
        }
        return moves && (singles > 0 ? single * singles <= of_joint : each) &&
               (singles == 2 || decimal < p->n);
}

static bool find_joint(struct train_problems *w, const struct ran_dataset *set)
{
        static const struct {
                char separator;
                const char *option;
                size_t singles;
        } tried[] = {
                {'|', "'|'", 2}, {';', "';'", 2}, {',', "comma", 3}, {'/', "/", 0}, {'+', "+", 0}};
        struct parts p = {0};
        bool found = false;

        for (size_t i = 0; i < sizeof tried / sizeof *tried && !found; i++) {
                split_labels(&p, set, tried[i].separator);
                found = are_lists(&p, set->C, tried[i].singles);
                if (!found)
                        continue;
                train_add_problem(w,
                                  "%zu of %zu labels look like lists of labels, for example "
                                  "\"%.*s\": --label-separator %s makes several labels of each",
                                  p.joint, set->C, shown_bytes(set->names[p.first]),
                                  set->names[p.first], tried[i].option);
        }
        free(p.part);
        return found;
}

/* ---- labels of the model that training begins with ------------------------------------------ */

static int by_name(const void *a, const void *b)
{
        const char *const *x = a, *const *y = b;

        return strcmp(*x, *y);
}

/* Labels of the model have no document. */
static void find_forgotten(struct train_problems *w, const struct train_data *train,
                           const struct ran_model *init, const char *name)
{
        const size_t C = train->set.C;
        struct ran_buf lost = {0};
        size_t n = 0;

        /* A base model, which nobody named, is there for its vectors. */
        if (init == NULL || name == NULL || train->task->label == NULL ||
            ran_model_config(init)->task != train->task->task)
                return;
        const char **here = ran_new(C, sizeof *here);
        for (size_t c = 0; c < C; c++)
                here[c] = train->set.names[c];
        qsort(here, C, sizeof *here, by_name);
        for (size_t c = 0; c < ran_model_classes(init); c++) {
                const char *label = ran_model_label(init, c);
                if (bsearch(&label, here, C, sizeof *here, by_name) == NULL && n++ < SHOWN)
                        ran_buf_printf(&lost, "%s\"%.*s\"", n > 1 ? ", " : "", shown_bytes(label),
                                       label);
        }
        if (n > SHOWN)
                ran_buf_printf(&lost, " and %zu more", n - SHOWN);
        ran_buf_char(&lost, '\0');
        if (n > 0)
                train_add_problem(w,
                                  "no record has the %s%s %s of %s, so the new model will not know "
                                  "%s: train on the old records, too, to keep %s",
                                  train->task->label, n == 1 ? "" : "s", lost.data, name,
                                  n == 1 ? "it" : "them", n == 1 ? "it" : "them");
        ran_buf_release(&lost);
        free(here);
}

/* Documents of --dev are training documents of the model. */
static void find_known(struct train_problems *w, const struct train_data *dev,
                       const struct ran_model *init, const char *name)
{
        if (dev == NULL || init == NULL)
                return;
        const size_t n = ran_train_find_known(&dev->set, init, dev->task->task, NULL);

        if (cmd_are_known(n, dev->set.B))
                train_add_problem(w,
                                  "%zu of %zu documents of --dev are training documents of %s: "
                                  "figures on them are too good, and the prediction sets of "
                                  "--coverage too small",
                                  n, dev->set.B, name != NULL ? name : "the base model");
}

static void find_in_labels(struct train_problems *w, const struct train_data *d)
{
        const struct ran_dataset *set = &d->set;
        struct labels l = {set, ran_new(set->C, sizeof *l.count), 0, set->C};

        for (size_t i = 0; i < set->label_first[set->B]; i++)
                if (set->labels[i] < set->C)
                        l.count[set->labels[i]]++;
        for (size_t c = 0; c < set->C; c++)
                l.single += l.count[c] == 1;
        if (set->B > 0 && set->label_first[1] == 1 && set->labels[0] < set->C)
                l.first_label = set->labels[0];
        if (d->task->of_documents) {
                const size_t B = set->B, C = set->C;
                const char *first = is_header(&l, d) ? set->names[l.first_label] : NULL;

                if (first != NULL)
                        train_add_problem(w,
                                          "%s:1: is this a header? no other document has its "
                                          "label \"%.*s\" (--header=yes)",
                                          d->location[0].file, shown_bytes(first), first);
                if (B >= 10 && C > B / 10 * 9)
                        train_add_problem(w,
                                          "%zu labels for %zu documents: are text and label "
                                          "swapped? (--label-member, --text-member or --columns)",
                                          C, B);
                size_t spaced = 0, last = 0;
                for (size_t c = 0; c < C; c++) {
                        const size_t n = strlen(set->names[c]);

                        if (n > 1 && (set->names[c][0] == ' ' || set->names[c][n - 1] == ' ')) {
                                spaced++;
                                last = c;
                        }
                }
                if (spaced > 0)
                        train_add_problem(w,
                                          "%zu of %zu labels begin or end with a space, such as "
                                          "\"%.*s\": labels without it are others",
                                          spaced, C, shown_bytes(set->names[last]),
                                          set->names[last]);
                if (!find_joint(w, set))
                        find_single(w, &l, d);
        }
        find_alike(w, set, l.count, d->task->label);
        free(l.count);
}

/* ---- files ---------------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b)
{
        struct stat x, y;

        if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
                return false;
        return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
               x.st_ino == y.st_ino && S_ISREG(x.st_mode);
}

/* Names on the command line are few; of many files only the first are compared. */
static void find_in_files(struct train_problems *w, char *const *files, const char *dev_file)
{
        enum { COMPARED = 64 };

        for (size_t i = 0; i < COMPARED && files[i] != NULL; i++) {
                if (dev_file != NULL && is_same(files[i], dev_file))
                        train_add_problem(
                                w,
                                "%s is training data and --dev: its figures will be far too "
                                "good; leave out --dev to hold some documents out",
                                files[i]);
                for (size_t j = 0; j < i; j++)
                        if (is_same(files[i], files[j]))
                                train_add_problem(w, "%s is given twice: leave one out", files[i]);
        }
}

/* ---- both data sets ------------------------------------------------------------------------- */

/* More tokens than are compared quickly. */
enum { MANY_TOKENS = 50 * 1000 * 1000 };

static void find_repeats(struct train_problems *w, const struct train_data *train,
                         const struct train_data *dev)
{
        size_t repeated, known, B = train->set.B;

        if (B == 0 || train->set.first[B] > MANY_TOKENS ||
            (dev != NULL && dev->set.B > 0 && dev->set.first[dev->set.B] > MANY_TOKENS))
                return;
        train_count_repeats(train, dev, &repeated, &known);
        if (repeated > B / 10)
                train_add_problem(
                        w,
                        "%zu of %zu training documents repeat others: those held out for "
                        "validation are then known (--check lists them, --dev-group keeps "
                        "groups together)",
                        repeated, B);
        if (dev != NULL && cmd_are_known(known, dev->set.B))
                train_add_problem(
                        w,
                        "%zu of %zu documents of --dev are also training documents: figures "
                        "on them are too good (--check lists them)",
                        known, dev->set.B);
}

void train_find_warnings(struct train_problems *w, const struct train_data *train,
                         const struct train_data *dev, char *const *files, const char *dev_file,
                         size_t validation, const struct ran_model *init, const char *name)
{
        size_t B = train->set.B;

        if (B == 0)
                return;
        find_in_files(w, files, dev_file);
        if (train->task->label != NULL)
                find_in_labels(w, train);
        if (B >= 5 && train->quoted > B / 10 * 9)
                train_add_problem(
                        w,
                        "%zu of %zu texts have quotes around them: if a table wrote these, "
                        "read it with --input-format=csv, or with --quotes=yes",
                        train->quoted, B);
        find_repeats(w, train, dev);
        /* n documents give an accuracy of which nothing is known within 98/sqrt(n) points. */
        if (train->task->of_documents && validation > 0 && validation < 100)
                train_add_problem(
                        w,
                        "%zu validation document%s: accuracies are known to within %.0f "
                        "points (95 %% confidence), too few to tell models apart (--dev-share "
                        "holds out more, --dev FILE adds some)",
                        validation, validation == 1 ? "" : "s",
                        fmin(100, 98 / sqrt((double)validation)));
        find_forgotten(w, train, init, name);
        find_known(w, dev, init, name);
}
