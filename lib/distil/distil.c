/* distil.c - see ran/distil.h.
 *
 *   1. The teacher reads each token of the student's vocabulary as a text: z_t; and each text: z_i.
 *   2. P: the D principal components of the z_i. Rows begin as
 *          x_t = w_t P (z_t - mean of z),   w_t = a / (a + p_t)        p_t: how often texts have t
 *      (smooth inverse frequency, Arora, Liang and Ma 2017; the recipe of Model2Vec).
 *   3. Rows are fitted, so that the mean of a text's rows has the direction of P z_i
 *      (static-fit.c; that of its successor, Tokenlearn).
 *   4. What was lost is measured on texts that were held out.
 */
#include "ran/distil.h"
#include "distil/parts.h"
#include "file/model.h"
#include "math/elementary.h"
#include "nn/params.h"
#include "tensors/compact.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const double smooth = 1e-3;    /* a */
static const double begin_rms = 0.1;  /* of the numbers of all rows at the beginning */
static const double save_every = 300; /* seconds: the cache is written as a whole */
enum { PROJECTED = 512 };
enum { READ = 64 }; /* texts of one block that one thread reads */

#define AT(member) offsetof(struct ran_distil_settings, member)
const struct ran_field ran_distil_fields[] = {
        {"dim", 0, RAN_FIELD_SIZE, AT(dim), 1, 4096, .value = "N", .initial = "256", .first = true,
         .help = "numbers of a vector: so many principal components of the teacher's vectors"},
        {"epochs", 0, RAN_FIELD_SIZE, AT(epochs), 0, 10000, .value = "N", .initial = "5",
         .first = true,
         .help = "passes over the texts that fit the static vectors; 0: the vectors of the tokens "
                 "as the teacher gives them"},
        {"batch", 0, RAN_FIELD_SIZE, AT(batch), 1, 1 << 20, .value = "N", .initial = "256",
         .help = "texts in a step"},
        {"learning_rate", 0, RAN_FIELD_REAL, AT(learning_rate), 1e-9, 10, .value = "X",
         .initial = "0.005", .help = "learning rate of the first step; it falls to 0"},
        {"seed", 0, RAN_FIELD_SIZE, AT(seed), 0, 9007199254740992.0, .value = "N", .initial = "1",
         .help = "seed of the order of the texts, and of which are held out"},
        {0},
};

/* What the teacher reads: the tokens of the student's vocabulary, or the texts. A vector is rounded
 * to 16 bits, so that it is the same whether it was kept so or computed now; that costs less than a
 * thousandth of its length. */
struct taught {
        enum ran_distil_stage at;
        size_t n;
        struct ran_spool half; /* (n, F) binary16 */
        bool *usable;          /* (n) it has a token for the teacher; a text, for both */
};

/* A thread that reads. */
struct worker {
        struct ran_state *state;
        struct ran_encoding encoding;
        struct ran_buf piece; /* the text of the token at hand */
        uint32_t *ids;        /* of all its texts */
        size_t ids_cap;
        float *v; /* (READ, F) */
        struct ran_error err;
};

struct distiller {
        const struct ran_distil_job *job;
        struct ran_distil_report *report;
        struct ran_embedder *teacher;
        struct worker *worker; /* (workers) */
        size_t workers;
        struct ran_vector_cache *cache; /* or NULL */
        double saved;                   /* when it was written */
        struct ran_components components;
        size_t F, D, V;
        struct taught tokens, texts, *reads;
        size_t from;             /* the first of `reads` in the block at hand */
        struct ran_spool target; /* (n, D) the texts in the principal components, float */
        struct ran_spool ids;    /* of the texts, for the student */
        size_t *first;           /* (n + 1) */
        size_t *order, used;     /* usable texts, shuffled: the first held_out are held out */
        float *rows;             /* (V, D) */
};

/* ---- the teacher ----------------------------------------------------------------------------- */

static int init_workers(struct distiller *d, struct ran_error *err)
{
        const struct ran_model *m = d->job->teacher;

        if (!ran_config_has_vector(ran_model_config(m)) || ran_model_tokenizer(m) == NULL)
                return ran_fail(err, RAN_EINVAL,
                                "the teacher must be a pretrained encoder of documents, with its "
                                "vocabulary");
        d->teacher = ran_embedder_new(m, err);
        if (d->teacher == NULL)
                return (int)err->code;
        d->F = ran_embedder_width(d->teacher);
        d->workers = d->job->pool != NULL ? ran_pool_threads(d->job->pool) : 1;
        d->worker = ran_new(d->workers, sizeof *d->worker);
        for (size_t i = 0; i < d->workers; i++) {
                d->worker[i].v = ran_new_floats(READ * d->F);
                d->worker[i].state = ran_state_new(m, NULL);
        }
        return RAN_OK;
}

static void release_workers(struct distiller *d)
{
        for (size_t i = 0; d->worker != NULL && i < d->workers; i++) {
                struct worker *w = &d->worker[i];

                ran_state_free(w->state);
                ran_encoding_release(&w->encoding);
                ran_buf_release(&w->piece);
                free(w->ids);
                free(w->v);
        }
        free(d->worker);
        ran_embedder_free(d->teacher);
}

static int pass(struct distiller *d, size_t done, struct ran_error *err)
{
        const struct ran_distil_progress p = {d->reads->at, done, d->reads->n, 0};

        if (d->cache != NULL && ran_clock() - d->saved > save_every) {
                RAN_TRY(ran_vector_cache_save(d->cache, err));
                d->saved = ran_clock();
        }
        if (d->job->progress != NULL && d->job->progress(d->job->arg, &p) != 0)
                return ran_fail(err, RAN_EINTR, "stopped while the teacher read the texts");
        return RAN_OK;
}

/* A token as the teacher reads it: "##ing" is "ing". */
static const char *token_text(const struct distiller *d, struct ran_buf *piece, size_t id,
                              size_t *length)
{
        const struct ran_tokenizer *t = d->job->tokenizer;
        const uint32_t one = (uint32_t)id;
        size_t n;

        *length = 0;
        piece->len = 0;
        if (one == ran_tokenizer_unknown(t) || ran_tokenizer_token(t, one, &n) == NULL ||
            ran_tokenizer_decode(t, &one, 1, piece, NULL) != RAN_OK || piece->len == 0)
                return "";
        const size_t skip = piece->len > 2 && memcmp(piece->data, "##", 2) == 0 ? 2 : 0;
        *length = ran_utf8_valid(piece->data + skip, piece->len - skip);
        return piece->data + skip;
}

static const char *text_of(const struct distiller *d, size_t i, size_t *length)
{
        const size_t begin = i > 0 ? d->job->end[i - 1] : 0;

        *length = d->job->end[i] - begin;
        return d->job->text + begin;
}

/* The vectors of n texts or tokens. */
static int read_some(struct distiller *d, struct worker *w, size_t first, size_t n,
                     struct ran_error *err)
{
        struct taught *to = d->reads;
        struct ran_document doc[READ] = {{0}};
        size_t all = 0, full = 0, length;

        for (size_t i = 0; i < n; i++) {
                const char *text = to == &d->tokens ? token_text(d, &w->piece, first + i, &length)
                                                    : text_of(d, first + i, &length);

                RAN_TRY(ran_tokenizer_encode(ran_model_tokenizer(d->job->teacher), text, length,
                                             &w->encoding, err));
                const size_t L = w->encoding.n;
                to->usable[first + i] = L > 0;
                RAN_ROOM(w->ids, w->ids_cap, all + L);
                for (size_t k = 0; k < L; k++)
                        w->ids[all + k] = w->encoding.ids[k];
                doc[full].L = L;
                full += L > 0;
                all += L;
        }
        for (size_t i = 0, begin = 0; i < full; begin += doc[i++].L)
                doc[i].ids = w->ids + begin; /* now that they stay where they are */
        RAN_TRY(ran_embed_each(d->teacher, w->state, doc, full, w->v, err));
        const float *v = w->v;
        for (size_t i = first; i < first + n; i++) {
                uint16_t *half = (uint16_t *)to->half.data + i * d->F;

                for (size_t f = 0; f < d->F && to->usable[i]; f++)
                        half[f] = ran_half_of_float(*v++);
        }
        return RAN_OK;
}

static void read_block(void *arg, size_t i)
{
        struct distiller *d = arg;
        const size_t first = d->from + i * READ;
        const size_t rest = first < d->reads->n ? d->reads->n - first : 0;

        if (rest > 0)
                read_some(d, &d->worker[i], first, rest < READ ? rest : READ, &d->worker[i].err);
}

static int teach(struct distiller *d, struct taught *to, enum ran_distil_stage at, size_t n,
                 struct ran_error *err)
{
        const size_t step = d->workers * READ;
        uint16_t *half;

        to->at = at;
        to->n = n;
        to->usable = ran_new(n, sizeof *to->usable);
        d->reads = to;
        RAN_TRY(RAN_SPOOL(to->half, half, n * d->F, err));
        for (d->from = 0; d->from < n; d->from += step) {
                ran_parallel(d->job->pool, d->workers, read_block, d);
                for (size_t i = 0; i < d->workers; i++)
                        if (d->worker[i].err.code != RAN_OK)
                                return ran_fail(err, d->worker[i].err.code, "%s",
                                                d->worker[i].err.text);
                RAN_TRY(pass(d, n - d->from < step ? n : d->from + step, err));
        }
        return RAN_OK;
}

/* ---- the student's texts --------------------------------------------------------------------- */

/* The student's tokens of all texts, one text behind another, and which texts serve for what. */
static int encode_texts(struct distiller *d, struct ran_error *err)
{
        struct ran_encoding e = {0};
        int rc = RAN_OK;

        for (size_t i = 0; i < d->job->n && rc == RAN_OK; i++) {
                const size_t n = d->first[i];
                size_t length;
                const char *text = text_of(d, i, &length);
                uint32_t *ids;

                rc = ran_tokenizer_encode(d->job->tokenizer, text, length, &e, err);
                if (rc == RAN_OK)
                        rc = RAN_SPOOL(d->ids, ids, n + e.n, err);
                for (size_t k = 0; rc == RAN_OK && k < e.n; k++)
                        ids[n + k] = e.ids[k];
                d->texts.usable[i] &= e.n > 0;
                d->first[i + 1] = n + e.n;
        }
        ran_encoding_release(&e);
        RAN_TRY(rc);
        size_t *usable = ran_new(d->job->n, sizeof *usable);
        for (size_t i = 0; i < d->job->n; i++)
                if (d->texts.usable[i])
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

static void read_half(const struct distiller *d, const struct taught *of, size_t i, float *v)
{
        const uint16_t *half = (const uint16_t *)of->half.data + i * d->F;

        for (size_t f = 0; f < d->F; f++)
                v[f] = ran_float_of_half(half[f]);
}

static void read_learned(const void *arg, size_t i, float *v)
{
        const struct distiller *d = arg;

        read_half(d, &d->texts, d->order[d->job->held_out + i], v);
}

/* y (n, D): vectors without their mean (F), in the principal components; those that nobody can use
 * are zeros. */
static void project(const struct distiller *d, const struct taught *of, const double *mean,
                    float *y)
{
        float *x = ran_new_floats(PROJECTED * d->F);

        for (size_t from = 0; from < of->n; from += PROJECTED) {
                const size_t n = of->n - from < PROJECTED ? of->n - from : PROJECTED;

                memset(x, 0, n * d->F * sizeof *x);
                for (size_t i = 0; i < n; i++) {
                        if (!of->usable[from + i])
                                continue;
                        read_half(d, of, from + i, x + i * d->F);
                        for (size_t f = 0; f < d->F; f++)
                                x[i * d->F + f] -= (float)mean[f];
                }
                ran_components_project(&d->components, x, n, y + from * d->D);
        }
        free(x);
}

/* The targets of the texts, and the rows of the tokens before the fit. */
static int begin(struct distiller *d, struct ran_error *err)
{
        const uint32_t *ids = d->ids.data;
        float *target;
        size_t known = 0;
        double squares = 0, all = 0;

        RAN_TRY(RAN_SPOOL(d->target, target, d->job->n * d->D, err));
        double *share = ran_new(d->V, sizeof *share), *mean = ran_new(d->F, sizeof *mean);
        float *v = ran_new_floats(d->F);
        project(d, &d->texts, mean, target); /* which is 0 */
        for (size_t id = 0; id < d->V; id++) {
                if (!d->tokens.usable[id])
                        continue;
                read_half(d, &d->tokens, id, v);
                for (size_t f = 0; f < d->F; f++)
                        mean[f] += (double)v[f];
                known++;
        }
        for (size_t f = 0; f < d->F; f++)
                mean[f] /= (double)known;
        project(d, &d->tokens, mean, d->rows);
        for (size_t i = d->job->held_out; i < d->used; i++)
                for (size_t k = d->first[d->order[i]]; k < d->first[d->order[i] + 1]; k++) {
                        share[ids[k]]++; /* how often the texts to learn from have it */
                        all++;
                }
        for (size_t i = 0; i < d->V * d->D; i++) {
                const double p = share[i / d->D] / (all > 0 ? all : 1);

                d->rows[i] *= (float)(smooth / (smooth + p));
                squares += (double)d->rows[i] * (double)d->rows[i];
        }
        const double rms = sqrt(squares / ((double)d->V * (double)d->D));
        for (size_t i = 0; i < d->V * d->D && rms > 0; i++)
                d->rows[i] *= (float)(begin_rms / rms);
        free(share);
        free(mean);
        free(v);
        return RAN_OK;
}

/* ---- the fit --------------------------------------------------------------------------------- */

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
                                         .ids = d->ids.data,
                                         .first = d->first,
                                         .target = d->target.data,
                                         .order = d->order + d->job->held_out,
                                         .n = d->used - d->job->held_out,
                                         .epochs = s->epochs,
                                         .batch = s->batch,
                                         .seed = s->seed,
                                         .learning_rate = s->learning_rate,
                                         .step = on_step,
                                         .step_arg = d};

        RAN_TRY(ran_static_fit(&f, err));
        const uint32_t unknown = ran_tokenizer_unknown(d->job->tokenizer);
        if (unknown < d->V)
                memset(d->rows + unknown * d->D, 0, d->D * sizeof *d->rows);
        return RAN_OK;
}

/* ---- what was lost --------------------------------------------------------------------------- */

/* The mean cosine of student and teacher on the texts that were held out, all F directions counted.
 */
static double mean_cosine(const struct distiller *d)
{
        float *student = ran_new_floats(d->D), *teacher = ran_new_floats(d->F);
        double sum = 0;

        for (size_t i = 0; i < d->job->held_out; i++) {
                const size_t text = d->order[i];
                const float *target = (const float *)d->target.data + text * d->D;

                ran_static_mean(d->rows, d->D, (const uint32_t *)d->ids.data + d->first[text],
                                d->first[text + 1] - d->first[text], student);
                read_half(d, &d->texts, text, teacher);
                const double in = ran_dot(target, target, d->D),
                             all = ran_dot(teacher, teacher, d->F),
                             own = ran_dot(student, student, d->D);
                if (all > 0 && in > 0 && own > 0)
                        sum += ran_dot(student, target, d->D) / sqrt(own * in) *
                               fmin(1, sqrt(in / all));
        }
        free(student);
        free(teacher);
        return d->job->held_out > 0 ? sum / (double)d->job->held_out : 0;
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
        ran_buf_char(out, '}');
        if (d->job->description != NULL) {
                ran_buf_char(out, ',');
                ran_buf_str(out, d->job->description);
        }
        ran_buf_add(out, "}", 2); /* with the NUL that ends it */
}

static int write_static(const struct distiller *d, const char *path, struct ran_error *err)
{
        struct ran_config c = {0};
        struct ran_layout layout = {0};
        struct ran_params p = {0};
        struct ran_buf description = {0};
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
                rc = ran_params_init(&p, &c, 0, err);
        if (rc == RAN_OK) {
                p.embed = d->rows;
                describe(d, &description);
                const struct ran_parts parts = {.config = &c,
                                                .layout = &layout,
                                                .params = &p,
                                                .V = d->V,
                                                .tokenizer = d->job->tokenizer,
                                                .training = description.data,
                                                .storage = d->job->storage};
                rc = ran_model_write(path, NULL, &parts, err);
        }
        ran_buf_release(&description);
        ran_params_release(&p);
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
        if (__builtin_mul_overflow(d->V, d->F, &all) ||
            __builtin_mul_overflow(job->n, d->F, &all) || __builtin_mul_overflow(d->F, d->F, &all))
                return ran_fail(err, RAN_ENOMEM, "no memory for vectors of %zu texts", job->n);
        return RAN_OK;
}

static int distil(struct distiller *d, const char *path, struct ran_error *err)
{
        const size_t n = d->job->n;

        if (d->job->cache != NULL) {
                d->cache = ran_vector_cache_open(d->job->cache, SIZE_MAX, SIZE_MAX, err);
                if (d->cache == NULL)
                        return (int)err->code;
                d->saved = ran_clock();
                RAN_TRY(ran_model_use_vectors(d->job->teacher, d->cache, err));
        }
        RAN_TRY(init_workers(d, err));
        RAN_TRY(check(d, err));
        d->rows = ran_new_floats(d->V * d->D);
        d->first = ran_new(n + 1, sizeof *d->first);
        d->order = ran_new(n, sizeof *d->order);
        RAN_TRY(teach(d, &d->tokens, RAN_DISTIL_TOKENS, d->V, err));
        RAN_TRY(teach(d, &d->texts, RAN_DISTIL_TEXTS, n, err));
        if (d->cache != NULL) {
                ran_vector_cache_counts(d->cache, &d->report->found, &d->report->computed);
                RAN_TRY(ran_vector_cache_save(d->cache, err));
        }
        RAN_TRY(encode_texts(d, err));
        RAN_TRY(ran_components_init(&d->components, d->F, d->D, d->used - d->job->held_out,
                                    read_learned, d, err));
        d->report->explained = d->components.explained;
        RAN_TRY(begin(d, err));
        d->report->before = mean_cosine(d);
        RAN_TRY(fit(d, err));
        d->report->cosine = mean_cosine(d);
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
        release_workers(&d);
        ran_model_use_vectors(job->teacher, NULL, NULL);
        const int closed = ran_vector_cache_close(d.cache, &lost);
        if (rc == RAN_OK && closed != RAN_OK)
                rc = ran_fail(err, lost.code, "%s", lost.text);
        ran_components_release(&d.components);
        ran_spool_release(&d.tokens.half);
        ran_spool_release(&d.texts.half);
        ran_spool_release(&d.target);
        ran_spool_release(&d.ids);
        free(d.tokens.usable);
        free(d.texts.usable);
        free(d.rows);
        free(d.first);
        free(d.order);
        return rc;
}
