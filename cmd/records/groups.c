/* groups.c - divides a file into groups of lines, and these into units of work.
 *
 * A group is all input that has arrived. The pool of threads runs its units; a unit is one record,
 * or several that belong together.
 */
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/records/run.h"

/* Every line of the group gets a slot. */
static void fill_slots(struct cmd_run *run)
{
        const struct lines *l = run->lines;
        const size_t old = run->slot_cap;

        RAN_ROOM(run->slots, run->slot_cap, l->count);
        memset(run->slots + old, 0, (run->slot_cap - old) * sizeof *run->slots);
        for (size_t i = 0; i < l->count; i++) {
                struct cmd_line *line = &run->slots[i].line;
                run->slots[i].text = &l->line[i];
                line->file = l->line[i].file;
                line->number = l->line[i].number;
                line->raw = l->line[i].s;
                line->raw_length = l->line[i].n;
                line->columns = conll_of(&run->import);
                line->continued = run->continued;
                run->slots[i].read = run->slots[i].done = false;
        }
        run->count = l->count;
        run->counts.whole += run->import.format->unit == LINES_FILE ? l->count : 0;
        RAN_ROOM(run->items, run->item_cap, l->count);
        RAN_ROOM(run->unit, run->unit_cap, l->count + 1);
}

static void read_task(void *arg, size_t i)
{
        struct cmd_run *run = arg;

        run_read(run, &run->slots[i]);
}

/* So many units for each thread, or more: records of different lengths even out. */
enum { UNITS = 4 };

/* Splits the group into units: records that are processed together. A bad record does not split
 * them. The last unit waits for the next group if more may belong to it. Abreast: records that are
 * there, as many at once as leave every thread some. */
static void split_units(struct cmd_run *run, struct lines *lines)
{
        const size_t threads = run->loop->pool != NULL ? ran_pool_threads(run->loop->pool) : 1;
        const size_t even = run->count / (UNITS * threads), abreast = run->loop->abreast;
        const size_t size = even < 1 ? 1 : even < abreast ? even : abreast;
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
                if (abreast > 1 ? i % size == 0 : i == 0 || !with_others)
                        run->unit[n++] = i;
                good = most > 1 && (slot->status == RECORD_GOOD || (good && with_others));
        }
        if (good && !last && doc.id.len > 0 && doc.n < most) {
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

/* The format by options alone; NULL: the file decides. Options of tables ask for a table, and those
 * of columns of words for these. */
static const struct import_format *chosen_format(const struct cmd_input *input)
{
        const struct import_columns *c = &input->columns;

        if (input->side_format > 0)
                return import_choice(input->side_format);
        if (input->input_format == 0 && (c->delimiter != NULL || c->names != NULL))
                return &import_csv;
        if (input->input_format == 0 && (input->word_column > 0 || input->tag_column > 0))
                return &import_conll;
        return import_choice(input->input_format);
}

/* Whether a line is text: without control characters. If it is not UTF-8, the format says so. */
static bool is_text(const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if ((unsigned char)s[i] < ' ' && s[i] != '\t' && s[i] != '\f')
                        return false;
        return true;
}

/* Whether the format has to be said: once for files alike. */
static bool is_news(struct cmd_run *run)
{
        const bool news = run->said_format != run->import.format;

        run->said_format = run->import.format;
        return news;
}

/* The first line is of no format. A file of text is then a document, as it is in a folder; lines of
 * standard input or of a pipe are texts. */
static void take_unlike_any(struct cmd_run *run, struct lines *lines, const struct sample *sample)
{
        const char *option = run->import.option;

        run->import.format = &import_jsonl;
        run->unlike_any = import_has_ending(lines->file) || !is_text(sample->s, sample->first);
        if (run->unlike_any)
                return;
        if (strcmp(lines->file, "-") == 0 || !lines_are_stored(lines)) {
                run->import.format = &import_text;
                if (is_news(run))
                        cmd_note("%s: each line is read as a text (--%s-format file: the whole "
                                 "file is one)",
                                 lines_name(lines), option);
                return;
        }
        run->import.format = &import_file;
        if (is_news(run))
                cmd_note("%s is read as one document (--%s-format text: each line is one)",
                         lines_name(lines), option);
        run->alone = (char *)lines->file;
        lines_close(lines);
        lines_open_files(lines, &run->alone, 1);
        lines_limit(lines, run->loop->input->max_record_bytes);
        lines->file = run->alone;
}

/* One message about a file that cannot be what it should, instead of one a line. */
static int check_kind(const struct cmd_run *run, const struct lines *lines,
                      const struct sample *sample, struct ran_error *err)
{
        size_t n;
        const char *s = lines_first_bytes(lines, &n);
        const struct kind *kind = kind_of(s, n);
        const struct import_format *format = run->import.format, *like = NULL;
        enum import_match match;

        if (kind != NULL)
                return ran_fail(err, RAN_EFORMAT, "%s is %s: %s", lines_name(lines), kind->is,
                                kind->advice);
        /* Excel writes "sep=;" above a table to tell itself the delimiter. */
        if ((format == NULL || format->unit == LINES_ROW) && sample->first == 5 &&
            memcmp(sample->s, "sep=", 4) == 0 && strchr(",;\t|", sample->s[4]) != NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "%s: the first line, sep=, is for spreadsheets only: leave it out "
                                "(tail -n +2 FILE)",
                                lines_name(lines));
        if (format == &import_jsonl && sample->s != NULL)
                like = import_guess(NULL, sample, &match);
        if (like == NULL || like == &import_jsonl)
                return RAN_OK;
        return ran_fail(
                err, RAN_EFORMAT,
                "%s: the first line is no record, it looks like %s: give --%s-format=%s, or "
                "leave out --%s-format",
                lines_name(lines), like->looks_like, run->import.option, import_name(like),
                run->import.option);
}

/* Guesses the format from the first lines. Where one line has arrived that could be of several
 * formats, the next one decides, if it comes at once: within a time that nobody who types notices.
 */
static int guess_format(struct cmd_run *run, struct lines *lines, struct sample *sample,
                        struct ran_error *err)
{
        const struct cmd_input *input = run->loop->input;
        const struct import_format *given = chosen_format(input), *format = NULL;
        enum import_match match = IMPORT_UNLIKE;

        run->import.guessed = true;
        for (bool waited = false;; waited = true) {
                if (sample->s != NULL)
                        format = import_guess(lines->file, sample, &match);
                if (format == NULL && sample->s != NULL &&
                    csv_is_asked(&input->columns, sample->s, sample->first))
                        format = &import_csv;
                if (waited || format == &import_jsonl || format == &import_json ||
                    sample->lines != 1 || sample->all || lines->ended)
                        break;
                RAN_TRY(lines_peek(lines, 200, sample, err));
        }
        /* A file beside the records that is of no format, or could be prose while theirs cannot be
         * guessed, is read as they are. */
        if (input->side != NULL && input->side_format == 0 && given != NULL &&
            given->unit != LINES_FILE &&
            (match == IMPORT_UNLIKE || (match == IMPORT_LIKE && given->guess == NULL))) {
                format = given;
                run->import.guessed = false;
                match = IMPORT_CLEAR;
        }
        run->import.format = format;
        if (sample->s == NULL) {
                run->unlike_any = format == NULL;
                run->import.format = run->unlike_any ? &import_jsonl : format;
                return RAN_OK;
        }
        if (format == NULL)
                take_unlike_any(run, lines, sample);
        if (cmd_common.verbose)
                cmd_note("%s is read as %s", lines_name(lines), import_name(run->import.format));
        else if (format != NULL && match == IMPORT_LIKE && is_news(run))
                cmd_note("%s looks like %s (--%s-format names another format)", lines_name(lines),
                         format->looks_like, run->import.option);
        return RAN_OK;
}

/* A table in one JSON object becomes lines, for which all of it has to be in memory. */
static int unfold(struct cmd_run *run, struct lines *lines, const struct sample *sample,
                  struct ran_error *err)
{
        struct ran_buf rows = {0};

        if ((run->import.format != &import_jsonl && run->import.format != &import_json) ||
            !frame_begins(sample->s, sample->n))
                return RAN_OK;
        RAN_TRY(lines_read_all(lines, err));
        const size_t mark = ran_utf8_mark(lines->data, lines->end);
        const bool table = frame_lines(lines->data + mark, lines->end - mark, &rows);
        const int rc = table ? lines_replace(lines, &rows, err) : RAN_OK;
        ran_buf_release(&rows);
        if (!table || rc != RAN_OK)
                return rc;
        cmd_note("%s is a table in one JSON object: messages number its rows", lines_name(lines));
        run->import.format = &import_jsonl;
        return RAN_OK;
}

/* The format of the file: that of an option, or guessed. */
static int set_format(struct cmd_run *run, struct lines *lines, struct ran_error *err)
{
        const struct cmd_input *input = run->loop->input;
        struct sample sample;

        run->import = (struct import){
                .format = lines->unit == LINES_FILE                        ? &import_file
                          : input->side != NULL && input->side_format == 0 ? NULL
                                                                           : chosen_format(input),
                .option = input->side != NULL ? input->side : "input",
                .word_column = input->word_column,
                .tag_column = input->tag_column,
                .folder_label = input->folder_label,
                .columns = &input->columns,
        };
        run->unlike_any = false;
        if (lines->unit == LINES_FILE)
                return RAN_OK;
        if (lines->beside.there) {
                run->import.format = &parallel_format;
                return RAN_OK;
        }
        RAN_TRY(lines_peek(lines, 0, &sample, err));
        RAN_TRY(check_kind(run, lines, &sample, err));
        if (run->import.format == NULL)
                RAN_TRY(guess_format(run, lines, &sample, err));
        if (run->import.format->unit == LINES_FILE)
                return RAN_OK;
        if (sample.s != NULL)
                RAN_TRY(unfold(run, lines, &sample, err));
        lines->unit = run->import.format->unit;
        if (run->import.format->look != NULL && sample.s != NULL)
                run->import.format->look(&run->import, &sample);
        lines->role = run->import.role;
        lines->table = run->import.table;
        return RAN_OK;
}

/* Scans the first record, or one that has the members of the file: of a table without a good row
 * empty cells, else none. text: NULL if there is none. */
static int scan_first(struct cmd_run *run, const struct text_line *text, struct ran_buf *json,
                      struct record *record, struct ran_error *err)
{
        const bool table = run->import.format->unit == LINES_ROW;
        size_t line = 0;
        int rc = RAN_EFORMAT;

        if (text != NULL)
                rc = import_text_line(&run->import, text, json, &line, err);
        if (rc == RAN_EFORMAT && table) {
                json->len = 0;
                csv_example(&run->import, json);
                rc = RAN_OK;
        }
        if (rc == RAN_OK && json->len == 0 && text != NULL)
                rc = record_scan(record, text->s, text->n, err);
        else if (rc == RAN_OK)
                rc = record_scan(record, json->data, json->len, err);
        return rc == RAN_EFORMAT || rc == RAN_EINVAL ? record_scan(record, "{}", 2, err) : rc;
}

/* By text i of the group, the first that can be read, if any has arrived. */
static int choose_members(struct cmd_run *run, const struct lines *lines, size_t i,
                          struct ran_error *err)
{
        const struct import_columns *c = run->import.columns;
        const struct import_format *format = run->import.format;
        struct record record = {0};
        struct ran_buf json = {0};
        struct ran_error why;

        members_release(&run->members);
        if (format->unit != LINES_ROW && format != &import_jsonl && format != &import_json &&
            c->text_member.n == 0 && c->label_member == NULL && c->id_member == NULL)
                return RAN_OK;
        int rc = scan_first(run, i < lines->count ? &lines->line[i] : NULL, &json, &record, &why);
        if (rc == RAN_OK)
                rc = members_choose(&run->members, run->loop, &run->import, &record, lines->file,
                                    &run->said, &why);
        /* Labels matter to programs that learn from them or compare with them. */
        const struct members *m = &run->members;
        for (size_t k = 0; k < m->n && rc == RAN_OK; k++) {
                const struct members_name *name = &m->name[k];

                if (name->asked && (name->role != ROLE_LABEL || run->loop->accepted))
                        named_add(&run->named, members_option(name->role), name->s, name->n,
                                  NAMED_IS_NEEDED);
        }
        if (rc == RAN_OK)
                named_note_first(&run->named, &record.json);
        record_release(&record);
        ran_buf_release(&json);
        return rc == RAN_OK ? rc : ran_fail(err, rc, "%s: %s", lines_name(lines), why.text);
}

/* The first text of the group that can be read; the count if there is none. */
static size_t first_text(const struct lines *lines)
{
        size_t i = 0;

        while (i < lines->count && lines->line[i].why != NULL && lines->unit != LINES_FILE)
                i++;
        return i;
}

/* With the first text of a file, which is text i of the group. */
static int begin_file(struct cmd_run *run, struct lines *lines, size_t i, struct ran_error *err)
{
        struct ran_error why;
        int rc = RAN_OK;

        if (run->import.format->begin != NULL)
                rc = run->import.format->begin(&run->import, &lines->line[i], &why);
        if (rc != RAN_OK)
                return ran_fail(err, rc, "%s: %s", lines_name(lines), why.text);
        if (run->import.header)
                lines_drop(lines, i);
        if (run->import.format->unit == LINES_SENTENCE && run->import.assumed != NULL &&
            !run->said_columns)
                cmd_note("%s: %s (--word-column and --tag-column name others)", lines_name(lines),
                         run->import.assumed);
        run->said_columns |= run->import.assumed != NULL;
        return RAN_OK;
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
        bool begun = false, chosen = false;

        RAN_TRY(set_format(run, lines, err));
        while (!atomic_load(&run->ended) && !run->past) {
                RAN_TRY(lines_next(lines, err));
                if (lines->count == 0)
                        break;
                const size_t i = first_text(lines);
                if (!begun && i < lines->count) {
                        RAN_TRY(begin_file(run, lines, i, err));
                        begun = true;
                }
                if (lines->count == 0)
                        continue; /* only a header has arrived */
                if (begun && !chosen && first_text(lines) < lines->count) {
                        RAN_TRY(choose_members(run, lines, first_text(lines), err));
                        RAN_TRY(run_add_header(run, lines, err));
                        chosen = true;
                }
                fill_slots(run);
                split_units(run, lines);
                keep_shard(run);
                ran_parallel(run->loop->pool, run->units - run->first, work_task, run);
        }
        if (!begun || chosen)
                return RAN_OK;
        RAN_TRY(choose_members(run, lines, lines->count, err));
        return run_add_header(run, lines, err);
}

void run_lines(struct cmd_run *run, struct lines *lines)
{
        struct ran_error err;

        run->lines = lines;
        lines_limit(lines, run->loop->input->max_record_bytes);
        int rc = run_groups(run, lines, &err);
        run->counts.blank += lines->at.blank;
        import_end(&run->import);
        lines_close(lines);
        if (rc != RAN_OK)
                run_end(run, rc, err.text);
}
