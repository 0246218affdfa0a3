/* members.c - which members, or columns of a table, are the text, the label and the id.
 *
 * Readers look for members by the names of ran. Here the scanned members of a record get these
 * names; the bytes of the record, which the output repeats, keep theirs.
 */
#include "cmd/records/run.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/options/message.h"

/* No member of a record has this name: it is not UTF-8. */
static const char hidden[] = "\xff";

static const struct {
        const char *what, *option;
} roles[] = {[ROLE_TEXT] = {"text", "text-member"},
             [ROLE_LABEL] = {"label", "label-member"},
             [ROLE_ID] = {"id", "id-member"}};

const char *members_option(enum role role)
{
        return roles[role].option;
}

void members_release(struct members *m)
{
        for (size_t i = 0; i < m->n; i++)
                free(m->name[i].s);
        free(m->name);
        *m = (struct members){0};
}

static void add(struct members *m, enum role role, const char *s, size_t n, bool asked)
{
        RAN_ROOM(m->name, m->cap, m->n + 1);
        m->name[m->n++] = (struct members_name){role, ran_copy(s, n), n, asked};
        m->texts += role == ROLE_TEXT;
}

static bool has(const struct members *m, enum role role)
{
        for (size_t i = 0; i < m->n; i++)
                if (m->name[i].role == role)
                        return true;
        return false;
}

static bool is_called(const struct ran_record *r, const struct ran_member *member,
                      const struct members_name *name)
{
        const size_t n = member->name.end - member->name.begin;

        return n > 0 && n == name->n && memcmp(r->names.data + member->name.begin, name->s, n) == 0;
}

/* The first of the names that a member has; m->n: none. */
static size_t which(const struct members *m, const struct ran_record *r,
                    const struct ran_member *member)
{
        size_t i = 0;

        while (i < m->n && !is_called(r, member, &m->name[i]))
                i++;
        return i;
}

/* ---- by options ----------------------------------------------------------------------------- */

/* "title,body" is a name if a member is called so, else two. */
static void ask_text(struct members *m, const char *names, const struct ran_record *first,
                     bool asked)
{
        const bool one = ran_record_find(first, names, NULL) != NULL;

        for (const char *comma; !one && (comma = strchr(names, ',')) != NULL; names = comma + 1)
                add(m, ROLE_TEXT, names, (size_t)(comma - names), asked);
        add(m, ROLE_TEXT, names, strlen(names), asked);
}

/* ---- by usual names ------------------------------------------------------------------------- */

/* Whether the value of a member with one of our names can be meant. Cells are strings; an empty one
 * may be anything. */
static bool fits(const struct members *m, const struct record *r, const struct ran_member *member)
{
        const uint32_t lists = FIELD(ENCODING) | FIELD(IDS) | FIELD(TOKENS);
        const size_t begin = member->value.begin + 1, end = member->value.end - 1;

        if (member->type == '0' || (m->table && begin == end))
                return true;
        if (m->table)
                return !record_is_named(&r->json, member, lists, NAME_LIST) ||
                       literal_begins(r->json.line + begin, end - begin);
        return record_fits(r, member, r->json.names.data + member->name.begin,
                           member->name.end - member->name.begin);
}

/* Whether a member that the program reads is there. */
static bool has_any(const struct members *m, const struct cmd_loop *loop, const struct record *r,
                    unsigned uses)
{
        bool any = false;

        for (size_t i = 0; !any && i < r->json.count; i++) {
                const struct ran_member *member = &r->json.members[i];
                any = record_is_named(&r->json, member, loop->reads, uses) && fits(m, r, member);
        }
        return any;
}

/* Several choices are an object in JSON_MIN of Label Studio. */
static bool has_choices(const struct ran_record *r, const struct ran_member *m)
{
        struct ran_span choices;

        return ran_json_find(r->line, m->value, "choices", 'a', &choices, NULL);
}

/* The member with the most usual name for a role. */
static const struct ran_member *most_usual(const struct record *r, enum role wanted)
{
        const struct ran_record *record = &r->json;
        const struct ran_member *best = NULL;
        size_t rank, last, lowest = SIZE_MAX;

        role_of(ROLE_LAST_TEXT, strlen(ROLE_LAST_TEXT), &last);
        for (size_t i = 0; i < record->count; i++) {
                const struct ran_member *member = &record->members[i];
                const char *name = record->names.data + member->name.begin;
                const size_t n = member->name.end - member->name.begin;
                bool may = member->type == 's' ||
                           (wanted == ROLE_LABEL &&
                            (strchr("ntf", member->type) != NULL || has_choices(record, member)));
                if (may && n > 0 && role_of(name, n, &rank) == wanted && rank < lowest &&
                    (rank != last ||
                     record_fits(r, member, ROLE_LAST_TEXT, strlen(ROLE_LAST_TEXT)))) {
                        lowest = rank;
                        best = member;
                }
        }
        return best;
}

/* Whether a record has a member of these names: one name, or several with commas. */
static bool has_named(const struct ran_record *r, const char *names)
{
        bool has = ran_record_find(r, names, NULL) != NULL;

        for (size_t i = 0; !has && i < r->count; i++) {
                const struct ran_span name = r->members[i].name;
                has = name.end > name.begin &&
                      import_lists(names, r->names.data + name.begin, name.end - name.begin);
        }
        return has;
}

/* The names for a role that options give, or a model; all: also those that the first record lacks.
 */
static void choose_named(struct members *m, const struct import_columns *c,
                         const struct ran_record *first, enum role role, bool asked, bool all)
{
        const char *one = role == ROLE_LABEL ? c->label_member : c->id_member;

        for (size_t i = 0; role == ROLE_TEXT && i < c->text_member.n; i++)
                if (all || has_named(first, c->text_member.item[i]))
                        ask_text(m, c->text_member.item[i], first, asked);
        if (role != ROLE_TEXT && one != NULL && (all || has_named(first, one)))
                add(m, role, one, strlen(one), asked);
}

/* Chooses a member for a role by options, else by what the model remembers, else by usual names. */
static void choose(struct members *m, const struct cmd_loop *loop, const struct import_columns *c,
                   const struct record *first, enum role role)
{
        const bool all = loop->input->side == NULL || loop->input->side_alike;
        const struct ran_member *usual = NULL;

        choose_named(m, c, &first->json, role, true, all);
        if (!has(m, role) && c->remembered != NULL && (role != ROLE_LABEL || loop->accepted))
                choose_named(m, c->remembered, &first->json, role, false, false);
        if (has(m, role))
                return;
        if (role == ROLE_TEXT
                    ? (loop->reads & FIELD(TEXT)) != 0 && !has_any(m, loop, first, NAME_DOCUMENT)
            : role == ROLE_LABEL ? loop->accepted && (loop->reads & FIELD(CATS)) != 0 &&
                                           !has_any(m, loop, first, NAME_LABELLED)
                                 : m->table && ran_record_find(&first->json, "id", NULL) == NULL)
                usual = most_usual(first, role);
        if (usual != NULL)
                add(m, role, first->json.names.data + usual->name.begin,
                    usual->name.end - usual->name.begin, false);
}

/* ---- tables --------------------------------------------------------------------------------- */

/* The columns that options name are there, one is the text and, where it is needed, one the label.
 */
static int check_table(const struct members *m, const struct cmd_loop *loop,
                       const struct import *import, const struct record *first,
                       struct ran_error *err)
{
        const char *columns = csv_columns(import), *lacks = NULL;
        size_t k;

        for (size_t i = 0; i < m->n; i++) {
                const struct members_name *name = &m->name[i];
                for (k = 0; k < first->json.count; k++)
                        if (is_called(&first->json, &first->json.members[k], name))
                                break;
                if (k == first->json.count && name->n > 0 && name->asked)
                        return ran_fail(err, RAN_EFORMAT,
                                        "no column \"%.*s\": the columns are %.200s (--%s)",
                                        (int)(name->n < 100 ? name->n : 100), name->s, columns,
                                        members_option(name->role));
        }
        if (m->texts == 0 && (loop->reads & FIELD(TEXT)) != 0 &&
            !has_any(m, loop, first, NAME_DOCUMENT))
                lacks = "text";
        /* The rest is for a program that learns from labels or compares with them. */
        else if (!has(m, ROLE_LABEL) && loop->accepted && !loop->may_lack_label &&
                 (loop->reads & FIELD(CATS)) != 0 && !import->folder_label &&
                 !has_any(m, loop, first, NAME_LABELLED))
                lacks = "label";
        if (lacks == NULL)
                return RAN_OK;
        return ran_fail(
                err, RAN_EFORMAT, "which column is the %s? give --%s-member NAME, one of %.200s%s",
                lacks, lacks, columns,
                import->header ? "; if the first row is no header, --header=no"
                               : "; or name the columns, for example --columns id,label,text");
}

/* ---- messages ------------------------------------------------------------------------------- */

/* Members that have our names, but values that are something else to whoever wrote them. */
static void say_others(struct ran_buf *out, const struct members *m, const struct cmd_loop *loop,
                       const struct record *first)
{
        static const struct {
                uint32_t field;
                const char *name;
        } names[] = {{FIELD(ENCODING), "encoding"},
                     {FIELD(IDS), "ids"},
                     {FIELD(TOKENS), "tokens"},
                     {FIELD(GROUP), "doc"}};
        const size_t begin = out->len;

        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                const char *name = names[i].name;
                const struct ran_member *found = ran_record_find(&first->json, name, NULL);
                if (found != NULL && !m->asked && (loop->reads & names[i].field) != 0 &&
                    !fits(m, first, found) && (m->texts > 0 || first->is[FIELD_TEXT] != NULL))
                        ran_buf_printf(out, "%s \"%s\"",
                                       out->len > begin ? ","
                                       : begin > 0      ? ";"
                                                        : "",
                                       name);
        }
        if (out->len > begin)
                ran_buf_str(out, " is not what ran calls so, and is not read");
}

/* Says which member the result replaces, unless it is the result of an earlier run. */
static void say_replaced(struct ran_buf *out, const struct cmd_loop *loop,
                         const struct record *first)
{
        const bool named = loop->output != NULL && loop->output->into != NULL;
        const char *into = named ? loop->output->into : loop->into;
        const struct ran_member *found = NULL;

        if (loop->output != NULL && output_format_of(loop->output)->record != NULL && into != NULL)
                found = ran_record_find(&first->json, into, NULL);
        if (found != NULL && found->type != 'o' && found->type != '0')
                ran_buf_printf(out, "%s the result replaces \"%s\" (--into gives it another name)",
                               out->len > 0 ? ";" : "", into);
}

/* Says what was chosen without being asked for, and what is not read, once for files alike. */
static void say(const struct members *m, const struct cmd_loop *loop, const struct import *import,
                const struct record *first, const char *file, struct ran_buf *said)
{
        struct ran_buf out = {0};

        for (size_t i = 0; i < m->n; i++) {
                const char *what = roles[m->name[i].role].what, *name = m->name[i].s;

                if (!m->name[i].asked && strcmp(name, what) != 0)
                        ran_buf_printf(&out, "%s the %s is \"%s\"", out.len > 0 ? "," : "", what,
                                       name);
        }
        if (out.len > 0)
                ran_buf_str(&out, " (--text-member, --label-member and --id-member name others)");
        if (out.len == 0 && import->assumed != NULL)
                ran_buf_printf(&out, " no header: %s (--columns names them otherwise)",
                               import->assumed);
        if (import->table.spaces)
                ran_buf_printf(&out, "%s the spaces behind delimiters are left out",
                               out.len > 0 ? ";" : "");
        say_others(&out, m, loop, first);
        say_replaced(&out, loop, first);
        ran_buf_char(&out, '\0');
        if (out.len > 1 && (said->len != out.len || memcmp(said->data, out.data, out.len) != 0)) {
                cmd_note("%s:%s", strcmp(file, "-") == 0 ? "standard input" : file, out.data);
                said->len = 0;
                ran_buf_add(said, out.data, out.len);
        }
        ran_buf_release(&out);
}

int members_choose(struct members *m, const struct cmd_loop *loop, const struct import *import,
                   const struct record *first, const char *file, struct ran_buf *said,
                   struct ran_error *err)
{
        if (loop->reads == 0)
                return RAN_OK;
        m->table = import->format->unit == LINES_ROW;
        m->separated = import->columns->label_separator != NULL;
        m->tags = (loop->reads & FIELD(TAGS)) != 0;
        for (enum role role = ROLE_TEXT; role <= ROLE_ID; role++)
                choose(m, loop, import->columns, first, role);
        for (size_t i = 0; i < m->n; i++) {
                m->asked |= m->name[i].asked && m->name[i].role == ROLE_TEXT;
                m->label_asked |= m->name[i].asked && m->name[i].role == ROLE_LABEL;
        }
        if (m->table)
                RAN_TRY(check_table(m, loop, import, first, err));
        say(m, loop, import, first, file, said);
        if (m->table && !has(m, ROLE_LABEL)) { /* numbers, and cells without a label */
                const bool many = ran_record_find(&first->json, "label", NULL) == NULL;
                add(m, ROLE_LABEL, "labels", many ? 6 : 5, false);
        }
        if (m->table && !has(m, ROLE_ID))
                add(m, ROLE_ID, "id", 2, false);
        return RAN_OK;
}

/* ---- records -------------------------------------------------------------------------------- */

static void rename_member(struct ran_record *r, struct ran_member *member, const char *name)
{
        member->name.begin = r->names.len;
        ran_buf_str(&r->names, name);
        member->name.end = r->names.len;
}

/* Returns the name under which readers look for a label of this type. */
static const char *label_name(const struct members *m, const struct ran_record *r,
                              const struct ran_member *member)
{
        struct ran_items items = ran_items(r->line, member->value);
        const char first = member->type == 'a' && ran_items_next(&items) ? items.type : 0;

        if (member->type == 'o')
                return has_choices(r, member) ? "label" : "cats";
        if (first == 'o' || first == 'a')
                return "spans";
        if (member->type != 'a')
                return "label";
        return m->tags ? "tags" : "labels";
}

/* Cells are strings: one without anything says nothing, and one of digits, or -1, is a number,
 * which may have a name. */
static void read_cell(struct ran_record *r, struct ran_member *cell, bool number)
{
        const char *s = r->line + cell->value.begin + 1;
        size_t n = cell->value.end - cell->value.begin - 2, x;

        if (cell->type == 's' && n == 0) {
                rename_member(r, cell, hidden);
        } else if (number && cell->type == 's' &&
                   ((ran_parse_size(s, n, &x) && (n == 1 || *s != '0')) ||
                    (n == 2 && memcmp(s, "-1", 2) == 0))) {
                cell->type = 'n';
                cell->value = (struct ran_span){cell->value.begin + 1, cell->value.end - 1};
        }
}

/* A cell that is a list or an object becomes one: a reader would take ["a", "b"] for a label. Its
 * JSON is appended to `line`, whose beginning is the record. */
static int read_list(struct ran_record *r, struct ran_member *cell, struct ran_buf *line,
                     struct ran_error *err)
{
        const size_t begin = cell->value.begin, end = cell->value.end, from = line->len;
        struct ran_buf text = {0};

        if (cell->type != 's' || !literal_begins(r->line + begin + 1, end - begin - 2))
                return RAN_OK;
        const int rc = ran_json_decode(r->line, cell->value, &text, err);
        const bool is = rc == RAN_OK && literal_json(text.data, text.len, line);
        ran_buf_release(&text);
        if (!is)
                return rc;
        r->line = line->data; /* it may have moved */
        cell->value = (struct ran_span){from, line->len};
        cell->type = line->data[from] == '[' ? 'a' : 'o';
        return RAN_OK;
}

/* The texts behind the record, as the value of the first of them. */
static int join_texts(const struct members *m, struct ran_record *r, struct ran_buf *line,
                      struct ran_error *err)
{
        struct ran_member *leader = NULL;
        struct ran_buf text = {0};
        int rc = RAN_OK;

        for (size_t k = 0; k < m->texts * r->count && rc == RAN_OK; k++) {
                struct ran_member *member = &r->members[k % r->count];
                const bool quoted = member->type == 's';
                if (!is_called(r, member, &m->name[k / r->count]) || member->type == '0')
                        continue;
                if (!quoted && member->type != 'n')
                        rc = ran_fail(err, RAN_EFORMAT,
                                      "a member of --text-member is neither a text nor a number");
                ran_buf_str(&text, text.len > 0 ? "\\n" : "");
                ran_buf_add(&text, r->line + member->value.begin + quoted,
                            member->value.end - member->value.begin - 2 * quoted);
                if (leader == NULL)
                        leader = member;
                else /* it might be called as the leader will be */
                        rename_member(r, member, hidden);
        }
        if (leader != NULL) {
                if (line->len == 0)
                        ran_buf_add(line, r->line, r->length);
                leader->value = (struct ran_span){line->len, line->len + text.len + 2};
                leader->type = 's';
                rename_member(r, leader, "text");
                ran_buf_char(line, '"');
                ran_buf_add(line, text.data, text.len);
                ran_buf_char(line, '"');
                r->line = line->data;
        }
        ran_buf_release(&text);
        return rc;
}

/* Whether a cell may be a list: of labels, of tags, or of the words that a tagger reads. */
static bool may_be_list(const struct members *m, const struct ran_record *r,
                        const struct ran_member *member)
{
        const size_t i = which(m, r, member);

        if (i < m->texts)
                return m->tags;
        return (i < m->n && m->name[i].role == ROLE_LABEL) ||
               record_is_named(r, member, UINT32_MAX, NAME_LIST);
}

/* One member to the name that readers look for; others of such names are hidden. */
static void rename_one(const struct members *m, struct ran_record *r, struct ran_member *member,
                       const bool there[])
{
        const uint32_t of_text = m->asked ? UINT32_MAX : ~FIELD(ENCODING);
        const size_t i = which(m, r, member);
        const bool empty = member->value.end - member->value.begin == 2;
        const unsigned uses =
                (there[ROLE_LABEL] ? NAME_OF_LABEL : 0u) | (there[ROLE_ID] ? NAME_OF_ID : 0u);
        const bool ours = (there[ROLE_TEXT] && record_is_named(r, member, of_text, NAME_OF_TEXT)) ||
                          record_is_named(r, member, UINT32_MAX, uses);

        /* A chosen one that is not there is null. */
        if (i < m->n ? !there[m->name[i].role] : ours) {
                rename_member(r, member, hidden);
        } else if (i < m->texts) {
                if (m->texts == 1)
                        rename_member(r, member, member->type == 'a' ? "tokens" : "text");
        } else if (i < m->n) {
                const bool is_label = m->name[i].role == ROLE_LABEL;
                rename_member(r, member, is_label ? label_name(m, r, member) : "id");
                if (m->table && !(is_label && m->separated && empty))
                        read_cell(r, member, is_label);
        }
}

int members_rename(const struct members *m, struct ran_record *r, struct ran_buf *line,
                   struct ran_error *err)
{
        bool there[ROLE_OTHER + 1] = {0}; /* the record has what was chosen */

        if (m->n == 0)
                return RAN_OK;
        for (const struct members_name *name = m->name; name < m->name + m->n; name++)
                for (size_t i = 0; i < r->count; i++)
                        there[name->role] |=
                                r->members[i].type != '0' && is_called(r, &r->members[i], name);
        if (m->asked && !there[ROLE_TEXT])
                return ran_fail(err, RAN_EFORMAT,
                                "the record has no \"%.*s\", which --text-member names",
                                (int)(m->name[0].n < 100 ? m->name[0].n : 100), m->name[0].s);
        for (size_t i = 0; m->table && i < r->count; i++)
                if (may_be_list(m, r, &r->members[i]))
                        RAN_TRY(read_list(r, &r->members[i], line, err));
        there[ROLE_LABEL] |= m->label_asked;
        for (size_t i = 0; i < r->count; i++)
                rename_one(m, r, &r->members[i], there);
        if (m->texts > 1 && there[ROLE_TEXT])
                RAN_TRY(join_texts(m, r, line, err));
        return RAN_OK;
}

void members_write(const struct ran_record *r, struct ran_buf *out)
{
        json_begin(out, '{');
        for (size_t i = 0; i < r->count; i++) {
                const struct ran_member *m = &r->members[i];
                const size_t n = m->name.end - m->name.begin;
                const char *name = n > 0 ? r->names.data + m->name.begin : "";
                if (n == 1 && *name == *hidden)
                        continue;
                json_string(out, name, n);
                ran_buf_char(out, ':');
                ran_buf_add(out, r->line + m->value.begin, m->value.end - m->value.begin);
        }
        json_end(out, '}');
}
