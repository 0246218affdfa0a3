/* learn.c - vocabularies from records. */
#include "cmd/tokenize/tokenize.h"

#include <inttypes.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"
#include "cmd/records/loop.h"
#include "cmd/content/vocab.h"

static char *output;

static const struct ran_field output_field[] = {
        {"output", 'o', RAN_FIELD_TEXT, 0, .value = "FILE",
         .help = "write the vocabulary to FILE, when it is complete, instead of standard output",
         .local = true},
        {0},
};

struct learn {
        struct cmd_input input;
        struct ran_vocab_settings settings;
        struct ran_counter *counter;
        bool pruned; /* and that was said */
};

static int collect(void *arg, void *scratch, const struct cmd_line *line, struct cmd_result *result,
                   struct ran_error *err)
{
        const struct learn *l = arg;

        return cmd_vocab_words_read(scratch, &line->record, l->counter, &result->out, err);
}

static int count(void *arg, const struct cmd_line *line, struct cmd_result *result,
                 struct ran_error *err)
{
        struct learn *l = arg;
        struct ran_counter_report report;
        int rc = ran_counter_add(l->counter, result->out.data, result->out.len, err);

        ran_counter_report(l->counter, &report);
        if (report.pruned > 0 && !l->pruned) {
                cmd_warn("%s:%zu: more than %zu different words: forgetting the rarest from here "
                         "on (--max-distinct)",
                         line->file, line->number, l->settings.max_distinct);
                l->pruned = true;
        }
        return rc;
}

static int count_and_write(struct learn *l, char **files)
{
        struct ran_counter_report report;
        struct cmd_sink out;
        struct cmd_loop loop = {
                .input = &l->input,
                .reads = FIELDS_OF_WORDS | FIELDS_OF_PAIR,
                .pool = cmd_pool(),
                .scratch_size = sizeof(struct cmd_vocab_words),
                .free_scratch = cmd_vocab_words_free,
                .work = collect,
                .take = count,
                .arg = l,
        };
        struct ran_error err;
        size_t n;

        cmd_sink_open(&out, output); /* before long work, in case its folder does not exist */
        int status = cmd_records(&loop, files, NULL);
        ran_pool_free(loop.pool);
        struct ran_tokenizer *t = ran_counter_learn(l->counter, &err);
        if (t == NULL) {
                cmd_sink_abort(&out);
                cmd_die(CMD_FAILED, "%s", err.text);
        }
        const char *json = ran_tokenizer_json(t, &n);
        ran_buf_add(&out.buf, json, n);
        cmd_sink_close(&out);
        ran_counter_report(l->counter, &report);
        cmd_note("%" PRIu64 " words, %zu of them different; a vocabulary of %zu tokens",
                 report.words, report.distinct, ran_tokenizer_size(t));
        if (report.pruned > 0)
                cmd_note("rare words were forgotten %zu times, with %.2g%% of all occurrences",
                         report.pruned, 100.0 * (double)report.dropped / (double)report.words);
        ran_tokenizer_free(t);
        return status;
}

int tokenize_learn(int argc, char **argv)
{
        static struct learn l;
        const struct cmd_group groups[] = {
                {"Output", output_field, &output},
                {"Vocabulary", ran_vocab_fields, &l.settings},
                {"Input", cmd_input_fields, &l.input},
                {NULL, NULL, NULL},
        };
        const struct cmd_program program = {
                .name = "ran-tokenize learn",
                .prefix = "vocab-",
                .usage = "[-o VOCAB.json] [option...] [file...]",
                .summary = "Learns a vocabulary from the words of the records: their tokens, else "
                           "text, else source and target. Memory grows only with the number of "
                           "distinct words, so the corpus may have any size. The result is a "
                           "Hugging Face tokenizer.json.",
                .notes = "The first five tokens are reserved: [UNK] [MASK] [SEP] [START] [END]. No "
                         "text becomes one of them, except [UNK]. --type and --size are short for "
                         "--vocab-type and --vocab-size.",
                .groups = groups,
        };
        char **files = cmd_files(&l.input, argv + cmd_parse(&program, argc, argv));
        struct ran_error err;

        cmd_check_inputs("output", output, files);
        l.counter = ran_counter_new(&l.settings, &err);
        if (l.counter == NULL && err.code == RAN_EINVAL)
                cmd_usage("%s", err.text);
        if (l.counter == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        int status = count_and_write(&l, files);
        ran_counter_free(l.counter);
        return cmd_finish(status);
}
