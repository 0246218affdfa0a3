/* heads.c - which head a folder has, by the `architectures` of its config.json, and its labels.
 *
 *      ...Model, ...ForQuestionAnswering and others   embed: the encoder alone
 *      ...ForMaskedLM, ...ForPreTraining              mlm
 *      ...ForSequenceClassification                   classify
 *      ...ForTokenClassification                      tag
 *
 * A folder of Sentence Transformers is an encoder alone, whatever it was made from. What stands
 * between the encoder and the last linear layer of a head is the dense layer of bert.h.
 */
#include "hf/folder.h"
#include "file/model.h"
#include "ran/model.h"

#include <string.h>

enum { MOST_LABELS = 1 << 20 };

/* ---- labels ---------------------------------------------------------------------------------- */

/* {"3": "sport", ...} */
static int read_names(struct ran_hf *f, const cJSON *map, struct ran_error *err)
{
        const int n = cJSON_GetArraySize(map);
        const cJSON *item;

        if (!cJSON_IsObject(map) || n == 0 || n > MOST_LABELS)
                return ran_fail(err, RAN_EFORMAT,
                                "\"id2label\" is not an object with 1 to %d labels", MOST_LABELS);
        f->labels = (size_t)n;
        f->label = ran_new(f->labels, sizeof *f->label);
        cJSON_ArrayForEach(item, map)
        {
                size_t c;

                if (!ran_parse_size(item->string, strlen(item->string), &c) || c >= f->labels)
                        return ran_fail(err, RAN_EFORMAT,
                                        "\"id2label\" names a label \"%s\": numbers from 0 to %zu "
                                        "are needed",
                                        item->string, f->labels - 1);
                if (f->label[c] != NULL)
                        return ran_fail(err, RAN_EFORMAT, "\"id2label\" names label %zu twice", c);
                if (!cJSON_IsString(item))
                        return ran_fail(err, RAN_EFORMAT,
                                        "\"id2label\": the name of label %zu is no string", c);
                ran_hf_copy(&f->label[c], item->valuestring);
        }
        return ran_labels_check(f->label, f->labels, err);
}

static int read_labels(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        size_t number = 0;

        RAN_TRY(ran_cjson_size(all, "num_labels", 1, MOST_LABELS, &number, err));
        if (!ran_cjson_said(all, "id2label")) {
                f->labels = number;
                return RAN_OK;
        }
        RAN_TRY(read_names(f, ran_cjson_member(all, "id2label"), err));
        if (number > 0 && number != f->labels)
                return ran_fail(err, RAN_EFORMAT,
                                "\"id2label\" names %zu labels, but \"num_labels\" is %zu",
                                f->labels, number);
        return RAN_OK;
}

/* ---- activations ------------------------------------------------------------------------------
 */

int ran_hf_activation(const char *name, int *activation, struct ran_error *err)
{
        static const struct ran_hf_word known[] = {
                {"gelu", RAN_ACTIVATION_GELU},
                {"gelu_python", RAN_ACTIVATION_GELU},
                {"gelu_new", RAN_ACTIVATION_GELU_TANH},
                {"gelu_pytorch_tanh", RAN_ACTIVATION_GELU_TANH},
                {"gelu_fast", RAN_ACTIVATION_GELU_TANH},
                {"relu", RAN_ACTIVATION_RELU},
                {"silu", RAN_ACTIVATION_SILU},
                {"swish", RAN_ACTIVATION_SILU},
                {"tanh", RAN_ACTIVATION_TANH},
                {NULL, 0},
        };

        if (ran_hf_look_up(known, name, activation))
                return RAN_OK;
        return ran_fail(err, RAN_EFORMAT,
                        "the activation \"%s\" is not known: gelu, gelu_new, gelu_pytorch_tanh, "
                        "gelu_fast, relu, silu, swish and tanh are",
                        name);
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* What stands in front of the last layer. */
static void add_dense(struct ran_hf *f, int activation, bool norm)
{
        struct ran_config *c = &f->config;

        c->bert.dense = c->dim;
        c->bert.dense_activation = activation;
        c->bert.dense_norm = norm;
}

/* modernbert's heads have an activation of their own, and one reads what the configuration says. */
static int read_modern(const cJSON *all, int *activation, bool *cls, struct ran_error *err)
{
        const char *name = NULL, *pooling = NULL;

        RAN_TRY(ran_cjson_string(all, "classifier_activation", &name, err));
        if (name != NULL)
                RAN_TRY(ran_hf_activation(name, activation, err));
        RAN_TRY(ran_cjson_string(all, "classifier_pooling", &pooling, err));
        *cls = pooling == NULL || strcmp(pooling, "cls") == 0;
        return *cls || strcmp(pooling, "mean") == 0
                       ? RAN_OK
                       : ran_fail(err, RAN_EFORMAT,
                                  "classifier_pooling \"%s\" is not known: \"cls\" and \"mean\" "
                                  "are",
                                  pooling);
}

static int read_problem(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        const char *problem;

        RAN_TRY(ran_cjson_string(all, "problem_type", &problem, err));
        if (problem != NULL && strcmp(problem, "regression") == 0)
                return ran_fail(err, RAN_EFORMAT,
                                "problem_type \"regression\": the model predicts a number, which "
                                "no program here supports");
        f->config.classify.multilabel =
                problem != NULL && strcmp(problem, "multi_label_classification") == 0;
        return RAN_OK;
}

static bool ends_with(const char *text, const char *end)
{
        const size_t n = strlen(text), m = strlen(end);

        return n >= m && strcmp(text + n - m, end) == 0;
}

int ran_hf_read_head(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        static const struct ran_hf_word heads[] = {
                {"Model", RAN_TASK_EMBED},
                {"ForSequenceClassification", RAN_TASK_CLASSIFY},
                {"ForTokenClassification", RAN_TASK_TAG},
                {"ForMaskedLM", RAN_TASK_MLM},
                {"ForPreTraining", RAN_TASK_MLM},
                {"ForQuestionAnswering", -1}, /* left out */
                {"ForMultipleChoice", -1},
                {"ForNextSentencePrediction", -1},
                {NULL, 0},
        };
        const cJSON *list = ran_cjson_member(all, "architectures");
        const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(list, 0));
        const struct ran_hf_word *head = heads;
        const bool modern = f->family == RAN_HF_MODERNBERT;
        int activation = RAN_ACTIVATION_GELU;
        bool cls = true;

        f->config.task = RAN_TASK_EMBED;
        if (name == NULL || name[0] == '\0')
                return RAN_OK;
        ran_hf_copy(&f->architecture, name);
        while (head->name != NULL && !ends_with(name, head->name))
                head++;
        if (f->sentence || (head->name != NULL && head->value == RAN_TASK_EMBED))
                return RAN_OK;
        if (modern)
                RAN_TRY(read_modern(all, &activation, &cls, err));
        if (head->name == NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "the architecture \"%s\" is not known: ...Model, ...ForMaskedLM, "
                                "...ForSequenceClassification and ...ForTokenClassification can be "
                                "read",
                                name);
        f->other_head = head->value < 0;
        if (f->other_head)
                return RAN_OK;
        f->config.task = head->value;
        switch (head->value) {
        case RAN_TASK_CLASSIFY:
                f->config.pooling = cls ? RAN_POOL_CLS : RAN_POOL_MEAN;
                add_dense(f,
                          modern                           ? activation
                          : f->family == RAN_HF_DISTILBERT ? RAN_ACTIVATION_RELU
                                                           : RAN_ACTIVATION_TANH,
                          modern);
                RAN_TRY(read_problem(f, all, err));
                return read_labels(f, all, err);
        case RAN_TASK_TAG:
                if (modern)
                        add_dense(f, activation, true);
                return read_labels(f, all, err);
        default: /* the decoder's has the encoder's activation, or a fixed one */
                if (f->family == RAN_HF_BERT || f->family == RAN_HF_DISTILBERT)
                        activation = f->config.bert.activation;
                add_dense(f, activation, true);
                return RAN_OK;
        }
}
