/* read.c - reads a line as a record, or finds its error. */
#include <string.h>

#include "cmd/formats/foreign.h"
#include "cmd/records/run.h"

/* Adds advice to the message about a bad line; advice about the whole file for its first line
 * only. */
static int refuse_record(const struct cmd_run *run, const struct slot *slot, const char *json,
                         struct ran_error *err)
{
        const struct cmd_line *line = &slot->line;
        const struct lines_count *before = &slot->text->before;
        char first = json[line->record.object.begin];

        if (run->unlike_any && first != '{' && before->number == before->blank)
                return ran_fail(err, RAN_EFORMAT,
                                "%s (use --%s-format text if each line is a document, conll if "
                                "each line is a word, file if the whole file is a document)",
                                err->text, run->import.option);
        return RAN_EFORMAT;
}

/* Scans the raw line, or what it is imported as, into slot->line.record. */
static int read_record(const struct cmd_run *run, struct slot *slot, struct ran_error *err)
{
        struct cmd_line *line = &slot->line;
        const char *json = line->raw;
        size_t n = line->raw_length, blame;

        line->record.count = 0; /* from the previous line in this slot */
        slot->imported.len = 0;
        int rc = import_text_line(&run->import, slot->text, &slot->imported, &blame, err);
        line->number += rc == RAN_EFORMAT ? blame : 0;
        if (rc == RAN_EFORMAT && run->import.format->blames != NULL)
                line->file = run->import.format->blames(slot->text);
        if (rc == RAN_EFORMAT && slot->imported.len > 0)
                ran_record_scan(&line->record, slot->imported.data, slot->imported.len, NULL);
        if (rc != RAN_OK)
                return rc;
        if (slot->imported.len > 0) {
                json = slot->imported.data;
                n = slot->imported.len;
        }
        rc = ran_record_scan(&line->record, json, n, err);
        return rc == RAN_EFORMAT ? refuse_record(run, slot, json, err) : rc;
}

/* Refuses two members of the same name that the program reads. */
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

        if (run->loop->accepted)
                RAN_TRY(check_member(record, FOREIGN_ANSWER, err));
        for (; name != NULL && *name != NULL; name++)
                RAN_TRY(check_member(record, *name, err));
        return RAN_OK;
}

enum record_status run_status_of(int code)
{
        if (code == RAN_OK)
                return RECORD_GOOD;
        return code == RAN_EFORMAT || code == RAN_EINVAL ? RECORD_BAD : RECORD_FATAL;
}

void run_read(struct cmd_run *run, struct slot *slot)
{
        slot->result.out.len = 0;
        slot->read = true;
        slot->line.renamed = run->members.any;
        int rc = read_record(run, slot, &slot->err);
        slot->scanned = rc == RAN_OK;
        if (rc == RAN_OK) {
                slot->named = named_in(&run->named, &slot->line.record);
                const struct ran_member *error =
                        ran_record_find(&slot->line.record, "ran_error", NULL);
                if (error != NULL && error->type == 'o') {
                        slot->status = RECORD_PASSED;
                        return;
                }
                rc = members_rename(&run->members, &slot->line.record, &slot->imported, &slot->err);
        }
        if (rc == RAN_OK)
                rc = check_members(run, &slot->line.record, &slot->err);
        slot->status = run_status_of(rc);
        if (rc == RAN_OK && run->loop->accepted && !foreign_accepted(&slot->line.record))
                slot->status = RECORD_LEFT;
}
