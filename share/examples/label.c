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

static int label(const struct ran_model *m, const struct ran_bytes *text, struct ran_error *err)
{
        struct ran_state *state = ran_state_new(m, NULL); /* one for each thread */
        float *p = ran_new_floats(ran_model_classes(m));
        int code = ran_classify_text(m, state, (const char *)text->data, text->size, p, err);

        for (size_t c = 0; code == RAN_OK && c < ran_model_classes(m); c++)
                printf("%s\t%.6g\n", ran_model_label(m, c), p[c]);
        free(p);
        ran_state_free(state);
        return code;
}

int main(int argc, char **argv)
{
        struct ran_bytes text = {0};
        struct ran_error err;

        if (argc != 3) {
                fprintf(stderr, "usage: label MODEL FILE\n");
                return 2;
        }
        struct ran_model *m = ran_model_open(argv[1], false, &err);
        int code = m == NULL ? (int)err.code : ran_bytes_open(&text, argv[2], &err);
        if (code == RAN_OK)
                code = label(m, &text, &err);
        if (code != RAN_OK)
                fprintf(stderr, "label: %s\n", err.text);
        ran_bytes_release(&text);
        ran_model_free(m);
        return code != RAN_OK || fclose(stdout) != 0 ? 3 : 0;
}
