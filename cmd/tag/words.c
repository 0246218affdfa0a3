/* words.c - tags for the words of one record, or of several that are one document.
 *
 * The arrays of the scratch have the words of all records, one after another. Words within
 * --max-tokens form one document, in which each record is a sentence (two, if its middle was
 * truncated), and at[] has the index of a word in it.
 */
#include "cmd/tag/tag.h"

#include <stdlib.h>
#include <string.h>

void tag_scratch_release(struct tag_scratch *s)
{
        ran_state_free(s->state);
        for (size_t i = 0; i < s->record_cap; i++)
                cmd_document_release(&s->record[i].document);
        free(s->record);
        free(s->ids);
        free(s->spelling);
        free(s->positions);
        free(s->begins);
        free(s->at);
        free(s->found);
        free(s->entities);
        free(s->tags);
        free(s->score);
        free(s->logits);
        free(s->group);
        ran_buf_release(&s->text);
        ran_buf_release(&s->column);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Room for the tokens and words of one more record. */
static int reserve(struct tag_scratch *s, const struct cmd_document *d, struct ran_error *err)
{
        size_t L = s->document.L + d->L, words = s->words + d->words, features;

        if (L < d->L || L > UINT32_MAX || __builtin_mul_overflow(L, RAN_SPELLING, &features))
                return ran_fail(err, RAN_EFORMAT, "a document of %zu tokens is too long to tag", L);
        RAN_ROOM(s->ids, s->ids_cap, L);
        RAN_ROOM(s->positions, s->positions_cap, words);
        RAN_ROOM(s->begins, s->begins_cap, words);
        RAN_ROOM(s->at, s->at_cap, words);
        if (d->spelling > 0)
                RAN_ROOM(s->spelling, s->spelling_cap, features);
        return RAN_OK;
}

/* Adds the tokens [from, to) of a record. */
static void add_tokens(struct tag_scratch *s, const struct cmd_document *d, size_t from, size_t to)
{
        size_t L = s->document.L, n = to - from;

        memcpy(s->ids + L, d->ids + from, n * sizeof *s->ids);
        if (d->spelling > 0)
                memcpy(s->spelling + L * RAN_SPELLING, d->encoding.spelling + from * RAN_SPELLING,
                       n * RAN_SPELLING * sizeof *s->spelling);
        s->document.L += n;
        s->segmented |= d->sentences > 1;
}

/* Adds the words that begin at the tokens [from, to); the first of them begins a sentence, as do
 * those that the document says. `shift`
 * turns an index of the record's tokens into one of the document's. */
static void add_words(struct tag_scratch *s, const struct cmd_document *d, size_t from, size_t to,
                      size_t shift)
{
        struct ran_document *all = &s->document;
        bool first = true;
        size_t next = 0;

        for (size_t i = 0; i < d->words; i++) {
                if (d->positions[i] < from || d->positions[i] >= to)
                        continue;
                for (; next < d->sentences && d->sentence[next] <= d->positions[i]; next++)
                        first = true;
                s->at[s->words + i] = all->words;
                s->positions[all->words] = (uint32_t)(d->positions[i] + shift);
                s->begins[all->words++] = first;
                first = false;
        }
}

static int add_record(struct tag_scratch *s, const struct cmd_document *d, struct ran_error *err)
{
        size_t L = s->document.L, read = s->document.words, tail = d->L - d->tail;

        RAN_TRY(reserve(s, d, err));
        for (size_t i = 0; i < d->words; i++)
                s->at[s->words + i] = TAG_NOT_READ;
        add_words(s, d, 0, d->head, L);
        add_words(s, d, tail, d->L, L + d->head - tail);
        if (s->document.words == read)
                return ran_fail(err, RAN_EFORMAT,
                                "no word begins in the %zu tokens that truncation leaves",
                                d->head + d->tail);
        add_tokens(s, d, 0, d->head);
        add_tokens(s, d, tail, d->L);
        s->words += d->words;
        return RAN_OK;
}

static void read_record(const struct tagger *t, struct tag_scratch *s, struct tag_record *r,
                        struct cmd_item *item)
{
        const struct ran_model *m = t->model;
        struct cmd_document *d = &r->document;

        d->by_words = true;
        d->with_fingerprint = t->fingerprints;
        d->split = t->split;
        d->trim = ran_model_is_foreign(m);
        d->each = d->trim && tag_options.split_at == TAG_SPLIT_AUTO;
        memcpy(d->marks.own, t->marks.own, sizeof d->marks.own);
        d->marks.n = t->marks.n;
        d->spelling = ran_model_config(m)->spelling;
        item->code = cmd_document_read(d, &item->line->record, ran_model_tokenizer(m),
                                       ran_model_vocabulary(m), &tag_document_options, item->err);
        if (item->code == RAN_OK)
                item->code = add_record(s, d, item->err);
        r->words = item->code == RAN_OK ? d->words : 0;
}

/* ---- tagging -------------------------------------------------------------------------------- */

static int run_model(const struct tagger *t, struct tag_scratch *s, struct ran_error *err)
{
        struct ran_document *d = &s->document;
        size_t n = d->words, logits = 0;

        d->ids = s->ids;
        d->spelling = ran_model_config(t->model)->spelling > 0 ? s->spelling : NULL;
        d->positions = s->positions;
        d->begins = s->begins;
        if (tag_options.logits && __builtin_mul_overflow(n, t->C, &logits))
                return ran_fail(err, RAN_ENOMEM, "no memory for the logits of %zu words", n);
        RAN_ROOM(s->tags, s->tags_cap, n);
        RAN_ROOM(s->score, s->score_cap, n);
        RAN_ROOM(s->found, s->found_cap, s->words);
        RAN_ROOM(s->entities, s->entities_cap, s->words);
        RAN_TRY(RAN_GROW(s->logits, s->logits_cap, logits, err));
        return s->segmented ? tag_parts(t, s, err)
                            : ran_tag(t->model, s->state, d, s->tags, s->score,
                                      tag_options.logits ? s->logits : NULL, err);
}

/* The tags of others, which may be of any scheme, as IOB2. No entity begins or ends with a token of
 * white space, which may part two. */
static void bend_tags(const struct tag_record *r)
{
        const struct ran_encoding *e = &r->document.encoding;
        struct ran_tag_census unused = {0};

        ran_tags_to_iob2(r->found, r->words, &unused);
        for (size_t i = r->words;
             i-- > 0 && r->document.each && r->document.from == CMD_FROM_TEXT;) {
                const size_t t = r->document.positions[i];
                const bool ends = i + 1 == r->words || r->found[i + 1].part != 'I';

                if (e->start[t] < e->end[t] || (r->found[i].part != 'B' && !ends))
                        continue;
                if (r->found[i].part == 'B' && !ends)
                        r->found[i + 1].part = 'B';
                r->found[i] = (struct ran_tag){'O', "", 0};
        }
}

/* Divides the results among the records. */
static void assign_words(const struct tagger *t, struct tag_scratch *s, size_t n)
{
        for (size_t i = 0, from = 0; i < n; from += s->record[i++].words) {
                s->record[i].at = s->at + from;
                s->record[i].begins = s->begins;
                s->record[i].found = s->found + from;
                s->record[i].entities = s->entities + from;
        }
        for (size_t i = 0; t->tags != NULL && i < s->words; i++)
                s->found[i] = s->at[i] != TAG_NOT_READ ? t->tags[s->tags[s->at[i]]]
                                                       : (struct ran_tag){'O', "", 0};
        for (size_t i = 0; t->tags != NULL && i < n; i++)
                bend_tags(&s->record[i]);
}

static int tag_all(const struct tagger *t, struct tag_scratch *s, struct cmd_item *items, size_t n,
                   struct ran_error *err)
{
        const size_t old = s->record_cap;

        s->document = (struct ran_document){0};
        s->words = 0;
        s->segmented = false;
        RAN_ROOM(s->record, s->record_cap, n);
        memset(s->record + old, 0, (s->record_cap - old) * sizeof *s->record);
        for (size_t i = 0; i < n; i++)
                read_record(t, s, &s->record[i], &items[i]);
        if (s->words > 0)
                RAN_TRY(run_model(t, s, err));
        assign_words(t, s, n);
        return RAN_OK;
}

void tag_words(const struct tagger *t, struct tag_scratch *s, struct cmd_item *items, size_t n)
{
        struct ran_error err = {0};
        int rc = tag_all(t, s, items, n, &err);

        for (size_t i = 0; i < n && rc != RAN_OK; i++)
                if (items[i].code == RAN_OK)
                        items[i].code = ran_fail(items[i].err, rc, "%s", err.text);
}
