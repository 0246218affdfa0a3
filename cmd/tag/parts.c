/* parts.c - a text of many sentences, tagged like sentences in training, by all threads.
 *
 * A part is as many sentences as the model read at once in training, a document for the model.
 * Parts are small, so threads take groups of them. */
#include "cmd/tag/tag.h"

/* Words of a group, or a few more. */
enum { GROUP = 2048 };

/* The words of a group end where the next group begins. */
struct tag_group {
        size_t word, token; /* its first */
        int code;
        struct ran_error err;
};

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
                       tag_options.logits ? s->logits + word * t->C : NULL, err);
}

struct job {
        const struct tagger *t;
        struct tag_scratch *s;
};

/* Reads no position outside of the group: other threads shift those. */
static void tag_group(void *arg, size_t i)
{
        const struct job *job = arg;
        struct tag_group *group = &job->s->group[i];
        const struct tag_group *next = group + 1;
        struct ran_state *state = ran_state_new(job->t->model, job->t->pool);
        size_t token = group->token;

        for (size_t word = group->word, end, last; word < next->word && group->code == RAN_OK;
             word = end, token = last) {
                end = end_of_part(job->t, &job->s->document, word);
                last = end < next->word ? job->s->positions[end] : next->token;
                group->code = tag_part(job->t, job->s, state, token, last, word, end, &group->err);
        }
        ran_state_free(state);
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
        struct job job = {t, s};
        ran_parallel(t->pool, n - 1, tag_group, &job);
        for (size_t i = 0; i < n - 1; i++)
                if (s->group[i].code != RAN_OK)
                        return ran_fail(err, s->group[i].code, "%s", s->group[i].err.text);
        return RAN_OK;
}
