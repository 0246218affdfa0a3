/* test.h - what every unit test program includes, once: it holds nothing but
 *
 *     TEST(pool_runs_every_task)
 *     {
 *             REQUIRE(pool != NULL);
 *             CHECK(sum == 10);
 *     }
 *
 * The program runs all of its tests, or those whose names contain its first argument; a check that
 * fails is printed with its place, and the status is 1. CHECK goes on, REQUIRE leaves the test. */
#ifndef RAN_TESTS_UNIT_TEST_H
#define RAN_TESTS_UNIT_TEST_H

#include <stdbool.h>
#include <stddef.h>

struct test {
        const char *name;
        void (*run)(void);
        struct test *next;
};
void test_register(struct test *test);

/* Each prints what it saw when it is not what was wanted, and returns whether it was. Either string
 * may be NULL. */
bool test_check(bool ok, const char *what, const char *file, int line);
bool test_check_str(const char *got, const char *want, const char *what, const char *file,
                    int line);
bool test_check_size(size_t got, size_t want, const char *what, const char *file, int line);
bool test_check_near(double got, double want, double tolerance, const char *what, const char *file,
                     int line);

/* Whether to repeat things as often as make check-all does (RAN_TESTS=all). */
bool test_all(void);

/* Ends a child process at once, as _exit, but what it ran is counted by make coverage. */
_Noreturn void test_leave(int status);

/* The path of `name` in a folder of this program's own that is removed at its end. Free it. */
char *test_path(const char *name);

#define TEST(name)                                                     \
        static void test_##name(void);                                 \
        __attribute__((constructor)) static void register_##name(void) \
        {                                                              \
                static struct test test = {#name, test_##name, NULL};  \
                test_register(&test);                                  \
        }                                                              \
        static void test_##name(void)

#define CHECK(cond)           test_check(cond, #cond, __FILE__, __LINE__)
#define CHECK_STR(got, want)  test_check_str(got, want, #got, __FILE__, __LINE__)
#define CHECK_SIZE(got, want) test_check_size(got, want, #got, __FILE__, __LINE__)
#define CHECK_NEAR(got, want, tolerance) \
        test_check_near(got, want, tolerance, #got, __FILE__, __LINE__)
/* The call succeeds: otherwise its sentence, in err, is printed. */
#define CHECK_OK(call, err) \
        test_check_str((call) == RAN_OK ? NULL : (err).text, NULL, #call, __FILE__, __LINE__)
#define REQUIRE(cond)             \
        do {                      \
                if (!CHECK(cond)) \
                        return;   \
        } while (0)

#endif
