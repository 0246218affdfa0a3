/* loop.h - the record loop: lines in, lines out, in order, by as many threads as there are. */
#ifndef CMD_RECORDS_LOOP_H
#define CMD_RECORDS_LOOP_H

#include "cmd/formats/output.h"
#include "cmd/records/io.h"
#include "ran.h"

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
 * document (sentence-group.h), at most `together` (0: one). The last ones wait for the first record
 * of another document, or for the end of the file. With `abreast` it gets up to so many records
 * that are there, whatever they are: results must not depend on which are together.
 *
 * settle, where it is not NULL, is called in the order of the input, one call at a time, after
 * work: for results that depend on the records before. It may change the result; if `out` is
 * empty then, the record is not written.
 *
 * Filters leave take NULL: the loop writes the record with the result as member `into`. With take,
 * the loop writes nothing and calls take in the order of the input, one call at a time (but from
 * any thread); work may then be NULL. */
struct cmd_loop {
        const struct cmd_input *input;
        const struct cmd_output *output; /* NULL with take */
        const char *into;                /* name of the result without --into */
        uint32_t reads; /* fields that the program reads; 0: members are read as they are */
        const char *const
                *also; /* other members that may not be there twice, NULL at the end; or NULL */
        struct ran_pool *pool; /* may be NULL */
        /* For work: made by a function, or so many bytes of zeros; neither: NULL. */
        void *(*make_scratch)(void *arg);
        size_t scratch_size;
        void (*free_scratch)(void *scratch);
        int (*work)(void *arg, void *scratch, const struct cmd_line *line,
                    struct cmd_result *result, struct ran_error *err);
        void (*work_all)(void *arg, void *scratch, struct cmd_item *items, size_t n);
        size_t together, abreast; /* at most one of them is above 0 */
        int (*settle)(void *arg, const struct cmd_line *line, struct cmd_result *result,
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
        /* The names of the columns, for formats of rows; NULL: the program writes none. */
        void (*columns)(const void *arg, struct cmd_row *row);
        bool own_progress;   /* the program says how far it is; otherwise a live line does */
        bool again;          /* the files are read once more later, which reports bad lines */
        bool accepted;       /* skip records that an annotator rejected or ignored (foreign.h) */
        bool may_lack_label; /* a table need have no column with labels */
        int (*take)(void *arg, const struct cmd_line *line, const struct cmd_result *result,
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

#endif
