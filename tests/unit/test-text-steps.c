/* Tokenizers of encoders: patterns, maps of characters, Unigram, what surrounds a text, and
 * folders. tests/cli/encoder-tokens.bats has what the library of Hugging Face makes of texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ran.h"
#include "test.h"
#include "text/hf/hf.h"
#include "text/tokenizer.h"
#include "vocabulary.h"

static struct ran_error err;

/* ---- patterns ------------------------------------------------------------------------------- */

/* All matches of a pattern in a text, '|' between; "error: ...". */
static const char *matches(const char *regex, const char *text)
{
        static char shown[1000];
        struct ran_pattern_scratch scratch = {0};
        struct ran_pattern *p = ran_pattern_new(regex, strlen(regex), false, &err);
        size_t n = strlen(text), begin, end, at = 0;

        shown[0] = '\0';
        if (p == NULL) {
                snprintf(shown, sizeof shown, "error: %s", err.text);
                return shown;
        }
        for (size_t pos = 0; pos < n; pos = end) {
                ran_pattern_find(p, text, n, pos, &scratch, &begin, &end);
                if (begin < n)
                        at += (size_t)snprintf(shown + at, sizeof shown - at, "%s%.*s",
                                               at > 0 ? "|" : "", (int)(end - begin), text + begin);
        }
        ran_pattern_scratch_release(&scratch);
        ran_pattern_free(p);
        return shown;
}

TEST(patterns_find_what_perl_would)
{
        static const struct {
                const char *regex, *text, *matches;
        } cases[] = {
                {"a", "banana", "a|a|a"},
                {"a|ab|abc", "abc", "a"}, /* the first of the alternatives, not the longest */
                {"abc|ab|a", "abcabaa", "abc|ab|a|a"},
                {"ab*", "abbbab", "abbb|ab"},
                {"ab*?c?", "abbc", "a"},
                {"ab+?", "abbb", "ab"},
                {"a{2,3}", "aaaaaaa", "aaa|aaa"},
                {"a{2}", "aaaaa", "aa|aa"},
                {"a{2,}?b", "aaab", "aaab"},
                {"a{,2}b", "aaab", "aab"},
                {"(ab|c)+d", "ababccd abd", "ababccd|abd"},
                {"(?:x|y{2,}|)z", "yyyzxzz", "yyyz|xz|z"},
                {"((a|b)(c|d))*e", "acbde e", "acbde|e"},
                {"[^a-c\\s]+", "abxyz 12c", "xyz|12"},
                {"[]x]+", "a]x]", "]x]"},
                {"[a-]+", "-a-b", "-a-"},
                {"[[a-f]&&[^bc]&&[a-e]]+", "abcdef", "a|de"},
                {"[^[ab]c]", "abcd", "d"},
                {"\\p{Lu}\\p{Ll}+", "Aa BB Cc \xc3\x89\xc3\xa9", "Aa|Cc|\xc3\x89\xc3\xa9"},
                {"\\P{L}+", "ab12cd", "12"},
                {"\\p{^L}+", "ab12cd", "12"},
                {"[^\\p{L}\\d]+", "ab12--cd", "--"},
                {"\\S\\d\\D\\w\\W", "x1yz ", "x1yz "},
                {"(?i:k)", "Kk\xe2\x84\xaa", "K|k|\xe2\x84\xaa"},
                {"(?i:'S)s", "'s's 'Ss '\xc5\xbfs", "'Ss|'\xc5\xbfs"},
                {"\\s+(?!\\S)|\\s+", "a   b  ", "  | |  "},
                {"a(?=b)", "abac", "a"},
                {"^a|b$", "aab", "a|b"},
                {"\\x41\\x{e9}\\u00e9\\t", "A\xc3\xa9\xc3\xa9\t", "A\xc3\xa9\xc3\xa9\t"},
                {"a.c",
                 "abc a\nc a\xc3\xa9"
                 "c",
                 "abc|a\xc3\xa9"
                 "c"},
                {"x{", "x{", "x{"},
                {"\xe4\xb8\x80-\xe9\xbe\xa5", "\xe4\xb8\xad", ""},
                {"[\xe4\xb8\x80-\xe9\xbe\xa5]+", "a\xe4\xb8\xad\xe6\x96\x87z",
                 "\xe4\xb8\xad\xe6\x96\x87"},
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
                CHECK_STR(matches(cases[i].regex, cases[i].text), cases[i].matches);
}

TEST(patterns_that_are_refused)
{
        static const struct {
                const char *regex, *sentence;
        } cases[] = {
                {"a*", "error: an expression that matches an empty text is not supported"},
                {"", "error: an expression that matches an empty text is not supported"},
                {"a|(b?)", "error: an expression that matches an empty text is not supported"},
                {"(a", "error: a group without its end at byte 3 is not supported"},
                {"a)", "error: this end of a group at byte 2 is not supported"},
                {"[a", "error: a class without its end at byte 3 is not supported"},
                {"*a", "error: a repetition of nothing at byte 1 is not supported"},
                {"a++", "error: a repetition that gives nothing back, or is repeated, at byte 3 is "
                        "not supported"},
                {"(?<=a)b", "error: this kind of group at byte 2 is not supported"},
                {"(?!ab)c", "error: a lookahead of more than one character at byte 5 is not "
                            "supported"},
                {"\\1",
                 "error: this letter or digit behind a backslash at byte 2 is not supported"},
                {"\\bx", "error: this letter or digit behind a backslash at byte 2 is not "
                         "supported"},
                {"\\p{Han}", "error: the property \\p{Han} is not supported"},
                {"[[:alpha:]]", "error: a POSIX class at byte 2 is not supported"},
                {"[z-a]", "error: this range at byte 5 is not supported"},
                {"a{3,2}", "error: so large a repetition count at byte 7 is not supported"},
                {"a{99999}", "error: so large a repetition count at byte 9 is not supported"},
                {"((((a{999}){999}){999}){999})", "error: the regular expression is too large"},
                {"\\x{110000}", "error: a character by its number at byte 11 is not supported"},
                {"a\\", "error: a backslash at the end at byte 3 is not supported"},
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
                CHECK_STR(matches(cases[i].regex, "abc"), cases[i].sentence);
        struct ran_buf deep = {0};
        for (int i = 0; i < 60; i++)
                ran_buf_char(&deep, '(');
        ran_buf_char(&deep, '\0');
        CHECK_STR(matches(deep.data, "a"), "error: a group nested so deeply at byte 52 is not "
                                           "supported");
        ran_buf_release(&deep);
}

/* With backtracking each of these would take longer than the age of the world. */
TEST(patterns_take_linear_time)
{
        static char text[100001];

        memset(text, 'a', sizeof text - 1);
        CHECK_STR(matches("(a|a)*b", text), "");
        CHECK_STR(matches("(a+)+b", text), "");
        CHECK_STR(matches("a*a*a*a*b|x", text), "");
}

/* ---- maps of characters --------------------------------------------------------------------- */

/* A map of one double array: units, then texts. */
static const char *mapped(const uint32_t *unit, size_t units, const char *texts, size_t n,
                          const char *text)
{
        static const char digits[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        static char shown[200];
        unsigned char bytes[200] = {(unsigned char)(units * 4)};
        char base64[300];
        size_t size = 4 + 4 * units + n, at = 0;
        struct ran_glyphs in = {0}, out = {0};
        bool changed = false;

        for (size_t i = 0; i < units; i++)
                for (size_t k = 0; k < 4; k++)
                        bytes[4 + 4 * i + k] = (unsigned char)(unit[i] >> 8 * k);
        memcpy(bytes + 4 + 4 * units, texts, n);
        for (size_t i = 0; i < size; i += 3) {
                uint32_t three =
                        (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];
                for (size_t k = 0; k < 4; k++)
                        base64[at++] = i + k > size ? '=' : digits[three >> (18 - 6 * k) & 63];
        }
        struct ran_charsmap *m = ran_charsmap_new(base64, at, &err);
        if (m == NULL)
                return err.text;
        CHECK_OK(ran_glyphs_read(&in, text, strlen(text), &err), err);
        ran_charsmap_apply(m, &out, &in, &changed);
        at = 0;
        shown[0] = '\0';
        for (size_t i = 0; changed && i < out.n; i++)
                at += (size_t)snprintf(shown + at, sizeof shown - at, "%c[%u,%u)",
                                       (char)out.at[i].c, out.at[i].begin, out.at[i].end);
        ran_glyphs_release(&in);
        ran_glyphs_release(&out);
        ran_charsmap_free(m);
        return changed ? shown : "unchanged";
}

#define OFFSET(x) ((uint32_t)(x) << 10)
#define LEAF      (1u << 8)
#define VALUE     (1u << 31)

TEST(maps_of_characters_are_not_trusted)
{
        /* The root leads to unit 'a' ^ 0; that one to the text at 0 or 3. */
        uint32_t unit[128] = {0};
        const uint32_t at_a = 4 ^ 'a';

        (void)at_a;
        (void)unit;
        /* Root offset 96: children at 96 ^ c. 'a' is 97, so its unit is 1; its leaf is at 1 ^ 2. */
        const uint32_t good[] = {OFFSET(96), OFFSET(2) | LEAF | 'a', 0, VALUE | 0};
        const uint32_t second[] = {OFFSET(96), OFFSET(2) | LEAF | 'a', 0, VALUE | 3};
        const uint32_t empty[] = {OFFSET(96), OFFSET(2) | LEAF | 'a', 0, VALUE | 2};
        const uint32_t far_text[] = {OFFSET(96), OFFSET(2) | LEAF | 'a', 0, VALUE | 70000};
        const uint32_t far_leaf[] = {OFFSET(96), OFFSET(2000) | LEAF | 'a', 0, VALUE | 0};
        const uint32_t far_root[] = {OFFSET(1 << 20), OFFSET(2) | LEAF | 'a', 0, VALUE | 0};

        CHECK_STR(mapped(good, 4, "xy\0z", 4, "bab"), "b[0,1)x[1,2)y[1,2)b[2,3)");
        CHECK_STR(mapped(second, 4, "xy\0z", 4, "bab"), "b[0,1)z[1,2)b[2,3)");
        CHECK_STR(mapped(empty, 4, "xy\0z", 4, "bab"), "b[0,1)b[2,3)");
        CHECK_STR(mapped(far_text, 4, "xy\0z", 4, "bab"), "unchanged");
        CHECK_STR(mapped(far_leaf, 4, "xy\0z", 4, "bab"), "unchanged");
        CHECK_STR(mapped(far_root, 4, "xy\0z", 4, "bab"), "unchanged");
        CHECK_STR(mapped(good, 4, "x\xff\0", 3, "a"),
                  "'precompiled_charsmap' has texts that are not UTF-8");
        CHECK_STR(mapped(good, 4, "\xc3\xa9", 2, "b"), "unchanged");
        CHECK(ran_charsmap_new("!!!!", 4, &err) == NULL);
        CHECK_STR(err.text, "'precompiled_charsmap' is not base64");
        CHECK(ran_charsmap_new("////", 4, &err) == NULL);
        CHECK_STR(err.text, "'precompiled_charsmap' has a trie of 0 bytes in 3");
        CHECK(ran_charsmap_new("/////////w==", 12, &err) == NULL);
        CHECK_STR(err.text, "'precompiled_charsmap' has a trie of 4294967295 bytes in 7");
}

/* ---- tokenizers ----------------------------------------------------------------------------- */

static struct ran_tokenizer *load(const char *json)
{
        return ran_tokenizer_read_json(json, strlen(json), true, &err);
}

#define META "\xe2\x96\x81"
#define UNIGRAM(more, vocab)                                                                   \
        "{\"added_tokens\":[],\"normalizer\":null,\"pre_tokenizer\":null,\"model\":{\"type\":" \
        "\"Unigram\",\"unk_id\":0" more ",\"vocab\":[[\"<unk>\",0.0]" vocab "]}}"

static void check_unigram(const char *json, const char *text, const char *tokens)
{
        struct ran_tokenizer *t = load(json);

        if (t == NULL)
                CHECK_STR(err.text, NULL);
        REQUIRE(t != NULL);
        CHECK_STR(tokens_with_offsets(t, text), tokens);
        ran_tokenizer_free(t);
}

TEST(unigram_takes_the_largest_sum)
{
        static const char json[] = UNIGRAM("", ",[\"a\",-1],[\"b\",-1],[\"ab\",-1.5],[\"ba\",-3],"
                                               "[\"bab\",-2.25]");

        check_unigram(json, "ab", "ab[0,2)");
        check_unigram(json, "aba", "ab[0,2)|a[2,3)");
        check_unigram(json, "abab", "ab[0,2)|ab[2,4)");
        check_unigram(json, "bab", "bab[0,3)");
        /* Unknown characters next to each other are one token. */
        check_unigram(json, "xyaz", "<unk>[0,2)|a[2,3)|<unk>[3,4)");
        check_unigram(json,
                      "\xc3\xa9\xe4\xb8\xad"
                      "b",
                      "<unk>[0,2)|b[2,3)");
        /* "<unk>" in a text is the token itself, and joins what is unknown. */
        check_unigram(json, "x<unk>a", "<unk>[0,6)|a[6,7)");
        /* Of equally good ways, the one found first: that of the earliest start of its last token.
         */
        check_unigram(UNIGRAM("", ",[\"a\",-1],[\"aa\",-2]"), "aaa", "a[0,1)|aa[1,3)");
}

TEST(unigram_may_spell_bytes)
{
        static const char json[] =
                UNIGRAM(",\"byte_fallback\":true", ",[\"a\",-1],[\"<0xC3>\",-9],[\"<0xA9>\",-9]");

        check_unigram(json, "a\xc3\xa9", "a[0,1)|<0xC3>[1,2)|<0xA9>[1,2)");
        /* All bytes of what is unknown, or none. */
        check_unigram(json, "a\xc3\xa9x", "a[0,1)|<unk>[1,3)");
}

TEST(bad_unigrams_are_refused)
{
        static const struct {
                const char *json, *sentence;
        } cases[] = {
                {"{\"model\":{\"type\":\"Unigram\",\"unk_id\":0}}",
                 "the model Unigram has no list 'vocab'"},
                {"{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":{\"a\":0}}}",
                 "the model Unigram has no list 'vocab'"},
                {UNIGRAM("", ",7"),
                 "entry 2 of the vocabulary of Unigram is not a token and its score"},
                {UNIGRAM("", ",[\"a\"]"),
                 "entry 2 of the vocabulary of Unigram is not a token and its score"},
                {UNIGRAM("", ",[\"a\",-1,2]"),
                 "entry 2 of the vocabulary of Unigram is not a token and its score"},
                {UNIGRAM("", ",[1,\"a\"]"),
                 "entry 2 of the vocabulary of Unigram is not a token and its score"},
                {UNIGRAM("", ",[\"a\",1e999]"),
                 "entry 2 of the vocabulary of Unigram is not a token and its score"},
                {UNIGRAM("", ",[\"a\",-1],[\"a\",-2]"), "the token 'a' occurs twice, as 1 and 2"},
                {"{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",0]]}}",
                 "'unk_id' of the model Unigram is not the id of a token: unknown text "
                 "would have no token"},
                {"{\"model\":{\"type\":\"Unigram\",\"unk_id\":1,\"vocab\":[[\"a\",0]]}}",
                 "'unk_id' of the model Unigram is not the id of a token: unknown text "
                 "would have no token"},
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                CHECK(load(cases[i].json) == NULL);
                CHECK_STR(err.text, cases[i].sentence);
        }
}

#define WORDS(post)                                                                             \
        "{\"added_tokens\":[{\"id\":2,\"content\":\"[CLS]\",\"special\":true}],\"normalizer\":" \
        "null,"                                                                                 \
        "\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},\"post_processor\":" post ","         \
        "\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1,"     \
        "\"[CLS]\":2,\"[SEP]\":3,\"<mask>\":4,\"[PAD]\":5}}}"
#define BERT "{\"type\":\"BertProcessing\",\"sep\":[\"[SEP]\",3],\"cls\":[\"[CLS]\",2]}"
#define TEMPLATE                                                                               \
        "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"x\"}},"      \
        "{\"Sequence\":{\"id\":\"A\"}},{\"SpecialToken\":{\"id\":\"y\"}}],\"special_tokens\":" \
        "{\"x\":{\"ids\":[2,4]},\"y\":{\"ids\":[3]}}}"

/* "before ... after", as ids. */
static const char *surround(const struct ran_tokenizer *t)
{
        static char shown[200];
        const struct ran_surround s = ran_tokenizer_surround(t);
        size_t at = 0;

        for (size_t i = 0; i < s.before_n; i++)
                at += (size_t)snprintf(shown + at, sizeof shown - at, "%u ", s.before[i]);
        at += (size_t)snprintf(shown + at, sizeof shown - at, "...");
        for (size_t i = 0; i < s.after_n; i++)
                at += (size_t)snprintf(shown + at, sizeof shown - at, " %u", s.after[i]);
        return shown;
}

TEST(what_surrounds_a_text_is_read_and_written)
{
        static const struct {
                const char *json, *shown;
        } cases[] = {
                {WORDS("null"), "..."},
                {WORDS(BERT), "2 ... 3"},
                {WORDS("{\"type\":\"RobertaProcessing\",\"sep\":[\"s\",3],\"cls\":[\"c\",2],"
                       "\"trim_offsets\":true,\"add_prefix_space\":false}"),
                 "2 ... 3"},
                {WORDS(TEMPLATE), "2 4 ... 3"},
                {WORDS("{\"type\":\"Sequence\",\"processors\":[" BERT "," TEMPLATE "]}"),
                 "2 4 2 ... 3 3"},
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct ran_tokenizer *t = load(cases[i].json), *again;
                size_t n;

                REQUIRE(t != NULL);
                CHECK_STR(surround(t), cases[i].shown);
                CHECK_SIZE(t->role[RAN_TOKEN_MASK], 4);
                CHECK_SIZE(t->role[RAN_TOKEN_PADDING], 5);
                CHECK_SIZE(t->role[RAN_TOKEN_UNKNOWN], 0);
                const char *json = ran_tokenizer_json(t, &n);
                again = ran_tokenizer_load(json, n, &err); /* as a model does */
                REQUIRE(again != NULL);
                CHECK_STR(surround(again), cases[i].shown);
                CHECK_STR(ran_tokenizer_digest(again), ran_tokenizer_digest(t));
                ran_tokenizer_free(again);
                ran_tokenizer_free(t);
                /* A vocabulary for a model of our own has none of that. */
                t = ran_tokenizer_load(cases[i].json, strlen(cases[i].json), &err);
                REQUIRE(t != NULL);
                CHECK_STR(surround(t), "...");
                ran_tokenizer_free(t);
        }
}

TEST(bad_post_processors_are_refused)
{
        static const struct {
                const char *json, *sentence;
        } cases[] = {
                {WORDS("{\"type\":\"Odd\"}"), "the post_processor 'Odd' is not supported"},
                {WORDS("{\"type\":\"BertProcessing\"}"),
                 "the post_processor has an id that is not in the vocabulary"},
                {WORDS("{\"type\":\"BertProcessing\",\"sep\":[\"[SEP]\",6],\"cls\":[\"\",2]}"),
                 "the post_processor has an id that is not in the vocabulary"},
                {WORDS("{\"type\":\"TemplateProcessing\"}"),
                 "the post_processor TemplateProcessing must have one text in 'single', not 0"},
                {WORDS("{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":"
                       "\"x\"}}]}"),
                 "the post_processor TemplateProcessing has no ids for 'x'"},
                {WORDS("{\"type\":\"TemplateProcessing\",\"single\":[{\"Sequence\":{\"id\":\"B\"}}"
                       "]}"),
                 "the post_processor TemplateProcessing has something other than special tokens "
                 "and one text in 'single'"},
                {WORDS("{\"type\":\"Sequence\"}"),
                 "the post_processor Sequence has no list 'processors', or is nested too deeply"},
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                CHECK(load(cases[i].json) == NULL);
                CHECK_STR(err.text, cases[i].sentence);
        }
}

/* Words that come split are read as those of a text, with spaces between. */
TEST(words_of_bytes_that_come_split)
{
        static const char json[] =
                "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},"
                "\"post_processor\":{\"type\":\"RobertaProcessing\",\"sep\":[\"\",0],\"cls\":[\"\","
                "0],"
                "\"trim_offsets\":true,\"add_prefix_space\":false},"
                "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"\u0120\":2,\"\u0120a\":3}"
                ","
                "\"merges\":[\"\u0120 a\"]}}";
        static const char *const words[] = {"a", "ab", " a", "b"};
        static const struct {
                size_t id, start, end, word;
        } tokens[] = {{0, 0, 1, 0}, {3, 0, 1, 1}, {1, 1, 2, 1},
                      {3, 1, 2, 2}, {2, 0, 0, 3}, {1, 0, 1, 3}};
        struct ran_tokenizer *t = load(json);
        struct ran_encoding e = {0};

        REQUIRE(t != NULL);
        for (size_t i = 0; i < 4; i++)
                CHECK_OK(ran_tokenizer_encode_word(t, words[i], strlen(words[i]), &e, &err), err);
        CHECK_SIZE(e.n, sizeof tokens / sizeof *tokens);
        for (size_t i = 0; i < e.n && i < sizeof tokens / sizeof *tokens; i++) {
                CHECK_SIZE(e.ids[i], tokens[i].id);
                CHECK_SIZE(e.start[i], tokens[i].start);
                CHECK_SIZE(e.end[i], tokens[i].end);
                CHECK_SIZE(e.word[i], tokens[i].word);
        }
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
}

/* ---- folders -------------------------------------------------------------------------------- */

static void put(const char *folder, const char *name, const char *text)
{
        char path[4096];
        FILE *f;

        snprintf(path, sizeof path, "%s/%s", folder, name);
        f = fopen(path, "wb");
        if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
                abort();
}

/* Its message, with FOLDER for its path. */
static const char *refusal(const char *folder)
{
        static char shown[1000];
        struct ran_tokenizer *t = ran_tokenizer_open_folder(folder, &err);
        const size_t n = strlen(folder);
        size_t at = 0;

        CHECK(t == NULL);
        ran_tokenizer_free(t);
        for (const char *s = err.text; *s != '\0' && at < sizeof shown - 7;) {
                bool found = strncmp(s, folder, n) == 0;
                at += (size_t)snprintf(shown + at, sizeof shown - at, "%.*s", found ? 6 : 1,
                                       found ? "FOLDER" : s);
                s += found ? n : 1;
        }
        return shown;
}

TEST(folders_without_a_tokenizer_json)
{
        char folder[] = "/tmp/ran-test-XXXXXX";
        char command[100];
        struct ran_tokenizer *t;

        REQUIRE(mkdtemp(folder) != NULL);
        CHECK_STR(refusal(folder), "FOLDER has no vocabulary: tokenizer.json, or vocab.txt, or "
                                   "vocab.json and merges.txt");
        put(folder, "sentencepiece.bpe.model", "x");
        CHECK_STR(
                refusal(folder),
                "FOLDER has sentencepiece.bpe.model, which is not supported, and no "
                "tokenizer.json; make one: python3 -c \"from transformers import AutoTokenizer as "
                "T; T.from_pretrained('FOLDER').save_pretrained('FOLDER')\"");
        put(folder, "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\r\n##b\n\nE\n\xc3\xa9\n");
        t = ran_tokenizer_open_folder(folder, &err);
        REQUIRE(t != NULL);
        CHECK_STR(surround(t), "2 ... 3");
        CHECK_STR(tokens_with_offsets(t, "AB \xc3\xa9[MASK]e"),
                  "a[0,1)|##b[1,2)|[UNK][3,4)|[MASK][4,10)|[UNK][10,11)");
        CHECK_SIZE(ran_tokenizer_size(t), 10);
        ran_tokenizer_free(t);
        put(folder, "tokenizer_config.json",
            "{\"do_lower_case\":false,\"cls_token\":{\"content\":\"a\"}}");
        t = ran_tokenizer_open_folder(folder, &err);
        REQUIRE(t != NULL);
        CHECK_STR(surround(t), "5 ... 3");
        CHECK_STR(tokens_with_offsets(t, "E \xc3\xa9"), "E[0,1)|\xc3\xa9[2,3)");
        ran_tokenizer_free(t);
        put(folder, "tokenizer_config.json", "{\"mask_token\":\"<m>\"}");
        CHECK_STR(refusal(folder), "FOLDER/vocab.txt: the mask_token '<m>' is not in it");
        put(folder, "tokenizer_config.json", "{");
        CHECK_STR(refusal(folder), "FOLDER/tokenizer_config.json: it is not JSON");
        put(folder, "tokenizer_config.json", "{}");
        put(folder, "vocab.txt", "a\nb\na\n");
        CHECK_STR(refusal(folder),
                  "FOLDER/vocab.txt: line 3: the token 'a' occurs twice, as 0 and 2");
        put(folder, "vocab.txt", "a\n\xff\n");
        CHECK_STR(refusal(folder), "FOLDER/vocab.txt: line 2: token 1 is not valid UTF-8");
        put(folder, "tokenizer.json", "[]");
        CHECK_STR(refusal(folder), "FOLDER/tokenizer.json: not valid JSON at byte 1: expected an "
                                   "object, '{', found '['");
        put(folder, "tokenizer.json", "{}");
        CHECK_STR(refusal(folder), "FOLDER/tokenizer.json: this is not a tokenizer.json: it has no "
                                   "object 'model'");
        snprintf(command, sizeof command, "rm -r %s", folder);
        CHECK(system(command) == 0);
}
