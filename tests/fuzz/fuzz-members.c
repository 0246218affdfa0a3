/* Any bytes as a record, whose document, labels, tags, spans, probabilities or gaps are read in the
 * ways that the programs read them, or which is written as lines of fastText or CoNLL: refused with
 * a sentence, or what they promise. The first two bytes say how. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/formats/import.h"
#include "cmd/content/reading.h"
#include "cmd/formats/output.h"
#include "cmd/content/labels.h"
#include "cmd/formats/record.h"
#include "cmd/content/document.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
        struct ran_tokenizer *tokenizer;
        struct cmd_document document[2]; /* without spelling, and with it */
        struct cmd_labels labels;
        struct cmd_soft_label soft;
        struct cmd_sequence sequence;
        struct cmd_masked gaps;
} subject;
static size_t ends[] = {1, 6, 11};
static struct cmd_names called = {.file = "names", .end = ends, .n = 3, .cap = 3};

static void require(bool x)
{
        if (!x)
                abort();
}

static void prepare(void)
{
        static const char pieces[] =
                "[UNK]\n[MASK]\n[SEP]\n[START]\n[END]\na\nb\n##a\n##b\nab\n,\n7\n";

        ran_buf_str(&called.text, "OB-PERI-PER");
        subject.tokenizer = ran_tokenizer_load(pieces, strlen(pieces), NULL);
        require(subject.tokenizer != NULL);
}

/* How to read, by the second byte. */
struct how {
        const struct ran_tokenizer *tokenizer; /* NULL: ids only */
        bool by_words, names, several;
        size_t spelling;
        struct cmd_document_options options;
        uint8_t rest;
};

static struct how how_of(uint8_t byte, bool only_ids)
{
        return (struct how){.tokenizer = only_ids ? NULL : subject.tokenizer,
                            .by_words = byte & 1,
                            .names = byte & 2,
                            .several = byte & 4,
                            .spelling = byte & 8 ? 50 : 0,
                            .options = {.max_tokens = byte & 16 ? 3 : 0, .truncate = byte >> 6},
                            .rest = byte >> 5};
}

static bool read_document(const struct how *how, const struct record *r, struct ran_error *err)
{
        struct cmd_document *d = &subject.document[how->spelling > 0];
        size_t V = ran_tokenizer_size(subject.tokenizer);

        d->by_words = how->by_words;
        d->with_positions = how->several;
        d->spelling = how->spelling;
        d->unit = how->rest % 3;
        if (cmd_document_read(d, r, how->tokenizer, V, &how->options, err) != RAN_OK)
                return false;
        require(d->L > 0 && d->head + d->tail <= d->L && d->L <= d->uncut);
        for (size_t t = 0; t < d->L; t++)
                require(d->ids[t] < V);
        for (size_t i = 0; (d->by_words || d->with_positions) && i < d->words; i++)
                require(d->positions[i] < d->L &&
                        (i == 0 || d->positions[i] > d->positions[i - 1]));
        for (size_t i = 0; how->spelling > 0 && i < d->L * RAN_SPELLING; i++)
                require(d->encoding.spelling[i] < how->spelling);
        return true;
}

/* Words in pairs, as if each were an entity: one behind the other, inside of the text. */
static int read_words(const struct how *how, const struct record *r, struct ran_error *err)
{
        struct cmd_document *d = &subject.document[how->spelling > 0];
        struct how words = *how;
        struct cmd_spans spans;
        size_t before = 0, start, end;

        words.by_words = true;
        words.rest = RAN_UNIT_CODEPOINT;
        if (!read_document(&words, r, err))
                return err->code;
        cmd_spans_begin(&spans, d, r, (enum ran_unit)(how->rest % 3));
        for (size_t i = 0; i < d->words; i = i + 2 < d->words ? i + 2 : d->words, before = end) {
                struct ran_buf text = {0};
                int rc = cmd_spans_next(&spans, i, i + 2 < d->words ? i + 2 : d->words, &start,
                                        &end, &text, err);
                ran_buf_release(&text);
                if (rc != RAN_OK)
                        return rc;
                require(before <= start && start <= end && end <= r->json.length);
        }
        return RAN_OK;
}

/* Names one after another. */
static void check_labels(const struct cmd_labels *l, bool tags)
{
        for (size_t i = 0, begin = 0; i < l->n; begin = l->end[i++]) {
                struct ran_tag tag;

                require(l->end[i] >= begin && l->end[i] <= l->names.len);
                if (tags && l->kind == CMD_TAGS_SCHEME)
                        require(ran_tag_parse(&tag, l->names.data + begin, l->end[i] - begin,
                                              NULL) == RAN_OK &&
                                strchr("OBI", tag.part) != NULL);
        }
}

static int read_labels(const struct how *how, const struct record *r, struct ran_error *err)
{
        int rc = cmd_labels_read(&subject.labels, r, err);

        if (rc == RAN_OK)
                rc = cmd_soft_label_read(&subject.soft, &subject.labels, r, "prediction",
                                         how->several, err);
        if (rc != RAN_OK)
                return rc;
        check_labels(&subject.labels, false);
        for (size_t i = 0; subject.soft.present && i < subject.soft.n; i++)
                require(subject.soft.p[i] >= 0 && subject.soft.p[i] <= 1);
        return RAN_OK;
}

static int read_spans(const struct how *how, const struct record *r, struct ran_error *err)
{
        struct cmd_document *d = &subject.document[how->spelling > 0];
        struct how words = *how;

        words.by_words = true;
        words.rest = RAN_UNIT_CODEPOINT;
        if (!read_document(&words, r, err))
                return err->code;
        int rc = cmd_span_tags_read(&subject.labels, d, r, err);
        if (rc != RAN_OK || !subject.labels.present)
                return rc;
        require(subject.labels.n == d->words);
        check_labels(&subject.labels, true);
        return RAN_OK;
}

static int read_tags(const struct record *r, struct ran_error *err)
{
        int rc = cmd_labels_read_tags(&subject.labels, r, err);

        if (rc == RAN_OK)
                check_labels(&subject.labels, true);
        return rc;
}

static int read_sequence(const struct how *how, const struct record *r, struct ran_error *err)
{
        struct cmd_sequence *s = &subject.sequence;
        struct cmd_sequence_how reading = {.tokenizer = how->tokenizer,
                                           .V = ran_tokenizer_size(subject.tokenizer),
                                           .mask = how->names ? RAN_MASK_PREFIX : RAN_MASK_CAUSAL,
                                           .end = how->by_words,
                                           .ask = how->several,
                                           .before = how->rest & 1 ? 5 : RAN_NO_ID};

        require(cmd_reserved_find(&reading.reserved, how->tokenizer, RAN_TASK_LM, reading.mask,
                                  NULL) == RAN_OK);
        if (cmd_sequence_read(s, &reading, r, err) != RAN_OK)
                return err->code;
        require(s->L > 0 && s->first >= 1 && s->first <= s->L && s->sources <= s->L);
        for (size_t t = 0; t < s->L; t++)
                require(s->ids[t] < reading.V);
        return RAN_OK;
}

static int read_gaps(const struct how *how, const struct record *r, struct ran_error *err)
{
        struct cmd_masked *g = &subject.gaps;
        const struct cmd_masked_how reading = {.tokenizer = subject.tokenizer,
                                               .V = ran_tokenizer_size(subject.tokenizer),
                                               .mask = 1,
                                               .mask_token = "[MASK]",
                                               .none = how->several};

        if (cmd_masked_read(g, &reading, r, err) != RAN_OK)
                return err->code;
        require(g->n > 0 ? g->L > 0 : how->several);
        for (size_t t = 0; t < g->L; t++)
                require(g->ids[t] < reading.V);
        for (size_t i = 0; i < g->n; i++)
                require(g->positions[i] < g->L &&
                        (i == 0 || g->positions[i] > g->positions[i - 1]) &&
                        g->start[i] <= g->end[i]);
        return RAN_OK;
}

/* ---- what is written ------------------------------------------------------------------------ */

/* Appends, again, what is read of a line or a block. */
static void import(const struct import_format *format, const struct ran_buf *written,
                   struct ran_buf *out)
{
        const struct text_line piece = {.file = "file", .s = written->data, .n = written->len};
        struct import how = {.format = format};
        struct ran_error err = {0};
        size_t line;

        require((format->begin == NULL || format->begin(&how, &piece, &err) == RAN_OK) &&
                import_text_line(&how, &piece, out, &line, &err) == RAN_OK);
        import_end(&how);
}

/* Behind a label, the text is one line, and the same once more when it has been read. */
static int write_fasttext(const struct record *r, struct ran_error *err)
{
        struct ran_buf line = {0}, json = {0}, again = {0};
        struct record read = {0};

        output_fasttext.label(&line, "x");
        int rc = output_fasttext.labelled(&line, r, err);
        if (rc == RAN_OK) {
                require(memchr(line.data, '\n', line.len) == line.data + line.len - 1);
                line.len--;
                import(&import_fasttext, &line, &json);
                require(record_scan(&read, json.data, json.len, NULL) == RAN_OK);
                output_fasttext.label(&again, "x");
                require(output_fasttext.labelled(&again, &read, NULL) == RAN_OK);
                require(ran_record_find(&read.json, "label", NULL) != NULL);
        }
        record_release(&read);
        ran_buf_release(&line);
        ran_buf_release(&json);
        ran_buf_release(&again);
        return rc;
}

/* A sentence of the words, one of which has no part in another line: as many again. */
static int write_conll(const struct how *how, const struct record *r, struct ran_error *err)
{
        struct cmd_document *d = &subject.document[how->spelling > 0];
        const struct cmd_line line = {.number = 1};
        struct ran_buf lines = {0}, json = {0}, word = {0};
        struct record read = {0};
        struct how words = *how;
        struct cmd_spans spans;
        size_t start, end;
        int rc = RAN_OK;

        words.by_words = true;
        words.rest = RAN_UNIT_CODEPOINT;
        if (!read_document(&words, r, err))
                return err->code;
        cmd_spans_begin(&spans, d, r, RAN_UNIT_CODEPOINT);
        for (size_t i = 0; i < d->words && rc == RAN_OK; i++) {
                word.len = 0;
                rc = cmd_spans_next(&spans, i, i + 1, &start, &end, &word, err);
                output_conll.word(&(struct output_words){.line = &line, .out = &lines}, word.data,
                                  word.len, "O");
        }
        if (rc == RAN_OK && d->words > 0) {
                import(&import_conll, &lines, &json);
                require(record_scan(&read, json.data, json.len, NULL) == RAN_OK);
                require(cmd_labels_read_tags(&subject.labels, &read, err) == RAN_OK &&
                        subject.labels.n == d->words);
        }
        record_release(&read);
        ran_buf_release(&word);
        ran_buf_release(&lines);
        ran_buf_release(&json);
        return rc;
}

/* ---- which of them -------------------------------------------------------------------------- */

/* The low numbers are what most kept inputs have. */
enum { ONLY_IDS = 0xc0, WRITES = 0xe0 };

static int read_record(uint8_t what, const struct how *how, const struct record *r,
                       struct ran_error *err)
{
        if (what >= WRITES)
                return what & 1 ? write_fasttext(r, err) : write_conll(how, r, err);
        if (what >= ONLY_IDS && what & 1)
                return read_sequence(how, r, err);
        if (what >= ONLY_IDS)
                return read_document(how, r, err) ? RAN_OK : (int)err->code;
        switch (what % 6) {
        case 0:
                if (what & 0x80)
                        return read_words(how, r, err);
                return read_document(how, r, err) ? RAN_OK : (int)err->code;
        case 1:
                return read_labels(how, r, err);
        case 2:
                return read_tags(r, err);
        case 3:
                return read_spans(how, r, err);
        case 4:
                return read_gaps(how, r, err);
        default:
                return read_sequence(how, r, err);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct record r = {0};
        struct ran_error err = {0};
        int rc;

        if (size < 2)
                return 0;
        if (subject.tokenizer == NULL)
                prepare();
        struct how how = how_of(data[1], data[0] >= ONLY_IDS && data[0] < WRITES);
        subject.labels.called = how.names ? &called : NULL;
        rc = record_scan(&r, (const char *)data + 2, size - 2, &err);
        if (rc == RAN_OK)
                rc = read_record(data[0], &how, &r, &err);
        require(rc == RAN_OK || err.text[0] != '\0');
        record_release(&r);
        return 0;
}
