/* Normalisation with its origins, and cutting text into words. */
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "ran.h"
#include "test.h"
#include "text/words/words.h"

/* ---- normalisation -------------------------------------------------------------------------- */

/* The normalised text as UTF-8, each character with the code points it came from: "e0-2 x2-3". */
static const char *normalised(const struct ran_normalizer *z, const char *text, size_t n,
                              bool origins)
{
        static struct ran_buf out;
        struct ran_glyphs glyphs = {0}, spare = {0};
        struct ran_error err;
        size_t points;

        out.len = 0;
        if (ran_normalizer_apply(z, text, n, &glyphs, &spare, &points, &err) != RAN_OK)
                ran_buf_str(&out, err.text);
        for (size_t i = 0; i < glyphs.n; i++) {
                char bytes[4];
                const struct ran_glyph *g = &glyphs.at[i];
                ran_buf_add(&out, bytes, ran_unicode_put(bytes, g->c));
                if (origins)
                        ran_buf_printf(&out, "%u-%u ", (unsigned)g->begin, (unsigned)g->end);
        }
        ran_buf_char(&out, '\0');
        ran_glyphs_release(&glyphs);
        ran_glyphs_release(&spare);
        return out.data;
}

static const char *step(enum ran_normalizer_step step, const char *text)
{
        struct ran_normalizer z = {.step = {step}, .n = 1};

        return normalised(&z, text, strlen(text), false);
}

static const char *origins(enum ran_normalizer_step step, const char *text)
{
        struct ran_normalizer z = {.step = {step}, .n = 1};

        return normalised(&z, text, strlen(text), true);
}

/* Every character, under two marks that are out of order and alone, against the library's own. */
TEST(normal_forms_are_those_of_utf8proc)
{
        static const struct {
                enum ran_normalizer_step step;
                utf8proc_uint8_t *(*reference)(const utf8proc_uint8_t *);
        } forms[] = {
                {NORMAL_NFC, utf8proc_NFC},
                {NORMAL_NFD, utf8proc_NFD},
                {NORMAL_NFKC, utf8proc_NFKC},
                {NORMAL_NFKD, utf8proc_NFKD},
        };

        for (int32_t c = 1; c < 0x12000; c++) {
                char text[16];
                if (c >= 0xd800 && c < 0xe000)
                        continue;
                size_t n = ran_unicode_put(text, c);
                strcpy(text + n, "\xcc\x81\xcc\xa3"); /* acute, then dot below */
                for (size_t f = 0; f < 8; f++) {
                        if (f == 4)
                                text[n] = '\0';
                        char *want = (char *)forms[f % 4].reference((utf8proc_uint8_t *)text);
                        bool same = strcmp(step(forms[f % 4].step, text), want) == 0;
                        free(want);
                        if (!CHECK(same))
                                return;
                }
        }
}

TEST(hangul_composes_and_decomposes)
{
        CHECK_STR(step(NORMAL_NFD, "\xed\x95\x9c"), "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab");
        CHECK_STR(step(NORMAL_NFC, "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"), "\xed\x95\x9c");
}

TEST(a_composed_character_comes_from_all_its_parts)
{
        CHECK_STR(origins(NORMAL_NFC, "ae\xcc\x81x"), "a0-1 \xc3\xa9"
                                                      "1-3 x3-4 ");
        CHECK_STR(origins(NORMAL_NFD, "a\xc3\xa9x"), "a0-1 e1-2 \xcc\x81"
                                                     "1-2 x2-3 ");
        /* acute and dot below change places, and keep where they came from */
        CHECK_STR(origins(NORMAL_NFD, "a\xcc\x81\xcc\xa3"), "a0-1 \xcc\xa3"
                                                            "2-3 \xcc\x81"
                                                            "1-2 ");
        CHECK_STR(origins(NORMAL_NFKC, "\xef\xac\x81x"), "f0-1 i0-1 x1-2 ");
}

TEST(clean_removes_controls_and_levels_white_space)
{
        CHECK_STR(step(NORMAL_CLEAN, "a\x01"
                                     "b\xc2\xad"
                                     "c\xef\xbf\xbd"
                                     "d\xee\x80\x80"
                                     "e"),
                  "abcde");
        CHECK_STR(step(NORMAL_CLEAN, "a\tb\nc\xc2\xa0"
                                     "d\xe3\x80\x80"
                                     "e"),
                  "a b c d e");
        CHECK_STR(step(NORMAL_CLEAN, "a\x0b\x0c"
                                     "b"),
                  "ab");
        /* the original BERT keeps characters for private use */
        struct ran_normalizer clean = {.step = {NORMAL_CLEAN}, .n = 1};
        CHECK_STR(normalised(&clean, "a\0b", 3, true), "a0-1 b2-3 ");
}

TEST(lowercase_is_per_character)
{
        CHECK_STR(step(NORMAL_LOWERCASE, "\xce\xa3\xce\xa3"),
                  "\xcf\x83\xcf\x83"); /* no final sigma */
        CHECK_STR(origins(NORMAL_LOWERCASE, "\xc4\xb0X"), "i0-1 \xcc\x87"
                                                          "0-1 x1-2 ");
}

TEST(accents_go_in_two_ways)
{
        const char *nonspacing_and_spacing = "e\xcc\x81\xe0\xa4\x95\xe0\xa4\xbf";

        CHECK_STR(step(NORMAL_STRIP_NONSPACING, nonspacing_and_spacing),
                  "e\xe0\xa4\x95\xe0\xa4\xbf");
        CHECK_STR(step(NORMAL_STRIP_MARKS, nonspacing_and_spacing), "e\xe0\xa4\x95");
}

TEST(a_line_feed_becomes_a_word)
{
        struct ran_normalizer z = {.step = {NORMAL_EOL}, .n = 1, .eol = (char *)"<e>"};

        CHECK_STR(normalised(&z, "a\n", 2, true), "a0-1  1-2 <1-2 e1-2 >1-2  1-2 ");
}

TEST(bad_utf8_is_refused)
{
        struct ran_normalizer z = {0};
        struct ran_glyphs glyphs = {0}, spare = {0};
        struct ran_error err = {0};
        size_t points;
        const char *const bad[] = {"\x80", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"};

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                CHECK(ran_normalizer_apply(&z, bad[i], strlen(bad[i]), &glyphs, &spare, &points,
                                           &err) == RAN_EFORMAT);
        ran_glyphs_release(&glyphs);
        ran_glyphs_release(&spare);
}

TEST(ideographs_and_spaces_by_their_ranges)
{
        static const int32_t ideographs[] = {0x3400, 0x4dbf,  0x4e00,  0x9fff,  0xf900,
                                             0xfaff, 0x20000, 0x2a6df, 0x2f800, 0x2fa1f};
        static const int32_t others[] = {0x33ff, 0x4dc0, 0x4dff, 0xa000,  0xf8ff,
                                         0xfb00, 0x3042, 0xac00, 0x2a6e0, 0x2fa20};
        static const int32_t spaces[] = {' ',    '\t',   '\r',   0x85,   0xa0,
                                         0x2000, 0x200a, 0x2028, 0x202f, 0x3000};
        static const int32_t none[] = {'a',  0x1c,   0x180e, 0x200b, 0xfeff,
                                       0x84, 0x2060, 0,      '!',    0x7f};

        for (size_t i = 0; i < 10; i++) {
                CHECK(ran_unicode_is_cjk(ideographs[i]) && !ran_unicode_is_cjk(others[i]));
                CHECK(ran_unicode_is_space(spaces[i]) && !ran_unicode_is_space(none[i]));
        }
}

/* ---- words ---------------------------------------------------------------------------------- */

/* The words of a text, each with its first and last code point: "ab0-2 ". */
static const char *words_of(const struct ran_text_rules *rules, const char *text)
{
        static struct ran_buf out;
        struct ran_words_scratch scratch = {0};
        struct ran_words words;
        struct ran_word word;
        struct ran_error err;

        out.len = 0;
        ran_words_begin(&words, rules, &scratch, text, strlen(text), 0);
        while (ran_words_next(&words, &word, &err)) {
                size_t begin, end;
                ran_words_extent(&word, 0, word.chars, &begin, &end);
                ran_buf_add(&out, word.s, word.n);
                ran_buf_printf(&out, "%zu-%zu ", begin, end);
        }
        ran_buf_printf(&out, "of %zu%c", words.points, '\0');
        ran_words_scratch_release(&scratch);
        return words.code == RAN_OK ? out.data : "failed";
}

/* Rules from settings made of letters: Lower case, Accents off, Clean, cJk, Nfc, sPaces. */
static void rules_from(struct ran_text_rules *rules, const char *letters)
{
        struct ran_vocab_settings s = {
                .normalize = strchr(letters, 'N') ? RAN_NORMALIZE_NFC : RAN_NORMALIZE_NONE,
                .lowercase = strchr(letters, 'L'),
                .strip_accents = strchr(letters, 'A'),
                .clean = strchr(letters, 'C') ? RAN_CLEAN_ALL : RAN_CLEAN_NONE,
                .cjk = strchr(letters, 'J'),
                .split_at = strchr(letters, 'P') ? RAN_SPLIT_SPACES : RAN_SPLIT_PUNCTUATION,
        };
        struct ran_error err;

        *rules = (struct ran_text_rules){0};
        CHECK_OK(ran_text_rules_set(rules, &s, &err), err);
}

TEST(words_end_at_white_space_and_punctuation)
{
        struct ran_text_rules r;

        rules_from(&r, "LC");
        CHECK_STR(words_of(&r, ""), "of 0");
        CHECK_STR(words_of(&r, " \t\n "), "of 4");
        CHECK_STR(words_of(&r, "Isn't it?\n"), "isn0-3 '3-4 t4-5 it6-8 ?8-9 of 10");
        CHECK_STR(words_of(&r, "$5 a_b`~c"), "$0-1 51-2 a3-4 _4-5 b5-6 `6-7 ~7-8 c8-9 of 9");
        /* a guillemet and a no-break space; a control character within a word */
        CHECK_STR(words_of(&r, "\xc2\xabX\xc2\xa0y\x01z"), "\xc2\xab"
                                                           "0-1 x1-2 yz3-6 of 6");
        rules_from(&r, "P");
        CHECK_STR(words_of(&r, " N't <unk>\xe2\x80\xa8x,y"), "N't1-4 <unk>5-10 x,y11-14 of 14");
}

TEST(ideographs_stand_alone_when_asked)
{
        struct ran_text_rules r;
        const char *text =
                "a\xe4\xba\xba\xe5\x8f\xa3z \xe3\x81\x82\xe3\x81\x84"; /* two, and kana */

        rules_from(&r, "J");
        CHECK_STR(words_of(&r, text), "a0-1 \xe4\xba\xba"
                                      "1-2 \xe5\x8f\xa3"
                                      "2-3 z3-4 \xe3\x81\x82\xe3\x81\x84"
                                      "5-7 of 7");
        rules_from(&r, "");
        CHECK_STR(words_of(&r, text), "a\xe4\xba\xba\xe5\x8f\xa3z0-4 \xe3\x81\x82\xe3\x81\x84"
                                      "5-7 of 7");
}

TEST(a_mark_joins_the_ascii_before_it)
{
        struct ran_text_rules r;

        rules_from(&r, "N"); /* "=" and a long solidus make one sign, which is no punctuation */
        CHECK_STR(words_of(&r, "x=\xcc\xb8 !\xcc\x81"), "x\xe2\x89\xa0"
                                                        "0-3 !4-5 \xcc\x81"
                                                        "5-6 of 6");
        CHECK_STR(words_of(&r, "x\xe2\x89\xa0 x=\xcc\x81"), "x\xe2\x89\xa0"
                                                            "0-2 x3-4 =4-5 \xcc\x81"
                                                            "5-6 of 6");
        /* two marks that change places are still one word, from the first to the second */
        CHECK_STR(words_of(&r, "a \xcc\x81\xcc\xa3"), "a0-1 \xcc\xa3\xcc\x81"
                                                      "2-4 of 4");
        rules_from(&r, "LA");
        CHECK_STR(words_of(&r, "CAFE\xcc\x81!"), "cafe0-4 !5-6 of 6");
}

TEST(words_of_any_length_are_whole)
{
        struct ran_text_rules r;
        char text[100], want[200];

        rules_from(&r, "L");
        for (int n = WORDS_SHORT - 2; n <= WORDS_SHORT + 2; n++) {
                memset(text, 'A', sizeof(text));
                text[n] = '\0';
                snprintf(want, sizeof(want), "%s0-%d of %d", text, n, n);
                for (int i = 0; i < n; i++)
                        want[i] = 'a';
                CHECK_STR(words_of(&r, text), want);
        }
}

/* All words of a text, a bar behind each; *longest: characters that were normalised at once. */
static struct ran_buf joined_words(const struct ran_text_rules *rules, const struct ran_buf *text,
                                   size_t *longest)
{
        struct ran_words_scratch scratch = {0};
        struct ran_buf out = {0};
        struct ran_words words;
        struct ran_word word;

        ran_words_begin(&words, rules, &scratch, text->data, text->len, 0);
        for (*longest = 0; ran_words_next(&words, &word, NULL);) {
                ran_buf_add(&out, word.s, word.n);
                ran_buf_char(&out, '|');
                *longest = scratch.glyphs.n > *longest ? scratch.glyphs.n : *longest;
        }
        ran_words_scratch_release(&scratch);
        return out;
}

/* Text without white space is normalised in stretches that end where a word ends anyway. The
 * sentence ends with a punctuation mark. */
static void check_long_text(const char *sentence, const char *mark)
{
        static const char *const letters[] = {"N", "NJ", "NAJ", "LCJ"};
        const size_t times = 300;

        for (size_t k = 0; k < 4 * 15; k++) {
                struct ran_text_rules r;
                struct ran_buf text = {0}, want = {0};
                size_t longest;
                rules_from(&r, letters[k % 4]);
                ran_buf_str(&text, sentence);
                struct ran_buf once = joined_words(&r, &text, &longest);
                text.len = 0;
                for (size_t i = 0; i < k / 4; i++) { /* so that the limit falls on each character */
                        ran_buf_printf(&text, "%s.", mark);
                        ran_buf_printf(&want, "%s|.|", mark);
                }
                for (size_t i = 0; i < times; i++) {
                        ran_buf_str(&text, sentence);
                        ran_buf_add(&want, once.data, once.len);
                }
                struct ran_buf got = joined_words(&r, &text, &longest);
                CHECK(got.len == want.len && memcmp(got.data, want.data, want.len) == 0);
                CHECK(longest < 2 * WORDS_STRETCH);
                ran_buf_release(&text);
                ran_buf_release(&want);
                ran_buf_release(&once);
                ran_buf_release(&got);
        }
}

TEST(long_texts_without_white_space)
{
        /* ideographs, a full stop, kana with a mark, hangul in parts, a letter with two marks */
        check_long_text("\xe4\xba\xba\xe5\x8f\xa3\xe3\x80\x82\xe3\x81\x8b\xe3\x82\x99"
                        "\xe1\x84\x92\xe1\x85\xa1"
                        "e\xcc\x81\xcc\xa3,\xe3\x80\x81",
                        "\xe3\x80\x82");
}

/* As a program makes them. A long word takes the long way, and all behind it. */
TEST(long_texts_of_ascii_without_white_space)
{
        check_long_text(
                "{\"name\":[1,2],"
                "\"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrs\":"
                "x=\xcc\xb8y<\xcc\xb8,a==b},",
                ";");
}

/* The same text by the tables and, with all of them saying "other", by the steps alone. */
TEST(the_short_way_agrees_with_the_long_one)
{
        static const char *const rules[] = {"", "L", "LC", "P", "LP", "CP", "LAC", "LNCJ", "NLA"};
        static const char *const parts[] = {"the",  "A",    " ", "\n", ",",  "-",        "\t",
                                            "\x01", "\x7f", "9", "$",  "  ", "\xc3\xa9", "[",
                                            "Z",    "\x0c", "<", "=",  ">",  "\xcc\xb8"};

        for (size_t k = 0; k < sizeof(rules) / sizeof(rules[0]); k++) {
                struct ran_text_rules fast, slow;
                rules_from(&fast, rules[k]);
                rules_from(&slow, rules[k]);
                memset(slow.class, 0, sizeof(slow.class));
                for (uint64_t trial = 0; trial < 300; trial++) {
                        char text[256] = "";
                        for (uint64_t i = 0; i < 20; i++)
                                strcat(text,
                                       parts[ran_random_draw(ran_random_key(k, 99, trial, 0), i) %
                                             20]);
                        char *want = strdup(words_of(&slow, text));
                        bool same = strcmp(words_of(&fast, text), want) == 0;
                        free(want);
                        if (!CHECK(same))
                                return;
                }
        }
}
