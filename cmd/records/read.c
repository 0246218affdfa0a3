/* read.c - reads a line as a record, or finds its error. */

#include "cmd/records/run.h"

#include "cmd/formats/json.h"

/* Adds advice to the message about a bad line; advice about the whole file for its first line
 * only. */
static int refuse_record(const struct cmd_run *run, const struct slot *slot, const char *json,
                         struct ran_error *err)
{
        const struct cmd_line *line = &slot->line;
        const struct lines_count *before = &slot->text->before;
        char first = json[line->record.json.object.begin];

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

        line->record.json.count = 0; /* of a line that waited for the next group */
        slot->imported.len = 0;
        int rc = import_text_line(&run->import, slot->text, &slot->imported, &blame, err);
        line->number += rc == RAN_EFORMAT ? blame : 0;
        if (rc == RAN_EFORMAT && run->import.format->blames != NULL)
                line->file = run->import.format->blames(slot->text);
        if (run->import.format == &parallel_format) { /* for --rejects */
                line->raw = slot->imported.data;
                line->raw_length = slot->imported.len;
        } else if (rc == RAN_EFORMAT && slot->imported.len > 0) {
                ran_record_scan(&line->record.json, slot->imported.data, slot->imported.len, NULL);
        }
        if (rc != RAN_OK)
                return rc;
        if (slot->imported.len > 0) {
                json = slot->imported.data;
                n = slot->imported.len;
        }
        rc = ran_record_scan(&line->record.json, json, n, err);
        return rc == RAN_EFORMAT ? refuse_record(run, slot, json, err) : rc;
}

/* Refuses two members of the same name that the program reads. */
static int check_members(const struct cmd_loop *loop, const struct record *record,
                         struct ran_error *err)
{
        const char *name = record_twice(record, loop->reads | (loop->accepted ? FIELD(ANSWER) : 0));
        const struct ran_member *m =
                name != NULL ? ran_record_find(&record->json, name, NULL) : NULL;

        for (const struct cmd_member *a = loop->also; m == NULL && a != NULL && a->name != NULL;
             a++) {
                bool twice;
                m = ran_record_find(&record->json, a->name, &twice);
                m = twice ? m : NULL;
        }
        return m == NULL ? RAN_OK : json_refuse(record->json.line, m, "is given twice", err);
}

enum record_status run_status_of(int code)
{
        if (code == RAN_OK)
                return RECORD_GOOD;
        return code == RAN_EFORMAT || code == RAN_EINVAL ? RECORD_BAD : RECORD_FATAL;
}

void run_read(struct cmd_run *run, struct slot *slot)
{
        slot->read = true;
        slot->line.renamed = run->members.n > 0;
        int rc = read_record(run, slot, &slot->err);
        slot->scanned = rc == RAN_OK;
        if (rc == RAN_OK) {
                slot->named = named_in(&run->named, &slot->line.record.json);
                const struct ran_member *error =
                        ran_record_find(&slot->line.record.json, "ran_error", NULL);
                if (error != NULL && error->type == 'o') {
                        slot->status = RECORD_PASSED;
                        return;
                }
                rc = members_rename(&run->members, &slot->line.record.json, &slot->imported,
                                    &slot->err);
                record_find(&slot->line.record);
        }
        if (rc == RAN_OK)
                rc = check_members(run->loop, &slot->line.record, &slot->err);
        slot->status = run_status_of(rc);
        /* A task without annotations is no text without names. */
        if (rc == RAN_OK && run->loop->accepted &&
            (!record_accepted(&slot->line.record) ||
             ((run->loop->reads & FIELD(TAGS)) != 0 && tuple_is_bare(&slot->line.record.json))))
                slot->status = RECORD_LEFT;
}
