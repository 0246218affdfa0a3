/* The command line: the manners of getopt_long, from a table. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/table.h"
#include "test.h"

static struct settings {
        char *model;
        size_t top, topics, steps, shape;
        double threshold;
        bool logits, review, wide;
        int mode, look;
        struct ran_list drop;
} settings;

static const char *const modes[] = {"fast", "slow", NULL};
static const char *const looks[] = {"none", "all", "near", NULL};

#define SETTING(member) offsetof(struct settings, member)

static const struct ran_field fields[] = {
        {"model", 'm', RAN_FIELD_TEXT, SETTING(model), .value = "FILE", .help = "m", .local = true},
        {"top", 't', RAN_FIELD_SIZE, SETTING(top), 0, 100, .value = "K", .initial = "3",
         .help = "t"},
        {"topics_per_page", 0, RAN_FIELD_SIZE, SETTING(topics), 0, 100, .help = "u"},
        {"threshold", 0, RAN_FIELD_REAL, SETTING(threshold), 0, 1, .initial = "0.5", .help = "v"},
        {"logits", 'l', RAN_FIELD_BOOL, SETTING(logits), .initial = "false", .help = "w"},
        {"review", 0, RAN_FIELD_BOOL, SETTING(review), .initial = "true", .help = "x"},
        {"wide", 'w', RAN_FIELD_BOOL, SETTING(wide), .help = "y", .local = true},
        {"mode", 0, RAN_FIELD_CHOICE, SETTING(mode), .choices = modes, .help = "z"},
        {"look", 0, RAN_FIELD_CHOICE, SETTING(look), .choices = looks, .value = "PATTERN",
         .initial = "all", .help = "lk", .switches = true},
        {"steps", 0, RAN_FIELD_SIZE, SETTING(steps), 0, 100, .initial = "1", .help = "s",
         .unless = {"mode", "slow", "9"}, .later = true},
        {"drop", 0, RAN_FIELD_LIST, SETTING(drop), .value = "NAME", .help = "zz"},
        {"shape", 0, RAN_FIELD_SIZE, SETTING(shape), 0, 9, .initial = "2", .help = "sh",
         .fixed = true},
        {0},
};
static const struct cmd_group groups[] = {{"Settings", fields, &settings}, {0}};
static const struct cmd_program program = {
        .name = "ran-test", .usage = "[file...]", .summary = "Tests.", .groups = groups};

/* Parses the words of a line, separated by blanks; first: index of the first operand. Static. */
static char **parse(const char *line, int *first, int *argc)
{
        static char copy[512];
        static char *argv[32];

        snprintf(copy, sizeof(copy), "ran-test %s", line);
        *argc = 0;
        for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
                argv[(*argc)++] = word;
        argv[*argc] = NULL;
        ran_fields_release(fields, &settings);
        free(cmd_common.config);
        cmd_common.config = NULL;
        *first = cmd_parse(&program, *argc, argv);
        return argv;
}

/* Parses in a child of its own; returns its status, and what it wrote to both streams. Static. */
static int parse_apart(const char *line, char **text)
{
        static char said[8192];
        int ends[2], status, first, argc;
        size_t n = 0;
        ssize_t got;

        *text = said;
        if (pipe(ends) != 0)
                return -1;
        pid_t child = fork();
        if (child == 0) {
                dup2(ends[1], STDOUT_FILENO);
                dup2(ends[1], STDERR_FILENO);
                parse(line, &first, &argc);
                _exit(100);
        }
        close(ends[1]);
        while ((got = read(ends[0], said + n, sizeof(said) - 1 - n)) > 0)
                n += (size_t)got;
        close(ends[0]);
        said[n] = '\0';
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- what is understood --------------------------------------------------------------------- */

TEST(options_have_defaults)
{
        int first, argc;

        parse("", &first, &argc);
        CHECK(first == 1);
        CHECK_STR(settings.model, NULL);
        CHECK_SIZE(settings.top, 3);
        CHECK_SIZE(settings.topics, 0);
        CHECK_NEAR(settings.threshold, 0.5, 0);
        CHECK(!settings.logits && settings.review && settings.mode == 0);
        CHECK(cmd_common.jobs > 0);
}

TEST(options_take_values_in_every_way)
{
        static const char *const ways[] = {"--top=7 --model=x", "--top 7 --model x", "-t7 -mx",
                                           "-t 7 -m x",         "-lt7 -m x",         "-lt 7 -wmx"};
        int first, argc;

        for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
                parse(ways[i], &first, &argc);
                CHECK_SIZE(settings.top, 7);
                CHECK_STR(settings.model, "x");
                CHECK(first == argc);
                CHECK(settings.logits == (i >= 4));
        }
}

/* A value may look like an option, as with getopt_long. */
TEST(options_take_the_next_argument_whatever_it_is)
{
        int first, argc;

        parse("--model --top -m -", &first, &argc);
        CHECK_STR(settings.model, "-");
        CHECK(first == argc);
        parse("--model=", &first, &argc);
        CHECK_STR(settings.model, "");
}

TEST(options_and_operands_mix)
{
        int first, argc;
        char **argv = parse("a --top 9 b -l - -- --top c", &first, &argc);

        CHECK_SIZE(settings.top, 9);
        CHECK(settings.logits);
        REQUIRE(argc - first == 5);
        CHECK_STR(argv[first], "a");
        CHECK_STR(argv[first + 1], "b");
        CHECK_STR(argv[first + 2], "-");
        CHECK_STR(argv[first + 3], "--top");
        CHECK_STR(argv[first + 4], "c");
        CHECK_STR(argv[argc], NULL);
}

TEST(options_may_be_abbreviated)
{
        int first, argc;

        parse("--thr=0.25 --top=4 --topi 5 --log --no-rev --mode=fast", &first, &argc);
        CHECK_NEAR(settings.threshold, 0.25, 0);
        CHECK_SIZE(settings.top, 4); /* whole, though --topics-per-page begins with it, too */
        CHECK_SIZE(settings.topics, 5);
        CHECK(settings.logits && !settings.review);
}

TEST(options_switch_on_and_off)
{
        int first, argc;

        parse("--no-review --logits", &first, &argc);
        CHECK(!settings.review && settings.logits);
        parse("--review=false --logits=true", &first, &argc);
        CHECK(!settings.review && settings.logits);
        parse("--no-review --review -l --no-logits", &first, &argc);
        CHECK(settings.review && !settings.logits);
}

/* A choice that can be turned on and off, too. */
TEST(options_switch_between_choices)
{
        static const struct {
                const char *line;
                int look;
        } cases[] = {{"", 1},
                     {"--look near", 2},
                     {"--look=near", 2},
                     {"--look=near --look", 1},
                     {"--look near --look -l", 1},
                     {"--look near --look=true", 1},
                     {"--look all", 1},
                     {"--no-look", 0},
                     {"--look false", 0},
                     {"--look none", 0}};
        int first, argc;

        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                struct ran_buf json = {0};

                parse(cases[i].line, &first, &argc);
                if (!CHECK(settings.look == cases[i].look && first == argc))
                        printf("  %s\n", cases[i].line);
                ran_fields_json(fields, &settings, &json);
                ran_buf_char(&json, '\0');
                CHECK(strstr(json.data, cases[i].look == 2   ? "\"look\":\"near\""
                                        : cases[i].look == 1 ? "\"look\":true"
                                                             : "\"look\":false") != NULL);
                struct ran_error err;
                int was = settings.look;
                settings.look = -1;
                char *whole = NULL;
                CHECK(asprintf(&whole, "{%s}", json.data) > 0);
                CHECK_OK(ran_fields_parse(fields, &settings, whole, strlen(whole), false, &err),
                         err);
                CHECK(settings.look == was);
                free(whole);
                ran_buf_release(&json);
        }
}

/* JSON for machines leaves a later setting out while it has its default; that for people does not.
 */
TEST(options_that_came_later)
{
        static const char *const lines[] = {"", "--steps 1", "--steps 2", "--mode slow"};
        char *said;
        int first, argc;

        for (size_t i = 0; i < 4; i++) {
                struct ran_buf json = {0};

                parse(lines[i], &first, &argc);
                ran_fields_json(fields, &settings, &json);
                ran_buf_char(&json, '\0');
                CHECK((strstr(json.data, "\"steps\"") != NULL) == (i >= 2));
                ran_buf_release(&json);
        }
        CHECK_SIZE((size_t)parse_apart("--print-config", &said), CMD_OK);
        CHECK(strstr(said, "\"steps\":1") != NULL);
}

TEST(options_may_come_again)
{
        int first, argc;

        parse("--top 1 --drop a --top 2 --drop b", &first, &argc);
        CHECK_SIZE(settings.top, 2);
        REQUIRE(settings.drop.n == 2);
        CHECK_STR(settings.drop.item[0], "a");
        CHECK_STR(settings.drop.item[1], "b");
}

/* ---- what is refused ------------------------------------------------------------------------ */

TEST(options_refuse_with_a_hint)
{
        static const char *const cases[][2] = {
                {"--modle x", "unknown option --modle; did you mean --model?"},
                {"--topics_per_page 3", "unknown option --topics_per_page; did you mean "
                                        "--topics-per-page?"},
                {"--zebra", "unknown option --zebra\n"},
                {"-z", "unknown option -z\n"},
                {"-lz", "unknown option -z\n"},
                {"--mod x", "--mod is short for more than one option"},
                {"--to x", "--to is short for more than one option"},
                {"--no-wide", "unknown option --no-wide"},
                {"--no-top", "unknown option --no-top"},
                {"--no-review=true", "--no-review takes no value"},
                {"--top", "--top needs a value: --top K"},
                {"-t", "--top needs a value: --top K"},
                {"--mode", "--mode needs a value: --mode WORD"},
                {"--top=101", "--top must be a whole number from 0 to 100, not '101'"},
                {"--top=x", "--top must be a whole number from 0 to 100, not 'x'"},
                {"--threshold=1,5", "--threshold must be a number from 0 to 1, not '1,5'"},
                {"--logits=yes", "--logits must be true or false, not 'yes'"},
                {"--no-look=near", "--no-look takes no value"},
                {"--look=far", "--look must be none, all or near, not 'far'"},
                {"--mode=best", "--mode must be fast or slow, not 'best'"},
        };
        char want[256], *said;

        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                CHECK_SIZE((size_t)parse_apart(cases[i][0], &said), CMD_USAGE);
                snprintf(want, sizeof(want), "ran-test: %s", cases[i][1]);
                said[strlen(want)] = '\0';
                CHECK_STR(said, want);
        }
        parse_apart("--top", &said);
        CHECK(strstr(said, "\nTry 'ran-test --help' for more.\n") != NULL);
}

TEST(options_suggest_what_was_meant_or_nothing)
{
        static const char *const names[] = {"task",        "wide",      "base",
                                            "weights",     "layers",    "text-member",
                                            "vocab_size",  "drop",      "label-member",
                                            "window",      "epochs",    "learning-rate",
                                            "tag",         "lm",        "classify",
                                            "convert",     "embed",     "evidence-length",
                                            "target-file", "no-refits", "learning-curve",
                                            NULL};
        static const char *const cases[][2] = {
                /* Letters left out, doubled, wrong, swapped; '_' for '-'. */
                {"tsak", "task"},
                {"clasify", "classify"},
                {"tga", "tag"},
                {"epohcs", "epochs"},
                {"traget_file", "target-file"},
                {"txet-membr", "text-member"},
                {"vocab-size", "vocab_size"},
                {"layes", "layers"},
                /* The beginning of one name; what others call so, misspelt or not. */
                {"cla", "classify"},
                {"label-column", "label-member"},
                {"label_colum", "label-member"},
                {"num_train_epoch", "epochs"},
                {"lr", "learning-rate"},
                /* Other words. */
                {"test", NULL},
                {"size", NULL},
                {"rate", NULL},
                {"lenght", NULL},
                {"length", NULL},
                {"prob", NULL},
                {"dropuot", NULL},
                {"lables", NULL},
                {"members", NULL},
                {"c", NULL},
                {"learning", NULL},
                {"ml", NULL},
                {"", NULL},
                {"a-name-that-is-longer-than-any-that-a-program-of-this-project-has-or-will-have",
                 NULL},
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                const char *got = cmd_nearest(cases[i][0], names), *want = cases[i][1];

                if (!CHECK(want == NULL || got == NULL ? want == got : strcmp(want, got) == 0))
                        printf("%s: %s\n", cases[i][0], got != NULL ? got : "none");
        }
}

/* ---- configuration files -------------------------------------------------------------------- */

/* A configuration file of this text; its path is to be freed. */
static char *config(const char *text)
{
        char *path = test_path("config.json");
        FILE *f = path != NULL ? fopen(path, "w") : NULL;

        if (f == NULL)
                return NULL;
        fputs(text, f);
        fclose(f);
        return path;
}

static int parse_config(const char *text, const char *more, char **said)
{
        char line[400], *path = config(text);

        snprintf(line, sizeof(line), "%s --config %s", more, path);
        int status = parse_apart(line, said);
        free(path);
        return status;
}

TEST(options_come_before_the_configuration)
{
        char line[300], *path = config("{\"top\":8,\"threshold\":0.125,\"topics_per_page\":2,\n"
                                       "\"review\":false,\"mode\":\"slow\",\"drop\":[\"a\"]}\n");
        int first, argc;

        REQUIRE(path != NULL);
        snprintf(line, sizeof(line), "--top 9 -c %s --drop b", path);
        parse(line, &first, &argc);
        CHECK_SIZE(settings.top, 9);
        CHECK_SIZE(settings.topics, 2);
        CHECK_NEAR(settings.threshold, 0.125, 0);
        CHECK(!settings.review && settings.mode == 1);
        REQUIRE(settings.drop.n == 2);
        CHECK_STR(settings.drop.item[0], "a");
        free(path);
}

/* Wherever the option stands that a default depends on, and never against what was said. */
TEST(options_may_change_the_defaults_of_others)
{
        char line[300], *slow = config("{\"mode\":\"slow\"}");
        int first, argc;

        parse("--mode slow", &first, &argc);
        CHECK_SIZE(settings.steps, 9);
        parse("--steps 1 --mode slow", &first, &argc);
        CHECK_SIZE(settings.steps, 1);
        parse("--mode slow --mode fast", &first, &argc);
        CHECK_SIZE(settings.steps, 1);
        REQUIRE(slow != NULL);
        snprintf(line, sizeof(line), "-c %s", slow);
        parse(line, &first, &argc);
        CHECK_SIZE(settings.steps, 9);
        snprintf(line, sizeof(line), "--mode fast -c %s", slow);
        parse(line, &first, &argc);
        CHECK_SIZE(settings.steps, 1);
        free(slow);
        char *steps = config("{\"steps\":5}");
        REQUIRE(steps != NULL);
        snprintf(line, sizeof(line), "-c %s --mode slow", steps);
        parse(line, &first, &argc);
        CHECK_SIZE(settings.steps, 5);
        free(steps);
}

TEST(options_refuse_a_bad_configuration)
{
        static const char *const cases[][2] = {
                {"{\"tpo\":8}", "config.json: unknown setting \"tpo\"; did you mean \"top\"?\n"},
                {"{\"jobs\":8}", "config.json: \"jobs\" is for the command line only\n"},
                {"{\"model\":\"m\"}", "config.json: \"model\" is for the command line only"},
                {"{\"top\":\"8\"}", "config.json: \"top\" must be a number\n"},
                {"{\"top\":800}", "config.json: --top must be a whole number from 0 to 100"},
                {"{\"top\":8,\"top\":9}", "config.json: \"top\" is given twice\n"},
                {"[]", "config.json: expected a JSON object"},
                {"{\"top\":\n8", "config.json: line 2 is not JSON\n"},
                {"{\"zebra\":1}", "config.json: unknown setting \"zebra\"\n"},
        };
        char *said;

        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                CHECK_SIZE((size_t)parse_config(cases[i][0], "", &said), CMD_USAGE);
                if (!CHECK(strstr(said, cases[i][1]) != NULL))
                        fprintf(stderr, "   %s", said);
        }
        CHECK_SIZE((size_t)parse_apart("--config /nonexistent/x.json", &said), CMD_FAILED);
        CHECK(strstr(said, "cannot open /nonexistent/x.json") != NULL);
}

/* What --print-config writes is a configuration that gives the same again. */
TEST(options_print_a_configuration_that_can_be_read)
{
        char *said, *first;

        CHECK_SIZE((size_t)parse_apart("--print-config --top 5 --no-review --mode slow --drop x "
                                       "--look near "
                                       "--threshold 0.1 -m y -q",
                                       &said),
                   CMD_OK);
        CHECK_STR(said, "{\n  \"top\":5,\n  \"topics_per_page\":0,\n  \"threshold\":0.1,\n"
                        "  \"logits\":false,\n  \"review\":false,\n  \"mode\":\"slow\",\n"
                        "  \"look\":\"near\",\n"
                        "  \"steps\":9,\n  \"drop\":[\"x\"]\n}\n");
        first = strdup(said);
        REQUIRE(first != NULL);
        CHECK_SIZE((size_t)parse_config(first, "--print-config", &said), CMD_OK);
        CHECK_STR(said, first);
        free(first);
}

/* ---- help ----------------------------------------------------------------------------------- */

TEST(options_help_shows_every_option_and_default)
{
        char *help;

        CHECK_SIZE((size_t)parse_apart("--help", &help), CMD_OK);
        CHECK(strncmp(help, "Usage: ran-test [file...]\n\nTests.\n\nSettings:\n", 45) == 0);
        CHECK(strstr(help, "\n  -m, --model FILE         m\n") != NULL);
        CHECK(strstr(help, "\n  -t, --top K              t (default: 3)\n") != NULL);
        CHECK(strstr(help, "\n      --topics-per-page N  u (default: 0)\n") != NULL);
        CHECK(strstr(help, "\n  -l, --[no-]logits        w (default: no)\n") != NULL);
        CHECK(strstr(help, "\n      --[no-]review        x (default: yes)\n") != NULL);
        CHECK(strstr(help, "\n  -w, --wide               y\n") != NULL);
        CHECK(strstr(help, "\n      --[no-]look PATTERN  lk (none, all, near; default: all)\n") !=
              NULL);
        CHECK(strstr(help, "\n      --mode WORD          z (fast, slow; default: fast)\n") != NULL);
        CHECK(strstr(help, "\n      --steps N            s (default: 1; slow: 9)\n") != NULL);
        for (char *line = strtok(help, "\n"); line != NULL; line = strtok(NULL, "\n"))
                CHECK(strlen(line) <= 80);
}

TEST(options_version)
{
        char *said;

        CHECK_SIZE((size_t)parse_apart("--version", &said), CMD_OK);
        CHECK(strncmp(said, "ran-test (ran) " RAN_VERSION "\n",
                      strlen("ran-test (ran) " RAN_VERSION "\n")) == 0);
}

/* ---- mistakes of ours ----------------------------------------------------------------------- */

/* Earlier versions took them, and printed them with their defaults. */
TEST(options_that_are_fixed_are_none)
{
        char *said;

        CHECK(parse_apart("--shape 2", &said) == 100);
        CHECK(parse_apart("--shape 3", &said) == CMD_USAGE);
        CHECK(strstr(said, "shape is no option") != NULL);
        CHECK(parse_apart("--shap 2", &said) == CMD_USAGE);
        CHECK(strstr(said, "did you mean") == NULL);
        CHECK(parse_apart("--help-all", &said) == 0);
        CHECK(strstr(said, "--steps") != NULL && strstr(said, "shape") == NULL);
        CHECK(parse_apart("--print-options", &said) == 0);
        CHECK(strstr(said, "--steps") != NULL && strstr(said, "shape") == NULL);
        CHECK(parse_apart("--print-config", &said) == 0);
        CHECK(strstr(said, "steps") != NULL && strstr(said, "shape") == NULL);
        CHECK(parse_config("{\"shape\":2}", "", &said) == 100);
        CHECK(parse_config("{\"shape\":3}", "", &said) == CMD_USAGE);
}

/* ---- what goes together --------------------------------------------------------------------- */

/* How a child ends that parses this line and calls check. */
static int status_of_check(const char *line, void (*check)(void))
{
        int first, argc, status;
        pid_t child = fork();

        if (child == 0) {
                close(STDERR_FILENO);
                parse(line, &first, &argc);
                check();
                _exit(0);
        }
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static struct ran_field rules_of_top;            /* what --top needs, and its verbs */
static const char *why_of_top, *excluded_by_top; /* with why NULL: they exclude each other */

static void check_rules(void)
{
        struct ran_field ruled[sizeof fields / sizeof *fields];
        const struct cmd_group own[] = {{"Settings", ruled, &settings}, {0}};
        const struct cmd_program p = {.name = "ran-test run", .groups = own};

        memcpy(ruled, fields, sizeof fields);
        for (struct ran_field *f = ruled; f->name != NULL; f++)
                if (strcmp(f->name, "top") == 0) {
                        f->needs = rules_of_top.needs;
                        f->verbs = rules_of_top.verbs;
                }
        if (excluded_by_top != NULL && why_of_top != NULL)
                cmd_excludes(settings.top == 5, why_of_top, excluded_by_top);
        else if (excluded_by_top != NULL)
                cmd_exclude_each_other(excluded_by_top);
        cmd_rules_check(&p);
}

static int status_needing(const char *line, const char *needs)
{
        rules_of_top = (struct ran_field){.needs = needs};
        excluded_by_top = NULL;
        return status_of_check(line, check_rules);
}

static int status_of_verbs(const char *line, const char *verbs)
{
        rules_of_top = (struct ran_field){.verbs = verbs};
        excluded_by_top = NULL;
        return status_of_check(line, check_rules);
}

static int status_excluding(const char *line, const char *why, const char *names)
{
        rules_of_top = (struct ran_field){0};
        why_of_top = why;
        excluded_by_top = names;
        return status_of_check(line, check_rules);
}

TEST(options_need_others)
{
        CHECK(status_needing("--top 5", "logits") == CMD_USAGE);
        CHECK(status_needing("--top 3", "logits") == CMD_USAGE); /* asked for, though the default */
        CHECK(status_needing("--top 5 --no-logits", "logits") == CMD_USAGE);
        CHECK(status_needing("--top 5 --logits", "logits") == 0);
        CHECK(status_needing("", "logits") == 0);
        CHECK(status_needing("--top 5 --logits", "steps logits") == 0);
        CHECK(status_needing("--top 5 --steps 0", "steps logits") == CMD_USAGE);
        CHECK(status_needing("--top 5 --topics-per-page 1", "topics_per_page") == 0);
        CHECK(status_needing("--top 5 --topics-per-page 0", "topics_per_page") == CMD_USAGE);
}

TEST(options_are_of_verbs)
{
        CHECK(status_of_verbs("--top 5", "walk run") == 0);
        CHECK(status_of_verbs("--top 5", "walk runs") == CMD_USAGE);
        CHECK(status_of_verbs("", "walk") == 0);
}

TEST(options_exclude_others)
{
        static const char why[] = "--top is alone";

        CHECK(status_excluding("--top 5 --logits", why, "logits") == CMD_USAGE);
        CHECK(status_excluding("--top 5 --no-logits", why, "logits") == 0); /* off, as by default */
        CHECK(status_excluding("--top 4 --logits", why, "logits") == 0);
        CHECK(status_excluding("--top 5", why, "steps") == 0); /* nobody asked for --steps */
        CHECK(status_excluding("--top 5 --steps 0", why, "logits steps") == CMD_USAGE);
        CHECK(status_excluding("--top 5", why, "[Common options]") == 0);
        CHECK(status_excluding("--top 5 --no-review", why, "[Settings]") == CMD_USAGE);
        CHECK(status_excluding("--top 5 --logits", NULL, "top logits") == CMD_USAGE);
        CHECK(status_excluding("--top 5 --no-logits", NULL, "top logits") == 0);
        CHECK(status_excluding("--logits", NULL, "top logits") == 0);
}

static void ask_misspelt(void)
{
        cmd_was_set("tops");
}

static void exclude_misspelt(void)
{
        cmd_excludes(false, "--logits", "topics_per_side");
}

/* Whatever is given: at each start of the program. */
TEST(options_a_misspelt_name_in_our_lists_aborts)
{
        CHECK(status_of_check("", ask_misspelt) == 128 + 6);
        CHECK(status_of_check("", exclude_misspelt) == 128 + 6);
        CHECK(status_needing("", "topics_per_side") == 128 + 6);
        CHECK(status_excluding("", "--top", "tops") == 128 + 6);
        CHECK(status_excluding("", "--top", "logits [Sets]") == 128 + 6);
}
