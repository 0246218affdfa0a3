/* reading.c - reads the document of a record for a model of any task. */
#include "cmd/content/reading.h"

#include "cmd/formats/json.h"

int cmd_reading_init(struct cmd_reading_how *how, const struct ran_model *m, struct ran_error *err)
{
        const struct ran_config *c = ran_model_config(m);

        *how = (struct cmd_reading_how){.model = m};
        if (c->task != RAN_TASK_LM && c->task != RAN_TASK_MLM)
                return RAN_OK;
        return cmd_reserved_find(&how->reserved, ran_model_tokenizer(m), c->task, c->mask, err);
}

void cmd_reading_release(struct cmd_reading *r)
{
        cmd_sequence_release(&r->sequence);
        cmd_masked_release(&r->masked);
        cmd_document_release(&r->whole);
        *r = (struct cmd_reading){0};
}

/* All tokens are those of the document. */
static int read_whole(struct cmd_reading *r, const struct cmd_reading_how *how,
                      const struct record *record, struct ran_error *err)
{
        struct cmd_document *d = &r->whole;

        d->spelling = ran_model_config(how->model)->spelling;
        d->unit = how->unit;
        RAN_TRY(cmd_document_read(d, record, ran_model_tokenizer(how->model),
                                  ran_model_vocabulary(how->model), how->document, err));
        r->tokens = cmd_document_view(d);
        r->document = d;
        r->end = d->L;
        return RAN_OK;
}

/* Reads as ran-lm score does: the last token is predicted, and read only after a source. */
static int read_sequence(struct cmd_reading *r, const struct cmd_reading_how *how,
                         const struct record *record, struct ran_error *err)
{
        const struct ran_config *c = ran_model_config(how->model);
        const struct cmd_sequence_how sequence = {
                .tokenizer = ran_model_tokenizer(how->model),
                .V = ran_model_vocabulary(how->model),
                .mask = c->mask,
                .reserved = how->reserved,
                .end = true,
                .before = RAN_NO_ID,
        };
        struct cmd_sequence *q = &r->sequence;

        q->document.unit = how->unit;
        RAN_TRY(cmd_sequence_read(q, &sequence, record, err));
        size_t L = q->sources > 0 ? q->L : q->L - 1;
        if (L == 0)
                return ran_fail(err, RAN_EFORMAT,
                                "the document has one token, and nothing to predict it from");
        r->tokens = (struct ran_document){.ids = q->ids, .L = L};
        r->sources = q->sources < L ? q->sources : L;
        r->document = &q->document;
        r->first = q->shown;
        r->end = q->shown + q->document.L < L ? q->shown + q->document.L : L;
        return RAN_OK;
}

static int read_masked(struct cmd_reading *r, const struct cmd_reading_how *how,
                       const struct record *record, struct ran_error *err)
{
        const struct ran_tokenizer *tokenizer = ran_model_tokenizer(how->model);
        const struct cmd_masked_how masked = {
                .tokenizer = tokenizer,
                .V = ran_model_vocabulary(how->model),
                .mask = tokenizer != NULL ? how->reserved.mask : RAN_MASK,
                .mask_token = "[MASK]",
                .none = true,
        };

        RAN_TRY(cmd_masked_read(&r->masked, &masked, record, err));
        if (r->masked.n == 0)
                return read_whole(r, how, record, err);
        r->tokens = (struct ran_document){.ids = r->masked.ids, .L = r->masked.L};
        return RAN_OK;
}

int cmd_reading_read(struct cmd_reading *r, const struct cmd_reading_how *how,
                     const struct record *record, struct ran_error *err)
{
        r->document = NULL;
        r->sources = r->first = r->end = 0;
        switch (ran_model_config(how->model)->task) {
        case RAN_TASK_LM:
                return read_sequence(r, how, record, err);
        case RAN_TASK_MLM:
                return read_masked(r, how, record, err);
        default:
                return read_whole(r, how, record, err);
        }
}

void cmd_reading_add_token(const struct cmd_reading *r, const struct cmd_reading_how *how, size_t t,
                           struct ran_buf *out)
{
        const struct ran_tokenizer *tokenizer = ran_model_tokenizer(how->model);
        const struct cmd_document *d = r->document;
        size_t n, i = t - r->first;

        json_put_size(out, "token", t);
        if (tokenizer == NULL) {
                json_put_size(out, "id", r->tokens.ids[t]);
                return;
        }
        const char *token = ran_tokenizer_token(tokenizer, r->tokens.ids[t], &n);
        if (token != NULL)
                json_put_string(out, "piece", token, n);
        else
                json_put_raw(out, "piece", "null", 4);
        if (d == NULL || t < r->first || t >= r->end)
                return;
        if (d->from == CMD_FROM_TOKENS)
                json_put_size(out, "word", d->encoding.word[i]);
        if (d->from == CMD_FROM_TOKENS || d->from == CMD_FROM_TEXT) {
                json_put_size(out, "start", d->encoding.start[i]);
                json_put_size(out, "end", d->encoding.end[i]);
        }
}

void cmd_reading_add_run(const struct cmd_reading *r, size_t from, size_t to, struct ran_buf *out)
{
        const struct cmd_document *d = r->document;
        size_t first = from > r->first ? from : r->first, end = to < r->end ? to : r->end;

        json_name(out, "tokens");
        json_begin(out, '[');
        json_size(out, from);
        json_size(out, to);
        json_end(out, ']');
        if (d != NULL && d->from == CMD_FROM_TEXT && first < end) {
                json_put_size(out, "start", d->encoding.start[first - r->first]);
                json_put_size(out, "end", d->encoding.end[end - 1 - r->first]);
        }
}
