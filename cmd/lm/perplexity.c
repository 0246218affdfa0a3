/* perplexity.c - the perplexity of texts, in measures that can be compared. */
#include "cmd/lm/lm.h"

#include <math.h>

double perplexity_spelled(const struct perplexity *p, double cost)
{
        return p->nll + cost * ran_log(2) * (double)p->spelled;
}

/* ---- words and bytes ------------------------------------------------------------------------ */

static bool is_space(char c)
{
        return c == ' ' || (c >= '\t' && c <= '\r');
}

int perplexity_count(struct perplexity *p, const struct cmd_document *d,
                     const struct record *record, const char *words_name, bool ended,
                     struct ran_buf *scratch, struct ran_error *err)
{
        const struct ran_member *m = ran_record_find(&record->json, words_name, NULL);
        const char *line = record->json.line, *s = d->text.data;

        p->words += ended;
        p->uncounted += d->from != CMD_FROM_TEXT && d->from != CMD_FROM_TOKENS;
        if (d->from == CMD_FROM_TEXT) {
                for (size_t i = 0; i < d->text.len; i++)
                        p->words +=
                                s[i] == '\n' || (!is_space(s[i]) && (i == 0 || is_space(s[i - 1])));
                p->bytes += d->text.len;
        }
        if (d->from != CMD_FROM_TOKENS)
                return RAN_OK;
        /* The bytes are those of the words with a space between. */
        struct ran_items i = ran_items(line, m->value);
        for (size_t n = 0; ran_items_next(&i); n++) {
                scratch->len = 0;
                RAN_TRY(ran_json_decode(line, i.value, scratch, err));
                p->words++;
                p->bytes += scratch->len + (n > 0);
        }
        return RAN_OK;
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
static void add_meaning(struct report *r, const struct perplexity *p, double cost, double percent)
{
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
        const double share = p->tokens > 0 ? (double)p->unknown / (double)p->tokens : 0;

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
        add_meaning(r, p, cost, 100 * share);
        report_count(r, "bytes", NULL, p->bytes);
        add_figure(r, "bits_per_byte", "bits per byte",
                   p->bytes > 0 ? spelled / ran_log(2) / (double)p->bytes : NAN);
        add_meaning(r, p, cost, 100 * share);
        if (cost <= 0 && p->unknown > 0)
                report_put(r, "without", NULL, "the spelling of %zu unknown word%s: --unknown-cost",
                           p->unknown, p->unknown == 1 ? "" : "s");
}
