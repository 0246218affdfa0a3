/* options.c - the command line and the configuration file, both from the tables of a program.
 *
 * A command line is read in two steps. First every option is recognised and paired with its text;
 * then they are applied: the common ones, the configuration file, all others. So an option beats
 * the file wherever it stands. Defaults that depend on other fields come last.
 */
#include "cmd/options/cmd.h"
#include "cmd/options/program.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cmd_common cmd_common;

#define COMMON(member) offsetof(struct cmd_common, member)

static const struct ran_field common_fields[] = {
        {"jobs", 'j', RAN_FIELD_SIZE, COMMON(jobs), 0, 4096, .value = "N", .initial = "0",
         .help = "threads to use; 0: RAN_THREADS, else one for each processor that may be used",
         .local = true},
        {"config", 'c', RAN_FIELD_TEXT, COMMON(config), .value = "FILE",
         .help = "take settings from the JSON object in FILE: names of options, '_' for '-'; "
                 "the command line comes first",
         .local = true},
        {"print_config", 0, RAN_FIELD_BOOL, COMMON(print_config),
         .help = "write the settings in force, as --config takes them, and exit", .local = true},
        {"print_options", 0, RAN_FIELD_BOOL, COMMON(print_options),
         .help = "write a line for each option, as completion of command lines takes them, and "
                 "exit",
         .local = true},
        {"quiet", 'q', RAN_FIELD_BOOL, COMMON(quiet), .help = "say nothing but what went wrong",
         .local = true},
        {"verbose", 'v', RAN_FIELD_BOOL, COMMON(verbose), .help = "say more", .local = true},
        {"help", 'h', RAN_FIELD_BOOL, COMMON(help), .help = "print this and exit", .local = true},
        {"version", 'V', RAN_FIELD_BOOL, COMMON(version), .help = "print the version and exit",
         .local = true},
        {0},
};
static const struct cmd_group common_group = {"Common options", common_fields, &cmd_common};

const struct cmd_group *cmd_group_at(const struct cmd_program *program, size_t i)
{
        size_t n = 0;

        while (program->groups != NULL && program->groups[n].title != NULL)
                n++;
        return i < n ? &program->groups[i] : i == n ? &common_group : NULL;
}

/* ---- fields --------------------------------------------------------------------------------- */

/* One field of a program; walking them all begins with a zeroed one. */
struct option {
        size_t group, at;
        const struct ran_field *field;
        void *base;
};

static bool next_option(const struct cmd_program *program, struct option *o)
{
        const struct cmd_group *g;

        if (o->field != NULL)
                o->at++;
        while ((g = cmd_group_at(program, o->group)) != NULL && g->fields[o->at].name == NULL) {
                o->group++;
                o->at = 0;
        }
        if (g == NULL)
                return false;
        o->field = &g->fields[o->at];
        o->base = g->base;
        return true;
}

struct cmd_option_name cmd_option_name(const struct ran_field *field)
{
        struct cmd_option_name name;

        snprintf(name.text, sizeof(name.text), "%s", field->name);
        for (char *c = name.text; *c != '\0'; c++) {
                if (*c == '_')
                        *c = '-';
        }
        return name;
}

const char *cmd_option_value(const struct ran_field *field)
{
        static const char *const usual[] = {
                [RAN_FIELD_SIZE] = "N",      [RAN_FIELD_REAL] = "X",
                [RAN_FIELD_CHOICE] = "WORD", [RAN_FIELD_CHOICES] = "WORD",
                [RAN_FIELD_TEXT] = "TEXT",   [RAN_FIELD_LIST] = "TEXT",
        };

        return field->value != NULL ? field->value : usual[field->type];
}

bool cmd_option_negates(const struct ran_field *field)
{
        return field->type == RAN_FIELD_BOOL && !field->local;
}

/* The name without what may be left out of it; NULL: it is needed whole. */
static const char *without_prefix(const struct cmd_program *program, const char *name)
{
        size_t n = program->prefix != NULL ? strlen(program->prefix) : 0;

        return n > 0 && strncmp(name, program->prefix, n) == 0 ? name + n : NULL;
}

/* Whether a, without its prefix rest, and b could be the same option on the command line. */
static bool clash(const struct ran_field *a, const char *rest, const struct ran_field *b)
{
        return (a->letter != 0 && a->letter == b->letter) || strcmp(a->name, b->name) == 0 ||
               (rest != NULL && strcmp(rest, cmd_option_name(b).text) == 0) ||
               (cmd_option_negates(a) && strncmp(b->name, "no_", 3) == 0 &&
                strcmp(a->name, b->name + 3) == 0);
}

const struct ran_field *cmd_table_clash(const struct cmd_program *program)
{
        for (struct option a = {0}; next_option(program, &a);) {
                const struct cmd_option_name name = cmd_option_name(a.field);
                const char *rest = without_prefix(program, name.text);

                for (struct option b = {0}; next_option(program, &b);) {
                        if ((a.group != b.group || a.at != b.at) && clash(a.field, rest, b.field))
                                return a.field;
                }
        }
        return NULL;
}

/* ---- names that are nearly right ------------------------------------------------------------ */

enum { LONGEST_NAME = 63 };

static unsigned least(unsigned a, unsigned b, unsigned c)
{
        unsigned m = a < b ? a : b;

        return m < c ? m : c;
}

/* Letters to insert, remove, replace, or swap with their neighbour to make b of a; large when
 * either is too long for a name. */
static unsigned distance(const char *a, const char *b)
{
        unsigned char d[LONGEST_NAME + 1][LONGEST_NAME + 1]; /* of the first i and j letters */
        size_t n = strlen(a), m = strlen(b);

        if (n > LONGEST_NAME || m > LONGEST_NAME)
                return UINT_MAX;
        for (size_t i = 0; i <= n; i++) {
                for (size_t j = 0; j <= m; j++) {
                        if (i == 0 || j == 0) {
                                d[i][j] = (unsigned char)(i + j);
                                continue;
                        }
                        unsigned best = least(d[i - 1][j] + 1, d[i][j - 1] + 1,
                                              d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                best = least(best, best, d[i - 2][j - 2] + 1);
                        d[i][j] = (unsigned char)best;
                }
        }
        return d[n][m];
}

/* The field whose option is most like `name` ('-' between words), or NULL when none is. */
static const struct ran_field *nearest(const struct cmd_program *program, const char *name)
{
        const struct ran_field *best = NULL;
        unsigned limit = (unsigned)strlen(name) / 3 + 1;

        for (struct option o = {0}; next_option(program, &o);) {
                unsigned d = distance(name, cmd_option_name(o.field).text);
                if (d < limit || (d == limit && best == NULL)) {
                        best = o.field;
                        limit = d;
                }
        }
        return best;
}

/* ---- recognising options -------------------------------------------------------------------- */

struct setting {
        const struct ran_field *field;
        void *base;
        const char *text;
};

struct command_line {
        const struct cmd_program *program;
        char **argv;
        int argc, at; /* at: the argument being looked at */
        struct setting *settings;
        size_t count, cap;
};

static void add_setting(struct command_line *c, const struct option *o, const char *text)
{
        struct ran_error err;
        struct setting *grown =
                ran_grow(c->settings, &c->cap, c->count + 1, sizeof(*c->settings), &err);

        if (grown == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        c->settings = grown;
        c->settings[c->count++] = (struct setting){o->field, o->base, text};
}

/* The value of an option without one of its own: the next argument, whatever it looks like. */
static const char *value_from_next(struct command_line *c, const struct ran_field *field)
{
        if (c->at + 1 >= c->argc)
                cmd_usage("--%s needs a value: --%s %s", cmd_option_name(field).text,
                          cmd_option_name(field).text, cmd_option_value(field));
        return c->argv[++c->at];
}

/* How much of a field's option the first n letters of `given` are. */
enum match { NO_MATCH, BEGINNING, WHOLE };

static enum match match(const char *option, const char *given, size_t n)
{
        if (strncmp(option, given, n) != 0)
                return NO_MATCH;
        return option[n] == '\0' ? WHOLE : BEGINNING;
}

struct found {
        struct option option;
        bool negated;
        enum match match;
        size_t matches;
};

static void consider(struct found *f, const struct option *o, bool negated, enum match m)
{
        if (m == NO_MATCH || f->match == WHOLE)
                return;
        f->matches = m == WHOLE ? 1 : f->matches + 1;
        f->option = *o;
        f->negated = negated;
        f->match = m;
}

static struct found find_long(const struct cmd_program *program, const char *given, size_t n)
{
        struct found f = {.match = NO_MATCH};

        for (struct option o = {0}; next_option(program, &o);) {
                struct cmd_option_name name = cmd_option_name(o.field);
                const char *rest = without_prefix(program, name.text);
                consider(&f, &o, false, match(name.text, given, n));
                if (rest != NULL)
                        consider(&f, &o, false, match(rest, given, n));
                if (cmd_option_negates(o.field) && n > 3 && strncmp(given, "no-", 3) == 0)
                        consider(&f, &o, true, match(name.text, given + 3, n - 3));
        }
        return f;
}

static _Noreturn void refuse_long(const struct cmd_program *program, const struct found *f,
                                  const char *given, size_t n)
{
        struct ran_buf name = {0};

        ran_buf_printf(&name, "%.*s%c", (int)n, given, '\0');
        if (name.failed)
                cmd_usage("unknown option --%s", given);
        if (f->matches > 1)
                cmd_usage("--%s is short for more than one option", name.data);
        const struct ran_field *like = nearest(program, name.data);
        if (like == NULL)
                cmd_usage("unknown option --%s", name.data);
        cmd_usage("unknown option --%s; did you mean --%s?", name.data, cmd_option_name(like).text);
}

static void take_long(struct command_line *c)
{
        const char *given = c->argv[c->at] + 2;
        size_t n = strcspn(given, "=");
        const char *text = given[n] == '=' ? given + n + 1 : NULL;
        struct found f = find_long(c->program, given, n);

        if (f.matches != 1)
                refuse_long(c->program, &f, given, n);
        const struct ran_field *field = f.option.field;
        if (f.negated && text != NULL)
                cmd_usage("--no-%s takes no value", cmd_option_name(field).text);
        if (text == NULL && field->type == RAN_FIELD_BOOL)
                text = f.negated ? "false" : "true";
        else if (text == NULL)
                text = value_from_next(c, field);
        add_setting(c, &f.option, text);
}

static bool find_letter(const struct cmd_program *program, char letter, struct option *o)
{
        *o = (struct option){0};
        while (next_option(program, o)) {
                if (o->field->letter == letter)
                        return true;
        }
        return false;
}

/* -xv: letters until one takes a value, which is the rest or the next argument. */
static void take_letters(struct command_line *c)
{
        struct option o;

        for (const char *letter = c->argv[c->at] + 1; *letter != '\0'; letter++) {
                if (!find_letter(c->program, *letter, &o))
                        cmd_usage("unknown option -%c", *letter);
                if (o.field->type != RAN_FIELD_BOOL) {
                        add_setting(c, &o,
                                    letter[1] != '\0' ? letter + 1 : value_from_next(c, o.field));
                        return;
                }
                add_setting(c, &o, "true");
        }
}

/* Recognises all options and moves the operands to the end; returns the index of the first. */
static int recognise(struct command_line *c)
{
        int operands = 0;
        bool options = true;

        for (c->at = 1; c->at < c->argc; c->at++) {
                char *arg = c->argv[c->at];
                if (!options || arg[0] != '-' || arg[1] == '\0')
                        c->argv[1 + operands++] = arg;
                else if (strcmp(arg, "--") == 0)
                        options = false;
                else if (arg[1] == '-')
                        take_long(c);
                else
                        take_letters(c);
        }
        int first = c->argc - operands;
        memmove(c->argv + first, c->argv + 1, (size_t)operands * sizeof(*c->argv));
        return first;
}

/* ---- applying them -------------------------------------------------------------------------- */

/* Fields that somebody set, for as long as the program runs. */
static struct {
        struct set_field {
                const struct ran_field *field;
                bool asked;
        } * item;
        size_t n, cap;
} was_set;

static void note_set(const struct ran_field *field, bool asked)
{
        struct ran_error err;
        struct set_field *grown =
                ran_grow(was_set.item, &was_set.cap, was_set.n + 1, sizeof(*grown), &err);

        if (grown == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        was_set.item = grown;
        was_set.item[was_set.n++] = (struct set_field){field, asked};
}

static bool is_noted(const char *name, bool asked)
{
        for (size_t i = 0; i < was_set.n; i++) {
                if (strcmp(was_set.item[i].field->name, name) == 0 &&
                    (was_set.item[i].asked || !asked))
                        return true;
        }
        return false;
}

bool cmd_was_set(const char *name)
{
        return is_noted(name, false);
}

bool cmd_was_asked(const char *name)
{
        return is_noted(name, true);
}

static void leave_out(const char *why, const struct ran_field *field)
{
        if (cmd_was_asked(field->name))
                cmd_usage("%s: leave out --%s", why, cmd_option_name(field).text);
}

void cmd_excludes(const char *why, const char *const *names)
{
        for (; *names != NULL; names++)
                leave_out(why, &(struct ran_field){.name = *names});
}

void cmd_excludes_fields(const char *why, const struct ran_field *fields)
{
        for (; fields->name != NULL; fields++)
                leave_out(why, fields);
}

void cmd_requires(bool given, const char *what, const char *const *names)
{
        for (; !given && *names != NULL; names++)
                if (cmd_was_asked(*names))
                        cmd_usage("--%s is for %s",
                                  cmd_option_name(&(struct ran_field){.name = *names}).text, what);
}

void cmd_set_changes(const struct ran_field *fields, const void *base, const void *other)
{
        for (const struct ran_field *f = fields; f->name != NULL; f++) {
                const struct ran_field one[] = {*f, {0}};
                struct ran_buf change = {0};

                ran_fields_changes(one, base, other, &change);
                if (change.failed)
                        cmd_die(CMD_FAILED, "out of memory");
                if (change.len > 0)
                        note_set(f, false);
                ran_buf_release(&change);
        }
}

void cmd_set_all(const struct ran_field *fields)
{
        for (const struct ran_field *f = fields; f->name != NULL; f++)
                if (!f->local)
                        note_set(f, false);
}

static void apply_settings(const struct command_line *c, bool common)
{
        struct ran_error err;

        for (size_t i = 0; i < c->count; i++) {
                const struct setting *s = &c->settings[i];
                if ((s->base == &cmd_common) != common)
                        continue;
                if (ran_field_set(s->field, s->base, s->text, &err) != RAN_OK)
                        cmd_refuse(NULL, &err);
                note_set(s->field, true);
        }
}

static bool find_setting(const struct cmd_program *program, const char *name, size_t n,
                         struct option *o)
{
        for (*o = (struct option){0}; next_option(program, o);) {
                if (match(o->field->name, name, n) == WHOLE)
                        return true;
        }
        return false;
}

static bool has_default(const struct option *o)
{
        struct ran_field one[] = {*o->field, {0}};
        union {
                bool truth;
                size_t size;
                double real;
                int choice;
                struct ran_choices choices;
                char *text;
                struct ran_list list;
        } initial;
        struct ran_buf change = {0};
        struct ran_error err;

        one->offset = 0;
        one->unless = (struct ran_exception){0};
        if (ran_fields_init(one, &initial, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        ran_fields_changes(one, (const char *)o->base + o->field->offset, &initial, &change);
        bool same = change.len == 0 && !change.failed;
        ran_buf_release(&change);
        ran_fields_release(one, &initial);
        return same;
}

static _Noreturn void refuse_setting(const struct cmd_program *program, const char *name, int n)
{
        struct ran_buf option = {0};
        const struct ran_field *like = NULL;

        ran_buf_printf(&option, "%.*s%c", n, name, '\0');
        if (!option.failed)
                like = nearest(program, option.data);
        if (like == NULL)
                cmd_usage("%s: unknown setting \"%.*s\"", cmd_common.config, n, name);
        cmd_usage("%s: unknown setting \"%.*s\"; did you mean \"%s\"?", cmd_common.config, n, name,
                  like->name);
}

/* A mistyped name would otherwise be a setting that silently stays as it is. */
static void check_names(const struct cmd_program *program, const struct ran_record *config)
{
        for (size_t i = 0; i < config->count; i++) {
                struct ran_span span = config->members[i].name;
                const char *name = config->names.data + span.begin;
                int n = (int)(span.end - span.begin);
                struct option o;

                if (!find_setting(program, name, (size_t)n, &o))
                        refuse_setting(program, name, n);
                if (o.field->local)
                        cmd_usage("%s: \"%.*s\" can be given on the command line only",
                                  cmd_common.config, n, name);
                note_set(o.field, !has_default(&o));
        }
}

static void apply_config(const struct cmd_program *program)
{
        struct ran_bytes file;
        struct ran_record config = {0};
        struct ran_error err;

        if (ran_bytes_open(&file, cmd_common.config, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        const size_t mark = ran_utf8_mark((const char *)file.data, file.size);
        const char *json = (const char *)file.data + mark;
        const size_t n = file.size - mark;
        const struct cmd_group *g;
        for (size_t i = 0; (g = cmd_group_at(program, i)) != NULL; i++) {
                if (ran_fields_parse(g->fields, g->base, json, n, true, &err) != RAN_OK)
                        cmd_refuse(cmd_common.config, &err);
        }
        if (ran_record_scan(&config, json, n, &err) != RAN_OK)
                cmd_refuse(cmd_common.config, &err);
        check_names(program, &config);
        ran_record_release(&config);
        ran_bytes_release(&file);
}

static void init_fields(const struct cmd_program *program)
{
        const struct cmd_group *g;
        struct ran_error err;

        for (size_t i = 0; (g = cmd_group_at(program, i)) != NULL; i++) {
                if (ran_fields_init(g->fields, g->base, &err) != RAN_OK)
                        cmd_die(CMD_FAILED, "%s", err.text);
        }
}

/* The output "-" is standard output, as "-" among files is standard input. */
static void apply_dash(const struct cmd_program *program)
{
        for (struct option o = {0}; next_option(program, &o);) {
                char **path = (char **)(void *)((char *)o.base + o.field->offset);
                if (strcmp(o.field->name, "output") == 0 && *path != NULL &&
                    strcmp(*path, "-") == 0) {
                        free(*path);
                        *path = NULL;
                }
        }
}

/* Gives the fields that nobody set the defaults that go with those that somebody set. */
static void settle_fields(const struct cmd_program *program)
{
        struct ran_error err;

        for (struct option o = {0}; next_option(program, &o);) {
                const struct ran_field *table = cmd_group_at(program, o.group)->fields;
                if (o.field->unless.field != NULL && !cmd_was_set(o.field->name) &&
                    ran_field_init(table, o.field, o.base, &err) != RAN_OK)
                        cmd_die(CMD_FAILED, "%s", err.text);
        }
}

static void write_out(const struct cmd_program *program,
                      void (*write)(const struct cmd_program *program, struct ran_buf *out))
{
        struct ran_buf out = {0};

        write(program, &out);
        if (out.failed)
                cmd_die(CMD_FAILED, "out of memory");
        cmd_write(STDOUT_FILENO, "standard output", out.data, out.len);
        ran_buf_release(&out);
}

/* Ends the program with what --help and its like ask for. */
static void answer(const struct cmd_program *program,
                   void (*write)(const struct cmd_program *program, struct ran_buf *out))
{
        write_out(program, write);
        exit(cmd_finish(CMD_OK));
}

void cmd_write_set(const struct cmd_program *program)
{
        write_out(program, cmd_print_set);
}

/* A file that is opened while descriptor 1 is closed would become standard output, and be written
 * over. The wrong direction makes any use of the stand-in fail. */
static void keep_standard_streams(void)
{
        for (int fd = 0; fd <= 2; fd++) {
                if (fcntl(fd, F_GETFD) < 0 &&
                    open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
                        abort();
        }
}

/* A file that may grow no more is a failed write, with a sentence, and no sudden end. */
static void ignore_limit_of_files(void)
{
        signal(SIGXFSZ, SIG_IGN);
}

/* Somebody who names kernels wants those or none. */
static void check_isa(void)
{
        const char *known, *refused = ran_isa_refused(&known);

        if (refused != NULL)
                cmd_usage("RAN_ISA=%s: this processor and program know %s", refused, known);
}

/* The number of threads that nobody gave on the command line. */
static size_t default_jobs(const struct ran_field *jobs)
{
        const char *asked = getenv("RAN_THREADS");
        size_t n;

        if (asked != NULL && asked[0] != '\0' &&
            !(ran_parse_size(asked, strlen(asked), &n) && (double)n <= jobs->high))
                cmd_usage("RAN_THREADS=%s: it must be a whole number from 1 to %.0f", asked,
                          jobs->high);
        return ran_threads_default();
}

int cmd_parse(const struct cmd_program *program, int argc, char **argv)
{
        struct command_line c = {.program = program, .argv = argv, .argc = argc};
        const struct ran_field *clash = cmd_table_clash(program);

        keep_standard_streams();
        ignore_limit_of_files();
        cmd_catch_lost_pages();
        cmd_set_program(program->name);
        was_set.n = 0;
        if (clash != NULL) {
                cmd_warn("bug: two options are called --%s", cmd_option_name(clash).text);
                abort();
        }
        was_set.n = 0;
        init_fields(program);
        int first = recognise(&c);
        apply_settings(&c, true);
        if (cmd_common.help)
                answer(program, cmd_help);
        if (cmd_common.version)
                answer(program, cmd_version);
        if (cmd_common.print_options)
                answer(program, cmd_print_options);
        if (cmd_common.config != NULL)
                apply_config(program);
        apply_settings(&c, false);
        apply_dash(program);
        settle_fields(program);
        free(c.settings);
        if (cmd_common.print_config)
                answer(program, cmd_print_config);
        cmd_check_outputs(program);
        check_isa();
        if (cmd_common.jobs == 0)
                cmd_common.jobs = default_jobs(&common_fields[0]);
        return first;
}

/* ---- verbs ---------------------------------------------------------------------------------- */

static _Noreturn void refuse_verb(const struct cmd_verb *verbs, const char *given)
{
        struct ran_buf names = {0};

        for (const struct cmd_verb *v = verbs; v->name != NULL; v++) {
                ran_buf_str(&names, v == verbs ? "" : v[1].name != NULL ? ", " : " or ");
                ran_buf_str(&names, v->name);
        }
        ran_buf_char(&names, '\0');
        if (given != NULL)
                cmd_warn("unknown verb '%s'", given);
        cmd_usage("a verb comes first: %s", names.failed ? "see --help" : names.data);
}

int cmd_run_verb(const char *name, const char *summary, const struct cmd_verb *verbs, int argc,
                 char **argv)
{
        const struct cmd_program program = {
                .name = name, .usage = "VERB [option...]", .summary = summary, .verbs = verbs};

        cmd_set_program(name);
        if (argc < 2 || argv[1][0] != '-') {
                for (const struct cmd_verb *v = verbs; argc >= 2 && v->name != NULL; v++) {
                        if (strcmp(argv[1], v->name) == 0)
                                return v->main(argc - 1, argv + 1);
                }
                refuse_verb(verbs, argc < 2 ? NULL : argv[1]);
        }
        cmd_parse(&program, argc, argv);
        refuse_verb(verbs, NULL);
}
