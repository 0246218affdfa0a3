/* nearest.c - --nearest: the documents of a collection that are nearest to each record. */
#include "cmd/classify/classify.h"

#include <stdlib.h>

#include "cmd/formats/json.h"

void classify_nearest_release(struct classify_nearest *n)
{
        ran_nearest_free(n->vectors);
        ran_buf_release(&n->ids);
        free(n->id_end);
}

void classify_nearest_find(const struct classify_nearest *n, const float *v, size_t count,
                           struct classify_neighbours *to)
{
        RAN_ROOM(to->list, to->list_cap, count * n->most);
        RAN_ROOM(to->found, to->found_cap, count);
        ran_nearest_find(n->vectors, v, count, n->most, n->least, to->list, to->found);
        to->n = count;
}

void classify_nearest_add(const struct classify_nearest *n, const struct classify_neighbours *from,
                          size_t i, struct ran_buf *out)
{
        const size_t found = from != NULL ? from->found[i] : 0;
        const struct ran_neighbour *list = found > 0 ? from->list + i * n->most : NULL;

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
