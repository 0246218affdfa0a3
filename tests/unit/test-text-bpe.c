/* Byte pairs: the words of GPT-2, its characters for bytes, merges against a naive merger, that
 * nothing of a text is lost, offsets, time. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bpe-file.h"
#include "dice.h"
#include "ran.h"
#include "test.h"
#include "text/tokenizer.h"
#include "vocabulary.h"

static struct ran_error err;

/* ---- bytes ---------------------------------------------------------------------------------- */

TEST(each_byte_has_a_character)
{
        for (int byte = 0; byte < 256; byte++)
                CHECK_SIZE((size_t)ran_gpt2_byte(ran_gpt2_char((unsigned char)byte)), (size_t)byte);
        CHECK(ran_gpt2_char('a') == 'a' && ran_gpt2_char('~') == '~' &&
              ran_gpt2_char(0xff) == 0xff);
        CHECK(ran_gpt2_char(0) == 0x100 && ran_gpt2_char('\n') == 0x10a &&
              ran_gpt2_char(' ') == 0x120);
        CHECK(ran_gpt2_char(0x7f) == 0x121 && ran_gpt2_char(0xa0) == 0x142 &&
              ran_gpt2_char(0xad) == 0x143);
        static const int32_t none[] = {-1, 0, ' ', 0x7f, 0xad, 0x144, 0x200, 0x10ffff};
        for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
                CHECK(ran_gpt2_byte(none[i]) == -1);
}

/* ---- words ---------------------------------------------------------------------------------- */

/* The words of a text, '|' between: those of GPT-2, or with `digits` those of GPT-4. Static. */
static const char *words_by(const char *text, size_t digits)
{
        static struct ran_buf out;
        size_t n = strlen(text), chars, all = 0;

        out.len = 0;
        for (size_t pos = 0, length; pos < n; pos += length) {
                length = digits == 0 ? ran_gpt2_word(text + pos, n - pos, &chars)
                                     : ran_gpt4_word(text + pos, n - pos, digits, &chars);
                if (length == 0)
                        break;
                ran_buf_str(&out, pos > 0 ? "|" : "");
                ran_buf_add(&out, text + pos, length);
                CHECK_SIZE(chars, ran_unicode_count(text + pos, length));
                all += length;
        }
        CHECK_SIZE(all, n);
        ran_buf_char(&out, '\0');
        return out.data;
}

static const char *words_of(const char *text)
{
        return words_by(text, 0);
}

TEST(words_of_later_models)
{
        static const char *const cases[][2] = {
                {"Hello, my world!", "Hello|,| my| world|!"},
                {"12345 1a", "123|45| |1|a"},
                {"a  b", "a| | b"},
                {"a\n\nb \n c", "a|\n\n|b| \n| c"},
                {"a \r\n\t b", "a| \r\n|\t| b"},
                {"x.\n\ny ..\r\n ", "x|.\n\n|y| ..\r\n| "},
                {"(b) \tc\t\td", "(b|)| |\tc|\t|\td"},
                {"I'm I'M he'LL 'S 'x 'r", "I|'m| I|'M| he|'LL| '|S| '|x| '|r"},
                {"'\xc5\xbfx", "'\xc5\xbf|x"},
                {"don't'", "don|'t|'"},
                {"\xc2\xbd\xd9\xa3 4", "\xc2\xbd\xd9\xa3| |4"},
                {"a\xcc\x81 b\xcc\x81g", "a|\xcc\x81| b|\xcc\x81g"},
                {"\n a", "\n| a"},
                {"  ", "  "},
                {" ", " "},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                CHECK_STR(words_by(cases[i][0], 3), cases[i][1]);
        CHECK_STR(words_by("123 45", 1), "1|2|3| |4|5");
        size_t chars;
        CHECK_SIZE(ran_gpt4_word("'\xc5\xbf", 3, 3, &chars), 3);
        CHECK_SIZE(ran_gpt4_word("'\xc5", 2, 3, &chars), 1);
        CHECK_SIZE(ran_gpt4_word("\xff", 1, 3, &chars), 0);
        CHECK_SIZE(ran_gpt4_word(" \xff", 2, 3, &chars), 1);
}

TEST(words_have_the_space_before_them)
{
        static const char *const cases[][2] = {
                {"Hello, my world!", "Hello|,| my| world|!"},
                {"a1 1a 12", "a|1| 1|a| 12"},
                {"a  b", "a| | b"},
                {"a   b", "a|  | b"},
                {"a \n b", "a| \n| b"},
                {"a\n\nb", "a|\n|\n|b"},
                {"a\n\n b", "a|\n\n| b"},
                {" \n", " \n"},
                {"a  ", "a|  "},
                {" ", " "},
                {"(x)=-1", "(|x|)=-|1"},
                {"\xc3\x89t\xc3\xa9 \xe6\x9d\xb1\xe4\xba\xac",
                 "\xc3\x89t\xc3\xa9| \xe6\x9d\xb1\xe4\xba\xac"},
                /* numbers of any kind: Arabic, a half, Roman */
                {"\xd9\xa1\xc2\xbd\xe2\x85\xa7x", "\xd9\xa1\xc2\xbd\xe2\x85\xa7|x"},
                /* white space that is not a space goes before no word */
                {"a\xc2\xa0"
                 "b\xe3\x80\x80\xe3\x80\x80"
                 "c",
                 "a|\xc2\xa0|b|\xe3\x80\x80|\xe3\x80\x80|c"},
                {"\t a", "\t| a"},
                /* marks are no letters */
                {"e\xcc\x81t", "e|\xcc\x81|t"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                CHECK_STR(words_of(cases[i][0]), cases[i][1]);
}

TEST(words_of_contractions)
{
        static const char *const cases[][2] = {
                {"don't I'll we've", "don|'t| I|'ll| we|'ve"},
                {"'s'd'm're", "'s|'d|'m|'re"},
                {"DON'T", "DON|'|T"},
                {"a 's", "a| '|s"},
                {"''s", "''|s"},
                {"'", "'"},
                {"'l", "'|l"},
                {"'sat", "'s|at"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                CHECK_STR(words_of(cases[i][0]), cases[i][1]);
}

TEST(no_word_begins_with_what_is_no_utf8)
{
        size_t chars;

        CHECK_SIZE(ran_gpt2_word("\xff", 1, &chars), 0);
        CHECK_SIZE(ran_gpt2_word("\xc3", 1, &chars), 0);
        CHECK_SIZE(ran_gpt2_word("\xa9"
                                 "a",
                                 2, &chars),
                   0);
        CHECK_SIZE(ran_gpt2_word("a\xff", 2, &chars), 1);
        CHECK_SIZE(ran_gpt2_word(" \xff", 2, &chars), 1);
}

/* ---- tokens --------------------------------------------------------------------------------- */

/* Learned from a text of many scripts, n tokens behind the bytes at most. */
static struct ran_tokenizer *learn(size_t n)
{
        static const char *const corpus[] = {
                "the theme of the thesis, the then and there; don't they're\n\n",
                "caf\xc3\xa9 caf\xc3\xa9s \xe6\x9d\xb1\xe4\xba\xac \xe6\x9d\xb1\xe4\xba\xac "
                "\xf0\x9f\x98\x80\xf0\x9f\x98\x80 "
                "aaaa aaaaaaaa abababab  abab   ab 1212 12",
                NULL};
        struct ran_vocab_settings s = type_settings(RAN_VOCAB_BPE);

        s.vocab_size = RAN_RESERVED + 256 + n;
        s.min_count = 1;
        struct ran_tokenizer *t = learn_from(&s, corpus, &err);
        if (t == NULL)
                CHECK_STR(err.text, NULL);
        return t;
}

/* Any valid UTF-8: letters of the corpus and their likes, and any code point at all. */
static void random_text(struct dice *d, struct ran_buf *out)
{
        static const char *const parts[] = {
                "the",      " the", "a",  "ab",           " ",  "  ", "\n",
                "\xc3\xa9", "'t",   "12", "\xe6\x9d\xb1", ", ", "\t", "\xf0\x9f\x98\x80"};

        out->len = 0;
        for (size_t n = dice_size(d, 1, 40); n > 0; n--) {
                char s[4];
                int32_t c = (int32_t)dice_size(d, 0, dice_coin(d) ? 0x250 : 0x10ffff);
                if (c >= 0xd800 && c < 0xe000)
                        c = 0;
                if (dice_coin(d))
                        ran_buf_str(out, parts[dice_size(d, 0, 13)]);
                else
                        ran_buf_add(out, s, ran_unicode_put(s, c));
        }
}

TEST(nothing_of_a_text_is_lost)
{
        struct dice d = {.key = 11};
        struct ran_encoding e = {0};
        struct ran_buf text = {0}, back = {0};

        for (size_t n = 0; n <= 120; n += 40) {
                struct ran_tokenizer *t = learn(n);
                REQUIRE(t != NULL);
                for (int trial = 0; trial < 1000; trial++) {
                        random_text(&d, &text);
                        CHECK_OK(ran_tokenizer_encode(t, text.data, text.len, &e, &err), err);
                        back.len = 0;
                        CHECK_OK(ran_tokenizer_decode(t, e.ids, e.n, &back, &err), err);
                        if (!CHECK(back.len == text.len &&
                                   memcmp(back.data, text.data, text.len) == 0))
                                break;
                        CHECK_SIZE(e.end[e.n - 1], ran_unicode_count(text.data, text.len));
                }
                ran_tokenizer_free(t);
        }
        ran_encoding_release(&e);
        ran_buf_release(&text);
        ran_buf_release(&back);
}

/* Pieces of one byte are bytes, whatever stands beside them. */
TEST(all_bytes_are_tokens)
{
        struct ran_tokenizer *t = learn(0);
        struct ran_buf out = {0};
        uint32_t ids[256];

        REQUIRE(t != NULL);
        for (int byte = 0; byte < 256; byte++) {
                char token[4];
                size_t n = ran_unicode_put(token, ran_gpt2_char((unsigned char)byte));
                CHECK(ran_tokenizer_find(t, token, n, &ids[byte]));
        }
        CHECK_SIZE(ids['!'], RAN_RESERVED); /* in the order of their characters */
        CHECK_SIZE(ids[0], RAN_RESERVED + 188);
        CHECK_OK(ran_tokenizer_decode(t, ids, 256, &out, &err), err);
        CHECK_SIZE(out.len, 256);
        for (size_t byte = 0; byte < out.len; byte++)
                CHECK_SIZE((unsigned char)out.data[byte], byte);
        ran_buf_release(&out);
        ran_tokenizer_free(t);
}

TEST(reserved_tokens_are_decoded_as_they_are_written)
{
        struct ran_tokenizer *t = learn(3);
        const uint32_t ids[] = {RAN_START, 69, RAN_MASK};
        struct ran_buf out = {0};

        REQUIRE(t != NULL);
        CHECK_OK(ran_tokenizer_decode(t, ids, 3, &out, &err), err);
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data, "[START]a[MASK]");
        CHECK(strstr(tokens_of(t, "[START]a[MASK]"), "[START]") == NULL);
        ran_buf_release(&out);
        ran_tokenizer_free(t);
}

TEST(the_oldest_merge_comes_first)
{
        struct ran_tokenizer *t = bpe_with_merges("\"a b\",\"t h\",\"th e\",\"a a\",\"\xc4\xa0 a\","
                                                  "\"x cd\",\"c d\"");

        REQUIRE(t != NULL);
        CHECK_STR(tokens_of(t, "theme"), "the|m|e");
        CHECK_STR(tokens_of(t, "baab"), "b|a|ab"); /* ab is older than aa */
        CHECK_STR(tokens_of(t, "aaab"), "aa|ab");
        CHECK_STR(tokens_of(t, "aaaaa"), "aa|aa|a"); /* from the left */
        CHECK_STR(tokens_of(t, " ab aa ac"), "\xc4\xa0|ab|\xc4\xa0|aa|\xc4\xa0"
                                             "a|c");
        CHECK_STR(tokens_of(t, "xcd"), "xcd"); /* older than what makes its part */
        ran_tokenizer_free(t);
        t = bpe_with_merges("\"b c\",\"a b\",\"a bc\"");
        REQUIRE(t != NULL);
        CHECK_STR(tokens_of(t, "abc"), "abc"); /* a and b could be merged, but b is no more */
        CHECK_STR(tokens_of(t, "abd"), "ab|d");
        ran_tokenizer_free(t);
}

/* Merges the pair of the lowest rank, the one most to the left, until none is left. */
static size_t naive_cut(const struct ran_bpe *b, const char *word, size_t n, uint32_t *row)
{
        for (size_t i = 0; i < n; i++)
                row[i] = b->byte[(unsigned char)word[i]];
        for (;;) {
                uint32_t best = PAIRS_NONE;
                size_t at = 0;
                for (size_t i = 1; i < n; i++) {
                        uint32_t rank = ran_pairs_find(&b->merges, row[i - 1], row[i]);
                        if (rank < best) {
                                best = rank;
                                at = i - 1;
                        }
                }
                if (best == PAIRS_NONE)
                        return n;
                row[at] = b->joined[best];
                memmove(row + at + 1, row + at + 2, (n - at - 2) * sizeof(*row));
                n--;
        }
}

TEST(tokens_are_those_of_a_naive_merger)
{
        struct ran_tokenizer *t = learn(200);
        struct ran_bpe_scratch scratch = {0};
        struct dice d = {.key = 12};

        REQUIRE(t != NULL);
        for (int trial = 0; trial < 20000; trial++) {
                static const char letters[] = "abthesmn 12,\xe6\x9d\xb1";
                char word[100];
                uint32_t row[100];
                size_t n = dice_size(&d, 1, trial % 100 + 1);
                size_t kinds = dice_size(&d, 1, sizeof(letters) - 2);
                for (size_t i = 0; i < n; i++)
                        word[i] = letters[dice_size(&d, 0, kinds)];
                const size_t count = ran_bpe_cut(&t->bpe, word, n, &scratch);
                const struct ran_bpe_token *token = scratch.token;
                size_t wanted = naive_cut(&t->bpe, word, n, row), bytes = 0;
                bool same = count == wanted;
                for (size_t i = 0; i < count && same; i++) {
                        same = token[i].id == row[i];
                        bytes += token[i].n;
                }
                if (!CHECK(same && bytes == n))
                        break;
        }
        ran_bpe_scratch_release(&scratch);
        ran_tokenizer_free(t);
}

/* What a scratch remembers of one vocabulary is not taken for another one's. */
TEST(an_encoding_may_serve_two_vocabularies)
{
        struct ran_tokenizer *few = learn(1), *many = learn(100);
        struct ran_encoding e = {0};

        REQUIRE(few != NULL && many != NULL);
        for (int i = 0; i < 4; i++) {
                CHECK_OK(ran_tokenizer_encode(i % 2 == 0 ? few : many, "the abab", 8, &e, &err),
                         err);
                CHECK_SIZE(e.n, i % 2 == 0 ? 8 : 2);
        }
        ran_encoding_release(&e);
        ran_tokenizer_free(few);
        ran_tokenizer_free(many);
}

/* ---- offsets and words ---------------------------------------------------------------------- */

TEST(a_token_covers_the_characters_it_has_bytes_of)
{
        struct ran_tokenizer *t = learn(0);

        REQUIRE(t != NULL);
        CHECK_STR(tokens_with_offsets(t, "a\xc3\xa9 \xe6\x9d\xb1!"),
                  "a[0,1)|\xc3\x83[1,2)|\xc2\xa9[1,2)|\xc4\xa0[3,3)|\xc3\xa6[3,4)|"
                  "\xc4\xbf[3,4)|\xc2\xb1[3,4)|![4,5)");
        ran_tokenizer_free(t);
        /* three bytes of a character, and its last with what comes behind it */
        t = bpe_with_merges(
                "\"\xc3\xb0 \xc5\x81\",\"\xc3\xb0\xc5\x81 \xc4\xba\",\"\xc4\xa2 \xc3\x83\"");
        REQUIRE(t != NULL);
        CHECK_STR(tokens_with_offsets(t, "\xf0\x9f\x98\x80\xc3\x97"),
                  "\xc3\xb0\xc5\x81\xc4\xba[0,1)|\xc4\xa2\xc3\x83[0,2)|\xc4\xb9[1,2)");
        ran_tokenizer_free(t);
}

/* White space at the ends of a token is left out; alone it is where the word goes on, or ends. */
TEST(white_space_has_no_place)
{
        struct ran_tokenizer *t =
                bpe_with_merges("\"\xc4\xa0 a\",\"\xc4\xa0 \xc4\xa0\",\"\xc3\xa3 \xc4\xa2\"");

        REQUIRE(t != NULL);
        CHECK_STR(tokens_with_offsets(t, "a a b"), "a[0,1)|\xc4\xa0"
                                                   "a[2,3)|\xc4\xa0[4,4)|b[4,5)");
        CHECK_STR(tokens_with_offsets(t, "a   a\n\nb\t "),
                  "a[0,1)|\xc4\xa0\xc4\xa0[3,3)|\xc4\xa0"
                  "a[4,5)|\xc4\x8a[6,6)|\xc4\x8a[7,7)|b[7,8)|\xc4\x89[9,9)|\xc4\xa0[10,10)");
        /* U+3000 in two tokens, and a letter that begins with the same */
        CHECK_STR(tokens_with_offsets(t, "\xe3\x80\x80\xe3\x80\x85"),
                  "\xc3\xa3\xc4\xa2[1,1)|\xc4\xa2[1,1)|\xc3\xa3\xc4\xa2[1,2)|\xc4\xa7[1,2)");
        ran_tokenizer_free(t);
}

TEST(words_are_numbered)
{
        static const size_t want[] = {0, 0, 1, 2, 2, 3};
        struct ran_tokenizer *t = learn(0);
        struct ran_encoding e = {0};

        REQUIRE(t != NULL);
        CHECK_OK(ran_tokenizer_encode(t, "ab, c\n", 6, &e, &err), err);
        REQUIRE(e.n == 6);
        for (size_t i = 0; i < e.n; i++)
                CHECK_SIZE(e.word[i], want[i]);
        CHECK_SIZE(e.words, 4);
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}

/* Tokens are the words of the text that they make with a space between. */
TEST(given_words_have_a_space_before_them)
{
        static const char *const words[] = {"the", "the", " the", "", "\xc3\xa9"};
        struct ran_tokenizer *t = learn(120);
        struct ran_encoding e = {0};
        struct ran_buf out = {0};
        static const size_t want[][3] = {{0, 0, 3}, {1, 0, 3}, {2, 1, 4},
                                         {3, 0, 0}, {4, 0, 0}, {4, 0, 1}};

        REQUIRE(t != NULL);
        for (size_t i = 0; i < 5; i++)
                CHECK_OK(ran_tokenizer_encode_word(t, words[i], strlen(words[i]), &e, &err), err);
        CHECK_SIZE(e.words, 5);
        REQUIRE(e.n == 6);
        for (size_t i = 0; i < e.n; i++) {
                CHECK_SIZE(e.word[i], want[i][0]);
                CHECK_SIZE(e.start[i], want[i][1]);
                CHECK_SIZE(e.end[i], want[i][2]);
        }
        CHECK_OK(ran_tokenizer_decode(t, e.ids, e.n, &out, &err), err);
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data, "the the the  \xc3\xa9");
        ran_buf_release(&out);
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}

/* ---- normalisation, where it is asked for --------------------------------------------------- */

TEST(rules_may_be_asked_for_by_name)
{
        struct ran_vocab_settings s = type_settings(RAN_VOCAB_BPE);

        CHECK(s.normalize == RAN_NORMALIZE_NONE && s.clean == RAN_CLEAN_NONE);
        CHECK(!s.lowercase && !s.cjk && s.split_at == RAN_SPLIT_GPT2);
        s.lowercase = true;
        s.normalize = RAN_NORMALIZE_NFC;
        s.min_count = 1;
        struct ran_tokenizer *t =
                learn_from(&s, (const char *[]){"Caf\xc3\xa9 CAFE\xcc\x81", NULL}, &err);
        REQUIRE(t != NULL);
        CHECK_STR(tokens_with_offsets(t, "cAFE\xcc\x81 cafe\xcc\x81"),
                  "caf\xc3\x83\xc2\xa9[0,5)|\xc4\xa0"
                  "caf\xc3\x83\xc2\xa9[6,11)");
        ran_tokenizer_free(t);
}

/* ---- time ----------------------------------------------------------------------------------- */

/* One word of a million bytes: of one letter, of random letters, of white space, of a script of
 * three bytes a letter. With quadratic time this test would not end in hours. */
TEST(a_huge_word_is_encoded_and_decoded)
{
        struct ran_tokenizer *t = learn(120);
        struct ran_encoding e = {0};
        struct dice d = {.key = 13};
        struct ran_buf back = {0};

        REQUIRE(t != NULL);
        for (int kind = 0; kind < 4; kind++) {
                struct ran_buf text = {0};
                while (text.len < 1000000)
                        ran_buf_str(&text, kind == 0   ? "a"
                                           : kind == 1 ? (dice_coin(&d) ? "a" : "b")
                                           : kind == 2 ? " "
                                                       : "\xe6\x9d\xb1");
                CHECK_OK(ran_tokenizer_encode(t, text.data, text.len, &e, &err), err);
                CHECK_SIZE(e.words, 1);
                back.len = 0;
                CHECK_OK(ran_tokenizer_decode(t, e.ids, e.n, &back, &err), err);
                CHECK(back.len == text.len && memcmp(back.data, text.data, text.len) == 0);
                ran_buf_release(&text);
        }
        ran_buf_release(&back);
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}

/* What is remembered of words takes the place of other words. */
TEST(words_without_number_are_cut)
{
        struct ran_tokenizer *t = learn(120);
        struct ran_encoding e = {0};
        struct ran_buf text = {0}, back = {0};

        REQUIRE(t != NULL);
        for (int i = 0; i < 100000; i++)
                ran_buf_printf(&text, " %c%c%c%c", 'a' + i % 26, 'a' + i / 26 % 26,
                               'a' + i / 676 % 26, 'a' + i / 17576);
        for (int round = 0; round < 2; round++) {
                CHECK_OK(ran_tokenizer_encode(t, text.data, text.len, &e, &err), err);
                back.len = 0;
                CHECK_OK(ran_tokenizer_decode(t, e.ids, e.n, &back, &err), err);
                CHECK(back.len == text.len && memcmp(back.data, text.data, text.len) == 0);
        }
        ran_buf_release(&text);
        ran_buf_release(&back);
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}

TEST(bad_utf8_is_refused)
{
        struct ran_tokenizer *t = learn(0);
        struct ran_encoding e = {0};

        REQUIRE(t != NULL);
        CHECK(ran_tokenizer_encode(t, "ab \xff", 4, &e, &err) == RAN_EFORMAT);
        CHECK_STR(err.text, "the text is not valid UTF-8");
        CHECK(ran_tokenizer_encode(t, "\xed\xa0\x80", 3, &e, &err) == RAN_EFORMAT);
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}

/* Zeros that take no memory; longer ones might not fit into 32 bits. */
TEST(a_word_that_is_too_long_is_an_error_of_its_text)
{
        const size_t n = (size_t)TOKENIZER_WORD_MOST + 1;
        struct ran_tokenizer *t = bpe_with_merges("\"a b\"");
        struct ran_encoding e = {0};
        struct ran_error err = {0};

        REQUIRE(t != NULL);
        if (test_all() && sizeof n > 4) {
                void *zeros = mmap(NULL, n, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                REQUIRE(zeros != MAP_FAILED);
                CHECK(ran_tokenizer_encode(t, zeros, n, &e, &err) == RAN_EINVAL);
                CHECK_STR(err.text, "a word of 1073741824 bytes is too long to be encoded");
                munmap(zeros, n);
        }
        CHECK_OK(ran_tokenizer_encode(t, "ab", 2, &e, &err), err);
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}
