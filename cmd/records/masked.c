/* masked.c - a document with gaps in it, as a model for filling gaps reads it.
 *
 * "[MASK]" in a text is what a person writes there: a vocabulary learned here knows it as a
 * bracket, a word and a bracket. So the text is parted at the gaps, and what stands between is
 * encoded by itself.
 */
#include "cmd/records/masked.h"
#include "cmd/formats/foreign.h"

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
        if (n > UINT32_MAX - g->L) /* places are 32 bits wide */
                return ran_fail(err, RAN_EFORMAT, "the document has more than %zu tokens", g->L);
        uint32_t *grown = ran_grow(g->ids, &g->ids_cap, g->L + n, sizeof *grown, err);
        if (grown == NULL)
                return RAN_ENOMEM;
        g->ids = grown;
        if (n > 0)
                memcpy(grown + g->L, ids, n * sizeof *ids);
        g->L += n;
        return RAN_OK;
}

/* Token `place` is a gap. */
static int add_place(struct cmd_masked *g, size_t place, size_t start, size_t end,
                     struct ran_error *err)
{
        uint32_t *positions =
                ran_grow(g->positions, &g->positions_cap, g->n + 1, sizeof *positions, err);
        if (positions == NULL)
                return RAN_ENOMEM;
        g->positions = positions;
        size_t *starts = ran_grow(g->start, &g->start_cap, g->n + 1, sizeof *starts, err);
        if (starts == NULL)
                return RAN_ENOMEM;
        g->start = starts;
        size_t *ends = ran_grow(g->end, &g->end_cap, g->n + 1, sizeof *ends, err);
        if (ends == NULL)
                return RAN_ENOMEM;
        g->end = ends;
        positions[g->n] = (uint32_t)place;
        starts[g->n] = start;
        ends[g->n++] = end;
        return RAN_OK;
}

static int add_gap(struct cmd_masked *g, const struct cmd_masked_how *how, size_t start, size_t end,
                   struct ran_error *err)
{
        int code = add_place(g, g->L, start, end, err);

        return code == RAN_OK ? add_ids(g, &how->mask, 1, err) : code;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static size_t points(const char *s, size_t n)
{
        size_t count = 0;

        for (size_t i = 0; i < n; i++)
                count += (s[i] & 0xc0) != 0x80;
        return count;
}

/* A space before a gap belongs to the word that is missing: vocabularies whose pieces hold the
 * space before a word have it in the piece that is looked for; to others it makes no difference. */
static int add_text(struct cmd_masked *g, const struct cmd_masked_how *how, const char *s, size_t n,
                    bool before_gap, struct ran_error *err)
{
        if (before_gap && n > 0 && s[n - 1] == ' ')
                n--;
        int code = ran_tokenizer_encode(how->tokenizer, s, n, &g->encoding, err);
        return code == RAN_OK ? add_ids(g, g->encoding.ids, g->encoding.n, err) : code;
}

static int read_text(struct cmd_masked *g, const struct cmd_masked_how *how, const char *line,
                     const struct ran_member *m, struct ran_error *err)
{
        struct ran_buf *text = &g->document.text;
        const size_t length = strlen(how->mask_token);
        size_t at = 0, point = 0;

        if (m->type != 's')
                return ran_fail(err, RAN_EFORMAT, "\"text\" must be a string");
        text->len = 0;
        int code = ran_json_decode(line, m->value, text, err);
        while (code == RAN_OK && at < text->len) {
                const char *rest = text->data + at;
                const char *gap = memmem(rest, text->len - at, how->mask_token, length);
                size_t n = gap != NULL ? (size_t)(gap - rest) : text->len - at;
                code = add_text(g, how, rest, n, gap != NULL, err);
                if (code != RAN_OK || gap == NULL)
                        break;
                size_t start = point + points(rest, n);
                point = start + points(gap, length);
                code = add_gap(g, how, start, point, err);
                at += n + length;
        }
        return code;
}

static int add_word(struct cmd_masked *g, const struct cmd_masked_how *how, size_t number,
                    struct ran_error *err)
{
        const struct ran_buf *word = &g->document.text;

        if (word->len == strlen(how->mask_token) &&
            memcmp(word->data, how->mask_token, word->len) == 0)
                return add_gap(g, how, number, number + 1, err);
        g->encoding.n = g->encoding.words = 0;
        int code =
                ran_tokenizer_encode_word(how->tokenizer, word->data, word->len, &g->encoding, err);
        return code == RAN_OK ? add_ids(g, g->encoding.ids, g->encoding.n, err) : code;
}

static int read_tokens(struct cmd_masked *g, const struct cmd_masked_how *how, const char *line,
                       const struct ran_member *m, struct ran_error *err)
{
        struct ran_span item;
        size_t pos = 0;
        char type;

        for (size_t n = 0;
             m->type == 'a' && ran_json_next(line, m->value, &pos, NULL, &item, &type); n++) {
                if (type != 's')
                        return ran_fail(err, RAN_EFORMAT, "\"tokens\" must be an array of strings");
                g->document.text.len = 0;
                int code = ran_json_decode(line, item, &g->document.text, err);
                if (code == RAN_OK)
                        code = add_word(g, how, n, err);
                if (code != RAN_OK)
                        return code;
        }
        return m->type == 'a'
                       ? RAN_OK
                       : ran_fail(err, RAN_EFORMAT, "\"tokens\" must be an array of strings");
}

/* ---- ids ------------------------------------------------------------------------------------ */

static int read_masked_at(struct cmd_masked *g, const char *line, const struct ran_member *m,
                          struct ran_error *err)
{
        struct ran_span item;
        size_t pos = 0, place;
        char type;
        bool good = m->type == 'a';

        while (good && ran_json_next(line, m->value, &pos, NULL, &item, &type)) {
                good = type == 'n' &&
                       ran_parse_size(line + item.begin, item.end - item.begin, &place) &&
                       place < g->L && (g->n == 0 || place > g->positions[g->n - 1]);
                if (good && add_place(g, place, place, place + 1, err) != RAN_OK)
                        return RAN_ENOMEM;
        }
        return good ? RAN_OK
                    : ran_fail(err, RAN_EFORMAT,
                               "\"masked_at\" must be an array of places in the document, counted "
                               "from 0, in ascending order");
}

static int read_ids(struct cmd_masked *g, const struct cmd_masked_how *how,
                    const struct ran_record *record, struct ran_error *err)
{
        const struct ran_member *at = ran_record_find(record, "masked_at", NULL);
        int code = cmd_document_read(&g->document, record, how->tokenizer, how->V, NULL, err);

        if (code == RAN_OK)
                code = add_ids(g, g->document.ids, g->document.L, err);
        if (code != RAN_OK)
                return code;
        if (at != NULL && at->type != '0')
                return read_masked_at(g, record->line, at, err);
        for (size_t t = 0; t < g->L && code == RAN_OK; t++)
                if (g->ids[t] == how->mask)
                        code = add_place(g, t, t, t + 1, err);
        return code;
}

/* ---- the record ----------------------------------------------------------------------------- */

static const struct ran_member *find(const struct ran_record *record, const char *name)
{
        const struct ran_member *m = ran_record_find(record, name, NULL);

        return m != NULL && m->type != '0' ? m : NULL;
}

int cmd_masked_read(struct cmd_masked *g, const struct cmd_masked_how *how,
                    const struct ran_record *record, struct ran_error *err)
{
        const struct ran_member *tokens = foreign_tokens(record), *text = foreign_text(record);
        bool written = how->tokenizer != NULL && find(record, "encoding") == NULL &&
                       find(record, "ids") == NULL;
        int code;

        g->L = g->n = 0;
        if (written && tokens != NULL)
                code = read_tokens(g, how, record->line, tokens, err);
        else if (written && text != NULL)
                code = read_text(g, how, record->line, text, err);
        else
                code = read_ids(g, how, record, err);
        if (code == RAN_OK && g->n == 0 && !how->none)
                return ran_fail(err, RAN_EFORMAT,
                                "there is no gap to fill: write %s where something is missing",
                                written ? how->mask_token : "the id of [MASK], or \"masked_at\",");
        return code;
}
