/* members-say.c - which members have values that can be meant, and what is said of those of a file.
 */
#include "cmd/records/members-say.h"

#include <string.h>

#include "cmd/formats/foreign.h"
#include "cmd/formats/import.h"
#include "cmd/formats/literal.h"
#include "cmd/options/message.h"

bool members_listed(const char *const *list, const char *name)
{
        while (*list != NULL && strcmp(*list, name) != 0)
                list++;
        return *list != NULL;
}

bool members_fit(const struct members *m, const struct ran_record *record,
                 const struct ran_member *member, const char *name)
{
        static const char *const documents[] = {"encoding", "ids", "tokens", NULL};
        const size_t begin = member->value.begin + 1, end = member->value.end - 1;

        if (member->type == '0' || (m->table && begin == end))
                return true;
        if (m->table && members_listed(documents, name))
                return literal_begins(record->line + begin, end - begin);
        return m->table || foreign_fits(record, member, name);
}

static void say_one(struct ran_buf *out, const char *what, const struct members *m,
                    struct ran_span name, bool asked)
{
        if (name.end <= name.begin || asked)
                return;
        ran_buf_printf(out, "%s the %s is \"", out->len > 0 ? "," : "", what);
        ran_buf_add(out, m->names.data + name.begin, name.end - name.begin);
        ran_buf_char(out, '"');
}

/* Members that have our names, but values that are something else to whoever wrote them. */
static void say_others(struct ran_buf *out, const struct members *m, const struct cmd_loop *loop,
                       const struct ran_record *first)
{
        static const char *const names[] = {"encoding", "ids", "tokens", "doc", NULL};
        const size_t begin = out->len;

        for (const char *const *name = names; *name != NULL; name++) {
                const struct ran_member *found = ran_record_find(first, *name, NULL);
                if (found != NULL && !m->asked && members_listed(loop->reads, *name) &&
                    !members_fit(m, first, found, *name) &&
                    (m->texts > 0 || foreign_text(first) != NULL))
                        ran_buf_printf(out, "%s \"%s\"",
                                       out->len > begin ? ","
                                       : begin > 0      ? ";"
                                                        : "",
                                       *name);
        }
        if (out->len > begin)
                ran_buf_str(out, " is not what ran calls so, and is not read");
}

/* Says which member the result replaces, unless it is the result of an earlier run. */
static void say_replaced(struct ran_buf *out, const struct cmd_loop *loop,
                         const struct ran_record *first)
{
        const bool named = loop->output != NULL && loop->output->into != NULL;
        const char *into = named ? loop->output->into : loop->into;
        const struct ran_member *found = NULL;

        if (loop->output != NULL && loop->take == NULL &&
            output_format_of(loop->output)->record != NULL && into != NULL)
                found = ran_record_find(first, into, NULL);
        if (found != NULL && found->type != 'o' && found->type != '0')
                ran_buf_printf(out, "%s the result replaces \"%s\" (--into gives it another name)",
                               out->len > 0 ? ";" : "", into);
}

void members_say(const struct members *m, const struct cmd_loop *loop, const struct import *import,
                 const struct ran_record *first, const char *file, struct ran_buf *said)
{
        const struct import_columns *c = import->columns;
        struct ran_buf out = {0};

        if (m->texts > 0)
                say_one(&out, "text", m, m->text[0], m->asked);
        say_one(&out, "label", m, m->label, c->label_member != NULL);
        say_one(&out, "id", m, m->id, c->id_member != NULL);
        if (out.len > 0)
                ran_buf_str(&out, " (--text-member, --label-member and --id-member name others)");
        if (out.len == 0 && import->assumed != NULL)
                ran_buf_printf(&out, " no header: %s (--columns names them otherwise)",
                               import->assumed);
        say_others(&out, m, loop, first);
        say_replaced(&out, loop, first);
        ran_buf_char(&out, '\0');
        if (out.len > 1 && !out.failed &&
            (said->len != out.len || memcmp(said->data, out.data, out.len) != 0)) {
                cmd_note("%s:%s", strcmp(file, "-") == 0 ? "standard input" : file, out.data);
                said->len = 0;
                ran_buf_add(said, out.data, out.len);
        }
        ran_buf_release(&out);
}
