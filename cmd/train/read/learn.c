/* learn.c - reads documents and learns a vocabulary from them.
 *
 * The lines are read once, because they may come from a pipe: their words are counted, and lines of
 * text are kept. Then the vocabulary is learned, and the kept lines go through the same functions
 * as other lines.
 */
#include "cmd/formats/record.h"
#include "cmd/train/read/reader.h"
#include "cmd/options/message.h"

#include <inttypes.h>
#include <stdlib.h>

/* Lines that wait for the vocabulary. */
struct spool {
        struct train_lines records, raw; /* raw: how they came, for --rejects */
        struct train_location *location; /* (records.n) */
        struct ran_spool location_spool; /* where it lies */
};

struct learner {
        struct train_reader reader;
        struct ran_counter *counter;
        struct spool spool;
        struct train_location first_ids, first_words;
        struct ran_vocab_settings *settings;
        /* A document has a source and a target, several labels, or an "encoding"; set atomically.
         */
        bool paired, several, encoded;
        struct train_source *with; /* the source of the reader, once there is a vocabulary */
        size_t spelling;           /* that it then has */
        struct ran_tokenizer *tokenizer;
};

/* Whether it has ids already. Those have no spelling: where that is read, so is the text. */
static bool is_encoded(const struct learner *l, const struct record *record)
{
        return record->is[FIELD_ENCODING] != NULL && l->reader.source->spelling == 0;
}

/* Packs ids, or collects the words of a text. */
static int count(void *arg, void *scratch, const struct cmd_line *line, struct cmd_result *result,
                 struct ran_error *err)
{
        struct learner *l = arg;
        struct train_scratch *s = scratch;

        const bool encoded = is_encoded(l, &line->record);

        if (encoded && l->reader.source->tokenizer == NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "\"encoding\" needs its vocabulary: give --vocab FILE");
        if (encoded)
                __atomic_store_n(&l->encoded, true, __ATOMIC_RELAXED);
        if (encoded || line->record.is[FIELD_IDS] != NULL)
                return train_encode(&l->reader, s, line, result, err);
        RAN_TRY(train_read_labels(s, l->reader.source, &line->record, err));
        if (s->labels.several)
                __atomic_store_n(&l->several, true, __ATOMIC_RELAXED);
        RAN_TRY(cmd_vocab_words_read(&s->words, &line->record, l->counter, &result->out, err));
        if (s->words.pairs)
                __atomic_store_n(&l->paired, true, __ATOMIC_RELAXED);
        return RAN_OK;
}

static int take_counted(void *arg, const struct cmd_line *line, struct cmd_result *result,
                        struct ran_error *err)
{
        struct learner *l = arg;
        bool ids = line->record.is[FIELD_IDS] != NULL || is_encoded(l, &line->record);

        train_location_note(ids ? &l->first_ids : &l->first_words, line);
        if (ids)
                return train_take(&l->reader, line, result, err);
        RAN_TRY(ran_counter_add(l->counter, result->out.data, result->out.len, err));
        struct ran_buf *scratch = &l->reader.renamed;
        struct spool *s = &l->spool;
        size_t length;
        if (l->reader.source->input->rejects !=
            NULL) { /* a blank line ends a sentence of columns */
                scratch->len = 0;
                ran_buf_add(scratch, line->raw, line->raw_length);
                ran_buf_str(scratch, line->columns != NULL ? "\n" : "");
                RAN_TRY(train_lines_add(&s->raw, scratch->data, scratch->len, err));
        }
        s->location = train_location_add(&s->location_spool, s->records.n, line, err);
        if (s->location == NULL)
                return (int)err->code;
        const char *text = train_line_text(line, scratch, &length);
        return train_lines_add(&s->records, text, length, err);
}

/* Lines are encoded this many at a time, in parallel, and added in order. */
enum { BATCH = 64 };

struct batch {
        struct learner *learner;
        struct cmd_run *run;
        size_t first; /* line of the spool that slot 0 has */
        struct slot {
                struct train_scratch scratch;
                struct cmd_line line;
                struct cmd_result packed;
                int rc; /* RAN_OK, or the number of err */
                struct ran_error err;
        } slot[BATCH];
};

static void work_on_spooled(void *arg, size_t i)
{
        struct batch *b = arg;
        struct slot *slot = &b->slot[i];
        const struct spool *spool = &b->learner->spool;
        const size_t n = b->first + i, begin = n == 0 ? 0 : spool->records.end[n - 1];

        slot->line.file = spool->location[n].file;
        slot->line.number = spool->location[n].line;
        slot->packed.out.len = 0;
        slot->rc = record_scan(&slot->line.record, spool->records.text + begin,
                               spool->records.end[n] - begin, &slot->err);
        if (slot->rc == RAN_OK)
                slot->rc = train_encode(&b->learner->reader, &slot->scratch, &slot->line,
                                        &slot->packed, &slot->err);
}

/* Refuses a line late: most errors were found before, but some need its words: a document
 * without a token, spans that do not begin at words. Returns false if that ends the run. */
static bool add_spooled(struct batch *b, struct slot *slot, size_t n)
{
        const struct spool *spool = &b->learner->spool;

        if (slot->rc == RAN_OK)
                slot->rc = train_take(&b->learner->reader, &slot->line, &slot->packed, &slot->err);
        if (slot->rc == RAN_OK)
                return true;
        if (spool->raw.n > 0) {
                size_t begin = n > 0 ? spool->raw.end[n - 1] : 0;
                slot->line.raw = spool->raw.text + begin;
                slot->line.raw_length = spool->raw.end[n] - begin;
        }
        return cmd_refuse_late(b->run, &slot->line, &slot->err);
}

/* Encodes the lines that wait, and takes them in order. */
static void each_waiting(struct learner *l, struct cmd_run *run)
{
        const size_t all = l->spool.records.n;
        struct batch *b = ran_new(1, sizeof *b);

        b->learner = l;
        b->run = run;
        for (bool more = true; more && b->first < all; b->first += BATCH) {
                const size_t n = all - b->first < BATCH ? all - b->first : BATCH;

                ran_parallel(l->reader.source->pool, n, work_on_spooled, b);
                for (size_t i = 0; i < n && more; i++)
                        more = add_spooled(b, &b->slot[i], b->first + i);
        }
        for (size_t i = 0; i < BATCH; i++) {
                train_scratch_release(&b->slot[i].scratch);
                record_release(&b->slot[i].line.record);
                ran_buf_release(&b->slot[i].packed.out);
        }
        free(b);
}

static struct ran_tokenizer *learn(struct learner *l)
{
        struct ran_error err = {0};
        struct ran_counter_report report;
        size_t wanted = 0;

        if (l->reader.source->vector_words > 0 &&
            ran_vectors_want(l->reader.source->vectors, l->reader.source->vector_words, l->counter,
                             &wanted, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        struct ran_tokenizer *t = ran_counter_learn(l->counter, &err);
        if (t == NULL)
                cmd_die(CMD_FAILED, "no vocabulary can be learned: %s", err.text);
        ran_counter_report(l->counter, &report);
        cmd_note("learned a vocabulary of %zu tokens from %" PRIu64 " words, %zu different",
                 ran_tokenizer_size(t), report.words, report.distinct);
        if (wanted > 0)
                cmd_note("%zu of them were added for their vectors", wanted);
        return t;
}

/* When all lines have been counted, or packed. */
static void finish(void *arg, struct cmd_run *run)
{
        struct learner *l = arg;
        struct train_source *with = l->with;

        if (l->first_ids.file != NULL && l->first_words.file != NULL && with->tokenizer == NULL)
                cmd_die(CMD_FAILED,
                        "%s:%zu has ids but %s:%zu has words: give --vocab FILE, the "
                        "vocabulary of the ids",
                        l->first_ids.file, l->first_ids.line, l->first_words.file,
                        l->first_words.line);
        if (l->first_words.file == NULL)
                return;
        if (with->pairs_vocabulary > 0 && l->paired) {
                l->settings->vocab_size = with->pairs_vocabulary;
                ran_counter_limit(l->counter, with->pairs_vocabulary);
        }
        const struct train_counted counted = {l->counter, l->several, l->encoded};
        const struct ran_tokenizer *given =
                with->given != NULL ? with->given(with->given_arg, &counted, &l->spelling) : NULL;
        if (given == NULL)
                l->tokenizer = learn(l);
        with->tokenizer = given != NULL ? given : l->tokenizer;
        with->V = ran_tokenizer_size(with->tokenizer);
        with->spelling = l->spelling;
        each_waiting(l, run);
}

struct ran_tokenizer *train_data_learn(struct train_data *d, const struct train_source *source,
                                       struct ran_vocab_settings *settings, char **files)
{
        struct train_source with = *source; /* ids without a vocabulary have no spelling */
        struct learner l = {.reader = {.source = &with, .data = d},
                            .with = &with,
                            .settings = settings,
                            .spelling = source->spelling};
        struct spool *spool = &l.spool;
        struct cmd_loop loop = train_loop(&l.reader);
        struct ran_error err = {0};

        if (source->tokenizer == NULL)
                with.spelling = 0;
        l.counter = source->tokenizer != NULL ? ran_counter_new_like(settings, source->tokenizer)
                                              : ran_counter_new(settings, &err);
        if (l.counter == NULL)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        loop.work = count;
        loop.take = take_counted;
        loop.finish = finish;
        loop.arg = &l;
        spool->records.text_spool.keep = spool->records.end_spool.keep =
                spool->raw.text_spool.keep = spool->raw.end_spool.keep =
                        spool->location_spool.keep = source->keep;
        train_begin(&l.reader);
        cmd_records(&loop, files, &d->counts);
        ran_counter_free(l.counter);
        train_lines_release(&spool->records);
        train_lines_release(&spool->raw);
        ran_spool_release(&spool->location_spool);
        train_finish(&l.reader);
        return l.tokenizer;
}
