/* parts.c - a text of many sentences, tagged like sentences in training, by all threads.
 *
 * A part is as many sentences as the model read at once in training, a document for the model.
 * Parts are small, so threads take groups of them. */
#include "cmd/tag/tag.h"

#include <pthread.h>
#include <stdlib.h>

/* Words of a group, or a few more. */
enum { GROUP = 2048 };

/* The words of a group end where the next group begins. */
struct tag_group {
        size_t word, token; /* its first */
        int code;
        struct ran_error err;
};

/* States that no thread uses now: never more than there are threads, however many texts there are.
 */
struct tag_spare {
        pthread_mutex_t lock;
        struct ran_state **state;
        size_t n, cap;
};

struct tag_spare *tag_spare_new(void)
{
        struct tag_spare *spare = ran_new(1, sizeof *spare);

        pthread_mutex_init(&spare->lock, NULL);
        return spare;
}

void tag_spare_free(struct tag_spare *spare)
{
        if (spare == NULL)
                return;
        for (size_t i = 0; i < spare->n; i++)
                ran_state_free(spare->state[i]);
        free(spare->state);
        pthread_mutex_destroy(&spare->lock);
        free(spare);
}

static struct ran_state *take_state(const struct tagger *t)
{
        struct ran_state *state = NULL;

        pthread_mutex_lock(&t->spare->lock);
        if (t->spare->n > 0)
                state = t->spare->state[--t->spare->n];
        pthread_mutex_unlock(&t->spare->lock);
        return state != NULL ? state : ran_state_new(t->model, t->pool);
}

static void give_state(const struct tagger *t, struct ran_state *state)
{
        struct tag_spare *spare = t->spare;

        pthread_mutex_lock(&spare->lock);
        RAN_ROOM(spare->state, spare->cap, spare->n + 1);
        spare->state[spare->n++] = state;
        pthread_mutex_unlock(&spare->lock);
}

/* ---- parts ---------------------------------------------------------------------------------- */

/* The end of the part that begins at `word`. */
static size_t end_of_part(const struct tagger *t, const struct ran_document *d, size_t word)
{
        const size_t join = ran_model_config(t->model)->tag.join_sentences;
        size_t end = word + 1, sentences = 1;

        while (end < d->words && (!d->begins[end] || sentences++ < join))
                end++;
        return end;
}

/* Tags the part of the tokens [token, last) and the words [word, end). */
static int tag_part(const struct tagger *t, struct tag_scratch *s, struct ran_state *state,
                    size_t token, size_t last, size_t word, size_t end, struct ran_error *err)
{
        const struct ran_document *d = &s->document;
        struct ran_document part = {.ids = d->ids + token,
                                    .L = last - token,
                                    .positions = s->positions + word,
                                    .words = end - word,
                                    .begins = d->begins + word};

        if (d->spelling != NULL)
                part.spelling = d->spelling + token * RAN_SPELLING;
        for (size_t i = word; i < end; i++)
                s->positions[i] -= (uint32_t)token;
        return ran_tag(t->model, state, &part, s->tags + word, s->score + word,
                       t->logits ? s->logits + word * t->C : NULL, err);
}

struct job {
        const struct tagger *t;
        struct tag_scratch *s;
        struct tag_group *group; /* (groups + 1) */
};

/* Reads no position outside of the group: other threads shift those. */
static int tag_group(const struct job *job, struct ran_state *state, struct tag_group *group,
                     struct ran_error *err)
{
        const struct tag_group *next = group + 1;
        size_t token = group->token;

        for (size_t word = group->word, end, last; word < next->word; word = end, token = last) {
                end = end_of_part(job->t, &job->s->document, word);
                last = end < next->word ? job->s->positions[end] : next->token;
                RAN_TRY(tag_part(job->t, job->s, state, token, last, word, end, err));
        }
        return RAN_OK;
}

static void group_task(void *arg, size_t i)
{
        const struct job *job = arg;
        struct tag_group *group = &job->group[i];
        struct ran_state *state = take_state(job->t);

        group->code = tag_group(job, state, group, &group->err);
        give_state(job->t, state);
}

/* ---- groups --------------------------------------------------------------------------------- */

static void add_group(struct tag_scratch *s, size_t *n, size_t word, size_t token)
{
        RAN_ROOM(s->group, s->group_cap, *n + 1);
        s->group[(*n)++] = (struct tag_group){.word = word, .token = token};
}

int tag_parts(const struct tagger *t, struct tag_scratch *s, struct ran_error *err)
{
        const struct ran_document *d = &s->document;
        size_t n = 0, begin = 0, token = 0;

        for (size_t word = 0; word < d->words;) {
                word = end_of_part(t, d, word);
                if (word < d->words && word - begin < GROUP)
                        continue;
                add_group(s, &n, begin, token);
                token = word < d->words ? s->positions[word] : d->L;
                begin = word;
        }
        add_group(s, &n, begin, token); /* where the last one ends */
        struct job job = {t, s, s->group};
        ran_parallel(t->pool, n - 1, group_task, &job);
        for (size_t i = 0; i < n - 1; i++)
                if (s->group[i].code != RAN_OK)
                        return ran_fail(err, s->group[i].code, "%s", s->group[i].err.text);
        return RAN_OK;
}
