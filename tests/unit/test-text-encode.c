/* Encoding: tokens, offsets in the original, special tokens, decoding, and time. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ran.h"
#include "test.h"
#include "text/hf/hf.h"
#include "text/tokenizer.h"
#include "vocabulary.h"

/* A vocab.txt of BERT's kind. */
static const char lines[] =
        "[PAD]\n[UNK]\n[CLS]\n[MASK]\nrun\n##ing\n##n\n##s\n,\ncafe\nna\n##ive\n"
        "\xe4\xba\xba\nunder\n##under\n##stand\nstand\n[\n]\nmask\n##a\na\n"
        "\xc3\xa9\xc3\xa9\xc3\xa9\n##\xc3\xa9\n"
        "[a piece that is longer than many a word]\n";

static struct ran_tokenizer *import(bool lower, size_t max_word)
{
        struct ran_vocab_settings settings = {
                .max_word = max_word,
                .lowercase = lower,
                .strip_accents = lower,
                .clean = RAN_CLEAN_ALL,
                .cjk = true,
        };
        struct ran_error err;
        struct ran_tokenizer *t = ran_tokenizer_import(lines, strlen(lines), &settings, &err);

        if (t == NULL)
                CHECK_STR(err.text, NULL);
        return t;
}

/* ---- word tokens ---------------------------------------------------------------------------- */

TEST(the_longest_token_comes_first)
{
        struct ran_tokenizer *t = import(true, 100);

        REQUIRE(t != NULL);
        CHECK_STR(tokens_of(t, "Running, RUNS understand"),
                  "run|##n|##ing|,|run|##s|under|##stand");
        CHECK_STR(tokens_of(t, "underunder understands"), "under|##under|under|##stand|##s");
        ran_tokenizer_free(t);
}

TEST(a_word_that_cannot_be_spelt_is_unknown_as_a_whole)
{
        struct ran_tokenizer *t = import(true, 100);

        REQUIRE(t != NULL);
        CHECK_STR(tokens_with_offsets(t, "runningx run"), "[UNK][0,8)|run[9,12)");
        ran_tokenizer_free(t);
}

TEST(longer_words_than_the_limit_are_unknown)
{
        struct ran_tokenizer *t = import(true, 5);

        REQUIRE(t != NULL);
        CHECK_STR(tokens_of(t, "aaaaa aaaaaa"), "a|##a|##a|##a|##a|[UNK]");
        /* those that are left after normalisation count, */
        CHECK_STR(tokens_of(t, "\xe1\xba\xa1\xe1\xba\xa1\xe1\xba\xa1\xe1\xba\xa1"),
                  "a|##a|##a|##a");
        ran_tokenizer_free(t);
        t = import(false, 5);
        REQUIRE(t != NULL);
        /* characters, not bytes */
        CHECK_STR(tokens_of(t, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                               "a"),
                  "\xc3\xa9\xc3\xa9\xc3\xa9|##\xc3\xa9|##a");
        ran_tokenizer_free(t);
}

/* ---- offsets -------------------------------------------------------------------------------- */

TEST(offsets_count_code_points_of_the_original)
{
        struct ran_tokenizer *t = import(true, 100);

        REQUIRE(t != NULL);
        CHECK_STR(tokens_with_offsets(t, "\xf0\x9f\x98\x80 CAF\xc3\x89"), "[UNK][0,1)|cafe[2,6)");
        /* a mark at the end of a token is left out, one within is covered, and a control too */
        CHECK_STR(tokens_with_offsets(t, "cafe\xcc\x81, cafe"), "cafe[0,4)|,[5,6)|cafe[7,11)");
        CHECK_STR(tokens_with_offsets(t, "nai\xcc\x88ve"), "na[0,2)|##ive[2,6)");
        CHECK_STR(tokens_with_offsets(t, "ru\xc2\xadnning"), "run[0,4)|##n[4,5)|##ing[5,8)");
        CHECK_STR(tokens_with_offsets(t, "run\xe4\xba\xbarun"),
                  "run[0,3)|\xe4\xba\xba[3,4)|run[4,7)");
        ran_tokenizer_free(t);
}

/* Texts of many scripts, with what makes normalisation hard. */
static void random_text(struct ran_buf *out, uint64_t trial)
{
        static const char *const parts[] = {
                "the ",
                "Cat",
                "S",
                ",",
                "\n",
                "caf\xc3\xa9 ",
                "e\xcc\x81",
                " ",
                "\xc2\xad",
                "\xe1\xba\xad",
                "\xed\x95\x9c",
                "\xe1\x84\x92\xe1\x85\xa1",
                "\xef\xbc\xa1",
                "\xe4\xba\xba",
                "a\xcc\x81\xcc\xa3",
                "\xd0\x99",
                "\xf0\x9f\x98\x80",
                "\xc3\x85",
                "-",
                "\xe0\xa4\x95\xe0\xa4\xbf",
        };

        out->len = 0;
        for (uint64_t i = 0; i < 30; i++)
                ran_buf_str(out, parts[ran_random_draw(ran_random_key(5, 99, trial, 0), i) % 20]);
}

/* The normalised characters of code points [begin, end) of a text, without spaces. */
static void normalised_slice(const struct ran_text_rules *rules, const char *text, size_t n,
                             size_t begin, size_t end, struct ran_buf *out)
{
        struct ran_words_scratch scratch = {0};
        struct ran_words words;
        struct ran_word word;
        size_t from = 0, to;

        while (begin > 0 && from < n) {
                from += ran_unicode_length(text + from, n - from);
                begin--;
                end--;
        }
        for (to = from; end > 0 && to < n; end--)
                to += ran_unicode_length(text + to, n - to);
        out->len = 0;
        ran_words_begin(&words, rules, &scratch, text + from, to - from, 0);
        while (ran_words_next(&words, &word, NULL))
                ran_buf_add(out, word.s, word.n);
        ran_words_scratch_release(&scratch);
}

/* Two tokens of one character, as of a hangul syllable that was taken apart, both have its place.
 */
static bool shares_a_character(const struct ran_encoding *e, size_t i)
{
        return (i > 0 && e->end[i - 1] > e->start[i]) ||
               (i + 1 < e->n && e->start[i + 1] < e->end[i]);
}

/* The slice of the original that a token names normalises to the token. */
static void check_slices(const struct ran_vocab_settings *settings)
{
        struct ran_buf text = {0}, slice = {0};
        struct ran_encoding e = {0};
        struct ran_error err;

        random_text(&text, 0);
        ran_buf_str(&text, " ");
        ran_buf_char(&text, '\0');
        struct ran_tokenizer *t = learn_from(settings, (const char *[]){text.data, NULL}, &err);
        REQUIRE(t != NULL);
        for (uint64_t trial = 0; trial < 100; trial++) {
                random_text(&text, trial);
                CHECK_OK(ran_tokenizer_encode(t, text.data, text.len, &e, &err), err);
                for (size_t i = 0; i < e.n; i++) {
                        size_t n;
                        const char *token = ran_tokenizer_token(t, e.ids[i], &n);
                        normalised_slice(&t->rules, text.data, text.len, e.start[i], e.end[i],
                                         &slice);
                        if (n > 2 && memcmp(token, "##", 2) == 0) {
                                token += 2;
                                n -= 2;
                        }
                        bool there = memmem(slice.data, slice.len, token, n) != NULL;
                        bool equal = there && (slice.len == n || shares_a_character(&e, i));
                        if (!CHECK(e.ids[i] == RAN_UNK || equal))
                                return;
                        CHECK(e.start[i] < e.end[i]);
                        CHECK(i == 0 || e.word[i] == e.word[i - 1] ||
                              e.word[i] == e.word[i - 1] + 1);
                }
        }
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
        ran_buf_release(&text);
        ran_buf_release(&slice);
}

TEST(slices_of_the_original_normalise_to_their_tokens)
{
        for (int i = 0; i < 48; i++) {
                struct ran_vocab_settings s = default_settings();
                s.vocab_type = i % 2;
                s.normalize = i / 2 % 3;
                s.lowercase = i / 6 % 2;
                s.split_at = i / 12 % 2;
                s.strip_accents = i / 24;
                s.vocab_size = 60;
                s.min_count = 1;
                check_slices(&s);
        }
}

TEST(offsets_in_other_units)
{
        struct ran_tokenizer *t = import(true, 100);
        struct ran_encoding e = {0};
        struct ran_error err;
        const char *text = "run \xf0\x9f\x98\x80 caf\xc3\xa9, run"; /* 0-3 4-5 6-10 10-11 12-15 */
        static const size_t bytes[] = {0, 3, 4, 8, 9, 14, 14, 15, 16, 19};
        static const size_t utf16[] = {0, 3, 4, 6, 7, 11, 11, 12, 13, 16};

        REQUIRE(t != NULL);
        for (int unit = RAN_UNIT_CODEPOINT; unit <= RAN_UNIT_UTF16; unit++) {
                const size_t *want = unit == RAN_UNIT_BYTE ? bytes : utf16;
                CHECK_OK(ran_tokenizer_encode(t, text, strlen(text), &e, &err), err);
                CHECK_SIZE(e.n, 5);
                ran_encoding_convert(&e, 0, text, strlen(text), unit);
                for (size_t i = 0; i < e.n && unit != RAN_UNIT_CODEPOINT; i++) {
                        CHECK_SIZE(e.start[i], want[2 * i]);
                        CHECK_SIZE(e.end[i], want[2 * i + 1]);
                }
        }
        CHECK_SIZE(e.end[4], 16);
        const char *latin = "caf\xc3\xa9, run";
        CHECK_OK(ran_tokenizer_encode(t, latin, strlen(latin), &e, &err), err);
        ran_encoding_convert(&e, 1, latin, strlen(latin), RAN_UNIT_BYTE);
        CHECK_SIZE(e.end[0], 4); /* before the first that is asked for */
        CHECK_SIZE(e.end[2], 10);
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}

/* ---- words that are split already ----------------------------------------------------------- */

TEST(given_words_keep_their_number)
{
        static const char *const words[] = {"Running", "\xc2\xad", "", "run,run"};
        struct ran_tokenizer *t = import(true, 100);
        struct ran_encoding e = {0};
        struct ran_error err;
        /* run ##n ##ing, two words of which nothing is left, and one that is cut */
        static const size_t want[][3] = {{0, 0, 3}, {0, 3, 4}, {0, 4, 7}, {1, 0, 1},
                                         {2, 0, 0}, {3, 0, 3}, {3, 3, 4}, {3, 4, 7}};

        REQUIRE(t != NULL);
        for (size_t i = 0; i < 4; i++)
                CHECK_OK(ran_tokenizer_encode_word(t, words[i], strlen(words[i]), &e, &err), err);
        CHECK_SIZE(e.words, 4);
        CHECK_SIZE(e.n, 8);
        for (size_t i = 0; i < e.n && i < 8; i++) {
                CHECK_SIZE(e.word[i], want[i][0]);
                CHECK_SIZE(e.start[i], want[i][1]);
                CHECK_SIZE(e.end[i], want[i][2]);
        }
        CHECK(e.ids[3] == t->unk && e.ids[4] == t->unk);
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}

/* ---- special tokens ------------------------------------------------------------------------- */

TEST(special_tokens_are_found_only_when_asked)
{
        struct ran_tokenizer *plain = import(true, 100), *special = import(true, 100);

        REQUIRE(plain != NULL && special != NULL);
        static const char *const names[] = {"[MASK]", "[CLS]"};
        for (size_t i = 0; i < 2; i++) {
                struct ran_added_token token = {.special = true};
                REQUIRE(ran_tokenizer_find(special, names[i], strlen(names[i]), &token.id));
                CHECK(ran_tokenizer_add_special(special, &token, NULL) == RAN_OK);
        }
        CHECK_STR(tokens_of(plain, "a[MASK]run"), "a|[|mask|]|run");
        CHECK_STR(tokens_with_offsets(special, "\xc3\xa1[MASK]run [mask"),
                  "a[0,1)|[MASK][1,7)|run[7,10)|[[11,12)|mask[12,16)");
        CHECK_STR(tokens_of(special, "[CLS][CLS]"), "[CLS]|[CLS]");
        ran_tokenizer_free(plain);
        ran_tokenizer_free(special);
}

TEST(text_never_becomes_a_reserved_token)
{
        struct ran_vocab_settings s = default_settings();
        struct ran_error err;

        s.split_at = RAN_SPLIT_SPACES;
        s.lowercase = false;
        s.min_count = 1;
        for (s.vocab_type = RAN_VOCAB_WORD; s.vocab_type <= RAN_VOCAB_WORDPIECE; s.vocab_type++) {
                struct ran_tokenizer *t =
                        learn_from(&s, (const char *[]){"a [MASK] [MASK] b", NULL}, &err);
                uint32_t id;
                REQUIRE(t != NULL);
                CHECK(ran_tokenizer_find(t, "[MASK]", 6, &id) && id == RAN_MASK);
                CHECK(strstr(tokens_of(t, "a [MASK]"), "[MASK]") == NULL);
                ran_tokenizer_free(t);
        }
}

/* ---- decoding ------------------------------------------------------------------------------- */

static const char *round_trip(const struct ran_tokenizer *t, const char *text)
{
        static struct ran_buf out;
        struct ran_encoding e = {0};
        struct ran_error err;

        out.len = 0;
        if (ran_tokenizer_encode(t, text, strlen(text), &e, &err) != RAN_OK ||
            ran_tokenizer_decode(t, e.ids, e.n, &out, &err) != RAN_OK)
                ran_buf_str(&out, err.text);
        ran_buf_char(&out, '\0');
        ran_encoding_release(&e);
        return out.data;
}

TEST(decoding_gives_the_normalised_words_back)
{
        static const char *const corpus[] = {"the newest , lowest !\nnew low\n", NULL};
        struct ran_vocab_settings s = default_settings();
        struct ran_error err;

        s.split_at = RAN_SPLIT_SPACES;
        s.min_count = 1;
        s.eol_token = (char *)"</s>";
        for (s.vocab_type = RAN_VOCAB_WORD; s.vocab_type <= RAN_VOCAB_WORDPIECE; s.vocab_type++) {
                struct ran_tokenizer *t = learn_from(&s, corpus, &err);
                REQUIRE(t != NULL);
                CHECK_STR(round_trip(t, "The  NEWEST , low !\n\n lowest\nnew"),
                          "the newest , low !\n\nlowest\nnew");
                ran_tokenizer_free(t);
        }
}

TEST(decoding_closes_up_punctuation_that_encoding_split_off)
{
        struct ran_vocab_settings s = default_settings();
        struct ran_error err;

        s.min_count = 1;
        struct ran_tokenizer *t =
                learn_from(&s, (const char *[]){"so, is it? (no!) yes.", NULL}, &err);
        REQUIRE(t != NULL);
        CHECK_STR(round_trip(t, "So, is it? (No!) Yes."), "so, is it? ( no! ) yes.");
        ran_tokenizer_free(t);
}

TEST(ids_without_a_token_are_refused)
{
        struct ran_tokenizer *t = import(true, 100);
        struct ran_buf out = {0};
        struct ran_error err = {0};
        const uint32_t ids[] = {1, 2, 25};

        REQUIRE(t != NULL);
        CHECK_SIZE(ran_tokenizer_size(t), 25);
        ran_buf_str(&out, "as it was");
        CHECK(ran_tokenizer_decode(t, ids, 3, &out, &err) == RAN_EFORMAT);
        CHECK_STR(err.text, "id 25 is not in this vocabulary of 25 tokens");
        CHECK_SIZE(out.len, strlen("as it was"));
        ran_buf_release(&out);
        ran_tokenizer_free(t);
}

/* ---- any input ------------------------------------------------------------------------------ */

TEST(bad_utf8_is_an_error_not_a_crash)
{
        struct ran_tokenizer *t = import(true, 100);
        struct ran_encoding e = {0};
        struct ran_error err = {0};

        REQUIRE(t != NULL);
        CHECK(ran_tokenizer_encode(t, "run \xff run", 9, &e, &err) == RAN_EFORMAT);
        CHECK_STR(err.text, "the text is not valid UTF-8");
        CHECK_OK(ran_tokenizer_encode(t, "run", 3, &e, &err), err); /* fit for further use */
        CHECK_SIZE(e.n, 1);
        CHECK(ran_tokenizer_encode_word(t, "run-run-\xff", 9, &e, &err) == RAN_EFORMAT);
        CHECK_SIZE(e.n, 1); /* nothing of it */
        CHECK_SIZE(e.words, 1);
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}

/* A million characters without a break take a moment; with anything quadratic this test would not
 * end in hours. */
TEST(no_input_takes_a_time_that_is_quadratic)
{
        static const char *const units[] = {
                "a",    "A,",  "\xc3\xa9",     "\xcc\x81\xcc\xa3", "[",
                "[MAS", "##a", "\xe4\xba\xba", "a\xc2\xad",        "\xe1\x84\x92\xe1\x85\xa1"};
        const size_t n = test_all() ? 1000000 : 200000;
        struct ran_tokenizer *t[] = {import(true, 100), import(true, 10 * n)};
        struct ran_encoding e = {0};
        struct ran_error err;

        for (size_t i = 0; i < 2 * sizeof(units) / sizeof(units[0]); i++) {
                struct ran_buf text = {0};
                while (text.len < n)
                        ran_buf_str(&text, units[i / 2]);
                CHECK_OK(ran_tokenizer_encode(t[i % 2], text.data, text.len, &e, &err), err);
                ran_buf_release(&text);
        }
        ran_encoding_release(&e);
        ran_tokenizer_free(t[0]);
        ran_tokenizer_free(t[1]);
}

struct shared {
        const struct ran_tokenizer *t;
        size_t n[8];
};

static void encode_task(void *arg, size_t i)
{
        struct shared *s = arg;
        struct ran_encoding e = {0};
        const char *text = "Running caf\xc3\xa9, under\xe4\xba\xbastand";

        for (int k = 0; k < 200; k++) {
                if (ran_tokenizer_encode(s->t, text, strlen(text), &e, NULL) != RAN_OK)
                        return;
        }
        s->n[i] = e.n;
        ran_encoding_release(&e);
}

TEST(threads_share_a_tokenizer)
{
        struct shared s = {.t = import(true, 100)};
        struct ran_pool *pool = ran_pool_new(4, NULL);

        REQUIRE(s.t != NULL && pool != NULL);
        ran_parallel(pool, 8, encode_task, &s);
        for (size_t i = 0; i < 8; i++)
                CHECK_SIZE(s.n[i], 8);
        ran_pool_free(pool);
        ran_tokenizer_free((struct ran_tokenizer *)s.t);
}
