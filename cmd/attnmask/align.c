/* align.c - --align: what the tokens of a target looked at in their source, as JSON or as a
 * picture.
 *
 * A line of the picture is a token of the target, [END] the last; its weights are those of the
 * position that predicts it. A column is a token of the source. */
#include "cmd/attnmask/attnmask.h"

#include <stdlib.h>

#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/pages/page.h"

/* The alignment of the document at hand. */
struct alignment {
        const struct attnmask_model *a;
        const struct attnmask_scratch *s;
        size_t sources, rows;
        double *weight; /* (rows, sources) */
};

static int read_alignment(struct alignment *k, struct ran_error *err)
{
        const struct cmd_reading *r = &k->s->reading;
        const struct attnmask_selection *c = &k->a->selection;
        const struct attnmask_options *o = k->a->options;
        const bool one_layer = o->layer != NULL && c->layer_to - c->layer_from == 1,
                   one_head = o->head != NULL && c->head_to - c->head_from <= 1 &&
                              c->head_from != RAN_PROBE_MEAN;

        k->sources = r->sources;
        if (r->sources == 0 || r->tokens.L < r->sources + 1)
                return ran_fail(err, RAN_EFORMAT, "--align needs a source and a target");
        /* Rows predict the tokens of the target; none what would follow. */
        struct ran_document d = r->tokens;
        k->rows = d.L - r->sources;
        d.L--;
        k->weight = ran_alloc(k->rows * k->sources, sizeof *k->weight, err);
        if (k->weight == NULL)
                return RAN_ENOMEM;
        return ran_alignment(k->a->model, k->s->state, &d, k->sources,
                             one_layer ? c->layer_from : RAN_PROBE_MEAN,
                             !one_head         ? RAN_PROBE_MEAN
                             : c->head_to == 0 ? RAN_ALIGN_REVIEW
                                               : c->head_from,
                             k->weight, err);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void add_row(struct ran_buf *out, const struct alignment *k, struct attnmask_scratch *s,
                    size_t row)
{
        const double *weight = k->weight + row * k->sources;
        size_t n = 0;

        json_begin(out, '{');
        cmd_reading_add_token(&s->reading, &k->a->how, k->sources + row, out);
        if (k->a->options->top > 0) {
                for (size_t j = 0; j < k->sources; j++)
                        if (weight[j] > 0)
                                s->ranked[n++] = (struct attnmask_weight){weight[j], j};
                attnmask_add_top(out, k->a, s, RAN_AXIS_TOKENS, n, "weight");
        }
        if (k->a->options->weights) {
                json_name(out, "weights");
                attnmask_add_numbers(out, weight, k->sources);
        }
        json_end(out, '}');
}

int attnmask_align(const struct attnmask_model *a, struct attnmask_scratch *s, struct ran_buf *out,
                   struct ran_error *err)
{
        struct alignment k = {.a = a, .s = s};
        int rc = read_alignment(&k, err);

        if (rc == RAN_OK)
                rc = RAN_GROW(s->ranked, s->ranked_cap, k.sources, err);
        if (rc == RAN_OK) {
                json_begin(out, '{');
                json_put_size(out, "sources", k.sources);
                json_name(out, "targets");
                json_begin(out, '[');
                for (size_t i = 0; i < k.rows; i++)
                        add_row(out, &k, s, i);
                json_end(out, ']');
                json_end(out, '}');
        }
        free(k.weight);
        return rc;
}

/* ---- a picture ------------------------------------------------------------------------------ */

/* Without text in the picture, a message names lines and columns. */
static void explain(const struct picture *p)
{
        struct ran_buf names = {0};

        for (size_t i = 0; i < p->height + p->width; i++)
                ran_buf_printf(&names, "%s%s",
                               i == 0           ? ""
                               : i == p->height ? "; columns: "
                                                : " ",
                               i < p->height ? p->y_words[i] : p->x_words[i - p->height]);
        ran_buf_char(&names, '\0');
        cmd_note("lines: %s", names.data);
        ran_buf_release(&names);
}

static int draw(const struct alignment *k, const struct cmd_line *line, struct picture *p,
                struct cmd_sink *out, struct ran_error *err)
{
        const int format = k->a->options->format;

        RAN_TRY(picture_init(p, 1, k->sources, k->rows, err));
        p->x_name = "source";
        p->y_name = "target";
        p->legend = "attention to the source (logarithmic scale)";
        RAN_TRY(attnmask_words(&p->x_words, k->a, k->s, line, RAN_AXIS_TOKENS, 0, k->sources, err));
        RAN_TRY(attnmask_words(&p->y_words, k->a, k->s, line, RAN_AXIS_TOKENS, k->sources,
                               k->sources + k->rows, err));
        if (format == PICTURE_HTML)
                attnmask_page_begin(k->a, k->s, line, "Attention to the source", &out->buf);
        else
                p->title = attnmask_title("Attention to the source", line);
        RAN_TRY(attnmask_draw(k->a->options, p, k->weight,
                              picture_scale(k->weight, k->rows * k->sources), out, err));
        if (format == PICTURE_HTML)
                page_end(&out->buf);
        if (format == PICTURE_TEXT)
                explain(p);
        return RAN_OK;
}

int attnmask_align_draw(const struct attnmask_model *a, struct attnmask_scratch *s,
                        const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err)
{
        struct alignment k = {.a = a, .s = s};
        struct picture p = {0};
        int rc = read_alignment(&k, err);

        if (rc == RAN_OK)
                rc = draw(&k, line, &p, out, err);
        picture_release(&p);
        free(k.weight);
        return rc;
}
