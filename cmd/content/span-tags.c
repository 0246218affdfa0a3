/* span-tags.c - the tags of words, from spans of characters. */
#include "cmd/content/labels.h"

#include <stdlib.h>

enum { LONGEST_LABEL = 256 }; /* each of its words gets a copy */

struct span {
        size_t start, end;     /* code points */
        struct ran_span label; /* in spans.labels */
};

struct word {
        size_t start, end; /* code points */
        size_t owner;      /* 1 + its span; 0: none */
};

struct spans {
        const char *name; /* of the member */
        struct span *at;
        size_t n, cap;
        struct ran_buf labels;
        const struct cmd_names *called; /* names of those that are numbers */
        struct word *word;              /* (words) */
        size_t words;
};

/* ---- reading -------------------------------------------------------------------------------- */

enum { START, END, LABEL, PARTS };

/* Takes the item of a list that has one: Label Studio allows several labels a span. */
static bool take_only_item(struct ran_items *list)
{
        struct ran_items i = ran_items(list->line, list->value), more;

        if (list->type != 'a' || !ran_items_next(&i))
                return false;
        more = i;
        list->value = i.value;
        list->type = i.type;
        return !ran_items_next(&more);
}

/* The parts of {"start", "end", "label"}, {"start_offset", "end_offset", "label"}, or
 * [start, end, label]. False unless each of the three occurs once. */
static bool find_parts(struct ran_items part[PARTS], const struct ran_items *span)
{
        static const char *const names[][2] = {
                {"start", "start_offset"}, {"end", "end_offset"}, {"label", "labels"}};
        size_t times[PARTS] = {0}, n = 0;

        for (struct ran_items i = ran_items(span->line, span->value); ran_items_next(&i); n++)
                for (size_t k = 0; k < PARTS; k++)
                        if (span->type == 'a' ? n == k
                                              : ran_json_is(i.line, i.name, names[k][0]) ||
                                                        (ran_json_is(i.line, i.name, names[k][1]) &&
                                                         (k != LABEL || take_only_item(&i)))) {
                                part[k] = i;
                                times[k]++;
                        }
        return times[START] == 1 && times[END] == 1 && times[LABEL] == 1 &&
               (span->type == 'o' || n == PARTS);
}

static bool parse(const struct ran_items *i, size_t *x)
{
        return i->type == 'n' &&
               ran_parse_size(i->line + i->value.begin, i->value.end - i->value.begin, x);
}

static int read_span(struct spans *s, const struct ran_items *i, struct ran_error *err)
{
        struct ran_items part[PARTS];
        struct span at;

        if (!find_parts(part, i))
                return ran_fail(
                        err, RAN_EFORMAT,
                        "%s[%zu] must be an object of start, end and label, or a list of these "
                        "three",
                        s->name, s->n);
        if (!parse(&part[START], &at.start) || !parse(&part[END], &at.end))
                return ran_fail(err, RAN_EFORMAT, "start and end of %s[%zu] must be whole numbers",
                                s->name, s->n);
        if (part[LABEL].type != 's' && part[LABEL].type != 'n')
                return ran_fail(err, RAN_EFORMAT,
                                "the label of %s[%zu] must be a string or a number", s->name, s->n);
        at.label.begin = s->labels.len;
        RAN_TRY(cmd_labels_add_name(s->called, "label", i->line, part[LABEL].value,
                                    part[LABEL].type, &s->labels, err));
        at.label.end = s->labels.len;
        if (at.label.end - at.label.begin > LONGEST_LABEL)
                return ran_fail(err, RAN_EFORMAT,
                                "the label of %s[%zu] has %zu bytes, more than %d", s->name, s->n,
                                at.label.end - at.label.begin, LONGEST_LABEL);
        RAN_ROOM(s->at, s->cap, s->n + 1);
        s->at[s->n++] = at;
        return RAN_OK;
}

/* ---- words ---------------------------------------------------------------------------------- */

/* The first word that ends after the character. */
static size_t word_at(const struct spans *s, size_t point)
{
        size_t low = 0, high = s->words;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (s->word[middle].end > point)
                        high = middle;
                else
                        low = middle + 1;
        }
        return low;
}

static size_t distance(size_t a, size_t b)
{
        return a > b ? a - b : b - a;
}

/* The words of which the first starts, and the last ends, nearest to the span: of two as near, the
 * one within. `first` is the first word that ends behind its start. */
static void nearest_words(const struct spans *s, const struct span *span, size_t *first,
                          size_t *last)
{
        size_t a = *first, b = word_at(s, span->end);

        b = b < s->words ? b : s->words - 1;
        if (a + 1 < s->words && s->word[a + 1].start < span->end &&
            distance(s->word[a + 1].start, span->start) <= distance(s->word[a].start, span->start))
                a++;
        if (b > 0 && distance(s->word[b - 1].end, span->end) <= distance(s->word[b].end, span->end))
                b--;
        *first = a;
        *last = b > a ? b : a;
}

static int not_at_words(const struct spans *s, size_t i, size_t first, struct ran_error *err)
{
        const struct span *span = &s->at[i];
        size_t last;

        nearest_words(s, span, &first, &last);
        return ran_fail(err, RAN_EFORMAT,
                        "%s[%zu], %zu to %zu, does not start and end at words: the nearest go "
                        "from %zu to %zu",
                        s->name, i, span->start, span->end, s->word[first].start,
                        s->word[last].end);
}

/* Assigns its words to a span. */
static int own(struct spans *s, size_t i, size_t points, struct ran_error *err)
{
        size_t start = s->at[i].start, end = s->at[i].end;

        if (start >= end)
                return ran_fail(err, RAN_EFORMAT, "%s[%zu], %zu to %zu, is empty", s->name, i,
                                start, end);
        if (end > points)
                return ran_fail(err, RAN_EFORMAT,
                                "%s[%zu], %zu to %zu, is out of range: the text has %zu "
                                "characters",
                                s->name, i, start, end, points);
        size_t first = word_at(s, start), last = word_at(s, end - 1);
        if (last == s->words) /* it ends in white space after the last word */
                last--;
        if (first > last)
                first = last;
        if (s->word[first].start != start || s->word[last].end != end)
                return not_at_words(s, i, first, err);
        for (size_t word = first; word <= last; word++) {
                if (s->word[word].owner > 0)
                        return ran_fail(err, RAN_EFORMAT, "%s[%zu], %zu to %zu, overlaps %s[%zu]",
                                        s->name, i, start, end, s->name, s->word[word].owner - 1);
                s->word[word].owner = i + 1;
        }
        return RAN_OK;
}

/* ---- tags ----------------------------------------------------------------------------------- */

static void add_tags(struct cmd_labels *l, const struct spans *s)
{
        RAN_ROOM(l->end, l->cap, s->words);
        for (size_t i = 0; i < s->words; i++) {
                const size_t owner = s->word[i].owner;

                if (owner == 0 || s->at == NULL) { /* without spans no word has one */
                        ran_buf_char(&l->names, 'O');
                } else {
                        const struct ran_span label = s->at[owner - 1].label;
                        const bool begins = i == 0 || owner != s->word[i - 1].owner;
                        ran_buf_str(&l->names, begins ? "B-" : "I-");
                        if (label.end > label.begin) /* else labels.data may be NULL */
                                ran_buf_add(&l->names, s->labels.data + label.begin,
                                            label.end - label.begin);
                }
                l->end[l->n++] = l->names.len;
        }
}

static int tag_words(struct cmd_labels *l, struct spans *s, const struct cmd_document *d,
                     struct ran_error *err)
{
        const size_t points = cmd_units(d->text.data, d->text.len, RAN_UNIT_CODEPOINT);

        /* Each word once: one may have as many subwords as the text has letters. */
        s->words = d->words;
        s->word = ran_new(s->words, sizeof *s->word);
        for (size_t i = 0; i < s->words; i++)
                cmd_document_word(d, i, &s->word[i].start, &s->word[i].end);
        for (size_t i = 0; i < s->n; i++)
                RAN_TRY(own(s, i, points, err));
        l->n = l->names.len = 0;
        l->present = true;
        l->several = l->either = false;
        l->kind = s->n > 0 ? CMD_TAGS_SCHEME : CMD_TAGS_OUTSIDE;
        l->census = (struct ran_tag_census){0};
        add_tags(l, s);
        return RAN_OK;
}

int cmd_span_tags_read(struct cmd_labels *l, const struct cmd_document *d,
                       const struct record *record, struct ran_error *err)
{
        struct spans s = {.called = l->called, .name = record->spans_name};
        const struct ran_member *m = record->is[FIELD_SPANS];

        l->present = m != NULL;
        if (!l->present)
                return RAN_OK;
        if (d->from != CMD_FROM_TEXT)
                return ran_fail(err, RAN_EFORMAT,
                                "\"%s\" mark characters of a \"text\"; \"%s\" need \"tags\"",
                                s.name, d->from == CMD_FROM_IDS ? "ids" : "tokens");
        int rc = m->type == 'a' ? RAN_OK
                                : ran_fail(err, RAN_EFORMAT, "\"%s\" must be an array", s.name);
        for (struct ran_items i = ran_items(record->json.line, m->value);
             rc == RAN_OK && ran_items_next(&i);)
                rc = read_span(&s, &i, err);
        if (rc == RAN_OK)
                rc = tag_words(l, &s, d, err);
        free(s.at);
        free(s.word);
        ran_buf_release(&s.labels);
        return rc;
}
