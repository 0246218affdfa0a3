/* sequence.c - the document of a record as a language model reads it. */
#include "cmd/records/sequence.h"
#include "cmd/formats/foreign.h"

#include <stdlib.h>
#include <string.h>

void cmd_sequence_release(struct cmd_sequence *s)
{
        cmd_document_release(&s->document);
        free(s->ids);
        *s = (struct cmd_sequence){0};
}

/* ---- reserved tokens ------------------------------------------------------------------------ */

int cmd_reserved_find(struct cmd_reserved *r, const struct ran_tokenizer *tokenizer, int task,
                      int mask, struct ran_error *err)
{
        const bool lm = task == RAN_TASK_LM, prefix = mask == RAN_MASK_PREFIX;
        const struct {
                const char *piece;
                uint32_t *id;
                bool needed;
        } tokens[] = {
                {"[UNK]", &r->unk, false},        {"[MASK]", &r->mask, !lm},
                {"[SEP]", &r->sep, lm && prefix}, {"[START]", &r->start, lm && !prefix},
                {"[END]", &r->end, lm},
        };

        for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
                const char *piece = tokens[i].piece;
                *tokens[i].id = RAN_NO_ID;
                if (tokenizer == NULL ||
                    ran_tokenizer_find(tokenizer, piece, strlen(piece), tokens[i].id))
                        continue;
                *tokens[i].id = RAN_NO_ID;
                if (tokens[i].needed)
                        return ran_fail(err, RAN_EINVAL,
                                        "the vocabulary has no piece %s, which a model that %s "
                                        "needs",
                                        piece, lm ? "continues texts" : "fills gaps in texts");
        }
        return RAN_OK;
}

/* ---- putting ids together ------------------------------------------------------------------- */

static int add(struct cmd_sequence *s, const uint32_t *ids, size_t n, struct ran_error *err)
{
        if (n > SIZE_MAX - s->L)
                return ran_fail(err, RAN_ENOMEM, "a document of more than %zu tokens", s->L);
        uint32_t *grown = ran_grow(s->ids, &s->cap, s->L + n, sizeof *grown, err);
        if (grown == NULL)
                return RAN_ENOMEM;
        s->ids = grown;
        if (n > 0)
                memcpy(grown + s->L, ids, n * sizeof *ids);
        s->L += n;
        return RAN_OK;
}

static int add_document(struct cmd_sequence *s, struct ran_error *err)
{
        s->shown = s->L;
        return add(s, s->document.ids, s->document.L, err);
}

static int add_end(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                   struct ran_error *err)
{
        s->ended = how->end;
        return how->end ? add(s, &how->reserved.end, 1, err) : RAN_OK;
}

/* After what was there before, or else after `otherwise` (RAN_NO_ID: nothing). */
static int begin(struct cmd_sequence *s, const struct cmd_sequence_how *how, uint32_t otherwise,
                 struct ran_error *err)
{
        uint32_t id = how->before != RAN_NO_ID ? how->before : otherwise;

        s->L = s->sources = 0;
        s->ended = false;
        return id != RAN_NO_ID ? add(s, &id, 1, err) : RAN_OK;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static int add_text(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                    struct ran_error *err)
{
        int code = begin(s, how, how->reserved.start, err);

        if (code == RAN_OK)
                code = add_document(s, err);
        if (code == RAN_OK)
                code = add_end(s, how, err);
        s->first = 1;
        return code;
}

/* The document is the source. */
static int add_source(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                      struct ran_error *err)
{
        if (s->document.L == 0)
                return ran_fail(err, RAN_EFORMAT, "the source has no tokens");
        int code = begin(s, how, RAN_NO_ID, err);
        if (code == RAN_OK)
                code = add_document(s, err);
        if (code == RAN_OK)
                code = add(s, &how->reserved.sep, 1, err);
        s->sources = s->first = s->L;
        return code;
}

int cmd_sequence_read_text(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                           const char *text, size_t n, struct ran_error *err)
{
        struct cmd_document *d = &s->document;
        int code = ran_tokenizer_encode(how->tokenizer, text, n, &d->encoding, err);

        d->from = CMD_FROM_TEXT;
        d->ids = d->encoding.ids;
        d->L = d->of = d->encoding.n;
        if (code != RAN_OK)
                return code;
        return how->mask == RAN_MASK_PREFIX ? add_source(s, how, err) : add_text(s, how, err);
}

/* ---- source and target ---------------------------------------------------------------------- */

static bool has(const struct ran_record *record, const char *name)
{
        const struct ran_member *m = ran_record_find(record, name, NULL);

        return m != NULL && m->type != '0';
}

static int read_pair(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                     const struct ran_record *record, struct ran_error *err)
{
        struct cmd_document *d = &s->document;

        if (!has(record, "source"))
                return ran_fail(err, RAN_EFORMAT,
                                "no \"source\": this model goes from a source to a target");
        if (!how->ask && !has(record, "target"))
                return ran_fail(err, RAN_EFORMAT, "there is a \"source\", but no \"target\"");
        int code = cmd_document_read_member(d, record, "source", how->tokenizer, err);
        if (code == RAN_OK)
                code = add_source(s, how, err);
        if (code != RAN_OK || how->ask)
                return code;
        code = cmd_document_read_member(d, record, "target", how->tokenizer, err);
        d->empty = false;
        if (code == RAN_OK)
                code = add_document(s, err);
        return code == RAN_OK ? add_end(s, how, err) : code;
}

/* ---- bare ids ------------------------------------------------------------------------------- */

static int bad_segments(struct ran_error *err)
{
        return ran_fail(
                err, RAN_EFORMAT,
                "\"segments\" must be an array of as many numbers as \"ids\": 0 for each of "
                "the source, and then 1");
}

static int read_segments(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                         const struct ran_record *record, struct ran_error *err)
{
        const struct ran_member *m = ran_record_find(record, "segments", NULL);
        struct ran_span item;
        size_t pos = 0, n = 0, segment, last = 0;
        char type;

        if (m == NULL || m->type == '0') {
                s->sources = s->L;
                return how->ask ? RAN_OK
                                : ran_fail(err, RAN_EFORMAT,
                                           "no \"segments\": this model must know which of the ids "
                                           "are the source");
        }
        if (m->type != 'a')
                return bad_segments(err);
        s->sources = 0;
        for (; ran_json_next(record->line, m->value, &pos, NULL, &item, &type); n++) {
                const char *text = record->line + item.begin;
                if (type != 'n' || !ran_parse_size(text, item.end - item.begin, &segment) ||
                    segment > 1 || segment < last)
                        return bad_segments(err);
                s->sources += segment == 0;
                last = segment;
        }
        return n == s->L ? RAN_OK : bad_segments(err);
}

static int add_ids(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                   const struct ran_record *record, struct ran_error *err)
{
        int code = begin(s, how, RAN_NO_ID, err);

        if (code == RAN_OK)
                code = add_document(s, err);
        if (code == RAN_OK && how->mask == RAN_MASK_PREFIX)
                code = read_segments(s, how, record, err);
        s->first = s->sources > 0 ? s->sources : 1;
        return code;
}

/* ---- the record ----------------------------------------------------------------------------- */

int cmd_sequence_read(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                      const struct ran_record *record, struct ran_error *err)
{
        struct cmd_document *d = &s->document;
        const bool prefix = how->mask == RAN_MASK_PREFIX;

        d->empty = false;
        if (prefix && how->tokenizer != NULL && !has(record, "ids"))
                return read_pair(s, how, record, err);
        if (!prefix && has(record, "source") && !has(record, "encoding") && !has(record, "ids") &&
            foreign_tokens(record) == NULL && foreign_text(record) == NULL)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "a \"source\" is for a model with the mask prefix; this one goes on "
                        "from a \"text\"");
        int code = cmd_document_read(d, record, how->tokenizer, how->V, NULL, err);
        if (code != RAN_OK)
                return code;
        return d->from == CMD_FROM_IDS ? add_ids(s, how, record, err) : add_text(s, how, err);
}
