/* foreign.c - where other tools keep in a record what we read. */
#include "cmd/formats/foreign.h"

#include <string.h>

static const struct ran_member *find(const struct ran_record *record, const char *name)
{
        const struct ran_member *m = ran_record_find(record, name, NULL);

        return m != NULL && m->type != '0' ? m : NULL;
}

/* The type of the first item of an array; 0 where it has none. */
static char first_type(const struct ran_record *record, const struct ran_member *m)
{
        struct ran_span item;
        size_t pos = 0;
        char type;

        return ran_json_next(record->line, m->value, &pos, NULL, &item, &type) ? type : 0;
}

const struct ran_member *foreign_text(const struct ran_record *record)
{
        const struct ran_member *text = find(record, "text"), *data = find(record, "data");

        return text != NULL || data == NULL || data->type != 's' ? text : data;
}

const struct ran_member *foreign_tokens(const struct ran_record *record)
{
        const struct ran_member *m = find(record, "tokens");
        bool objects = m != NULL && m->type == 'a' && first_type(record, m) == 'o';

        return objects && foreign_text(record) != NULL ? NULL : m;
}

const struct ran_member *foreign_tags(const struct ran_record *record)
{
        const struct ran_member *m = find(record, "tags");

        return m != NULL ? m : find(record, "ner_tags");
}

const struct ran_member *foreign_spans(const struct ran_record *record, const char **name)
{
        static const char *const names[] = {"spans", "entities", "label", "labels", "annotations"};

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                const struct ran_member *m = find(record, names[i]);
                char first = m != NULL && m->type == 'a' ? first_type(record, m) : 's';
                *name = names[i];
                if (m != NULL && (i == 0 || first == 0 || first == 'o' || first == 'a'))
                        return m;
        }
        return NULL;
}

const struct ran_member *foreign_choice(const struct ran_record *record)
{
        const struct ran_member *m = find(record, "accept"), *options = find(record, "options");

        return m != NULL && m->type == 'a' && options != NULL && options->type == 'a' ? m : NULL;
}

/* ---- one span ------------------------------------------------------------------------------- */

static bool is_named(const char *line, struct ran_span name, const char *text)
{
        size_t n = strlen(text);

        return name.end - name.begin == n + 2 && memcmp(line + name.begin + 1, text, n) == 0;
}

static bool from_list(struct foreign_span *span, const char *line, struct ran_span item)
{
        struct ran_span more;
        size_t pos = 0;
        char type;

        return ran_json_next(line, item, &pos, NULL, &span->start, &span->start_type) &&
               ran_json_next(line, item, &pos, NULL, &span->end, &span->end_type) &&
               ran_json_next(line, item, &pos, NULL, &span->label, &span->label_type) &&
               !ran_json_next(line, item, &pos, NULL, &more, &type);
}

static bool from_object(struct foreign_span *span, const char *line, struct ran_span item)
{
        size_t starts = 0, ends = 0, labels = 0, pos = 0;
        struct ran_span name, value;
        char type;

        while (ran_json_next(line, item, &pos, &name, &value, &type)) {
                if (is_named(line, name, "start") || is_named(line, name, "start_offset")) {
                        span->start = value;
                        span->start_type = type;
                        starts++;
                } else if (is_named(line, name, "end") || is_named(line, name, "end_offset")) {
                        span->end = value;
                        span->end_type = type;
                        ends++;
                } else if (is_named(line, name, "label")) {
                        span->label = value;
                        span->label_type = type;
                        labels++;
                }
        }
        return starts == 1 && ends == 1 && labels == 1;
}

bool foreign_span(struct foreign_span *span, const char *line, struct ran_span item, char type)
{
        if (type == 'a')
                return from_list(span, line, item);
        return type == 'o' && from_object(span, line, item);
}

/* ---- answers -------------------------------------------------------------------------------- */

bool foreign_accepted(const struct ran_record *record)
{
        const struct ran_member *m = find(record, SHAPE_ANSWER);

        return m == NULL || m->type != 's' ||
               !(is_named(record->line, m->value, "reject") ||
                 is_named(record->line, m->value, "ignore"));
}
