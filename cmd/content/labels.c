/* labels.c - the gold labels of a record, or the gold tags of its words. */
#include <stdlib.h>
#include <string.h>

#include "cmd/content/labels.h"
#include "cmd/formats/json.h"

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
        if ((type == 't' || type == 'f') && strcmp(what, "label") == 0) {
                ran_buf_add(out, name, n);
                return RAN_OK;
        }
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
        RAN_ROOM(l->end, l->cap, l->n + 1);
        RAN_TRY(cmd_labels_add_name(l->called, what, line, value, type, &l->names, err));
        l->end[l->n++] = l->names.len;
        return RAN_OK;
}

static int add_labels(struct cmd_labels *l, const char *what, const char *line,
                      const struct ran_member *m, struct ran_error *err)
{
        if (m->type != 'a')
                return ran_fail(err, RAN_EFORMAT, "\"%ss\" must be an array%s", what,
                                what[0] == 'l' ? " (--label-member names another member)" : "");
        for (struct ran_items i = ran_items(line, m->value); ran_items_next(&i);)
                RAN_TRY(add_label(l, what, line, i.value, i.type, err));
        return RAN_OK;
}

/* ---- several labels in one text ------------------------------------------------------------- */

static bool is_escaped(const char *s, size_t n, size_t i, char separator)
{
        return s[i] == '\\' && i + 1 < n &&
               (s[i + 1] == separator || s[i + 1] == '\\' || s[i + 1] == ' ');
}

void cmd_labels_join(struct ran_buf *out, const char *name, char separator)
{
        const size_t n = strlen(name);

        for (size_t i = 0; i < n; i++) {
                const bool edge = name[i] == ' ' && (i == 0 || i + 1 == n);
                const bool doubled =
                        name[i] == '\\' && (i + 1 == n || is_escaped(name, n, i, separator));

                if (name[i] == separator || edge || doubled)
                        ran_buf_char(out, '\\');
                ran_buf_char(out, name[i]);
        }
}

/* One of the labels: spaces around it go, and its backslashes. An empty one counts for nothing. */
static int add_part(struct cmd_labels *l, const char *s, size_t n, struct ran_error *err)
{
        size_t number;

        for (; n > 0 && json_is_space(s[0]); n--)
                s++;
        for (size_t k; n > 0 && json_is_space(s[n - 1]); n--) { /* unless a backslash keeps it */
                for (k = 0; k + 1 < n && s[n - 2 - k] == '\\';)
                        k++;
                if (k % 2 == 1)
                        break;
        }
        if (n == 0)
                return RAN_OK;
        if (has_names(l->called) && ran_parse_size(s, n, &number))
                return add_label(l, "label", s, (struct ran_span){0, n}, 'n', err);
        for (size_t i = 0; i < n; i++) {
                i += is_escaped(s, n, i, l->separator);
                ran_buf_char(&l->names, s[i]);
        }
        RAN_ROOM(l->end, l->cap, l->n + 1);
        l->end[l->n++] = l->names.len;
        return RAN_OK;
}

static int split_label(struct cmd_labels *l, const char *line, const struct ran_member *m,
                       struct ran_error *err)
{
        struct ran_buf text = {0};
        size_t begin = 0;
        int rc = RAN_OK;

        if (m->type == 's')
                rc = ran_json_decode(line, m->value, &text, err);
        else
                ran_buf_add(&text, line + m->value.begin, m->value.end - m->value.begin);
        for (size_t i = 0; i <= text.len && rc == RAN_OK; i++) {
                if (i < text.len && is_escaped(text.data, text.len, i, l->separator)) {
                        i++;
                } else if (i == text.len || text.data[i] == l->separator) {
                        rc = add_part(l, text.len > 0 ? text.data + begin : "", i - begin, err);
                        begin = i + 1;
                }
        }
        ran_buf_release(&text);
        return rc;
}

/* ---- labels of a record --------------------------------------------------------------------- */

/* Whether there is an object with a member. */
static bool says_something(const struct record *record)
{
        const struct ran_member *cats = record->is[FIELD_CATS];

        return cats != NULL &&
               ran_items_next(&(struct ran_items){.line = record->json.line, .in = cats->value});
}

/* The members that are 1 or true. */
static int add_cats(struct cmd_labels *l, const char *line, const struct ran_member *cats,
                    struct ran_error *err)
{
        for (struct ran_items i = ran_items(line, cats->value); ran_items_next(&i);) {
                double value = i.type == 't' ? 1 : i.type == 'f' ? 0 : -1;
                if (i.type == 'n')
                        ran_parse_double(line + i.value.begin, i.value.end - i.value.begin, &value);
                if (!(value == 0 || value == 1))
                        return ran_fail(err, RAN_EFORMAT, "each value in \"cats\" must be 1 or 0");
                if (value == 1)
                        RAN_TRY(add_label(l, "label", line, i.name, 's', err));
        }
        return RAN_OK;
}

/* `label`; if numbers have names, -1 means no label, as in data sets of Hugging Face. Several
 * choices are the list in an object, in Label Studio's JSON_MIN. */
static const struct ran_member *find_label(const struct cmd_labels *l, const struct record *record,
                                           struct ran_member *list)
{
        const struct ran_member *m = record->is[FIELD_LABEL];

        if (m != NULL && m->type == 'o' &&
            ran_json_find(record->json.line, m->value, "choices", 'a', &list->value, &list->type))
                return list;
        bool none = m != NULL && m->type == 'n' && has_names(l->called) &&
                    m->value.end - m->value.begin == 2 &&
                    memcmp(record->json.line + m->value.begin, "-1", 2) == 0;

        return none ? NULL : m;
}

bool cmd_labels_there(const struct record *record)
{
        return record->is[FIELD_LABEL] != NULL || record->is[FIELD_LABELS] != NULL ||
               record->is[FIELD_CHOICE] != NULL || says_something(record);
}

int cmd_labels_read(struct cmd_labels *l, const struct record *record, struct ran_error *err)
{
        struct ran_member list;
        const struct ran_member *one = find_label(l, record, &list),
                                *several = record->is[FIELD_LABELS];
        const struct ran_member *choice = record->is[FIELD_CHOICE], *cats = record->is[FIELD_CATS];

        l->n = l->names.len = 0;
        if (one != NULL && several != NULL && one->type != 'a' && several->type != 'a')
                several = NULL; /* a count, perhaps */
        l->present = one != NULL || several != NULL || choice != NULL || says_something(record);
        l->several = several != NULL;
        l->either = false;
        if (one != NULL && several != NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "the record has both \"label\" and \"labels\" (--label-member "
                                "names the one to read)");
        const struct ran_member *text = one != NULL ? one : several;
        if (l->separator != '\0' && text != NULL && (text->type == 's' || text->type == 'n')) {
                l->several = true;
                return split_label(l, record->json.line, text, err);
        }
        if (several != NULL && (several->type == 's' || several->type == 'n')) {
                l->several = false;
                l->either = true;
                return add_label(l, "label", record->json.line, several->value, several->type, err);
        }
        if (several != NULL)
                return add_labels(l, "label", record->json.line, several, err);
        if (one != NULL && one->type != 'a')
                return add_label(l, "label", record->json.line, one->value, one->type, err);
        if (one != NULL || choice != NULL)
                RAN_TRY(add_labels(l, "label", record->json.line, one != NULL ? one : choice, err));
        else if (l->present)
                RAN_TRY(add_cats(l, record->json.line, cats, err));
        l->either = l->present && l->n == 1;
        l->several = l->present && !l->either;
        return RAN_OK;
}

/* ---- tags ----------------------------------------------------------------------------------- */

/* Parses tags of a scheme, and sets the kind. */
static int parse_names(struct cmd_labels *l, struct ran_error *err)
{
        size_t marked = 0, others = 0, inside = 0;
        struct ran_error why;

        RAN_ROOM(l->tags, l->tags_cap, l->n);
        for (size_t i = 0, begin = 0; i < l->n; begin = l->end[i++]) {
                struct ran_tag *tag = &l->tags[i];
                if (ran_tag_parse(tag, l->names.data + begin, l->end[i] - begin, &why) != RAN_OK) {
                        others++;
                        continue;
                }
                marked += tag->length > 0;
                inside += tag->part != 'O';
        }
        if (others > 0 && marked > 0) /* a typing error among tags of a scheme */
                return ran_fail(err, RAN_EFORMAT, "%s", why.text);
        l->kind = others > 0 ? CMD_TAGS_NAMES : inside > 0 ? CMD_TAGS_SCHEME : CMD_TAGS_OUTSIDE;
        return RAN_OK;
}

bool cmd_labels_tags_agree(enum cmd_tag_kind a, enum cmd_tag_kind b)
{
        return a == b || (a == CMD_TAGS_OUTSIDE && b != CMD_TAGS_NUMBERS) ||
               (b == CMD_TAGS_OUTSIDE && a != CMD_TAGS_NUMBERS);
}

int cmd_labels_read_tags(struct cmd_labels *l, const struct record *record, struct ran_error *err)
{
        const struct ran_member *m = record->is[FIELD_TAGS];
        size_t numbers = 0;

        l->n = l->names.len = 0;
        l->several = l->either = false;
        l->kind = CMD_TAGS_OUTSIDE;
        l->census = (struct ran_tag_census){0};
        l->present = m != NULL;
        if (!l->present)
                return RAN_OK;
        RAN_TRY(add_labels(l, "tag", record->json.line, m, err));
        for (struct ran_items i = ran_items(record->json.line, m->value); ran_items_next(&i);)
                numbers += i.type == 'n' && !has_names(l->called);
        if (numbers > 0 && numbers < l->n)
                return ran_fail(err, RAN_EFORMAT, "some tags are numbers, others are names");
        if (numbers > 0)
                l->kind = CMD_TAGS_NUMBERS;
        else
                RAN_TRY(parse_names(l, err));
        if (l->kind != CMD_TAGS_SCHEME)
                return RAN_OK;
        ran_tags_to_iob2(l->tags, l->n, &l->census);
        for (size_t i = 0, begin = 0; i < l->n; begin = l->end[i++])
                l->names.data[begin] =
                        l->tags[i].part; /* schemes differ in the first letter only */
        return RAN_OK;
}
