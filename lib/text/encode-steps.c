/* encode-steps.c - text to tokens by the steps of a file. What lies between two added tokens that
 * are not normalized is normalised by itself; in it the others are found; what lies between these
 * becomes words. */
#include <string.h>

#include "text/tokenizer.h"
#include "text/words/unicode.h"

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

static int add_words(struct reading *r, struct ran_stretch part, struct ran_error *err)
{
        struct ran_passage *p = r->p;
        const bool leads = !r->numbered && r->e->words > 0 && r->points + part.begin == 0;

        ran_steps_split(r->t->steps, p, part, r->points, leads ? space_of(r->t->steps) : 0);
        for (size_t i = 0; i < p->spans; i++) {
                const struct ran_stretch span = p->span[i];
                struct ran_word word = {.s = p->word_s + span.begin,
                                        .n = span.end - span.begin,
                                        .chars = span.chars};

                word.first = r->points + (p->word_at == NULL ? span.first : 0);
                word.glyphs = p->word_at != NULL ? p->word_at + span.first : NULL;
                RAN_TRY(ran_tokenizer_add_word(r->t, &word, r->e, err));
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
