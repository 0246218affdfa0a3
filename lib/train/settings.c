/* settings.c - settings of training; those of the model are in nn/config.c. */
#include "nn/part.h"
#include "task/train.h"
#include "ran/train.h"

#include <stddef.h>

static const char *const schedules[] = {"constant", "linear", "cosine", NULL};
const char *const ran_metric_names[] = {"accuracy", "micro_f1", "macro_f1", "loss",
                                        "bleu",     "chrf",     NULL};
static const char *const weights[] = {"none", "balanced", NULL};
static const char *const ratios[] = {"auto", "yes", "no", NULL};

#define AT(member) offsetof(struct ran_train_settings, member)

const struct ran_field ran_train_fields[] = {
        {"epochs", 0, RAN_FIELD_SIZE, AT(epochs), 1, 1000000, .value = "N", .initial = "10",
         .first = true, .help = "largest number of epochs"},
        {"batch", 0, RAN_FIELD_SIZE, AT(batch), 0, 1 << 20, .value = "N", .initial = "0",
         .help = "documents in a step; 0: by the number of documents, from 4 to 32"},
        {"bptt", 0, RAN_FIELD_SIZE, AT(bptt), 0, 1 << 20, .value = "WINDOWS", .initial = "0",
         .help = "train on chunks of so many windows (truncated back-propagation through time); 0: "
                 "whole documents",
         .verbs = "lm"},
        {"patience", 0, RAN_FIELD_SIZE, AT(patience), 1, 1000000, .value = "N", .initial = "3",
         .help = "end after so many epochs without a better validation metric"},
        {"early_stop", 0, RAN_FIELD_BOOL, AT(early_stop), .initial = "false", .later = true,
         .help = "with a linear model: end the training of the encoder, or leave it out, once "
                 "validation can no longer show that it helps",
         .verbs = "classify tag"},
        {"metric", 0, RAN_FIELD_CHOICE, AT(metric), .choices = ran_metric_names, .value = "NAME",
         .initial = "micro_f1",
         .help = "validation metric that chooses the best epoch; with one label a document, "
                 "micro_f1 is accuracy; bleu and chrf: of generated targets"},
        {"learning_rate", 0, RAN_FIELD_REAL, AT(learning_rate), 0, 100, .value = "X",
         .initial = "0.001", .first = true, .help = "highest learning rate of Adam"},
        {"min_learning_rate", 0, RAN_FIELD_REAL, AT(min_learning_rate), 0, 100, .value = "X",
         .initial = "0", .help = "learning rate at the end of the schedule"},
        {"schedule", 0, RAN_FIELD_CHOICE, AT(schedule), .choices = schedules, .value = "KIND",
         .initial = "linear", .help = "schedule of the learning rate"},
        {"warmup", 0, RAN_FIELD_REAL, AT(warmup), 0, 1, .value = "X", .initial = "0.05",
         .help = "share of all steps in which the learning rate rises"},
        {"weight_decay", 0, RAN_FIELD_REAL, AT(weight_decay), 0, 10, .value = "X",
         .initial = "0.01",
         .help = "decoupled decay of matrices and embedding, times the learning rate"},
        {"clip", 0, RAN_FIELD_REAL, AT(clip), 0, 1e9, .value = "X", .initial = "1",
         .help = "largest norm of all gradients together; 0: no limit"},
        {"beta1", 0, RAN_FIELD_REAL, AT(beta1), 0, 0.999999, .value = "X", .initial = "0.9",
         .help = "Adam: decay rate of the mean gradient"},
        {"beta2", 0, RAN_FIELD_REAL, AT(beta2), 0, 0.999999, .value = "X", .initial = "0.999",
         .help = "Adam: decay rate of the mean squared gradient"},
        {"epsilon", 0, RAN_FIELD_REAL, AT(epsilon), 1e-12, 1, .value = "X", .initial = "1e-8",
         .help = "Adam: added to the square root"},
        {"dropout", 0, RAN_FIELD_REAL, AT(dropout), 0, 0.99, .value = "X", .initial = "0.1",
         .help = "dropout within layers and before the output layer"},
        {"embed_dropout", 0, RAN_FIELD_REAL, AT(embed_dropout), 0, 0.99, .value = "X",
         .initial = "0.15", .help = "dropout on the embedding"},
        {"word_dropout", 0, RAN_FIELD_REAL, AT(word_dropout), 0, 0.99, .value = "X", .initial = "0",
         .help = "share of tokens that become [UNK], drawn at random in each epoch",
         .verbs = "classify, tag lm"},
        {"label_smoothing", 0, RAN_FIELD_REAL, AT(label_smoothing), 0, 0.99, .value = "X",
         .initial = "0",
         .help = "share of the target that is spread over all classes, or all tokens"},
        {"vectors_rms", 0, RAN_FIELD_REAL, AT(vectors_rms), 0, 100, .value = "X", .initial = "0.1",
         .help = "scale the vectors of --vectors to this root mean square; 0: do not scale",
         .needs = "vectors"},
        {"init_rate", 0, RAN_FIELD_REAL, AT(init_rate), 0, 100, .value = "X", .initial = "1",
         .help = "learning rate of the weights from --init, as a share of --learning-rate; 0 "
                 "freezes them",
         .needs = "init", .why = "is for --init MODEL"},
        {"cell_memory", 0, RAN_FIELD_SIZE, AT(cell_memory), 1, 1 << 20, .value = "N",
         .initial = "1", .later = true,
         .help = "prenorm cells begin with update gates that keep what they have read for 1 to N "
                 "windows; 1: all gates begin half open"},
        {"tune_layers", 0, RAN_FIELD_SIZE, AT(tune_layers), 0, RAN_TUNE_ALL, .value = "N",
         .initial = "1024", .later = true,
         .help = "tune the last N layers of a pretrained encoder (--init): what is below stays as "
                 "it is, and is computed once; 0: as --frozen; 1024: all",
         .verbs = "classify tag", .needs = "init",
         .why = "needs a pretrained encoder: give --init MODEL"},
        {"mask_share", 0, RAN_FIELD_REAL, AT(mask_share), 0, 0.9, .value = "X", .initial = "0",
         .later = true, .help = "share of the words that are masked in training; 0: 0.15",
         .verbs = "mlm"},
        {"wide_cost", 0, RAN_FIELD_REAL, AT(wide_cost), 0, 1e6, .value = "X", .initial = "0",
         .help = "linear model: cost C, as in every SVM: a higher C fits the training data more "
                 "closely; 0: chosen by cross-validation",
         .verbs = "classify tag"},
        {"wide_ratios", 0, RAN_FIELD_CHOICE, AT(wide_ratios), .choices = ratios, .value = "WHEN",
         .initial = "auto",
         .help = "linear model: weight n-grams by how well each separates labels by itself; auto: "
                 "chosen by cross-validation",
         .verbs = "classify tag"},
        {"refit", 0, RAN_FIELD_BOOL, AT(refit),
         .help = "train again on all documents, with those held out, for the best number of "
                 "epochs"},
        {"freeze", 0, RAN_FIELD_BOOL, AT(freeze),
         .help = "do not train the rows of the embedding from --vectors or --init",
         .needs = "vectors init", .why = "needs --vectors or --init"},
        {"class_weights", 0, RAN_FIELD_CHOICE, AT(class_weights), .choices = weights,
         .value = "KIND", .initial = "none",
         .help = "balanced: all classes count the same, however many documents each has",
         .verbs = "classify tag"},
        {"seed", 0, RAN_FIELD_SIZE, AT(seed), 0, 9007199254740991.0, .value = "N", .initial = "1",
         .first = true, .help = "seed of every random choice"},
        {0},
};

size_t ran_train_below(const struct ran_train_settings *s, const struct ran_config *c)
{
        return ran_config_trains_encoder(c) && s->tune_layers < c->layers
                       ? c->layers - s->tune_layers
                       : 0;
}

/* A layer takes three times as long where it is tuned, and a head about a twentieth of layers. */
double ran_train_tuned_share(const struct ran_train_settings *s, const struct ran_config *c)
{
        const double layers = (double)c->layers, below = (double)ran_train_below(s, c);
        const double again = 0.05 * layers + 3 * (layers - below);

        return again / (again + below);
}

static int check_tuned(const struct ran_train_settings *s, const struct ran_config *c,
                       struct ran_error *err)
{
        if (s->tune_layers == RAN_TUNE_ALL || !ran_config_trains_encoder(c))
                return RAN_OK;
        if (!ran_encoder_is_imported(c) || ran_task_is_tied(c))
                return ran_fail(err, RAN_EINVAL,
                                "tune_layers is for classifiers and taggers with a pretrained "
                                "encoder of the family BERT (bert)");
        if (s->tune_layers > c->layers)
                return ran_fail(err, RAN_EINVAL,
                                "the last %zu layers cannot be tuned: the encoder has %zu "
                                "(tune_layers)",
                                s->tune_layers, c->layers);
        return RAN_OK;
}

int ran_train_settings_check(const struct ran_train_settings *s, const struct ran_config *config,
                             struct ran_error *err)
{
        const struct ran_train_task *task = ran_train_task_of(config);

        RAN_TRY(ran_fields_check(ran_train_fields, s, err));
        RAN_TRY(check_tuned(s, config, err));
        if (s->bptt > 0 && !task->chunks)
                return ran_fail(err, RAN_EINVAL,
                                "truncated back-propagation is for language models (lm): bptt must "
                                "be 0");
        if (s->bptt > 0 && config->ran.review_source)
                return ran_fail(err, RAN_EINVAL,
                                "review_source learns from the target what to read in the source, "
                                "and chunks have no gradient between them: bptt must be 0");
        if ((s->metric == RAN_METRIC_BLEU || s->metric == RAN_METRIC_CHRF) &&
            config->task != RAN_TASK_LM)
                return ran_fail(err, RAN_EINVAL,
                                "the metrics bleu and chrf are for language models (lm) of sources "
                                "and targets");
        if (task->check_settings != NULL)
                RAN_TRY(task->check_settings(s, err));
        if (config->tag.crf && (s->label_smoothing > 0 || s->class_weights != RAN_WEIGHTS_NONE))
                return ran_fail(
                        err, RAN_EINVAL,
                        "label_smoothing and class_weights need tags that are predicted one "
                        "by one: crf must be off");
        if (config->lm.shortlist > 0 && s->label_smoothing > 0)
                return ran_fail(err, RAN_EINVAL,
                                "label_smoothing needs one softmax over all tokens: shortlist must "
                                "be 0");
        return RAN_OK;
}
