/* records.c - `ran-tokenize records`: what the programs read, as JSON lines with the members that
 * they read it as. */
#include "cmd/tokenize/tokenize.h"

#include "cmd/options/options.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"
#include "cmd/records/loop.h"
#include "cmd/content/labels.h"

struct conversion {
        char *output;
        struct cmd_input input;
        struct cmd_sink sink;
};

static const struct ran_field output_fields[] = {
        {"output", 'o', RAN_FIELD_TEXT, offsetof(struct conversion, output), .value = "FILE",
         .help = "write the records to FILE, not to standard output", .local = true, .first = true},
        {0},
};

/* All members, by the names under which they are read; an id if there is none. */
static int convert(void *arg, void *scratch, const struct cmd_line *line, struct cmd_result *found,
                   struct ran_error *err)
{
        struct ran_buf *result = &found->out, id = {0}, record = {0};

        (void)arg;
        (void)scratch;
        (void)err;
        members_write(&line->record.json, &record);
        if (ran_record_find(&line->record.json, "id", NULL) == NULL) {
                cmd_line_place(line, &id);
                ran_buf_str(result, "{\"id\":");
                ran_buf_json(result, id.data, id.len);
                ran_buf_str(result, record.len > 2 ? "," : "");
                ran_buf_add(result, record.data + 1, record.len - 1);
        } else {
                ran_buf_add(result, record.data, record.len);
        }
        ran_buf_char(result, '\n');
        ran_buf_release(&id);
        ran_buf_release(&record);
        return RAN_OK;
}

static int write_record(void *arg, const struct cmd_line *line, struct cmd_result *result,
                        struct ran_error *err)
{
        struct conversion *c = arg;

        (void)line;
        (void)err;
        ran_buf_add(&c->sink.buf, result->out.data, result->out.len);
        cmd_sink_flush(&c->sink);
        return RAN_OK;
}

int tokenize_records(int argc, char **argv)
{
        static struct conversion c;
        const struct cmd_group groups[] = {
                {"Output", output_fields, &c},
                {"Input", cmd_input_fields, &c.input},
                {NULL, NULL, NULL},
        };
        const struct cmd_program program = {
                .name = "ran-tokenize records",
                .usage = "[option...] [file...]",
                .summary = "Writes records of any format as JSON lines, with the names by which "
                           "the programs read their members: id, text, label and so on.",
                .groups = groups,
        };
        char **files = cmd_files(&c.input, argv + cmd_parse(&program, argc, argv));
        const struct cmd_loop loop = {.input = &c.input,
                                      .reads = FIELD(ID) | FIELD(ERROR) | FIELDS_OF_DOCUMENT |
                                               FIELDS_OF_LABELS,
                                      .pool = cmd_pool(),
                                      .work = convert,
                                      .take = write_record,
                                      .accepted = true,
                                      .arg = &c};

        cmd_check_inputs("output", c.output, files);
        cmd_sink_open(&c.sink, c.output);
        int status = cmd_records(&loop, files, NULL);
        cmd_sink_close(&c.sink);
        ran_pool_free(loop.pool);
        return cmd_finish(status);
}
