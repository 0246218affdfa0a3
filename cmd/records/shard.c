/* shard.c - the part of the input for this process: --shard I/N. */
#include "cmd/records/run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/options/message.h"

enum { MOST = 1000000 }; /* parts */

bool shard_size(const char *file, uint64_t *size)
{
        struct stat st;
        off_t at = 0;

        *size = 0;
        if (strcmp(file, "-") != 0) {
                if (stat(file, &st) != 0)
                        return true; /* opening it will say why not */
                if (!S_ISREG(st.st_mode))
                        return false;
        } else if (fstat(STDIN_FILENO, &st) != 0 || !S_ISREG(st.st_mode) ||
                   (at = lseek(STDIN_FILENO, 0, SEEK_CUR)) < 0) {
                return false;
        }
        *size = st.st_size > at ? (uint64_t)(st.st_size - at) : 0;
        return true;
}

static bool parse_number(const char **s, unsigned long *n)
{
        char *end;

        if (**s < '0' || **s > '9')
                return false;
        *n = strtoul(*s, &end, 10);
        *s = end;
        return *n >= 1 && *n <= MOST;
}

/* The end of part i of n, and the beginning of the next one. */
static uint64_t boundary(uint64_t all, unsigned long i, unsigned long n)
{
        return all / n * i + all % n * i / n;
}

void shard_init(struct shard *s, const char *text, char **files)
{
        const char *at = text;
        unsigned long which, of;
        uint64_t all = 0, size;

        *s = (struct shard){.to = UINT64_MAX};
        if (text == NULL)
                return;
        if (!parse_number(&at, &which) || *at++ != '/' || !parse_number(&at, &of) || *at != '\0' ||
            which > of)
                cmd_usage("--shard %s: give I/N, part I of N, as in 1/4 to 4/4 (N at most %d)",
                          text, MOST);
        for (; *files != NULL; files++) {
                if (!shard_size(*files, &size))
                        cmd_usage(
                                "--shard needs the sizes of files, and %s has none: give files, or "
                                "split the input with split or parallel --pipe",
                                strcmp(*files, "-") == 0 ? "standard input" : *files);
                all += size;
        }
        s->from = boundary(all, which - 1, of);
        if (which < of)
                s->to = boundary(all, which, of);
}
