/* self-training.c - a pupil learns from documents with labels, and from texts with the
 * probabilities of a teacher.
 *
 *      for each fold:  teacher   learns from the other folds, and labels the fold and the texts
 *                      pupils    learn from the other folds and those texts, and label the fold
 *      best pupil:     a second round, with the probabilities of the pupil, judged in the same way
 *      kept:           the pupil with the least loss out of fold, if it gains on the teacher in
 * loss or in errors, is not surely worse in the other, and finds each label
 *
 * Surely is by more than a standard error: a hundred documents cannot prove the gain of two points
 * that is usual (share/experiments). A second round has to have less loss.
 *
 * The probabilities of a pupil that imitates soft targets are softer than those of a teacher.
 * So each is judged at the temperature that suits it.
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
#include "ran/math.h"
#include "train/folds.h"
#include "train/trainer.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As many folds are judged as it takes for so many documents; with so many texts. */
enum { ENOUGH = 1000, SAMPLE = 2000 };

struct self {
        struct ran_self_training *x;
        const struct ran_train_job *job;
        const struct ran_dataset *texts;
        struct ran_dataset sample; /* of the texts, for the folds */
        struct ran_spool spool;    /* the probabilities that pupils of the first round give it */
        uint32_t *of;              /* (B) the fold of each document */
        size_t *document;          /* (n) of the fold at hand */
        size_t n;
        bool *left_out;                /* (B) the same */
        float *p[RAN_SELF_TRIALS];     /* (B, C) of each trial, out of fold */
        double power[RAN_SELF_TRIALS]; /* 1 / temperature that suits each of them */
        size_t pupils;                 /* trials of the first round, the teacher's apart */
        float *q;                      /* (texts, C) of the teacher at hand */
        double *weight;                /* (B) of a document in the loss */
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

/* A model of the set, as the trial says, scores the parts. */
static int learn(struct self *s, const struct ran_self_trial *trial, const struct ran_dataset *set,
                 const struct ran_fold_part *part, size_t parts, struct ran_error *err)
{
        struct ran_train_job job = *s->job;

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
static bool is_shifted(const struct self *s)
{
        const struct ran_self_training *x = s->x;
        const double n = (double)s->job->train->B;
        bool shifted = false;

        for (size_t c = 0; c < s->job->train->C; c++) {
                const double share = x->labelled[c];

                shifted |= fabs(x->text[c] - share) > 3 * sqrt(share * (1 - share) / n);
        }
        return shifted;
}

static void weigh_labels(const struct ran_self_training *x, float *p, size_t C)
{
        double sum = 0;

        for (size_t c = 0; c < C; c++) {
                const double factor = x->text[c] > 0 ? x->labelled[c] / x->text[c] : 1;

                p[c] = (float)((double)p[c] * factor);
                sum += (double)p[c];
        }
        for (size_t c = 0; c < C; c++)
                p[c] = (float)((double)p[c] / sum);
}

/* p (n, C): fills the shares of the labels in the texts. A teacher of few documents gives frequent
 * labels too often, and its pupil would more so: the probabilities get the shares that the
 * documents have, unless those of the texts are others by more than chance. */
static void balance(struct self *s, float *p, size_t n)
{
        struct ran_self_training *x = s->x;
        const size_t C = s->job->train->C;

        memset(x->text, 0, C * sizeof *x->text);
        for (size_t i = 0; i < n; i++)
                for (size_t c = 0; c < C; c++)
                        x->text[c] += (double)p[i * C + c] / (double)n;
        x->shifted = is_shifted(s);
        for (size_t i = 0; i < n && !x->shifted; i++)
                weigh_labels(x, p + i * C, C);
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

/* Where the spool has what a pupil of the first round says in a fold. */
static float *said(const struct self *s, size_t fold, size_t trial)
{
        const size_t one = s->sample.B * s->job->train->C;

        return (float *)s->spool.data + (fold * s->pupils + trial - 1) * one;
}

/* The teacher and its pupils. */
static int run_fold(struct self *s, size_t fold, struct ran_error *err)
{
        struct ran_self_training *x = s->x;
        const struct ran_dataset *d = s->job->train;
        struct ran_dataset others = {0};

        begin_fold(s, fold);
        const struct ran_fold_part teacher[] = {{d, s->document, s->n, s->p[0]},
                                                {&s->sample, NULL, s->sample.B, s->q}};
        int rc = ran_dataset_without(d, s->left_out, &others, err);
        if (rc == RAN_OK)
                rc = learn(s, &x->trial[0], &others, teacher, 2, err);
        ran_dataset_release(&others);
        if (rc == RAN_OK)
                balance(s, s->q, s->sample.B);
        for (size_t i = 1; i < x->trials && rc == RAN_OK; i++) {
                const struct ran_fold_part pupil[] = {
                        {d, s->document, s->n, s->p[i]},
                        {&s->sample, NULL, s->sample.B, said(s, fold, i)}};

                rc = learn_soft(s, &x->trial[i], s->left_out, &s->sample, s->q, pupil, 2, err);
        }
        return rc;
}

/* The second round of the best pupil. */
static int run_second(struct self *s, size_t best, struct ran_error *err)
{
        struct ran_self_training *x = s->x;

        for (size_t fold = 0; fold < x->folds; fold++) {
                const float *q = said(s, fold, best);

                begin_fold(s, fold);
                const struct ran_fold_part pupil = {s->job->train, s->document, s->n,
                                                    s->p[x->trials - 1]};
                RAN_TRY(learn_soft(s, &x->trial[x->trials - 1], s->left_out, &s->sample, q, &pupil,
                                   1, err));
        }
        return RAN_OK;
}

/* ---- the judgement --------------------------------------------------------------------------- */

static bool is_judged(const struct self *s, size_t b)
{
        return s->of[b] < s->x->folds;
}

/* All documents weigh the same, or all labels. */
static int weigh(struct self *s, struct ran_error *err)
{
        const struct ran_dataset *d = s->job->train;
        const bool by_label = s->job->settings->metric == RAN_METRIC_MACRO_F1;
        size_t *count = ran_alloc(d->C, sizeof *count, err);
        double sum = 0;

        if (count == NULL)
                return RAN_ENOMEM;
        for (size_t b = 0; b < d->B; b++)
                count[d->labels[b]] += is_judged(s, b);
        for (size_t b = 0; b < d->B; b++) {
                const double all = by_label ? (double)count[d->labels[b]] : 1;

                s->weight[b] = is_judged(s, b) ? 1 / all : 0;
                sum += s->weight[b];
        }
        for (size_t b = 0; b < d->B; b++)
                s->weight[b] /= sum;
        free(count);
        return RAN_OK;
}

/* The loss of a document under p^power, normalised. */
static double loss_of(const struct self *s, const float *p, double power, size_t b)
{
        const struct ran_dataset *d = s->job->train;
        double sum = 0, own = 0;

        for (size_t c = 0; c < d->C; c++) {
                const double logit = power * ran_log((double)fmaxf(p[b * d->C + c], 1e-9f));

                sum += ran_exp(logit);
                own = c == d->labels[b] ? logit : own;
        }
        return ran_log(sum) - own;
}

static double mean_loss(const struct self *s, const float *p, double power)
{
        double loss = 0;

        for (size_t b = 0; b < s->job->train->B; b++)
                if (is_judged(s, b))
                        loss += s->weight[b] * loss_of(s, p, power, b);
        return loss;
}

/* The power with the least loss, which is convex in it. */
static double best_power(const struct self *s, const float *p)
{
        const double golden = 0.6180339887498949;
        double from = 0, to = 8, a = to - golden * to, b = golden * to;
        double at_a = mean_loss(s, p, a), at_b = mean_loss(s, p, b);

        for (size_t i = 0; i < 30; i++)
                if (at_a <= at_b) {
                        to = b;
                        b = a;
                        at_b = at_a;
                        a = to - golden * (to - from);
                        at_a = mean_loss(s, p, a);
                } else {
                        from = a;
                        a = b;
                        at_a = at_b;
                        b = from + golden * (to - from);
                        at_b = mean_loss(s, p, b);
                }
        return at_a < at_b ? a : b;
}

static bool is_right(const struct self *s, size_t trial, size_t b)
{
        const size_t C = s->job->train->C;

        return ran_most_probable(s->p[trial] + b * C, C) == s->job->train->labels[b];
}

static int judge(struct self *s, size_t i, struct ran_error *err)
{
        const struct ran_dataset *d = s->job->train;
        struct ran_self_trial *trial = &s->x->trial[i];
        const double *teacher = s->x->trial[0].recall;
        size_t *count = ran_alloc(d->C, sizeof *count, err);

        trial->recall = ran_alloc(d->C, sizeof *trial->recall, err);
        if (count == NULL || trial->recall == NULL) {
                free(count);
                return RAN_ENOMEM;
        }
        for (size_t b = 0; b < d->B; b++)
                if (is_judged(s, b)) {
                        count[d->labels[b]]++;
                        trial->recall[d->labels[b]] += is_right(s, i, b);
                        trial->right += is_right(s, i, b);
                }
        for (size_t c = 0; c < d->C; c++) {
                trial->recall[c] = count[c] > 0 ? trial->recall[c] / (double)count[c] : NAN;
                trial->vanishes |= i > 0 && teacher[c] > 0 && !(trial->recall[c] > 0);
        }
        s->power[i] = best_power(s, s->p[i]);
        trial->loss = fmax(0, mean_loss(s, s->p[i], s->power[i]));
        free(count);
        return RAN_OK;
}

/* Whether it errs where the teacher does not, more often than the other way round, by more than
 * chance would. */
static bool errs_more(const struct self *s, size_t i)
{
        double worse = 0, better = 0;

        for (size_t b = 0; b < s->job->train->B; b++)
                if (is_judged(s, b)) {
                        worse += is_right(s, 0, b) && !is_right(s, i, b);
                        better += !is_right(s, 0, b) && is_right(s, i, b);
                }
        return worse - better > sqrt(worse + better);
}

/* Whether its loss is larger by more than the standard error of the difference. */
static bool loses_more(const struct self *s, size_t i)
{
        const struct ran_self_trial *trial = s->x->trial;
        const double mean = trial[i].loss - trial[0].loss;
        double variance = 0;

        for (size_t b = 0; b < s->job->train->B; b++)
                if (is_judged(s, b)) {
                        const double by = loss_of(s, s->p[i], s->power[i], b) -
                                          loss_of(s, s->p[0], s->power[0], b);

                        variance += s->weight[b] * s->weight[b] * (by - mean) * (by - mean);
                }
        return mean > sqrt(variance);
}

/* Losses that differ by less are the same. */
static const double rounding = 1e-6;

static void choose(struct self *s, size_t i)
{
        struct ran_self_training *x = s->x;
        const struct ran_self_trial *pupil = &x->trial[i], *teacher = &x->trial[0];
        const bool better = x->kept == 0 || pupil->loss < x->trial[x->kept].loss - rounding;
        const bool gains = pupil->loss < teacher->loss - rounding || pupil->right > teacher->right;

        if (better && gains && !pupil->vanishes && !errs_more(s, i) && !loses_more(s, i))
                x->kept = i;
}

/* ---- the decision ---------------------------------------------------------------------------- */

static void add_trial(struct ran_self_training *x, size_t rounds, bool vectors)
{
        x->trial[x->trials++] = (struct ran_self_trial){.rounds = rounds, .vectors = vectors};
}

static int floats(float **p, size_t rows, size_t C, struct ran_error *err)
{
        size_t n;

        if (__builtin_mul_overflow(rows, C, &n))
                return ran_fail(err, RAN_ENOMEM, "%zu texts of %zu labels are too many", rows, C);
        *p = ran_alloc_floats(n, err);
        return *p != NULL ? RAN_OK : RAN_ENOMEM;
}

/* Room for what the pupils of all folds say about the sample. */
static int make_room(struct self *s, struct ran_error *err)
{
        const struct ran_dataset *d = s->job->train;
        const size_t pupils = s->x->folds * s->pupils;
        size_t n;

        s->spool.keep = d->keep;
        if (__builtin_mul_overflow(s->sample.B, d->C, &n) || __builtin_mul_overflow(n, pupils, &n))
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
        s->weight = ran_alloc(d->B, sizeof *s->weight, err);
        if (s->of == NULL || s->document == NULL || s->left_out == NULL || s->weight == NULL)
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
        if (x->labelled == NULL || x->text == NULL)
                return RAN_ENOMEM;
        for (size_t b = 0; b < d->B; b++)
                x->labelled[d->labels[b]]++;
        for (size_t c = 0; c < d->C; c++)
                x->labelled[c] /= (double)d->B;
        return RAN_OK;
}

static int begin(struct self *s, struct ran_error *err)
{
        struct ran_self_training *x = s->x;
        const bool vectors = ran_config_has_features(s->job->config);

        add_trial(x, 0, vectors);
        add_trial(x, 1, false);
        if (vectors)
                add_trial(x, 1, true);
        s->pupils = x->trials - 1;
        RAN_TRY(share_labels(s, err));
        RAN_TRY(make_folds(s, err));
        RAN_TRY(take_sample(s, err));
        RAN_TRY(make_room(s, err));
        for (size_t i = 0; i < RAN_SELF_TRIALS; i++)
                RAN_TRY(floats(&s->p[i], s->job->train->B, s->job->train->C, err));
        RAN_TRY(floats(&s->q, s->texts->B, s->job->train->C, err));
        s->planned = (double)(x->folds * (x->trials + 1) + 4);
        return weigh(s, err);
}

static int decide(struct self *s, struct ran_error *err)
{
        struct ran_self_training *x = s->x;
        const size_t first = x->trials;

        for (size_t fold = 0; fold < x->folds; fold++)
                RAN_TRY(run_fold(s, fold, err));
        for (size_t i = 0; i < first; i++) {
                RAN_TRY(judge(s, i, err));
                if (i > 0)
                        choose(s, i);
        }
        if (x->kept == 0)
                return RAN_OK;
        const size_t best = x->kept;
        add_trial(x, 2, x->trial[best].vectors);
        RAN_TRY(run_second(s, best, err));
        RAN_TRY(judge(s, first, err));
        choose(s, first);
        return RAN_OK;
}

/* ---- the probabilities to learn from --------------------------------------------------------- */

/* p (texts, C) by a model of the documents that are not left out, for the model that is kept. */
static int label_texts(struct self *s, const bool *left_out, float *p, struct ran_error *err)
{
        const struct ran_self_training *x = s->x;
        const size_t n = s->texts->B * s->job->train->C;
        const struct ran_fold_part part = {s->texts, NULL, s->texts->B, p};
        const struct ran_self_trial pupil = {.rounds = 1, .vectors = x->trial[x->kept].vectors};
        struct ran_dataset some = {0};

        if (left_out != NULL)
                RAN_TRY(ran_dataset_without(s->job->train, left_out, &some, err));
        int rc = learn(s, &x->trial[0], left_out != NULL ? &some : s->job->train, &part, 1, err);
        ran_dataset_release(&some);
        if (rc == RAN_OK)
                balance(s, p, s->texts->B);
        if (rc == RAN_OK && x->trial[x->kept].rounds > 1)
                rc = learn_soft(s, &pupil, left_out, s->texts, p, &part, 1, err);
        keep_positive(p, n);
        return rc;
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
        if (x->kept == 0)
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

/* Without a pupil the teacher only says what the texts are. */
static int look_at_texts(struct self *s, struct ran_error *err)
{
        const struct ran_fold_part part = {s->texts, NULL, s->texts->B, s->q};

        if (s->x->kept > 0)
                return RAN_OK;
        RAN_TRY(learn(s, &s->x->trial[0], s->job->train, &part, 1, err));
        balance(s, s->q, s->texts->B);
        return RAN_OK;
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
        RAN_TRY(decide(s, err));
        RAN_TRY(make_set(s, err));
        return look_at_texts(s, err);
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
        free(s.weight);
        free(s.q);
        for (size_t i = 0; i < RAN_SELF_TRIALS; i++)
                free(s.p[i]);
        return rc;
}

void ran_self_training_apply(const struct ran_self_training *x, struct ran_train_job *job)
{
        if (x->kept == 0)
                return;
        job->train = &x->set;
        if (x->held_out != NULL)
                job->held_out = x->held_out;
        job->refit_soft = x->refit_soft;
        job->without_vectors = !x->trial[x->kept].vectors;
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
        *x = (struct ran_self_training){0};
}
