/* parallel.c - two plain files as records.
 *
 * The source is read as a file of lines is, and each of its lines comes with that of the target.
 */
#include "cmd/records/loop.h"

#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/options/outputs.h"

#define OPTION(member) offsetof(struct cmd_parallel, member)

const struct ran_field cmd_parallel_fields[] = {
        {"source_file", 0, RAN_FIELD_TEXT, OPTION(source_file), .value = "FILE", .local = true,
         .help = "read the sources from the lines of a plain file, instead of records"},
        {"target_file", 0, RAN_FIELD_TEXT, OPTION(target_file), .value = "FILE", .local = true,
         .help = "their targets, from the same lines of another file"},
        {0},
};

/* ---- records -------------------------------------------------------------------------------- */

/* Bytes that are not UTF-8 stay as they are, for --rejects. */
static void add_string(struct ran_buf *out, const char *name, const char *s, size_t n)
{
        json_name(out, name);
        ran_buf_char(out, '"');
        for (const char *end = s + n; s < end; s++) {
                const size_t valid = ran_utf8_valid(s, (size_t)(end - s));
                ran_buf_json_part(out, s, valid);
                s += valid;
                if (s < end)
                        ran_buf_char(out, *s);
        }
        ran_buf_char(out, '"');
}

/* Appends the record of a line and its counterpart. Of bad bytes in both the source's come first.
 */
static int import(const struct import *i, const struct text_line *source, struct ran_buf *out,
                  size_t *line, struct ran_error *err)
{
        const struct text_line target = {.s = source->beside, .n = source->beside_n};
        const size_t valid = ran_utf8_valid(source->s, source->n);

        (void)i;
        json_begin(out, '{');
        add_string(out, "source", source->s, source->n);
        if (target.s != NULL)
                add_string(out, "target", target.s, target.n);
        json_end(out, '}');
        if (valid < source->n)
                return import_refuse_bytes(source, valid, line, err);
        const size_t also = ran_utf8_valid(target.s, target.n);
        return also < target.n ? import_refuse_bytes(&target, also, line, err) : RAN_OK;
}

/* The files, while they take the place of records. */
static const char *source_name, *target_name;
static struct ran_bytes source_bytes, target_bytes;
static bool all_lines;

static const char *blames(const struct text_line *source)
{
        const bool good = ran_utf8_valid(source->s, source->n) == source->n;

        return good && ran_utf8_valid(source->beside, source->beside_n) < source->beside_n
                       ? target_name
                       : source_name;
}

const struct import_format parallel_format = {
        .unit = LINES_EACH, .any_bytes = true, .import = import, .blames = blames};

bool parallel_open(struct lines *l, const char *file)
{
        if (file != source_name)
                return false;
        lines_open_bytes(l, file, &source_bytes);
        l->beside = (struct lines_beside){.s = target_name != NULL ? (const char *)target_bytes.data
                                                                   : NULL,
                                          .n = target_bytes.size,
                                          .there = true,
                                          .all = all_lines};
        return true;
}

/* ---- the options ---------------------------------------------------------------------------- */

static size_t open_lines(struct ran_bytes *bytes, const char *name)
{
        struct ran_error err;

        if (name == NULL)
                return 0;
        if (ran_bytes_open(bytes, name, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        const char *s = (const char *)bytes->data;
        const struct kind *kind = kind_of(s, bytes->size);
        if (kind != NULL)
                cmd_die(CMD_FAILED, "%s is %s: %s", name, kind->is, kind->advice);
        return units_count_feeds(s, bytes->size) + (bytes->size > 0 && s[bytes->size - 1] != '\n');
}

char **cmd_parallel_begin(const struct cmd_parallel *p, bool needs_target, bool all,
                          char **operands)
{
        static char *files[2];

        if (p->source_file == NULL && p->target_file == NULL)
                return operands;
        if (p->source_file == NULL)
                cmd_usage("--target-file needs --source-file FILE");
        if (needs_target && p->target_file == NULL)
                cmd_usage("--source-file needs --target-file FILE");
        if (operands[0] != NULL)
                cmd_usage("--source-file takes the place of records: leave out %s", operands[0]);
        size_t n = open_lines(&source_bytes, p->source_file),
               m = open_lines(&target_bytes, p->target_file);
        if (p->target_file != NULL && n != m)
                cmd_die(CMD_FAILED,
                        "%s has %zu lines and %s has %zu: each line needs its counterpart",
                        p->source_file, n, p->target_file, m);
        source_name = files[0] = p->source_file;
        target_name = p->target_file;
        all_lines = all;
        return files;
}

void cmd_parallel_check_output(const struct cmd_parallel *p, const char *option, const char *path)
{
        char *files[] = {p->source_file, p->target_file, NULL};

        if (p->source_file != NULL)
                cmd_check_inputs(option, path, files);
}
