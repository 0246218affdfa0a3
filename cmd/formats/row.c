/* row.c - results as rows of a table. The formats csv and tsv. */
#include "cmd/formats/output.h"

#include <math.h>
#include <string.h>

#include "cmd/formats/json.h"

struct cmd_table cmd_table;

const struct ran_field cmd_table_fields[] = {
        {"escape_formulas", 0, RAN_FIELD_BOOL, offsetof(struct cmd_table, escape_formulas),
         .initial = "true",
         .help = "csv, tsv, excel: put ' before a cell that a spreadsheet would take for a "
                 "formula: one "
                 "that begins with = + - @ or a tab, and is no number"},
        {0},
};

/* A number, perhaps with another sign or commas than JSON has: "+5", "-1,5", "-10 %". */
static bool is_signed_number(const char *s, size_t n)
{
        double number;
        bool digit = false;
        size_t i = 1;

        for (; i < n && strchr("0123456789., %", s[i]) != NULL && s[i] != '\0'; i++)
                digit |= s[i] >= '0' && s[i] <= '9';
        return (i == n && digit) || (i > 1 && ran_parse_double(s + 1, n - 1, &number));
}

/* Whether spreadsheets compute what such a cell says, and may send or start something: texts come
 * from strangers. East Asian versions take wide characters for these. */
static bool is_formula(const char *s, size_t n)
{
        static const char *const wide[] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
                                           "\xef\xbc\xa0"};

        if (n > 0 && (*s == '+' || *s == '-'))
                return !is_signed_number(s, n);
        if (n > 0 && *s != '\0' && strchr("=@\t\r\n", *s) != NULL)
                return true;
        for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
                if (n >= 3 && memcmp(s, wide[i], 3) == 0)
                        return true;
        return false;
}

/* ---- cells ---------------------------------------------------------------------------------- */

const struct output_format output_csv = {.kind = OUTPUT_ROWS, .delimiter = ','};
const struct output_format output_tsv = {.kind = OUTPUT_ROWS, .delimiter = '\t'};
const struct output_format output_excel = {.kind = OUTPUT_ROWS, .delimiter = ';', .excel = true};

static void begin_cell(struct cmd_row *row)
{
        if (row->begun)
                ran_buf_char(row->out, row->format->delimiter);
        row->begun = true;
        row->cells++;
}

/* Cells that need quotes get them, and those that a spreadsheet would compute an apostrophe. */
void cmd_row_string(struct cmd_row *row, const char *s, size_t n)
{
        const char special[] = {row->format->delimiter, '"', '\n', '\r'};
        const char *quote;
        bool quotes = false;

        begin_cell(row);
        for (size_t i = 0; i < sizeof special && n > 0; i++)
                quotes |= memchr(s, special[i], n) != NULL;
        ran_buf_str(row->out, quotes ? "\"" : "");
        ran_buf_str(row->out, cmd_table.escape_formulas && is_formula(s, n) ? "'" : "");
        while (quotes && (quote = memchr(s, '"', n)) != NULL) {
                const size_t length = (size_t)(quote - s) + 1;
                ran_buf_add(row->out, s, length);
                ran_buf_char(row->out, '"');
                s += length;
                n -= length;
        }
        ran_buf_add(row->out, s, n);
        ran_buf_str(row->out, quotes ? "\"" : "");
}

void cmd_row_text(struct cmd_row *row, const char *s)
{
        const struct ran_buf *taken = row->taken;
        struct ran_buf name = {0};

        if (taken == NULL) {
                cmd_row_string(row, s, strlen(s));
                return;
        }
        ran_buf_printf(&name, "\n%s\n", s);
        for (size_t i = 2; memmem(taken->data, taken->len, name.data, name.len) != NULL; i++) {
                name.len = 0;
                ran_buf_printf(&name, "\n%s.%zu\n", s, i);
        }
        cmd_row_string(row, name.data + 1, name.len - 2);
        ran_buf_release(&name);
}

void cmd_row_size(struct cmd_row *row, size_t x)
{
        begin_cell(row);
        ran_buf_size(row->out, x);
}

/* Of a number from `at` on. */
static void decimal_comma(struct cmd_row *row, size_t at)
{
        char *point =
                row->format->excel ? memchr(row->out->data + at, '.', row->out->len - at) : NULL;

        if (point != NULL)
                *point = ',';
}

void cmd_row_mark(struct cmd_row *row)
{
        ran_buf_str(row->out, row->format->excel && row->out->len == 0 ? "\xef\xbb\xbf" : "");
}

void cmd_row_float(struct cmd_row *row, float x)
{
        begin_cell(row);
        const size_t at = row->out->len;
        ran_buf_float(row->out, x);
        decimal_comma(row, at);
}

void cmd_row_double(struct cmd_row *row, double x)
{
        begin_cell(row);
        const size_t at = row->out->len;
        if (!isnan(x))
                ran_buf_double(row->out, x);
        decimal_comma(row, at);
}

void cmd_row_end(struct cmd_row *row)
{
        ran_buf_char(row->out, '\n');
        row->begun = false;
}

void cmd_line_place(const struct cmd_line *line, struct ran_buf *out)
{
        ran_buf_printf(out, "%s:%zu", strcmp(line->file, "-") == 0 ? "stdin" : line->file,
                       line->number);
}

void cmd_line_id(const struct cmd_line *line, bool readable, struct ran_buf *out)
{
        const struct ran_record *r = &line->record.json;
        const struct ran_member *id = json_member(r, "id");
        struct ran_buf place = {0};

        if (id != NULL && !(readable && !ran_json_decodable(r->line, id->value))) {
                ran_buf_add(out, r->line + id->value.begin, id->value.end - id->value.begin);
                return;
        }
        cmd_line_place(line, &place);
        ran_buf_json(out, place.data, place.len);
        ran_buf_release(&place);
}

int cmd_row_id(struct cmd_row *row, const struct cmd_line *line, struct ran_error *err)
{
        const struct ran_member *id = json_member(&line->record.json, "id");
        struct ran_buf text = {0};
        int rc = RAN_OK;

        if (id == NULL)
                cmd_line_place(line, &text);
        else if (id->type == 's')
                rc = ran_json_decode(line->record.json.line, id->value, &text, err);
        else
                ran_buf_add(&text, line->record.json.line + id->value.begin,
                            id->value.end - id->value.begin);
        if (rc == RAN_OK)
                cmd_row_string(row, text.data, text.len);
        ran_buf_release(&text);
        return rc;
}

int cmd_row_document(struct cmd_row *row, const struct cmd_line *line, struct ran_buf *scratch,
                     struct ran_error *err)
{
        scratch->len = 0;
        RAN_TRY(record_add_text(scratch, &line->record, err));
        cmd_row_string(row, scratch->data, scratch->len);
        return RAN_OK;
}

void cmd_row_names(struct cmd_row *row, const char *const *names)
{
        cmd_row_mark(row);
        for (; *names != NULL; names++)
                cmd_row_text(row, *names);
}
