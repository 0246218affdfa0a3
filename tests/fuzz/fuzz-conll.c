/* Any bytes as a file of columns: refused with a sentence, or read and scored, by the script's
 * rules and strictly, which is the same where all tags are as IOB2 has them. */
#include <stdlib.h>
#include <string.h>

#include "ran.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 64 };

/* The tags of a sentence, as far as they are some. */
struct sentence {
        struct ran_tag gold[LONGEST], found[LONGEST];
        char text[2 * LONGEST][16];
        size_t L;
        bool partial; /* or another one was */
};

static bool keep(struct ran_tag *tag, char text[16], const char *from, size_t n)
{
        if (n > 16)
                return false;
        memcpy(text, from, n);
        return ran_tag_parse(tag, text, n, NULL) == RAN_OK;
}

static bool is_iob(const struct ran_tag *tag)
{
        return tag->part == 'O' || ((tag->part == 'B' || tag->part == 'I') && tag->length > 0);
}

static void add_token(struct sentence *s, const struct ran_conll_reader *r)
{
        size_t i = s->L;

        if (i < LONGEST && keep(&s->gold[i], s->text[2 * i], r->correct, r->correct_n) &&
            keep(&s->found[i], s->text[2 * i + 1], r->guessed, r->guessed_n))
                s->L++;
        s->partial |= s->L == i || !is_iob(&s->gold[i]) || !is_iob(&s->found[i]);
}

static void end_sentence(struct sentence *s, struct ran_strict *strict)
{
        struct ran_entity entities[LONGEST];
        struct ran_tag_census census = {0};
        enum ran_tag_scheme scheme;
        size_t wrong;

        ran_strict_add(strict, s->gold, s->found, s->L);
        ran_tags_to_iob2(s->gold, s->L, &census);
        ran_tag_census_scheme(&census, &scheme, &wrong, NULL);
        size_t n = ran_tags_entities(s->gold, s->L, entities);
        for (size_t i = 0; i < n; i++)
                if (entities[i].start >= entities[i].end || entities[i].end > s->L ||
                    (i > 0 && entities[i].start < entities[i - 1].end))
                        abort();
        s->L = 0;
}

static void report(struct ran_conll *conll, struct ran_strict *strict, bool whole)
{
        struct ran_conll_report scores;
        struct ran_strict_report strictly;
        struct ran_buf out = {0};

        ran_conll_finish(conll, &scores);
        ran_strict_finish(strict, &strictly);
        if (scores.correct_tokens > scores.tokens ||
            !(scores.accuracy >= 0 && scores.accuracy <= 1))
                abort();
        if (whole && strictly.invalid_gold == 0 && strictly.invalid_found == 0 &&
            (scores.all.gold != strictly.all.gold || scores.all.found != strictly.all.found ||
             scores.all.correct != strictly.all.correct))
                abort();
        ran_conll_text(&scores, &out);
        ran_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0)
                return 0; /* fmemopen wants some */
        struct ran_conll_reader r = {.in = fmemopen((void *)data, size, "r")};
        struct ran_conll *conll = ran_conll_new();
        struct ran_strict *strict = ran_strict_new();
        static struct sentence sentence;
        struct ran_error err = {0};
        enum ran_conll_line line;

        if (r.in == NULL || conll == NULL || strict == NULL)
                abort();
        sentence.L = 0;
        sentence.partial = false;
        while ((line = ran_conll_read(&r, &err)) == RAN_CONLL_TOKEN || line == RAN_CONLL_BREAK) {
                if (line == RAN_CONLL_TOKEN) {
                        ran_conll_add_token(conll, r.correct, r.correct_n, r.guessed, r.guessed_n);
                        add_token(&sentence, &r);
                } else {
                        ran_conll_end_sentence(conll);
                        end_sentence(&sentence, strict);
                }
        }
        if (line == RAN_CONLL_FAILED || (line == RAN_CONLL_REFUSED && r.message.len == 0))
                abort();
        end_sentence(&sentence, strict);
        report(conll, strict, !sentence.partial);
        fclose(r.in);
        ran_conll_reader_release(&r);
        ran_conll_free(conll);
        ran_strict_free(strict);
        return 0;
}
