/* ran/record.h - JSON records and tags. Conventions: ran.h. */
#ifndef RAN_RAN_RECORD_H
#define RAN_RAN_RECORD_H

#include "ran/base.h"

/* ---- JSON records (record/) ----------------------------------------------------------------- */

/* A span scanner: it validates a line against RFC 8259 and UTF-8, without recursion, and notes
 * where each member of the top-level object stands, so that the line can be passed on byte for
 * byte. Spans are byte offsets into the line, end exclusive. */
struct ran_span {
        size_t begin, end;
};
struct ran_member {
        struct ran_span name;  /* in record.names: decoded, escapes resolved */
        struct ran_span whole; /* from the opening quote of the name to the end of the value */
        struct ran_span value;
        char type; /* 's'tring, 'n'umber, 'o'bject, 'a'rray, 't'rue, 'f'alse, '0' null */
};
struct ran_record {
        const char *line; /* the caller's, while the record is used; without its newline */
        size_t length;
        struct ran_span object; /* with its braces; white space may surround it */
        struct ran_member *members;
        size_t count, cap;
        struct ran_buf names;
};
/* Scans a line, which must be one object. Zero-initialise the record; it can be reused for the next
 * line. RAN_EFORMAT: the sentence names the column (in bytes, from 1), and the members before it
 * are kept. */
int ran_record_scan(struct ran_record *r, const char *line, size_t length, struct ran_error *err);
void ran_record_release(struct ran_record *r);
/* The first member with that name, compared after decoding escapes; NULL without one. Sets *twice,
 * unless that is NULL, to whether there are several. */
const struct ran_member *ran_record_find(const struct ran_record *r, const char *name, bool *twice);

/* Decodes the JSON string at `value` (with its quotes) and appends it as UTF-8, U+0000 as a zero
 * byte. RAN_EFORMAT for a lone surrogate. */
int ran_json_decode(const char *line, struct ran_span value, struct ran_buf *out,
                    struct ran_error *err);
/* Whether ran_json_decode can decode all strings in a part of the line. */
bool ran_json_decodable(const char *line, struct ran_span part);
/* A walk over an array or object without copying, of a line that ran_record_scan has validated:
 * for (struct ran_items i = ran_items(line, value); ran_items_next(&i);)
 * Any other value has no items. */
struct ran_items {
        const char *line;
        struct ran_span in; /* the array or object */
        size_t pos;
        struct ran_span name;  /* in an object: raw, with its quotes */
        struct ran_span value; /* of the item at hand */
        char type;             /* as in ran_member */
};
static inline struct ran_items ran_items(const char *line, struct ran_span in)
{
        return (struct ran_items){.line = line, .in = in};
}
bool ran_items_next(struct ran_items *i); /* false at the end */
/* The type of a value by its first byte. */
char ran_json_type(char first);
/* Whether a value or a name, with its quotes, is this text, written without escapes. */
bool ran_json_is(const char *line, struct ran_span string, const char *text);
/* The first member of that name, and of that type unless it is 0, in an object: its value, and
 * *type unless that is NULL. False without one, and for a value of another type than an object. */
bool ran_json_find(const char *line, struct ran_span object, const char *name, char wanted,
                   struct ran_span *value, char *type);

/* ---- tags (record/tags.c) ------------------------------------------------------------------- */

/* Entities as tags, one for each token: 'O' outside, else a part, a hyphen and a type.
 *
 *              J. Doe  met     Ann   Lee   Bo
 *      IOB2    B-PER I-PER O   B-PER I-PER B-PER    B- begins, I- continues
 *      IOB1    I-PER I-PER O   I-PER I-PER B-PER    B- only right after an entity of the same type
 *      IOBES   B-PER E-PER O   B-PER E-PER S-PER    E- ends, S- is an entity of one token
 *      BILOU   B-PER L-PER O   B-PER L-PER U-PER    the same with other letters
 */
struct ran_tag {
        char part;        /* O, B, I, E, S, L or U */
        const char *type; /* the caller's text, without NUL; empty for O, and for a bare "B" */
        size_t length;
};
/* Parses the n bytes at text; tag->type points into them. RAN_EFORMAT for a tag of no scheme (B and
 * I may lack hyphen and type). */
int ran_tag_parse(struct ran_tag *tag, const char *text, size_t n, struct ran_error *err);

enum ran_tag_scheme { RAN_TAGS_IOB2, RAN_TAGS_IOB1, RAN_TAGS_IOBES, RAN_TAGS_BILOU };
extern const char *const ran_tag_scheme_names[]; /* "IOB2" ..., NULL at the end */
/* Counts over the tags of a data set, which reveal its scheme. Zero-initialise. */
struct ran_tag_census {
        size_t opens;        /* I, E and L without an entity to continue */
        size_t needless;     /* B that does not follow an entity of its type */
        size_t unclosed;     /* entities that do not end with E, S, L or U */
        size_t iobes, bilou; /* tags that only this scheme has */
};
/* Converts the L tags of a sentence from any scheme to IOB2, in place, and adds them to the census.
 * A tag without an entity to continue begins one. */
void ran_tags_to_iob2(struct ran_tag *tags, size_t L, struct ran_tag_census *census);
/* The scheme with the fewest wrong tags, and their number. RAN_EFORMAT when tags of both IOBES and
 * BILOU occur. */
int ran_tag_census_scheme(const struct ran_tag_census *census, enum ran_tag_scheme *scheme,
                          size_t *wrong, struct ran_error *err);

struct ran_entity {
        size_t start, end; /* tokens [start, end) */
        const char *type;  /* as in its tags */
        size_t length;
};
/* Lists the entities of a sentence in IOB2 from left to right and returns their number; `entities`
 * has room for L. Only B begins one: an I without an entity to continue counts as outside. */
size_t ran_tags_entities(const struct ran_tag *tags, size_t L, struct ran_entity *entities);

/* The C labels of a tagger as tags, which the caller frees; NULL: they mark no entities. foreign:
 * others trained it, and may use any scheme: types without a part, if there is an O, are I-; a
 * label that is none, such as [PAD], is one more O. Else all must be tags of a scheme. */
struct ran_tag *ran_tags_of(char *const *label, size_t C, bool foreign);

/* Whether `tag` continues the entity of `before`, the tag to its left. */
bool ran_tag_goes_on(const struct ran_tag *before, const struct ran_tag *tag);

/* The transitions that IOB2 allows among C tags. start (C): the tag may begin a sentence, and then
 * may follow any tag. open (C): an entity may continue after the tag. type (C): a number < C for
 * each type. A tag that may not begin a sentence must continue an open tag of its type. */
void ran_tags_rules(bool *start, bool *open, uint32_t *type, const struct ran_tag *tags, size_t C);

#endif
