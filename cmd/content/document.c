/* document.c - the ids of a record's document, from any of its members. */
#include "cmd/content/document.h"
#include "cmd/formats/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const truncate_names[] = {"head", "tail", "head-tail", "error", NULL};

#define OPTION(member) offsetof(struct cmd_document_options, member)

const struct ran_field cmd_document_fields[] = {
        {"max_tokens", 0, RAN_FIELD_SIZE, OPTION(max_tokens), 0, INFINITY, .value = "N",
         .initial = "0", .help = "use at most N tokens of a document; 0: no limit", .first = true},
        {"truncate", 0, RAN_FIELD_CHOICE, OPTION(truncate), .choices = truncate_names,
         .value = "WHAT", .initial = "head",
         .help = "part of a longer document to keep; head-tail: half of each; error: make it a bad "
                 "record",
         .needs = "max_tokens"},
        {0},
};

void cmd_document_release(struct cmd_document *d)
{
        ran_encoding_release(&d->encoding);
        ran_buf_release(&d->text);
        ran_marks_release(&d->marks);
        free(d->given);
        free(d->positions);
        free(d->sentence);
        *d = (struct cmd_document){0};
}

/* ---- ids ------------------------------------------------------------------------------------ */

static int read_ids(struct cmd_document *d, const char *line, struct ran_span value, char type,
                    size_t V, struct ran_error *err)
{
        size_t id;

        if (type != 'a')
                return ran_fail(err, RAN_EFORMAT, "\"ids\" must be an array");
        d->L = 0;
        for (struct ran_items i = ran_items(line, value); ran_items_next(&i);) {
                const char *text = line + i.value.begin;
                const size_t n = i.value.end - i.value.begin;
                if (i.type != 'n' || !ran_parse_size(text, n, &id))
                        return ran_fail(err, RAN_EFORMAT, "ids must be whole numbers, not %.*s",
                                        n < 40 ? (int)n : 40, text);
                if (id >= V || id > UINT32_MAX)
                        return ran_fail(err, RAN_EFORMAT,
                                        "id %zu is not in the vocabulary (%zu tokens)", id, V);
                RAN_ROOM(d->given, d->given_cap, d->L + 1);
                d->given[d->L++] = (uint32_t)id;
        }
        d->ids = d->given;
        return RAN_OK;
}

static int read_encoding(struct cmd_document *d, const char *line, const struct ran_member *m,
                         const struct ran_tokenizer *tokenizer, size_t V, struct ran_error *err)
{
        const char *digest = ran_tokenizer_digest(tokenizer);
        struct ran_span ids, vocab;
        char type = 0;

        if (m->type != 'o')
                return ran_fail(err, RAN_EFORMAT, "\"encoding\" must be an object");
        if (!ran_json_find(line, m->value, "vocab", 0, &vocab, NULL) ||
            !ran_json_is(line, vocab, digest))
                return ran_fail(err, RAN_EFORMAT,
                                "\"encoding\" is of another vocabulary than the model's");
        ran_json_find(line, m->value, "ids", 0, &ids, &type);
        return read_ids(d, line, ids, type, V, err);
}

/* ---- fingerprints --------------------------------------------------------------------------- */

/* Adds the text or word in d->text to the fingerprint. */
static void note_text(struct cmd_document *d)
{
        if (d->with_fingerprint)
                ran_fingerprint_add(&d->print, d->text.data, d->text.len);
}

/* Ids beside a text have the fingerprint of the text; others that of their decimals. */
static int print_ids(struct cmd_document *d, const struct record *record, struct ran_error *err)
{
        const struct ran_member *tokens = record->is[FIELD_TOKENS], *text = record->is[FIELD_TEXT];
        const struct ran_member *m = tokens != NULL ? tokens : text;
        char number[16];

        ran_sha256_init(&d->print);
        if (m != NULL && m->type == 's') {
                d->text.len = 0;
                RAN_TRY(ran_json_decode(record->json.line, m->value, &d->text, err));
                note_text(d);
        } else if (m != NULL && m->type == 'a') {
                for (struct ran_items i = ran_items(record->json.line, m->value);
                     ran_items_next(&i);) {
                        d->text.len = 0;
                        if (i.type == 's')
                                RAN_TRY(ran_json_decode(i.line, i.value, &d->text, err));
                        note_text(d);
                }
        }
        for (size_t t = 0; m == NULL && t < d->L; t++)
                ran_fingerprint_add(
                        &d->print, number,
                        (size_t)snprintf(number, sizeof number, "%u,", (unsigned)d->ids[t]));
        d->fingerprint = ran_fingerprint_end(&d->print);
        return RAN_OK;
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Adds spelling of the tokens from `first` on, those of a text of n bytes, and converts their
 * offsets. */
static int add_details(struct cmd_document *d, size_t first, const char *text, size_t n,
                       struct ran_error *err)
{
        if (d->spelling > 0)
                RAN_TRY(ran_encoding_spell(&d->encoding, first, text, n, d->spelling, err));
        ran_encoding_convert(&d->encoding, first, text, n, d->unit);
        return RAN_OK;
}

static int read_tokens(struct cmd_document *d, const char *line, const struct ran_member *m,
                       const struct ran_tokenizer *tokenizer, struct ran_error *err)
{
        bool strings = m->type == 'a';

        d->encoding.n = d->encoding.words = 0;
        for (struct ran_items i = ran_items(line, m->value); strings && ran_items_next(&i);) {
                strings = i.type == 's';
                if (!strings)
                        break;
                size_t first = d->encoding.n;
                d->text.len = 0;
                RAN_TRY(ran_json_decode(line, i.value, &d->text, err));
                note_text(d);
                RAN_TRY(ran_tokenizer_encode_word(tokenizer, d->text.data, d->text.len,
                                                  &d->encoding, err));
                RAN_TRY(add_details(d, first, d->text.data, d->text.len, err));
        }
        return strings ? RAN_OK : json_refuse(line, m, "must be an array of strings", err);
}

size_t cmd_units(const char *s, size_t n, int unit)
{
        size_t units = 0;

        for (size_t i = 0; i < n; i++) {
                const unsigned char c = (unsigned char)s[i];
                units += unit == RAN_UNIT_BYTE || (c & 0xc0) != 0x80;
                units += unit == RAN_UNIT_UTF16 && c >= 0xf0;
        }
        return units;
}

/* Adds the word [begin, end) of d->text, as the marks of the corpus write it. Its tokens lie in the
 * text, `offset` units behind its beginning. */
static int add_segment(struct cmd_document *d, size_t begin, size_t end, size_t offset,
                       const struct ran_tokenizer *tokenizer, struct ran_error *err)
{
        struct ran_encoding *e = &d->encoding;
        const size_t first = e->n, whole = cmd_units(d->text.data + begin, end - begin, d->unit);
        const char *word;
        size_t n;
        const bool other =
                ran_marks_write(&d->marks, d->text.data, d->text.len, begin, end, &word, &n);

        RAN_TRY(ran_tokenizer_encode_word(tokenizer, word, n, e, err));
        RAN_TRY(add_details(d, first, word, n, err));
        for (size_t t = first; t < e->n; t++) {
                e->start[t] = offset + (other ? 0 : e->start[t]);
                e->end[t] = offset + (other ? whole : e->end[t]);
        }
        return RAN_OK;
}

/* The words and sentences that a convention finds in d->text. */
static int read_segments(struct cmd_document *d, const struct ran_tokenizer *tokenizer,
                         struct ran_error *err)
{
        const struct ran_buf *text = &d->text;
        size_t begin, end, seen = 0, offset = 0;
        struct ran_segments s;
        bool opens;

        d->encoding.n = d->encoding.words = 0;
        if (ran_utf8_valid(text->data, text->len) < text->len)
                return ran_fail(err, RAN_EFORMAT, "the text is not valid UTF-8");
        ran_segments_begin(&s, d->split - 1, text->data, text->len);
        d->marks.open = d->marks.single_open = false;
        while (ran_segments_next(&s, &begin, &end, &opens)) {
                if (opens) {
                        RAN_ROOM(d->sentence, d->sentence_cap, d->sentences + 1);
                        d->sentence[d->sentences++] = d->encoding.n;
                }
                offset += cmd_units(text->data + seen, begin - seen, d->unit);
                seen = begin;
                RAN_TRY(add_segment(d, begin, end, offset, tokenizer, err));
        }
        return RAN_OK;
}

static int read_text(struct cmd_document *d, const char *line, const struct ran_member *m,
                     const struct ran_tokenizer *tokenizer, struct ran_error *err)
{
        if (m->type != 's')
                return json_refuse(line, m, "must be a string", err);
        d->text.len = 0;
        RAN_TRY(ran_json_decode(line, m->value, &d->text, err));
        note_text(d);
        if (d->split > 0)
                return read_segments(d, tokenizer, err);
        RAN_TRY(ran_tokenizer_encode(tokenizer, d->text.data, d->text.len, &d->encoding, err));
        if (d->trim)
                ran_encoding_trim_spaces(&d->encoding, d->text.data, d->text.len);
        for (size_t t = 0; t < d->encoding.n && d->each; t++)
                d->encoding.word[t] = t;
        return add_details(d, 0, d->text.data, d->text.len, err);
}

static int read_words(struct cmd_document *d, const char *line, const struct ran_member *m,
                      bool list, const struct ran_tokenizer *tokenizer, struct ran_error *err)
{
        if (d->with_fingerprint)
                ran_sha256_init(&d->print);
        int rc = (list ? read_tokens : read_text)(d, line, m, tokenizer, err);

        if (d->with_fingerprint)
                d->fingerprint = ran_fingerprint_end(&d->print);
        d->from = list ? CMD_FROM_TOKENS : CMD_FROM_TEXT;
        d->ids = d->encoding.ids;
        d->L = d->uncut = d->encoding.n;
        d->empty = rc == RAN_OK && d->L == 0;
        return rc;
}

int cmd_document_read_words(struct cmd_document *d, const struct record *record,
                            const struct ran_tokenizer *tokenizer, struct ran_error *err)
{
        const struct ran_member *tokens = record->is[FIELD_TOKENS], *text = record->is[FIELD_TEXT];

        if (tokens != NULL)
                return read_words(d, record->json.line, tokens, true, tokenizer, err);
        if (text != NULL)
                return read_words(d, record->json.line, text, false, tokenizer, err);
        return ran_fail(err, RAN_EFORMAT, "no \"tokens\" and no \"text\"");
}

int cmd_document_read_member(struct cmd_document *d, const struct record *record, const char *name,
                             const struct ran_tokenizer *tokenizer, struct ran_error *err)
{
        const struct ran_member *m = json_member(&record->json, name);

        if (m == NULL)
                return ran_fail(err, RAN_EFORMAT, "no \"%s\"", name);
        return read_words(d, record->json.line, m, m->type == 'a', tokenizer, err);
}

/* ---- the document --------------------------------------------------------------------------- */

static int read_source(struct cmd_document *d, const struct record *record,
                       const struct ran_tokenizer *tokenizer, size_t V, struct ran_error *err)
{
        const struct ran_member *encoding = record->is[FIELD_ENCODING],
                                *ids = record->is[FIELD_IDS], *tokens = record->is[FIELD_TOKENS],
                                *text = record->is[FIELD_TEXT];
        bool encoding_ok = !d->by_words && d->spelling == 0;

        if (!encoding_ok)
                encoding = NULL;
        d->from = encoding != NULL && tokenizer != NULL ? CMD_FROM_ENCODING
                  : ids != NULL                         ? CMD_FROM_IDS
                  : tokens != NULL                      ? CMD_FROM_TOKENS
                                                        : CMD_FROM_TEXT;
        if (d->from == CMD_FROM_IDS && d->spelling > 0)
                return ran_fail(err, RAN_EFORMAT,
                                "the model reads the spelling of words, which \"ids\" lack: give "
                                "\"tokens\" or \"text\"");
        if (tokenizer == NULL && ids == NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "no \"ids\": the model has no vocabulary, so it needs them");
        if (d->from == CMD_FROM_ENCODING)
                return read_encoding(d, record->json.line, encoding, tokenizer, V, err);
        if (d->from == CMD_FROM_IDS)
                return read_ids(d, record->json.line, ids->value, ids->type, V, err);
        if (tokens == NULL && text == NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "no document: give one of %stokens and text (--text-member names "
                                "another member)",
                                encoding_ok        ? "encoding, ids, "
                                : d->spelling == 0 ? "ids, "
                                                   : "");
        return cmd_document_read_words(d, record, tokenizer, err);
}

void cmd_document_word(const struct cmd_document *d, size_t i, size_t *start, size_t *end)
{
        const struct ran_encoding *e = &d->encoding;
        size_t t = d->positions[i];

        *start = e->start[t];
        while (t + 1 < d->L && e->word[t + 1] == e->word[t])
                t++;
        *end = e->end[t];
}

/* Some vocabularies have words of white space. They have no tag, and so no word position. */
static bool is_blank(const struct cmd_document *d, size_t first)
{
        const struct ran_encoding *e = &d->encoding;

        for (size_t t = first; e->word != NULL && t < d->L && e->word[t] == e->word[first]; t++) {
                if (e->start[t] < e->end[t])
                        return false;
        }
        return true;
}

static int find_positions(struct cmd_document *d, struct ran_error *err)
{
        const size_t *word = d->ids == d->given ? NULL : d->encoding.word;

        if (d->L > UINT32_MAX)
                return ran_fail(err, RAN_EFORMAT,
                                "the document has %zu tokens, too many to find words in", d->L);
        RAN_ROOM(d->positions, d->positions_cap, d->L);
        d->words = 0;
        for (size_t t = 0; t < d->L; t++) {
                if (word != NULL && t > 0 && word[t] == word[t - 1])
                        continue;
                if (d->from != CMD_FROM_TEXT || d->each || !is_blank(d, t))
                        d->positions[d->words++] = (uint32_t)t;
        }
        return RAN_OK;
}

/* Keeps the first `head` and the last `tail` of n objects. */
static void keep_ends(void *objects, size_t size, size_t n, size_t head, size_t tail)
{
        if (objects != NULL)
                memmove((char *)objects + head * size, (char *)objects + (n - tail) * size,
                        tail * size);
}

/* Sets head and tail of a document, if it is too long. */
static int set_ends(struct cmd_document *d, const struct cmd_document_options *options,
                    struct ran_error *err)
{
        d->uncut = d->head = d->L;
        d->tail = 0;
        if (options == NULL || options->max_tokens == 0 || d->L <= options->max_tokens)
                return RAN_OK;
        if (options->truncate == CMD_TRUNCATE_ERROR)
                return ran_fail(err, RAN_EFORMAT,
                                "the document has %zu tokens, more than the %zu "
                                "of --max-tokens",
                                d->L, options->max_tokens);
        if (options->truncate == CMD_TRUNCATE_TAIL)
                d->tail = options->max_tokens;
        else if (options->truncate == CMD_TRUNCATE_HEAD_TAIL)
                d->tail = options->max_tokens / 2;
        d->head = options->max_tokens - d->tail;
        return RAN_OK;
}

static void truncate_to_ends(struct cmd_document *d)
{
        struct ran_encoding *e = &d->encoding;

        if (d->ids == d->given) {
                keep_ends(d->given, sizeof *d->given, d->L, d->head, d->tail);
        } else {
                keep_ends(e->ids, sizeof *e->ids, d->L, d->head, d->tail);
                keep_ends(e->start, sizeof *e->start, d->L, d->head, d->tail);
                keep_ends(e->end, sizeof *e->end, d->L, d->head, d->tail);
                keep_ends(e->word, sizeof *e->word, d->L, d->head, d->tail);
                keep_ends(e->spelling, RAN_SPELLING * sizeof *e->spelling, d->L, d->head, d->tail);
                e->n = d->head + d->tail;
        }
        d->L = d->head + d->tail;
}

int cmd_document_read(struct cmd_document *d, const struct record *record,
                      const struct ran_tokenizer *tokenizer, size_t V,
                      const struct cmd_document_options *options, struct ran_error *err)
{
        d->sentences = 0;
        d->empty = false;
        RAN_TRY(read_source(d, record, tokenizer, V, err));
        if (d->with_fingerprint && d->ids == d->given && d->L > 0)
                RAN_TRY(print_ids(d, record, err));
        if (d->by_words)
                RAN_TRY(find_positions(d, err));
        d->empty = d->L == 0 || (d->by_words && d->words == 0);
        if (d->empty)
                return ran_fail(err, RAN_EFORMAT, "the document has no tokens");
        RAN_TRY(set_ends(d, options, err));
        if (d->by_words)
                return RAN_OK;
        if (d->head < d->L)
                truncate_to_ends(d);
        return d->with_positions ? find_positions(d, err) : RAN_OK;
}

struct ran_document cmd_document_view(const struct cmd_document *d)
{
        return (struct ran_document){
                .ids = d->ids,
                .L = d->L,
                .spelling = d->spelling > 0 ? d->encoding.spelling : NULL,
                .positions = d->positions,
                .words = d->words,
        };
}

void cmd_document_truncated(const struct cmd_document *d, struct ran_buf *out)
{
        size_t kept = d->by_words ? d->head + d->tail : d->L;

        if (kept < d->uncut)
                ran_buf_printf(out, ",\"truncated\":{\"kept\":%zu,\"of\":%zu}", kept, d->uncut);
}
