/* scores.c - the attention scores of vectors in records: Algorithm 2 of the paper
 * about dispersed attention, for any pattern, mask and similarity. */
#include "cmd/attnmask/attnmask.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/formats/json.h"
#include "cmd/options/options.h"

/* ---- vectors -------------------------------------------------------------------------------- */

struct vectors {
        float *x; /* (n, d) */
        size_t n, d, floats, cap;
};

static int add_vector(struct vectors *v, const char *line, struct ran_span value, const char *name,
                      struct ran_error *err)
{
        size_t pos = 0, before = v->floats;
        struct ran_span item;
        char type;
        double x;

        while (ran_json_next(line, value, &pos, NULL, &item, &type)) {
                const char *text = line + item.begin;
                const size_t n = item.end - item.begin;

                RAN_ROOM(v->x, v->cap, v->floats + 1);
                if (!ran_parse_double(text, n, &x) || !isfinite((float)x))
                        return ran_fail(err, RAN_EFORMAT, "\"%s\": %.*s is not a usable number",
                                        name, n < 40 ? (int)n : 40, text);
                v->x[v->floats++] = (float)x;
        }
        size_t d = v->floats - before;
        if (d == 0)
                return ran_fail(err, RAN_EFORMAT, "\"%s\": vector %zu is empty", name, v->n);
        if (v->n > 0 && d != v->d)
                return ran_fail(err, RAN_EFORMAT,
                                "\"%s\": vector %zu has %zu numbers, the one before it has %zu",
                                name, v->n, d, v->d);
        v->d = d;
        v->n++;
        return RAN_OK;
}

static int read_vectors(struct vectors *v, const struct ran_record *r, const struct ran_member *m,
                        const char *name, struct ran_error *err)
{
        struct ran_span item;
        size_t pos = 0;
        char type;

        v->n = v->floats = 0;
        if (m->type != 'a')
                return ran_fail(err, RAN_EFORMAT, "\"%s\" must be an array of vectors", name);
        while (ran_json_next(r->line, m->value, &pos, NULL, &item, &type)) {
                if (type != 'a')
                        return ran_fail(err, RAN_EFORMAT,
                                        "\"%s\" must be an array of arrays of numbers", name);
                RAN_TRY(add_vector(v, r->line, item, name, err));
        }
        return RAN_OK;
}

/* ---- a record ------------------------------------------------------------------------------- */

struct scratch {
        struct vectors query, key;
};

static void free_scratch(void *arg)
{
        struct scratch *s = arg;

        free(s->query.x);
        free(s->key.x);
        free(s);
}

/* Reads queries and keys; *key are the keys, which may be the same vectors as the queries. */
static int read_record(struct scratch *s, const struct ran_record *r, const struct vectors **key,
                       struct ran_error *err)
{
        const struct ran_member *both = json_member(r, "vectors"), *q = json_member(r, "query"),
                                *k = json_member(r, "key");

        *key = &s->query;
        if (both != NULL)
                return read_vectors(&s->query, r, both, "vectors", err);
        if (q == NULL || k == NULL)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "no vectors: either \"vectors\" or \"query\" and \"key\" is needed, "
                        "an array of arrays of numbers");
        RAN_TRY(read_vectors(&s->query, r, q, "query", err));
        RAN_TRY(read_vectors(&s->key, r, k, "key", err));
        *key = &s->key;
        if (s->key.n != s->query.n || s->key.d != s->query.d)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "%zu queries of %zu numbers and %zu keys of %zu: the counts must be equal",
                        s->query.n, s->query.d, s->key.n, s->key.d);
        return RAN_OK;
}

static void add_row(struct ran_buf *out, const struct ran_mask *m, size_t i,
                    const struct vectors *query, const struct vectors *key, int similarity)
{
        struct ran_mask_ranges s = ran_mask_row(m, i);
        size_t d = query->d, from, to;

        ran_buf_printf(out, "%s{\"row\":%zu,\"keys\":[", i > 0 ? "," : "", i);
        for (size_t pos = 0; ran_mask_ranges_next(m, &s, &pos, &from, &to);)
                ran_buf_printf(out, "%s[%zu,%zu]", pos > 1 ? "," : "", from, to);
        ran_buf_str(out, "],\"scores\":[");
        for (size_t pos = 0; ran_mask_ranges_next(m, &s, &pos, &from, &to);)
                for (size_t j = from; j < to; j++) {
                        ran_buf_str(out, pos > 1 || j > from ? "," : "");
                        ran_buf_float(out, (float)ran_similarity(similarity, query->x + i * d,
                                                                 key->x + j * d, d));
                }
        ran_buf_str(out, "]}");
}

static int work(void *arg, void *scratch, const struct cmd_line *line, struct cmd_result *result,
                struct ran_error *err)
{
        struct ran_buf *out = &result->out;
        const struct attnmask_options *o = arg;
        struct scratch *s = scratch;
        const struct vectors *key;
        struct ran_mask m;

        RAN_TRY(read_record(s, &line->record.json, &key, err));
        RAN_TRY(ran_mask_init(&m, o->attention.item[0], o->window, o->dilation, o->mask, s->query.n,
                              o->source, err));
        ran_buf_char(out, '[');
        for (size_t i = 0; i < m.N; i++)
                add_row(out, &m, i, &s->query, key, o->similarity);
        ran_buf_char(out, ']');
        return RAN_OK;
}

int attnmask_scores(const struct attnmask_options *options, const struct cmd_input *input,
                    const struct cmd_output *output, char **files)
{
        static const char *const also[] = {"vectors", "query", "key", NULL};
        struct attnmask_options copy = *options;
        struct cmd_loop loop = {
                .input = input,
                .output = output,
                .into = "attention",
                .reads = FIELD(ID) | FIELD(ERROR),
                .also = also,
                .pool = cmd_pool(),
                .scratch_size = sizeof(struct scratch),
                .free_scratch = free_scratch,
                .work = work,
                .arg = &copy,
        };
        int status = cmd_records(&loop, files, NULL);

        ran_pool_free(loop.pool);
        return status;
}
