/* loop.h - the record loop: lines in, lines out, in order, by as many threads as there are. */
#ifndef CMD_RECORDS_LOOP_H
#define CMD_RECORDS_LOOP_H

#include "cmd/records/io.h"
#include "ran.h"

struct conll;

/* A line of input, a sentence in columns, or a file, with its record: a JSON object that has each
 * member of `reads` at most once. */
struct cmd_line {
        const char *file; /* as given; "-" for standard input */
        size_t number;    /* from 1, blank lines counted */
        const char *raw;  /* as read, without its end; record.line is JSON in all formats */
        size_t raw_length;
        const struct conll *columns; /* of raw; NULL in other formats than conll */
        bool renamed;                /* members of the record have other names than in its line */
        struct ran_record record;
};

/* One of several records that are processed together. */
struct cmd_item {
        const struct cmd_line *line;
        struct ran_buf *result;
        struct ran_error *err;
        int code; /* work_all sets it, as `work` returns it */
};

/* A loop at work. */
struct cmd_run;

/* A program's functions for records.
 *
 * work runs in many threads at once, each with its own scratch, and fills result: a JSON value for
 * filters, any bytes for take. work and take may fail: RAN_EFORMAT and RAN_EINVAL make the line a
 * bad record with this message; any other error ends the program with its status.
 *
 * work_all replaces work if a result depends on neighbouring records: it gets all sentences of a
 * document (sentence-group.h), at most `together` (0: one). The last ones wait for the first record
 * of another document, or for the end of the file. With `abreast` it gets up to so many records
 * that are there, whatever they are: results must not depend on which are together.
 *
 * settle, where it is not NULL, is called in the order of the input, one call at a time, after
 * work: for results that depend on the records before. It may change the result; if it makes it
 * empty, the record is not written.
 *
 * Filters leave take NULL: the loop writes the record with the result as member `into`. With take,
 * the loop writes nothing and calls take in the order of the input, one call at a time (but from
 * any thread); work may then be NULL, and result is empty. */
struct cmd_loop {
        const struct cmd_input *input;
        const struct cmd_output *output; /* NULL with take */
        const char *into;                /* name of the result without --into */
        const char *const *reads;        /* members that the program reads, NULL at the end */
        struct ran_pool *pool;           /* may be NULL */
        void *(*make_scratch)(void *arg, struct ran_error *err); /* NULL: work gets scratch NULL */
        void (*free_scratch)(void *scratch);
        int (*work)(void *arg, void *scratch, const struct cmd_line *line, struct ran_buf *result,
                    struct ran_error *err);
        void (*work_all)(void *arg, void *scratch, struct cmd_item *items, size_t n);
        size_t together, abreast; /* at most one of them is above 0 */
        int (*settle)(void *arg, const struct cmd_line *line, struct ran_buf *result,
                      struct ran_error *err);
        /* Members that options of the program name, or NULL; {0} at the end. */
        const struct cmd_named {
                const char *option, *member; /* NULL: the option is not used */
                enum cmd_named_if {
                        CMD_IS_NEEDED, /* the loop exits if no record has it, and warns of few */
                        CMD_IS_LOOKED_FOR, /* the loop warns of few: the program says the rest */
                        CMD_MAY_LACK,      /* the loop warns if no record has it */
                } absent;
        } * named;
        bool own_progress; /* the program says how far it is; otherwise a live line does */
        bool again;        /* the files are read once more later, which reports bad lines */
        bool accepted;     /* skip records that an annotator rejected or ignored (foreign.h) */
        int (*take)(void *arg, const struct cmd_line *line, const struct ran_buf *result,
                    struct ran_error *err);
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

#endif
