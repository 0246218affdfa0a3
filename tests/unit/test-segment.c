/* Words and sentences of raw text, and the conventions of corpora. */
#include <stdio.h>
#include <string.h>

#include "ran.h"
#include "test.h"

/* The words with "|" between them, "||" before a sentence; good until the next call. */
static const char *segments(int convention, const char *text)
{
        static char out[4096];
        struct ran_segments s;
        size_t begin, end, n = 0;
        bool first;

        ran_segments_begin(&s, convention, text, strlen(text));
        while (ran_segments_next(&s, &begin, &end, &first))
                n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s",
                                      n == 0  ? ""
                                      : first ? "||"
                                              : "|",
                                      (int)(end - begin), text + begin);
        out[n] = '\0';
        return out;
}

TEST(conll_keeps_names_and_abbreviations)
{
        const int k = RAN_SEGMENT_CONLL;

        CHECK_STR(segments(k, "Mr. O'Neill-Müller of the U.N. agreed."),
                  "Mr.|O'Neill-Müller|of|the|U.N.|agreed|.");
        CHECK_STR(segments(k, "They don't, it's Ann's."), "They|do|n't|,|it|'s|Ann|'s|.");
        CHECK_STR(segments(k, "\"No,\" she said (twice)."), "\"|No|,|\"|she|said|(|twice|)|.");
        CHECK_STR(segments(k, "C$10 or $1,000.50, 6-4 at 10:30"),
                  "C$|10|or|$|1,000.50|,|6-4|at|10:30");
        CHECK_STR(segments(k, "wait... the workers' '90s -- see www.a.org/x,y"),
                  "wait|...|the|workers|'|'90s|--|see|www.a.org/x,y");
        CHECK_STR(segments(k, "“Quoted” ‘it’s’"), "“|Quoted|”|‘|it|’s|’");
}

TEST(conventions_differ)
{
        static const char text[] = "1. A well-known and/or U.S. isn't";

        CHECK_STR(segments(RAN_SEGMENT_SPACES, text), "1.||A|well-known|and/or|U.S.|isn't");
        CHECK_STR(segments(RAN_SEGMENT_PUNCTUATION, text),
                  "1|.||A|well|-|known|and|/|or|U|.|S|.|isn|'|t");
        CHECK_STR(segments(RAN_SEGMENT_CONLL, text), "1.|A|well-known|and/or|U.S.|is|n't");
        CHECK_STR(segments(RAN_SEGMENT_PTB, text), "1|.||A|well-known|and/or|U.S.|is|n't");
        CHECK_STR(segments(RAN_SEGMENT_UD, text), "1|.||A|well|-|known|and|/|or|U.S.|is|n't");
}

TEST(sentences_end_at_periods_that_end_them)
{
        const int k = RAN_SEGMENT_CONLL;

        CHECK_STR(segments(k, "It rains. Ann left! Why? (So.) \"Now.\" End"),
                  "It|rains|.||Ann|left|!||Why|?||(|So|.|)||\"|Now|.|\"||End");
        CHECK_STR(segments(k, "Dr. No of the U.S. Army spent approx. five"),
                  "Dr.|No|of|the|U.S.|Army|spent|approx.|five");
        CHECK_STR(segments(k, "a title\n\nIts text\nover lines"), "a|title||Its|text|over|lines");
        CHECK_STR(segments(k, ""), "");
        CHECK_STR(segments(k, " \n\n . "), ".");
}

/* Whatever the text, its words are in order, and only white space is outside of them. */
TEST(words_cover_the_text)
{
        static const char *const parts[] = {"a", "'",   "\"", ".",   "-", " ", "\n", "1",
                                            "$", "n't", "(",  ")",   ",", "é", "’",  "“",
                                            "…", "s",   "@",  "://", "😀", "/"};
        const size_t n = sizeof parts / sizeof *parts;
        char text[64];

        for (size_t seed = 0; seed < (test_all() ? 400000 : 20000); seed++) {
                size_t x = seed * 2654435761u % 4294967291u, at = 0, begin, end, seen = 0;
                struct ran_segments s;
                bool first, ok = true;

                for (size_t i = 0; i < 9; i++, x = (x * 1103515245u + 12345u) % 4294967291u)
                        at += (size_t)snprintf(text + at, sizeof text - at, "%s", parts[x / 7 % n]);
                ran_segments_begin(&s, (int)(seed % RAN_SEGMENT_COUNT), text, at);
                while (ran_segments_next(&s, &begin, &end, &first)) {
                        for (; seen < begin; seen++)
                                ok = ok && (text[seen] == ' ' || text[seen] == '\n');
                        ok = ok && begin == seen && end > begin && end <= at &&
                             memchr(text + begin, ' ', end - begin) == NULL &&
                             ((unsigned char)text[begin] & 0xc0) != 0x80;
                        seen = end;
                }
                for (; seen < at; seen++)
                        ok = ok && (text[seen] == ' ' || text[seen] == '\n');
                if (!CHECK(ok)) {
                        printf("%s\n", text);
                        return;
                }
        }
}

/* Whitespace stands between the words. */
static int best_of(const char *sentence)
{
        struct ran_segment_count count = {0};
        struct ran_segment_fit fit = {0};
        struct ran_error err = {0};

        ran_segment_fit_begin(&fit);
        for (const char *word = sentence; *word != '\0';) {
                size_t n = strcspn(word, " ");
                ran_segment_fit_word(&fit, word, n);
                word += n + (word[n] == ' ');
        }
        CHECK_OK(ran_segment_fit_end(&fit, &count, &err), err);
        ran_segment_fit_release(&fit);
        return ran_segment_count_best(&count);
}

TEST(the_convention_that_fits_is_found)
{
        CHECK_SIZE((size_t)best_of("Ann left ."), RAN_SEGMENT_PUNCTUATION); /* as good as others */
        CHECK_SIZE((size_t)best_of("The U . S . did n ' t ."), RAN_SEGMENT_PUNCTUATION);
        CHECK_SIZE((size_t)best_of("1. Ann of the U.S. did n't ( yet ) ."), RAN_SEGMENT_CONLL);
        CHECK_SIZE((size_t)best_of("a well - known U.S. team did n't ."), RAN_SEGMENT_UD);
        CHECK_SIZE((size_t)best_of("Don't stop, she said. No, never!"), RAN_SEGMENT_SPACES);
}
