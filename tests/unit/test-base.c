/* Errors, memory, random numbers, digests. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sha256.h"
#include "ran.h"
#include "test.h"

TEST(fail_fills_and_returns_the_code)
{
        struct ran_error err = {0};

        CHECK(ran_fail(&err, RAN_EIO, "cannot open %s", "x.ran") == RAN_EIO);
        CHECK(err.code == RAN_EIO);
        CHECK_STR(err.text, "cannot open x.ran");
        CHECK(ran_fail(NULL, RAN_ENOMEM, "nobody listens") == RAN_ENOMEM);
}

TEST(fail_can_wrap_its_own_sentence)
{
        struct ran_error err = {0};

        ran_fail(&err, RAN_EFORMAT, "bad header");
        ran_fail(&err, err.code, "%s: %s", "m.ran", err.text);
        CHECK_STR(err.text, "m.ran: bad header");
}

TEST(fail_disarms_control_characters)
{
        struct ran_error err = {0};

        ran_fail(&err, RAN_EIO, "a\nb\x1b[31m\x7f\xc2\x9b z\xc3\xa9");
        CHECK_STR(err.text, "a<U+000A>b<U+001B>[31m<U+007F><U+009B> z\xc3\xa9");
}

TEST(fail_shows_characters_that_nobody_sees)
{
        /* A file called "a" RLO "txt.exe" is shown as "aexe.txt". */
        static const char *const unseen[][2] = {
                {"\xe2\x80\xae", "<U+202E>"}, {"\xe2\x80\xaa", "<U+202A>"},
                {"\xe2\x81\xa6", "<U+2066>"}, {"\xe2\x81\xa9", "<U+2069>"},
                {"\xe2\x80\x8b", "<U+200B>"}, {"\xe2\x80\x8f", "<U+200F>"},
                {"\xd8\x9c", "<U+061C>"},     {"\xc2\xad", "<U+00AD>"},
                {"\xef\xbb\xbf", "<U+FEFF>"}, {"\xf3\xa0\x81\x81", "<U+E0041>"},
                {"\xe2\x80\xa8", "<U+2028>"}, {"\x07", "<U+0007>"},
        };
        /* Joiners are letters of Persian and of emoji. */
        static const char *const seen[] = {"\xe2\x80\x8c", "\xe2\x80\x8d", "\xe2\x82\xac",
                                           "\x80",         "\xe2\x80",     "\xc2\xa0"};
        struct ran_error err = {0};
        char expected[64];

        for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++) {
                struct ran_buf shown = {0};
                ran_fail(&err, RAN_EIO, "a%sb", unseen[i][0]);
                snprintf(expected, sizeof(expected), "a%sb", unseen[i][1]);
                CHECK_STR(err.text, expected);
                ran_fail(&err, RAN_EIO, "x: %s", err.text); /* again, as callers do */
                CHECK(strncmp(err.text + 3, expected, sizeof(expected)) == 0);
                ran_buf_shown(&shown, unseen[i][0], strlen(unseen[i][0]));
                ran_buf_char(&shown, '\0');
                CHECK_STR(shown.data, unseen[i][1]);
                ran_buf_release(&shown);
        }
        for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
                ran_fail(&err, RAN_EIO, "%s", seen[i]);
                CHECK_STR(err.text, seen[i]);
        }
}

/* Unicode, 3.9, table 3-8: U+FFFD for each maximal part; and further tables there. */
TEST(json_has_one_replacement_for_a_part_of_a_character)
{
#define R "\xef\xbf\xbd"
        static const char *const cases[][2] = {
                {"a\xf1\x80\x80\xe1\x80\xc2"
                 "b\x80"
                 "c\x80\xbf"
                 "d",
                 "\"a" R R R "b" R "c" R R "d\""},
                {"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82"
                 "A",
                 "\"" R R R R R R R R "A\""},
                {"\xed\xa0\x80\xed\xbf\xbf\xed\xaf"
                 "A",
                 "\"" R R R R R R R R "A\""},
                {"\xf4\x91\x92\x93\xff"
                 "A\x80\xbf"
                 "B",
                 "\"" R R R R R "A" R R "B\""},
                {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf"
                 "A",
                 "\"" R R R R "A\""},
                {"\xe2\x82\xac\xe2\x82", "\"\xe2\x82\xac" R "\""},
        };
#undef R

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct ran_buf out = {0};
                ran_buf_json(&out, cases[i][0], strlen(cases[i][0]));
                ran_buf_char(&out, '\0');
                CHECK_STR(out.data, cases[i][1]);
                ran_buf_release(&out);
        }
}

TEST(fail_with_codes_has_an_end)
{
        struct ran_error err = {0};
        char controls[600];

        memset(controls, 1, sizeof(controls) - 1);
        controls[sizeof(controls) - 1] = '\0';
        ran_fail(&err, RAN_EIO, "%s", controls);
        CHECK_SIZE(strlen(err.text), 63 * strlen("<U+0001>"));
}

TEST(fail_does_not_split_a_character)
{
        for (size_t lead = sizeof(((struct ran_error *)0)->text) - 8; lead < 512; lead++) {
                struct ran_error err = {0};
                char long_text[600];

                memset(long_text, 'a', sizeof(long_text));
                memcpy(long_text + lead, "\xf0\x9d\x84\x9e", 4);
                long_text[sizeof(long_text) - 1] = '\0';
                ran_fail(&err, RAN_EIO, "%s", long_text);
                CHECK_SIZE(strlen(err.text), lead + 4 <= 511 ? 511 : lead < 511 ? lead : 511);
        }
}

TEST(alloc_of_nothing_is_valid)
{
        struct ran_error err = {0};
        void *p = ran_alloc(0, 8, &err);

        CHECK(p != NULL);
        free(p);
}

TEST(alloc_is_zeroed)
{
        unsigned char *p = malloc(1000), sum = 0;

        REQUIRE(p != NULL);
        memset(p, 0xff, 1000); /* likely to be handed out again */
        free(p);
        p = ran_alloc(100, 10, NULL);
        REQUIRE(p != NULL);
        for (size_t i = 0; i < 1000; i++)
                sum |= p[i];
        CHECK(sum == 0);
        free(p);
}

TEST(alloc_refuses_overflow)
{
        struct ran_error err = {0};

        CHECK(ran_alloc(SIZE_MAX / 4, 8, &err) == NULL);
        CHECK(err.code == RAN_ENOMEM);
        CHECK(strstr(err.text, "4611686018427387903 x 8") != NULL || SIZE_MAX < UINT64_MAX);
        CHECK(ran_alloc_floats(SIZE_MAX / sizeof(float), &err) == NULL);
        CHECK(ran_alloc_floats(SIZE_MAX / 2, &err) == NULL);
}

TEST(alloc_floats_is_aligned_and_zero)
{
        for (size_t n = 0; n < 40; n++) {
                float *p = ran_alloc_floats(n, NULL), sum = 0;

                REQUIRE(p != NULL);
                CHECK_SIZE((uintptr_t)p % 64, 0);
                for (size_t i = 0; i < n; i++)
                        sum += p[i];
                CHECK(sum == 0);
                free(p);
        }
}

/* Memory that was used before, and its neighbours, which stay as they are. */
TEST(alloc_floats_is_zero_where_the_system_clears_it)
{
        const size_t floats[] = {1 << 20, (1 << 20) + 1, (3 << 20) - 13, (1 << 20) + 777};
        unsigned char *before = malloc(3000), *after = NULL;

        REQUIRE(before != NULL);
        memset(before, 7, 3000);
        for (size_t round = 0; round < 8; round++) {
                const size_t n = floats[round % 4];
                float *p = ran_alloc_floats(n, NULL);
                bool zero = true, same = true;

                after = round == 0 ? malloc(3000) : after;
                REQUIRE(p != NULL && after != NULL);
                if (round == 0)
                        memset(after, 8, 3000);
                for (size_t i = 0; i < n; i++) {
                        zero &= p[i] == 0;
                        p[i] = 1;
                }
                for (size_t i = 0; i < 3000; i++)
                        same &= before[i] == 7 && after[i] == 8;
                CHECK(zero);
                CHECK(same);
                free(p);
        }
        free(before);
        free(after);
}

TEST(grow_doubles_and_keeps)
{
        size_t cap = 0;
        unsigned *p = NULL;

        REQUIRE(RAN_GROW(p, cap, 1, NULL) == RAN_OK);
        CHECK(cap >= 1);
        for (unsigned i = 0; i < 1000; i++) {
                size_t before = cap;

                REQUIRE(RAN_GROW(p, cap, i + 1, NULL) == RAN_OK);
                CHECK(cap == before || cap == before * 2);
                p[i] = i;
        }
        for (unsigned i = 0; i < 1000; i++)
                CHECK_SIZE(p[i], i);
        const unsigned *old = p;
        CHECK(RAN_GROW(p, cap, 5, NULL) == RAN_OK && p == old);
        free(p);
}

TEST(grow_refuses_overflow_and_leaves_the_array)
{
        struct ran_error err = {0};
        size_t cap = 0;
        double *p = NULL;

        REQUIRE(RAN_GROW(p, cap, 3, NULL) == RAN_OK);
        size_t before = cap;
        const double *old = p;
        CHECK(RAN_GROW(p, cap, SIZE_MAX / sizeof(*p) + 1, &err) == RAN_ENOMEM);
        CHECK(err.code == RAN_ENOMEM);
        CHECK(RAN_GROW(p, cap, SIZE_MAX, &err) == RAN_ENOMEM);
        CHECK(p == old);
        CHECK_SIZE(cap, before);
        free(p);
}

TEST(buf_grows)
{
        struct ran_buf b = {0};
        size_t want = 0;

        for (int i = 0; i < 300; i++) {
                ran_buf_str(&b, "ab");
                ran_buf_char(&b, 'c');
                ran_buf_add(&b, "d\0e", 3);
                ran_buf_printf(&b, "%03d", i);
                want += 2 + 1 + 3 + 3;
        }
        ran_buf_add(&b, NULL, 0);
        CHECK_SIZE(b.len, want);
        CHECK(memcmp(b.data + 9 * 299, "abcd\0e299", 9) == 0);
        ran_buf_release(&b);
        CHECK(b.data == NULL && b.len == 0 && b.cap == 0);
}

/* What a process says whose memory runs out, and its status. */
static int run_out(char *said, size_t size, void (*how)(void))
{
        int ends[2], status = -1;
        ssize_t n = 0;

        if (pipe(ends) == 0) {
                const pid_t child = fork();

                if (child == 0) {
                        dup2(ends[1], STDERR_FILENO);
                        how();
                        _exit(0);
                }
                close(ends[1]);
                for (ssize_t more; (more = read(ends[0], said + n, size - 1 - (size_t)n)) > 0;)
                        n += more; /* a sanitizer may have said something before */
                close(ends[0]);
                waitpid(child, &status, 0);
        }
        said[n] = '\0';
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void new_too_much(void)
{
        ran_new(SIZE_MAX / 4, 8);
}

static void room_too_much(void)
{
        int *x = NULL;
        size_t cap = 0;

        RAN_ROOM(x, cap, SIZE_MAX / 2);
}

static void buf_too_much(void)
{
        struct ran_buf b = {0};

        ran_buf_str(&b, "abc");
        ran_buf_add(&b, "x", SIZE_MAX); /* refused before a byte is read */
}

static char *temporary;

static void handle(const char *sentence)
{
        ran_writer_abandon_all();
        fprintf(stderr, "mine: %.14s, %s", sentence,
                access(temporary, F_OK) != 0 ? "gone" : "there");
        _exit(7);
}

static void handled(void)
{
        ran_memory_handler(handle);
        temporary = ran_temporary_new(NULL);
        ran_new_floats(SIZE_MAX / 8);
}

TEST(memory_that_runs_out_ends_the_process)
{
        char said[2000];

        CHECK(run_out(said, sizeof said, new_too_much) == 3);
        CHECK(strstr(said, "out of memory: ") == said &&
              strchr(said, '\n') == said + strlen(said) - 1);
        CHECK(run_out(said, sizeof said, room_too_much) == 3);
        CHECK(run_out(said, sizeof said, buf_too_much) == 3);
        CHECK(strcmp(said, "out of memory: 18446744073709551615 x 1 bytes requested\n") == 0 ||
              SIZE_MAX < UINT64_MAX);
        CHECK(run_out(said, sizeof said, handled) == 7);
        CHECK(strstr(said, "mine: out of memory:, gone") != NULL);
}

TEST(random_depends_on_every_input)
{
        uint64_t key = ran_random_key(1, RAN_FOR_INIT, 0, 0);

        CHECK(key != ran_random_key(2, RAN_FOR_INIT, 0, 0));
        CHECK(key != ran_random_key(1, RAN_FOR_SHUFFLE, 0, 0));
        CHECK(key != ran_random_key(1, RAN_FOR_INIT, 1, 0));
        CHECK(key != ran_random_key(1, RAN_FOR_INIT, 0, 1));
        CHECK(ran_random_key(0, 1, 2, 3) != ran_random_key(3, 2, 1, 0));
        CHECK(ran_random_draw(key, 0) != ran_random_draw(key, 1));
        CHECK(ran_random_draw(key, 7) == ran_random_draw(key, 7));
}

/* Models depend on these numbers: a change breaks everybody's seeds. */
TEST(random_is_what_it_was)
{
        uint64_t key = ran_random_key(42, RAN_FOR_DROPOUT, 3, 17);

        CHECK(ran_random_draw(0, 0) == UINT64_C(0xe220a8397b1dcdaf)); /* published for SplitMix64 */
        CHECK(ran_random_draw(0, 1) == UINT64_C(0x6e789e6aa1b965f4));
        CHECK(key == UINT64_C(0x4bc98400e6a19187));
}

TEST(random_is_uniform)
{
        enum { N = 100000, CELLS = 16 };
        size_t count[CELLS] = {0};
        double sum = 0, lag = 0;

        /* One draw from each of many neighbouring keys: the weakest point of a simple mix. */
        for (uint64_t i = 0; i < N; i++) {
                double x = ran_random_uniform(ran_random_key(1, RAN_FOR_SHUFFLE, 0, i), 0);
                double y = ran_random_uniform(ran_random_key(1, RAN_FOR_SHUFFLE, 0, i + 1), 0);

                REQUIRE(x >= 0 && x < 1);
                count[(int)(x * CELLS)]++;
                sum += x;
                lag += (x - 0.5) * (y - 0.5);
        }
        CHECK_NEAR(sum / N, 0.5, 0.004);
        CHECK_NEAR(lag / N, 0, 0.0012);
        for (int i = 0; i < CELLS; i++)
                CHECK_NEAR((double)count[i] / N, 1.0 / CELLS, 0.004);
}

static void check_digest(const void *bytes, size_t n, size_t step, const char *want)
{
        struct ran_sha256 s;
        char hex[65];

        ran_sha256_init(&s);
        for (size_t i = 0; i < n; i += step)
                ran_sha256_add(&s, (const char *)bytes + i, n - i < step ? n - i : step);
        ran_sha256_add(&s, NULL, 0);
        ran_sha256_hex(&s, hex);
        CHECK_STR(hex, want);
}

TEST(sha256_examples_of_the_standard)
{
        const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

        check_digest("", 0, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        check_digest("abc", 3, 3,
                     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        for (size_t step = 1; step <= 56; step++)
                check_digest(two, 56, step,
                             "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static uint32_t fingerprint_of(const char *text, size_t step)
{
        struct ran_sha256 f;
        size_t n = strlen(text);

        ran_sha256_init(&f);
        for (size_t i = 0; i < n; i += step)
                ran_fingerprint_add(&f, text + i, n - i < step ? n - i : step);
        return ran_fingerprint_end(&f);
}

TEST(a_fingerprint_is_that_of_the_letters)
{
        char many[3000];

        CHECK(fingerprint_of("", 1) == 0xe3b0c442); /* SHA-256 of nothing */
        CHECK(fingerprint_of("abc", 3) == 0xba7816bf);
        CHECK(fingerprint_of(" A\n\tbC\v\f\r", 2) == 0xba7816bf);
        CHECK(fingerprint_of("a\xc3\xa4", 9) != fingerprint_of("a", 9));
        for (size_t i = 0; i < sizeof many; i++)
                many[i] = "Rain and sun "[i % 13];
        many[sizeof many - 1] = '\0';
        CHECK(fingerprint_of(many, sizeof many) == fingerprint_of(many, 7));
}

TEST(sha256_by_instructions_made_for_it)
{
#ifdef RAN_HAVE_X86
        unsigned char bytes[64 * 9];

        for (uint64_t trial = 0; trial < 1000 && ran_sha256_x86_runs(); trial++) {
                uint32_t naive[8], fast[8];
                for (size_t i = 0; i < sizeof(bytes); i++)
                        bytes[i] = (unsigned char)ran_random_draw(trial, i);
                for (size_t i = 0; i < 8; i++)
                        naive[i] = fast[i] = (uint32_t)ran_random_draw(trial, 10000 + i);
                ran_sha256_naive(naive, bytes, trial % 10);
                ran_sha256_x86(fast, bytes, trial % 10);
                CHECK(memcmp(naive, fast, sizeof(naive)) == 0);
        }
#endif
}

TEST(sha256_of_a_million_letters)
{
        char *a = malloc(1000000);

        REQUIRE(a != NULL);
        memset(a, 'a', 1000000);
        for (size_t step = 63; step <= 130; step += 13)
                check_digest(a, 1000000, step,
                             "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
        free(a);
}
