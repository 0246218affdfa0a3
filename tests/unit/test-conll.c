/* The score of conlleval and its reader of columns, rule by rule. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ran.h"
#include "test.h"

/* What the script would do with a file. */
struct answer {
        struct ran_buf out, message; /* each with a NUL at its end */
        int status;
};

static void answer_release(struct answer *a)
{
        ran_buf_release(&a->out);
        ran_buf_release(&a->message);
}

static void write_score(struct ran_conll *c, struct ran_buf *out)
{
        struct ran_conll_report report;

        ran_conll_finish(c, &report);
        ran_conll_text(&report, out);
}

static struct answer ask_bytes(const char *text, size_t n)
{
        struct ran_error err = {0};
        struct answer a = {0};
        struct ran_conll *c = ran_conll_new();
        struct ran_conll_reader r = {.in = fmemopen((void *)(uintptr_t)text, n, "r")};
        enum ran_conll_line line;

        if (c == NULL || r.in == NULL)
                abort();
        while ((line = ran_conll_read(&r, &err)) == RAN_CONLL_TOKEN || line == RAN_CONLL_BREAK) {
                if (line == RAN_CONLL_BREAK)
                        ran_conll_end_sentence(c);
                else
                        ran_conll_add_token(c, r.correct, r.correct_n, r.guessed, r.guessed_n);
        }
        CHECK(line != RAN_CONLL_FAILED);
        if (line == RAN_CONLL_END)
                write_score(c, &a.out);
        ran_buf_add(&a.message, r.message.data, r.message.len);
        ran_buf_char(&a.out, '\0');
        ran_buf_char(&a.message, '\0');
        a.status = r.status;
        fclose(r.in);
        ran_conll_reader_release(&r);
        ran_conll_free(c);
        return a;
}

static struct answer ask(const char *text)
{
        return ask_bytes(text, strlen(text));
}

static void check_output(const char *text, const char *want)
{
        struct answer a = ask(text);

        CHECK_STR(a.out.data, want);
        CHECK_STR(a.message.data, "");
        CHECK(a.status == 0);
        answer_release(&a);
}

static void check_refusal(const char *text, int status, const char *message)
{
        struct answer a = ask(text);

        CHECK_STR(a.out.data, "");
        CHECK_STR(a.message.data, message);
        CHECK(a.status == status);
        answer_release(&a);
}

/* ---- phrases -------------------------------------------------------------------------------- */

/* Scores "gold/found gold/found ..."; '|' ends a sentence. */
static struct ran_conll *score_pairs(const char *pairs)
{
        struct ran_conll *c = ran_conll_new();

        if (c == NULL)
                abort();
        for (const char *s = pairs; *s != '\0';) {
                size_t n = strcspn(s, " "), gold = strcspn(s, "/ ");
                if (*s == '|')
                        ran_conll_end_sentence(c);
                else
                        ran_conll_add_token(c, s, gold, s + gold + 1, n - gold - 1);
                s += n + (s[n] == ' ');
        }
        return c;
}

/* How many phrases the script sees in tags, found beside nothing. */
static size_t phrases(const char *tags)
{
        struct ran_buf pairs = {0};
        struct ran_conll_report report;

        for (const char *s = tags; *s != '\0';) {
                size_t n = strcspn(s, " ");
                ran_buf_add(&pairs, s, n);
                ran_buf_str(&pairs, *s == '|' ? " " : "/O ");
                s += n + (s[n] == ' ');
        }
        ran_buf_char(&pairs, '\0');
        struct ran_conll *c = score_pairs(pairs.data);
        ran_conll_finish(c, &report);
        ran_conll_free(c);
        ran_buf_release(&pairs);
        CHECK_SIZE(report.all.found, 0);
        return report.all.gold;
}

TEST(conll_phrases_of_iob)
{
        CHECK_SIZE(phrases("B-X I-X O B-X I-Y"), 3);
        CHECK_SIZE(phrases("B-X B-X I-X B-X"), 3);
        CHECK_SIZE(phrases("I-X I-X O I-X B-X"), 3);
        CHECK_SIZE(phrases("I-X I-Y I-Y I-X"), 3);
        CHECK_SIZE(phrases("B-X | I-X"), 2);
        CHECK_SIZE(phrases("B I O I B"), 3);
}

/* E has some rules, S, L and U have none: only a change of type tells where those begin. */
TEST(conll_phrases_of_iobes_and_bilou)
{
        CHECK_SIZE(phrases("B-X E-X"), 1);
        CHECK_SIZE(phrases("O E-X E-X I-X"), 3);
        CHECK_SIZE(phrases("B-X E-X B-X E-X"), 1);
        CHECK_SIZE(phrases("S-X S-X S-Y"), 2);
        CHECK_SIZE(phrases("U-X O U-X"), 2);
        CHECK_SIZE(phrases("S O S"), 0);
        CHECK_SIZE(phrases("B-X L-X U-X"), 1);
        CHECK_SIZE(phrases("S-X E-Y"), 2);
}

TEST(conll_phrases_of_other_tags)
{
        CHECK_SIZE(phrases("[-X ]-X [-X"), 3);
        CHECK_SIZE(phrases("[ ["), 2);
        CHECK_SIZE(phrases(".-X . .-Y"), 0);
        CHECK_SIZE(phrases(". I-X"), 1);
        CHECK_SIZE(phrases("O-X O-Y"), 0);
        CHECK_SIZE(phrases("O-X b-X"), 0);
        CHECK_SIZE(phrases("o b-X b-X"), 1);
        CHECK_SIZE(phrases("BX-X BX-X"), 1);
}

/* What ends: seen by what is right, a phrase that both columns leave at the same token. */
static size_t correct(const char *pairs)
{
        struct ran_conll_report report;
        struct ran_conll *c = score_pairs(pairs);

        ran_conll_finish(c, &report);
        ran_conll_free(c);
        return report.all.correct;
}

TEST(conll_correct_phrases)
{
        CHECK_SIZE(correct("B-X/B-X I-X/I-X O/O"), 1);
        CHECK_SIZE(correct("B-X/B-X I-X/O"), 0);
        CHECK_SIZE(correct("B-X/B-X O/I-X O/O"), 0);
        CHECK_SIZE(correct("B-X/O I-X/B-X O/O"), 0);
        CHECK_SIZE(correct("B-X/B-Y O/O"), 0);
        CHECK_SIZE(correct("B-X/I-X O/O"), 1);
        CHECK_SIZE(correct("B-X/B-X | I-X/I-X"), 2);
        CHECK_SIZE(correct("B-X/B-X B-X/I-X O/O"), 0);
        CHECK_SIZE(correct("B-X/B-X B-X/I-Y O/O"), 1);
        CHECK_SIZE(correct("E-X/E-X E-X/I-X E-X/O O/O"), 2);
        CHECK_SIZE(correct("E/E O/O O/B-X"), 1);
        CHECK_SIZE(correct("S-X/S-X S-X/S-X O/O"), 1);
        CHECK_SIZE(correct("[-X/[-X ]-X/O"), 1);
        CHECK_SIZE(correct("]-X/]-X I-X/I-X I-X/O"), 1);
        /* It goes on in both, but not as the same type. */
        CHECK_SIZE(correct("B-X/B-X .-X/.-X .-Y/.-Z O/O"), 0);
}

/* The last phrase is right without an end; after a full stop it need not be in a phrase at all. */
TEST(conll_phrase_open_at_the_end)
{
        CHECK_SIZE(correct("B-X/B-X"), 1);
        CHECK_SIZE(correct("B-X/B-X I-X/I-X"), 1);
        check_output("a [-X [-X\nb . .\nc O O\n",
                     "processed 3 tokens with 1 phrases; found: 1 phrases; correct: 1.\n"
                     "accuracy: 100.00%; precision: 100.00%; recall: 100.00%; FB1: 100.00\n"
                     "                X: precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n");
        check_output("a B-X B-X\nb I-X .-X\nc . .\n\nd [ [\n",
                     "processed 4 tokens with 2 phrases; found: 2 phrases; correct: 1.\n"
                     "accuracy:  75.00%; precision:  50.00%; recall:  50.00%; FB1:  50.00\n"
                     "                 : precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n"
                     "                 : precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n"
                     "                X: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n");
}

/* ---- the report ----------------------------------------------------------------------------- */

TEST(conll_report_of_every_kind_of_error)
{
        check_output("Ann B-PER B-PER\n"
                     "Lee I-PER I-PER\n"
                     "saw O O\n"
                     "Rome B-LOC B-ORG\n"
                     "\n"
                     "Old O B-LOC\n"
                     "York B-LOC I-LOC\n"
                     "and O O\n"
                     "Oslo B-LOC O\n"
                     "too O B-MISC\n",
                     "processed 9 tokens with 4 phrases; found: 4 phrases; correct: 1.\n"
                     "accuracy:  44.44%; precision:  25.00%; recall:  25.00%; FB1:  25.00\n"
                     "              LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
                     "             MISC: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
                     "              ORG: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
                     "              PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n");
}

/* A token is right when part and type are, and a phrase when its type and ends are. */
TEST(conll_accuracy_is_of_tags)
{
        check_output("a I-X B-X\nb I-X I-X\n",
                     "processed 2 tokens with 1 phrases; found: 1 phrases; correct: 1.\n"
                     "accuracy:  50.00%; precision: 100.00%; recall: 100.00%; FB1: 100.00\n"
                     "                X: precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n");
        check_output("a OO O\nb O O-X\nc O O\nd O O-\n",
                     "processed 4 tokens with 0 phrases; found: 0 phrases; correct: 0.\n"
                     "accuracy:  50.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00\n");
}

/* In percent, an exact half goes to the even neighbour: 1 of 32 is 3.125. */
TEST(conll_rounds_ties_to_even)
{
        struct ran_conll *c = ran_conll_new();
        struct ran_buf out = {0};

        REQUIRE(c != NULL);
        for (size_t i = 0; i < 32; i++) {
                ran_conll_add_token(c, i == 0 ? "B-X" : "O", i == 0 ? 3 : 1, "B-X", 3);
                ran_conll_end_sentence(c);
        }
        write_score(c, &out);
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data,
                  "processed 32 tokens with 1 phrases; found: 32 phrases; correct: 1.\n"
                  "accuracy:   3.12%; precision:   3.12%; recall: 100.00%; FB1:   6.06\n"
                  "                X: precision:   3.12%; recall: 100.00%; FB1:   6.06  32\n");
        ran_buf_release(&out);
        ran_conll_free(c);
}

/* By their bytes, padded to 17 of them; the tag ends at its first hyphen. */
TEST(conll_types_in_order)
{
        check_output(
                "w B-b-c O\n\nw O B-Zz\n\nw B-Z O\n\nw B-\xc3\xa9 O\n\nw O B-%s\n\n"
                "w B-EIGHTEEN-BYTES-OF O\n\nw B-- O\n",
                "processed 7 tokens with 5 phrases; found: 2 phrases; correct: 0.\n"
                "accuracy:   0.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00\n"
                "               %s: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
                "                -: precision:   0.00%; recall:   0.00%; FB1:   0.00  0\n"
                "EIGHTEEN-BYTES-OF: precision:   0.00%; recall:   0.00%; FB1:   0.00  0\n"
                "                Z: precision:   0.00%; recall:   0.00%; FB1:   0.00  0\n"
                "               Zz: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
                "              b-c: precision:   0.00%; recall:   0.00%; FB1:   0.00  0\n"
                "               \xc3\xa9: precision:   0.00%; recall:   0.00%; FB1:   0.00  0\n");
}

/* No type and the type 0 are one, and stand there twice when both columns have it. */
TEST(conll_empty_type)
{
        check_output("a B B-0\nb I I\nc O B-00\n",
                     "processed 3 tokens with 1 phrases; found: 2 phrases; correct: 1.\n"
                     "accuracy:  66.67%; precision:  50.00%; recall: 100.00%; FB1:  66.67\n"
                     "                 : precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n"
                     "                 : precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n"
                     "               00: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n");
        check_output("a O B-\n",
                     "processed 1 tokens with 0 phrases; found: 1 phrases; correct: 0.\n"
                     "accuracy:   0.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00\n"
                     "                 : precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n");
}

/* A report in the middle changes nothing, although it counts the phrase that is open. */
TEST(conll_report_may_be_had_again)
{
        struct ran_conll *c = score_pairs("B-X/B-X");
        struct ran_buf out = {0}, again = {0};

        write_score(c, &out);
        write_score(c, &again);
        ran_buf_char(&out, '\0');
        ran_buf_char(&again, '\0');
        CHECK_STR(again.data, out.data);
        ran_conll_add_token(c, "I-X", 3, "O", 1);
        again.len = 0;
        write_score(c, &again);
        ran_buf_char(&again, '\0');
        CHECK(strstr(again.data, "found: 1 phrases; correct: 0.\n") != NULL);
        ran_buf_release(&out);
        ran_buf_release(&again);
        ran_conll_free(c);
}

/* ---- files ---------------------------------------------------------------------------------- */

static const char nothing[] = "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0.\n";

TEST(conll_files_without_tokens)
{
        check_output("", nothing);
        check_output("\n\n   \n", nothing);
        check_output("-X-\n-X-\n", nothing);
}

/* An empty line, one of spaces, and a first field of -X- end a sentence, whatever else they hold.
 */
TEST(conll_sentence_breaks)
{
        static const char want[] =
                "processed 2 tokens with 2 phrases; found: 2 phrases; correct: 2.\n"
                "accuracy: 100.00%; precision: 100.00%; recall: 100.00%; FB1: 100.00\n"
                "                P: precision: 100.00%; recall: 100.00%; FB1: 100.00  2\n";

        check_output("a I-P I-P\n\nb I-P I-P\n", want);
        check_output("\n\na I-P I-P\n  \n\nb I-P I-P", want);
        check_output("a I-P I-P\n-X- B-P O\nb I-P I-P\n\n", want);
}

/* Spaces at the end of a line are no fields; any other field may be, and only the last two count.
 */
TEST(conll_fields)
{
        static const char want[] =
                "processed 2 tokens with 1 phrases; found: 1 phrases; correct: 1.\n"
                "accuracy: 100.00%; precision: 100.00%; recall: 100.00%; FB1: 100.00\n"
                "                P: precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n";

        check_output("a B-P B-P \nb O O    \n", want);
        check_output("-DOCSTART- -X- O O O\na x y B-P B-P\n", want);
        check_output("-X-y B-P B-P\n-X O O\n", want);
        check_output("B-P B-P\nO O\n", want);
        check_output(" B-P B-P\n\ta O O\n", want);
}

TEST(conll_bytes_are_bytes)
{
        static const char text[] = "\0 B-P B-P\n\xff\xc2\xa0\v I-P I-P\r\n";
        struct answer a = ask_bytes(text, sizeof(text) - 1);

        CHECK_STR(a.out.data,
                  "processed 2 tokens with 1 phrases; found: 2 phrases; correct: 0.\n"
                  "accuracy:  50.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00\n"
                  "                P: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
                  "               P\r: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n");
        answer_release(&a);
}

TEST(conll_uneven_files_are_refused)
{
        check_refusal("a O O\n\nb c O O\n", 1, "unexpected number of features: 4 (3)\n");
        check_refusal("a O O\nb O\n", 1, "unexpected number of features: 2 (3)\n");
        check_refusal("a O O\nb  O O\n", 1, "unexpected number of features: 4 (3)\n");
        check_refusal("a O O\r\n\r\n", 1, "unexpected number of features: 1 (3)\n");
        /* Counted before it is known to be a boundary, which the first line may be. */
        check_refusal("a O O\n-X-\n", 1, "unexpected number of features: 1 (3)\n");
        check_refusal("-X-\na O O\n", 1, "unexpected number of features: 3 (1)\n");
}

TEST(conll_files_of_one_column_are_refused)
{
        check_refusal("a\tO\tO \nb\n", 255,
                      "conlleval: unexpected number of features in line a\tO\tO \n");
        check_refusal("\n-X-\na\n", 255, "conlleval: unexpected number of features in line a\n");
}

TEST(conll_file_that_cannot_be_read)
{
        struct ran_error err = {0};
        struct ran_conll_reader r = {.in = fopen("/", "r")};

        REQUIRE(r.in != NULL);
        CHECK(ran_conll_read(&r, &err) == RAN_CONLL_FAILED);
        CHECK(err.code == RAN_EIO);
        CHECK_STR(err.text, "cannot read: Is a directory");
        fclose(r.in);
        ran_conll_reader_release(&r);
}

static bool in_order(const struct ran_tag_score *a, const struct ran_tag_score *b)
{
        int order = memcmp(a->type, b->type, a->length < b->length ? a->length : b->length);

        return order < 0 || (order == 0 && a->length < b->length);
}

/* One sentence with as many types as phrases: nothing is searched for one by one. */
TEST(conll_long_sentence_of_many_types)
{
        enum { PHRASES = 100000 };
        struct ran_conll *c = ran_conll_new();
        struct ran_conll_report report;

        REQUIRE(c != NULL);
        for (size_t i = 0; i < PHRASES; i++) {
                char tag[32];
                size_t n = (size_t)snprintf(tag, sizeof(tag), "B-%zu", 1 + i * 7919 % PHRASES);
                ran_conll_add_token(c, tag, n, tag, n - i % 2); /* the last digit is lost */
        }
        ran_conll_finish(c, &report);
        CHECK_SIZE(report.tokens, PHRASES);
        CHECK_SIZE(report.all.gold, PHRASES);
        CHECK_SIZE(report.all.found, PHRASES);
        CHECK_SIZE(report.all.correct, PHRASES / 2);
        CHECK_SIZE(report.n_types, PHRASES + 1); /* with that of a digit lost by one of one */
        for (size_t i = 1; i < report.n_types; i++)
                if (!CHECK(in_order(&report.types[i - 1], &report.types[i])))
                        break;
        ran_conll_free(c);
}
