/* info.c - what a model, a checkpoint or a vocabulary is, what it was trained on, how well it did:
 * the verb info. */
#include "cmd/train/about/about.h"

#include <math.h>
#include <string.h>

#include "cmd/content/model.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"

/* ---- the report ------------------------------------------------------------------------------ */

/* People see the first labels only. */
enum { LABELS_SHOWN = 24 };

/* "linear model only", "encoder only" or "encoder and linear model"; "" for a language model. */
static const char *parts_of(const struct about *a)
{
        const struct ran_config *c = ran_model_config(a->model);

        if (!ran_task_has_labels(c->task))
                return "";
        if (ran_config_has_features(c) && ran_config_trains_encoder(c))
                return "encoder, and linear model over n-grams and document vectors of its layers "
                       "below the tuned ones";
        if (ran_config_has_features(c))
                return ran_config_has_layers(c) ? "linear model over n-grams and document vectors "
                                                  "of a frozen encoder"
                                                : "linear model over n-grams and means of vectors";
        if (!ran_config_has_encoder(c))
                return "linear model only";
        return ran_config_has_predictor(c) ? "encoder and linear model" : "encoder only";
}

/* The name of the encoder, of one that was tried and dropped, too: "ran". */
static const char *encoder_of(const struct about *a)
{
        const bool dropped = !ran_config_has_encoder(ran_model_config(a->model));
        const char *name = train_about_string(a->said, "tried.encoder");
        const struct ran_field *f = ran_config_fields;

        while (strcmp(f->name, "encoder") != 0)
                f++;
        if (!dropped || !a->tried)
                name = f->choices[ran_model_config(a->model)->encoder];
        return name != NULL ? name : "";
}

/* The kind of the vocabulary, as in its file: "WordPiece". */
static void add_kind(const struct about *a, struct ran_buf *out)
{
        struct ran_span v = {0};
        struct ran_error err;
        const char *json = ran_tokenizer_json(a->tokenizer, &v.end);

        if (ran_json_find(json, v, "model", 'o', &v, NULL) &&
            ran_json_find(json, v, "type", 's', &v, NULL))
                ran_json_decode(json, v, out, &err);
}

static void add_encoder(const struct about *a, struct report *r)
{
        static const char *const above[] = {[RAN_UPPER_MEAN] = "mean",
                                            [RAN_UPPER_MAX] = "maximum",
                                            [RAN_UPPER_CERTAIN] = "the most certain"};
        const struct ran_config *c = ran_model_config(a->model);
        const bool left_out = !ran_config_has_encoder(c);
        const char *why = train_about_string(a->said, "validation.decision");
        struct ran_buf v = {0};

        report_string(r, a->tried ? "encoder_tried" : "encoder",
                      left_out && a->tried ? "encoder left out" : "encoder", encoder_of(a));
        if (left_out) {
                ran_buf_str(&v, a->tried && why != NULL ? why : "");
        } else {
                if (ran_config_has_layers(c))
                        ran_buf_printf(&v, "%zu layer%s, ", c->layers, c->layers == 1 ? "" : "s");
                ran_buf_printf(&v, "width %zu", c->dim);
                if (ran_config_uses(c, "min_window"))
                        ran_buf_printf(&v, ", window %zu", c->window);
                if (c->upper != RAN_UPPER_POOLING)
                        ran_buf_printf(&v, "; above its windows: %s", above[c->upper]);
        }
        report_note(r, "%.*s", (int)v.len, v.data);
        ran_buf_release(&v);
}

static void add_labels(const struct about *a, struct report *r)
{
        const struct ran_config *c = ran_model_config(a->model);
        const size_t C = ran_model_classes(a->model);

        report_bool(r, "multilabel", c->task == RAN_TASK_CLASSIFY ? "several labels each" : NULL,
                    c->classify.multilabel);
        report_begin(r, REPORT_LIST, "labels", c->task == RAN_TASK_TAG ? "tags" : "labels");
        report_note(r, C > LABELS_SHOWN ? "%zu; --format json has all" : "%zu", C);
        for (size_t i = 0; i < C; i++) {
                const char *label = ran_model_label(a->model, i);

                report_bytes(r, REPORT_AMOUNT, "", i < LABELS_SHOWN ? "" : NULL, label,
                             strlen(label));
        }
        report_end(r);
        if (!c->classify.multilabel)
                return;
        report_begin(r, REPORT_LINE, "thresholds", "thresholds");
        for (size_t i = 0; i < C; i++) {
                const char *label = ran_model_label(a->model, i);

                report_number(r, label, i < LABELS_SHOWN ? label : NULL,
                              (double)ran_model_thresholds(a->model)[i], 3);
        }
        report_end(r);
}

void train_info_figure(const struct about_figure *f, struct report *r)
{
        report_count(r, "documents", "documents", f->n);
        report_string(r, f->metric != NULL ? "metric" : NULL, "metric",
                      f->metric != NULL ? f->metric : "not measured");
        report_number(r, f->metric != NULL ? "value" : NULL, "result",
                      f->metric != NULL ? f->value : NAN, 4);
        if (!f->has_interval)
                return;
        report_begin(r, REPORT_LIST, "interval", NULL);
        report_number(r, "", NULL, f->interval.low, 0);
        report_number(r, "", NULL, f->interval.high, 0);
        report_end(r);
        report_put(r, NULL, "95 % interval", "%.4f to %.4f", f->interval.low, f->interval.high);
}

/* On what it was trained: documents, and those that validated. */
static void add_documents(const struct about *a, struct report *r)
{
        const struct ran_config *c = ran_model_config(a->model);
        const char *digest = train_about_string(a->said, "train.digest"),
                   *other = train_about_string(a->said, "dev.digest");
        const size_t refitted = train_about_count(a->said, "learned_from"),
                     best = train_about_count(a->said, "best_epoch");

        report_count(r, "trained_on", a->said != NULL ? "trained on" : NULL,
                     train_about_count(a->said, "train.documents"));
        report_note(r, "documents%s%s",
                    cJSON_HasObjectItem(a->said, "labels_guessed")
                            ? " without labels, which descriptions gave them"
                            : "",
                    a->figure.n > 0 && digest != NULL && other != NULL && strcmp(digest, other) == 0
                            ? ", with those held out for validation"
                            : "");
        report_count(r, refitted > 0 ? "refitted_on" : NULL, refitted > 0 ? "refitted on" : NULL,
                     refitted);
        report_count(r, NULL, best > 0 ? "best epoch" : NULL, best);
        if (a->figure.n == 0)
                return;
        report_begin(r, REPORT_LINE, "validation", "validation");
        report_note(r, "these documents chose the model: measure it on others with %s%s",
                    cmd_model_use(c), ran_task_has_labels(c->task) ? " --eval" : "");
        train_info_figure(&a->figure, r);
        report_number(r, isnan(a->figure.baseline) ? NULL : "baseline",
                      isnan(a->figure.baseline) ? NULL : "baseline", a->figure.baseline, 4);
        report_end(r);
}

/* A share of a decision with its interval: "recall 91.1 % (79.3 to 96.5)". */
static void add_share(const cJSON *decision, const char *name, struct report *r)
{
        const cJSON *share = train_about_member(decision, name);
        const cJSON *interval = train_about_member(share, "interval");
        const cJSON *low = cJSON_GetArrayItem(interval, 0), *high = cJSON_GetArrayItem(interval, 1);

        if (share != NULL)
                report_put(r, NULL, name, "%.1f %% (%.1f to %.1f)",
                           100 * train_about_number(share, "value"),
                           cJSON_IsNumber(low) ? 100 * low->valuedouble : 0,
                           cJSON_IsNumber(high) ? 100 * high->valuedouble : 100);
}

/* What the record of the training has and only people are told. */
static void add_history(const struct about *a, struct report *r)
{
        const cJSON *distilled = train_about_member(a->said, "distilled"), *x;
        const char *digest = train_about_string(a->said, "init.digest"),
                   *split = train_about_string(a->said, "text_split"),
                   *version = train_about_string(a->said, "version");
        struct ran_buf v = {0};

        if (digest != NULL)
                report_put(r, NULL, "initialised from", "a model with digest %s", digest);
        if (a->pretrained != NULL) {
                train_pretrained_say(a, &v);
                report_bytes(r, REPORT_TEXT, NULL, "pretrained", v.data, v.len);
        }
        v.len = 0;
        train_pretrained_name(train_about_member(a->said, "teacher.pretrained"), &v);
        report_bytes(r, REPORT_TEXT, NULL, v.len > 0 ? "teacher" : NULL, v.data, v.len);
        ran_buf_release(&v);
        report_begin(r, REPORT_LINE, NULL, "distilled");
        cJSON_ArrayForEach(x, distilled)
        {
                if (cJSON_IsNumber(x))
                        report_put(r, NULL, x->string, "%.7g", x->valuedouble);
        }
        report_end(r);
        cJSON_ArrayForEach(x, train_about_member(a->said, "decisions"))
        {
                const char *label = train_about_string(x, "label");

                if (label == NULL)
                        continue;
                report_begin(r, REPORT_LINE, NULL, "threshold");
                report_note(r, "out of fold");
                report_number(r, NULL, label, train_about_number(x, "threshold"), 4);
                add_share(x, "recall", r);
                add_share(x, "precision", r);
                report_end(r);
        }
        if (split != NULL)
                report_put(r, NULL, "texts",
                           "split into sentences and words like the training data: %s", split);
        if (version != NULL)
                report_put(r, NULL, "written by", "version %s", version);
}

static void add_parts(const struct about *a, struct report *r)
{
        report_begin(r, REPORT_LIST, "parts", "Parts");
        for (size_t i = 0; i < a->parts; i++) {
                const struct ran_model_part *p = &a->part[i];
                const bool tensors = p->tensors > 0;

                report_begin(r, REPORT_OBJECT, "", "");
                report_string(r, "name", "part", p->name);
                report_count(r, "bytes", "bytes", p->bytes);
                report_count(r, tensors ? "tensors" : NULL, "tensors", p->tensors);
                report_count(r, tensors ? "elements" : NULL, "elements", p->elements);
                report_string(r, tensors ? "dtype" : NULL, "type", tensors ? p->dtype : "");
                report_end(r);
        }
        report_end(r);
}

static void add_model(const struct about *a, struct report *r)
{
        const struct ran_config *c = ran_model_config(a->model);
        const char *digest = ran_model_metadata(a->model, "digest"),
                   *said = ran_model_metadata(a->model, "pretrained"),
                   *prompts = ran_model_metadata(a->model, "prompts"), *use = cmd_model_use(c);
        const bool one_label = c->task == RAN_TASK_CLASSIFY && !c->classify.multilabel;
        const size_t calibrated = train_about_count(a->said, "calibration.documents"),
                     known = ran_model_fingerprints(a->model);
        double epochs, steps;

        report_string(r, "task", "task", ran_task_name(c->task));
        report_bytes(r, REPORT_TEXT, "program", NULL, use, strcspn(use, " "));
        report_put(r, NULL, "use", "%s -m %s documents.jsonl", use, a->path);
        add_encoder(a, r);
        if (ran_task_has_labels(c->task)) {
                report_string(r, "consists_of", "consists of", parts_of(a));
                add_labels(a, r);
        }
        if (digest != NULL)
                report_string(r, "digest", NULL, digest);
        if (ran_model_progress(a->model, &epochs, &steps)) {
                report_begin(r, REPORT_LINE, "progress", "interrupted after");
                report_note(r, "the command that began the training continues it with --resume");
                report_number(r, "epochs", "epochs", epochs, 0);
                report_number(r, "steps", "steps", steps, 0);
                report_end(r);
        }
        add_documents(a, r);
        if (cJSON_IsObject(train_about_member(a->said, "paths"))) {
                report_begin(r, REPORT_LINE, "ensemble", "ensemble weights");
                report_number(r, "encoder", "encoder", train_about_number(a->said, "paths.deep"),
                              3);
                report_number(r, "linear", "linear model",
                              train_about_number(a->said, "paths.wide"), 3);
                report_number(r, NULL, ran_config_has_features(c) ? "document vectors" : NULL,
                              train_about_number(a->said, "paths.dense"), 3);
                report_number(r, "cost", "C (cost)", train_about_number(a->said, "paths.cost"), 3);
                report_end(r);
        }
        report_count(r, calibrated > 0 ? "calibrated_on" : NULL, one_label ? "calibrated on" : NULL,
                     calibrated);
        report_note(r, "documents; --coverage up to %.3g",
                    (double)calibrated / (double)(calibrated + 1));
        report_count(r, known > 0 ? "fingerprints" : NULL, known > 0 ? "fingerprints" : NULL,
                     known);
        report_note(r, "of documents that it was trained on, to know them again");
        report_bytes(r, REPORT_RAW, "config", NULL, a->settings.data, a->settings.len);
        if (a->training.count > 0)
                report_bytes(r, REPORT_RAW, "training", NULL, a->training.line, a->training.length);
        if (a->pretrained != NULL) {
                report_bytes(r, REPORT_RAW, "pretrained", NULL, said, strlen(said));
                if (prompts != NULL)
                        report_bytes(r, REPORT_RAW, "prompts", NULL, prompts, strlen(prompts));
        }
        add_history(a, r);
        add_parts(a, r);
}

void train_info_members(const struct about *a, struct report *r)
{
        static const char *const kinds[] = {"model", "checkpoint", "vocabulary"};
        struct ran_buf type = {0};

        report_string(r, "file", NULL, a->path);
        report_string(r, "kind", NULL, kinds[a->kind]);
        report_count(r, "bytes", "bytes", a->bytes);
        if (a->model != NULL)
                add_model(a, r);
        if (a->tokenizer == NULL)
                return;
        add_kind(a, &type);
        report_begin(r, REPORT_LINE, "vocabulary", "vocabulary");
        report_bytes(r, REPORT_TEXT, "type", "", type.data, type.len);
        report_count(r, "tokens", "tokens", ran_tokenizer_size(a->tokenizer));
        report_string(r, "digest", NULL, ran_tokenizer_digest(a->tokenizer));
        report_end(r);
        ran_buf_release(&type);
}

/* ---- the verb -------------------------------------------------------------------------------- */

static struct info_options {
        int format;
        struct train_top_options top;
} options;

const char *const train_info_formats[] = {"text", "json", NULL};

static const struct ran_field fields[] = {
        {"format", 0, RAN_FIELD_CHOICE, offsetof(struct info_options, format),
         .choices = train_info_formats, .value = "FORMAT", .initial = "text",
         .help = "text: for people; json: an object a line for each file"},
        {0},
};
static const struct ran_field top_fields[] = {
        {"top", 0, RAN_FIELD_SIZE, offsetof(struct train_top_options, top), 0, 1000000,
         .value = "N", .initial = "0",
         .help = "add the N words that speak most for each label of the linear model",
         .first = true},
        {"texts", 0, RAN_FIELD_LIST, offsetof(struct train_top_options, texts), .value = "FILE",
         .local = true, .first = true,
         .help = "n-grams of all lengths, those of the records in FILE, such as the "
                 "training data; may be given again",
         .needs = "top"},
        {0},
};
static const struct cmd_group groups[] = {
        {"Output", fields, &options},
        {"N-grams", top_fields, &options.top},
        {"Input of --texts", cmd_input_fields, &options.top.input},
        {0},
};
static const struct cmd_program program = {
        .name = "ran-train info",
        .usage = "[option...] file...",
        .summary = "Says what a model, a checkpoint or a vocabulary is: its task and parts, their "
                   "sizes, its labels, what it was trained on and how well it did.",
        .groups = groups,
};

int train_info(int argc, char **argv)
{
        char **files = argv + cmd_parse(&program, argc, argv);
        struct ran_buf out = {0};
        static const char *const kinds[] = {"a model", "a checkpoint of an interrupted training",
                                            "a vocabulary"};
        const bool text = options.format == TRAIN_INFO_TEXT;
        struct report r = {0};
        int status = CMD_OK;
        struct about a;

        if (files[0] == NULL)
                cmd_usage("no file: give a model, a checkpoint or a vocabulary");
        for (size_t i = 0; files[i] != NULL; i++) {
                train_about_open(&a, files[i]);
                if (options.top.top > 0 && a.model == NULL)
                        cmd_die(CMD_FAILED, "%s: --top: a vocabulary has no labels", files[i]);
                ran_buf_str(&out, i > 0 && text ? "\n" : "");
                train_info_members(&a, &r);
                if (options.top.top > 0)
                        train_top_add(&options.top, a.model, a.path, &r, &status);
                if (text) {
                        ran_buf_shown(&out, files[i], strlen(files[i]));
                        ran_buf_printf(&out, ": %s\n", kinds[a.kind]);
                }
                report_finish(&r, text, &out);
                train_about_release(&a);
        }
        cmd_write_file(NULL, &out);
        ran_buf_release(&out);
        return cmd_finish(status);
}
