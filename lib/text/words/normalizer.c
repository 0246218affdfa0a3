/* normalizer.c - the steps of normalisation. */
#include "text/words/words.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum {
        LONGEST_DECOMPOSITION = 18, /* U+FDFA, compatibility */
        FIRST_CANONICAL = 0xc0,     /* below it nothing has a canonical decomposition, */
        FIRST_COMPATIBLE = 0xa0,    /* or one of compatibility, */
        FIRST_UNCOMPOSED = 0x300,   /* and everything is in form NFC */
        COMBINING_CLASSES = 256,
};

int ran_normalizer_add(struct ran_normalizer *z, enum ran_normalizer_step step,
                       struct ran_error *err)
{
        if (z->n == NORMAL_STEPS_MAX)
                return ran_fail(err, RAN_EFORMAT, "more than %d steps of normalisation",
                                NORMAL_STEPS_MAX);
        z->step[z->n++] = step;
        return RAN_OK;
}

int ran_normalizer_add_eol(struct ran_normalizer *z, const char *word, size_t n,
                           struct ran_error *err)
{
        if (n > NORMAL_EOL_MOST)
                return ran_fail(err, RAN_EFORMAT,
                                "the end-of-line token has %zu bytes; the maximum is %d", n,
                                NORMAL_EOL_MOST);
        if (ran_utf8_valid(word, n) < n)
                return ran_fail(err, RAN_EFORMAT, "the end-of-line token is not valid UTF-8");
        z->eol = ran_copy(word, n);
        return ran_normalizer_add(z, NORMAL_EOL, err);
}

void ran_glyphs_release(struct ran_glyphs *g)
{
        free(g->at);
        *g = (struct ran_glyphs){0};
}

void ran_glyphs_reserve(struct ran_glyphs *g, size_t more)
{
        if (more > SIZE_MAX - g->n)
                ran_out_of_memory(more, sizeof *g->at);
        RAN_ROOM(g->at, g->cap, g->n + more);
}

/* Room for it has been reserved. */
static void push(struct ran_glyphs *g, int32_t c, const struct ran_glyph *from)
{
        g->at[g->n++] = (struct ran_glyph){c, from->begin, from->end};
}

int ran_glyphs_read(struct ran_glyphs *out, const char *text, size_t n, struct ran_error *err)
{
        if (n >= UINT32_MAX)
                return ran_fail(err, RAN_EINVAL, "%zu bytes are too many to be normalised at once",
                                n);

        out->n = 0;
        ran_glyphs_reserve(out, n);
        for (size_t pos = 0; pos < n;) {
                utf8proc_int32_t c;
                utf8proc_ssize_t length = utf8proc_iterate((const utf8proc_uint8_t *)text + pos,
                                                           (utf8proc_ssize_t)(n - pos), &c);
                if (length <= 0)
                        return ran_fail(err, RAN_EFORMAT, "the text is not valid UTF-8");
                uint32_t i = (uint32_t)out->n;
                out->at[out->n++] = (struct ran_glyph){c, i, i + 1};
                pos += (size_t)length;
        }
        return RAN_OK;
}

void ran_glyphs_add(struct ran_glyphs *out, const char *text, size_t n, struct ran_glyph from)
{
        ran_glyphs_reserve(out, n);
        for (size_t pos = 0, length; pos < n; pos += length)
                push(out, ran_unicode_get(text + pos, n - pos, &length), &from);
}

void ran_glyphs_write(const struct ran_glyph *at, size_t n, struct ran_buf *out)
{
        const size_t widest = 4; /* no overflow: glyphs are larger */

        out->len = 0;
        char *begin = ran_buf_room(out, n * widest), *end = begin;
        for (size_t i = 0; i < n; i++) {
                if (at[i].c < 0x80)
                        *end++ = (char)at[i].c;
                else
                        end += ran_unicode_put(end, at[i].c);
        }
        out->len = (size_t)(end - begin);
}

/* ---- steps: each reads all of `in` and fills `out`, which is empty -------------------------- */

static void end_of_line(struct ran_glyphs *out, const struct ran_glyphs *in, const char *eol)
{
        for (size_t i = 0; i < in->n; i++) {
                const struct ran_glyph *g = &in->at[i];
                ran_glyphs_reserve(out, 1);
                push(out, g->c == '\n' ? ' ' : g->c, g);
                if (g->c != '\n')
                        continue;
                ran_glyphs_add(out, eol, strlen(eol), *g);
                ran_glyphs_add(out, " ", 1, *g);
        }
}

/* Removes white space at the beginning, or at the end. */
static void strip(struct ran_glyphs *out, const struct ran_glyphs *in, bool left)
{
        size_t begin = 0, end = in->n;

        ran_glyphs_reserve(out, in->n);
        while (left && begin < end && ran_unicode_is_space(in->at[begin].c))
                begin++;
        while (!left && end > begin && ran_unicode_is_space(in->at[end - 1].c))
                end--;
        for (size_t i = begin; i < end; i++)
                push(out, in->at[i].c, &in->at[i]);
}

/* What becomes of a character by a step that looks at each by itself; returns how many. */
static size_t map(enum ran_normalizer_step step, int32_t c, int32_t to[3])
{
        to[0] = c;
        switch (step) {
        case NORMAL_CLEAN:
                to[0] = ran_unicode_is_space(c) ? ' ' : c;
                return !ran_unicode_is_control(c) && utf8proc_category(c) != UTF8PROC_CATEGORY_CO;
        case NORMAL_STRIP_NONSPACING:
                return utf8proc_category(c) != UTF8PROC_CATEGORY_MN;
        case NORMAL_STRIP_MARKS:
                return !ran_unicode_is_mark(c);
        case NORMAL_CJK:
                if (!ran_unicode_is_cjk(c))
                        return 1;
                to[0] = to[2] = ' ';
                to[1] = c;
                return 3;
        case NORMAL_LOWERCASE:
                to[0] = utf8proc_tolower(c);
                to[1] = 0x307; /* of the one letter whose lower case is two characters */
                return c == 0x130 ? 2 : 1;
        default: /* NORMAL_NMT */
                if (c == '\t' || c == '\n' || c == '\f' || c == '\r' || c == 0x1680 ||
                    (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                    c == 0xfeff || c == 0xfffd)
                        to[0] = ' ';
                return !((c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f ||
                         c == 0x8f || c == 0x9f);
        }
}

static void map_all(struct ran_glyphs *out, const struct ran_glyphs *in,
                    enum ran_normalizer_step step)
{
        enum { MOST = 3 };
        int32_t to[MOST];

        for (size_t i = 0; i < in->n; i++) {
                if (out->cap - out->n < MOST)
                        ran_glyphs_reserve(out, in->n - i + MOST);
                const size_t n = map(step, in->at[i].c, to);
                for (size_t k = 0; k < n; k++)
                        push(out, to[k], &in->at[i]);
        }
}

/* ---- the four normalisation forms of Unicode ------------------------------------------------ */

/* counts: with numbers for ran_glyphs_settle in place of ranges. */
static void decompose(struct ran_glyphs *out, const struct ran_glyphs *in, bool compatible,
                      bool counts)
{
        int32_t first = compatible ? FIRST_COMPATIBLE : FIRST_CANONICAL;
        int options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);

        for (size_t i = 0; i < in->n; i++) {
                const struct ran_glyph *g = &in->at[i], count[] = {{.begin = 0}, {.begin = 1}};
                ran_glyphs_reserve(out, LONGEST_DECOMPOSITION);
                if (g->c < first) {
                        push(out, g->c, counts ? &count[0] : g);
                        continue;
                }
                utf8proc_int32_t part[LONGEST_DECOMPOSITION];
                int boundary = 0;
                utf8proc_ssize_t n = utf8proc_decompose_char(g->c, part, LONGEST_DECOMPOSITION,
                                                             options, &boundary);
                if (n < 1 || n > LONGEST_DECOMPOSITION) { /* of no character that was read */
                        part[0] = g->c;
                        n = 1;
                }
                for (utf8proc_ssize_t k = 0; k < n; k++)
                        push(out, part[k], counts ? &count[k > 0] : g);
        }
}

/* Canonical order: sorts the marks between starters (class 0) by class, by counting and in a stable
 * way: input may have runs of marks of any length. */
static void reorder(struct ran_glyphs *g, struct ran_glyphs *scratch)
{
        for (size_t i = 0; i < g->n;) {
                unsigned last = ran_unicode_combining_class(g->at[i].c);
                if (last == 0) {
                        i++;
                        continue;
                }
                bool sorted = true;
                size_t end = i + 1;
                for (; end < g->n; end++) {
                        unsigned class = ran_unicode_combining_class(g->at[end].c);
                        if (class == 0)
                                break;
                        sorted = sorted && class >= last;
                        last = class;
                }
                const size_t run = i;
                i = end;
                if (sorted)
                        continue;
                size_t first[COMBINING_CLASSES + 1] = {0};
                ran_glyphs_reserve(scratch, end - run);
                for (size_t k = run; k < end; k++)
                        first[ran_unicode_combining_class(g->at[k].c) + 1]++;
                for (size_t k = 0; k < COMBINING_CLASSES; k++)
                        first[k + 1] += first[k];
                for (size_t k = run; k < end; k++)
                        scratch->at[first[ran_unicode_combining_class(g->at[k].c)]++] = g->at[k];
                memcpy(g->at + run, scratch->at, (end - run) * sizeof *g->at);
        }
}

/* The character that a and b compose to, or 0. */
static int32_t composition(int32_t a, int32_t b)
{
        utf8proc_int32_t pair[2] = {a, b};

        if (!ran_unicode_may_compose(b))
                return 0;
        utf8proc_ssize_t n = utf8proc_normalize_utf32(pair, 2, UTF8PROC_COMPOSE | UTF8PROC_STABLE);
        return n == 1 ? pair[0] : 0;
}

/* Composes each mark with the starter before it if Unicode has a character for both, unless a
 * mark of the same or a higher class is between them. counts: see ran_glyphs_settle. */
static void compose(struct ran_glyphs *g, bool counts)
{
        size_t kept = 0, starter = SIZE_MAX;
        unsigned between = 0; /* class of the last mark kept since the starter */

        for (size_t i = 0; i < g->n; i++) {
                struct ran_glyph mark = g->at[i];
                unsigned class = ran_unicode_combining_class(mark.c);
                bool open = starter != SIZE_MAX && (starter + 1 == kept || between < class);
                int32_t c = open ? composition(g->at[starter].c, mark.c) : 0;
                if (c != 0) {
                        struct ran_glyph *s = &g->at[starter]; /* it covers the mark, too */
                        s->c = c;
                        if (counts) { /* as one that is removed behind it */
                                s->begin += mark.begin - 1;
                        } else {
                                s->begin = mark.begin < s->begin ? mark.begin : s->begin;
                                s->end = mark.end > s->end ? mark.end : s->end;
                        }
                        continue;
                }
                if (class == 0)
                        starter = kept;
                between = class;
                g->at[kept++] = mark;
        }
        g->n = kept;
}

void ran_glyphs_settle(struct ran_glyphs *out, const struct ran_glyphs *in)
{
        size_t at = 0;

        for (size_t i = 0; i < out->n; i++) {
                struct ran_glyph *g = &out->at[i];
                int32_t change = (int32_t)g->begin;
                size_t from = change <= 0 ? at : at > 0 ? at - 1 : SIZE_MAX;

                g->begin = g->end = 0;
                if (from != SIZE_MAX && in->n > 0) {
                        from = from < in->n ? from : in->n - 1;
                        g->begin = in->at[from].begin;
                        g->end = in->at[from].end;
                }
                at += change > 0 ? 0 : 1 + (size_t) - (int64_t)change;
        }
}

static void normal_form(struct ran_glyphs *out, struct ran_glyphs *in,
                        enum ran_normalizer_step form, bool exact)
{
        bool compatible = form == NORMAL_NFKC || form == NORMAL_NFKD;
        struct ran_glyphs scratch = {0};

        decompose(out, in, compatible, exact);
        reorder(out, &scratch);
        ran_glyphs_release(&scratch);
        if (form == NORMAL_NFC || form == NORMAL_NFKC)
                compose(out, exact);
        if (exact)
                ran_glyphs_settle(out, in);
}

/* ---- all steps ------------------------------------------------------------------------------ */

static bool all_below(const struct ran_glyphs *g, int32_t c)
{
        for (size_t i = 0; i < g->n; i++)
                if (g->at[i].c >= c)
                        return false;
        return true;
}

void ran_glyphs_step(enum ran_normalizer_step step, bool exact, struct ran_glyphs *out,
                     struct ran_glyphs *in)
{
        out->n = 0;
        switch (step) {
        case NORMAL_NFC:
        case NORMAL_NFD:
        case NORMAL_NFKC:
        case NORMAL_NFKD:
                normal_form(out, in, step, exact);
                return;
        case NORMAL_STRIP_LEFT:
        case NORMAL_STRIP_RIGHT:
                strip(out, in, step == NORMAL_STRIP_LEFT);
                return;
        default:
                map_all(out, in, step);
                return;
        }
}

int ran_normalizer_apply(const struct ran_normalizer *z, const char *text, size_t n,
                         struct ran_glyphs *out, struct ran_glyphs *spare, size_t *points,
                         struct ran_error *err)
{
        RAN_TRY(ran_glyphs_read(out, text, n, err));
        *points = out->n;
        for (size_t i = 0; i < z->n; i++) {
                if (z->step[i] == NORMAL_NFC && all_below(out, FIRST_UNCOMPOSED))
                        continue;
                struct ran_glyphs in = *out;
                *out = *spare;
                out->n = 0;
                if (z->step[i] == NORMAL_EOL)
                        end_of_line(out, &in, z->eol);
                else
                        ran_glyphs_step(z->step[i], z->exact, out, &in);
                *spare = in;
        }
        return RAN_OK;
}
