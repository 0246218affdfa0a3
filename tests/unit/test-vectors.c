/* Files of word vectors: every format, the rules of words, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ran.h"
#include "test.h"
#include "vocabulary.h"

static const char *const corpus[] = {"paris met ann at caf\xc3\xa9 no 7 . , paris ann 7", NULL};

static struct ran_tokenizer *vocabulary(bool lowercase)
{
        struct ran_vocab_settings s = default_settings();
        struct ran_error err = {0};
        struct ran_tokenizer *t;

        s.min_count = 1;
        s.lowercase = lowercase;
        t = learn_from(&s, corpus, &err);
        test_check(t != NULL, err.text, __FILE__, __LINE__);
        return t;
}

static char *write_file(const char *bytes, size_t n)
{
        char *path = test_path("vectors");
        FILE *f = fopen(path, "wb");

        if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
                abort();
        return path;
}

/* What was read, good until the next call: "paris 1 2, ann 3 4", by id; "error: ..." else. */
static char shown[1 << 16];
static struct ran_vectors_report report;
static char digest[65];

static void show(const struct ran_tokenizer *t, const struct ran_embedding *e)
{
        size_t at = 0, n;

        shown[0] = '\0';
        for (uint32_t id = 0; id < e->V; id++) {
                const char *token = ran_tokenizer_token(t, id, &n);
                if (!e->given[id])
                        continue;
                at += (size_t)snprintf(shown + at, sizeof shown - at, "%s%.*s", at > 0 ? ", " : "",
                                       (int)n, token);
                for (size_t d = 0; d < e->D; d++)
                        at += (size_t)snprintf(shown + at, sizeof shown - at, " %g",
                                               (double)e->rows[id * e->D + d]);
        }
}

static const char *read_path(const struct ran_tokenizer *t, const char *path, size_t dim)
{
        struct ran_error err = {0};
        struct ran_embedding e = {0};
        struct ran_vectors *v = ran_vectors_open(path, dim, &err);

        memset(&report, 0, sizeof report);
        if (v != NULL &&
            ran_embedding_init(&e, ran_tokenizer_size(t), ran_vectors_width(v), &err) == RAN_OK &&
            ran_vectors_read(v, t, &e, &report, &err) == RAN_OK) {
                show(t, &e);
                memcpy(digest, e.digest, sizeof digest);
        } else {
                snprintf(shown, sizeof shown, "error: %s", err.text);
        }
        ran_vectors_free(v);
        ran_embedding_release(&e);
        return shown;
}

static const char *read_bytes(const struct ran_tokenizer *t, const char *bytes, size_t n,
                              size_t dim)
{
        char *path = write_file(bytes, n), *found;

        read_path(t, path, dim);
        for (size_t length = strlen(path); (found = strstr(shown, path)) != NULL;)
                memmove(found, found + length, strlen(found + length) + 1);
        free(path);
        return shown;
}

static const char *read_text(const struct ran_tokenizer *t, const char *text)
{
        return read_bytes(t, text, strlen(text), 0);
}

TEST(pieces_of_words_have_vectors_of_their_own)
{
        static const char lines[] = "[PAD]\n[UNK]\nann\n##ing\nsing\n";
        struct ran_error err = {0};
        struct ran_tokenizer *t = ran_tokenizer_load(lines, strlen(lines), &err);

        REQUIRE(t != NULL);
        CHECK_STR(read_text(t, "##ing 1 2\nsing 3 4\nANN 5 6\n##ed 7 8\n"),
                  "ann 5 6, ##ing 1 2, sing 3 4");
        ran_tokenizer_free(t);
}

/* ---- formats --------------------------------------------------------------------------------- */

TEST(vectors_of_each_text_format)
{
        struct ran_tokenizer *t = vocabulary(true);
        static const char want[] = "ann 3 -4.5, paris 1 0.002";

        REQUIRE(t != NULL);
        CHECK_STR(read_text(t, "paris 1 2e-3\nyou 5 6\nann 3 -4.5\n"), want);
        CHECK(report.rows == 3 && report.found == 2 && !report.header && !report.cut);
        CHECK_STR(read_text(t, "3 2\nparis 1.0 0.002 \nyou 5 6 \nann 3 -4.50 \n"), want);
        CHECK(report.rows == 3 && report.header && report.promised == 3);
        CHECK_STR(read_text(t, "\xef\xbb\xbfparis 1 2e-3\r\n\r\nann 3 -4.5   \r\n\n"), want);
        CHECK_STR(read_text(t, "paris 1 2e-3\nann 3 -4.5"), want);
        CHECK(report.cut);
        CHECK_STR(read_text(t, "3 300 \nparis 1 2E-3\nann 3 -4.5\n"), want); /* a wrong header */
        CHECK(report.rows == 2 && report.promised == 3);
        CHECK_STR(read_text(t, "2 2\nparis 1 2e-3\nann 3 -4.5"), want); /* all that was promised */
        CHECK_STR(read_text(t, "you 1 2\n"), "");
        CHECK_SIZE(report.found, 0);
        ran_tokenizer_free(t);
}

static size_t add_binary(char *to, const char *word, const float *x, size_t n, bool feed)
{
        size_t at = (size_t)sprintf(to, "%s ", word);

        memcpy(to + at, x, n * sizeof *x); /* the tests run where floats are little-endian */
        at += n * sizeof *x;
        if (feed)
                to[at++] = '\n';
        return at;
}

TEST(vectors_in_binary)
{
        struct ran_tokenizer *t = vocabulary(true);

        REQUIRE(t != NULL);
        for (int feed = 0; feed < 2; feed++) {
                char bytes[1000];
                size_t n = (size_t)sprintf(bytes, "3 4\n");

                n += add_binary(bytes + n, "paris", (float[]){1, 2, 3, 0.125f}, 4, feed);
                n += add_binary(bytes + n, "you", (float[]){1e30f, 1, 1, 1}, 4, feed);
                n += add_binary(bytes + n, "ann", (float[]){-0.5f, 0, 0, 1}, 4, feed);
                CHECK_STR(read_bytes(t, bytes, n, 4), "ann -0.5 0 0 1, paris 1 2 3 0.125");
                CHECK(report.rows == 3 && report.found == 2);
                CHECK_STR(read_bytes(t, bytes, n, 3),
                          "error: : its vectors have 4 numbers each, not 3");
                for (size_t cut = n - 1 - (size_t)feed; cut > 30; cut--)
                        if (!CHECK(strstr(read_bytes(t, bytes, cut, 4), "truncated") != NULL))
                                break;
                memcpy(bytes + n - 5, "\xff\xff\xff\x7f", 4); /* not a number */
                if (feed)
                        CHECK_STR(read_bytes(t, bytes, n, 4),
                                  "error: : vector 3 contains a number that is not finite");
        }
        ran_tokenizer_free(t);
}

/* Floats such as 0, 0.5 and 2 are bytes that stand in text, too, all but the NUL. */
TEST(vectors_in_binary_of_round_numbers)
{
        struct ran_tokenizer *t = vocabulary(true);
        char bytes[1000];
        size_t n = (size_t)sprintf(bytes, "2 3\n");

        REQUIRE(t != NULL);
        n += add_binary(bytes + n, "paris", (float[]){0, 0.5f, 2}, 3, true);
        n += add_binary(bytes + n, "ann", (float[]){2, 0, 0}, 3, true);
        CHECK_STR(read_bytes(t, bytes, n, 3), "ann 2 0 0, paris 0 0.5 2");
        CHECK_STR(read_bytes(t, "paris 1 2\nyou 1 \0\n", 18, 2),
                  "error: :2: '' is not a finite number (expected a word and 2 numbers)");
        ran_tokenizer_free(t);
}

/* ---- words ----------------------------------------------------------------------------------- */

TEST(vectors_of_words_with_spaces)
{
        struct ran_tokenizer *t = vocabulary(true);

        REQUIRE(t != NULL);
        CHECK_STR(read_text(t, ". . . 9 9\nparis 1 2\n. .\xc2\xa0. 8 8\n. 7 7\n 5 5\nat you 6 6\n"),
                  "paris 1 2, . 7 7");
        CHECK_SIZE(report.rows, 6);
        ran_tokenizer_free(t);
}

TEST(vectors_of_words_in_capitals)
{
        struct ran_tokenizer *lower = vocabulary(true), *cased = vocabulary(false);

        REQUIRE(lower != NULL && cased != NULL);
        CHECK_STR(read_text(lower, "Paris 1 1\nPARIS 2 2\nANN 3 3\n"), "ann 3 3, paris 1 1");
        CHECK_STR(read_text(lower, "Paris 1 1\nparis 2 2\nPARIS 3 3\nparis 4 4\n"), "paris 2 2");
        CHECK(report.found == 1 && report.repeated == 1);
        CHECK_STR(read_text(lower, "CAFE\xcc\x81 1 1\n"), "caf\xc3\xa9 1 1");
        CHECK_STR(read_text(cased, "Paris 1 1\nANN 3 3\nann 4 4\n"), "ann 4 4");
        ran_tokenizer_free(lower);
        ran_tokenizer_free(cased);
}

TEST(vectors_first_of_repeated_words_and_unknown_ones)
{
        static const char *const known[] = {"<unk> ann", NULL};
        struct ran_tokenizer *t = vocabulary(true), *u;
        struct ran_vocab_settings s = default_settings();
        struct ran_error err = {0};

        REQUIRE(t != NULL);
        CHECK_STR(read_text(t, "ann 1 1\nyou 0 0\nann 2 2\nyou 0 0\nann 3 3\n"), "ann 1 1");
        CHECK(report.repeated == 2 && report.rows == 5);
        CHECK_STR(read_text(t, "ann 1 1\n<unk> 2 2\n"), "[UNK] 2 2, ann 1 1");
        CHECK_STR(read_text(t, "[MASK] 1 1\n[UNK] 1 1\n"), "");
        CHECK_STR(read_text(t, "ann 1 1\n\xff\xfe 2 2\ncaf\xe9 3 3\n"), "ann 1 1");
        CHECK_SIZE(report.not_utf8, 2);
        ran_tokenizer_free(t);
        s.min_count = 1; /* texts that say <unk> themselves */
        s.split_at = RAN_SPLIT_SPACES;
        u = learn_from(&s, known, &err);
        REQUIRE(u != NULL);
        CHECK_STR(read_text(u, "ann 1 1\n<unk> 2 2\n"), "<unk> 2 2, ann 1 1");
        ran_tokenizer_free(u);
}

/* ---- what the first line is ------------------------------------------------------------------ */

TEST(vectors_of_one_number)
{
        struct ran_tokenizer *t = vocabulary(true);

        REQUIRE(t != NULL);
        CHECK_STR(read_bytes(t, "7 5\nann 3\n", 10, 1), "7 5, ann 3");
        CHECK_STR(read_bytes(t, "7 1\nann 3\n", 10, 1), "ann 3");
        CHECK_STR(read_bytes(t, "7 5\nann 3\n", 10, 0), "ann 3"); /* a header unless one says */
        CHECK_STR(read_bytes(t, "7 5.0\nann 3\n", 12, 0), "7 5, ann 3");
        ran_tokenizer_free(t);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void refused(const struct ran_tokenizer *t, const char *text, const char *sentence)
{
        if (!CHECK(strstr(read_text(t, text), sentence) != NULL && shown[0] == 'e'))
                printf("  said: %s\n", shown);
}

TEST(vectors_that_are_none)
{
        struct ran_tokenizer *t = vocabulary(true);

        REQUIRE(t != NULL);
        refused(t, "", "contains no word vectors");
        refused(t, "\n", "1: not word vectors");
        refused(t, "3 2\n", "contains no word vectors");
        refused(t, "3 2\nann x y\n", "2: not word vectors");
        refused(t, "ann,1,2\n", "1: not word vectors");
        refused(t, "ann\t1\t2\n", "1: not word vectors");
        refused(t, "1 2 3\n4 5 6\n7\n", "3: 0 numbers, where the first row has 2");
        refused(t, "ann 1 2\nparis 3\n", "2: 1 numbers, where the first row has 2");
        refused(t, "ann 1 2\nparis 3", "the file is truncated");
        refused(t, "5 2\nann 1 2\nparis 3 4", "the file is truncated");
        refused(t, "ann 1 2\nnew york 3\n",
                "2: 'york' is not a finite number (expected a word and 2 numbers");
        refused(t, "ann 1 2\nparis 3 4x\n", "2: '4x' is not a finite number");
        refused(t, "ann 1 2\nyou 3 4x\n", "2: '4x' is not a finite number");
        refused(t, "\x1f\x8b\x08 1 2\n", "is compressed by gzip");
        refused(t, "PK\x03\x04 1 2\n", "is a zip archive");
        refused(t, "\xba\x16\x4f\x2f 1 2\n", "is a model of fastText");
        CHECK_STR(read_bytes(t, "ann 1 2\n", 8, 50),
                  "error: : its vectors have 2 numbers each, not 50");
        CHECK(strstr(read_path(t, "/nowhere/v.txt", 0), "cannot open /nowhere/v.txt") != NULL);
        CHECK(strstr(read_path(t, "/", 0), "cannot read /") != NULL);
        ran_tokenizer_free(t);
}

TEST(vectors_of_numbers_that_are_not_finite)
{
        static const char *const bad[] = {"nan",       "NaN",   "-nan", "inf",
                                          "-Infinity", "1e999", "1e39"};
        struct ran_tokenizer *t = vocabulary(true);

        REQUIRE(t != NULL);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                for (int row = 0; row < 2; row++) {
                        char text[100];
                        snprintf(text, sizeof text, "%s 1 %s\n%s 2 2\n", row == 0 ? "ann" : "you",
                                 row == 0 ? bad[i] : "1", row == 0 ? "you" : "ann");
                        if (row == 0)
                                refused(t, text, "not a finite number");
                        snprintf(text, sizeof text, "you 1 2\nyou 1 %s\n", bad[i]);
                        if (row == 1 && bad[i][0] != '1') /* nobody looks how large it is */
                                refused(t, text, "2: '");
                }
        ran_tokenizer_free(t);
}

/* Every beginning of a file is read, or refused; and every byte may be another one. */
TEST(vectors_that_are_damaged_do_no_harm)
{
        static const char text[] = "4 3\nparis 1 2 3\nann 0.5 -1e3 7\n<unk> 1 1 1\n. . 2 2 2\n";
        struct ran_tokenizer *t = vocabulary(true);
        char bytes[sizeof text];
        size_t n = strlen(text), refusals = 0;

        REQUIRE(t != NULL);
        for (size_t i = 0; i <= n; i++)
                refusals += strncmp(read_bytes(t, text, i, 0), "error", 5) == 0;
        CHECK(refusals > n / 2);
        for (size_t i = 0; i < n; i++)
                for (int c = 0; c < 256; c += 5) {
                        memcpy(bytes, text, n);
                        bytes[i] = (char)c;
                        read_bytes(t, bytes, n, 3);
                }
        ran_tokenizer_free(t);
}

/* ---- large files and pipes ------------------------------------------------------------------- */

/* Rows that lie across the buffer; the digest is that of the bytes. */
/* Pieces of a vocabulary learned from the corpus and the words of the first n rows of a file, and
 * what is read from that file then. */
static const char *read_wanted(const char *bytes, size_t size, size_t n, size_t wanted)
{
        static char tokens[1000];
        struct ran_vocab_settings s = default_settings();
        struct ran_error err = {0};
        struct ran_buf words = {0};
        struct ran_encoding e = {0};
        struct ran_embedding to = {0};
        char *path = write_file(bytes, size);
        struct ran_vectors *v = ran_vectors_open(path, 2, &err);
        struct ran_tokenizer *t = NULL;
        size_t found, at = 0, length;

        s.min_count = 1;
        struct ran_counter *c = ran_counter_new(&s, &err);
        tokens[0] = '\0';
        if (CHECK_OK(ran_counter_words(c, "no ann", 6, &e, &words, &err), err) &&
            CHECK_OK(ran_counter_add(c, words.data, words.len, &err), err) && CHECK(v != NULL) &&
            CHECK_OK(ran_vectors_want(v, n, c, &found, &err), err) && CHECK_SIZE(found, wanted))
                t = ran_counter_learn(c, &err);
        if (CHECK(t != NULL)) {
                for (uint32_t id = RAN_RESERVED; id < ran_tokenizer_size(t); id++) {
                        const char *token = ran_tokenizer_token(t, id, &length);
                        at += (size_t)snprintf(tokens + at, sizeof tokens - at, "%.*s ",
                                               (int)length, token);
                }
                CHECK_OK(ran_embedding_init(&to, ran_tokenizer_size(t), 2, &err), err);
                CHECK_OK(ran_vectors_read(v, t, &to, &report, &err), err);
                show(t, &to);
                snprintf(tokens + at, sizeof tokens - at, "| %s", shown);
        }
        ran_embedding_release(&to);
        ran_tokenizer_free(t);
        ran_counter_free(c);
        ran_vectors_free(v);
        ran_buf_release(&words);
        ran_encoding_release(&e);
        unlink(path);
        free(path);
        return tokens;
}

TEST(vectors_say_which_words_a_vocabulary_has)
{
        static const char text[] =
                "Oslo 1 2\n\nann 3 4\nnew-york 5 6\n\xff 7 8\noslo 9 1\nrome 2 3\n";
        static const char binary[] = "3 2\noslo \0\0\x80\x3f\0\0\0\x40\n"
                                     "ann \0\0\x40\x40\0\0\x80\x40"
                                     "rome \0\0\0\x40\0\0\x40\x40";

        CHECK_STR(read_wanted(text, sizeof text - 1, 0, 0), "ann no | ann 3 4");
        CHECK_STR(read_wanted(text, sizeof text - 1, 1, 1), "ann no oslo | ann 3 4, oslo 9 1");
        CHECK_STR(read_wanted(text, sizeof text - 1, 6, 3), "ann no oslo | ann 3 4, oslo 9 1");
        CHECK_STR(read_wanted(text, sizeof text - 1, 99, 4),
                  "ann no oslo rome | ann 3 4, oslo 9 1, rome 2 3");
        CHECK_STR(read_wanted(binary, sizeof binary - 1, 1, 1), "ann no oslo | ann 3 4, oslo 1 2");
        CHECK_STR(read_wanted(binary, sizeof binary - 1, 99, 3),
                  "ann no oslo rome | ann 3 4, oslo 1 2, rome 2 3");
}

TEST(vectors_from_a_long_file_and_from_a_pipe)
{
        struct ran_tokenizer *t = vocabulary(true);
        char *path = test_path("long"), *pipe = test_path("pipe"), *command = NULL;
        FILE *f = fopen(path, "wb");
        struct ran_sha256 sha;
        struct ran_bytes bytes;
        struct ran_error err = {0};
        char hex[65];

        REQUIRE(t != NULL && f != NULL);
        for (size_t i = 0; i < 300000; i++)
                fprintf(f, "word%zu %zu.5 -1 2\n", i, i % 10);
        fprintf(f, "paris 1 2 3\n");
        REQUIRE(fclose(f) == 0);
        CHECK_STR(read_path(t, path, 3), "paris 1 2 3");
        CHECK_SIZE(report.rows, 300001);
        REQUIRE(ran_bytes_open(&bytes, path, &err) == RAN_OK);
        ran_sha256_init(&sha);
        ran_sha256_add(&sha, bytes.data, bytes.size);
        ran_sha256_hex(&sha, hex);
        CHECK_STR(digest, hex);
        ran_bytes_release(&bytes);
        REQUIRE(mkfifo(pipe, 0600) == 0 && asprintf(&command, "cat %s >%s &", path, pipe) > 0);
        REQUIRE(system(command) == 0);
        CHECK_STR(read_path(t, pipe, 3), "paris 1 2 3");
        CHECK_STR(digest, hex);
        free(command);
        free(path);
        free(pipe);
        ran_tokenizer_free(t);
}

TEST(vectors_in_one_endless_line)
{
        struct ran_tokenizer *t = vocabulary(true);
        char *path = test_path("endless");
        FILE *f = fopen(path, "wb");

        REQUIRE(t != NULL && f != NULL);
        for (size_t i = 0; i < 5000000; i++)
                fputs("1.25 ", f);
        REQUIRE(fclose(f) == 0);
        CHECK(strstr(read_path(t, path, 0), "too long for a row") != NULL);
        ran_tokenizer_free(t);
        free(path);
}
