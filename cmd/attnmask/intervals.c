/* intervals.c - the keys of queries, as intervals: of all queries, of one, or of one through
 * several layers. */
#include "cmd/attnmask/attnmask.h"

#include <stdlib.h>
#include <string.h>

/* ---- intervals ------------------------------------------------------------------------------ */

/* Appends the interval [from, to) to a row: in JSON the end is exclusive, for people inclusive. */
static void add_run(struct ran_buf *out, bool json, bool first, size_t from, size_t to)
{
        if (json)
                ran_buf_printf(out, "%s[%zu,%zu]", first ? "" : ",", from, to);
        else if (to - from == 1)
                ran_buf_printf(out, "%s%zu", first ? "" : " ", from);
        else
                ran_buf_printf(out, "%s%zu-%zu", first ? "" : " ", from, to - 1);
}

static void add_keys(struct cmd_sink *out, const struct ran_mask *m, size_t row, bool json)
{
        struct ran_mask_ranges s = ran_mask_row(m, row);
        size_t pos = 0, from, to;

        while (ran_mask_ranges_next(m, &s, &pos, &from, &to)) {
                add_run(&out->buf, json, pos == 1, from, to);
                cmd_sink_flush(out);
        }
}

static void add_row_json(struct cmd_sink *out, const struct attnmask *a, size_t head, size_t row)
{
        ran_buf_char(&out->buf, '{');
        if (a->n > 1)
                ran_buf_printf(&out->buf, "\"head\":%zu,", head);
        ran_buf_printf(&out->buf, "\"row\":%zu,\"keys\":[", row);
        add_keys(out, &a->heads[head].mask, row, true);
        ran_buf_str(&out->buf, "]}\n");
        cmd_sink_flush(out);
}

int attnmask_rows(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err)
{
        (void)err;
        for (size_t h = 0; h < a->n; h++)
                for (size_t i = a->from; i < a->to; i++)
                        add_row_json(out, a, h, i);
        return RAN_OK;
}

/* ---- after several layers ------------------------------------------------------------------- */

/* Sets of tokens: the reached tokens, their keys, and scratch. */
struct reach {
        uint64_t *set, *next, *spare;
        size_t words;
};

/* The first token from `at` on that is in the set, or is not, as `in` says; N at the end. */
static size_t next_token(const struct reach *r, size_t at, size_t N, bool in)
{
        while (at < N && (r->set[at / 64] >> at % 64 & 1) != in)
                at++;
        return at;
}

static void add_reach(struct cmd_sink *out, const struct reach *r, const struct attnmask *a)
{
        bool json = a->options->format == PICTURE_JSON;
        size_t N = a->options->length, tokens = 0, end = 0;

        for (size_t w = 0; w < r->words; w++)
                tokens += (size_t)__builtin_popcountll(r->set[w]);
        if (json)
                ran_buf_printf(&out->buf, "{\"row\":%zu,\"reach\":%zu,\"tokens\":%zu,\"keys\":[",
                               a->from, a->options->reach, tokens);
        else
                ran_buf_printf(
                        &out->buf, "%s, mask %s: token %zu of %zu reaches %zu after %zu layers\n",
                        a->n > 1 ? "all heads" : a->names[0], ran_mask_names[a->options->mask],
                        a->from, N, tokens, a->options->reach);
        for (size_t from; (from = next_token(r, end, N, true)) < N;) {
                bool first = end == 0;

                end = next_token(r, from, N, false);
                add_run(&out->buf, json, first, from, end);
                cmd_sink_flush(out);
        }
        ran_buf_str(&out->buf, json ? "]}\n" : "\n");
}

static int add_reached(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err)
{
        const size_t words = RAN_TOKEN_WORDS(a->options->length), most = 100000000;
        struct reach r = {.words = words};
        bool more = true;

        /* A layer of dispersed attention moves the set by each of its distances: N sqrt(N) work. */
        for (size_t h = 0; h < a->n; h++)
                if (a->heads[h].pattern == RAN_ATTENTION_DISPERSED && a->options->length > most)
                        return ran_fail(err, RAN_EINVAL,
                                        "--reach with dispersed attention is for lengths up to "
                                        "%zu: beyond that it would take hours",
                                        most);
        r.set = ran_alloc(3 * words, sizeof *r.set, err); /* --length says how many */
        if (r.set == NULL)
                return RAN_ENOMEM;
        r.next = r.set + words;
        r.spare = r.next + words;
        r.set[a->from / 64] = UINT64_C(1) << a->from % 64;
        for (size_t k = 0; k < a->options->reach && more; k++) {
                for (size_t h = 0; h < a->n; h++)
                        ran_mask_spread(&a->heads[h].mask, r.next, r.set, r.spare);
                more = memcmp(r.set, r.next, words * sizeof *r.set) != 0;
                memcpy(r.set, r.next, words * sizeof *r.set);
        }
        add_reach(out, &r, a);
        free(r.set);
        return RAN_OK;
}

int attnmask_row(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err)
{
        if (a->options->reach > 0)
                return add_reached(a, out, err);
        for (size_t h = 0; h < a->n; h++) {
                const struct ran_mask *m = &a->heads[h].mask;
                const struct ran_mask_ranges s = ran_mask_row(m, a->from);

                if (a->options->format == PICTURE_JSON) {
                        add_row_json(out, a, h, a->from);
                        continue;
                }
                ran_buf_printf(&out->buf, "%s, mask %s: token %zu of %zu sees %zu\n", a->names[h],
                               ran_mask_names[a->options->mask], a->from, m->N,
                               s.to - s.from + s.left + s.right);
                add_keys(out, m, a->from, false);
                ran_buf_char(&out->buf, '\n');
        }
        return RAN_OK;
}
