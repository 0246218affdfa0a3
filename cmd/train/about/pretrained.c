/* pretrained.c - what a model says about the encoder that others trained. */
#include "cmd/train/about/about.h"

#include <string.h>

/* Appends `before` and the member if it is a string that is not empty. */
static void add_string(struct ran_buf *out, const cJSON *said, const char *before, const char *name)
{
        const char *text = train_about_string(said, name);

        if (text != NULL && text[0] != '\0') {
                ran_buf_str(out, before);
                ran_buf_shown(out, text, strlen(text));
        }
}

void train_pretrained_name(const cJSON *said, struct ran_buf *out)
{
        add_string(out, said, "", "name");
        add_string(out, said, ", licence ", "license");
}

void train_pretrained_say(const struct about *a, struct ran_buf *out)
{
        const struct ran_config *c = ran_model_config(a->model);
        const cJSON *said = a->pretrained;

        add_string(out, said, "", "name");
        ran_buf_str(out, out->len > 0 ? ": " : "");
        add_string(out, said, "", "model_type");
        add_string(out, said, " ", "architecture");
        ran_buf_printf(out, ", %zu layer%s, width %zu, %zu tokens a window", c->layers,
                       c->layers == 1 ? "" : "s", c->dim,
                       ran_config_uses(c, "max_length") ? c->bert.max_length : c->window);
        add_string(out, said, ", pooling ", "pooling");
        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(said, "pooling_assumed")))
                ran_buf_str(out, " (assumed: there is no modules.json)");
        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(said, "head_left_out")))
                ran_buf_str(out, ", without its head");
        /* It is easy to overlook that an encoder has prompts and that none was chosen. */
        if (cJSON_HasObjectItem(said, "prompt")) {
                ran_buf_str(out, ", prompt \"");
                add_string(out, said, "", "prompt");
                ran_buf_str(out, "\"");
        } else if (ran_model_metadata(a->model, "prompts") != NULL) {
                ran_buf_str(out, ", made for prompts, read without (--prompt)");
        }
        add_string(out, said, ", licence ", "license");
        if (!cJSON_HasObjectItem(said, "license"))
                ran_buf_str(out, ", no licence named");
}
