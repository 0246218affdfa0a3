/* perplexity.c - the perplexity of texts, in measures that can be compared. */
#include "cmd/lm/perplexity.h"

#include <math.h>

void perplexity_add_token(struct perplexity *p, double nll)
{
        p->nll += nll;
        p->tokens++;
}

void perplexity_add_unknown(struct perplexity *p, double nll, size_t bytes)
{
        perplexity_add_token(p, nll);
        p->nll_unknown += nll;
        p->unknown++;
        p->spelled += bytes + 1;
}

double perplexity_spelled(const struct perplexity *p, double cost)
{
        return p->nll + cost * ran_log(2) * (double)p->spelled;
}

double perplexity_unknown_share(const struct perplexity *p)
{
        return p->tokens > 0 ? (double)p->unknown / (double)p->tokens : 0;
}

/* ---- words and bytes ------------------------------------------------------------------------ */

static bool is_space(char c)
{
        return c == ' ' || (c >= '\t' && c <= '\r');
}

static void count_text(struct perplexity *p, const struct ran_buf *text)
{
        for (size_t i = 0; i < text->len; i++) {
                char c = text->data[i];
                p->words += c == '\n' || (!is_space(c) && (i == 0 || is_space(text->data[i - 1])));
        }
        p->bytes += text->len;
}

/* The bytes are those of the words with a space between. */
static int count_words(struct perplexity *p, const struct record *record, const char *name,
                       struct ran_buf *scratch, struct ran_error *err)
{
        const struct ran_member *m = ran_record_find(&record->json, name, NULL);
        struct ran_span item;
        size_t pos = 0;
        char type;

        for (size_t n = 0; ran_json_next(record->json.line, m->value, &pos, NULL, &item, &type);
             n++) {
                scratch->len = 0;
                RAN_TRY(ran_json_decode(record->json.line, item, scratch, err));
                p->words++;
                p->bytes += scratch->len + (n > 0);
        }
        return RAN_OK;
}

int perplexity_count(struct perplexity *p, const struct cmd_document *d,
                     const struct record *record, const char *words_name, bool ended,
                     struct ran_buf *scratch, struct ran_error *err)
{
        p->words += ended;
        if (d->from == CMD_FROM_TEXT)
                count_text(p, &d->text);
        else if (d->from == CMD_FROM_TOKENS)
                return count_words(p, record, words_name, scratch, err);
        else
                p->uncounted++;
        return RAN_OK;
}

size_t perplexity_points(const struct ran_buf *text)
{
        size_t points = 0;

        for (size_t i = 0; i < text->len; i++)
                points += (text->data[i] & 0xc0) != 0x80;
        return points;
}

/* ---- the numbers ---------------------------------------------------------------------------- */

void perplexity_merge(struct perplexity *p, const struct perplexity *from)
{
        p->records += from->records;
        p->nll += from->nll;
        p->nll_unknown += from->nll_unknown;
        p->tokens += from->tokens;
        p->unknown += from->unknown;
        p->spelled += from->spelled;
        p->words += from->words;
        p->bytes += from->bytes;
        p->uncounted += from->uncounted;
}

static double perplexity(double nll, size_t n)
{
        return n > 0 ? ran_exp(nll / (double)n) : NAN;
}

/* "12.34", "1234", or "-" where nothing was predicted. */
static void add_figure(struct report *r, const char *name, const char *title, double x)
{
        report_number(r, name, title, x, x < 1000 ? 2 : 0);
}

/* What a measure that depends on the vocabulary means. */
static void add_meaning(struct report *r, const struct perplexity *p, double cost)
{
        const double percent = 100 * perplexity_unknown_share(p);

        if (p->unknown == 0)
                report_note(r, "does not depend on the vocabulary");
        else if (cost > 0)
                report_note(r, "%.1f %% of the tokens are unknown words, spelled at %g bits a byte",
                            percent, cost);
        else
                report_note(r,
                            "without the spelling of unknown words, %.1f %% of the tokens: it "
                            "compares models only with --unknown-cost",
                            percent);
}

void perplexity_tree(const struct perplexity *p, double cost, bool all, struct report *r)
{
        const double known = p->nll - p->nll_unknown, spelled = perplexity_spelled(p, cost);
        const double share = perplexity_unknown_share(p);

        report_number(r, "nll", NULL, p->nll, 0);
        report_count(r, "tokens", "tokens", p->tokens);
        add_figure(r, "perplexity", "perplexity", perplexity(p->nll, p->tokens));
        report_note(r, "of a token of the vocabulary; 1 is best");
        report_count(r, "unknown", all ? "unknown" : NULL, p->unknown);
        report_note(r, "%.1f %% of the tokens", 100 * share);
        report_share(r, "unknown_share", all ? NULL : "unknown", share);
        report_number(r, "nll_known", NULL, known, 0);
        add_figure(r, "perplexity_known",
                   all && p->unknown > 0 ? "perplexity of known words" : NULL,
                   perplexity(known, p->tokens - p->unknown));
        report_note(r, "without the words that the vocabulary lacks");
        if (p->uncounted > 0) {
                report_none(r, all ? NULL : "bits per byte");
                return;
        }
        report_number(r, cost > 0 ? "nll_spelled" : NULL, NULL, spelled, 0);
        report_count(r, "words", NULL, p->words);
        add_figure(r, "perplexity_per_word", all ? "perplexity per word" : NULL,
                   perplexity(spelled, p->words));
        add_meaning(r, p, cost);
        report_count(r, "bytes", NULL, p->bytes);
        add_figure(r, "bits_per_byte", "bits per byte",
                   p->bytes > 0 ? spelled / ran_log(2) / (double)p->bytes : NAN);
        add_meaning(r, p, cost);
}
