/* perplexity.c - how likely texts are, in numbers that can be compared. */
#include "cmd/lm/perplexity.h"

#include <math.h>

void perplexity_add_token(struct perplexity *f, double nll, bool unknown)
{
        f->nll += nll;
        f->tokens++;
        if (!unknown)
                return;
        f->nll_unknown += nll;
        f->unknown++;
}

/* ---- words and bytes ------------------------------------------------------------------------ */

static bool is_space(char c)
{
        return c == ' ' || (c >= '\t' && c <= '\r');
}

static void count_text(struct perplexity *f, const struct ran_buf *text)
{
        for (size_t i = 0; i < text->len; i++) {
                char c = text->data[i];
                f->words += c == '\n' || (!is_space(c) && (i == 0 || is_space(text->data[i - 1])));
        }
        f->bytes += text->len;
}

/* The bytes are those of the words with a space between. */
static int count_words(struct perplexity *f, const struct ran_record *record, const char *name,
                       struct ran_buf *scratch, struct ran_error *err)
{
        const struct ran_member *m = ran_record_find(record, name, NULL);
        struct ran_span item;
        size_t pos = 0;
        char type;

        for (size_t n = 0; ran_json_next(record->line, m->value, &pos, NULL, &item, &type); n++) {
                scratch->len = 0;
                int code = ran_json_decode(record->line, item, scratch, err);
                if (code != RAN_OK)
                        return code;
                f->words++;
                f->bytes += scratch->len + (n > 0);
        }
        return RAN_OK;
}

int perplexity_count(struct perplexity *f, const struct cmd_document *d,
                     const struct ran_record *record, const char *words_name, bool ended,
                     struct ran_buf *scratch, struct ran_error *err)
{
        f->words += ended;
        if (d->from == CMD_FROM_TEXT)
                count_text(f, &d->text);
        else if (d->from == CMD_FROM_TOKENS)
                return count_words(f, record, words_name, scratch, err);
        else
                f->uncounted++;
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

void perplexity_merge(struct perplexity *f, const struct perplexity *from)
{
        f->records += from->records;
        f->nll += from->nll;
        f->nll_unknown += from->nll_unknown;
        f->tokens += from->tokens;
        f->unknown += from->unknown;
        f->words += from->words;
        f->bytes += from->bytes;
        f->uncounted += from->uncounted;
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

void perplexity_json(const struct perplexity *f, struct ran_buf *out)
{
        const double known = f->nll - f->nll_unknown;

        ran_buf_str(out, "\"nll\":");
        ran_buf_double(out, f->nll);
        ran_buf_printf(out, ",\"tokens\":%zu", f->tokens);
        add_number(out, "perplexity", perplexity(f->nll, f->tokens));
        ran_buf_printf(out, ",\"unknown\":%zu", f->unknown);
        add_number(out, "nll_known", known);
        add_number(out, "perplexity_known", perplexity(known, f->tokens - f->unknown));
        if (f->uncounted > 0)
                return;
        ran_buf_printf(out, ",\"words\":%zu", f->words);
        add_number(out, "perplexity_per_word", perplexity(f->nll, f->words));
        ran_buf_printf(out, ",\"bytes\":%zu", f->bytes);
        add_number(out, "bits_per_byte",
                   f->bytes > 0 ? f->nll / ran_log(2) / (double)f->bytes : NAN);
}
