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
static int count_words(struct perplexity *p, const struct ran_record *record, const char *name,
                       struct ran_buf *scratch, struct ran_error *err)
{
        const struct ran_member *m = ran_record_find(record, name, NULL);
        struct ran_span item;
        size_t pos = 0;
        char type;

        for (size_t n = 0; ran_json_next(record->line, m->value, &pos, NULL, &item, &type); n++) {
                scratch->len = 0;
                RAN_TRY(ran_json_decode(record->line, item, scratch, err));
                p->words++;
                p->bytes += scratch->len + (n > 0);
        }
        return RAN_OK;
}

int perplexity_count(struct perplexity *p, const struct cmd_document *d,
                     const struct ran_record *record, const char *words_name, bool ended,
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

/* null where nothing was predicted. */
static void add_number(struct ran_buf *out, const char *name, double x)
{
        ran_buf_printf(out, ",\"%s\":", name);
        ran_buf_double(out, x);
}

static double perplexity(double nll, size_t n)
{
        return n > 0 ? ran_exp(nll / (double)n) : NAN;
}

void perplexity_json(const struct perplexity *p, double cost, struct ran_buf *out)
{
        const double known = p->nll - p->nll_unknown, spelled = perplexity_spelled(p, cost);

        ran_buf_str(out, "\"nll\":");
        ran_buf_double(out, p->nll);
        ran_buf_printf(out, ",\"tokens\":%zu", p->tokens);
        add_number(out, "perplexity", perplexity(p->nll, p->tokens));
        ran_buf_printf(out, ",\"unknown\":%zu", p->unknown);
        add_number(out, "unknown_share", perplexity_unknown_share(p));
        add_number(out, "nll_known", known);
        add_number(out, "perplexity_known", perplexity(known, p->tokens - p->unknown));
        if (p->uncounted > 0)
                return;
        if (cost > 0)
                add_number(out, "nll_spelled", spelled);
        ran_buf_printf(out, ",\"words\":%zu", p->words);
        add_number(out, "perplexity_per_word", perplexity(spelled, p->words));
        ran_buf_printf(out, ",\"bytes\":%zu", p->bytes);
        add_number(out, "bits_per_byte",
                   p->bytes > 0 ? spelled / ran_log(2) / (double)p->bytes : NAN);
}
