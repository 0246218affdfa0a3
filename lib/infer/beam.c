/* beam.c - beam search: the most probable continuations of a document.
 *
 * Continuations share their beginnings, so all are kept as one tree: a node is a token and its
 * parent the token before. A hypothesis is a continuation of the beam: a node, and a context that
 * has read the tokens up to it. The contexts are forks of the document's: its text is in memory
 * once. All hypotheses read their next token in the same products.
 *
 * Of all extensions of all hypotheses only the best 2 width matter: at most width of them end, so
 * that width of them do not. The order is total: score, hypothesis, token.
 */
#include "math/elementary.h"
#include "file/model.h"
#include "ran/math.h"
#include "ran/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOT SIZE_MAX
#define NONE SIZE_MAX

struct node {
        size_t parent; /* or ROOT */
        uint32_t id;
        float nll;
};

struct hypothesis {
        size_t node; /* ROOT: nothing generated yet */
        double log_p;
        size_t slot; /* its context; NONE: the document's, or not known yet */
};

/* An extension of a hypothesis by a token. */
struct candidate {
        double log_p, nll; /* of all tokens; of the last one */
        size_t from;       /* the hypothesis */
        uint32_t id;
};

struct finished {
        size_t node;
        double score;
        bool ended;
};

struct ran_beam {
        const struct ran_model *m;
        struct ran_beam_settings set;
        size_t V, n; /* n: tokens generated so far */
        struct node *node;
        size_t nodes, node_cap;
        struct hypothesis *live, *next;  /* (n_live), (n_next) */
        struct ran_lm_context **context; /* (slots) */
        bool *taken;                     /* (slots) by a hypothesis of the next beam */
        struct ran_lm_context **reads;   /* (n_live) in their order */
        size_t n_live, n_next, slots, live_cap, next_cap, context_cap, taken_cap, reads_cap;
        struct candidate *best; /* the best so far, sorted once they are enough, and more */
        size_t n_best, best_cap;
        struct finished *finished; /* the best first */
        size_t n_finished, finished_cap;
        uint32_t *last; /* (n_live) the token that each hypothesis reads next */
        float *logits;  /* (n_live, V) */
        uint32_t *ids;  /* a continuation, from first to last token */
        float *nll;     /* its tokens' */
        size_t last_cap, logits_cap, ids_cap, nll_cap;
};

struct ran_beam *ran_beam_new(const struct ran_model *m, const struct ran_beam_settings *set)
{
        struct ran_beam *k = ran_new(1, sizeof *k);

        k->m = m;
        k->set = *set;
        k->V = ran_model_vocabulary(m);
        return k;
}

void ran_beam_free(struct ran_beam *k)
{
        if (k == NULL)
                return;
        for (size_t i = 0; i < k->slots; i++)
                ran_lm_context_free(k->context[i]);
        free(k->context);
        free(k->taken);
        free(k->reads);
        free(k->node);
        free(k->live);
        free(k->next);
        free(k->best);
        free(k->finished);
        free(k->last);
        free(k->logits);
        free(k->ids);
        free(k->nll);
        free(k);
}

/* ---- the best extensions -------------------------------------------------------------------- */

/* Whether a comes before b. */
static bool better(const struct candidate *a, const struct candidate *b)
{
        if (a->log_p != b->log_p)
                return a->log_p > b->log_p;
        return a->from != b->from ? a->from < b->from : a->id < b->id;
}

static int compare(const void *a, const void *b)
{
        return better(a, b) ? -1 : better(b, a);
}

/* Sorts the candidates, and keeps the best `most`. */
static void cut(struct ran_beam *k, size_t most)
{
        if (k->n_best > 0)
                qsort(k->best, k->n_best, sizeof *k->best, compare);
        k->n_best = ran_least(k->n_best, most);
}

/* The tokens up to a node, in k->ids; returns how many there are. */
static size_t spell_out(struct ran_beam *k, size_t node)
{
        size_t n = 0, length;

        for (size_t i = node; i != ROOT; i = k->node[i].parent)
                n++;
        RAN_ROOM(k->ids, k->ids_cap, n);
        RAN_ROOM(k->nll, k->nll_cap, n);
        length = n;
        for (size_t i = node; i != ROOT; i = k->node[i].parent) {
                k->ids[--n] = k->node[i].id;
                k->nll[n] = k->node[i].nll;
        }
        return length;
}

/* Adds the extensions of hypothesis h that are among the best. */
static void extend(struct ran_beam *k, size_t h, size_t most)
{
        float *logits = k->logits + h * k->V;
        double sum = ran_log_sum_exp(logits, k->V), before = k->live[h].log_p;

        if (k->set.no_repeat > 0) {
                const size_t length = spell_out(k, k->live[h].node);

                ran_ban_repeats(logits, k->ids, length, k->set.no_repeat);
        }
        if (k->set.end < k->V && k->n < k->set.min_new)
                logits[k->set.end] = -INFINITY;
        for (size_t id = 0; id < k->V; id++) {
                double nll = sum - (double)logits[id];
                struct candidate c = {before - nll, nll, h, (uint32_t)id};

                if (logits[id] == -INFINITY || (k->set.never != NULL && k->set.never[id]))
                        continue;
                if (k->n_best >= most && !better(&c, &k->best[most - 1]))
                        continue;
                RAN_ROOM(k->best, k->best_cap, k->n_best + 1);
                k->best[k->n_best++] = c;
                if (k->n_best == most || k->n_best == 2 * most)
                        cut(k, most);
        }
}

/* ---- the end -------------------------------------------------------------------------------- */

static double score_of(const struct ran_beam *k, double log_p, size_t n)
{
        double by = k->set.length_penalty * ran_log((double)n);

        return log_p / ran_exp(by);
}

/* Keeps a continuation if it is among the best `width`; of equals the first one stays. */
static void add_finished(struct ran_beam *k, size_t node, double log_p, bool ended)
{
        double score = score_of(k, log_p, k->n);
        size_t at = k->n_finished;

        while (at > 0 && k->finished[at - 1].score < score)
                at--;
        if (at == k->set.width)
                return;
        RAN_ROOM(k->finished, k->finished_cap, k->n_finished + 1);
        k->n_finished -= k->n_finished == k->set.width;
        memmove(k->finished + at + 1, k->finished + at, (k->n_finished - at) * sizeof *k->finished);
        k->finished[at] = (struct finished){node, score, ended};
        k->n_finished++;
}

/* Whether no hypothesis is better than what is finished. The first is the best one. */
static bool is_done(const struct ran_beam *k)
{
        return k->n_live == 0 ||
               (k->n_finished == k->set.width &&
                score_of(k, k->live[0].log_p, k->n) <= k->finished[k->n_finished - 1].score);
}

/* ---- the next beam -------------------------------------------------------------------------- */

/* Sorts the candidates into those that end and those that go on. One that ends must be among the
 * best `width`, or unlikely short continuations would fill the places of likely long ones. */
static void choose(struct ran_beam *k)
{
        k->n_next = 0;
        k->n++;
        cut(k, 2 * k->set.width);
        for (size_t i = 0; i < k->n_best && k->n_next < k->set.width; i++) {
                const struct candidate *c = &k->best[i];
                bool ends = c->id == k->set.end;

                if (ends && i >= k->set.width)
                        continue;
                RAN_ROOM(k->node, k->node_cap, k->nodes + 1);
                k->node[k->nodes++] = (struct node){k->live[c->from].node, c->id, (float)c->nll};
                if (ends || k->n == k->set.max_new) {
                        add_finished(k, k->nodes - 1, c->log_p, ends);
                        continue;
                }
                RAN_ROOM(k->next, k->next_cap, k->n_next + 1);
                RAN_ROOM(k->last, k->last_cap, k->n_next + 1);
                k->last[k->n_next] = c->id;
                k->next[k->n_next++] =
                        (struct hypothesis){k->nodes - 1, c->log_p, k->live[c->from].slot};
        }
}

/* A slot that no hypothesis of the next beam uses, from `at` on, with a context. */
static void free_slot(struct ran_beam *k, size_t *at)
{
        while (*at < k->slots && k->taken[*at])
                ++*at;
        if (*at < k->slots)
                return;
        RAN_ROOM(k->context, k->context_cap, k->slots + 1);
        RAN_ROOM(k->taken, k->taken_cap, k->slots + 1);
        k->context[k->slots] = ran_lm_context_new(k->m);
        k->taken[k->slots++] = false;
}

/* The first child of a hypothesis takes its context over, the others get copies. A context without
 * a child is free: nobody copies it any more. */
static int share_contexts(struct ran_beam *k, const struct ran_lm_context *root,
                          struct ran_error *err)
{
        size_t at = 0;

        if (k->slots > 0)
                memset(k->taken, 0, k->slots * sizeof *k->taken);
        RAN_ROOM(k->reads, k->reads_cap, k->n_next);
        for (size_t i = 0; i < k->n_next; i++) {
                size_t slot = k->next[i].slot;

                k->reads[i] = NULL;
                if (slot == NONE || k->taken[slot])
                        continue;
                k->taken[slot] = true;
                k->reads[i] = k->context[slot];
        }
        for (size_t i = 0; i < k->n_next; i++) {
                size_t slot = k->next[i].slot;

                if (k->reads[i] != NULL)
                        continue;
                free_slot(k, &at);
                RAN_TRY(ran_lm_context_fork(k->context[at], slot == NONE ? root : k->context[slot],
                                            err));
                k->taken[at] = true;
                k->next[i].slot = at;
                k->reads[i] = k->context[at];
        }
        return RAN_OK;
}

/* The next beam becomes the beam, and reads its last tokens. */
static int advance(struct ran_beam *k, struct ran_state *s, const struct ran_lm_context *root,
                   struct ran_error *err)
{
        struct hypothesis *live = k->live;
        size_t cap = k->live_cap, floats;

        if (k->n_next > 0)
                RAN_TRY(share_contexts(k, root, err));
        k->live = k->next;
        k->live_cap = k->next_cap;
        k->n_live = k->n_next;
        k->next = live;
        k->next_cap = cap;
        if (is_done(k))
                return RAN_OK;
        if (__builtin_mul_overflow(k->n_live, k->V, &floats))
                return ran_fail(err, RAN_ENOMEM, "no memory for a beam of %zu", k->n_live);
        RAN_TRY(RAN_GROW(k->logits, k->logits_cap, floats, err));
        return ran_lm_read_each(k->m, s, k->reads, k->last, k->n_live, k->logits, err);
}

/* ---- the search ----------------------------------------------------------------------------- */

/* One hypothesis, with nothing generated, and the logits after it. */
static int begin_search(struct ran_beam *k, struct ran_state *s, struct ran_lm_context *context,
                        const uint32_t *ids, size_t n, size_t sources, struct ran_error *err)
{
        const struct ran_beam_settings *set = &k->set;

        for (size_t i = 0; i < k->slots; i++)
                ran_lm_context_clear(k->context[i]);
        k->n = k->nodes = k->n_finished = k->n_live = 0;
        if (set->width == 0 || set->width > SIZE_MAX / 4 || set->max_new == 0 ||
            set->min_new > set->max_new || !(set->length_penalty >= 0))
                return ran_fail(err, RAN_EINVAL,
                                "no beam search is possible with width %zu and %zu to %zu tokens",
                                set->width, set->min_new, set->max_new);
        RAN_ROOM(k->live, k->live_cap, 1);
        RAN_ROOM(k->logits, k->logits_cap, k->V);
        k->live[0] = (struct hypothesis){.node = ROOT, .slot = NONE};
        const struct ran_lm_out out = {.last = k->logits};
        RAN_TRY(ran_lm_read(k->m, s, context, ids, n, sources, &out, err));
        k->n_live = 1;
        return RAN_OK;
}

int ran_beam_search(struct ran_beam *k, struct ran_state *s, struct ran_lm_context *context,
                    const uint32_t *ids, size_t n, size_t sources, struct ran_error *err)
{
        RAN_TRY(begin_search(k, s, context, ids, n, sources, err));
        while (!is_done(k)) {
                k->n_best = 0;
                for (size_t h = 0; h < k->n_live; h++)
                        extend(k, h, 2 * k->set.width);
                choose(k);
                RAN_TRY(advance(k, s, context, err));
        }
        if (k->n_finished == 0)
                return ran_fail(err, RAN_EINVAL,
                                "every token that may stand here has probability 0");
        return RAN_OK;
}

struct ran_beam_text ran_beam_text(struct ran_beam *k, size_t i)
{
        if (i >= k->n_finished)
                return (struct ran_beam_text){0};
        const size_t n = spell_out(k, k->finished[i].node);
        return (struct ran_beam_text){.ids = k->ids,
                                      .nll = k->nll,
                                      .n = n,
                                      .score = k->finished[i].score,
                                      .ended = k->finished[i].ended};
}
