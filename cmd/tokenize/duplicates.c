/* duplicates.c - `ran-tokenize duplicates`: texts that are nearly the same as earlier ones, or as
 * those of other files. */
#include "cmd/tokenize/tokenize.h"

#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"
#include "cmd/records/loop.h"
#include "cmd/content/vocab.h"

enum { KEEP_ALL, KEEP_UNIQUE, KEEP_DUPLICATES };
static const char *const keep_names[] = {"all", "unique", "duplicates", NULL};

struct duplicates {
        double least;
        int keep, among_format;
        struct ran_list among;
        struct cmd_input input;
        struct cmd_output output;
        struct ran_counter *counter; /* how words are read */
        struct ran_near_duplicates *known;
        struct ran_shingles shingles;
        struct ran_buf ids;    /* of the known texts: JSON, one after the other */
        struct ran_spool ends; /* (texts) where they end */
        size_t texts, found, records;
        bool looking; /* for texts like those of --among, which are not added */
};

#define DUPLICATES(member) offsetof(struct duplicates, member)

static const struct ran_field duplicates_fields[] = {
        {"least", 0, RAN_FIELD_REAL, DUPLICATES(least), .low = 0.1, .high = 1, .initial = "0.8",
         .help = "smallest similarity: the share of pairs of adjacent words that two texts have in "
                 "common, of all that either has",
         .value = "X"},
        {"among", 0, RAN_FIELD_LIST, DUPLICATES(among), .value = "FILE",
         .help = "look for texts like those of FILE, not like earlier ones of the input; may be "
                 "given several times",
         .local = true},
        CMD_SIDE_FORMAT("among", DUPLICATES(among_format)),
        {"keep", 0, RAN_FIELD_CHOICE, DUPLICATES(keep), .choices = keep_names, .initial = "all",
         .help = "records to write: all; those without a duplicate; those with one"},
        {0},
};

static int read_words(void *arg, void *scratch, const struct cmd_line *line,
                      struct cmd_result *result, struct ran_error *err)
{
        const struct duplicates *d = arg;

        return cmd_vocab_words_read(scratch, &line->record, d->counter, &result->out, err);
}

/* Adds a text, with the id of its record, or its place. */
static int add_text(struct duplicates *d, const struct cmd_line *line, struct ran_error *err)
{
        size_t *end;

        RAN_TRY(ran_near_duplicates_add(d->known, &d->shingles, err));
        RAN_TRY(RAN_SPOOL(d->ends, end, d->texts + 1, err));
        cmd_line_id(line, false, &d->ids);
        end[d->texts++] = d->ids.len;
        return RAN_OK;
}

/* Adds a text of --among, unless the same text is there. */
static int learn(void *arg, const struct cmd_line *line, struct cmd_result *words,
                 struct ran_error *err)
{
        struct duplicates *d = arg;
        double similarity;

        RAN_TRY(ran_shingles_of(&d->shingles, words->out.data, words->out.len, err));
        const size_t text = ran_near_duplicates_find(d->known, &d->shingles, &similarity);
        return text != RAN_NO_TEXT && similarity == 1 ? RAN_OK : add_text(d, line, err);
}

/* From the words of a record to what is said of it. */
static int look(void *arg, const struct cmd_line *line, struct cmd_result *result,
                struct ran_error *err)
{
        struct duplicates *d = arg;
        struct ran_buf *out = &result->out;
        const size_t *end = d->ends.data;
        double similarity;

        RAN_TRY(ran_shingles_of(&d->shingles, out->data, out->len, err));
        const size_t text = ran_near_duplicates_find(d->known, &d->shingles, &similarity);
        out->len = 0;
        d->records++;
        if (text == RAN_NO_TEXT) {
                if (d->keep != KEEP_DUPLICATES)
                        ran_buf_str(out, "null");
                return d->looking ? RAN_OK : add_text(d, line, err);
        }
        d->found++;
        if (d->keep == KEEP_UNIQUE)
                return RAN_OK;
        const size_t begin = text == 0 ? 0 : end[text - 1];
        json_begin(out, '{');
        json_put_raw(out, "of", d->ids.data + begin, end[text] - begin);
        json_put_double(out, "similarity", similarity);
        json_end(out, '}');
        return RAN_OK;
}

static int run(struct duplicates *d, char **files)
{
        struct cmd_loop loop = {.input = &d->input,
                                .output = &d->output,
                                .into = "duplicate",
                                .reads = FIELD(ID) | FIELDS_OF_WORDS | FIELDS_OF_PAIR,
                                .pool = cmd_pool(),
                                .scratch_size = sizeof(struct cmd_vocab_words),
                                .free_scratch = cmd_vocab_words_free,
                                .work = read_words,
                                .take = look,
                                .arg = d};
        int status = CMD_OK;

        if (d->among.n > 0) {
                const struct cmd_input beside =
                        cmd_input_beside(&d->input, "among", d->among_format);
                struct cmd_loop others = loop;

                others.input = &beside;
                others.output = NULL;
                others.take = learn;
                status = cmd_records(&others, d->among.item, NULL);
                d->looking = true;
        }
        const int other = cmd_records(&loop, files, NULL);
        ran_pool_free(loop.pool);
        return status == CMD_OK ? other : status;
}

int tokenize_duplicates(int argc, char **argv)
{
        static struct duplicates d;
        const struct cmd_group groups[] = {
                {"Duplicates", duplicates_fields, &d},
                {"Input", cmd_input_fields, &d.input},
                {"Output", cmd_output_fields, &d.output},
                {NULL, NULL, NULL},
        };
        const struct cmd_program program = {
                .name = "ran-tokenize duplicates",
                .usage = "[--among FILE] [option...] [file...]",
                .summary = "Adds the member \"duplicate\" to each record: the id of the most "
                           "similar earlier text, and how similar it is; null if none is similar "
                           "enough. Without an id a record is called FILE:LINE.",
                .notes = "A text that is a duplicate is no original of others: what is left with "
                         "--keep=unique has no near-duplicates. Memory grows with the texts that "
                         "are no duplicates.",
                .groups = groups,
        };
        char **files = cmd_files(&d.input, argv + cmd_parse(&program, argc, argv));
        struct ran_vocab_settings settings = {0};
        struct ran_error err;

        if (ran_fields_init(ran_vocab_fields, &settings, &err) != RAN_OK ||
            (d.counter = ran_counter_new(&settings, &err)) == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        d.known = ran_near_duplicates_new(d.least);
        ran_fields_release(ran_vocab_fields, &settings);
        int status = run(&d, files);
        cmd_note("%zu of %zu texts are near-duplicates (similarity %g or more)", d.found, d.records,
                 d.least);
        ran_counter_free(d.counter);
        ran_near_duplicates_free(d.known);
        ran_shingles_release(&d.shingles);
        ran_buf_release(&d.ids);
        ran_spool_release(&d.ends);
        return cmd_finish(status);
}
