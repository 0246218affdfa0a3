/* ran-attnmask.c - attention patterns: the keys of queries and the number of scores; attention
 * and attribution of models. */
#include "cmd/attnmask/attnmask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/records/loop.h"

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
         .initial = "full", .first = true,
         .help = "attention pattern: which keys a query sees; one for all heads, or one for each "
                 "with commas between"},
        {"mask", 0, RAN_FIELD_CHOICE, OPTION(mask), .choices = ran_mask_names, .value = "KIND",
         .initial = "none",
         .help = "keys after the query to hide: none; causal: all; prefix: all except source "
                 "tokens",
         .first = true},
        {"length", 0, RAN_FIELD_SIZE, OPTION(length), 0, RAN_MASK_LENGTH, .value = "N",
         .help = "length of the text in tokens; 0: not given", .first = true},
        {"window", 0, RAN_FIELD_SIZE, OPTION(window), 1, RAN_MASK_LENGTH, .value = "N",
         .initial = "4",
         .help = "width of a window; half of it, rounded down, lies on each side of the query",
         .first = true},
        {"dilation", 0, RAN_FIELD_SIZE, OPTION(dilation), 0, RAN_MASK_LENGTH, .value = "N",
         .help = "tokens skipped between two keys; 0: not given"},
        {"source", 0, RAN_FIELD_SIZE, OPTION(source), 0, RAN_MASK_LENGTH, .value = "N",
         .help = "number of source tokens; 0: not given"},
        {0},
};
static const struct ran_field answer_fields[] = {
        {"format", 0, RAN_FIELD_CHOICE, OPTION(format), .choices = picture_format_names,
         .value = "NAME", .initial = "text",
         .help = "text: a grid of characters; json: the keys of each query, as intervals; svg: "
                 "a picture; html: with a model, a page of the document's words",
         .first = true},
        {"size", 0, RAN_FIELD_SIZE, OPTION(size), 0, LARGEST_PICTURE, .value = "N", .initial = "0",
         .help = "largest width in characters or pixels; a larger mask is drawn in blocks; 0: that "
                 "of the terminal, or 512 pixels"},
        {"rows", 0, RAN_FIELD_TEXT, OPTION(rows), .value = "A:B",
         .help = "draw or list only the queries A to B - 1"},
        {"row", 0, RAN_FIELD_TEXT, OPTION(row), .value = "I",
         .help = "show only what token I sees, from 0; with a model also cell:I, the cell of "
                 "window I",
         .first = true},
        {"reach", 0, RAN_FIELD_SIZE, OPTION(reach), 0, INFINITY, .value = "K",
         .help = "list the tokens whose information reaches that token within K "
                 "layers; 0: not given",
         .needs = "row", .why = "needs --row"},
        {"count", 0, RAN_FIELD_BOOL, OPTION(count), .initial = "false",
         .help = "count the scores, that is, the pairs of a query and a key it sees",
         .first = true},
        {"table", 0, RAN_FIELD_BOOL, OPTION(table), .initial = "false",
         .help = "check Table 1 of the paper on dispersed attention"},
        {0},
};
static const struct ran_field model_fields[] = {
        {"model", 'm', RAN_FIELD_TEXT, OPTION(model), .value = "FILE",
         .help = "show the attention of this model in documents", .local = true, .first = true},
        {"verify", 0, RAN_FIELD_BOOL, OPTION(verify), .initial = "false",
         .help = "compare the digest of the weights before use"},
        {"map", 0, RAN_FIELD_CHOICE, OPTION(map), .choices = map_names, .value = "WHAT",
         .initial = "attention",
         .help = "attention: the attention weights; label: the influence of tokens on the label; "
                 "tokens: their influence on the outputs for tokens",
         .first = true},
        {"label", 0, RAN_FIELD_TEXT, OPTION(label), .value = "NAME",
         .help = "explain this label instead of the predicted one"},
        {"layer", 0, RAN_FIELD_TEXT, OPTION(layer), .value = "N",
         .help = "layer N, from 0, or all; default: all, in pictures the last", .first = true},
        {"head", 0, RAN_FIELD_TEXT, OPTION(head), .value = "WHAT",
         .help = "head N, from 0; mean, of all heads; review, the memory review; or all; default: "
                 "all, in pictures the mean",
         .first = true},
        {"in_window", 0, RAN_FIELD_TEXT, OPTION(in_window), .value = "N",
         .help = "show only what the tokens of window N, from 0, and its cell attend to"},
        {"top", 0, RAN_FIELD_SIZE, OPTION(top), 0, INFINITY, .value = "K", .initial = "5",
         .help = "list the K keys with the most attention", .first = true},
        {"weights", 0, RAN_FIELD_BOOL, OPTION(weights), .initial = "false",
         .help = "add the weights themselves, row by row; zeros are left out"},
        {"offsets", 0, RAN_FIELD_CHOICE, OPTION(offsets), .choices = ran_unit_names,
         .value = "UNIT", .initial = "codepoint", .help = "unit of the offsets in a text"},
        {0},
};
static const struct cmd_group groups[] = {
        {"Pattern", pattern_fields, &options},
        {"Answer", answer_fields, &options},
        {"Model", model_fields, &options},
        {"Documents, with --model", cmd_document_fields, &document_options},
        {"Input, with --model", cmd_input_fields, &input},
        {"Output", cmd_output_fields, &output},
        {0},
};
/* Whether a head has this pattern, or another one than that. */
static bool has_pattern(int pattern, bool other)
{
        for (size_t i = 0; i < options.attention.n; i++)
                if ((options.attention.item[i] == pattern) != other)
                        return true;
        return false;
}

/* What excludes each other, or needs another option for some of its words. */
static void check_together(void *unused)
{
        const bool model = options.model != NULL, maps = options.map != ATTNMASK_MAP_ATTENTION;

        (void)unused;
        cmd_exclude_each_other("row count table");
        cmd_excludes(options.table, "--table has lengths of its own", "length");
        cmd_excludes(model, "a model has a pattern of its own",
                     "attention mask length window dilation source reach count table");
        cmd_excludes(maps, "--map label and --map tokens are of the whole model",
                     "layer head in_window");
        if (has_pattern(RAN_ATTENTION_DILATED, false) && cmd_was_asked("attention") &&
            options.dilation == 0)
                cmd_usage("--attention dilated needs --dilation N: the tokens skipped between two "
                          "keys");
        if (options.mask == RAN_MASK_PREFIX && options.source == 0)
                cmd_usage("--mask prefix needs --source N: the number of source tokens");
        if (options.format == PICTURE_HTML && !model)
                cmd_usage("--format html shows a document: give --model FILE");
        cmd_is_for("--model FILE", model,
                   "[Model] [Documents, with --model] [Input, with --model]");
        cmd_is_for("--attention dilated", has_pattern(RAN_ATTENTION_DILATED, false), "dilation");
        cmd_is_for("--mask prefix", options.mask == RAN_MASK_PREFIX, "source");
        cmd_is_for("--map label", options.map == ATTNMASK_MAP_LABEL, "label");
}

static const struct cmd_program program = {
        .name = "ran-attnmask",
        .usage = "-m MODEL [--map WHAT] [option...] [file...]\n"
                 "--length N [--attention WORD] [--mask KIND] [option...]\n"
                 "--row I --length N [--reach K] [option...]\n"
                 "--count --length N [option...]\n"
                 "--table [option...]",
        .summary = "With a model, shows what it attended to in documents, or which tokens its "
                   "result depends on: adds the member \"attention\" to each JSON record, or draws "
                   "a picture of one document. Without a model, shows an attention pattern for a "
                   "text of N tokens (as a grid, a picture or intervals), what one token sees, or "
                   "the number of scores.",
        .notes = "In a grid, a line is a query and a column a key: # is seen, . is not. Exit "
                 "status: 0, success; 1, some records failed; 2, usage; 3, a file could not be "
                 "read or written, or memory ran out.",
        .groups = groups,
        .check = check_together,
};

/* ---- what was asked ------------------------------------------------------------------------- */

static void check_question(char **files)
{
        const bool counts = options.row != NULL || options.count || options.table;

        cmd_excludes(true, "records are read with --model only", "into only drop");
        if (options.rows != NULL && counts)
                cmd_usage("--rows is for grids, pictures and intervals");
        if (options.format > PICTURE_JSON && counts)
                cmd_usage("--format %s draws a whole pattern: here it can be text or json",
                          picture_format_names[options.format]);
        if (cmd_was_asked("size") && (counts || options.format == PICTURE_JSON))
                cmd_usage("--size is for grids and pictures");
        if (files[0] != NULL)
                cmd_usage("%s: only --model reads files", files[0]);
        if (options.length == 0 && !options.table)
                cmd_usage("no length: give --length N, at least 1");
        if (options.table &&
            (options.mask != RAN_MASK_NONE || has_pattern(RAN_ATTENTION_FULL, true)))
                cmd_usage("--table compares full, window and dispersed attention without a mask: "
                          "leave out --attention and --mask");
}

static void check_model(void)
{
        const bool tokens = options.map == ATTNMASK_MAP_TOKENS,
                   page = options.format == PICTURE_HTML, svg = options.format == PICTURE_SVG;

        if (cmd_was_asked("format") && options.format == PICTURE_TEXT)
                cmd_usage("--format text draws patterns only: a model has json, svg and html");
        cmd_excludes(page || svg, page ? "a page is no record" : "a picture has no numbers",
                     "top weights offsets into only drop");
        if (page || svg)
                options.offsets = RAN_UNIT_BYTE; /* pages and pictures show words */
        if (svg && options.map == ATTNMASK_MAP_LABEL)
                cmd_usage("--map label is drawn as a page only: give --format html");
        if (page && options.map == ATTNMASK_MAP_ATTENTION &&
            (options.row != NULL || options.rows != NULL))
                cmd_usage("--format html shows all words: leave out --row and --rows");
        if (!svg && options.size > 0 && !(tokens && options.weights))
                cmd_usage("--size is for pictures: give --format svg");
}

/* Warns of options that are allowed but probably not meant. */
static void note_oddities(void)
{
        size_t window = options.window, N = options.length;

        if (!has_pattern(RAN_ATTENTION_FULL, true) && !options.table)
                return;
        if (window == 1)
                cmd_note("a window of 1 is the token itself");
        else if (window % 2 != 0)
                cmd_note("a window of %zu is odd: it has %zu tokens on each side, like one of %zu",
                         window, window / 2, window - 1);
        if (N > 0 && window > N)
                cmd_note("a window of %zu is longer than the %zu tokens there are", window, N);
        if (N > 0 && options.dilation >= N)
                cmd_note("a dilation of %zu is longer than the %zu tokens there are",
                         options.dilation, N);
}

/* ---- heads ---------------------------------------------------------------------------------- */

static void init_heads(struct attnmask *a)
{
        struct ran_error err;

        a->n = options.attention.n;
        a->heads = ran_new(a->n, sizeof *a->heads);
        a->names = ran_new(a->n, sizeof *a->names);
        for (size_t h = 0; h < a->n; h++) {
                const int pattern = options.attention.item[h];
                struct ran_buf name = {0};

                ran_buf_str(&name, ran_attention_names[pattern]);
                if (pattern == RAN_ATTENTION_DILATED)
                        ran_buf_printf(&name, "(%zu, %zu)", options.window, options.dilation);
                else if (pattern != RAN_ATTENTION_FULL)
                        ran_buf_printf(&name, "(%zu)", options.window);
                a->names[h] = picture_string(&name);
                a->heads[h].pattern = pattern;
                if (ran_mask_init(&a->heads[h].mask, pattern, options.window, options.dilation,
                                  options.mask, options.length, options.source, &err) != RAN_OK)
                        cmd_refuse(NULL, &err);
        }
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
        picture_strings_free(a.names, a.n);
        free(a.heads);
}

int main(int argc, char **argv)
{
        char **files = argv + cmd_parse(&program, argc, argv);

        if (options.model != NULL) {
                check_model();
                return cmd_finish(attnmask_model(&options, &document_options, &input, &output,
                                                 cmd_files(&input, files)));
        }
        check_question(files);
        answer();
        return cmd_finish(CMD_OK);
}
