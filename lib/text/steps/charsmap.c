/* charsmap.c - SentencePiece's precompiled map of characters.
 *
 * The file is the size of the trie in bytes, the trie, and the texts that may come out, each ended
 * by NUL; all numbers are little endian. A unit of the trie has an offset to where its children
 * are, and the label that a child must have; a child at offset 0 holds the place of a text.
 */
#include "text/steps/steps.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/utf8.h"

enum {
        CLUSTER_MOST = 5, /* bytes of a cluster that is replaced as a whole */
        CHAR_MOST = 4,
};

struct ran_charsmap {
        unsigned char *memory;
        const unsigned char *unit; /* (units) of four bytes */
        size_t units;
        const char *text; /* valid UTF-8 */
        size_t text_n;
        bool ascii[128]; /* characters that the map may change */
};

/* ---- reading -------------------------------------------------------------------------------- */

/* Decodes n characters to *size bytes; false if they are not base64. `to` has room for n. */
static bool decode(const char *base64, size_t n, unsigned char *to, size_t *size)
{
        static const char digits[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        uint32_t bits = 0;

        *size = 0;
        if (n % 4 != 0)
                return false;
        for (size_t i = 0; i < 2 && n > 0 && base64[n - 1] == '='; i++)
                n--;
        for (size_t i = 0; i < n; i++) {
                const char *digit = memchr(digits, base64[i], sizeof digits - 1);

                if (digit == NULL)
                        return false;
                bits = bits << 6 | (uint32_t)(digit - digits);
                if (i % 4 > 0) /* six bits of four digits are eight of three bytes */
                        to[(*size)++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
        }
        return true;
}

static uint32_t number(const unsigned char *at)
{
        uint32_t x;

        memcpy(&x, at, sizeof x);
        return le32toh(x);
}

static int take_apart(struct ran_charsmap *m, size_t size, struct ran_error *err)
{
        const size_t unit = sizeof(uint32_t);
        size_t trie = size >= unit ? number(m->memory) : 0;

        if (size < 2 * unit || trie < unit || trie % unit != 0 || trie > size - unit)
                return ran_fail(err, RAN_EFORMAT,
                                "'precompiled_charsmap' has a trie of %zu bytes "
                                "in %zu",
                                trie, size);
        m->unit = m->memory + unit;
        m->units = trie / unit;
        m->text = (const char *)m->unit + trie;
        m->text_n = size - unit - trie;
        if (ran_utf8_valid(m->text, m->text_n) < m->text_n)
                return ran_fail(err, RAN_EFORMAT,
                                "'precompiled_charsmap' has texts that are not UTF-8");
        return RAN_OK;
}

static size_t offset_of(uint32_t unit)
{
        return (size_t)(unit >> 10) << ((unit & 1u << 9) >> 6);
}

/* The place of the text for the shortest beginning of n bytes that the map has; false: none. */
static bool find(const struct ran_charsmap *m, const char *s, size_t n, size_t *place)
{
        size_t at = offset_of(number(m->unit));

        for (size_t i = 0; i < n && s[i] != '\0'; i++) {
                const unsigned char c = (unsigned char)s[i];
                at ^= c;
                if (at >= m->units)
                        return false;
                uint32_t unit = number(m->unit + 4 * at);
                if ((unit & (1u << 31 | 0xff)) != c)
                        return false;
                at ^= offset_of(unit);
                if ((unit >> 8 & 1) != 0) {
                        if (at >= m->units)
                                return false;
                        *place = number(m->unit + 4 * at) & ((1u << 31) - 1);
                        return *place <= m->text_n;
                }
        }
        return false;
}

struct ran_charsmap *ran_charsmap_new(const char *base64, size_t n, struct ran_error *err)
{
        struct ran_charsmap *m = ran_new(1, sizeof *m);
        size_t size, place;

        m->memory = ran_new(n + 1, 1);
        const int rc = decode(base64, n, m->memory, &size)
                               ? take_apart(m, size, err)
                               : ran_fail(err, RAN_EFORMAT, "'precompiled_charsmap' is not base64");
        if (rc != RAN_OK) {
                ran_charsmap_free(m);
                return NULL;
        }
        for (int c = 1; c < 128; c++)
                m->ascii[c] = find(m, (const char[]){(char)c}, 1, &place);
        return m;
}

void ran_charsmap_free(struct ran_charsmap *m)
{
        if (m == NULL)
                return;
        free(m->memory);
        free(m);
}

/* ---- applying ------------------------------------------------------------------------------- */

/* The change that glyph i stands for in ran_glyphs_settle. */
static void push(struct ran_glyphs *g, int32_t c, int32_t change)
{
        g->at[g->n++] = (struct ran_glyph){c, (uint32_t)change, 0};
}

/* The text at `place` in the place of `old` characters. If it is longer, the last of its characters
 * are new; if it is shorter, the last character, which may be one from before, removes the rest. */
static void put(const struct ran_charsmap *m, size_t place, size_t old, struct ran_glyphs *out)
{
        const char *text = m->text + place;
        size_t n = strnlen(text, m->text_n - place), count = ran_unicode_count(text, n), length;

        ran_glyphs_reserve(out, count);
        for (size_t pos = 0, i = 0; pos < n; pos += length, i++)
                push(out, ran_unicode_get(text + pos, n - pos, &length), i >= old);
        if (count < old && out->n > 0)
                out->at[out->n - 1].begin -= (uint32_t)(old - count);
}

/* Where a place would begin inside a character: the file is broken. */
static bool is_start(const struct ran_charsmap *m, size_t place)
{
        return place == m->text_n || ((unsigned char)m->text[place] & 0xc0) != 0x80;
}

static bool find_char(const struct ran_charsmap *m, int32_t c, size_t *place)
{
        char s[CHAR_MOST];

        if (c < 0x80)
                return m->ascii[c] && find(m, (s[0] = (char)c, s), 1, place);
        return find(m, s, ran_unicode_put(s, c), place) && is_start(m, *place);
}

/* The end of the cluster that begins at i; *n: its bytes, or more than CLUSTER_MOST. */
static size_t end_of_cluster(const struct ran_glyphs *in, size_t i, size_t *n)
{
        utf8proc_int32_t state = 0;
        size_t end = i + 1;
        char s[CHAR_MOST];

        *n = ran_unicode_put(s, in->at[i].c);
        for (; end < in->n; end++) {
                int32_t c = in->at[end].c, before = in->at[end - 1].c;
                bool plain = before < 0x80 && c < 0x80 && before != '\r';
                if (plain || utf8proc_grapheme_break_stateful(before, c, &state))
                        break;
                *n += *n > CLUSTER_MOST ? 0 : ran_unicode_put(s, c);
        }
        return end;
}

static void apply_cluster(const struct ran_charsmap *m, struct ran_glyphs *out,
                          const struct ran_glyph *at, size_t chars, size_t bytes, bool *changed)
{
        char s[CLUSTER_MOST + CHAR_MOST];
        size_t n = 0, place;

        if (bytes <= CLUSTER_MOST) {
                for (size_t i = 0; i < chars; i++)
                        n += ran_unicode_put(s + n, at[i].c);
                if (find(m, s, n, &place) && is_start(m, place)) {
                        *changed = true;
                        put(m, place, chars, out);
                        return;
                }
        }
        ran_glyphs_reserve(out, chars);
        for (size_t i = 0; i < chars; i++) {
                if (!find_char(m, at[i].c, &place)) {
                        ran_glyphs_reserve(out, 1);
                        push(out, at[i].c, 0);
                        continue;
                }
                *changed = true;
                put(m, place, 1, out);
        }
}

void ran_charsmap_apply(const struct ran_charsmap *m, struct ran_glyphs *out,
                        const struct ran_glyphs *in, bool *changed)
{
        size_t bytes, end;

        *changed = false;
        out->n = 0;
        ran_glyphs_reserve(out, in->n);
        for (size_t i = 0; i < in->n; i = end) {
                end = end_of_cluster(in, i, &bytes);
                apply_cluster(m, out, in->at + i, end - i, bytes, changed);
        }
        if (*changed)
                ran_glyphs_settle(out, in);
}
