/* Files of vocabularies: what is read, what is written, and what is refused, with which words. */
#include <stdlib.h>
#include <string.h>

#include "ran.h"
#include "test.h"
#include "vocabulary.h"

static struct ran_error err;

static struct ran_tokenizer *load(const char *data)
{
        return ran_tokenizer_load(data, strlen(data), &err);
}

/* A tokenizer.json of parts, each NULL for what is usual. */
struct parts {
        const char *normalizer, *pre_tokenizer, *decoder, *added, *model, *more;
};

static struct ran_tokenizer *load_parts(struct parts p)
{
        struct ran_buf json = {0};

        ran_buf_printf(&json,
                       "{%s\"added_tokens\":[%s],\"normalizer\":%s,\"pre_tokenizer\":%s,"
                       "\"decoder\":%s,\"model\":%s}",
                       p.more != NULL ? p.more : "", p.added != NULL ? p.added : "",
                       p.normalizer != NULL ? p.normalizer : "null",
                       p.pre_tokenizer != NULL ? p.pre_tokenizer : "{\"type\":\"WhitespaceSplit\"}",
                       p.decoder != NULL ? p.decoder : "null",
                       p.model != NULL ? p.model
                                       : "{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":"
                                         "{\"?\":0,\"a\":1,\"b\":2,\"[x]\":3}}");
        struct ran_tokenizer *t = ran_tokenizer_load(json.data, json.len, &err);
        ran_buf_release(&json);
        return t;
}

static void refuse(struct parts p, const char *sentence)
{
        struct ran_tokenizer *t = load_parts(p);

        CHECK(t == NULL);
        CHECK_STR(err.text, sentence);
        ran_tokenizer_free(t);
}

static void check_tokens(struct parts p, const char *text, const char *tokens)
{
        struct ran_tokenizer *t = load_parts(p);

        if (t == NULL)
                CHECK_STR(err.text, NULL);
        else
                CHECK_STR(tokens_of(t, text), tokens);
        ran_tokenizer_free(t);
}

/* ---- reading -------------------------------------------------------------------------------- */

TEST(word_level)
{
        check_tokens((struct parts){0}, " a b [x] c", "a|b|[x]|?");
        check_tokens((struct parts){.pre_tokenizer = "{\"type\":\"BertPreTokenizer\"}"}, "a,b",
                     "a|?|b");
}

/* The longest token wins, on either side of the number of prefixes that are hashed at a time. */
TEST(the_longest_of_many_prefixes_is_found)
{
#define A8  "aaaaaaaa"
#define A32 A8 A8 A8 A8
        struct parts p = {.model = "{\"type\":\"WordPiece\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,"
                                   "\"a\":1,\"" A32 "\":2,\"" A32 "a\":3,\"" A32 A32 A8 "\":4,"
                                   "\"##a\":5,\"##\u00e9\":6}}"};

        check_tokens(p, A32, A32);
        check_tokens(p, A32 "a", A32 "a");
        check_tokens(p, A32 "aa", A32 "a|##a");
        check_tokens(p, A32 A32 A8, A32 A32 A8);
        check_tokens(p, A32 A32 A8 "a\u00e9", A32 A32 A8 "|##a|##\u00e9");
        check_tokens(p, A32 "b", "?");
#undef A32
#undef A8
}

TEST(each_normalizer_by_its_name)
{
        static const struct {
                const char *name, *text, *tokens;
        } cases[] = {
                {"{\"type\":\"Lowercase\"}", "A", "a"},
                {"{\"type\":\"NFKC\"}", "\xef\xbd\x81", "a"},
                {"{\"type\":\"NFC\"}", "\xef\xbd\x81", "?"},
                {"{\"type\":\"StripAccents\"}", "a\xcc\x81", "a"},
                {"{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true}", " a b ", "a|b"},
                {"{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFD\"},"
                 "{\"type\":\"StripAccents\"},{\"type\":\"Lowercase\"}]}",
                 "\xc3\x81", "a"},
                {"{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,"
                 "\"strip_accents\":null,\"lowercase\":true}",
                 "\xc3\x81 b\x01", "a|b"},
                {"{\"type\":\"BertNormalizer\",\"clean_text\":false,\"handle_chinese_chars\":false,"
                 "\"strip_accents\":false,\"lowercase\":true}",
                 "\xc3\x81 b\x01", "?|?"},
                {"{\"type\":\"Replace\",\"pattern\":{\"String\":\"\\n\"},\"content\":\" b \"}",
                 "a\na", "a|b|a"},
                {"{\"type\":\"Replace\",\"pattern\":{\"Regex\":"
                 "\"[[\\\\p{Cc}\\\\p{Cf}\\\\x{FFFD}]&&[^\\\\t\\\\n\\\\r]]\"},\"content\":\"\"}",
                 "a\x01 b\xee\x80\x80", "a|?"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                check_tokens((struct parts){.normalizer = cases[i].name}, cases[i].text,
                             cases[i].tokens);
}

TEST(each_pre_tokenizer_by_its_name)
{
        static const char model[] =
                "{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1.0,\"b\":"
                "2e0,"
                "\"...\":3,\".\":4,\"a_b\":5,\"\\u00e9\":6,\"\\u24b6\":7,\"a\\u200db\":8,"
                "\"\\u0663\":9,\"_\":10}}";
        static const char spaces[] = "{\"type\":\"WhitespaceSplit\"}",
                          runs[] = "{\"type\":\"Whitespace\"}",
                          punctuation[] = "{\"type\":\"Punctuation\",\"behavior\":\"Isolated\"}";
        const struct {
                const char *first, *second, *text, *tokens;
        } cases[] = {
                {runs, NULL, "a...b ... .. a_b", "a|...|b|...|?|a_b"},
                /* Letters, marks and digits of any script, joiners, and letters in circles. */
                {runs, NULL,
                 "\xc3\xa9\xc2\xab\xe2\x92\xb6 a\xe2\x80\x8d"
                 "b\xc2\xbb\xd9\xa3",
                 "\xc3\xa9|?|\xe2\x92\xb6|a\xe2\x80\x8d"
                 "b|?|\xd9\xa3"},
                {runs, spaces, "a...b", "a|...|b"},
                {spaces, NULL, "a_b a...", "a_b|?"},
                {spaces, punctuation, "a_b a...", "a|_|b|a|.|.|."},
                {punctuation, spaces, "a_b a...", "a|_|b|a|.|.|."},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct ran_buf all = {0};

                ran_buf_printf(&all, "{\"type\":\"Sequence\",\"pretokenizers\":[%s%s%s]}",
                               cases[i].first, cases[i].second != NULL ? "," : "",
                               cases[i].second != NULL ? cases[i].second : "");
                ran_buf_char(&all, '\0');
                check_tokens((struct parts){.pre_tokenizer = all.data, .model = model},
                             cases[i].text, cases[i].tokens);
                if (cases[i].second == NULL)
                        check_tokens(
                                (struct parts){.pre_tokenizer = cases[i].first, .model = model},
                                cases[i].text, cases[i].tokens);
                ran_buf_release(&all);
        }
}

TEST(added_tokens_are_found_in_text)
{
        struct parts p = {.added =
                                  "{\"id\":3,\"content\":\"[x]\",\"special\":true,\"lstrip\":true},"
                                  "{\"id\":7,\"content\":\"[x]y\",\"special\":false,"
                                  "\"normalized\":false}"};
        struct ran_tokenizer *t = load_parts(p);
        size_t n;

        REQUIRE(t != NULL);
        CHECK_SIZE(ran_tokenizer_size(t), 8);
        CHECK(ran_tokenizer_token(t, 5, &n) == NULL); /* a gap */
        CHECK_STR(tokens_with_offsets(t, "a[x]b \t[x][x]ya[x"),
                  "a[0,1)|[x][1,4)|b[4,5)|[x][5,10)|[x]y[10,14)|?[14,17)");
        ran_tokenizer_free(t);
        /* "normalized" makes no difference where nothing is normalised */
        p.added = "{\"id\":3,\"content\":\"[x]\",\"normalized\":true,\"rstrip\":true}";
        t = load_parts(p);
        REQUIRE(t != NULL);
        CHECK_STR(tokens_with_offsets(t, "[x]\xe3\x80\x80 a [x] "), "[x][0,5)|a[5,6)|[x][7,11)");
        ran_tokenizer_free(t);
        p.normalizer = "{\"type\":\"NFC\"}"; /* then the steps find it */
        t = load_parts(p);
        REQUIRE(t != NULL);
        CHECK_STR(tokens_with_offsets(t, "a\xcc\x81[x] a"), "?[0,1)|[x][2,6)|a[6,7)");
        ran_tokenizer_free(t);
}

TEST(what_is_ignored_is_said)
{
        struct parts p = {.more = "\"truncation\":{\"max_length\":512},\"padding\":{\"x\":1},"
                                  "\"post_processor\":{\"type\":\"BertProcessing\"},"};
        struct ran_tokenizer *t = load_parts(p);

        REQUIRE(t != NULL);
        CHECK_STR(ran_tokenizer_notice(t),
                  "its truncation to 512 tokens is ignored: documents are never cut; its "
                  "post_processor is ignored: no tokens are added to a text");
        ran_tokenizer_free(t);
        t = load_parts((struct parts){.more = "\"truncation\":{\"max_length\":\"no\"},"});
        REQUIRE(t != NULL);
        CHECK_STR(ran_tokenizer_notice(t),
                  "its truncation is ignored: documents are never cut"); /* was to nan tokens */
        ran_tokenizer_free(t);
        t = load_parts((struct parts){0});
        REQUIRE(t != NULL);
        CHECK(ran_tokenizer_notice(t) == NULL);
        ran_tokenizer_free(t);
}

TEST(the_unknown_parts_are_refused_by_name)
{
        refuse((struct parts){.model = "{\"type\":\"WordPieces\"}"},
               "the model 'WordPieces' is not supported (WordLevel, WordPiece, BPE and Unigram "
               "are)");
        refuse((struct parts){.model = "[]"},
               "this is not a tokenizer.json: it has no object 'model'");
        refuse((struct parts){.normalizer = "{\"type\":\"ByteLevel\"}"},
               "the normalizer 'ByteLevel' is not supported");
        refuse((struct parts){.normalizer = "{\"type\":\"Prepend\"}"},
               "'Prepend' has no text 'prepend'");
        refuse((struct parts){.normalizer = "{\"type\":\"Strip\",\"strip_left\":1}"},
               "'strip_left' of Strip must be true or false");
        refuse((struct parts){.normalizer = "{\"type\":\"BertNormalizer\",\"lowercase\":1}"},
               "'lowercase' of BertNormalizer must be true or false");
        refuse((struct parts){.pre_tokenizer = "{\"type\":\"UnicodeScripts\"}"},
               "the pre_tokenizer 'UnicodeScripts' is not supported");
        refuse((struct parts){.pre_tokenizer = "{\"type\":\"ByteLevel\"}"},
               "the pre_tokenizer 'ByteLevel' is supported for the model BPE only");
        refuse((struct parts){.pre_tokenizer = "{\"type\":\"Punctuation\",\"behavior\":\"Odd\"}"},
               "the behavior 'Odd' of 'Punctuation' is not supported");
        refuse((struct parts){.added = "{\"id\":3}"}, "an added token has no content");
        refuse(
                (struct parts){
                        .model = "{\"type\":\"WordPiece\",\"unk_token\":\"?\",\"vocab\":{\"?\":0},"
                                 "\"max_input_chars_per_word\":1.5}"},
                "'max_input_chars_per_word' is not a whole number");
}

/* Each step costs the time of all texts, and nobody needs so many. */
TEST(steps_of_a_normalizer_have_a_bound)
{
        struct ran_buf steps = {0};

        ran_buf_str(&steps, "{\"type\":\"Sequence\",\"normalizers\":[");
        for (int i = 0; i < 101; i++)
                ran_buf_str(&steps, i == 0 ? "{\"type\":\"NFC\"}" : ",{\"type\":\"NFC\"}");
        ran_buf_add(&steps, "]}", 3);
        refuse((struct parts){.normalizer = steps.data},
               "more than 100 normalizers and pre-tokenizers");
        ran_buf_release(&steps);
}

/* Appends `before`, n times the letter z, and `after`. */
static void add_long(struct ran_buf *out, const char *before, size_t n, const char *after)
{
        ran_buf_str(out, before);
        while (n-- > 0)
                ran_buf_char(out, 'z');
        ran_buf_add(out, after, strlen(after) + 1);
}

/* A text is searched for them from each place on, or written out by them. */
TEST(what_a_text_is_searched_for_has_a_bound)
{
        static const struct {
                size_t part; /* of struct parts */
                const char *before, *after, *sentence;
                size_t most;
        } cases[] = {
                {offsetof(struct parts, model), "{\"type\":\"WordPiece\",\"vocab\":{\"[UNK]\":0,\"",
                 "\":1},\"max_input_chars_per_word\":5000}",
                 "a token has 1001 bytes; the maximum for WordPiece is 1000", 1000},
                {offsetof(struct parts, model),
                 "{\"type\":\"WordPiece\",\"vocab\":{\"[UNK]\":0},\"continuing_subword_prefix\":\"",
                 "\"}", "the prefix of continuing subwords has 1001 bytes; the maximum is 1000",
                 1000},
                {offsetof(struct parts, added), "{\"id\":4,\"special\":true,\"content\":\"", "\"}",
                 "the added token 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz...' has 1001 bytes; "
                 "the maximum is 1000",
                 1000},
                {offsetof(struct parts, model),
                 "{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"[UNK]\",0],[\"", "\",-1]]}",
                 "a token has 1001 bytes; the maximum for Unigram is 1000", 1000},
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
                for (size_t over = 0; over < 2; over++) {
                        struct parts p = {0};
                        struct ran_buf text = {0};

                        add_long(&text, cases[i].before, cases[i].most + over, cases[i].after);
                        memcpy((char *)&p + cases[i].part, &text.data, sizeof text.data);
                        if (over > 0)
                                refuse(p, cases[i].sentence);
                        else
                                check_tokens(p, "zz",
                                             cases[i].part == offsetof(struct parts, model)
                                                     ? "[UNK]"
                                                     : "?");
                        ran_buf_release(&text);
                }
}

TEST(bad_tokens_are_refused)
{
        refuse((struct parts){.model = "{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":"
                                       "{\"?\":0,\"a\":1,\"\\u0061\":2}}"},
               "the token 'a' occurs twice, as 1 and 2");
        refuse((struct parts){.model = "{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":"
                                       "{\"?\":0,\"a\":1,\"b\":1}}"},
               "'a' and 'b' have the same id 1");
        refuse((struct parts){.added = "{\"id\":3,\"content\":\"y\"}"},
               "'[x]' and 'y' have the same id 3");
#define VOCAB(tokens) ((struct parts){.model = "{\"type\":\"WordPiece\",\"vocab\":{" tokens "}}"})
        refuse(VOCAB("\"a\":0"), "the vocabulary has no token '[UNK]' for unknown words");
        refuse(VOCAB("\"[UNK]\":0,\"a\":0"), "'[UNK]' and 'a' have the same id 0");
        refuse(VOCAB("\"[UNK]\":0,\"a\":1,\"a\":2"), "the token 'a' occurs twice, as 1 and 2");
        refuse(VOCAB("\"[UNK]\":\"0\""), "the id of '[UNK]' is not a whole number from 0 to 1001");
        refuse(VOCAB("\"[UNK]\":1.5"), "the id of '[UNK]' is not a whole number from 0 to 1001");
        refuse(VOCAB("\"[UNK]\":4294967295"),
               "the id of '[UNK]' is not a whole number from 0 to 1001");
        refuse(VOCAB("\"[UNK]\":0,\"a\\u0000b\":1"),
               "the vocabulary contains U+0000, which is not supported");
        refuse(VOCAB("\"[UNK]\":0,\"\xff\":1"),
               "not valid JSON at byte 144: this is not valid UTF-8");
        refuse((struct parts){.model = "{\"type\":\"WordPiece\"}"},
               "'model' has no object 'vocab'");
        check_tokens(VOCAB("\"[UNK]\":0,\"\\\\u0000\":1"), "\\u0000", "\\u0000"); /* no escape */
#undef VOCAB
}

TEST(a_document_cut_anywhere_is_refused)
{
        struct ran_tokenizer *t =
                load_parts((struct parts){.added = "{\"id\":3,\"content\":\"[x]\","
                                                   "\"special\":true}"});
        size_t n;

        REQUIRE(t != NULL);
        const char *json = ran_tokenizer_json(t, &n);
        for (size_t length = 0; length + 2 < n; length++) { /* the last bytes: "}\n" */
                char *cut =
                        malloc(length + 1); /* no longer than it says, so that a sanitizer sees */
                REQUIRE(cut != NULL);
                memcpy(cut + 1, json, length);
                struct ran_tokenizer *refused = ran_tokenizer_load(cut + 1, length, &err);
                free(cut);
                if (!CHECK(refused == NULL))
                        break;
        }
        ran_tokenizer_free(t);
}

TEST(nesting_does_not_exhaust_the_stack)
{
        size_t n = 1000000;
        char *deep = malloc(n + 1);

        REQUIRE(deep != NULL);
        memset(deep, '[', n);
        deep[n] = '\0';
        memcpy(deep, "{\"a\":", 5);
        CHECK(load(deep) == NULL);
        CHECK(strstr(err.text, "not valid JSON") != NULL);
        free(deep);
}

TEST(what_follows_a_document_is_refused)
{
        struct ran_tokenizer *t = load_parts((struct parts){0});
        size_t n;

        REQUIRE(t != NULL);
        const char *json = ran_tokenizer_json(t, &n);
        struct ran_buf twice = {0};
        ran_buf_add(&twice, json, n);
        ran_buf_str(&twice, " \t\r\n");
        struct ran_tokenizer *again = ran_tokenizer_load(twice.data, twice.len, &err);
        CHECK(again != NULL);
        ran_tokenizer_free(again);
        ran_buf_str(&twice, "x");
        CHECK(ran_tokenizer_load(twice.data, twice.len, &err) == NULL);
        ran_buf_release(&twice);
        ran_tokenizer_free(t);
}

/* ---- writing -------------------------------------------------------------------------------- */

/* What was written reads back as the same bytes, and means the same. */
static void check_stable(struct ran_tokenizer *t, const char *text)
{
        size_t n, m;

        REQUIRE(t != NULL);
        const char *json = ran_tokenizer_json(t, &n);
        struct ran_tokenizer *again = ran_tokenizer_load(json, n, &err);
        if (!CHECK(again != NULL)) {
                CHECK_STR(err.text, NULL);
                return;
        }
        const char *second = ran_tokenizer_json(again, &m);
        CHECK(n == m && memcmp(json, second, n) == 0);
        CHECK_STR(ran_tokenizer_digest(again), ran_tokenizer_digest(t));
        char *tokens = strdup(tokens_of(t, text));
        CHECK_STR(tokens_of(again, text), tokens);
        free(tokens);
        ran_tokenizer_free(again);
}

TEST(what_is_written_reads_back)
{
        static const char *const corpus[] = {
                "\"The\" caf\xc3\xa9 \\ the <eos>\tCaf\xc3\xa9s\n \xe4\xba\xba", NULL};

        for (int i = 0; i < 72; i++) {
                struct ran_vocab_settings s = default_settings();
                s.min_count = 1;
                s.vocab_type = i % 2;
                s.normalize = i / 2 % 3;
                s.clean = i / 6 % 3;
                s.lowercase = i / 18 % 2;
                s.split_at = RAN_SPLIT_SPACES;
                s.cjk = i % 5 == 0;
                s.strip_accents = i / 36;
                s.eol_token = i % 3 == 0 ? (char *)"<eos>" : NULL;
                struct ran_tokenizer *t = learn_from(&s, corpus, &err);
                check_stable(t, "the\n\"caf\xc3\xa9\" [MASK] \xe4\xba\xba\xe4\xba\xba");
                ran_tokenizer_free(t);
        }
}

/* However a vocabulary is written: in the order of its ids, which has a way of its own, in another,
 * with white space and escapes. */
TEST(a_vocabulary_may_be_in_any_order)
{
        static const char *const same[] = {
                "{\"?\":0,\"a\":1,\"\\\"\":2,\"\\\\\":3,\"ab\":4}",
                "{\"ab\":4,\"?\":0,\"a\":1,\"\\\"\":2,\"\\\\\":3}",
                " {\"?\" : 0,\n\t\"\\u0061\":1 ,\"\\u0022\": 2,\"\\u005c\":3 , \"\\u0061b\" :4 } ",
                "{\"?\":0,\"a\":1.0,\"\\\"\":2e0,\"\\\\\":3,\"ab\":4}",
        };
        char digest[65] = "";

        for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
                struct ran_buf model = {0};

                ran_buf_printf(&model, "{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":%s}",
                               same[i]);
                struct ran_tokenizer *t = load_parts((struct parts){.model = model.data});
                REQUIRE(t != NULL);
                CHECK_STR(tokens_of(t, "ab \" a \\ c"), "ab|\"|a|\\|?");
                if (i > 0)
                        CHECK_STR(ran_tokenizer_digest(t), digest);
                snprintf(digest, sizeof digest, "%s", ran_tokenizer_digest(t));
                ran_tokenizer_free(t);
                ran_buf_release(&model);
        }
}

TEST(the_same_vocabulary_has_the_same_digest)
{
        const char *vocab = "\"vocab\":{\"b\":2,\"?\":0,\"a\":1}";
        const char *same = "\"vocab\": {\"\\u0061\":1, \"b\":2, \"?\":0}";
        char model[200];
        struct ran_tokenizer *t[2];

        snprintf(model, sizeof(model), "{\"type\":\"WordLevel\",\"unk_token\":\"?\",%s}", vocab);
        t[0] = load_parts((struct parts){.model = model});
        snprintf(model, sizeof(model), "{%s,\"unk_token\":\"?\",\"type\":\"WordLevel\"}", same);
        t[1] = load_parts((struct parts){.model = model, .more = "\"version\":\"1.0\","});
        REQUIRE(t[0] != NULL && t[1] != NULL);
        CHECK_STR(ran_tokenizer_digest(t[1]), ran_tokenizer_digest(t[0]));
        ran_tokenizer_free(t[1]);
        t[1] = load_parts((struct parts){.model = model, .normalizer = "{\"type\":\"NFC\"}"});
        CHECK(strcmp(ran_tokenizer_digest(t[1]), ran_tokenizer_digest(t[0])) != 0);
        ran_tokenizer_free(t[0]);
        ran_tokenizer_free(t[1]);
}

/* Other libraries must be able to read it: a recorded example, looked at with care. */
TEST(the_written_document)
{
        struct ran_vocab_settings s = default_settings();
        size_t n;

        s.min_count = 1;
        s.eol_token = (char *)"eol";
        s.vocab_type = RAN_VOCAB_WORDPIECE;
        struct ran_tokenizer *t = learn_from(&s, (const char *[]){"ab\n", NULL}, &err);
        REQUIRE(t != NULL);
        const char *document = ran_tokenizer_json(t, &n);
        char *json = strndup(document, n);
        CHECK_STR(json,
                  "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\n"
                  "\"added_tokens\":[],\n"
                  "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":["
                  "{\"type\":\"Replace\",\"pattern\":{\"String\":\"\\n\"},\"content\":\" eol \"},"
                  "{\"type\":\"NFC\"},{\"type\":\"BertNormalizer\",\"clean_text\":true,"
                  "\"handle_chinese_chars\":true,\"strip_accents\":false,\"lowercase\":true}]},\n"
                  "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\n"
                  "\"post_processor\":null,\n"
                  "\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},\n"
                  "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\","
                  "\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100,\"vocab\":"
                  "{\n"
                  "\"[UNK]\":0,\n\"[MASK]\":1,\n\"[SEP]\":2,\n\"[START]\":3,\n\"[END]\":4,\n"
                  "\"eol\":5,\n\"a\":6,\n\"##b\":7,\n\"ab\":8\n}}}\n");
        free(json);
        ran_tokenizer_free(t);
}

/* ---- vocab.txt ------------------------------------------------------------------------------ */

TEST(vocab_txt_is_a_token_a_line)
{
        struct ran_tokenizer *t = load("[UNK]\r\nab\r\n##c\r\n\r\nd"); /* id 3 has no token */
        uint32_t id;
        size_t n;

        REQUIRE(t != NULL);
        CHECK_SIZE(ran_tokenizer_size(t), 5);
        CHECK(ran_tokenizer_find(t, "d", 1, &id) && id == 4);
        CHECK(ran_tokenizer_token(t, 3, &n) == NULL);
        CHECK_STR(tokens_of(t, "ABC \xc3\xa1"
                               "bc D"),
                  "ab|##c|ab|##c|d");
        check_stable(t, "abc d");
        ran_tokenizer_free(t);
        t = load("\xef\xbb\xbf[UNK]\na\n"); /* no token: a byte order mark, the line feed at the end
                                             */
        REQUIRE(t != NULL);
        CHECK_SIZE(ran_tokenizer_size(t), 2);
        ran_tokenizer_free(t);
}

TEST(a_capital_makes_a_vocab_txt_cased)
{
        struct ran_tokenizer *t = load("[UNK]\nAb\n[MASK]\n");

        REQUIRE(t != NULL);
        CHECK_STR(tokens_of(t, "Ab ab"), "Ab|[UNK]");
        CHECK(strstr(ran_tokenizer_notice(t), "taken for a cased vocabulary") != NULL);
        ran_tokenizer_free(t);
}

TEST(bad_vocab_txt_is_refused_with_its_line)
{
        static const struct {
                const char *text, *sentence;
        } cases[] = {
                {"", "the vocabulary is empty"},
                {" \n\n", "the vocabulary is empty"},
                {"a\nb\n", "the vocabulary has no token '[UNK]' for unknown words"},
                {"[UNK]\na\nb\na\n", "line 4: the token 'a' occurs twice, as 1 and 3"},
                {"[UNK]\n\xc3\n", "line 2: token 1 is not valid UTF-8"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                CHECK(load(cases[i].text) == NULL);
                CHECK_STR(err.text, cases[i].sentence);
        }
        CHECK(ran_tokenizer_load("[UNK]\na\0b\n", 10, &err) == NULL);
        CHECK_STR(err.text, "line 2 contains U+0000");
}
