/* repeats.c - messages about lines, of which those that say the same are counted.
 *
 * Whoever has a million bad lines wants to know what is wrong with them, not twenty times the same.
 * The first line of each kind is told at once, as others may come in hours; the rest at the end.
 */
#include "cmd/records/run.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"

/* A message is its text without the column where it was found. */
static const char *without_column(const char *text)
{
        static const char column[] = "column ";
        const char *end = text + strlen(column);

        if (strncmp(text, column, strlen(column)) != 0)
                return text;
        return end + strspn(end, "0123456789");
}

static void tell(const struct repeats_line *line, const char *text)
{
        cmd_warn("%s:%zu: %s", line->file, line->number, text);
}

void repeats_add(struct repeats *r, const char *file, size_t number, const char *text)
{
        const struct repeats_line line = {file, number};
        size_t i = 0;

        while (i < r->kinds && strcmp(without_column(r->kind[i].text), without_column(text)) != 0)
                i++;
        if (i == REPEATS_KINDS) {
                if (!r->full)
                        cmd_warn("further bad records are only counted");
                r->full = true;
                return;
        }
        struct repeats_kind *kind = &r->kind[i];
        if (i == r->kinds) {
                *kind = (struct repeats_kind){.text = ran_copy(text, strlen(text))};
                r->kinds++;
        }
        if (kind->n == 0)
                tell(&line, text);
        else if (kind->n <= 2)
                kind->held[kind->n - 1] = ran_copy(text, strlen(text));
        if (kind->n < REPEATS_LINES)
                kind->line[kind->n] = line;
        kind->n++;
}

/* "19 more lines like a.jsonl:1: a.jsonl:2, 3, b.jsonl:1" */
static void tell_lines(const struct repeats_kind *kind)
{
        struct ran_buf lines = {0};
        const char *file = NULL;

        for (size_t i = 1; i < kind->n && i < REPEATS_LINES; i++) {
                const struct repeats_line *line = &kind->line[i];
                ran_buf_str(&lines, i > 1 ? ", " : "");
                if (file == NULL || strcmp(line->file, file) != 0)
                        ran_buf_printf(&lines, "%s:", line->file);
                file = line->file;
                ran_buf_printf(&lines, "%zu", line->number);
        }
        ran_buf_str(&lines, kind->n > REPEATS_LINES ? ", ..." : "");
        ran_buf_char(&lines, '\0');
        cmd_warn("%zu more lines like %s:%zu: %s", kind->n - 1, kind->line[0].file,
                 kind->line[0].number, lines.data);
        ran_buf_release(&lines);
}

void repeats_end(struct repeats *r)
{
        for (size_t i = 0; i < r->kinds; i++) {
                struct repeats_kind *kind = &r->kind[i];
                if (kind->n > 3)
                        tell_lines(kind);
                for (size_t k = 0; k < 2; k++) {
                        if (kind->n <= 3 && kind->held[k] != NULL)
                                tell(&kind->line[k + 1], kind->held[k]);
                        free(kind->held[k]);
                }
                free(kind->text);
        }
        *r = (struct repeats){0};
}
