/* map-label.c - attribution of a label to tokens: each token's contribution to its log odds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/attnmask/map.h"
#include "cmd/options/message.h"

/* ---- tasks ---------------------------------------------------------------------------------- */

/* The label to explain: the row of the output, its class and probability (NaN: unknown). */
struct answer {
        size_t row, class;
        float p;
};

static int ask_classifier(const struct attnmask_model *a, struct attnmask_scratch *s, size_t token,
                          struct answer *answer, struct ran_error *err)
{
        const struct ran_model *m = a->model;
        size_t C = ran_model_classes(m);
        float *p = ran_alloc_floats(2 * C, err);

        (void)token;
        if (p == NULL)
                return RAN_ENOMEM;
        int rc = ran_classify(m, s->state, &s->reading.tokens, p + C, NULL, err);
        if (rc == RAN_OK) {
                ran_probabilities(ran_model_config(m), p + C, C, p);
                answer->class = a->class != SIZE_MAX ? a->class : ran_most_probable(p, C);
                answer->p = p[answer->class];
        }
        free(p);
        return rc;
}

static int ask_tagger(const struct attnmask_model *a, struct attnmask_scratch *s, size_t token,
                      struct answer *answer, struct ran_error *err)
{
        const struct ran_document *d = &s->reading.tokens;
        uint32_t *tags = ran_alloc(d->words, sizeof *tags, err);
        float *score = ran_alloc_floats(d->words, err);
        int rc = tags != NULL && score != NULL
                         ? ran_tag(a->model, s->state, d, tags, score, NULL, err)
                         : RAN_ENOMEM;

        if (rc == RAN_OK) {
                for (size_t i = 0; i < d->words && d->positions[i] <= token; i++)
                        answer->row = i;
                answer->class = a->class != SIZE_MAX ? a->class : tags[answer->row];
                answer->p = answer->class == tags[answer->row] ? score[answer->row] : NAN;
        }
        free(tags);
        free(score);
        return rc;
}

bool map_has_labels(const struct ran_model *m)
{
        return ran_task_has_labels(ran_model_config(m)->task);
}

bool map_labels_words(const struct ran_model *m)
{
        return map_has_labels(m) && ran_task_reads_words(ran_model_config(m)->task);
}

static size_t class_of(const struct ran_model *m, const char *name)
{
        for (size_t c = 0; c < ran_model_classes(m); c++)
                if (strcmp(ran_model_label(m, c), name) == 0)
                        return c;
        cmd_usage("the model has no label '%s'", name);
}

void map_label_select(struct attnmask_model *a)
{
        const struct attnmask_options *o = a->options;
        const struct ran_model *m = a->model;

        if (!map_has_labels(m))
                cmd_usage("--map label: the model has no labels%s",
                          ran_config_has_layers(ran_model_config(m)) ? "; see --map tokens" : "");
        if (map_labels_words(m) && o->row == NULL)
                cmd_usage("--map label: the model tags words: give --row I, a token of the word");
        if (!map_labels_words(m) && o->row != NULL)
                cmd_usage("--map label: the label is of the whole document: leave out --row");
        if (o->label != NULL)
                a->class = class_of(m, o->label);
}

/* ---- gains ---------------------------------------------------------------------------------- */

/* Fills s->value with the gain of each token: its contribution to the log odds. */
static int explain(const struct attnmask_model *a, struct attnmask_scratch *s, size_t token,
                   struct answer *answer, struct ran_error *err)
{
        *answer = (struct answer){0};
        RAN_TRY((map_labels_words(a->model) ? ask_tagger : ask_classifier)(a, s, token, answer,
                                                                           err));
        return ran_explain_label(s->explainer, answer->row, answer->class, RAN_EXPLAIN_BEST,
                                 s->value, err);
}

int map_label_add(struct ran_buf *out, const struct attnmask_model *a, struct attnmask_scratch *s,
                  struct ran_error *err)
{
        struct map_range rows, columns;
        struct answer answer;

        RAN_TRY(map_ranges(a, s, &rows, &columns, err));
        RAN_TRY(explain(a, s, rows.from, &answer, err));
        if (a->options->row != NULL) {
                ran_buf_str(out, ",\"row\":{");
                cmd_reading_add_token(&s->reading, &a->how, rows.from, out);
                ran_buf_char(out, '}');
        }
        const char *label = ran_model_label(a->model, answer.class);
        ran_buf_str(out, ",\"label\":");
        ran_buf_json(out, label, strlen(label));
        ran_buf_str(out, ",\"score\":");
        ran_buf_float(out, answer.p);
        RAN_TRY(map_add_top(out, a, s, "gain", columns, err));
        if (a->options->weights) {
                ran_buf_printf(out, ",\"from\":%zu,\"gains\":", columns.from);
                map_add_numbers(out, s->value + columns.from, columns.to - columns.from);
        }
        return RAN_OK;
}

int map_label_values(const struct attnmask_model *a, struct attnmask_scratch *s,
                     struct map_said *said, struct ran_error *err)
{
        struct map_range rows, columns;
        struct answer answer;

        RAN_TRY(map_ranges(a, s, &rows, &columns, err));
        RAN_TRY(explain(a, s, rows.from, &answer, err));
        *said = (struct map_said){.label = ran_model_label(a->model, answer.class),
                                  .p = (double)answer.p};
        return RAN_OK;
}

/* ---- a picture ------------------------------------------------------------------------------ */

/* Whether a picture cannot contain the character at s: it is invalid in XML. Control characters are
 * replaced elsewhere. */
static bool is_foreign(const char *s)
{
        return strncmp(s, "\xef\xbf\xbe", 3) == 0 || strncmp(s, "\xef\xbf\xbf", 3) == 0;
}

static char *name_of(const char *before, const char *label)
{
        struct ran_buf name = {0}, shown = {0};

        ran_buf_printf(&name, "%s ", before);
        for (const char *s = label; *s != '\0'; s++) {
                bool foreign = is_foreign(s);
                ran_buf_char(&name, foreign ? '?' : *s);
                s += foreign && *s == '\xef' ? 2 : 0;
        }
        if (!name.failed)
                ran_buf_shown(&shown, name.data, name.len);
        ran_buf_char(&shown, '\0');
        shown.failed |= name.failed;
        if (shown.failed)
                ran_buf_release(&shown);
        ran_buf_release(&name);
        return shown.data;
}

int map_label_panels(const struct attnmask_model *a, struct attnmask_scratch *s,
                     struct attnmask_panels *p, struct map_table *t, struct ran_error *err)
{
        struct map_range rows, columns;
        struct answer answer;

        RAN_TRY(map_ranges(a, s, &rows, &columns, err));
        RAN_TRY(explain(a, s, rows.from, &answer, err));
        t->columns = map_blocks(columns, attnmask_size(a->options));
        *p = (struct attnmask_panels){.n = 2, .width = t->columns.n, .height = 1};
        p->value = ran_grow(s->sum, &s->sum_cap, 2 * p->width, sizeof *s->sum, err);
        s->sum = p->value != NULL ? p->value : s->sum;
        p->names = ran_alloc(2, sizeof *p->names, err);
        if (p->value == NULL || p->names == NULL)
                return RAN_ENOMEM;
        const char *label = ran_model_label(a->model, answer.class);
        p->names[0] = name_of("for", label);
        p->names[1] = name_of("against", label);
        if (p->names[0] == NULL || p->names[1] == NULL)
                return ran_fail(err, RAN_ENOMEM, "out of memory");
        for (size_t i = 0; i < p->width; i++) {
                double gain = map_sum(s->value, map_block(&t->columns, i));

                p->value[i] = fmax(gain, 0);
                p->value[p->width + i] = fmax(-gain, 0);
        }
        attnmask_scale(p);
        p->least = fmax(p->least, p->most / 20); /* gains are sums: no need for equal ratios */
        return RAN_OK;
}
