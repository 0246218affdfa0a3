/* task-lm.c - which texts of a record a language model learns from, and their ids and gaps. */
#include "cmd/train/reader.h"
#include "cmd/formats/foreign.h"

static bool has(const struct ran_record *record, const char *name)
{
        const struct ran_member *m = ran_record_find(record, name, NULL);

        return m != NULL && m->type != '0';
}

/* Many records have a "source" that says where they are from: beside a text it is no text. */
static bool is_pair(const struct train_source *source, const struct ran_record *record)
{
        if (has(record, "ids"))
                return false;
        return source->mask == RAN_MASK_PREFIX ||
               ((has(record, "source") || has(record, "target")) && !has(record, "encoding") &&
                foreign_tokens(record) == NULL && foreign_text(record) == NULL);
}

int train_text_kind(struct train_scratch *s, const struct train_source *source,
                    const struct ran_record *record, struct ran_error *err)
{
        bool pair = is_pair(source, record), from = has(record, "source");

        if (pair && !from && !has(record, "target"))
                return ran_fail(err, RAN_EFORMAT, "there is neither \"source\" nor \"target\"");
        if (pair && !(from && has(record, "target")))
                return ran_fail(err, RAN_EFORMAT, "there is a \"%s\", but no \"%s\"",
                                from ? "source" : "target", from ? "target" : "source");
        s->mask = source->mask;
        if (s->mask == RAN_MASK_NONE)
                s->mask = pair || (has(record, "ids") && has(record, "segments")) ? RAN_MASK_PREFIX
                                                                                  : RAN_MASK_CAUSAL;
        s->words.pairs = pair;
        return RAN_OK;
}

int train_text_read(struct train_scratch *s, const struct train_source *source,
                    const struct ran_record *record, struct ran_error *err)
{
        struct cmd_sequence *q = &s->sequence;
        struct cmd_sequence_how how = {.tokenizer = source->tokenizer,
                                       .V = source->V,
                                       .mask = s->mask,
                                       .end = true,
                                       .before = RAN_NO_ID};

        if (cmd_reserved_find(&how.reserved, source->tokenizer, RAN_TASK_LM, s->mask, err) !=
                    RAN_OK ||
            cmd_sequence_read(q, &how, record, err) != RAN_OK)
                return err->code;
        if (q->L > 1 && q->first >= q->L)
                return ran_fail(err, RAN_EFORMAT,
                                "all of the ids are source: there is no target to learn");
        return RAN_OK;
}

/* ---- gaps ----------------------------------------------------------------------------------- */

/* Appends to *list, ascending and below `limit` if so wanted, or says what is wrong. */
static int read_numbers(uint32_t **list, size_t *cap, size_t *n, const struct ran_record *record,
                        const struct ran_member *m, const char *name, size_t limit, bool ascending,
                        struct ran_error *err)
{
        struct ran_span item;
        size_t pos = 0, x;
        char type;
        bool good = m->type == 'a';

        *n = 0;
        while (good && ran_json_next(record->line, m->value, &pos, NULL, &item, &type)) {
                good = type == 'n' &&
                       ran_parse_size(record->line + item.begin, item.end - item.begin, &x) &&
                       x < limit && !(ascending && *n > 0 && x <= (*list)[*n - 1]);
                uint32_t *grown = ran_grow(*list, cap, *n + 1, sizeof *grown, err);
                if (grown == NULL)
                        return RAN_ENOMEM;
                *list = grown;
                if (good)
                        grown[(*n)++] = (uint32_t)x;
        }
        return good ? RAN_OK
                    : ran_fail(err, RAN_EFORMAT, "\"%s\" must be an array of numbers below %zu%s",
                               name, limit, ascending ? ", in ascending order" : "");
}

int train_masked_read(struct train_scratch *s, const struct train_source *source,
                      const struct ran_record *record, struct ran_error *err)
{
        const struct ran_member *at = ran_record_find(record, "masked_at", NULL);
        const struct ran_member *ids = ran_record_find(record, "masked_ids", NULL);
        bool here = has(record, "masked_at"), known = has(record, "masked_ids");
        size_t golds;

        s->gaps = 0;
        if (s->document.from != CMD_FROM_IDS || !(here || known))
                return RAN_OK;
        if (!(here && known))
                return ran_fail(err, RAN_EFORMAT, "there is \"%s\", but no \"%s\"",
                                here ? "masked_at" : "masked_ids",
                                here ? "masked_ids" : "masked_at");
        if (read_numbers(&s->gap, &s->gap_cap, &s->gaps, record, at, "masked_at", s->document.L,
                         true, err) != RAN_OK ||
            read_numbers(&s->gold, &s->gold_cap, &golds, record, ids, "masked_ids", source->V,
                         false, err) != RAN_OK)
                return err->code;
        if (golds != s->gaps || golds == 0)
                return ran_fail(err, RAN_EFORMAT,
                                "%zu places in \"masked_at\", but %zu ids in \"masked_ids\"",
                                s->gaps, golds);
        return RAN_OK;
}
