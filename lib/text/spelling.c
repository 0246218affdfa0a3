/* spelling.c - features of a word's spelling, independent of the vocabulary: spelling reveals
 * names.
 *
 * A word has RAN_SPELLING features, each a short string that is hashed to a bucket:
 *
 *   case        aa  Aa  AA  aA  A, or no letter with a case; and whether there are digits, and
 *               characters that are neither
 *   shape       "McDonald's-1984" is XxXxx'x-dd: letters and digits by kind, runs shortened to two,
 *               everything else unchanged
 *   prefixes    the first 1, 2, 3, 4 characters, in lower case
 *   suffixes    the last ones
 *
 * Kind and string are hashed together, so that the prefix "a" and the suffix "a" are different
 * features. A word of fewer characters has itself for the longer ones.
 */
#include <string.h>
#include <utf8proc.h>

#include "ran/text.h"
#include "base/string-table.h"
#include "text/words/words.h"

enum { AFFIX = (RAN_SPELLING - 2) / 2, RUN = 2 };
enum { PREFIX = 2, SUFFIX = PREFIX + AFFIX };

/* Part of the format of model files: do not change it. */
static const uint64_t hash_start = UINT64_C(0xcbf29ce484222325);

enum kind { UPPER, LOWER, LETTER, DIGIT, OTHER };

static enum kind kind_of(int32_t c)
{
        switch (utf8proc_category(c)) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LT:
                return UPPER;
        case UTF8PROC_CATEGORY_LL:
                return LOWER;
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO:
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_MC:
        case UTF8PROC_CATEGORY_ME:
                return LETTER;
        case UTF8PROC_CATEGORY_ND:
        case UTF8PROC_CATEGORY_NL:
        case UTF8PROC_CATEGORY_NO:
                return DIGIT;
        default:
                return OTHER;
        }
}

/* The part of a word read so far. */
struct reading {
        uint64_t shape;
        enum kind last;
        size_t run; /* characters of that kind so far */
        bool first_upper, has[OTHER + 1];
        size_t chars;
        int32_t head[AFFIX], tail[AFFIX]; /* the first characters; the last ones, backwards */
};

static uint64_t hash_character(uint64_t hash, int32_t c)
{
        for (int shift = 0; shift < 24; shift += 8)
                hash = ran_string_table_hash_byte(hash, (char)(c >> shift));
        return hash;
}

static void read_character(struct reading *r, int32_t c)
{
        enum kind kind = kind_of(c);

        r->run = r->chars > 0 && kind == r->last ? r->run + 1 : 1;
        r->last = kind;
        if (kind == OTHER || r->run <= RUN)
                r->shape = hash_character(r->shape, kind == OTHER ? c : "XxcdX"[kind]);
        r->first_upper |= r->chars == 0 && kind == UPPER;
        r->has[kind] = true;
        c = utf8proc_tolower(c);
        if (r->chars < AFFIX)
                r->head[r->chars] = c;
        memmove(r->tail + 1, r->tail, (AFFIX - 1) * sizeof *r->tail);
        r->tail[0] = c;
        r->chars++;
}

static uint64_t case_of(const struct reading *r)
{
        const bool upper = r->has[UPPER], lower = r->has[LOWER];
        uint64_t letters = upper && lower ? (r->first_upper ? 4 : 3)
                           : upper        ? (r->chars > 1 ? 2 : 5)
                                          : lower;

        return letters << 2 | (uint64_t)r->has[DIGIT] << 1 | r->has[OTHER];
}

void ran_spelling(const char *word, size_t n, size_t buckets, uint32_t feature[RAN_SPELLING])
{
        struct reading r = {.shape = hash_start};
        uint64_t hash[RAN_SPELLING], head, tail;

        for (size_t at = 0, length; at < n; at += length) {
                const int32_t c = ran_unicode_get(word + at, n - at, &length);
                read_character(&r, c >= 0 ? c : 0xfffd); /* no UTF-8 */
        }
        hash[0] = case_of(&r);
        hash[1] = r.shape;
        head = tail = hash_start;
        for (size_t i = 0; i < AFFIX; i++) {
                if (i < r.chars) {
                        head = hash_character(head, r.head[i]);
                        tail = hash_character(tail, r.tail[i]);
                }
                hash[PREFIX + i] = head;
                hash[SUFFIX + i] = tail;
        }
        for (size_t i = 0; i < RAN_SPELLING; i++)
                feature[i] = (uint32_t)(ran_random_draw(hash[i], i) % buckets);
}

/* ---- the words of an encoding --------------------------------------------------------------- */

/* Moves from a byte of a text, code point number *point, to another code point. */
static size_t go_to(const char *text, size_t n, size_t byte, size_t *point, size_t to)
{
        for (; *point < to && byte < n; ++*point)
                byte += ran_unicode_length(text + byte, n - byte);
        return byte;
}

int ran_encoding_spell(struct ran_encoding *e, size_t first, const char *text, size_t n,
                       size_t buckets, struct ran_error *err)
{
        size_t byte = 0, point = 0;

        if (buckets == 0)
                return ran_fail(err, RAN_EINVAL, "spelling features need at least one bucket");
        if (e->n > SIZE_MAX / RAN_SPELLING)
                ran_out_of_memory(e->n, RAN_SPELLING);
        RAN_ROOM(e->spelling, e->spelling_cap, e->n * RAN_SPELLING);
        for (size_t i = first, end; i < e->n; i = end) {
                uint32_t *feature = e->spelling + i * RAN_SPELLING;
                size_t last = e->end[i];

                for (end = i + 1; end < e->n && e->word[end] == e->word[i]; end++)
                        last = e->end[end] > last ? e->end[end] : last;
                const size_t begin = go_to(text, n, byte, &point, e->start[i]);
                byte = go_to(text, n, begin, &point, last);
                ran_spelling(n > 0 ? text + begin : "", byte - begin, buckets, feature);
                for (size_t k = i + 1; k < end; k++)
                        memcpy(e->spelling + k * RAN_SPELLING, feature,
                               RAN_SPELLING * sizeof *feature);
        }
        return RAN_OK;
}
