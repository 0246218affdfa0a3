/* nearest.c - --nearest: the documents of a collection that are nearest to each record. */
#include "cmd/classify/classify.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/formats/json.h"

struct classify_nearest {
        struct ran_nearest *vectors;
        struct ran_buf ids; /* JSON, one after the other */
        size_t *id_end;     /* (n) */
        size_t n, cap, most;
        double least;
};

struct classify_nearest *classify_nearest_new(size_t D, size_t most, double least)
{
        struct classify_nearest *n = ran_new(1, sizeof *n);

        n->most = most;
        n->least = least > -1 ? least : -INFINITY; /* rounding leads beyond -1 */
        n->vectors = ran_nearest_new(D);
        return n;
}

void classify_nearest_free(struct classify_nearest *n)
{
        if (n == NULL)
                return;
        ran_nearest_free(n->vectors);
        ran_buf_release(&n->ids);
        free(n->id_end);
        free(n);
}

size_t classify_nearest_count(const struct classify_nearest *n)
{
        return n->n;
}

void classify_nearest_put(struct classify_nearest *n, const float *v, const char *id, size_t length)
{
        RAN_ROOM(n->id_end, n->cap, n->n + 1);
        ran_nearest_add(n->vectors, v);
        ran_buf_add(&n->ids, id, length);
        n->id_end[n->n++] = n->ids.len;
}

/* How long a list is. */
static size_t length(const struct classify_nearest *n)
{
        return n->most < n->n ? n->most : n->n;
}

bool classify_nearest_together(const struct classify_nearest *n)
{
        return length(n) <= 1024;
}

void classify_nearest_find(const struct classify_nearest *n, const float *v, size_t count,
                           struct classify_neighbours *to)
{
        const size_t k = length(n);

        RAN_ROOM(to->list, to->list_cap, count * k);
        RAN_ROOM(to->found, to->found_cap, count);
        ran_nearest_find(n->vectors, v, count, k, n->least, to->list, to->found);
        to->n = count;
}

void classify_nearest_add(const struct classify_nearest *n, const struct classify_neighbours *from,
                          size_t i, struct ran_buf *out)
{
        const size_t found = from != NULL ? from->found[i] : 0;
        const struct ran_neighbour *list = found > 0 ? from->list + i * length(n) : NULL;

        json_name(out, "nearest");
        json_begin(out, '[');
        for (size_t r = 0; r < found; r++) {
                const size_t at = list[r].number, begin = at > 0 ? n->id_end[at - 1] : 0;

                json_begin(out, '{');
                json_put_raw(out, "id", n->ids.data + begin, n->id_end[at] - begin);
                json_put_float(out, "cosine", (float)list[r].cosine);
                json_end(out, '}');
        }
        json_end(out, ']');
}

void classify_neighbours_release(struct classify_neighbours *n)
{
        free(n->list);
        free(n->found);
}
