/* reading.c - the document of a record as a model reads it, whatever its task. */
#include "cmd/records/reading.h"

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
                      const struct ran_record *record, struct ran_error *err)
{
        struct cmd_document *d = &r->whole;

        d->spelling = ran_model_config(how->model)->spelling;
        d->unit = how->unit;
        int code = cmd_document_read(d, record, ran_model_tokenizer(how->model),
                                     ran_model_vocabulary(how->model), how->document, err);
        r->tokens = cmd_document_view(d);
        r->document = d;
        r->end = d->L;
        return code;
}

/* The last token is predicted, and read only behind a source: see ran-lm score. */
static int read_sequence(struct cmd_reading *r, const struct cmd_reading_how *how,
                         const struct ran_record *record, struct ran_error *err)
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
        int code = cmd_sequence_read(q, &sequence, record, err);
        if (code != RAN_OK)
                return code;
        size_t L = q->sources > 0 ? q->L : q->L - 1;
        if (L == 0)
                return ran_fail(err, RAN_EFORMAT,
                                "the document has one token, which is predicted from none");
        r->tokens = (struct ran_document){.ids = q->ids, .L = L};
        r->sources = q->sources < L ? q->sources : L;
        r->document = &q->document;
        r->first = q->shown;
        r->end = q->shown + q->document.L < L ? q->shown + q->document.L : L;
        return RAN_OK;
}

static int read_masked(struct cmd_reading *r, const struct cmd_reading_how *how,
                       const struct ran_record *record, struct ran_error *err)
{
        const struct ran_tokenizer *tokenizer = ran_model_tokenizer(how->model);
        const struct cmd_masked_how masked = {
                .tokenizer = tokenizer,
                .V = ran_model_vocabulary(how->model),
                .mask = tokenizer != NULL ? how->reserved.mask : RAN_MASK,
                .mask_token = "[MASK]",
                .none = true,
        };
        int code = cmd_masked_read(&r->masked, &masked, record, err);

        if (code != RAN_OK || r->masked.n == 0)
                return code == RAN_OK ? read_whole(r, how, record, err) : code;
        r->tokens = (struct ran_document){.ids = r->masked.ids, .L = r->masked.L};
        return RAN_OK;
}

int cmd_reading_read(struct cmd_reading *r, const struct cmd_reading_how *how,
                     const struct ran_record *record, struct ran_error *err)
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

        ran_buf_printf(out, "\"token\":%zu,", t);
        if (tokenizer == NULL) {
                ran_buf_printf(out, "\"id\":%lu", (unsigned long)r->tokens.ids[t]);
                return;
        }
        const char *piece = ran_tokenizer_piece(tokenizer, r->tokens.ids[t], &n);
        ran_buf_str(out, "\"piece\":");
        if (piece != NULL)
                ran_buf_json(out, piece, n);
        else
                ran_buf_str(out, "null");
        if (d == NULL || t < r->first || t >= r->end)
                return;
        if (d->from == CMD_FROM_TOKENS)
                ran_buf_printf(out, ",\"word\":%zu", d->encoding.word[i]);
        if (d->from == CMD_FROM_TOKENS || d->from == CMD_FROM_TEXT)
                ran_buf_printf(out, ",\"start\":%zu,\"end\":%zu", d->encoding.start[i],
                               d->encoding.end[i]);
}

void cmd_reading_add_run(const struct cmd_reading *r, size_t from, size_t to, struct ran_buf *out)
{
        const struct cmd_document *d = r->document;
        size_t first = from > r->first ? from : r->first, end = to < r->end ? to : r->end;

        ran_buf_printf(out, "\"tokens\":[%zu,%zu]", from, to);
        if (d != NULL && d->from == CMD_FROM_TEXT && first < end)
                ran_buf_printf(out, ",\"start\":%zu,\"end\":%zu",
                               d->encoding.start[first - r->first],
                               d->encoding.end[end - 1 - r->first]);
}
