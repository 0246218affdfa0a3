/* groups.c - a file as groups of lines, and these as units of work.
 *
 * A group is all that has arrived. Its units go to the pool of threads; a unit is one record, or
 * several that belong together.
 */
#include <string.h>

#include "cmd/formats/conll.h"
#include "cmd/options/message.h"
#include "cmd/options/common.h"
#include "cmd/options/options.h"
#include "cmd/records/run.h"
#include "cmd/records/sentence-group.h"

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
                slots[i].text = &l->line[i];
                line->file = l->line[i].file;
                line->number = l->line[i].number;
                line->raw = l->line[i].s;
                line->raw_length = l->line[i].n;
                line->columns = conll_of(&run->import);
                slots[i].read = slots[i].done = false;
        }
        run->count = l->count;
        run->counts.whole += run->import.format->unit == LINES_FILE ? l->count : 0;
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

        run_read(run, &run->slots[i]);
}

/* Splits the group into units of records that are worked on together. A bad record does not split
 * them. The last unit waits for the next group if more may belong to it. */
static void split_units(struct cmd_run *run, struct lines *lines)
{
        size_t most = run->loop->together, n = 0;
        bool last = lines->ended && !lines->more, good = false;
        struct sentence_group doc = {0};

        if (most > 1)
                ran_parallel(run->loop->pool, run->count, read_task, run);
        for (size_t i = 0; i < run->count; i++) {
                const struct slot *slot = &run->slots[i];
                bool with_others = most > 1 && slot->status != RECORD_GOOD;
                if (most > 1 && slot->status == RECORD_GOOD)
                        with_others = sentence_group_goes_on(&doc, slot->line.file,
                                                             &slot->line.record, most);
                if (i == 0 || !with_others)
                        run->unit[n++] = i;
                good = most > 1 && (slot->status == RECORD_GOOD || (good && with_others));
        }
        if (good && !last && sentence_group_is_open(&doc, most)) {
                run->count = run->unit[--n];
                lines_keep(lines, run->count);
        }
        run->unit[n] = run->count;
        run->units = n;
        sentence_group_release(&doc);
}

/* Keeps the units of the shard only. */
static void keep_shard(struct cmd_run *run)
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

/* The format of the file: that of --input-format, or guessed from the first line. */
static int set_format(struct cmd_run *run, struct lines *lines, struct ran_error *err)
{
        const struct cmd_input *input = run->loop->input;
        struct text_line first;

        run->import = (struct import){
                .format = lines->unit == LINES_FILE ? &import_file
                                                    : import_choice(input->input_format),
                .word_column = input->word_column,
                .tag_column = input->tag_column,
                .folder_label = input->folder_label,
        };
        run->unlike_any = false;
        if (run->import.format == NULL) {
                RAN_TRY(lines_peek(lines, &first, err));
                if (first.s != NULL)
                        run->import.format = import_guess(first.s, first.n);
                run->import.guessed = true;
                run->unlike_any = run->import.format == NULL;
                if (run->unlike_any)
                        run->import.format = &import_jsonl;
                if (cmd_common.verbose && first.s != NULL)
                        cmd_note("%s is read as %s", lines_name(lines),
                                 import_name(run->import.format));
        }
        lines->unit = run->import.format->unit;
        lines->begins_document = run->import.format->begins_document;
        return RAN_OK;
}

static int begin_file(struct cmd_run *run, const struct lines *lines, struct ran_error *err)
{
        struct ran_error why;
        int code = import_begin(&run->import, &lines->line[0], &why);

        return code == RAN_OK ? code : ran_fail(err, code, "%s: %s", lines_name(lines), why.text);
}

static void work_task(void *arg, size_t i)
{
        struct cmd_run *run = arg;
        size_t from = run->unit[run->first + i], to = run->unit[run->first + i + 1];

        if (atomic_load(&run->ended))
                return;
        run_work(run, from, to);
        run_deliver(run, from, to);
}

static int run_groups(struct cmd_run *run, struct lines *lines, struct ran_error *err)
{
        bool first = true;

        RAN_TRY(set_format(run, lines, err));
        while (!atomic_load(&run->ended) && !run->past) {
                RAN_TRY(lines_next(lines, err));
                if (lines->count == 0)
                        break;
                if (first)
                        RAN_TRY(begin_file(run, lines, err));
                first = false;
                RAN_TRY(fill_slots(run, err));
                split_units(run, lines);
                keep_shard(run);
                ran_parallel(run->loop->pool, run->units - run->first, work_task, run);
        }
        return RAN_OK;
}

void run_lines(struct cmd_run *run, struct lines *lines)
{
        struct ran_error err;

        run->lines = lines;
        int code = run_groups(run, lines, &err);
        run->counts.blank += lines->at.blank;
        import_end(&run->import);
        lines_close(lines);
        if (code != RAN_OK)
                run_end(run, code, err.text);
}
