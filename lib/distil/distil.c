/* distil.c - see ran/distil.h.
 *
 *   1. The teacher reads each token of the student's vocabulary as a text: z_t; and each text: z_i.
 *   2. P: the D principal components of the z_i. Rows begin as
 *          x_t = w_t P (z_t - mean of z),   w_t = a / (a + p_t)        p_t: how often texts have t
 *      (smooth inverse frequency, Arora, Liang and Ma 2017; the recipe of Model2Vec).
 *   3. Rows are fitted, so that the mean of a text's rows has the direction of P z_i
 *      (static-fit.c; that of its successor, Tokenlearn).
 *   4. What was lost is measured on texts that were held out (lost.c).
 */
#include "ran/distil.h"
#include "base/error.h"
#include "base/field.h"
#include "distil/components.h"
#include "distil/lost.h"
#include "distil/static-fit.h"
#include "distil/teacher.h"
#include "file/model.h"
#include "nn/params.h"
#include "tensors/compact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double smooth = 1e-3;    /* a */
static const double begin_rms = 0.1;  /* of the numbers of all rows at the beginning */
static const double save_every = 300; /* seconds: the cache is written as a whole */
enum { PROJECTED = 512 };

struct distiller {
        const struct ran_distil_job *job;
        struct ran_distil_report *report;
        struct ran_teacher teacher;
        struct ran_vector_cache *cache; /* or NULL */
        struct ran_components components;
        size_t F, D, V;
        float *token;             /* (V, F) the teacher's vectors of tokens */
        struct ran_buf piece;     /* the text of the token at hand */
        struct ran_spool half;    /* (n, F) its vectors of texts, binary16 */
        struct ran_spool target;  /* (n, D) in the principal components, float */
        struct ran_spool ids;     /* of the texts, for the student */
        size_t *first;            /* (n + 1) */
        bool *usable;             /* (n) texts with a token for both */
        size_t *order, used;      /* those, shuffled: the first held_out are held out */
        float *rows;              /* (V, D) */
        struct ran_lost lost;     /* of the texts that are held out */
        double saved;             /* when the cache was written */
        enum ran_distil_stage at; /* of what the teacher reads */
};

/* ---- the teacher ----------------------------------------------------------------------------- */

static int pass(void *arg, size_t done, struct ran_error *err)
{
        struct distiller *d = arg;
        const struct ran_distil_progress p = {d->at, done,
                                              d->at == RAN_DISTIL_TOKENS ? d->V : d->job->n, 0};

        if (d->cache != NULL && ran_clock() - d->saved > save_every) {
                RAN_TRY(ran_vector_cache_save(d->cache, err));
                d->saved = ran_clock();
        }
        if (d->job->progress != NULL && d->job->progress(d->job->arg, &p) != 0)
                return ran_fail(err, RAN_EINTR, "stopped while the teacher read the texts");
        return RAN_OK;
}

/* A token as the teacher reads it: "##ing" is "ing". */
static const char *token_text(void *arg, size_t id, size_t *length)
{
        struct distiller *d = arg;
        const struct ran_tokenizer *t = d->job->tokenizer;
        const uint32_t one = (uint32_t)id;
        size_t n;

        *length = 0;
        d->piece.len = 0;
        if (one == ran_tokenizer_unknown(t) || ran_tokenizer_token(t, one, &n) == NULL ||
            ran_tokenizer_decode(t, &one, 1, &d->piece, NULL) != RAN_OK || d->piece.len == 0)
                return "";
        const size_t skip = d->piece.len > 2 && memcmp(d->piece.data, "##", 2) == 0 ? 2 : 0;
        *length = ran_utf8_valid(d->piece.data + skip, d->piece.len - skip);
        return d->piece.data + skip;
}

static int take_token(void *arg, size_t id, const uint16_t *half, struct ran_error *err)
{
        struct distiller *d = arg;

        (void)err;
        for (size_t f = 0; f < d->F && half != NULL; f++)
                d->token[id * d->F + f] = ran_float_of_half(half[f]);
        return RAN_OK;
}

static const char *text_of(void *arg, size_t i, size_t *length)
{
        const struct ran_distil_job *job = ((struct distiller *)arg)->job;
        const size_t begin = i > 0 ? job->end[i - 1] : 0;

        *length = job->end[i] - begin;
        return job->text + begin;
}

static int take_text(void *arg, size_t i, const uint16_t *half, struct ran_error *err)
{
        struct distiller *d = arg;

        (void)err;
        d->usable[i] = half != NULL;
        if (half != NULL)
                memcpy((uint16_t *)d->half.data + i * d->F, half, d->F * sizeof *half);
        return RAN_OK;
}

static int read_teacher(struct distiller *d, struct ran_error *err)
{
        const struct ran_teacher_job tokens = {d->V, token_text, take_token, pass, d};
        const struct ran_teacher_job texts = {d->job->n, text_of, take_text, pass, d};
        struct ran_teacher alone;

        /* The decoded token is scratch of one thread: tokens are read in one. */
        d->at = RAN_DISTIL_TOKENS;
        RAN_TRY(ran_teacher_init(&alone, d->job->teacher, NULL, err));
        const int rc = ran_teacher_read(&alone, &tokens, err);
        ran_teacher_release(&alone);
        RAN_TRY(rc);
        d->at = RAN_DISTIL_TEXTS;
        RAN_TRY(ran_teacher_read(&d->teacher, &texts, err));
        if (d->cache != NULL)
                ran_vector_cache_counts(d->cache, &d->report->found, &d->report->computed);
        return d->cache != NULL ? ran_vector_cache_save(d->cache, err) : RAN_OK;
}

/* ---- the student's texts --------------------------------------------------------------------- */

/* Text i behind those before it. */
static int encode_text(struct distiller *d, size_t i, struct ran_encoding *e, struct ran_error *err)
{
        const size_t n = d->first[i];
        size_t length;
        const char *text = text_of(d, i, &length);

        RAN_TRY(ran_tokenizer_encode(d->job->tokenizer, text, length, e, err));
        uint32_t *ids = ran_spool_reserve(&d->ids, n + e->n, sizeof *ids, err);
        if (ids == NULL)
                return (int)err->code;
        for (size_t k = 0; k < e->n; k++)
                ids[n + k] = e->ids[k];
        d->usable[i] = d->usable[i] && e->n > 0;
        d->first[i + 1] = n + e->n;
        return RAN_OK;
}

static int encode_texts(struct distiller *d, struct ran_error *err)
{
        struct ran_encoding e = {0};
        int rc = RAN_OK;

        for (size_t i = 0; i < d->job->n && rc == RAN_OK; i++)
                rc = encode_text(d, i, &e, err);
        ran_encoding_release(&e);
        return rc;
}

/* Which texts serve for what. */
static int choose_texts(struct distiller *d, struct ran_error *err)
{
        size_t *usable = ran_new(d->job->n, sizeof *usable);

        for (size_t i = 0; i < d->job->n; i++)
                if (d->usable[i])
                        usable[d->used++] = i;
        ran_random_shuffle(d->order, usable, d->used, d->job->settings->seed, RAN_SHUFFLE_FOLDS);
        free(usable);
        d->report->texts = d->used;
        d->report->held_out = d->job->held_out;
        if (d->used <= d->job->held_out)
                return ran_fail(err, RAN_EINVAL,
                                "%zu texts have a token, and %zu are held out: more are needed",
                                d->used, d->job->held_out);
        return RAN_OK;
}

/* ---- principal components -------------------------------------------------------------------- */

static void read_half(const void *arg, size_t i, float *v)
{
        const struct distiller *d = arg;
        const uint16_t *half = (const uint16_t *)d->half.data + i * d->F;

        for (size_t f = 0; f < d->F; f++)
                v[f] = ran_float_of_half(half[f]);
}

static void read_learned(const void *arg, size_t i, float *v)
{
        const struct distiller *d = arg;

        read_half(d, d->order[d->job->held_out + i], v);
}

static int project_texts(struct distiller *d, struct ran_error *err)
{
        size_t all;

        if (__builtin_mul_overflow(d->job->n, d->D, &all))
                return ran_fail(err, RAN_ENOMEM, "no memory for vectors of %zu texts", d->job->n);
        float *target = ran_spool_reserve(&d->target, all, sizeof *target, err);
        if (target == NULL)
                return (int)err->code;
        float *x = ran_new_floats(PROJECTED * d->F);
        for (size_t from = 0; from < d->job->n; from += PROJECTED) {
                const size_t n = d->job->n - from < PROJECTED ? d->job->n - from : PROJECTED;

                memset(x, 0, n * d->F * sizeof *x);
                for (size_t i = 0; i < n; i++)
                        if (d->usable[from + i])
                                read_half(d, from + i, x + i * d->F);
                ran_components_project(&d->components, x, n, target + from * d->D);
        }
        free(x);
        return RAN_OK;
}

/* How often the texts to learn from have each token, as shares (V). */
static void count_tokens(const struct distiller *d, double *share)
{
        const uint32_t *ids = d->ids.data;
        double all = 0;

        for (size_t i = d->job->held_out; i < d->used; i++)
                for (size_t k = d->first[d->order[i]]; k < d->first[d->order[i] + 1]; k++) {
                        share[ids[k]]++;
                        all++;
                }
        for (size_t id = 0; id < d->V; id++)
                share[id] /= all > 0 ? all : 1;
}

static bool is_known(const struct distiller *d, size_t id)
{
        for (size_t f = 0; f < d->F; f++)
                if (d->token[id * d->F + f] != 0)
                        return true;
        return false;
}

/* The vectors of tokens, without their mean, in the principal components. */
static void project_tokens(struct distiller *d, double *mean)
{
        size_t known = 0;

        for (size_t id = 0; id < d->V; id++) {
                known += is_known(d, id);
                for (size_t f = 0; f < d->F; f++)
                        mean[f] += (double)d->token[id * d->F + f];
        }
        for (size_t id = 0; id < d->V; id++)
                for (size_t f = 0; f < d->F && is_known(d, id); f++)
                        d->token[id * d->F + f] -= (float)(mean[f] / (double)known);
        for (size_t id = 0; id < d->V; id += PROJECTED) {
                const size_t n = d->V - id < PROJECTED ? d->V - id : PROJECTED;

                ran_components_project(&d->components, d->token + id * d->F, n,
                                       d->rows + id * d->D);
        }
}

static void begin_rows(struct distiller *d)
{
        double *share = ran_new(d->V, sizeof *share);
        double *mean = ran_new(d->F, sizeof *mean), squares = 0;

        count_tokens(d, share);
        project_tokens(d, mean);
        for (size_t i = 0; i < d->V * d->D; i++) {
                d->rows[i] *= (float)(smooth / (smooth + share[i / d->D]));
                squares += (double)d->rows[i] * (double)d->rows[i];
        }
        const double rms = sqrt(squares / ((double)d->V * (double)d->D));
        for (size_t i = 0; i < d->V * d->D && rms > 0; i++)
                d->rows[i] *= (float)(begin_rms / rms);
        free(share);
        free(mean);
}

static struct ran_text_ids ids_of(const struct distiller *d)
{
        return (struct ran_text_ids){d->ids.data, d->first};
}

/* ---- the fit --------------------------------------------------------------------------------- */

static void target_of(const void *arg, size_t text, float *t)
{
        const struct distiller *d = arg;

        memcpy(t, (const float *)d->target.data + text * d->D, d->D * sizeof *t);
}

static int on_step(void *arg, size_t done, double loss)
{
        const struct distiller *d = arg;
        const struct ran_distil_progress p = {
                RAN_DISTIL_FIT, done, (d->used - d->job->held_out) * d->job->settings->epochs,
                loss};

        return d->job->progress != NULL ? d->job->progress(d->job->arg, &p) : 0;
}

static int fit(struct distiller *d, struct ran_error *err)
{
        const struct ran_distil_settings *s = d->job->settings;
        const struct ran_static_fit f = {.rows = d->rows,
                                         .V = d->V,
                                         .D = d->D,
                                         .texts = ids_of(d),
                                         .order = d->order + d->job->held_out,
                                         .n = d->used - d->job->held_out,
                                         .epochs = s->epochs,
                                         .batch = s->batch,
                                         .seed = s->seed,
                                         .learning_rate = s->learning_rate,
                                         .target = target_of,
                                         .target_arg = d,
                                         .step = on_step,
                                         .step_arg = d};

        RAN_TRY(ran_static_fit(&f, err));
        const uint32_t unknown = ran_tokenizer_unknown(d->job->tokenizer);
        if (unknown < d->V)
                memset(d->rows + unknown * d->D, 0, d->D * sizeof *d->rows);
        return RAN_OK;
}

/* ---- what was lost --------------------------------------------------------------------------- */

static int hold_out(struct distiller *d, struct ran_error *err)
{
        const float *target = d->target.data;

        RAN_TRY(ran_lost_init(&d->lost, d->job->held_out, d->F, d->D, err));
        for (size_t i = 0; i < d->lost.n; i++) {
                const size_t text = d->order[i];

                read_half(d, text, d->lost.teacher + i * d->F);
                memcpy(d->lost.target + i * d->D, target + text * d->D, d->D * sizeof *target);
        }
        return RAN_OK;
}

static double static_cosine(struct distiller *d)
{
        const struct ran_text_ids texts = ids_of(d);

        for (size_t i = 0; i < d->lost.n; i++)
                ran_static_mean(d->rows, d->D, &texts, d->order[i], d->lost.student + i * d->D);
        return ran_lost_cosine(&d->lost);
}

/* ---- the model ------------------------------------------------------------------------------- */

static void describe(const struct distiller *d, struct ran_buf *out)
{
        const struct ran_distil_report *r = d->report;

        ran_buf_str(out, "{\"version\":\"" RAN_VERSION "\",");
        ran_fields_json(ran_distil_fields, d->job->settings, out);
        ran_buf_printf(out,
                       ",\"distilled\":{\"texts\":%zu,\"held_out\":%zu,\"explained\":", r->texts,
                       r->held_out);
        ran_buf_float(out, (float)r->explained);
        ran_buf_str(out, ",\"cosine_before\":");
        ran_buf_float(out, (float)r->before);
        ran_buf_str(out, ",\"cosine\":");
        ran_buf_float(out, (float)r->cosine);
        ran_buf_printf(out, ",\"pairs\":%zu,\"rank_correlation\":", r->pairs);
        ran_buf_float(out, (float)r->rank);
        ran_buf_char(out, '}');
        if (d->job->description != NULL) {
                ran_buf_char(out, ',');
                ran_buf_str(out, d->job->description);
        }
        ran_buf_add(out, "}", 2); /* with the NUL that ends it */
}

/* layout: of c, which is checked. */
static int write_rows(const struct distiller *d, const struct ran_config *c,
                      const struct ran_layout *layout, const char *path, struct ran_error *err)
{
        struct ran_params p;
        struct ran_buf description = {0};

        RAN_TRY(ran_params_init(&p, c, 0, err));
        p.embed = d->rows;
        describe(d, &description);
        const struct ran_parts parts = {.config = c,
                                        .layout = layout,
                                        .params = &p,
                                        .V = d->V,
                                        .tokenizer = d->job->tokenizer,
                                        .training = description.data,
                                        .storage = d->job->storage};
        const int rc = ran_model_write(path, &parts, err);
        ran_buf_release(&description);
        ran_params_release(&p);
        return rc;
}

static int write_static(const struct distiller *d, const char *path, struct ran_error *err)
{
        struct ran_config c = {0};
        struct ran_layout layout = {0};
        int rc = ran_fields_init(ran_config_fields, &c, err);

        if (rc == RAN_OK) {
                c.task = RAN_TASK_EMBED;
                ran_config_take_static(&c, d->D);
                c.linear.wide = 0;
                c.layers = 1;
                rc = ran_config_check(&c, err);
        }
        if (rc == RAN_OK)
                rc = ran_layout_init(&layout, &c, 0, err);
        if (rc == RAN_OK)
                rc = write_rows(d, &c, &layout, path, err);
        ran_layout_release(&layout);
        ran_fields_release(ran_config_fields, &c);
        return rc;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int check(const struct distiller *d, struct ran_error *err)
{
        const struct ran_distil_job *job = d->job;
        size_t all;

        if (ran_fields_check(ran_distil_fields, job->settings, err) != RAN_OK)
                return RAN_EINVAL;
        if (d->D > d->F)
                return ran_fail(err, RAN_EINVAL,
                                "the teacher's vectors have %zu numbers: dim may not be %zu", d->F,
                                d->D);
        if (job->held_out >= job->n)
                return ran_fail(err, RAN_EINVAL, "%zu texts, and %zu are held out: more are needed",
                                job->n, job->held_out);
        if (__builtin_mul_overflow(d->V, d->F, &all) || __builtin_mul_overflow(job->n, d->F, &all))
                return ran_fail(err, RAN_ENOMEM, "no memory for vectors of %zu texts", job->n);
        return RAN_OK;
}

/* What the student's rows, its targets and the texts held out were made from. */
static void release_teaching(struct distiller *d)
{
        ran_components_release(&d->components);
        ran_spool_release(&d->half);
        free(d->token);
        d->token = NULL;
}

static int distil(struct distiller *d, const char *path, struct ran_error *err)
{
        const size_t n = d->job->n;

        if (d->job->cache != NULL) {
                d->cache = ran_vector_cache_open(RAN_VECTORS_OF_DOCUMENTS, d->job->cache, SIZE_MAX,
                                                 err);
                if (d->cache == NULL)
                        return (int)err->code;
                d->saved = ran_clock();
                RAN_TRY(ran_model_use_vectors(d->job->teacher, d->cache, err));
        }
        RAN_TRY(ran_teacher_init(&d->teacher, d->job->teacher, d->job->pool, err));
        d->F = d->teacher.F;
        RAN_TRY(check(d, err));
        d->token = ran_new_floats(d->V * d->F);
        d->rows = ran_new_floats(d->V * d->D);
        d->first = ran_new(n + 1, sizeof *d->first);
        d->usable = ran_new(n, sizeof *d->usable);
        d->order = ran_new(n, sizeof *d->order);
        if (ran_spool_reserve(&d->half, n * d->F, sizeof(uint16_t), err) == NULL)
                return (int)err->code;
        RAN_TRY(read_teacher(d, err));
        RAN_TRY(encode_texts(d, err));
        RAN_TRY(choose_texts(d, err));
        RAN_TRY(ran_components_init(&d->components, d->F, d->D, d->used - d->job->held_out,
                                    read_learned, d, err));
        d->report->explained = d->components.explained;
        RAN_TRY(project_texts(d, err));
        begin_rows(d);
        RAN_TRY(hold_out(d, err));
        d->report->before = static_cosine(d);
        RAN_TRY(fit(d, err));
        d->report->cosine = static_cosine(d);
        release_teaching(d);
        d->report->rank = ran_lost_rank(&d->lost, d->job->settings->seed, &d->report->pairs);
        return write_static(d, path, err);
}

int ran_distil(const struct ran_distil_job *job, const char *path, struct ran_distil_report *report,
               struct ran_error *err)
{
        struct distiller d = {.job = job,
                              .report = report,
                              .D = job->settings->dim,
                              .V = ran_tokenizer_size(job->tokenizer)};
        struct ran_error lost;

        err = ran_error_or_spare(err);
        *report = (struct ran_distil_report){0};
        int rc = distil(&d, path, err);
        ran_teacher_release(&d.teacher);
        ran_model_forget_vectors(job->teacher);
        const int closed = ran_vector_cache_close(d.cache, &lost);
        if (rc == RAN_OK && closed != RAN_OK)
                rc = ran_fail(err, lost.code, "%s", lost.text);
        release_teaching(&d);
        ran_lost_release(&d.lost);
        ran_buf_release(&d.piece);
        ran_spool_release(&d.target);
        ran_spool_release(&d.ids);
        free(d.rows);
        free(d.first);
        free(d.usable);
        free(d.order);
        return rc;
}
