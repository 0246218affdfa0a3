/* ranks.c - ranks of a command: which one prints, and how they end. */
#include "cmd/options/message.h"
#include "cmd/train/run/run.h"

#include <stdlib.h>

static struct ran_ranks *ranks;

struct ran_ranks *train_ranks(void)
{
        return ranks;
}

int train_ranks_close(int status)
{
        struct ran_ranks *r = ranks;

        ranks = NULL;
        ran_ranks_close(r, status);
        return status;
}

/* Runs for any cmd_die. */
static void close_at_exit(void)
{
        train_ranks_close(CMD_FAILED);
}

bool train_ranks_open(void)
{
        struct ran_error err = {0};

        if (ran_ranks_open(&ranks, train_run_stopped, &err) != RAN_OK) {
                cmd_set_program("ran-train");
                if (err.text[0] == '\0')
                        exit(CMD_OK); /* rank 0 prints it, unless the launcher ends it before */
                cmd_die(cmd_status_of(&err), "%s", err.text);
        }
        if (ranks != NULL)
                atexit(close_at_exit); /* after the program's own cleanup */
        return ran_ranks_me(ranks) == 0;
}

int train_ranks_follow(void)
{
        struct ran_error err = {0};
        int status = CMD_OK;

        cmd_set_program("ran-train");
        train_run_catch_signals();
        if (ran_train_follow(ranks, &err) != RAN_OK) {
                status = cmd_status_of(&err);
                cmd_warn("rank %zu: %s", ran_ranks_me(ranks), err.text);
        }
        return train_ranks_close(status);
}
