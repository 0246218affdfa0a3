/* rannet.c - the folder of the package rannet 0.3.1, in which the authors of the RAN publish their
 * pretrained weights: a RAN of published cells (part/ran/paper.h). See folder.h. */
#include "hf/folder.h"
#include "ran/model.h"

enum { WIDEST = 65536, MOST_LAYERS = 1024, MOST_HEADS = 4096, MOST_TOKENS = 1 << 28 };

/* ---- config.json ----------------------------------------------------------------------------- */

/* It names no type. Of its members only vocab_size has to be there. */
bool ran_hf_is_rannet(const cJSON *config)
{
        static const char *const members[] = {"ran_layers", "head_num", "window_size",
                                              "min_window_size", "embedding_size"};

        for (size_t i = 0; i < sizeof members / sizeof *members; i++)
                if (ran_cjson_said(config, members[i]))
                        return !ran_cjson_said(config, "model_type");
        return false;
}

/* The defaults are the package's. */
int ran_hf_read_rannet(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        static const struct ran_hf_word poolings[] = {
                {"last", RAN_POOL_LAST}, {"mean", RAN_POOL_MEAN}, {"max", RAN_POOL_MAX}, {NULL, 0}};
        struct ran_config *c = &f->config;
        const char *pooling;

        f->family = RAN_HF_RANNET;
        ran_hf_copy(&f->type, "rannet");
        c->encoder = RAN_ENCODER_RAN;
        c->ran.cell = RAN_CELL_PUBLISHED;
        c->task = RAN_TASK_EMBED;
        c->rotary = true;
        c->pooling = RAN_POOL_MAX;
        c->dim = 512, c->layers = 2, c->heads = 8, c->head_dim = 128;
        c->window = 256, c->min_window = 16;
        RAN_TRY(ran_cjson_need_size(all, "vocab_size", 1, MOST_TOKENS, &f->vocabulary, err));
        RAN_TRY(ran_cjson_size(all, "embedding_size", 1, WIDEST, &c->dim, err));
        RAN_TRY(ran_cjson_size(all, "ran_layers", 1, MOST_LAYERS, &c->layers, err));
        RAN_TRY(ran_cjson_size(all, "head_num", 1, MOST_HEADS, &c->heads, err));
        RAN_TRY(ran_cjson_size(all, "head_size", 1, WIDEST, &c->head_dim, err));
        RAN_TRY(ran_cjson_size(all, "window_size", 1, 1 << 20, &c->window, err));
        RAN_TRY(ran_cjson_size(all, "min_window_size", 0, 1 << 20, &c->min_window, err));
        if (c->min_window >= c->window)
                return ran_fail(err, RAN_EFORMAT,
                                "\"min_window_size\" %zu is not below \"window_size\" %zu",
                                c->min_window, c->window);
        c->min_window += c->min_window == 0;
        if (c->head_dim % 2 != 0)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "\"head_size\" %zu: rotary positions turn pairs, so it must be even",
                        c->head_dim);
        RAN_TRY(ran_cjson_string(all, "cell_pooling", &pooling, err));
        if (ran_hf_look_up(poolings, pooling != NULL ? pooling : "last", &c->ran.cell_pooling))
                return RAN_OK;
        return ran_fail(err, RAN_EFORMAT,
                        "cell_pooling \"%s\" is not known: \"last\", \"mean\" and \"max\" are",
                        pooling);
}

/* ---- the checkpoint -------------------------------------------------------------------------- */

int ran_hf_rannet_checkpoint(struct ran_buf *name, const char *folder, struct ran_error *err)
{
        const size_t found = ran_hf_find_files(folder, ".index", name);

        if (found == 1) {
                name->len -= sizeof ".index"; /* and the NUL */
                return RAN_OK;
        }
        ran_buf_release(name);
        if (found > 1)
                return ran_fail(err, RAN_EFORMAT,
                                "it has %zu checkpoints, files NAME.index: leave only one of them",
                                found);
        return ran_fail(err, RAN_EFORMAT,
                        "its config.json is that of the package rannet, but it has no checkpoint: "
                        "files NAME.index and NAME.data-00000-of-00001");
}
