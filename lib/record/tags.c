/* tags.c - schemes of tags: what they mean, which one it is, and IOB2 from any of them.
 *
 * In every scheme a tag either goes on with the entity of the tag before it, or begins an entity,
 * or is outside. One rule tells which for all of them, so that turning tags into IOB2 need not know
 * the scheme, and can be done while the data are still being read. The scheme is worked out from
 * counts, to tell it to a person.
 */
#include "ran/record.h"

#include <stdlib.h>
#include <string.h>

const char *const ran_tag_scheme_names[] = {"IOB2", "IOB1", "IOBES", "BILOU", NULL};

static const struct ran_tag outside = {.part = 'O', .type = ""};

int ran_tag_parse(struct ran_tag *tag, const char *text, size_t n, struct ran_error *err)
{
        if (n == 1 && text[0] == 'O') {
                *tag = outside;
                return RAN_OK;
        }
        /* No part is a NUL, which strchr would find. E and S alone are of other schemes, too, where
         * words are cut into characters. */
        if (n == 0 || text[0] == '\0' || strchr(n == 1 ? "BI" : "BIESLU", text[0]) == NULL ||
            (n > 1 && text[1] != '-'))
                return ran_fail(err, RAN_EFORMAT,
                                "\"%.*s\" is not a tag: expected \"O\", or B, I, E, S, L or U, a "
                                "hyphen and a type, as in \"B-PER\"",
                                n < 64 ? (int)n : 64, text);
        size_t head = n > 1 ? 2 : 1;
        *tag = (struct ran_tag){text[0], text + head, n - head};
        return RAN_OK;
}

/* As others write a tag: with an underscore, in small letters, M- in the middle, W- for a whole
 * entity. */
static bool guess_tag(struct ran_tag *tag, const char *text, size_t n)
{
        static const char parts[] = "OBIESLUMW", meant[] = "OBIESLUIS";
        const char first = n > 0 && text[0] >= 'a' && text[0] <= 'z' ? (char)(text[0] - 32)
                           : n > 0                                   ? text[0]
                                                                     : '\0';
        const char *part = first != '\0' ? strchr(parts, first) : NULL;
        const bool bare = n == 1 && part != NULL && part - parts < 3; /* O, B or I */

        if (!bare && (part == NULL || first == 'O' || n < 3 || (text[1] != '-' && text[1] != '_')))
                return false;
        *tag = (struct ran_tag){meant[part - parts], bare ? "" : text + 2, bare ? 0 : n - 2};
        return true;
}

static bool guess_tags(struct ran_tag *tags, char *const *label, size_t C)
{
        size_t marks = 0, outsides = 0, strays = 0;

        for (size_t c = 0; c < C; c++) {
                const bool is_tag = guess_tag(&tags[c], label[c], strlen(label[c]));

                if (!is_tag)
                        tags[c] = outside;
                strays += !is_tag;
                outsides += is_tag && tags[c].part == 'O';
                marks += is_tag && tags[c].part != 'O';
        }
        if (marks > 0 || outsides == 0)
                return marks > strays;
        for (size_t c = 0; c < C; c++) /* types alone, beside O */
                if (strlen(label[c]) > 1 && strchr("[<", label[c][0]) == NULL) {
                        tags[c] = (struct ran_tag){'I', label[c], strlen(label[c])};
                        marks++;
                }
        return marks > 0;
}

struct ran_tag *ran_tags_of(char *const *label, size_t C, bool foreign)
{
        struct ran_tag *tags = ran_new(C, sizeof *tags);
        bool all = C > 0 && (!foreign || guess_tags(tags, label, C));

        for (size_t c = 0; c < C && all && !foreign; c++)
                all = ran_tag_parse(&tags[c], label[c], strlen(label[c]), NULL) == RAN_OK;
        if (all)
                return tags;
        free(tags);
        return NULL;
}

/* ---- from tag to tag ------------------------------------------------------------------------ */

static bool same_type(const struct ran_tag *a, const struct ran_tag *b)
{
        return a->length == b->length &&
               (a->length == 0 || memcmp(a->type, b->type, a->length) == 0);
}

/* Whether an entity may go on after it: E, S, L and U close theirs. */
static bool is_open(const struct ran_tag *tag)
{
        return tag->part == 'B' || tag->part == 'I';
}

/* Whether it belongs to an entity that began before it. */
static bool is_later(const struct ran_tag *tag)
{
        return tag->part == 'I' || tag->part == 'E' || tag->part == 'L';
}

bool ran_tag_goes_on(const struct ran_tag *before, const struct ran_tag *tag)
{
        return is_later(tag) && is_open(before) && same_type(before, tag);
}

static int by_type(const void *a, const void *b)
{
        const struct ran_tag *x = *(const struct ran_tag *const *)a;
        const struct ran_tag *y = *(const struct ran_tag *const *)b;

        if (x->length != y->length)
                return x->length < y->length ? -1 : 1;
        return x->length == 0 ? 0 : memcmp(x->type, y->type, x->length);
}

void ran_tags_rules(bool *start, bool *open, uint32_t *type, const struct ran_tag *tags, size_t C)
{
        const struct ran_tag **sorted = ran_new(C, sizeof *sorted);
        uint32_t types = 0;

        for (size_t c = 0; c < C; c++) {
                start[c] = !is_later(&tags[c]);
                open[c] = is_open(&tags[c]);
                sorted[c] = &tags[c];
        }
        qsort(sorted, C, sizeof *sorted, by_type);
        for (size_t i = 0; i < C; i++) {
                types += i > 0 && !same_type(sorted[i - 1], sorted[i]);
                type[sorted[i] - tags] = types;
        }
        free(sorted);
}

/* ---- one scheme from all -------------------------------------------------------------------- */

static void count(struct ran_tag_census *census, const struct ran_tag *before,
                  const struct ran_tag *tag)
{
        bool goes_on = ran_tag_goes_on(before, tag);
        bool neighbour = before->part != 'O' && same_type(before, tag);

        census->opens += is_later(tag) && !goes_on;
        census->needless += tag->part == 'B' && !neighbour;
        census->unclosed += is_open(before) && !goes_on;
        census->iobes += tag->part == 'E' || tag->part == 'S';
        census->bilou += tag->part == 'L' || tag->part == 'U';
}

void ran_tags_to_iob2(struct ran_tag *tags, size_t L, struct ran_tag_census *census)
{
        struct ran_tag before = outside; /* as it was */

        for (size_t t = 0; t < L; t++) {
                struct ran_tag tag = tags[t];

                count(census, &before, &tag);
                if (tag.part != 'O')
                        tags[t].part = ran_tag_goes_on(&before, &tag) ? 'I' : 'B';
                before = tag;
        }
        count(census, &before, &outside);
}

int ran_tag_census_scheme(const struct ran_tag_census *census, enum ran_tag_scheme *scheme,
                          size_t *wrong, struct ran_error *err)
{
        if (census->iobes > 0 && census->bilou > 0)
                return ran_fail(err, RAN_EFORMAT,
                                "tags of two schemes: %zu of IOBES (E-, S-) and %zu of BILOU (L-, "
                                "U-); convert one of them first",
                                census->iobes, census->bilou);
        if (census->iobes > 0 || census->bilou > 0) {
                *scheme = census->iobes > 0 ? RAN_TAGS_IOBES : RAN_TAGS_BILOU;
                *wrong = census->opens + census->unclosed;
        } else if (census->needless < census->opens) {
                *scheme = RAN_TAGS_IOB1;
                *wrong = census->needless;
        } else {
                *scheme = RAN_TAGS_IOB2;
                *wrong = census->opens;
        }
        return RAN_OK;
}

/* ---- entities ------------------------------------------------------------------------------- */

size_t ran_tags_entities(const struct ran_tag *tags, size_t L, struct ran_entity *entities)
{
        size_t n = 0, end;

        for (size_t t = 0; t < L; t = end) {
                for (end = t + 1; end < L && ran_tag_goes_on(&tags[end - 1], &tags[end]); end++)
                        ;
                if (tags[t].part == 'B')
                        entities[n++] = (struct ran_entity){t, end, tags[t].type, tags[t].length};
        }
        return n;
}
