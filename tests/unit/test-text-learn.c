/* Learning vocabularies: counting, forgetting, words by frequency, and word tokens and byte pairs
 * against a naive learner that counts all pairs anew before each join. */
#include <stdlib.h>
#include <string.h>

#include "ran.h"
#include "test.h"
#include "vocabulary.h"

static struct ran_error err;

static struct ran_vocab_settings plain_settings(int type, size_t size, size_t min_count)
{
        struct ran_vocab_settings s = type_settings(type);

        s.vocab_size = size;
        s.min_count = min_count;
        return s;
}

static void check_learned(const struct ran_vocab_settings *s, const char *text, const char *tokens)
{
        struct ran_tokenizer *t = learn_from(s, (const char *[]){text, NULL}, &err);

        if (t == NULL)
                CHECK_STR(err.text, tokens);
        else
                CHECK_STR(all_tokens(t, RAN_RESERVED), tokens);
        ran_tokenizer_free(t);
}

/* ---- words ---------------------------------------------------------------------------------- */

TEST(words_by_frequency_then_by_bytes)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORD, 100, 1);

        check_learned(&s, "b a, The the b\xc3\xa9 the b", "the|b|,|a|b\xc3\xa9");
        s.vocab_size = 8;
        check_learned(&s, "b a, The the b\xc3\xa9 the b", "the|b|,");
        s.vocab_size = 100;
        s.min_count = 2;
        check_learned(&s, "b a, The the b\xc3\xa9 the b", "the|b");
}

TEST(the_reserved_tokens_come_first)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORD, 100, 1);
        struct ran_tokenizer *t = learn_from(&s, (const char *[]){"a", NULL}, &err);

        REQUIRE(t != NULL);
        CHECK_STR(all_tokens(t, 0), "[UNK]|[MASK]|[SEP]|[START]|[END]|a");
        ran_tokenizer_free(t);
}

TEST(an_end_of_line_token_is_a_token_of_its_own)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORD, 100, 1);

        s.split_at = RAN_SPLIT_SPACES;
        s.eol_token = (char *)"<eos>";
        check_learned(&s, "a b\n a <eos>", "<eos>|a|b");
        s.vocab_type = RAN_VOCAB_WORDPIECE;
        check_learned(&s, "ab\n ac", "<eos>|a|##b|##c|ab|ac");
}

TEST(an_end_of_line_token_must_pass_unchanged)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORD, 100, 1);
        static const char *const bad[] = {"<eos>", "EOS", "two words", ""};

        for (size_t i = 0; i < 4; i++) {
                s.eol_token = (char *)bad[i];
                CHECK(ran_counter_new(&s, &err) == NULL);
                CHECK(err.code == RAN_EINVAL);
                CHECK(strstr(err.text, "does not pass normalisation and splitting unchanged") !=
                      NULL);
        }
        s.split_at = RAN_SPLIT_SPACES;
        s.lowercase = false;
        s.eol_token = (char *)"[SEP]";
        CHECK(ran_counter_new(&s, &err) == NULL);
        CHECK_STR(err.text, "the end-of-line token cannot be '[SEP]', which is reserved");
        char longer[102] = {0};
        s.eol_token = memset(longer, 'x', sizeof longer - 1);
        CHECK(ran_counter_new(&s, &err) == NULL);
        CHECK_STR(err.text, "--eol-token has 101 bytes; the maximum is 100");
}

/* It was a token, and each line feed the unknown one. */
TEST(an_end_of_line_token_is_no_longer_than_words)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORDPIECE, 100, 1);

        s.split_at = RAN_SPLIT_SPACES;
        s.eol_token = (char *)"<\xc3\xa9ol>";
        s.max_word = 4;
        CHECK(ran_counter_new(&s, &err) == NULL);
        CHECK(err.code == RAN_EINVAL);
        CHECK_STR(err.text, "the end-of-line token '<\xc3\xa9ol>' is longer than --max-word 4, so "
                            "it would be unknown");
        s.max_word = 5;
        check_learned(&s, "a\n", "<\xc3\xa9ol>|a");
        s.vocab_type = RAN_VOCAB_WORD; /* no word is too long for it */
        s.max_word = 4;
        check_learned(&s, "a\n", "<\xc3\xa9ol>|a");
}

TEST(nothing_to_learn_from_is_an_error)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORD, 100, 2);

        check_learned(&s, " \n", "cannot learn a vocabulary: there are no words");
        check_learned(
                &s, "a b",
                "no word occurs 2 times or more (min_count): lower min_count or use more text");
        s = plain_settings(RAN_VOCAB_WORDPIECE, 6, 1);
        check_learned(&s, "aa", "a vocabulary of 6 tokens has no room for a single character");
}

TEST(overlong_words_and_nul_are_not_learned)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORD, 100, 1);

        s.max_word = 3;
        check_learned(&s, "abc abcd \xc3\xa9\xc3\xa9\xc3\xa9", "abc|\xc3\xa9\xc3\xa9\xc3\xa9");
        s.clean = RAN_CLEAN_NONE;
        struct ran_counter *c = ran_counter_new(&s, &err);
        struct ran_encoding e = {0};
        struct ran_buf words = {0};
        CHECK_OK(ran_counter_words(c, "a\0b", 3, &e, &words, &err), err);
        CHECK_SIZE(words.len, 0);
        ran_counter_free(c);
        ran_encoding_release(&e);
        ran_buf_release(&words);
}

TEST(foreign_bytes_are_no_words)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORD, 100, 1);
        struct ran_counter *c = ran_counter_new(&s, &err);

        REQUIRE(c != NULL);
        CHECK(ran_counter_add(c, "abc", 3, &err) == RAN_EINVAL);
        CHECK(ran_counter_add(c,
                              "\xff\xff\xff\xff"
                              "a",
                              5, &err) == RAN_EINVAL);
        ran_counter_free(c);
}

/* ---- extending ------------------------------------------------------------------------------ */

static struct ran_counter *count_as(const struct ran_tokenizer *t, const char *text)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORD, 100, 1);
        struct ran_counter *c = t != NULL ? ran_counter_new_like(&s, t) : ran_counter_new(&s, &err);
        struct ran_encoding e = {0};
        struct ran_buf words = {0};

        CHECK_OK(ran_counter_words(c, text, strlen(text), &e, &words, &err), err);
        CHECK_OK(ran_counter_add(c, words.data, words.len, &err), err);
        ran_encoding_release(&e);
        ran_buf_release(&words);
        return c;
}

/* The tokens that words of the text add to `of`: "" if it stays as it is. */
static const char *added(const struct ran_tokenizer *of, bool alike, const char *text, size_t least)
{
        static char tokens[200];
        struct ran_counter *c = count_as(alike ? of : NULL, text);
        struct ran_tokenizer *t = NULL, *again;
        size_t n;

        tokens[0] = '\0';
        CHECK_OK(ran_counter_extend(c, of, least, &t, &err), err);
        if (t != NULL) {
                CHECK(ran_tokenizer_begins_with(t, of));
                CHECK(!ran_tokenizer_begins_with(of, t));
                snprintf(tokens, sizeof tokens, "%s", all_tokens(t, ran_tokenizer_size(of)));
                const char *json = ran_tokenizer_json(t, &n);
                again = ran_tokenizer_load(json, n, &err);
                CHECK(again != NULL &&
                      strcmp(ran_tokenizer_digest(again), ran_tokenizer_digest(t)) == 0);
                ran_tokenizer_free(again);
        }
        ran_tokenizer_free(t);
        ran_counter_free(c);
        return tokens;
}

TEST(a_vocabulary_is_extended_by_the_words_it_lacks)
{
        const char vocab[] = "[UNK]\n[MASK]\n[SEP]\n[START]\n[END]\nthe\nsnow\n##man\n##s\nrain\n";
        struct ran_tokenizer *t = ran_tokenizer_load(vocab, sizeof vocab - 1, &err);

        REQUIRE(t != NULL);
        CHECK(ran_tokenizer_begins_with(t, t));
        CHECK_STR(added(t, true, "the Snowman snowman rains RAINS hail hail hail snowmans", 2),
                  "hail|rains|snowman");
        CHECK_STR(added(t, true, "the snowman, the rain", 2), "");
        CHECK_STR(added(t, true, "", 1), "");
        /* counted by other rules they may be no words of it */
        CHECK_STR(added(t, false, "Hail Hail hail sun", 1), "");
        ran_tokenizer_free(t);
}

TEST(an_extended_vocabulary_cuts_words_by_its_words)
{
        const char vocab[] = "[UNK]\n[MASK]\n[SEP]\n[START]\n[END]\nthe\nsnow\n##man\n##s\nrain\n";
        struct ran_tokenizer *t = ran_tokenizer_load(vocab, sizeof vocab - 1, &err), *more = NULL;

        REQUIRE(t != NULL);
        struct ran_counter *c = count_as(t, "snowman snowman");
        CHECK_OK(ran_counter_extend(c, t, 2, &more, &err), err);
        REQUIRE(more != NULL);
        CHECK_STR(tokens_of(t, "the snowmans"), "the|snow|##man|##s");
        CHECK_STR(tokens_of(more, "the snowmans"), "the|snowman|##s");
        ran_tokenizer_free(more);
        ran_tokenizer_free(t);
        ran_counter_free(c);
}

TEST(byte_pairs_are_not_extended)
{
        struct ran_vocab_settings s = type_settings(RAN_VOCAB_BPE);
        const char *const texts[] = {"some words of some text", NULL};
        struct ran_tokenizer *t = learn_from(&s, texts, &err);

        REQUIRE(t != NULL);
        CHECK_STR(added(t, true, "other words other words", 1), "");
        ran_tokenizer_free(t);
}

/* ---- forgetting ----------------------------------------------------------------------------- */

TEST(the_rarest_words_are_forgotten)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORD, 100, 1);

        s.max_distinct = 4;
        /* the fifth different word drops one of the four that came once: the oldest, "b" */
        check_learned(&s, "a a b c d e", "a|c|d|e");
        /* and "f" drops "c" */
        check_learned(&s, "a a b c d e f", "a|d|e|f");
}

TEST(what_was_forgotten_is_reported)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORD, 100, 1);
        struct ran_counter *c = ran_counter_new(&s, &err);
        struct ran_counter_report report;
        struct ran_encoding e = {0};
        struct ran_buf words = {0};

        s.max_distinct = 100;
        ran_counter_free(c);
        c = ran_counter_new(&s, &err);
        REQUIRE(c != NULL);
        for (int i = 0; i < 2000; i++) {
                char text[32];
                snprintf(text, sizeof(text), "often w%d", i);
                CHECK_OK(ran_counter_words(c, text, strlen(text), &e, &words, &err), err);
        }
        CHECK_OK(ran_counter_add(c, words.data, words.len, &err), err);
        ran_counter_report(c, &report);
        CHECK_SIZE(report.words, 4000);
        CHECK(report.distinct <= 100);
        CHECK_SIZE(report.pruned, 2001 - report.distinct);
        CHECK_SIZE(report.dropped, report.pruned);
        struct ran_tokenizer *t = ran_counter_learn(c, &err);
        REQUIRE(t != NULL);
        CHECK_STR(tokens_of(t, "often w0 w1999"), "often|[UNK]|w1999");
        ran_tokenizer_free(t);
        ran_counter_free(c);
        ran_encoding_release(&e);
        ran_buf_release(&words);
}

/* ---- word tokens ---------------------------------------------------------------------------- */

TEST(pairs_are_joined_by_frequency)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORDPIECE, 100, 2);

        /* "lo" and "##ow" 5 times each: the pair with the older tokens; so "ne" before "##ew" */
        check_learned(&s, "low low low lower lower new new new new",
                      "l|n|##e|##o|##r|##w|lo|low|ne|new|##er|lower");
}

TEST(runs_of_one_letter)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORDPIECE, 100, 1);

        check_learned(&s, "aaaaaaa", "a|##a|##aa|##aaaa|aaaaa|aaaaaaa");
}

/* Longer ones would be refused when the vocabulary is read. */
TEST(runs_are_joined_up_to_a_length)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORDPIECE, 100, 1);
        static char run[3001];
        const char *const texts[] = {run, NULL};
        size_t n, longest = 0, size;

        memset(run, 'a', sizeof run - 1);
        s.max_word = 10000;
        struct ran_tokenizer *t = learn_from(&s, texts, &err);
        REQUIRE(t != NULL);
        for (uint32_t id = 0; id < ran_tokenizer_size(t); id++) {
                ran_tokenizer_token(t, id, &n);
                longest = n > longest ? n : longest;
        }
        CHECK(longest > 500 && longest <= 1000);
        const char *json = ran_tokenizer_json(t, &size);
        struct ran_tokenizer *again = ran_tokenizer_load(json, size, &err);
        CHECK(again != NULL);
        ran_tokenizer_free(again);
        ran_tokenizer_free(t);
}

TEST(the_alphabet_is_limited)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORDPIECE, 100, 1);

        s.limit_alphabet = 2;
        check_learned(&s, "ab ab ab ac", "a|##b|ab");
        s.limit_alphabet = 100;
        s.vocab_size = 7;
        check_learned(&s, "ab ab ab ac", "a|##b");
}

/* ---- byte pairs ------------------------------------------------------------------------------ */

static void check_pairs(const struct ran_vocab_settings *s, const char *text, const char *tokens)
{
        struct ran_tokenizer *t = learn_from(s, (const char *[]){text, NULL}, &err);

        REQUIRE(t != NULL);
        CHECK_STR(all_tokens(t, RAN_RESERVED + 256), tokens);
        ran_tokenizer_free(t);
}

TEST(byte_pairs_are_joined_by_frequency)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_BPE, 1000, 2);
        const char *text = "low low low lower lower new new new new";

        /* Words: low, " low" 2, " lower" 2, " new" 4. Pairs: w-e is in no word but lower, 2; l-o
         * and o-w 5, of which l-o is older, and G-l (the space) 4, G-n, n-e, e-w 4. */
        check_pairs(&s, text, "lo|low|ew|new|\xc4\xa0low|\xc4\xa0new|er|\xc4\xa0lower");
        s.min_count = 5;
        check_pairs(&s, text, "lo|low");
        s.min_count = 1;
        s.vocab_size = RAN_RESERVED + 256 + 1;
        check_pairs(&s, text, "lo");
        s.vocab_size--;
        check_pairs(&s, text, "");
        s.vocab_size = 1000;
        s.max_word = 4;
        check_pairs(&s, text, "ew|new|\xc4\xa0new|lo|low|\xc4\xa0low");
}

/* Words: Ab, " aB", two line feeds, one, Ab, a tab, aB, three line feeds. */
TEST(byte_pairs_keep_case_and_white_space)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_BPE, 1000, 2);

        check_pairs(&s, "Ab aB\n\n\nAb\taB\n\n\n", "\xc4\x8a\xc4\x8a|Ab|aB");
}

/* U+0000 is written as another character, so that it can be learned. */
TEST(byte_pairs_may_hold_nul)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_BPE, 1000, 2);
        struct ran_counter *c = ran_counter_new(&s, &err);
        struct ran_encoding e = {0};
        struct ran_buf words = {0};

        REQUIRE(c != NULL);
        CHECK_OK(ran_counter_words(c, "\0\0\0", 3, &e, &words, &err), err);
        CHECK_OK(ran_counter_add(c, words.data, words.len, &err), err);
        struct ran_tokenizer *t = ran_counter_learn(c, &err);
        REQUIRE(t != NULL);
        CHECK_STR(all_tokens(t, RAN_RESERVED + 256), "\xc4\x80\xc4\x80");
        ran_tokenizer_free(t);
        ran_counter_free(c);
        ran_encoding_release(&e);
        ran_buf_release(&words);
}

TEST(byte_pairs_need_their_rules)
{
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_BPE, 260, 2);

        CHECK(ran_counter_new(&s, &err) == NULL && err.code == RAN_EINVAL);
        CHECK_STR(err.text, "--vocab-type bpe has a token for each byte and the reserved ones: "
                            "--vocab-size must be 261 or more, not 260");
        s = plain_settings(RAN_VOCAB_BPE, 300, 2);
        s.eol_token = (char *)"<eos>";
        CHECK(ran_counter_new(&s, &err) == NULL && err.code == RAN_EINVAL);
        CHECK_STR(err.text,
                  "--vocab-type bpe keeps each line feed as it is: leave out --eol-token");
        for (int type = RAN_VOCAB_WORD; type <= RAN_VOCAB_BPE; type++) {
                s = plain_settings(type, 300, 2);
                s.split_at = type == RAN_VOCAB_BPE ? RAN_SPLIT_SPACES : RAN_SPLIT_GPT2;
                CHECK(ran_counter_new(&s, &err) == NULL && err.code == RAN_EINVAL);
                CHECK_STR(err.text,
                          "--vocab-type bpe requires --split-at gpt2, and no other type allows it");
        }
}

/* ---- a naive learner ------------------------------------------------------------------------- */

/* The naive learner works on text: tokens of a word are separated by spaces. */
struct naive_word {
        char tokens[256];
        size_t count;
};
struct naive {
        struct naive_word word[64];
        size_t n;
        const char *prefix;  /* of tokens that go on with a word */
        char token[512][64]; /* the vocabulary */
        size_t tokens;
};

static size_t naive_id(const struct naive *v, const char *token)
{
        size_t i = 0;

        while (i < v->tokens && strcmp(v->token[i], token) != 0)
                i++;
        return i;
}

static size_t naive_add(struct naive *v, const char *token)
{
        size_t id = naive_id(v, token);

        if (id == v->tokens)
                strcpy(v->token[v->tokens++], token);
        return id;
}

/* Ids of a word's tokens. */
static size_t naive_row(const struct naive *v, const struct naive_word *w, size_t *row)
{
        char copy[256], *rest = copy;
        size_t n = 0;

        strcpy(copy, w->tokens);
        for (char *token; (token = strsep(&rest, " ")) != NULL;)
                row[n++] = naive_id(v, token);
        return n;
}

/* The most frequent pair, of equal ones that with the smallest ids; its count. */
static size_t naive_best(const struct naive *v, size_t *a, size_t *b)
{
        static size_t count[512][512];
        size_t row[256], best = 0;

        memset(count, 0, sizeof(count));
        for (size_t i = 0; i < v->n; i++) {
                size_t n = naive_row(v, &v->word[i], row);
                for (size_t k = 1; k < n; k++)
                        count[row[k - 1]][row[k]] += v->word[i].count;
        }
        for (size_t x = 0; x < v->tokens; x++) {
                for (size_t y = 0; y < v->tokens; y++) {
                        if (count[x][y] > best) {
                                best = count[x][y];
                                *a = x;
                                *b = y;
                        }
                }
        }
        return best;
}

static void naive_join(struct naive *v, size_t a, size_t b)
{
        char joined[128];
        size_t row[256];

        snprintf(joined, sizeof(joined), "%s%s", v->token[a], v->token[b] + strlen(v->prefix));
        size_t id = naive_add(v, joined);
        for (size_t i = 0; i < v->n; i++) {
                struct naive_word *w = &v->word[i];
                size_t n = naive_row(v, w, row);
                w->tokens[0] = '\0';
                for (size_t k = 0; k < n; k++) {
                        bool both = k + 1 < n && row[k] == a && row[k + 1] == b;
                        strcat(w->tokens, w->tokens[0] != '\0' ? " " : "");
                        strcat(w->tokens, v->token[both ? id : row[k]]);
                        k += both;
                }
        }
}

/* Letters a to d, which are ASCII and so in the order of their bytes. */
static void naive_alphabet(struct naive *v)
{
        for (int goes_on = 0; goes_on <= 1; goes_on++) {
                for (char c = 'a'; c <= 'd'; c++) {
                        char token[4] = {'#', '#', c, '\0'}, *form = token + (goes_on ? 0 : 2);
                        bool seen = false;
                        for (size_t i = 0; i < v->n; i++) {
                                const char *at = strstr(v->word[i].tokens, form);
                                seen |= goes_on ? at != NULL : v->word[i].tokens[0] == c;
                        }
                        if (seen)
                                naive_add(v, form);
                }
        }
}

static void naive_learn(struct naive *v, size_t size, size_t min_count)
{
        size_t a = 0, b = 0;

        while (v->tokens < size && naive_best(v, &a, &b) >= min_count)
                naive_join(v, a, b);
}

/* A random corpus over few letters, so that pairs overlap, repeat and make the same tokens. No word
 * of byte pairs has white space but those that are it. */
static void random_corpus(struct naive *v, struct ran_buf *text, uint64_t trial)
{
        uint64_t key = ran_random_key(7, 99, trial, 0), at = 0;

        for (v->n = 0; v->n < 12; v->n++) {
                struct naive_word *w = &v->word[v->n];
                size_t length = 1 + ran_random_draw(key, at++) % 9;
                size_t letters = 1 + trial % 4;
                char word[16] = "", *to = w->tokens;
                for (size_t i = 0; i < length; i++) {
                        word[i] = (char)('a' + ran_random_draw(key, at++) % letters);
                        to += sprintf(to, "%s%s%c", i > 0 ? " " : "", i > 0 ? v->prefix : "",
                                      word[i]);
                }
                w->count = 1 + ran_random_draw(key, at++) % 5;
                for (size_t i = 0; i < w->count; i++)
                        ran_buf_printf(text, "%s\n", word);
        }
        ran_buf_char(text, '\0');
}

static void check_naive(int type, const char *prefix, size_t size, uint64_t trials)
{
        struct ran_tokenizer *bytes = NULL;

        if (type == RAN_VOCAB_BPE) {
                struct ran_vocab_settings s = plain_settings(type, RAN_RESERVED + 256, 1);
                bytes = learn_from(&s, (const char *[]){"a", NULL}, &err);
                REQUIRE(bytes != NULL);
        }
        for (uint64_t trial = 0; trial < trials; trial++) {
                struct naive *v = calloc(1, sizeof(*v));
                struct ran_buf text = {0}, want = {0};
                REQUIRE(v != NULL);
                v->prefix = prefix;
                random_corpus(v, &text, trial);
                struct ran_vocab_settings s = plain_settings(type, size, 1 + trial % 3);
                if (bytes == NULL)
                        naive_alphabet(v);
                for (uint32_t id = RAN_RESERVED; bytes != NULL && id < RAN_RESERVED + 256; id++) {
                        size_t n;
                        const char *token = ran_tokenizer_token(bytes, id, &n);
                        memcpy(v->token[v->tokens++], token, n);
                }
                naive_learn(v, s.vocab_size - RAN_RESERVED, s.min_count);
                for (size_t i = 0; i < v->tokens; i++)
                        ran_buf_printf(&want, "%s%s", i > 0 ? "|" : "", v->token[i]);
                ran_buf_char(&want, '\0');
                check_learned(&s, text.data, want.data);
                ran_buf_release(&text);
                ran_buf_release(&want);
                free(v);
        }
        ran_tokenizer_free(bytes);
}

TEST(wordpieces_are_those_of_a_naive_learner)
{
        check_naive(RAN_VOCAB_WORDPIECE, "##", 60, 60);
}

TEST(byte_pairs_are_those_of_a_naive_learner)
{
        check_naive(RAN_VOCAB_BPE, "", RAN_RESERVED + 256 + 40, 20);
}

/* Each letter that was seen is a token where it was seen, so that all of the corpus can be spelt.
 */
TEST(nothing_of_the_corpus_is_unknown)
{
        static const char *const corpus[] = {
                "quiz \xd0\xb4\xd0\xb0 \xe4\xba\xba z\xc3\xa9z\xc3\xa9", NULL};
        struct ran_vocab_settings s = plain_settings(RAN_VOCAB_WORDPIECE, 30, 2);
        struct ran_tokenizer *t = learn_from(&s, corpus, &err);

        REQUIRE(t != NULL);
        CHECK(strstr(tokens_of(t, corpus[0]), "[UNK]") == NULL);
        ran_tokenizer_free(t);
}
