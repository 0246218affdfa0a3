/* pattern.c - searches for regular expressions. */
#include "text/steps/steps.h"

#include <stdlib.h>
#include <string.h>

#include "text/steps/pattern-code.h"

struct ran_pattern *ran_pattern_new(const char *text, size_t n, bool literal, struct ran_error *err)
{
        struct ran_pattern *p = ran_new(1, sizeof *p);
        int rc = RAN_OK;

        if (!literal) {
                rc = ran_pattern_compile(p, text, n, err);
        } else if (n == 0) {
                rc = ran_fail(err, RAN_EFORMAT, "an empty text to find is not supported");
        } else {
                p->literal = ran_copy(text, n);
                p->literal_n = n;
        }
        if (rc != RAN_OK) {
                ran_pattern_free(p);
                return NULL;
        }
        return p;
}

void ran_pattern_free(struct ran_pattern *p)
{
        if (p == NULL)
                return;
        for (size_t i = 0; i < p->classes.n; i++)
                free(p->classes.at[i].part);
        free(p->classes.at);
        free(p->code);
        free(p->literal);
        free(p);
}

/* ---- searching ------------------------------------------------------------------------------ */

struct pattern_thread {
        uint32_t pc;
        size_t begin; /* of its match */
};

void ran_pattern_scratch_release(struct ran_pattern_scratch *s)
{
        free(s->thread);
        free(s->seen);
        free(s->stack);
        *s = (struct ran_pattern_scratch){0};
}

struct search {
        const struct ran_pattern *p;
        struct ran_pattern_scratch *s;
        const char *text;
        size_t n, pos;
        int32_t c; /* the character at pos; -1: the end */
        size_t c_n;
};

static void look_at(struct search *k, size_t pos)
{
        k->pos = pos;
        k->c = -1;
        if (pos < k->n)
                k->c = ran_unicode_get(k->text + pos, k->n - pos, &k->c_n);
}

/* Adds a thread that waits at k->pos, and those that it splits into, in order. */
static size_t add_thread(struct search *k, struct pattern_thread *to, size_t n, uint32_t pc,
                         size_t begin)
{
        uint32_t *stack = k->s->stack;
        size_t depth = 0;

        for (stack[depth++] = pc; depth > 0;) {
                pc = stack[--depth];
                const struct instruction *in = &k->p->code[pc];
                if (k->s->seen[pc] == k->pos + 1)
                        continue;
                k->s->seen[pc] = k->pos + 1;
                switch (in->op) {
                case OP_SPLIT:
                        stack[depth++] = pc + in->y;
                        stack[depth++] = pc + in->x;
                        break;
                case OP_JUMP:
                        stack[depth++] = pc + in->x;
                        break;
                case OP_LOOK:
                case OP_NOT:
                        if ((k->c >= 0 && ran_class_has(&k->p->classes, in->x, k->c)) ==
                            (in->op == OP_LOOK))
                                stack[depth++] = pc + 1;
                        break;
                case OP_BEGIN:
                case OP_END:
                        if (k->pos == (in->op == OP_BEGIN ? 0 : k->n))
                                stack[depth++] = pc + 1;
                        break;
                default:
                        to[n++] = (struct pattern_thread){pc, begin};
                        break;
                }
        }
        return n;
}

/* Moves the threads at k->pos over its character, to *next; a match ends them. */
static size_t step(struct search *k, const struct pattern_thread *now, size_t n,
                   struct pattern_thread *next, size_t *begin, size_t *end)
{
        const int32_t c = k->c;
        struct search at = *k;
        size_t to = 0;

        look_at(&at, k->pos + (c >= 0 ? k->c_n : 1));
        for (size_t i = 0; i < n; i++) {
                const struct instruction *in = &k->p->code[now[i].pc];
                if (in->op == OP_MATCH) {
                        *begin = now[i].begin;
                        *end = k->pos;
                        break;
                }
                if (c >= 0 && ran_class_has(&k->p->classes, in->x, c))
                        to = add_thread(&at, next, to, now[i].pc + 1, now[i].begin);
        }
        *k = at;
        return to;
}

/* Threads are in the order of what counts first: those that began earlier, then the order of the
 * expression. So a match ends all behind it, and those before it go on for a better one. */
void ran_pattern_find(const struct ran_pattern *p, const char *text, size_t n, size_t from,
                      struct ran_pattern_scratch *s, size_t *begin, size_t *end)
{
        struct search k = {.p = p, .s = s, .text = text, .n = n};
        size_t waiting = 0;

        if (p->literal != NULL) {
                const char *at = memmem(text + from, n - from, p->literal, p->literal_n);

                *begin = at != NULL ? (size_t)(at - text) : n;
                *end = at != NULL ? *begin + p->literal_n : n;
                return;
        }
        RAN_ROOM(s->thread, s->thread_cap, 2 * p->n);
        RAN_ROOM(s->seen, s->seen_cap, p->n);
        RAN_ROOM(s->stack, s->stack_cap, 2 * p->n + 1);
        memset(s->seen, 0, p->n * sizeof *s->seen);
        struct pattern_thread *now = s->thread, *next = now + p->n, *swap;
        *begin = *end = SIZE_MAX;
        for (look_at(&k, from); k.pos <= n;) {
                if (waiting == 0 && *begin == SIZE_MAX) {
                        size_t pos = k.pos;
                        while (pos < n && !p->first[(unsigned char)text[pos]])
                                pos++;
                        if (pos == n)
                                break;
                        look_at(&k, pos);
                }
                if (*begin == SIZE_MAX)
                        waiting = add_thread(&k, now, waiting, 0, k.pos);
                else if (waiting == 0)
                        break;
                waiting = step(&k, now, waiting, next, begin, end);
                swap = now;
                now = next;
                next = swap;
        }
        if (*begin == SIZE_MAX)
                *begin = *end = n;
}
