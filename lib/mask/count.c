/* count.c - how many scores a mask holds, in closed form.
 *
 * Let D be the distances of a pattern above 0, P(x) how many of them are at most x, and Q(x) their
 * sum. Both have closed forms. Query i sees itself and P(i) keys on its left. Over
 * the first a queries and the first b keys that is
 *
 *      sum over 0 and D of  max(0, min(b, a - distance))
 *
 * scores; to the right, by the same token, the sum over D of max(0, min(a, b - distance)). A mask
 * only limits b in the latter to the source tokens. Any part of the mask is the difference of four
 * such corners.
 *
 * No sum overflows 64 bits: each is at most N^2, and N is at most 10^9.
 */
#include "mask/mask.h"

static uint64_t least(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

/* P(x) and Q(x) */
struct sums {
        uint64_t count, total;
};

static struct sums within(const struct ran_mask *m, uint64_t x)
{
        uint64_t n = least(x, m->near), k = ran_mask_far_within(m, x);
        uint64_t far =
                m->step > 0 ? k * (k + 1) / 2 * m->step : k * m->near + k * (k + 1) * (k + 5) / 6;

        return (struct sums){n + k, n * (n + 1) / 2 + far};
}

/* Scores at or left of the diagonal, in the first a rows and b columns. */
static uint64_t lower(const struct ran_mask *m, uint64_t a, uint64_t b)
{
        if (a == 0 || b == 0)
                return 0;
        /* Up to distance a - b there are b of each, from there on a - distance. */
        struct sums all = within(m, a - 1), whole = within(m, a > b ? a - b : 0);

        return least(a, b) + whole.count * b + a * (all.count - whole.count) -
               (all.total - whole.total);
}

static uint64_t corner(const struct ran_mask *m, uint64_t a, uint64_t b)
{
        uint64_t seen = least(b, m->sources);

        return lower(m, a, b) + lower(m, seen, a) - least(a, seen);
}

uint64_t ran_mask_count(const struct ran_mask *m, size_t i0, size_t i1, size_t j0, size_t j1)
{
        return corner(m, i1, j1) - corner(m, i0, j1) - corner(m, i1, j0) + corner(m, i0, j0);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Rows grow and shrink by steps: from one row to the next, as long as no single key comes in or
 * drops out, their length changes by +1, 0 or -1 all the time. Such a piece is a fact about many
 * rows, and there are some 2 sqrt(2 N) pieces.
 *
 * Dilated attention would have N / (d + 1) of them. But its tokens fall into d + 1 classes that do
 * not see each other, and within a class it is a window: so the rows of at most three kinds of
 * windows, each as often as there are classes like it, stand for all. */
struct class
{
        struct ran_mask m;
        uint64_t times;
};
enum { CLASSES = 3 };

static uint64_t members(uint64_t n, uint64_t first, uint64_t step)
{
        return n > first ? (n - first - 1) / step + 1 : 0;
}

/* Classes first, first + 1, ... up to end are alike. */
static struct class class_of(const struct ran_mask *m, uint64_t first, uint64_t end)
{
        uint64_t N = members(m->N, first, m->step);

        return (struct class){
                .m = {.N = N,
                      .near = N > 0 ? least(m->far, N - 1) : 0,
                      .sources = members(m->sources, first, m->step)},
                .times = N > 0 ? end - first : 0,
        };
}

static size_t split(const struct ran_mask *m, struct class classes[CLASSES])
{
        if (m->step == 0) {
                classes[0] = (struct class){*m, 1};
                return 1;
        }
        /* The classes below the remainder have one token more. */
        uint64_t a = m->N % m->step, b = m->sources % m->step;

        classes[0] = class_of(m, 0, least(a, b));
        classes[1] = class_of(m, least(a, b), a > b ? a : b);
        classes[2] = class_of(m, a > b ? a : b, m->step);
        return CLASSES;
}

static uint64_t row_length(const struct ran_mask *m, uint64_t i)
{
        return 1 + within(m, i).count + within(m, ran_mask_ahead(m, i)).count;
}

/* *end = cut, if that comes after i and before *end. */
static void cut(uint64_t i, uint64_t *end, uint64_t at)
{
        if (at > i && at < *end)
                *end = at;
}

/* The end of the piece that begins with row i. */
static uint64_t piece_end(const struct ran_mask *m, uint64_t i)
{
        uint64_t end = m->N, k = ran_mask_far_within(m, i);

        cut(i, &end, m->near + 1); /* the run to the left is as long as it gets */
        if (k < m->far)
                cut(i, &end, ran_mask_far(m, k + 1));
        if (i >= m->sources)
                return end;
        cut(i, &end, m->sources); /* that to the right is gone, or begins to shrink */
        if (m->sources > m->near)
                cut(i, &end, m->sources - m->near);
        k = ran_mask_far_within(m, ran_mask_ahead(m, i));
        if (k > 0)
                cut(i, &end, m->sources - ran_mask_far(m, k));
        return end;
}

/* Rows of the piece [i, end) with at most `most` keys. */
static uint64_t short_rows(const struct ran_mask *m, uint64_t i, uint64_t end, uint64_t most)
{
        uint64_t n = end - i, first = row_length(m, i), last = row_length(m, end - 1);
        uint64_t low = least(first, last);

        if (most < low)
                return 0;
        return first == last ? n : least(n, most - low + 1);
}

static uint64_t rows_up_to(const struct class *classes, size_t n, uint64_t most)
{
        uint64_t rows = 0;

        for (size_t c = 0; c < n; c++) {
                const struct ran_mask *m = &classes[c].m;
                uint64_t own = 0;

                if (classes[c].times == 0)
                        continue;
                for (uint64_t i = 0, end; i < m->N; i = end) {
                        end = piece_end(m, i);
                        own += short_rows(m, i, end, most);
                }
                rows += classes[c].times * own;
        }
        return rows;
}

static void extremes(const struct class *classes, size_t n, struct ran_mask_rows *rows)
{
        *rows = (struct ran_mask_rows){.least = SIZE_MAX};
        for (size_t c = 0; c < n; c++) {
                const struct ran_mask *m = &classes[c].m;

                for (uint64_t i = 0, end; classes[c].times > 0 && i < m->N; i = end) {
                        end = piece_end(m, i);
                        for (int last = 0; last < 2; last++) {
                                uint64_t length = row_length(m, last ? end - 1 : i);

                                rows->least = least(rows->least, length);
                                rows->most = length > rows->most ? length : rows->most;
                        }
                }
        }
}

/* The length that more than `rank` rows do not exceed, at least `low`. */
static uint64_t ranked(const struct class *classes, size_t n, uint64_t rank, uint64_t low,
                       uint64_t high)
{
        while (low < high) {
                uint64_t middle = low + (high - low) / 2;

                if (rows_up_to(classes, n, middle) > rank)
                        high = middle;
                else
                        low = middle + 1;
        }
        return low;
}

void ran_mask_rows(const struct ran_mask *m, struct ran_mask_rows *rows)
{
        struct class classes[CLASSES];
        size_t n = split(m, classes);

        extremes(classes, n, rows);
        uint64_t lower = ranked(classes, n, (m->N - 1) / 2, rows->least, rows->most);
        uint64_t upper = ranked(classes, n, m->N / 2, lower, rows->most);

        rows->median = ((double)lower + (double)upper) / 2;
}

/* ---- the paper ------------------------------------------------------------------------------ */

/* Of the terms 1, 1, 1, 2, 2, 2, 2, 3 ... (each x of them x + 2 times) the first n: equations (4)
 * and (8), with x the last one that is there in full. */
static uint64_t sum_of_terms(uint64_t n)
{
        uint64_t x = 0, sum = 0;

        while (n >= x + 3) {
                x++;
                n -= x + 2;
                sum += x * (x + 2);
        }
        return sum + (x + 1) * n;
}

bool ran_mask_paper(int pattern, size_t window, size_t N, uint64_t *scores)
{
        uint64_t n = N, w = window;
        bool dispersed = pattern == RAN_ATTENTION_DISPERSED;

        if ((!dispersed && pattern != RAN_ATTENTION_WINDOW) || w % 2 != 0 || w > n ||
            n > RAN_MASK_LENGTH)
                return false;
        /* Equation (3): N + (N - w) w + 2 sum of (w - i) over i = 1 ... w / 2. */
        *scores = n + (n - w) * w + w * w - w / 2 * (w / 2 + 1);
        if (dispersed)
                *scores += 2 * sum_of_terms(n - w);
        return true;
}
