/* soft-label.c - probabilities of labels in a record. */
#include "cmd/content/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"

/* Written probabilities are rounded: tolerance of their sum. */
static const double sum_slack = 0.01;

struct soft_name {
        const char *text;
        size_t n;
};

void cmd_soft_label_release(struct cmd_soft_label *s)
{
        ran_buf_release(&s->names);
        free(s->end);
        free(s->p);
        free(s->order);
        *s = (struct cmd_soft_label){0};
}

/* The probabilities in a prediction, or in an object of nothing else. */
static int find_probs(const char *line, struct ran_span value, const char *member,
                      struct ran_span *probs, struct ran_error *err)
{
        if (ran_json_find(line, value, "probs", 'o', probs, NULL))
                return RAN_OK;
        *probs = value;
        for (struct ran_items i = ran_items(line, value); ran_items_next(&i);)
                if (i.type != 'n')
                        return ran_fail(
                                err, RAN_EFORMAT,
                                "\"%s\" has no \"probs\" (ran-classify --probs writes them), and "
                                "is no object of labels and probabilities",
                                member);
        return RAN_OK;
}

static int add(struct cmd_soft_label *s, const struct ran_items *i, struct ran_error *err)
{
        const size_t begin = s->names.len;
        double p = -1;

        RAN_TRY(ran_json_decode(i->line, i->name, &s->names, err));
        const size_t n = s->names.len - begin;
        const char *label = n > 0 ? s->names.data + begin : "";
        if (memchr(label, '\0', n) != NULL)
                return ran_fail(err, RAN_EFORMAT, "a label cannot hold U+0000");
        if (i->type != 'n' ||
            !ran_parse_double(i->line + i->value.begin, i->value.end - i->value.begin, &p) ||
            !(p >= 0 && p <= 1))
                return ran_fail(err, RAN_EFORMAT,
                                "the probability of the label \"%.*s\" is not a number from 0 to 1",
                                (int)(n < 100 ? n : 100), label);
        RAN_ROOM(s->end, s->end_cap, s->n + 1);
        RAN_ROOM(s->p, s->p_cap, s->n + 1);
        s->p[s->n] = (float)p;
        s->end[s->n++] = s->names.len;
        return RAN_OK;
}

static int compare_names(const void *a, const void *b)
{
        const struct soft_name *x = a, *y = b;

        return ran_order(x->text, x->n, y->text, y->n);
}

static int refuse_repeats(struct cmd_soft_label *s, struct ran_error *err)
{
        RAN_ROOM(s->order, s->order_cap, s->n);
        for (size_t i = 0, begin = 0; i < s->n; begin = s->end[i++])
                s->order[i] = (struct soft_name){s->end[i] > begin ? s->names.data + begin : "",
                                                 s->end[i] - begin};
        if (s->n > 1)
                qsort(s->order, s->n, sizeof *s->order, compare_names);
        for (size_t i = 1; i < s->n; i++) {
                const struct soft_name *name = &s->order[i];
                if (compare_names(name - 1, name) == 0)
                        return ran_fail(err, RAN_EFORMAT, "the label \"%.*s\" is there twice",
                                        (int)(name->n < 100 ? name->n : 100), name->text);
        }
        return RAN_OK;
}

/* With one label a document, normalises the sum, which is 1 but for rounding. */
static int normalise(struct cmd_soft_label *s, const char *member, struct ran_error *err)
{
        double sum = 0;

        for (size_t i = 0; i < s->n; i++)
                sum += (double)s->p[i];
        if (!(fabs(sum - 1) <= sum_slack))
                return ran_fail(err, RAN_EFORMAT,
                                "the probabilities in \"%s\" add up to %.4g, not to 1 (for several "
                                "labels a document, use --multilabel)",
                                member, sum);
        for (size_t i = 0; i < s->n; i++)
                s->p[i] = (float)((double)s->p[i] / sum);
        return RAN_OK;
}

/* The labels predicted by these probabilities. */
static void predict(struct cmd_labels *l, const struct cmd_soft_label *s, bool several)
{
        const size_t best = several ? s->n : ran_most_probable(s->p, s->n);

        l->several = several;
        for (size_t i = 0, begin = 0; i < s->n; begin = s->end[i++]) {
                if (several ? s->p[i] < 0.5f : i != best)
                        continue;
                ran_buf_add(&l->names, s->names.data + begin, s->end[i] - begin);
                RAN_ROOM(l->end, l->cap, l->n + 1);
                l->end[l->n++] = l->names.len;
        }
}

int cmd_soft_label_read(struct cmd_soft_label *s, struct cmd_labels *labels,
                        const struct record *record, const char *member, bool several,
                        struct ran_error *err)
{
        const struct ran_member *m = json_member(&record->json, member);
        const char *line = record->json.line;
        struct ran_span probs, list;

        s->n = s->names.len = 0;
        s->present = m != NULL;
        s->guessed = s->present && !labels->present;
        if (!s->present)
                return RAN_OK;
        if (m->type != 'o')
                return ran_fail(err, RAN_EFORMAT, "\"%s\" is no object of labels and probabilities",
                                member);
        RAN_TRY(find_probs(line, m->value, member, &probs, err));
        const bool of_several = ran_json_find(line, m->value, "labels", 'a', &list, NULL);
        if (labels->present && of_several && !labels->several)
                return ran_fail(err, RAN_EFORMAT,
                                "\"%s\" is of a model that gives several labels, but the document "
                                "has one \"label\"",
                                member);
        for (struct ran_items i = ran_items(line, probs); ran_items_next(&i);)
                RAN_TRY(add(s, &i, err));
        several = labels->present ? labels->several : several || of_several;
        RAN_TRY(refuse_repeats(s, err));
        if (!several)
                RAN_TRY(normalise(s, member, err));
        if (s->guessed)
                predict(labels, s, several);
        return RAN_OK;
}
