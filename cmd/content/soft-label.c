/* soft-label.c - probabilities of labels in a record. */
#include "cmd/content/soft-label.h"

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

static bool is(const struct ran_buf *name, const char *word)
{
        return name->len == strlen(word) && memcmp(name->data, word, name->len) == 0;
}

/* An object of labels and probabilities, or a prediction with one. */
struct shape {
        struct ran_span probs; /* its member "probs", or else the object itself */
        bool found;            /* it has "probs" */
        bool several;          /* from a model with several labels a document */
        bool labelled;         /* it is a prediction */
};

static int find_probs(struct shape *shape, struct ran_buf *scratch, const char *line,
                      struct ran_span value, const char *member, struct ran_error *err)
{
        struct ran_span name, item;
        size_t pos = 0;
        char type;

        *shape = (struct shape){.probs = value};
        while (ran_json_next(line, value, &pos, &name, &item, &type)) {
                scratch->len = 0;
                RAN_TRY(ran_json_decode(line, name, scratch, err));
                shape->several |= is(scratch, "labels") && type == 'a';
                shape->labelled |= type != 'n';
                if (!is(scratch, "probs") || type != 'o')
                        continue;
                if (shape->found)
                        return ran_fail(err, RAN_EFORMAT, "\"%s\" has \"probs\" twice", member);
                shape->probs = item;
                shape->found = true;
        }
        if (shape->labelled && !shape->found)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "\"%s\" has no \"probs\" (ran-classify --probs writes them), and is "
                        "no object of labels and probabilities",
                        member);
        return RAN_OK;
}

static int add(struct cmd_soft_label *s, const char *line, struct ran_span name,
               struct ran_span value, char type, struct ran_error *err)
{
        size_t begin = s->names.len;
        double p = -1;
        size_t *end = ran_grow(s->end, &s->end_cap, s->n + 1, sizeof *end, err);

        if (end == NULL)
                return RAN_ENOMEM;
        s->end = end;
        float *all = ran_grow(s->p, &s->p_cap, s->n + 1, sizeof *all, err);
        if (all == NULL)
                return RAN_ENOMEM;
        s->p = all;
        RAN_TRY(ran_json_decode(line, name, &s->names, err));
        if (s->names.failed)
                return ran_fail(err, RAN_ENOMEM, "no memory for the labels of a record");
        size_t n = s->names.len - begin;
        const char *label = n > 0 ? s->names.data + begin : "";
        if (memchr(label, '\0', n) != NULL)
                return ran_fail(err, RAN_EFORMAT, "a label cannot hold U+0000");
        if (type != 'n' || !ran_parse_double(line + value.begin, value.end - value.begin, &p) ||
            !(p >= 0 && p <= 1))
                return ran_fail(err, RAN_EFORMAT,
                                "the probability of the label \"%.*s\" is not a number from 0 to 1",
                                (int)(n < 100 ? n : 100), label);
        s->p[s->n] = (float)p;
        s->end[s->n++] = s->names.len;
        return RAN_OK;
}

static int compare_names(const void *a, const void *b)
{
        const struct soft_name *x = a, *y = b;
        size_t n = x->n < y->n ? x->n : y->n;
        int order = memcmp(x->text, y->text, n);

        return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

static int refuse_repeats(struct cmd_soft_label *s, struct ran_error *err)
{
        struct soft_name *order = ran_grow(s->order, &s->order_cap, s->n, sizeof *order, err);

        if (order == NULL)
                return RAN_ENOMEM;
        s->order = order;
        for (size_t i = 0, begin = 0; i < s->n; begin = s->end[i++])
                order[i] = (struct soft_name){s->end[i] > begin ? s->names.data + begin : "",
                                              s->end[i] - begin};
        qsort(order, s->n, sizeof *order, compare_names);
        for (size_t i = 1; i < s->n; i++)
                if (compare_names(&order[i - 1], &order[i]) == 0)
                        return ran_fail(err, RAN_EFORMAT, "the label \"%.*s\" is there twice",
                                        (int)(order[i].n < 100 ? order[i].n : 100), order[i].text);
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

static int add_label(struct cmd_labels *l, const struct cmd_soft_label *s, size_t i,
                     struct ran_error *err)
{
        size_t begin = i > 0 ? s->end[i - 1] : 0;
        size_t *end = ran_grow(l->end, &l->cap, l->n + 1, sizeof *end, err);

        if (end == NULL)
                return RAN_ENOMEM;
        l->end = end;
        ran_buf_add(&l->names, s->names.data + begin, s->end[i] - begin);
        if (l->names.failed)
                return ran_fail(err, RAN_ENOMEM, "no memory for the labels of a record");
        l->end[l->n++] = l->names.len;
        return RAN_OK;
}

/* The labels predicted by these probabilities. */
static int predict(struct cmd_labels *l, const struct cmd_soft_label *s, bool several,
                   struct ran_error *err)
{
        l->several = several;
        if (!several)
                return add_label(l, s, ran_most_probable(s->p, s->n), err);
        for (size_t i = 0; i < s->n; i++)
                if (s->p[i] >= 0.5f)
                        RAN_TRY(add_label(l, s, i, err));
        return RAN_OK;
}

int cmd_soft_label_read(struct cmd_soft_label *s, struct cmd_labels *labels,
                        const struct record *record, const char *member, bool several,
                        struct ran_error *err)
{
        const struct ran_member *m = json_member(&record->json, member);
        struct ran_span name, item;
        struct shape shape;
        size_t pos = 0;
        char type;

        s->n = s->names.len = 0;
        s->present = m != NULL;
        s->guessed = s->present && !labels->present;
        if (!s->present)
                return RAN_OK;
        if (m->type != 'o')
                return ran_fail(err, RAN_EFORMAT, "\"%s\" is no object of labels and probabilities",
                                member);
        RAN_TRY(find_probs(&shape, &s->names, record->json.line, m->value, member, err));
        if (labels->present && shape.several && !labels->several)
                return ran_fail(err, RAN_EFORMAT,
                                "\"%s\" is of a model that gives several labels, but the document "
                                "has one \"label\"",
                                member);
        s->names.len = 0;
        while (ran_json_next(record->json.line, shape.probs, &pos, &name, &item, &type))
                RAN_TRY(add(s, record->json.line, name, item, type, err));
        several = labels->present ? labels->several : several || shape.several;
        RAN_TRY(refuse_repeats(s, err));
        if (!several)
                RAN_TRY(normalise(s, member, err));
        return s->guessed ? predict(labels, s, several, err) : RAN_OK;
}
