/* score-page.c - log likelihoods as a page: how surprising each word of each text is. */
#include "cmd/lm/lm.h"

#include <stdio.h>

#include "cmd/pages/page.h"

/* A level of colour for so many bits; the tokens of a text that a page shows. */
enum { LEVELS = 9, SHOWN = 20000 };
static const double level_bits = 1.5;

static double bits_of(double nll)
{
        return nll / ran_log(2);
}

/* ---- a text --------------------------------------------------------------------------------- */

/* The colour of a token says how many bits it took to predict it. */
static void begin_token(struct ran_buf *out, double nll, bool unknown)
{
        const char *what = unknown ? "unknown word: " : "";
        const double bits = bits_of(nll);
        /* also where it is no number */
        const int level = !(bits <= LEVELS * level_bits) ? LEVELS : (int)(bits / level_bits);

        if (level > 0)
                page_open_with(out, "i", "class=\"a%d\" title=\"%s%.1f bits\"", level, what, bits);
        else
                page_open_with(out, "i", "title=\"%s%.1f bits\"", what, bits);
}

/* The tokens in their text; `end` predicted after it. */
static void add_text(struct ran_buf *out, const struct lm *lm, const struct cmd_sequence *q,
                     const float *nll, size_t tokens)
{
        const struct cmd_document *d = &q->document;
        size_t at = 0;

        for (size_t i = 0; i < q->first - q->shown && i < d->L; i++)
                at = d->encoding.end[i] > at ? d->encoding.end[i] : at; /* read, not predicted */
        page_text(out, d->text.data, at);
        for (size_t i = 0; i < tokens; i++) {
                const size_t t = q->first - q->shown + i;
                if (t >= d->L)
                        break;
                size_t start = d->encoding.start[t] > at ? d->encoding.start[t] : at,
                       end = d->encoding.end[t] > start ? d->encoding.end[t] : start;
                page_text(out, d->text.data + at, start - at);
                begin_token(out, (double)nll[i], q->ids[q->first + i] == lm->reserved.unk);
                page_text(out, d->text.data + start, end - start);
                page_close(out, "i");
                at = end;
        }
        if (tokens == q->L - q->first)
                page_text(out, d->text.data + at, d->text.len - at);
}

/* Where there is no text: tokens as the vocabulary calls them, or ids. */
static void add_tokens(struct ran_buf *out, const struct lm *lm, const struct cmd_sequence *q,
                       const float *nll, size_t tokens)
{
        for (size_t i = 0; i < tokens; i++) {
                const uint32_t id = q->ids[q->first + i];
                size_t n = 0;
                const char *s =
                        lm->tokenizer != NULL ? ran_tokenizer_token(lm->tokenizer, id, &n) : NULL;

                begin_token(out, (double)nll[i], id == lm->reserved.unk);
                if (s != NULL)
                        page_text(out, s, n);
                else
                        ran_buf_printf(out, "%u", (unsigned)id);
                page_close(out, "i");
                ran_buf_char(out, ' ');
        }
}

static void add_body(struct ran_buf *out, const struct lm *lm, const struct cmd_sequence *q,
                     const float *nll)
{
        const size_t all = q->L - q->first, tokens = all < SHOWN ? all : SHOWN;

        page_open(out, "div.text.win");
        if (q->document.from == CMD_FROM_TEXT)
                add_text(out, lm, q, nll, tokens);
        else
                add_tokens(out, lm, q, nll, tokens);
        page_close(out, "div");
        if (q->ended && tokens == all && all > 0)
                page_put(out, "p.note", "The end: %.1f bits.", bits_of((double)nll[all - 1]));
        if (tokens < all)
                page_put(out, "p.note", "The first %zu of %zu tokens; --per-token writes all.",
                         tokens, all);
}

void lm_score_page_make(const struct lm *lm, const struct cmd_line *line,
                        const struct cmd_sequence *q, const float *nll, double cost,
                        struct lm_scored *scored)
{
        const struct perplexity *p = &scored->measures;
        struct page_document *d = &scored->document;
        /* [UNK] is easy to predict where it is frequent, and no text is the less surprising for it.
         */
        const double rank = perplexity_spelled(p, cost > 0 ? cost : PERPLEXITY_COST_UNIFORM);

        d->doubt = p->tokens > 0 ? rank / (double)p->tokens : 0;
        page_record_name(&d->name, &line->record.json, line->file, line->number);
        perplexity_tree(p, cost, false, &d->row);
        add_body(&d->body, lm, q, nll);
}

/* ---- the page ------------------------------------------------------------------------------- */

void lm_score_page_write(struct page_documents *documents, const struct perplexity *total,
                         const char *model, double cost, const char *output)
{
        struct ran_buf lead = {0}, *out;
        struct report r = {0};
        struct cmd_sink sink;

        cmd_sink_open(&sink, output);
        out = &sink.buf;
        ran_buf_printf(&lead, "%zu text%s, model %s", total->records,
                       total->records == 1 ? "" : "s", model);
        page_begin(out, "How surprising texts are", &lead);
        report_begin(&r, REPORT_OBJECT, NULL, "All texts");
        perplexity_tree(total, cost, true, &r);
        report_end(&r);
        report_page(&r, out);
        report_release(&r);
        page_open(out, "p.legend");
        for (int level = 1; level <= LEVELS; level += 2) {
                page_open_key(out, 'a', level);
                ran_buf_printf(out, "from %.1f bits", level * level_bits);
                page_close(out, "span");
        }
        page_close(out, "p");
        page_put(
                out, "p.note",
                "The stronger the colour of a word, the less the model expected it after the words "
                "before; point at it for the bits. A bit more is half the probability.");
        page_documents_write(documents, "The most surprising texts", &sink);
        page_end(out);
        cmd_sink_close(&sink);
}
