/* label.c - label one text with the library: what ran-classify does, without the records
 *
 *     cc -o label label.c $(pkg-config --cflags --libs ran)
 *     ./label model.ran article.txt
 *
 * Prints each label and its probability, with a tab between. The headers that ran.h includes
 * document each function.
 */
#include <ran.h>
#include <stdlib.h>

struct labeller {
        struct ran_model *model;
        struct ran_state *state; /* one for each thread; the model can be shared */
        struct ran_encoding encoding;
        float *logits, *p; /* (C) */
};

static int labeller_open(struct labeller *l, const char *path, struct ran_error *err)
{
        l->model = ran_model_open(path, false, err);
        if (l->model == NULL)
                return err->code;
        if (ran_model_config(l->model)->task != RAN_TASK_CLASSIFY)
                return ran_fail(err, RAN_EINVAL, "%s is no classifier", path);
        if (ran_model_tokenizer(l->model) == NULL)
                return ran_fail(err, RAN_EINVAL, "%s has no vocabulary: it takes ids only", path);
        l->state = ran_state_new(l->model, NULL, err);
        l->logits = ran_alloc_floats(ran_model_classes(l->model), err);
        l->p = ran_alloc_floats(ran_model_classes(l->model), err);
        return l->state == NULL || l->logits == NULL || l->p == NULL ? err->code : RAN_OK;
}

static void labeller_close(struct labeller *l)
{
        free(l->logits);
        free(l->p);
        ran_encoding_release(&l->encoding);
        ran_state_free(l->state);
        ran_model_free(l->model);
}

/* Fills l->p. */
static int label(struct labeller *l, const char *text, size_t n, struct ran_error *err)
{
        const struct ran_model *m = l->model;
        const struct ran_config *c = ran_model_config(m);

        if (ran_utf8_valid(text, n) < n)
                return ran_fail(err, RAN_EFORMAT, "the text is not UTF-8");
        int code = ran_tokenizer_encode(ran_model_tokenizer(m), text, n, &l->encoding, err);
        if (code == RAN_OK && c->spelling > 0)
                code = ran_encoding_spell(&l->encoding, 0, text, n, c->spelling, err);
        if (code != RAN_OK)
                return code;
        if (l->encoding.n == 0)
                return ran_fail(err, RAN_EFORMAT, "the text has no tokens");
        const struct ran_document d = {
                .ids = l->encoding.ids, .L = l->encoding.n, .spelling = l->encoding.spelling};
        code = ran_classify(m, l->state, &d, l->logits, NULL, err);
        if (code == RAN_OK)
                ran_probabilities(c, l->logits, ran_model_classes(m), l->p);
        return code;
}

static int run(struct labeller *l, char **argv, struct ran_error *err)
{
        struct ran_bytes text;
        int code = labeller_open(l, argv[1], err);

        if (code == RAN_OK)
                code = ran_bytes_open(&text, argv[2], err);
        if (code != RAN_OK)
                return code;
        code = label(l, (const char *)text.data, text.size, err);
        ran_bytes_release(&text);
        return code;
}

int main(int argc, char **argv)
{
        struct labeller l = {0};
        struct ran_error err;

        if (argc != 3) {
                fprintf(stderr, "usage: label MODEL FILE\n");
                return 2;
        }
        int code = run(&l, argv, &err);
        if (code != RAN_OK)
                fprintf(stderr, "label: %s\n", err.text);
        for (size_t c = 0; code == RAN_OK && c < ran_model_classes(l.model); c++)
                printf("%s\t%.6g\n", ran_model_label(l.model, c), l.p[c]);
        labeller_close(&l);
        return code != RAN_OK || fclose(stdout) != 0 ? 3 : 0;
}
