/* deliver.c - results, rejects, messages and counts, in the order of the input.
 *
 * Each thread that finishes a record takes the lock and, if no earlier record is missing, delivers
 * all that are ready. Results are written together, about every 50 ms; the last of the input that
 * has arrived is written at once. */
#include <string.h>
#include <unistd.h>

#include "cmd/options/message.h"
#include "cmd/options/write.h"
#include "cmd/records/run.h"

static const char *shown_file(const struct cmd_line *line)
{
        return strcmp(line->file, "-") == 0 ? "standard input" : line->file;
}

void run_end(struct cmd_run *run, int code, const char *text)
{
        ran_fail(&run->end, (enum ran_code)code, "%s", text);
        atomic_store(&run->ended, true);
}

/* Writes what is in run->out. */
static void write_out(struct cmd_run *run)
{
        struct ran_error err;

        if (run->writer == NULL) {
                cmd_write(STDOUT_FILENO, "standard output", run->out.data, run->out.len);
        } else {
                ran_writer_write(run->writer, run->out.data, run->out.len);
                if (ran_writer_check(run->writer, &err) != RAN_OK)
                        run_end(run, err.code, err.text);
        }
        run->out.len = 0;
}

/* Reports, counts and rejects a bad line. Returns whether the run continues. */
static bool refuse(struct cmd_run *run, const struct cmd_line *line, const char *why)
{
        const struct cmd_input *input = run->loop->input;

        run->counts.bad++;
        repeats_add(&run->repeats, shown_file(line), line->number, why);
        if (run->rejects >= 0) {
                cmd_write(run->rejects, input->rejects, line->raw, line->raw_length);
                cmd_write(run->rejects, input->rejects, "\n\n", line->columns != NULL ? 2 : 1);
        }
        if (input->on_error == CMD_ON_ERROR_STOP)
                run_end(run, RAN_EFORMAT, "stopped at the first bad record (--on-error=stop)");
        else if (input->max_errors > 0 && run->counts.bad >= input->max_errors)
                run_end(run, RAN_EFORMAT, "too many bad records (--max-errors)");
        return !atomic_load(&run->ended);
}

static void end_at(struct cmd_run *run, const struct cmd_line *line, const struct ran_error *err)
{
        cmd_warn("%s:%zu: %s", shown_file(line), line->number, err->text);
        run_end(run, err->code, "");
}

/* Parts of --shard are concatenated: only the first one has it. */
int run_add_header(struct cmd_run *run, const struct lines *lines, struct ran_error *err)
{
        const struct cmd_loop *loop = run->loop;
        const char *shard = loop->input->shard;
        const bool table = lines != NULL && run->import.format->unit == LINES_ROW;
        struct ran_buf out = {0}, names = {0};

        if (loop->output == NULL || output_format_of(loop->output)->kind != OUTPUT_ROWS ||
            (run->headed && (lines == NULL || !run->continued)))
                return RAN_OK;
        struct cmd_row row = {.out = &out, .format = output_format_of(loop->output)};
        cmd_row_mark(&row);
        if (table && loop->continues)
                csv_header(&run->import, &row, &names);
        const bool same = names.len == run->names.len && names.len > 0 &&
                          memcmp(names.data, run->names.data, names.len) == 0;
        if (!run->headed) {
                run->headed = true;
                run->continued = names.len > 0;
                row.taken = run->continued ? &names : NULL;
                row.cells = 0;
                loop->columns(loop->arg, &row);
                run->added = row.cells;
                cmd_row_end(&row);
                if (shard == NULL || strncmp(shard, "1/", 2) == 0)
                        ran_buf_add(&run->out, out.data, out.len);
                write_out(run);
                run->names = names;
                ran_buf_release(&out);
                return RAN_OK;
        }
        ran_buf_release(&out);
        ran_buf_release(&names);
        return same ? RAN_OK
                    : ran_fail(err, RAN_EFORMAT,
                               "%s has other columns than the file before it: write a table for "
                               "each",
                               lines_name(lines));
}

/* The cells of a row, before what is added to it. */
static void add_cells(struct cmd_run *run, const struct slot *slot)
{
        struct cmd_row row = {.out = &run->out, .format = output_format_of(run->loop->output)};

        if (!slot->line.continued)
                return;
        csv_cells(&run->import, slot->text, &row);
        ran_buf_char(&run->out, row.format->delimiter);
}

/* Of a record without a result. */
static void add_nothing(struct cmd_run *run, const struct slot *slot)
{
        const struct cmd_output *output = run->loop->output;
        const struct output_format *format = output_format_of(output);

        add_cells(run, slot);
        for (size_t i = 1; slot->line.continued && i < run->added; i++)
                ran_buf_char(&run->out, format->delimiter);
        if (format->vector != NULL)
                format->vector(&run->out, NULL, output->width);
        else
                ran_buf_char(&run->out, '\n');
        run->rows++;
}

bool cmd_refuse_late(struct cmd_run *run, const struct cmd_line *line, const struct ran_error *err)
{
        run->counts.good--;
        if (run_status_of((int)err->code) == RECORD_BAD)
                return refuse(run, line, err->text);
        end_at(run, line, err);
        return false;
}

static void deliver_good(struct cmd_run *run, struct slot *slot, const struct output_format *format)
{
        const struct cmd_loop *loop = run->loop;
        const struct ran_buf *out = &slot->result.out;

        if (loop->take != NULL) {
                const int rc = loop->take(loop->arg, &slot->line, &slot->result, &slot->err);

                slot->status = run_status_of(rc);
                if (rc != RAN_OK || out->len == 0)
                        return;
        }
        if (format == NULL)
                return;
        if (format->record != NULL) {
                format->record(&run->out, &slot->line, loop->output, run->into, out);
        } else {
                add_cells(run, slot);
                ran_buf_add(&run->out, out->data, out->len);
        }
        run->rows++;
}

static void deliver(struct cmd_run *run, struct slot *slot)
{
        const struct ran_record *json = &slot->line.record.json;
        const struct cmd_loop *loop = run->loop;
        const struct output_format *format =
                loop->output != NULL ? output_format_of(loop->output) : NULL;

        if (slot->scanned)
                named_count(&run->named, slot->named);
        if (slot->status == RECORD_GOOD)
                deliver_good(run, slot, format);
        switch (slot->status) {
        case RECORD_GOOD:
                run->counts.good++;
                break;
        case RECORD_BAD:
                refuse(run, &slot->line, slot->err.text);
                if (loop->input->on_error != CMD_ON_ERROR_EMIT || format == NULL)
                        break;
                if (format->error == NULL)
                        add_nothing(run, slot);
                else
                        format->error(&run->out, &slot->line, loop->output, run->into, &slot->err);
                break;
        case RECORD_PASSED:
                run->counts.passed++;
                if (format != NULL && format->record == NULL) {
                        add_nothing(run, slot);
                } else if (format != NULL) {
                        ran_buf_add(&run->out, json->line, json->length);
                        ran_buf_char(&run->out, '\n');
                }
                break;
        case RECORD_LEFT:
                run->counts.left++;
                break;
        case RECORD_FATAL:
                end_at(run, &slot->line, &slot->err);
                break;
        }
}

/* There are thousands of slots, and memory that was just freed is faster than memory that is kept
 * and cold. */
void run_forget(struct cmd_run *run, struct slot *slot)
{
        const struct cmd_loop *loop = run->loop;

        ran_buf_release(&slot->result.out);
        ran_buf_release(&slot->imported);
        record_release(&slot->line.record);
        if (slot->result.found == NULL)
                return;
        if (loop->release != NULL)
                loop->release(slot->result.found);
        memset(slot->result.found, 0, loop->result_size);
}

/* Whether results may wait for more: where records take microseconds, a system call for each costs
 * a twentieth of them. They wait for the record after them, too, however long that takes. */
static bool may_wait(struct cmd_run *run)
{
        const double patience = 0.05; /* seconds */

        if (run->next == run->count || atomic_load(&run->ended))
                return false;
        const double now = ran_clock();
        if (now - run->written < patience)
                return true;
        run->written = now;
        return false;
}

void run_deliver(struct cmd_run *run, size_t from, size_t to)
{
        const size_t enough = 1 << 16; /* for a write */

        pthread_mutex_lock(&run->order);
        for (size_t slot = from; slot < to; slot++)
                run->slots[slot].done = true;
        while (run->next < run->count && run->slots[run->next].done && !atomic_load(&run->ended)) {
                struct slot *slot = &run->slots[run->next++];
                deliver(run, slot);
                run_forget(run, slot);
                if (run->out.len >= enough)
                        write_out(run);
        }
        if (run->out.len > 0 && !may_wait(run))
                write_out(run);
        progress_tell(&run->progress, run->lines, run->before,
                      run->counts.good + run->counts.bad + run->counts.passed);
        pthread_mutex_unlock(&run->order);
}
