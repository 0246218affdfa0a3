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

/* doccano's `data`; a date, as the word means in other languages, has no letter. */
static bool is_prose(const struct ran_record *record, const struct ran_member *m)
{
        if (m->type != 's')
                return false;
        for (size_t i = m->value.begin + 1; i + 1 < m->value.end; i++) {
                const unsigned char c = (unsigned char)record->line[i];
                if (c >= 0x80 || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
                        return true;
        }
        return m->value.end - m->value.begin == 2;
}

/* Prodigy's tokens are objects, beside their text; others count them. An empty list says less than
 * a text. */
static bool are_words(const struct ran_record *record, const struct ran_member *m)
{
        return m->type == 'a' && first_type(record, m) == 's';
}

static bool are_ids(const struct ran_record *record, const struct ran_member *m)
{
        return m->type == 'a' && first_type(record, m) == 'n';
}

static bool is_named(const char *line, struct ran_span name, const char *text)
{
        size_t n = strlen(text);

        return name.end - name.begin == n + 2 && memcmp(line + name.begin + 1, text, n) == 0;
}

/* Tells the object that ran-tokenize writes from the name of a character set. */
static bool is_encoding(const struct ran_record *record, const struct ran_member *m)
{
        struct ran_span name, item;
        size_t pos = 0;
        bool vocab = false, ids = false;
        char type;

        while (m->type == 'o' && ran_json_next(record->line, m->value, &pos, &name, &item, &type)) {
                vocab |= is_named(record->line, name, "vocab");
                ids |= is_named(record->line, name, "ids");
        }
        return vocab && ids;
}

static size_t count_items(const struct ran_record *record, const struct ran_member *list)
{
        struct ran_span item;
        size_t pos = 0, n = 0;
        char type;

        while (list->type == 'a' &&
               ran_json_next(record->line, list->value, &pos, NULL, &item, &type))
                n++;
        return n;
}

static bool have_words(const struct ran_record *record, const struct ran_member *m)
{
        return m->type == 'a' && (foreign_ids(record) != NULL || foreign_tokens(record) != NULL);
}

/* One for each word, where another member may be the tags; not those of an article. */
static bool are_tags(const struct ran_record *record, const struct ran_member *m)
{
        const struct ran_member *words = foreign_ids(record);
        const struct ran_member *others = json_member(record, "ner_tags");

        if (words == NULL)
                words = foreign_tokens(record);
        if (m->type != 'a' || words == NULL)
                return false;
        return others == NULL || others->type != 'a' ||
               count_items(record, m) == count_items(record, words);
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

/* Tells marks of documents from spans by the first: it has a label, but no place. */
static bool are_marks(const struct ran_record *record, const struct ran_member *m)
{
        struct ran_span item, name, value;
        size_t pos = 0, at = 0;
        bool label = false;
        char type;

        if (m->type != 'a' || !ran_json_next(record->line, m->value, &pos, NULL, &item, &type) ||
            type != 'o')
                return false;
        while (ran_json_next(record->line, item, &at, &name, &value, &type)) {
                label |= is_named(record->line, name, "label");
                if (is_named(record->line, name, "start") ||
                    is_named(record->line, name, "start_offset"))
                        return false;
        }
        return label;
}

static bool is_group(const struct ran_record *record, const struct ran_member *m)
{
        (void)record;
        return m->type == 'n' || (m->type == 's' && m->value.end - m->value.begin > 2);
}

static bool are_cats(const struct ran_record *record, const struct ran_member *m)
{
        (void)record;
        return m->type == 'o';
}

enum what { TEXT, TOKENS, IDS, ENCODING, TAGS, SPANS, CHOICE, MARKS, CATS, GROUP };

/* The members for each kind of data, ours first. The first one that is present, not null and of
 * the right type counts. Where none is, one of `ours` is a mistake that the reader reports, unless
 * the record has the data otherwise: then it means something else to whoever wrote it. */
static const struct {
        enum what what;
        const char *name; /* also in the lists of foreign.h */
        bool (*fits)(const struct ran_record *record, const struct ran_member *m); /* NULL: any */
        bool ours;
} members[] = {
        {TEXT, "text", is_string, true},
        {TEXT, "data", is_prose, false}, /* doccano */
        {TOKENS, "tokens", are_words, true},
        {IDS, "ids", are_ids, true},
        {ENCODING, "encoding", is_encoding, true},
        {TAGS, "tags", are_tags, true},
        {TAGS, "ner_tags", have_words, true},  /* data sets of Hugging Face */
        {SPANS, "spans", are_spans, true},     /* Prodigy, too */
        {SPANS, "entities", are_spans, false}, /* spaCy, doccano */
        {SPANS, "label", are_spans, false},    /* doccano */
        {SPANS, "labels", are_spans, false},   /* doccano */
        {SPANS, "annotations", are_spans, false},
        {CHOICE, "accept", is_choice, false},     /* Prodigy */
        {MARKS, "annotations", are_marks, false}, /* doccano */
        {CATS, "cats", are_cats, false},          /* spaCy */
        {GROUP, "doc", is_group, false},
};

enum { MEMBERS = sizeof members / sizeof members[0] };

static const struct ran_member *find_fitting(const struct ran_record *record, enum what what,
                                             const char **name)
{
        for (size_t i = 0; i < MEMBERS; i++) {
                if (members[i].what != what)
                        continue;
                const struct ran_member *m = json_member(record, members[i].name);
                *name = members[i].name;
                if (m != NULL && (members[i].fits == NULL || members[i].fits(record, m)))
                        return m;
        }
        return NULL;
}

/* Whether the record has the data of a member otherwise. */
static bool has_other(const struct ran_record *record, enum what what)
{
        const char *name;

        if (what == TAGS || what == SPANS)
                return find_fitting(record, what == TAGS ? SPANS : TAGS, &name) != NULL;
        for (enum what w = TEXT; w <= ENCODING; w++)
                if (w != what && find_fitting(record, w, &name) != NULL)
                        return true;
        return false;
}

static const struct ran_member *find(const struct ran_record *record, enum what what,
                                     const char **name)
{
        const struct ran_member *m = find_fitting(record, what, name);

        for (size_t i = 0; i < MEMBERS && m == NULL; i++) {
                if (members[i].what != what || !members[i].ours)
                        continue;
                *name = members[i].name;
                m = json_member(record, *name);
                if (m != NULL && has_other(record, what))
                        return NULL;
        }
        return m;
}

bool foreign_fits(const struct ran_record *record, const struct ran_member *m, const char *name)
{
        for (size_t i = 0; i < MEMBERS; i++)
                if (members[i].what != SPANS && strcmp(members[i].name, name) == 0)
                        return members[i].fits == NULL || members[i].fits(record, m);
        return true;
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

const struct ran_member *foreign_ids(const struct ran_record *record)
{
        const char *name;

        return find(record, IDS, &name);
}

const struct ran_member *foreign_encoding(const struct ran_record *record)
{
        const char *name;

        return find(record, ENCODING, &name);
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

const struct ran_member *foreign_marks(const struct ran_record *record)
{
        const char *name;

        return find(record, MARKS, &name);
}

bool foreign_mark(const char *line, struct ran_span mark, struct ran_span *label, char *type)
{
        struct ran_span name;
        size_t pos = 0;

        while (ran_json_next(line, mark, &pos, &name, label, type))
                if (is_named(line, name, "label"))
                        return true;
        return false;
}

const struct ran_member *foreign_cats(const struct ran_record *record)
{
        const char *name;

        return find(record, CATS, &name);
}

const struct ran_member *foreign_group(const struct ran_record *record)
{
        const char *name;

        return find(record, GROUP, &name);
}

/* ---- text ----------------------------------------------------------------------------------- */

static int add_tokens(struct ran_buf *out, const struct ran_record *record,
                      const struct ran_member *tokens, struct ran_error *err)
{
        struct ran_span item;
        size_t pos = 0, begin = out->len;
        char type;
        int rc = RAN_OK;

        while (rc == RAN_OK &&
               ran_json_next(record->line, tokens->value, &pos, NULL, &item, &type)) {
                if (out->len > begin)
                        ran_buf_char(out, ' ');
                rc = ran_json_decode(record->line, item, out, err);
        }
        return rc;
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

/* The item of a list that has one: Label Studio allows several labels a span. */
static bool only_item(const char *line, struct ran_span *value, char *type)
{
        struct ran_span item, more;
        size_t pos = 0;
        char kind, next;

        if (*type != 'a' || !ran_json_next(line, *value, &pos, NULL, &item, &kind) ||
            ran_json_next(line, *value, &pos, NULL, &more, &next))
                return false;
        *value = item;
        *type = kind;
        return true;
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
                } else if (is_named(line, name, "label") ||
                           (is_named(line, name, "labels") && only_item(line, &value, &type))) {
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
