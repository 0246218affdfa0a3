/* Attention patterns as index sets: every answer against the definition, cell by cell. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "mask/mask.h"
#include "test.h"

struct setting {
        int pattern, mask;
        size_t window, dilation, N, sources;
};

/* ---- the definition ------------------------------------------------------------------------- */

static bool has_distance(const struct setting *s, size_t distance)
{
        size_t half = s->window / 2, at = half;

        switch (s->pattern) {
        case RAN_ATTENTION_FULL:
                return true;
        case RAN_ATTENTION_DILATED:
                return distance % (s->dilation + 1) == 0 && distance / (s->dilation + 1) <= half;
        case RAN_ATTENTION_DISPERSED:
                for (size_t gap = 2; at < distance; gap++)
                        at += gap;
                return distance <= half || distance == at;
        default:
                return distance <= half;
        }
}

static bool sees(const struct setting *s, size_t i, size_t j)
{
        if (s->mask == RAN_MASK_CAUSAL && j > i)
                return false;
        if (s->mask == RAN_MASK_PREFIX && j >= s->sources && (i < s->sources || j > i))
                return false;
        return has_distance(s, i > j ? i - j : j - i);
}

/* (N, N) */
static unsigned char *cells_of(const struct setting *s)
{
        unsigned char *cells = calloc(s->N * s->N, 1);

        if (cells == NULL)
                abort();
        for (size_t i = 0; i < s->N; i++)
                for (size_t j = 0; j < s->N; j++)
                        cells[i * s->N + j] = sees(s, i, j);
        return cells;
}

static void say(const struct setting *s)
{
        printf("  %s, mask %s: window %zu, dilation %zu, N %zu, sources %zu\n",
               ran_attention_names[s->pattern], ran_mask_names[s->mask], s->window, s->dilation,
               s->N, s->sources);
}

static bool init(struct ran_mask *m, const struct setting *s)
{
        struct ran_error err = {0};

        return CHECK_OK(ran_mask_init(m, s->pattern, s->window, s->dilation, s->mask, s->N,
                                      s->sources, &err),
                        err);
}

/* Every setting with N tokens. */
static bool each_setting(size_t N, bool (*check)(const struct setting *s))
{
        struct setting s = {.N = N};
        bool ok = true;

        for (s.mask = 0; s.mask < 3; s.mask++)
                for (s.sources = 0; s.sources <= N; s.sources += 1 + N / 5)
                        for (s.pattern = 0; s.pattern < 4; s.pattern++)
                                for (s.window = 1; s.window <= N + 3; s.window += 1 + N / 12)
                                        for (s.dilation = 0; s.dilation < 5; s.dilation++) {
                                                ok = ok && check(&s);
                                                if (s.pattern != RAN_ATTENTION_DILATED)
                                                        break;
                                        }
        return ok;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The runs are ascending, do not touch, and hold what the row of cells holds. */
static bool check_sight(const struct ran_mask *m, const struct ran_mask_ranges *s,
                        const unsigned char *cell)
{
        size_t pos = 0, from, to, end = 0;
        bool ok = true;

        while (ran_mask_ranges_next(m, s, &pos, &from, &to)) {
                ok = ok && from < to && to <= m->N && (from > end || end == 0);
                for (; ok && end < from; end++)
                        ok = cell[end] == 0;
                for (; ok && end < to; end++)
                        ok = cell[end] == 1;
        }
        for (; ok && end < m->N; end++)
                ok = cell[end] == 0;
        return ok && s->from <= s->at && s->at < s->to;
}

static bool check_sights(const struct setting *s)
{
        unsigned char *cells = cells_of(s);
        struct ran_mask m;
        bool ok = init(&m, s);

        for (size_t i = 0; i < s->N && ok; i++) {
                struct ran_mask_ranges row = ran_mask_row(&m, i);

                ok = CHECK(check_sight(&m, &row, cells + i * s->N));
                if (!ok)
                        printf("  token %zu\n", i);
        }
        if (!ok)
                say(s);
        free(cells);
        return ok;
}

TEST(attention_rows)
{
        for (size_t N = 1; N <= 34; N++)
                if (!each_setting(N, check_sights))
                        return;
}

/* ---- counts --------------------------------------------------------------------------------- */

static size_t count_part(const unsigned char *cells, size_t N, const size_t part[4])
{
        size_t count = 0;

        for (size_t i = part[0]; i < part[1]; i++)
                for (size_t j = part[2]; j < part[3]; j++)
                        count += cells[i * N + j];
        return count;
}

static bool check_parts(const struct setting *s)
{
        struct dice dice = {.key = s->N};
        unsigned char *cells = cells_of(s);
        struct ran_mask m;
        bool ok = init(&m, s);

        for (int n = 0; n < 12 && ok; n++) {
                size_t part[4] = {0, s->N, 0, s->N};

                for (size_t d = 0; n > 0 && d < 4; d += 2) {
                        part[d] = dice_size(&dice, 0, s->N);
                        part[d + 1] = dice_size(&dice, part[d], s->N);
                }
                ok = CHECK_SIZE(ran_mask_count(&m, part[0], part[1], part[2], part[3]),
                                count_part(cells, s->N, part));
                if (!ok)
                        printf("  queries %zu to %zu, keys %zu to %zu\n", part[0], part[1], part[2],
                               part[3]);
        }
        if (!ok)
                say(s);
        free(cells);
        return ok;
}

TEST(attention_counts_of_parts)
{
        for (size_t N = 1; N <= 40; N++)
                if (!each_setting(N, check_parts))
                        return;
}

/* All lengths to 200 and all windows: what a new last token adds to the count. */
static bool check_growing(struct setting s)
{
        size_t count = 0;

        for (s.N = 1; s.N <= 200; s.N++) {
                size_t last = s.N - 1, sources = s.sources;
                struct ran_mask m;

                for (size_t j = 0; j < s.N; j++)
                        count += sees(&s, last, j) + (j < last && sees(&s, j, last));
                s.sources = sources < s.N ? sources : s.N;
                if (!init(&m, &s) || !CHECK_SIZE(ran_mask_count(&m, 0, s.N, 0, s.N), count)) {
                        say(&s);
                        return false;
                }
                s.sources = sources;
        }
        return true;
}

TEST(attention_counts_to_200)
{
        struct setting s = {0};

        for (s.pattern = 0; s.pattern < 4; s.pattern++)
                for (s.mask = 0; s.mask < 3; s.mask++)
                        for (s.sources = 1; s.sources < 200; s.sources += 66)
                                for (s.window = 1; s.window <= 200;
                                     s.window += test_all() ? 1 : 9) {
                                        s.dilation = s.window % 7;
                                        if (!check_growing(s))
                                                return;
                                        if (s.pattern == RAN_ATTENTION_FULL)
                                                break;
                                }
}

TEST(attention_counts_of_a_billion_tokens)
{
        struct setting s = {.N = RAN_MASK_LENGTH, .window = 4};
        const uint64_t N = RAN_MASK_LENGTH;
        struct ran_mask m;

        REQUIRE(init(&m, &s));
        CHECK(ran_mask_count(&m, 0, N, 0, N) == N * N);
        s.mask = RAN_MASK_CAUSAL;
        REQUIRE(init(&m, &s));
        CHECK(ran_mask_count(&m, 0, N, 0, N) == N * (N + 1) / 2);
        s.pattern = RAN_ATTENTION_DISPERSED;
        REQUIRE(init(&m, &s));
        /* One side of dispersed(4): the run is 1, 2, 3, 3 ... long; the terms of the paper. */
        uint64_t x = 0, terms = N - 4, sum = 0;
        for (; terms >= x + 3; terms -= x + 2, sum += x * (x + 2))
                x++;
        CHECK(ran_mask_count(&m, 0, N, 0, N) == 3 * N - 3 + sum + (x + 1) * terms);
        s.pattern = RAN_ATTENTION_DILATED;
        s.mask = RAN_MASK_NONE;
        s.window = RAN_MASK_LENGTH;
        s.dilation = 1;
        REQUIRE(init(&m, &s));
        CHECK(ran_mask_count(&m, 0, N, 0, N) == N / 2 * N);
}

/* ---- the paper ------------------------------------------------------------------------------ */

/* Table 1, without per cent: all eighteen, and the full ones. */
TEST(attention_table_of_the_paper)
{
        static const size_t N[] = {10, 50, 100, 500, 1000, 5000, 10000, 15000, 16384};
        static const size_t window[] = {44, 244, 494, 2494, 4994, 24994, 49994, 74994, 81914};
        static const size_t dispersed[] = {62,     700,     1962,    21524,  60550,
                                           671500, 1895358, 3478806, 3970510};
        struct setting s = {.window = 4};
        struct ran_mask m;
        uint64_t paper;

        for (size_t i = 0; i < 9; i++) {
                s.N = N[i];
                s.pattern = RAN_ATTENTION_WINDOW;
                REQUIRE(init(&m, &s));
                CHECK_SIZE(ran_mask_count(&m, 0, s.N, 0, s.N), window[i]);
                REQUIRE(ran_mask_paper(s.pattern, 4, s.N, &paper));
                CHECK_SIZE(paper, window[i]);
                s.pattern = RAN_ATTENTION_DISPERSED;
                REQUIRE(init(&m, &s));
                CHECK_SIZE(ran_mask_count(&m, 0, s.N, 0, s.N), dispersed[i]);
                REQUIRE(ran_mask_paper(s.pattern, 4, s.N, &paper));
                CHECK_SIZE(paper, dispersed[i]);
        }
}

TEST(attention_where_the_paper_differs)
{
        static const size_t cases[][3] = {{2, 58726, 58640}, {64, 114456, 116962}};
        struct setting s = {.pattern = RAN_ATTENTION_DISPERSED, .N = 1000};
        struct ran_mask m;
        uint64_t paper;

        for (size_t i = 0; i < 2; i++) {
                s.window = cases[i][0];
                REQUIRE(init(&m, &s));
                REQUIRE(ran_mask_paper(s.pattern, s.window, s.N, &paper));
                CHECK_SIZE(paper, cases[i][1]);
                CHECK_SIZE(ran_mask_count(&m, 0, s.N, 0, s.N), cases[i][2]);
        }
        /* Equation (3) is right for every even window. */
        s.pattern = RAN_ATTENTION_WINDOW;
        for (s.window = 2; s.window <= s.N; s.window += 2) {
                REQUIRE(init(&m, &s));
                REQUIRE(ran_mask_paper(s.pattern, s.window, s.N, &paper));
                CHECK_SIZE(ran_mask_count(&m, 0, s.N, 0, s.N), paper);
        }
        CHECK(!ran_mask_paper(RAN_ATTENTION_WINDOW, 3, 10, &paper));
        CHECK(!ran_mask_paper(RAN_ATTENTION_WINDOW, 12, 10, &paper));
        CHECK(!ran_mask_paper(RAN_ATTENTION_FULL, 4, 10, &paper));
        CHECK(!ran_mask_paper(RAN_ATTENTION_DILATED, 4, 10, &paper));
}

/* ---- sets of tokens ------------------------------------------------------------------------- */

static bool check_spread(const struct setting *s)
{
        struct dice dice = {.key = s->N + s->window};
        size_t N = s->N, words = RAN_TOKEN_WORDS(N);
        uint64_t *sets = calloc(3 * words, sizeof *sets), *from = sets, *seen = sets + words;
        struct ran_mask m;
        bool ok = sets != NULL && init(&m, s);

        for (size_t i = dice_size(&dice, 0, N - 1); ok && i < N; i += dice_size(&dice, 1, N))
                from[i / 64] |= UINT64_C(1) << i % 64;
        if (ok)
                ran_mask_spread(&m, seen, from, sets + 2 * words);
        for (size_t j = 0; j < 64 * words && ok; j++) {
                bool want = false;

                for (size_t i = 0; i < N && j < N; i++)
                        want = want || ((from[i / 64] >> i % 64 & 1) != 0 && sees(s, i, j));
                ok = CHECK_SIZE(seen[j / 64] >> j % 64 & 1, want);
                if (!ok)
                        printf("  token %zu\n", j);
        }
        if (!ok)
                say(s);
        free(sets);
        return ok;
}

TEST(attention_of_sets)
{
        for (size_t N = 1; N <= 24; N++)
                if (!each_setting(N, check_spread))
                        return;
        for (size_t N = 62; N <= 200; N += N == 66 ? 59 : N == 130 ? 70 : 1)
                if (!each_setting(N, check_spread))
                        return;
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void check_refused(struct setting s, const char *sentence)
{
        struct ran_error err = {0};
        struct ran_mask m;

        CHECK_SIZE(ran_mask_init(&m, s.pattern, s.window, s.dilation, s.mask, s.N, s.sources, &err),
                   RAN_EINVAL);
        CHECK_STR(err.text, sentence);
}

TEST(attention_refuses)
{
        char sentence[100];

        check_refused((struct setting){.N = 0}, "there is no token to attend to");
        check_refused((struct setting){.N = 1000000001},
                      "1000000001 tokens are more than a mask can have, 1000000000");
        check_refused((struct setting){.N = 9, .pattern = RAN_ATTENTION_WINDOW},
                      "a window must have from 1 to 1000000000 tokens, not 0");
        snprintf(sentence, sizeof sentence,
                 "a window must have from 1 to 1000000000 tokens, not %zu", SIZE_MAX);
        check_refused((struct setting){.N = 9, .pattern = RAN_ATTENTION_WINDOW, .window = SIZE_MAX},
                      sentence);
        snprintf(sentence, sizeof sentence, "a dilation must be at most 1000000000, not %zu",
                 SIZE_MAX);
        check_refused((struct setting){.N = 9,
                                       .pattern = RAN_ATTENTION_DILATED,
                                       .window = 4,
                                       .dilation = SIZE_MAX},
                      sentence);
        check_refused((struct setting){.N = 9, .mask = RAN_MASK_PREFIX, .sources = 10},
                      "10 of 9 tokens cannot be source tokens");
}
