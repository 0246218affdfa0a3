/* search.c - hyperparameter search: which settings to try next.
 *
 * The table below has the settings that matter, and some values of each, in order. A trial is one
 * value of each. The first trial has the user's settings; settings that the user gave are fixed.
 * Later trials alternate: one moves a step away from the best so far, in one setting or two; the
 * next draws about a third of the settings again. Draws depend only on the seed and on the results
 * so far: the speed of the machine decides the number of trials, not which they are.
 */
#include "nn/part.h"
#include "task/train.h"
#include "ran/train.h"

#include <math.h>
#include <string.h>

/* ---- where to look -------------------------------------------------------------------------- */

/* What a setting needs to matter. */
enum {
        ENCODER = 1 << 0,      /* one that is trained, */
        FREE_WIDTH = 1 << 1,   /* whose width nothing decides, */
        FREE_ENCODER = 1 << 2, /* or nothing of which comes from `init` */
        VOCABULARY = 1 << 3,
        UNKNOWN = 1 << 4, /* byte pairs can spell any text, so that no id is unknown */
        CHUNKS = 1 << 5,  /* a language model of long texts */
        INIT = 1 << 6,
        VECTORS = 1 << 7,
        LENGTH = 1 << 8, /* if every document fits in the smallest window, its size says nothing */
        PREDICTOR = 1 << 9,
        HEAD = 1 << 10,    /* which does not come from `init` */
        TARGETS = 1 << 11, /* single ones to smooth, which an adaptive softmax lacks */
        USED = 1 << 12,    /* the encoder reads it */
};

/* A setting comes after those that decide whether it matters. The checks of ran_train refuse
 * values that a task does not allow. */
static const struct row {
        const char *name;
        const char *value[10]; /* ascending, NULL at the end */
        int needs;
} rows[] = {
        {"ngrams", {"1", "2", "3"}, PREDICTOR | HEAD},
        {"affixes", {"false", "true"}, PREDICTOR | HEAD | VOCABULARY},
        {"wide_cost", {"0", "0.2", "1", "4"}, PREDICTOR},
        {"learning_rate",
         {"0.0002", "0.0003", "0.0005", "0.0007", "0.001", "0.0015", "0.002", "0.003", "0.005"},
         ENCODER},
        {"batch", {"4", "8", "16", "32", "64"}, ENCODER},
        {"bptt", {"0", "2", "4", "8"}, CHUNKS},
        {"weight_decay", {"0", "0.01", "0.03", "0.1", "0.3", "1"}, ENCODER},
        {"dropout", {"0", "0.05", "0.1", "0.2", "0.3", "0.4", "0.5"}, ENCODER},
        {"embed_dropout", {"0", "0.05", "0.1", "0.15", "0.2", "0.3", "0.4", "0.5"}, ENCODER},
        {"word_dropout", {"0", "0.05", "0.1", "0.2", "0.3"}, ENCODER | UNKNOWN},
        {"label_smoothing", {"0", "0.02", "0.05", "0.1", "0.2"}, ENCODER | TARGETS},
        {"vectors_rms", {"0.05", "0.1", "0.2", "0.3"}, VECTORS},
        {"init_rate", {"0.1", "0.2", "0.3", "0.5", "0.7", "1"}, INIT},
        {"dim", {"64", "96", "128", "192", "256"}, FREE_WIDTH},
        {"layers", {"1", "2", "3"}, FREE_ENCODER},
        {"window", {"64", "128", "256", "512"}, FREE_ENCODER | LENGTH | USED},
        {"rank", {"64", "128", "256", "512"}, FREE_ENCODER | USED},
        {"ffn_dim", {"128", "256", "512", "1024"}, FREE_ENCODER | USED},
        {"pooling", {"max", "mean"}, HEAD | USED},
};
enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert((size_t)ROWS <= RAN_SEARCH_FIELDS, "a trial has room for a value of each");

/* A model much larger than that of the first trial would take the time of many trials. */
static const double most_flops = 2, most_parameters = 4, few_parameters = 1 << 26;

static int values(const struct row *row)
{
        int n = 0;

        while (row->value[n] != NULL)
                n++;
        return n;
}

/* ---- trials as settings --------------------------------------------------------------------- */

struct candidate {
        struct ran_config c;
        struct ran_train_settings s;
};

static const struct ran_field *find(const struct ran_field *fields, const char *name)
{
        while (fields->name != NULL && strcmp(fields->name, name) != 0)
                fields++;
        return fields->name != NULL ? fields : NULL;
}

/* The field of a row, and the address of its value. */
static const struct ran_field *field_of(const struct row *row, struct candidate *k, void **base)
{
        const struct ran_field *field = find(ran_config_fields, row->name);

        *base = field != NULL ? (void *)&k->c : (void *)&k->s;
        return field != NULL ? field : find(ran_train_fields, row->name);
}

static void set(struct candidate *k, const struct row *row, const char *text)
{
        void *base;
        const struct ran_field *field = field_of(row, k, &base);

        ran_field_set(field, base, text, NULL); /* of the table: it cannot fail */
}

static struct candidate candidate(const struct ran_search *s, const struct ran_trial *trial)
{
        struct candidate k = {*s->job->config, *s->job->settings};

        for (int i = 0; i < ROWS; i++)
                if (trial->at[i] != s->start.at[i])
                        set(&k, &rows[i], rows[i].value[trial->at[i]]);
        return k;
}

void ran_search_apply(const struct ran_search *s, const struct ran_trial *trial,
                      struct ran_config *config, struct ran_train_settings *settings)
{
        const struct candidate k = candidate(s, trial);

        *config = k.c;
        *settings = k.s;
}

/* The index of a setting's value in its list; -1: not in the list. */
static signed char index_of(const struct ran_search *s, const struct row *row)
{
        struct candidate here = {*s->job->config, *s->job->settings}, other = here;
        struct ran_buf changes = {0};
        void *base, *changed;
        struct ran_field one[] = {*field_of(row, &here, &base), {0}};
        signed char i = -1;

        one[0].later = false;
        field_of(row, &other, &changed);
        do {
                changes.len = 0;
                if (row->value[++i] == NULL)
                        break;
                set(&other, row, row->value[i]);
                ran_fields_changes(one, changed, base, &changes);
        } while (changes.len > 0);
        ran_buf_release(&changes);
        return row->value[i] != NULL ? i : -1;
}

static int estimate(const struct ran_search *s, const struct candidate *k,
                    struct ran_train_estimate *e, struct ran_error *err)
{
        struct ran_train_job job = *s->job;

        job.config = &k->c;
        job.settings = &k->s;
        job.pool = NULL;
        return ran_train_estimate(&job, e, err);
}

int ran_search_init(struct ran_search *s, const struct ran_train_job *job,
                    bool (*given)(const char *name), struct ran_error *err)
{
        const struct ran_dataset *d = job->train;
        const struct candidate k = {*job->config, *job->settings};
        struct ran_train_estimate e;

        err = ran_error_or_spare(err);
        *s = (struct ran_search){.job = job};
        for (size_t b = 0; b < d->B; b++)
                if (d->first[b + 1] - d->first[b] > s->longest)
                        s->longest = d->first[b + 1] - d->first[b];
        for (int i = 0; i < ROWS; i++) {
                s->start.at[i] = index_of(s, &rows[i]);
                s->fixed[i] = given(rows[i].name);
        }
        RAN_TRY(estimate(s, &k, &e, err));
        s->flops = e.flops;
        s->parameters = (double)(e.parameters + e.embedding_parameters);
        return RAN_OK;
}

/* ---- what to try next ----------------------------------------------------------------------- */

struct dice {
        uint64_t key, at;
};

static int draw(struct dice *d, int n)
{
        return (int)(ran_random_draw(d->key, d->at++) % (uint64_t)n);
}

static bool is_free(const struct ran_search *s, int i, const struct candidate *k)
{
        const struct ran_train_job *job = s->job;
        const struct ran_config *c = &k->c;
        const bool encoder = ran_config_trains_encoder(c);
        const struct ran_train_task *task = ran_train_task_of(c);
        const struct ran_tokenizer *t = job->tokenizer;
        const bool has[] = {
                encoder,
                encoder && job->init == NULL && job->vectors == NULL,
                encoder &&
                        (job->init == NULL || ran_model_config(job->init)->encoder != c->encoder),
                t != NULL,
                t != NULL && ran_tokenizer_unknown(t) != RAN_NO_ID,
                task->chunks && s->longest > 2 * c->window,
                job->init != NULL,
                job->vectors != NULL,
                s->longest > 64,
                ran_config_has_predictor(c),
                task->has_head && !ran_train_keeps_head(job),
                c->lm.shortlist == 0,
                ran_config_uses(c, rows[i].name),
        };

        for (size_t n = 0; n < sizeof has / sizeof *has; n++)
                if ((rows[i].needs >> n & 1) != 0 && !has[n])
                        return false;
        return !s->fixed[i];
}

/* Another value of a setting, one or two steps away. */
static void step(struct ran_trial *t, int i, struct dice *d)
{
        int n = values(&rows[i]), away = draw(d, 4) == 0 ? 2 : 1;
        int to = t->at[i] + (draw(d, 2) == 0 ? away : -away);

        if (t->at[i] < 0)
                to = draw(d, n);
        else if (to < 0 || to >= n)
                to = 2 * t->at[i] - to;
        if (to >= 0 && to < n)
                t->at[i] = (signed char)to;
}

static void mutate(const struct ran_search *s, struct ran_trial *t, struct dice *d)
{
        int picks = 1 + draw(d, 2);

        while (picks-- > 0) {
                const struct candidate k = candidate(s, t);
                int open[ROWS], n = 0;

                for (int i = 0; i < ROWS; i++)
                        if (is_free(s, i, &k))
                                open[n++] = i;
                if (n > 0)
                        step(t, open[draw(d, n)], d);
        }
}

static void redraw(const struct ran_search *s, struct ran_trial *t, struct dice *d)
{
        for (int i = 0; i < ROWS; i++) {
                const struct candidate k = candidate(s, t);

                if (is_free(s, i, &k) && draw(d, 3) == 0)
                        t->at[i] = (signed char)draw(d, values(&rows[i]));
        }
}

static bool is_affordable(const struct ran_search *s, const struct ran_trial *t)
{
        const struct candidate k = candidate(s, t);
        struct ran_train_estimate e;
        struct ran_error err;

        if (estimate(s, &k, &e, &err) != RAN_OK)
                return false;
        double parameters = (double)(e.parameters + e.embedding_parameters);
        return e.flops <= most_flops * s->flops &&
               parameters <= fmax(most_parameters * s->parameters, few_parameters);
}

size_t ran_search_best(const struct ran_trial *trial, size_t n)
{
        size_t best = 0;

        for (size_t i = 1; i < n; i++)
                if (trial[i].metric > trial[best].metric)
                        best = i;
        return best;
}

bool ran_search_next(const struct ran_search *s, const struct ran_trial *trial, size_t n,
                     struct ran_trial *next)
{
        const size_t tries = 400; /* after half of them steps have run out */

        *next = s->start;
        next->metric = -INFINITY;
        if (n == 0)
                return true;
        for (size_t i = 0; i < tries; i++) {
                struct dice d = {ran_random_key(s->job->settings->seed, RAN_FOR_SEARCH, n, i), 0};

                *next = trial[ran_search_best(trial, n)];
                next->metric = -INFINITY;
                if (n % 2 == 1 && i < tries / 2)
                        mutate(s, next, &d);
                else
                        redraw(s, next, &d);
                /* Settings that no longer matter are reset, so that no trial is repeated. */
                for (int k = 0; k < ROWS; k++) {
                        const struct candidate c = candidate(s, next);

                        if (!is_free(s, k, &c))
                                next->at[k] = s->start.at[k];
                }
                size_t tried = 0;
                while (tried < n && memcmp(trial[tried].at, next->at, sizeof next->at) != 0)
                        tried++;
                if (tried == n && is_affordable(s, next))
                        return true;
        }
        return false;
}

/* ---- what to end early ---------------------------------------------------------------------- */

bool ran_search_behind(const double *best, size_t n, size_t epoch, double metric)
{
        double then = -INFINITY;

        for (size_t e = 0; e < n && e < 2 * epoch / 3; e++)
                then = fmax(then, best[e]);
        return metric < then;
}
