/* encode-steps.c - text to tokens by the steps of a file. What lies between two added tokens that
 * are not normalized is normalised by itself; in it the others are found; what lies between these
 * becomes words. */
#include <string.h>

#include "text/tokenizer.h"

struct reading {
        const struct ran_tokenizer *t;
        struct ran_encoding *e;
        struct ran_passage *p;
        bool numbered;
        size_t points; /* code points before the passage */
};

/* ---- parts of a text ------------------------------------------------------------------------ */

/* What stands for the space between two words that are given one by one; 0: nothing does. */
static int32_t space_of(const struct ran_steps *s)
{
        const struct ran_step *last = s->at + s->normal_n - 1;

        if (s->bytes)
                return ' ';
        return s->normal_n > 0 && last->kind == STEP_REPLACE && strcmp(last->text, STEPS_META) == 0
                       ? 0x2581
                       : 0;
}

static inline int add_word(struct reading *r, struct ran_stretch part, struct ran_error *err)
{
        const struct ran_passage *p = r->p;
        struct ran_word word = {
                .s = p->word_s + part.begin, .n = part.end - part.begin, .chars = part.chars};

        word.first = r->points + (p->word_at == NULL ? part.first : 0);
        word.glyphs = p->word_at != NULL ? p->word_at + part.first : NULL;
        return ran_tokenizer_add_word(r->t, &word, r->e, err);
}

/* Each U+2581 behind another character begins a piece: pieces are in the cache, words rarely. */
static int add_pieces(struct reading *r, struct ran_stretch part, struct ran_error *err)
{
        const size_t meta_n = sizeof STEPS_META - 1, end = part.end;
        const char *s = r->p->word_s;
        bool meta = true, before;

        part.chars = 0;
        for (size_t pos = part.begin, length; pos < end; pos += length, part.chars++) {
                before = meta;
                meta = end - pos >= meta_n && memcmp(s + pos, STEPS_META, meta_n) == 0;
                if (meta && !before) {
                        part.end = pos;
                        RAN_TRY(add_word(r, part, err));
                        part.begin = pos;
                        part.first += part.chars;
                        part.chars = 0;
                }
                length = (unsigned char)s[pos] < 0x80 ? 1 : ran_unicode_length(s + pos, end - pos);
        }
        part.end = end;
        return add_word(r, part, err);
}

static int add_words(struct reading *r, struct ran_stretch part, struct ran_error *err)
{
        struct ran_passage *p = r->p;
        const bool leads = !r->numbered && r->e->words > 0 && r->points + part.begin == 0;

        ran_steps_split(r->t->steps, p, part, r->points, leads ? space_of(r->t->steps) : 0);
        for (size_t i = 0; i < p->spans; i++) {
                if (r->t->bpe.apart)
                        RAN_TRY(add_pieces(r, p->span[i], err));
                else
                        RAN_TRY(add_word(r, p->span[i], err));
                r->e->words += r->numbered;
        }
        return RAN_OK;
}

/* A token in the normalised passage. */
static void add_normalized(struct reading *r, uint32_t id, struct ran_stretch part)
{
        const struct ran_passage *p = r->p;
        struct ran_word word = {
                .s = p->s + part.begin, .n = part.end - part.begin, .chars = part.chars};
        size_t start, end;

        word.first = r->points + (p->at == NULL ? part.first : 0);
        word.glyphs = p->at != NULL ? p->at + part.first : NULL;
        ran_words_extent(&word, 0, word.chars, &start, &end);
        ran_encoding_add(r->e, id, start, end);
        ran_encoding_trim_added(r->t, r->e, word.s, word.n);
        r->e->words += r->numbered;
}

int ran_tokenizer_add_passage(const struct ran_tokenizer *t, const char *text, size_t n,
                              bool numbered, size_t *points, struct ran_encoding *e,
                              struct ran_error *err)
{
        struct ran_passage *p = &((struct ran_encoding_scratch *)e->scratch)->passage;
        struct reading r = {t, e, p, numbered, *points};
        size_t from = 0, first = 0, more;

        RAN_TRY(ran_steps_normalize(t->steps, p, text, n, &more, err));
        for (size_t taken = 0; taken < p->n;) {
                const struct ran_found found =
                        ran_added_tokens_find(&t->normalized, p->s, p->n, from, taken);
                struct ran_stretch part = {taken, found.begin, first, 0};

                if (found.begin > taken) {
                        part.chars = ran_unicode_count(p->s + taken, found.begin - taken);
                        RAN_TRY(add_words(&r, part, err));
                        first += part.chars;
                } else {
                        first -= ran_unicode_count(p->s + found.begin, taken - found.begin);
                }
                if (found.token == NULL)
                        break;
                part = (struct ran_stretch){
                        found.begin, found.end, first,
                        ran_unicode_count(p->s + found.begin, found.end - found.begin)};
                add_normalized(&r, found.token->id, part);
                first += part.chars;
                taken = found.end;
                from = found.next;
        }
        *points += more;
        return RAN_OK;
}
