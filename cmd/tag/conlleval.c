/* conlleval.c - the score of the script conlleval. */
#include "cmd/tag/tag.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/message.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"

/* Adds the sentences of a file. Returns the status of the script, which is not 0 when it gives up.
 */
static int add_columns(struct ran_conll *conll, FILE *in, const char *name)
{
        struct ran_conll_reader r = {.in = in};
        struct ran_error err = {0};
        enum ran_conll_line line;

        while ((line = ran_conll_read(&r, &err)) == RAN_CONLL_TOKEN || line == RAN_CONLL_BREAK)
                if (line == RAN_CONLL_TOKEN)
                        ran_conll_add_token(conll, r.correct, r.correct_n, r.guessed, r.guessed_n);
                else
                        ran_conll_end_sentence(conll);
        if (err.code != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s: %s", name, err.text);
        ran_conll_end_sentence(conll);
        if (line == RAN_CONLL_REFUSED)
                cmd_write(STDERR_FILENO, "standard error", r.message.data, r.message.len);
        int status = line == RAN_CONLL_REFUSED ? r.status : CMD_OK;
        ran_conll_reader_release(&r);
        return status;
}

static int add_file(struct ran_conll *conll, const char *name)
{
        if (strcmp(name, "-") == 0)
                return add_columns(conll, stdin, "standard input");
        FILE *in = fopen(name, "re");
        if (in == NULL)
                cmd_die(CMD_FAILED, "cannot open %s: %s", name, strerror(errno));
        int status = add_columns(conll, in, name);
        fclose(in);
        return status;
}

int tag_conlleval(char **files, const char *output)
{
        static char *standard_input[] = {"-", NULL};
        struct ran_conll *conll = ran_conll_new();
        struct ran_conll_report report;
        struct ran_buf text = {0};
        int status = CMD_OK;

        cmd_check_inputs("output", output, files);
        for (files = *files != NULL ? files : standard_input; *files != NULL && status == CMD_OK;
             files++)
                status = add_file(conll, *files);
        if (status == CMD_OK) {
                ran_conll_finish(conll, &report);
                ran_conll_text(&report, &text);
                cmd_write_file(output, &text);
                ran_buf_release(&text);
        }
        ran_conll_free(conll);
        return status;
}
