/* cmd.h - what all programs share: statuses and messages, options, verbs, and the record loop.
 *
 * A program is a table of options, one function that works on a record, and a main that reads like
 * a summary. Commands include ran.h and the headers of this folder only. Only this side of the
 * fence may print or exit; the functions that may do so say it.
 */
#ifndef CMD_OPTIONS_CMD_H
#define CMD_OPTIONS_CMD_H

#include "ran.h"

/* ---- statuses and messages (cmd.c) ---------------------------------------------------------- */

enum cmd_status {
        CMD_OK = 0,
        CMD_SOME_FAILED = 1, /* finished, some records failed */
        CMD_USAGE = 2,       /* the command line or the configuration is wrong */
        CMD_FAILED = 3,   /* input, model or output could not be read, checked or written; memory */
        CMD_DIVERGED = 4, /* training diverged, or a check failed */
};

/* The status that a program ends with because of this error (RAN_EINTR is the caller's business).
 */
int cmd_status_of(const struct ran_error *err);

/* Messages are one line on stderr, "ran-classify: " before it; control characters become '?'. */
_Noreturn void cmd_die(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cmd_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cmd_note(const char *format, ...) __attribute__((format(printf, 1, 2))); /* not with -q */
/* Ends with 2 and "Try 'ran-classify --help'": for what the option table cannot check by itself. */
_Noreturn void cmd_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for what the library says of something that was given: its name, or NULL. Memory that
 * ran out is no usage error, and ends with 3. */
_Noreturn void cmd_refuse(const char *what, const struct ran_error *err);

/* Writes all bytes to a descriptor; dies with 3 and a sentence that names `what` when that is not
 * possible, quietly when a pipe was closed. */
void cmd_write(int fd, const char *what, const void *bytes, size_t n);
/* Dies with 3 unless a file can be written there: for before long work. */
void cmd_check_writable(const char *path);
/* Dies with 2 if path, which an option writes ("output"), is a file that is read, by whatever name:
 * what the user had would be gone. Any of them may be NULL, or not be there; input: "-" is standard
 * input. cmd_parse does this for all files that options name, but for operands. (outputs.c) */
void cmd_check_input(const char *option, const char *path, const char *input);
void cmd_check_inputs(const char *option, const char *path, char **inputs); /* NULL at the end */
struct cmd_program;
/* Dies with 2 if path, a file that is written beside the output, is one that options name, or one
 * of the inputs. */
void cmd_check_beside(const struct cmd_program *program, const char *path, char **inputs);
/* The same of standard output: what is appended to a file while that is read would have no end. */
void cmd_check_standard_output(char **inputs);
/* Writes a whole file at once, or to standard output where path is NULL; dies with 3 otherwise. */
void cmd_write_file(const char *path, const struct ran_buf *bytes);
/* Output that is written while it grows: append to buf and flush now and then, which writes only
 * when there is enough of it. Dies with 3 when that fails; a file appears with _close. */
struct cmd_sink {
        struct ran_buf buf;
        struct ran_writer *writer; /* NULL: standard output */
};
void cmd_sink_open(struct cmd_sink *s, const char *path); /* path NULL: standard output */
void cmd_sink_flush(struct cmd_sink *s);
void cmd_sink_close(struct cmd_sink *s);
void cmd_sink_abort(struct cmd_sink *s); /* in place of _close: no file appears */
/* Last thing in main: flushes stdout and returns status, or 3 with a message if stdout failed. */
int cmd_finish(int status);

/* ---- options (options.c, help.c) ------------------------------------------------------------ */

/* Options with a title in --help. base: the struct that the table describes, a static one, because
 * its texts are not released before the program ends. */
struct cmd_group {
        const char *title;
        const struct ran_field *fields;
        void *base;
};

/* name: "ran-classify", or "ran-tokenize learn" (messages begin with its first word). usage: what
 * follows the name, a line each: "-m MODEL [option...] [file...]". summary: one or more sentences.
 * notes: shown after the options, or NULL; --help wraps both. groups end with a title of NULL; the
 * common options below are added by themselves. verbs: for cmd_run_verb only. */
struct cmd_verb {
        const char *name, *summary;
        int (*main)(int argc, char **argv);
};
struct cmd_program {
        const char *name, *usage, *summary, *notes;
        const struct cmd_group *groups;
        const struct cmd_verb *verbs;
        const char *prefix; /* of some options, which may be left out: --type for --vocab-type */
};

/* Options of every program, filled by cmd_parse. */
struct cmd_common {
        size_t jobs; /* threads, never 0 after cmd_parse */
        char *config;
        bool quiet, verbose, print_config, print_options, help, version;
};
extern struct cmd_common cmd_common;

/* Initialises every field, applies --config FILE, then the command line in the manner of
 * getopt_long (operands and options in any order, unique abbreviations, `--`). Serves --help,
 * --version, --print-options and --print-config and exits with 0; on misuse exits with 2. argv is
 * reordered: the operands come last, the index of the first one is returned. The values live as
 * long as the program; nothing needs to release them. */
int cmd_parse(const struct cmd_program *program, int argc, char **argv);

/* Whether the command line or the configuration file set this field of the program ("min_window"),
 * if only to its default. */
bool cmd_was_set(const char *name);
/* Whether somebody asks for it: on the command line, or by a configuration file in which it is not
 * the default, as all of --print-config may be. */
bool cmd_was_asked(const char *name);
/* Ends with 2 if one of these was asked for: "WHY: leave out --NAME". names, fields: to their end.
 */
void cmd_excludes(const char *why, const char *const *names);
void cmd_excludes_fields(const char *why, const struct ran_field *fields);
/* Ends with 2 if one of these was asked for, but not what it belongs to: "--NAME is for WHAT". */
void cmd_requires(bool given, const char *what, const char *const *names);
/* Counts those fields as set, from now on, that are different in `other`. */
void cmd_set_changes(const struct ran_field *fields, const void *base, const void *other);
/* The same of all that are not local. */
void cmd_set_all(const struct ran_field *fields);
/* Writes the fields that were set to standard output, as --config takes them. */
void cmd_write_set(const struct cmd_program *program);

/* Programs with verbs: `ran-tokenize learn ...`. Calls main of the verb that argv[1] names with
 * argc-1, argv+1; serves --help and --version; ends with 2 without a known verb. Verbs end with a
 * name of NULL. */
int cmd_run_verb(const char *name, const char *summary, const struct cmd_verb *verbs, int argc,
                 char **argv);

/* A pool of cmd_common.jobs threads; dies when there is none to be had. Free with ran_pool_free. */
struct ran_pool *cmd_pool(void);

/* ---- the record loop (records.c, lines.c, import.c) ----------------------------------------- */

enum { CMD_ON_ERROR_EMIT, CMD_ON_ERROR_SKIP, CMD_ON_ERROR_STOP };
enum {
        CMD_FORMAT_AUTO,
        CMD_FORMAT_JSONL,
        CMD_FORMAT_FASTTEXT,
        CMD_FORMAT_FASTTEXT_LABELS,
        CMD_FORMAT_CONLL,
        CMD_FORMAT_TSV,
        CMD_FORMAT_TEXT,
        CMD_FORMAT_FILE
};
struct conll;

/* How records are read, for every program that reads some. */
struct cmd_input {
        int input_format, on_error;
        char *shard; /* "I/N": which part of the files; NULL: all */
        char *files_from, *rejects;
        size_t word_column, tag_column, max_errors;
        bool folder_label, errors_ok;
};
extern const struct ran_field cmd_input_fields[];

/* The operands and the names that --files-from lists, NULL at the end; dies with 3 when the list
 * cannot be read or is empty. Once, and before anything else looks at operands (files.c). */
char **cmd_files(const struct cmd_input *input, char **operands);

/* How they are written, for filters. */
struct cmd_output {
        char *output, *into;
        bool only;
        struct ran_list drop;
        bool lines; /* set by the program: results are lines in themselves, not JSON for a record;
                       what cannot be used has an empty one */
};
extern const struct ran_field cmd_output_fields[];

/* One line of input, a sentence in columns, or a file. The record is valid (an object, each member
 * of `reads` given once at most). */
struct cmd_line {
        const char *file; /* as given; "-" for standard input */
        size_t number;    /* from 1, blank lines counted */
        const char *raw;  /* as it came, without its end; record.line differs in foreign formats */
        size_t raw_length;
        const struct conll *columns; /* those of raw; NULL in other formats (conll.h) */
        struct ran_record record;
};

/* One of the records that are worked on together. */
struct cmd_item {
        const struct cmd_line *line;
        struct ran_buf *result;
        struct ran_error *err;
        int code; /* for work_all to set: what work would return */
};

/* A loop at work. */
struct cmd_run;

/* What to do with each record.
 *
 * work runs in many threads at once, each with a scratch of its own, and fills result: a JSON value
 * for filters, any bytes for take. Either of them can fail: RAN_EFORMAT and RAN_EINVAL make the
 * line a bad record (the sentence is its message), all else ends the program with its status.
 *
 * work_all stands in the place of work where a record's answer depends on its neighbours: it gets
 * as many as belong together, see doc.h, and `together` at most (0: each comes alone). The last of
 * them then wait for the next record that does not belong to them, or for the end of the file.
 *
 * Filters leave take NULL: the record is written with the result as member `into`. Otherwise take
 * is called instead, in the order of the input, never twice at once (but not always by the same
 * thread); nothing is written. work may be NULL then; result is empty. */
struct cmd_loop {
        const struct cmd_input *input;
        const struct cmd_output *output; /* NULL with take */
        const char *into;                /* name of the result unless --into says otherwise */
        const char *const *reads;        /* members that are read, NULL at the end */
        struct ran_pool *pool;           /* may be NULL */
        void *(*make_scratch)(void *arg, struct ran_error *err); /* NULL: work gets scratch NULL */
        void (*free_scratch)(void *scratch);
        int (*work)(void *arg, void *scratch, const struct cmd_line *line, struct ran_buf *result,
                    struct ran_error *err);
        void (*work_all)(void *arg, void *scratch, struct cmd_item *items, size_t n);
        size_t together;
        bool accepted; /* leave out records that people have rejected or ignored (shapes.h) */
        int (*take)(void *arg, const struct cmd_line *line, const struct ran_buf *result,
                    struct ran_error *err);
        /* NULL, or called once when all lines have been taken and nothing has ended the run: for
         * those that take could only put by. Of one that turns out to be bad, cmd_refuse_late is to
         * be told. */
        void (*finish)(void *arg, struct cmd_run *run);
        void *arg;
};

/* What went through a loop. */
struct cmd_counts {
        size_t good, bad, blank;
        size_t passed; /* carried ran_error when they came */
        size_t left;   /* by `accepted` */
        size_t whole;  /* files that were a record each */
};

/* Runs all lines of the files (NULL at the end as argv has it; none: standard input; "-": the same)
 * through the loop. Returns CMD_OK or CMD_SOME_FAILED (0 with --errors-ok); whatever ends a run
 * early ends the program, with a message. counts may be NULL. */
int cmd_records(const struct cmd_loop *loop, char **files, struct cmd_counts *counts);

/* For finish: a line that was good is bad, or ends the program, because of err. It is named,
 * counted and rejected as any other, by file, number and raw. Returns false when nothing more is
 * to be done. */
bool cmd_refuse_late(struct cmd_run *run, const struct cmd_line *line, const struct ran_error *err);

/* What to add to a message that no record has a label: where those of whole files can be had from,
 * if there were such, or nothing. */
const char *cmd_label_advice(const struct cmd_counts *counts);

#endif
