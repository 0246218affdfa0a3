/* sequence.c - reads the document of a record for a language model. */
#include "cmd/content/reading.h"

#include <stdlib.h>
#include <string.h>

void cmd_sequence_release(struct cmd_sequence *s)
{
        cmd_document_release(&s->document);
        free(s->ids);
        *s = (struct cmd_sequence){0};
}

/* ---- putting ids together ------------------------------------------------------------------- */

static void add(struct cmd_sequence *s, const uint32_t *ids, size_t n)
{
        RAN_ROOM(s->ids, s->cap, s->L + n);
        if (n > 0)
                memcpy(s->ids + s->L, ids, n * sizeof *ids);
        s->L += n;
}

static void add_document(struct cmd_sequence *s)
{
        s->shown = s->L;
        add(s, s->document.ids, s->document.L);
}

static void add_end(struct cmd_sequence *s, const struct cmd_sequence_how *how)
{
        s->ended = how->end;
        add(s, &how->reserved.end, how->end);
}

/* Begins with the token before the document, else with `otherwise` (RAN_NO_ID: nothing). */
static void begin(struct cmd_sequence *s, const struct cmd_sequence_how *how, uint32_t otherwise)
{
        const uint32_t id = how->before != RAN_NO_ID ? how->before : otherwise;

        s->L = s->sources = 0;
        s->ended = false;
        add(s, &id, id != RAN_NO_ID);
}

/* ---- texts ---------------------------------------------------------------------------------- */

static void add_text(struct cmd_sequence *s, const struct cmd_sequence_how *how)
{
        s->first = 1;
        begin(s, how, how->reserved.start);
        add_document(s);
        add_end(s, how);
}

/* The document is the source. */
static int add_source(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                      struct ran_error *err)
{
        if (s->document.L == 0)
                return ran_fail(err, RAN_EFORMAT, "the source has no tokens");
        begin(s, how, RAN_NO_ID);
        add_document(s);
        add(s, &how->reserved.sep, 1);
        s->sources = s->first = s->L;
        return RAN_OK;
}

int cmd_sequence_read_text(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                           const char *text, size_t n, struct ran_error *err)
{
        struct cmd_document *d = &s->document;

        RAN_TRY(ran_tokenizer_encode(how->tokenizer, text, n, &d->encoding, err));
        d->from = CMD_FROM_TEXT;
        d->ids = d->encoding.ids;
        d->L = d->uncut = d->encoding.n;
        if (how->mask == RAN_MASK_PREFIX)
                return add_source(s, how, err);
        add_text(s, how);
        return RAN_OK;
}

/* ---- source and target ---------------------------------------------------------------------- */

static int read_pair(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                     const struct record *record, struct ran_error *err)
{
        struct cmd_document *d = &s->document;

        if (record->is[FIELD_SOURCE] == NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "no \"source\": this model generates a target from a source");
        if (!how->ask && record->is[FIELD_TARGET] == NULL)
                return ran_fail(err, RAN_EFORMAT, "a \"source\", but no \"target\"");
        RAN_TRY(cmd_document_read_member(d, record, "source", how->tokenizer, err));
        RAN_TRY(add_source(s, how, err));
        s->fingerprint = d->fingerprint;
        if (how->ask)
                return RAN_OK;
        int rc = cmd_document_read_member(d, record, "target", how->tokenizer, err);
        d->empty = false; /* a target may be */
        RAN_TRY(rc);
        s->fingerprint += d->fingerprint;
        add_document(s);
        add_end(s, how);
        return RAN_OK;
}

/* ---- bare ids ------------------------------------------------------------------------------- */

static int read_segments(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                         const struct record *record, struct ran_error *err)
{
        const struct ran_member *m = record->is[FIELD_SEGMENTS];
        size_t n = 0, segment, last = 0;

        if (m == NULL) {
                s->sources = s->L;
                return how->ask ? RAN_OK
                                : ran_fail(err, RAN_EFORMAT,
                                           "no \"segments\": they tell which ids are the source");
        }
        bool good = m->type == 'a';
        s->sources = 0;
        for (struct ran_items i = ran_items(record->json.line, m->value);
             good && ran_items_next(&i); n++) {
                good = i.type == 'n' &&
                       ran_parse_size(i.line + i.value.begin, i.value.end - i.value.begin,
                                      &segment) &&
                       segment <= 1 && segment >= last;
                s->sources += good && segment == 0;
                last = good ? segment : last;
        }
        return good && n == s->L
                       ? RAN_OK
                       : ran_fail(err, RAN_EFORMAT,
                                  "\"segments\" must be an array of as many numbers as \"ids\": 0 "
                                  "in the source, then 1");
}

static int add_ids(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                   const struct record *record, struct ran_error *err)
{
        begin(s, how, RAN_NO_ID);
        add_document(s);
        if (how->mask == RAN_MASK_PREFIX)
                RAN_TRY(read_segments(s, how, record, err));
        s->first = s->sources > 0 ? s->sources : 1;
        return RAN_OK;
}

/* ---- the record ----------------------------------------------------------------------------- */

int cmd_sequence_read(struct cmd_sequence *s, const struct cmd_sequence_how *how,
                      const struct record *record, struct ran_error *err)
{
        struct cmd_document *d = &s->document;
        const bool prefix = how->mask == RAN_MASK_PREFIX;

        d->empty = false;
        if (prefix && how->tokenizer != NULL && record->is[FIELD_IDS] == NULL)
                return read_pair(s, how, record, err);
        if (!prefix && record->is[FIELD_SOURCE] != NULL && record->is[FIELD_ENCODING] == NULL &&
            record->is[FIELD_IDS] == NULL && record->is[FIELD_TOKENS] == NULL &&
            record->is[FIELD_TEXT] == NULL)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "a \"source\" needs a model with --mask prefix; this one reads a \"text\"");
        RAN_TRY(cmd_document_read(d, record, how->tokenizer, how->V, NULL, err));
        s->fingerprint = d->fingerprint;
        if (d->from == CMD_FROM_IDS)
                return add_ids(s, how, record, err);
        add_text(s, how);
        return RAN_OK;
}
