/* ran/record.h - JSON records and tags. Conventions: ran.h. */
#ifndef RAN_RAN_RECORD_H
#define RAN_RAN_RECORD_H

#include "ran/base.h"

/* ---- JSON records (record/) ----------------------------------------------------------------- */

/* A span scanner: it checks a whole line against RFC 8259 (and UTF-8) without recursion and notes
 * where each member of the top-level object stands, so that the line can be passed on byte for
 * byte. Spans are byte offsets into the line. */
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
        const char *line; /* not owned, valid while the record is used; no newline at its end */
        size_t length;
        struct ran_span object; /* braces included; white space may stand around it */
        struct ran_member *members;
        size_t count, cap;
        struct ran_buf names;
};
/* Scans a line; a record may be scanned into again and again. The line must be one object.
 * RAN_EFORMAT: the sentence names the column (bytes, from 1), and the members before it are kept:
 * what could be read of a bad line. */
int ran_record_scan(struct ran_record *r, const char *line, size_t length, struct ran_error *err);
void ran_record_release(struct ran_record *r);
/* The member of that name, matched exactly after decoding escapes; NULL when absent. If it is there
 * twice, *twice (may be NULL) is set. */
const struct ran_member *ran_record_find(const struct ran_record *r, const char *name, bool *twice);

/* Decodes the JSON string at `value` (its quotes included) and appends it as UTF-8; U+0000 is a
 * byte like any other. RAN_EFORMAT for a lone surrogate. */
int ran_json_decode(const char *line, struct ran_span value, struct ran_buf *out,
                    struct ran_error *err);
/* Whether all strings in a part of the line can be decoded. */
bool ran_json_decodable(const char *line, struct ran_span part);
/* Walks an array or object value without copying. Start with pos = 0. Each call sets *item (and
 * *name, raw with its quotes, inside an object) and *type as in ran_member; false at the end. The
 * value has been checked by ran_record_scan, so walking cannot fail. */
bool ran_json_next(const char *line, struct ran_span value, size_t *pos, struct ran_span *name,
                   struct ran_span *item, char *type);

/* ---- tags (record/tags.c) ------------------------------------------------------------------- */

/* Entities written as tags, one a token: 'O' outside of all, else a part, a hyphen and a type.
 *
 *              J. Doe  met     Ann   Lee   Bo
 *      IOB2    B-PER I-PER O   B-PER I-PER B-PER    B- begins, I- goes on
 *      IOB1    I-PER I-PER O   I-PER I-PER B-PER    B- only right after an entity of the same type
 *      IOBES   B-PER E-PER O   B-PER E-PER S-PER    E- ends, S- is an entity of one token
 *      BILOU   B-PER L-PER O   B-PER L-PER U-PER    the same by other letters
 */
struct ran_tag {
        char part;        /* O, B, I, E, S, L or U */
        const char *type; /* not owned, no NUL at its end; empty for O, and for a bare "B" */
        size_t length;
};
/* RAN_EFORMAT when it is no tag of any scheme (B and I may stand without hyphen and type).
 * tag->type points into text. */
int ran_tag_parse(struct ran_tag *tag, const char *text, size_t n, struct ran_error *err);

enum ran_tag_scheme { RAN_TAGS_IOB2, RAN_TAGS_IOB1, RAN_TAGS_IOBES, RAN_TAGS_BILOU };
extern const char *const ran_tag_scheme_names[]; /* "IOB2" ..., NULL at the end */
/* What the tags of a data set were like, to tell its scheme. Zero-initialise. */
struct ran_tag_census {
        size_t opens;        /* I, E and L that have nothing to go on with */
        size_t needless;     /* B that does not come right after an entity of its type */
        size_t unclosed;     /* entities that do not end with E, S, L or U */
        size_t iobes, bilou; /* tags that only that scheme has */
};
/* Turns the tags of a sentence of any scheme into IOB2, in place, and adds them to the census. A
 * tag that has nothing to go on with becomes the beginning of an entity. */
void ran_tags_to_iob2(struct ran_tag *tags, size_t L, struct ran_tag_census *census);
/* The scheme that the fewest of the tags are wrong in, and how many those are. RAN_EFORMAT when
 * there are tags of IOBES and of BILOU. */
int ran_tag_census_scheme(const struct ran_tag_census *census, enum ran_tag_scheme *scheme,
                          size_t *wrong, struct ran_error *err);

struct ran_entity {
        size_t start, end; /* tokens, end exclusive */
        const char *type;  /* as in its tags */
        size_t length;
};
/* The entities of a sentence in IOB2, from left to right; entities has room for L. They begin with
 * B only: an I with nothing to go on with is outside. Returns how many there are. */
size_t ran_tags_entities(const struct ran_tag *tags, size_t L, struct ran_entity *entities);

#endif
