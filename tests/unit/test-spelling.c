/* Spelling: features of words, and the words of an encoding. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ran.h"
#include "test.h"
#include "text/hf/hf.h"
#include "vocabulary.h"

enum { MANY = 1 << 24 }; /* buckets: so many that no two features of a test share one */
enum { CASE, SHAPE, PREFIX, SUFFIX = PREFIX + 4 };

/* In which features two words agree, a letter each: c, s, 1 to 4 for prefixes, 5 to 8 for
 * suffixes; good until the next call. */
static const char *agreement(const char *a, const char *b)
{
        static const char letters[RAN_SPELLING + 1] = "cs12345678";
        static char out[RAN_SPELLING + 1];
        uint32_t x[RAN_SPELLING], y[RAN_SPELLING];
        size_t n = 0;

        ran_spelling(a, strlen(a), MANY, x);
        ran_spelling(b, strlen(b), MANY, y);
        for (size_t i = 0; i < RAN_SPELLING; i++)
                if (x[i] == y[i])
                        out[n++] = letters[i];
        out[n] = '\0';
        return out;
}

TEST(words_are_alike_in_what_they_share)
{
        CHECK_STR(agreement("Rome", "Rome"), "cs12345678");
        CHECK_STR(agreement("Rome", "Romania"), "cs123");
        CHECK_STR(agreement("Berlin", "Dublin"), "cs567");
        CHECK_STR(agreement("walking", "talked"), "cs");
        CHECK_STR(agreement("Rome", "ROME"), "12345678");
        CHECK_STR(agreement("rome", "Rome"), "12345678");
        CHECK_STR(agreement("IBM", "NATO"), "cs");
        CHECK_STR(agreement("1996-08-22", "2001-11-09"), "cs");
        CHECK_STR(agreement("1996-08-22", "1996/08/22"), "c123456");
        CHECK_STR(agreement("U.N.", "U.S."), "cs125");
        CHECK_STR(agreement("", ""), "cs12345678");
        CHECK_STR(agreement("", "a"), "");
}

/* The shape counts to two, so that long words are like longer ones. */
TEST(shapes_of_long_words_are_alike)
{
        CHECK_STR(agreement("cat", "elephants"), "cs");
        CHECK_STR(agreement("it", "elephants"), "cs");
        CHECK_STR(agreement("I", "II"), "15");
        CHECK(strchr(agreement("McDonald", "O'Neill"), 's') == NULL);
        CHECK(strchr(agreement("Iago", "iPod"), 'c') == NULL);
}

/* Letters of every script have a case and a place, whatever bytes they take. */
TEST(characters_count_not_bytes)
{
        CHECK_STR(agreement("\xc3\x89t\xc3\xa9", "\xc3\x89t\xc3\xa9s"), "cs123");
        CHECK_STR(agreement("\xd0\x9c\xd0\xbe\xd1\x81\xd0\xba\xd0\xb2\xd0\xb0", "Moscow"), "cs");
        CHECK_STR(agreement("\xe6\x9d\xb1\xe4\xba\xac", "\xe6\x9d\xb1"), "c1");
        CHECK_STR(agreement("a\xf0\x9f\x98\x80", "b\xf0\x9f\x98\x80"), "cs5");
        CHECK_STR(agreement("a\xff", "a\xfe"), "cs12345678"); /* no UTF-8, and no crash */
}

/* A prefix and a suffix of the same letters are not the same. */
TEST(kinds_of_features_are_told_apart)
{
        uint32_t x[RAN_SPELLING];

        ran_spelling("a", 1, MANY, x);
        for (size_t i = 0; i < RAN_SPELLING; i++)
                for (size_t k = 0; k < i; k++)
                        CHECK(x[i] != x[k]);
        ran_spelling("a", 1, 1, x);
        for (size_t i = 0; i < RAN_SPELLING; i++)
                CHECK_SIZE(x[i], 0);
}

/* ---- encodings ------------------------------------------------------------------------------ */

/* Piece i of e is of the word `word` as it is spelled. */
static void check_spelled(const struct ran_encoding *e, size_t i, const char *word)
{
        uint32_t want[RAN_SPELLING];

        ran_spelling(word, strlen(word), MANY, want);
        if (!CHECK(memcmp(e->spelling + i * RAN_SPELLING, want, sizeof(want)) == 0))
                printf("  piece %zu is not spelled as '%s'\n", i, word);
}

static struct ran_tokenizer *tokenizer(void)
{
        static const char lines[] = "[UNK]\nrun\n##ing\n##n\ncaf\n##e\n,\n";
        const struct ran_vocab_settings settings = {
                .max_word = 100, .lowercase = true, .strip_accents = true, .clean = RAN_CLEAN_ALL};
        struct ran_error err;
        struct ran_tokenizer *t = ran_tokenizer_import(lines, strlen(lines), &settings, &err);

        if (t == NULL)
                CHECK_STR(err.text, NULL);
        return t;
}

/* As it stands in the text: with its capitals and accents, before they are made similarity. */
TEST(each_token_has_the_spelling_of_its_whole_word)
{
        static const char text[] = "  RuNning,\xf0\x9f\x98\x80 Caf\xc3\xa9\n Cafe\xcc\x81n";
        static const char *const want[] = {
                "RuNning",          "RuNning",      "RuNning",     ",",
                "\xf0\x9f\x98\x80", "Caf\xc3\xa9",  "Caf\xc3\xa9", "Cafe\xcc\x81n",
                "Cafe\xcc\x81n",    "Cafe\xcc\x81n"};
        struct ran_tokenizer *t = tokenizer();
        struct ran_encoding e = {0};
        struct ran_error err;

        REQUIRE(t != NULL);
        CHECK_OK(ran_tokenizer_encode(t, text, strlen(text), &e, &err), err);
        REQUIRE(CHECK_SIZE(e.n, 10));
        CHECK_OK(ran_encoding_spell(&e, 0, text, strlen(text), MANY, &err), err);
        for (size_t i = 0; i < e.n; i++)
                check_spelled(&e, i, want[i]);
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}

/* A given word is spelled with all that is in it, though it is cut at punctuation. */
TEST(given_words_are_spelled_whole)
{
        static const char *const words[] = {"Run,run", "", "Caf\xc3\xa9"};
        static const char *const want[] = {"Run,run", "Run,run",     "Run,run",
                                           "",        "Caf\xc3\xa9", "Caf\xc3\xa9"};
        struct ran_tokenizer *t = tokenizer();
        struct ran_encoding e = {0};
        struct ran_error err;

        REQUIRE(t != NULL);
        for (size_t i = 0; i < 3; i++) {
                size_t first = e.n, n = strlen(words[i]);

                CHECK_OK(ran_tokenizer_encode_word(t, words[i], n, &e, &err), err);
                CHECK_OK(ran_encoding_spell(&e, first, words[i], n, MANY, &err), err);
        }
        REQUIRE(CHECK_SIZE(e.n, 6));
        for (size_t i = 0; i < e.n; i++)
                check_spelled(&e, i, want[i]);
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}

/* The first word of a record may be empty: there is no text yet then. */
TEST(a_word_of_nothing_has_a_spelling)
{
        struct ran_tokenizer *t = tokenizer();
        struct ran_encoding e = {0};
        struct ran_error err;

        REQUIRE(t != NULL);
        CHECK_OK(ran_tokenizer_encode_word(t, NULL, 0, &e, &err), err);
        CHECK_OK(ran_encoding_spell(&e, 0, NULL, 0, MANY, &err), err);
        REQUIRE(CHECK_SIZE(e.n, 1));
        check_spelled(&e, 0, "");
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}

/* As of a model that does not look at spelling. */
TEST(spelling_without_buckets_is_refused)
{
        struct ran_tokenizer *t = tokenizer();
        struct ran_encoding e = {0};
        struct ran_error err;

        REQUIRE(t != NULL);
        CHECK_OK(ran_tokenizer_encode(t, "a", 1, &e, &err), err);
        CHECK(ran_encoding_spell(&e, 0, "a", 1, 0, &err) == RAN_EINVAL);
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}
