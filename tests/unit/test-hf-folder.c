/* Pretrained encoders in Hugging Face's form: the folders of tests/encoders give the numbers that
 * their libraries compute (hf-folder.c; tests/encoders/README). */
#include <cjson/cJSON.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ran.h"
#include "test.h"

#define FOLDERS "tests/encoders"
#define NEAR    1e-5 /* of the largest number of a list */

/* ---- numbers --------------------------------------------------------------------------------- */

static double largest_of(const cJSON *list)
{
        const cJSON *item;
        double most = 0;

        cJSON_ArrayForEach(item, list) most = fmax(most, fabs(item->valuedouble));
        return most;
}

/* The greatest difference, relative to the largest number; infinite if their number differs. */
static double difference(const float *x, size_t n, const cJSON *list)
{
        const cJSON *item;
        double worst = 0;
        size_t i = 0;

        if ((size_t)cJSON_GetArraySize(list) != n)
                return INFINITY;
        cJSON_ArrayForEach(item, list) worst =
                fmax(worst, fabs((double)x[i++] - item->valuedouble));
        return worst / largest_of(list);
}

static const cJSON *member(const cJSON *object, const char *name)
{
        return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* ---- a folder -------------------------------------------------------------------------------- */

struct folder {
        const char *name;
        struct ran_model *m;
        struct ran_state *s;
        struct ran_embedder *embedder;
        const struct ran_config *c;
        size_t records;
};

/* Says which folder and record a failed check belongs to. */
static void near(const struct folder *f, const cJSON *record, const char *what, double difference)
{
        if (difference <= NEAR)
                return;
        printf("%s, %s: %s differs by %g\n", f->name, member(record, "name")->valuestring, what,
               difference);
        CHECK(difference <= NEAR);
}

/* The ids of a record without those around them. */
static size_t ids_of(const struct folder *f, const cJSON *record, uint32_t *ids)
{
        const cJSON *list = member(record, "ids"), *item;
        const size_t all = (size_t)cJSON_GetArraySize(list), around = f->c->prefix + f->c->suffix;
        size_t i = 0, n = 0;

        cJSON_ArrayForEach(item, list)
        {
                if (i >= f->c->prefix && i + f->c->suffix < all)
                        ids[n++] = (uint32_t)item->valuedouble;
                i++;
        }
        CHECK(n + around == all);
        return n;
}

static void compare_vector(struct folder *f, const struct ran_document *d, const cJSON *record)
{
        const size_t width = ran_embedder_width(f->embedder);
        float *v = malloc(width * sizeof *v);
        struct ran_error err;

        if (CHECK_OK(ran_embed(f->embedder, f->s, d, v, &err), err))
                near(f, record, "the vector", difference(v, width, member(record, "vector")));
        f->records++;
        free(v);
}

static void compare_logits(struct folder *f, const struct ran_document *d, const cJSON *record)
{
        const size_t C = ran_model_classes(f->m);
        float *logits = malloc(C * sizeof *logits);
        struct ran_error err;

        if (CHECK_OK(ran_classify(f->m, f->s, d, logits, NULL, &err), err))
                near(f, record, "logits", difference(logits, C, member(record, "logits")));
        f->records++;
        free(logits);
}

/* Every token is a word. */
static void compare_tags(struct folder *f, struct ran_document *d, const cJSON *record)
{
        const size_t C = ran_model_classes(f->m);
        uint32_t *positions = malloc(d->L * sizeof *positions), *tags = malloc(d->L * sizeof *tags);
        float *logits = malloc(d->L * C * sizeof *logits);
        struct ran_error err;

        for (size_t i = 0; i < d->L; i++)
                positions[i] = (uint32_t)i;
        d->positions = positions;
        d->words = d->L;
        if (CHECK_OK(ran_tag(f->m, f->s, d, tags, NULL, logits, &err), err))
                for (size_t i = 0; i < d->L; i++)
                        near(f, record, "logits",
                             difference(logits + i * C, C,
                                        cJSON_GetArrayItem(member(record, "logits"),
                                                           (int)(i + f->c->prefix))));
        f->records++;
        free(positions);
        free(tags);
        free(logits);
}

/* "masks": [{"position": 3, "top": [{"id": 86, "log_probability": -0.7}]}], of the whole window.
 */
static void compare_masks(struct folder *f, const struct ran_document *d, const cJSON *record)
{
        const cJSON *mask, *best;

        cJSON_ArrayForEach(mask, member(record, "masks"))
        {
                uint32_t position =
                        (uint32_t)(member(mask, "position")->valuedouble - (double)f->c->prefix);

                cJSON_ArrayForEach(best, member(mask, "top"))
                {
                        uint32_t gold = (uint32_t)member(best, "id")->valuedouble;
                        const double want = -member(best, "log_probability")->valuedouble;
                        struct ran_error err;
                        float nll;

                        if (CHECK_OK(ran_lm_fill(f->m, f->s, d->ids, d->L, &position, 1, &gold,
                                                 &nll, NULL, &err),
                                     err))
                                near(f, record, "a log probability",
                                     fabs((double)nll - want) / want);
                        f->records++;
                }
        }
}

static void compare_record(struct folder *f, const cJSON *record)
{
        uint32_t ids[2048];
        struct ran_document d = {.ids = ids};

        if (member(record, "ids") == NULL)
                return;
        d.L = ids_of(f, record, ids);
        if (d.L == 0)
                return;
        if (f->c->task == RAN_TASK_EMBED && member(record, "vector") != NULL &&
            member(record, "prompt") == NULL)
                compare_vector(f, &d, record);
        if (f->c->task == RAN_TASK_CLASSIFY && member(record, "logits") != NULL)
                compare_logits(f, &d, record);
        if (f->c->task == RAN_TASK_TAG && member(record, "logits") != NULL)
                compare_tags(f, &d, record);
        if (f->c->task == RAN_TASK_MLM)
                compare_masks(f, &d, record);
}

static void compare_file(struct folder *f, const char *path)
{
        FILE *file = fopen(path, "r");
        char *line = NULL;
        size_t cap = 0;

        REQUIRE(file != NULL);
        while (getline(&line, &cap, file) > 0) {
                cJSON *record = cJSON_Parse(line);

                if (member(record, "model_type") != NULL)
                        CHECK_SIZE(f->c->max_length, (size_t)member(record, "window")->valuedouble);
                else
                        compare_record(f, record);
                cJSON_Delete(record);
        }
        free(line);
        fclose(file);
}

/* Folders that are refused, and what their sentence says. */
static const struct {
        const char *name, *says;
} refused[] = {
        {"sentence-joined", "it has 2 pooling modes"},
        {"sentence-weighted", "the pooling mode weightedmean"},
        {"sentence-root", "mean_sqrt_len_tokens is known with Normalize"},
};

static bool is_refused(const char *name, const char *path)
{
        struct ran_error err = {0};

        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
                if (strcmp(name, refused[i].name) != 0)
                        continue;
                CHECK(ran_model_open(path, false, &err) == NULL);
                if (!CHECK(strstr(err.text, refused[i].says) != NULL))
                        printf("%s\n", err.text);
                return true;
        }
        return false;
}

static void compare_folder(const char *name)
{
        struct folder f = {.name = name};
        struct ran_error err = {0};
        char path[512];

        snprintf(path, sizeof path, FOLDERS "/%s", name);
        if (is_refused(name, path))
                return;
        f.m = ran_model_open(path, true, &err);
        if (!CHECK_STR(f.m != NULL ? NULL : err.text, NULL))
                return;
        f.c = ran_model_config(f.m);
        f.s = ran_state_new(f.m, NULL, &err);
        f.embedder = ran_embedder_new(f.m, &err);
        if (CHECK(f.s != NULL && f.embedder != NULL)) {
                snprintf(path, sizeof path, FOLDERS "/%s/expected.jsonl", name);
                compare_file(&f, path);
                if (strcmp(name, "bert-old") != 0 && !CHECK(f.records > 0))
                        printf("%s\n", name);
        }
        ran_embedder_free(f.embedder);
        ran_state_free(f.s);
        ran_model_free(f.m);
}

TEST(folders_give_the_numbers_of_their_libraries)
{
        DIR *folder = opendir(FOLDERS);
        const struct dirent *entry;
        size_t n = 0;

        REQUIRE(folder != NULL);
        while ((entry = readdir(folder)) != NULL) {
                if (entry->d_name[0] == '.' || strcmp(entry->d_name, "README") == 0)
                        continue;
                compare_folder(entry->d_name);
                n++;
        }
        closedir(folder);
        CHECK(n > 40);
}
