/* ran-attnmask.c - attention patterns: who sees whom, how many scores that makes, and what they
 * are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/attnmask/attnmask.h"
#include "cmd/attnmask/picture.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/was-set.h"
#include "cmd/options/write.h"
#include "cmd/records/io.h"
#include "cmd/records/files.h"

/* ---- options -------------------------------------------------------------------------------- */

static struct attnmask_options options;
static struct cmd_document_options document_options;
static struct cmd_input input;
static struct cmd_output output;

static const char *const map_names[] = {"attention", "label", "tokens", NULL};

enum { LARGEST_PICTURE = 8192 };

#define OPTION(member) offsetof(struct attnmask_options, member)

static const struct ran_field pattern_fields[] = {
        {"attention", 0, RAN_FIELD_CHOICES, OPTION(attention), .choices = ran_attention_names,
         .initial = "full",
         .help = "which keys a query sees, by their distance; several, with commas between, for as "
                 "many heads"},
        {"mask", 0, RAN_FIELD_CHOICE, OPTION(mask), .choices = ran_mask_names, .value = "KIND",
         .initial = "none",
         .help = "what is hidden from it: nothing, all keys after it, or those after it that are "
                 "no source tokens"},
        {"length", 0, RAN_FIELD_SIZE, OPTION(length), 0, RAN_MASK_LENGTH, .value = "N",
         .help = "tokens in all; 0: not given"},
        {"window", 0, RAN_FIELD_SIZE, OPTION(window), 1, RAN_MASK_LENGTH, .value = "N",
         .initial = "4",
         .help = "width of a window: half of it, rounded down, to each side of the query"},
        {"dilation", 0, RAN_FIELD_SIZE, OPTION(dilation), 0, RAN_MASK_LENGTH, .value = "N",
         .help = "dilated: tokens left out between two keys; 0: not given"},
        {"source", 0, RAN_FIELD_SIZE, OPTION(source), 0, RAN_MASK_LENGTH, .value = "N",
         .help = "mask prefix: how many tokens, from the first on, are source; 0: not given"},
        {0},
};
static const struct ran_field answer_fields[] = {
        {"format", 0, RAN_FIELD_CHOICE, OPTION(format), .choices = picture_format_names,
         .value = "NAME", .initial = "text",
         .help = "a grid of characters or a picture; json: for each query its keys, as intervals"},
        {"size", 0, RAN_FIELD_SIZE, OPTION(size), 0, LARGEST_PICTURE, .value = "N", .initial = "0",
         .help = "characters or pixels across at most: a larger mask is drawn in blocks; 0: the "
                 "width of the terminal, or 512 pixels"},
        {"rows", 0, RAN_FIELD_TEXT, OPTION(rows), .value = "A:B",
         .help = "draw or list tokens A to B-1 only, as those who look"},
        {"row", 0, RAN_FIELD_TEXT, OPTION(row), .value = "I",
         .help = "what token I sees; the first is 0; of a model also cell:I, the cell of window I"},
        {"reach", 0, RAN_FIELD_SIZE, OPTION(reach), 0, INFINITY, .value = "K",
         .help = "with --row: what it sees by way of others, after K layers; 0: not given"},
        {"count", 0, RAN_FIELD_BOOL, OPTION(count), .initial = "false",
         .help = "how many scores there are, and how many keys a query sees"},
        {"table", 0, RAN_FIELD_BOOL, OPTION(table), .initial = "false",
         .help = "the table of the paper about dispersed attention, and what is true of it"},
        {0},
};
static const struct ran_field score_fields[] = {
        {"scores", 0, RAN_FIELD_BOOL, OPTION(scores), .initial = "false",
         .help = "add their attention scores to records with vectors, or with query and key"},
        {"similarity", 0, RAN_FIELD_CHOICE, OPTION(similarity), .choices = ran_similarity_names,
         .value = "KIND", .initial = "dot", .help = "how a score is made of query and key"},
        {0},
};
static const struct ran_field model_fields[] = {
        {"model", 'm', RAN_FIELD_TEXT, OPTION(model), .value = "FILE",
         .help = "add to records what this model, as ran-train wrote it, attended to",
         .local = true},
        {"verify", 0, RAN_FIELD_BOOL, OPTION(verify), .initial = "false",
         .help = "check the digest of the weights before they are used"},
        {"map", 0, RAN_FIELD_CHOICE, OPTION(map), .choices = map_names, .value = "WHAT",
         .initial = "attention",
         .help = "what to show: the attention that was paid; how each token bears on the label; or "
                 "how tokens bear on the outputs of tokens"},
        {"label", 0, RAN_FIELD_TEXT, OPTION(label), .value = "NAME",
         .help = "with --map label: of this one, in place of that which the document gets"},
        {"layer", 0, RAN_FIELD_TEXT, OPTION(layer), .value = "N",
         .help = "layer N, the first is 0, or all; otherwise all, and of pictures the last"},
        {"head", 0, RAN_FIELD_TEXT, OPTION(head), .value = "WHAT",
         .help = "head N, the first is 0; mean, of all heads; review, the look back at windows; or "
                 "all; otherwise all, and of pictures the mean"},
        {"in_window", 0, RAN_FIELD_TEXT, OPTION(in_window), .value = "N",
         .help = "what the tokens of window N and its cell look at; the first is 0"},
        {"top", 0, RAN_FIELD_SIZE, OPTION(top), 0, INFINITY, .value = "K", .initial = "5",
         .help = "name the K that got most attention"},
        {"weights", 0, RAN_FIELD_BOOL, OPTION(weights), .initial = "false",
         .help = "add the weights themselves, row by row; what is 0 is left out"},
        {"offsets", 0, RAN_FIELD_CHOICE, OPTION(offsets), .choices = ran_unit_names,
         .value = "UNIT", .initial = "codepoint", .help = "what offsets into a text count"},
        {0},
};
static const struct cmd_group groups[] = {
        {"Pattern", pattern_fields, &options},
        {"Answer", answer_fields, &options},
        {"Scores", score_fields, &options},
        {"Model", model_fields, &options},
        {"Documents, with --model", cmd_document_fields, &document_options},
        {"Input, with --scores or --model", cmd_input_fields, &input},
        {"Output", cmd_output_fields, &output},
        {0},
};
static const struct cmd_program program = {
        .name = "ran-attnmask",
        .usage = "--length N [--attention WORD] [--mask KIND] [option...]\n"
                 "--row I --length N [--reach K] [option...]\n"
                 "--count --length N [option...]\n"
                 "--table [option...]\n"
                 "--scores [option...] [file...]\n"
                 "-m MODEL [option...] [file...]",
        .summary = "Shows attention patterns: who sees whom in a text of N tokens, as a grid, a "
                   "picture or intervals; what one token sees; how many scores that makes; and "
                   "the scores of given vectors. With a model, adds to each JSON record what the "
                   "model attended to in its document, as the member \"attention\", or draws it.",
        .notes = "In a grid a line is a query and a column a key: # is seen, . is not. Exit "
                 "status: 0, all is well; 1, some records failed; 2, usage; 3, something could not "
                 "be read, written or held in memory.",
        .groups = groups,
};

/* ---- what was asked ------------------------------------------------------------------------- */

static bool has_pattern(int pattern)
{
        for (size_t i = 0; i < options.attention.n; i++)
                if (options.attention.item[i] == pattern)
                        return true;
        return false;
}

static bool has_window(void)
{
        return has_pattern(RAN_ATTENTION_WINDOW) || has_pattern(RAN_ATTENTION_DILATED) ||
               has_pattern(RAN_ATTENTION_DISPERSED);
}

static void check_pattern(void)
{
        bool dilated = has_pattern(RAN_ATTENTION_DILATED), prefix = options.mask == RAN_MASK_PREFIX;

        if (dilated && options.dilation == 0)
                cmd_usage("--attention dilated needs --dilation N: how many tokens are left out "
                          "between two keys");
        if (!dilated && options.dilation > 0)
                cmd_usage("--dilation is for --attention dilated");
        if (prefix && options.source == 0)
                cmd_usage("--mask prefix needs --source N: how many of the tokens are source");
        if (!prefix && options.source > 0)
                cmd_usage("--source is for --mask prefix");
}

static void check_terminal(void)
{
        if (options.format > PICTURE_JSON && options.format != PICTURE_SVG &&
            output.output == NULL && isatty(STDOUT_FILENO))
                cmd_usage("a picture is nothing to print on a terminal: give --output FILE");
}

static void check_question(char **files)
{
        static const char *const with[] = {"verify",   "layer",   "head",    "in_window",
                                           "top",      "weights", "offsets", "max_tokens",
                                           "truncate", "map",     "label",   NULL};

        static const char *const of_records[] = {"into", "only", "drop", NULL};
        static const char *const of_scores[] = {"similarity", NULL};
        static const char *const of_drawings[] = {"size", NULL};
        static const char no_records[] = "records are read with --scores or --model only";

        cmd_excludes(true, "what a model does is shown with --model FILE only", with);
        bool row = options.row != NULL;

        if (row + options.count + options.table + options.scores > 1)
                cmd_usage("--row, --count, --table and --scores are different questions: ask one "
                          "at a time");
        if (options.reach > 0 && !row)
                cmd_usage("--reach is for --row: it says what that token sees after K layers");
        if (options.rows != NULL && (row || options.count || options.table || options.scores))
                cmd_usage("--rows is for grids, pictures and intervals");
        if (options.format > PICTURE_JSON && (row || options.count || options.table))
                cmd_usage("--format %s draws a whole pattern: here it can be text or json",
                          picture_format_names[options.format]);
        cmd_requires(options.scores, "--scores", of_scores);
        cmd_requires(!(row || options.count || options.table || options.scores ||
                       options.format == PICTURE_JSON),
                     "grids and pictures", of_drawings);
        check_terminal();
        cmd_excludes(!options.scores, no_records, of_records);
        cmd_excludes_fields(!options.scores, no_records, cmd_input_fields);
        if (files[0] != NULL && !options.scores)
                cmd_usage("%s: files are read with --scores only", files[0]);
        if (options.length == 0 && !options.table && !options.scores)
                cmd_usage("how many tokens? give --length N, at least 1");
}

static void check_table(void)
{
        if (options.length > 0)
                cmd_usage("--table has lengths of its own: not with --length");
        if (options.mask != RAN_MASK_NONE || has_window())
                cmd_usage("--table compares full, window and dispersed attention without a mask: "
                          "not with --attention or --mask");
}

static void check_scores(void)
{
        if (options.length > 0)
                cmd_usage("with --scores there are as many tokens as a record has vectors: not "
                          "with --length");
        if (options.attention.n > 1)
                cmd_usage("--scores takes one --attention, not %zu", options.attention.n);
        if (options.format != PICTURE_TEXT)
                cmd_usage("--scores writes records: not with --format");
}

static void check_model(void)
{
        static const char *const without[] = {"attention", "mask",   "length",     "window",
                                              "dilation",  "source", "reach",      "count",
                                              "table",     "scores", "similarity", NULL};
        static const char *const of_numbers[] = {"top",  "weights", "offsets", "into",
                                                 "only", "drop",    NULL};

        static const char *const of_attention[] = {"layer", "head", "in_window", NULL};
        bool tokens = options.map == ATTNMASK_MAP_TOKENS;

        cmd_excludes(true, "a model has a pattern of its own", without);
        cmd_excludes(options.map != ATTNMASK_MAP_ATTENTION,
                     "only --map attention is of one layer, head and window", of_attention);
        cmd_document_check(&document_options);
        if (options.label != NULL && options.map != ATTNMASK_MAP_LABEL)
                cmd_usage("--label is for --map label");
        cmd_excludes(attnmask_draws(&options), "a picture is no record and has no numbers",
                     of_numbers);
        if (!attnmask_draws(&options) && options.size > 0 && !(tokens && options.weights))
                cmd_usage("--size is for pictures: give --format text, pgm, png or svg");
        check_terminal();
}

/* What is right but may not be meant. */
static void note_oddities(void)
{
        size_t window = options.window, N = options.length;

        if (!has_window() && !options.table)
                return;
        if (window == 1)
                cmd_note("a window of 1 is the token itself");
        else if (window % 2 != 0)
                cmd_note("a window of %zu is odd: it takes in %zu tokens to each side, like one of "
                         "%zu",
                         window, window / 2, window - 1);
        if (N > 0 && window > N)
                cmd_note("a window of %zu is longer than the %zu tokens there are", window, N);
        if (N > 0 && options.dilation >= N)
                cmd_note("a dilation of %zu goes beyond the %zu tokens there are", options.dilation,
                         N);
}

/* ---- heads ---------------------------------------------------------------------------------- */

static char *name_of(int pattern)
{
        struct ran_buf name = {0};

        ran_buf_str(&name, ran_attention_names[pattern]);
        if (pattern == RAN_ATTENTION_DILATED)
                ran_buf_printf(&name, "(%zu, %zu)", options.window, options.dilation);
        else if (pattern != RAN_ATTENTION_FULL)
                ran_buf_printf(&name, "(%zu)", options.window);
        ran_buf_char(&name, '\0');
        if (name.failed)
                cmd_die(CMD_FAILED, "out of memory");
        return name.data;
}

static void init_heads(struct attnmask *a)
{
        struct ran_error err;

        a->n = options.attention.n;
        a->heads = ran_alloc(a->n, sizeof *a->heads, &err);
        a->names = ran_alloc(a->n, sizeof *a->names, &err);
        if (a->heads == NULL || a->names == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        for (size_t h = 0; h < a->n; h++) {
                int pattern = options.attention.item[h];

                a->heads[h].pattern = pattern;
                a->names[h] = name_of(pattern);
                if (ran_mask_init(&a->heads[h].mask, pattern, options.window, options.dilation,
                                  options.mask, options.length, options.source, &err) != RAN_OK)
                        cmd_refuse(NULL, &err);
        }
}

static void release(struct attnmask *a)
{
        for (size_t h = 0; h < a->n; h++)
                free(a->names[h]);
        free(a->names);
        free(a->heads);
}

bool attnmask_parse_rows(const char *text, size_t *from, size_t *to)
{
        size_t n = strcspn(text, ":");

        return text[n] != '\0' && ran_parse_size(text, n, from) &&
               ran_parse_size(text + n + 1, strlen(text + n + 1), to) && *from < *to;
}

/* --row I or --rows A:B */
static void select_rows(struct attnmask *a)
{
        const char *rows = options.rows, *row = options.row;
        size_t N = options.length;

        a->from = 0;
        a->to = N;
        if (row != NULL) {
                if (!ran_parse_size(row, strlen(row), &a->from) || a->from >= N)
                        cmd_usage("--row must be a token from 0 to %zu, not '%s'", N - 1, row);
                a->to = a->from + 1;
        } else if (rows != NULL) {
                if (!attnmask_parse_rows(rows, &a->from, &a->to) || a->to > N)
                        cmd_usage("--rows must be A:B, with A less than B and B at most %zu, not "
                                  "'%s'",
                                  N, rows);
        }
}

/* ---- the program ---------------------------------------------------------------------------- */

static void answer(void)
{
        int (*const ask)(const struct attnmask *, struct cmd_sink *, struct ran_error *) =
                options.table                    ? attnmask_table
                : options.count                  ? attnmask_count
                : options.row != NULL            ? attnmask_row
                : options.format == PICTURE_JSON ? attnmask_rows
                                                 : attnmask_grid;
        struct attnmask a = {.options = &options};
        struct cmd_sink out;
        struct ran_error err;

        if (!options.table) {
                select_rows(&a);
                init_heads(&a);
        }
        note_oddities();
        cmd_sink_open(&out, output.output);
        if (ask(&a, &out, &err) != RAN_OK) {
                cmd_sink_abort(&out);
                cmd_die(cmd_status_of(&err), "%s", err.text);
        }
        cmd_sink_close(&out);
        release(&a);
}

int main(int argc, char **argv)
{
        int first = cmd_parse(&program, argc, argv), status = CMD_OK;

        if (options.model != NULL) {
                check_model();
                return cmd_finish(attnmask_model(&options, &document_options, &input, &output,
                                                 cmd_files(&input, argv + first)));
        }
        check_question(argv + first);
        check_pattern();
        if (options.table)
                check_table();
        if (options.scores) {
                check_scores();
                note_oddities();
                status =
                        attnmask_scores(&options, &input, &output, cmd_files(&input, argv + first));
        } else {
                answer();
        }
        return cmd_finish(status);
}
