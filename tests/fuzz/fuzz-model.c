/* Model files, edited: refused with a sentence, or used; what they say is numbers then. The first
 * byte says which one, whether its digest is asked for, and what it is used for besides: what it
 * attended to, what bears on what it says, gradients, or to begin another training with. */
#include <math.h>
#include <stdlib.h>

#include "tiny.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
        struct tiny run;
        struct ran_bytes model;
} subject[TINY_KINDS];

static void prepare(void)
{
        for (int kind = 0; kind < TINY_KINDS; kind++) {
                struct tiny *t = &subject[kind].run;

                tiny_init(t, kind);
                t->job.held_out = NULL;
                subject[kind].model = tiny_model(t);
        }
}

/* ---- what it says --------------------------------------------------------------------------- */

enum { L = 6 };

/* A document that every model can read. */
static const uint32_t ids[L] = {0}, places[L] = {0, 1, 2, 3, 4, 5}, spelling[L * RAN_SPELLING];
static const struct ran_document document = {
        .ids = ids, .L = L, .spelling = spelling, .positions = places, .words = L};

static int take(void *arg, size_t i, const float *logits, struct ran_error *err)
{
        (void)err;
        ((float *)arg)[i] = logits[i];
        return RAN_OK;
}

static int use_tasks(const struct ran_model *m, struct ran_state *s, float *x,
                     struct ran_error *err)
{
        const struct ran_config *c = ran_model_config(m);
        uint32_t tags[L];
        float nll[L];
        struct ran_lm_out out = {.gold = ids, .nll = nll, .logits = x};
        int rc;

        switch (c->task) {
        case RAN_TASK_TAG:
                return ran_tag(m, s, &document, tags, NULL, x, err);
        case RAN_TASK_CLASSIFY:
                return ran_classify(m, s, &document, x, NULL, err);
        case RAN_TASK_MLM:
                rc = ran_lm_fill(m, s, ids, L, places, L, ids, nll, take, x, err);
                break;
        default:
                rc = ran_lm_read(m, s, NULL, ids, L, c->mask == RAN_MASK_PREFIX ? 2 : 0, &out, err);
        }
        for (size_t i = 0; rc == RAN_OK && i < L; i++)
                if (!isfinite(nll[i]))
                        abort();
        return rc;
}

/* Refused with a sentence, if at all. */
static bool done(int rc, const struct ran_error *err)
{
        if (rc != RAN_OK && err->text[0] == '\0')
                abort();
        return rc == RAN_OK;
}

static void score(const struct ran_model *m, struct ran_state *s)
{
        struct ran_error err = {0};
        size_t C = ran_model_classes(m),
               n = ran_model_config(m)->task == RAN_TASK_CLASSIFY ? C : L * C;
        float *x = ran_alloc_floats(n, &err), cut;
        int rc = RAN_ENOMEM;

        if (x != NULL)
                rc = use_tasks(m, s, x, &err);
        for (size_t i = 0; done(rc, &err) && i < n; i++)
                if (isnan(x[i]))
                        abort();
        ran_model_cut(m, 0.9, &cut, &err);
        free(x);
}

/* ---- what it does besides ------------------------------------------------------------------- */

/* Every table that it has, whole: by one number each, and by all weights of the first head. */
static void look(const struct ran_model *m, struct ran_state *s)
{
        struct ran_error err = {0};
        struct ran_probe_shape shape;

        ran_probe_shape(&shape, ran_model_config(m), L);
        for (int table = 0; table < RAN_PROBE_TABLES; table++) {
                size_t queries = shape.table[table].n_queries, keys = shape.table[table].n_keys;
                double all, *each = ran_alloc(queries * keys + 1, sizeof *each, &err);
                struct ran_probe k[2] = {
                        {table, .head = RAN_PROBE_MEAN, .down = L, .across = L, .sum = &all},
                        {table, .down = 1, .across = 1, .sum = each}};

                k[0].query_to = k[1].query_to = k[0].down = queries;
                k[0].key_to = k[1].key_to = k[0].across = keys;
                if (each != NULL && ran_probe_check(&shape, &k[0], &err) == RAN_OK &&
                    ran_probe_check(&shape, &k[1], &err) == RAN_OK)
                        done(ran_probe(m, s, &document, 0, k, 2, &err), &err);
                free(each);
        }
}

static void explain(const struct ran_model *m)
{
        struct ran_error err = {0};
        struct ran_explainer *e = ran_explainer_new(m, NULL);
        double value[L];

        if (done(ran_explain_read(e, &document, 0, &err), &err)) {
                done(ran_explain_label(e, 0, ran_model_classes(m) - 1, 0, value, &err), &err);
                done(ran_explain_label(e, 0, 0, 2, value, &err), &err);
                done(ran_explain_tokens(e, 1, L, 1, value, &err), &err);
        }
        ran_explainer_free(e);
}

static void learn(struct tiny *t, const struct ran_model *m)
{
        struct ran_train_job job = t->job;
        struct ran_error err = {0};
        struct tiny_file output;

        tiny_open(&output, "", 0);
        job.output = output.path;
        job.init = m;
        t->reports = 0;
        t->stop_at = 2;
        int rc = ran_train(&job, &err);
        done(rc == RAN_EINTR ? RAN_OK : rc, &err);
        tiny_close(&output);
}

static void use(struct tiny *t, const struct ran_model *m, unsigned how)
{
        struct ran_state *s = ran_state_new(m, NULL);

        score(m, s);
        if (how == 1)
                look(m, s);
        if (how == 2)
                explain(m);
        if (how == 3)
                learn(t, m);
        ran_state_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct ran_error err = {0};
        struct ran_bytes edited;
        struct tiny_file f;

        if (subject[0].model.data == NULL)
                prepare();
        if (size < 1)
                return 0;
        int kind = data[0] % TINY_KINDS;
        edited = tiny_edit(&subject[kind].model, data + 1, size - 1);
        tiny_open(&f, edited.data, edited.size);
        ran_bytes_release(&edited);
        struct ran_model *m = ran_model_open(f.path, data[0] & 0x80, &err);
        if (m == NULL && (err.code == RAN_OK || err.text[0] == '\0'))
                abort();
        /* What nobody can wait for is no defect. */
        if (m != NULL && ran_model_config(m)->dim <= 64 && ran_model_config(m)->layers <= 8)
                use(&subject[kind].run, m, data[0] >> 5 & 3);
        ran_model_free(m);
        tiny_close(&f);
        return 0;
}
