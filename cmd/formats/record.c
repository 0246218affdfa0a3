/* record.c - which members of a record are the text, the labels, the tags and so on. */
#include "cmd/formats/record.h"

#include <string.h>

#include "cmd/formats/json.h"

/* ---- what a value can be -------------------------------------------------------------------- */

/* The type of the first item of an array; 0 if it is empty. */
static char first_type(const struct record *r, const struct ran_member *m)
{
        struct ran_items i = ran_items(r->json.line, m->value);

        return ran_items_next(&i) ? i.type : 0;
}

size_t record_items(const struct record *r, const struct ran_member *list)
{
        size_t n = 0;

        for (struct ran_items i = ran_items(r->json.line, list->value);
             list->type == 'a' && ran_items_next(&i);)
                n++;
        return n;
}

/* doccano's `data`; a date, as the word means in other languages, has no letter. */
static bool is_prose(const struct record *r, const struct ran_member *m)
{
        for (size_t i = m->value.begin + 1; i + 1 < m->value.end; i++) {
                const unsigned char c = (unsigned char)r->json.line[i];
                if (c >= 0x80 || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
                        return true;
        }
        return m->value.end - m->value.begin == 2;
}

/* Tells the object that ran-tokenize writes from the name of a character set. */
static bool is_encoding(const struct record *r, const struct ran_member *m)
{
        struct ran_span value;

        return ran_json_find(r->json.line, m->value, "vocab", 0, &value, NULL) &&
               ran_json_find(r->json.line, m->value, "ids", 0, &value, NULL);
}

static bool have_words(const struct record *r, const struct ran_member *m)
{
        (void)m;
        return r->is[FIELD_IDS] != NULL || r->is[FIELD_TOKENS] != NULL;
}

/* One for each word, where another member may be the tags; not those of an article. */
static bool are_tags(const struct record *r, const struct ran_member *m)
{
        const struct ran_member *words = r->is[FIELD_IDS], *others;

        if (!have_words(r, m))
                return false;
        words = words != NULL ? words : r->is[FIELD_TOKENS];
        others = json_member(&r->json, "ner_tags");
        return others == NULL || others->type != 'a' ||
               record_items(r, m) == record_items(r, words);
}

static bool are_spans(const struct record *r, const struct ran_member *m)
{
        const char first = first_type(r, m);

        return first == 0 || first == 'o' || first == 'a';
}

static bool is_choice(const struct record *r, const struct ran_member *m)
{
        const struct ran_member *options = json_member(&r->json, "options");

        (void)m;
        return options != NULL && options->type == 'a';
}

static bool is_group(const struct record *r, const struct ran_member *m)
{
        (void)r;
        return m->type == 'n' || (m->type == 's' && m->value.end - m->value.begin > 2);
}

/* ---- names ---------------------------------------------------------------------------------- */

/* The names for each field, ours first; fields that others ask for come first. The first one that
 * is present, not null and of the right type counts. Where none is, one of `ours` is a mistake that
 * the reader reports, unless the record has the data otherwise: then it means something else to
 * whoever wrote it. */
enum { NAME_AGAIN = 64 }; /* a later line has it, too */
#define ON_LABEL    (NAME_OF_LABEL | NAME_LIST)
#define NAMED(name) name, sizeof(name) - 1
static const struct {
        enum field field;
        const char *name;
        size_t n; /* bytes of it */
        unsigned uses;
        char type, item; /* of the value, and of the first item of a list; 0: any */
        bool ours;
        bool (*fits)(const struct record *r, const struct ran_member *m); /* NULL: it does */
} names[] = {
        {FIELD_ID, NAMED("id"), NAME_OF_ID, 0, 0, false, NULL},
        /* `encoding` stays where a text is chosen unless an option names that: a program of ran
         * made it from the text. */
        {FIELD_ENCODING, NAMED("encoding"), NAME_OF_TEXT | NAME_DOCUMENT | NAME_LIST, 'o', 0, true,
         is_encoding},
        {FIELD_TEXT, NAMED("text"), NAME_OF_TEXT | NAME_DOCUMENT, 's', 0, true, NULL},
        {FIELD_TEXT, NAMED("data"), NAME_OF_TEXT, 's', 0, false, is_prose}, /* doccano */
        /* Prodigy's tokens are objects, beside their text; others count them. An empty list says
         * less than a text. */
        {FIELD_TOKENS, NAMED("tokens"), NAME_OF_TEXT | NAME_DOCUMENT | NAME_LIST, 'a', 's', true,
         NULL},
        {FIELD_IDS, NAMED("ids"), NAME_OF_TEXT | NAME_DOCUMENT | NAME_LIST, 'a', 'n', true, NULL},
        {FIELD_SOURCE, NAMED("source"), NAME_DOCUMENT | NAME_LABELLED, 0, 0, false, NULL},
        {FIELD_TARGET, NAMED("target"), 0, 0, 0, false, NULL},
        {FIELD_SEGMENTS, NAMED("segments"), NAME_LIST, 0, 0, false, NULL},
        {FIELD_MASKED_AT, NAMED("masked_at"), NAME_LIST, 0, 0, false, NULL},
        {FIELD_LABEL, NAMED("label"), NAME_AGAIN | ON_LABEL | NAME_LABELLED, 0, 0, false, NULL},
        {FIELD_LABELS, NAMED("labels"), NAME_AGAIN | ON_LABEL | NAME_LABELLED, 0, 0, false, NULL},
        {FIELD_CHOICE, NAMED("accept"), ON_LABEL | NAME_LABELLED, 'a', 0, false,
         is_choice}, /* Prodigy */
        {FIELD_OPTIONS, NAMED("options"), ON_LABEL, 0, 0, false, NULL},
        {FIELD_CATS, NAMED("cats"), ON_LABEL | NAME_LABELLED, 'o', 0, false, NULL}, /* spaCy */
        {FIELD_TAGS, NAMED("tags"), ON_LABEL, 'a', 0, true, are_tags},
        {FIELD_TAGS, NAMED("ner_tags"), ON_LABEL, 'a', 0, true, have_words},  /* of Hugging Face */
        {FIELD_SPANS, NAMED("spans"), ON_LABEL, 'a', 0, true, are_spans},     /* Prodigy, too */
        {FIELD_SPANS, NAMED("entities"), ON_LABEL, 'a', 0, false, are_spans}, /* spaCy, doccano */
        {FIELD_SPANS, NAMED("label"), 0, 'a', 0, false, are_spans},           /* doccano */
        {FIELD_SPANS, NAMED("labels"), 0, 'a', 0, false, are_spans},          /* doccano */
        {FIELD_SPANS, NAMED("annotations"), ON_LABEL, 'a', 0, false, are_spans},
        {FIELD_GROUP, NAMED("doc"), 0, 0, 0, false, is_group},
        {FIELD_ANSWER, NAMED("answer"), 0, 0, 0, false, NULL},
        {FIELD_ERROR, NAMED("ran_error"), 0, 0, 0, false, NULL},
        {FIELDS, NAMED("prediction"), NAME_LIST, 0, 0, false, NULL},
};

enum { NAMES = sizeof names / sizeof names[0] };

/* Whether line i of the table has a name of n > 0 bytes. */
static bool is_called(size_t i, const char *name, size_t n)
{
        return names[i].n == n && names[i].name[0] == name[0] &&
               memcmp(names[i].name, name, n) == 0;
}

bool record_is_named(const struct ran_record *r, const struct ran_member *m, uint32_t fields,
                     unsigned uses)
{
        const size_t n = m->name.end - m->name.begin;

        for (size_t i = 0; i < NAMES && n > 0; i++)
                if ((fields >> names[i].field & 1) != 0 && (names[i].uses & uses) != 0 &&
                    is_called(i, r->names.data + m->name.begin, n))
                        return true;
        return false;
}

/* Whether a member has a value of the right type for line i of the table. */
static bool fits(const struct record *r, const struct ran_member *m, size_t i)
{
        return (names[i].type == 0 || names[i].type == m->type) &&
               (names[i].item == 0 || names[i].item == first_type(r, m)) &&
               (names[i].fits == NULL || names[i].fits(r, m));
}

bool record_fits(const struct record *r, const struct ran_member *m, const char *name, size_t n)
{
        for (size_t i = 0; i < NAMES; i++)
                if (is_called(i, name, n))
                        return fits(r, m, i);
        return true;
}

/* The members of a record that the lines of the table name. */
struct found {
        const struct ran_member *at[NAMES]; /* where there is one that is not null */
        uint64_t there;                     /* a bit for each line */
};

static void set(struct record *r, const struct found *found, size_t i)
{
        r->is[names[i].field] = found->at[i];
        if (names[i].field == FIELD_SPANS)
                r->spans_name = names[i].name;
}

/* Finds the members for fields from first to last. Where none fits any of them, each may be one of
 * ours of another type. */
static void find_fields(struct record *r, const struct found *found, enum field first,
                        enum field last)
{
        uint64_t ours = 0;
        bool any = false;

        for (uint64_t left = found->there; left != 0; left &= left - 1) {
                const size_t i = (size_t)__builtin_ctzll(left);
                const enum field f = names[i].field;
                if (f < first || f > last)
                        continue;
                ours |= (uint64_t)names[i].ours << i;
                if (r->is[f] == NULL && fits(r, found->at[i], i)) {
                        set(r, found, i);
                        any = true;
                }
        }
        for (; ours != 0 && !any; ours &= ours - 1) {
                const size_t i = (size_t)__builtin_ctzll(ours);
                if (r->is[names[i].field] == NULL)
                        set(r, found, i);
        }
}

void record_find(struct record *r)
{
        struct found found;

        memset(r->is, 0, sizeof r->is);
        r->twice = found.there = 0;
        for (size_t k = 0; k < r->json.count; k++) {
                const struct ran_member *m = &r->json.members[k];
                const size_t n = m->name.end - m->name.begin;
                const char *name = n > 0 ? r->json.names.data + m->name.begin : "";
                for (size_t i = 0; i < NAMES && n > 0; i++) {
                        const uint64_t bit = UINT64_C(1) << i;
                        if (!is_called(i, name, n))
                                continue;
                        if ((found.there & bit) != 0)
                                r->twice |= bit;
                        else
                                found.at[i] = m;
                        found.there |= bit;
                        if ((names[i].uses & NAME_AGAIN) == 0)
                                break;
                }
        }
        for (uint64_t left = found.there; left != 0; left &= left - 1) {
                const size_t i = (size_t)__builtin_ctzll(left);
                if (found.at[i]->type == '0')
                        found.there &= ~(UINT64_C(1) << i);
        }
        find_fields(r, &found, FIELD_TEXT, FIELD_ENCODING);
        find_fields(r, &found, FIELD_TAGS, FIELD_SPANS);
        find_fields(r, &found, FIELD_SOURCE, FIELD_CATS);
        find_fields(r, &found, FIELD_GROUP, FIELD_ERROR);
}

int record_scan(struct record *r, const char *line, size_t n, struct ran_error *err)
{
        RAN_TRY(ran_record_scan(&r->json, line, n, err));
        record_find(r);
        return RAN_OK;
}

void record_release(struct record *r)
{
        ran_record_release(&r->json);
        *r = (struct record){0};
}

const char *record_twice(const struct record *r, uint32_t fields)
{
        for (size_t i = 0; i < NAMES && r->twice != 0; i++)
                if ((r->twice >> i & 1) != 0 && (fields >> names[i].field & 1) != 0)
                        return names[i].name;
        return NULL;
}

bool record_accepted(const struct record *r)
{
        const struct ran_member *m = r->is[FIELD_ANSWER];

        return m == NULL || !(ran_json_is(r->json.line, m->value, "reject") ||
                              ran_json_is(r->json.line, m->value, "ignore"));
}

/* ---- text ----------------------------------------------------------------------------------- */

int record_add_text(struct ran_buf *out, const struct record *r, struct ran_error *err)
{
        const struct ran_member *text = r->is[FIELD_TEXT], *tokens = r->is[FIELD_TOKENS];
        const size_t begin = out->len;

        if (text != NULL)
                return ran_json_decode(r->json.line, text->value, out, err);
        if (tokens == NULL || tokens->type != 'a')
                return ran_fail(err, RAN_EFORMAT,
                                "there is neither \"text\" nor \"tokens\" to write");
        for (struct ran_items i = ran_items(r->json.line, tokens->value); ran_items_next(&i);) {
                if (out->len > begin)
                        ran_buf_char(out, ' ');
                RAN_TRY(ran_json_decode(i.line, i.value, out, err));
        }
        return RAN_OK;
}

/* ---- usual names ---------------------------------------------------------------------------- */

/* What columns and members are usually called, the most usual name first. Of "data", which doccano
 * writes, and which is a date in many languages, see record.h. "target" is of a language model,
 * too: beside "source" it is no label. */
static const char *const usual[] = {
        [ROLE_TEXT] = "text sentence review review_text content body message comment comment_text "
                      "tweet tweet_text document article full_text raw_text utterance passage post "
                      "abstract question description headline title " ROLE_LAST_TEXT,
        [ROLE_LABEL] = "label labels class category sentiment intent topic genre emotion "
                       "class_label class_index stars rating target",
        [ROLE_ID] = "id uid uuid doc_id document_id text_id review_id tweet_id idx index",
        [ROLE_OTHER] = "source tokens",
};

/* Whether a name is the word at `of`. */
static bool is_usual(const char *name, size_t n, const char *of)
{
        for (size_t i = 0; i < n; i++) {
                const char c = name[i], folded = c == '-' || c == ' ' ? '_' : c;
                if (of[i] != (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : folded) || of[i] == '\0')
                        return false;
        }
        return of[n] == ' ' || of[n] == '\0';
}

enum role role_of(const char *name, size_t n, size_t *rank)
{
        while (n > 0 && name[n - 1] == ' ')
                n--;
        for (; n > 0 && *name == ' '; n--)
                name++;
        for (enum role role = ROLE_TEXT; role <= ROLE_OTHER; role++) {
                *rank = 0;
                for (const char *of = usual[role]; of != NULL; of = strchr(of, ' '), ++*rank) {
                        of += *of == ' ';
                        if (is_usual(name, n, of))
                                return role;
                }
        }
        return ROLE_NONE;
}
