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
        bool first_upper, upper, lower, digit, other;
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
        r->upper |= kind == UPPER;
        r->lower |= kind == LOWER;
        r->digit |= kind == DIGIT;
        r->other |= kind == OTHER;
        c = utf8proc_tolower(c);
        if (r->chars < AFFIX)
                r->head[r->chars] = c;
        memmove(r->tail + 1, r->tail, (AFFIX - 1) * sizeof *r->tail);
        r->tail[0] = c;
        r->chars++;
}

static struct reading read_word(const char *word, size_t n)
{
        struct reading r = {.shape = hash_start};

        for (size_t at = 0; at < n;) {
                utf8proc_int32_t c;
                utf8proc_ssize_t length = utf8proc_iterate((const utf8proc_uint8_t *)word + at,
                                                           (utf8proc_ssize_t)(n - at), &c);

                if (length <= 0) { /* no UTF-8 */
                        length = 1;
                        c = 0xfffd;
                }
                read_character(&r, c);
                at += (size_t)length;
        }
        return r;
}

static uint64_t case_of(const struct reading *r)
{
        uint64_t letters = r->upper && r->lower ? (r->first_upper ? 4 : 3)
                           : r->upper           ? (r->chars > 1 ? 2 : 5)
                           : r->lower           ? 1
                                                : 0;

        return letters << 2 | (uint64_t)r->digit << 1 | r->other;
}

void ran_spelling(const char *word, size_t n, size_t buckets, uint32_t feature[RAN_SPELLING])
{
        struct reading r = read_word(word, n);
        uint64_t hash[RAN_SPELLING] = {case_of(&r), r.shape}, head, tail;

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

/* The state of a walk through a text. */
struct walk {
        const char *text;
        size_t n, byte, point;
};

static size_t byte_of(struct walk *w, size_t point)
{
        for (; w->point < point && w->byte < w->n; w->point++)
                do
                        w->byte++;
                while (w->byte < w->n && (w->text[w->byte] & 0xc0) == 0x80);
        return w->byte;
}

int ran_encoding_spell(struct ran_encoding *e, size_t first, const char *text, size_t n,
                       size_t buckets, struct ran_error *err)
{
        struct walk w = {.text = n > 0 ? text : "", .n = n};

        if (buckets == 0)
                return ran_fail(err, RAN_EINVAL, "spelling features need at least one bucket");
        if (e->n > SIZE_MAX / RAN_SPELLING)
                ran_out_of_memory(e->n, RAN_SPELLING);
        RAN_ROOM(e->spelling, e->spelling_cap, e->n * RAN_SPELLING);
        for (size_t i = first, end; i < e->n; i = end) {
                uint32_t *feature = e->spelling + i * RAN_SPELLING;
                size_t begin = byte_of(&w, e->start[i]), last = e->end[i];

                for (end = i + 1; end < e->n && e->word[end] == e->word[i]; end++)
                        last = e->end[end] > last ? e->end[end] : last;
                ran_spelling(w.text + begin, byte_of(&w, last) - begin, buckets, feature);
                for (size_t k = i + 1; k < end; k++)
                        memcpy(e->spelling + k * RAN_SPELLING, feature,
                               RAN_SPELLING * sizeof *feature);
        }
        return RAN_OK;
}
