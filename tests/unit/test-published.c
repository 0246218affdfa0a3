/* The folders of the package rannet in tests/published: cells, outputs and vectors equal those that
 * the package computes, and damaged checkpoints are refused (hf/rannet.c, tensors/bundle.c). */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/model.h"
#include "nn/part.h"
#include "part/ran/paper.h"
#include "ran.h"
#include "tensors/tensors.h"
#include "test.h"

#define FOLDERS "tests/published"
#define NEAR    1e-5
#define INDEX   "model.ckpt.index"
#define DATA    "model.ckpt.data-00000-of-00001"

static const cJSON *member(const cJSON *object, const char *name)
{
        return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* ---- numbers of the package ------------------------------------------------------------------ */

struct folder {
        const char *name;
        struct ran_model *m;
        struct ran_state *s;
        struct ran_embedder *embedder;
        double worst;
        size_t records;
};

/* Rows of x, one after another, or one row. */
static void near(struct folder *f, const char *what, const cJSON *record, const float *x,
                 const cJSON *rows)
{
        const cJSON *row, *item;
        double worst = 0;
        size_t n = 0;

        cJSON_ArrayForEach(row, rows)
        {
                if (cJSON_IsNumber(row)) {
                        worst = fmax(worst, fabs((double)x[n++] - row->valuedouble));
                        continue;
                }
                cJSON_ArrayForEach(item, row)
                {
                        worst = fmax(worst, fabs((double)x[n++] - item->valuedouble));
                }
        }
        f->worst = fmax(f->worst, worst);
        if (!CHECK(n > 0 && worst <= NEAR))
                printf("%s, %d tokens: %s differs by %g\n", f->name,
                       cJSON_GetArraySize(member(record, "ids")), what, worst);
}

static void compare_cells(struct folder *f, const struct ran_workspace *w, const cJSON *record)
{
        const struct ran_paper_cells *cells = w->act;
        const cJSON *of_layer;
        const size_t D = w->D;
        size_t l = 0;

        cJSON_ArrayForEach(of_layer, member(record, "cells"))
        {
                CHECK_SIZE((size_t)cJSON_GetArraySize(of_layer), w->packed->m);
                near(f, "a cell", record, cells[l++].c + D, of_layer);
        }
        CHECK_SIZE(l, w->c->layers);
        near(f, "the last cell", record, cells[l - 1].G + w->packed->m * D, member(record, "last"));
}

static size_t ids_of(const cJSON *record, uint32_t *ids)
{
        const cJSON *item;
        size_t n = 0;

        cJSON_ArrayForEach(item, member(record, "ids")) ids[n++] = (uint32_t)item->valuedouble;
        return n;
}

static void compare_document(struct folder *f, const cJSON *record)
{
        const struct ran_config *c = ran_model_config(f->m);
        struct ran_packed packed = {0};
        struct ran_error err = {0};
        struct ran_workspace w;
        uint32_t ids[64];
        const size_t L = ids_of(record, ids);
        float v[64];

        ran_packed_add(&packed, c, ids, L, 0);
        /* One that trains keeps the cells of all layers. */
        ran_workspace_init(&w, c, true, NULL);
        CHECK_OK(ran_workspace_fit(&w, &packed, f->m->C, &err), err);
        ran_encode(&w, &f->m->params);
        near(f, "an output", record, w.x[c->layers], member(record, "hidden"));
        compare_cells(f, &w, record);
        const struct ran_document d = {.ids = ids, .L = L};
        if (CHECK_OK(ran_embed(f->embedder, f->s, &d, v, &err), err))
                near(f, "the vector", record, v, member(record, "vector"));
        ran_workspace_release(&w);
        ran_packed_release(&packed);
}

static void compare_text(struct folder *f, const cJSON *record)
{
        const char *text = member(record, "text")->valuestring;
        struct ran_encoding got = {0};
        struct ran_error err;
        uint32_t ids[64];
        const size_t n = ids_of(record, ids);

        if (CHECK_OK(
                    ran_tokenizer_encode(ran_model_tokenizer(f->m), text, strlen(text), &got, &err),
                    err) &&
            !CHECK(got.n == n && memcmp(got.ids, ids, n * sizeof *ids) == 0))
                printf("%s: tokens of \"%s\"\n", f->name, text);
        ran_encoding_release(&got);
}

/* "masks": [{"position": 3, "top": [{"token": "bay", "log_probability": -0.7}]}] */
static void compare_masks(struct folder *f, const cJSON *record)
{
        const struct ran_tokenizer *tokenizer = ran_model_tokenizer(f->m);
        const char *text = member(record, "text")->valuestring;
        const cJSON *mask, *best;
        struct ran_encoding d = {0};
        struct ran_error err;

        CHECK_OK(ran_tokenizer_encode(tokenizer, text, strlen(text), &d, &err), err);
        cJSON_ArrayForEach(mask, member(record, "masks"))
        {
                uint32_t position = (uint32_t)member(mask, "position")->valuedouble, gold;

                cJSON_ArrayForEach(best, member(mask, "top"))
                {
                        const char *token = member(best, "token")->valuestring;
                        float nll = 0;

                        CHECK(ran_tokenizer_find(tokenizer, token, strlen(token), &gold));
                        CHECK_OK(ran_lm_fill(f->m, f->s, d.ids, d.n, &position, 1, &gold, &nll,
                                             NULL, NULL, &err),
                                 err);
                        CHECK_NEAR(-(double)nll, member(best, "log_probability")->valuedouble,
                                   NEAR);
                }
        }
        ran_encoding_release(&d);
}

static void compare_file(struct folder *f, const char *path)
{
        FILE *file = fopen(path, "r");
        char *line = NULL;
        size_t cap = 0;

        REQUIRE(file != NULL);
        while (getline(&line, &cap, file) > 0) {
                cJSON *record = cJSON_Parse(line);
                const char *name = member(record, "name")->valuestring;

                if (strcmp(name, "document") == 0)
                        compare_document(f, record);
                if (strcmp(name, "text") == 0)
                        compare_text(f, record);
                if (strcmp(name, "fill") == 0)
                        compare_masks(f, record);
                f->records++;
                cJSON_Delete(record);
        }
        free(line);
        fclose(file);
}

static void compare_folder(const char *name, int task, size_t records)
{
        struct folder f = {.name = name};
        struct ran_error err = {0};
        char path[512];

        snprintf(path, sizeof path, FOLDERS "/%s", name);
        f.m = ran_model_open(path, true, &err);
        if (!CHECK_STR(f.m != NULL ? NULL : err.text, NULL))
                return;
        CHECK(ran_model_config(f.m)->task == task);
        f.s = ran_state_new(f.m, NULL);
        f.embedder = ran_embedder_new(f.m, &err);
        if (CHECK(f.s != NULL && f.embedder != NULL)) {
                snprintf(path, sizeof path, FOLDERS "/%s/expected.jsonl", name);
                compare_file(&f, path);
                CHECK_SIZE(f.records, records);
        }
        if (test_all())
                printf("%s: at most %g from the package's numbers\n", name, f.worst);
        ran_embedder_free(f.embedder);
        ran_state_free(f.s);
        ran_model_free(f.m);
}

TEST(published_folders_give_the_numbers_of_their_package)
{
        compare_folder("masked", RAN_TASK_MLM, 15);
        compare_folder("pooled", RAN_TASK_EMBED, 9);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static struct ran_bytes read_bytes(const char *name)
{
        char path[512];
        struct ran_bytes file;
        struct ran_error err;

        snprintf(path, sizeof path, FOLDERS "/pooled/%s", name);
        if (ran_bytes_open(&file, path, &err) != RAN_OK)
                abort();
        unsigned char *copy = malloc(file.size);
        memcpy(copy, file.data, file.size);
        struct ran_bytes own = {copy, file.size, false};
        ran_bytes_release(&file);
        return own;
}

/* Whether it is read; if not, there is a sentence. */
static bool reads(const struct ran_bytes *index, const struct ran_bytes *data)
{
        struct ran_tensors t;
        struct ran_error err = {0};
        const bool is = ran_bundle_read(&t, index, data, &err) == RAN_OK;

        CHECK(is || (err.code == RAN_EFORMAT && err.text[0] != '\0' && t.n == 0));
        if (is)
                CHECK_SIZE(t.n, (size_t)3 * 39 + 3);
        ran_tensors_release(&t);
        return is;
}

TEST(a_checkpoint_cut_anywhere_is_refused)
{
        struct ran_bytes index = read_bytes(INDEX), data = read_bytes(DATA), cut;

        CHECK(reads(&index, &data));
        for (size_t n = 0; n < index.size; n++) {
                cut = (struct ran_bytes){index.data, n, false};
                CHECK(!reads(&cut, &data));
        }
        for (size_t n = 0; n < data.size; n += n + 100 < data.size ? 97 : 1) {
                cut = (struct ran_bytes){data.data, n, false};
                CHECK(!reads(&index, &cut));
        }
        free((void *)index.data);
        free((void *)data.data);
}

/* Checksums cover all bytes but those that pad the footer. */
TEST(a_checkpoint_with_a_flipped_bit_is_refused)
{
        struct ran_bytes index = read_bytes(INDEX), data = read_bytes(DATA);
        unsigned char *i = (unsigned char *)index.data, *d = (unsigned char *)data.data;
        size_t read = 0;

        for (size_t n = 0; n < index.size; n++) {
                i[n] ^= (unsigned char)(1 << n % 8);
                read += reads(&index, &data);
                i[n] ^= (unsigned char)(1 << n % 8);
        }
        CHECK(read < 48);
        for (size_t n = 0; n < data.size; n += 37) {
                d[n] ^= (unsigned char)(1 << n % 8);
                CHECK(!reads(&index, &data));
                d[n] ^= (unsigned char)(1 << n % 8);
        }
        CHECK(reads(&index, &data));
        free(i);
        free(d);
}

/* ---- bad folders ----------------------------------------------------------------------------- */

/* A copy of the folder `masked`, spoiled by a command that runs inside. */
static void refused(const char *spoil, const char *says)
{
        static int number;
        char unique[32], command[2048];
        struct ran_error err = {0};

        snprintf(unique, sizeof unique, "copy-%d", number++);
        char *to = test_path(unique);
        snprintf(command, sizeof command, "cp -R " FOLDERS "/masked '%s' && cd '%s' && { %s; }", to,
                 to, spoil);
        if (system(command) != 0)
                abort();
        struct ran_model *m = ran_model_open(to, false, &err);
        if (!CHECK(m == NULL && strstr(err.text, says) != NULL))
                printf("%s: %s\n", spoil, m == NULL ? err.text : "it was read");
        ran_model_free(m);
        free(to);
}

#define CHANGE(what, with) "sed -i.old 's/" what "/" with "/' config.json"

TEST(a_bad_published_folder_is_refused_with_a_sentence)
{
        refused("rm *.index", "it has no checkpoint: files NAME.index");
        refused("cp *.index b.index", "it has 2 checkpoints");
        refused("rm *.data*", DATA ": No such file");
        refused("mkdir x && mv *.data* x && mkdir " DATA, "is not a regular file");
        refused("cp *.data* " INDEX, "model.ckpt: the index is cut, or it is no index");
        refused("cp vocab.txt *.data*", "the data file is damaged");
        refused("rm vocab.txt", "vocabulary");
        refused("sed -i.old 's/SEP/XYZ/' vocab.txt", "vocab.txt: the pad_token");
        refused("printf 'moremore\\n' >>vocab.txt", "the vocabulary has 118 tokens");
        refused(CHANGE("\"vocab_size\": 117", "\"vocab_size\": 118"), "config.json asks for");
        refused(CHANGE("\"embedding_size\": 12", "\"embedding_size\": 14"), "config.json asks for");
        refused(CHANGE("\"ran_layers\": 2", "\"ran_layers\": 3"),
                "there is no tensor ran-2/cell-initializer/kernel");
        refused(CHANGE("\"ran_layers\": 2", "\"ran_layers\": 1"),
                "is not part of a model of model_type \"rannet\"");
        refused(CHANGE("\"head_num\": 2", "\"head_num\": 0"), "head_num");
        refused(CHANGE("\"head_size\": 8", "\"head_size\": 7"), "must be even");
        refused(CHANGE("\"window_size\": 8", "\"window_size\": 3"), "is not below");
        refused(CHANGE("last", "first"), "cell_pooling \"first\" is not known");
        refused(CHANGE("vocab_size", "size"), "vocab_size");
}
