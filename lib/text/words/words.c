/* words.c - iterates over the words of a text, by tables or by normalisation steps; or over all
 * its bytes. */
#include "text/words/words.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum byte_class {
        BYTE_OTHER, /* not ASCII, or not one character after normalisation */
        BYTE_WORD,
        BYTE_PUNCT, /* a word of its own */
        BYTE_SPACE,
};

/* ---- rules ---------------------------------------------------------------------------------- */

static enum byte_class class_of(const struct ran_text_rules *r, int32_t c)
{
        if (ran_unicode_is_space(c))
                return BYTE_SPACE;
        return r->split == RAN_SPLIT_PUNCTUATION && ran_unicode_is_punct(c) ? BYTE_PUNCT
                                                                            : BYTE_WORD;
}

void ran_text_rules_prepare(struct ran_text_rules *r)
{
        struct ran_glyphs glyphs = {0}, spare = {0};

        for (size_t i = 0; i < r->normal.n; i++)
                r->cjk = r->cjk || r->normal.step[i] == NORMAL_CJK;
        memset(r->class, BYTE_OTHER, sizeof(r->class));
        for (int b = 0; b < 0x80; b++) {
                char byte = (char)b;
                size_t points;
                if (ran_normalizer_apply(&r->normal, &byte, 1, &glyphs, &spare, &points, NULL) !=
                            RAN_OK ||
                    glyphs.n != 1 || glyphs.at[0].c >= 0x80)
                        continue;
                r->fold[b] = (unsigned char)glyphs.at[0].c;
                r->class[b] = class_of(r, glyphs.at[0].c);
                r->word[b] = r->class[b] == BYTE_WORD ? r->fold[b] : 0;
        }
        ran_glyphs_release(&glyphs);
        ran_glyphs_release(&spare);
}

bool ran_text_rules_equal(const struct ran_text_rules *a, const struct ran_text_rules *b)
{
        const struct ran_normalizer *x = &a->normal, *y = &b->normal;

        return x->n == y->n && memcmp(x->step, y->step, x->n * sizeof *x->step) == 0 &&
               (x->eol == NULL) == (y->eol == NULL) &&
               (x->eol == NULL || strcmp(x->eol, y->eol) == 0) && a->split == b->split &&
               a->cjk == b->cjk && memcmp(a->class, b->class, sizeof a->class) == 0 &&
               memcmp(a->fold, b->fold, sizeof a->fold) == 0;
}

void ran_text_rules_release(struct ran_text_rules *r)
{
        free(r->normal.eol);
        *r = (struct ran_text_rules){0};
}

/* Whether the punctuation mark at s, the first of n bytes, may compose with the next character:
 * with a stroke, '<', '=' and '>' become signs that belong to a word. */
static bool may_join(const struct ran_text_rules *r, const unsigned char *s, size_t n)
{
        return *s >= '<' && *s <= '>' && n > 1 && r->class[s[1]] == BYTE_OTHER;
}

/* ---- the long way: a stretch up to white space ---------------------------------------------- */

/* Whether a word always ends before the character at pos. Punctuation marks and ideographs end
 * words: they neither compose nor reorder with other characters. So does a line feed that
 * becomes a word. */
static bool is_border(const struct ran_words *w, size_t pos)
{
        const unsigned char *s = (const unsigned char *)w->text + pos;
        utf8proc_int32_t c;

        if (*s == '\n')
                return true;
        if (*s < 0x80)
                return w->rules->class[*s] == BYTE_PUNCT && !may_join(w->rules, s, w->n - pos);
        utf8proc_ssize_t length = utf8proc_iterate((const utf8proc_uint8_t *)w->text + pos,
                                                   (utf8proc_ssize_t)(w->n - pos), &c);

        return length > 1 && !ran_unicode_may_compose(c) && ran_unicode_combining_class(c) == 0 &&
               (class_of(w->rules, c) != BYTE_WORD || (w->rules->cjk && ran_unicode_is_cjk(c)));
}

/* Up to white space, or not much farther than WORDS_STRETCH. */
static bool normalise_stretch(struct ran_words *w, size_t begin, struct ran_error *err)
{
        size_t end = begin, points = 0;

        while (end < w->n && w->rules->class[(unsigned char)w->text[end]] != BYTE_SPACE &&
               (end - begin < WORDS_STRETCH || !is_border(w, end)))
                end++;
        w->code = ran_normalizer_apply(&w->rules->normal, w->text + begin, end - begin,
                                       &w->scratch->glyphs, &w->scratch->spare, &points, err);
        w->first = w->points;
        w->glyph = 0;
        w->glyphs_end = w->code == RAN_OK ? w->scratch->glyphs.n : 0;
        w->points += points;
        w->pos = end;
        return w->code == RAN_OK;
}

/* The next word of the stretch at hand; false: there is none left. */
static bool next_of_stretch(struct ran_words *w, struct ran_word *word)
{
        const struct ran_glyph *at = w->scratch->glyphs.at;
        size_t i = w->glyph;

        while (i < w->glyphs_end && ran_unicode_is_space(at[i].c))
                i++;
        size_t begin = i;
        enum byte_class class = BYTE_WORD;
        while (i < w->glyphs_end && (class = class_of(w->rules, at[i].c)) == BYTE_WORD)
                i++;
        if (i == begin && i < w->glyphs_end && class == BYTE_PUNCT)
                i++;
        w->glyph = i;
        if (i == begin)
                return false;
        ran_glyphs_write(at + begin, i - begin, &w->scratch->bytes);
        *word = (struct ran_word){.s = w->scratch->bytes.data,
                                  .n = w->scratch->bytes.len,
                                  .chars = i - begin,
                                  .first = w->first,
                                  .glyphs = w->scratch->glyphs.at + begin};
        return true;
}

/* ---- the short way: ASCII ------------------------------------------------------------------- */

/* A short, whole ASCII word at pos; otherwise false, also with U+0000, which the cache cannot
 * tell from padding. Builds its key on the way, eight bytes in a register: loading them right
 * after the stores would stall. */
static bool next_short(struct ran_words *w, struct ran_word *word)
{
        const struct ran_text_rules *r = w->rules;
        const unsigned char *s = (const unsigned char *)w->text + w->pos;
        size_t left = w->n - w->pos, n = 0;
        size_t limit = left < WORDS_SHORT ? left : WORDS_SHORT;
        uint64_t key[WORDS_SHORT / 8 + 1] = {0}, eight = 0;

        for (unsigned char c; n < limit && (c = r->word[s[n]]) != 0;) {
                w->buffer[n] = c;
                eight |= (uint64_t)c << 8 * (n % 8);
                if (++n % 8 == 0) {
                        key[n / 8 - 1] = eight;
                        eight = 0;
                }
        }
        key[n / 8] = eight;
        if (n < left && r->class[s[n]] == BYTE_WORD)
                return false;
        if (n == 0 && r->class[s[0]] == BYTE_PUNCT) {
                w->buffer[n++] = r->fold[s[0]];
                key[0] = r->fold[s[0]];
        }
        if (n == 0 || (n < left && (r->class[s[n]] == BYTE_OTHER || may_join(r, s + n, left - n))))
                return false;
        *word = (struct ran_word){.s = (const char *)w->buffer,
                                  .n = n,
                                  .chars = n,
                                  .first = w->points,
                                  .keyed = true,
                                  .key = {key[0], key[1], key[2]}};
        w->pos += n;
        w->points += n;
        return true;
}

/* ---- all of a text, for byte pairs ---------------------------------------------------------- */

/* The text to split: the original, or all of it normalised. */
static bool make_whole(struct ran_words *w, struct ran_error *err)
{
        struct ran_glyphs *glyphs = &w->scratch->glyphs;
        size_t points;

        w->whole = true;
        if (w->rules->normal.n == 0 && (!w->lead || (w->n > 0 && w->text[0] == ' ')))
                return true;
        w->code = ran_normalizer_apply(&w->rules->normal, w->text, w->n, glyphs, &w->scratch->spare,
                                       &points, err);
        if (w->code != RAN_OK)
                return false;
        if (w->lead && glyphs->n > 0 && glyphs->at[0].c != ' ') {
                /* A space in front, with the offsets of the first character. */
                RAN_ROOM(glyphs->at, glyphs->cap, glyphs->n + 1);
                memmove(glyphs->at + 1, glyphs->at, glyphs->n++ * sizeof *glyphs->at);
                glyphs->at[0].c = ' ';
        }
        ran_glyphs_write(glyphs->at, glyphs->n, &w->scratch->bytes);
        w->text = w->scratch->bytes.data;
        w->n = w->scratch->bytes.len;
        w->first = w->points;
        w->glyphs_end = glyphs->n;
        w->points += points;
        return true;
}

static bool next_of_whole(struct ran_words *w, struct ran_word *word, struct ran_error *err)
{
        if (!w->whole && !make_whole(w, err))
                return false;
        if (w->pos == w->n)
                return false;
        const char *s = w->text + w->pos;
        size_t chars = 0;
        const size_t n = ran_gpt2_word(s, w->n - w->pos, &chars);
        if (n == 0) {
                w->code = ran_fail(err, RAN_EFORMAT, "the text is not valid UTF-8");
                return false;
        }
        w->pos += n;
        if (w->glyphs_end > 0) {
                *word = (struct ran_word){.s = s,
                                          .n = n,
                                          .chars = chars,
                                          .first = w->first,
                                          .glyphs = w->scratch->glyphs.at + w->glyph};
                w->glyph += chars;
        } else {
                *word = (struct ran_word){.s = s, .n = n, .chars = chars, .first = w->points};
                w->points += chars;
        }
        return true;
}

void ran_words_begin(struct ran_words *w, const struct ran_text_rules *rules,
                     struct ran_words_scratch *scratch, const char *text, size_t n, size_t points)
{
        *w = (struct ran_words){
                .rules = rules, .scratch = scratch, .text = text, .n = n, .points = points};
}

bool ran_words_next(struct ran_words *w, struct ran_word *word, struct ran_error *err)
{
        if (w->rules->split == RAN_SPLIT_GPT2)
                return next_of_whole(w, word, err);
        for (;;) {
                if (w->glyph < w->glyphs_end && next_of_stretch(w, word))
                        return true;
                while (w->pos < w->n &&
                       w->rules->class[(unsigned char)w->text[w->pos]] == BYTE_SPACE) {
                        w->pos++;
                        w->points++;
                }
                if (w->pos == w->n)
                        return false;
                if (next_short(w, word))
                        return true;
                if (!normalise_stretch(w, w->pos, err))
                        return false;
        }
}

void ran_words_extent(const struct ran_word *word, size_t from, size_t to, size_t *begin,
                      size_t *end)
{
        if (word->glyphs == NULL) {
                *begin = word->first + from;
                *end = word->first + to;
                return;
        }
        uint32_t low = word->glyphs[from].begin, high = word->glyphs[from].end;
        for (size_t i = from + 1; i < to; i++) {
                const struct ran_glyph *g = &word->glyphs[i];
                low = g->begin < low ? g->begin : low;
                high = g->end > high ? g->end : high;
        }
        *begin = word->first + low;
        *end = word->first + high;
}

void ran_words_scratch_release(struct ran_words_scratch *scratch)
{
        ran_glyphs_release(&scratch->glyphs);
        ran_glyphs_release(&scratch->spare);
        ran_buf_release(&scratch->bytes);
        *scratch = (struct ran_words_scratch){0};
}
