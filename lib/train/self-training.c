/* self-training.c - what texts without labels bring: vectors of their tokens as features, and a
 * pupil that learns from them with the probabilities of a teacher.
 *
 *      teachers        learn from the documents of the other folds, and label the fold and the
 *                      texts: with the features of the job; with in-domain vectors, which are made
 *                      of documents and texts (part/vectors/token-vectors.h), in place of the job's
 *      pupils          learn from the other folds and the texts, with the probabilities of the best
 *                      teacher, and label the fold: from n-grams; with the teacher's vectors
 *      second round    the best pupil's pupil
 *      kept            one of them, by self-judge.h
 *
 * Balanced: the labels get as large a share of the texts as they have of the documents, unless the
 * teacher finds other shares by more than chance. Then the shift stays, and is reported.
 *
 * Documents that are held out for validation must not have taught the teacher. So there are two
 * teachers, one for the fit that they judge and one, of all documents, for the refit. */
#include "base/error.h"
#include "base/size.h"
#include "nn/encoder.h"
#include "part/linear/linear-model.h"
#include "part/vectors/document-vector.h"
#include "part/vectors/token-vectors.h"
#include "ran/math.h"
#include "train/folds.h"
#include "train/self-judge.h"
#include "train/trainer.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As many folds are judged as it takes for so many documents; with so many texts. */
enum { ENOUGH = 1000, SAMPLE = 2000 };
enum { LAST_ROUND = 2, TEACHERS = RAN_SELF_TRIALS - 1 }; /* all may teach but the last round's */

struct self {
        struct ran_self_training *x;
        const struct ran_train_job *job;
        const struct ran_dataset *texts;
        struct ran_dataset sample;   /* of the texts, for the folds */
        struct ran_spool spool;      /* the probabilities that teachers give it */
        struct ran_config in_domain; /* of a model with in-domain vectors */
        uint32_t *of;                /* (B) the fold of each document */
        size_t *document;            /* (n) of the fold at hand */
        size_t n;
        bool *left_out; /* (B) the same */
        struct ran_self_judge judge;
        float *q;      /* (texts, C) of the teacher at hand */
        double *share; /* (C) of the labels in the texts, by that teacher */
        /* Progress, in trainings. */
        double done, planned;
        struct ran_self_progress at;
        int (*progress)(void *arg, const struct ran_self_progress *p);
        void *arg;
};

/* ---- progress -------------------------------------------------------------------------------- */

static int tell(struct self *s, double share)
{
        /* A training has reports that say nothing of its share. */
        s->at.share = fmax(s->at.share, (s->done + share) / s->planned);
        return s->progress != NULL ? s->progress(s->arg, &s->at) : 0;
}

static int on_report(void *arg, const struct ran_train_report *r)
{
        return tell(arg, r->event == RAN_REPORT_LINEAR ? r->share : 0);
}

/* ---- models ---------------------------------------------------------------------------------- */

/* In-domain vectors in place of those of the job. */
static void give_vectors(const struct ran_self_training *x, const struct ran_config *c,
                         struct ran_train_job *job)
{
        job->config = c;
        job->init = NULL;
        job->vectors = &x->vectors;
}

/* A model of the set, as the trial says, scores the parts. */
static int learn(struct self *s, const struct ran_self_trial *trial, const struct ran_dataset *set,
                 const struct ran_fold_part *part, size_t parts, struct ran_error *err)
{
        struct ran_train_job job = *s->job;

        if (trial->in_domain)
                give_vectors(s->x, &s->in_domain, &job);
        job.without_vectors = !trial->vectors;
        job.report = on_report;
        job.arg = s;
        RAN_TRY(ran_fold_train(&job, set, part, parts, err));
        s->done++;
        return tell(s, 0) != 0 ? ran_fail(err, RAN_EINTR, "stopped while models of folds were made")
                               : RAN_OK;
}

/* The same, of documents and texts with the probabilities q. */
static int learn_soft(struct self *s, const struct ran_self_trial *trial, const bool *left_out,
                      const struct ran_dataset *texts, const float *q,
                      const struct ran_fold_part *part, size_t parts, struct ran_error *err)
{
        struct ran_dataset both = {0};
        int rc = ran_dataset_join(s->job->train, left_out, texts, q, &both, err);

        if (rc == RAN_OK)
                rc = learn(s, trial, &both, part, parts, err);
        ran_dataset_release(&both);
        return rc;
}

/* ---- probabilities of a teacher -------------------------------------------------------------- */

/* Every probability is above 0, so that two teachers give targets of the same shape. */
static void keep_positive(float *p, size_t n)
{
        for (size_t i = 0; i < n; i++)
                p[i] = fmaxf(p[i], FLT_MIN);
}

/* Whether labels have other shares in the texts than chance lets the documents have. */
static bool is_shifted(const struct self *s, const double *share)
{
        const double n = (double)s->job->train->B;
        bool shifted = false;

        for (size_t c = 0; c < s->job->train->C; c++) {
                const double own = s->x->labelled[c];

                shifted |= fabs(share[c] - own) > 3 * sqrt(own * (1 - own) / n);
        }
        return shifted;
}

static void weigh_labels(const struct self *s, float *p)
{
        const size_t C = s->job->train->C;
        double sum = 0;

        for (size_t c = 0; c < C; c++) {
                const double factor = s->share[c] > 0 ? s->x->labelled[c] / s->share[c] : 1;

                p[c] = (float)((double)p[c] * factor);
                sum += (double)p[c];
        }
        for (size_t c = 0; c < C; c++)
                p[c] = (float)((double)p[c] / sum);
}

/* p (n, C): s->share becomes the shares of the labels in the texts. A teacher of few documents
 * gives frequent labels too often, and its pupil would more so: the probabilities get the shares
 * that the documents have, unless those of the texts are others by more than chance. */
static void balance(struct self *s, float *p, size_t n)
{
        const size_t C = s->job->train->C;

        memset(s->share, 0, C * sizeof *s->share);
        for (size_t i = 0; i < n; i++)
                for (size_t c = 0; c < C; c++)
                        s->share[c] += (double)p[i * C + c] / (double)n;
        const bool shifted = is_shifted(s, s->share);
        for (size_t i = 0; i < n && !shifted; i++)
                weigh_labels(s, p + i * C);
        keep_positive(p, n * C);
}

/* ---- the folds ------------------------------------------------------------------------------- */

/* Texts at even distances. */
static int take_sample(struct self *s, struct ran_error *err)
{
        const size_t B = s->texts->B, n = ran_least(B, SAMPLE);
        bool *out = ran_alloc(B, sizeof *out, err);

        if (out == NULL)
                return RAN_ENOMEM;
        for (size_t b = 0; b < B; b++)
                out[b] = (size_t)((double)(b + 1) * (double)n / (double)B) ==
                         (size_t)((double)b * (double)n / (double)B);
        const int rc = ran_dataset_without(s->texts, out, &s->sample, err);
        free(out);
        s->x->sampled = s->sample.B;
        return rc;
}

static void begin_fold(struct self *s, size_t fold)
{
        s->n = 0;
        s->at.fold = fold + 1;
        for (size_t b = 0; b < s->job->train->B; b++) {
                s->left_out[b] = s->of[b] == fold;
                if (s->left_out[b])
                        s->document[s->n++] = b;
        }
}

/* Where the spool has what a trial says in a fold. */
static float *said(const struct self *s, size_t fold, size_t trial)
{
        const size_t one = s->sample.B * s->job->train->C;

        return (float *)s->spool.data + (fold * TEACHERS + trial) * one;
}

static int teach(struct self *s, size_t fold, size_t i, const struct ran_dataset *others,
                 struct ran_error *err)
{
        struct ran_self_training *x = s->x;
        const struct ran_dataset *d = s->job->train;
        float *q = said(s, fold, i);
        const struct ran_fold_part part[] = {{d, s->document, s->n, s->judge.p[i]},
                                             {&s->sample, NULL, s->sample.B, q}};

        RAN_TRY(learn(s, &x->trial[i], others, part, 2, err));
        balance(s, q, s->sample.B);
        for (size_t c = 0; c < d->C && i == 0; c++)
                x->text[c] += s->share[c] / (double)x->folds;
        return RAN_OK;
}

/* The teachers are the trials [0, n). */
static int run_teachers(struct self *s, size_t n, struct ran_error *err)
{
        for (size_t fold = 0; fold < s->x->folds; fold++) {
                struct ran_dataset others = {0};

                begin_fold(s, fold);
                int rc = ran_dataset_without(s->job->train, s->left_out, &others, err);
                for (size_t i = 0; i < n && rc == RAN_OK; i++)
                        rc = teach(s, fold, i, &others, err);
                ran_dataset_release(&others);
                RAN_TRY(rc);
        }
        s->x->shifted = is_shifted(s, s->x->text);
        return RAN_OK;
}

/* Trials from `from` on learn from what their teachers say; nobody learns from the last round. */
static int run_pupils(struct self *s, size_t from, struct ran_error *err)
{
        const struct ran_self_training *x = s->x;

        for (size_t fold = 0; fold < x->folds; fold++) {
                begin_fold(s, fold);
                for (size_t i = from; i < x->trials; i++) {
                        const struct ran_self_trial *trial = &x->trial[i];
                        const struct ran_fold_part part[] = {
                                {s->job->train, s->document, s->n, s->judge.p[i]},
                                {&s->sample, NULL, s->sample.B, said(s, fold, i)}};
                        const size_t parts = trial->rounds == LAST_ROUND ? 1 : 2;

                        RAN_TRY(learn_soft(s, trial, s->left_out, &s->sample,
                                           said(s, fold, trial->teacher), part, parts, err));
                }
        }
        return RAN_OK;
}

/* ---- the decision ---------------------------------------------------------------------------- */

static void add_trial(struct ran_self_training *x, const struct ran_self_trial *trial)
{
        x->trial[x->trials++] = *trial;
}

static int floats(float **p, size_t rows, size_t C, struct ran_error *err)
{
        size_t n;

        if (__builtin_mul_overflow(rows, C, &n))
                return ran_fail(err, RAN_ENOMEM, "%zu texts of %zu labels are too many", rows, C);
        *p = ran_alloc_floats(n, err);
        return *p != NULL ? RAN_OK : RAN_ENOMEM;
}

/* Room for what the trials of all folds say about the sample. */
static int make_room(struct self *s, struct ran_error *err)
{
        const struct ran_dataset *d = s->job->train;
        size_t n;

        s->spool.keep = d->keep;
        if (__builtin_mul_overflow(s->sample.B, d->C, &n) ||
            __builtin_mul_overflow(n, s->x->folds * TEACHERS, &n))
                return ran_fail(err, RAN_ENOMEM, "%zu texts of %zu labels are too many",
                                s->sample.B, d->C);
        return ran_spool_reserve(&s->spool, n, sizeof(float), err) != NULL ? RAN_OK
                                                                           : (int)err->code;
}

static int make_folds(struct self *s, struct ran_error *err)
{
        const struct ran_dataset *d = s->job->train;
        struct ran_self_training *x = s->x;
        const size_t folds = ran_least(RAN_SELF_FOLDS, d->B);

        s->of = ran_alloc(d->B, sizeof *s->of, err);
        s->document = ran_alloc(d->B, sizeof *s->document, err);
        s->left_out = ran_alloc(d->B, sizeof *s->left_out, err);
        if (s->of == NULL || s->document == NULL || s->left_out == NULL)
                return RAN_ENOMEM;
        RAN_TRY(ran_dataset_folds(d, folds, s->job->settings->seed, s->of, err));
        while (x->folds < folds && x->judged < ENOUGH) {
                for (size_t b = 0; b < d->B; b++)
                        x->judged += s->of[b] == x->folds;
                x->folds++;
        }
        s->at.folds = x->folds;
        return RAN_OK;
}

static int share_labels(struct self *s, struct ran_error *err)
{
        const struct ran_dataset *d = s->job->train;
        struct ran_self_training *x = s->x;

        x->labelled = ran_alloc(d->C, sizeof *x->labelled, err);
        x->text = ran_alloc(d->C, sizeof *x->text, err);
        s->share = ran_alloc(d->C, sizeof *s->share, err);
        if (x->labelled == NULL || x->text == NULL || s->share == NULL)
                return RAN_ENOMEM;
        for (size_t b = 0; b < d->B; b++)
                x->labelled[d->labels[b]]++;
        for (size_t c = 0; c < d->C; c++)
                x->labelled[c] /= (double)d->B;
        return RAN_OK;
}

static int begin(struct self *s, struct ran_error *err)
{
        RAN_TRY(share_labels(s, err));
        RAN_TRY(make_folds(s, err));
        RAN_TRY(take_sample(s, err));
        RAN_TRY(make_room(s, err));
        RAN_TRY(floats(&s->q, s->texts->B, s->job->train->C, err));
        s->planned = (double)(s->x->folds * RAN_SELF_TRIALS + 4);
        s->judge = (struct ran_self_judge){.d = s->job->train,
                                           .of = s->of,
                                           .folds = s->x->folds,
                                           .by_label =
                                                   s->job->settings->metric == RAN_METRIC_MACRO_F1};
        return ran_self_judge_init(&s->judge, err);
}

/* Judges the trials from `from` on. */
static int judge_all(struct self *s, size_t from, struct ran_error *err)
{
        for (size_t i = from; i < s->x->trials; i++)
                RAN_TRY(ran_self_judge_trial(&s->judge, s->x, i, err));
        return RAN_OK;
}

static int decide(struct self *s, struct ran_error *err)
{
        struct ran_self_training *x = s->x;
        const bool vectors = ran_config_has_features(s->job->config);

        add_trial(x, &(struct ran_self_trial){.vectors = vectors});
        if (x->vectors.V > 0)
                add_trial(x, &(struct ran_self_trial){.vectors = true, .in_domain = true});
        RAN_TRY(run_teachers(s, x->trials, err));
        RAN_TRY(judge_all(s, 0, err));

        const size_t teacher = x->kept, pupils = x->trials;
        struct ran_self_trial pupil = {.rounds = 1, .teacher = teacher};
        add_trial(x, &pupil);
        pupil.vectors = x->trial[teacher].vectors;
        pupil.in_domain = x->trial[teacher].in_domain;
        if (pupil.vectors)
                add_trial(x, &pupil);
        RAN_TRY(run_pupils(s, pupils, err));
        RAN_TRY(judge_all(s, pupils, err));

        const size_t best = x->kept, second = x->trials;
        if (x->trial[best].rounds == 0)
                return RAN_OK;
        pupil = (struct ran_self_trial){.rounds = LAST_ROUND,
                                        .teacher = best,
                                        .vectors = x->trial[best].vectors,
                                        .in_domain = x->trial[best].in_domain};
        add_trial(x, &pupil);
        RAN_TRY(run_pupils(s, second, err));
        return judge_all(s, second, err);
}

/* ---- in-domain vectors ----------------------------------------------------------------------- */

static int on_vectors(void *arg, double share)
{
        return tell(arg, share);
}

/* Frequent tokens count less. */
static void weigh_rows(struct ran_embedding *e, const struct ran_token_pairs *pairs)
{
        double all = 0;

        for (size_t id = 0; id < e->V; id++)
                all += (double)pairs->count[id];
        for (size_t id = 0; id < e->V; id++) {
                const double weight = ran_document_vector_smooth /
                                      (ran_document_vector_smooth + (double)pairs->count[id] / all);

                for (size_t d = 0; d < e->D; d++)
                        e->rows[id * e->D + d] = (float)(weight * (double)e->rows[id * e->D + d]);
                e->given[id] = true;
        }
}

static int make_vectors(struct self *s, struct ran_error *err)
{
        const struct ran_dataset *set[] = {s->job->train, s->texts};
        struct ran_embedding *e = &s->x->vectors;
        struct ran_token_pairs pairs = {0};

        s->x->tokens = set[0]->first[set[0]->B] + set[1]->first[set[1]->B];
        /* Vectors of tokens are the only ones that they can take the place of. */
        if (ran_config_has_layers(s->job->config) || s->x->tokens < RAN_SELF_TOKENS)
                return RAN_OK;
        s->in_domain = *s->job->config;
        ran_config_take_static(&s->in_domain, RAN_TOKEN_VECTOR);
        s->in_domain.frozen = true;
        RAN_TRY(ran_embedding_init(e, s->job->V, RAN_TOKEN_VECTOR, err));
        RAN_TRY(ran_token_pairs_count(&pairs, set, 2, e->V, RAN_TOKEN_PAIRS_MOST, s->job->pool,
                                      err));
        s->at.vectors = true;
        const int rc = ran_token_vectors(&pairs, e->rows, s->job->settings->seed, s->job->pool,
                                         on_vectors, s, err);
        if (rc == RAN_OK)
                weigh_rows(e, &pairs);
        ran_token_pairs_release(&pairs);
        s->at.vectors = false;
        s->done++;
        return rc;
}

/* ---- the probabilities to learn from --------------------------------------------------------- */

/* p (texts, C) by a model of the documents that are not left out, for the model that is kept. */
static int label_texts(struct self *s, const bool *left_out, float *p, struct ran_error *err)
{
        struct ran_self_training *x = s->x;
        const struct ran_self_trial *kept = &x->trial[x->kept], *teacher = &x->trial[kept->teacher];
        const struct ran_fold_part part = {s->texts, NULL, s->texts->B, p};
        const struct ran_self_trial *first =
                teacher->rounds == 0 ? teacher : &x->trial[teacher->teacher];
        struct ran_dataset some = {0};

        if (left_out != NULL)
                RAN_TRY(ran_dataset_without(s->job->train, left_out, &some, err));
        int rc = learn(s, first, left_out != NULL ? &some : s->job->train, &part, 1, err);
        ran_dataset_release(&some);
        RAN_TRY(rc);
        balance(s, p, s->texts->B);
        memcpy(x->text, s->share, s->job->train->C * sizeof *x->text);
        x->shifted = is_shifted(s, x->text);
        if (teacher->rounds > 0)
                RAN_TRY(learn_soft(s, teacher, left_out, s->texts, p, &part, 1, err));
        keep_positive(p, s->texts->B * s->job->train->C);
        return RAN_OK;
}

static int extend_held_out(struct self *s, struct ran_error *err)
{
        struct ran_self_training *x = s->x;

        x->held_out = ran_alloc(x->set.B, sizeof *x->held_out, err);
        if (x->held_out == NULL)
                return RAN_ENOMEM;
        memcpy(x->held_out, s->job->held_out, s->job->train->B * sizeof *x->held_out);
        return RAN_OK;
}

/* Labelled documents come first in the set, and have no soft targets: those of the refit are the
 * probabilities as they are. */
static int make_set(struct self *s, struct ran_error *err)
{
        struct ran_self_training *x = s->x;
        const bool *held_out = s->job->held_out;

        s->at.fold = 0;
        if (x->trial[x->kept].rounds == 0)
                return RAN_OK;
        RAN_TRY(label_texts(s, held_out, s->q, err));
        RAN_TRY(ran_dataset_join(s->job->train, NULL, s->texts, s->q, &x->set, err));
        if (held_out == NULL)
                return RAN_OK;
        RAN_TRY(extend_held_out(s, err));
        if (!ran_train_refits(s->job))
                return RAN_OK;
        RAN_TRY(floats(&x->refit_soft, s->texts->B, s->job->train->C, err));
        return label_texts(s, NULL, x->refit_soft, err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int check(const struct ran_train_job *job, const struct ran_dataset *texts,
                 struct ran_error *err)
{
        const struct ran_config *c = job->config;

        if (c->task != RAN_TASK_CLASSIFY || c->classify.multilabel ||
            ran_config_trains_encoder(c) || !ran_has_linear_model(c))
                return ran_fail(err, RAN_EINVAL,
                                "self-training is for linear models of documents "
                                "with one label each");
        if (job->train->soft_first != NULL)
                return ran_fail(err, RAN_EINVAL, "the documents have soft targets already");
        if (job->train->B < 2 || texts->B == 0 || texts->C != job->train->C)
                return ran_fail(err, RAN_EINVAL, "there is nothing to learn from");
        return RAN_OK;
}

static int train(struct self *s, struct ran_error *err)
{
        RAN_TRY(begin(s, err));
        RAN_TRY(make_vectors(s, err));
        RAN_TRY(decide(s, err));
        s->x->config = s->in_domain;
        return make_set(s, err);
}

int ran_self_train(struct ran_self_training *x, const struct ran_train_job *job,
                   const struct ran_dataset *texts,
                   int (*progress)(void *arg, const struct ran_self_progress *p), void *arg,
                   struct ran_error *err)
{
        struct self s = {.x = x, .job = job, .texts = texts, .progress = progress, .arg = arg};

        err = ran_error_or_spare(err);
        *x = (struct ran_self_training){0};
        RAN_TRY(check(job, texts, err));
        const int rc = train(&s, err);
        ran_dataset_release(&s.sample);
        ran_spool_release(&s.spool);
        free(s.of);
        free(s.document);
        free(s.left_out);
        ran_self_judge_release(&s.judge);
        free(s.share);
        free(s.q);
        return rc;
}

void ran_self_training_apply(const struct ran_self_training *x, struct ran_train_job *job)
{
        const struct ran_self_trial *kept = &x->trial[x->kept];

        if (x->kept == 0)
                return;
        if (kept->in_domain)
                give_vectors(x, &x->config, job);
        job->without_vectors = !kept->vectors;
        if (kept->rounds == 0)
                return;
        job->unlabelled = x->set.B - job->train->B;
        job->train = &x->set;
        if (x->held_out != NULL)
                job->held_out = x->held_out;
        job->refit_soft = x->refit_soft;
}

void ran_self_training_release(struct ran_self_training *x)
{
        for (size_t i = 0; i < RAN_SELF_TRIALS; i++)
                free(x->trial[i].recall);
        free(x->labelled);
        free(x->text);
        ran_dataset_release(&x->set);
        free(x->held_out);
        free(x->refit_soft);
        ran_embedding_release(&x->vectors);
        *x = (struct ran_self_training){0};
}
