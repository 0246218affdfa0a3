/* loop.h - the record loop: lines in, lines out, in order, by as many threads as there are. */
#ifndef CMD_RECORDS_LOOP_H
#define CMD_RECORDS_LOOP_H

#include "cmd/records/io.h"
#include "ran.h"

struct conll;

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
