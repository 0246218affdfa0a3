/* run.h - the state of a record loop; only for the files of the loop.
 *
 *      loop.c      the files, the outputs, the end: cmd_records
 *      groups.c    a file as groups of lines, and these as units of work
 *      read.c      a line as a record; in any thread
 *      work.c      a unit through the program's function, with a scratch; in any thread
 *      deliver.c   results, messages and counts, in the order of the input; under a lock
 */
#ifndef CMD_RECORDS_RUN_H
#define CMD_RECORDS_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "cmd/records/loop.h"

/* ---- repeats.c --------------------------------------------------------------------------------
 */

/* How many different messages are shown, and lines of each. */
enum { REPEATS_KINDS = 20, REPEATS_LINES = 20 };

struct repeats_line {
        const char *file;
        size_t number;
};

/* A message, and where else it was true. */
struct repeats_kind {
        char *text;    /* of its first line */
        char *held[2]; /* of the next two, which are shown whole if they are all */
        size_t n;
        struct repeats_line line[REPEATS_LINES]; /* the first of them */
};

/* Zero-initialise. */
struct repeats {
        struct repeats_kind kind[REPEATS_KINDS];
        size_t kinds;
        bool full; /* there were more: that has been said */
};

/* "FILE:NUMBER: TEXT", at once if it is the first of its kind: messages are of a kind if they
 * differ in numbers only. file, which is "standard input" for that, must live until the end. */
void repeats_add(struct repeats *r, const char *file, size_t number, const char *text);
/* Says what was held back: up to two lines as they are, more in one line. Then r is as at first. */
void repeats_end(struct repeats *r);

/* ---- named.c ----------------------------------------------------------------------------------
 */

enum { NAMED_MOST = 64 }; /* further ones are not counted */

enum named_if {
        NAMED_IS_NEEDED,     /* exits if no record has it, and warns of few */
        NAMED_IS_LOOKED_FOR, /* warns of few: the program says the rest */
        NAMED_MAY_LACK,      /* warns if no record has it */
};

/* Zero-initialise. */
struct named {
        struct named_member {
                const char *option; /* "text-member" */
                char *name;
                size_t n;       /* bytes of it */
                size_t records; /* that have it */
                enum named_if absent;
        } member[NAMED_MOST];
        size_t n;
        struct ran_buf first; /* names of the members of the first record, for people */
        size_t records;       /* all of them */
};
void named_release(struct named *d);

/* A name of n bytes that an option gave; once for each, whatever the number of files. */
void named_add(struct named *d, const char *option, const char *name, size_t n,
               enum named_if absent);
/* The first record, once. */
void named_note_first(struct named *d, const struct ran_record *record);
/* Which of them a record has, a bit for each; in any thread. */
uint64_t named_in(const struct named *d, const struct ran_record *record);
/* Counts a record, in order. */
void named_count(struct named *d, uint64_t has);
/* At the end: exits if no record has a member that is not NAMED_MAY_LACK; warns of one that few
 * have. part: there may be more records, elsewhere. */
void named_report(const struct named *d, bool part);

/* ---- shard.c ----------------------------------------------------------------------------------
 */

/* The part of the input for this process: --shard I/N.
 *
 * The concatenation of all files is divided into N parts of equal size in bytes. A record belongs
 * to the part that contains its beginning. So the concatenated results of the parts are the results
 * of the whole.
 */

/* A part of the input, in bytes from the beginning of the first file. */
struct shard {
        uint64_t from, to; /* of the last part, to is UINT64_MAX: a file may have grown */
};

/* text: "I/N", 1 <= I <= N, or NULL for all. files: NULL at the end; "-" is standard input.
 * Exits with 2 if text is anything else, or a file has no size, like a pipe. */
void shard_init(struct shard *s, const char *text, char **files);

/* The size of a file in bytes; for standard input the unread part; for a missing file 0. False,
 * and 0, if it has no size. */
bool shard_size(const char *file, uint64_t *size);

/* ---- progress.c -------------------------------------------------------------------------------
 */

struct progress {
        bool on;
        double total;       /* bytes of all files */
        double begin, next; /* when it began; when to draw the line again */
};
/* On only where stderr is a terminal and standard output gets no results on one, without --quiet,
 * and where all input is in regular files, whose sizes say how much is left. results: records go to
 * standard output. */
void progress_begin(struct progress *p, const struct files *files, bool results);
/* Draws the line if it is time. before: bytes of the files before this one; records: done so far.
 */
void progress_tell(struct progress *p, const struct lines *lines, uint64_t before, size_t records);
/* The line, below 80 columns, without the name of the program. */
void progress_line(struct ran_buf *out, double share, double seconds, size_t records);

/* ---- members.c -------------------------------------------------------------------------------
 *
 * which members, or columns of a table, are the text, the label and the id.
 */

/* The members of a file's records. Zero-initialise. */
struct members {
        struct members_name {
                enum role role; /* texts come first, then one label, then one id */
                char *s;        /* (n) */
                size_t n;
                bool asked; /* an option chose it */
        } * name;
        size_t n, cap;
        size_t texts;            /* of them */
        bool asked, label_asked; /* --text-member chose the text, --label-member the label */
        bool table;              /* all values are strings */
        bool separated;          /* --label-separator: no label is a label, too */
        bool tags;               /* the label member holds tags or spans */
};
/* The option that chooses the members of a role: "text-member". */
const char *members_option(enum role role);
void members_release(struct members *m);

/* Chooses, for an m that is all zero, by the options of the loop, else by what the model remembers,
 * else by the usual names in the first record of a file, unless it has the members that the program
 * reads anyway; says on stderr what names were chosen if they differ from those in `said`, and
 * remembers them there. Of a file beside the records, options name what its first record has.
 * RAN_EFORMAT: a table without such a column. */
int members_choose(struct members *m, const struct cmd_loop *loop, const struct import *import,
                   const struct record *first, const char *file, struct ran_buf *said,
                   struct ran_error *err);

/* Renames the members of a record for all readers: its line stays as it is, but for a joined text,
 * which follows the record in `line`. RAN_EFORMAT for a record without a text that was asked for.
 */
int members_rename(const struct members *m, struct ran_record *record, struct ran_buf *line,
                   struct ran_error *err);

/* ---- the loop -------------------------------------------------------------------------------- */

enum record_status {
        RECORD_GOOD,
        RECORD_BAD,    /* slot.err says why */
        RECORD_PASSED, /* it has ran_error, and is passed on */
        RECORD_LEFT,   /* skipped: an annotator did not accept it */
        RECORD_FATAL,  /* slot.err ends the program */
};

/* A line on its way through the loop. The next group uses the slots again. */
struct slot {
        struct cmd_line line;
        struct ran_buf imported; /* the record, unless the line is one itself */
        struct cmd_result result;
        struct ran_error err;
        const struct text_line *text;
        enum record_status status;
        uint64_t named; /* which of run.named the record has */
        bool scanned;   /* there is a record */
        bool read;      /* the record was scanned, and status is set */
        bool done;      /* under the lock */
};

struct cmd_run {
        const struct cmd_loop *loop;
        const char *into;
        struct import import;   /* of this file */
        struct members members; /* of this file */
        bool headed;            /* the header of a table has been written */
        bool continued;         /* columns of the input stay, */
        size_t added;           /* and so many come behind */
        struct ran_buf names;   /* those that stay, with line feeds around */
        struct ran_buf said;    /* about the members of the last file of which anything was said */
        struct named named;     /* of all files */
        bool unlike_any;        /* its first line matches no format; it is read as JSON lines */

        char *alone; /* a file that is one document, though nothing said so before it was opened */
        const struct import_format *said_format; /* the last one that was said */
        bool said_columns;                       /* which columns have words and tags */

        struct shard shard;
        uint64_t before; /* bytes of the files before this one */
        bool past;       /* the whole shard has been read */

        const struct lines *lines;
        struct slot *slots;
        size_t slot_cap, count;        /* of this group */
        size_t *unit;                  /* (units + 1) the first slot of each unit of work */
        size_t first, units, unit_cap; /* [first, units) are of this process's shard */
        struct cmd_item *items;        /* (count) for work_all */
        size_t item_cap;

        pthread_mutex_t scratch_lock;
        void **scratch; /* not in use by any thread */
        size_t scratch_count, scratch_cap;

        pthread_mutex_t order; /* guards all below, and slot.done */
        size_t next;           /* the first slot of the group that has not been delivered */
        struct ran_buf out;
        size_t rows;               /* of vectors that have been delivered */
        double written;            /* when results that could have waited were written */
        struct ran_writer *writer; /* NULL: standard output */
        int rejects;               /* a descriptor, or -1 */
        struct repeats repeats;    /* messages about bad lines */
        struct cmd_counts counts;
        struct progress progress;
        atomic_bool ended;    /* set under the lock, read by tasks without it */
        struct ran_error end; /* why */
};

/* RECORD_GOOD for RAN_OK; RECORD_BAD for RAN_EFORMAT and RAN_EINVAL; else RECORD_FATAL. (read.c) */
enum record_status run_status_of(int code);
/* Scans the record of a slot and sets its status. (read.c) */
void run_read(struct cmd_run *run, struct slot *slot);

/* Processes the slots [from, to): one, or several with work_all. (work.c) */
void run_work(struct cmd_run *run, size_t from, size_t to);

/* The slots [from, to) are done: delivers all slots that have no unfinished one before them.
 * (deliver.c) */
void run_deliver(struct cmd_run *run, size_t from, size_t to);
/* Releases the record of a slot, and what the program found about it. (deliver.c) */
void run_forget(struct cmd_run *run, struct slot *slot);
/* Writes the header of a table, if that is the output: of the first file, or of none; else
 * RAN_EFORMAT if the file has other columns that stay. (deliver.c) */
int run_add_header(struct cmd_run *run, const struct lines *lines, struct ran_error *err);
/* Ends the run: no further slot is processed or delivered. text: a message, or "". (deliver.c) */
void run_end(struct cmd_run *run, int code, const char *text);

/* Takes all lines of a file, or of files that are a text each, through the loop, and closes them.
 * (groups.c) */
void run_lines(struct cmd_run *run, struct lines *lines);

#endif
