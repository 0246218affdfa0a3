/* model.c - opening a model file. The file is hostile until all of it has been compared with the
 * configuration; only then is anything of its size allocated. */
#include "base/cjson.h"
#include "part/vectors/document-vector.h"
#include "file/model.h"
#include "nn/part.h"
#include "nn/vector-cache.h"
#include "base/string-table.h"
#include "ran/model.h"
#include "nn/unread.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the header says ------------------------------------------------------------------- */

static const char *metadata(const struct ran_model *m, const char *key, size_t *n)
{
        const struct ran_metadata *found = ran_tensors_metadata(&m->tensors, key);

        if (found != NULL && n != NULL)
                *n = found->text_n;
        return found != NULL ? found->text : NULL;
}

static int read_config(struct ran_model *m, struct ran_error *err)
{
        const char *format = metadata(m, "format", NULL), *text;
        const char *version = metadata(m, "format_version", NULL);
        size_t n;

        if (format == NULL || strcmp(format, RAN_FORMAT) != 0)
                return ran_fail(err, RAN_EFORMAT,
                                "a safetensors file, but not a model of ran (its "
                                "metadata has no \"format\": \"ran\"); of a pretrained encoder, "
                                "give the folder that it is in");
        if (version == NULL || strcmp(version, RAN_FORMAT_VERSION) != 0)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "model format version %s; this program reads version " RAN_FORMAT_VERSION,
                        version != NULL ? version : "(none)");
        text = metadata(m, "config", &n);
        if (text == NULL)
                return ran_fail(err, RAN_EFORMAT, "the model file has no configuration");
        RAN_TRY(ran_fields_init(ran_config_fields, &m->config, err));
        m->config.ran.cell = RAN_CELL_GATED; /* the default when files could leave it out */
        if (ran_fields_parse(ran_config_fields, &m->config, text, n, false, err) != RAN_OK)
                return ran_fail(err, err->code,
                                err->code == RAN_EINVAL ? "%s (this is version " RAN_VERSION
                                                          "; another one may know it)"
                                                        : "%s",
                                err->text);
        return ran_config_check(&m->config, err);
}

/* The dimension that the configuration leaves open: the only one of a vector, or the rows of a
 * matrix. */
static int read_size(const struct ran_model *m, const char *name, size_t *size,
                     struct ran_error *err)
{
        const struct ran_tensor *t = ran_tensors_find(&m->tensors, name);

        if (t == NULL || t->rank == 0 || t->shape[0] == 0)
                return ran_fail(err, RAN_EFORMAT, "the model file has no tensor %s", name);
        *size = t->shape[0];
        return RAN_OK;
}

/* ---- contents ------------------------------------------------------------------------------- */

static int read_tokenizer(struct ran_model *m, struct ran_error *err)
{
        const struct ran_tensor *t = ran_tensors_find(&m->tensors, "tokenizer.json");

        if (t == NULL)
                return RAN_OK;
        if (t->dtype != RAN_DTYPE_U8)
                return ran_fail(err, RAN_EFORMAT, "the tokenizer in the model file is not bytes");
        m->tokenizer = ran_tokenizer_load((const char *)m->tensors.data + t->begin,
                                          t->end - t->begin, err);
        if (m->tokenizer == NULL)
                return RAN_EFORMAT;
        if (!ran_config_has_encoder(&m->config))
                m->V = ran_tokenizer_size(m->tokenizer);
        if (ran_tokenizer_size(m->tokenizer) != m->V)
                return ran_fail(err, RAN_EFORMAT,
                                "the model's tokenizer has %zu tokens and its embedding "
                                "%zu",
                                ran_tokenizer_size(m->tokenizer), m->V);
        return RAN_OK;
}

/* Parses metadata as JSON, without U+0000, which no name can contain; the caller deletes the
 * value; NULL if absent. */
static int read_json(const struct ran_model *m, const char *key, cJSON **value,
                     struct ran_error *err)
{
        size_t n = 0;
        const char *text = metadata(m, key, &n);

        *value = NULL;
        if (text != NULL && ran_cjson_nul(text, n) != NULL)
                return ran_fail(err, RAN_EFORMAT, "the \"%s\" of the model file hold U+0000", key);
        if (text != NULL)
                *value = ran_cjson_parse(text, n, NULL);
        if (text != NULL && *value == NULL)
                return ran_fail(err, RAN_EFORMAT, "the \"%s\" of the model file is not JSON", key);
        return RAN_OK;
}

int ran_labels_check(char *const *label, size_t C, struct ran_error *err)
{
        struct ran_string_table names = {0};
        int rc = RAN_OK;

        ran_string_table_reserve(&names, C);
        for (size_t c = 0; rc == RAN_OK && c < C; c++) {
                const uint32_t i = ran_string_table_add(&names, label[c], strlen(label[c]));

                if (i != c)
                        rc = ran_fail(err, RAN_EFORMAT, "two labels have the name \"%s\"",
                                      label[c]);
        }
        ran_string_table_release(&names);
        return rc;
}

/* Without names they are numbers. */
static int read_labels(struct ran_model *m, struct ran_error *err)
{
        cJSON *names, *name;
        size_t c = 0;

        RAN_TRY(read_json(m, "labels", &names, err));
        m->named = names != NULL;
        m->labels = ran_new(m->C, sizeof *m->labels);
        for (char number[32]; !m->named && c < m->C; c++) {
                snprintf(number, sizeof number, "%zu", c);
                m->labels[c] = ran_copy(number, strlen(number));
        }
        cJSON_ArrayForEach(name, names)
        {
                if (!cJSON_IsString(name) || c == m->C)
                        break;
                m->labels[c++] = ran_copy(name->valuestring, strlen(name->valuestring));
        }
        const bool fits = !m->named || (cJSON_IsArray(names) && c == m->C && name == NULL);
        cJSON_Delete(names);
        return fits ? ran_labels_check(m->labels, m->C, err)
                    : ran_fail(err, RAN_EFORMAT,
                               "the labels in the model file are not a list of %zu names", m->C);
}

/* `thresholds` of the training metadata: (C) numbers from 0 to 1. */
static int read_thresholds(struct ran_model *m, const cJSON *training, struct ran_error *err)
{
        const cJSON *list = ran_cjson_member(training, "thresholds"), *x;
        size_t c = 0;

        m->thresholds = ran_new_floats(m->C);
        for (; list == NULL && c < m->C; c++)
                m->thresholds[c] = 0.5f;
        cJSON_ArrayForEach(x, list)
        {
                if (c == m->C || !cJSON_IsNumber(x) || !(x->valuedouble >= 0) ||
                    !(x->valuedouble <= 1))
                        break;
                m->thresholds[c++] = (float)x->valuedouble;
        }
        if (c != m->C || (list != NULL && x != NULL))
                return ran_fail(err, RAN_EFORMAT,
                                "the thresholds in the model file are not a list of %zu "
                                "numbers from 0 to 1",
                                m->C);
        return RAN_OK;
}

/* `decisions` of the training metadata: thresholds of some labels. */
static int read_limits(struct ran_model *m, const cJSON *training, struct ran_error *err)
{
        const cJSON *list = ran_cjson_member(training, "decisions"), *x;
        size_t c;

        if (list == NULL || m->config.task != RAN_TASK_CLASSIFY)
                return RAN_OK;
        m->limits = ran_new_floats(m->C);
        for (c = 0; c < m->C; c++)
                m->limits[c] = -1;
        cJSON_ArrayForEach(x, list)
        {
                const cJSON *at = ran_cjson_member(x, "threshold");
                const char *label = ran_cjson_text(x, "label");

                for (c = 0; c < m->C && (label == NULL || strcmp(m->labels[c], label) != 0);)
                        c++;
                if (c == m->C || !cJSON_IsNumber(at) ||
                    !(at->valuedouble >= 0 && at->valuedouble <= 1))
                        return ran_fail(err, RAN_EFORMAT,
                                        "the decisions in the model file are not a list of labels "
                                        "with thresholds from 0 to 1");
                m->limits[c] = (float)at->valuedouble;
                if (m->config.classify.multilabel)
                        m->thresholds[c] = m->limits[c];
        }
        return RAN_OK;
}

static int read_training(struct ran_model *m, struct ran_error *err)
{
        cJSON *training;

        RAN_TRY(read_json(m, "training", &training, err));
        const cJSON *seed = ran_cjson_member(training, "seed");
        int rc = read_thresholds(m, training, err);
        if (rc == RAN_OK)
                rc = read_limits(m, training, err);
        if (rc == RAN_OK && seed != NULL) {
                const double x = cJSON_IsNumber(seed) ? seed->valuedouble : -1;

                if (x >= 0 && x <= 0x1p53 && x == floor(x))
                        m->params.seed = (uint64_t)x;
                else
                        rc = ran_fail(err, RAN_EFORMAT,
                                      "the seed in the model file is not a whole number");
        }
        if (rc == RAN_OK)
                rc = ran_calibration_read(&m->calibration, training, err);
        cJSON_Delete(training);
        return rc;
}

static int read_known(struct ran_model *m, struct ran_error *err)
{
        const struct ran_tensor *t = ran_tensors_find(&m->tensors, RAN_KNOWN_TENSOR);

        if (t == NULL)
                return RAN_OK;
        if (t->dtype != RAN_DTYPE_U32 || t->rank != 1)
                return ran_fail(err, RAN_EFORMAT, "tensor %s is not a list of U32",
                                RAN_KNOWN_TENSOR);
        m->known = ran_tensor_integers(&m->tensors, t, &m->known_copy);
        m->knows = t->elements;
        return RAN_OK;
}

/* ---- open and free -------------------------------------------------------------------------- */

/* Loads weights and the rest, once the header has been checked against the configuration. */
static int read_contents(struct ran_model *m, const struct ran_layout *layout, bool verify,
                         struct ran_error *err)
{
        RAN_TRY(ran_model_check_tensors(m, layout, err));
        if (verify)
                RAN_TRY(ran_tensors_verify(&m->tensors, err));
        RAN_TRY(ran_model_read_weights(m, layout, err));
        m->params.panels = ran_params_panels(&m->params);
        RAN_TRY(read_known(m, err));
        RAN_TRY(read_tokenizer(m, err));
        if (ran_config_has_predictor(&m->config))
                RAN_TRY(ran_linear_use_tokenizer(&m->linear, &m->params, &m->config, m->tokenizer,
                                                 err));
        if (ran_task_has_labels(m->config.task)) {
                RAN_TRY(read_labels(m, err));
                RAN_TRY(read_training(m, err));
        }
        if (ran_task_of(&m->config)->output == RAN_OUTPUT_WORD && !ran_model_is_foreign(m))
                ran_tag_rules_init(&m->rules, m->labels, m->C);
        return RAN_OK;
}

int ran_model_read(struct ran_model *m, bool verify, struct ran_error *err)
{
        struct ran_layout layout;

        RAN_TRY(ran_tensors_read(&m->tensors, &m->file, err));
        RAN_TRY(read_config(m, err));
        const char *classes = ran_parts_classes(&m->config);
        m->V = RAN_ANY_ID;
        if (ran_config_has_encoder(&m->config))
                RAN_TRY(read_size(m, "embed.weight", &m->V, err));
        if (classes != NULL)
                RAN_TRY(read_size(m, classes, &m->C, err));
        if (ran_task_is_tied(&m->config) && m->C != m->V)
                return ran_fail(err, RAN_EFORMAT,
                                "tensor lm.bias has %zu elements, one for each of the %zu tokens "
                                "of the embedding was expected",
                                m->C, m->V);
        RAN_TRY(ran_layout_init(&layout, &m->config, m->C, err));
        int rc = read_contents(m, &layout, verify, err);
        ran_layout_release(&layout);
        return rc;
}

void ran_model_free(struct ran_model *m)
{
        if (m == NULL)
                return;
        ran_kept_panels_free(m->params.panels);
        ran_unread_free(m->params.unread);
        ran_params_release(&m->params);
        for (size_t i = 0; i < RAN_MAPPED_TABLES; i++)
                free(m->copy[i]);
        ran_linear_stored_release(&m->linear);
        free(m->known_copy);
        ran_tokenizer_free(m->tokenizer);
        for (size_t c = 0; m->labels != NULL && c < m->C; c++)
                free(m->labels[c]);
        free(m->labels);
        free(m->thresholds);
        free(m->limits);
        ran_calibration_release(&m->calibration);
        ran_tag_rules_release(&m->rules);
        ran_fields_release(ran_config_fields, &m->config);
        ran_tensors_release(&m->tensors);
        ran_bytes_release(&m->file);
        free(m);
}

int ran_model_use_vectors(struct ran_model *m, struct ran_vector_cache *k, struct ran_error *err)
{
        m->params.vectors = NULL;
        if (k == NULL)
                return RAN_OK;
        err = ran_error_or_spare(err);
        if (!ran_config_has_vector(&m->config))
                return ran_fail(err, RAN_EINVAL,
                                "only an encoder that makes vectors of documents has vectors to "
                                "keep in a file");
        RAN_TRY(ran_vector_cache_bind(k, &m->config, &m->params, m->V, 0, err));
        m->params.vectors = k;
        return RAN_OK;
}

void ran_model_token_weights(const struct ran_model *m, float *weight)
{
        for (size_t i = 0; i < m->V; i++)
                weight[i] = ran_document_vector_weight(&m->params, i);
        if (ran_task_is_tied(&m->config))
                ran_document_vector_weights(weight, &m->config, &m->params.head, m->V);
}

int ran_model_read_extra(const struct ran_model *m, const struct ran_extra *extra,
                         struct ran_error *err)
{
        const struct ran_tensor *t = ran_tensors_find(&m->tensors, extra->name);

        if (t == NULL || t->dtype != extra->dtype || t->elements != extra->n)
                return ran_fail(err, RAN_EFORMAT, "the checkpoint has no tensor %s of %zu numbers",
                                extra->name, extra->n);
        memcpy(extra->data, m->tensors.data + t->begin, t->end - t->begin);
        return RAN_OK;
}

/* ---- fingerprints of the training documents: sorted, each once; programs that do not know the
 * tensor ignore it */

size_t ran_model_fingerprints(const struct ran_model *m)
{
        return m->knows;
}

static int compare(const void *a, const void *b)
{
        const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

        return (x > y) - (x < y);
}

bool ran_model_knows(const struct ran_model *m, uint32_t fingerprint)
{
        return m->knows > 0 &&
               bsearch(&fingerprint, m->known, m->knows, sizeof fingerprint, compare) != NULL;
}

struct ran_extra ran_model_known(const struct ran_model *m)
{
        return (struct ran_extra){.name = RAN_KNOWN_TENSOR,
                                  .dtype = RAN_DTYPE_U32,
                                  .data = (void *)m->known,
                                  .n = m->knows};
}

size_t ran_known_sort(uint32_t *known, size_t n)
{
        size_t kept = 0;

        if (n > 1)
                qsort(known, n, sizeof *known, compare);
        for (size_t i = 0; i < n; i++)
                if (kept == 0 || known[i] != known[kept - 1])
                        known[kept++] = known[i];
        return kept;
}

/* ---- what others may ask -------------------------------------------------------------------- */

const struct ran_config *ran_model_config(const struct ran_model *m)
{
        return &m->config;
}

const struct ran_tokenizer *ran_model_tokenizer(const struct ran_model *m)
{
        return m->tokenizer;
}

size_t ran_model_vocabulary(const struct ran_model *m)
{
        return m->V;
}

size_t ran_model_classes(const struct ran_model *m)
{
        return m->C;
}

int ran_model_join_windows(struct ran_model *m, int upper, struct ran_error *err)
{
        if (m->config.task != RAN_TASK_CLASSIFY || !ran_encoder_is_imported(&m->config) ||
            !ran_config_trains_encoder(&m->config))
                return ran_fail(err, RAN_EINVAL,
                                "only a classifier on a pretrained encoder reads documents in "
                                "windows that can be joined in another way");
        m->config.upper = upper;
        return RAN_OK;
}

const char *ran_model_label(const struct ran_model *m, size_t c)
{
        return m->labels != NULL && c < m->C ? m->labels[c] : NULL;
}

const char *ran_model_metadata(const struct ran_model *m, const char *key)
{
        /* One for all models: the digest of one in memory is made once. */
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

        if (!m->in_memory || strcmp(key, "digest") != 0)
                return metadata(m, key, NULL);
        pthread_mutex_lock(&lock);
        const char *digest = ran_tensors_close_digest(&m->tensors, &m->file);
        pthread_mutex_unlock(&lock);
        return digest;
}

bool ran_model_is_foreign(const struct ran_model *m)
{
        return metadata(m, "pretrained", NULL) != NULL && metadata(m, "training", NULL) == NULL;
}

const float *ran_model_thresholds(const struct ran_model *m)
{
        return m->thresholds;
}

float ran_model_limit(const struct ran_model *m, size_t c)
{
        return m->limits != NULL ? m->limits[c] : -1;
}

int ran_model_cut(const struct ran_model *m, double coverage, float *cut, struct ran_error *err)
{
        return ran_calibration_cut(&m->calibration, coverage, cut, err);
}

double ran_model_cut_floor(const struct ran_model *m, double coverage, size_t *documents)
{
        *documents = m->calibration.documents;
        return ran_calibration_floor(&m->calibration, coverage);
}
