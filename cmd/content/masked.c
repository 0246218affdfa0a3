/* masked.c - reads a document with masked tokens for a masked language model.
 *
 * People write "[MASK]" in a text, but the tokenizer of a vocabulary learned here would encode that
 * as a bracket, a word and a bracket. So the text is split at the masks, and the parts between them
 * are encoded one by one.
 */
#include "cmd/content/reading.h"
#include "cmd/formats/json.h"

#include <stdlib.h>
#include <string.h>

void cmd_masked_release(struct cmd_masked *g)
{
        cmd_document_release(&g->document);
        ran_encoding_release(&g->encoding);
        free(g->ids);
        free(g->positions);
        free(g->start);
        free(g->end);
        *g = (struct cmd_masked){0};
}

/* ---- putting it together -------------------------------------------------------------------- */

static int add_ids(struct cmd_masked *g, const uint32_t *ids, size_t n, struct ran_error *err)
{
        if (n > UINT32_MAX - g->L) /* positions have 32 bits */
                return ran_fail(err, RAN_EFORMAT, "the document has more than %zu tokens", g->L);
        RAN_ROOM(g->ids, g->ids_cap, g->L + n);
        if (n > 0)
                memcpy(g->ids + g->L, ids, n * sizeof *ids);
        g->L += n;
        return RAN_OK;
}

/* Token `position` is masked. */
static void add_position(struct cmd_masked *g, size_t position, size_t start, size_t end)
{
        RAN_ROOM(g->positions, g->positions_cap, g->n + 1);
        RAN_ROOM(g->start, g->start_cap, g->n + 1);
        RAN_ROOM(g->end, g->end_cap, g->n + 1);
        g->positions[g->n] = (uint32_t)position;
        g->start[g->n] = start;
        g->end[g->n++] = end;
}

static int add_mask(struct cmd_masked *g, const struct cmd_masked_how *how, size_t start,
                    size_t end, struct ran_error *err)
{
        add_position(g, g->L, start, end);
        return add_ids(g, &how->mask, 1, err);
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* The space before a mask belongs to the masked word: in vocabularies whose subwords include the
 * space before a word, the predicted subword has it. For others it makes no difference. */
static int add_text(struct cmd_masked *g, const struct cmd_masked_how *how, const char *s, size_t n,
                    bool before_mask, struct ran_error *err)
{
        if (before_mask && n > 0 && s[n - 1] == ' ')
                n--;
        RAN_TRY(ran_tokenizer_encode(how->tokenizer, s, n, &g->encoding, err));
        return add_ids(g, g->encoding.ids, g->encoding.n, err);
}

static int read_text(struct cmd_masked *g, const struct cmd_masked_how *how, const char *line,
                     const struct ran_member *m, struct ran_error *err)
{
        struct ran_buf *text = &g->document.text;
        const size_t length = strlen(how->mask_token);
        size_t at = 0, point = 0;

        if (m->type != 's')
                return json_refuse(line, m, "must be a string", err);
        text->len = 0;
        RAN_TRY(ran_json_decode(line, m->value, text, err));
        while (at < text->len) {
                const char *rest = text->data + at;
                const char *mask = memmem(rest, text->len - at, how->mask_token, length);
                size_t n = mask != NULL ? (size_t)(mask - rest) : text->len - at;
                RAN_TRY(add_text(g, how, rest, n, mask != NULL, err));
                if (mask == NULL)
                        break;
                size_t start = point + cmd_units(rest, n, RAN_UNIT_CODEPOINT);
                point = start + cmd_units(mask, length, RAN_UNIT_CODEPOINT);
                RAN_TRY(add_mask(g, how, start, point, err));
                at += n + length;
        }
        return RAN_OK;
}

static int read_tokens(struct cmd_masked *g, const struct cmd_masked_how *how, const char *line,
                       const struct ran_member *m, struct ran_error *err)
{
        struct ran_buf *word = &g->document.text;
        struct ran_items i = ran_items(line, m->value);
        bool strings = m->type == 'a';

        for (size_t n = 0; strings && ran_items_next(&i); n++) {
                strings = i.type == 's';
                if (!strings)
                        break;
                word->len = 0;
                RAN_TRY(ran_json_decode(line, i.value, word, err));
                if (word->len == strlen(how->mask_token) &&
                    memcmp(word->data, how->mask_token, word->len) == 0) {
                        RAN_TRY(add_mask(g, how, n, n + 1, err));
                        continue;
                }
                g->encoding.n = g->encoding.words = 0;
                RAN_TRY(ran_tokenizer_encode_word(how->tokenizer, word->data, word->len,
                                                  &g->encoding, err));
                RAN_TRY(add_ids(g, g->encoding.ids, g->encoding.n, err));
        }
        return strings ? RAN_OK : json_refuse(line, m, "must be an array of strings", err);
}

/* ---- ids ------------------------------------------------------------------------------------ */

static int read_masked_at(struct cmd_masked *g, const char *line, const struct ran_member *m,
                          struct ran_error *err)
{
        struct ran_items i = ran_items(line, m->value);
        size_t position;
        bool good = m->type == 'a';

        while (good && ran_items_next(&i)) {
                good = i.type == 'n' &&
                       ran_parse_size(line + i.value.begin, i.value.end - i.value.begin,
                                      &position) &&
                       position < g->L && (g->n == 0 || position > g->positions[g->n - 1]);
                if (good)
                        add_position(g, position, position, position + 1);
        }
        return good ? RAN_OK
                    : ran_fail(err, RAN_EFORMAT,
                               "\"masked_at\" must be an array of positions in the document, from "
                               "0, "
                               "ascending");
}

static int read_ids(struct cmd_masked *g, const struct cmd_masked_how *how,
                    const struct record *record, struct ran_error *err)
{
        const struct ran_member *at = record->is[FIELD_MASKED_AT];

        RAN_TRY(cmd_document_read(&g->document, record, how->tokenizer, how->V, NULL, err));
        RAN_TRY(add_ids(g, g->document.ids, g->document.L, err));
        if (at != NULL)
                return read_masked_at(g, record->json.line, at, err);
        for (size_t t = 0; t < g->L; t++)
                if (g->ids[t] == how->mask)
                        add_position(g, t, t, t + 1);
        return RAN_OK;
}

/* ---- the record ----------------------------------------------------------------------------- */

int cmd_masked_read(struct cmd_masked *g, const struct cmd_masked_how *how,
                    const struct record *record, struct ran_error *err)
{
        const struct ran_member *tokens = record->is[FIELD_TOKENS], *text = record->is[FIELD_TEXT];
        bool written = how->tokenizer != NULL && record->is[FIELD_ENCODING] == NULL &&
                       record->is[FIELD_IDS] == NULL;

        g->L = g->n = 0;
        if (written && tokens != NULL)
                RAN_TRY(read_tokens(g, how, record->json.line, tokens, err));
        else if (written && text != NULL)
                RAN_TRY(read_text(g, how, record->json.line, text, err));
        else
                RAN_TRY(read_ids(g, how, record, err));
        if (g->n == 0 && !how->none)
                return written ? ran_fail(err, RAN_EFORMAT,
                                          "no masked token: write %s in place of a word",
                                          how->mask_token)
                               : ran_fail(
                                         err, RAN_EFORMAT,
                                         "no masked token: use the id of [MASK], or \"masked_at\"");
        return RAN_OK;
}
