/* soft-label.c - probabilities of labels in a record. */
#include "cmd/records/soft-label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Probabilities are rounded by whoever writes them: their sum may be so far from 1. */
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

/* What the object at `value` is. */
struct shape {
        struct ran_span probs; /* its member of that name, or else itself */
        bool found, several; /* there is that member; it is of a model that gives several labels */
        bool labelled;       /* it is a prediction at least */
};

static int look_at(struct shape *shape, struct ran_buf *scratch, const char *line,
                   struct ran_span value, const char *member, struct ran_error *err)
{
        struct ran_span name, item;
        size_t pos = 0;
        char type;

        *shape = (struct shape){.probs = value};
        while (ran_json_next(line, value, &pos, &name, &item, &type)) {
                scratch->len = 0;
                if (ran_json_decode(line, name, scratch, err) != RAN_OK)
                        return err->code;
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
                        "\"%s\" has no \"probs\", which ran-classify --probs writes, and is "
                        "no object of labels and numbers",
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
        if (ran_json_decode(line, name, &s->names, err) != RAN_OK)
                return err->code;
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

/* Those of a document of one label add up to 1, but for rounding; then exactly. */
static int normalise(struct cmd_soft_label *s, const char *member, struct ran_error *err)
{
        double sum = 0;

        for (size_t i = 0; i < s->n; i++)
                sum += (double)s->p[i];
        if (!(fabs(sum - 1) <= sum_slack))
                return ran_fail(err, RAN_EFORMAT,
                                "the probabilities in \"%s\" add up to %.4g, not to 1 (labels that "
                                "do not exclude each other: --multilabel)",
                                member, sum);
        for (size_t i = 0; i < s->n; i++)
                s->p[i] = (float)((double)s->p[i] / sum);
        return RAN_OK;
}

static int add_guess(struct cmd_labels *l, const struct cmd_soft_label *s, size_t i,
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

/* The label or labels that a model with these probabilities would give. */
static int guess(struct cmd_labels *l, const struct cmd_soft_label *s, bool several,
                 struct ran_error *err)
{
        int code = RAN_OK;

        l->several = several;
        if (!several)
                return add_guess(l, s, ran_most_probable(s->p, s->n), err);
        for (size_t i = 0; i < s->n && code == RAN_OK; i++)
                if (s->p[i] >= 0.5f)
                        code = add_guess(l, s, i, err);
        return code;
}

int cmd_soft_label_read(struct cmd_soft_label *s, struct cmd_labels *labels,
                        const struct ran_record *record, const char *member, bool several,
                        struct ran_error *err)
{
        const struct ran_member *m = ran_record_find(record, member, NULL);
        struct ran_span name, item;
        struct shape shape;
        size_t pos = 0;
        char type;

        s->n = s->names.len = 0;
        s->present = m != NULL && m->type != '0';
        s->guessed = s->present && !labels->present;
        if (!s->present)
                return RAN_OK;
        if (m->type != 'o')
                return ran_fail(err, RAN_EFORMAT,
                                "\"%s\" is no object of labels and their probabilities", member);
        if (look_at(&shape, &s->names, record->line, m->value, member, err) != RAN_OK)
                return err->code;
        if (labels->present && shape.several && !labels->several)
                return ran_fail(err, RAN_EFORMAT,
                                "\"%s\" is of a model that gives several labels, but the document "
                                "has one, its \"label\"",
                                member);
        s->names.len = 0;
        while (ran_json_next(record->line, shape.probs, &pos, &name, &item, &type))
                if (add(s, record->line, name, item, type, err) != RAN_OK)
                        return err->code;
        several = labels->present ? labels->several : several || shape.several;
        int code = refuse_repeats(s, err);
        if (code == RAN_OK && !several)
                code = normalise(s, member, err);
        return code == RAN_OK && s->guessed ? guess(labels, s, several, err) : code;
}
