/* Byte pairs: the words of GPT-2, its characters for bytes, merges against a naive merger, that
 * nothing of a text is lost, offsets, time; and the files of others. */
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "ran.h"
#include "test.h"
#include "text/words/gpt2.h"
#include "text/tokenizer.h"
#include "text/words/unicode.h"
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
        CHECK_SIZE(ran_gpt2_until_digit("ab1", 3), 2);
        CHECK_SIZE(ran_gpt2_digits("12a", 3, SIZE_MAX, &chars), 2);
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

/* A tokenizer.json of bytes and merges: a list of "left right". Each part NULL for what is usual;
 * more: members of the model, with a comma behind; tokens: members of the vocabulary, with a comma
 * before them. */
struct parts {
        const char *merges, *normalizer, *byte_level, *added, *more, *pre_tokenizer, *tokens;
        int without;   /* this byte, > 0 */
        bool reserved; /* the reserved tokens come first */
};

static void add_token(struct ran_buf *vocab, size_t *id, const char *token, size_t n)
{
        ran_buf_str(vocab, *id > 0 ? "," : "");
        ran_buf_json(vocab, token, n);
        ran_buf_printf(vocab, ":%zu", (*id)++);
}

static struct ran_tokenizer *load_parts(struct parts p)
{
        struct ran_buf vocab = {0}, json = {0};
        const char *merges = p.merges != NULL ? p.merges : "";
        size_t id = 0;

        for (size_t i = 0; p.reserved && i < RAN_RESERVED; i++)
                add_token(&vocab, &id, ran_tokenizer_reserved[i],
                          strlen(ran_tokenizer_reserved[i]));
        for (int byte = 0; byte < 256; byte++) {
                char token[4];
                if (p.without == 0 || byte != p.without)
                        add_token(&vocab, &id, token,
                                  ran_unicode_put(token, ran_gpt2_char((unsigned char)byte)));
        }
        /* What merges make: texts with one space, which is left out. */
        for (const char *s = merges; (s = strchr(s, '"')) != NULL;) {
                size_t n = strcspn(++s, "\""), left = strcspn(s, " \"");
                char token[64];
                snprintf(token, sizeof(token), "%.*s%.*s", (int)left, s, (int)(n - left) - 1,
                         s + left + 1);
                if (n < sizeof(token) && left < n)
                        add_token(&vocab, &id, token, n - 1);
                s += n + 1;
        }
        ran_buf_printf(&json, "{\"added_tokens\":[%s],\"normalizer\":%s,\"pre_tokenizer\":",
                       p.added != NULL ? p.added : "",
                       p.normalizer != NULL ? p.normalizer : "null");
        if (p.pre_tokenizer != NULL)
                ran_buf_str(&json, p.pre_tokenizer);
        else
                ran_buf_printf(&json, "{\"type\":\"ByteLevel\"%s}",
                               p.byte_level != NULL ? p.byte_level : ",\"add_prefix_space\":false");
        ran_buf_printf(&json, ",\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{%s\"vocab\":{",
                       p.more != NULL ? p.more : "");
        ran_buf_add(&json, vocab.data, vocab.len);
        ran_buf_str(&json, p.tokens != NULL ? p.tokens : "");
        ran_buf_printf(&json, "},\"merges\":[%s]}}", merges);
        struct ran_tokenizer *t = ran_tokenizer_load(json.data, json.len, &err);
        ran_buf_release(&vocab);
        ran_buf_release(&json);
        return t;
}

static struct ran_tokenizer *with_merges(const char *merges)
{
        struct ran_tokenizer *t = load_parts((struct parts){.merges = merges});

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
        struct ran_tokenizer *t = with_merges("\"a b\",\"t h\",\"th e\",\"a a\",\"\xc4\xa0 a\","
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
        t = with_merges("\"b c\",\"a b\",\"a bc\"");
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
                const struct ran_bpe_token *token;
                size_t count, n = dice_size(&d, 1, trial % 100 + 1);
                size_t kinds = dice_size(&d, 1, sizeof(letters) - 2);
                for (size_t i = 0; i < n; i++)
                        word[i] = letters[dice_size(&d, 0, kinds)];
                CHECK_OK(ran_bpe_cut(&t->bpe, word, n, &scratch, &token, &count, &err), err);
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
        t = with_merges(
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
                with_merges("\"\xc4\xa0 a\",\"\xc4\xa0 \xc4\xa0\",\"\xc3\xa3 \xc4\xa2\"");

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

/* ---- files of others ------------------------------------------------------------------------ */

static void check_file(struct parts p, const char *text, const char *tokens)
{
        struct ran_tokenizer *t = load_parts(p);

        if (t == NULL)
                CHECK_STR(err.text, NULL);
        else
                CHECK_STR(tokens_with_offsets(t, text), tokens);
        ran_tokenizer_free(t);
}

/* What is written of it is read as the same. */
static void check_round_trip(struct parts p)
{
        struct ran_tokenizer *t = load_parts(p), *again;
        size_t n;

        REQUIRE(t != NULL);
        const char *json = ran_tokenizer_json(t, &n);
        again = ran_tokenizer_load(json, n, &err);
        REQUIRE(again != NULL);
        CHECK_STR(ran_tokenizer_digest(again), ran_tokenizer_digest(t));
        ran_tokenizer_free(again);
        ran_tokenizer_free(t);
}

static void refuse(struct parts p, const char *sentence)
{
        CHECK(load_parts(p) == NULL);
        CHECK_STR(err.text, sentence);
}

/* In C, in JSON, in a regular expression. */
#define GPT4_REGEX                                                                           \
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}" \
        "| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define GPT4_SPLIT                                                 \
        "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" GPT4_REGEX \
        "\"},\"behavior\":\"Isolated\",\"invert\":false}"
#define BYTES_BEHIND(regex) \
        ",{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":" regex "}]}"

#define MERGES "\"a b\",\"\xc4\xa0 ab\""

TEST(a_text_may_be_given_a_space)
{
        struct parts p = {.merges = MERGES, .byte_level = ""}; /* add_prefix_space is true then */

        check_file(p, "ab ab",
                   "\xc4\xa0"
                   "ab[0,2)|\xc4\xa0"
                   "ab[3,5)");
        check_file(p, " ab",
                   "\xc4\xa0"
                   "ab[1,3)");
        check_file(p, "c", "\xc4\xa0[0,0)|c[0,1)");
        check_file(p, "", "");
        p.normalizer = "{\"type\":\"Lowercase\"}";
        check_file(p, "ABC",
                   "\xc4\xa0"
                   "ab[0,2)|c[2,3)");
        check_file(p, " ABC",
                   "\xc4\xa0"
                   "ab[1,3)|c[3,4)");
}

TEST(other_pre_tokenizers_may_cut_first)
{
        struct parts p = {.merges = MERGES ",\"1 2\",\"12 3\",\"\xc4\xa0 1\""};

        p.pre_tokenizer =
                "{\"type\":\"Sequence\",\"pretokenizers\":[" GPT4_SPLIT BYTES_BEHIND("false");
        check_file(p, "ab ab 123123 12", /* "1 2" comes before the space */
                   "ab[0,2)|\xc4\xa0"
                   "ab[3,5)|\xc4\xa0[6,6)|123[6,9)|123[9,12)|\xc4\xa0[13,13)|12[13,15)");
        check_round_trip(p);
        p.pre_tokenizer = "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\","
                          "\"individual_digits\":true}" BYTES_BEHIND("true");
        check_file(p, "ab 123 ab",
                   "ab[0,2)|\xc4\xa0[3,3)|1[3,4)|2[4,5)|3[5,6)|\xc4\xa0"
                   "ab[7,9)");
        p.pre_tokenizer =
                "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\"}" BYTES_BEHIND(
                        "false");
        check_file(p, "ab 123 ab",
                   "ab[0,2)|\xc4\xa0[3,3)|123[3,6)|\xc4\xa0"
                   "ab[7,9)");
        check_round_trip(p);
        check_file(p, "123", "123[0,3)");
        check_file(p, "", "");
}

TEST(a_word_that_is_a_token_may_stay_one)
{
        struct parts p = {.merges = MERGES,
                          .byte_level = ",\"add_prefix_space\":false",
                          .added = "{\"id\":300,\"content\":\"<m>\",\"special\":true}"};

        /* "abab" is a token that no merge makes. */
        p.more = "\"ignore_merges\":true,";
        p.tokens = ",\"abab\":258,\"\xc4\xa0\xc4\xa0\":259";
        check_file(p, "abab <m>abab  ab ababa",
                   "abab[0,4)|\xc4\xa0[5,5)|<m>[5,8)|abab[8,12)|\xc4\xa0[13,13)|"
                   "\xc4\xa0"
                   "ab[14,16)|\xc4\xa0"
                   "ab[17,19)|ab[19,21)|a[21,22)");
        check_round_trip(p);
        p.more = NULL;
        check_file(p, "abab", "ab[0,2)|ab[2,4)");
}

TEST(white_space_at_the_ends_may_be_left_out)
{
        struct parts p = {.merges = MERGES};

        p.normalizer = "{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true}";
        check_file(p, "\xc2\xa0\n ab ab \t",
                   "ab[3,5)|\xc4\xa0"
                   "ab[6,8)");
        check_file(p, " \n ", "");
        check_round_trip(p);
        p.normalizer = "{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":false}";
        check_file(p, " ab ", "ab[1,3)|\xc4\xa0[4,4)");
        check_round_trip(p);
        p.normalizer = "{\"type\":\"Strip\",\"strip_left\":false,\"strip_right\":true}";
        check_file(p, " ab ",
                   "\xc4\xa0"
                   "ab[1,3)");
        check_round_trip(p);
        p.byte_level = ""; /* a space in front, but of nothing */
        p.normalizer = "{\"type\":\"Strip\"}";
        check_file(p, " ab ",
                   "\xc4\xa0"
                   "ab[1,3)");
        check_file(p, "  ", "");
}

TEST(a_text_may_be_one_word)
{
        struct parts p = {.merges = MERGES ",\"\xc4\xa0"
                                           "ab !\",\"b \xc4\xa0\"",
                          .byte_level = ",\"add_prefix_space\":false,\"use_regex\":false"};

        check_file(p, "ab ab!",
                   "ab[0,2)|\xc4\xa0"
                   "ab![3,6)");
        check_file(p, "b !", "b\xc4\xa0[0,1)|![2,3)");
        struct ran_tokenizer *t = load_parts(p);
        struct ran_encoding e = {0};
        REQUIRE(t != NULL);
        CHECK(ran_tokenizer_encode(t, "a \xff", 3, &e, &err) == RAN_EFORMAT);
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}

/* "[MASK]" with the white space before it, as RoBERTa has it. */
TEST(added_tokens_have_white_space_of_their_own)
{
        struct parts p = {.merges = MERGES,
                          .added = "{\"id\":300,\"content\":\"<m>\",\"lstrip\":true,"
                                   "\"normalized\":false,\"special\":true},"
                                   "{\"id\":301,\"content\":\"<s>\",\"normalized\":true,"
                                   "\"special\":true},"
                                   "{\"id\":302,\"content\":\"a\xe6\x9d\xb1\",\"special\":true}"};
        struct ran_tokenizer *t;

        check_file(p, "ab \n<m> ab<s> <s>",
                   "ab[0,2)|<m>[2,7)|\xc4\xa0"
                   "ab[8,10)|<s>[10,13)|\xc4\xa0[14,14)|<s>[14,17)");
        p.byte_level = "";
        check_file(p, "<m>ab<s>",
                   "<m>[0,3)|\xc4\xa0"
                   "ab[3,5)|<s>[5,8)");
        t = load_parts(p);
        REQUIRE(t != NULL);
        const uint32_t ids[] = {300, 256, 302, 301};
        struct ran_buf out = {0};
        CHECK_OK(ran_tokenizer_decode(t, ids, 4, &out, &err), err);
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data, "<m>aba\xe6\x9d\xb1<s>"); /* the third is of no bytes but its own */
        ran_buf_release(&out);
        ran_tokenizer_free(t);
}

TEST(merges_are_texts_or_pairs)
{
        struct ran_tokenizer *texts = with_merges(MERGES), *again;
        size_t n, m;

        REQUIRE(texts != NULL);
        const char *json = ran_tokenizer_json(texts, &n);
        struct ran_buf pairs = {0};
        const char *list = strstr(json, "\"merges\":[");
        REQUIRE(list != NULL);
        ran_buf_add(&pairs, json, (size_t)(list - json));
        ran_buf_str(&pairs, "\"merges\":[[\"a\",\"b\"],[\"\xc4\xa0\",\"ab\"]]}}");
        again = ran_tokenizer_load(pairs.data, pairs.len, &err);
        REQUIRE(again != NULL);
        CHECK_STR(ran_tokenizer_digest(again), ran_tokenizer_digest(texts));
        const char *second = ran_tokenizer_json(again, &m);
        CHECK(n == m && memcmp(json, second, n) == 0);
        ran_buf_release(&pairs);
        ran_tokenizer_free(texts);
        ran_tokenizer_free(again);
}

TEST(what_is_not_supported_is_refused_by_name)
{
        refuse((struct parts){.more = "\"continuing_subword_prefix\":\"##\","},
               "'continuing_subword_prefix' of the model BPE is not supported");
        refuse((struct parts){.more = "\"end_of_word_suffix\":\"</w>\","},
               "'end_of_word_suffix' of the model BPE is not supported");
        refuse((struct parts){.more = "\"dropout\":0.1,"},
               "'dropout' of the model BPE is not supported: the same text would get different "
               "tokens");
        refuse((struct parts){.pre_tokenizer = "{\"type\":\"Sequence\"}"},
               "the pre_tokenizer Sequence has no list 'pretokenizers'");
        refuse((struct parts){.pre_tokenizer = "{\"type\":\"Metaspace\"}"},
               "'replacement' of 'Metaspace' must be one character");
        refuse((struct parts){.pre_tokenizer =
                                      "{\"type\":\"Sequence\",\"pretokenizers\":["
                                      "{\"type\":\"ByteLevel\"},{\"type\":\"ByteLevel\"}]}"},
               "the pre_tokenizer 'ByteLevel' is not supported behind ByteLevel");
        refuse((struct parts){.pre_tokenizer = "{\"type\":\"Split\",\"pattern\":{\"Regex\":"
                                               "\"(?<=a)b\"},\"behavior\":\"Isolated\"}"},
               "the pattern \"(?<=a)b\" of 'Split': this kind of group at byte 2 is not supported");
        refuse((struct parts){.byte_level = ",\"use_regex\":1"},
               "'use_regex' of ByteLevel must be true or false");
        refuse((struct parts){.more = "\"unk_token\":\"<unk>\","},
               "the vocabulary has no token '<unk>' for unknown words");
        check_file((struct parts){.more = "\"dropout\":0,\"end_of_word_suffix\":\"\","
                                          "\"unk_token\":\"a\",\"type\":\"BPE\","},
                   "a", "a[0,1)");
}

/* ---- tokens of characters ------------------------------------------------------------------- */

#define META        "\xe2\x96\x81"
#define PREPEND     "{\"type\":\"Prepend\",\"prepend\":\"" META "\"}"
#define REPLACE     "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"" META "\"}"
#define STEPS(list) "{\"type\":\"Sequence\",\"normalizers\":[" list "]}"

/* A tokenizer.json as that of Llama 2: the characters a, b and the space, "ab", two of them with a
 * space in front, two spaces, and bytes. NULL: what is usual. */
struct chars {
        const char *normalizer, *pre_tokenizer, *decoder, *more, *tokens, *merges;
        int without; /* this byte, > 0 */
};

static struct ran_tokenizer *load_chars(struct chars c)
{
        struct ran_buf json = {0};

        ran_buf_printf(&json, "{\"normalizer\":%s,\"pre_tokenizer\":%s,\"decoder\":%s,",
                       c.normalizer != NULL ? c.normalizer : STEPS(PREPEND "," REPLACE),
                       c.pre_tokenizer != NULL ? c.pre_tokenizer : "null",
                       c.decoder != NULL ? c.decoder : "{\"type\":\"Sequence\"}");
        ran_buf_printf(&json,
                       "\"added_tokens\":[{\"id\":300,\"content\":\"<s>\",\"special\":true}],"
                       "\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"unk_token\":\"<unk>\","
                       "%s\"vocab\":{\"<unk>\":256,\"a\":257,\"b\":258,\"" META "\":259,"
                       "\"ab\":260,\"" META "ab\":261,\"" META META "\":262%s",
                       c.more != NULL ? c.more : "", c.tokens != NULL ? c.tokens : "");
        for (int byte = 0; byte < 256; byte++)
                if (c.without == 0 || byte != c.without)
                        ran_buf_printf(&json, ",\"<0x%02X>\":%d", (unsigned)byte, byte);
        ran_buf_printf(&json, "},\"merges\":[\"a b\",\"" META " ab\",\"" META " " META "\"%s]}}",
                       c.merges != NULL ? c.merges : "");
        struct ran_tokenizer *t = ran_tokenizer_load(json.data, json.len, &err);
        ran_buf_release(&json);
        return t;
}

static void check_chars(struct chars c, const char *text, const char *tokens, const char *back)
{
        struct ran_tokenizer *t = load_chars(c), *again;
        struct ran_encoding e = {0};
        struct ran_buf out = {0};
        size_t n;

        if (t == NULL)
                CHECK_STR(err.text, NULL);
        REQUIRE(t != NULL);
        CHECK_STR(tokens_with_offsets(t, text), tokens);
        CHECK_OK(ran_tokenizer_encode(t, text, strlen(text), &e, &err), err);
        CHECK_OK(ran_tokenizer_decode(t, e.ids, e.n, &out, &err), err);
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data, back);
        const char *json = ran_tokenizer_json(t, &n);
        again = ran_tokenizer_load(json, n, &err);
        REQUIRE(again != NULL);
        CHECK_STR(ran_tokenizer_digest(again), ran_tokenizer_digest(t));
        CHECK_STR(tokens_with_offsets(again, text), tokens);
        ran_encoding_release(&e);
        ran_buf_release(&out);
        ran_tokenizer_free(again);
        ran_tokenizer_free(t);
}

TEST(tokens_of_characters)
{
        const struct chars prepended = {0}, plain = {.normalizer = REPLACE};
        struct chars over = {.normalizer = REPLACE,
                             .tokens = ",\"b" META "\":263,\"b" META "a\":264",
                             .merges = ",\"b " META "\",\"b" META " a\""};

        check_chars(prepended, "ab ab", META "ab[0,2)|" META "ab[3,5)", " ab ab");
        check_chars(prepended, " ab", META "[0,0)|" META "ab[1,3)", "  ab");
        check_chars(prepended, "ba<s>ab", META "[0,0)|b[0,1)|a[1,2)|<s>[2,5)|" META "ab[5,7)",
                    " ba<s> ab");
        check_chars(prepended, "", "", "");
        check_chars(prepended, "a  ", META "[0,0)|a[0,1)|" META META "[3,3)", " a  ");
        check_chars(plain, "ab  ab", "ab[0,2)|" META "[3,3)|" META "ab[4,6)", "ab  ab");
        check_chars(plain, "a" META "b", "a[0,1)|" META "[1,2)|b[2,3)", "a b");
        /* Other characters are their bytes, which comes back whatever they are. */
        check_chars(plain, "a\xc3\xa9\n", "a[0,1)|<0xC3>[1,2)|<0xA9>[1,2)|<0x0A>[3,3)",
                    "a\xc3\xa9\n");
        check_chars(plain, "<0x41>",
                    "<0x3C>[0,1)|<0x30>[1,2)|<0x78>[2,3)|<0x34>[3,4)|<0x31>[4,5)|"
                    "<0x3E>[5,6)",
                    "<0x41>");
        /* A token that goes on over a space: words are not cut there. */
        check_chars(over, "b a ab", "b" META "a[0,3)|" META "ab[4,6)", "b a ab");
}

TEST(files_with_tokens_of_characters_that_are_refused)
{
        static const struct {
                struct chars file;
                const char *sentence;
        } cases[] = {
                {{.without = 'x'},
                 "the vocabulary has no token '<0x78>', which \"byte_fallback\" needs"},
                {{.more = "\"ignore_merges\":true,"},
                 "\"ignore_merges\": true of the model BPE is not supported with "
                 "\"byte_fallback\""},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                CHECK(load_chars(cases[i].file) == NULL);
                CHECK_STR(err.text, cases[i].sentence);
        }
}

TEST(each_byte_that_text_may_hold_is_needed)
{
        refuse((struct parts){.without = 'a'}, "the vocabulary has no token 'a' for the byte 0x61");
        refuse((struct parts){.without = ' '},
               "the vocabulary has no token '\xc4\xa0' for the byte 0x20");
        refuse((struct parts){.without = 0xf4},
               "the vocabulary has no token '\xc3\xb4' for the byte 0xf4");
        static const int no_utf8[] = {0xc0, 0xc1, 0xf5, 0xff};
        for (size_t i = 0; i < 4; i++)
                check_file((struct parts){.without = no_utf8[i]}, "b", "b[0,1)");
}

TEST(bad_merges_are_refused)
{
        refuse((struct parts){.merges = MERGES ",\"a b\""},
               "the token 'ab' occurs twice, as 256 and 258");
        refuse((struct parts){.merges = MERGES ",[\"a\",\"b\"]"},
               "merge 3: two tokens are merged twice");
        refuse((struct parts){.merges = "[\"a\",\"b\",\"c\"]"}, "merge 1: expected two tokens");
        refuse((struct parts){.merges = "[\"a\",1]"}, "merge 1: expected two tokens");
        refuse((struct parts){.merges = "7"}, "merge 1: expected two tokens");
        refuse((struct parts){.merges = "\"ab\""}, "merge 1: expected two tokens");
        refuse((struct parts){.merges = "\"a b c\""}, "merge 1: expected two tokens");
        refuse((struct parts){.merges = MERGES ",[\"a\",\"c\"]"},
               "merge 3: 'a' and 'c', or their merge, are not in the vocabulary");
        refuse(
                (struct parts){
                        .merges = MERGES ",[\"a\",\"\xe6\x9d\xb1\"]",
                        .added = "{\"id\":300,\"content\":\"\xe6\x9d\xb1\",\"special\":true},"
                                 "{\"id\":301,\"content\":\"a\xe6\x9d\xb1\",\"special\":true}"},
                "merge 3: 'a\xe6\x9d\xb1' is not a sequence of bytes");
}

/* All of a text may be one word, and then merges could spell one out. */
TEST(no_merge_makes_a_reserved_token)
{
        struct parts p = {.merges = "\"[ U\",\"N K\",\"[U NK\",[\"[UNK\",\"]\"]", .reserved = true};

        refuse(p, "merge 4 makes the reserved token '[UNK]'");
        p.merges = MERGES;
        check_file(p, "ab", "ab[0,2)");
}

TEST(what_is_written_of_others_reads_back)
{
        static const char *const kinds[] = {"", ",\"add_prefix_space\":false",
                                            ",\"use_regex\":false"};
        static const char *const flags[] = {"", ",\"lstrip\":true", ",\"rstrip\":true"};
        size_t n;

        for (size_t i = 0; i < 9; i++) {
                char added[100];
                snprintf(added, sizeof(added),
                         "{\"id\":300,\"content\":\"<m>\",\"special\":true%s}", flags[i / 3]);
                struct ran_tokenizer *t = load_parts((struct parts){
                        .merges = MERGES ",\"! a\"", .byte_level = kinds[i % 3], .added = added});
                REQUIRE(t != NULL);
                const char *json = ran_tokenizer_json(t, &n);
                struct ran_tokenizer *again = ran_tokenizer_load(json, n, &err);
                REQUIRE(again != NULL);
                CHECK_STR(ran_tokenizer_digest(again), ran_tokenizer_digest(t));
                CHECK(ran_tokenizer_notice(again) == NULL);
                char *tokens = strdup(tokens_with_offsets(t, "ab <m> ab!a!"));
                CHECK_STR(tokens_with_offsets(again, "ab <m> ab!a!"), tokens);
                free(tokens);
                ran_tokenizer_free(t);
                ran_tokenizer_free(again);
        }
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
