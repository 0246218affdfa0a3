/* model-parts.c - what takes the room of a model file. */
#include "file/model.h"
#include "ran/model.h"

#include <string.h>

enum { OTHER = 8, HEADER = 9 };

static const char *const part_names[RAN_MODEL_PARTS] = {
        "embedding",  "encoder",      "output layer", "linear model", "CRF",
        "vocabulary", "fingerprints", "checkpoint",   "other",        "header",
};

/* By how the names of tensors begin; the first that fits counts. */
static const struct {
        const char *prefix;
        size_t part;
} prefixes[] = {
        {"embed.", 0},
        {"spelling.", 0},
        {"token.", 0},
        {"ran.", 1},
        {"bert.", 1},
        {"transformer.", 1},
        {"contextualizer", 1},
        {"classify.out", 2},
        {"classify.", 1},
        {"tag.", 2},
        {"lm.", 2},
        {"wide.", 3},
        {"crf.", 4},
        {"tokenizer.json", 5},
        {RAN_KNOWN_TENSOR, 6},
        {RAN_EXTRA_PREFIX, 7},
};

static size_t part_of(const char *name)
{
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
                if (strncmp(name, prefixes[i].prefix, strlen(prefixes[i].prefix)) == 0)
                        return prefixes[i].part;
        return OTHER;
}

/* largest: bytes of the largest tensor of the part so far. */
static void add_tensor(struct ran_model_part *part, const struct ran_tensor *t, size_t *largest)
{
        if (t->end - t->begin >= *largest) {
                part->dtype = ran_dtype_name(t->dtype);
                *largest = t->end - t->begin;
        }
        part->tensors++;
        part->elements += t->elements;
        part->bytes += t->end - t->begin;
}

size_t ran_model_parts(const struct ran_model *m, struct ran_model_part part[RAN_MODEL_PARTS])
{
        size_t n = 0, largest[RAN_MODEL_PARTS] = {0};

        for (size_t i = 0; i < RAN_MODEL_PARTS; i++)
                part[i] = (struct ran_model_part){.name = part_names[i], .dtype = ""};
        for (size_t i = 0; i < m->tensors.n; i++) {
                size_t of = part_of(m->tensors.tensor[i].name);

                add_tensor(&part[of], &m->tensors.tensor[i], &largest[of]);
        }
        part[HEADER].bytes = m->file.size - m->tensors.size;
        for (size_t i = 0; i < RAN_MODEL_PARTS; i++)
                if (part[i].tensors > 0 || i == HEADER)
                        part[n++] = part[i];
        return n;
}

size_t ran_model_bytes(const struct ran_model *m)
{
        return m->file.size;
}

bool ran_model_progress(const struct ran_model *m, double *epochs, double *steps)
{
        const struct ran_tensor *t = ran_tensors_find(&m->tensors, "train.progress");
        double first[3]; /* epochs done, batches of the next one, steps */

        if (t == NULL || t->dtype != RAN_DTYPE_F64 || t->end - t->begin < sizeof first)
                return false;
        memcpy(first, m->tensors.data + t->begin, sizeof first);
        *epochs = first[0];
        *steps = first[2];
        return true;
}
