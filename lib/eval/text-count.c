/* text-count.c - the counts of one generated text and its reference. */
#include "base/utf8.h"
#include "eval/eval.h"

#include <stdlib.h>

struct ran_text_counter {
        struct ran_ngrams ngrams;
        struct ran_symbols text, reference;
        struct ran_buf words, scratch;
};

struct ran_text_counter *ran_text_counter_new(void)
{
        return ran_new(1, sizeof(struct ran_text_counter));
}

void ran_text_counter_free(struct ran_text_counter *c)
{
        if (c == NULL)
                return;
        ran_ngrams_release(&c->ngrams);
        free(c->text.symbol);
        free(c->reference.symbol);
        ran_buf_release(&c->words);
        ran_buf_release(&c->scratch);
        free(c);
}

/* ---- texts as symbols ----------------------------------------------------------------------- */

/* The words in c->words, as symbols. */
static void number_words(struct ran_text_counter *c, struct ran_symbols *out)
{
        size_t at = 0, length;
        const char *word;

        out->n = 0;
        while (ran_text_word(c->words.data, c->words.len, &at, &word, &length))
                ran_ngrams_word(&c->ngrams, out, word, length);
}

static void words_13a(struct ran_text_counter *c, struct ran_symbols *out, const char *text,
                      size_t n)
{
        c->words.len = 0;
        ran_text_13a(&c->words, &c->scratch, text, n);
        number_words(c, out);
}

static void words_rouge(struct ran_text_counter *c, struct ran_symbols *out, const char *text,
                        size_t n)
{
        c->words.len = 0;
        ran_text_rouge(&c->words, text, n);
        number_words(c, out);
}

/* The bytes of a character as a number; each has one of its own. */
static uint32_t number_of(const char *text, size_t n)
{
        uint32_t number = 0;

        for (size_t i = 0; i < n; i++)
                number = number << 8 | (unsigned char)text[i];
        return number;
}

/* The characters that are not white space. */
static void characters(struct ran_symbols *out, const char *text, size_t n)
{
        size_t length;

        out->n = 0;
        for (size_t i = 0; i < n; i += length) {
                length = ran_text_space(text + i, n - i);
                if (length > 0)
                        continue;
                length = ran_utf8_sequence((const unsigned char *)text + i, n - i);
                length = length > 0 ? length : 1;
                ran_symbols_add(out, number_of(text + i, length));
        }
}

/* ---- counts --------------------------------------------------------------------------------- */

static void count_bleu(struct ran_text_counter *c, struct ran_text_counts *out)
{
        struct ran_ngram_counts n[RAN_BLEU_ORDER];

        ran_ngrams_count(&c->ngrams, &c->text, &c->reference, RAN_BLEU_ORDER, n);
        out->length = c->text.n;
        out->reference_length = c->reference.n;
        for (size_t k = 0; k < RAN_BLEU_ORDER; k++) {
                out->match[k] = n[k].match;
                out->all[k] = n[k].text;
        }
}

/* n-grams of an order count only where the reference has some. */
static void count_chrf(struct ran_text_counter *c, struct ran_text_counts *out)
{
        struct ran_ngram_counts n[RAN_CHRF_ORDER];

        ran_ngrams_count(&c->ngrams, &c->text, &c->reference, RAN_CHRF_ORDER, n);
        for (size_t k = 0; k < RAN_CHRF_ORDER; k++) {
                out->characters[k][0] = n[k].reference > 0 ? n[k].text : 0;
                out->characters[k][1] = n[k].reference;
                out->characters[k][2] = n[k].match;
        }
}

static void rates(double *out, uint64_t match, uint64_t text, uint64_t reference)
{
        double p = (double)match / (double)(text > 0 ? text : 1),
               r = (double)match / (double)(reference > 0 ? reference : 1);

        out[0] = p;
        out[1] = r;
        out[2] = p + r > 0 ? 2 * p * r / (p + r) : 0;
}

static void count_rouge(struct ran_text_counter *c, struct ran_text_counts *out)
{
        struct ran_ngram_counts n[2];

        ran_ngrams_count(&c->ngrams, &c->text, &c->reference, 2, n);
        for (size_t k = 0; k < 2; k++)
                rates(out->rouge[k], n[k].match, n[k].text, n[k].reference);
        const size_t common = ran_ngrams_subsequence(&c->ngrams, &c->text, &c->reference);
        rates(out->rouge[2], common, c->text.n, c->reference.n);
}

void ran_text_count(struct ran_text_counter *c, const char *text, size_t n, const char *reference,
                    size_t reference_n, struct ran_text_counts *out)
{
        *out = (struct ran_text_counts){0};
        ran_ngrams_begin(&c->ngrams);
        words_13a(c, &c->text, text, n);
        words_13a(c, &c->reference, reference, reference_n);
        count_bleu(c, out);
        characters(&c->text, text, n);
        characters(&c->reference, reference, reference_n);
        count_chrf(c, out);
        words_rouge(c, &c->text, text, n);
        words_rouge(c, &c->reference, reference, reference_n);
        count_rouge(c, out);
}
