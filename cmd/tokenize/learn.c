/* learn.c - vocabularies from records, and from BERT's vocab.txt. */
#include "cmd/tokenize/tokenize.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"
#include "cmd/records/loop.h"
#include "cmd/content/vocab.h"

/* ---- output -------------------------------------------------------------------------------- */

static char *output;

static const struct ran_field output_field[] = {
        {"output", 'o', RAN_FIELD_TEXT, 0, .value = "FILE",
         .help = "write the vocabulary to FILE, when it is complete, instead of standard output",
         .local = true},
        {0},
};

static void write_vocab(struct cmd_sink *out, const struct ran_tokenizer *t)
{
        size_t n;
        const char *json = ran_tokenizer_json(t, &n);

        ran_buf_add(&out->buf, json, n);
        cmd_sink_close(out);
}

/* ---- learn ---------------------------------------------------------------------------------- */

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

static int count(void *arg, const struct cmd_line *line, const struct cmd_result *result,
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

        cmd_sink_open(&out, output); /* before long work, in case its folder does not exist */
        int status = cmd_records(&loop, files, NULL);
        ran_pool_free(loop.pool);
        struct ran_tokenizer *t = ran_counter_learn(l->counter, &err);
        if (t == NULL) {
                cmd_sink_abort(&out);
                cmd_die(CMD_FAILED, "%s", err.text);
        }
        write_vocab(&out, t);
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

/* ---- import --------------------------------------------------------------------------------- */

enum { LETTERS_AUTO, LETTERS_LOWER, LETTERS_KEEP };
enum { ACCENTS_AUTO, ACCENTS_STRIP, ACCENTS_KEEP };

struct bert_import {
        int letters, accents, clean;
        bool cjk, special;
        size_t max_word;
};

static const char *const letters_names[] = {"auto", "lower", "keep", NULL};
static const char *const accents_names[] = {"auto", "strip", "keep", NULL};

#define IMPORT(member) offsetof(struct bert_import, member)

static const struct ran_field import_fields[] = {
        {"case", 0, RAN_FIELD_CHOICE, IMPORT(letters), .choices = letters_names, .initial = "auto",
         .help = "lower: make letters lower case; keep: keep capitals; auto: keep them if any "
                 "token has a capital"},
        {"accents", 0, RAN_FIELD_CHOICE, IMPORT(accents), .choices = accents_names,
         .initial = "auto",
         .help = "strip or keep accents; auto: strip them if letters become lower case"},
        {"clean", 0, RAN_FIELD_CHOICE, IMPORT(clean), .choices = ran_vocab_clean_names,
         .initial = "all",
         .help = "control characters to remove; all: Cc, Cf and Co, as Hugging Face; cc-cf: "
                 "without Co (private use), as the original BERT"},
        {"cjk", 0, RAN_FIELD_BOOL, IMPORT(cjk), .initial = "true",
         .help = "make each CJK ideograph a word"},
        {"max_word", 0, RAN_FIELD_SIZE, IMPORT(max_word), .low = 1, .high = 1e6, .initial = "100",
         .help = "make longer words [UNK]: 100 characters as in Hugging Face, 200 as in the "
                 "original BERT"},
        {"special", 0, RAN_FIELD_BOOL, IMPORT(special), .initial = "false",
         .help = "make [PAD], [UNK], [CLS], [SEP] or [MASK] in a text that token, as the BERT of "
                 "Hugging Face does"},
        {0},
};

static struct ran_tokenizer *import_vocab(const struct bert_import *i, const char *path)
{
        const bool standard_input = strcmp(path, "-") == 0;
        struct ran_bytes file;
        struct ran_error err;

        if (ran_bytes_open(&file, standard_input ? "/dev/stdin" : path, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        if (standard_input)
                path = "standard input";
        const char *data = (const char *)file.data;
        bool lower = i->letters == LETTERS_LOWER ||
                     (i->letters == LETTERS_AUTO && !ran_vocab_txt_is_cased(data, file.size));
        const struct ran_vocab_settings settings = {
                .max_word = i->max_word,
                .lowercase = lower,
                .strip_accents =
                        i->accents == ACCENTS_STRIP || (i->accents == ACCENTS_AUTO && lower),
                .clean = i->clean,
                .cjk = i->cjk,
                .split_at = RAN_SPLIT_PUNCTUATION,
        };
        struct ran_tokenizer *t =
                ran_tokenizer_import(data, file.size, &settings, i->special, &err);
        ran_bytes_release(&file);
        if (t == NULL)
                cmd_die(CMD_FAILED, "%s: %s", path, err.text);
        cmd_note("%s: %zu tokens, letters %s, accents %s", path, ran_tokenizer_size(t),
                 settings.lowercase ? "made lower case" : "kept",
                 settings.strip_accents ? "removed" : "kept");
        return t;
}

int tokenize_import(int argc, char **argv)
{
        struct bert_import i = {0};
        const struct cmd_group groups[] = {
                {"Output", output_field, &output},
                {"How the vocabulary reads text", import_fields, &i},
                {NULL, NULL, NULL},
        };
        const struct cmd_program program = {
                .name = "ran-tokenize import",
                .usage = "[-o VOCAB.json] [option...] VOCAB.txt",
                .summary = "Converts BERT's vocab.txt to a tokenizer.json. All programs also read "
                           "a vocab.txt itself, as if converted without options.",
                .groups = groups,
        };
        int first = cmd_parse(&program, argc, argv);
        struct cmd_sink out;

        if (first + 1 != argc)
                cmd_usage("give one vocab.txt");
        cmd_check_input("output", output, argv[first]);
        struct ran_tokenizer *t = import_vocab(&i, argv[first]);
        cmd_sink_open(&out, output);
        write_vocab(&out, t);
        ran_tokenizer_free(t);
        return cmd_finish(CMD_OK);
}
