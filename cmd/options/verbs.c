/* verbs.c - programs with verbs: `ran-tokenize learn ...`. */
#include "cmd/options/verbs.h"

#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/nearest.h"

static const char *verb_at(const void *verbs, unsigned i)
{
        const struct cmd_verb *v = verbs;

        while (i > 0 && v->name != NULL) {
                v++;
                i--;
        }
        return v->name;
}

static _Noreturn void refuse_verb(const struct cmd_verb *verbs, const char *given)
{
        struct ran_buf names = {0};

        for (const struct cmd_verb *v = verbs; v->name != NULL; v++) {
                ran_buf_str(&names, v == verbs ? "" : v[1].name != NULL ? ", " : " or ");
                ran_buf_str(&names, v->name);
        }
        ran_buf_char(&names, '\0');
        const char *like = given != NULL ? cmd_nearest(given, verb_at, verbs) : NULL;
        if (like != NULL)
                cmd_warn("unknown verb '%s'; did you mean %s?", given, like);
        else if (given != NULL)
                cmd_warn("unknown verb '%s'", given);
        cmd_usage("give a verb first: %s", names.failed ? "see --help" : names.data);
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
