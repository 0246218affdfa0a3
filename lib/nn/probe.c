/* probe.c - sums of attention over blocks of queries and keys. See workspace.h. */
#include "nn/workspace.h"

/* ---- shapes --------------------------------------------------------------------------------- */

size_t ran_probe_window(const struct ran_probe_shape *shape, size_t t)
{
        size_t i = t / shape->window;

        return i < shape->windows ? i : shape->windows - 1; /* the last may be longer */
}

size_t ran_probe_window_end(const struct ran_probe_shape *shape, size_t i)
{
        return i + 1 < shape->windows ? (i + 1) * shape->window : shape->L;
}

size_t ran_probe_row(const struct ran_probe_shape *shape, size_t t)
{
        return t + ran_probe_window(shape, t) + 1;
}

size_t ran_probe_cell(const struct ran_probe_shape *shape, size_t i)
{
        return i * shape->window + i;
}

bool ran_probe_is_cell(const struct ran_probe_shape *shape, size_t row, size_t *at)
{
        size_t i = row / (shape->window + 1);

        i = i < shape->windows ? i : shape->windows - 1;
        bool cell = row == ran_probe_cell(shape, i);
        *at = cell ? i : row - i - 1;
        return cell;
}

/* ---- sums ----------------------------------------------------------------------------------- */

float ran_probe_heads(const struct ran_probe *k, size_t h, size_t *from, size_t *to)
{
        bool all = k->head == RAN_PROBE_MEAN;

        *from = all ? 0 : k->head;
        *to = all ? h : k->head + 1;
        return all ? 1.0f / (float)h : 1.0f;
}

/* The part of [first, first + n) that lies in [low, high), counted from first. */
static bool clip(size_t low, size_t high, size_t first, size_t n, size_t *from, size_t *to)
{
        size_t end = first + n < high ? first + n : high;

        *from = low > first ? low - first : 0;
        *to = end > first ? end - first : 0;
        return *from < *to;
}

bool ran_probe_queries(const struct ran_probe *k, size_t first, size_t n, size_t *from, size_t *to)
{
        return clip(k->query_from, k->query_to, first, n, from, to);
}

bool ran_probe_keys(const struct ran_probe *k, size_t first, size_t n, size_t *from, size_t *to)
{
        return clip(k->key_from, k->key_to, first, n, from, to);
}

/* The number of blocks of n queries or keys. */
static size_t blocks(size_t n, size_t by)
{
        return n / by + (n % by > 0);
}

size_t ran_probe_height(const struct ran_probe *k)
{
        return blocks(k->query_to - k->query_from, k->down);
}

size_t ran_probe_width(const struct ran_probe *k)
{
        return blocks(k->key_to - k->key_from, k->across);
}

void ran_probe_add(struct ran_probe *k, size_t query, size_t key, const float *weight, size_t n,
                   float scale)
{
        double *sum = k->sum + (query - k->query_from) / k->down * ran_probe_width(k);
        size_t from, to, x;

        if (!ran_probe_keys(k, key, n, &from, &to))
                return;
        x = key + from - k->key_from;
        for (size_t end; from < to; from = end, x = (x / k->across + 1) * k->across) {
                size_t room = k->across - x % k->across;
                double block = 0;

                if (k->across == 1) { /* the common case of long rows, in one loop */
                        for (; from < to; from++, x++)
                                sum[x] += (double)(scale * weight[from]);
                        return;
                }
                end = to - from < room ? to : from + room;
                for (size_t i = from; i < end; i++)
                        block += (double)(scale * weight[i]);
                sum[x / k->across] += block;
        }
}
