/* ran-classify.c - labels and their probabilities for documents of any length. */
#include "cmd/classify/classify.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/outputs.h"

/* ---- evaluation ----------------------------------------------------------------------------- */

struct evaluation {
        struct classifier classifier;
        struct classify_eval eval;
        struct cmd_known known;
        struct classify_eval_page page;  /* with --eval-format html */
        struct classify_against against; /* with --against */
        bool told;                       /* that a label has no description */
};

static bool compares(const struct evaluation *e)
{
        return e->classifier.options->against != NULL;
}

static bool makes_page(const struct evaluation *e)
{
        return e->classifier.options->eval_format == CLASSIFY_EVAL_HTML;
}

static int answer(void *arg, void *scratch, const struct cmd_line *line, struct cmd_result *result,
                  struct ran_error *err)
{
        struct evaluation *e = arg;
        struct classify_scratch *s = scratch;
        struct classify_answer *a = result->found;

        RAN_TRY(classify_probabilities(&e->classifier, s, line, &a->p,
                                       makes_page(e) ? &a->text : NULL, err));
        return compares(e) ? classify_probabilities(&e->against.other, s->against, line, &a->other,
                                                    NULL, err)
                           : RAN_OK;
}

static int compare_labels(void *arg, const struct cmd_line *line, struct cmd_result *result,
                          struct ran_error *err)
{
        struct evaluation *e = arg;
        const struct classify_options *o = e->classifier.options;
        const struct classify_answer *a = result->found;
        const size_t skipped = e->eval.skipped;

        RAN_TRY(classify_eval_add(&e->eval, &line->record, a->p, err));
        /* Whoever describes labels may have forgotten one, or have called it something else. */
        if (e->eval.skipped == skipped && !e->told && e->eval.n_unknown > 0 && described(o)) {
                const struct classify_eval_name *name = &e->eval.unknown_label[0];

                e->told = true;
                cmd_caution("%s:%zu: the label \"%.*s\" is not in %s, and is never found",
                            line->file, line->number, (int)name->n, name->text,
                            o->labels != NULL ? "--labels" : o->label_texts);
        }
        if (compares(e))
                return classify_against_add(&e->against, &e->eval, &line->record, a->p, a->other,
                                            err);
        if (makes_page(e) && e->eval.skipped == skipped)
                classify_eval_page_add(&e->page, &e->eval, line, a);
        return RAN_OK;
}

static void write_report(const struct evaluation *e)
{
        static const char *const columns[] = {"label", "precision", "recall",
                                              "f1",    "support",   NULL};
        const struct classify_options *o = e->classifier.options;
        const bool csv = o->eval_format == CLASSIFY_EVAL_CSV;
        struct report report = {0};
        struct ran_buf out = {0};

        classify_eval_tree(&e->eval, &report);
        if (compares(e))
                classify_against_tree(&e->against, &report);
        if (csv || o->eval_format == CLASSIFY_EVAL_TSV)
                report_rows(&report, "per_class", columns, csv ? &output_csv : &output_tsv, &out);
        else
                report_finish(&report, o->eval_format == CLASSIFY_EVAL_TEXT, &out);
        cmd_write_file(o->output.output, &out);
        ran_buf_release(&out);
        report_release(&report);
}

static int evaluate(const struct classifier *c, struct cmd_loop loop, char **files)
{
        const struct classify_options *o = c->options;
        struct evaluation e = {.classifier = *c};
        struct cmd_names names;
        struct cmd_counts counts;

        cmd_check_output(o->output.output, files);
        e.classifier.known = &e.known;
        classify_eval_init(&e.eval, c->thresholds, &c->decision);
        if (o->coverage > 0)
                ran_eval_sets(e.eval.eval, c->cut);
        cmd_names_open(&names, o->label_names, false);
        e.eval.labels.called = &names;
        e.eval.labels.separator = cmd_input_separator(&o->input);
        if (compares(&e))
                classify_against_open(&e.against, c, &names);
        e.classifier.other = compares(&e) ? &e.against.other : NULL;
        if (compares(&e)) /* two models have no documents together */
                loop.work_all = NULL;
        loop.output = NULL;
        loop.work = e.classifier.work = answer;
        loop.take = compare_labels;
        loop.result_size = sizeof(struct classify_answer);
        loop.release = classify_answer_release;
        loop.accepted = true;
        loop.arg = &e;
        int status = cmd_records(&loop, files, &counts);
        if (e.eval.compared == 0)
                cmd_die(CMD_FAILED, "no record has a label: there is nothing to compare with%s",
                        cmd_label_advice(&counts));
        if (e.eval.skipped > 0)
                cmd_note("%zu records have no label and are left out", e.eval.skipped);
        cmd_known_warn(&e.known, e.eval.compared, o->model);
        if (makes_page(&e))
                classify_eval_page_write(&e.page, &e.eval, o->model, o->output.output);
        else
                write_report(&e);
        if (compares(&e))
                classify_against_close(&e.against);
        classify_eval_release(&e.eval);
        cmd_names_release(&names);
        return status;
}

/* ---- the program ---------------------------------------------------------------------------- */

static int run(struct classifier *c, char **files)
{
        struct cmd_loop loop = {
                .input = &c->options->input,
                .output = &c->options->output,
                .into = "prediction",
                .reads = FIELD(ID) | FIELD(ERROR) | FIELDS_OF_DOCUMENT | FIELDS_OF_LABELS,
                .pool = c->pool,
                .make_scratch = classify_scratch_new,
                .free_scratch = classify_scratch_free,
                .work = c->work = classify_predict,
                .columns = classify_columns,
                .continues = true,
                .arg = c,
        };

        if (ran_model_scores_abreast(c->model) || (c->nearest != NULL && c->C == 0)) {
                loop.work_all = classify_work_all;
                loop.abreast = CLASSIFY_TOGETHER;
        }
        if (c->options->select > 0)
                return classify_select(c, loop, files);
        if (c->options->eval)
                return evaluate(c, loop, files);
        if (c->options->output.format->kind == OUTPUT_PAGE)
                return classify_page(c, loop, files);
        return cmd_records(&loop, files, NULL);
}

/* Makes vectors for models whose output layer does not take the vector of a document. */
static struct ran_embedder *embedder_of(const struct ran_model *m, const struct classify_options *o)
{
        const struct ran_config *c = ran_model_config(m);
        struct ran_error err;

        if (!classify_options_embed(o) ||
            (c->task == RAN_TASK_CLASSIFY &&
             (!ran_config_has_features(c) || ran_config_trains_encoder(c))))
                return NULL;
        struct ran_embedder *e = ran_embedder_new(m, &err);
        if (e == NULL)
                cmd_die(cmd_status_of(&err), "%s: %s", o->model, err.text);
        return e;
}

static struct ran_vector_cache *open_vectors(struct ran_model *m, const struct classify_options *o)
{
        struct ran_vector_cache *k;
        struct ran_error err;

        if (o->vector_cache == NULL)
                return NULL;
        if (!classify_options_embed(o) && (!ran_config_has_features(ran_model_config(m)) ||
                                           ran_config_trains_encoder(ran_model_config(m))))
                cmd_usage("--vector-cache is for --embed, and for classifiers with a frozen "
                          "pretrained encoder or distilled RAN");
        if (!ran_config_has_vector(ran_model_config(m))) {
                cmd_note("%s is not used: %s has no pretrained encoder, and no distilled RAN",
                         o->vector_cache, o->model);
                return NULL;
        }
        k = ran_vector_cache_open(o->vector_cache, SIZE_MAX, SIZE_MAX, &err);
        if (k == NULL || ran_model_use_vectors(m, k, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        cmd_check_writable(o->vector_cache);
        return k;
}

static float cut_of(const struct ran_model *m, const struct classify_options *o)
{
        const double exact = 0.02;
        struct ran_error err;
        size_t documents;
        float cut = 0;

        if (!(o->coverage > 0))
                return cut;
        if (ran_model_cut(m, o->coverage, &cut, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s: %s", o->model, err.text);
        /* Few calibration documents promise little. */
        double floor = ran_model_cut_floor(m, o->coverage, &documents);
        if (floor < o->coverage - exact)
                cmd_note("--coverage %g: with %zu calibration documents, it may turn out to be "
                         "%.1f %% (95 %% confidence); train with more of them, --dev-share or "
                         "--dev, for a more exact one",
                         o->coverage, documents, 100 * floor);
        return cut;
}

int main(int argc, char **argv)
{
        struct classify_options *o = &classify_options;
        char **files = cmd_files(&o->input, argv + cmd_parse(&classify_program, argc, argv)),
             hex[65];
        struct ran_error err;

        classify_options_check(o);
        struct ran_model *model = described(o) ? described_open(o)
                                  : classify_options_embed(o)
                                          ? cmd_model_open_any(o->model, o->verify)
                                          : cmd_model_open(o->model, o->verify, RAN_TASK_CLASSIFY);
        classify_options_check_model(o, model);
        cmd_input_remember(&o->input, model);
        /* The names of the option stand in the order of RAN_UPPER_MEAN and so on, after the
         * model's.
         */
        if (o->join_windows != 0 && ran_model_join_windows(model, o->join_windows, &err) != RAN_OK)
                cmd_usage("--join-windows: %s: %s", o->model, err.text);
        struct ran_vector_cache *vectors = open_vectors(model, o);
        struct ran_embedder *embedder = embedder_of(model, o);
        float *thresholds = classify_thresholds(model, o);
        struct classifier c = {
                .options = o,
                .model = model,
                .embedder = embedder,
                .pool = cmd_pool(),
                .C = ran_model_config(model)->task == RAN_TASK_CLASSIFY ? ran_model_classes(model)
                                                                        : 0,
                .D = embedder != NULL ? ran_embedder_width(embedder) : ran_model_config(model)->dim,
                .thresholds = thresholds,
                .cut = cut_of(model, o),
        };
        if (classify_options_embed(o)) {
                ran_embedding_digest(model, hex);
                memcpy(c.vectors, hex, sizeof c.vectors - 1); /* 16 digits tell models apart */
        }
        o->output.width = c.D;
        o->output.vectors = c.vectors;
        decision_open(&c.decision, model, &o->threshold_for, !o->abstain && !(o->threshold > 0));
        /* With several labels, each has a threshold already. */
        for (size_t i = 0; thresholds != NULL && c.decision.limit != NULL && i < c.C; i++)
                if (c.decision.limit[i] >= 0)
                        thresholds[i] = c.decision.limit[i];
        struct classify_nearest nearest = {0};
        if (o->nearest > 0)
                classify_nearest_read(&nearest, &c);
        c.nearest = o->nearest > 0 ? &nearest : NULL;
        int status = run(&c, files);

        classify_nearest_release(&nearest);
        decision_release(&c.decision);
        if (vectors != NULL) {
                size_t found, computed;

                ran_vector_cache_counts(vectors, &found, &computed);
                if (ran_vector_cache_close(vectors, &err) != RAN_OK)
                        cmd_warn("the vectors of %zu documents were not saved: %s", computed,
                                 err.text);
                else
                        cmd_note("%s: %zu vectors were in it, %zu added", o->vector_cache, found,
                                 computed);
        }
        ran_pool_free(c.pool);
        free(thresholds);
        ran_embedder_free(embedder);
        ran_model_free(model);
        return cmd_finish(status);
}
