/* foreign.c - finds text, labels and spans in records of other tools. */
#include "cmd/formats/foreign.h"

#include <string.h>

#include "cmd/formats/json.h"

/* ---- members -------------------------------------------------------------------------------- */

/* The type of the first item of an array; 0 if it is empty. */
static char first_type(const struct ran_record *record, const struct ran_member *m)
{
        struct ran_span item;
        size_t pos = 0;
        char type;

        return ran_json_next(record->line, m->value, &pos, NULL, &item, &type) ? type : 0;
}

static bool is_string(const struct ran_record *record, const struct ran_member *m)
{
        (void)record;
        return m->type == 's';
}

/* Prodigy's tokens are objects, beside their text: the text has more information. */
static bool are_words(const struct ran_record *record, const struct ran_member *m)
{
        bool objects = m->type == 'a' && first_type(record, m) == 'o';

        return !(objects && foreign_text(record) != NULL);
}

static bool are_spans(const struct ran_record *record, const struct ran_member *m)
{
        char first = m->type == 'a' ? first_type(record, m) : 's';

        return first == 0 || first == 'o' || first == 'a';
}

static bool is_choice(const struct ran_record *record, const struct ran_member *m)
{
        const struct ran_member *options = json_member(record, "options");

        return m->type == 'a' && options != NULL && options->type == 'a';
}

enum what { TEXT, TOKENS, TAGS, SPANS, CHOICE };

/* The members for each kind of data, ours first. The first one that is present, not null and of
 * the right type counts. */
static const struct {
        enum what what;
        const char *name; /* also in the lists of foreign.h */
        bool (*fits)(const struct ran_record *record, const struct ran_member *m); /* NULL: any */
} members[] = {
        {TEXT, "text", NULL},
        {TEXT, "data", is_string}, /* doccano */
        {TOKENS, "tokens", are_words},
        {TAGS, "tags", NULL},
        {TAGS, "ner_tags", NULL},       /* data sets of Hugging Face */
        {SPANS, "spans", NULL},         /* Prodigy, too */
        {SPANS, "entities", are_spans}, /* spaCy, doccano */
        {SPANS, "label", are_spans},    /* doccano */
        {SPANS, "labels", are_spans},   /* doccano */
        {SPANS, "annotations", are_spans},
        {CHOICE, "accept", is_choice}, /* Prodigy */
};

static const struct ran_member *find(const struct ran_record *record, enum what what,
                                     const char **name)
{
        for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
                if (members[i].what != what)
                        continue;
                const struct ran_member *m = json_member(record, members[i].name);
                *name = members[i].name;
                if (m != NULL && (members[i].fits == NULL || members[i].fits(record, m)))
                        return m;
        }
        return NULL;
}

const struct ran_member *foreign_text(const struct ran_record *record)
{
        const char *name;

        return find(record, TEXT, &name);
}

const struct ran_member *foreign_tokens(const struct ran_record *record)
{
        const char *name;

        return find(record, TOKENS, &name);
}

const struct ran_member *foreign_tags(const struct ran_record *record)
{
        const char *name;

        return find(record, TAGS, &name);
}

const struct ran_member *foreign_spans(const struct ran_record *record, const char **name)
{
        return find(record, SPANS, name);
}

const struct ran_member *foreign_choice(const struct ran_record *record)
{
        const char *name;

        return find(record, CHOICE, &name);
}

/* ---- text ----------------------------------------------------------------------------------- */

static int add_tokens(struct ran_buf *out, const struct ran_record *record,
                      const struct ran_member *tokens, struct ran_error *err)
{
        struct ran_span item;
        size_t pos = 0, begin = out->len;
        char type;
        int code = RAN_OK;

        while (code == RAN_OK &&
               ran_json_next(record->line, tokens->value, &pos, NULL, &item, &type)) {
                if (out->len > begin)
                        ran_buf_char(out, ' ');
                code = ran_json_decode(record->line, item, out, err);
        }
        return code;
}

int foreign_add_text(struct ran_buf *out, const struct ran_record *record, struct ran_error *err)
{
        const struct ran_member *tokens = foreign_tokens(record), *text = foreign_text(record);

        if (text != NULL)
                return ran_json_decode(record->line, text->value, out, err);
        if (tokens != NULL && tokens->type == 'a')
                return add_tokens(out, record, tokens, err);
        return ran_fail(err, RAN_EFORMAT, "there is neither \"text\" nor \"tokens\" to write");
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
        const struct ran_member *m = json_member(record, FOREIGN_ANSWER);

        return m == NULL || m->type != 's' ||
               !(is_named(record->line, m->value, "reject") ||
                 is_named(record->line, m->value, "ignore"));
}
