/* The file of gradients: what is in it, and what it is not made of. tests/cli/reference.bats
 * compares its values. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "corpus.h"
#include "file/model.h"
#include "gradients.h"
#include "test.h"
#include "toy.h"
#include "training.h"

struct bench {
        struct toy toy;
        struct ran_dataset data;
        char *model, *output, *other;
};

static void bench_init(struct bench *b)
{
        struct ran_config c = toy_config();
        struct ran_error err = {0};

        c.linear.wide = 20;
        toy_init(&b->toy, &c, 1, 0.3);
        corpus_make(&b->data, 20, 1, 200, false, 1);
        b->model = test_path("dump.ran");
        b->output = test_path("dump.safetensors");
        b->other = test_path("dump-other.safetensors");
        struct ran_parts parts = {.config = &b->toy.c,
                                  .layout = &b->toy.layout,
                                  .params = &b->toy.p,
                                  .V = b->toy.V,
                                  .C = b->toy.C};
        CHECK_OK(ran_model_write(b->model, NULL, &parts, &err), err);
}

static void bench_release(struct bench *b)
{
        ran_dataset_release(&b->data);
        toy_release(&b->toy);
        unlink(b->output);
        unlink(b->other);
        free(b->model);
        free(b->output);
        free(b->other);
}

/* A gradient for every tensor of the model, in its shape, and the loss. */
TEST(dump_has_a_gradient_for_each_tensor)
{
        struct ran_error err = {0};
        struct ran_bytes file, model;
        struct ran_tensors g, m;
        struct bench b;

        bench_init(&b);
        CHECK_OK(ran_dump_gradients(b.model, &b.data, 20, NULL, b.output, &err), err);
        CHECK_OK(ran_bytes_open(&file, b.output, &err), err);
        CHECK_OK(ran_bytes_open(&model, b.model, &err), err);
        REQUIRE(CHECK_OK(ran_tensors_read(&g, &file, &err), err));
        REQUIRE(CHECK_OK(ran_tensors_read(&m, &model, &err), err));
        CHECK_SIZE(g.n, m.n - 3); /* gradients do not train the linear model */
        CHECK(ran_tensors_find(&g, "loss") != NULL &&
              ran_tensors_find(&g, "loss")->dtype == RAN_DTYPE_F64);
        for (size_t i = 0; i < m.n; i++) {
                const struct ran_tensor *t = &m.tensor[i], *dt;
                char name[128] = "grad.";

                if (strncmp(t->name, "wide.", 5) == 0)
                        continue;
                dt = ran_tensors_find(&g, strcat(name, t->name));
                CHECK(dt != NULL && dt->dtype == RAN_DTYPE_F32 && dt->rank == t->rank &&
                      memcmp(dt->shape, t->shape, t->rank * sizeof(*t->shape)) == 0);
        }
        ran_tensors_release(&g);
        ran_tensors_release(&m);
        ran_bytes_release(&file);
        ran_bytes_release(&model);
        bench_release(&b);
}

TEST(dump_is_the_same_for_any_threads_and_of_the_documents_asked_for)
{
        struct ran_error err = {0};
        struct ran_pool *pool = ran_pool_new(7, &err);
        struct bench b;

        bench_init(&b);
        CHECK_OK(ran_dump_gradients(b.model, &b.data, 20, NULL, b.output, &err), err);
        CHECK_OK(ran_dump_gradients(b.model, &b.data, 20, pool, b.other, &err), err);
        CHECK(same_file(b.output, b.other));
        CHECK_OK(ran_dump_gradients(b.model, &b.data, 1000, pool, b.other, &err), err);
        CHECK(same_file(b.output, b.other)); /* all there are */
        CHECK_OK(ran_dump_gradients(b.model, &b.data, 19, pool, b.other, &err), err);
        CHECK(!same_file(b.output, b.other));
        ran_pool_free(pool);
        bench_release(&b);
}

static void check_refused(struct bench *b, size_t documents, int code, const char *sentence)
{
        struct ran_error err = {0};

        CHECK_SIZE((size_t)ran_dump_gradients(b->model, &b->data, documents, NULL, b->output, &err),
                   (size_t)code);
        CHECK(strstr(err.text, sentence) != NULL && !exists(b->output));
}

TEST(dump_of_what_cannot_be_is_refused)
{
        struct ran_error err = {0};
        struct ran_dataset none = {0};
        struct bench b;

        bench_init(&b);
        check_refused(&b, 0, RAN_EINVAL, "no documents");
        b.data.ids[3] = TOY_V;
        check_refused(&b, 20, RAN_EINVAL, "id 23 is not in the vocabulary of 23 tokens");
        ran_dataset_release(&b.data);
        b.data = none;
        check_refused(&b, 20, RAN_EINVAL, "no documents");
        corpus_make(&b.data, 3, 1, 5, false, 1);
        b.model[strlen(b.model) - 1] = 'x';
        check_refused(&b, 20, RAN_EIO, b.model);
        b.model[strlen(b.model) - 1] = 'n';
        CHECK_SIZE((size_t)ran_dump_gradients(b.model, &b.data, 3, NULL, "/dev/full", &err),
                   RAN_EIO);
        bench_release(&b);
}
