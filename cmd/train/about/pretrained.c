/* pretrained.c - what a model says about the encoder that others trained, and the first numbers of
 * its vector of a sentence, to compare with those of another library. */
#include "cmd/train/about/about.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"

static const char sentence[] = "The quick brown fox jumps over the lazy dog.";
enum { SHOWN = 8 };

/* ---- what it is ------------------------------------------------------------------------------ */

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

/* ---- the vector of a sentence ---------------------------------------------------------------- */

/* Appends [x, y, ...]; nothing for a model that gives no vectors, or none of a text. */
static void add_vector(const struct about *a, struct ran_buf *out)
{
        struct ran_error err;

        if (ran_model_config(a->model)->task != RAN_TASK_EMBED || a->tokenizer == NULL)
                return;
        struct ran_embedder *e = ran_embedder_new(a->model, &err);
        struct ran_state *s = ran_state_new(a->model, NULL);
        const size_t width = e != NULL ? ran_embedder_width(e) : 0;
        float *v = ran_new_floats(width);
        struct ran_encoding tokens = {0};

        if (e == NULL ||
            ran_tokenizer_encode(a->tokenizer, sentence, strlen(sentence), &tokens, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s: %s", a->path, err.text);
        const struct ran_document d = {.ids = tokens.ids, .L = tokens.n};
        if (ran_embed(e, s, &d, v, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s: %s", a->path, err.text);
        ran_encoding_release(&tokens);
        for (size_t i = 0; i < width && i < SHOWN; i++) {
                ran_buf_str(out, i > 0 ? ", " : "[");
                ran_buf_float(out, v[i]);
        }
        ran_buf_str(out, "]");
        free(v);
        ran_state_free(s);
        ran_embedder_free(e);
}

void train_pretrained_sample(const struct about *a, struct ran_buf *out)
{
        struct ran_buf vector = {0};

        add_vector(a, &vector);
        if (vector.len > 0) {
                ran_buf_printf(out, "\"%s\" begins with ", sentence);
                ran_buf_add(out, vector.data, vector.len);
        }
        ran_buf_release(&vector);
}

void train_pretrained_members(const struct about *a, struct report *r)
{
        const char *said = ran_model_metadata(a->model, "pretrained"),
                   *prompts = ran_model_metadata(a->model, "prompts");
        struct ran_buf vector = {0};

        if (a->pretrained == NULL)
                return;
        report_bytes(r, REPORT_RAW, "pretrained", NULL, said, strlen(said));
        if (prompts != NULL)
                report_bytes(r, REPORT_RAW, "prompts", NULL, prompts, strlen(prompts));
        add_vector(a, &vector);
        if (vector.len > 0) {
                report_begin(r, REPORT_OBJECT, "sample", NULL);
                report_string(r, "text", NULL, sentence);
                report_bytes(r, REPORT_RAW, "vector", NULL, vector.data, vector.len);
                report_end(r);
        }
        ran_buf_release(&vector);
}
