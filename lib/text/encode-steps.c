/* encode-steps.c - text to tokens by the steps of a file. Added tokens that are not normalized are
 * found in the text; what lies between them is normalised, each part by itself; in it the others
 * are found; what lies between these becomes words. */
#include "text/tokenizer.h"
#include "text/words/unicode.h"

struct reading {
        const struct ran_tokenizer *t;
        struct ran_encoding *e;
        struct ran_passage *p;
        bool numbered;
        size_t points; /* code points before the passage */
        struct ran_error *err;
};

/* ---- parts of a text ------------------------------------------------------------------------ */

static int add_words(struct reading *r, struct ran_stretch part)
{
        struct ran_passage *p = r->p;
        const bool lead = r->t->bytes && !r->numbered && r->e->words > 0;

        RAN_TRY(ran_steps_split(r->t->steps, p, part, r->points,
                                lead && r->points + part.begin == 0, r->err));
        for (size_t i = 0; i < p->spans; i++) {
                const struct ran_stretch span = p->span[i];
                struct ran_word word = {.s = p->word_s + span.begin, .n = span.end - span.begin};

                word.chars = ran_unicode_count(word.s, word.n);
                word.first = r->points + (p->word_at == NULL ? span.first : 0);
                word.glyphs = p->word_at != NULL ? p->word_at + span.first : NULL;
                RAN_TRY(ran_tokenizer_add_word(r->t, &word, r->e, r->err));
                r->e->words += r->numbered;
        }
        return RAN_OK;
}

/* A token in the normalised passage. */
static int add_normalized(struct reading *r, uint32_t id, struct ran_stretch part)
{
        const struct ran_passage *p = r->p;
        struct ran_word word = {.s = p->s + part.begin, .n = part.end - part.begin};
        size_t start, end;

        word.chars = ran_unicode_count(word.s, word.n);
        word.first = r->points + (p->at == NULL ? part.first : 0);
        word.glyphs = p->at != NULL ? p->at + part.first : NULL;
        ran_words_extent(&word, 0, word.chars, &start, &end);
        RAN_TRY(ran_encoding_add(r->e, id, start, end, r->err));
        ran_encoding_trim_added(r->t, r->e, word.s, word.n);
        r->e->words += r->numbered;
        return RAN_OK;
}

/* The text between two added tokens. *points: its code points. */
static int add_passage(struct reading *r, const char *text, size_t n, size_t *points)
{
        struct ran_passage *p = r->p;
        size_t from = 0, first = 0;

        RAN_TRY(ran_steps_normalize(r->t->steps, p, text, n, points, r->err));
        for (size_t taken = 0; taken < p->n;) {
                const struct ran_found found =
                        ran_added_tokens_find(&r->t->normalized, p->s, p->n, from, taken);
                struct ran_stretch part = {taken, found.begin, first};

                if (found.begin > taken) {
                        RAN_TRY(add_words(r, part));
                        first += ran_unicode_count(p->s + taken, found.begin - taken);
                } else {
                        first -= ran_unicode_count(p->s + found.begin, taken - found.begin);
                }
                if (found.token == NULL)
                        break;
                part = (struct ran_stretch){found.begin, found.end, first};
                RAN_TRY(add_normalized(r, found.token->id, part));
                first += ran_unicode_count(p->s + found.begin, found.end - found.begin);
                taken = found.end;
                from = found.next;
        }
        return RAN_OK;
}

int ran_tokenizer_encode_steps(const struct ran_tokenizer *t, const char *text, size_t n,
                               bool numbered, size_t *points, struct ran_encoding *e,
                               struct ran_error *err)
{
        struct ran_encoding_scratch *scratch = e->scratch;
        struct reading r = {t, e, &scratch->passage, numbered, 0, err};
        size_t from = 0, more;

        scratch->passage.led = false;

        for (size_t taken = 0; taken < n;) {
                const struct ran_found found =
                        ran_added_tokens_find(&t->added, text, n, from, taken);

                if (found.begin > taken) {
                        RAN_TRY(add_passage(&r, text + taken, found.begin - taken, &more));
                        r.points += more;
                } else {
                        r.points -= ran_unicode_count(text + found.begin, taken - found.begin);
                }
                if (found.token == NULL)
                        break;
                more = ran_unicode_count(text + found.begin, found.end - found.begin);
                RAN_TRY(ran_encoding_add(e, found.token->id, r.points, r.points + more, err));
                ran_encoding_trim_added(t, e, text + found.begin, found.end - found.begin);
                e->words += numbered;
                r.points += more;
                taken = found.end;
                from = found.next;
        }
        *points = r.points;
        return RAN_OK;
}
