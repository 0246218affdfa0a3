/* init.c - initial weights: random, from another model, or from word vectors. */
#include "infer/infer.h"
#include "math/elementary.h"
#include "nn/part.h"
#include "nn/vector-cache.h"
#include "part/linear/linear-rows.h"
#include "part/linear/linear-words.h"
#include "task/lm-output.h"
#include "task/train.h"
#include "train/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Half open, a gate halves what a cell holds with each window, and what it could hold is never
 * learned: after 16 windows hardly anything is left of a gradient. So the elements' time scales are
 * spread, each the same factor longer than the one before, from 1 to N windows. */
static void spread_gates(const struct ran_tensor_spec *spec, float *bias, size_t N)
{
        size_t n = strlen(spec->name);
        static const char of_gates[] = ".update_gate.bias";
        const size_t suffix = sizeof of_gates - 1;

        if (n < suffix || strcmp(spec->name + n - suffix, of_gates) != 0)
                return;
        for (size_t d = 0; d < spec->cols; d++)
                bias[d] = (float)(-ran_log((double)N) * (double)(d + 1) / (double)spec->cols);
}

/* ---- names of tensors ------------------------------------------------------------------------ */

static bool begins_with_one_of(const char *tensor, const char *const *prefix)
{
        while (*prefix != NULL && strncmp(tensor, *prefix, strlen(*prefix)) != 0)
                prefix++;
        return *prefix != NULL;
}

static const char *const heads[] = {"classify.", "wide.", "tag.", "crf.", "lm.", NULL};
/* Tensors outside the layers that are below all of them. */
static const char *const below_all[] = {
        "embed.",         "spelling.",      "bert.prefix.",     "bert.suffix.",
        "bert.position.", "bert.relative.", "bert.embed_norm.", NULL};

/* How many layers of the model are above the layer of a tensor `PREFIX.LAYER.NAME`; tensors outside
 * the layers are above all of them, but the embedding is below. */
static size_t layers_above(const struct ran_trainer *t, const char *tensor)
{
        const char *dot = strchr(tensor, '.');
        size_t layer = 0, digits = 0;

        if (strcmp(tensor, "embed.weight") == 0 || strcmp(tensor, "spelling.weight") == 0)
                return t->c->layers;
        for (; dot != NULL && dot[1 + digits] >= '0' && dot[1 + digits] <= '9'; digits++)
                layer = 10 * layer + (size_t)(dot[1 + digits] - '0');
        return digits > 0 && layer < t->c->layers ? t->c->layers - 1 - layer : 0;
}

bool ran_trainer_stays(const struct ran_trainer *t, const char *tensor)
{
        const size_t below = ran_train_below(t->s, t->c);

        if (below == 0 || begins_with_one_of(tensor, heads))
                return false;
        return below == t->c->layers || begins_with_one_of(tensor, below_all) ||
               layers_above(t, tensor) >= t->s->tune_layers;
}

/* The learning rate of a tensor of the encoder, or of the embedding, that was trained before. */
static double rate_of(const struct ran_trainer *t, const char *tensor)
{
        return ran_trainer_stays(t, tensor) ? 0 : t->s->init_rate;
}

/* ---- another model -------------------------------------------------------------------------- */

bool ran_train_keeps_head(const struct ran_train_job *job)
{
        const struct ran_config *c = job->config, *of = job->init != NULL ? &job->init->config : c;

        /* Without an encoder the head is the linear model, whichever encoder it was beside. */
        if (job->init == NULL || of->task != c->task ||
            (of->encoder != c->encoder && ran_config_has_encoder(c)) ||
            ran_config_has_features(of) != ran_config_has_features(c) || of->upper != c->upper)
                return false;
        if (ran_task_is_tied(c))
                return true; /* their classes are the vocabulary */
        if (of->classify.multilabel != c->classify.multilabel || job->init->C != job->train->C)
                return false;
        for (size_t i = 0; i < job->train->C; i++)
                if (strcmp(job->init->labels[i], job->train->names[i]) != 0)
                        return false;
        return true;
}

/* The initial model's tensor of the same name and shape; NULL: there is none. */
static const struct ran_tensor *given(const struct ran_trainer *t,
                                      const struct ran_tensor_spec *like)
{
        const struct ran_model *m = t->job->init;
        const size_t rank = like->rows > 0 ? 2 : 1;

        if (m == NULL || (begins_with_one_of(like->name, heads) && !ran_train_keeps_head(t->job)))
                return NULL;
        const struct ran_tensor *theirs = ran_tensors_find(&m->tensors, like->name);
        return theirs != NULL && theirs->rank == rank && theirs->shape[rank - 1] == like->cols &&
                               (rank == 1 || theirs->shape[0] == like->rows)
                       ? theirs
                       : NULL;
}

/* Further tokens of an extended vocabulary: words that the model reads as several tokens. A row is
 * their mean, in which frequent ones count less; it counts as much as they together. */
static int add_rows(struct ran_trainer *t, const float *weight, struct ran_error *err)
{
        const struct ran_model *m = t->job->init;
        struct ran_encoding pieces = {0};
        int rc = RAN_OK;

        for (size_t id = m->V; id < t->V && rc == RAN_OK; id++) {
                size_t n;
                const char *word = ran_tokenizer_token(t->job->tokenizer, (uint32_t)id, &n);
                float *row = t->weights.table.x + id * t->D;
                double sum = 0;

                rc = ran_tokenizer_encode(m->tokenizer, word, n, &pieces, err);
                memset(row, 0, t->D * sizeof *row);
                for (size_t i = 0; i < pieces.n && rc == RAN_OK; i++) {
                        const uint32_t of = pieces.ids[i];

                        for (size_t d = 0; d < t->D; d++)
                                row[d] += weight[of] * t->weights.table.x[of * t->D + d];
                        sum += (double)weight[of];
                }
                for (size_t d = 0; d < t->D && sum > 0; d++)
                        row[d] = (float)((double)row[d] / sum);
                if (t->linear.token_weight != NULL)
                        t->linear.token_weight[id] = (float)sum;
        }
        ran_encoding_release(&pieces);
        return rc;
}

static int copy_embedding(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_model *m = t->job->init;

        if (t->linear.token_weight != NULL)
                ran_model_token_weights(m, t->linear.token_weight);
        if (!ran_config_has_encoder(t->c))
                return RAN_OK;
        const size_t spelling = ran_encoder_spelling(t->c),
                     spelled = spelling == ran_encoder_spelling(&m->config) ? spelling : 0;
        ran_trainer_copy_tables(t, &m->params, ran_least(m->V, t->V), spelled);
        float *weight = ran_new_floats(m->V);
        ran_model_token_weights(m, weight);
        const int rc = add_rows(t, weight, err);
        free(weight);
        const float rate = (float)rate_of(t, "embed.weight");
        for (size_t r = 0; r < t->V + spelled; r++)
                t->loop.optimiser.table.rate_scale[r] *= rate;
        return rc;
}

/* Copies every tensor of the same name and shape, and sets its learning rate. */
static int copy_tensors(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_model *m = t->job->init;

        for (size_t i = 0; i < t->weights.layout.n; i++) {
                const struct ran_tensor_spec *spec = &t->weights.layout.spec[i];
                const struct ran_tensor *from = given(t, spec);

                if (from == NULL)
                        continue;
                RAN_TRY(ran_tensor_floats(&m->tensors, from, t->weights.p.block + spec->offset,
                                          err));
                t->loop.optimiser.rate_scale[i] = rate_of(t, spec->name);
        }
        RAN_TRY(copy_embedding(t, err));
        /* A classifier's weights need their idf. */
        if (ran_train_keeps_head(t->job) && t->linear.rows > 0 &&
            t->linear.rows == ran_parts_rows(&m->config) &&
            t->c->linear.ngrams == m->config.linear.ngrams &&
            t->c->linear.affixes == m->config.linear.affixes &&
            (!ran_has_linear_words(t->c) || t->c->spelling == m->config.spelling)) {
                ran_linear_rows_spread(ran_linear_of(&m->params), t->linear.rows, t->C,
                                       t->linear.weight, t->linear.idf);
                t->linear.rate = t->s->init_rate;
                /* The ensemble is in the weights already. */
                t->judge.prior = (struct ran_ensemble){ran_config_trains_encoder(t->c), 1, 0};
        }
        return RAN_OK;
}

static int init_from_model(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_model *m = t->job->init;
        const struct ran_tokenizer *ours = t->job->tokenizer;
        /* Ids mean the same: the vocabulary is that of the model, or begins with it. */
        const bool fits = t->V == m->V ||
                          (t->V > m->V && ran_task_has_labels(t->c->task) && ours != NULL &&
                           m->tokenizer != NULL && ran_tokenizer_begins_with(ours, m->tokenizer));

        if (ran_config_has_encoder(t->c) && !ran_config_has_encoder(&m->config))
                return ran_fail(err, RAN_EINVAL, "the initial model has no encoder");
        if (ran_config_has_encoder(t->c) && (!fits || m->config.dim != t->D))
                return ran_fail(err, RAN_EINVAL,
                                "the initial model has an embedding of %zu by %zu, not of "
                                "%zu by %zu",
                                m->V, m->config.dim, t->V, t->D);
        if (ran_model_metadata(m, "digest") == NULL)
                return ran_fail(err, RAN_EINVAL, "the initial model has no digest");
        return copy_tensors(t, err);
}

/* ---- word vectors --------------------------------------------------------------------------- */

/* Word vectors have entries around 0.5, ten times those of a random embedding, and the steps of
 * Adam do not scale with them: training would take longer. The layers normalise a row first, so its
 * length does not matter to them. */
static double scale_of(const struct ran_embedding *e, double rms)
{
        double squares = 0, n = 0;

        for (size_t id = 0; id < e->V && rms > 0; id++) {
                const float *row = e->rows + id * e->D;

                if (!e->given[id])
                        continue;
                for (size_t d = 0; d < e->D; d++)
                        squares += (double)row[d] * (double)row[d];
                n += (double)e->D;
        }
        return squares > 0 ? rms / sqrt(squares / n) : 1;
}

static int init_from_vectors(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_embedding *e = t->job->vectors;
        double scale = scale_of(e, t->s->vectors_rms);

        if (!ran_config_has_encoder(t->c))
                return ran_fail(err, RAN_EINVAL,
                                "word vectors initialise an encoder, and this model has none");
        if (e->V != t->V || e->D != t->D)
                return ran_fail(err, RAN_EINVAL,
                                "word vectors of %zu by %zu do not fit an embedding of %zu by %zu",
                                e->V, e->D, t->V, t->D);
        for (size_t id = 0; id < t->V; id++)
                for (size_t i = id * t->D; e->given[id] && i < (id + 1) * t->D; i++)
                        t->weights.table.x[i] = (float)(scale * (double)e->rows[i]);
        /* Rows of a folder have its weights already. A mean is of what is known, as in Model2Vec.
         */
        const uint32_t unknown =
                t->job->tokenizer != NULL ? ran_tokenizer_unknown(t->job->tokenizer) : RAN_NO_ID;
        for (size_t id = 0; id < t->V && t->linear.token_weight != NULL; id++)
                t->linear.token_weight[id] = id != unknown;
        return RAN_OK;
}

struct ran_linear_fit ran_trainer_linear_fit(struct ran_trainer *t)
{
        const bool refit = t->at.epochs.refit != 0;

        return (struct ran_linear_fit){.c = t->c,
                                       .p = &t->weights.p,
                                       .V = t->V,
                                       .C = t->C,
                                       .d = t->job->train,
                                       .document = t->loop.document,
                                       .documents = t->loop.documents,
                                       .class_weight = t->loop.batcher.of.class_weight,
                                       .seed = t->s->seed,
                                       .ratios = t->s->wide_ratios,
                                       .storage = t->job->storage,
                                       .read = ran_dense_read,
                                       .vector_cache = t->job->vector_cache,
                                       .pool = t->job->pool,
                                       .label_vectors = t->job->label_vectors,
                                       .label_names = t->job->label_names,
                                       .guessed_labels = t->job->guessed_labels,
                                       .refit = refit,
                                       .last = refit || !ran_train_refits(t->job),
                                       .pass = ran_trainer_on_pass,
                                       .arg = t};
}

/* All that is not given. */
static void init_random(struct ran_trainer *t)
{
        float *rows = t->weights.table.x;
        const struct ran_tensor_spec embed = {
                .name = "embed.weight", .rows = t->V, .cols = t->D, .init = RAN_INIT_UNIFORM};
        const struct ran_tensor_spec spelling = {.name = "spelling.weight",
                                                 .rows = ran_encoder_spelling(t->c),
                                                 .cols = t->D,
                                                 .init = RAN_INIT_UNIFORM};

        for (size_t i = 0; i < t->weights.layout.n; i++) {
                const struct ran_tensor_spec *spec = &t->weights.layout.spec[i];

                if (given(t, spec) != NULL)
                        continue;
                ran_tensor_init(t->weights.p.block + spec->offset, spec, t->s->seed);
                if (t->s->cell_memory > 1)
                        spread_gates(spec, t->weights.p.block + spec->offset, t->s->cell_memory);
        }
        const struct ran_model *m = t->job->init;
        if (m == NULL || !ran_config_has_encoder(t->c) || m->config.dim != t->D || m->V < t->V)
                ran_tensor_init(rows, &embed, t->s->seed);
        if (spelling.rows > 0)
                ran_tensor_init(rows + t->V * t->D, &spelling, t->s->seed);
        t->linear.rate = 1;
}

/* The biases of a language model's output: by the frequencies of the ids. */
static void init_output(const struct ran_trainer *t)
{
        const struct ran_dataset *d = t->job->train;
        double *count = ran_new(t->V, sizeof *count);

        for (size_t i = 0; i < d->first[d->B]; i++)
                count[d->ids[i]]++;
        ran_lm_init_bias(t->c, &t->weights.p, t->V, count);
        free(count);
}

int ran_trainer_init_weights(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_train_job *job = t->job;

        if (t->s->freeze && job->vectors == NULL && job->init == NULL)
                return ran_fail(
                        err, RAN_EINVAL,
                        "freeze keeps given embedding rows as they are, but none were given");
        init_random(t);
        const struct ran_linear_fit fit = ran_trainer_linear_fit(t);
        RAN_TRY(ran_linear_read(&t->linear, &fit, err));
        if (ran_task_is_tied(t->c))
                init_output(t);
        if (job->init != NULL)
                RAN_TRY(init_from_model(t, err));
        if (job->vectors != NULL)
                RAN_TRY(init_from_vectors(t, err));
        if (ran_config_has_features(t->c) || t->weights.below != NULL)
                ran_trainer_round_encoder(t); /* its vectors are those of the model to be */
        if (t->weights.below != NULL && job->below != NULL)
                RAN_TRY(ran_vector_cache_bind(job->below, t->c, &t->weights.p, t->V,
                                              ran_train_below(t->s, t->c), err));
        for (size_t id = 0; id < t->V && t->s->freeze && t->D > 0; id++)
                if (job->init != NULL || (job->vectors != NULL && job->vectors->given[id]))
                        t->loop.optimiser.table.rate_scale[id] = 0;
        for (size_t i = 0; i < t->weights.layout.n; i++)
                if (strcmp(t->weights.layout.spec[i].name, "wide.dense") == 0)
                        t->loop.optimiser.rate_scale[i] = 0; /* nor does it decay */
        return RAN_OK;
}
