/* Byte pairs in files of others: what is read as its library does, and what is refused; tokens of
 * characters. */
#include <stdlib.h>
#include <string.h>

#include "bpe-file.h"
#include "ran.h"
#include "test.h"
#include "text/tokenizer.h"
#include "vocabulary.h"

static struct ran_error err;

static struct ran_tokenizer *load_parts(struct bpe_parts p)
{
        return bpe_file(&p, &err);
}

static void check_file(struct bpe_parts p, const char *text, const char *tokens)
{
        struct ran_tokenizer *t = load_parts(p);

        if (t == NULL)
                CHECK_STR(err.text, NULL);
        else
                CHECK_STR(tokens_with_offsets(t, text), tokens);
        ran_tokenizer_free(t);
}

/* What is written of it is read as the same. */
static void check_round_trip(struct bpe_parts p)
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

static void refuse(struct bpe_parts p, const char *sentence)
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
        struct bpe_parts p = {.merges = MERGES,
                              .byte_level = ""}; /* add_prefix_space is true then */

        check_file(p, "ab ab",
                   "\xc4\xa0"
                   "ab[0,2)|\xc4\xa0"
                   "ab[2,5)");
        check_file(p, " ab",
                   "\xc4\xa0"
                   "ab[0,3)");
        check_file(p, "c", "\xc4\xa0[0,1)|c[0,1)");
        check_file(p, "", "");
        p.normalizer = "{\"type\":\"Lowercase\"}";
        check_file(p, "ABC",
                   "\xc4\xa0"
                   "ab[0,2)|c[2,3)");
        check_file(p, " ABC",
                   "\xc4\xa0"
                   "ab[0,3)|c[3,4)");
}

TEST(other_pre_tokenizers_may_cut_first)
{
        struct bpe_parts p = {.merges = MERGES ",\"1 2\",\"12 3\",\"\xc4\xa0 1\""};

        p.pre_tokenizer =
                "{\"type\":\"Sequence\",\"pretokenizers\":[" GPT4_SPLIT BYTES_BEHIND("false");
        check_file(p, "ab ab 123123 12", /* "1 2" comes before the space */
                   "ab[0,2)|\xc4\xa0"
                   "ab[2,5)|\xc4\xa0[5,6)|123[6,9)|123[9,12)|\xc4\xa0[12,13)|12[13,15)");
        check_round_trip(p);
        p.pre_tokenizer = "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\","
                          "\"individual_digits\":true}" BYTES_BEHIND("true");
        check_file(p, "ab 123 ab",
                   "ab[0,2)|\xc4\xa0[2,3)|1[3,4)|2[4,5)|3[5,6)|\xc4\xa0"
                   "ab[6,9)");
        p.pre_tokenizer =
                "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\"}" BYTES_BEHIND(
                        "false");
        check_file(p, "ab 123 ab",
                   "ab[0,2)|\xc4\xa0[2,3)|123[3,6)|\xc4\xa0"
                   "ab[6,9)");
        check_round_trip(p);
        check_file(p, "123", "123[0,3)");
        check_file(p, "", "");
}

TEST(a_word_that_is_a_token_may_stay_one)
{
        struct bpe_parts p = {.merges = MERGES,
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
        struct bpe_parts p = {.merges = MERGES};

        p.normalizer = "{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true}";
        check_file(p, "\xc2\xa0\n ab ab \t",
                   "ab[3,5)|\xc4\xa0"
                   "ab[5,8)");
        check_file(p, " \n ", "");
        check_round_trip(p);
        p.normalizer = "{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":false}";
        check_file(p, " ab ", "ab[1,3)|\xc4\xa0[3,4)");
        check_round_trip(p);
        p.normalizer = "{\"type\":\"Strip\",\"strip_left\":false,\"strip_right\":true}";
        check_file(p, " ab ",
                   "\xc4\xa0"
                   "ab[0,3)");
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
        struct bpe_parts p = {.merges = MERGES ",\"\xc4\xa0"
                                               "ab !\",\"b \xc4\xa0\"",
                              .byte_level = ",\"add_prefix_space\":false,\"use_regex\":false"};

        check_file(p, "ab ab!",
                   "ab[0,2)|\xc4\xa0"
                   "ab![2,6)");
        check_file(p, "b !", "b\xc4\xa0[0,2)|![2,3)");
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
        struct bpe_parts p = {
                .merges = MERGES,
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
        struct ran_tokenizer *texts = bpe_with_merges(MERGES), *again;
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
        refuse((struct bpe_parts){.more = "\"continuing_subword_prefix\":\"##\","},
               "'continuing_subword_prefix' of the model BPE is not supported");
        refuse((struct bpe_parts){.more = "\"end_of_word_suffix\":\"</w>\","},
               "'end_of_word_suffix' of the model BPE is not supported");
        refuse((struct bpe_parts){.more = "\"dropout\":0.1,"},
               "'dropout' of the model BPE is not supported: the same text would get different "
               "tokens");
        refuse((struct bpe_parts){.pre_tokenizer = "{\"type\":\"Sequence\"}"},
               "the pre_tokenizer Sequence has no list 'pretokenizers'");
        refuse((struct bpe_parts){.pre_tokenizer = "{\"type\":\"Metaspace\"}"},
               "'replacement' of 'Metaspace' must be one character");
        refuse((struct bpe_parts){.pre_tokenizer =
                                          "{\"type\":\"Sequence\",\"pretokenizers\":["
                                          "{\"type\":\"ByteLevel\"},{\"type\":\"ByteLevel\"}]}"},
               "the pre_tokenizer 'ByteLevel' is not supported behind ByteLevel");
        refuse((struct bpe_parts){.pre_tokenizer = "{\"type\":\"Split\",\"pattern\":{\"Regex\":"
                                                   "\"(?<=a)b\"},\"behavior\":\"Isolated\"}"},
               "the pattern \"(?<=a)b\" of 'Split': this kind of group at byte 2 is not supported");
        refuse((struct bpe_parts){.byte_level = ",\"use_regex\":1"},
               "'use_regex' of ByteLevel must be true or false");
        refuse((struct bpe_parts){.more = "\"unk_token\":\"<unk>\","},
               "the vocabulary has no token '<unk>' for unknown words");
        check_file((struct bpe_parts){.more = "\"dropout\":0,\"end_of_word_suffix\":\"\","
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

        check_chars(prepended, "ab ab", META "ab[0,2)|" META "ab[2,5)", "ab ab");
        check_chars(prepended, " ab", META "[0,1)|" META "ab[0,3)", " ab");
        check_chars(prepended, "ba<s>ab", META "[0,1)|b[0,1)|a[1,2)|<s>[2,5)|" META "ab[5,7)",
                    "ba<s> ab");
        check_chars(prepended, "", "", "");
        check_chars(prepended, "a  ", META "[0,1)|a[0,1)|" META META "[1,3)", "a  ");
        check_chars(plain, "ab  ab", "ab[0,2)|" META "[2,3)|" META "ab[3,6)", "ab  ab");
        check_chars(plain, "a" META "b", "a[0,1)|" META "[1,2)|b[2,3)", "a b");
        /* Other characters are their bytes, which comes back whatever they are. */
        check_chars(plain, "a\xc3\xa9\n", "a[0,1)|<0xC3>[1,2)|<0xA9>[1,2)|<0x0A>[2,3)",
                    "a\xc3\xa9\n");
        check_chars(plain, "<0x41>",
                    "<0x3C>[0,1)|<0x30>[1,2)|<0x78>[2,3)|<0x34>[3,4)|<0x31>[4,5)|"
                    "<0x3E>[5,6)",
                    "<0x41>");
        /* A token that goes on over a space: words are not cut there. */
        check_chars(over, "b a ab", "b" META "a[0,3)|" META "ab[3,6)", "b a ab");
}

TEST(each_byte_that_text_may_hold_is_needed)
{
        refuse((struct bpe_parts){.without = 'a'},
               "the vocabulary has no token 'a' for the byte 0x61");
        refuse((struct bpe_parts){.without = ' '},
               "the vocabulary has no token '\xc4\xa0' for the byte 0x20");
        refuse((struct bpe_parts){.without = 0xf4},
               "the vocabulary has no token '\xc3\xb4' for the byte 0xf4");
        static const int no_utf8[] = {0xc0, 0xc1, 0xf5, 0xff};
        for (size_t i = 0; i < 4; i++)
                check_file((struct bpe_parts){.without = no_utf8[i]}, "b", "b[0,1)");
}

TEST(bad_merges_are_refused)
{
        refuse((struct bpe_parts){.merges = MERGES ",\"a b\""},
               "the token 'ab' occurs twice, as 256 and 258");
        refuse((struct bpe_parts){.merges = MERGES ",[\"a\",\"b\"]"},
               "merge 3: two tokens are merged twice");
        refuse((struct bpe_parts){.merges = "[\"a\",\"b\",\"c\"]"}, "merge 1: expected two tokens");
        refuse((struct bpe_parts){.merges = "[\"a\",1]"}, "merge 1: expected two tokens");
        refuse((struct bpe_parts){.merges = "7"}, "merge 1: expected two tokens");
        refuse((struct bpe_parts){.merges = "\"ab\""}, "merge 1: expected two tokens");
        refuse((struct bpe_parts){.merges = "\"a b c\""}, "merge 1: expected two tokens");
        refuse((struct bpe_parts){.merges = MERGES ",[\"a\",\"c\"]"},
               "merge 3: 'a' and 'c', or their merge, are not in the vocabulary");
        refuse(
                (struct bpe_parts){
                        .merges = MERGES ",[\"a\",\"\xe6\x9d\xb1\"]",
                        .added = "{\"id\":300,\"content\":\"\xe6\x9d\xb1\",\"special\":true},"
                                 "{\"id\":301,\"content\":\"a\xe6\x9d\xb1\",\"special\":true}"},
                "merge 3: 'a\xe6\x9d\xb1' is not a sequence of bytes");
}

/* All of a text may be one word, and then merges could spell one out. */
TEST(no_merge_makes_a_reserved_token)
{
        struct bpe_parts p = {.merges = "\"[ U\",\"N K\",\"[U NK\",[\"[UNK\",\"]\"]",
                              .reserved = true};

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
                struct ran_tokenizer *t = load_parts((struct bpe_parts){
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
