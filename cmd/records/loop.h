/* loop.h - the record loop: lines in, lines out, in order, by as many threads as there are. */
#ifndef CMD_RECORDS_LOOP_H
#define CMD_RECORDS_LOOP_H

#include "cmd/formats/import.h"
#include "cmd/formats/output.h"

/* ---- io.c ------------------------------------------------------------------------------------
 *
 * options of every program that reads records or writes them.
 */

enum { CMD_ON_ERROR_EMIT, CMD_ON_ERROR_SKIP, CMD_ON_ERROR_STOP };

/* How records are read. */
struct cmd_input {
        const char *side; /* the option that names the files, as "among"; NULL: the input */
        int side_format;  /* of --SIDE-format; 0: detected */
        bool side_alike;  /* they have the members that options name, as the input has */
        int input_format, on_error;
        char *shard; /* "I/N"; NULL: all */
        char *files_from, *rejects;
        size_t word_column, tag_column, max_errors, max_record_bytes;
        bool folder_label, errors_ok;
        struct import_columns columns;
};
extern const struct ran_field cmd_input_fields[];
/* The same for the files of an option, beside the records, which alone have rejects and a shard.
 * Such a file is read in its own format: that of --OPTION-format, or the detected one; where its
 * first lines are of no format, or could be prose, in that of the records. Options that name
 * members are for its records, too, if the first one has them. */
struct cmd_input cmd_input_beside(const struct cmd_input *input, const char *option, int format);
/* The field --OPTION-format of such an option, at an offset. Messages name it. */
#define CMD_SIDE_FORMAT(option, at)                                                         \
        {                                                                                   \
                .name = option "_format", .type = RAN_FIELD_CHOICE, .offset = (at),         \
                .choices = import_names, .value = "NAME", .initial = "auto", .local = true, \
                .help = "format of the files of --" option                                  \
                        "; auto: by their first lines, whatever "                           \
                        "--input-format is",                                                \
                .needs = option                                                             \
        }
/* Takes the names of text and label that a model was trained with: they count where the first
 * record has them and no option names others. */
void cmd_input_remember(struct cmd_input *input, const struct ran_model *m);
/* Exits with 2 for settings that make no sense. */
void cmd_input_check(const struct cmd_input *input);

/* This separates the labels of a record within one value; NUL: nothing does. */
char cmd_input_separator(const struct cmd_input *input);

/* How filters write them: struct cmd_output. */
extern const struct ran_field cmd_output_fields[];

/* What a program found about a record. */
struct cmd_result {
        struct ran_buf out; /* of filters: what the output format writes; else any bytes */
        void *found; /* for take: the program's struct, of result_size bytes, all 0 at first */
};

/* One of several records that are processed together. */
struct cmd_item {
        const struct cmd_line *line;
        struct cmd_result *result;
        struct ran_error *err;
        int code; /* work_all sets it, as `work` returns it */
};

/* A loop at work. */
struct cmd_run;

/* A program's functions for records.
 *
 * work runs in many threads at once, each with its own scratch, and fills result: `out` for
 * filters, `found` for take. work and take may fail: RAN_EFORMAT and RAN_EINVAL make the line a bad
 * record with this message; any other error ends the program with its status.
 *
 * work_all replaces work if a result depends on neighbouring records: it gets all sentences of a
 * document (sentence_group_goes_on), at most `together` (0: one). The last ones wait for the first
 * record of another document, or for the end of the file. With `abreast` it gets up to so many
 * records that are there, whatever they are: results must not depend on which are together.
 *
 * take, where it is not NULL, is called after work in the order of the input, one call at a time
 * (but from any thread); work may then be NULL.
 *
 * Filters have an output: the loop writes the record with the result as member `into`. Their take
 * may change the result, for one that depends on the records before; if `out` is empty then, the
 * record is not written. */
struct cmd_loop {
        const struct cmd_input *input;
        const struct cmd_output *output; /* NULL: no filter, nothing is written */
        const char *into;                /* name of the result without --into */
        uint32_t reads; /* fields that the program reads; 0: members are read as they are */
        /* Other members that may not be there twice, NULL at the end; or NULL. The loop warns of
         * few records with one that an option names. */
        const struct cmd_member {
                const char *name, *option; /* option: "soft-label", or NULL */
        } * also;
        struct ran_pool *pool; /* may be NULL */
        /* For work: made by a function, or so many bytes of zeros; neither: NULL. */
        void *(*make_scratch)(void *arg);
        size_t scratch_size;
        void (*free_scratch)(void *scratch);
        int (*work)(void *arg, void *scratch, const struct cmd_line *line,
                    struct cmd_result *result, struct ran_error *err);
        void (*work_all)(void *arg, void *scratch, struct cmd_item *items, size_t n);
        size_t together, abreast; /* at most one of them is above 0 */
        /* The names of the columns, for formats of rows; NULL: the program writes none.
         * `continues`: a row of a table stays, and what it gets comes behind its cells. */
        void (*columns)(const void *arg, struct cmd_row *row);
        bool continues;
        bool own_progress; /* the program says how far it is; otherwise a live line does */
        bool accepted; /* skip records that an annotator rejected or ignored (record_accepted) */
        bool may_lack_label; /* a table need have no column with labels */
        int (*take)(void *arg, const struct cmd_line *line, struct cmd_result *result,
                    struct ran_error *err);
        /* With take: the size of result->found, 0: there is none; releases what it points to. The
         * loop does so after `take`, and whether or not there was one. */
        size_t result_size;
        void (*release)(void *found);
        /* NULL, or called once after the last line, unless the run ended early: for lines that
         * `take` only stored. Report bad ones with cmd_refuse_late. */
        void (*finish)(void *arg, struct cmd_run *run);
        void *arg;
};

/* Counts of records. */
struct cmd_counts {
        size_t good, bad, blank;
        size_t passed; /* came with ran_error */
        size_t left;   /* left out by `accepted` */
        size_t whole;  /* files that are one document each */
};

/* Runs all lines of the files (NULL at the end, as in argv; "-" or no file: standard input) through
 * the loop. Returns CMD_OK or CMD_SOME_FAILED (0 with --errors-ok). An error that ends the run
 * exits with its status and a message. counts may be NULL. */
int cmd_records(const struct cmd_loop *loop, char **files, struct cmd_counts *counts);

/* For finish: an accepted line is bad, or ends the run, because of err. Reports, counts and
 * rejects it by file, number and raw. Returns false if the run has ended. */
bool cmd_refuse_late(struct cmd_run *run, const struct cmd_line *line, const struct ran_error *err);

/* Advice for the message that no record has a label: --folder-label, if files were documents, else
 * --label-member. */
const char *cmd_label_advice(const struct cmd_counts *counts);

/* ---- files.c ---------------------------------------------------------------------------------
 *
 * the input files: operands, files of folders, and lists of names.
 */

/* The operands and the names in --files-from, NULL at the end; exits with 3 if the list cannot
 * be read or is empty. Call it once, before anything else uses operands. */
char **cmd_files(const struct cmd_input *input, char **operands);

struct files {
        char **name;    /* (n + 1) NULL at the end */
        bool *document; /* (n) the file is one document: its format is not guessed */
        size_t n, name_cap, document_cap;
};

/* The operands, NULL at the end (none: standard input). A folder is replaced by its files,
 * sorted by name, without names that begin with a dot. RAN_EIO for a folder that cannot be read
 * or has no file, and for a file that cannot be opened; a document in a folder or of a list
 * fails later, when it is read. The names live until the program ends. */
int files_expand(struct files *f, char **operands, const struct cmd_input *input,
                 struct ran_error *err);
void files_release(struct files *f);

/* ---- parallel.c ------------------------------------------------------------------------------
 *
 * two plain files, line by line a source and its target, as records.
 */

struct cmd_parallel {
        char *source_file, *target_file;
};
extern const struct ran_field cmd_parallel_fields[];

/* With --source-file: the operands are the source file, whose lines become records with "source"
 * and, with --target-file, "target"; lines that are empty in both are records only if asked for
 * all. Exits with 2 if options do not go together or operands are given, with 3 if a file cannot be
 * read or the files have different numbers of lines. */
char **cmd_parallel_begin(const struct cmd_parallel *p, bool needs_target, bool all,
                          char **operands);
/* Does for these files what cmd_check_inputs does. */
void cmd_parallel_check_output(const struct cmd_parallel *p, const char *option, const char *path);

/* Opens the source file; false for any other. Its format. */
bool parallel_open(struct lines *l, const char *file);
extern const struct import_format parallel_format;

/* ---- sentence-group.c ------------------------------------------------------------------------
 *
 * sentences of one document: successive records with the same `doc`.
 */

/* The current document. Zero-initialise. */
struct sentence_group {
        struct ran_buf id; /* its `doc` as JSON */
        const char *file;  /* NULL: no record so far */
        size_t n;          /* sentences so far */
};
void sentence_group_release(struct sentence_group *doc);

/* Adds a record to the current document and returns true, or begins a new document with it. A
 * document is in one file and has at most `most` sentences; a record without `doc` is a document.
 */
bool sentence_group_goes_on(struct sentence_group *doc, const char *file,
                            const struct record *record, size_t most);

/* ---- members.c --------------------------------------------------------------------------------
 */

/* Appends a record as the program reads it: an object that has the names of ran, and no members
 * that are not read. */
void members_write(const struct ran_record *record, struct ran_buf *out);

#endif
