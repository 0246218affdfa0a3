/* counter.c - counting the words of a corpus of any size, and a vocabulary of the most frequent.
 *
 * Memory is proportional to the distinct words: when there are more than max_distinct, the
 * rarest quarter is dropped. A word's count is then a lower bound; it misses at most its count
 * when it was dropped. Frequent words are never dropped. */
#include "text/hf/hf.h"
#include "text/learn/counter.h"

#include <stdlib.h>
#include <string.h>

struct ran_counter *ran_counter_new(const struct ran_vocab_settings *settings,
                                    struct ran_error *err)
{
        struct ran_counter *c = ran_new(1, sizeof(*c));

        int rc = RAN_OK;

        c->settings = *settings;
        /* A vocabulary contains the reserved tokens, and the end-of-line token, once each. */
        for (size_t i = 0; i < RAN_RESERVED; i++)
                if (settings->eol_token != NULL &&
                    strcmp(settings->eol_token, ran_tokenizer_reserved[i]) == 0)
                        rc = ran_fail(err, RAN_EINVAL,
                                      "the end-of-line token cannot be '%s', which is reserved",
                                      settings->eol_token);
        if (rc != RAN_OK || ran_text_rules_set(&c->rules, settings, err) != RAN_OK) {
                ran_counter_free(c);
                return NULL;
        }
        c->settings.eol_token = c->rules.normal.eol;
        return c;
}

struct ran_counter *ran_counter_new_like(const struct ran_vocab_settings *settings,
                                         const struct ran_tokenizer *t)
{
        struct ran_counter *c = ran_new(1, sizeof(*c));
        const char *eol = t->rules.normal.eol;

        c->settings = *settings;
        c->rules = t->rules;
        c->settings.vocab_type = t->type;
        c->rules.normal.eol = eol != NULL ? ran_copy(eol, strlen(eol)) : NULL;
        c->settings.eol_token = c->rules.normal.eol;
        return c;
}

void ran_counter_free(struct ran_counter *c)
{
        if (c == NULL)
                return;
        ran_text_rules_release(&c->rules);
        ran_string_table_release(&c->words);
        ran_string_table_release(&c->wanted);
        free(c->count);
        free(c);
}

void ran_counter_limit(struct ran_counter *c, size_t vocab_size)
{
        c->settings.vocab_size = vocab_size;
}

void ran_counter_report(const struct ran_counter *c, struct ran_counter_report *report)
{
        *report = c->report;
        report->distinct = c->words.n;
}

double ran_counter_share(const struct ran_counter *c, const struct ran_tokenizer *t)
{
        double known = 0, all = 0;

        for (size_t i = 0; i < c->words.n; i++) {
                size_t n;
                const char *word = ran_string_table_get(&c->words, (uint32_t)i, &n);
                uint32_t id;

                all += (double)c->count[i];
                if (ran_tokenizer_find(t, word, n, &id))
                        known += (double)c->count[i];
        }
        return all > 0 ? known / all : 0;
}

/* ---- words of a text, one after another: their length in four bytes, then they -------------- */

/* Words that are not counted: the end-of-line token, which is in the vocabulary anyway; words
 * that are too long; and U+0000, which JSON libraries treat differently (byte pairs write it as
 * another character). */
static bool counts(const struct ran_counter *c, const struct ran_word *word)
{
        const char *eol = c->settings.eol_token;

        if (eol != NULL && word->n == strlen(eol) && memcmp(word->s, eol, word->n) == 0)
                return false;
        return word->chars <= c->settings.max_word &&
               (c->settings.vocab_type == RAN_VOCAB_BPE || memchr(word->s, 0, word->n) == NULL);
}

int ran_counter_words(const struct ran_counter *c, const char *text, size_t n,
                      struct ran_encoding *e, struct ran_buf *words, struct ran_error *err)
{
        struct ran_encoding_scratch *scratch = ran_encoding_scratch(e);
        struct ran_words walk;
        struct ran_word word;

        ran_words_begin(&walk, &c->rules, &scratch->words, text, n, 0);
        while (ran_words_next(&walk, &word, err)) {
                if (!counts(c, &word))
                        continue;
                uint32_t length = (uint32_t)word.n; /* at most 4 max_word */
                ran_buf_add(words, &length, sizeof(length));
                ran_buf_add(words, word.s, word.n);
        }
        return walk.code;
}

/* ---- counting ------------------------------------------------------------------------------- */

static void count_word(struct ran_counter *c, const char *word, size_t n, uint64_t times)
{
        const size_t before = c->words.n;
        const uint32_t i = ran_string_table_add(&c->words, word, n);

        RAN_ROOM(c->count, c->count_cap, before + 1);
        c->count[i] = i == before ? times : c->count[i] + times;
}

static int rarest_first(const void *a, const void *b, void *arg)
{
        const uint64_t *count = arg;
        const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

        if (count[i] != count[j])
                return count[i] < count[j] ? -1 : 1;
        return i < j ? -1 : 1;
}

/* Drops the rarest quarter; of two equally rare words the one that came first, because it had
 * more time to recur. */
static void prune(struct ran_counter *c)
{
        struct ran_counter kept = {0};
        const size_t n = c->words.n;
        uint32_t *order = ran_new(n, sizeof *order);
        bool *drop = ran_new(n, sizeof *drop);

        for (size_t i = 0; i < n; i++)
                order[i] = (uint32_t)i;
        qsort_r(order, n, sizeof *order, rarest_first, c->count);
        for (size_t i = 0; i < n / 4; i++) {
                drop[order[i]] = true;
                c->report.pruned++;
                c->report.dropped += c->count[order[i]];
        }
        for (size_t i = 0; i < n; i++) {
                size_t length;
                const char *word = ran_string_table_get(&c->words, (uint32_t)i, &length);

                if (!drop[i])
                        count_word(&kept, word, length, c->count[i]);
        }
        free(order);
        free(drop);
        ran_string_table_release(&c->words);
        free(c->count);
        c->words = kept.words;
        c->count = kept.count;
        c->count_cap = kept.count_cap;
}

int ran_counter_add(struct ran_counter *c, const char *words, size_t n, struct ran_error *err)
{
        const char *word;
        size_t length;

        for (size_t at = 0; at < n;) {
                RAN_TRY(ran_counter_word(words, n, &at, &word, &length, err));
                count_word(c, word, length, 1);
                if (c->words.n > c->settings.max_distinct)
                        prune(c);
                c->report.words++;
        }
        return RAN_OK;
}

/* ---- the most frequent words ---------------------------------------------------------------- */

static int by_count(const void *a, const void *b, void *arg)
{
        const struct ran_counter *c = arg;
        uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

        if (c->count[i] != c->count[j])
                return c->count[i] > c->count[j] ? -1 : 1;
        return ran_string_table_compare(&c->words, i, j);
}

uint32_t *ran_counter_order(const struct ran_counter *c)
{
        uint32_t *order = ran_new(c->words.n, sizeof *order);

        for (size_t i = 0; i < c->words.n; i++)
                order[i] = (uint32_t)i;
        qsort_r(order, c->words.n, sizeof *order, by_count, (void *)c);
        return order;
}

/* A corpus may contain reserved tokens, and wanted words may be frequent, too: these are there. */
static int learn_words(const struct ran_counter *c, struct ran_tokenizer *t, struct ran_error *err)
{
        uint32_t *order = ran_counter_order(c);
        size_t n = 0, length;

        while (n < c->words.n && c->count[order[n]] >= c->settings.min_count)
                n++;
        for (size_t i = 0; i < n && t->tokens.n < c->settings.vocab_size; i++) {
                const char *word = ran_string_table_get(&c->words, order[i], &length);
                ran_string_table_add(&t->tokens, word, length);
        }
        for (size_t i = 0; i < c->wanted.n; i++) {
                const char *word = ran_string_table_get(&c->wanted, (uint32_t)i, &length);
                ran_string_table_add(&t->tokens, word, length);
        }
        free(order);
        if (n == 0)
                return ran_fail(err, RAN_EINVAL,
                                "no word occurs %zu times or more (min_count): lower min_count or "
                                "use more text",
                                c->settings.min_count);
        return RAN_OK;
}

/* ---- a tokeniser ---------------------------------------------------------------------------- */

static int learn(const struct ran_counter *c, struct ran_tokenizer *t, struct ran_error *err)
{
        const char *eol = c->settings.eol_token;
        const char *unk = t->type == TOKENIZER_BPE ? NULL : ran_tokenizer_reserved[RAN_UNK];

        RAN_TRY(ran_text_rules_set(&t->rules, &c->settings, err));
        t->attach = t->rules.split == RAN_SPLIT_PUNCTUATION;
        t->max_chars = c->settings.max_word;
        if (t->type == TOKENIZER_WORDPIECE)
                RAN_TRY(ran_tokenizer_set_prefix(t, TOKENIZER_PREFIX, err));
        for (size_t i = 0; i < RAN_RESERVED; i++)
                ran_string_table_add(&t->tokens, ran_tokenizer_reserved[i],
                                     strlen(ran_tokenizer_reserved[i]));
        if (eol != NULL)
                ran_string_table_add(&t->tokens, eol, strlen(eol));
        if (t->type == TOKENIZER_WORD) {
                RAN_TRY(learn_words(c, t, err));
        } else {
                RAN_TRY(ran_learn_units(c, t, err));
                ran_learn_merges(c, t);
        }
        return ran_tokenizer_finish(t, unk, err);
}

struct ran_tokenizer *ran_counter_learn(const struct ran_counter *c, struct ran_error *err)
{
        if (c->words.n == 0) {
                ran_fail(err, RAN_EINVAL, "cannot learn a vocabulary: there are no words");
                return NULL;
        }
        enum ran_tokenizer_type type = (enum ran_tokenizer_type)c->settings.vocab_type;
        struct ran_tokenizer *t = ran_tokenizer_new(type);
        if (learn(c, t, err) != RAN_OK) {
                ran_tokenizer_free(t);
                t = NULL;
        }
        return t;
}
