/* Numbers to text and back. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ran.h"
#include "test.h"

static const char *float_text(float x)
{
        static struct ran_buf b;

        ran_buf_release(&b);
        ran_buf_float(&b, x);
        ran_buf_char(&b, '\0');
        return b.data;
}

static const char *double_text(double x)
{
        static struct ran_buf b;

        ran_buf_release(&b);
        ran_buf_double(&b, x);
        ran_buf_char(&b, '\0');
        return b.data;
}

TEST(numbers_look_tidy)
{
        CHECK_STR(double_text(0), "0");
        CHECK_STR(double_text(-0.0), "-0");
        CHECK_STR(double_text(1), "1");
        CHECK_STR(double_text(-12.5), "-12.5");
        CHECK_STR(double_text(100), "100");
        CHECK_STR(double_text(0.1), "0.1");
        CHECK_STR(double_text(0.1 + 0.2), "0.30000000000000004");
        CHECK_STR(double_text(0.0001), "0.0001");
        CHECK_STR(double_text(0.00001), "1e-5");
        CHECK_STR(double_text(1.5e-7), "1.5e-7");
        CHECK_STR(double_text(9007199254740992), "9007199254740992");
        CHECK_STR(double_text(1e16), "10000000000000000");
        CHECK_STR(double_text(1e17), "1e17");
        CHECK_STR(double_text(1e22), "1e22");
        CHECK_STR(double_text(1e23), "1e23");
        CHECK_STR(double_text(-1.25e300), "-1.25e300");
        CHECK_STR(float_text(0.1f), "0.1");
        CHECK_STR(float_text(16777216), "16777216");
        CHECK_STR(float_text(1.0f / 3), "0.33333334");
        CHECK_STR(float_text(3.4028235e38f), "3.4028235e38");
}

TEST(numbers_that_json_lacks_are_null)
{
        CHECK_STR(double_text(NAN), "null");
        CHECK_STR(double_text(INFINITY), "null");
        CHECK_STR(float_text(-INFINITY), "null");
}

TEST(numbers_at_the_edges)
{
        CHECK_STR(float_text(1e-45f), "1e-45");
        CHECK_STR(float_text(FLT_MIN), "1.1754944e-38");
        CHECK_STR(float_text(0x1.fffffcp-127f), "1.1754942e-38");
        CHECK_STR(double_text(5e-324), "5e-324");
        CHECK_STR(double_text(DBL_MIN), "2.2250738585072014e-308");
        CHECK_STR(double_text(DBL_MAX), "1.7976931348623157e308");
        /* 2^-44: the nearest 16 digits end in 1 and read back as the number below, which is
         * only half as far away; those ending in 2 read back. */
        CHECK_STR(double_text(0x1p-44), "5.684341886080802e-14");
}

/* Fewer digits cannot do: printf's rounding to one digit less must not read back. */
static void check_float(float x)
{
        const char *text = float_text(x);
        char fewer[40];
        int digits = 0;

        if (!CHECK(strtof(text, NULL) == x))
                return;
        for (const char *s = text; *s != '\0' && *s != 'e'; s++)
                digits += *s >= '0' && *s <= '9' && (digits > 0 || *s != '0');
        for (const char *s = text + strcspn(text, "e");
             s > text && strchr(text, '.') == NULL && s[-1] == '0'; s--)
                digits--;
        if (digits > 1) {
                snprintf(fewer, sizeof(fewer), "%.*e", digits - 2, (double)x);
                if (!CHECK(strtof(fewer, NULL) != x))
                        printf("  %s could be %s\n", text, fewer);
        }
}

TEST(floats_read_back_and_are_short)
{
        for (uint32_t bits = 1; bits < 0x7f800000; bits += 7919 * 13) {
                float x;

                memcpy(&x, &bits, sizeof(x));
                check_float(x);
        }
        for (int e = -149; e < 128; e++) {
                check_float(ldexpf(1, e));
                check_float(nextafterf(ldexpf(1, e), INFINITY));
                check_float(nextafterf(ldexpf(1, e), 0));
        }
}

TEST(doubles_read_back)
{
        for (uint64_t i = 0; i < 50000; i++) {
                uint64_t bits = ran_random_draw(7, i);
                double x, y;

                memcpy(&x, &bits, sizeof(x));
                if (i % 2 == 0) /* of everyday size */
                        x = ldexp(ran_random_uniform(7, i), (int)(i % 64) - 32);
                if (!isfinite(x))
                        continue;
                const char *text = double_text(x);
                CHECK(strtod(text, NULL) == x);
                CHECK(ran_parse_double(text, strlen(text), &y) && x == y);
        }
}

static bool parses(const char *text, double want)
{
        double x;

        return ran_parse_double(text, strlen(text), &x) && x == want && signbit(x) == signbit(want);
}

TEST(parse_double_accepts_json)
{
        CHECK(parses("0", 0));
        CHECK(parses("-0", -0.0));
        CHECK(parses("-0.0e5", -0.0));
        CHECK(parses("12", 12));
        CHECK(parses("0.5", 0.5));
        CHECK(parses("1E+2", 100));
        CHECK(parses("1e-2", 0.01));
        CHECK(parses("123456789012345678901234567890", 123456789012345678901234567890.0));
        CHECK(parses("1e-400", 0));
        CHECK(parses("0e999999999999", 0));
        CHECK(parses("1e-999999999999999999999", 0));
        CHECK(parses("0.00000000000000000000000000000000000000001e41", 1));
}

TEST(parse_double_accepts_what_people_type)
{
        CHECK(parses(".5", 0.5));
        CHECK(parses("-.25e1", -2.5));
}

TEST(parse_double_refuses_the_rest)
{
        static const char *const bad[] = {
                "",     "-",     "+1",     ".",        "1.",  "01",  "1e",  "1e+",
                "0x10", "inf",   "nan",    "1 ",       " 1",  "1,5", "--1", "1e5x",
                "1.e5", "1e999", "-1e309", "Infinity", "-01", "-.",  ".e1",
        };
        double x = 3;

        for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
                if (!CHECK(!ran_parse_double(bad[i], strlen(bad[i]), &x)))
                        printf("  %s\n", bad[i]);
        }
        CHECK(x == 3);
        CHECK(!ran_parse_double("1\0", 2, &x));
}

/* 1 + 2^-53 is half-way between two doubles and is rounded down; with anything above zero after
 * it, however far away, up. */
TEST(parse_double_looks_at_every_digit)
{
        const char *half = "1.00000000000000011102230246251565404236316680908203125";
        struct ran_buf b = {0};
        double x = 0;

        CHECK(parses(half, 1));
        ran_buf_str(&b, half);
        for (int i = 0; i < 5000; i++)
                ran_buf_char(&b, '0');
        CHECK(ran_parse_double(b.data, b.len, &x) && x == 1);
        ran_buf_char(&b, '1');
        CHECK(ran_parse_double(b.data, b.len, &x) && x == 1 + DBL_EPSILON);
        ran_buf_release(&b);

        for (int i = 0; i < 5000; i++)
                ran_buf_char(&b, '9');
        ran_buf_str(&b, "e-5000");
        CHECK(ran_parse_double(b.data, b.len, &x) && x == 1);
        ran_buf_release(&b);
}

/* An exponent of eight digits may be made up for by as many zeros. */
TEST(parse_double_takes_long_numbers_with_large_exponents)
{
        enum { ZEROS = 20000000 };
        struct ran_buf b = {0};
        double x = 0;

        ran_buf_str(&b, "0.");
        char *zeros = ran_buf_room(&b, ZEROS);
        REQUIRE(zeros != NULL);
        memset(zeros, '0', ZEROS);
        b.len += ZEROS;
        ran_buf_str(&b, "25e20000001");
        CHECK(ran_parse_double(b.data, b.len, &x) && x == 2.5);
        memcpy(b.data, "1000", 4); /* the point is a zero, too */
        b.len -= strlen("e20000001");
        ran_buf_str(&b, "e-20000003");
        CHECK(ran_parse_double(b.data, b.len, &x) && x == 1);
        ran_buf_release(&b);
        CHECK(ran_parse_double("0e99999999999999999999999999", 28, &x) && x == 0);
        CHECK(ran_parse_double("1e-9999999999999999999999999", 28, &x) && x == 0);
        CHECK(!ran_parse_double("1e9999999999999999999999999", 27, &x));
}

TEST(parse_size)
{
        char largest[24];
        size_t n = 5;

        snprintf(largest, sizeof largest, "%zu", SIZE_MAX);
        CHECK(ran_parse_size("0", 1, &n) && n == 0);
        CHECK(ran_parse_size("0123", 4, &n) && n == 123);
        CHECK(ran_parse_size(largest, strlen(largest), &n) && n == SIZE_MAX);
        n = 5;
        CHECK(!ran_parse_size("18446744073709551616", 20, &n));
        CHECK(!ran_parse_size("99999999999999999999", 20, &n));
        CHECK(!ran_parse_size("", 0, &n));
        CHECK(!ran_parse_size("-1", 2, &n));
        CHECK(!ran_parse_size("+1", 2, &n));
        CHECK(!ran_parse_size("1.0", 3, &n));
        CHECK(!ran_parse_size("1e3", 3, &n));
        CHECK(!ran_parse_size(" 1", 2, &n));
        CHECK_SIZE(n, 5);
}
