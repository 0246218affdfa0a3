/* loop.c - the record loop: inputs, outputs, and the end of a run. See run.h. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/message.h"
#include "cmd/options/outputs.h"
#include "cmd/records/run.h"

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
                        lines_open_files(&lines, files->name + i, next - i);
                else if (!parallel_open(&lines, files->name[i]) &&
                         lines_open(&lines, files->name[i], &err) != RAN_OK)
                        cmd_die(CMD_FAILED, "%s", err.text);
                run_lines(run, &lines);
                run->before += size;
        }
}

/* Fails before the work begins, not hours into it. */
static void open_outputs(struct cmd_run *run, char **files)
{
        const struct cmd_loop *loop = run->loop;
        struct ran_error err;

        cmd_check_inputs("rejects", loop->input->rejects, files);
        if (loop->output != NULL && loop->output->output == NULL)
                cmd_check_standard_output(files);
        run->rejects = -1;
        if (loop->input->rejects != NULL) {
                run->rejects =
                        open(loop->input->rejects, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
                if (run->rejects < 0)
                        cmd_die(CMD_FAILED, "cannot write %s: %s", loop->input->rejects,
                                strerror(errno));
        }
        if (loop->output != NULL && loop->output->output != NULL) {
                run->writer = ran_writer_open(loop->output->output, &err);
                if (run->writer == NULL)
                        cmd_die(CMD_FAILED, "%s", err.text);
        }
}

/* The number of rows is in front of them: at the beginning 0, to see that it can be changed. What
 * ends a file is behind them. */
static void write_head(struct cmd_run *run)
{
        const struct cmd_output *output = run->loop->output;
        struct ran_buf head = {0}, tail = {0};
        struct ran_error err;

        if (output == NULL || output_format_of(output)->head == NULL)
                return;
        output_format_of(output)->head(&head, run->rows, output->width);
        if (run->rows > 0)
                output_format_of(output)->tail(&tail, output->vectors);
        if (run->rows == 0)
                ran_writer_write(run->writer, head.data, head.len);
        else
                ran_writer_write(run->writer, tail.data, tail.len);
        if (ran_writer_rewrite(run->writer, head.data, head.len, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        ran_buf_release(&head);
        ran_buf_release(&tail);
}

static void release(struct cmd_run *run)
{
        for (size_t i = 0; i < run->slot_cap; i++) {
                run_forget(run, &run->slots[i]);
                free(run->slots[i].result.found);
        }
        free(run->slots);
        free(run->unit);
        free(run->items);
        while (run->scratch_count > 0)
                run->loop->free_scratch(run->scratch[--run->scratch_count]);
        free(run->scratch);
        members_release(&run->members);
        ran_buf_release(&run->said);
        ran_buf_release(&run->names);
        ran_buf_release(&run->out);
        pthread_mutex_destroy(&run->scratch_lock);
        pthread_mutex_destroy(&run->order);
}

/* Closes the outputs; exits if the run ended early, or if writing results failed. */
static void close_outputs(struct cmd_run *run)
{
        struct ran_error err;

        if (atomic_load(&run->ended)) {
                ran_writer_abort(run->writer);
                if (run->end.text[0] != '\0')
                        cmd_warn("%s", run->end.text);
                exit(cmd_status_of(&run->end));
        }
        if (run->rows > 0)
                write_head(run);
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
                cmd_note("left out %zu record%s whose \"answer\" is reject or ignore, or that "
                         "nobody has annotated",
                         c->left, c->left == 1 ? "" : "s");
        if (cmd_common.verbose)
                cmd_note("%zu records, %zu blank lines", all, c->blank);
}

/* Members that the options of a program name, and those to leave out. */
static void add_named(struct cmd_run *run)
{
        const struct cmd_output *output = run->loop->output;

        for (const struct cmd_member *m = run->loop->also; m != NULL && m->name != NULL; m++)
                if (m->option != NULL)
                        named_add(&run->named, m->option, m->name, strlen(m->name),
                                  NAMED_IS_LOOKED_FOR);
        for (size_t i = 0; output != NULL && i < output->drop.n; i++)
                named_add(&run->named, "drop", output->drop.item[i], strlen(output->drop.item[i]),
                          NAMED_MAY_LACK);
}

int cmd_records(const struct cmd_loop *loop, char **operands, struct cmd_counts *counts)
{
        const char *into = loop->output != NULL ? loop->output->into : NULL;
        struct cmd_run run = {.loop = loop, .into = into != NULL ? into : loop->into};
        struct ran_error err;
        struct files files;

        cmd_input_check(loop->input);
        if (into != NULL && strcmp(into, "ran_error") == 0)
                cmd_usage("--into ran_error: that member holds the error of a bad record");
        if (into != NULL && loop->output->only && strcmp(into, "id") == 0)
                cmd_usage("--into id: --only writes the id already");
        if (files_expand(&files, operands, loop->input, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        pthread_mutex_init(&run.scratch_lock, NULL);
        pthread_mutex_init(&run.order, NULL);
        shard_init(&run.shard, loop->input->shard, files.name);
        open_outputs(&run, files.name);
        write_head(&run);
        add_named(&run);
        if (!loop->own_progress && loop->input->shard == NULL)
                progress_begin(&run.progress, &files, loop->output != NULL && run.writer == NULL);
        run_files(&run, &files);
        (void)run_add_header(&run, NULL, NULL);
        if (run.progress.on)
                cmd_live(NULL);
        release(&run);
        /* Where every record failed, its message says why; but not that a label was misspelt. */
        if (!atomic_load(&run.ended) && (run.counts.good > 0 || loop->accepted))
                named_report(&run.named, loop->input->shard != NULL);
        named_release(&run.named);
        if (loop->finish != NULL && !atomic_load(&run.ended))
                loop->finish(loop->arg, &run);
        repeats_end(&run.repeats);
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
        return counts->whole > 0 ? " (--folder-label takes the name of the folder as the label)"
                                 : " (--label-member names the member or column with the label)";
}
