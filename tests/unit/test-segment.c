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
        CHECK_STR(segments(k, "“Mr. No” and (Dr. Yes) left."), "“|Mr.|No|”|and|(|Dr.|Yes|)|left|.");
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

        ran_segment_fit_begin(&fit);
        for (const char *word = sentence; *word != '\0';) {
                size_t n = strcspn(word, " ");
                ran_segment_fit_word(&fit, word, n);
                word += n + (word[n] == ' ');
        }
        ran_segment_fit_end(&fit, &count);
        ran_segment_fit_release(&fit);
        return ran_segment_count_best(&count);
}

/* The words of a text as a corpus with these marks would write them; good until the next call. */
static const char *written(const char *const *own, const char *text)
{
        static char out[4096];
        struct ran_marks m = {0};
        struct ran_segments s;
        size_t begin, end, length, n = 0;
        const char *word;
        bool first;

        for (; *own != NULL; own++)
                ran_marks_know(&m, *own, strlen(*own));
        ran_segments_begin(&s, RAN_SEGMENT_PTB, text, strlen(text));
        while (ran_segments_next(&s, &begin, &end, &first)) {
                bool other = ran_marks_write(&m, text, strlen(text), begin, end, &word, &length);
                CHECK(other == (length != end - begin || memcmp(word, text + begin, length) != 0));
                n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s", n == 0 ? "" : "|",
                                      (int)length, word);
        }
        out[n] = '\0';
        ran_marks_release(&m);
        return out;
}

TEST(marks_are_written_as_in_the_training_data)
{
        static const char *const treebank[] = {"'s", "``",    "''",    "'", "`",
                                               "--", "-LRB-", "-RRB-", NULL},
                                 *const straight[] = {"\"", "(", ")", "'s", "--", "...", NULL},
                                 *const both[] = {"\"", "“", "”", NULL}, *const none[] = {NULL};
        static const char text[] = "“No,” said Ann’s aunt (“Ah”). \"Yes\"—he isn't";

        CHECK_STR(written(treebank, text),
                  "``|No|,|''|said|Ann|'s|aunt|-LRB-|``|Ah|''|-RRB-|.|``|Yes|''|--|he|is|n't");
        CHECK_STR(written(straight, text),
                  "\"|No|,|\"|said|Ann|'s|aunt|(|\"|Ah|\"|)|.|\"|Yes|\"|--|he|is|n't");
        CHECK_STR(written(both, text),
                  "“|No|,|”|said|Ann|’s|aunt|(|“|Ah|”|)|.|\"|Yes|\"|—|he|is|n't");
        CHECK_STR(written(none, text),
                  "“|No|,|”|said|Ann|’s|aunt|(|“|Ah|”|)|.|\"|Yes|\"|—|he|is|n't");
        CHECK_STR(written(treebank, "He said ' Go ' and \" Stay \", don’t"),
                  "He|said|`|Go|'|and|``|Stay|''|,|do|n't");
        CHECK_STR(written(treebank, "\"'Tis ``so'' \"\"x\"\""), "``|`|Tis|``|so|''|``|``|x|''|''");
        CHECK_STR(written(straight, "``so'' ‘it’s’ wait…"), "\"|so|\"|‘|it|'s|’|wait|...");
}

TEST(marks_of_a_corpus_are_counted)
{
        size_t count[RAN_MARK_COUNT] = {0};
        const char *list[RAN_MARK_COUNT];

        CHECK(!ran_mark_treebank(count) && ran_marks_list(count, list) == 0);
        for (int i = 0; i < 100; i++) {
                ran_mark_count(count, "``", 2);
                ran_mark_count(count, "''", 2);
                ran_mark_count(count, "word", 4);
                ran_mark_count(count, "n't", 3);
                ran_mark_count(count, "O'Neill", 7);
        }
        ran_mark_count(count, "\"", 1); /* an accident */
        ran_mark_count(count, "—", strlen("—"));
        CHECK_SIZE(ran_marks_list(count, list), 4);
        CHECK_STR(list[0], "'s");
        CHECK_STR(list[1], "``");
        CHECK_STR(list[2], "''");
        CHECK_STR(list[3], "—");
        CHECK(ran_mark_treebank(count));
        CHECK_STR(ran_mark_typed("-LRB-", 5), "(");
        CHECK(ran_mark_typed("(", 1) == NULL && ran_mark_typed("word", 4) == NULL);
}

/* Any bytes of UTF-8 may be marks of a metadata record, and any text is written. */
TEST(marks_that_are_none_are_left_out)
{
        struct ran_marks m = {0};

        for (int i = 0; i < 100; i++) {
                ran_marks_know(&m, "x", 1);
                ran_marks_know(&m, "", 0);
                ran_marks_know(&m, "``", 2);
        }
        CHECK_SIZE(m.n, 1);
        ran_marks_release(&m);
}

TEST(the_convention_that_fits_is_found)
{
        CHECK_SIZE((size_t)best_of("Ann left ."), RAN_SEGMENT_PUNCTUATION); /* as good as others */
        CHECK_SIZE((size_t)best_of("The U . S . did n ' t ."), RAN_SEGMENT_PUNCTUATION);
        CHECK_SIZE((size_t)best_of("1. Ann of the U.S. did n't ( yet ) ."), RAN_SEGMENT_CONLL);
        CHECK_SIZE((size_t)best_of("a well - known U.S. team did n't ."), RAN_SEGMENT_UD);
        CHECK_SIZE((size_t)best_of("He said `` no '' ."), RAN_SEGMENT_PTB); /* for its marks */
        CHECK_SIZE((size_t)best_of("`` It 's -LRB- so -RRB- , '' said Ann ."), RAN_SEGMENT_PTB);
        CHECK_SIZE((size_t)best_of("Don't stop, she said. No, never!"), RAN_SEGMENT_SPACES);
}
