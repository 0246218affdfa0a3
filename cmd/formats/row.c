/* row.c - results as rows of a table. The formats csv and tsv. */
#include "cmd/formats/row.h"

#include <math.h>
#include <string.h>

#include "cmd/formats/record.h"
#include "cmd/formats/json.h"

struct cmd_table cmd_table;

const struct ran_field cmd_table_fields[] = {
        {"escape_formulas", 0, RAN_FIELD_BOOL, offsetof(struct cmd_table, escape_formulas),
         .initial = "true",
         .help = "csv, tsv: put ' before a cell that a spreadsheet would take for a formula: one "
                 "that "
                 "begins with = + - @ or a tab, and is no number",
         .needs = "output_format=csv,tsv eval_format=csv,tsv",
         .why = "is for a table: --output-format csv or tsv, or --eval-format"},
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

/* ---- csv and tsv ---------------------------------------------------------------------------- */

static void separate(struct cmd_row *row, char delimiter)
{
        if (row->begun)
                ran_buf_char(row->out, delimiter);
        row->begun = true;
}

static void comma_cell(struct cmd_row *row)
{
        separate(row, ',');
}

static void tab_cell(struct cmd_row *row)
{
        separate(row, '\t');
}

static bool needs_quotes(char delimiter, const char *s, size_t n)
{
        return n > 0 && (memchr(s, delimiter, n) != NULL || memchr(s, '"', n) != NULL ||
                         memchr(s, '\n', n) != NULL || memchr(s, '\r', n) != NULL);
}

/* Cells that need quotes get them, and those that a spreadsheet would compute an apostrophe. */
static void add_text(struct ran_buf *out, char delimiter, const char *s, size_t n)
{
        const char *quote;
        const char *apostrophe = cmd_table.escape_formulas && is_formula(s, n) ? "'" : "";

        if (!needs_quotes(delimiter, s, n)) {
                ran_buf_str(out, apostrophe);
                ran_buf_add(out, s, n);
                return;
        }
        ran_buf_char(out, '"');
        ran_buf_str(out, apostrophe);
        while ((quote = memchr(s, '"', n)) != NULL) {
                size_t length = (size_t)(quote - s) + 1;
                ran_buf_add(out, s, length);
                ran_buf_char(out, '"');
                s += length;
                n -= length;
        }
        ran_buf_add(out, s, n);
        ran_buf_char(out, '"');
}

static void comma_text(struct cmd_row *row, const char *s, size_t n)
{
        add_text(row->out, ',', s, n);
}

static void tab_text(struct cmd_row *row, const char *s, size_t n)
{
        add_text(row->out, '\t', s, n);
}

static void end_line(struct cmd_row *row)
{
        ran_buf_char(row->out, '\n');
}

const struct output_format output_csv = {
        .kind = OUTPUT_ROWS, .cell = comma_cell, .text = comma_text, .row_end = end_line};
const struct output_format output_tsv = {
        .kind = OUTPUT_ROWS, .cell = tab_cell, .text = tab_text, .row_end = end_line};

/* ---- cells ---------------------------------------------------------------------------------- */

void cmd_row_string(struct cmd_row *row, const char *s, size_t n)
{
        row->format->cell(row);
        row->format->text(row, s, n);
}

void cmd_row_text(struct cmd_row *row, const char *s)
{
        cmd_row_string(row, s, strlen(s));
}

void cmd_row_size(struct cmd_row *row, size_t x)
{
        row->format->cell(row);
        ran_buf_size(row->out, x);
}

void cmd_row_float(struct cmd_row *row, float x)
{
        row->format->cell(row);
        ran_buf_float(row->out, x);
}

void cmd_row_double(struct cmd_row *row, double x)
{
        row->format->cell(row);
        if (!isnan(x))
                ran_buf_double(row->out, x);
}

void cmd_row_end(struct cmd_row *row)
{
        row->format->row_end(row);
        row->begun = false;
}

int cmd_row_id(struct cmd_row *row, const struct cmd_line *line, struct ran_error *err)
{
        const struct ran_member *id = json_member(&line->record.json, "id");
        struct ran_buf text = {0};
        int rc = RAN_OK;

        if (id == NULL)
                ran_buf_printf(&text, "%s:%zu", line->file, line->number);
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
        for (; *names != NULL; names++)
                cmd_row_text(row, *names);
}
