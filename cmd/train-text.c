/* train-text.c - which texts of a record a language model learns from, and their ids. */
#include "train-reader.h"

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
                !has(record, "tokens") && !has(record, "text"));
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
