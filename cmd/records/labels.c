/* labels.c - the gold labels of a record, or the gold tags of its words. */
#include <stdlib.h>
#include <string.h>

#include "cmd/records/labels.h"
#include "cmd/formats/foreign.h"

void cmd_labels_release(struct cmd_labels *l)
{
        ran_buf_release(&l->names);
        free(l->end);
        free(l->tags);
        *l = (struct cmd_labels){0};
}

static bool has_names(const struct cmd_names *called)
{
        return called != NULL && called->n > 0;
}

int cmd_labels_add_name(const struct cmd_names *called, const char *what, const char *line,
                        struct ran_span value, char type, struct ran_buf *out,
                        struct ran_error *err)
{
        const char *name = line + value.begin;
        size_t n = value.end - value.begin;
        struct ran_error why;

        if (type == 's')
                return ran_json_decode(line, value, out, err);
        if (type != 'n')
                return ran_fail(err, RAN_EFORMAT, "a %s must be a string or a number", what);
        if (has_names(called) && cmd_names_find(called, name, n, &name, &n, &why) != RAN_OK)
                return ran_fail(err, RAN_EFORMAT, "the %s %s", what, why.text);
        ran_buf_add(out, name, n);
        return RAN_OK;
}

/* what: "label" or "tag", for messages. */
static int add_label(struct cmd_labels *l, const char *what, const char *line,
                     struct ran_span value, char type, struct ran_error *err)
{
        size_t *grown = ran_grow(l->end, &l->cap, l->n + 1, sizeof(*grown), err);

        if (grown == NULL)
                return RAN_ENOMEM;
        l->end = grown;
        int code = cmd_labels_add_name(l->called, what, line, value, type, &l->names, err);
        if (code != RAN_OK)
                return code;
        if (l->names.failed)
                return ran_fail(err, RAN_ENOMEM, "no memory for the %ss of a record", what);
        l->end[l->n++] = l->names.len;
        return RAN_OK;
}

static int add_labels(struct cmd_labels *l, const char *what, const char *line,
                      const struct ran_member *m, struct ran_error *err)
{
        struct ran_span item;
        size_t pos = 0;
        char type;

        if (m->type != 'a')
                return ran_fail(err, RAN_EFORMAT, "\"%ss\" must be an array", what);
        while (ran_json_next(line, m->value, &pos, NULL, &item, &type)) {
                int code = add_label(l, what, line, item, type, err);
                if (code != RAN_OK)
                        return code;
        }
        return RAN_OK;
}

/* A member that is there and not null. */
static const struct ran_member *find(const struct ran_record *record, const char *name)
{
        const struct ran_member *m = ran_record_find(record, name, NULL);

        return m != NULL && m->type != '0' ? m : NULL;
}

/* Whether the object is there, and has a member. */
static bool says_something(const struct ran_record *record, const struct ran_member *cats)
{
        struct ran_span name, item;
        size_t pos = 0;
        char type;

        return cats != NULL && cats->type == 'o' &&
               ran_json_next(record->line, cats->value, &pos, &name, &item, &type);
}

/* Those that are 1 or true. */
static int add_cats(struct cmd_labels *l, const char *line, const struct ran_member *cats,
                    struct ran_error *err)
{
        struct ran_span name, item;
        size_t pos = 0;
        char type;
        int code = RAN_OK;

        while (code == RAN_OK && ran_json_next(line, cats->value, &pos, &name, &item, &type)) {
                double value = type == 't';
                bool is_number = type == 'n' &&
                                 ran_parse_double(line + item.begin, item.end - item.begin, &value);
                if (!(type == 't' || type == 'f' || (is_number && (value == 0 || value == 1))))
                        return ran_fail(err, RAN_EFORMAT, "each of \"cats\" must be 1 or 0");
                if (value == 1)
                        code = add_label(l, "label", line, name, 's', err);
        }
        return code;
}

/* Data sets of Hugging Face have -1 where there is no label; it is one only where numbers have no
 * names. */
static const struct ran_member *find_label(const struct cmd_labels *l,
                                           const struct ran_record *record)
{
        const struct ran_member *m = find(record, "label");
        bool none = m != NULL && m->type == 'n' && has_names(l->called) &&
                    m->value.end - m->value.begin == 2 &&
                    memcmp(record->line + m->value.begin, "-1", 2) == 0;

        return none ? NULL : m;
}

bool cmd_labels_there(const struct ran_record *record)
{
        return find(record, "label") != NULL || find(record, "labels") != NULL ||
               foreign_choice(record) != NULL || says_something(record, find(record, "cats"));
}

int cmd_labels_read(struct cmd_labels *l, const struct ran_record *record, struct ran_error *err)
{
        const struct ran_member *one = find_label(l, record), *several = find(record, "labels");
        const struct ran_member *choice = foreign_choice(record), *cats = find(record, "cats");
        int code = RAN_OK;

        l->n = l->names.len = 0;
        l->present =
                one != NULL || several != NULL || choice != NULL || says_something(record, cats);
        l->several = several != NULL;
        l->either = false;
        if (one != NULL && several != NULL)
                return ran_fail(err, RAN_EFORMAT, "both \"label\" and \"labels\" are given");
        if (several != NULL)
                return add_labels(l, "label", record->line, several, err);
        if (one != NULL && one->type != 'a')
                return add_label(l, "label", record->line, one->value, one->type, err);
        if (one != NULL || choice != NULL)
                code = add_labels(l, "label", record->line, one != NULL ? one : choice, err);
        else if (l->present)
                code = add_cats(l, record->line, cats, err);
        l->either = l->present && l->n == 1;
        l->several = l->present && !l->either;
        return code;
}

/* ---- tags ----------------------------------------------------------------------------------- */

static size_t count_numbers(const char *line, struct ran_span array)
{
        struct ran_span item;
        size_t pos = 0, numbers = 0;
        char type;

        while (ran_json_next(line, array, &pos, NULL, &item, &type))
                numbers += type == 'n';
        return numbers;
}

/* Takes the names apart, as far as they are tags of a scheme. */
static int parse_names(struct cmd_labels *l, struct ran_error *err)
{
        struct ran_tag *tags = ran_grow(l->tags, &l->tags_cap, l->n, sizeof(*tags), err);
        size_t marked = 0, others = 0;
        struct ran_error why;

        if (tags == NULL)
                return RAN_ENOMEM;
        l->tags = tags;
        for (size_t i = 0, begin = 0; i < l->n; begin = l->end[i++]) {
                const char *name = l->names.data + begin;
                if (ran_tag_parse(&tags[i], name, l->end[i] - begin, &why) != RAN_OK)
                        others++;
                else
                        marked += tags[i].length > 0 ? 1 : 0;
        }
        if (others > 0 && marked > 0) /* a slip among tags of a scheme */
                return ran_fail(err, RAN_EFORMAT, "%s", why.text);
        l->kind = others > 0 ? CMD_TAGS_NAMES : CMD_TAGS_OUTSIDE;
        for (size_t i = 0; others == 0 && i < l->n; i++)
                if (tags[i].part != 'O')
                        l->kind = CMD_TAGS_SCHEME;
        return RAN_OK;
}

/* A tag of any scheme becomes one of IOB2 by another first letter. */
static void convert(struct cmd_labels *l)
{
        ran_tags_to_iob2(l->tags, l->n, &l->census);
        for (size_t i = 0, begin = 0; i < l->n; begin = l->end[i++])
                l->names.data[begin] = l->tags[i].part;
}

bool cmd_labels_tags_agree(enum cmd_tag_kind a, enum cmd_tag_kind b)
{
        return a == b || (a == CMD_TAGS_OUTSIDE && b != CMD_TAGS_NUMBERS) ||
               (b == CMD_TAGS_OUTSIDE && a != CMD_TAGS_NUMBERS);
}

int cmd_labels_read_tags(struct cmd_labels *l, const struct ran_record *record,
                         struct ran_error *err)
{
        const struct ran_member *m = foreign_tags(record);

        l->n = l->names.len = 0;
        l->several = false;
        l->kind = CMD_TAGS_OUTSIDE;
        l->census = (struct ran_tag_census){0};
        l->present = m != NULL;
        l->either = false;
        if (!l->present)
                return RAN_OK;
        int code = add_labels(l, "tag", record->line, m, err);
        if (code != RAN_OK)
                return code;
        size_t numbers = has_names(l->called) ? 0 : count_numbers(record->line, m->value);
        if (numbers > 0 && numbers < l->n)
                return ran_fail(err, RAN_EFORMAT,
                                "some of the tags are numbers, and some are names");
        if (numbers > 0)
                l->kind = CMD_TAGS_NUMBERS;
        else
                code = parse_names(l, err);
        if (l->kind == CMD_TAGS_SCHEME)
                convert(l);
        return code;
}
