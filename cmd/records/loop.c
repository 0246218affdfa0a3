/* records.c - the record loop: lines in, lines out, in order, by as many threads as there are.
 *
 * A group of lines, all that has arrived, is given to the pool. Each thread that finishes a line
 * takes the lock and, if no earlier line is missing, hands on all lines that are ready: so a record
 * leaves as soon as it can, and whatever has an order (output, take, messages, counts) happens
 * under the lock, in the order of the input.
 */
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"
#include "cmd/records/io.h"
#include "cmd/records/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/formats/conll.h"
#include "cmd/records/sentence-group.h"
#include "cmd/records/emit.h"
#include "cmd/records/files.h"
#include "cmd/formats/import.h"
#include "cmd/formats/lines.h"
#include "cmd/formats/foreign.h"
#include "cmd/records/shard.h"

/* ---- state ---------------------------------------------------------------------------------- */

enum record_status {
        GOOD,
        BAD,    /* slot.err says why */
        PASSED, /* it came with ran_error */
        LEFT,   /* it came with an answer that is no acceptance */
        FATAL,  /* slot.err ends the program */
};

/* A line on its way through the loop; slots are used again by the next group. */
struct slot {
        struct cmd_line line;
        struct ran_buf imported; /* the record, when the line is none itself */
        struct ran_buf result;
        struct ran_error err;
        const struct text_line *piece;
        enum record_status fate;
        bool read; /* the record was scanned, and fate says how that went */
        bool done; /* under the lock */
};

struct cmd_run {
        const struct cmd_loop *loop;
        const char *into;
        struct import import; /* of this file */
        bool unlike_any;      /* its first line says no format, and it is read as JSON lines */

        struct shard shard;
        uint64_t before; /* bytes of the files before this one */
        bool past;       /* all of the shard has been read */

        const struct lines *lines;
        struct slot *slots;
        size_t slot_cap, count; /* of this group */
        size_t *unit;           /* (units + 1) first slot of those that are worked on together */
        size_t first, units, unit_cap; /* [first, units) are of this process's shard */
        struct cmd_item *items;        /* (count) for work_all */
        size_t item_cap;

        pthread_mutex_t scratch_lock;
        void **scratch; /* those that no thread is using */
        size_t scratch_count, scratch_cap;

        pthread_mutex_t order; /* guards all below, and slot.done */
        size_t next;           /* the first slot of the group that has not been handed on */
        struct ran_buf out;
        struct ran_writer *writer; /* NULL: standard output */
        int rejects;               /* a descriptor, or -1 */
        struct cmd_counts counts;
        atomic_bool ended;    /* set under the lock; tasks look at it without */
        struct ran_error end; /* why */
};

/* ---- one line, in any thread ------------------------------------------------------------------
 */

static void *take_scratch(struct cmd_run *run, struct ran_error *err)
{
        void *scratch = NULL;

        pthread_mutex_lock(&run->scratch_lock);
        if (run->scratch_count > 0)
                scratch = run->scratch[--run->scratch_count];
        pthread_mutex_unlock(&run->scratch_lock);
        return scratch != NULL ? scratch : run->loop->make_scratch(run->loop->arg, err);
}

static void give_scratch(struct cmd_run *run, void *scratch)
{
        pthread_mutex_lock(&run->scratch_lock);
        void **grown = ran_grow(run->scratch, &run->scratch_cap, run->scratch_count + 1,
                                sizeof(*grown), NULL);
        if (grown != NULL) {
                run->scratch = grown;
                run->scratch[run->scratch_count++] = scratch;
        }
        pthread_mutex_unlock(&run->scratch_lock);
        if (grown == NULL)
                run->loop->free_scratch(scratch);
}

/* What else there is to say about a line that is no record; what is wrong with all of a file, in
 * its first line only. */
static int refuse_record(const struct cmd_run *run, const struct slot *slot, const char *json,
                         struct ran_error *err)
{
        const struct cmd_line *line = &slot->line;
        const struct lines_place *before = &slot->piece->place;
        char first = json[line->record.object.begin];

        if (line->number == 1 && first == '[')
                return ran_fail(err, RAN_EFORMAT,
                                "%s (of an array of records, jq -c '.[]' FILE "
                                "makes lines)",
                                err->text);
        if (run->unlike_any && first != '{' && before->number == before->blank)
                return ran_fail(err, RAN_EFORMAT,
                                "%s (say --input-format file if all of the file is one document, "
                                "text if each line is, conll if each line is a word)",
                                err->text);
        return RAN_EFORMAT;
}

/* Makes slot->line.record of the raw line. */
static int read_record(const struct cmd_run *run, struct slot *slot, struct ran_error *err)
{
        struct cmd_line *line = &slot->line;
        const char *json = line->raw;
        size_t n = line->raw_length, blame;

        line->record.count = 0; /* of the line that was here before */
        slot->imported.len = 0;
        if (line->number == 1 && n >= 2 && memcmp(json, "\x1f\x8b", 2) == 0)
                return ran_fail(err, RAN_EFORMAT,
                                "this is gzip's form, not lines: zcat FILE | ... unpacks it");
        int code = import_piece(&run->import, slot->piece, &slot->imported, &blame, err);
        line->number += code == RAN_EFORMAT ? blame : 0;
        if (code == RAN_EFORMAT && slot->imported.len > 0)
                ran_record_scan(&line->record, slot->imported.data, slot->imported.len, NULL);
        if (code != RAN_OK)
                return code;
        if (slot->imported.len > 0) {
                json = slot->imported.data;
                n = slot->imported.len;
        }
        code = ran_record_scan(&line->record, json, n, err);
        return code == RAN_EFORMAT ? refuse_record(run, slot, json, err) : code;
}

/* A member that we read must be there once: two answers are none. */
static int check_member(const struct ran_record *record, const char *name, struct ran_error *err)
{
        bool twice;

        ran_record_find(record, name, &twice);
        return twice ? ran_fail(err, RAN_EFORMAT, "\"%s\" is given twice", name) : RAN_OK;
}

static int check_members(const struct cmd_run *run, const struct ran_record *record,
                         struct ran_error *err)
{
        const char *const *name = run->loop->reads;
        int code = run->loop->accepted ? check_member(record, SHAPE_ANSWER, err) : RAN_OK;

        for (; code == RAN_OK && name != NULL && *name != NULL; name++)
                code = check_member(record, *name, err);
        return code;
}

static enum record_status fate_of(int code)
{
        if (code == RAN_OK)
                return GOOD;
        return code == RAN_EFORMAT || code == RAN_EINVAL ? BAD : FATAL;
}

static void read_slot(struct cmd_run *run, struct slot *slot)
{
        slot->result.len = 0;
        slot->read = true;
        int code = read_record(run, slot, &slot->err);
        if (code == RAN_OK) {
                const struct ran_member *error =
                        ran_record_find(&slot->line.record, "ran_error", NULL);
                if (error != NULL && error->type == 'o') {
                        slot->fate = PASSED;
                        return;
                }
                code = check_members(run, &slot->line.record, &slot->err);
        }
        slot->fate = fate_of(code);
        if (code == RAN_OK && run->loop->accepted && !foreign_accepted(&slot->line.record))
                slot->fate = LEFT;
}

/* The good ones of the slots [from, to) as items; returns how many. */
static size_t gather(struct cmd_run *run, size_t from, size_t to)
{
        struct cmd_item *items = run->items + from;
        size_t n = 0;

        for (size_t i = from; i < to; i++) {
                struct slot *slot = &run->slots[i];
                if (slot->fate == GOOD)
                        items[n++] =
                                (struct cmd_item){&slot->line, &slot->result, &slot->err, RAN_OK};
        }
        return n;
}

static void judge(struct slot *slot, int code)
{
        if (code == RAN_OK && slot->result.failed)
                code = ran_fail(&slot->err, RAN_ENOMEM, "no memory for the result of this record");
        slot->fate = fate_of(code);
}

static void work_on(struct cmd_run *run, void *scratch, size_t from, size_t to)
{
        const struct cmd_loop *loop = run->loop;
        size_t n = gather(run, from, to);
        struct cmd_item *items = run->items + from;

        if (n > 0 && loop->work_all != NULL)
                loop->work_all(loop->arg, scratch, items, n);
        else if (n > 0 && loop->work != NULL)
                items->code =
                        loop->work(loop->arg, scratch, items->line, items->result, items->err);
        for (size_t i = from; i < to; i++)
                if (run->slots[i].fate == GOOD)
                        judge(&run->slots[i], (items++)->code);
}

/* The slots [from, to), of which there is one unless there is work_all. */
static void process(struct cmd_run *run, size_t from, size_t to)
{
        void *scratch = NULL;

        for (size_t i = from; i < to; i++)
                if (!run->slots[i].read)
                        read_slot(run, &run->slots[i]);
        if (run->loop->make_scratch != NULL) {
                struct slot *first = &run->slots[from];
                scratch = take_scratch(run, &first->err);
                if (scratch == NULL) {
                        first->fate = FATAL;
                        return;
                }
        }
        work_on(run, scratch, from, to);
        if (scratch != NULL)
                give_scratch(run, scratch);
}

/* ---- handing on, in order, under the lock -----------------------------------------------------
 */

static const char *shown_file(const struct cmd_line *line)
{
        return strcmp(line->file, "-") == 0 ? "standard input" : line->file;
}

static void end_run(struct cmd_run *run, enum ran_code code, const char *text)
{
        ran_fail(&run->end, code, "%s", text);
        atomic_store(&run->ended, true);
}

static void write_to_file(struct cmd_run *run)
{
        struct ran_error err;

        ran_writer_write(run->writer, run->out.data, run->out.len);
        if (ran_writer_check(run->writer, &err) != RAN_OK)
                end_run(run, err.code, err.text);
}

static void write_out(struct cmd_run *run)
{
        if (run->out.failed)
                end_run(run, RAN_ENOMEM, "no memory for the output");
        else if (run->writer != NULL)
                write_to_file(run);
        else
                cmd_write(STDOUT_FILENO, "standard output", run->out.data, run->out.len);
        run->out.len = 0;
}

static void reject(struct cmd_run *run, const struct cmd_line *line)
{
        const char *what = run->loop->input->rejects;

        if (run->rejects < 0)
                return;
        cmd_write(run->rejects, what, line->raw, line->raw_length);
        cmd_write(run->rejects, what, "\n\n", line->columns != NULL ? 2 : 1);
}

/* Messages about single lines, before they are only counted. */
enum { SHOWN_ERRORS = 20 };

/* Names, counts and rejects a line that cannot be used; whether the run goes on. */
static bool refuse(struct cmd_run *run, const struct cmd_line *line, const char *why)
{
        const struct cmd_input *input = run->loop->input;

        run->counts.bad++;
        if (run->counts.bad <= SHOWN_ERRORS)
                cmd_warn("%s:%zu: %s", shown_file(line), line->number, why);
        if (run->counts.bad == SHOWN_ERRORS)
                cmd_warn("further lines like that are only counted");
        reject(run, line);
        if (input->on_error == CMD_ON_ERROR_STOP)
                end_run(run, RAN_EFORMAT, "ended at the first such line (--on-error=stop)");
        else if (input->max_errors > 0 && run->counts.bad >= input->max_errors)
                end_run(run, RAN_EFORMAT, "too many such lines (--max-errors)");
        return !atomic_load(&run->ended);
}

static void end_at(struct cmd_run *run, const struct cmd_line *line, const struct ran_error *err)
{
        cmd_warn("%s:%zu: %s", shown_file(line), line->number, err->text);
        end_run(run, err->code, "");
}

static void hand_on_bad(struct cmd_run *run, struct slot *slot)
{
        const struct cmd_loop *loop = run->loop;

        refuse(run, &slot->line, slot->err.text);
        if (loop->input->on_error != CMD_ON_ERROR_EMIT || loop->take != NULL)
                return;
        if (loop->output->lines)
                ran_buf_char(&run->out, '\n');
        else
                emit_error(&run->out, &slot->line, loop->output, run->into, &slot->err);
}

bool cmd_refuse_late(struct cmd_run *run, const struct cmd_line *line, const struct ran_error *err)
{
        run->counts.good--;
        if (fate_of((int)err->code) == BAD)
                return refuse(run, line, err->text);
        end_at(run, line, err);
        return false;
}

static void hand_on_good(struct cmd_run *run, struct slot *slot)
{
        const struct cmd_loop *loop = run->loop;

        if (loop->take == NULL && loop->output->lines) {
                ran_buf_add(&run->out, slot->result.data, slot->result.len);
                return;
        }
        if (loop->take == NULL) {
                emit_record(&run->out, &slot->line, loop->output, run->into, &slot->result);
                return;
        }
        slot->fate = fate_of(loop->take(loop->arg, &slot->line, &slot->result, &slot->err));
}

static void hand_on_passed(struct cmd_run *run, const struct cmd_line *line)
{
        run->counts.passed++;
        if (run->loop->take != NULL)
                return;
        if (!run->loop->output->lines)
                ran_buf_add(&run->out, line->record.line, line->record.length);
        ran_buf_char(&run->out, '\n');
}

static void hand_on(struct cmd_run *run, struct slot *slot)
{
        if (slot->fate == GOOD)
                hand_on_good(run, slot);
        switch (slot->fate) {
        case GOOD:
                run->counts.good++;
                break;
        case BAD:
                hand_on_bad(run, slot);
                break;
        case PASSED:
                hand_on_passed(run, &slot->line);
                break;
        case LEFT:
                run->counts.left++;
                break;
        case FATAL:
                end_at(run, &slot->line, &slot->err);
                break;
        }
}

/* One giant record must not leave its buffers behind in every slot it ever came by. */
static void trim(struct slot *slot)
{
        const size_t keep = 64 << 10;

        if (slot->result.cap > keep)
                ran_buf_release(&slot->result);
        if (slot->imported.cap > keep)
                ran_buf_release(&slot->imported);
        if (slot->line.record.names.cap > keep || slot->line.record.cap > keep / 64)
                ran_record_release(&slot->line.record);
}

static void task(void *arg, size_t i)
{
        const size_t enough = 1 << 20; /* to be written in one piece */
        struct cmd_run *run = arg;
        size_t from = run->unit[run->first + i], to = run->unit[run->first + i + 1];

        if (atomic_load(&run->ended))
                return;
        process(run, from, to);
        pthread_mutex_lock(&run->order);
        for (size_t slot = from; slot < to; slot++)
                run->slots[slot].done = true;
        while (run->next < run->count && run->slots[run->next].done && !atomic_load(&run->ended)) {
                struct slot *slot = &run->slots[run->next++];
                hand_on(run, slot);
                trim(slot);
                if (run->out.len >= enough)
                        write_out(run);
        }
        if (run->out.len > 0 || run->out.failed)
                write_out(run);
        pthread_mutex_unlock(&run->order);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Every line of the group gets a slot. */
static int fill_slots(struct cmd_run *run, struct ran_error *err)
{
        const struct lines *l = run->lines;
        size_t old = run->slot_cap;
        struct slot *slots = ran_grow(run->slots, &run->slot_cap, l->count, sizeof(*slots), err);

        if (slots == NULL)
                return RAN_ENOMEM;
        memset(slots + old, 0, (run->slot_cap - old) * sizeof(*slots));
        run->slots = slots;
        for (size_t i = 0; i < l->count; i++) {
                struct cmd_line *line = &slots[i].line;
                slots[i].piece = &l->line[i];
                line->file = l->line[i].file;
                line->number = l->line[i].number;
                line->raw = l->line[i].s;
                line->raw_length = l->line[i].n;
                line->columns = run->import.format == CMD_FORMAT_CONLL ? &run->import.conll : NULL;
                slots[i].read = slots[i].done = false;
        }
        run->count = l->count;
        run->counts.whole += run->import.format == CMD_FORMAT_FILE ? l->count : 0;
        struct cmd_item *items =
                ran_grow(run->items, &run->item_cap, l->count, sizeof(*items), err);
        if (items == NULL)
                return RAN_ENOMEM;
        run->items = items;
        size_t *unit = ran_grow(run->unit, &run->unit_cap, l->count + 1, sizeof(*unit), err);
        if (unit == NULL)
                return RAN_ENOMEM;
        run->unit = unit;
        return RAN_OK;
}

static void read_task(void *arg, size_t i)
{
        struct cmd_run *run = arg;

        read_slot(run, &run->slots[i]);
}

/* Cuts the group into units. The last one is kept for the next group if more may belong to it; a
 * line that cannot be used stays where it is, and what is around it together. */
static void cut_units(struct cmd_run *run, struct lines *lines)
{
        size_t most = run->loop->together, n = 0;
        bool last = lines->ended && !lines->more, good = false;
        struct sentence_group doc = {0};

        if (most > 1)
                ran_parallel(run->loop->pool, run->count, read_task, run);
        for (size_t i = 0; i < run->count; i++) {
                const struct slot *slot = &run->slots[i];
                bool with_others = most > 1 && slot->fate != GOOD;
                if (most > 1 && slot->fate == GOOD)
                        with_others = sentence_group_goes_on(&doc, slot->line.file,
                                                             &slot->line.record, most);
                if (i == 0 || !with_others)
                        run->unit[n++] = i;
                good = most > 1 && (slot->fate == GOOD || (good && with_others));
        }
        if (good && !last && sentence_group_is_open(&doc, most)) {
                run->count = run->unit[--n];
                lines_keep(lines, run->count);
        }
        run->unit[n] = run->count;
        run->units = n;
        sentence_group_release(&doc);
}

/* Leaves the units that are of the shard. */
static void choose_units(struct cmd_run *run)
{
        const struct text_line *line = run->lines->line;

        for (run->first = 0; run->first < run->units; run->first++) {
                if (run->before + line[run->unit[run->first]].offset >= run->shard.from)
                        break;
        }
        size_t end = run->first;
        while (end < run->units && run->before + line[run->unit[end]].offset < run->shard.to)
                end++;
        run->past = end < run->units;
        run->units = end;
        run->next = run->unit[run->first];
        run->count = run->unit[end];
}

/* What the file holds, and how it is cut into pieces; its first line says so where nobody does. */
static int choose_format(struct cmd_run *run, struct lines *lines, struct ran_error *err)
{
        const struct cmd_input *input = run->loop->input;
        struct text_line first;

        run->import = (struct import){
                .format = lines->unit == LINES_WHOLE ? CMD_FORMAT_FILE : input->input_format,
                .folder_label = input->folder_label,
                .conll = {.word = input->word_column, .tag = input->tag_column},
        };
        run->unlike_any = false;
        if (run->import.format == CMD_FORMAT_AUTO) {
                int code = lines_peek(lines, &first, err);
                if (code != RAN_OK || first.s == NULL)
                        return code;
                run->import.format = import_guess(first.s, first.n);
                run->import.guessed = true;
                run->unlike_any = run->import.format == CMD_FORMAT_AUTO;
                if (run->unlike_any)
                        run->import.format = CMD_FORMAT_JSONL;
                if (cmd_common.verbose)
                        cmd_note("%s is read as %s", lines_name(lines),
                                 import_names[run->import.format]);
        }
        lines->unit = import_unit(run->import.format);
        return RAN_OK;
}

static int begin_file(struct cmd_run *run, const struct lines *lines, struct ran_error *err)
{
        struct ran_error why;
        int code = import_begin(&run->import, &lines->line[0], &why);

        return code == RAN_OK ? code : ran_fail(err, code, "%s: %s", lines_name(lines), why.text);
}

static int run_groups(struct cmd_run *run, struct lines *lines, struct ran_error *err)
{
        int code = choose_format(run, lines, err);

        for (bool first = true; code == RAN_OK && !atomic_load(&run->ended) && !run->past;
             first = false) {
                code = lines_next(lines, err);
                if (code != RAN_OK || lines->count == 0)
                        break;
                code = first ? begin_file(run, lines, err) : RAN_OK;
                if (code == RAN_OK)
                        code = fill_slots(run, err);
                if (code != RAN_OK)
                        break;
                cut_units(run, lines);
                choose_units(run);
                ran_parallel(run->loop->pool, run->units - run->first, task, run);
        }
        return code;
}

/* The lines of a file, or files that are a document each. */
static void run_lines(struct cmd_run *run, struct lines *lines)
{
        struct ran_error err;

        run->lines = lines;
        int code = run_groups(run, lines, &err);
        run->counts.blank += lines->at.blank;
        lines_close(lines);
        if (code != RAN_OK)
                end_run(run, code, err.text);
}

static void run_files(struct cmd_run *run, const struct files *files)
{
        struct ran_error err;
        struct lines lines;
        uint64_t size, more;
        size_t next;

        for (size_t i = 0; i < files->n && !atomic_load(&run->ended) && !run->past; i = next) {
                next = i + 1;
                shard_size(files->name[i], &size);
                run->before += size;
                if (run->before < run->shard.from)
                        continue;
                run->before -= size;
                while (files->document[i] && next < files->n && files->document[next]) {
                        shard_size(files->name[next++], &more);
                        size += more;
                }
                if (files->document[i])
                        lines_open_whole(&lines, files->name + i, next - i);
                else if (lines_open(&lines, files->name[i], &err) != RAN_OK)
                        cmd_die(CMD_FAILED, "%s", err.text);
                run_lines(run, &lines);
                run->before += size;
        }
}

/* What cannot be written is found out before the work begins, not hours into it. */
static void open_outputs(struct cmd_run *run, char **files)
{
        const struct cmd_loop *loop = run->loop;
        struct ran_error err;

        cmd_check_inputs("rejects", loop->input->rejects, files);
        if (loop->take == NULL && loop->output->output == NULL)
                cmd_check_standard_output(files);
        run->rejects = -1;
        if (loop->input->rejects != NULL) {
                run->rejects =
                        open(loop->input->rejects, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
                if (run->rejects < 0)
                        cmd_die(CMD_FAILED, "cannot write %s: %s", loop->input->rejects,
                                strerror(errno));
        }
        if (loop->take == NULL && loop->output->output != NULL) {
                run->writer = ran_writer_open(loop->output->output, &err);
                if (run->writer == NULL)
                        cmd_die(CMD_FAILED, "%s", err.text);
        }
}

static void release(struct cmd_run *run)
{
        for (size_t i = 0; i < run->slot_cap; i++) {
                ran_record_release(&run->slots[i].line.record);
                ran_buf_release(&run->slots[i].imported);
                ran_buf_release(&run->slots[i].result);
        }
        free(run->slots);
        free(run->unit);
        free(run->items);
        while (run->scratch_count > 0)
                run->loop->free_scratch(run->scratch[--run->scratch_count]);
        free(run->scratch);
        ran_buf_release(&run->out);
        pthread_mutex_destroy(&run->scratch_lock);
        pthread_mutex_destroy(&run->order);
}

/* Closes the outputs; dies if the run ended early, or if its results did not reach the disk. */
static void close_outputs(struct cmd_run *run)
{
        struct ran_error err;

        if (atomic_load(&run->ended)) {
                ran_writer_abort(run->writer);
                if (run->end.text[0] != '\0')
                        cmd_warn("%s", run->end.text);
                exit(cmd_status_of(&run->end));
        }
        if (run->writer != NULL && ran_writer_commit(run->writer, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        if (run->rejects >= 0 && close(run->rejects) != 0)
                cmd_die(CMD_FAILED, "cannot write %s: %s", run->loop->input->rejects,
                        strerror(errno));
}

static void sum_up(const struct cmd_counts *c)
{
        size_t all = c->good + c->bad + c->passed;

        if (c->bad > 0)
                cmd_warn("%zu of %zu records failed", c->bad, all);
        if (c->passed > 0)
                cmd_note("%zu of %zu records came with an error", c->passed, all);
        if (c->left > 0)
                cmd_note("%zu records were left out: their \"answer\" is reject or ignore",
                         c->left);
        if (cmd_common.verbose)
                cmd_note("%zu records, %zu blank lines", all, c->blank);
}

/* Names that mean something else to whoever reads the record. */
static void check_into(const struct cmd_output *output)
{
        if (output->into == NULL)
                return;
        if (strcmp(output->into, "ran_error") == 0)
                cmd_usage("--into ran_error: that member says why a record could not be used");
        if (output->only && strcmp(output->into, "id") == 0)
                cmd_usage("--into id: with --only the id is there already");
}

int cmd_records(const struct cmd_loop *loop, char **operands, struct cmd_counts *counts)
{
        struct cmd_run run = {.loop = loop, .into = loop->into};
        struct ran_error err;
        struct files files;

        if (loop->output != NULL)
                check_into(loop->output);
        if (files_expand(&files, operands, loop->input, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        if (loop->output != NULL && loop->output->into != NULL)
                run.into = loop->output->into;
        pthread_mutex_init(&run.scratch_lock, NULL);
        pthread_mutex_init(&run.order, NULL);
        shard_init(&run.shard, loop->input->shard, files.name);
        open_outputs(&run, files.name);
        run_files(&run, &files);
        release(&run);
        if (loop->finish != NULL && !atomic_load(&run.ended))
                loop->finish(loop->arg, &run);
        files_release(&files);
        close_outputs(&run);
        sum_up(&run.counts);
        if (counts != NULL)
                *counts = run.counts;
        if (loop->input->errors_ok || run.counts.bad + run.counts.passed == 0)
                return CMD_OK;
        return CMD_SOME_FAILED;
}

const char *cmd_label_advice(const struct cmd_counts *counts)
{
        return counts->whole > 0
                       ? " (with --folder-label, the folder that a file is in is its label)"
                       : "";
}
