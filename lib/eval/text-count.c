/* text-count.c - the counts of one generated text and its reference: n-grams and subsequences that
 * they have in common.
 *
 * The positions of both texts are sorted by the n-gram that begins there: n-grams of one more
 * symbol refine the order of shorter ones, as in the construction of a suffix array. Equal n-grams
 * are then adjacent, and counted in runs.
 *
 * The longest common subsequence is found for 64 positions at a time (Hyyrö, Bit-parallel
 * LCS-length computation revisited, 2004): a bit of `row` is 0 where a subsequence grows.
 */
#include "base/utf8.h"
#include "eval/eval.h"

#include <stdlib.h>
#include <string.h>

/* A sequence of symbols. */
struct symbols {
        uint32_t *symbol;
        size_t n, cap;
};

struct ran_text_counter {
        struct symbols text, reference;
        struct ran_string_table numbers; /* of words */
        struct ran_buf words;
        uint32_t *order, *rank;
        uint64_t *row;
        size_t order_cap, rank_cap, row_cap;
};

struct ran_text_counter *ran_text_counter_new(void)
{
        return ran_new(1, sizeof(struct ran_text_counter));
}

void ran_text_counter_free(struct ran_text_counter *c)
{
        if (c == NULL)
                return;
        ran_string_table_release(&c->numbers);
        free(c->text.symbol);
        free(c->reference.symbol);
        ran_buf_release(&c->words);
        free(c->order);
        free(c->rank);
        free(c->row);
        free(c);
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Bytes of the white space that the text begins with, of n > 0 bytes; 0: none. As Python's
 * str.split. */
static size_t white_space(const char *text, size_t n)
{
        const unsigned char *s = (const unsigned char *)text;

        if ((s[0] >= 0x09 && s[0] <= 0x0d) || (s[0] >= 0x1c && s[0] <= 0x20))
                return 1;
        if (n >= 2 && s[0] == 0xc2 && (s[1] == 0x85 || s[1] == 0xa0)) /* U+0085, U+00A0 */
                return 2;
        if (n < 3)
                return 0;
        if (s[0] == 0xe1 && s[1] == 0x9a && s[2] == 0x80) /* U+1680 */
                return 3;
        if (s[0] == 0xe2 && s[1] == 0x80 && /* U+2000 to 200A, 2028, 2029, 202F */
            (s[2] <= 0x8a || s[2] == 0xa8 || s[2] == 0xa9 || s[2] == 0xaf))
                return 3;
        if (s[0] == 0xe2 && s[1] == 0x81 && s[2] == 0x9f) /* U+205F */
                return 3;
        return s[0] == 0xe3 && s[1] == 0x80 && s[2] == 0x80 ? 3 : 0; /* U+3000 */
}

static size_t character(const char *text, size_t n)
{
        size_t length = ran_utf8_sequence((const unsigned char *)text, n);

        return length > 0 ? length : 1;
}

/* The next word from *at on: false if there is none. */
static bool next_word(const char *text, size_t n, size_t *at, const char **word, size_t *length)
{
        size_t i = *at, space, begin;

        while (i < n && (space = white_space(text + i, n - i)) > 0)
                i += space;
        for (begin = i; i < n && white_space(text + i, n - i) == 0;)
                i += character(text + i, n - i);
        *at = i;
        *word = text + begin;
        *length = i - begin;
        return i > begin;
}

/* Appends the words of ROUGE: runs of ASCII letters, made small, and digits, with spaces between.
 */
static void split_rouge(struct ran_buf *out, const char *text, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                char c = text[i];

                if (c >= 'A' && c <= 'Z')
                        ran_buf_char(out, (char)(c - 'A' + 'a'));
                else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
                        ran_buf_char(out, c);
                else
                        ran_buf_char(out, ' ');
        }
}

/* ---- 13a ------------------------------------------------------------------------------------ */

/* Appends the text with each `from` replaced by `to`. */
static void replace(struct ran_buf *out, const char *text, size_t n, const char *from,
                    const char *to)
{
        size_t length = strlen(from);

        for (size_t i = 0; i < n;) {
                if (n - i >= length && memcmp(text + i, from, length) == 0) {
                        ran_buf_str(out, to);
                        i += length;
                } else {
                        ran_buf_char(out, text[i++]);
                }
        }
}

/* Whether a character is one of these or, after ^, none of them. */
static bool is(char c, const char *class)
{
        const bool other = class[0] == '^';

        return (c != '\0' && strchr(class + other, c) != NULL) != other;
}

/* Punctuation that is always a token: all of ASCII but ' , - and the full stop. */
static bool is_token(char c)
{
        return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' ||
               (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

static void add(struct ran_buf *out, char c, bool apart)
{
        if (apart)
                ran_buf_add(out, (const char[]){' ', c, ' '}, 3);
        else
                ran_buf_char(out, c);
}

/* Sets one of two adjacent characters apart, where these classes have them. */
static void split_pairs(struct ran_buf *out, const char *s, size_t n, const char *first,
                        const char *second, bool second_apart)
{
        for (size_t i = 0; i < n; i++) {
                const bool pair = i + 1 < n && is(s[i], first) && is(s[i + 1], second);

                add(out, s[i], pair && !second_apart);
                if (pair)
                        add(out, s[++i], second_apart);
        }
}

static void exchange(struct ran_buf *a, struct ran_buf *b)
{
        const struct ran_buf c = *a;

        *a = *b;
        *b = c;
        b->len = 0;
}

/* Appends the text with its tokens separated by white space: the tokenisation 13a, of the script
 * mteval-v13a of NIST, as sacreBLEU has it. Its rules are about ASCII characters, one rule after
 * another over the whole text. Bytes of other characters are never one of these, so the rules apply
 * to bytes. */
static void split_13a(struct ran_buf *out, const char *text, size_t n)
{
        static const char *const replaced[][2] = {
                {"<skipped>", ""}, {"-\n", ""},   {"\n", " "},   {"&quot;", "\""},
                {"&amp;", "&"},    {"&lt;", "<"}, {"&gt;", ">"},
        };
        static const struct {
                const char *first, *second;
                bool second_apart;
        } rules[] = {
                {"^0123456789", ".,", true},  /* a full stop or comma that no digit precedes */
                {".,", "^0123456789", false}, /* ... that no digit follows */
                {"0123456789", "-", true},    /* a dash that follows a digit */
        };
        struct ran_buf x = {0}, y = {0};
        size_t end = 0, at = 0, length;
        const char *word;

        while (next_word(text, n, &at, &word, &length)) /* no white space at its end */
                end = at;
        ran_buf_add(&x, text, end);
        for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
                replace(&y, x.data, x.len, replaced[i][0], replaced[i][1]);
                exchange(&x, &y);
        }
        add(&y, ' ', true);
        for (size_t i = 0; i < x.len; i++)
                add(&y, x.data[i], is_token(x.data[i]));
        add(&y, ' ', true);
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
                exchange(&x, &y);
                split_pairs(&y, x.data, x.len, rules[i].first, rules[i].second,
                            rules[i].second_apart);
        }
        ran_buf_add(out, y.data, y.len);
        ran_buf_release(&x);
        ran_buf_release(&y);
}

/* ---- texts as symbols ----------------------------------------------------------------------- */

static void add_symbol(struct symbols *s, uint32_t symbol)
{
        RAN_ROOM(s->symbol, s->cap, s->n + 1);
        s->symbol[s->n++] = symbol;
}

/* The words of a text, as `split` separates them, as symbols. */
static void number_words(struct ran_text_counter *c, struct symbols *out,
                         void (*split)(struct ran_buf *out, const char *text, size_t n),
                         const char *text, size_t n)
{
        size_t at = 0, length;
        const char *word;

        out->n = c->words.len = 0;
        split(&c->words, text, n);
        while (next_word(c->words.data, c->words.len, &at, &word, &length))
                add_symbol(out, ran_string_table_add(&c->numbers, word, length));
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
static void characters(struct symbols *out, const char *text, size_t n)
{
        size_t length;

        out->n = 0;
        for (size_t i = 0; i < n; i += length) {
                length = white_space(text + i, n - i);
                if (length > 0)
                        continue;
                length = ran_utf8_sequence((const unsigned char *)text + i, n - i);
                length = length > 0 ? length : 1;
                add_symbol(out, number_of(text + i, length));
        }
}

/* ---- n-grams -------------------------------------------------------------------------------- */

/* n-grams of one order in a text and in its reference. */
struct ngram_counts {
        uint64_t text, reference, match; /* each n-gram matches as often as both have it */
};

/* Both texts as one sequence: positions from `middle` on are the reference's. */
struct both {
        const struct symbols *text, *reference;
        size_t middle, n;
        const uint32_t *rank; /* (n) of the n-gram that begins there */
        size_t order;         /* its length, so far */
};

static uint32_t symbol_at(const struct both *x, size_t i)
{
        return i < x->middle ? x->text->symbol[i] : x->reference->symbol[i - x->middle];
}

/* Whether an n-gram of `length` symbols begins there. */
static bool is_whole(const struct both *x, size_t i, size_t length)
{
        return length <= (i < x->middle ? x->middle : x->n) - i;
}

/* By rank, then by the symbol after it. Both are whole. */
static int compare(const void *a, const void *b, void *arg)
{
        const struct both *x = arg;
        size_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

        if (x->order > 0 && x->rank[i] != x->rank[j])
                return x->rank[i] < x->rank[j] ? -1 : 1;
        uint32_t p = symbol_at(x, i + x->order), q = symbol_at(x, j + x->order);
        return p < q ? -1 : p > q;
}

/* Counts the runs of equal n-grams among the first `whole` of order, and numbers them. */
static struct ngram_counts count_runs(const struct both *x, const uint32_t *order, uint32_t *rank,
                                      size_t whole)
{
        struct ngram_counts all = {0};
        struct both by = *x;

        for (size_t from = 0, to; from < whole; from = to) {
                uint64_t text = 0, reference = 0;

                for (to = from; to < whole && compare(&order[from], &order[to], &by) == 0; to++) {
                        text += order[to] < x->middle;
                        reference += order[to] >= x->middle;
                }
                all.text += text;
                all.reference += reference;
                all.match += text < reference ? text : reference;
                for (size_t i = from; i < to; i++)
                        rank[order[i]] = (uint32_t)from;
        }
        return all;
}

/* Of the orders 1 to `most`. */
static void count_ngrams(struct ran_text_counter *k, size_t most, struct ngram_counts *counts)
{
        const struct symbols *text = &k->text, *reference = &k->reference;
        struct both x = {text, reference, text->n, text->n + reference->n, NULL, 0};

        if (x.n >= UINT32_MAX)
                ran_out_of_memory(x.n, sizeof *k->order);
        RAN_ROOM(k->order, k->order_cap, x.n + 1);
        RAN_ROOM(k->rank, k->rank_cap, 2 * x.n + 2);
        uint32_t *order = k->order, *rank = k->rank, *next = rank + x.n;
        size_t n = x.n;
        for (size_t i = 0; i < n; i++)
                order[i] = (uint32_t)i;
        for (; x.order < most; x.order++) {
                size_t whole = 0;

                x.rank = rank;
                for (size_t i = 0; i < n; i++) /* the others have no longer n-gram either */
                        if (is_whole(&x, order[i], x.order + 1))
                                order[whole++] = order[i];
                n = whole;
                if (n > 0)
                        qsort_r(order, n, sizeof *order, compare, &x);
                counts[x.order] = count_runs(&x, order, next, n);
                for (size_t i = 0; i < n; i++)
                        rank[order[i]] = next[order[i]];
        }
}

/* ---- the longest common subsequence --------------------------------------------------------- */

static size_t longest_subsequence(struct ran_text_counter *k)
{
        const struct symbols *text = &k->text, *reference = &k->reference;
        const size_t n = reference->n, words = n / 64 + 1;
        size_t length = 0;

        RAN_ROOM(k->row, k->row_cap, words);
        memset(k->row, 0xff, words * sizeof *k->row);
        for (size_t t = 0; t < text->n; t++) {
                unsigned carry = 0;

                for (size_t w = 0; w < words; w++) {
                        const size_t end = ran_least(n, 64 * w + 64);
                        uint64_t *row = &k->row[w], here = 0, sum;

                        for (size_t i = 64 * w; i < end; i++)
                                here |= (uint64_t)(reference->symbol[i] == text->symbol[t])
                                        << i % 64;
                        unsigned over = __builtin_add_overflow(*row, *row & here, &sum);
                        over |= __builtin_add_overflow(sum, (uint64_t)carry, &sum);
                        *row = sum | (*row & ~here);
                        carry = over;
                }
        }
        for (size_t i = 0; i < n; i++)
                length += !(k->row[i / 64] >> i % 64 & 1);
        return length;
}

/* ---- counts --------------------------------------------------------------------------------- */

static void count_bleu(struct ran_text_counter *c, struct ran_text_counts *out)
{
        struct ngram_counts n[RAN_BLEU_ORDER] = {0};

        count_ngrams(c, RAN_BLEU_ORDER, n);
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
        struct ngram_counts n[RAN_CHRF_ORDER];

        count_ngrams(c, RAN_CHRF_ORDER, n);
        for (size_t k = 0; k < RAN_CHRF_ORDER; k++) {
                out->characters[k][0] = n[k].reference > 0 ? n[k].text : 0;
                out->characters[k][1] = n[k].reference;
                out->characters[k][2] = n[k].match;
        }
}

static void count_rouge(struct ran_text_counter *c, struct ran_text_counts *out)
{
        struct ngram_counts n[RAN_ROUGES];

        count_ngrams(c, 2, n);
        n[2] = (struct ngram_counts){c->text.n, c->reference.n, longest_subsequence(c)};
        for (size_t k = 0; k < RAN_ROUGES; k++)
                out->rouge[k] = ran_types_rates(1, &(struct ran_tag_score){.gold = n[k].reference,
                                                                           .found = n[k].text,
                                                                           .correct = n[k].match});
}

void ran_text_count(struct ran_text_counter *c, const char *text, size_t n, const char *reference,
                    size_t reference_n, struct ran_text_counts *out)
{
        *out = (struct ran_text_counts){0};
        ran_string_table_release(&c->numbers);
        c->numbers = (struct ran_string_table){0};
        number_words(c, &c->text, split_13a, text, n);
        number_words(c, &c->reference, split_13a, reference, reference_n);
        count_bleu(c, out);
        characters(&c->text, text, n);
        characters(&c->reference, reference, reference_n);
        count_chrf(c, out);
        number_words(c, &c->text, split_rouge, text, n);
        number_words(c, &c->reference, split_rouge, reference, reference_n);
        count_rouge(c, out);
}
