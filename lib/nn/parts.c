/* parts.c - the list of parts and of tasks: the only file that knows them all. See part.h.
 */
#include "nn/part.h"
#include "ran/model.h"

#include <string.h>

#define PART(number, name)         [RAN_PART_##number] = &ran_part_##name,
#define TASK(number, name)         [RAN_TASK_##number] = &ran_task_##name,
#define TASK_NAME(number, name)    [RAN_TASK_##number] = #name,
#define ENCODER_NAME(number, name) [RAN_ENCODER_##number] = #name,

const struct ran_part *const ran_part_table[RAN_PARTS_MOST] = {RAN_PARTS(PART)};
static const struct ran_task *const tasks[RAN_TASK_COUNT] = {RAN_TASKS(TASK)};
const char *const ran_task_names[] = {RAN_TASKS(TASK_NAME) NULL};
const char *const ran_encoder_names[] = {RAN_ENCODERS(ENCODER_NAME) NULL};

/* ---- the list of a configuration ------------------------------------------------------------- */

static bool is_in(const struct ran_part *part, const struct ran_config *c)
{
        return part->is_in != NULL ? part->is_in(c) : part->encoder == c->encoder;
}

struct ran_part_list ran_parts_of(const struct ran_config *c)
{
        struct ran_part_list list = {.n = 0};

        for (int i = 0; i < RAN_PARTS_MOST; i++)
                if (is_in(ran_part_table[i], c)) {
                        const struct ran_part *part = ran_part_table[i];

                        list.number[list.n] = i;
                        list.part[list.n++] = part;
                        if (part->encodes)
                                list.encoder = part;
                        if (part->features != NULL)
                                list.features += part->features(c);
                }
        list.trains = list.encoder != NULL && !c->frozen;
        return list;
}

const struct ran_task *ran_task_of(const struct ran_config *c)
{
        return tasks[c->task];
}

const struct ran_part *ran_encoder_of(const struct ran_config *c)
{
        for (int i = 0; i < RAN_PARTS_MOST; i++)
                if (ran_part_table[i]->encodes && is_in(ran_part_table[i], c))
                        return ran_part_table[i];
        return NULL;
}

bool ran_config_has_predictor(const struct ran_config *c)
{
        return c->linear.wide > 0 && ran_task_of(c)->linear != RAN_LINEAR_NONE;
}

bool ran_config_has_features(const struct ran_config *c)
{
        return ran_parts_features(c) > 0;
}

/* Questions that only the encoder answers, `part`; without one the answer is no. */
#define ASK(name, answer)                                        \
        bool name(const struct ran_config *c)                    \
        {                                                        \
                const struct ran_part *part = ran_encoder_of(c); \
                                                                 \
                return part != NULL && (answer);                 \
        }
ASK(ran_config_has_encoder, true)
ASK(ran_config_trains_encoder, !c->frozen)
ASK(ran_config_has_token_outputs, !part->per_document)
ASK(ran_config_has_layers, part->forward != NULL)
ASK(ran_config_has_vector, part->vector_width != NULL && part->vector_width(c) > 0)
ASK(ran_encoder_is_imported, part->imported)
ASK(ran_encoder_makes_components,
    part->components && (part->forward == NULL || ran_config_has_vector(c)))

size_t ran_encoder_spelling(const struct ran_config *c)
{
        const struct ran_part *encoder = ran_encoder_of(c);

        return encoder != NULL && !encoder->imported ? c->spelling : 0;
}

/* A configuration says by fields which parts it has. */

void ran_config_drop_encoder(struct ran_config *c)
{
        c->upper = RAN_UPPER_POOLING;
        c->encoder = RAN_ENCODER_NONE;
        c->frozen = false;
}

void ran_config_take_static(struct ran_config *c, size_t dim)
{
        c->encoder = RAN_ENCODER_STATIC;
        c->dim = dim;
}

void ran_config_drop_predictors(struct ran_config *c)
{
        c->linear.wide = 0;
}

/* ---- what all of them say together ---------------------------------------------------------- */

bool ran_config_uses(const struct ran_config *c, const char *field)
{
        const struct ran_part *encoder = ran_encoder_of(c);

        if (encoder != NULL && encoder->uses_window != NULL && strcmp(field, "window") == 0)
                return encoder->uses_window(c);
        for (size_t i = 0; encoder != NULL && encoder->fields != NULL && encoder->fields[i] != NULL;
             i++)
                if (strcmp(encoder->fields[i], field) == 0)
                        return true;
        return false;
}

const struct ran_part *ran_parts_abreast(const struct ran_config *c)
{
        const struct ran_part *encoder = ran_encoder_of(c);
        const bool alone = encoder != NULL && encoder->rows_stand_alone > 0;

        return alone && c->upper != RAN_UPPER_CERTAIN && ran_encoder_spelling(c) == 0 ? encoder
                                                                                      : NULL;
}

ASK(ran_parts_stream,
    part->streams && c->upper == RAN_UPPER_POOLING && ran_task_of(c)->output == RAN_OUTPUT_DOCUMENT)

size_t ran_parts_features(const struct ran_config *c)
{
        return ran_parts_of(c).features;
}

size_t ran_parts_rows(const struct ran_config *c)
{
        return ran_config_has_predictor(c) ? c->linear.wide : 0;
}

const char *ran_parts_classes(const struct ran_config *c)
{
        const struct ran_part_list parts = ran_parts_of(c);
        const char *classes = ran_config_has_predictor(c) ? "wide.bias" : NULL;

        for (size_t i = 0; i < parts.n; i++)
                if (parts.part[i]->classes != NULL)
                        classes = parts.part[i]->classes;
        return classes;
}

double ran_encoder_flops(const struct ran_config *c, size_t L, size_t sources)
{
        const struct ran_part *encoder = ran_encoder_of(c);

        return encoder != NULL && encoder->flops != NULL ? encoder->flops(c, L, sources) : 0;
}

void ran_parts_path(const struct ran_config *c, const float *x, size_t D, double u, double *scale,
                    double *speed)
{
        const struct ran_part *encoder = ran_encoder_of(c);

        *scale = u;
        *speed = 1;
        if (encoder != NULL && encoder->path != NULL)
                encoder->path(x, D, u, scale, speed);
}

/* ---- what programs and checks ask of tasks --------------------------------------------------- */

int ran_task_check_no_mask(const struct ran_config *c, struct ran_error *err)
{
        if (c->mask == RAN_MASK_NONE)
                return RAN_OK;
        return ran_fail(err, RAN_EINVAL,
                        "only language models (lm) hide what follows: for '%s' mask must be "
                        "'none', not '%s'",
                        ran_task_names[c->task], ran_mask_names[c->mask]);
}

const char *ran_task_name(int task)
{
        return ran_task_names[task];
}

bool ran_task_has_labels(int task)
{
        return tasks[task]->linear != RAN_LINEAR_NONE;
}

bool ran_task_reads_words(int task)
{
        return tasks[task]->words;
}
