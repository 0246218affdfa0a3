/* conll.c - the score of conlleval, version 2004-01-26, the script of the CoNLL shared tasks.
 *
 * The script walks along both columns at once and asks, between a token and the next, whether a
 * phrase ends and whether one starts. It answers by rules of its own that take any string for a
 * tag, so that IOB1 and IOB2 score the same, and so do tags that are no tags at all: what it does
 * with those is kept, since only the same number can be compared.
 *
 * A tag is split at its first hyphen in part and type. Only parts of one character have rules.
 */
#include "eval/eval.h"

#include <stdlib.h>
#include <string.h>

enum { NO_TYPE = 0, TYPE_COLUMN = 17 };

struct mark {
        char part;     /* NUL: one without rules */
        uint32_t type; /* number in types */
};

static const struct mark outside = {'O', NO_TYPE};

struct ran_conll {
        struct mark correct, guessed; /* of the last token */
        bool inside; /* a phrase that began in both columns at once and is the same so far */
        size_t tokens, correct_tokens;
        struct ran_tag_score all;
        struct ran_types types;
};

struct ran_conll *ran_conll_new(void)
{
        struct ran_conll *c = ran_new(1, sizeof(*c));

        c->correct = c->guessed = outside;
        ran_types_number(&c->types, "", 0); /* NO_TYPE: the first */
        return c;
}

void ran_conll_free(struct ran_conll *c)
{
        if (c == NULL)
                return;
        ran_types_release(&c->types);
        free(c);
}

/* ---- rules ---------------------------------------------------------------------------------- */

static bool is_one(char part, const char *of)
{
        return part != '\0' && strchr(of, part) != NULL;
}

static bool phrase_ends(struct mark last, struct mark mark)
{
        return is_one(last.part, "[]") ||
               (!is_one(last.part, "O.") &&
                (last.type != mark.type || (is_one(last.part, "BI") && is_one(mark.part, "BO")) ||
                 (last.part == 'E' && is_one(mark.part, "EIO"))));
}

static bool phrase_starts(struct mark last, struct mark mark)
{
        return is_one(mark.part, "[]") ||
               (!is_one(mark.part, "O.") &&
                (last.type != mark.type || (mark.part == 'B' && is_one(last.part, "BIO")) ||
                 (is_one(mark.part, "IE") && is_one(last.part, "EO"))));
}

/* ---- one token ------------------------------------------------------------------------------ */

/* A phrase that is the same in both columns, and so of one type there, ends or proves not to be the
 * same. */
static void leave(struct ran_conll *c, struct mark correct, struct mark guessed)
{
        bool correct_ends = phrase_ends(c->correct, correct);
        bool guessed_ends = phrase_ends(c->guessed, guessed);

        if (correct_ends && guessed_ends) {
                c->all.correct++;
                c->types.score[c->correct.type].correct++;
                c->inside = false;
        } else if (correct_ends != guessed_ends || correct.type != guessed.type) {
                c->inside = false;
        }
}

static void step(struct ran_conll *c, struct mark correct, struct mark guessed)
{
        bool correct_starts = phrase_starts(c->correct, correct);
        bool guessed_starts = phrase_starts(c->guessed, guessed);

        if (c->inside)
                leave(c, correct, guessed);
        if (correct_starts && guessed_starts && correct.type == guessed.type)
                c->inside = true;
        c->all.gold += correct_starts;
        c->types.score[correct.type].gold += correct_starts;
        c->all.found += guessed_starts;
        c->types.score[guessed.type].found += guessed_starts;
        c->correct = correct;
        c->guessed = guessed;
}

/* *part_n: the length of its part. */
static struct mark read_mark(struct ran_conll *c, const char *tag, size_t n, size_t *part_n)
{
        const char *hyphen = n > 0 ? memchr(tag, '-', n) : NULL;
        const char *type = hyphen != NULL ? hyphen + 1 : "";
        size_t length = hyphen != NULL ? (size_t)(tag + n - type) : 0;

        *part_n = hyphen != NULL ? (size_t)(hyphen - tag) : n;
        if (length == 1 && type[0] == '0') /* which is false in Perl, as the empty string is */
                length = 0;
        return (struct mark){*part_n == 1 ? tag[0] : '\0',
                             ran_types_number(&c->types, type, length)};
}

void ran_conll_add_token(struct ran_conll *c, const char *correct, size_t correct_n,
                         const char *guessed, size_t guessed_n)
{
        size_t wanted_n, got_n;
        const struct mark wanted = read_mark(c, correct, correct_n, &wanted_n);
        const struct mark got = read_mark(c, guessed, guessed_n, &got_n);

        c->tokens++;
        c->correct_tokens += wanted.type == got.type && wanted_n == got_n &&
                             (got_n == 0 || memcmp(correct, guessed, got_n) == 0);
        step(c, wanted, got);
}

void ran_conll_end_sentence(struct ran_conll *c)
{
        step(c, outside, outside);
}

/* ---- the numbers ---------------------------------------------------------------------------- */

static double accuracy(double whole, const struct ran_conll_report *r)
{
        return r->tokens > 0 ? whole * (double)r->correct_tokens / (double)r->tokens : 0;
}

/* A phrase that is the same up to the end of the data is right, under the type of the last token.
 */
void ran_conll_finish(struct ran_conll *c, struct ran_conll_report *report)
{
        size_t *last = &c->types.score[c->correct.type].correct;

        *report = (struct ran_conll_report){
                .tokens = c->tokens,
                .correct_tokens = c->correct_tokens,
                .all = c->all,
        };
        *last += c->inside;
        report->types = ran_types_order(&c->types, &report->n_types);
        *last -= c->inside;
        report->all.correct += c->inside;
        report->all.rates = ran_types_rates(1, &report->all);
        report->accuracy = accuracy(1, report);
}

static void text_rates(const struct ran_tag_score *score, struct ran_buf *out)
{
        struct ran_prf rates = ran_types_rates(100, score);

        ran_buf_printf(out, "precision: %6.2f%%; recall: %6.2f%%; FB1: %6.2f", rates.precision,
                       rates.recall, rates.f1);
}

static void text_type(const struct ran_tag_score *score, struct ran_buf *out)
{
        for (size_t n = score->length; n < TYPE_COLUMN; n++)
                ran_buf_char(out, ' ');
        ran_buf_add(out, score->type, score->length);
        ran_buf_str(out, ": ");
        text_rates(score, out);
        ran_buf_printf(out, "  %zu\n", score->found);
}

void ran_conll_text(const struct ran_conll_report *r, struct ran_buf *out)
{
        ran_buf_printf(out, "processed %zu tokens with %zu phrases; found: %zu phrases; ",
                       r->tokens, r->all.gold, r->all.found);
        ran_buf_printf(out, "correct: %zu.\n", r->all.correct);
        if (r->tokens > 0) {
                ran_buf_printf(out, "accuracy: %6.2f%%; ", accuracy(100, r));
                text_rates(&r->all, out);
                ran_buf_char(out, '\n');
        }
        for (size_t i = 0; i < r->n_types; i++) {
                const struct ran_tag_score *score = &r->types[i];

                text_type(score, out);
                /* The script joins the types of both columns, and takes an empty name for none when
                 * it leaves out those that come twice. */
                if (score->length == 0 && score->gold > 0 && score->found > 0)
                        text_type(score, out);
        }
}
